// SPDX-License-Identifier: Apache-2.0
// stoker prove: whether one command is faster than another, by alternating runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/err.h"
#include "job/capture/parent/scratch.h"
#include "cli/cli.h"
#include "cli/prove_fix.h"
#include "cli/screen.h"
#include "fixes/fixes.h"
#include "job/prove/proof_out.h"
#include "job/prove/recorded.h"

extern char **environ;

// The words of both sides, each NULL-terminated, with labels; B's environment.
struct sides {
    char **words, **env;
    char *labels[STK_PROOF_SIDES];
    char **folders[STK_PROOF_SIDES]; // of --before and --after; each NULL-terminated, in one
                                     // allocation
    int folder_count;
    struct stk_prove_fix fix;
};

static void close_sides(struct sides *s)
{
    stk_prove_fix_close(&s->fix);
    stk_free(s->words);
    stk_free(s->env);
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        stk_free(s->labels[side]);
        stk_free(s->folders[side]);
    }
}

// The command as typed, variables first.
static char *label_of(const char *const *listed, int count, char *const *argv)
{
    STK_ASSERT(count >= 0 && argv && argv[0]);
    size_t n = 1;
    for (int i = 0; i < count; i++) {
        n += strlen(listed[i]) + 1;
    }
    for (int i = 0; argv[i]; i++) {
        n += strlen(argv[i]) + 1;
    }
    char *label = stk_alloc(n), *p = label;
    for (int i = 0; label && i < count; i++) {
        p += sprintf(p, "%s ", listed[i]);
    }
    for (int i = 0; label && argv[i]; i++) {
        p += sprintf(p, i ? " %s" : "%s", argv[i]);
    }
    return label;
}

// "python train.py, with torch.dataloader.num_workers=2".
static char *label_with(const char *command, const char *fix)
{
    size_t n = strlen(command) + strlen(fix) + sizeof ", with ";
    char *label = stk_alloc(n);
    if (label) {
        snprintf(label, n, "%s, with %s", command, fix);
    }
    return label;
}

static bool is_set_by(const char *variable, const char *const *listed, int count)
{
    size_t n = strcspn(variable, "=") + 1;
    for (int i = 0; i < count; i++) {
        if (strncmp(variable, listed[i], n) == 0) {
            return true;
        }
    }
    return false;
}

// This process's variables, with those in `listed` added or replaced. NULL: no memory.
static char **env_with(const char *const *listed, int count)
{
    STK_ASSERT(listed || count == 0);
    size_t n = 0, kept = 0;
    while (environ[n]) {
        n++;
    }
    char **env = stk_alloc_array(n + (size_t)count + 1, sizeof *env);
    for (size_t i = 0; env && i < n; i++) {
        if (!is_set_by(environ[i], listed, count)) {
            env[kept++] = environ[i];
        }
    }
    for (int i = 0; env && i < count; i++) {
        env[kept++] = (char *)(uintptr_t)listed[i];
    }
    if (env) {
        env[kept] = NULL;
    }
    return env;
}

