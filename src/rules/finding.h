// SPDX-License-Identifier: Apache-2.0
// What rules share when they write a finding: shares of parts, severity, evidence.
#ifndef STK_RULES_FINDING_H
#define STK_RULES_FINDING_H

#include "rules/rule.h"

// Share of the breakdown's wall time that a part, or a group of parts, takes. 0 without a breakdown.
double stk_rule_part_share(const struct stk_rule_ctx *ctx, enum stk_part part);
double stk_rule_group_share(const struct stk_rule_ctx *ctx, enum stk_group group);
// "high", "medium", "low" for a loss of this share: 15 % and 5 % of the step on a device, 50 % and
// 25 % of a host's step, where work is done in turn.
const char *stk_rule_severity(const struct stk_rule_ctx *ctx, double share);
const char *stk_level_key(enum stk_level level);
// Add one line of evidence; time and track are optional (dur_ns < 0, track NULL).
void stk_finding_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void stk_finding_show(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *text,
                      const char *track, int64_t start_ns, int64_t dur_ns);
// Evidence of one part: its total, the names that fill it, its longest example.
void stk_finding_cause(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, enum stk_part part);
// Bound saving: nothing to the whole share of the cause.
void stk_finding_bound(struct stk_rep_finding *f, double share);
// A text in the arena; "" if memory is out.
const char *stk_rule_text(const struct stk_rule_ctx *ctx, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
// Check that most rules of a verdict kind share: does `group` take at least `from` of the time?
// Fills severity, confidence, saving and evidence of the group's parts.
enum stk_rule_state stk_rule_check_group(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                         enum stk_group group, double from, const char **why);

#endif
