// SPDX-License-Identifier: Apache-2.0
// Which kernels take the device's time?
// Kernels (collectives included) by name and device: how often, how long, on which units. A kernel
// counts where it starts; times are sums over all streams, so they may exceed the span.
// Tensor cores and precision are read from the name (model/kernel_names.c).
// Method: one pass over each device's operations with a slot per string id.
#include <string.h>

#include "base/alloc.h"
#include "model/kernel_names.h"
#include "passes/stats.h"
#include "passes/stats_sums.h"

#define SHORT_KERNEL_NS 10000

struct sweep {
    const struct stk_analysis *view;
    bool used_only;
    struct stk_kernel_sums *out;
    struct stk_vec rows; // struct stk_kernel_row
    uint32_t *slot;      // per string id: row + 1 on this device
    struct stk_name_cache names;
};

static bool is_kernel(uint8_t kind)
{
    return kind == STK_KIND_KERNEL || kind == STK_KIND_COLLECTIVE;
}

static bool add_kernel(struct sweep *s, uint32_t line, uint32_t event, int64_t dur_ns)
{
    uint32_t id = s->view->t->name[event];
    if (s->slot[id] == 0) {
        struct stk_kernel_row *row = stk_vec_push(&s->rows);
        const char *name = row ? stk_name_cache_get(&s->names, id) : NULL;
        if (!name)
            return false;
        *row =
            (struct stk_kernel_row){.name = name, .line = line, .min_ns = dur_ns, .max_ns = dur_ns};
        s->slot[id] = (uint32_t)s->rows.count;
    }
    struct stk_kernel_row *row = stk_vec_at(&s->rows, s->slot[id] - 1);
    row->count++;
    row->total_ns += dur_ns;
    row->min_ns = dur_ns < row->min_ns ? dur_ns : row->min_ns;
    row->max_ns = dur_ns > row->max_ns ? dur_ns : row->max_ns;
    s->out->count++;
    s->out->total_ns += dur_ns;
    if (dur_ns < SHORT_KERNEL_NS) {
        s->out->short_count++;
        s->out->short_ns += dur_ns;
    }
    return true;
}

static bool sweep_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_device_line *l = &s->view->lines[line];
    struct stk_running_union kernels = STK_RUNNING_UNION;
    struct stk_view_cursor cursor = {selected, 0};
    if (!(s->used_only ? stk_view_used : stk_view_selected)(s->view, line, selected))
        return false;
    for (uint32_t i = 0; i < l->op_count; i++) {
        const struct stk_device_op *op = &l->ops[i];
        if (!is_kernel(s->view->t->kind[op->event]) || !stk_view_in(&cursor, op->start_ns))
            continue;
        stk_running_union_add(&kernels, op->start_ns, op->end_ns);
        if (!add_kernel(s, line, op->event, op->end_ns - op->start_ns))
            return false;
    }
    for (uint32_t i = 0; i < l->op_count; i++)
        s->slot[s->view->t->name[l->ops[i].event]] = 0;
    s->out->kernel_ns += kernels.total_ns;
    return true;
}

static enum stk_status sum_up(const struct stk_analysis *view, bool used_only,
                              struct stk_arena *arena, void **partial, struct stk_err *err)
{
    struct sweep s = {.view = view, .used_only = used_only};
    struct stk_spans selected;
    stk_spans_init(&selected);
    stk_vec_init(&s.rows, sizeof(struct stk_kernel_row), UINT32_MAX - 1);
    s.slot = stk_alloc_zero((size_t)view->t->strings.count + 1, sizeof *s.slot);
    s.out = stk_arena_alloc(arena, sizeof *s.out);
    bool ok = stk_name_cache_init(&s.names, view->t, arena) && s.slot && s.out;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++)
        ok = sweep_device(&s, d, &selected);
    struct stk_kernel_row *rows =
        ok ? stk_arena_array(arena, s.rows.count + 1, sizeof *rows) : NULL;
    if (rows) {
        if (s.rows.count)
            memcpy(rows, s.rows.items, s.rows.count * sizeof *rows);
        s.out->rows = rows;
        s.out->row_count = (uint32_t)s.rows.count;
        *partial = s.out;
    }
    stk_name_cache_deinit(&s.names);
    stk_free(s.slot);
    stk_vec_deinit(&s.rows);
    stk_spans_deinit(&selected);
    return rows ? STK_OK : stk_err_nomem(err);
}

enum stk_status stk_kernel_sums_see(const struct stk_analysis *view, struct stk_arena *arena,
                                    void **partial, struct stk_err *err)
{
    return sum_up(view, false, arena, partial, err);
}

