// SPDX-License-Identifier: Apache-2.0
// The one sentence of a verdict. Shares are of the used steps (or of the device's span, or of the
// host's steps), rounded to whole percents. Unknown figures are named, never guessed.
#include "profile/model/verdict/verdict_text.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "profile/model/collectives/culprit.h"
#include "profile/model/thresholds.h"
#include "profile/model/verdict/busy_work.h"

#define BUSY_OF_IDLE 0.05 // with less time in copies and collectives, "idle" is still true

const char *stk_group_phrase(enum stk_group group)
{
    STK_ASSERT((unsigned)group < STK_GROUP_COUNT);
    static const char *const phrases[STK_GROUP_COUNT] = {
        [STK_GROUP_COMPUTE] = "compute",
        [STK_GROUP_INPUT] = "input",
        [STK_GROUP_HOST] = "CPU work (launches, Python, framework)",
        [STK_GROUP_SYNC] = "synchronization",
        [STK_GROUP_TRANSFER] = "copies",
        [STK_GROUP_COMMUNICATION] = "communication",
        [STK_GROUP_COLD] = "compilation and first use",
        [STK_GROUP_UNKNOWN] = "a cause this profile doesn't show",
    };
    return phrases[group];
}

static int percent(double share)
{
    int p = (int)lround(share * 100);
    return p < 0 ? 0 : p > 100 ? 100 : p;
}

static const char *device_word(const struct stk_run_sum *run)
{
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (run->devices[d].analysed) {
            return run->devices[d].kind == STK_DEVICE_TPU     ? "TPU"
                   : run->devices[d].kind == STK_DEVICE_OTHER ? "device"
                                                              : "GPU";
        }
    }
    return "GPU";
}

static const char *scope_phrase(const struct stk_run_sum *run)
{
    return run->scope == STK_SCOPE_STEPS ? "of each step" : "of the recorded time";
}

static const char *reason_text(const struct stk_run_sum *run, const struct stk_verdict *v,
                               struct stk_arena *arena)
{
    static const char *const sentences[STK_REASON_COUNT] = {
#define R(id, key, sentence) [STK_REASON_##id] = sentence,
#include "profile/model/verdict/reasons.def"
#undef R
    };
    if (sentences[v->reason]) {
        return stk_arena_printf(arena, "Cannot tell: %s", sentences[v->reason]);
    }
    if (v->reason == STK_REASON_UNKNOWN_ACCELERATOR) {
        return stk_arena_printf(arena, "Cannot tell: stoker doesn't know this accelerator (%s)",
                                run->facts.accelerator ? run->facts.accelerator : "unnamed");
    }
    if (v->reason == STK_REASON_HOST_UNSEEN) {
        int input = percent(v->group_share[STK_GROUP_INPUT]);
        const char *seen =
            input ? stk_arena_printf(arena, "more input than the %d%% seen", input) : "input";
        return seen ? stk_arena_printf(
                          arena,
                          "Cannot tell: no GPU events in this profile, and %d%% of the CPU's "
                          "step has no events. It may be %s",
                          percent(v->group_share[STK_GROUP_UNKNOWN]), seen)
                    : NULL;
    }
    return stk_arena_printf(
        arena, "Cannot tell: the %s is idle %d%% %s, and this profile doesn't show why",
        device_word(run), percent(v->group_share[STK_GROUP_UNKNOWN]), scope_phrase(run));
}

// A pipeline's report of itself doesn't show what its consumer does between two batches.
static const char *pipeline_sentence(const struct stk_verdict *v, struct stk_arena *arena)
{
    int input = percent(v->group_share[STK_GROUP_INPUT]);
    int step = percent(v->group_share[STK_GROUP_HOST]);
    const char *lead = "No GPU events in this profile of an input pipeline. ";
    if (v->kind == STK_VERDICT_INPUT) {
        return stk_arena_printf(arena, "%sThe step waits for input %d%% of the time", lead, input);
    }
    if (input == 0) {
        return stk_arena_printf(arena, "%sInput keeps up, %d%% is the step's own time", lead, step);
    }
    return stk_arena_printf(arena, "%sThe step waits for input %d%% of the time and works %d%%",
                            lead, input, step);
}

