// SPDX-License-Identifier: Apache-2.0
// How fast the all-reduces of the used steps move their bytes, against what their link was seen, or
// is known, to give.
#pragma once

#include "answers/rules/finding.h"

#define STK_ALL_REDUCE_NEAR 0.7  // of the link's rate: at its bound
#define STK_ALL_REDUCE_LOST 0.03 // of the step: worth a finding

// Those of one size among as many ranks.
struct stk_all_reduce_class {
    int64_t bytes, group_size;
    uint32_t count;
    int64_t each_ns; // lower quartile: a longer one has waited for a rank
    int64_t lost_ns; // exposed time of all of them that the link's rate would save
    double bus_rate; // bytes per second that the slowest link carries
};

#define STK_ALL_REDUCE_CLASSES 64

struct stk_all_reduce_rate {
    uint32_t count, sized;     // in the used steps; of these with size and group
    const char *why_not;       // nothing can be compared; else NULL
    double rate;               // bus bytes of all over their times
    double link;               // what the link gives
    bool is_flat;              // messages of half the size, or less, reach nearly as much
    int64_t link_bytes;        // seen with messages of that size; 0: by the devices' links
    double peer_link;          // what links between such devices reach in a host; 0 not known
    int64_t small_ns, lost_ns; // of lost_ns, what is lost with messages below 1 MB
    uint32_t class_count;      // the most is lost with the first of them
    struct stk_all_reduce_class classes[STK_ALL_REDUCE_CLASSES];
    uint32_t left_out; // in further classes
};
void stk_all_reduce_rate_find(const struct stk_rule_ctx *ctx, struct stk_all_reduce_rate *out);
// Far from what the link gives, and it costs: there is a finding of its own.
bool stk_all_reduce_is_slow(const struct stk_rule_ctx *ctx, const struct stk_all_reduce_rate *r);
// Near it, and it is the link's: known, or seen with messages of half the size, too. Messages of
// one size alone may as well be held up by their start.
bool stk_all_reduce_is_at_bound(const struct stk_all_reduce_rate *r);
// Seen far below what the devices' links give within a host: evidence that says so. False: not so.
bool stk_all_reduce_say_way(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                            const struct stk_all_reduce_rate *r);
// Most that is lost is below 1 MB.
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
