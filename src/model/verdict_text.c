// SPDX-License-Identifier: Apache-2.0
// The one sentence of a verdict. Shares are of the used steps (or of the device's span, or of the
// host's steps), rounded to whole percents; what is not known is said, never guessed.
#include "model/verdict_text.h"

#include <math.h>
#include "base/assert.h"

const char *stk_group_phrase(enum stk_group group)
{
    STK_ASSERT((unsigned)group < STK_GROUP_COUNT);
    static const char *const phrases[STK_GROUP_COUNT] = {
        [STK_GROUP_COMPUTE] = "compute",
        [STK_GROUP_INPUT] = "input",
        [STK_GROUP_HOST] = "the host (launches, Python, framework)",
        [STK_GROUP_SYNC] = "synchronisation",
        [STK_GROUP_TRANSFER] = "copies",
        [STK_GROUP_COMMUNICATION] = "communication",
        [STK_GROUP_COLD] = "compilation and first use",
        [STK_GROUP_UNKNOWN] = "a reason this profile does not hold",
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
#include "model/reasons.def"
#undef R
    };
    if (sentences[v->reason]) {
        return stk_arena_printf(arena, "Cannot tell: %s", sentences[v->reason]);
    }
    if (v->reason == STK_REASON_UNKNOWN_ACCELERATOR) {
        return stk_arena_printf(
            arena, "Cannot tell: the profile is of an accelerator that stoker does not know (%s)",
            run->facts.accelerator ? run->facts.accelerator : "unnamed");
    }
    return stk_arena_printf(
        arena, "Cannot tell: the %s idles %d %% %s for a reason this profile does not hold",
        device_word(run), percent(v->group_share[STK_GROUP_UNKNOWN]), scope_phrase(run));
}

// A pipeline's report of itself: what its consumer does between two batches is not in it.
static const char *pipeline_sentence(const struct stk_verdict *v, struct stk_arena *arena)
{
    int input = percent(v->group_share[STK_GROUP_INPUT]);
    int step = percent(v->group_share[STK_GROUP_HOST]);
    const char *lead = "No GPU events in this record of the input pipeline: ";
    if (v->kind == STK_VERDICT_INPUT) {
        return stk_arena_printf(arena, "%sthe step waits %d %% for its input", lead, input);
    }
    if (input == 0) {
        return stk_arena_printf(arena, "%sthe input keeps up, %d %% is the step's own time", lead,
                                step);
    }
    return stk_arena_printf(arena,
                            "%sthe step waits %d %% for its input, and %d %% is its own time", lead,
                            input, step);
}

static const char *host_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena)
{
    const double *s = v->group_share;
    const char *lead = "No GPU events in this profile: ";
    if (run->facts.input_limit) {
        return pipeline_sentence(v, arena);
    }
    switch (v->kind) {
    case STK_VERDICT_INPUT:
        return stk_arena_printf(arena, "%sthe host's step waits %d %% for its input", lead,
                                percent(s[STK_GROUP_INPUT]));
    case STK_VERDICT_COMPUTE:
        if (s[STK_GROUP_UNKNOWN] >= stk_threshold_value(STK_T_UNKNOWN_HIGH)) {
            return stk_arena_printf(arena,
                                    "%sthe host's step computes %d %%, input is at least %d %%, "
                                    "and %d %% holds no event",
                                    lead, percent(s[STK_GROUP_COMPUTE]),
                                    percent(s[STK_GROUP_INPUT]), percent(s[STK_GROUP_UNKNOWN]));
        }
        return stk_arena_printf(arena,
                                "%sthe host's step computes %d %%, input is %d %%: little is left "
                                "to save around the model",
                                lead, percent(s[STK_GROUP_COMPUTE]), percent(s[STK_GROUP_INPUT]));
    case STK_VERDICT_MIXED:
        return stk_arena_printf(
            arena, "%sthe host's step is %d %% model, %d %% input and %d %% other host work", lead,
            percent(s[STK_GROUP_COMPUTE]), percent(s[STK_GROUP_INPUT]), percent(s[STK_GROUP_HOST]));
    default:
        return stk_arena_printf(arena, "%sthe host's step spends %d %% on %s", lead,
                                percent(s[v->first]), stk_group_phrase(v->first));
    }
}

// Idle time without launch rows, between kernels that are mostly brief.
static const char *unlinked_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                     struct stk_arena *arena)
{
    return stk_arena_printf(
        arena,
        "%s idles %d %% %s between kernels that are mostly shorter than 10 us: most likely the "
        "host launches too slowly, but the launch calls are not in the profile",
        device_word(run), percent(v->group_share[STK_GROUP_UNKNOWN]), scope_phrase(run));
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
                             ? "; with one rank a late peer cannot be excluded"
                             : "";
    if (busy_loss) {
        return stk_arena_printf(arena, "%s computes %d %% %s; %d %% goes to exposed %s%s", word,
                                percent(s[STK_GROUP_COMPUTE]), scope, percent(s[v->first]),
                                stk_group_phrase(v->first), caveat);
    }
    return stk_arena_printf(arena, "%s does not compute for %d %% %s, mostly for %s (%d %%)", word,
                            percent(1 - s[STK_GROUP_COMPUTE]), scope, stk_group_phrase(v->first),
                            percent(s[v->first]));
}

static const char *straggler_sentence(const struct stk_run_sum *run, struct stk_arena *arena)
{
    const struct stk_straggler *g = &run->straggler;
    return stk_arena_printf(
        arena,
        "Ranks wait %d %% of the time in collectives, mostly for rank %d (%d %% of the waiting)",
        percent(g->wait_share), (int)g->rank, percent(g->held_share));
}

static const char *cold_sentence(const struct stk_run_sum *run, struct stk_arena *arena)
{
    int64_t cold_ns = 0, span_ns = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        cold_ns += run->ranks[r]->cold_ns;
        span_ns += run->ranks[r]->facts.last_ns - run->ranks[r]->facts.first_ns;
    }
    return stk_arena_printf(arena,
                            "%d %% of the recorded time is compilation and first use: this profile "
                            "shows a start, not the steady state",
                            percent(span_ns > 0 ? (double)cold_ns / (double)span_ns : 0));
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
        return cold_sentence(run, arena);
    default:
        break;
    }
    if (run->scope == STK_SCOPE_HOST) {
        return host_sentence(run, v, arena);
    }
    if (v->kind == STK_VERDICT_COMPUTE) {
        return stk_arena_printf(arena, "%s computes %d %% %s: little host-side saving is left",
                                device_word(run), percent(s[STK_GROUP_COMPUTE]), scope_phrase(run));
    }
    if (v->kind == STK_VERDICT_MIXED) {
        return stk_arena_printf(
            arena,
            "%s does not compute for %d %% %s, for several reasons: %s (%d %%) and %s (%d %%)",
            device_word(run), percent(1 - s[STK_GROUP_COMPUTE]), scope_phrase(run),
            stk_group_phrase(v->first), percent(s[v->first]), stk_group_phrase(v->second),
            percent(s[v->second]));
    }
    return loss_sentence(run, v, arena);
}

const char *stk_verdict_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena)
{
    STK_ASSERT(v->kind != STK_VERDICT_CANNOT_TELL || v->reason != STK_REASON_NONE);
    const char *sentence = main_sentence(run, v, arena);
    if (!sentence || v->median_kind == v->kind) {
        return sentence;
    }
    return stk_arena_printf(arena, "%s; the median step alone would be %s", sentence,
                            stk_verdict_key(v->median_kind));
}
