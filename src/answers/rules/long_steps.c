// SPDX-License-Identifier: Apache-2.0
// Steps that take more than twice the median and hold a tenth of the time or more: an evaluation, a
// checkpoint, one slow sample, a buffer that fills. Reports which they are, how often they occur,
// and where they spend more time than the others. The model decides which steps are long
// (profile/model/steps/exclude.c).
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "profile/model/threads/python_frame.h"
#include "answers/rules/finding.h"
#include "answers/rules/input_makers.h"
#include "answers/rules/job_places.h"
#include "answers/rules/on_machine.h"

enum { EXCESS };
static const struct stk_threshold thresholds[] = {
    [EXCESS] = {"time above the other steps' mean", "share of the time", 0.05,
                "less than a twentieth of the time isn't worth a finding of its own"},
    {0},
};

enum {
    FIX_PERIODIC,
    FIX_EVALUATION,
    FIX_EVALUATION_EACH,
    FIX_SHUFFLE,
    FIX_SAMPLER,
    FIX_INPUT,
    FIX_OTHER
};
static const struct stk_rep_fix fixes[] = {
    [FIX_PERIODIC] = STK_FIX(long_steps_periodic),
    [FIX_EVALUATION] = STK_FIX(long_steps_evaluation),
    [FIX_EVALUATION_EACH] = STK_FIX(long_steps_evaluation_each),
    [FIX_SHUFFLE] = STK_FIX(long_steps_shuffle),
    [FIX_SAMPLER] = STK_FIX(long_steps_sampler),
    [FIX_INPUT] = STK_FIX(long_steps_input),
    [FIX_OTHER] = STK_FIX(long_steps_other),
    {0},
};

enum { NAMED = 4 }; // long steps listed by number
enum {
    RETURNS = 4
}; // long steps at equal distances aren't chance, even while others use the cores

struct sums {
    uint32_t used, count;           // rows: a step of one device each; of them long
    int64_t wall_ns, long_ns;       // of all used rows, of the long ones
    int64_t parts[STK_PART_COUNT];  // of the long ones
    int64_t others[STK_PART_COUNT]; // of the others
    const char *why;                // "evaluation or checkpoint", "" unknown
    uint32_t steps;                 // long ones, each once for all devices
    int64_t numbers[NAMED];         // of the first of them
};

// "st", "nd", "rd", "th" after a number.
static const char *ordinal(uint32_t n)
{
    uint32_t last = n / 10 % 10 == 1 ? 0 : n % 10; // 11th, 12th, 13th
    return last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
}

// "steps 5, 11, 17, 23 and 4 more", "step 3 on 8 devices"
static const char *which(const struct stk_rule_ctx *ctx, const struct sums *s)
{
    char list[NAMED * 24] = "", tail[32] = "";
    for (uint32_t i = 0; i < s->steps && i < NAMED; i++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%" PRId64, i ? ", " : "", s->numbers[i]);
    }
    if (s->steps > NAMED) {
        snprintf(tail, sizeof tail, " and %" PRIu32 " more", s->steps - NAMED);
    } else if (s->steps == 1 && s->count > 1) {
        snprintf(tail, sizeof tail, " on %" PRIu32 " %s", s->count,
                 ctx->pass.run->scope == STK_SCOPE_HOST ? "ranks" : "devices");
    }
    return stk_rule_text(ctx, "step%s %s%s", s->steps == 1 ? "" : "s", list, tail);
}

static struct sums sum_up(const struct stk_run_sum *run)
{
    struct sums s = {.why = ""};
    struct stk_map seen, times; // numbers repeat if each epoch counts from the start
    stk_map_init(&seen, UINT32_MAX - 1);
    stk_map_init(&times, UINT32_MAX - 1);
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct stk_step *step = &run->steps[i];
        uint64_t row = (uint64_t)(uint32_t)step->rank << 32 | step->device;
        uint32_t *nth = stk_map_put(&times, row, (uint64_t)step->number, 0, NULL);
        if (nth) {
            ++*nth;
        }
        if (step->excluded || (run->scope == STK_SCOPE_HOST) != (step->device == STK_NONE)) {
            continue;
        }
        s.used++;
        s.wall_ns += step->dur_ns;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            *(step->long_why ? &s.parts[p] : &s.others[p]) += step->parts[p];
        }
        if (step->long_why) {
            s.count++;
            s.long_ns += step->dur_ns;
            s.why = step->long_why[0] ? step->long_why : s.why;
            int is_new = 0;
            uint64_t key = nth ? *nth : 1;
            if (stk_map_put(&seen, key, (uint64_t)step->number, 0, &is_new) && is_new) {
                if (s.steps++ < NAMED) {
                    s.numbers[s.steps - 1] = step->number;
                }
            }
        }
    }
    stk_map_deinit(&seen);
    stk_map_deinit(&times);
    return s;
}

