// SPDX-License-Identifier: Apache-2.0
// stoker diff: what changed between two results.
#include <string.h>

#include "base/assert.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/settings.h"
#include "stoker/diff.h"

#define ROWS_FOR_PEOPLE 10

// NULL: contradictory options.
static const char *format_of(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    if (v[STK_OPT_ID_JSON].set && v[STK_OPT_ID_MARKDOWN].set) {
        return NULL;
    }
    return v[STK_OPT_ID_JSON].set ? "json" : v[STK_OPT_ID_MARKDOWN].set ? "markdown" : "text";
}

// `fail-on` of stoker.toml; the exit code.
static int read_threshold(struct stk_opt_value *v)
{
    struct stk_settings settings;
    int code = stk_settings_read(&settings);
    const struct stk_setting *row = stk_settings_find(&settings, "diff", "fail-on");
    v->set = row && stk_opt_value_parse(&stk_opts[STK_OPT_ID_FAIL_ON_CHANGE], row->value, v);
    if (row && !v->set) {
        code = stk_usage(&stk_cmd_diff,
                         "stoker.toml:%d: fail-on can't be \"%.60s\": a level, never, "
                         "or slower=PERCENT",
                         row->line, row->value);
    }
    stk_settings_free(&settings);
    return code;
}

static int verdict_code(const struct stk_args *args, const struct stoker_diff *diff)
{
    STK_ASSERT(diff);
    struct stk_opt_value of_project = {0};
    const struct stk_opt_value *fail_on = &args->values[STK_OPT_ID_FAIL_ON_CHANGE];
    if (!fail_on->set) {
        int code = read_threshold(&of_project);
        if (code != STK_EXIT_DONE) {
            return code;
        }
        fail_on = &of_project;
    }
    if (strcmp(stoker_diff_verdict(diff), "inconclusive") == 0) {
        return STK_EXIT_CANNOT_TELL;
    }
    if (strcmp(stoker_diff_verdict(diff), "slower") != 0) {
        return STK_EXIT_DONE;
    }
    bool fails = !fail_on->set                         ? true
                 : fail_on->number == STK_CHANGE_NEVER ? false
                 : fail_on->number > STOKER_LEVEL_NONE
                     ? (int64_t)stoker_diff_level(diff) >= fail_on->number
                     : stoker_diff_change(diff) * 1e6 >= (double)fail_on->second;
    return fails ? STK_EXIT_FOUND : STK_EXIT_DONE;
}

static int print(const struct stk_args *args, const struct stoker_diff *diff, const char *format)
{
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, format);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status =
        stoker_diff_write(diff, format, &p.how, stk_output_write, &p.output, &p.err);
    return stk_printing_end(&p, status, verdict_code(args, diff));
}

static void fill_options(const struct stk_args *args, const char *format,
                         struct stoker_diff_options *o)
{
    static const enum stk_opt_id steps[] = {STK_OPT_ID_STEPS_A, STK_OPT_ID_STEPS_B};
    stoker_diff_options_default(o);
    stk_reading_options(args, false, &o->reading);
    if (strcmp(format, "json") != 0 && !args->values[STK_OPT_ID_LIMIT].set) {
        o->reading.limit = ROWS_FOR_PEOPLE;
    }
    for (int side = 0; side < 2; side++) {
        o->has_steps[side] = args->values[steps[side]].set;
        o->step_first[side] = args->values[steps[side]].number;
        o->step_last[side] = args->values[steps[side]].second;
    }
    o->force = args->values[STK_OPT_ID_FORCE].set;
}

static int diff_run(const struct stk_args *args)
{
    struct stoker_diff_options options;
    struct stoker_diff *diff = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    const char *format = format_of(args);
    int first = args->separator ? args->separator : 1;
    if (!format) {
        return stk_usage(&stk_cmd_diff, "--json and --markdown can't be combined");
    }
    if (args->values[STK_OPT_ID_QUIET].set && args->values[STK_OPT_ID_VERBOSE].set) {
        return stk_usage(&stk_cmd_diff, "--quiet and --verbose can't be combined");
    }
    if (args->word_count > 2 && !args->separator) {
        return stk_usage(&stk_cmd_diff, "%d profiles: put -- between those of A and those of B",
                         args->word_count);
    }
    if (first == args->word_count) {
        return stk_usage(&stk_cmd_diff, "nothing follows --: B is missing");
    }
    fill_options(args, format, &options);
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    options.reading.progress = stk_progress_update;
    options.reading.progress_arg = &line;
    enum stoker_status status =
        stoker_diff(args->words, (size_t)first, args->words + first,
                    (size_t)(args->word_count - first), &options, &diff, &err);
    stk_progress_end(&line);
    if (status != STOKER_OK) {
        return stk_fail(&err);
    }
    int code = print(args, diff, format);
    stoker_diff_free(diff);
    return code;
}

const struct stk_cmd stk_cmd_diff = {
    .name = "diff",
    .summary = "compare two profiles: faster, slower, and why",
    .group = STK_CMD_DIAGNOSE,
    .words = "A B | A... -- B...",
    .description =
        "Reads the profiles of A (before) and B (after) as stoker why does. It says whether a step "
        "of B takes longer, how certain that is, and which cause, kernel or operation changed. "
        "Either side can be several files, the ranks of one run: put -- between the sides. Options "
        "may follow.\n\n"
        "The verdict is faster, slower, equivalent or inconclusive. The exit code is 1 if B is "
        "slower. --fail-on narrows that: slower=10 means 10% or more, high means 15% or more, "
        "medium 5%, never none. The exit code is 4 if the comparison is inconclusive: the steps "
        "vary too much, or the sides aren't comparable. That means different devices, device "
        "counts, frameworks or work, or no steps; --force compares those too.\n\n"
        "Text and Markdown show the ten kernels and operations that changed most. JSON has all of "
        "them.\n\n"
        "Step times have a 95% interval: from order statistics for the median, from Welch's t for "
        "the mean. It doesn't cover differences from run to run. Record both runs the same way, "
        "with at least ten steps each.",
    .examples = "stoker diff before.json.gz after.json.gz\ttwo profiles\n"
                "stoker diff base/ new/ --fail-on slower=5\tin CI: exit code 1 if 5% slower\n"
                "stoker diff base/ new/ --markdown\tfor a CI job summary\n"
                "stoker diff a/rank*.json -- b/rank*.json --json\tseveral ranks, as JSON\n"
                "stoker diff t.json t.json --steps-a :99 --steps-b 100:\tearly and late steps\n",
    .min_words = 2,
    .max_words = INT32_MAX,
    .has_sides = true,
    .options = {STK_OPT_ID_JSON,    STK_OPT_ID_MARKDOWN, STK_OPT_ID_OUTPUT,
                STK_OPT_ID_LIMIT,   STK_OPT_ID_STEPS,    STK_OPT_ID_STEPS_A,
                STK_OPT_ID_STEPS_B, STK_OPT_ID_RANK,     STK_OPT_ID_DEVICE,
                STK_OPT_ID_FROM,    STK_OPT_ID_TO,       STK_OPT_ID_FAIL_ON_CHANGE,
                STK_OPT_ID_FORCE,   STK_OPT_ID_AS_RANKS, STK_OPT_ID_REDACT,
                STK_OPT_ID_THREADS, STK_OPT_ID_NO_COLOR, STK_OPT_ID_VERBOSE,
                STK_OPT_ID_QUIET,   STK_OPT_ID_NONE},
    .completes = "files",
    .run = diff_run,
};
