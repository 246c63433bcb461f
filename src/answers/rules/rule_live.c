// SPDX-License-Identifier: Apache-2.0
// The rules that a running job can be asked of: those on the machine's record. Same thresholds and
// words as those of a profile's report; savings and fixes are the report's alone.
#include <string.h>

#include "answers/rules/rule.h"
#include "base/assert.h"

static int rank_of(const char *severity)
{
    static const char *const order[] = {"high", "medium", "low", "info"};
    for (int i = 0; i < 4; i++) {
        if (severity && strcmp(severity, order[i]) == 0) {
            return i;
        }
    }
    return 4;
}

size_t stk_rules_live(const struct stk_rule_ctx *ctx, struct stk_rep_finding *findings, size_t most)
{
    STK_ASSERT(findings || most == 0);
    size_t count = 0;
    for (int i = 0; i < stk_rule_count && count < most; i++) {
        struct stk_rep_finding f = {.id = stk_rules[i]->id, .title = stk_rules[i]->title};
        const char *why;
        if (!stk_rules[i]->is_live || stk_rules[i]->check(ctx, &f, &why) != STK_RULE_FIRED) {
            continue;
        }
        size_t at = count++;
        while (at > 0 && rank_of(f.severity) < rank_of(findings[at - 1].severity)) {
            at--;
        }
        memmove(&findings[at + 1], &findings[at], (count - 1 - at) * sizeof f);
        findings[at] = f;
    }
    return count;
}
