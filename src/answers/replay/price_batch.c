// SPDX-License-Identifier: Apache-2.0
// A batch that is several times larger: the time of its step, which does that many times the work.
//
// With the profile of another size (batch_fit.h), each class of work has a measured fixed part and
// a part that grows. The interval is that of a straight line, wider beyond the two sizes.
//
// Method without it: host calls, collectives and the optimizer stay; copies of the batch and its
// preparation grow with it; of a kernel, a fixed part stays and the rest grows. The fixed part is a
// prior, since one profile has one size: launching and filling the device takes the same time for
// any batch, so it is large in short kernels. At best short kernels hardly grow, and copies other
// than a step's shortest piece of data are the same each time. At worst everything grows. Whether
// the longest of several pieces grows isn't known: half of it is expected to.
//
// Limits: for another size, other kernels may be chosen; the model's memory is known only if
// allocations are recorded; whether it trains as well isn't priced.
#include <math.h>

#include "answers/replay/batch_fit.h"
#include "base/assert.h"
#include "answers/replay/price_transfers.h"

#define LINE_DOUBT 0.05   // of the fitted growth, between the two sizes
#define BEYOND_DOUBT 0.07 // of it, for each doubling beyond them
#define MOST 64           // times the size: no prior is valid beyond that

// For a kernel: its fixed time, and the share of the rest that doesn't grow.
static const struct {
    double fixed_ns, share, most;
} stays[STK_PRICE_LEVELS] = {{16000, 0.2, 0.95}, {9000, 0.1, 0.75}, {0, 0, 0}};

static const char *batch_refuse(const struct stk_graph *g)
{
    return !stk_price_finds(g, STK_NODE_KERNEL, -1)
               ? "no GPU work was recorded, and how CPU work grows with the batch isn't known"
           : g->batch_most > 0 && g->batch_most < 1.05
               ? "the GPU's memory can't hold a larger batch"
               : NULL;
}

static const char *batch_refuse_value(const struct stk_graph *g, const struct stk_price_how *how)
{
    return how->value > MOST ? "one profile can't predict batches beyond 64 times its own"
           : g->batch_most > 0 && how->value > g->batch_most
               ? "the GPU's memory can't hold such a batch, judging by what a step allocates"
               : NULL;
}

static int64_t grown(int64_t ns, double times, enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS && times > 0);
    double fixed = stays[level].fixed_ns + stays[level].share * (double)ns;
    double most = stays[level].most * (double)ns;
    fixed = fixed < most ? fixed : most;
    return (int64_t)(fixed + ((double)ns - fixed) * times);
}

// Uses the line through two sizes; false: unknown class.
static bool grow_fitted(const struct stk_graph *g, struct stk_node *n,
                        const struct stk_price_how *how)
{
    const struct stk_batch_fit *fit = g->batch_fit;
    int class = fit ? stk_batch_class(n) : -1;
    if (class < 0 || fit->grows[class] < 0) {
        return false;
    }
    double more = fit->times > 1 ? fit->times : 1, less = fit->times < 1 ? fit->times : 1;
    double beyond = how->value > more   ? how->value / more
                    : how->value < less ? less / how->value
                                        : 1;
    double doubt = LINE_DOUBT + BEYOND_DOUBT * log2(beyond);
    double by = how->level == STK_PRICE_LOW    ? 1 - doubt
                : how->level == STK_PRICE_HIGH ? 1 + doubt
                                               : 1;
    double grown = 1 + fit->grows[class] * (how->value - 1) * (how->value > 1 ? by : 2 - by);
    n->dur_ns = stk_price_scaled(n->dur_ns, grown > 0 ? grown : 0);
    return true;
}

// How many times longer a copy takes.
static double copy_grows(const struct stk_node *n, const struct stk_price_pieces *pieces,
                         const struct stk_price_how *how)
{
    bool is_piece = pieces->shortest_kib && stk_price_is_to_device(n);
    return !is_piece                                                        ? how->value
           : how->level == STK_PRICE_LOW && n->size != pieces->shortest_kib ? 1
           : how->level == STK_PRICE_EXPECTED && n->size == pieces->longest_kib
               ? (1 + how->value) / 2
               : how->value;
}

static void grow_node(struct stk_scene *s, struct stk_node *n, const struct stk_price_how *how,
                      const struct stk_price_pieces *pieces)
{
    if (n->what != STK_WHAT_OPTIMIZER && n->what != STK_WHAT_SCALING &&
        !(n->kind == STK_NODE_INPUT && (s->g->feed != STK_FEED_INLINE || s->g->has_workers)) &&
        grow_fitted(s->g, n, how)) {
        return;
    }
    if (n->kind == STK_NODE_KERNEL && n->what != STK_WHAT_OPTIMIZER &&
        n->what != STK_WHAT_SCALING) {
        n->dur_ns = grown(n->dur_ns, how->value, how->level);
    } else if (stk_price_is_copy(n) && n->dur_ns > STK_COPY_SETUP_NS) {
        n->dur_ns = stk_price_copy_ns(n->dur_ns, 1 / copy_grows(n, pieces, how));
    } else if (n->kind == STK_NODE_INPUT && s->g->feed == STK_FEED_INLINE && !s->g->has_workers) {
        n->dur_ns = stk_price_scaled(n->dur_ns, how->value);
    }
}

// Workers take that many times longer per batch.
static void grow_pace(struct stk_scene *s, double times)
{
    uint32_t first = STK_NONE;
    for (uint32_t k = 0; k < s->g->batch_count; k++) {
        if (s->ready_ns[k] != INT64_MIN) {
            first = first == STK_NONE ? k : first;
            s->ready_ns[k] =
                s->ready_ns[first] + stk_price_scaled(s->ready_ns[k] - s->ready_ns[first], times);
        }
    }
    s->floor_ns *= times;
}

static bool batch_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    struct stk_price_pieces pieces = stk_price_pieces_of(s->g);
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        grow_node(s, &s->nodes[i], how, &pieces);
    }
    grow_pace(s, how->value);
    return true;
}

const struct stk_price_row stk_price_batch = {
    .id = "batch=",
    .value = "2",
    .what = "use a batch this many times as large; the saving is per sample",
    .assumes = "the model trains as well, memory holds the batch, and the same kernels run",
    .is_priced_alone = false,
    .is_supposed = true,
    .may_slow = true,
    .is_more_work = true,
    .refuse = batch_refuse,
    .refuse_value = batch_refuse_value,
    .apply = batch_apply,
};
