// SPDX-License-Identifier: Apache-2.0
// How much do operations compute and move, and how near do they come to the device's limits?
// Operations by the operator around the launch call, or by their own name without one (XLA):
// floating-point operations and bytes as stats_kernels.c has them of kernels, the arithmetic
// intensity, the limit of the device's roofline at that intensity, and how long the operation would
// take at the limit. Known costs: TensorFlow's on a GPU by type and shapes
// (profile/readers/xplane/xplane_cost.c), XLA's on a TPU from its cost model, PyTorch's by shapes
// (profile/readers/chrome/chrome_launch.c). Without a known cost and peak rate there is no row.
// Method: one pass over the kernels of each device, and stats_kernel_cost.c over host threads.
// Limits: traffic is a lower bound, without repeated reads of data that doesn't fit in a cache; an
// operation's peak rate is for the precision of the kernel with most of its time.
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_kernels.h"

#define FURTHER "further operations"

struct roofline_op {
    const char *name;
    uint32_t line;   // index into the rank's devices
    uint32_t kernel; // string id of the kernel with most time; 0: of those with further names
    uint64_t count;
    int64_t total_ns, kernel_ns; // of all; of that kernel
    // Of the kernels whose cost is known, as in struct stk_kernel_facts, which takes more room.
    double flops, bytes, peak_flops, peak_bytes;
    int64_t flops_ns, bytes_ns;
    double roof_share; // -1 not known
    const char *bound;
};
struct roofline {
    struct roofline_op *ops;
    size_t count;
};

struct sweep {
    const struct stk_analysis *view;
    const uint32_t *owner;
    struct stk_vec ops;     // struct roofline_op
    struct stk_map row_of;  // (string id, device of the trace) -> row + 1
    struct stk_map each_ns; // (row, string id of a kernel) -> index into `sums`
    struct stk_vec sums;    // int64_t
    struct stk_name_cache names;
    uint8_t *chosen;  // a bit per event: a kernel that counts
    uint32_t further; // row + 1 of this device's operations that have none of their own
};

static bool new_row(struct sweep *s, uint32_t line, const char *name)
{
    struct roofline_op *op = name ? stk_vec_push(&s->ops) : NULL;
    if (op) {
        op->name = name;
        op->line = line;
    }
    return op != NULL;
}

static uint32_t further_row(struct sweep *s, uint32_t line)
{
    if (!s->further && new_row(s, line, FURTHER)) {
        s->further = (uint32_t)s->ops.count;
    }
    return s->further ? s->further - 1 : UINT32_MAX;
}

// Index of the operation's row, UINT32_MAX: no memory.
static uint32_t op_row(struct sweep *s, uint32_t line, uint32_t event)
{
    int created = 0;
    uint32_t id = stk_kernel_row_id(s->view->t, s->owner, event);
    uint32_t device = s->view->lines[line].device;
    if (s->ops.count >= STK_NAMED_ROWS_MAX && !stk_map_get(&s->row_of, id, device)) {
        return further_row(s, line);
    }
    uint32_t *at = stk_map_put(&s->row_of, id, device, (uint32_t)s->ops.count + 1, &created);
    if (!at || (created && !new_row(s, line, stk_name_cache_get(&s->names, id)))) {
        return UINT32_MAX;
    }
    return *at - 1;
}

// The kernel that takes most of the operation's time decides what its peak is.
static bool note_kernel(struct sweep *s, uint32_t row, uint32_t event, int64_t dur_ns)
{
    int created = 0;
    uint32_t kernel = s->view->t->name[event];
    if (row + 1 == s->further) {
        return true; // of many precisions
    }
    if (s->owner[event] < STK_OWNER_FIRST) { // its own row, the only one
        ((struct roofline_op *)stk_vec_at(&s->ops, row))->kernel = kernel;
        return true;
    }
    uint32_t *at = stk_map_put(&s->each_ns, row, kernel, (uint32_t)s->sums.count, &created);
    int64_t *sum = !at ? NULL : created ? stk_vec_push(&s->sums) : stk_vec_at(&s->sums, *at);
    struct roofline_op *op = stk_vec_at(&s->ops, row);
    if (!sum) {
        return false;
    }
    *sum = stk_add_ns(*sum, dur_ns);
    if (*sum > op->kernel_ns) {
        op->kernel_ns = *sum;
        op->kernel = kernel;
    }
    return true;
}

