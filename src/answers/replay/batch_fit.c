// SPDX-License-Identifier: Apache-2.0
// The fit (batch_fit.h): a class of work takes a fixed time per step plus a time proportional to
// the batch, t(b) = a + k b; two batch sizes give both. A class that takes less with the larger
// batch doesn't grow; one that grows more than proportionally has no fixed part.
//
// The other profile must be of the same job: it launches about as many kernels in a step.
// Limits: for another size, kernels of another class may be chosen; the fit is a straight line,
// while kernels fill the device in waves.
#include "answers/replay/batch_fit.h"

#include "base/assert.h"

#define KERNELS_APART 0.1 // of a step's kernels: a larger difference means another job
#define CLASS_FETCH 30
#define CLASS_COPY 31
_Static_assert(STK_WHAT_D2H_PAGEABLE < CLASS_FETCH, "classes of kernels come first");

int stk_batch_class(const struct stk_node *n)
{
    bool is_copy = n->kind == STK_NODE_COPY && n->what != STK_WHAT_OTHER;
    return n->kind == STK_NODE_KERNEL  ? n->what
           : n->kind == STK_NODE_INPUT ? CLASS_FETCH
           : is_copy                   ? CLASS_COPY
                                       : -1;
}

struct sums {
    double ns[STK_BATCH_CLASSES], kernels; // per step, on average
};

static struct sums sum(const struct stk_graph *g)
{
    struct sums s = {.kernels = 0};
    double steps = g->steps_used;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const struct stk_node *n = &g->nodes[i];
        int class = stk_batch_class(n);
        if (class >= 0 && g->steps[n->step].used) {
            s.ns[class] += (double)n->dur_ns / steps;
            s.kernels += (n->kind == STK_NODE_KERNEL) / steps;
        }
    }
    return s;
}

const char *stk_batch_fit(const struct stk_graph *g, const struct stk_graph *other, double times,
                          struct stk_batch_fit *out)
{
    STK_ASSERT(times > 0);
    *out = (struct stk_batch_fit){.times = times};
    if (g->why_not || other->why_not || !g->has_device || !other->has_device) {
        return "the steps of one of the two profiles can't be replayed, or ran on no device";
    }
    struct sums is = sum(g), was = sum(other);
    double apart = is.kernels > was.kernels ? is.kernels - was.kernels : was.kernels - is.kernels;
    if (apart > KERNELS_APART * is.kernels) {
        return "a step of the other profile has a different number of kernels, so it is a "
               "different job";
    }
    for (int c = 0; c < STK_BATCH_CLASSES; c++) {
        double share = is.ns[c] > 0 ? (was.ns[c] / is.ns[c] - 1) / (times - 1) : -1;
        bool is_known = is.ns[c] > 0 && was.ns[c] > 0;
        out->grows[c] = !is_known ? -1 : share < 0 ? 0 : share > 1 ? 1 : share;
    }
    return NULL;
}
