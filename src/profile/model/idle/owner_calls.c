// SPDX-License-Identifier: Apache-2.0
// Which library functions a user's function spends its time in. If train_client mostly makes deep
// copies, that is what its author can change.
// Method: one pass over the rows of the driving thread, with a stack of the user's function, which
// may call itself. Its direct calls count, with everything they call, unless they call back into
// the user's code. What others call in between is passed over.
// Limits: functions of a framework or written in C aren't listed; of a function that calls itself
// more than DEPTH times, the calls of the innermost are left out.
#include "profile/model/idle/owners.h"

#include "base/alloc.h"
#include "profile/model/threads/python_frame.h"

#define DEPTH 512
#define MOST 0.5 // of the user's function: less doesn't describe it

enum whose { UNASKED, OWNER, USERS, LIBRARY, OTHERS };

// An open call of the owner: when it ends, and until when the function ends that it calls.
struct open {
    int64_t end_ns, child_end_ns;
};

struct calls {
    const struct stk_analysis *a;
    uint8_t *whose;    // per string id
    int64_t *ns;       // per string id: in functions of libraries that the owner calls
    uint8_t *is_wound; // per string id: it calls the user's functions
    struct open stack[DEPTH];
    uint32_t depth;
    int64_t quiet_ns; // others' functions that begin before it aren't called by the owner directly
    uint32_t called;  // the open event that the owner calls; STK_NONE
    int64_t called_end_ns;
    int64_t owner_ns;
    struct stk_str owner;
};

static enum whose ask(struct calls *x, uint32_t id)
{
    struct stk_str name = stk_strpool_get(&x->a->t->strings, id);
    enum whose whose = OTHERS;
    if (stk_python_frame_is_users(name)) {
        whose = stk_str_eq(name, x->owner) ? OWNER : USERS;
    } else if (stk_python_frame_owner(name) == STK_PYTHON_LIBRARY &&
               stk_python_frame_parse(name).is_source) {
        whose = LIBRARY;
    }
    x->whose[id] = (uint8_t)whose;
    return whose;
}

static inline enum whose whose_is(struct calls *x, uint32_t event)
{
    uint32_t id = x->a->t->name[event];
    return x->whose[id] ? (enum whose)x->whose[id] : ask(x, id);
}

static void open_owner(struct calls *x, uint32_t event, int64_t start_ns)
{
    int64_t end_ns = stk_end_ns(x->a->t, event);
    x->owner_ns = stk_add_ns(x->owner_ns, stk_dur_ns(x->a->t, event));
    if (x->depth < DEPTH) {
        x->stack[x->depth++] = (struct open){end_ns, start_ns};
    }
}

// A Python function of the row, in order, unless it is another's and begins before quiet_ns.
static void look_at(struct calls *x, uint32_t event, enum whose whose)
{
    const struct stk_trace *t = x->a->t;
    int64_t start_ns = t->start_ns[event];
    while (x->depth && x->stack[x->depth - 1].end_ns <= start_ns) {
        x->depth--;
    }
    struct open *owner = x->depth ? &x->stack[x->depth - 1] : NULL;
    if (x->called != STK_NONE && x->called_end_ns <= start_ns) {
        x->called = STK_NONE;
    }
    if (whose <= USERS && x->called != STK_NONE) {
        x->is_wound[t->name[x->called]] = 1;
    }
    if (owner && start_ns >= owner->child_end_ns) { // called by the owner
        owner->child_end_ns = stk_end_ns(t, event);
        if (whose == LIBRARY) {
            x->called = event;
            x->called_end_ns = owner->child_end_ns;
            x->ns[t->name[event]] = stk_add_ns(x->ns[t->name[event]], stk_dur_ns(t, event));
        }
    }
    if (whose == OWNER) {
        open_owner(x, event, start_ns);
    }
    x->quiet_ns = x->depth ? x->stack[x->depth - 1].child_end_ns : INT64_MAX;
}

static void walk(struct calls *x, uint32_t row)
{
    const struct stk_trace *t = x->a->t;
    const struct stk_track *k = &t->tracks[row];
    x->depth = 0;
    x->called = STK_NONE;
    x->quiet_ns = INT64_MAX;
    for (uint32_t e = k->first; e < k->first + k->count; e++) {
        if (t->kind[e] != STK_KIND_PYTHON) {
            continue;
        }
        enum whose whose = whose_is(x, e);
        if (whose <= USERS || t->start_ns[e] >= x->quiet_ns) {
            look_at(x, e, whose);
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