static bool add_kernel(struct sweep *s, uint32_t line, const struct stk_device_op *o)
{
    const struct stk_trace *t = s->view->t;
    const struct stk_launch_config *c = stk_config_of(t, o->event);
    uint32_t row = op_row(s, line, o->event);
    int64_t dur_ns = stk_dur_ns(t, o->event);
    if (row == UINT32_MAX || !note_kernel(s, row, o->event, dur_ns)) {
        return false;
    }
    struct roofline_op *op = stk_vec_at(&s->ops, row);
    op->count++;
    op->total_ns = stk_add_ns(op->total_ns, dur_ns);
    s->chosen[o->event / 8] |= (uint8_t)(1u << o->event % 8);
    if (c && c->flops >= 0 &&
        stk_kernel_bears_flops(c, stk_kernel_traits_of(stk_name_of(t, o->event)))) {
        op->flops += (double)c->flops;
        op->flops_ns += dur_ns;
    }
    if (c && c->bytes >= 0) {
        op->bytes += (double)c->bytes;
        op->bytes_ns += dur_ns;
    }
    return true;
}

static bool sweep_kernels(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    for (uint32_t d = 0; d < v->sum->device_count; d++) {
        const struct stk_device_line *l = &v->lines[d];
        s->further = 0;
        for (uint32_t i = 0; i < l->op_count; i++) {
            if (l->ops[i].part == STK_PART_COMPUTE &&
                v->t->kind[l->ops[i].event] == STK_KIND_KERNEL &&
                s->owner[l->ops[i].event] != STK_OWNER_UNSELECTED &&
                !add_kernel(s, d, &l->ops[i])) {
                return false;
            }
        }
    }
    return true;
}

// Finds an operation's limit, with the costs from host operators (NULL: none).
static void judge(const struct sweep *s, struct roofline_op *op,
                  const struct stk_kernel_facts *more)
{
    const struct stk_trace *t = s->view->t;
    const struct stk_device *device = &t->devices[s->view->lines[op->line].device];
    struct stk_device_rates rates =
        stk_device_rates_of(stk_strpool_get(&t->strings, device->name), &device->limits);
    struct stk_kernel_facts f = {
        .traits = stk_kernel_traits_of(stk_strpool_get(&t->strings, op->kernel))};
    op->flops += more ? more->flops : 0;
    op->bytes += more ? more->bytes : 0;
    op->flops_ns += more ? more->flops_ns : 0;
    op->bytes_ns += more ? more->bytes_ns : 0;
    f.flops = op->flops;
    f.bytes = op->bytes;
    f.flops_ns = op->flops_ns;
    f.bytes_ns = op->bytes_ns;
    f.peak_flops = op->peak_flops = stk_device_flops(&rates, f.traits.precision);
    f.peak_bytes = op->peak_bytes = rates.memory;
    op->bound = stk_kernel_bound(&f, &op->roof_share);
}

// Costs from host operators are assigned by the kernels' traits.
static struct stk_kernel_facts *host_costs(struct sweep *s)
{
    struct stk_kernel_facts *facts = stk_alloc_zero(s->ops.count + 1, sizeof *facts);
    for (size_t i = 0; facts && i < s->ops.count; i++) {
        const struct roofline_op *op = stk_vec_at(&s->ops, i);
        facts[i].traits = stk_kernel_traits_of(stk_strpool_get(&s->view->t->strings, op->kernel));
    }
    if (facts && !stk_kernel_cost_add(s->view, &s->row_of, s->owner, s->chosen, facts)) {
        stk_free(facts);
        return NULL;
    }
    return facts;
}

static bool roofline_sum(struct sweep *s, struct stk_arena *arena, struct roofline *out)
{
    const struct stk_trace *t = s->view->t;
    if (!stk_name_cache_init(&s->names, t, arena) || !s->chosen || !sweep_kernels(s)) {
        return false;
    }
    struct stk_kernel_facts *facts = NULL;
    if (stk_kernel_has_host_costs(t) && !(facts = host_costs(s))) {
        return false;
    }
    for (size_t i = 0; i < s->ops.count; i++) {
        judge(s, stk_vec_at(&s->ops, i), facts ? &facts[i] : NULL);
    }
    stk_free(facts);
    out->count = s->ops.count;
    out->ops = stk_arena_items(arena, &s->ops);
    return out->ops != NULL;
}