// "A... --vs B...", or "A..." with --env. Other codes than DONE: an error, already printed.
static int split(const struct stk_args *args, struct sides *s, struct stk_proof_plan *plan)
{
    int n = args->word_count, at = 0;
    while (at < n && strcmp(args->words[at], "--vs") != 0) {
        at++;
    }
    bool has_vs = at < n;
    if (at == 0 || (has_vs && at + 1 == n)) {
        return stk_usage(&stk_cmd_prove, "command %s is missing", at == 0 ? "A" : "B");
    }
    const char *fix = args->values[STK_OPT_ID_PROVE_FIX].text;
    if (!has_vs && !args->listed_count && !fix) {
        return stk_usage(&stk_cmd_prove, "nothing to compare with: give --vs B..., --env K=V for "
                                         "the same command with a variable set, or --fix ID=VALUE");
    }
    if (has_vs && fix) {
        return stk_usage(&stk_cmd_prove, "--fix and --vs both say what B is; give one");
    }
    for (int i = 0; i < args->listed_count; i++) {
        if (!strchr(args->listed[i], '=') || args->listed[i][0] == '=') {
            return stk_usage(&stk_cmd_prove, "--env: '%s' is not K=V", args->listed[i]);
        }
    }
    s->words = stk_alloc_array((size_t)n + 2, sizeof *s->words);
    s->env = args->listed_count ? env_with(args->listed, args->listed_count) : NULL;
    if (!s->words || (args->listed_count && !s->env)) {
        return stk_fail_nomem();
    }
    memcpy(s->words, args->words, (size_t)n * sizeof *s->words);
    s->words[at] = s->words[n] = NULL;
    char **b = has_vs ? s->words + at + 1 : s->words;
    s->labels[0] = label_of(NULL, 0, s->words);
    s->labels[1] = fix && s->labels[0] ? label_with(s->labels[0], fix)
                                       : label_of(args->listed, args->listed_count, b);
    if (!s->labels[0] || !s->labels[1]) {
        return stk_fail_nomem();
    }
    plan->sides[STK_PROOF_A] = (struct stk_proof_side){s->labels[0], s->words, NULL};
    plan->sides[STK_PROOF_B] = (struct stk_proof_side){s->labels[1], b, s->env};
    return fix ? stk_prove_fix_make(fix, b, s->env ? s->env : environ, plan, &s->fix)
               : STK_EXIT_DONE;
}

// The paths of "DIR,DIR", in one allocation. NULL: no memory.
static char **split_list(const char *list, int *count)
{
    STK_ASSERT(list);
    size_t n = strlen(list), parts = 1;
    for (const char *c = list; *c; c++) {
        parts += *c == ',';
    }
    char **made = stk_alloc((parts + 1) * sizeof *made + n + 1);
    if (!made) {
        return NULL;
    }
    char *text = (char *)(made + parts + 1);
    memcpy(text, list, n + 1);
    *count = 0;
    for (char *part; (part = strsep(&text, ",")) != NULL;) {
        if (*part) {
            made[(*count)++] = part;
        }
    }
    made[*count] = NULL;
    return made;
}

// --before and --after instead of commands.
static int split_folders(const struct stk_args *args, struct sides *s, struct stk_proof_plan *plan)
{
    static const enum stk_opt_id ids[] = {STK_OPT_ID_BEFORE, STK_OPT_ID_AFTER};
    int counts[STK_PROOF_SIDES] = {0};
    if (args->word_count) {
        return stk_usage(&stk_cmd_prove,
                         "--before and --after compare recorded runs: leave out the command");
    }
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        const struct stk_opt_value *v = &args->values[ids[side]];
        if (!v->set) {
            return stk_usage(&stk_cmd_prove, "--before and --after must be given together");
        }
        s->folders[side] = split_list(v->text, &counts[side]);
        if (!s->folders[side]) {
            return stk_fail_nomem();
        }
        plan->sides[side].label = v->text;
    }
    if (counts[0] != counts[1] || counts[0] < 1 || counts[0] > STK_PAIRED_MAX) {
        return stk_usage(&stk_cmd_prove,
                         "--before names %d folders and --after %d. They are paired in order, so "
                         "give as many of each",
                         counts[0], counts[1]);
    }
    s->folder_count = counts[0];
    return STK_EXIT_DONE;
}

static bool wants_stop(void *arg)
{
    (void)arg;
    return stk_signals_pending();
}

static void begins(void *arg, int pair, int side)
{
    STK_ASSERT(side >= 0 && side < STK_PROOF_SIDES);
    const struct stk_proof_plan *plan = arg;
    if (pair < 0) {
        fprintf(stderr, "\r\033[K%s, %c", pair == STK_PROOF_WARMS ? "warm-up" : "a window",
                "AB"[side]);
    } else {
        fprintf(stderr, "\r\033[Kpair %d of at most %d, %c", pair + 1, plan->pairs, "AB"[side]);
    }
    stk_signals_set_line(true);
}

