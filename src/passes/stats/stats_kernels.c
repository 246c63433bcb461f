// SPDX-License-Identifier: Apache-2.0
// Which kernels take the device's time?
// Kernels (collectives included) by name and device: how often, how long, on which units. A kernel
// counts where it starts; times are sums over all streams, so they may exceed the span.
// Tensor cores and precision are read from the name (model/device/kernel_names.c); the launch is
// the one that took most of the row's time (stats_kernel_launch.c), `bound` is what of the device's
// peak rates the kernel comes nearest to (stats_kernel_cost.c): compute, memory, latency where it
// is near neither, unknown where no shapes or no peaks are known. Sums: passes/kernel_sums.c.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "passes/stats/stats.h"
#include "passes/stats/stats_kernels.h"

static const struct stk_column columns[] = {
    {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "total_share", .type = STK_CELL_SHARE},
    {.id = "mean_ns", .type = STK_CELL_NS},
    {.id = "min_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "max_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "tensor_core", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "precision", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "grid", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "block", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "registers", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "shared_bytes", .type = STK_CELL_BYTES, .is_detail = true},
    {.id = "occupancy", .type = STK_CELL_SHARE},
    {.id = "occupancy_limit", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "grid_occupancy", .type = STK_CELL_SHARE, .is_detail = true},
    {.id = "waves", .type = STK_CELL_REAL, .is_detail = true},
    {.id = "sm_share", .type = STK_CELL_SHARE, .is_detail = true},
    {.id = "tail_share", .type = STK_CELL_SHARE, .is_detail = true},
    {.id = "flops_per_s", .type = STK_CELL_RATE, .is_detail = true},
    {.id = "bytes_per_s", .type = STK_CELL_RATE, .is_detail = true},
    {.id = "bound", .type = STK_CELL_TEXT},
    {.id = "roof_share", .type = STK_CELL_SHARE, .is_detail = true},
};
static const struct stk_column way_columns[] = {
    {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "grid", .type = STK_CELL_TEXT},
    {.id = "block", .type = STK_CELL_TEXT},
    {.id = "registers", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "shared_bytes", .type = STK_CELL_BYTES, .is_detail = true},
    {.id = "occupancy", .type = STK_CELL_SHARE},
    {.id = "occupancy_limit", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "grid_occupancy", .type = STK_CELL_SHARE, .is_detail = true},
    {.id = "waves", .type = STK_CELL_REAL, .is_detail = true},
    {.id = "sm_share", .type = STK_CELL_SHARE, .is_detail = true},
    {.id = "tail_share", .type = STK_CELL_SHARE, .is_detail = true},
};
enum { GRID = 10, FLOPS = 20, WAY_GRID = 4 };

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

