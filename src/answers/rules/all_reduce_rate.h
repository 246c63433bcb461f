// SPDX-License-Identifier: Apache-2.0
// How fast the all-reduces of the used steps move their bytes, compared with the observed or known
// rate of their link.
#pragma once

#include "answers/rules/finding.h"

#define STK_ALL_REDUCE_NEAR 0.7  // of the link's rate: counts as at its bound
#define STK_ALL_REDUCE_LOST 0.03 // of the step: worth a finding

// All-reduces of one size and number of ranks.
struct stk_all_reduce_class {
    int64_t bytes, group_size;
    uint32_t count;
    int64_t each_ns; // lower quartile: a longer one has waited for a rank
    int64_t lost_ns; // exposed time of all of them that the link's rate would save
    double bus_rate; // bytes per second on the slowest link
};

#define STK_ALL_REDUCE_CLASSES 64

struct stk_all_reduce_rate {
    uint32_t count, sized;     // in the used steps; of them, those with size and group
    const char *why_not;       // why nothing can be compared, or NULL
    double rate;               // bus bytes of all over their times
    double link;               // the link's rate
    bool is_flat;              // messages of half the size, or less, reach nearly as much
    int64_t link_bytes;        // observed with messages of that size; 0: from the devices' links
    double peer_link;          // rate of links between such devices in a host; 0 not known
    int64_t small_ns, lost_ns; // the part of lost_ns from messages below 1 MB
    uint32_t class_count;      // those that lose most come first
    struct stk_all_reduce_class classes[STK_ALL_REDUCE_CLASSES];
    uint32_t left_out; // in further classes
};
void stk_all_reduce_rate_find(const struct stk_rule_ctx *ctx, struct stk_all_reduce_rate *out);
// Far below the link's rate, and costly: there is a separate finding.
bool stk_all_reduce_is_slow(const struct stk_rule_ctx *ctx, const struct stk_all_reduce_rate *r);
// Near the link's rate, which is known, or was also observed with messages of half the size.
// Messages of only one size may also be limited by their startup cost.
bool stk_all_reduce_is_at_bound(const struct stk_all_reduce_rate *r);
// Far below the rate of the devices' links within a host: evidence that says so. False: it isn't.
bool stk_all_reduce_say_way(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                            const struct stk_all_reduce_rate *r);
// Messages below 1 MB cause most of the loss.
static inline bool stk_all_reduce_is_small(const struct stk_all_reduce_rate *r)
{
    return 2 * r->small_ns >= r->lost_ns;
}
static inline double stk_all_reduce_lost_share(const struct stk_rule_ctx *ctx,
                                               const struct stk_all_reduce_rate *r)
{
    int64_t wall_ns = ctx->pass.run->wall_ns;
    return wall_ns > 0 ? (double)r->lost_ns / (double)wall_ns : 0;
}
