// SPDX-License-Identifier: Apache-2.0
// A worker prepares batches in the background (prefetch, num_workers=1). The fetching thread's work
// becomes the pace of that worker, one batch after another, from the first fetch on. What disturbed
// a fetch may not disturb a worker: at best no batch takes longer than a lower-quartile fetch.
//
// If workers are processes (PyTorch's), passing on a batch has a cost: the worker copies it into
// shared memory and sends a file descriptor per tensor, which the trainer opens. Each side takes
// HAND_TENSOR_NS per tensor, and up to twice that if the trainer does something else in the
// meantime. Tensors of megabytes take longer, but their size isn't recorded. A thread passes on a
// batch in 0.1 ms.
#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "answers/replay/price_row.h"

// 0.40 to 0.60 ms for each of two tensors of a few KB, 0.70 to 0.92 if the trainer slept before
// (torch 2.14.1, a virtual machine with two cores); 0.35 to 0.47 with 2 to 40 tensors on another
// one.
#define HAND_TENSOR_NS (450 * STK_US)

static const char *input_overlap_refuse(const struct stk_graph *g)
{
    return g->feed == STK_FEED_WORKERS ? "workers prepare batches already"
                                       : stk_price_refuse_input(g);
}

static int compare_ns(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

// Lower quartile of the fetches' own time. False: no memory.
static bool undisturbed_fetch(const struct stk_scene *s, int64_t *out)
{
    const struct stk_lane *lane = &s->g->lanes[s->g->driver];
    int64_t *ns = stk_alloc_array((size_t)lane->count + 1, sizeof *ns);
    uint32_t n = 0;
    for (uint32_t i = lane->first; ns && i < lane->first + lane->count; i++) {
        if (s->nodes[i].kind == STK_NODE_INPUT) {
            ns[n++] = s->nodes[i].dur_ns;
        }
    }
    if (ns && n) {
        stk_sort(ns, n, sizeof *ns, compare_ns);
        *out = ns[n / 4];
    }
    stk_free(ns);
    return ns != NULL;
}

// Per batch, for the worker and for the trainer.
static int64_t hand_over(const struct stk_graph *g, enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS);
    static const int64_t times[STK_PRICE_LEVELS] = {0, 1, 2};
    return times[level] * HAND_TENSOR_NS * g->tensors;
}

static bool input_overlap_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    STK_ASSERT(s->g->driver < s->g->lane_count);
    const struct stk_lane *lane = &s->g->lanes[s->g->driver];
    int64_t fetch_ns = s->g->calibration.fetch_ns, ready_ns = INT64_MIN;
    int64_t most_ns = INT64_MAX, hand_ns = hand_over(s->g, how->level);
    if (how->level == STK_PRICE_LOW && !s->g->has_device && !undisturbed_fetch(s, &most_ns)) {
        return false;
    }
    int64_t slower = how->level == STK_PRICE_HIGH ? 10 : 0; // percent: the worker shares the caches
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind != STK_NODE_INPUT || n->dur_ns <= fetch_ns) {
            continue;
        }
        int64_t work_ns = (n->dur_ns < most_ns ? n->dur_ns : most_ns) - fetch_ns;
        ready_ns = ready_ns == INT64_MIN ? n->start_ns
                                         : ready_ns + work_ns + work_ns * slower / 100 + hand_ns;
        n->dur_ns = fetch_ns + hand_ns < n->dur_ns ? fetch_ns + hand_ns : n->dur_ns;
        n->lag_ns = stk_graph_clamp(fetch_ns + hand_ns);
        s->ready_ns[n->wait] = ready_ns;
    }
    return true;
}

const struct stk_price_row stk_price_input_overlap = {
    .id = "input-overlap",
    .what = "prepare the next batch in a worker while the step runs",
    .assumes = "a CPU core is free for it",
    .is_priced_alone = true,
    .refuse = input_overlap_refuse,
    .apply = input_overlap_apply,
};
