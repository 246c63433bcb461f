// SPDX-License-Identifier: Apache-2.0
// Runtime calls that are missing from the middle of a thread, if the input ends early: CUPTI
// delivers its buffers in any order, so an early one may be written last.
//
// Method: a call belongs to the innermost operator around it. If an operator usually makes a call,
// but doesn't in a stretch between two calls of the thread, the call is lost. An operator's longest
// stretch without a call is left out of what is usual, since that may be the gap. A few lost calls
// in a stretch are work on the host; LOST of them are a gap.
//
// Limits: fewer lost calls aren't noticed, nor several gaps that together are most of an operator's
// calls.
#include "profile/model/sum/lost_calls.h"

#include "base/assert.h"

#define LOST 16 // operators of one stretch; whole profiles of forty programs have 14 at most
#define DEPTHS 256

struct walk {
    const struct stk_analysis *a;
    struct stk_operator_calls *names;
    uint32_t open[DEPTHS]; // by depth: operators, STK_NONE: another row
    bool calls[DEPTHS];    // whether it makes a call itself
    uint32_t depth, stretch;
    uint32_t lost;      // of the stretch
    int64_t stretch_ns; // when it began: with a call
    int64_t gap_ns;     // start of the first gap; INT64_MAX without one
};

static bool mostly_calls(const struct stk_operator_calls *n)
{
    return n->with >= 2 && n->with >= n->without - n->longest;
}

// The operator has ended. The first pass counts all operators, the second those that lost their
// call.
static void end_operator(struct walk *w, uint32_t event, bool calls, bool counts)
{
    struct stk_operator_calls *n = &w->names[w->a->t->name[event]];
    if (!counts) {
        w->lost += !calls && mostly_calls(n);
        return;
    }
    n->with += calls;
    if (calls) {
        return;
    }
    n->here = n->stretch == w->stretch ? n->here + 1 : 1;
    n->stretch = w->stretch;
    n->longest = n->here > n->longest ? n->here : n->longest;
    n->without++;
}

static void end_down_to(struct walk *w, uint32_t depth, bool counts)
{
    for (; w->depth > depth; w->depth--) {
        if (w->open[w->depth - 1] != STK_NONE) {
            end_operator(w, w->open[w->depth - 1], w->calls[w->depth - 1], counts);
        }
    }
}

static void begin_call(struct walk *w, int64_t at_ns)
{
    if (w->lost >= LOST && w->stretch_ns < w->gap_ns) {
        w->gap_ns = w->stretch_ns;
    }
    for (uint32_t d = w->depth; d-- > 0;) {
        if (w->open[d] != STK_NONE) {
            w->calls[d] = true;
            break;
        }
    }
    w->stretch++;
    w->lost = 0;
    w->stretch_ns = at_ns;
}

static int64_t walk_thread(struct walk *w, const struct stk_track *k, bool counts)
{
    const struct stk_trace *t = w->a->t;
    w->depth = w->lost = 0;
    w->stretch = 1;
    w->stretch_ns = INT64_MIN;
    w->gap_ns = INT64_MAX;
    for (uint32_t e = k->first; e < k->first + k->count; e++) {
        uint32_t depth = t->depth[e];
        end_down_to(w, depth, counts);
        if (t->kind[e] == STK_KIND_RUNTIME) {
            begin_call(w, t->start_ns[e]);
        }
        STK_ASSERT(depth < DEPTHS);
        w->open[depth] = t->kind[e] == STK_KIND_HOST_OP ? e : STK_NONE;
        w->calls[depth] = false;
        w->depth = depth + 1;
    }
    return w->gap_ns;
}

int64_t stk_lost_calls_find(const struct stk_analysis *a, uint32_t thread,
                            struct stk_operator_calls *names)
{
    const struct stk_track *k = &a->t->tracks[thread];
    struct walk w = {.a = a, .names = names};
    (void)walk_thread(&w, k, true);
    int64_t gap_ns = walk_thread(&w, k, false);
    for (uint32_t e = k->first; e < k->first + k->count; e++) {
        names[a->t->name[e]] = (struct stk_operator_calls){0};
    }
    return gap_ns;
}