static enum stoker_status roofline_see(const struct stk_analysis *view, struct stk_arena *arena,
                                       void **partial, struct stoker_err *err)
{
    struct roofline *out = stk_arena_alloc(arena, sizeof *out);
    struct stk_op_sums *sums = NULL;
    struct stk_arena scratch; // only the owners are needed from the sums
    uint32_t *owner = NULL;
    if (!out) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&scratch, 0);
    enum stoker_status status = stk_op_sums_make(view, false, &scratch, &sums, &owner, err);
    stk_arena_deinit(&scratch);
    if (status != STOKER_OK) {
        return status;
    }
    struct sweep s = {.view = view, .owner = owner};
    stk_vec_init(&s.ops, sizeof(struct roofline_op), UINT32_MAX - 1);
    stk_vec_init(&s.sums, sizeof(int64_t), UINT32_MAX - 1);
    stk_map_init(&s.row_of, UINT32_MAX - 1);
    stk_map_init(&s.each_ns, UINT32_MAX - 1);
    s.chosen = stk_alloc_zero((size_t)view->t->count / 8 + 1, 1);
    bool ok = roofline_sum(&s, arena, out);
    stk_name_cache_deinit(&s.names);
    stk_vec_deinit(&s.ops);
    stk_vec_deinit(&s.sums);
    stk_map_deinit(&s.row_of);
    stk_map_deinit(&s.each_ns);
    stk_free(s.chosen);
    stk_free(owner);
    *partial = ok ? out : NULL;
    return ok ? STOKER_OK : stk_err_nomem(err);
}

#define ROOFLINE_COLUMNS(C, R)                                                                     \
    C(R, op, TEXT,                                                                                 \
      "innermost operator around the launch call, or the device operation's own name",             \
      .is_name = true, .is_path = true)                                                            \
    C(R, device, TEXT, STK_DOC_DEVICE, .is_detail = true)                                          \
    C(R, count, COUNT, "its kernels")                                                              \
    C(R, total_ns, NS, "their durations, summed")                                                  \
    C(R, flops_per_s, RATE,                                                                        \
      "floating-point operations per second, over kernels with a known cost")                      \
    C(R, bytes_per_s, RATE,                                                                        \
      "bytes read and written per second, a lower bound, over kernels with a known cost")          \
    C(R, intensity, REAL, "floating-point operations per byte")                                    \
    C(R, ridge, REAL,                                                                              \
      "the intensity at which the device's two limits meet, for this precision: memory is "        \
      "the limit below, compute above",                                                            \
      .is_detail = true)                                                                           \
    C(R, bound, TEXT,                                                                              \
      "the peak rate that it comes closest to: compute, memory, latency (below 10% of "            \
      "both), unknown (no cost or no peak known)")                                                 \
    C(R, roof_share, SHARE,                                                                        \
      "share of that peak rate; at most 1, as caches can serve more than memory")                  \
    C(R, roof_ns, NS, "time that kernels with a known cost would take at that peak rate",          \
      .is_detail = true)
STK_TABLE(roofline, "Operations and the device's limits", ROOFLINE_COLUMNS)

struct roofline_sums {
    int64_t total_ns, told_ns, cost_ns; // all; with a cost and a peak; with a cost
    double roof_ns;
};

static struct stk_cell per_second(double sum, int64_t ns)
{
    return ns > 0 ? stk_cell_ratio(sum / ((double)ns / 1e9)) : stk_cell_unknown();
}

// More digits of an intensity say nothing.
static struct stk_cell few_digits(double x)
{
    return stk_cell_ratio(x < 1e9 ? (double)(int64_t)(x * 1e3 + 0.5) / 1e3 : x);
}

static int64_t cost_ns(const struct roofline_op *f)
{
    return f->flops_ns > f->bytes_ns ? f->flops_ns : f->bytes_ns;
}