// The main content of the host's group: one cause with half of it, else its parts in general.
static const char *host_phrase(const struct stk_run_sum *run, const struct stk_verdict *v,
                               struct stk_arena *arena)
{
    double half = v->group_share[STK_GROUP_HOST] / 2;
    double wait = run->wall_ns > 0 ? (double)run->parts[STK_PART_WAIT] / (double)run->wall_ns : 0;
    const struct stk_cause *c = &run->causes[STK_PART_WAIT];
    if (v->recompile_share > 0 && v->recompile_share >= half) {
        return "compilation that recurs after the first steps";
    }
    if (v->unrecorded_share > 0 && stk_runs_eagerly(run)) {
        return "Python between operations that TensorFlow runs eagerly";
    }
    if (v->unrecorded_share > 0 && v->unrecorded_share >= half) {
        return "code outside the framework that wasn't recorded";
    }
    if (v->tiny_share > 0 && v->tiny_share >= half) {
        return "calls to tiny operations";
    }
    if (wait > 0 && wait >= half) {
        return c->name_count ? stk_arena_printf(arena, "a wait in %.100s", c->names[0].name)
                             : "a wait for another thread";
    }
    if (v->tiny_share > 0) {
        return "Python and other work outside the model, including calls to tiny operations";
    }
    return run->scope == STK_SCOPE_HOST ? "Python and other work outside the model"
                                        : stk_group_phrase(STK_GROUP_HOST);
}

static const char *loss_phrase(const struct stk_run_sum *run, const struct stk_verdict *v,
                               enum stk_group group, struct stk_arena *arena)
{
    return group == STK_GROUP_HOST ? host_phrase(run, v, arena) : stk_group_phrase(group);
}

// "40% model, 31% input, 29% compilation and first use": all of the host's step, largest first.
static const char *host_shares(const struct stk_run_sum *run, const struct stk_verdict *v,
                               struct stk_arena *arena)
{
    const char *text = "";
    bool said[STK_GROUP_COUNT] = {false};
    for (int i = 0; i < STK_GROUP_COUNT && text; i++) {
        int best = -1;
        for (int g = 0; g < STK_GROUP_COUNT; g++) {
            if (!said[g] && (best < 0 || v->group_share[g] > v->group_share[best])) {
                best = g;
            }
        }
        said[best] = true;
        if (percent(v->group_share[best]) == 0) {
            break;
        }
        const char *what = best == STK_GROUP_COMPUTE   ? "model"
                           : best == STK_GROUP_UNKNOWN ? "unrecorded"
                                                       : loss_phrase(run, v, best, arena);
        text = what ? stk_arena_printf(arena, "%s%s%d%% %s", text, *text ? ", " : "",
                                       percent(v->group_share[best]), what)
                    : NULL;
    }
    return text;
}

// The advice for a host step that computes.
static const char *compute_phrase(const struct stk_run_sum *run, const struct stk_verdict *v,
                                  struct stk_arena *arena)
{
    double evaluation = stk_evaluation_share(run);
    if (evaluation >= stk_threshold_value(STK_T_LONG_STEPS)) {
        return stk_arena_printf(arena, "evaluation takes %d%% of the steps' time",
                                percent(evaluation));
    }
    enum stk_busy_work busy = stk_busy_work_of(run);
    if (busy == STK_BUSY_ANOMALY) {
        return "part of that is anomaly detection, which is on";
    }
    return busy == STK_BUSY_TINY && 2 * stk_tiny_share(run) > v->group_share[STK_GROUP_COMPUTE]
               ? "most of that is calls to tiny operations"
               : "only faster operations or more CPU cores will help";
}

// Input is named if it takes at least 1%.
static const char *model_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                  const char *lead, struct stk_arena *arena)
{
    int computes = percent(v->group_share[STK_GROUP_COMPUTE]);
    int input = percent(v->group_share[STK_GROUP_INPUT]);
    const char *phrase = compute_phrase(run, v, arena);
    const char *and_input = input ? stk_arena_printf(arena, ", input %d%%", input) : "";
    return phrase && and_input
               ? stk_arena_printf(arena, "%sThe model's operations take %d%% of each step%s: %s",
                                  lead, computes, and_input, phrase)
               : NULL;
}

