// SPDX-License-Identifier: Apache-2.0
// What does this job do, at a glance?
// The operations with most self time (of the device where one ran, else of the host; over all
// ranks, rank is the one with most of it), the precision of its kernels' operands as their names
// tell it, how busy each device is, and what the run's summary says of steps, time and environment
// (stats_overview_run.c). Of the operations ten are shown, all with --limit 0. Precision is that of
// compute: collectives, and what only waits for a transfer, have none. tensor_core_share is of the
// kernels whose name tells whether they use them. busy_share is over the span from a device's first
// operation to its last.
#include <string.h>

#include "base/map.h"
#include "model/device/kernel_names.h"
#include "passes/stats/stats_overview.h"
#include "passes/sums.h"

#define TOP_OPS 10
#define MAX_PRECISIONS 16

struct overview_partial {
    const struct stk_kernel_sums *kernels;
    const struct stk_op_sums *ops;
};

static enum stk_status overview_see(const struct stk_analysis *view, struct stk_arena *arena,
                                    void **partial, struct stk_err *err)
{
    struct overview_partial *out = stk_arena_alloc(arena, sizeof *out);
    void *kernels = NULL, *ops = NULL;
    if (!out) {
        return stk_err_nomem(err);
    }
    enum stk_status status = stk_kernel_sums_see(view, arena, &kernels, err);
    if (status == STK_OK) {
        status = stk_op_sums_see(view, arena, &ops, err);
    }
    out->kernels = kernels;
    out->ops = ops;
    *partial = out;
    return status;
}

static const struct stk_column op_columns[] = {
    {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "placement", .type = STK_CELL_TEXT},
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "self_ns", .type = STK_CELL_NS},
    {.id = "self_share", .type = STK_CELL_SHARE},
    {.id = "ranks", .type = STK_CELL_COUNT, .is_detail = true}, // left out where there is one rank
};
static const struct stk_column precision_columns[] = {
    {.id = "precision", .type = STK_CELL_TEXT},
    {.id = "kernels", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "total_share", .type = STK_CELL_SHARE},
    {.id = "tensor_core_share", .type = STK_CELL_SHARE},
};
static const struct stk_column device_columns[] = {
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "name", .type = STK_CELL_TEXT},
    {.id = "span_ns", .type = STK_CELL_NS},
    {.id = "busy_ns", .type = STK_CELL_NS},
    {.id = "busy_share", .type = STK_CELL_SHARE},
    {.id = "compute_ns", .type = STK_CELL_NS},
    {.id = "communication_exposed_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "transfer_exposed_ns", .type = STK_CELL_NS, .is_detail = true},
};
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

struct top_op {
    const char *name;
    int32_t rank, ranks; // with most of it, and how many
    uint64_t count;
    int64_t self_ns, most_ns;
};

// Operations of all ranks by name.
static bool sum_ops(const struct stk_run_sum *run, bool on_device, struct stk_vec *ops)
{
    struct stk_map known;
    bool ok = true;
    stk_map_init(&known, UINT32_MAX - 1);
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct overview_partial *p = run->ranks[r]->partial;
        for (size_t i = 0; ok && p && i < p->ops->count; i++) {
            const struct stk_op_row *o = &p->ops->rows[i];
            if (o->on_device != on_device) {
                continue;
            }
            size_t n = strlen(o->name);
            int created = 0;
            uint32_t *at =
                stk_map_put(&known, stk_hash_bytes(o->name, n), n, (uint32_t)ops->count, &created);
            struct top_op *op = !at ? NULL : created ? stk_vec_push(ops) : stk_vec_at(ops, *at);
            if (!(ok = op != NULL)) {
                break;
            }
            op->name = o->name;
            if (op->ranks++ == 0 || o->self_ns > op->most_ns) {
                op->rank = run->ranks[r]->rank;
                op->most_ns = o->self_ns;
            }
            op->count += o->count;
            op->self_ns = stk_add_ns(op->self_ns, o->self_ns);
        }
    }
    stk_map_deinit(&known);
    return ok;
}