// Grid, block, registers, shared memory, and the seven of the occupancy.
static bool fill_launch(struct stk_arena *arena, struct stk_cell *cells,
                        const struct stk_launch_config *c, const struct stk_occupancy *o)
{
    if (!size_cell(arena, c->grid, &cells[0]) || !size_cell(arena, c->block, &cells[1])) {
        return false;
    }
    cells[2] = c->registers >= 0 ? stk_cell_number(c->registers) : stk_cell_unknown();
    cells[3] = c->shared_bytes >= 0 ? stk_cell_number(c->shared_bytes) : stk_cell_unknown();
    cells[4] = share_or_unknown(o->share);
    cells[5] = stk_cell_text(o->limit);
    cells[6] = share_or_unknown(o->grid_share);
    cells[7] = share_or_unknown(o->waves > 0 && o->waves < 1e9 // more digits say nothing
                                    ? (double)(int64_t)(o->waves * 1e4 + 0.5) / 1e4
                                    : o->waves);
    cells[8] = share_or_unknown(o->sm_share);
    cells[9] = share_or_unknown(o->tail_share);
    return true;
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
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(k->name);
        row[1] = stk_cell_text(rank->devices[k->line].id);
        row[2] = stk_cell_number((int64_t)k->count);
        row[3] = stk_cell_number(k->total_ns);
        row[4] = stk_cell_share_of(k->total_ns, all->total_ns);
        row[5] = stk_cell_number(k->total_ns / (int64_t)k->count);
        row[6] = stk_cell_number(k->min_ns);
        row[7] = stk_cell_number(k->max_ns);
        row[8] = stk_cell_text(stk_tensor_core_key(f->traits.tensor_core));
        row[9] = stk_cell_text(f->traits.precision);
        for (int c = GRID; c < FLOPS; c++) {
            row[c] = stk_cell_unknown();
        }
        if (f->has_config && !fill_launch(ctx->arena, &row[GRID], &f->config, &f->occupancy)) {
            return false;
        }
        row[FLOPS] = rate_of(f->flops, f->flops_ns);
        row[FLOPS + 1] = rate_of(f->bytes, f->bytes_ns);
        row[FLOPS + 2] = stk_cell_text(bound);
        row[FLOPS + 3] = share_or_unknown(roof_share);
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
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(k->name);
        row[1] = stk_cell_text(rank->devices[k->line].id);
        row[2] = stk_cell_number((int64_t)w->count);
        row[3] = stk_cell_number(w->total_ns);
        if (!fill_launch(ctx->arena, &row[WAY_GRID], &w->config, &w->occupancy)) {
            return false;
        }
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

static void fill_figures(struct stk_table_doc *doc, const struct sums *all)
{
    bool says = all->unknown_ns < all->total_ns, bounds = all->unbound_ns < all->total_ns;
    const struct {
        const char *key;
        int64_t part, whole;
    } shares[] = {
        {"short_share", all->short_ns, all->total_ns},
        {"short_count_share", (int64_t)all->short_count, (int64_t)all->count},
        {"below_latency_share", all->below_ns, all->with_latency_ns},
        {"below_latency_count_share", (int64_t)all->below_count, (int64_t)all->with_latency_count},
        {"tensor_core_share", all->tensor_ns, says ? all->total_ns : 0},
        {"tensor_core_eligible_share", all->eligible_ns, says ? all->total_ns : 0},
        {"tensor_core_unknown_share", all->unknown_ns, all->total_ns},
        {"compute_bound_share", all->compute_ns, bounds ? all->total_ns : 0},
        {"memory_bound_share", all->memory_ns, bounds ? all->total_ns : 0},
        {"latency_bound_share", all->latency_bound_ns, bounds ? all->total_ns : 0},
        {"bound_unknown_share", all->unbound_ns, all->total_ns},
    };
    stk_table_figure(doc, "kernels", STK_CELL_COUNT, stk_cell_number((int64_t)all->count));
    stk_table_figure(doc, "kernel_ns", STK_CELL_NS, stk_cell_number(all->kernel_ns));
    stk_table_figure(doc, "total_kernel_ns", STK_CELL_NS, stk_cell_number(all->total_ns));
    stk_table_figure(doc, "launch_latency_ns", STK_CELL_NS,
                     all->latencies ? stk_cell_number(all->latency_ns) : stk_cell_unknown());
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        stk_table_figure(doc, shares[i].key, STK_CELL_SHARE,
                         stk_cell_share_of(shares[i].part, shares[i].whole));
    }
    stk_table_figure(doc, "occupancy", STK_CELL_SHARE,
                     all->with_occupancy_ns > 0
                         ? stk_cell_ratio(all->occupancy_ns / (double)all->with_occupancy_ns)
                         : stk_cell_unknown());
}

static enum stk_status kernels_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                        struct stk_err *err)
{
    struct stk_table *table = stk_table_add(doc, "kernels", "Kernels by total time", columns,
                                            sizeof columns / sizeof columns[0]);
    struct stk_table *ways =
        stk_table_add(doc, "launch_configs", "How the kernels with most time are launched",
                      way_columns, sizeof way_columns / sizeof way_columns[0]);
    struct sums all = {.count = 0};
    if (stk_stats_lacks_device(ctx, doc)) {
        return STK_OK;
    }
    sum_ranks(ctx->run, &all);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        if (!fill_kernels(ctx, table, ctx->run->ranks[r], &all) ||
            !fill_ways(ctx, ways, ctx->run->ranks[r])) {
            return stk_err_nomem(err);
        }
    }
    if (!stk_table_sort(table, "total_ns") || !stk_table_sort(ways, "total_ns")) {
        return stk_err_nomem(err);
    }
    fill_figures(doc, &all);
    return STK_OK;
}

const struct stk_stats stk_stats_kernels = {
    .name = "kernels",
    .question = "Which kernels take the device's time, and do they use tensor cores?",
    .needs = "kernels of a device",
    .hook = {.see = stk_kernel_launch_see, .wants = STK_WANT_LAUNCHES},
    .describe = kernels_describe,
};
