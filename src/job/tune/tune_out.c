// SPDX-License-Identifier: Apache-2.0
// Shared by all forms of a search's result; see tune_out.h.
#include "job/tune/tune_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/human.h"
#include "base/text.h"

const char *stk_tune_state_name(enum stk_tune_state state)
{
    static const char *const names[] = {[STK_TUNE_KEPT] = "kept",
                                        [STK_TUNE_NO_EFFECT] = "no-effect",
                                        [STK_TUNE_WORSE] = "worse",
                                        [STK_TUNE_FAILED] = "failed",
                                        [STK_TUNE_SKIPPED] = "skipped"};
    return names[state];
}

const char *stk_tune_end_name(enum stk_tune_end end)
{
    STK_ASSERT(end >= STK_TUNE_DONE && end <= STK_TUNE_BROKEN);
    static const char *const names[] = {[STK_TUNE_DONE] = "done",
                                        [STK_TUNE_SPENT] = "budget",
                                        [STK_TUNE_INTERRUPTED] = "interrupted",
                                        [STK_TUNE_BROKEN] = "failed"};
    return names[end];
}

bool stk_tune_is_idle(const struct stk_tune_tried *t)
{
    return t->state == STK_TUNE_SKIPPED && !t->is_unfinished && !t->is_put_off &&
           strcmp(t->why, STK_TUNE_NO_TURN) != 0 && strcmp(t->why, STK_TUNE_ENDED_BEFORE) != 0;
}

static int count_start(const struct stk_tune *tune)
{
    const struct stk_tune_tried *t = tune->tried.items;
    int n = 0;
    for (size_t i = 0; i < tune->tried.count; i++) {
        n += t[i].state == STK_TUNE_KEPT && t[i].choice.fix->is_of_start;
    }
    return n;
}

// Fixes that the search had no time for, most promising first, as they would have been tried.
static void put_missing(const struct stk_tune *tune, char *to, size_t size)
{
    enum { NAMED = 3 };
    const struct stk_tune_tried *t = tune->tried.items;
    char label[STK_TUNE_LABEL];
    int n = 0;
    to[0] = 0;
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (t[i].state != STK_TUNE_SKIPPED || stk_tune_is_idle(&t[i])) {
            continue;
        }
        size_t used = strlen(to);
        stk_tune_label(&t[i].choice, label);
        if (n < NAMED) {
            snprintf(to + used, size - used, "%s%.60s", n ? ", " : "", label);
        }
        n++;
    }
    if (n > NAMED) {
        snprintf(to + strlen(to), size - strlen(to), " and %d more", n - NAMED);
    }
}

// The edit that could save most.
static void put_best_by_hand(const struct stk_tune *tune, char to[STK_TUNE_SENTENCE])
{
    const struct stk_tune_advice *a = tune->advice.items, *best = NULL;
    char price[STK_ADVICE_PRICE];
    size_t n = strlen(to);
    for (size_t i = 0; i < tune->advice.count; i++) {
        bool is_worth = a[i].saving.has_expected || tune->verdict != STK_TUNE_FASTER;
        if (a[i].takes_edit && !a[i].is_answered && is_worth &&
            (!best || stk_advice_share(&a[i]) > stk_advice_share(best))) {
            best = &a[i];
        }
    }
    if (best) {
        stk_advice_price(best, price);
        stk_text_printf(to + n, STK_TUNE_SENTENCE - n, "; by hand, %s %s", best->fix->id, price);
    }
}

static void put_cannot_tell(const struct stk_tune *tune, char to[STK_TUNE_SENTENCE])
{
    static const char *const how[] = {[STK_TUNE_SPENT] = "the budget ran out (--budget)",
                                      [STK_TUNE_INTERRUPTED] = "the search was interrupted",
                                      [STK_TUNE_BROKEN] = "the job failed"};
    const struct stk_paired *p = tune->has_proof ? &tune->proof : &tune->chain.ratio;
    char missing[240];
    put_missing(tune, missing, sizeof missing);
    if (tune->has_proof || tune->chain.pairs) {
        stk_text_printf(to, STK_TUNE_SENTENCE,
                        "cannot tell: %s of the kept fixes give%s %+.0f to %+.0f%% of the time, %d "
                        "pairs",
                        tune->has_proof ? "the final comparison" : "the trials",
                        tune->has_proof ? "s" : "", 100 * (p->low - 1), 100 * (p->high - 1),
                        tune->has_proof ? tune->pairs : tune->chain.pairs);
    } else if (tune->end == STK_TUNE_DONE) {
        stk_text_printf(to, STK_TUNE_SENTENCE,
                        "cannot tell: any gain is within the machine's noise");
    } else {
        stk_text_printf(to, STK_TUNE_SENTENCE, "cannot tell: %s before %s", how[tune->end],
                        missing[0] ? missing : "any fix was tried");
    }
}

