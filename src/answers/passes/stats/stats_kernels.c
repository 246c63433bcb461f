// SPDX-License-Identifier: Apache-2.0
// Which kernels take the device's time?
// Kernels (collectives included) by name and device: how often, how long, on which units. A kernel
// counts where it starts; times are sums over all streams, so they may exceed the span.
// Tensor cores and precision are read from the name (profile/model/device/kernel_names.c); the
// launch is the one that took most of the row's time (stats_kernel_launch.c), `bound` is the peak
// rate of the device that the kernel comes nearest to (stats_kernel_cost.c): compute or memory,
// latency if it is near neither, unknown without shapes or peak rates. Sums:
// answers/passes/kernel_sums.c.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_kernels.h"

// The launch of a kernel, in both tables.
struct launch_cells {
    struct stk_cell grid, block, registers, shared_bytes, occupancy, occupancy_limit,
        grid_occupancy, waves, sm_share, tail_share;
};
#define LAUNCH_COLUMNS(row, grid_doc, is_grid_detail)                                              \
    STK_COLUMN_OF(row, launch, grid, TEXT, grid_doc, .is_detail = is_grid_detail),                 \
        STK_COLUMN_OF(row, launch, block, TEXT, "threads of a block: x,y,z",                       \
                      .is_detail = is_grid_detail),                                                \
        STK_COLUMN_OF(row, launch, registers, COUNT, "registers of a thread", .is_detail = true),  \
        STK_COLUMN_OF(row, launch, shared_bytes, BYTES,                                            \
                      "shared memory of a block, static and dynamic", .is_detail = true),          \
        STK_COLUMN_OF(row, launch, occupancy, SHARE,                                               \
                      "theoretical occupancy: warps that fit an SM at once, of those "             \
                      "that it can hold"),                                                         \
        STK_COLUMN_OF(row, launch, occupancy_limit, TEXT,                                          \
                      "what keeps `occupancy` below 1: registers, shared memory, blocks or block " \
                      "size",                                                                      \
                      .is_detail = true),                                                          \
        STK_COLUMN_OF(row, launch, grid_occupancy, SHARE,                                          \
                      "`occupancy` with no more blocks than the grid has", .is_detail = true),     \
        STK_COLUMN_OF(row, launch, waves, REAL,                                                    \
                      "blocks of the grid over the blocks that the device holds at once",          \
                      .is_detail = true),                                                          \
        STK_COLUMN_OF(row, launch, sm_share, SHARE, "SMs of the GPU that get a block",             \
                      .is_detail = true),                                                          \
        STK_COLUMN_OF(row, launch, tail_share, SHARE,                                              \
                      "share of the device's block slots that the last of several waves leaves "   \
                      "empty",                                                                     \
                      .is_detail = true)

struct kernels_row {
    struct stk_cell name, device, count, total_ns, total_share, mean_ns, min_ns, max_ns,
        tensor_core, precision;
    struct launch_cells launch;
    struct stk_cell flops_per_s, bytes_per_s, bound, roof_share;
};
static const struct stk_column kernels_columns[] = {
    STK_COLUMN(kernels_row, name, TEXT, "name of the kernel, including collectives",
               .is_name = true),
    STK_COLUMN(kernels_row, device, TEXT, STK_DOC_DEVICE),
    STK_COLUMN(kernels_row, count, COUNT, "kernels that start in the selected time"),
    STK_COLUMN(kernels_row, total_ns, NS,
               "durations, summed over all streams: may exceed the device's span"),
    STK_COLUMN(kernels_row, total_share, SHARE, "share of the summed durations of all kernels"),
    STK_COLUMN(kernels_row, mean_ns, NS, "mean duration"),
    STK_COLUMN(kernels_row, min_ns, NS, "shortest duration", .is_detail = true),
    STK_COLUMN(kernels_row, max_ns, NS, "longest duration", .is_detail = true),
    STK_COLUMN(kernels_row, tensor_core, TEXT,
               "use of tensor cores, judging by the name: yes, eligible (a matrix product or "
               "convolution that runs without them), no, unknown",
               .is_detail = true),
    STK_COLUMN(kernels_row, precision, TEXT,
               "operand type, judging by the name; cast: converts from one type to another",
               .is_detail = true),
    LAUNCH_COLUMNS(
        kernels_row,
        "grid x,y,z of the launch configuration with most time; the next columns describe it, too",
        true),
    STK_COLUMN(kernels_row, flops_per_s, RATE,
               "floating-point operations per second, over kernels whose operator has shapes "
               "(PyTorch) or a cost (XLA)",
               .is_detail = true),
    STK_COLUMN(
        kernels_row, bytes_per_s, RATE,
        "bytes read and written per second, over kernels whose operator has shapes or a cost",
        .is_detail = true),
    STK_COLUMN(kernels_row, bound, TEXT,
               "the peak rate that the kernel comes closest to: compute, memory, latency (below "
               "10% of both), unknown (no shapes or no peaks known)"),
    STK_COLUMN(kernels_row, roof_share, SHARE,
               "share of that peak rate; at most 1, as caches can serve more than memory",
               .is_detail = true),
};
static const struct stk_table_info kernels_table =
    STK_TABLE_INFO("kernels", "Kernels by total time", kernels_row, kernels_columns);

