// SPDX-License-Identifier: Apache-2.0
// NVIDIA's occupancy rules (CUDA C++ Programming Guide, "Hardware Multithreading" and the tables of
// compute capabilities; CUDA Occupancy Calculator): a warp takes registers in units of 256, each
// part of an SM holds whole warps, a block takes shared memory in units of 128 bytes (256 before
// compute capability 8.0) and 1 KiB of it for the system from 8.0 on. The tightest limit of warps,
// blocks, registers and shared memory decides how many blocks fit.
//
// The device's limits come from the file if it has them, else from its compute capability. The full
// shared memory counts, regardless of the kernel's split with the L1 cache. Clusters and barriers
// are ignored. AMD's profilers record no registers: only the number of compute units with a block
// is computed. If nothing can be computed, the file's own figure is used.
#include "profile/model/device/occupancy.h"

#define WARP 32
#define REGISTER_UNIT 256
#define BLOCK_THREADS_MAX 1024
#define OPT_IN_BYTES 49152 // shared memory of a block without opt-in

struct limits {
    int32_t warps, blocks, registers, shared_bytes, parts, major;
};

static bool limits_of(const struct stk_device *d, struct limits *out)
{
    static const struct {
        int32_t major, minor, warps, blocks, shared_bytes, parts;
    } rows[] = {
#define C(major, minor, warps, blocks, shared, parts) {major, minor, warps, blocks, shared, parts},
#include "profile/model/device/occupancy_limits.def"
#undef C
    };
    const struct stk_device_limits *l = &d->limits;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].major != d->cc_major || rows[i].minor != d->cc_minor) {
            continue;
        }
        *out = (struct limits){
            .warps = l->sm_threads >= WARP ? l->sm_threads / WARP : rows[i].warps,
            .blocks = l->sm_blocks > 0 ? l->sm_blocks : rows[i].blocks,
            .registers = l->sm_registers > 0 ? l->sm_registers : 65536,
            .shared_bytes = l->sm_shared_bytes > 0 ? l->sm_shared_bytes : rows[i].shared_bytes,
            .parts = rows[i].parts,
            .major = rows[i].major};
        return l->warp_threads == 0 || l->warp_threads == WARP;
    }
    return false;
}

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

// Blocks that fit at once, and what limits them.
static int32_t blocks_that_fit(const struct limits *l, const struct stk_launch_config *c,
                               int64_t threads, const char **limit)
{
    int64_t warps = (threads + WARP - 1) / WARP;
    int64_t reserved = l->major >= 8 ? 1024 : 0, unit = l->major >= 8 ? 128 : 256;
    int64_t shared = round_up(c->shared_bytes + reserved, unit);
    int64_t of_warp = round_up((int64_t)c->registers * WARP, REGISTER_UNIT);
    int64_t fits = l->warps / warps, by_registers = fits, by_shared = fits;
    if (of_warp > 0) {
        by_registers = l->registers / l->parts / of_warp * l->parts / warps;
    }
    if (shared > 0) {
        by_shared = l->shared_bytes / shared;
    }
    // A block size that leaves warps unused is too coarse. It is the limit unless another one is
    // tighter.
    *limit = l->warps % warps ? "block size" : NULL;
    if (l->blocks < fits) {
        fits = l->blocks;
        *limit = "blocks";
    }
    if (by_registers < fits) {
        fits = by_registers;
        *limit = "registers";
    }
    if (by_shared < fits) {
        fits = by_shared;
        *limit = "shared memory";
    }
    return (int32_t)fits;
}

// Product of three sizes, exact up to 2^53.
static double product(const uint32_t *sizes)
{
    return (double)sizes[0] * (double)sizes[1] * (double)sizes[2];
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void spread(const struct stk_device *d, double grid, struct stk_occupancy *o)
{
    if (d->sm_count <= 0 || grid < 1) {
        return;
    }
    o->sm_share = least(1, grid / d->sm_count);
    if (o->blocks <= 0) {
        return;
    }
    o->waves = grid / d->sm_count / o->blocks;
    double whole = (double)(int64_t)least(o->waves, 1e15), rest = o->waves - whole;
    if (o->waves > 1) {
        o->tail_share = rest > 0 && rest < 1 ? 1 - rest : 0;
    }
}

struct stk_occupancy stk_occupancy_of(const struct stk_device *device,
                                      const struct stk_launch_config *config)
{
    struct stk_occupancy o = {-1, -1, -1, -1, -1, -1, NULL};
    struct limits l;
    double threads = product(config->block), grid = product(config->grid);
    bool known = threads >= 1 && threads <= BLOCK_THREADS_MAX;
    if (known && config->registers >= 0 && config->shared_bytes >= 0 && limits_of(device, &l)) {
        int64_t warps = ((int64_t)threads + WARP - 1) / WARP;
        o.blocks = blocks_that_fit(&l, config, (int64_t)threads, &o.limit);
        if (o.blocks == 0) { // but it ran: these aren't the limits of its device
            return (struct stk_occupancy){-1, -1, -1, -1, -1, -1, NULL};
        }
        o.share = (double)(o.blocks * warps) / l.warps;
        if (device->sm_count > 0 && grid >= 1) {
            o.grid_share =
                least(o.blocks, grid / device->sm_count) * threads / ((double)l.warps * WARP);
        }
    } else if (config->occupancy_pct > 0 || config->shared_bytes <= OPT_IN_BYTES) {
        // Kineto reports 0 if a block takes more, because it queries without the kernel's opt-in.
        if (config->occupancy_pct >= 0) {
            *(config->occupancy_of_grid ? &o.grid_share : &o.share) = config->occupancy_pct / 100.0;
        }
    }
    if (known) {
        spread(device, grid, &o);
    }
    return o;
}
