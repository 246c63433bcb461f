// SPDX-License-Identifier: Apache-2.0
// Keeps data that never changes on the device, instead of copying it in each step.
//
// Method: a profile shows the size of a copy, not its content. Copies to the device of one size
// count as one piece of data if (nearly) every step has them; the batch is also such a piece. With
// two or more pieces, one may be constant. Expected: the longest is. At best all except the
// shortest are; at worst only the shortest is. A single piece is most likely the batch. Whoever
// requests this price knows better, and at worst nothing changes.
//
// Limits: data that changes in each step looks the same; copies back from host operations are left
// out; the device's memory isn't checked.
#include "base/assert.h"
#include "answers/replay/price_transfers.h"

#define LEAST_KIB 64   // smaller copies are values, not data
#define MOST_PIECES 32 // different sizes to count
#define IN_STEPS 0.8   // share of steps with the copy

struct piece {
    uint32_t kib, steps, last_step;
    int64_t ns;
};

static bool is_data(const struct stk_graph *g, uint32_t i)
{
    const struct stk_node *n = &g->nodes[i];
    return stk_price_is_to_device(n) && n->size >= LEAST_KIB;
}

static void add(struct piece *pieces, uint32_t *count, const struct stk_node *n)
{
    STK_ASSERT(*count <= MOST_PIECES);
    uint32_t k = 0;
    while (k < *count && pieces[k].kib != n->size) {
        k++;
    }
    if (k == MOST_PIECES) {
        return;
    }
    if (k == *count) {
        pieces[(*count)++] = (struct piece){.kib = n->size, .last_step = STK_NONE};
    }
    pieces[k].ns += n->dur_ns;
    pieces[k].steps += n->step != pieces[k].last_step;
    pieces[k].last_step = n->step;
}

// Copies of the host's results aren't constant.
static void leave_out(const struct stk_graph *g, struct piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < g->host_op_count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            bool is_it = pieces[k].kib == g->nodes[g->host_ops[i].to_device].size;
            pieces[k].steps = is_it ? 0 : pieces[k].steps;
        }
    }
}

// Finds recurring pieces, longest first; returns their number.
static uint32_t find(const struct stk_graph *g, struct piece pieces[MOST_PIECES])
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (is_data(g, i)) {
            add(pieces, &count, &g->nodes[i]);
        }
    }
    leave_out(g, pieces, count);
    for (uint32_t k = 0; k < count; k++) {
        struct piece p = pieces[k];
        uint32_t at = kept;
        if (p.steps < IN_STEPS * g->step_count) {
            continue;
        }
        for (; at > 0 && pieces[at - 1].ns < p.ns; at--) {
            pieces[at] = pieces[at - 1];
        }
        pieces[at] = p;
        kept++;
    }
    return kept;
}

struct stk_price_pieces stk_price_pieces_of(const struct stk_graph *g)
{
    struct piece pieces[MOST_PIECES];
    uint32_t count = g->step_count > 1 ? find(g, pieces) : 0;
    return count > 1 ? (struct stk_price_pieces){pieces[count - 1].kib, pieces[0].kib}
                     : (struct stk_price_pieces){0, 0};
}

static const char *data_on_device_refuse(const struct stk_graph *g)
{
    struct piece pieces[MOST_PIECES];
    uint32_t count = g->step_count > 1 ? find(g, pieces) : 0;
    return count == 0 ? "no data is copied to the device in each step" : NULL;
}

static bool goes(const struct piece *pieces, uint32_t count, uint32_t kib,
                 enum stk_price_level level)
{
    STK_ASSERT(count <= MOST_PIECES);
    uint32_t k = 0;
    while (k < count && pieces[k].kib != kib) {
        k++;
    }
    if (count == 1) {
        return k == 0 && level != STK_PRICE_HIGH;
    }
    return level == STK_PRICE_LOW        ? k + 1 < count
           : level == STK_PRICE_EXPECTED ? k == 0
                                         : k + 1 == count;
}

static bool data_on_device_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const struct stk_graph *g = s->g;
    struct piece pieces[MOST_PIECES];
    uint32_t count = find(g, pieces);
    for (uint32_t i = 0; i < g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (!is_data(g, i) || !goes(pieces, count, n->size, how->level)) {
            continue;
        }
        n->dur_ns = n->gap_ns = n->rest_ns = 0;
        if (n->launch != STK_NONE) {
            s->nodes[n->launch].dur_ns = 0;
            s->nodes[n->launch].wait = STK_NONE;
        }
    }
    return true;
}

const struct stk_price_row stk_price_data_on_device = {
    .id = "data-on-device",
    .what = "keep data that never changes on the GPU",
    .assumes = "each step's longest copy moves the same data every time, and the GPU has room",
    .is_priced_alone = false,
    .refuse = data_on_device_refuse,
    .apply = data_on_device_apply,
};