static void end_line(void)
{
    fputs("\r\033[K", stderr);
    stk_signals_set_line(false);
}

// The input of each form of the proof.
struct made {
    const struct stk_proof_plan *plan;
    const struct stk_proof *proof;
};

static void put_json(const void *made, struct stk_sink *to)
{
    const struct made *m = made;
    stk_proof_json(m->plan, m->proof, to);
}

static void put_text(const void *made, struct stk_sink *to)
{
    const struct made *m = made;
    stk_proof_text(m->plan, m->proof, to);
}

static void put_markdown(const void *made, struct stk_sink *to)
{
    const struct made *m = made;
    stk_proof_markdown(m->plan, m->proof, to);
}

static int put_all(const struct stk_args *args, const struct stk_proof_plan *plan,
                   const struct stk_proof *proof)
{
    static const int codes[] = {[STK_PAIRED_FASTER] = STK_EXIT_DONE,
                                [STK_PAIRED_SLOWER] = STK_EXIT_FOUND,
                                [STK_PAIRED_NO_DIFFERENCE] = STK_EXIT_DONE,
                                [STK_PAIRED_CANNOT_TELL] = STK_EXIT_CANNOT_TELL};
    const char *json = args->values[STK_OPT_ID_JSON_FILE].text;
    bool is_json_alone = json && strcmp(json, "-") == 0;
    const struct made made = {plan, proof};
    int code = STK_EXIT_DONE;
    if (json) {
        code = stk_output_put(is_json_alone ? NULL : json, put_json, &made);
    }
    if (code == STK_EXIT_DONE && !is_json_alone) {
        bool is_markdown = args->values[STK_OPT_ID_MARKDOWN].set;
        code = stk_output_put(NULL, is_markdown ? put_markdown : put_text, &made);
    }
    return code == STK_EXIT_DONE ? codes[proof->result.verdict] : code;
}

// Adds a line to the ledger. A failure is reported, but the proof stays valid.
static void put_ledger(const struct stk_args *args, const struct stk_proof_plan *plan,
                       const struct stk_proof *proof)
{
    const char *path = args->values[STK_OPT_ID_LEDGER].text;
    const struct stk_mechanism *m = &proof->mechanism;
    struct stk_ledger_line line = {.predicted = m->predicted, .pairs = proof->pairs};
    struct stoker_err err;
    char own[4096];
    bool is_off = path && strcmp(path, "none") == 0;
    if (is_off || proof->pairs < STK_PAIRED_MIN || (!path && !stk_ledger_path(own, sizeof own))) {
        return;
    }
    stk_ledger_here(&line);
    const struct stk_paired *r = &proof->result;
    line.measured = (struct stk_interval){true, r->low, r->estimate, r->high, true};
    snprintf(line.profile, sizeof line.profile, "%s", m->profile);
    snprintf(line.fix, sizeof line.fix, "%s",
             plan->fix       ? plan->fix
             : plan->predict ? plan->predict
                             : plan->sides[STK_PROOF_B].label);
    snprintf(line.framework, sizeof line.framework, "%s",
             proof->versions[STK_PROOF_B][0] ? proof->versions[STK_PROOF_B]
                                             : proof->framework[STK_PROOF_B]);
    if (stk_ledger_append(path ? path : own, &line, &err) != STOKER_OK) {
        stk_fail(&err);
    }
}

static enum stoker_status prove(const struct stk_proof_plan *plan, const struct sides *sides,
                                struct stk_proof *proof, struct stoker_err *err)
{
    if (!plan->is_recorded) {
        enum stoker_status status = stk_proof_run(plan, proof, err);
        return status == STOKER_OK ? stk_proof_explain(plan, proof, err) : status;
    }
    char *const *const folders[] = {sides->folders[0], sides->folders[1]};
    enum stoker_status status = stk_proof_recorded(plan, folders, sides->folder_count, proof, err);
    if (status == STOKER_OK && !plan->no_profile) {
        status = stk_proof_explain_by(plan, folders[0][0], folders[1][0], proof, err);
    }
    return status;
}