static const char *host_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena)
{
    const double *s = v->group_share;
    const char *lead = "No GPU events in this profile. ";
    double unseen = s[STK_GROUP_UNKNOWN] + v->unrecorded_share;
    const char *least = unseen >= stk_threshold_value(STK_T_UNKNOWN_HIGH) ? "at least " : "";
    if (run->facts.input_limit) {
        return pipeline_sentence(v, arena);
    }
    switch (v->kind) {
    case STK_VERDICT_INPUT:
        return stk_arena_printf(arena, "%sThe step waits for input %s%d%% of the time", lead, least,
                                percent(s[STK_GROUP_INPUT]));
    case STK_VERDICT_COMPUTE:
        if (*least) {
            return stk_arena_printf(arena,
                                    "%sThe model's operations take %d%% of each step and input "
                                    "at least %d%%; %d%% has no events",
                                    lead, percent(s[STK_GROUP_COMPUTE]),
                                    percent(s[STK_GROUP_INPUT]), percent(unseen));
        }
        if (s[STK_GROUP_COMPUTE] < stk_threshold_value(STK_T_COMPUTE_BOUND)) {
            const char *list = host_shares(run, v, arena);
            const char *phrase = stk_evaluation_share(run) >= stk_threshold_value(STK_T_LONG_STEPS)
                                     ? compute_phrase(run, v, arena)
                                     : "no single loss reaches 20%";
            return list && phrase
                       ? stk_arena_printf(arena, "%sThe step is %s: %s", lead, list, phrase)
                       : NULL;
        }
        return model_sentence(run, v, lead, arena);
    case STK_VERDICT_MIXED: {
        const char *list = host_shares(run, v, arena);
        const char *but = v->is_stretched ? ". Other programs held the cores, which stretches the "
                                            "model's threads most"
                                          : "";
        return list ? stk_arena_printf(arena, "%sThe step is %s%s", lead, list, but) : NULL;
    }
    default: {
        const char *what = loss_phrase(run, v, v->first, arena);
        const char *step =
            v->held_share > 0 ? "Without its waits for a core, the step" : "The step";
        return what ? stk_arena_printf(arena, "%s%s spends %d%% on %s", lead, step,
                                       percent(s[v->first]), what)
                    : NULL;
    }
    }
}

// Idle time without launch rows, between kernels that are mostly brief.
static const char *unlinked_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                     struct stk_arena *arena)
{
    return stk_arena_printf(
        arena,
        "The %s is idle %d%% %s between kernels that are mostly shorter than 10 us. The CPU "
        "probably launches them too slowly, but the launch calls weren't recorded",
        device_word(run), percent(v->group_share[STK_GROUP_UNKNOWN]), scope_phrase(run));
}

// The verb for time without compute: copies and collectives keep a device busy too.
static const char *idle_verb(const struct stk_verdict *v)
{
    double busy = v->group_share[STK_GROUP_TRANSFER] + v->group_share[STK_GROUP_COMMUNICATION];
    double idle = 1 - v->group_share[STK_GROUP_COMPUTE];
    return busy <= BUSY_OF_IDLE * idle ? "is idle" : "isn't computing";
}

// The largest loss, after "The GPU is idle 70% of each step, mostly".
static const char *idle_phrase(const struct stk_run_sum *run, const struct stk_verdict *v,
                               struct stk_arena *arena)
{
    if (v->first == STK_GROUP_INPUT) {
        return "waiting for input";
    }
    const char *what = loss_phrase(run, v, v->first, arena);
    if (what && strcmp(what, stk_group_phrase(STK_GROUP_HOST)) == 0) {
        return "because the CPU can't launch work fast enough";
    }
    return what ? stk_arena_printf(arena, "because of %s", what) : NULL;
}

static const char *loss_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena)
{
    const double *s = v->group_share;
    const char *word = device_word(run), *scope = scope_phrase(run);
    if (v->kind == STK_VERDICT_HOST && s[STK_GROUP_UNKNOWN] > s[STK_GROUP_HOST]) {
        return unlinked_sentence(run, v, arena);
    }
    bool busy_loss = v->first == STK_GROUP_TRANSFER || v->first == STK_GROUP_COMMUNICATION;
    const char *caveat = v->kind == STK_VERDICT_COMMUNICATION && run->rank_count < 2
                             ? ". One rank's profile can't rule out a straggler"
                             : "";
    if (busy_loss) {
        return stk_arena_printf(arena, "The %s computes %d%% %s and spends %d%% on exposed %s%s",
                                word, percent(s[STK_GROUP_COMPUTE]), scope, percent(s[v->first]),
                                stk_group_phrase(v->first), caveat);
    }
    const char *what = idle_phrase(run, v, arena);
    return what ? stk_arena_printf(arena, "The %s %s %d%% %s, mostly %s (%d%%)", word, idle_verb(v),
                                   percent(1 - s[STK_GROUP_COMPUTE]), scope, what,
                                   percent(s[v->first]))
                : NULL;
}

static const char *straggler_sentence(const struct stk_run_sum *run, struct stk_arena *arena)
{
    const struct stk_straggler *g = &run->straggler;
    const char *who = stk_culprit_text(run, arena);
    return who ? stk_arena_printf(
                     arena,
                     "Ranks wait in collectives %d%% of the time, mostly for %s (%d%% of the wait)",
                     percent(stk_straggler_share(run)), who, percent(g->held_share))
               : NULL;
}

static const char *one_off_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                    struct stk_arena *arena)
{
    const char *what = run->facts.warm_up_what;
    return stk_arena_printf(
        arena,
        "The first steps take %d%% of all steps' time because of %s%s%s%s. This profile shows "
        "warm-up, not the steady state, which is %s",
        percent(v->one_off_share), stk_group_phrase(v->one_off), what ? " (" : "", what ? what : "",
        what ? ")" : "", stk_verdict_key(v->steady_kind));
}

