// SPDX-License-Identifier: Apache-2.0
// One rank, a few, or those of a host make the others wait. Names them, how long the wait is, and
// the parts on which they spend more time than the others. The model makes the decision; this
// explains it.
#include "base/assert.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"
#include "profile/model/collectives/culprit.h"

enum { MORE, PLACE };
static const struct stk_threshold thresholds[] = {
    [MORE] = {"what the straggler does more of", "share of a rank's wait", 0.25,
              "less than a quarter doesn't explain the wait"},
    [PLACE] = {"lateness at the first collective of a step",
               "of that at the latest, from either end", 0.25,
               "in between it may lose time in several places"},
    {0},
};

enum {
    FIX_WORK,
    FIX_INPUT,
    FIX_HOST,
    FIX_TORCH,
    FIX_TF,
    FIX_DEVICE,
    FIX_RECORD,
    FIX_ALONE,
    FIX_TORCH_PYTHON,
    FIX_TF_PYTHON,
    FIX_JAX_PYTHON
};
static const struct stk_rep_fix fixes[] = {
    [FIX_WORK] = STK_FIX(straggler_work),
    [FIX_INPUT] = STK_FIX(straggler_input),
    [FIX_HOST] = STK_FIX(process_numa),
    [FIX_TORCH] = STK_FIX(straggler_torch),
    [FIX_TF] = STK_FIX(straggler_tf),
    [FIX_DEVICE] = STK_FIX(straggler_device),
    [FIX_RECORD] = STK_FIX(straggler_record),
    [FIX_ALONE] = STK_FIX(straggler_alone),
    [FIX_TORCH_PYTHON] = STK_FIX(record_python_pytorch),
    [FIX_TF_PYTHON] = STK_FIX(record_python_tensorflow),
    [FIX_JAX_PYTHON] = STK_FIX(record_python_jax),
    {0},
};

// Mean time per device (per used step without one) that the late ranks (or the others) spend on a
// part.
static double mean_ns(const struct stk_run_sum *run, enum stk_part part, bool others)
{
    STK_ASSERT((unsigned)part < STK_PART_COUNT);
    int64_t ns = 0;
    uint32_t count = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        const struct stk_device_sum *dev = &run->devices[d];
        if (dev->analysed && stk_culprit_is(run, dev->rank) != others) {
            ns += dev->parts[part];
            count++;
        }
    }
    for (uint32_t i = 0; i < run->step_count && run->scope == STK_SCOPE_HOST; i++) {
        const struct stk_step *s = &run->steps[i];
        if (s->device == STK_NONE && !s->excluded && stk_culprit_is(run, s->rank) != others) {
            ns += s->parts[part];
            count++;
        }
    }
    return count ? (double)ns / count : 0;
}

// The part with the late ranks' largest excess over the others; -1: nothing stands out.
static int excess_part(const struct stk_run_sum *run, double wait_ns, double *more_ns)
{
    int best = -1;
    *more_ns = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (stk_part_info(p)->group == STK_GROUP_COMMUNICATION || p == STK_PART_UNKNOWN) {
            continue;
        }
        double more = mean_ns(run, p, false) - mean_ns(run, p, true);
        if (more > *more_ns && more >= thresholds[MORE].value * wait_ns) {
            *more_ns = more;
            best = p;
        }
    }
    return best;
}

// Unrecorded time in host steps that the late ranks have in excess: 0 if it doesn't explain the
// waiting.
static double unrecorded_ns(const struct stk_run_sum *run, double wait_ns)
{
    double more = mean_ns(run, STK_PART_UNKNOWN, false) - mean_ns(run, STK_PART_UNKNOWN, true);
    return run->scope == STK_SCOPE_HOST && more >= thresholds[MORE].value * wait_ns ? more : 0;
}

static void straggler_choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                   int part, bool is_unrecorded)
{
    STK_ASSERT(part < STK_PART_COUNT);
    enum stk_group group = part < 0 ? STK_GROUP_UNKNOWN : stk_part_info(part)->group;
    if (is_unrecorded) {
        for (int i = FIX_ALONE; i <= FIX_JAX_PYTHON; i++) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
        return;
    }
    if (group == STK_GROUP_HOST) {
        stk_finding_fix(ctx, f, &fixes[FIX_ALONE]);
    }
    if (group == STK_GROUP_COMPUTE) {
        stk_finding_fix(ctx, f, &fixes[FIX_WORK]);
    } else if (group == STK_GROUP_INPUT || group == STK_GROUP_TRANSFER) {
        stk_finding_fix(ctx, f, &fixes[FIX_INPUT]);
    } else if (part < 0) {
        stk_finding_fix(ctx, f, &fixes[FIX_WORK]);
        if (!ctx->pass.run->facts.has_host_rows || !ctx->pass.run->facts.has_launch_rows) {
            stk_finding_fix(ctx, f, &fixes[FIX_RECORD]);
        }
    }
    if ((part < 0 || group == STK_GROUP_COMPUTE) && !stk_rule_on_host(ctx)) {
        stk_finding_fix(ctx, f, &fixes[FIX_DEVICE]);
    }
    stk_finding_fix(ctx, f, &fixes[FIX_HOST]);
    stk_finding_fix(ctx, f, &fixes[FIX_TORCH]);
    stk_finding_fix(ctx, f, &fixes[FIX_TF]);
}