static int measure(const struct stk_args *args, struct stk_proof_plan *plan,
                   const struct sides *sides, struct stk_proof *proof)
{
    struct stoker_err err;
    bool is_shown = isatty(STDERR_FILENO) && !args->values[STK_OPT_ID_QUIET].set;
    plan->begins = is_shown ? begins : NULL;
    stk_scratch_sweep();
    stk_signals_catch();
    enum stoker_status status = prove(plan, sides, proof, &err);
    if (is_shown) {
        end_line();
    }
    if (status != STOKER_OK) {
        return stk_fail(&err);
    }
    put_ledger(args, plan, proof);
    return put_all(args, plan, proof);
}

static enum stk_proof_of what_of(const struct stk_opt_value *v)
{
    return v[STK_OPT_ID_BEFORE].set || v[STK_OPT_ID_AFTER].set || v[STK_OPT_ID_PROVE_FIX].set
               ? STK_PROOF_STEPS
           : v[STK_OPT_ID_METRIC].set      ? STK_PROOF_METRIC
           : v[STK_OPT_ID_WHOLE].set       ? STK_PROOF_WHOLE
           : v[STK_OPT_ID_PROVE_STEPS].set ? STK_PROOF_STEPS
                                           : STK_PROOF_STEPS_OR_WHOLE;
}

static int check(const struct stk_opt_value *v, const struct stk_proof_plan *plan)
{
    int ways = v[STK_OPT_ID_METRIC].set + v[STK_OPT_ID_WHOLE].set + v[STK_OPT_ID_PROVE_STEPS].set;
    if (plan->pairs < STK_PAIRED_MIN || plan->pairs > STK_PAIRED_MAX) {
        return stk_usage(&stk_cmd_prove, "--pairs: from %d to %d", STK_PAIRED_MIN, STK_PAIRED_MAX);
    }
    if (ways > 1) {
        return stk_usage(&stk_cmd_prove,
                         "--metric, --whole and --steps each choose what to compare; give one");
    }
    if (plan->predict && (plan->of == STK_PROOF_METRIC || plan->of == STK_PROOF_WHOLE)) {
        return stk_usage(&stk_cmd_prove,
                         "--predict is about step times, which --%s doesn't compare",
                         plan->of == STK_PROOF_METRIC ? "metric" : "whole");
    }
    if (plan->is_rate && plan->of != STK_PROOF_METRIC) {
        return stk_usage(&stk_cmd_prove, "--rate needs --metric");
    }
    if (plan->warmup >= 0 && plan->of == STK_PROOF_WHOLE) {
        return stk_usage(&stk_cmd_prove,
                         "--warmup applies to steps or --metric; --whole compares neither");
    }
    if (plan->steps && plan->steps < stk_proof_warmup(plan) + STK_MEASURE_LEAST) {
        return stk_usage(&stk_cmd_prove, "--steps: at least %llu, which is %d after the warm-up",
                         (unsigned long long)stk_proof_warmup(plan) + STK_MEASURE_LEAST,
                         STK_MEASURE_LEAST);
    }
    return STK_EXIT_DONE;
}

// The what-if that --predict names, directly or by the id of an advice that it prices.
static const char *what_if(const char *asked)
{
    const char *price = asked ? stk_fix_row_link(asked, STK_FIX_PRICE) : NULL;
    return price ? price : asked;
}

