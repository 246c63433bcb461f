// SPDX-License-Identifier: Apache-2.0
// stoker top: a running job on one screen, or as lines. The library (stoker/live.h) makes the text;
// this file handles the terminal and the refresh.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/live_screen.h"
#include "cli/screen.h"
#include "stoker/live.h"

#define RUNS "stoker-runs"
enum {
    INTERVAL_MS = 1000,
    INTERVAL_LEAST_MS = 100,
    INTERVAL_MOST_MS = 3600000,
    FIRST_MS = 100, // between tries until there is something to show
    FIRST_TRIES = 100,
    TEXT_MAX = 1 << 20
};

struct top {
    struct stoker_live *live;
    const char *format; // "text", "line", "json", "metrics"
    const char *path;   // of a metrics file that each refresh replaces; NULL: none
    int interval_ms;
    bool is_screen;
    struct stoker_live_write_options how;
    struct stk_output output;
    int code; // of a file that couldn't be written; the error was printed
};

// ---- output ----

static int append(void *text, const char *bytes, size_t n)
{
    char *to = stk_vec_push_n(text, n);
    if (to) {
        memcpy(to, bytes, n);
    }
    return to ? 0 : -1;
}

static enum stoker_status draw(struct top *t, struct stoker_err *err)
{
    struct stk_vec text;
    stk_vec_init(&text, 1, TEXT_MAX);
    t->how.columns = stk_screen_columns(STDOUT_FILENO);
    t->how.rows = stk_live_screen_rows() - 1; // the last line would scroll
    enum stoker_status status = stoker_live_write(t->live, "text", &t->how, append, &text, err);
    if (status == STOKER_OK) {
        stk_live_screen_show(text.items, text.count);
    }
    stk_vec_deinit(&text);
    return status;
}

// A scraper may read the file at any time, so it is always complete.
static enum stoker_status replace_file(struct top *t, struct stoker_err *err)
{
    struct stk_output file;
    t->code = stk_output_open(&file, t->path, false);
    if (t->code != STK_EXIT_DONE) {
        return STOKER_EOUTPUT;
    }
    enum stoker_status status =
        stoker_live_write(t->live, t->format, &t->how, stk_output_write, &file, err);
    t->code = stk_output_close(&file, status == STOKER_OK);
    return t->code == STK_EXIT_DONE ? status : STOKER_EOUTPUT;
}

static enum stoker_status print(struct top *t, struct stoker_err *err)
{
    if (t->path) {
        return replace_file(t, err);
    }
    if (strcmp(t->format, "line") == 0) {
        char moment[16];
        struct tm tm;
        time_t now = time(NULL);
        size_t n = strftime(moment, sizeof moment, "%H:%M:%S  ", localtime_r(&now, &tm));
        stk_output_write(&t->output, moment, n);
    }
    return stoker_live_write(t->live, t->format, &t->how, stk_output_write, &t->output, err);
}

// ---- the loop ----

static void nap(int ms)
{
    STK_ASSERT(ms >= 0);
    uint64_t end_ns = stk_clock_ns() + (uint64_t)ms * 1000000u;
    for (uint64_t now = stk_clock_ns(); now < end_ns && !stk_signals_pending();
         now = stk_clock_ns()) {
        uint64_t left_ns = end_ns - now;
        long piece_ns = left_ns < 100000000u ? (long)left_ns : 100000000L;
        nanosleep(&(struct timespec){.tv_nsec = piece_ns}, NULL);
    }
}

// Rates need two samples: until then there is nothing to show.
static enum stoker_status wait_for_first(struct top *t, struct stoker_err *err)
{
    enum stoker_status status = stoker_live_refresh(t->live, err);
    for (int i = 0; i < FIRST_TRIES && status == STOKER_OK && !stoker_live_is_ready(t->live) &&
                    !stoker_live_is_over(t->live) && !stk_signals_pending();
         i++) {
        nap(FIRST_MS);
        status = stoker_live_refresh(t->live, err);
    }
    return status;
}

// On a terminal, until q or Ctrl-C. It stays after the job has ended, so that the last state can be
// read.
static enum stoker_status show(struct top *t, struct stoker_err *err)
{
    enum stoker_status status = wait_for_first(t, err);
    stk_live_screen_enter();
    while (status == STOKER_OK && !stk_signals_pending()) {
        status = draw(t, err);
        if (status != STOKER_OK) {
            break;
        }
        enum stk_live_key key = stk_live_screen_wait(t->interval_ms);
        if (key == STK_KEY_QUIT) {
            break;
        }
        if (key == STK_KEY_NONE) {
            status = stoker_live_refresh(t->live, err);
        }
    }
    stk_live_screen_leave();
    return status;
}

static enum stoker_status list(struct top *t, bool once, struct stoker_err *err)
{
    enum stoker_status status = wait_for_first(t, err);
    while (status == STOKER_OK && !stk_signals_pending()) {
        status = print(t, err);
        if (status != STOKER_OK || once || stoker_live_is_over(t->live)) {
            break;
        }
        nap(t->interval_ms);
        status = stoker_live_refresh(t->live, err);
    }
    return status;
}

// ---- the command ----