// Names the rank, how late it is, and where in a step it falls behind.
static void say_who(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *who)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_straggler *g = &run->straggler;
    double share = stk_straggler_share(run);
    if (g->late_count > 1) {
        stk_say_ranks_hold_others(ctx, f, who, stk_culprit_ranks(run, ctx->pass.arena),
                                  g->held_share, g->wait_ns, share);
        stk_say_ranks_are_last(ctx, f, g->last_count, g->matched);
    } else {
        stk_say_rank_holds_others(ctx, f, g->rank, g->held_share, g->wait_ns, share);
        stk_say_rank_is_last(ctx, f, g->rank, g->last_count, g->matched);
    }
    if (!g->clocks_agree) {
        stk_say_late_rank_by_wait(ctx, f);
    }
    if (g->late_steps > 0 && g->late_ns > 0) {
        stk_say_rank_comes_late(ctx, f, g->rank, g->late_ns / g->late_steps);
    }
    if (g->late_first >= 0 && g->late_first <= thresholds[PLACE].value) {
        stk_say_rank_late_after_first(ctx, f, g->rank);
    } else if (g->late_first >= 1 - thresholds[PLACE].value) {
        stk_say_rank_late_at_first(ctx, f, g->rank);
    }
}

static void straggler_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                          const char *who)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_straggler *g = &run->straggler;
    uint32_t late = g->late_count ? g->late_count : 1;
    double more_ns = 0, waiting = run->rank_count > late ? run->rank_count - late : 1;
    bool per_step = run->scope == STK_SCOPE_HOST && run->steps_used > 0;
    waiting *= per_step ? run->steps_used : 1;
    say_who(ctx, f, who);
    int part = excess_part(run, (double)g->wait_ns / waiting, &more_ns);
    double unrecorded = part < 0 ? unrecorded_ns(run, (double)g->wait_ns / waiting) : 0;
    if (unrecorded > 0) {
        stk_say_rank_unrecorded(ctx, f, g->rank, (int64_t)unrecorded);
    } else if (part >= 0) {
        stk_say_rank_spends_more(ctx, f, g->rank, stk_part_info(part)->key, (int64_t)more_ns,
                                 per_step, stk_rule_part_meaning(ctx, part));
    } else {
        stk_say_rank_shows_nothing(ctx, f, g->rank);
    }
    if (run->rank_events_unequal > 0) {
        stk_say_collectives_left_out(ctx, f, run->rank_events_unequal);
    }
    straggler_choose_fixes(ctx, f, part, unrecorded > 0);
}

static enum stk_rule_state straggler_check(const struct stk_rule_ctx *ctx,
                                           struct stk_rep_finding *f, const char **why)
{
    const struct stk_straggler *g = &ctx->pass.run->straggler;
    if (g->matched == 0 && !g->fired) {
        *why = "no collectives could be matched between ranks";
        return STK_RULE_SKIPPED;
    }
    double share = stk_straggler_share(ctx->pass.run);
    *why = stk_why_ranks_wait(ctx, share * 100, g->held_share * 100);
    if (!g->fired) {
        return STK_RULE_PASSED;
    }
    const char *who = stk_culprit_text(ctx->pass.run, ctx->pass.arena);
    who = who ? who : "others";
    f->title = stk_rule_text(ctx, "Ranks wait for %s", who);
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = g->clocks_agree ? STK_LEVEL_HIGH : STK_LEVEL_MEDIUM;
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_COLLECTIVE_WAIT).most_affected;
    stk_finding_bound(f, share);
    straggler_say(ctx, f, who);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_straggler = {
    .page = STK_PAGE(straggler),
    .whatif = "no-straggler",
    .needs = STK_NEED_RANKS,
    .verdicts = 1u << STK_VERDICT_STRAGGLER,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = straggler_check,
};
