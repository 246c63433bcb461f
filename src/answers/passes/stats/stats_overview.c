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

#include "base/hash.h"
#include "base/map.h"
#include "profile/model/device/kernel_names.h"
#include "answers/passes/stats/stats_overview.h"
#include "answers/passes/sums.h"

#define TOP_OPS 10
#define MAX_PRECISIONS 16

struct overview_partial {
    const struct stk_kernel_sums *kernels;
    const struct stk_op_sums *ops;
};

static enum stoker_status overview_see(const struct stk_analysis *view, struct stk_arena *arena,
                                       void **partial, struct stoker_err *err)
{
    struct overview_partial *out = stk_arena_alloc(arena, sizeof *out);
    void *kernels = NULL, *ops = NULL;
    if (!out) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = stk_kernel_sums_see(view, arena, &kernels, err);
    if (status == STOKER_OK) {
        status = stk_op_sums_see(view, arena, &ops, err);
    }
    out->kernels = kernels;
    out->ops = ops;
    *partial = out;
    return status;
}

#define TOP_OPS_COLUMNS(C, R)                                                                      \
    C(R, name, TEXT, "name of the operation", .is_name = true)                                     \
    C(R, placement, TEXT, "where the time is counted: the device if any ran, otherwise the CPU")   \
    C(R, rank, COUNT, "rank with most of its self time", .is_detail = true)                        \
    C(R, count, COUNT, "how often it ran, on all ranks")                                           \
    C(R, self_ns, NS, "time without the operations nested inside, summed over all ranks")          \
    C(R, self_share, SHARE, "share of the self time of all operations of this placement")          \
    C(R, ranks, COUNT, "ranks on which it ran; left out where there is only one", .is_detail = true)
STK_TABLE(top_ops, "Operations by self time", TOP_OPS_COLUMNS)

#define PRECISION_COLUMNS(C, R)                                                                    \
    C(R, precision, TEXT,                                                                          \
      "operand type, judging by the kernels' names; cast: conversions between types, the "         \
      "cost of mixed precision")                                                                   \
    C(R, kernels, COUNT, "kernels that compute, without collectives and waits for a transfer")     \
    C(R, total_ns, NS, "their durations, summed")                                                  \
    C(R, total_share, SHARE, "share of the time of all such kernels")                              \
    C(R, tensor_core_share, SHARE,                                                                 \
      "share of `total_ns` in kernels whose names show tensor cores; unknown if no name "          \
      "shows it")
STK_TABLE(precision, "Precision of compute", PRECISION_COLUMNS)

#define DEVICES_COLUMNS(C, R)                                                                      \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, name, TEXT, "model of the device")                                                        \
    C(R, span_ns, NS, "from the device's first operation to the end of its last")                  \
    C(R, busy_ns, NS, "union of kernels, copies and memsets over all streams")                     \
    C(R, busy_share, SHARE, "`busy_ns` as a share of `span_ns`")                                   \
    C(R, compute_ns, NS, "union of kernels other than collectives")                                \
    C(R, communication_exposed_ns, NS, "union of the collectives, minus what compute overlaps",    \
      .is_detail = true)                                                                           \
    C(R, transfer_exposed_ns, NS, "union of the copies, minus what kernels overlap",               \
      .is_detail = true)
STK_TABLE(devices, "Devices", DEVICES_COLUMNS)

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
            uint32_t *at = stk_map_put(&known, stk_hash_table_bytes(o->name, n), n,
                                       (uint32_t)ops->count, &created);
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
        const struct top_ops_row row = {
            .name = stk_cell_text(o->name),
            .placement = stk_cell_text(on_device ? "device" : "host"),
            .rank = stk_cell_number(o->rank),
            .count = stk_cell_number((int64_t)o->count),
            .self_ns = stk_cell_number(o->self_ns),
            .self_share = stk_cell_share_of(o->self_ns, whole_ns),
            .ranks = stk_cell_number(o->ranks),
        };
        stk_table_put(table, &row);
    }
    stk_table_sort(table, "self_ns");
    stk_vec_deinit(&ops);
    return ok;
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

static void fill_precision(struct stk_table *table, const struct stk_run_sum *run,
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
        const struct precision_row row = {
            .precision = stk_cell_text(list[i].name),
            .kernels = stk_cell_number((int64_t)list[i].kernels),
            .total_ns = stk_cell_number(list[i].total_ns),
            .total_share = stk_cell_share_of(list[i].total_ns, all->total_ns),
            .tensor_core_share = tensor_share(&list[i]),
        };
        stk_table_put(table, &row);
    }
    stk_table_sort(table, "total_ns");
}

static void fill_devices(struct stk_table *table, const struct stk_pass_ctx *ctx, int64_t *busy,
                         int64_t *span)
{
    int64_t busy_ns = 0, span_ns = 0;
    for (uint32_t i = 0; i < ctx->run->device_count; i++) {
        const struct stk_device_sum *d = &ctx->run->devices[i];
        if (d->ops == 0 || (ctx->select->has_device && d->ordinal != ctx->select->device)) {
            continue;
        }
        const struct devices_row row = {
            .device = stk_cell_text(d->id),
            .name = stk_cell_text(d->name && *d->name ? d->name : NULL),
            .span_ns = stk_cell_number(d->span_ns),
            .busy_ns = stk_cell_number(d->busy_ns),
            .busy_share = stk_cell_share_of(d->busy_ns, d->span_ns),
            .compute_ns = stk_cell_number(d->compute_ns),
            .communication_exposed_ns = stk_cell_number(d->communication_exposed_ns),
            .transfer_exposed_ns = stk_cell_number(d->transfer_exposed_ns),
        };
        stk_table_put(table, &row);
        busy_ns += d->analysed ? d->busy_ns : 0;
        span_ns += d->analysed ? d->span_ns : 0;
    }
    *busy = busy_ns;
    *span = span_ns;
}

