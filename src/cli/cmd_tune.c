// SPDX-License-Identifier: Apache-2.0
// stoker tune: finds the fixes that make a job faster by trying them, without editing the job.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/err.h"
#include "job/capture/parent/folder.h"
#include "job/capture/parent/leftover.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "job/prove/ledger.h"
#include "job/tune/tune_out.h"

enum { BUDGET_MINUTES = 10, BUDGET_MOST = 24 * 60, STEPS_LEAST = 16, BAR = 20 };

// Progress: on a terminal one line that is overwritten, else a line for each fix that is begun; and
// a line for each fix that a trial decides.
struct telling {
    bool is_terminal, is_verbose;
    int64_t budget_ns;
    char begun[STK_TUNE_LABEL]; // the fix in the last line
};

static void put_left(const struct telling *t, const struct stk_tune_progress *p)
{
    int64_t left_ns = t->budget_ns - (int64_t)p->spent_ns;
    int left_s = left_ns > 0 ? (int)(left_ns / 1000000000) : 0;
    fprintf(stderr, "%d:%02d left  ", left_s / 60, left_s % 60);
}

static void put_bar(const struct telling *t, const struct stk_tune_progress *p)
{
    STK_ASSERT(t->budget_ns > 0);
    double part = (double)p->spent_ns / (double)t->budget_ns;
    int filled = part >= 1 ? BAR : (int)(part * BAR);
    fprintf(stderr, "\r\033[K[%.*s%.*s] ", filled, "####################", BAR - filled,
            "....................");
    put_left(t, p);
    stk_screen_put(stderr, p->what, STK_SCREEN_ALL);
    fputs(p->detail, stderr);
    stk_signals_set_line(true);
}

static void put_begun(struct telling *t, const struct stk_tune_progress *p)
{
    if (strcmp(t->begun, p->what) != 0) {
        snprintf(t->begun, sizeof t->begun, "%s", p->what);
        fputs("trying     ", stderr);
        put_left(t, p);
        stk_screen_put(stderr, p->what, STK_SCREEN_ALL);
        fputc('\n', stderr);
    }
}

static void tell(void *arg, const struct stk_tune_progress *p)
{
    struct telling *t = arg;
    char line[STK_TUNE_LABEL + STK_TUNE_WHY + 120];
    if (p->done && stk_tune_is_idle(p->done) && !t->is_verbose) {
        return; // it doesn't apply to the job
    }
    if (p->done) {
        stk_tune_line(p->done, line, sizeof line);
        fputs(t->is_terminal ? "\r\033[K" : "", stderr);
        stk_screen_put(stderr, line, STK_SCREEN_ALL);
        fputc('\n', stderr);
        stk_signals_set_line(false);
    } else if (t->is_terminal) {
        put_bar(t, p);
    } else {
        put_begun(t, p);
    }
}

static bool wants_stop(void *arg)
{
    (void)arg;
    return stk_signals_pending();
}

// The input of each form of the result.
struct made {
    const struct stk_tune_plan *plan;
    const struct stk_tune *tune;
    bool all; // for people
};

static void put_json(const void *made, struct stk_sink *to)
{
    const struct made *m = made;
    stk_tune_json(m->plan, m->tune, to);
}

static void put_text(const void *made, struct stk_sink *to)
{
    const struct made *m = made;
    stk_tune_text(m->plan, m->tune, m->all, to);
}

static int put_all(const struct stk_args *args, const struct stk_tune_plan *plan,
                   const struct stk_tune *tune)
{
    const char *json = args->values[STK_OPT_ID_JSON_FILE].text;
    bool is_json_alone = json && strcmp(json, "-") == 0;
    const struct made made = {plan, tune, args->values[STK_OPT_ID_TUNE_ALL].set};
    int code = stk_output_put_in(plan->folder, "tune.json", put_json, &made);
    if (code == STK_EXIT_DONE && json) {
        code = stk_output_put(is_json_alone ? NULL : json, put_json, &made);
    }
    if (code == STK_EXIT_DONE && !is_json_alone) {
        code = stk_output_put(NULL, put_text, &made);
    }
    bool can_tell = tune->verdict != STK_TUNE_CANNOT_TELL;
    return code != STK_EXIT_DONE ? code : can_tell ? STK_EXIT_DONE : STK_EXIT_CANNOT_TELL;
}