static bool fill_ops(struct stk_table *table, const struct stk_run_sum *run, bool on_device,
                     int64_t whole_ns)
{
    struct stk_vec ops;
    stk_vec_init(&ops, sizeof(struct top_op), UINT32_MAX - 1);
    bool ok = sum_ops(run, on_device, &ops);
    for (size_t i = 0; ok && i < ops.count; i++) {
        const struct top_op *o = stk_vec_at(&ops, i);
        struct stk_cell *row = stk_table_row(table);
        if (!(ok = row != NULL)) {
            break;
        }
        row[0] = stk_cell_text(o->name);
        row[1] = stk_cell_text(on_device ? "device" : "host");
        row[2] = stk_cell_number(o->rank);
        row[3] = stk_cell_number((int64_t)o->count);
        row[4] = stk_cell_number(o->self_ns);
        row[5] = stk_cell_share_of(o->self_ns, whole_ns);
        if (run->rank_count > 1) {
            row[6] = stk_cell_number(o->ranks);
        }
    }
    stk_vec_deinit(&ops);
    return ok && stk_table_sort(table, "self_ns");
}

struct precision {
    const char *name; // NULL: not known
    uint64_t kernels;
    int64_t total_ns, tensor_ns;
    int64_t told_ns; // of kernels that do or do not use tensor cores, by their name
};

static bool is_compute(const char *kernel)
{
    uint32_t bits = stk_name_classify(stk_str_from(kernel), STK_KIND_KERNEL);
    return !(bits & (STK_NAME_COLLECTIVE | STK_NAME_WAITS));
}

static void add_kernel(struct precision *list, size_t *count, struct precision *all,
                       const struct stk_kernel_row *k, bool has_tensor_cores)
{
    struct stk_kernel_traits traits = stk_kernel_traits_of(stk_str_from(k->name));
    size_t i = 0;
    if (!is_compute(k->name)) {
        return;
    }
    while (i < *count && list[i].name != traits.precision &&
           !(list[i].name && traits.precision && strcmp(list[i].name, traits.precision) == 0)) {
        i++;
    }
    if (i == MAX_PRECISIONS) {
        return;
    }
    if (i == *count) {
        list[(*count)++] = (struct precision){.name = traits.precision};
    }
    struct precision *sums[] = {&list[i], all};
    for (size_t s = 0; s < COUNT_OF(sums); s++) {
        sums[s]->kernels += k->count;
        sums[s]->total_ns += k->total_ns;
        sums[s]->tensor_ns += traits.tensor_core == STK_TENSOR_YES ? k->total_ns : 0;
        sums[s]->told_ns +=
            has_tensor_cores && traits.tensor_core != STK_TENSOR_UNKNOWN ? k->total_ns : 0;
    }
}

static struct stk_cell tensor_share(const struct precision *p)
{
    return p->told_ns > 0 ? stk_cell_share_of(p->tensor_ns, p->total_ns) : stk_cell_unknown();
}

static bool fill_precision(struct stk_table *table, const struct stk_run_sum *run,
                           struct precision *all)
{
    struct precision list[MAX_PRECISIONS];
    size_t count = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct overview_partial *p = run->ranks[r]->partial;
        for (uint32_t i = 0; p && i < p->kernels->row_count; i++) {
            const struct stk_kernel_row *k = &p->kernels->rows[i];
            add_kernel(list, &count, all, k,
                       run->ranks[r]->devices[k->line].kind != STK_DEVICE_TPU);
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(list[i].name);
        row[1] = stk_cell_number((int64_t)list[i].kernels);
        row[2] = stk_cell_number(list[i].total_ns);
        row[3] = stk_cell_share_of(list[i].total_ns, all->total_ns);
        row[4] = tensor_share(&list[i]);
    }
    return stk_table_sort(table, "total_ns");
}

static bool fill_devices(struct stk_table *table, const struct stk_pass_ctx *ctx, int64_t *busy,
                         int64_t *span)
{
    int64_t busy_ns = 0, span_ns = 0;
    for (uint32_t i = 0; i < ctx->run->device_count; i++) {
        const struct stk_device_sum *d = &ctx->run->devices[i];
        if (d->ops == 0 || (ctx->select->has_device && d->ordinal != ctx->select->device)) {
            continue;
        }
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(d->id);
        row[1] = stk_cell_text(d->name && *d->name ? d->name : NULL);
        row[2] = stk_cell_number(d->span_ns);
        row[3] = stk_cell_number(d->busy_ns);
        row[4] = stk_cell_share_of(d->busy_ns, d->span_ns);
        row[5] = stk_cell_number(d->compute_ns);
        row[6] = stk_cell_number(d->communication_exposed_ns);
        row[7] = stk_cell_number(d->transfer_exposed_ns);
        busy_ns += d->analysed ? d->busy_ns : 0;
        span_ns += d->analysed ? d->span_ns : 0;
    }
    *busy = busy_ns;
    *span = span_ns;
    return true;
}

