// SPDX-License-Identifier: Apache-2.0
// The classes and series of a rank's collectives (summary.h), found or added as they are listed.
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "profile/model/summary.h"

struct stk_class_list {
    struct stk_arena *arena; // of names
    struct stk_vec classes;  // struct stk_collective_class
    struct stk_vec series;   // struct stk_collective_series
    struct stk_map class_ids, series_ids;
};

// Collectives with equal keys are of one class. Texts are string ids of the trace, STK_NONE: not
// recorded.
struct stk_class_key {
    uint32_t name, group, members; // members: of the list of ranks on the collective's own row
    uint32_t device;
    int64_t bytes, group_size;
    uint64_t group_hash, members_hash;
    uint8_t kind;
};

// Starts with the rank's existing classes.
bool stk_class_list_begin(struct stk_class_list *l, const struct stk_rank_sum *sum,
                          struct stk_arena *arena);
// Sets class and ordinal of a collective, the next of its series. False: no memory.
bool stk_class_list_place(struct stk_class_list *l, const struct stk_trace *t,
                          const struct stk_class_key *key, struct stk_collective *c);
// Gives the rank its lists if all went well (`ok`), and frees the rest. False: no memory, or !ok.
bool stk_class_list_end(struct stk_class_list *l, bool ok, struct stk_rank_sum *sum);
// Never 0. The list of ranks may be cut short in the profile, so the size counts too.
uint64_t stk_collective_group_hash(struct stk_str members, int64_t size);
