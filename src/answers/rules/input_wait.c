// SPDX-License-Identifier: Apache-2.0
// The step waits for its next batch. Names the user's own function or the stage that delays it, and
// separates one long fetch from a wait in each step; input_fixes.c has the advice. stoker.data
// reports itself which of its stages limits, and where it is written (pipeline_limit.c). Limit:
// user code that prepares data is recognized only by name, and only with Python rows.
#include <string.h>

#include "pages_data.h"
#include "answers/rules/input_fixes.h"
#include "answers/rules/input_makers.h"
#include "answers/rules/job_places.h"
#include "answers/rules/pipeline_limit.h"
#include "evidence_says.h"

#define CALLED 0.1 // of the wait: less isn't the cause

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST };
static const struct stk_threshold *const thresholds = stk_input_thresholds;

// A few steps wait long, the others hardly: slow samples or the start of passes, rather than a slow
// rate.
static bool say_few(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    int64_t total_ns = 0, long_ns = 0;
    uint32_t used = 0, count = 0;
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct stk_step *s = &run->steps[i];
        if (s->excluded || (run->scope == STK_SCOPE_HOST) != (s->device == STK_NONE)) {
            continue;
        }
        used++;
        count += s->long_why != NULL;
        total_ns += s->parts[STK_PART_INPUT];
        long_ns += s->long_why ? s->parts[STK_PART_INPUT] : 0;
    }
    if (count == 0 || count > thresholds[STK_INPUT_FROM_FEW_STEPS].value * used ||
        (double)long_ns < thresholds[STK_INPUT_FROM_FEW].value * (double)total_ns) {
        return false;
    }
    f->title = "A few long fetches cause most of the input wait";
    stk_say_waits_in_long_steps(ctx, f, count, used, (double)long_ns / (double)total_ns);
    return true;
}

static bool say_uneven(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    struct stk_rule_steps s = stk_rule_spread(ctx, 1u << STK_PART_INPUT);
    if (s.used < thresholds[STK_INPUT_FROM_ONE_STEPS].value ||
        (double)s.largest_ns < thresholds[STK_INPUT_FROM_ONE_FETCH].value * (double)s.total_ns) {
        return false;
    }
    int64_t median_ns = stk_rule_median_ns(ctx, 1u << STK_PART_INPUT);
    if (median_ns < 0) {
        return false;
    }
    f->title = "One long fetch causes most of the input wait";
    stk_say_one_step_waits(ctx, f, s.largest_step, s.largest_ns,
                           (double)s.largest_ns / (double)s.total_ns, s.total_ns / s.used,
                           median_ns);
    return true;
}

// The number of concurrent requests that keeps up with the step.
static void say_asleep(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    uint64_t requests = stk_input_requests(ctx);
    bool is_known = requests != (uint64_t)STK_NOT_KNOWN;
    if (!stk_input_waits_for_answer(ctx)) {
        return;
    }
    stk_say_fetches_wait_for_answers(
        ctx, f, (double)facts->input_asleep_ns / (double)facts->loader_fetch_ns, requests,
        is_known ? (uint64_t)STK_NOT_KNOWN : STK_INPUT_MOST_REQUESTS);
}

// Is most of the wait in an evaluation, and the rest too little for a finding about training? If it
// is the verdict, the finding stays.
static bool is_evaluations(const struct stk_rule_ctx *ctx, double least)
{
    const struct stk_run_sum *run = ctx->pass.run;
    int64_t own_ns = run->parts[STK_PART_INPUT] - run->facts.evaluated_fetch_ns;
    return ctx->pass.verdict->kind != STK_VERDICT_INPUT && own_ns < run->facts.evaluated_fetch_ns &&
           (double)own_ns < least * (double)run->wall_ns;
}

// Names the job's function that is called repeatedly during the wait, if the framework's code
// around it takes most of the time.
static void say_called(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_INPUT];
    for (int i = 0; i < c->owner_count && !stk_rule_owners_tell(c); i++) {
        const struct stk_cause_name *own = &c->owners[i];
        if (own->count > 1 && (double)own->ns >= CALLED * (double)c->ns) {
            stk_say_wait_in_own_function(ctx, f, own->ns, stk_rule_owner(ctx, own->name),
                                         own->count, stk_rule_each_ns(ctx, own->ns, own->count));
            return;
        }
    }
}

// The part that isn't a fetch: the step and the pipeline share CPU cores, or the GIL.
static void say_shared(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double least = thresholds[STK_INPUT_FROM_SHARED].value * (double)run->parts[STK_PART_INPUT];
    if (run->facts.standstill_ns > 0 && (double)run->facts.standstill_ns >= least) {
        stk_say_no_batch_awaited(ctx, f, run->facts.standstill_ns);
    }
    if (stk_input_shares_lock(ctx)) {
        stk_say_lock_awaited(ctx, f, run->facts.lock_ns);
    }
}

// Explains that the price excludes the steps before the first wait and after the last, whose
// batches were ready; the share of the wait includes them.
static void say_priced_steps(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    uint32_t steps = stk_rule_spread(ctx, 1u << STK_PART_INPUT).used;
    double mean_ns = steps ? (double)ctx->pass.run->wall_ns / steps : 0;
    bool is_replayed = strcmp(f->saving.basis, "replay") == 0;
    if (is_replayed && ctx->prices->base_ns > thresholds[STK_INPUT_FROM_INNER].value * mean_ns) {
        stk_say_saving_between_waits(ctx, f, (int64_t)ctx->prices->base_ns);
    }
}

static enum stk_rule_state input_wait_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    enum stk_rule_state state = stk_rule_check_share(ctx, f, 1u << STK_PART_INPUT, thresholds, why);
    if (state != STK_RULE_FIRED) {
        return state;
    }
    if (is_evaluations(ctx,
                       thresholds[stk_rule_on_host(ctx) ? STK_FROM_HOST : STK_FROM_DEVICE].value)) {
        *why = stk_why_evaluation(ctx, *why);
        return STK_RULE_PASSED;
    }
    stk_finding_cause(ctx, f, STK_PART_INPUT);
    stk_places_say_input(ctx, f);
    say_called(ctx, f);
    say_shared(ctx, f);
    bool uneven = say_uneven(ctx, f) || say_few(ctx, f);
    if (facts->input_filler) {
        stk_say_made_by_another_thread(ctx, f, stk_rule_name(ctx, facts->input_filler));
    }
    if (facts->own_batches > 0) {
        stk_say_loop_makes_batches(ctx, f);
    }
    if (stk_input_is_handing(ctx)) {
        stk_say_handing_over(ctx, f,
                             (double)facts->own_handing_ns / (double)facts->loader_fetch_ns);
    }
    if (facts->loader_fetches > 0) {
        stk_say_fetches(ctx, f, facts->loader_fetches,
                        facts->loader_fetch_ns / (int64_t)facts->loader_fetches);
    }
    if (stk_pipeline_limit_say(ctx, f)) {
        stk_finding_raise(f, 1);
        stk_pipeline_limit_fix(ctx, f);
    } else {
        stk_input_price(ctx, f, !uneven, stk_input_tf_adds_makers(ctx));
        say_priced_steps(ctx, f);
        say_asleep(ctx, f);
        stk_input_fixes_say(ctx, f);
        stk_input_fixes_choose(ctx, f, !uneven);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_input_wait = {
    .page = STK_PAGE(input_wait),
    .whatif = "input-free",
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_INPUT,
    .thresholds = stk_input_thresholds,
    .fixes = stk_input_fixes,
    .check = input_wait_check,
};