void stk_tune_sentence(const struct stk_tune *tune, char to[STK_TUNE_SENTENCE])
{
    char before[STK_HUMAN_MAX], after[STK_HUMAN_MAX];
    stk_human_ns((int64_t)(1e9 * (tune->has_proof ? tune->before_s : tune->baseline_s)), before);
    stk_human_ns((int64_t)(1e9 * tune->after_s), after);
    const struct stk_paired *p = &tune->proof;
    if (tune->verdict == STK_TUNE_FASTER) {
        stk_text_printf(to, STK_TUNE_SENTENCE,
                        "faster: a step takes %s instead of %s, %.0f%% less time [%.0f, %.0f], %d "
                        "pairs",
                        after, before, 100 * (1 - p->estimate), 100 * (1 - p->high),
                        100 * (1 - p->low), tune->pairs);
    } else if (tune->verdict == STK_TUNE_NOTHING) {
        stk_text_printf(
            to, STK_TUNE_SENTENCE, "%s above %.0f%% of a step's time (%s)%s%s",
            tune->names_loss ? "no setting gains" : "nothing to gain", 100 * STK_TUNE_GAIN, before,
            tune->names_loss ? "; the report's advice needs an edit of the program" : "",
            count_start(tune) ? "; the job can start sooner" : "");
    } else {
        put_cannot_tell(tune, to);
    }
    put_best_by_hand(tune, to);
}

static bool is_of(const char *call, const char *place)
{
    size_t n = strlen(call);
    return strncmp(call, place, n) == 0 && (place[n] == 0 || place[n] == '.');
}

// Whether an earlier place is the same line of the same file: for example one line that makes two
// such calls, or the same call in several ranks.
static bool is_said(const struct stk_tune_place *p, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        size_t n = strcspn(p[k].call, ".");
        bool is_same = strcmp(p[i].call, p[k].call) == 0;
        bool is_sibling = strncmp(p[i].call, p[k].call, n) == 0 && p[i].call[n] == '.';
        if (p[i].line == p[k].line && strcmp(p[i].file, p[k].file) == 0 &&
            (is_same || is_sibling)) {
            return true;
        }
    }
    return false;
}

void stk_tune_each_place(const struct stk_tune *tune,
                         void (*put)(void *arg, const char *file, int64_t line, const char *text),
                         void *arg)
{
    const struct stk_tune_tried *t = tune->tried.items;
    const struct stk_tune_place *p = tune->facts.places.items;
    char text[STK_TUNE_LINE];
    for (size_t i = 0; i < tune->tried.count; i++) {
        const struct stk_rep_fix *fix = t[i].choice.fix;
        bool is_placed = false;
        if (t[i].state != STK_TUNE_KEPT || !fix->code) {
            continue;
        }
        stk_tune_fill(fix->code, t[i].choice.value, text, sizeof text);
        for (size_t k = 0; fix->call && k < tune->facts.places.count; k++) {
            if (is_of(fix->call, p[k].call) && !is_said(p, k)) {
                put(arg, p[k].file, p[k].line, text);
                is_placed = true;
            }
        }
        if (!is_placed) {
            put(arg, NULL, 0, text);
        }
    }
}

static bool sets(const struct stk_tune_tried *tried)
{
    return tried->state == STK_TUNE_KEPT && tried->choice.fix->env;
}

bool stk_tune_variable(const struct stk_tune *tune, size_t row, char *to, size_t size)
{
    STK_ASSERT(row < tune->tried.count);
    const struct stk_tune_tried *t = tune->tried.items;
    char before[STK_TUNE_LINE], name[64];
    if (!sets(&t[row])) {
        return false;
    }
    const char *env = t[row].choice.fix->env;
    size_t n = stk_tune_name_length(t[row].choice.fix);
    snprintf(name, sizeof name, "%.*s", (int)n, env);
    const char *now = getenv(name);
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (!sets(&t[i]) || stk_tune_name_length(t[i].choice.fix) != n ||
            strncmp(t[i].choice.fix->env, env, n) != 0) {
            continue;
        }
        if (i < row) {
            return false; // printed there
        }
        stk_tune_set_variable(&t[i].choice, now, to, size);
        snprintf(before, sizeof before, "%s", to + n + 1);
        now = before;
    }
    return true;
}

static void put_losses(const struct stk_tune_tried *tried, char *to, size_t size)
{
    const struct stk_tune_losses *l = &tried->losses;
    if (!tried->has_losses || tried->state != STK_TUNE_KEPT) {
        to[0] = 0;
    } else if (l->numerics == STK_NUMERICS_UNKNOWN) {
        snprintf(to, size, "; no losses seen (--loss)");
    } else if (l->is_equal) {
        snprintf(to, size, "; %zu losses bit-identical", l->aligned);
    } else {
        snprintf(to, size, "; %zu losses match within run-to-run noise", l->aligned);
    }
}

void stk_tune_line(const struct stk_tune_tried *tried, char *to, size_t size)
{
    char label[STK_TUNE_LABEL], losses[80];
    stk_tune_label(&tried->choice, label);
    put_losses(tried, losses, sizeof losses);
    const char *name = tried->is_unfinished ? "unfinished" : stk_tune_state_name(tried->state);
    snprintf(to, size, "%-10s %-36s %s%s", strcmp(name, "no-effect") == 0 ? "no effect" : name,
             label, tried->why, losses);
}