static const char *cold_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena)
{
    int64_t cold_ns = 0, span_ns = 0;
    if (v->one_off_share > 0) {
        return one_off_sentence(run, v, arena);
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        cold_ns += run->ranks[r]->cold_ns;
        span_ns += run->ranks[r]->facts.last_ns - run->ranks[r]->facts.first_ns;
    }
    return stk_arena_printf(
        arena,
        "%d%% of the recorded time is warm-up (compilation and first use). This "
        "profile doesn't show the steady state",
        percent(span_ns > 0 ? (double)cold_ns / (double)span_ns : 0));
}

bool stk_verdict_leaves_loss(const struct stk_verdict *v)
{
    return v->group_share[v->first] >= stk_threshold_value(STK_T_LOSS);
}

// If no loss is worth a name, only faster kernels help.
static const char *compute_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                    struct stk_arena *arena)
{
    const double *s = v->group_share;
    const char *device = device_word(run), *scope = scope_phrase(run);
    int computes = percent(s[STK_GROUP_COMPUTE]);
    double evaluation = stk_evaluation_share(run);
    if (evaluation >= stk_threshold_value(STK_T_LONG_STEPS)) {
        return stk_arena_printf(arena,
                                "The %s is busy %d%% %s, and evaluation is %d%% of that time",
                                device, computes, scope, percent(evaluation));
    }
    if (stk_verdict_leaves_loss(v)) {
        const char *what = loss_phrase(run, v, v->first, arena);
        return what ? stk_arena_printf(arena, "The %s is busy %d%% %s; %d%% goes to %s", device,
                                       computes, scope, percent(s[v->first]), what)
                    : NULL;
    }
    return stk_arena_printf(arena, "The %s is busy %d%% %s: only faster kernels will help now",
                            device, computes, scope);
}

static const char *main_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena)
{
    const double *s = v->group_share;
    switch (v->kind) {
    case STK_VERDICT_CANNOT_TELL:
        return reason_text(run, v, arena);
    case STK_VERDICT_STRAGGLER:
        return straggler_sentence(run, arena);
    case STK_VERDICT_COLD:
        return cold_sentence(run, v, arena);
    default:
        break;
    }
    if (run->scope == STK_SCOPE_HOST) {
        return host_sentence(run, v, arena);
    }
    if (v->kind == STK_VERDICT_COMPUTE) {
        return compute_sentence(run, v, arena);
    }
    if (v->kind == STK_VERDICT_MIXED) {
        const char *first = loss_phrase(run, v, v->first, arena);
        const char *second = loss_phrase(run, v, v->second, arena);
        return first && second
                   ? stk_arena_printf(arena,
                                      "The %s %s %d%% %s for several reasons: %s (%d%%) "
                                      "and %s (%d%%)",
                                      device_word(run), idle_verb(v),
                                      percent(1 - s[STK_GROUP_COMPUTE]), scope_phrase(run), first,
                                      percent(s[v->first]), second, percent(s[v->second]))
                   : NULL;
    }
    return loss_sentence(run, v, arena);
}

// The same for an input that ends early, with what it was judged by.
static const char *cut_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                const char *sentence, struct stk_arena *arena)
{
    const char *file = run->rank_count > 1 ? "A file" : "The file";
    if (v->kind == STK_VERDICT_CANNOT_TELL || run->steps_used == 0) {
        return stk_arena_printf(arena, "%s. %s is truncated", sentence, file);
    }
    return stk_arena_printf(arena, "%s. %s is truncated: %u complete step%s used", sentence, file,
                            run->steps_used, run->steps_used == 1 ? "" : "s");
}

const char *stk_verdict_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena)
{
    STK_ASSERT(v->kind != STK_VERDICT_CANNOT_TELL || v->reason != STK_REASON_NONE);
    const char *sentence = main_sentence(run, v, arena);
    if (sentence && v->median_kind != v->kind) {
        sentence = stk_arena_printf(arena, "%s. Judged by the median step alone, it is %s",
                                    sentence, stk_verdict_key(v->median_kind));
    }
    if (sentence && v->kind != STK_VERDICT_CANNOT_TELL && run->facts.sees_operators &&
        !run->facts.sees_training) {
        const char *none = run->facts.frameworks & 1u << STK_FW_JAX // only known of gradients
                               ? "no gradients"
                               : "no gradients, no weight updates";
        sentence = stk_arena_printf(arena, "%s. These steps don't train: %s", sentence, none);
    }
    bool says_so = v->reason == STK_REASON_CUT_SHORT || v->reason == STK_REASON_CUT_STEPS;
    return sentence && run->facts.is_cut && !says_so ? cut_sentence(run, v, sentence, arena)
                                                     : sentence;
}
