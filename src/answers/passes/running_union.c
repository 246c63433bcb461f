// SPDX-License-Identifier: Apache-2.0
// The length of a union of intervals; see running_union.h.
#include "answers/passes/running_union.h"

#include "base/assert.h"

struct stk_span stk_running_union_add(struct stk_running_union *u, int64_t start_ns, int64_t end_ns)
{
    STK_ASSERT(start_ns <= end_ns);
    int64_t start = start_ns > u->end_ns ? start_ns : u->end_ns;
    if (end_ns <= start) {
        return (struct stk_span){start, start};
    }
    u->total_ns += end_ns - start;
    u->end_ns = end_ns;
    return (struct stk_span){start, end_ns};
}