static struct stk_cell known_from_zero(int64_t ns)
{
    return ns >= 0 ? stk_cell_number(ns) : stk_cell_unknown();
}

static void say_figures(const struct stk_run_sum *run, struct stk_table_doc *doc, int64_t busy_ns,
                        int64_t span_ns, const struct stk_op_sums *ops,
                        const struct precision *compute)
{
    int64_t self_ns = ops->device_ns > 0 ? ops->host_ns + ops->device_ns : 0;
    stk_table_figure(doc, "steps", STK_CELL_COUNT,
                     run->steps_used ? stk_cell_number(run->steps_used) : stk_cell_unknown());
    stk_table_figure(doc, "step_ns", STK_CELL_NS, known_from_zero(run->step_median_ns));
    stk_table_figure(doc, "step_mean_ns", STK_CELL_NS, known_from_zero(run->step_mean_ns));
    stk_table_figure(doc, "step_p95_ns", STK_CELL_NS, known_from_zero(run->step_p95_ns));
    stk_table_figure(doc, "busy_share", STK_CELL_SHARE, stk_cell_share_of(busy_ns, span_ns));
    stk_table_figure(doc, "idle_share", STK_CELL_SHARE,
                     stk_cell_share_of(span_ns - busy_ns, span_ns));
    stk_table_figure(doc, "host_share", STK_CELL_SHARE, stk_cell_share_of(ops->host_ns, self_ns));
    stk_table_figure(doc, "device_share", STK_CELL_SHARE,
                     stk_cell_share_of(ops->device_ns, self_ns));
    stk_table_figure(doc, "tensor_core_share", STK_CELL_SHARE, tensor_share(compute));
}

static enum stk_status overview_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                         struct stk_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *ops = stk_table_add(doc, "top_ops", "Operations by self time", op_columns,
                                          COUNT_OF(op_columns) - (run->rank_count > 1 ? 0 : 1));
    struct stk_table *precision = stk_table_add(doc, "precision", "Precision of compute",
                                                precision_columns, COUNT_OF(precision_columns));
    struct stk_table *devices =
        stk_table_add(doc, "devices", "Devices", device_columns, COUNT_OF(device_columns));
    struct stk_op_sums all = {.count = 0};
    struct precision compute = {.name = NULL};
    int64_t busy_ns = 0, span_ns = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct overview_partial *p = run->ranks[r]->partial;
        all.host_ns += p ? p->ops->host_ns : 0;
        all.device_ns += p ? p->ops->device_ns : 0;
    }
    bool on_device = all.device_ns > 0;
    if (!fill_ops(ops, run, on_device, on_device ? all.device_ns : all.host_ns) ||
        !fill_precision(precision, run, &compute) ||
        !fill_devices(devices, ctx, &busy_ns, &span_ns) || !stk_overview_add_breakdown(ctx, doc) ||
        !stk_overview_add_step_times(ctx, doc) || !stk_overview_add_environment(ctx, doc)) {
        return stk_err_nomem(err);
    }
    if (ctx->limit != 0) {
        stk_table_cut(ops, TOP_OPS);
    }
    say_figures(run, doc, busy_ns, span_ns, &all, &compute);
    if (!on_device && ops->row_count > 0) {
        stk_table_lacks(doc, "device operations", "only the host's side was recorded",
                        "record device activity to see what the device does");
    } else if (ops->row_count == 0) {
        doc->inconclusive = stk_stats_lacks_device(ctx, doc);
    }
    return STK_OK;
}

const struct stk_stats stk_stats_overview = {
    .name = "overview",
    .question = "What does this job do, at a glance?",
    .needs = "operators of the host, or operations of a device",
    .hook = {.see = overview_see},
    .describe = overview_describe,
};