// The part with the largest excess of a long step over the others; *ns is the excess per long step.
static enum stk_part excess_of(const struct sums *s, int64_t *ns)
{
    enum stk_part best = STK_PART_COMPUTE;
    *ns = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        int64_t more = s->parts[p] / s->count - s->others[p] / (s->used - s->count);
        if (more > *ns) {
            *ns = more;
            best = (enum stk_part)p;
        }
    }
    return best;
}

static void long_steps_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                           const struct sums *s, enum stk_part part, int64_t more_ns)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    stk_say_long_steps(ctx, f, which(ctx, s), s->long_ns / s->count,
                       (double)s->long_ns / (double)s->wall_ns,
                       (s->wall_ns - s->long_ns) / (s->used - s->count));
    stk_say_long_steps_spend(ctx, f, stk_part_info(part)->key, more_ns,
                             stk_rule_part_meaning(ctx, part));
    if (facts->evaluations > 0) {
        stk_say_long_steps_evaluate(ctx, f);
        stk_places_say_evaluation(ctx, f);
    }
    if (facts->long_what) {
        stk_say_long_steps_do(ctx, f, facts->long_what_is_usual,
                              stk_rule_name(ctx, facts->long_what));
    }
    if (facts->long_twice) {
        stk_say_long_steps_apart(ctx, f, facts->long_period, ordinal(facts->long_period));
    } else if (facts->long_period > 0) {
        stk_say_long_steps_return(ctx, f, facts->long_period);
    }
}

static const char *evaluation_title(const struct stk_rule_ctx *ctx)
{
    int64_t every = ctx->pass.run->facts.told_numbers[STK_TOLD_EVALUATION_EVERY];
    int share = (int)(stk_evaluation_share(ctx->pass.run) * 100 + 0.5);
    if (every == 1) { // reinforcement learning also collects samples this way
        return stk_rule_text(ctx, "The model in evaluation mode takes %d%% of each step", share);
    }
    return every > 0
               ? stk_rule_text(ctx, "Evaluation takes %d%% of the run, every %" PRId64 " steps",
                               share, every)
               : stk_rule_text(ctx, "Evaluation takes %d%% of the steps' time", share);
}

// The hooks saw the whole run, including evaluations outside the window.
static enum stk_rule_state evaluates(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                     const struct sums *s)
{
    double share = stk_evaluation_share(ctx->pass.run);
    f->title = evaluation_title(ctx);
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = STK_LEVEL_MEDIUM;
    f->steps_affected = s->steps;
    stk_finding_bound(f, share);
    stk_places_say_evaluation(ctx, f);
    bool each = ctx->pass.run->facts.told_numbers[STK_TOLD_EVALUATION_EVERY] == 1;
    stk_finding_fix(ctx, f, &fixes[each ? FIX_EVALUATION_EACH : FIX_EVALUATION]);
    stk_finding_told(ctx, f, STK_TOLD_EVALUATION);
    return STK_RULE_FIRED;
}

static const char *title_of(const struct stk_rule_ctx *ctx, const struct sums *s, const char *what)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    uint32_t period = facts->long_period;
    const char *colon = what[0] ? ": " : "";
    if (facts->evaluations > 0) {
        return evaluation_title(ctx);
    }
    if (period > 0 && !facts->long_twice) {
        return stk_rule_text(ctx, "Every %" PRIu32 "%s step is long%s%s", period, ordinal(period),
                             colon, what);
    }
    return stk_rule_text(ctx, "%s%s%s",
                         s->steps == 1 ? "One step is far longer than the others"
                                       : "Some steps are far longer than the others",
                         colon, what);
}

