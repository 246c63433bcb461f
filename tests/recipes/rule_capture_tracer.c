// SPDX-License-Identifier: Apache-2.0
// Python was traced: every call of a Python function is an event, which slows the host.
//
// Recipe of a rule: src/answers/rules/capture_tracer.c, its page capture_tracer.md next to it, and
// X(capture_tracer) in src/answers/rules/rules.def. `stoker explain capture-tracer`, docs/rules.md
// and the report's list of rules come from the descriptor at the end and from the page.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

// Numbers that decide stand here, with unit and reason, and are read from here; the
// page names them: {share}.
enum { SHARE };
static const struct stk_threshold thresholds[] = {
    [SHARE] = {"Python calls", "share of the events", 0.10,
               "with fewer the tracer was off, or looked at little"},
    {0},
};

// The advice: src/fixes/text/capture-tracer.without-stacks.txt and so on, one file per fix; one of
// another rule may be given, too.
static const struct stk_rep_fix fixes[] = {
    STK_FIX(capture_tracer_without_stacks),
    STK_FIX(capture_tracer_python_tracer_off),
    STK_FIX(capture_overhead_steps),
    {0},
};

// A function of a table's row bears the row's name. What the rule says is a row of
// src/answers/rules/evidence/capture_tracer.txt: a sentence, and the values that are given here.
static enum stk_rule_state capture_tracer_check(const struct stk_rule_ctx *ctx,
                                                struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    double share = facts->events ? (double)facts->python_events / (double)facts->events : 0;
    *why = stk_why_python_calls(ctx, share);
    if (share < thresholds[SHARE].value) {
        return STK_RULE_PASSED;
    }
    f->severity = STK_LEVEL_INFO;
    stk_say_python_calls(ctx, f, facts->python_events, facts->events);
    return STK_RULE_FIRED; // no fix chosen: all that suit the framework
}

const struct stk_rule stk_rule_capture_tracer = {
    .page = STK_PAGE(capture_tracer),
    .needs = STK_NEED_HOST,
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_tracer_check,
};
