// SPDX-License-Identifier: Apache-2.0
// Reduces gradients in buckets of another size. With fewer collectives, the fixed part occurs less
// often, but each collective waits for more of the backward pass.
//
// Method: consecutive collectives of a step are merged up to the requested bytes. The last of them
// gets the time of all; the others and their launches are removed. A larger collective gets the
// fixed part once for each piece that it would be cut into. A collective's time is a fixed part
// plus one for its bytes (price_messages.c); recorded times are changed by the ratio.
//
// Limits: cut collectives don't begin earlier; if the sizes don't show the fixed part, it is a
// prior.
#include <math.h>

#include "base/assert.h"
#include "answers/replay/price_messages.h"

static double ns_of(const struct stk_message_fit *f, double bytes, double bucket, bool is_alone)
{
    double parts = is_alone ? ceil(bytes / bucket) : 1;
    return f->fixed_ns * parts + f->byte_ns * bytes;
}

static void drop(struct stk_scene *s, uint32_t node)
{
    STK_ASSERT(node < s->g->node_count);
    struct stk_node *n = &s->nodes[node];
    n->dur_ns = n->gap_ns = n->rest_ns = 0;
    if (n->launch != STK_NONE) {
        stk_price_drop_call(s, n->launch);
    }
}

// Messages [first, last] as one bucket.
static void join(struct stk_scene *s, const struct stk_message_fit *f, uint32_t first,
                 uint32_t last, double bucket)
{
    STK_ASSERT(first <= last && last < s->g->message_count);
    const struct stk_graph_message *m = s->g->messages;
    double bytes = 0, was_ns = 0, fitted_ns = 0;
    for (uint32_t i = first; i <= last; i++) {
        bytes += (double)m[i].bytes;
        was_ns += (double)s->nodes[m[i].node].dur_ns;
        fitted_ns += stk_message_ns(f, (double)m[i].bytes);
    }
    double will_ns = ns_of(f, bytes, bucket, first == last);
    for (uint32_t i = first; i < last; i++) {
        drop(s, m[i].node);
    }
    s->nodes[m[last].node].dur_ns =
        (int64_t)(fitted_ns > 0 ? was_ns * will_ns / fitted_ns : was_ns);
}

// Larger buckets save fixed parts, smaller ones add them, so the two ends are swapped.
static enum stk_price_level level_of(const struct stk_graph *g, const struct stk_price_how *how)
{
    double bytes = 0;
    for (uint32_t i = 0; i < g->message_count; i++) {
        bytes += (double)g->messages[i].bytes;
    }
    bool cuts = how->value * g->message_count < bytes;
    return cuts ? (enum stk_price_level)(STK_PRICE_HIGH - how->level) : how->level;
}

static bool comm_bucket_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const struct stk_graph *g = s->g;
    const struct stk_graph_message *m = g->messages;
    struct stk_message_fit f = stk_message_fit(g, level_of(g, how));
    double bytes = 0;
    for (uint32_t i = 0, first = 0; i < g->message_count; i++) {
        const struct stk_node *n = &g->nodes[m[i].node];
        const struct stk_node *next = i + 1 < g->message_count ? &g->nodes[m[i + 1].node] : NULL;
        bool ends = !next || next->step != n->step || next->lane != n->lane;
        bytes += (double)m[i].bytes;
        if (ends || bytes >= how->value) {
            join(s, &f, first, i, how->value);
            first = i + 1;
            bytes = 0;
        }
    }
    return true;
}

const struct stk_price_row stk_price_comm_bucket = {
    .id = "comm-bucket=",
    .value = "25000000",
    .what = "reduce gradients in buckets of this many bytes",
    .assumes = "consecutive collectives can be merged",
    .is_priced_alone = true,
    .may_slow = true,
    .refuse = stk_message_refuse,
    .apply = comm_bucket_apply,
};
