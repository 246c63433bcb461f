// SPDX-License-Identifier: Apache-2.0
// Records of a device's work in *.stk: kernels, copies, memsets, synchronizations, how kernels are
// launched, and what the device is. Numbers of directions and memories are CUPTI's (wire.h).
#include <string.h>

#include "profile/readers/stk/stk_in.h"

static enum stk_dir direction_of(uint8_t n)
{
    static const uint8_t dirs[] = {STK_DIR_UNKNOWN, STK_DIR_H2D, STK_DIR_D2H, STK_DIR_H2D,
                                   STK_DIR_D2H,     STK_DIR_D2D, STK_DIR_D2D, STK_DIR_D2D,
                                   STK_DIR_D2D,     STK_DIR_H2H, STK_DIR_P2P};
    return (enum stk_dir)(n < sizeof dirs ? dirs[n] : STK_DIR_UNKNOWN);
}

// The last two are static memory of a device, and managed.
static enum stk_mem memory_of(uint8_t n)
{
    static const uint8_t memories[] = {STK_MEM_UNKNOWN, STK_MEM_PAGEABLE, STK_MEM_PINNED,
                                       STK_MEM_DEVICE,  STK_MEM_ARRAY,    STK_MEM_MANAGED,
                                       STK_MEM_DEVICE,  STK_MEM_MANAGED};
    return (enum stk_mem)(n < sizeof memories ? memories[n] : STK_MEM_UNKNOWN);
}

void stk_in_take_config(struct stk_in *in, const struct stk_wire_config *c)
{
    struct stk_launch_config config = STK_LAUNCH_CONFIG_UNKNOWN;
    int created;
    memcpy(config.grid, c->grid, sizeof config.grid);
    memcpy(config.block, c->block, sizeof config.block);
    config.registers = c->registers && c->registers <= INT32_MAX ? (int32_t)c->registers : -1;
    config.shared_bytes = c->shared_bytes <= INT32_MAX ? (int32_t)c->shared_bytes : -1;
    stk_shard_count(in->shard, STK_KIND_OTHER, 1);
    struct stk_launch_config *slot = stk_vec_push(&in->config);
    if (slot) { // else kernels have no configuration
        *slot = config;
        (void)stk_map_put(&in->configs, c->id, 0, (uint32_t)in->config.count - 1, &created);
    }
}

static void set_config(struct stk_in *in, uint32_t id, struct stk_row_ext *ext)
{
    const uint32_t *at = id ? stk_map_get(&in->configs, id, 0) : NULL;
    if (at && stk_wants_grids(in->ctx->wants)) {
        stk_shard_set_config(in->shard, stk_vec_at(&in->config, *at), ext);
    }
}

static enum stk_kind kind_of(uint16_t kind)
{
    return kind == STK_WIRE_KERNEL   ? STK_KIND_KERNEL
           : kind == STK_WIRE_MEMCPY ? STK_KIND_MEMCPY
           : kind == STK_WIRE_MEMSET ? STK_KIND_MEMSET
           : kind == STK_WIRE_SYNC   ? STK_KIND_SYNC
                                     : STK_KIND_OTHER;
}

void stk_in_take_work(struct stk_in *in, const struct stk_wire_work *w)
{
    const uint32_t *track = stk_map_get(&in->tracks, w->track, 0);
    enum stk_kind kind = kind_of(w->kind);
    if (!track) {
        stk_in_count_bad(in, 1);
        return;
    }
    if (!stk_in_is_time(w->start_ns, w->dur_ns)) {
        stk_in_bad_time(in, kind);
        return;
    }
    struct stk_row row = {.start_ns = (int64_t)w->start_ns,
                          .dur_ns = (int64_t)w->dur_ns,
                          .pos = in->pos,
                          .name = stk_in_name(in, w->name),
                          .track = *track,
                          .kind = (uint8_t)kind};
    struct stk_row_ext ext = {.has_corr = w->correlation != 0 && kind != STK_KIND_SYNC,
                              .corr = (int64_t)w->correlation};
    ext.flags = w->in_graph ? STK_EXT_GRAPH : 0;
    if (kind == STK_KIND_MEMCPY || kind == STK_KIND_MEMSET) {
        ext.value = w->bytes > INT64_MAX ? INT64_MAX : (int64_t)w->bytes;
        ext.flags |= STK_EXT_VALUE;
        ext.dir = kind == STK_KIND_MEMCPY ? (uint8_t)direction_of(w->direction) : STK_DIR_UNKNOWN;
        ext.src_mem = (uint8_t)memory_of(w->from);
        ext.dst_mem = (uint8_t)memory_of(w->to);
    } else if (kind == STK_KIND_KERNEL) {
        set_config(in, w->config, &ext);
    }
    if (kind == STK_KIND_MEMCPY) {
        ext.flags |= w->is_async ? STK_EXT_ASYNC : STK_EXT_SYNCHRONOUS;
    }
    stk_shard_add(in->shard, &row, &ext);
}

// A record may hold any bits: negative counts are unknown ones.
static int32_t count_of(int32_t n)
{
    return n > 0 ? n : 0;
}

void stk_in_take_device(struct stk_in *in, const struct stk_wire_device *d)
{
    struct stk_device_facts facts = {
        .name = d->name ? stk_shard_text(in->shard, stk_in_name(in, d->name)) : STK_STR(""),
        .kind = STK_DEVICE_GPU,
        .sm_count = count_of(d->sm_count),
        .cc_major = count_of(d->cc_major),
        .cc_minor = count_of(d->cc_minor),
        .memory_bytes = d->memory_bytes > INT64_MAX ? 0 : (int64_t)d->memory_bytes,
        .limits = {.sm_threads = (int32_t)(d->sm_threads & INT32_MAX),
                   .sm_blocks = (int32_t)(d->sm_blocks & INT32_MAX),
                   .sm_registers = (int32_t)(d->sm_registers & INT32_MAX),
                   .sm_shared_bytes = (int32_t)(d->sm_shared_bytes & INT32_MAX),
                   .warp_threads = 32}};
    stk_shard_count(in->shard, STK_KIND_OTHER, 1);
    if (d->ordinal >= 0) {
        stk_build_device(in->build, (int64_t)in->header.pid, d->ordinal, &facts);
    }
}