// While other programs use the CPU cores, any step may be long because of them.
static bool are_held_up(const struct stk_rule_ctx *ctx, const struct sums *s, enum stk_part part)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    const char *why = NULL;
    const struct stk_machine_view *v = stk_rule_machine(ctx, &why);
    bool has_reason =
        facts->evaluations > 0 || s->why[0] || (facts->long_period > 0 && s->steps >= RETURNS) ||
        (facts->long_what && stk_python_frame_is_users(stk_str_from(facts->long_what)));
    bool may_be = part == STK_PART_COMPUTE || part == STK_PART_HOST || part == STK_PART_UNKNOWN;
    return v && !has_reason && stk_rule_on_host(ctx) && may_be && stk_rule_queue_share(v) > 0;
}

// Does the finding about waiting for input include the loss of these steps?
static bool waits_for_input(const struct stk_rule_ctx *ctx)
{
    return stk_rule_part_share(ctx, STK_PART_INPUT) >= stk_threshold_value(STK_T_LOSS);
}

// The device computes longer in them, and they seem to serve training: larger sizes are work, not a
// loss.
static bool have_more_work(const struct stk_rule_ctx *ctx, const struct sums *s, enum stk_part part)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    return part == STK_PART_COMPUTE && !stk_rule_on_host(ctx) && facts->evaluations == 0 &&
           facts->long_period == 0 && !s->why[0] && !facts->long_what;
}

static void long_steps_unpriced(struct stk_rep_finding *f)
{
    f->severity = STK_LEVEL_INFO;
    f->saving.has_high = false;
    f->saving.basis = "none";
}

static enum stk_rule_state long_steps_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    struct sums s = sum_up(ctx->pass.run);
    const struct stk_facts *facts = &ctx->pass.run->facts;
    uint32_t period = facts->long_period;
    int64_t more_ns;
    *why = stk_why_long_steps(ctx, s.count, s.used);
    if (facts->told_numbers[STK_TOLD_EVALUATION_EVERY] > 0 &&
        stk_evaluation_share(ctx->pass.run) >= thresholds[EXCESS].value) {
        return evaluates(ctx, f, &s);
    }
    if (s.count == 0 || s.count == s.used) {
        return STK_RULE_PASSED;
    }
    double usual = (double)(s.wall_ns - s.long_ns) / (s.used - s.count);
    double excess = ((double)s.long_ns - usual * s.count) / (double)s.wall_ns;
    if (excess < thresholds[EXCESS].value) {
        return STK_RULE_PASSED;
    }
    enum stk_part part = excess_of(&s, &more_ns);
    if (part == STK_PART_COMPILE) {
        *why = "the excess is compilation: see compile-recurring";
        return STK_RULE_PASSED;
    }
    if (are_held_up(ctx, &s, part)) {
        *why = "the job's threads wait for CPU cores, which may cause the long steps";
        return STK_RULE_PASSED;
    }
    const char *what = s.why[0] ? s.why : part == STK_PART_INPUT ? "a long wait for input" : "";
    f->title = title_of(ctx, &s, what);
    f->severity = stk_rule_severity(ctx, excess);
    f->confidence = STK_LEVEL_MEDIUM;
    f->steps_affected = s.steps;
    stk_finding_bound(f, excess);
    long_steps_say(ctx, f, &s, part, more_ns);
    const char *cause = facts->long_what;
    bool fills = cause && strcmp(cause, STK_WHAT_SHUFFLE) == 0;
    if (part == STK_PART_INPUT && !fills && facts->evaluations == 0 && waits_for_input(ctx)) {
        long_steps_unpriced(f);
        stk_say_long_wait_is_of_input(ctx, f);
    } else if (have_more_work(ctx, &s, part)) {
        long_steps_unpriced(f);
        stk_say_long_steps_compute_more(ctx, f);
    }
    stk_finding_fix(ctx, f,
                    &fixes[facts->evaluations > 0                                ? FIX_EVALUATION
                           : fills                                               ? FIX_SHUFFLE
                           : part == STK_PART_INPUT && stk_input_is_drawing(ctx) ? FIX_SAMPLER
                           : part == STK_PART_INPUT                              ? FIX_INPUT
                           : period > 0 || s.why[0]                              ? FIX_PERIODIC
                                                                                 : FIX_OTHER]);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_long_steps = {
    .page = STK_PAGE(long_steps),
    .needs = STK_NEED_BREAKDOWN | STK_NEED_STEPS,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = long_steps_check,
};
