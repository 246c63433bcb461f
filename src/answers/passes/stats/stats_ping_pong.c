// SPDX-License-Identifier: Apache-2.0
// Data that goes to the host and back, or to the device and back, in one step. A copy between host
// and device counts as the answer to an earlier one in the other direction, in the same step and of
// the same size; each copy answers at most one. Without steps an answer must come within
// APART_MAX_NS. Copies below BYTES_LEAST are left out, since counts and flags all have the same
// size; so are pairs that occur less than PAIRS_LEAST times. Rows are by device, order, size and
// the operators that asked for the two copies.
// Limits: equal sizes are no proof that the data are the same; sizes must be recorded.
#include "answers/passes/stats/stats_transfers.h"

#include <string.h>

#include "base/map.h"
#include "profile/model/threads/thread_walk.h"

#define BYTES_LEAST 4096
#define PAIRS_LEAST 2
#define APART_MAX_NS INT64_C(100000000)

struct waiting {
    int64_t start_ns, dur_ns;
    uint32_t event, step; // step: index into sum->steps, STK_NONE
    bool answered;
};
struct sweep {
    const struct stk_analysis *view;
    struct stk_vec waiting; // struct waiting: last of its size and way
    struct stk_map by_size; // (bytes, to the host) -> index into waiting
    struct stk_vec rows;    // struct stk_ping_pong_row
    struct stk_map by_site; // (operators, size and order) -> index into rows
    struct stk_name_cache *names;
};

static uint32_t operator_of(const struct sweep *s, uint32_t event)
{
    uint32_t call = stk_launch_of(s->view, event);
    uint32_t op = call == STK_NONE ? STK_NONE : stk_operator_around(s->view, call);
    return op == STK_NONE ? 0 : s->view->t->name[op];
}

static const char *name_or_empty(struct sweep *s, uint32_t id)
{
    return id ? stk_name_cache_get(s->names, id) : "";
}

static bool add_pair(struct sweep *s, uint32_t line, bool down_first, int64_t bytes,
                     const struct waiting *first, const struct stk_device_op *second)
{
    uint32_t ask = operator_of(s, first->event), answer = operator_of(s, second->event);
    int created;
    uint32_t *at =
        stk_map_put(&s->by_site, (uint64_t)ask << 32 | answer, (uint64_t)bytes << 1 | down_first,
                    (uint32_t)s->rows.count, &created);
    struct stk_ping_pong_row *row = !at       ? NULL
                                    : created ? stk_vec_push(&s->rows)
                                              : stk_vec_at(&s->rows, *at);
    if (!row) {
        return false;
    }
    if (created) {
        *row = (struct stk_ping_pong_row){.line = line,
                                          .down_first = down_first,
                                          .bytes = bytes,
                                          .first_op = name_or_empty(s, ask),
                                          .second_op = name_or_empty(s, answer)};
    }
    row->pairs++;
    row->total_ns += first->dur_ns + second->end_ns - second->start_ns;
    return row->first_op && row->second_op;
}

static bool add_copy(struct sweep *s, uint32_t line, const struct stk_device_op *op,
                     const struct stk_ext *x, uint32_t step)
{
    bool down = x->dir == STK_DIR_D2H;
    uint32_t *other = stk_map_get(&s->by_size, (uint64_t)x->value, !down);
    struct waiting *w = other ? stk_vec_at(&s->waiting, *other) : NULL;
    int64_t apart_ns;
    if (w && !w->answered && w->step == step &&
        !__builtin_sub_overflow(op->start_ns, w->start_ns, &apart_ns) &&
        (step != STK_NONE || apart_ns <= APART_MAX_NS)) {
        w->answered = true;
        return add_pair(s, line, !down, x->value, w, op);
    }
    int created;
    uint32_t *at =
        stk_map_put(&s->by_size, (uint64_t)x->value, down, (uint32_t)s->waiting.count, &created);
    w = !at ? NULL : created ? stk_vec_push(&s->waiting) : stk_vec_at(&s->waiting, *at);
    if (w) {
        *w = (struct waiting){.start_ns = op->start_ns,
                              .dur_ns = op->end_ns - op->start_ns,
                              .event = op->event,
                              .step = step};
    }
    return w != NULL;
}

// Whether the step is one of the device's, or of the host's where no device has steps.
static bool is_step_of(const struct stk_step *step, uint32_t line)
{
    return step->device == line || step->device == STK_NONE;
}

static bool ping_pong_sweep_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_device_line *l = &s->view->lines[line];
    const struct stk_rank_sum *sum = s->view->sum;
    struct stk_view_cursor cursor = {selected, 0};
    uint32_t step = 0;
    s->waiting.count = 0;
    stk_map_deinit(&s->by_size);
    stk_map_deinit(&s->by_site);
    if (!stk_view_selected(s->view, line, selected)) {
        return false;
    }
    for (uint32_t i = 0; i < l->op_count; i++) {
        const struct stk_device_op *op = &l->ops[i];
        if (op->part != STK_PART_H2D && op->part != STK_PART_D2H) {
            continue;
        }
        const struct stk_ext *x = stk_ext_of(s->view->t, op->event);
        if (!x || !(x->flags & STK_EXT_VALUE) || x->value < BYTES_LEAST ||
            x->value > INT64_MAX / 2 || !stk_view_in(&cursor, op->start_ns)) {
            continue;
        }
        while (step < sum->step_count &&
               (!is_step_of(&sum->steps[step], line) ||
                sum->steps[step].start_ns + sum->steps[step].dur_ns <= op->start_ns)) {
            step++;
        }
        bool inside = step < sum->step_count && sum->steps[step].start_ns <= op->start_ns;
        if (!add_copy(s, line, op, x, inside ? step : STK_NONE)) {
            return false;
        }
    }
    return true;
}

bool stk_ping_pong_find(const struct stk_analysis *view, struct stk_arena *arena,
                        struct stk_ping_pong *out)
{
    struct stk_name_cache names;
    struct sweep s = {.view = view, .names = &names};
    struct stk_spans selected;
    *out = (struct stk_ping_pong){.count = 0};
    stk_spans_init(&selected);
    stk_vec_init(&s.waiting, sizeof(struct waiting), UINT32_MAX - 1);
    stk_vec_init(&s.rows, sizeof(struct stk_ping_pong_row), UINT32_MAX - 1);
    stk_map_init(&s.by_size, UINT32_MAX - 1);
    stk_map_init(&s.by_site, UINT32_MAX - 1);
    bool ok = stk_name_cache_init(&names, view->t, arena);
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        ok = ping_pong_sweep_device(&s, d, &selected);
    }
    out->v = ok ? stk_arena_array(arena, s.rows.count + 1, sizeof *out->v) : NULL;
    for (size_t i = 0; i < s.rows.count && out->v; i++) {
        const struct stk_ping_pong_row *row = stk_vec_at(&s.rows, i);
        if (row->pairs >= PAIRS_LEAST) {
            out->v[out->count++] = *row;
        }
    }
    stk_name_cache_deinit(&names);
    stk_vec_deinit(&s.waiting);
    stk_vec_deinit(&s.rows);
    stk_map_deinit(&s.by_size);
    stk_map_deinit(&s.by_site);
    stk_spans_deinit(&selected);
    return out->v != NULL;
}
