// SPDX-License-Identifier: Apache-2.0
// Parts as the report lists them.
#include "answers/passes/report/parts_list.h"

#include "base/assert.h"

static const char *group_name(enum stk_group group)
{
    STK_ASSERT((unsigned)group < STK_GROUP_COUNT);
    static const char *const names[STK_GROUP_COUNT] = {
        [STK_GROUP_COMPUTE] = "compute",   [STK_GROUP_INPUT] = "input",
        [STK_GROUP_HOST] = "host",         [STK_GROUP_SYNC] = "sync",
        [STK_GROUP_TRANSFER] = "transfer", [STK_GROUP_COMMUNICATION] = "communication",
        [STK_GROUP_COLD] = "cold",         [STK_GROUP_UNKNOWN] = "unknown",
    };
    return names[group];
}

bool stk_parts_shares(const int64_t *parts, int64_t wall_ns, struct stk_arena *arena,
                      struct stk_list *out)
{
    struct stk_rep_part *rows = stk_arena_array(arena, STK_PART_COUNT, sizeof *rows);
    if (!rows) {
        return false;
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        const struct stk_part_info *info = stk_part_info(p);
        rows[p] = (struct stk_rep_part){
            .id = info->key,
            .label = info->label,
            .group = group_name(info->group),
            .ns = parts[p],
            .share = wall_ns > 0 ? (double)parts[p] / (double)wall_ns : 0,
        };
    }
    *out = (struct stk_list){.items = rows, .count = STK_PART_COUNT};
    return true;
}

bool stk_parts_map(const int64_t *parts, struct stk_arena *arena, struct stk_list *out)
{
    size_t n = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        n += parts[p] != 0;
    }
    struct stk_entry *entries = stk_arena_array(arena, n + 1, sizeof *entries);
    if (!entries) {
        return false;
    }
    n = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (parts[p] != 0) {
            entries[n++] = (struct stk_entry){stk_part_info(p)->key, {parts[p]}};
        }
    }
    *out = (struct stk_list){.items = entries, .count = n};
    return true;
}
