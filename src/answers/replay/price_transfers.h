// SPDX-License-Identifier: Apache-2.0
// Shared by the what-ifs of copies.
#pragma once

#include "answers/replay/price_row.h"

#define STK_LINK_REACHED 0.75 // of a link's peak, by large copies from pinned memory
// The setup of a copy, which a faster link doesn't shorten.
#define STK_COPY_SETUP_NS 1500

static inline bool stk_price_is_to_device(const struct stk_node *n)
{
    return n->kind == STK_NODE_COPY &&
           (n->what == STK_WHAT_H2D || n->what == STK_WHAT_H2D_PAGEABLE);
}
static inline bool stk_price_is_copy(const struct stk_node *n)
{
    return stk_price_is_to_device(n) || (n->kind == STK_NODE_COPY && n->what != STK_WHAT_OTHER);
}
static inline int64_t stk_price_copy_ns(int64_t ns, double faster)
{
    return ns <= STK_COPY_SETUP_NS
               ? ns
               : STK_COPY_SETUP_NS + stk_price_scaled(ns - STK_COPY_SETUP_NS, 1 / faster);
}
// Bytes per second of large copies of a kind, as recorded; 0 without any.
double stk_price_link_rate(const struct stk_scene *s, enum stk_node_what what);
// Data copied to the device in each step, in several pieces, identified by their KiB. At least the
// shortest belongs to the batch; the longest may be the same each time.
struct stk_price_pieces {
    uint32_t shortest_kib, longest_kib; // 0: there aren't several
};
struct stk_price_pieces stk_price_pieces_of(const struct stk_graph *g); // price_data_on_device.c
// Makes the batch's copies come from pinned memory: they get shorter, and their calls return at
// once.
void stk_price_pin(struct stk_scene *s, enum stk_price_level level);
// Varies staging as in another run, for `vary`.
void stk_price_stage(struct stk_scene *s, enum stk_price_level level);
