// SPDX-License-Identifier: Apache-2.0
// The critical path of a replay: from the end of the last step back along the nodes that each node
// waited for, with its time by class.
#pragma once

#include "answers/replay/replay.h"

enum stk_critical {
    STK_CRITICAL_COMPUTE,
    STK_CRITICAL_INPUT,
    STK_CRITICAL_HOST,
    STK_CRITICAL_SYNC,
    STK_CRITICAL_TRANSFER,
    STK_CRITICAL_COMMUNICATION,
    STK_CRITICAL_UNKNOWN,
    STK_CRITICAL_COUNT
};
const char *stk_critical_key(enum stk_critical of);
enum stk_critical stk_critical_class(const struct stk_graph *g, const struct stk_node *n);
// A piece of the path, starting at its end: a node, or the gap between it and the node it waited
// for.
typedef void (*stk_critical_see)(void *arg, uint32_t node, enum stk_critical class, int64_t from_ns,
                                 int64_t to_ns);
void stk_critical_walk(const struct stk_scene *s, const struct stk_times *t, stk_critical_see see,
                       void *arg);
// How much later each node may end without delaying the end of the last step; free it. NULL: no
// memory.
int64_t *stk_critical_slack(const struct stk_scene *s, const struct stk_times *t);
// Adds the time of each class to `ns`.
void stk_critical_sum(const struct stk_scene *s, const struct stk_times *t,
                      int64_t ns[STK_CRITICAL_COUNT]);
