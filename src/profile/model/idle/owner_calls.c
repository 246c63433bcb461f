// SPDX-License-Identifier: Apache-2.0
// Which library functions a user's function spends its time in. If train_client mostly makes deep
// copies, that is what its author can change.
// Method: one pass over the rows of the driving thread with a stack of the open Python functions.
// Direct calls of the user's function count, with everything they call, unless they call back into
// the user's code.
// Limits: functions of a framework or written in C aren't listed; functions nested deeper than
// DEPTH are left out.
#include "profile/model/idle/owners.h"

#include "base/alloc.h"
#include "profile/model/threads/python_frame.h"

#define DEPTH 512
#define MOST 0.5 // of the user's function: less doesn't describe it

enum whose { UNASKED, USERS, LIBRARY, OTHERS };

struct open {
    int64_t end_ns;
    uint32_t event;
    bool is_owner;
};

struct calls {
    const struct stk_analysis *a;
    uint8_t *whose;    // per string id
    int64_t *ns;       // per string id: in functions of libraries that the owner calls
    uint8_t *is_wound; // per string id: it calls the user's functions
    struct open stack[DEPTH];
    uint32_t depth;
    uint32_t called; // the open event that the owner calls; STK_NONE
    int64_t owner_ns;
    struct stk_str owner;
};

static enum whose whose_is(struct calls *x, uint32_t event)
{
    uint8_t *whose = &x->whose[x->a->t->name[event]];
    if (*whose == UNASKED) {
        struct stk_str name = stk_name_of(x->a->t, event);
        *whose = stk_python_frame_is_users(name) ? USERS
                 : stk_python_frame_owner(name) == STK_PYTHON_LIBRARY &&
                         stk_python_frame_parse(name).is_source
                     ? LIBRARY
                     : OTHERS;
    }
    return (enum whose) * whose;
}

static void open_one(struct calls *x, uint32_t event)
{
    const struct stk_trace *t = x->a->t;
    int64_t start_ns = t->start_ns[event];
    while (x->depth && x->stack[x->depth - 1].end_ns <= start_ns) {
        x->depth--;
    }
    if (x->called != STK_NONE && stk_end_ns(t, x->called) <= start_ns) {
        x->called = STK_NONE;
    }
    enum whose whose = whose_is(x, event);
    bool by_owner = x->depth && x->stack[x->depth - 1].is_owner;
    bool is_owner = whose == USERS && stk_str_eq(stk_name_of(t, event), x->owner);
    if (is_owner) {
        x->owner_ns = stk_add_ns(x->owner_ns, stk_dur_ns(t, event));
    }
    if (whose == USERS && x->called != STK_NONE) {
        x->is_wound[t->name[x->called]] = 1;
    }
    if (whose == LIBRARY && by_owner) {
        x->called = event;
        x->ns[t->name[event]] = stk_add_ns(x->ns[t->name[event]], stk_dur_ns(t, event));
    }
    if (x->depth < DEPTH) {
        x->stack[x->depth++] = (struct open){stk_end_ns(t, event), event, is_owner};
    }
}

static void walk(struct calls *x, uint32_t row)
{
    const struct stk_track *k = &x->a->t->tracks[row];
    x->depth = 0;
    x->called = STK_NONE;
    for (uint32_t e = k->first; e < k->first + k->count; e++) {
        if (x->a->t->kind[e] == STK_KIND_PYTHON) {
            open_one(x, e);
        }
    }
}

// The function that takes most of the owner's time; STK_NONE: none takes MOST of it.
static uint32_t most_called(const struct calls *x)
{
    uint32_t best = STK_NONE;
    for (uint32_t i = 0; i < x->a->t->strings.count; i++) {
        if (!x->is_wound[i] && x->ns[i] > 0 && (best == STK_NONE || x->ns[i] > x->ns[best])) {
            best = i;
        }
    }
    return best != STK_NONE && (double)x->ns[best] >= MOST * (double)x->owner_ns ? best : STK_NONE;
}

bool stk_owner_calls_find(struct stk_analysis *a)
{
    const struct stk_cause *c = &a->sum->causes[STK_PART_HOST];
    size_t n = (size_t)a->t->strings.count + 1;
    if (c->owner_count == 0 || a->driver == STK_NONE) {
        return true;
    }
    struct calls *x = stk_alloc_zero(1, sizeof *x);
    bool ok = x != NULL;
    if (ok) {
        x->a = a;
        x->owner = stk_str_from(c->owners[0].name);
        x->whose = stk_alloc_zero(n, 1);
        x->ns = stk_alloc_zero(n, sizeof *x->ns);
        x->is_wound = stk_alloc_zero(n, 1);
        ok = x->whose && x->ns && x->is_wound;
    }
    for (uint32_t k = a->threads[a->driver].root; ok && k != STK_NONE; k = a->threads[k].next_row) {
        walk(x, k);
    }
    uint32_t most = ok ? most_called(x) : STK_NONE;
    if (most != STK_NONE) {
        struct stk_str name = stk_strpool_get(&a->t->strings, most);
        a->sum->facts.owner_calls = stk_arena_strndup(a->out, name.p, name.n);
        a->sum->facts.owner_calling = c->owners[0].name;
        a->sum->facts.owner_calls_share = (double)x->ns[most] / (double)x->owner_ns;
        ok = a->sum->facts.owner_calls != NULL;
    }
    if (x) {
        stk_free(x->whose);
        stk_free(x->ns);
        stk_free(x->is_wound);
    }
    stk_free(x);
    return ok;
}
