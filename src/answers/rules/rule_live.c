// SPDX-License-Identifier: Apache-2.0
// The rules that can run on a running job: those on the machine record. Thresholds and words are
// the same as in a profile's report; savings and fixes are only in the report.
#include <string.h>

#include "answers/rules/rule.h"
#include "base/assert.h"

size_t stk_rules_live(const struct stk_rule_ctx *ctx, struct stk_rep_finding *findings, size_t most)
{
    STK_ASSERT(findings || most == 0);
    size_t count = 0;
    for (int i = 0; i < stk_rule_count && count < most; i++) {
        struct stk_rep_finding f = {.id = stk_rules[i]->page.id,
                                    .title = stk_rules[i]->page.title,
                                    .severity = STK_LEVEL_INFO,
                                    .confidence = STK_LEVEL_HIGH};
        const char *why;
        if (!stk_rules[i]->is_live || stk_rules[i]->check(ctx, &f, &why) != STK_RULE_FIRED) {
            continue;
        }
        size_t at = count++;
        while (at > 0 && f.severity < findings[at - 1].severity) {
            at--;
        }
        memmove(&findings[at + 1], &findings[at], (count - 1 - at) * sizeof f);
        findings[at] = f;
    }
    return count;
}
