// SPDX-License-Identifier: Apache-2.0
// Much of the step has no events on the CPU because the program's own Python wasn't recorded. So
// the profile doesn't show what it does there, above all for input. Gives the line that records it.
#include <string.h>

#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/job_places.h"
#include "answers/rules/torch_signs.h"
#include "profile/model/verdict/busy_work.h"

enum { UNSEEN, LOUD };
static const struct stk_threshold thresholds[] = {
    [UNSEEN] = {"CPU step without events", "share of the step", 0.15,
                "from here, confidence is low"},
    [LOUD] = {"more than just a note", "share of the step", 0.30,
              "this much may be the job's largest cost"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(record_python_pytorch),
    STK_FIX(record_python_tensorflow),
    STK_FIX(record_python_jax),
    STK_FIX(python_not_recorded_give_back),
    STK_FIX(python_not_recorded_lines),
    STK_FIXES_TORCH_SIGNS,
    {0},
};
enum {
    FIXES_PYTHON = 3,
    FIX_GIVE_BACK = FIXES_PYTHON,
    FIX_LINES
}; // fixes that make Python visible come first

// Does most of it follow the fetches of a DataLoader with workers?
static bool follows_workers(const struct stk_rule_ctx *ctx)
{
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_UNKNOWN];
    int64_t ns = 0;
    for (int i = 0; i < c->name_count; i++) {
        const char *name = c->names[i].name;
        ns += name && strstr(name, "MultiProcessingDataLoaderIter") ? c->names[i].ns : 0;
    }
    return 2 * ns > c->ns;
}

static enum stk_rule_state capture_python_check(const struct stk_rule_ctx *ctx,
                                                struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double share = stk_rule_part_share(ctx, STK_PART_UNKNOWN);
    bool from_workers = run->facts.has_fetches && follows_workers(ctx);
    *why = stk_why_step_unseen(ctx, share);
    if (!stk_rule_on_host(ctx) || stk_rule_on_pipeline(ctx)) {
        *why = "the steps aren't CPU-only";
        return STK_RULE_NOT_APPLICABLE;
    }
    if (share < thresholds[UNSEEN].value) {
        return STK_RULE_PASSED;
    }
    if (ctx->pass.verdict->reason == STK_REASON_HOST_UNSEEN) {
        *why = "cannot-tell reports it";
        return STK_RULE_PASSED;
    }
    bool knows_fetches = stk_knows_fetches(&run->facts), has_lines = run->facts.told[STK_TOLD_LINE];
    if (run->facts.has_fetches && stk_runs_eagerly(run)) {
        *why = "operations run one by one, with Python between them: see host-bound";
        return STK_RULE_PASSED;
    }
    f->severity = share < thresholds[LOUD].value ? STK_LEVEL_LOW : stk_rule_severity(ctx, share);
    if (knows_fetches && share > stk_rule_group_share(ctx, STK_GROUP_HOST) &&
        ctx->pass.verdict->kind == STK_VERDICT_HOST) {
        f->severity = STK_LEVEL_HIGH; // the verdict depends more on it than on recorded events
    }
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_UNKNOWN).most_affected;
    f->title = has_lines ? "Much of the step is Python around the operations" : f->title;
    stk_finding_cause(ctx, f, STK_PART_UNKNOWN);
    if (from_workers) {
        stk_say_unseen_behind_workers(ctx, f);
    } else if (knows_fetches) {
        stk_say_unseen_is_other_code(ctx, f);
    } else {
        stk_say_unseen_may_be_input(ctx, f);
    }
    stk_torch_signs_choose(ctx, f); // operators show this without Python
    stk_places_say_lines(ctx, f);
    if (has_lines && !from_workers) {
        stk_finding_told(ctx, f, STK_TOLD_LINE); // its fix speaks of these lines
        stk_finding_fix(ctx, f, &fixes[FIX_LINES]);
    }
    for (int i = 0; i < FIXES_PYTHON && !has_lines; i++) {
        stk_finding_fix(ctx, f, &fixes[i]);
    }
    if (from_workers) {
        stk_finding_fix(ctx, f, &fixes[FIX_GIVE_BACK]);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_python = {
    .page = STK_PAGE(capture_python),
    .kind = STK_TOPIC_RECORDING,
    .needs = STK_NEED_BREAKDOWN | STK_NEED_HOST,
    .verdicts = 1u << STK_VERDICT_HOST,
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_python_check,
};