static int check_fixes(const char *only)
{
    struct stoker_err err;
    return stk_tune_check_asked(only, &err) == STOKER_OK
               ? STK_EXIT_DONE
               : stk_usage(&stk_cmd_tune, "--fix: %s", err.message);
}

static int check(const struct stk_opt_value *v)
{
    const struct stk_opt_value *budget = &v[STK_OPT_ID_BUDGET], *steps = &v[STK_OPT_ID_TUNE_STEPS];
    if (budget->set && (budget->number < 1 || budget->number > BUDGET_MOST)) {
        return stk_usage(&stk_cmd_tune, "--budget: from 1 to %d minutes", BUDGET_MOST);
    }
    if (steps->set && steps->number < STEPS_LEAST) {
        return stk_usage(&stk_cmd_tune, "--steps: at least %d; fewer can't be judged", STEPS_LEAST);
    }
    if (v[STK_OPT_ID_TUNE_WARMUP].set && v[STK_OPT_ID_TUNE_WARMUP].number < 1) {
        return stk_usage(&stk_cmd_tune,
                         "--warmup: at least 1, because the first step is never typical");
    }
    const char *allow = v[STK_OPT_ID_ALLOW].text;
    if (allow && strcmp(allow, "numerics") != 0) {
        return stk_usage(&stk_cmd_tune, "--allow takes numerics, not '%s'", allow);
    }
    return check_fixes(v[STK_OPT_ID_TUNE_FIX].text);
}

// Adds a line to the ledger for each fix with an interval, and one for all kept fixes together.
// They have no prediction: a what-if prices an ideal, not a setting. A failure is reported.
static void put_ledger(const char *path, const struct stk_tune *tune)
{
    const struct stk_tune_tried *t = tune->tried.items;
    struct stoker_err err;
    char own[4096], label[STK_TUNE_LABEL];
    enum stoker_status status = STOKER_OK;
    if (path ? strcmp(path, "none") == 0 : !stk_ledger_path(own, sizeof own)) {
        return;
    }
    for (size_t i = 0; i <= tune->tried.count && status == STOKER_OK; i++) {
        bool is_last = i == tune->tried.count;
        int pairs = is_last ? tune->pairs : t[i].pairs;
        const struct stk_paired *r = is_last ? &tune->proof : &t[i].ratio;
        struct stk_ledger_line line = {
            .pairs = pairs,
            .measured = {
                .is_known = true, .low = r->low, .estimate = r->estimate, .high = r->high}};
        if (pairs < STK_PAIRED_MIN || (is_last && !tune->has_proof) ||
            (!is_last && t[i].choice.fix->is_of_start)) {
            continue;
        }
        snprintf(label, sizeof label, "tune: all kept fixes");
        if (!is_last) {
            stk_tune_label(&t[i].choice, label);
        }
        stk_ledger_here(&line);
        snprintf(line.fix, sizeof line.fix, "%.150s", label);
        snprintf(line.framework, sizeof line.framework, "%s", tune->framework);
        status = stk_ledger_append(path ? path : own, &line, &err);
    }
    if (status != STOKER_OK) {
        stk_fail(&err);
    }
}

static int search(const struct stk_args *args, struct stk_tune_plan *plan)
{
    struct stk_tune tune;
    struct stoker_err err;
    stk_signals_catch();
    enum stoker_status status = stk_tune_run(plan, &tune, &err);
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
        stk_signals_set_line(false);
    }
    // However it ended, the measurements are printed.
    bool has_any = tune.baseline_s > 0;
    int code = has_any ? put_all(args, plan, &tune) : STK_EXIT_DONE;
    if (has_any) {
        put_ledger(args->values[STK_OPT_ID_LEDGER].text, &tune);
    }
    if (status != STOKER_OK) {
        code = stk_fail(&err);
    }
    if (has_any && !args->values[STK_OPT_ID_QUIET].set) {
        fputs("stoker: kept in ", stderr);
        stk_screen_put(stderr, plan->folder, STK_SCREEN_ALL);
        fputc('\n', stderr);
    }
    stk_tune_close(&tune);
    return code;
}

