// SPDX-License-Identifier: Apache-2.0
// Which functions were traced or compiled, how often, and how often after the first two steps: the
// jitted JAX function or the tf.function around a compilation, else the user's Python function that
// caused it. A call counts once, even with several compilations.
//
// Method: the marks of compilation in time order, with a cursor per thread for what is around them.
// Limit: PyTorch's compiler names neither the function nor the shape unless Python was recorded.
#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/analysis.h"
#include "profile/model/threads/python_frame.h"
#include "profile/model/threads/thread_walk.h"

struct tally {
    uint32_t name, last_call;
    uint32_t count, later;
    int64_t ns;
};

// The event around a compilation that shows what is compiled; STK_NONE: none.
static uint32_t owner_of(const struct stk_analysis *a, const struct stk_thread_cursor *c,
                         uint32_t event)
{
    uint32_t python = STK_NONE;
    for (uint32_t i = c->depth; i-- > 0;) {
        const struct stk_open_event *x = &c->stack[i];
        struct stk_str name = stk_name_of(a->t, x->event);
        if (x->event == event || (x->classes & (STK_NAME_COMPILE | STK_NAME_INTERNAL))) {
            continue;
        }
        uint8_t kind = a->t->kind[x->event];
        bool is_call = (x->classes & STK_NAME_PJIT) || kind == STK_KIND_HOST_OP;
        if (is_call && !stk_is_step_mark(a, x->event)) {
            return x->event;
        }
        if (kind == STK_KIND_PYTHON && python == STK_NONE &&
            stk_python_frame_owner(name) == STK_PYTHON_USER) {
            python = x->event;
        }
    }
    return python;
}

static bool count(struct stk_vec *tallies, const struct stk_analysis *a, uint32_t call, int64_t ns,
                  int64_t settled_ns)
{
    struct tally *t = NULL;
    for (size_t i = 0; i < tallies->count && !t; i++) {
        struct tally *x = stk_vec_at(tallies, i);
        t = x->name == a->t->name[call] ? x : NULL;
    }
    if (!t) {
        t = stk_vec_push(tallies);
        if (!t) {
            return tallies->count == tallies->max_count; // more functions than anyone would read
        }
        *t = (struct tally){.name = a->t->name[call], .last_call = STK_NONE};
    }
    if (t->last_call != call) {
        t->count++;
        t->later += a->t->start_ns[call] >= settled_ns;
    }
    t->last_call = call;
    t->ns = stk_add_ns(t->ns, ns);
    return true;
}

STK_ORDER(by_later, struct tally, STK_DOWN(later) STK_DOWN(ns) STK_UP(name))

static bool keep(struct stk_analysis *a, const struct stk_vec *tallies)
{
    for (size_t i = 0; i < tallies->count && i < STK_RECOMPILED; i++) {
        const struct tally *t = stk_vec_at(tallies, i);
        struct stk_str name = stk_strpool_get(&a->t->strings, t->name);
        a->sum->facts.recompiled[i] =
            (struct stk_recompiled){.name = stk_arena_strndup(a->out, name.p, name.n),
                                    .count = t->count,
                                    .later = t->later,
                                    .ns = t->ns};
        struct stk_recompiled *kept = &a->sum->facts.recompiled[i];
        if (!kept->name || !stk_recompiled_explain(a, kept)) {
            return false;
        }
    }
    return true;
}

// The events open around a mark on one row. False: no memory.
static bool ask_row(const struct stk_analysis *a, struct stk_thread_cursor **rows, uint32_t row,
                    const struct stk_mark *m, uint32_t *call)
{
    if (!rows[row]) {
        rows[row] = stk_cursor_new(a->t->tracks[row].count);
        if (!rows[row]) {
            return false;
        }
        stk_cursor_init(rows[row], a, row);
    }
    stk_cursor_advance(rows[row], m->start_ns);
    *call = owner_of(a, rows[row], m->event);
    return true;
}

bool stk_recompiled_find(struct stk_analysis *a, int64_t settled_ns)
{
    enum { FUNCTIONS_MAX = 256 };
    struct stk_thread_cursor **rows = stk_alloc_zero((size_t)a->t->track_count + 1, sizeof *rows);
    struct stk_vec tallies;
    stk_vec_init(&tallies, sizeof(struct tally), FUNCTIONS_MAX);
    bool ok = rows != NULL;
    for (size_t i = 0; i < a->compiles.count && ok; i++) {
        const struct stk_mark *m = &a->compiles.v[i];
        uint32_t row = stk_track_of(a->t, m->event), call = STK_NONE;
        if (row == STK_NONE || !a->threads[row].in_rank) {
            continue;
        }
        ok = ask_row(a, rows, row, m, &call);
        if (ok && call == STK_NONE && a->driver != STK_NONE) { // compiled on another thread
            ok = ask_row(a, rows, a->driver, m, &call);
        }
        ok = ok &&
             (call == STK_NONE || count(&tallies, a, call, m->end_ns - m->start_ns, settled_ns));
    }
    stk_sort(tallies.items, tallies.count, sizeof(struct tally), by_later);
    ok = ok && keep(a, &tallies);
    for (uint32_t k = 0; rows && k < a->t->track_count; k++) {
        stk_free(rows[k]);
    }
    stk_free(rows);
    stk_vec_deinit(&tallies);
    return ok;
}