static struct stk_cell known_from_zero(int64_t ns)
{
    return ns >= 0 ? stk_cell_number(ns) : stk_cell_unknown();
}

#define OVERVIEW_FIGURES(C, R)                                                                     \
    C(R, steps, COUNT, "used steps")                                                               \
    C(R, step_ns, NS, "length of a used step: lower median", .label = "step, median")              \
    C(R, step_mean_ns, NS, "length of a used step: mean", .label = "step, mean")                   \
    C(R, step_p95_ns, NS, "length of a used step: 95th percentile, nearest rank",                  \
      .label = "step, p95")                                                                        \
    C(R, busy_share, SHARE,                                                                        \
      "busy time of the devices in the breakdown as a share of their spans, both summed",          \
      .label = "GPU busy")                                                                         \
    C(R, idle_share, SHARE, "1 - `busy_share`", .label = "GPU idle")                               \
    C(R, host_share, SHARE, "share of all operations' self time on the CPU; only if a device ran", \
      .label = "operator time on the CPU")                                                         \
    C(R, device_share, SHARE, "share of all operations' self time on devices",                     \
      .label = "operator time on the GPU")                                                         \
    C(R, tensor_core_share, SHARE,                                                                 \
      "share of compute kernels' time in kernels whose names show tensor cores",                   \
      .label = "compute on tensor cores")
STK_SUMMARY(overview, OVERVIEW_FIGURES)

static void overview_say_figures(const struct stk_run_sum *run, struct stk_table_doc *doc,
                                 int64_t busy_ns, int64_t span_ns, const struct stk_op_sums *ops,
                                 const struct precision *compute)
{
    int64_t self_ns = ops->device_ns > 0 ? ops->host_ns + ops->device_ns : 0;
    const struct overview_summary summary = {
        .steps = run->steps_used ? stk_cell_number(run->steps_used) : stk_cell_unknown(),
        .step_ns = known_from_zero(run->step_median_ns),
        .step_mean_ns = known_from_zero(run->step_mean_ns),
        .step_p95_ns = known_from_zero(run->step_p95_ns),
        .busy_share = stk_cell_share_of(busy_ns, span_ns),
        .idle_share = stk_cell_share_of(span_ns - busy_ns, span_ns),
        .host_share = stk_cell_share_of(ops->host_ns, self_ns),
        .device_share = stk_cell_share_of(ops->device_ns, self_ns),
        .tensor_core_share = tensor_share(compute),
    };
    stk_table_summarize(doc, &overview_summary_info, &summary);
}

static const struct stk_missing host_alone = {"device operations", "only the CPU was recorded",
                                              "record GPU activity to see what the GPU does"};

static void overview_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *ops = stk_table_add(doc, &top_ops_table);
    ops->column_count -= run->rank_count > 1 ? 0 : 1; // the last one counts ranks
    struct stk_table *precision = stk_table_add(doc, &precision_table);
    struct stk_table *devices = stk_table_add(doc, &devices_table);
    struct stk_op_sums all = {.count = 0};
    struct precision compute = {.name = NULL};
    int64_t busy_ns = 0, span_ns = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct overview_partial *p = run->ranks[r]->partial;
        all.host_ns += p ? p->ops->host_ns : 0;
        all.device_ns += p ? p->ops->device_ns : 0;
    }
    bool on_device = all.device_ns > 0;
    stk_table_keep(ops, "self_ns", ctx->limit ? TOP_OPS : 0);
    doc->ran_out |= !fill_ops(ops, run, on_device, on_device ? all.device_ns : all.host_ns);
    fill_precision(precision, run, &compute);
    fill_devices(devices, ctx, &busy_ns, &span_ns);
    stk_overview_add_breakdown(ctx, doc);
    stk_overview_add_step_times(ctx, doc);
    stk_overview_add_environment(ctx, doc);
    if (ctx->limit != 0) {
        stk_table_cut(ops, TOP_OPS);
    }
    overview_say_figures(run, doc, busy_ns, span_ns, &all, &compute);
    if (!on_device && ops->row_count > 0) {
        stk_table_lacks(doc, &host_alone);
    } else if (ops->row_count == 0) {
        doc->inconclusive = stk_stats_lacks_device(ctx, doc);
    }
}

const struct stk_stats stk_stats_overview = {
    .name = "overview",
    .question = "What does this job do, at a glance?",
    .needs = "operators on the CPU, or operations of a device",
    .tables = {&top_ops_table, &precision_table, &devices_table, &stk_overview_breakdown_table,
               &stk_overview_step_times_table, &stk_overview_environment_table},
    .summary = &overview_summary_info,
    .missing = {&stk_missing_device, &host_alone},
    .hook = {.see = overview_see},
    .describe = overview_describe,
};