static int run_tune(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    struct stoker_err err;
    char *folder = NULL;
    int code = check(v);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    int64_t minutes = v[STK_OPT_ID_BUDGET].set ? v[STK_OPT_ID_BUDGET].number : BUDGET_MINUTES;
    struct telling telling = {.is_terminal = isatty(STDERR_FILENO),
                              .is_verbose = v[STK_OPT_ID_TUNE_ALL].set,
                              .budget_ns = minutes * 60 * 1000000000};
    char **argv = stk_alloc_array((size_t)args->word_count + 1, sizeof *argv);
    if (!argv) {
        return stk_fail_nomem();
    }
    memcpy(argv, args->words, (size_t)args->word_count * sizeof *argv);
    argv[args->word_count] = NULL;
    if (stk_folder_make(v[STK_OPT_ID_OUT].text, "stoker-runs", &folder, &err) != STOKER_OK) {
        stk_free(argv);
        return stk_fail(&err);
    }
    stk_leftover_sweep_beside(folder);
    struct stk_tune_plan plan = {.argv = argv,
                                 .folder = folder,
                                 .loss = v[STK_OPT_ID_LOSS].text,
                                 .only = v[STK_OPT_ID_TUNE_FIX].text,
                                 .steps = (uint64_t)v[STK_OPT_ID_TUNE_STEPS].number,
                                 .warmup = (uint64_t)v[STK_OPT_ID_TUNE_WARMUP].number,
                                 .budget_ns = telling.budget_ns,
                                 .timeout_ns = v[STK_OPT_ID_RUN_TIMEOUT].number,
                                 .allows_numerics = v[STK_OPT_ID_ALLOW].set,
                                 .stop = wants_stop,
                                 .tell = v[STK_OPT_ID_QUIET].set ? NULL : tell,
                                 .arg = &telling};
    code = search(args, &plan);
    stk_free(folder);
    stk_free(argv);
    return code;
}

const struct stk_cmd stk_cmd_tune = {
    .name = "tune",
    .summary = "find fixes that make a job faster, by trying them",
    .group = STK_CMD_PROVE,
    .words = "-- COMMAND...",
    .description =
        "Runs COMMAND once under `stoker run`, profiles a few steps, and tries the fixes that "
        "could help, most promising first: data loader arguments, threads, compilation, "
        "allocators. Each is applied from outside, with hooks in the Python process, environment "
        "variables, or a command prefix. Your code doesn't change.\n\n"
        "Each fix is measured in pairs of short runs, with and without it, and judged as in "
        "`stoker prove`. These pairs prove the fixes that help. If they can't, more pairs prove "
        "them together. A fix that crashes or hangs the job costs only its time. A fix that had no "
        "effect is skipped, with the reason. Losses with a fix must match those of two runs "
        "without "
        "it.\n\n"
        "However the search ends (budget, Ctrl-C, SIGTERM, a failing job), the measured results "
        "are "
        "printed. Fixes that need an edit come first, with their expected savings.\n\n"
        "The job starts about thirty times and ends after its first steps each time. It writes its "
        "files each time too. Fixes that change the computed values (precision, fast math, "
        "recompiled kernels) need --allow numerics.\n\n"
        "Exit codes: 0 the job is faster, or there is nothing to gain; 4 inconclusive; 3 the "
        "unchanged job failed or can't be measured.",
    .examples = "stoker tune -- python train.py\tten minutes of trying\n"
                "stoker tune --budget 30 --allow numerics -- python train.py\tprecision too\n"
                "stoker tune --loss 'loss: ([0-9.]+)' -- python train.py\tits printed loss\n"
                "stoker tune --json tuned.json -- python train.py\talso as JSON\n",
    .min_words = 1,
    .max_words = 1 << 20,
    .options = {STK_OPT_ID_BUDGET, STK_OPT_ID_TUNE_FIX, STK_OPT_ID_TUNE_STEPS,
                STK_OPT_ID_TUNE_WARMUP, STK_OPT_ID_ALLOW, STK_OPT_ID_LOSS, STK_OPT_ID_RUN_TIMEOUT,
                STK_OPT_ID_OUT, STK_OPT_ID_JSON_FILE, STK_OPT_ID_LEDGER, STK_OPT_ID_TUNE_ALL,
                STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = run_tune,
};
