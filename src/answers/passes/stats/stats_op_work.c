// SPDX-License-Identifier: Apache-2.0
// Kernels and copies by the operation that launched them: the innermost operator around the launch
// call. Kernels, collectives and memsets count together; a kernel without an operator is in none of
// the rows, a copy without one in a row of its own.
// exposed_ns of a row: the union of its copies, less what a kernel or a collective of the device
// covers, as in stats_transfers.c. Method: one pass over the operations of each device.
#include "base/alloc.h"
#include "base/map.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_ops.h"

struct copy_row {
    struct stk_op_copy sums;
    struct stk_running_union busy;
};

struct ids {
    uint32_t op, kernel; // string ids
};

struct sweep {
    const struct stk_analysis *view;
    const uint32_t *owner;
    struct stk_vec kernels;   // struct stk_op_kernel
    struct stk_vec copies;    // struct copy_row
    struct stk_vec ids;       // struct ids, per row of `kernels`
    struct stk_map kernel_at; // operation, kernel -> row
    struct stk_map copy_at;   // operation, device and direction -> row
    int64_t *op_ns;           // per string id: kernels of the operation
    uint32_t *last;           // per string id: row + 1 of the operation's last kernel, 0 none
    struct stk_spans covered; // time with a kernel or a collective, of the device
    int64_t *covered_sums;    // for stk_spans_measure
    struct stk_name_cache names;
    struct stk_op_details *out;
};

static bool is_copy(const struct stk_device_op *op)
{
    return op->part >= STK_PART_H2D && op->part <= STK_PART_D2D;
}

// Row of a kernel of an operation, UINT32_MAX: no memory.
static uint32_t kernel_row(struct sweep *s, uint32_t op, uint32_t kernel)
{
    uint32_t last = s->last[op];
    if (last && ((struct ids *)stk_vec_at(&s->ids, last - 1))->kernel == kernel) {
        return last - 1; // as a rule it is the same again
    }
    int created = 0;
    uint32_t *at = stk_map_put(&s->kernel_at, op, kernel, (uint32_t)s->kernels.count, &created);
    if (!at) {
        return UINT32_MAX;
    }
    s->last[op] = *at + 1;
    if (!created) {
        return *at;
    }
    struct stk_op_kernel *row = stk_vec_push(&s->kernels);
    struct ids *ids = stk_vec_push(&s->ids);
    if (!row || !ids) {
        return UINT32_MAX;
    }
    *ids = (struct ids){op, kernel};
    row->op = stk_name_cache_get(&s->names, op);
    row->kernel = stk_name_cache_get(&s->names, kernel);
    return row->op && row->kernel ? *at : UINT32_MAX;
}

static bool add_kernel(struct sweep *s, const struct stk_device_op *op, uint32_t owner)
{
    int64_t dur_ns = stk_dur_ns(s->view->t, op->event);
    s->out->kernel_ns = stk_add_ns(s->out->kernel_ns, dur_ns);
    if (owner == STK_OWNER_NONE) {
        return true;
    }
    uint32_t id = owner - STK_OWNER_FIRST;
    uint32_t at = kernel_row(s, id, s->view->t->name[op->event]);
    if (at == UINT32_MAX) {
        return false;
    }
    struct stk_op_kernel *row = stk_vec_at(&s->kernels, at);
    row->count++;
    row->total_ns = stk_add_ns(row->total_ns, dur_ns);
    s->op_ns[id] = stk_add_ns(s->op_ns[id], dur_ns);
    s->out->owned_ns = stk_add_ns(s->out->owned_ns, dur_ns);
    return true;
}