// The newest run below stoker-runs: folder names are times.
static bool newest_run(char *path, size_t size)
{
    STK_ASSERT(size > 0);
    DIR *d = opendir(RUNS);
    struct dirent *e;
    char newest[256] = "";
    while (d && (e = readdir(d))) {
        if (e->d_name[0] != '.' && strcmp(e->d_name, newest) > 0) {
            snprintf(newest, sizeof newest, "%s", e->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
    snprintf(path, size, RUNS "/%s", newest);
    return newest[0] != 0;
}

static int run_top(struct top *t, const struct stk_args *args)
{
    struct stoker_err err;
    bool once = args->values[STK_OPT_ID_ONCE].set;
    int code = stk_output_open(&t->output, NULL, true);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    stk_signals_catch();
    enum stoker_status status = t->is_screen ? show(t, &err) : list(t, once, &err);
    code = stk_output_close(&t->output, true);
    if (t->code != STK_EXIT_DONE) {
        return t->code;
    }
    if (t->output.error) {
        return code; // also ended by a closed pipe
    }
    return status == STOKER_OK ? code : stk_fail(&err);
}

static int top_run(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    char newest[512];
    struct stoker_err err;
    struct top t = {.interval_ms = INTERVAL_MS};
    const char *target = args->word_count ? args->words[0] : newest;
    if (v[STK_OPT_ID_INTERVAL].set) {
        int64_t ms = v[STK_OPT_ID_INTERVAL].number / 1000000;
        if (ms < INTERVAL_LEAST_MS || ms > INTERVAL_MOST_MS) {
            return stk_usage(&stk_cmd_top, "--interval: from 100ms to 1h");
        }
        t.interval_ms = (int)ms;
    }
    if (!args->word_count && !newest_run(newest, sizeof newest)) {
        return stk_usage(&stk_cmd_top, "no run in " RUNS "; give its folder, or the id of a "
                                       "process");
    }
    bool is_json = v[STK_OPT_ID_JSON].set, once = v[STK_OPT_ID_ONCE].set;
    bool is_metrics = v[STK_OPT_ID_METRICS].set;
    if (v[STK_OPT_ID_OUTPUT].set && !is_metrics) {
        return stk_usage(&stk_cmd_top, "-o FILE goes with --metrics");
    }
    if (is_json && is_metrics) {
        return stk_usage(&stk_cmd_top, "choose one of --json and --metrics");
    }
    t.path = v[STK_OPT_ID_OUTPUT].text;
    if (t.path && strcmp(t.path, "-") == 0) {
        t.path = NULL;
    }
    t.is_screen = !is_json && !is_metrics && !once && stk_live_screen_can();
    t.format = is_json ? "json" : is_metrics ? "metrics" : once ? "text" : "line";
    t.how = (struct stoker_live_write_options){
        .colour = stk_screen_colour(STDOUT_FILENO, v[STK_OPT_ID_NO_COLOR].set),
        .columns = stk_screen_columns(STDOUT_FILENO),
        .ascii = isatty(STDOUT_FILENO) && stk_screen_ascii()};
    if (stoker_live_open(target, NULL, &t.live, &err) != STOKER_OK) {
        return stk_fail(&err);
    }
    int code = run_top(&t, args);
    stoker_live_close(t.live);
    return code;
}

const struct stk_cmd stk_cmd_top = {
    .name = "top",
    .summary = "show a running job: steps, CPU, GPUs, disks, what limits it",
    .group = STK_CMD_RECORD,
    .words = "[PID|DIR]",
    .description =
        "Shows a job while it runs, and says in one sentence what limits it. It lists step time "
        "and input wait, CPU cores used per process and thread, threads waiting for a core, cgroup "
        "limits, pressure, disks and GPUs. Figures cover the last five seconds.\n\n"
        "DIR is the folder of a `stoker run`. PID is a process of such a run, or any other "
        "process. stoker samples other processes and their children from outside, so their steps "
        "are unknown. Without either, it shows the newest run in stoker-runs/.\n\n"
        "On a terminal the screen refreshes until you press q or Ctrl-C. Otherwise it prints a "
        "line per second until the job ends.\n\n"
        "--metrics prints Prometheus metrics instead: each GPU's idle share by cause, steps, input "
        "wait, findings, and the sampler's counters. With -o, FILE is replaced "
        "at each interval, as the node exporter's textfile collector needs.",
    .examples = "stoker top\tthe newest run in stoker-runs/\n"
                "stoker top 4242\ta process and its children\n"
                "stoker top --once 4242\tone snapshot, as text\n"
                "stoker top --json --interval 10s DIR | jq .sentence\tas JSON\n"
                "stoker top --metrics -o stoker.prom --interval 15s DIR\tfor Prometheus\n",
    .min_words = 0,
    .max_words = 1,
    .options = {STK_OPT_ID_INTERVAL, STK_OPT_ID_ONCE, STK_OPT_ID_JSON, STK_OPT_ID_METRICS,
                STK_OPT_ID_OUTPUT, STK_OPT_ID_NO_COLOR, STK_OPT_ID_NONE},
    .completes = "files",
    .run = top_run,
};
