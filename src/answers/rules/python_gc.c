// SPDX-License-Identifier: Apache-2.0
// The step waits while Python collects garbage. Sources in a profile: PyTorch's record of
// collections ("Python GC"), calls of gc.collect, JAX's callback for each collection. Otherwise,
// the full collections that the hooks of `stoker run` saw before the window.
#include "base/str.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { FROM };
static const struct stk_threshold thresholds[] = {
    [FROM] = {"waiting for garbage collection", "share of the step", 0.01,
              "Python's young generations take less"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(python_gc_freeze),
    STK_FIX(python_gc_calls),
    STK_FIX(python_gc_rarely),
    {0},
};

static bool is_collection(const char *name)
{
    static const char *const words[] = {"Python GC", "<built-in function collect>", "gc.collect",
                                        "_xla_gc_callback", NULL};
    for (int i = 0; name && words[i]; i++) {
        if (stk_str_contains(stk_str_from(name), stk_str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

static enum stk_rule_state python_gc_check(const struct stk_rule_ctx *ctx,
                                           struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    int64_t ns = 0;
    uint32_t count = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        for (int i = 0; i < run->causes[p].name_count; i++) {
            const struct stk_cause_name *n = &run->causes[p].names[i];
            ns += is_collection(n->name) ? n->ns : 0;
            count += is_collection(n->name) ? n->count : 0;
        }
    }
    double told = (double)run->facts.told_numbers[STK_TOLD_COLLECTIONS_PERMILLE] / 1000;
    told = told < 1 ? told : 1; // the profile may have any value
    double part = run->wall_ns > 0 ? (double)ns / (double)run->wall_ns : 0;
    if (ns == 0 && told >= thresholds[FROM].value) {
        f->severity = stk_rule_severity(ctx, told);
        f->confidence = STK_LEVEL_MEDIUM;
        stk_finding_bound(f, told);
        stk_say_gc_before_window(ctx, f, told,
                                 (uint64_t)run->facts.told_numbers[STK_TOLD_COLLECTIONS]);
        return STK_RULE_FIRED;
    }
    if (ns == 0) {
        *why = "the steps don't wait for garbage collection";
        return STK_RULE_PASSED;
    }
    *why = stk_why_of_time(ctx, part);
    if (part < thresholds[FROM].value) {
        return STK_RULE_PASSED;
    }
    f->severity = stk_rule_severity(ctx, part);
    f->confidence = STK_LEVEL_HIGH;
    stk_finding_bound(f, part);
    stk_say_garbage_collected(ctx, f, ns, part, count);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_python_gc = {
    .page = STK_PAGE(python_gc),
    .needs = STK_NEED_BREAKDOWN,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = python_gc_check,
};
