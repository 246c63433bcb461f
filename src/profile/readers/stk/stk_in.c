// SPDX-License-Identifier: Apache-2.0
// Shared by the record handlers: names, times, and counting of errors. See stk_in.h.
#include "profile/readers/stk/stk_in.h"

#include "base/assert.h"

void stk_in_count_bad(struct stk_in *in, uint64_t n)
{
    stk_shard_count(in->shard, STK_KIND_OTHER, n);
    stk_shard_issue(in->shard, STK_ISSUE_FIELD_INVALID, n, n, -1,
                    STK_STR("a record refers to something missing"));
}

uint32_t stk_in_name(const struct stk_in *in, uint32_t id)
{
    const uint32_t *known = stk_map_get(&in->strings, id, 0);
    return known ? *known : stk_shard_intern(in->shard, "?", 1);
}

bool stk_in_is_time(uint64_t start_ns, uint64_t dur_ns)
{
    return start_ns <= INT64_MAX / 4 && dur_ns <= INT64_MAX / 4;
}

void stk_in_bad_time(struct stk_in *in, enum stk_kind kind)
{
    STK_ASSERT((unsigned)kind < STK_KIND_COUNT);
    stk_shard_count(in->shard, kind, 1);
    stk_shard_issue(in->shard, STK_ISSUE_TIME_INVALID, 1, 1, -1, STK_STR(""));
}
