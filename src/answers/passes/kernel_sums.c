// SPDX-License-Identifier: Apache-2.0
// Kernels (including collectives) of one rank by name and device: count and time. A kernel counts
// where it starts; times are sums over all streams. Method: one pass over each device's operations
// with a slot per string id.
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "answers/passes/name_cache.h"
#include "answers/passes/running_union.h"
#include "answers/passes/sums.h"

#define SHORT_KERNEL_NS 10000
#define FURTHER "further kernels"

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
    bool is_further = s->slot[id] == 0 && s->rows.count >= STK_NAMED_ROWS_MAX;
    id = is_further ? 0 : id;
    if (s->slot[id] == 0) {
        struct stk_kernel_row *row = stk_vec_push(&s->rows);
        const char *name = !row ? NULL : is_further ? FURTHER : stk_name_cache_get(&s->names, id);
        if (!name) {
            return false;
        }
        *row = (struct stk_kernel_row){
            .name = name, .id = id, .line = line, .min_ns = dur_ns, .max_ns = dur_ns};
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

static bool kernel_sums_sweep_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_device_line *l = &s->view->lines[line];
    struct stk_running_union kernels = STK_RUNNING_UNION;
    struct stk_view_cursor cursor = {selected, 0};
    if (!(s->used_only ? stk_view_used : stk_view_selected)(s->view, line, selected)) {
        return false;
    }
    for (uint32_t i = 0; i < l->op_count; i++) {
        const struct stk_device_op *op = &l->ops[i];
        if (!is_kernel(s->view->t->kind[op->event]) || !stk_view_in(&cursor, op->start_ns)) {
            continue;
        }
        stk_running_union_add(&kernels, op->start_ns, op->end_ns);
        if (!add_kernel(s, line, op->event, op->end_ns - op->start_ns)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < l->op_count; i++) {
        s->slot[s->view->t->name[l->ops[i].event]] = 0;
    }
    s->slot[0] = 0;
    s->out->kernel_ns += kernels.total_ns;
    return true;
}

static enum stoker_status sum_up(const struct stk_analysis *view, bool used_only,
                                 struct stk_arena *arena, void **partial, struct stoker_err *err)
{
    struct sweep s = {.view = view, .used_only = used_only};
    struct stk_spans selected;
    stk_spans_init(&selected);
    stk_vec_init(&s.rows, sizeof(struct stk_kernel_row), UINT32_MAX - 1);
    s.slot = stk_alloc_zero((size_t)view->t->strings.count + 1, sizeof *s.slot);
    s.out = stk_arena_alloc(arena, sizeof *s.out);
    bool ok = stk_name_cache_init(&s.names, view->t, arena) && s.slot && s.out;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        ok = kernel_sums_sweep_device(&s, d, &selected);
    }
    struct stk_kernel_row *rows = ok ? stk_arena_items(arena, &s.rows) : NULL;
    if (rows) {
        s.out->rows = rows;
        s.out->row_count = (uint32_t)s.rows.count;
        *partial = s.out;
    }
    stk_name_cache_deinit(&s.names);
    stk_free(s.slot);
    stk_vec_deinit(&s.rows);
    stk_spans_deinit(&selected);
    return rows ? STOKER_OK : stk_err_nomem(err);
}

enum stoker_status stk_kernel_sums_see(const struct stk_analysis *view, struct stk_arena *arena,
                                       void **partial, struct stoker_err *err)
{
    return sum_up(view, false, arena, partial, err);
}

enum stoker_status stk_kernel_sums_see_used(const struct stk_analysis *view,
                                            struct stk_arena *arena, void **partial,
                                            struct stoker_err *err)
{
    return sum_up(view, true, arena, partial, err);
}