static bool add_copy(struct sweep *s, const struct stk_device_op *op, uint32_t line, uint32_t owner)
{
    const struct stk_ext *x = stk_ext_of(s->view->t, op->event);
    uint8_t dir = x ? x->dir : STK_DIR_UNKNOWN;
    int created = 0;
    uint32_t *at = stk_map_put(&s->copy_at, owner, (uint64_t)line << 8 | dir,
                               (uint32_t)s->copies.count, &created);
    struct copy_row *row = !at       ? NULL
                           : created ? stk_vec_push(&s->copies)
                                     : stk_vec_at(&s->copies, *at);
    if (!row) {
        return false;
    }
    if (created) {
        *row = (struct copy_row){.sums = {.line = line, .dir = dir}, .busy = STK_RUNNING_UNION};
        if (owner != STK_OWNER_NONE &&
            !(row->sums.op = stk_name_cache_get(&s->names, owner - STK_OWNER_FIRST))) {
            return false;
        }
    }
    struct stk_span own = stk_running_union_add(&row->busy, op->start_ns, op->end_ns);
    row->sums.count++;
    row->sums.total_ns = stk_add_ns(row->sums.total_ns, op->end_ns - op->start_ns);
    row->sums.exposed_ns +=
        own.end_ns - own.start_ns -
        stk_spans_measure(&s->covered, s->covered_sums, own.start_ns, own.end_ns);
    if (x && (x->flags & STK_EXT_VALUE) && x->value >= 0) {
        row->sums.sized++;
        row->sums.bytes = stk_add_ns(row->sums.bytes, x->value);
    }
    return true;
}

static bool op_work_sweep_device(struct sweep *s, uint32_t line)
{
    const struct stk_device_line *l = &s->view->lines[line];
    if (!stk_spans_union(&l->exposed[STK_PART_COMPUTE], &l->exposed[STK_PART_COMMUNICATION],
                         &s->covered)) {
        return false;
    }
    s->covered_sums = stk_spans_sums(&s->covered);
    bool ok = s->covered_sums != NULL;
    for (uint32_t i = 0; i < l->op_count && ok; i++) {
        uint32_t owner = s->owner[l->ops[i].event];
        if (owner == STK_OWNER_UNSELECTED) {
            continue;
        }
        ok = is_copy(&l->ops[i]) ? add_copy(s, &l->ops[i], line, owner)
                                 : add_kernel(s, &l->ops[i], owner);
    }
    stk_free(s->covered_sums);
    return ok;
}

static bool op_work_keep(struct sweep *s, struct stk_arena *arena)
{
    struct stk_op_details *out = s->out;
    out->kernels = stk_arena_array(arena, s->kernels.count + 1, sizeof *out->kernels);
    out->copies = stk_arena_array(arena, s->copies.count + 1, sizeof *out->copies);
    if (!out->kernels || !out->copies) {
        return false;
    }
    for (size_t i = 0; i < s->kernels.count; i++) {
        out->kernels[i] = *(struct stk_op_kernel *)stk_vec_at(&s->kernels, i);
        out->kernels[i].op_ns = s->op_ns[((struct ids *)stk_vec_at(&s->ids, i))->op];
    }
    for (size_t i = 0; i < s->copies.count; i++) {
        out->copies[i] = ((struct copy_row *)stk_vec_at(&s->copies, i))->sums;
    }
    out->kernel_count = s->kernels.count;
    out->copy_count = s->copies.count;
    return true;
}

bool stk_op_work_sum(const struct stk_analysis *view, const uint32_t *owner,
                     struct stk_arena *arena, struct stk_op_details *out)
{
    struct sweep s = {.view = view, .owner = owner, .out = out};
    stk_vec_init(&s.kernels, sizeof(struct stk_op_kernel), UINT32_MAX - 1);
    stk_vec_init(&s.copies, sizeof(struct copy_row), UINT32_MAX - 1);
    stk_vec_init(&s.ids, sizeof(struct ids), UINT32_MAX - 1);
    stk_map_init(&s.kernel_at, UINT32_MAX - 1);
    stk_map_init(&s.copy_at, UINT32_MAX - 1);
    stk_spans_init(&s.covered);
    s.op_ns = stk_alloc_zero((size_t)view->t->strings.count + 1, sizeof *s.op_ns);
    s.last = stk_alloc_zero((size_t)view->t->strings.count + 1, sizeof *s.last);
    bool ok = stk_name_cache_init(&s.names, view->t, arena) && s.op_ns && s.last;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        ok = op_work_sweep_device(&s, d);
    }
    ok = ok && op_work_keep(&s, arena);
    stk_name_cache_deinit(&s.names);
    stk_free(s.op_ns);
    stk_free(s.last);
    stk_vec_deinit(&s.kernels);
    stk_vec_deinit(&s.copies);
    stk_vec_deinit(&s.ids);
    stk_map_deinit(&s.kernel_at);
    stk_map_deinit(&s.copy_at);
    stk_spans_deinit(&s.covered);
    return ok;
}