static void fill_row(struct stk_table *table, const struct stk_rank_sum *rank,
                     const struct roofline_op *op, struct roofline_sums *all)
{
    const struct stk_cell unknown = stk_cell_unknown();
    bool both = op->flops_ns > 0 && op->flops_ns == op->bytes_ns && op->bytes > 0;
    bool peaks = op->peak_flops > 0 && op->peak_bytes > 0;
    double share = op->roof_share;
    const char *bound = op->bound;
    bool told = share >= 0 && *bound != 'u';
    const struct roofline_row row = {
        .op = stk_cell_text(op->name),
        .device = stk_cell_text(rank->devices[op->line].id),
        .count = stk_cell_number((int64_t)op->count),
        .total_ns = stk_cell_number(op->total_ns),
        .flops_per_s = per_second(op->flops, op->flops_ns),
        .bytes_per_s = per_second(op->bytes, op->bytes_ns),
        .intensity = both ? few_digits(op->flops / op->bytes) : unknown,
        .ridge = peaks ? few_digits(op->peak_flops / op->peak_bytes) : unknown,
        .bound = stk_cell_text(bound),
        .roof_share = told ? stk_cell_ratio(share) : unknown,
        .roof_ns = told ? stk_cell_number((int64_t)(share * (double)cost_ns(op))) : unknown,
    };
    all->total_ns = stk_add_ns(all->total_ns, op->total_ns);
    all->cost_ns = stk_add_ns(all->cost_ns, cost_ns(op));
    all->told_ns = stk_add_ns(all->told_ns, told ? cost_ns(op) : 0);
    all->roof_ns += told ? share * (double)cost_ns(op) : 0;
    stk_table_put(table, &row);
}

#define ROOFLINE_FIGURES(C, R)                                                                     \
    C(R, kernel_ns, NS,                                                                            \
      "durations of compute kernels, summed, without collectives and waits for transfers",         \
      .label = "compute kernels")                                                                  \
    C(R, cost_share, SHARE, "share of `kernel_ns` in kernels with known operations or bytes",      \
      .label = "time with known FLOPs or bytes")                                                   \
    C(R, told_share, SHARE, "share of `kernel_ns` whose limit is known, too",                      \
      .label = "time with a known limit")                                                          \
    C(R, roof_share, SHARE, "share of that time that the kernels would take at their limits",      \
      .label = "share of the peak rates reached")
STK_SUMMARY(roofline, ROOFLINE_FIGURES)

static const struct stk_missing no_costs = {
    "what operations compute and move", "almost no kernel has its shapes or cost",
    "PyTorch: record_shapes=True; TensorFlow and TPU profiles with device events include them; XLA "
    "on a GPU doesn't record them"};
static const struct stk_missing no_peaks = {
    "the device's peak rates", "the profile doesn't name a device with known peak rates",
    "nothing: compare `flops_per_s` and `bytes_per_s` with the device's data sheet"};

#define LEAST_TOLD 0.1 // of the kernels' time: below it, costs or peaks count as missing

static void say_missing(struct stk_table_doc *doc, const struct roofline_sums *all)
{
    double least = LEAST_TOLD * (double)all->total_ns;
    doc->inconclusive = (double)all->told_ns <= least;
    if ((double)all->cost_ns <= least) {
        stk_table_lacks(doc, &no_costs);
    } else if (doc->inconclusive) {
        stk_table_lacks(doc, &no_peaks);
    }
}

static void roofline_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &roofline_table);
    struct roofline_sums all = {.total_ns = 0};
    if (stk_stats_lacks_device(ctx, doc)) {
        return;
    }
    stk_table_keep(table, "total_ns", ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct stk_rank_sum *rank = ctx->run->ranks[r];
        const struct roofline *p = rank->partial;
        for (size_t i = 0; p && i < p->count; i++) {
            fill_row(table, rank, &p->ops[i], &all);
        }
    }
    stk_table_sort(table, "total_ns");
    const struct roofline_summary summary = {
        .kernel_ns = stk_cell_number(all.total_ns),
        .cost_share = stk_cell_share_of(all.cost_ns, all.total_ns),
        .told_share = stk_cell_share_of(all.told_ns, all.total_ns),
        .roof_share = all.told_ns > 0 ? stk_cell_ratio(all.roof_ns / (double)all.told_ns)
                                      : stk_cell_unknown(),
    };
    stk_table_summarize(doc, &roofline_summary_info, &summary);
    say_missing(doc, &all);
}

const struct stk_stats stk_stats_roofline = {
    .name = "roofline",
    .question =
        "What do operations compute and move, and how close is that to the device's limits?",
    .needs = "kernels of a device, and shapes or costs of their operations",
    .tables = {&roofline_table},
    .summary = &roofline_summary_info,
    .missing = {&stk_missing_device, &no_costs, &no_peaks},
    .hook = {.see = roofline_see, .wants = STK_WANT_LAUNCHES},
    .describe = roofline_describe,
};