struct launch_configs_row {
    struct stk_cell name, device, count, total_ns;
    struct launch_cells launch;
};
static const struct stk_column launch_configs_columns[] = {
    STK_COLUMN(launch_configs_row, name, TEXT,
               "name of the kernel: the 20 with most time per rank, 8 configurations each",
               .is_name = true),
    STK_COLUMN(launch_configs_row, device, TEXT, STK_DOC_DEVICE),
    STK_COLUMN(launch_configs_row, count, COUNT, "kernels launched with this configuration"),
    STK_COLUMN(launch_configs_row, total_ns, NS, "their durations, summed"),
    LAUNCH_COLUMNS(launch_configs_row, "blocks of the grid: x,y,z", false),
};
static const struct stk_table_info launch_configs_table =
    STK_TABLE_INFO("launch_configs", "How the kernels with most time are launched",
                   launch_configs_row, launch_configs_columns);

struct sums {
    uint64_t count, short_count, latencies;
    int64_t kernel_ns, total_ns, short_ns;
    int64_t tensor_ns, eligible_ns, unknown_ns;
    int64_t memory_ns, compute_ns, latency_bound_ns, unbound_ns;
    int64_t latency_ns, below_ns, with_latency_ns; // latency: the longest of all ranks
    uint64_t below_count, with_latency_count;
    double occupancy_ns;
    int64_t with_occupancy_ns;
};

static struct stk_cell share_or_unknown(double share)
{
    return share >= 0 ? stk_cell_ratio(share) : stk_cell_unknown();
}

// Text "160,1,1"; false: no memory.
static bool size_cell(struct stk_arena *arena, const uint32_t *size, struct stk_cell *out)
{
    *out = stk_cell_unknown();
    if (!size[0]) {
        return true;
    }
    const char *text =
        stk_arena_printf(arena, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, size[0], size[1], size[2]);
    if (text) {
        *out = stk_cell_text(text);
    }
    return text != NULL;
}

static struct launch_cells no_launch(void)
{
    const struct stk_cell unknown = stk_cell_unknown();
    return (struct launch_cells){unknown, unknown, unknown, unknown, unknown,
                                 unknown, unknown, unknown, unknown, unknown};
}

static bool fill_launch(struct stk_arena *arena, struct launch_cells *cells,
                        const struct stk_launch_config *c, const struct stk_occupancy *o)
{
    // More digits of the waves say nothing.
    double waves =
        o->waves > 0 && o->waves < 1e9 ? (double)(int64_t)(o->waves * 1e4 + 0.5) / 1e4 : o->waves;
    *cells = (struct launch_cells){
        .registers = stk_cell_from_zero(c->registers),
        .shared_bytes = stk_cell_from_zero(c->shared_bytes),
        .occupancy = share_or_unknown(o->share),
        .occupancy_limit = stk_cell_text(o->limit),
        .grid_occupancy = share_or_unknown(o->grid_share),
        .waves = share_or_unknown(waves),
        .sm_share = share_or_unknown(o->sm_share),
        .tail_share = share_or_unknown(o->tail_share),
    };
    return size_cell(arena, c->grid, &cells->grid) && size_cell(arena, c->block, &cells->block);
}

static void add_facts(struct sums *all, const struct stk_kernel_row *k,
                      const struct stk_kernel_facts *f, const char *bound)
{
    enum stk_tensor_core tensor = f->traits.tensor_core;
    double occupancy = f->occupancy.grid_share >= 0 ? f->occupancy.grid_share : f->occupancy.share;
    all->tensor_ns += tensor == STK_TENSOR_YES ? k->total_ns : 0;
    all->eligible_ns += tensor == STK_TENSOR_ELIGIBLE ? k->total_ns : 0;
    all->unknown_ns += tensor == STK_TENSOR_UNKNOWN ? k->total_ns : 0;
    all->memory_ns += *bound == 'm' ? k->total_ns : 0;
    all->compute_ns += *bound == 'c' ? k->total_ns : 0;
    all->latency_bound_ns += *bound == 'l' ? k->total_ns : 0;
    all->unbound_ns += *bound == 'u' ? k->total_ns : 0;
    if (f->has_config && occupancy >= 0) {
        all->occupancy_ns += occupancy * (double)k->total_ns;
        all->with_occupancy_ns += k->total_ns;
    }
}