static int prove_run(const struct stk_args *args)
{
    const struct stk_opt_value *values = args->values, *pairs = &values[STK_OPT_ID_PAIRS],
                               *warmup = &values[STK_OPT_ID_WARMUP];
    struct stk_proof_plan plan = {.pairs = pairs->set ? (int)pairs->number : STK_PROOF_PAIRS,
                                  .of = what_of(values),
                                  .metric = values[STK_OPT_ID_METRIC].text,
                                  .is_rate = values[STK_OPT_ID_RATE].set,
                                  .warmup = warmup->set ? warmup->number : -1,
                                  .steps = (uint64_t)values[STK_OPT_ID_PROVE_STEPS].number,
                                  .is_recorded =
                                      values[STK_OPT_ID_BEFORE].set || values[STK_OPT_ID_AFTER].set,
                                  .predict = what_if(values[STK_OPT_ID_PREDICT].text),
                                  .no_profile = values[STK_OPT_ID_NO_PROFILE].set,
                                  .timeout_ns = values[STK_OPT_ID_RUN_TIMEOUT].number,
                                  .stop = wants_stop,
                                  .arg = &plan};
    struct sides sides = {0};
    struct stk_proof proof = {0};
    int code = check(values, &plan);
    if (code == STK_EXIT_DONE) {
        code = plan.is_recorded ? split_folders(args, &sides, &plan) : split(args, &sides, &plan);
    }
    if (code == STK_EXIT_DONE) {
        code = measure(args, &plan, &sides, &proof);
    }
    stk_proof_close(&proof);
    close_sides(&sides);
    return code;
}

const struct stk_cmd stk_cmd_prove = {
    .name = "prove",
    .summary = "test whether B is faster than A, with alternating runs",
    .group = STK_CMD_PROVE,
    .words = "-- A... --vs B...",
    .description =
        "Runs two commands in alternation and says how much faster B is, with a 95% interval. The "
        "result is \"B is faster\", \"B is slower\", \"no difference of 2% or more\", or too noisy "
        "to tell. A comes first in one pair and B in the next. Results are checked at four fixed "
        "points. The run stops at the first check that is conclusive and narrows the change to "
        "within 50% of its value. The interval already accounts for the repeated checks.\n\n"
        "By default it compares the mean step time after warm-up. `stoker run`'s hooks measure it "
        "without changing your code (PyTorch, Keras, tf.data loops, JAX). If the command has no "
        "such steps, or with --whole, it compares the whole command's time. --metric compares the "
        "median of a number that each run prints.\n\n"
        "--steps N ends each run after N steps. Without --vs, B is A with a variable set (--env "
        "K=V) or with a `stoker tune` fix (--fix ID=VALUE). One warm-up run of each side isn't "
        "counted. Both commands must exit with status 0.\n\n"
        "If step times changed, both sides are profiled again, and the output says whether the "
        "main cause shrank by the gain. --predict FIX shows what `stoker whatif` estimates from "
        "A's profile. Each proof is recorded in the ledger (`stoker ledger`). --before and --after "
        "compare existing `stoker run` folders instead, paired in order.\n\n"
        "Exit codes: 0 B is faster, or there is no difference; 1 B is slower; 4 inconclusive; 3 a "
        "command failed or could not be run.",
    .examples = "stoker prove -- python train.py --vs python train.py --workers 4\ttwo commands\n"
                "stoker prove --steps 60 -- python a.py --vs python b.py\tthe first 60 steps\n"
                "stoker prove --before runs/1 --after runs/2\trecorded runs\n"
                "stoker prove --env OMP_NUM_THREADS=2 -- python train.py\ta variable\n"
                "stoker prove --fix torch.dataloader.num_workers=2 -- python train.py\ta fix\n"
                "stoker prove --metric 'step ([0-9.]+) ms' -- ./a --vs ./b\ta printed number\n",
    .min_words = 0,
    .max_words = 1 << 20,
    .options = {STK_OPT_ID_PAIRS, STK_OPT_ID_PROVE_STEPS, STK_OPT_ID_WHOLE, STK_OPT_ID_METRIC,
                STK_OPT_ID_RATE, STK_OPT_ID_WARMUP, STK_OPT_ID_ENV, STK_OPT_ID_PROVE_FIX,
                STK_OPT_ID_PREDICT, STK_OPT_ID_NO_PROFILE, STK_OPT_ID_BEFORE, STK_OPT_ID_AFTER,
                STK_OPT_ID_LEDGER, STK_OPT_ID_RUN_TIMEOUT, STK_OPT_ID_JSON_FILE,
                STK_OPT_ID_MARKDOWN, STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = prove_run,
};