enum stk_status stk_kernel_sums_see_used(const struct stk_analysis *view, struct stk_arena *arena,
                                         void **partial, struct stk_err *err)
{
    return sum_up(view, true, arena, partial, err);
}

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
};

struct tensor_sums {
    int64_t total_ns, on_ns, eligible_ns, unknown_ns;
};

static bool fill_rank(struct stk_table *table, const struct stk_rank_sum *rank, int64_t all_ns,
                      struct tensor_sums *sums)
{
    const struct stk_kernel_sums *p = rank->partial;
    for (uint32_t i = 0; p && i < p->row_count; i++) {
        const struct stk_kernel_row *k = &p->rows[i];
        struct stk_kernel_traits traits = stk_kernel_traits_of(stk_str_from(k->name));
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
        row[0] = stk_cell_text(k->name);
        row[1] = stk_cell_text(rank->devices[k->line].id);
        row[2] = stk_cell_number((int64_t)k->count);
        row[3] = stk_cell_number(k->total_ns);
        row[4] = stk_cell_share_of(k->total_ns, all_ns);
        row[5] = stk_cell_number(k->total_ns / (int64_t)k->count);
        row[6] = stk_cell_number(k->min_ns);
        row[7] = stk_cell_number(k->max_ns);
        row[8] = stk_cell_text(stk_tensor_core_key(traits.tensor_core));
        row[9] = stk_cell_text(traits.precision);
        sums->total_ns += k->total_ns;
        sums->on_ns += traits.tensor_core == STK_TENSOR_YES ? k->total_ns : 0;
        sums->eligible_ns += traits.tensor_core == STK_TENSOR_ELIGIBLE ? k->total_ns : 0;
        sums->unknown_ns += traits.tensor_core == STK_TENSOR_UNKNOWN ? k->total_ns : 0;
    }
    return true;
}

static enum stk_status describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                struct stk_err *err)
{
    struct stk_table *table = stk_table_add(doc, "kernels", "Kernels by total time", columns,
                                            sizeof columns / sizeof columns[0]);
    struct stk_kernel_sums all = {.rows = NULL};
    struct tensor_sums sums = {0, 0, 0, 0};
    if (stk_stats_lacks_device(ctx, doc))
        return STK_OK;
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct stk_kernel_sums *p = ctx->run->ranks[r]->partial;
        all.count += p ? p->count : 0;
        all.short_count += p ? p->short_count : 0;
        all.kernel_ns += p ? p->kernel_ns : 0;
        all.total_ns += p ? p->total_ns : 0;
        all.short_ns += p ? p->short_ns : 0;
    }
    for (uint32_t r = 0; r < ctx->run->rank_count; r++)
        if (!fill_rank(table, ctx->run->ranks[r], all.total_ns, &sums))
            return stk_err_nomem(err);
    if (!stk_table_sort(table, "total_ns"))
        return stk_err_nomem(err);
    bool says = sums.unknown_ns < sums.total_ns;
    stk_table_figure(doc, "kernels", STK_CELL_COUNT, stk_cell_number((int64_t)all.count));
    stk_table_figure(doc, "kernel_ns", STK_CELL_NS, stk_cell_number(all.kernel_ns));
    stk_table_figure(doc, "total_kernel_ns", STK_CELL_NS, stk_cell_number(all.total_ns));
    stk_table_figure(doc, "short_share", STK_CELL_SHARE,
                     stk_cell_share_of(all.short_ns, all.total_ns));
    stk_table_figure(doc, "short_count_share", STK_CELL_SHARE,
                     stk_cell_share_of((int64_t)all.short_count, (int64_t)all.count));
    stk_table_figure(doc, "tensor_core_share", STK_CELL_SHARE,
                     says ? stk_cell_share_of(sums.on_ns, sums.total_ns) : stk_cell_unknown());
    stk_table_figure(doc, "tensor_core_eligible_share", STK_CELL_SHARE,
                     says ? stk_cell_share_of(sums.eligible_ns, sums.total_ns)
                          : stk_cell_unknown());
    stk_table_figure(doc, "tensor_core_unknown_share", STK_CELL_SHARE,
                     stk_cell_share_of(sums.unknown_ns, sums.total_ns));
    return STK_OK;
}

const struct stk_stats stk_stats_kernels = {
    .name = "kernels",
    .question = "Which kernels take the device's time, and do they use tensor cores?",
    .needs = "kernels of a device",
    .hook = {.see = stk_kernel_sums_see},
    .describe = describe,
};