static struct stk_cell rate_of(double sum, int64_t ns)
{
    return ns > 0 ? stk_cell_ratio(sum / ((double)ns / 1e9)) : stk_cell_unknown();
}

static bool fill_kernels(const struct stk_pass_ctx *ctx, struct stk_table *table,
                         const struct stk_rank_sum *rank, struct sums *all)
{
    const struct stk_kernel_partial *p = rank->partial;
    for (uint32_t i = 0; p && i < p->sums->row_count; i++) {
        const struct stk_kernel_row *k = &p->sums->rows[i];
        const struct stk_kernel_facts *f = &p->facts[i];
        double roof_share;
        const char *bound = stk_kernel_bound(f, &roof_share);
        struct launch_cells l = no_launch();
        if (f->has_config && !fill_launch(ctx->arena, &l, &f->config, &f->occupancy)) {
            return false;
        }
        const struct kernels_row row = {
            .name = stk_cell_text(k->name),
            .device = stk_cell_text(rank->devices[k->line].id),
            .count = stk_cell_number((int64_t)k->count),
            .total_ns = stk_cell_number(k->total_ns),
            .total_share = stk_cell_share_of(k->total_ns, all->total_ns),
            .mean_ns = stk_cell_number(k->total_ns / (int64_t)k->count),
            .min_ns = stk_cell_number(k->min_ns),
            .max_ns = stk_cell_number(k->max_ns),
            .tensor_core = stk_cell_text(stk_tensor_core_key(f->traits.tensor_core)),
            .precision = stk_cell_text(f->traits.precision),
            .launch = l,
            .flops_per_s = rate_of(f->flops, f->flops_ns),
            .bytes_per_s = rate_of(f->bytes, f->bytes_ns),
            .bound = stk_cell_text(bound),
            .roof_share = share_or_unknown(roof_share),
        };
        stk_table_put(table, &row);
        add_facts(all, k, f, bound);
    }
    return true;
}

static bool fill_ways(const struct stk_pass_ctx *ctx, struct stk_table *table,
                      const struct stk_rank_sum *rank)
{
    const struct stk_kernel_partial *p = rank->partial;
    for (uint32_t i = 0; p && i < p->way_count; i++) {
        const struct stk_kernel_way *w = &p->ways[i];
        const struct stk_kernel_row *k = &p->sums->rows[w->row];
        struct launch_cells l;
        if (!fill_launch(ctx->arena, &l, &w->config, &w->occupancy)) {
            return false;
        }
        const struct launch_configs_row row = {
            .name = stk_cell_text(k->name),
            .device = stk_cell_text(rank->devices[k->line].id),
            .count = stk_cell_number((int64_t)w->count),
            .total_ns = stk_cell_number(w->total_ns),
            .launch = l,
        };
        stk_table_put(table, &row);
    }
    return true;
}

static void sum_ranks(const struct stk_run_sum *run, struct sums *all)
{
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_kernel_partial *p = run->ranks[r]->partial;
        if (!p) {
            continue;
        }
        all->count += p->sums->count;
        all->short_count += p->sums->short_count;
        all->kernel_ns += p->sums->kernel_ns;
        all->total_ns += p->sums->total_ns;
        all->short_ns += p->sums->short_ns;
        if (p->latency_ns < 0) {
            continue;
        }
        all->latency_ns = p->latency_ns > all->latency_ns ? p->latency_ns : all->latency_ns;
        all->below_count += p->below_count;
        all->below_ns += p->below_ns;
        all->with_latency_count += p->sums->count;
        all->with_latency_ns += p->sums->total_ns;
        all->latencies++;
    }
}

