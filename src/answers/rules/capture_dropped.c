// SPDX-License-Identifier: Apache-2.0
// Records are missing from the profile: dropped by the profiler, damaged later, or unreadable.
// Launch calls without device work hint at device records lost without notice.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { LOST, LOST_MUCH, ORPHANS, ORPHANS_LEAST };
static const struct stk_threshold thresholds[] = {
    [LOST] = {"events lost", "share of the records read", 0.01,
              "single bad records don't change any share of the time"},
    [LOST_MUCH] = {"events lost, distorting", "share of the records read", 0.10,
                   "as large as the smallest loss that decides a verdict"},
    [ORPHANS] = {"launch calls without GPU work", "share of launch calls", 0.05,
                 "every recording cuts off a few at its end"},
    [ORPHANS_LEAST] = {"launch calls without GPU work", "calls", 50, "fewer may be chance"},
    {0},
};

enum { FIX_TORCH, FIX_TF, FIX_JAX, FIX_CUDA, FIX_LEVEL_1, FIX_COPY, FIX_EXPORT, FIX_ERROR };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH] = STK_FIX(capture_dropped_torch),
    [FIX_TF] = STK_FIX(capture_dropped_tf),
    [FIX_JAX] = STK_FIX(capture_dropped_jax),
    [FIX_CUDA] = STK_FIX(capture_dropped_cuda),
    [FIX_LEVEL_1] = STK_FIX(capture_dropped_level_1),
    [FIX_COPY] = STK_FIX(capture_dropped_copy),
    [FIX_EXPORT] = STK_FIX(capture_dropped_export),
    [FIX_ERROR] = STK_FIX(capture_dropped_error),
    {0},
};

// Issues that mean loss by themselves, however few.
static bool is_damage(enum stk_issue_id id)
{
    switch (id) {
    case STK_ISSUE_TRUNCATED:
    case STK_ISSUE_COMPRESSION_DAMAGED:
    case STK_ISSUE_EVENTS_DROPPED:
    case STK_ISSUE_PROFILER_ERROR:
    case STK_ISSUE_TABLE_UNREADABLE:
    case STK_ISSUE_LIMIT_REACHED:
    case STK_ISSUE_INPUT_FAILED:
        return true;
    default:
        return false;
    }
}

static double lost_share(const struct stk_rule_ctx *ctx)
{
    uint64_t read = 0, dropped = 0, lost = 0;
    for (uint32_t i = 0; i < ctx->pass.input_count; i++) {
        read += ctx->pass.inputs[i].read;
        dropped += ctx->pass.inputs[i].dropped;
        for (int id = 0; id < STK_ISSUE_COUNT; id++) {
            lost += ctx->pass.inputs[i].issues[id].events_lost;
        }
    }
    if (lost > dropped) {
        dropped = lost;
    }
    return dropped == 0 ? 0 : (double)dropped / (double)(read > dropped ? read : dropped);
}

static bool has_orphans(const struct stk_facts *f)
{
    return f->has_device_rows && f->unlinked_ops * 2 < f->device_ops &&
           (double)f->launches_without_work >= thresholds[ORPHANS_LEAST].value &&
           (double)f->launches_without_work >= thresholds[ORPHANS].value * (double)f->launches;
}

static void say_issues(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    for (int id = 0; id < STK_ISSUE_COUNT; id++) {
        const struct stk_issue_info *info = stk_issue_info(id);
        uint64_t n = stk_rule_issue_count(ctx, id);
        if (n > 0 && info->severity != STK_SEVERITY_INFO) {
            stk_say_issue_met(ctx, f, info->key, n, info->meaning, info->remedy);
        }
    }
}

static bool met(const struct stk_rule_ctx *ctx, enum stk_issue_id id)
{
    return stk_rule_issue_count(ctx, id) > 0;
}

static void capture_dropped_choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    bool error = met(ctx, STK_ISSUE_PROFILER_ERROR), table = met(ctx, STK_ISSUE_TABLE_UNREADABLE);
    bool file = met(ctx, STK_ISSUE_TRUNCATED) || met(ctx, STK_ISSUE_COMPRESSION_DAMAGED) ||
                met(ctx, STK_ISSUE_MESSAGE_INVALID) || met(ctx, STK_ISSUE_JSON_SKIPPED);
    if (error) {
        stk_finding_fix(ctx, f, &fixes[FIX_ERROR]);
    }
    if (table) {
        stk_finding_fix(ctx, f, &fixes[FIX_EXPORT]);
    }
    if (file) {
        stk_finding_fix(ctx, f, &fixes[FIX_COPY]);
    }
    if (met(ctx, STK_ISSUE_EVENTS_DROPPED) || met(ctx, STK_ISSUE_LIMIT_REACHED) ||
        !(error || table || file)) {
        for (int i = FIX_TORCH; i <= FIX_CUDA; i++) { // of these, the ones for the recorder stay
            stk_finding_fix(ctx, f, &fixes[i]);
        }
        if (stk_rule_of_own_capture(ctx)) {
            stk_finding_fix(ctx, f, &fixes[FIX_LEVEL_1]);
        }
    }
}

static enum stk_rule_state capture_dropped_check(const struct stk_rule_ctx *ctx,
                                                 struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    double share = lost_share(ctx);
    bool damaged = false, orphans = has_orphans(facts);
    for (int id = 0; id < STK_ISSUE_COUNT; id++) {
        damaged |= is_damage(id) && stk_rule_issue_count(ctx, id) > 0;
    }
    *why = stk_why_records_lost(ctx, share);
    if (!damaged && !orphans && share < thresholds[LOST].value) {
        return STK_RULE_PASSED;
    }
    f->severity =
        damaged || share >= thresholds[LOST_MUCH].value ? STK_LEVEL_MEDIUM : STK_LEVEL_LOW;
    if (share > 0) {
        stk_say_records_unusable(ctx, f, share);
    }
    say_issues(ctx, f);
    capture_dropped_choose_fixes(ctx, f);
    if (orphans) {
        stk_say_launches_without_work(ctx, f, facts->launches_without_work, facts->launches);
    }
    if (!damaged && share < thresholds[LOST].value) {
        f->confidence = STK_LEVEL_LOW; // only launch calls without work indicate it
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_dropped = {
    .page = STK_PAGE(capture_dropped),
    .kind = STK_TOPIC_RECORDING,
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_dropped_check,
};
