// SPDX-License-Identifier: Apache-2.0
// A search for people: the sentence, the tried fixes, and where to apply the kept ones.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/human.h"
#include "job/tune/tune_out.h"

static void put_job(const struct stk_tune *tune, struct stk_sink *to)
{
    char step[STK_HUMAN_MAX], spent[STK_HUMAN_MAX], verdict[STK_HUMAN_MAX];
    stk_human_ns((int64_t)(1e9 * tune->baseline_s), step);
    stk_human_ns((int64_t)tune->spent_ns, spent);
    stk_human_ns((int64_t)tune->verdict_ns, verdict);
    stk_sink_printf(to, "  unchanged  %s per step (%s), %" PRIu64 " steps per run after %" PRIu64,
                    step, tune->framework[0] ? tune->framework : "no framework", tune->steps,
                    tune->warmup);
    if (tune->originals == 2) {
        stk_sink_printf(to, ", two runs %.1f%% apart", 200 * tune->noise);
    }
    if (tune->sentence[0]) {
        stk_sink_text(to, "\n  report     ");
        stk_sink_text(to, tune->sentence);
    }
    stk_sink_printf(to, "\n  searched   %s", spent);
    if (tune->verdict == STK_TUNE_FASTER && tune->verdict_ns < tune->spent_ns) {
        stk_sink_printf(to, ", verdict after %s", verdict);
    }
    if (tune->end == STK_TUNE_INTERRUPTED || tune->end == STK_TUNE_BROKEN) {
        stk_sink_printf(to, "\n  ended      %s", stk_tune_end_name(tune->end));
        stk_sink_text(to, tune->end_why[0] ? ": " : "");
        stk_sink_text(to, tune->end_why);
    }
    stk_sink_text(to, "\n");
}

static bool is_shown(const struct stk_tune_plan *plan, const struct stk_tune_tried *t, bool all)
{
    return all || plan->only || !stk_tune_is_idle(t);
}

static bool is_numerics(const struct stk_tune_tried *t)
{
    return strcmp(t->why, STK_TUNE_NUMERICS) == 0;
}

// Names the fixes that need --allow, since they may be the important ones.
static int put_numerics(const struct stk_tune *tune, struct stk_sink *to)
{
    const struct stk_tune_tried *t = tune->tried.items;
    int n = 0;
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (is_numerics(&t[i])) {
            stk_sink_text(to, n++ ? ", " : "  numerics   ");
            stk_sink_text(to, t[i].choice.fix->id);
        }
    }
    if (n) {
        stk_sink_printf(to, ": %s the computed values; --allow numerics tries %s\n",
                        n > 1 ? "they change" : "it changes", n > 1 ? "them" : "it");
    }
    return n;
}

static void put_skipped(const struct stk_tune_plan *plan, const struct stk_tune *tune, bool all,
                        struct stk_sink *to)
{
    const struct stk_tune_tried *t = tune->tried.items;
    int n = 0;
    for (size_t i = 0; i < tune->tried.count; i++) {
        n += !is_shown(plan, &t[i], all);
    }
    n -= n ? put_numerics(tune, to) : 0;
    if (n) {
        stk_sink_printf(
            to, "  skipped    %d fix%s that don't apply to the job, or save too little (-v)\n", n,
            n > 1 ? "es" : "");
    }
}

static void put_tried(const struct stk_tune_plan *plan, const struct stk_tune *tune, bool all,
                      struct stk_sink *to)
{
    static const enum stk_tune_state order[] = {STK_TUNE_KEPT, STK_TUNE_NO_EFFECT, STK_TUNE_WORSE,
                                                STK_TUNE_FAILED, STK_TUNE_SKIPPED};
    const struct stk_tune_tried *t = tune->tried.items;
    char line[STK_TUNE_LABEL + STK_TUNE_WHY + 120];
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        for (size_t i = 0; i < tune->tried.count; i++) {
            if (t[i].state == order[k] && is_shown(plan, &t[i], all)) {
                stk_tune_line(&t[i], line, sizeof line);
                stk_sink_text(to, "  ");
                stk_sink_text(to, line);
                stk_sink_text(to, "\n");
            }
        }
    }
    put_skipped(plan, tune, all, to);
}

// A path, relative if it is below the working directory.
static const char *shown(const char *file)
{
    static char here[4096];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    return n && strncmp(file, here, n) == 0 && file[n] == '/' ? file + n + 1 : file;
}

// Advice that needs an edit, with its price and place: two per finding without a kept fix.
static void put_by_hand(const struct stk_tune *tune, bool all, struct stk_sink *to)
{
    enum { OF_FINDING = 2, WIDTH = 160 };
    const struct stk_tune_advice *a = tune->advice.items;
    char price[STK_ADVICE_PRICE], line[STK_TUNE_LINE];
    bool has_any = false;
    for (size_t i = 0; i < tune->advice.count; i++) {
        if (!a[i].takes_edit || (!all && (a[i].is_answered || a[i].rank >= OF_FINDING))) {
            continue;
        }
        stk_sink_text(to, has_any ? "" : "\nby hand (tune cannot apply these):\n");
        has_any = true;
        stk_advice_price(&a[i], price);
        stk_sink_printf(to, "  %s   %s", a[i].fix->id, price);
        if (a[i].file[0]) {
            stk_sink_text(to, "   ");
            stk_sink_text(to, shown(a[i].file));
            stk_sink_printf(to, ":%" PRId64, a[i].line);
        }
        snprintf(line, sizeof line, "%s", a[i].fix->text);
        if (!all && strlen(line) > WIDTH) {
            snprintf(line + WIDTH - 4, 5, " ...");
        }
        stk_sink_printf(to, "\n    %s\n", line);
    }
}