#define KERNELS_FIGURES(C, R)                                                                      \
    C(R, kernels, COUNT, "kernels in the selected time, including collectives")                    \
    C(R, kernel_ns, NS,                                                                            \
      "union of each device's kernels over its streams, summed over the devices",                  \
      .label = "GPU time in kernels")                                                              \
    C(R, total_kernel_ns, NS, "durations of the kernels, summed",                                  \
      .label = "kernel durations, summed")                                                         \
    C(R, launch_latency_ns, NS,                                                                    \
      "time from the start of a launch call to its kernel on an idle device: median per "          \
      "rank, the longest of all ranks",                                                            \
      .label = "median launch latency")                                                            \
    C(R, short_share, SHARE, "share of `total_kernel_ns` in kernels below 10 us",                  \
      .label = "time in kernels under 10 us")                                                      \
    C(R, short_count_share, SHARE, "share of kernels below 10 us", .label = "kernels under 10 us") \
    C(R, below_latency_share, SHARE,                                                               \
      "share of kernel time in kernels shorter than the launch latency, over ranks where "         \
      "that is known",                                                                             \
      .label = "time in kernels under launch latency")                                             \
    C(R, below_latency_count_share, SHARE,                                                         \
      "share of these ranks' kernels that are shorter than the launch latency",                    \
      .label = "kernels under launch latency")                                                     \
    C(R, tensor_core_share, SHARE,                                                                 \
      "share of `total_kernel_ns` in kernels whose names show tensor cores",                       \
      .label = "time on tensor cores")                                                             \
    C(R, tensor_core_eligible_share, SHARE,                                                        \
      "share of `total_kernel_ns` in matrix products and convolutions that run without "           \
      "tensor cores",                                                                              \
      .label = "time that could use tensor cores")                                                 \
    C(R, tensor_core_unknown_share, SHARE,                                                         \
      "share of `total_kernel_ns` in kernels whose names don't show it",                           \
      .label = "time, tensor core use unknown")                                                    \
    C(R, compute_bound_share, SHARE, "share of `total_kernel_ns` in rows with `bound` compute",    \
      .label = "time limited by compute")                                                          \
    C(R, memory_bound_share, SHARE, "share of `total_kernel_ns` in rows with `bound` memory",      \
      .label = "time limited by memory")                                                           \
    C(R, latency_bound_share, SHARE, "share of `total_kernel_ns` in rows with `bound` latency",    \
      .label = "time limited by latency")                                                          \
    C(R, bound_unknown_share, SHARE, "share of `total_kernel_ns` in rows with `bound` unknown",    \
      .label = "time, limit unknown")                                                              \
    C(R, occupancy, SHARE,                                                                         \
      "mean of the rows' `grid_occupancy` (`occupancy` if unknown), weighted by `total_ns`",       \
      .label = "mean occupancy")
STK_SUMMARY(kernels, KERNELS_FIGURES)

static void kernels_say_figures(struct stk_table_doc *doc, const struct sums *all)
{
    bool says = all->unknown_ns < all->total_ns, bounds = all->unbound_ns < all->total_ns;
    const int64_t whole_ns = all->total_ns, told_ns = says ? whole_ns : 0;
    const int64_t bound_ns = bounds ? whole_ns : 0;
    const struct kernels_summary summary = {
        .kernels = stk_cell_number((int64_t)all->count),
        .kernel_ns = stk_cell_number(all->kernel_ns),
        .total_kernel_ns = stk_cell_number(whole_ns),
        .launch_latency_ns = all->latencies ? stk_cell_number(all->latency_ns) : stk_cell_unknown(),
        .short_share = stk_cell_share_of(all->short_ns, whole_ns),
        .short_count_share = stk_cell_share_of((int64_t)all->short_count, (int64_t)all->count),
        .below_latency_share = stk_cell_share_of(all->below_ns, all->with_latency_ns),
        .below_latency_count_share =
            stk_cell_share_of((int64_t)all->below_count, (int64_t)all->with_latency_count),
        .tensor_core_share = stk_cell_share_of(all->tensor_ns, told_ns),
        .tensor_core_eligible_share = stk_cell_share_of(all->eligible_ns, told_ns),
        .tensor_core_unknown_share = stk_cell_share_of(all->unknown_ns, whole_ns),
        .compute_bound_share = stk_cell_share_of(all->compute_ns, bound_ns),
        .memory_bound_share = stk_cell_share_of(all->memory_ns, bound_ns),
        .latency_bound_share = stk_cell_share_of(all->latency_bound_ns, bound_ns),
        .bound_unknown_share = stk_cell_share_of(all->unbound_ns, whole_ns),
        .occupancy = all->with_occupancy_ns > 0
                         ? stk_cell_ratio(all->occupancy_ns / (double)all->with_occupancy_ns)
                         : stk_cell_unknown(),
    };
    stk_table_summarize(doc, &kernels_summary_info, &summary);
}

static void kernels_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &kernels_table);
    struct stk_table *ways = stk_table_add(doc, &launch_configs_table);
    struct sums all = {.count = 0};
    if (stk_stats_lacks_device(ctx, doc)) {
        return;
    }
    sum_ranks(ctx->run, &all);
    stk_table_keep(table, "total_ns", ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        doc->ran_out |= !fill_kernels(ctx, table, ctx->run->ranks[r], &all) ||
                        !fill_ways(ctx, ways, ctx->run->ranks[r]);
    }
    stk_table_sort(table, "total_ns");
    stk_table_sort(ways, "total_ns");
    kernels_say_figures(doc, &all);
}

const struct stk_stats stk_stats_kernels = {
    .name = "kernels",
    .question = "Which kernels take the device's time, and do they use tensor cores?",
    .needs = "kernels of a device",
    .tables = {&kernels_table, &launch_configs_table},
    .summary = &kernels_summary_info,
    .missing = {&stk_missing_device},
    .hook = {.see = stk_kernel_launch_see, .wants = STK_WANT_LAUNCHES},
    .describe = kernels_describe,
};
