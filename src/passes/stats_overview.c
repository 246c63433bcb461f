// SPDX-License-Identifier: Apache-2.0
// What does this job do, at a glance?
// The operations with most self time (of the device where one ran, else of the host), the precision
// of its kernels' operands as their names tell it, and how busy each device is.
// Of the operations ten are shown, all with --limit 0.
// busy_share is over the span from a device's first operation to its last.
#include <string.h>

#include "model/kernel_names.h"
#include "passes/stats.h"
#include "passes/stats_sums.h"

#define TOP_OPS 10
#define MAX_PRECISIONS 16

struct overview_partial {
    const struct stk_kernel_sums *kernels;
    const struct stk_op_sums *ops;
};

static enum stk_status see(const struct stk_analysis *view, struct stk_arena *arena, void **partial,
                           struct stk_err *err)
{
    struct overview_partial *out = stk_arena_alloc(arena, sizeof *out);
    void *kernels = NULL, *ops = NULL;
    if (!out)
        return stk_err_nomem(err);
    enum stk_status status = stk_kernel_sums_see(view, arena, &kernels, err);
    if (status == STK_OK)
        status = stk_op_sums_see(view, arena, &ops, err);
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

static bool fill_ops(struct stk_table *table, const struct stk_rank_sum *rank, bool on_device,
                     int64_t whole_ns)
{
    const struct overview_partial *p = rank->partial;
    for (size_t i = 0; p && i < p->ops->count; i++) {
        const struct stk_op_row *o = &p->ops->rows[i];
        if (o->on_device != on_device)
            continue;
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
        row[0] = stk_cell_text(o->name);
        row[1] = stk_cell_text(on_device ? "device" : "host");
        row[2] = stk_cell_number(rank->rank);
        row[3] = stk_cell_number((int64_t)o->count);
        row[4] = stk_cell_number(o->self_ns);
        row[5] = stk_cell_share_of(o->self_ns, whole_ns);
    }
    return true;
}

struct precision {
    const char *name; // NULL: not known
    uint64_t kernels;
    int64_t total_ns, tensor_ns;
};

static void add_kernel(struct precision *list, size_t *count, const struct stk_kernel_row *k)
{
    struct stk_kernel_traits traits = stk_kernel_traits_of(stk_str_from(k->name));
    size_t i = 0;
    while (i < *count && list[i].name != traits.precision &&
           !(list[i].name && traits.precision && strcmp(list[i].name, traits.precision) == 0))
        i++;
    if (i == MAX_PRECISIONS)
        return;
    if (i == *count)
        list[(*count)++] = (struct precision){.name = traits.precision};
    list[i].kernels += k->count;
    list[i].total_ns += k->total_ns;
    list[i].tensor_ns += traits.tensor_core == STK_TENSOR_YES ? k->total_ns : 0;
}

static bool fill_precision(struct stk_table *table, const struct stk_run_sum *run)
{
    struct precision list[MAX_PRECISIONS];
    size_t count = 0;
    int64_t total_ns = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct overview_partial *p = run->ranks[r]->partial;
        for (uint32_t i = 0; p && i < p->kernels->row_count; i++)
            add_kernel(list, &count, &p->kernels->rows[i]);
        total_ns += p ? p->kernels->total_ns : 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
        row[0] = stk_cell_text(list[i].name);
        row[1] = stk_cell_number((int64_t)list[i].kernels);
        row[2] = stk_cell_number(list[i].total_ns);
        row[3] = stk_cell_share_of(list[i].total_ns, total_ns);
        row[4] = stk_cell_share_of(list[i].tensor_ns, list[i].total_ns);
    }
    return stk_table_sort(table, "total_ns");
}

static bool fill_devices(struct stk_table *table, const struct stk_pass_ctx *ctx,
                         struct stk_cell *busy_share)
{
    int64_t busy_ns = 0, span_ns = 0;
    for (uint32_t i = 0; i < ctx->run->device_count; i++) {
        const struct stk_device_sum *d = &ctx->run->devices[i];
        if (d->ops == 0 || (ctx->select->has_device && d->ordinal != ctx->select->device))
            continue;
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
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
    *busy_share = stk_cell_share_of(busy_ns, span_ns);
    return true;
}

static enum stk_status describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                struct stk_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *ops =
        stk_table_add(doc, "top_ops", "Operations by self time", op_columns, COUNT_OF(op_columns));
    struct stk_table *precision = stk_table_add(doc, "precision", "Precision of kernels",
                                                precision_columns, COUNT_OF(precision_columns));
    struct stk_table *devices =
        stk_table_add(doc, "devices", "Devices", device_columns, COUNT_OF(device_columns));
    struct stk_cell busy_share = stk_cell_unknown();
    int64_t host_ns = 0, device_ns = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct overview_partial *p = run->ranks[r]->partial;
        host_ns += p ? p->ops->host_ns : 0;
        device_ns += p ? p->ops->device_ns : 0;
    }
    bool on_device = device_ns > 0;
    for (uint32_t r = 0; r < run->rank_count; r++)
        if (!fill_ops(ops, run->ranks[r], on_device, on_device ? device_ns : host_ns))
            return stk_err_nomem(err);
    if (!stk_table_sort(ops, "self_ns") || !fill_precision(precision, run) ||
        !fill_devices(devices, ctx, &busy_share))
        return stk_err_nomem(err);
    if (ctx->limit != 0)
        stk_table_cut(ops, TOP_OPS);
    stk_table_figure(doc, "step_ns", STK_CELL_NS,
                     run->step_median_ns >= 0 ? stk_cell_number(run->step_median_ns)
                                              : stk_cell_unknown());
    stk_table_figure(doc, "busy_share", STK_CELL_SHARE, busy_share);
    if (!on_device && ops->row_count > 0)
        stk_table_lacks(doc, "device operations", "only the host's side was recorded",
                        "record device activity to see what the device does");
    else if (ops->row_count == 0)
        doc->inconclusive = stk_stats_lacks_device(ctx, doc);
    return STK_OK;
}

const struct stk_stats stk_stats_overview = {
    .name = "overview",
    .question = "What does this job do, at a glance?",
    .needs = "operators of the host, or operations of a device",
    .hook = {.see = see},
    .describe = describe,
};