static void put_place(void *arg, const char *file, int64_t line, const char *text)
{
    struct stk_sink *to = arg;
    stk_sink_text(to, "  ");
    if (file) {
        stk_sink_text(to, shown(file));
        stk_sink_printf(to, ":%" PRId64 "   ", line);
    }
    stk_sink_text(to, text);
    stk_sink_text(to, "\n");
}

// A variable in shell syntax: quoted if it has spaces between several settings.
static void put_word(const char *text, bool is_variable, struct stk_sink *to)
{
    bool has_spaces = is_variable && strchr(text, ' ');
    size_t name = has_spaces ? strcspn(text, "=") + 1 : 0;
    stk_sink_put(to, text, name);
    stk_sink_text(to, has_spaces ? "\"" : "");
    stk_sink_text(to, text + name);
    stk_sink_text(to, has_spaces ? "\"" : "");
}

static void put_command(const struct stk_tune_plan *plan, const struct stk_tune *tune,
                        struct stk_sink *to)
{
    const struct stk_tune_tried *t = tune->tried.items;
    char text[STK_TUNE_LINE];
    bool has_any = false;
    for (size_t i = 0; i < tune->tried.count; i++) {
        bool wraps = t[i].state == STK_TUNE_KEPT && t[i].choice.fix->wrap;
        if (wraps) {
            stk_tune_fill(t[i].choice.fix->wrap, t[i].choice.value, text, sizeof text);
        }
        if (wraps || stk_tune_variable(tune, i, text, sizeof text)) {
            stk_sink_text(to, has_any ? " " : "  ");
            put_word(text, !wraps, to);
            has_any = true;
        }
    }
    for (size_t i = 0; has_any && plan->argv[i]; i++) {
        stk_sink_text(to, " ");
        stk_sink_text(to, plan->argv[i]);
    }
    stk_sink_text(to, has_any ? "\n" : "");
}

// Explains that a fix requested by an advice's id is tried under another id.
static void put_asked(const char *list, struct stk_sink *to)
{
    char id[STK_TUNE_LABEL];
    for (size_t n; list && *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        snprintf(id, sizeof id, "%.*s", (int)(n < sizeof id ? n : sizeof id - 1), list);
        const char *tries = stk_fix_row_link(id, STK_FIX_TRIES);
        if (tries && strcmp(tries, id) != 0) {
            stk_sink_printf(to, "  asked for  %s, tried as %s\n", stk_fix_row_find(id)->id, tries);
        }
    }
}

// Names the advice that kept fixes apply, by the id that all commands accept.
static void put_advice(const struct stk_tune *tune, struct stk_sink *to)
{
    const struct stk_tune_tried *t = tune->tried.items;
    stk_sink_text(to, "\nmore about it:\n");
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (t[i].state == STK_TUNE_KEPT) {
            stk_sink_printf(to, "  stoker explain %s   %s\n", t[i].choice.fix->id,
                            t[i].choice.fix->what);
        }
    }
}

static bool has_kept(const struct stk_tune *tune)
{
    const struct stk_tune_tried *t = tune->tried.items;
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (t[i].state == STK_TUNE_KEPT) {
            return true;
        }
    }
    return false;
}

static void put_strong(const struct stk_tune *tune, struct stk_sink *to)
{
    char label[STK_TUNE_LABEL], step[STK_HUMAN_MAX];
    if (!tune->strong.count || tune->strong_s <= 0) {
        return;
    }
    stk_human_ns((int64_t)(1e9 * tune->strong_s), step);
    stk_sink_printf(to, "\n  a strong baseline (");
    for (int i = 0; i < tune->strong.count; i++) {
        stk_tune_label(&tune->strong.items[i], label);
        stk_sink_text(to, i ? ", " : "");
        stk_sink_text(to, label);
    }
    if (stk_tune_is_same(&tune->strong, &tune->kept)) {
        stk_sink_printf(to, ") is the same as the kept fixes\n");
    } else {
        stk_sink_printf(to, ") takes %s per step, in %d run%s\n", step, tune->strong_runs,
                        tune->strong_runs > 1 ? "s" : "");
    }
}

void stk_tune_text(const struct stk_tune_plan *plan, const struct stk_tune *tune, bool all,
                   struct stk_sink *to)
{
    char sentence[STK_TUNE_SENTENCE];
    put_job(tune, to);
    put_asked(plan->only, to);
    put_by_hand(tune, all, to);
    stk_sink_text(to, "\n");
    put_tried(plan, tune, all, to);
    if (has_kept(tune)) {
        stk_sink_text(to, "\nto apply it:\n");
        put_command(plan, tune, to);
        stk_tune_each_place(tune, put_place, to);
        put_advice(tune, to);
    }
    put_strong(tune, to);
    if (tune->has_proof && tune->start_more_s > 1) {
        double gain_s = tune->before_s - tune->after_s;
        stk_sink_printf(to, "\n  ! the job starts %.1f s later with it", tune->start_more_s);
        if (gain_s > 0) {
            stk_sink_printf(to, ", which pays off after %.0f steps", tune->start_more_s / gain_s);
        }
        stk_sink_text(to, "\n");
    }
    stk_tune_sentence(tune, sentence);
    stk_sink_printf(to, "\n%s\n", sentence);
}
