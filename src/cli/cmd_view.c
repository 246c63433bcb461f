// SPDX-License-Identifier: Apache-2.0
// stoker view: the diagnosis and the timeline as pages, for a browser on this machine.
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/browser.h"
#include "cli/cli.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/screen.h"
#include "cli/view_extras.h"
#include "serve/serve.h"

enum { PORT_MAX = 65535, CACHE_NICE = 19 };

static int is_interrupted(void *arg)
{
    (void)arg;
    return stk_signals_pending();
}

static int serve(const struct stk_args *args, const struct stk_serve_plan *plan, bool has_run)
{
    struct stk_server *server;
    struct stoker_err err;
    struct stk_progress_line line;
    struct stk_scratch page = STK_NO_SCRATCH, drops = STK_NO_SCRATCH;
    struct stk_serve_plan with_progress = *plan;
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    with_progress.view.reading.progress = stk_progress_update;
    with_progress.view.reading.progress_arg = &line;
    // Without a private folder, profiles can't be dropped on the page; everything else works.
    if (stk_scratch_make_safe(&drops, &err) == STOKER_OK) {
        with_progress.drop_dir = drops.path;
    }
    enum stoker_status status = stk_server_open(&server, &with_progress, &err);
    if (status == STOKER_EINPUT && has_run) {
        // A run without a recorded window has no profile yet: its progress is shown.
        with_progress.view.path_count[0] = 0;
        status = stk_server_open(&server, &with_progress, &err);
    }
    stk_progress_end(&line);
    if (status != STOKER_OK) {
        stk_scratch_remove(&drops);
        return stk_fail(&err);
    }
    stk_signals_catch();
    printf("stoker view: %s\n", stk_server_address(server));
    if (fflush(stdout) != 0) {
        stk_error_line("the address can't be written to standard output");
        stk_server_close(server);
        stk_scratch_remove(&drops);
        return STK_EXIT_LIMIT;
    }
    if (!args->values[STK_OPT_ID_NO_OPEN].set) {
        stk_browser_open(&page, stk_server_address(server));
    }
    // Only this thread: the first pages are more urgent than the cache.
    (void)setpriority(PRIO_PROCESS, 0, CACHE_NICE);
    stk_server_keep(server, is_interrupted, NULL);
    while (!stk_signals_pending()) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    stk_scratch_remove(&page);
    stk_server_close(server);
    stk_scratch_remove(&drops);
    return STK_EXIT_DONE;
}

// An option for --html only, which writes a part of the profile; the server shows all of it.
static const char *option_of_page(const struct stk_args *args)
{
    static const enum stk_opt_id ids[] = {STK_OPT_ID_STEPS, STK_OPT_ID_RANK, STK_OPT_ID_DEVICE,
                                          STK_OPT_ID_FROM, STK_OPT_ID_TO};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (args->values[ids[i]].set) {
            return stk_opts[ids[i]].name;
        }
    }
    return NULL;
}

static int view_run(const struct stk_args *args)
{
    if (args->values[STK_OPT_ID_HTML].set) {
        return stk_report_page(&stk_cmd_view, args);
    }
    if (option_of_page(args)) {
        return stk_usage(&stk_cmd_view, "--%s needs --html FILE", option_of_page(args));
    }
    const struct stk_opt_value *v = args->values;
    int a = args->separator > 0 ? args->separator : args->word_count;
    size_t profiles = (size_t)a;
    struct stk_view_extras extras = {.count = 0};
    bool has_run = false;
    if (args->word_count == 0 || a == 0) {
        return stk_usage(&stk_cmd_view, "PROFILE is missing");
    }
    if (v[STK_OPT_ID_PORT].set && v[STK_OPT_ID_PORT].number > PORT_MAX) {
        return stk_usage(&stk_cmd_view, "--port: at most %d", PORT_MAX);
    }
    const char **words = stk_alloc_array(profiles, sizeof *words);
    if (!words) {
        return stk_fail_nomem();
    }
    memcpy(words, args->words, profiles * sizeof *words);
    stk_view_extras_find(&extras, words, &profiles, &has_run);
    struct stk_serve_plan plan = {
        .view = {.extras = extras.list,
                 .extra_count = extras.count,
                 .paths = {words, args->words + a},
                 .path_count = {profiles, (size_t)(args->word_count - a)},
                 .uses_cache = !v[STK_OPT_ID_NO_CACHE].set},
        .host = v[STK_OPT_ID_HOST].set ? v[STK_OPT_ID_HOST].text : "127.0.0.1",
        .port = v[STK_OPT_ID_PORT].set ? (int)v[STK_OPT_ID_PORT].number : 0,
        .ui_dir = v[STK_OPT_ID_UI_DIR].set ? v[STK_OPT_ID_UI_DIR].text : NULL};
    stk_reading_options(args, false, &plan.view.reading);
    int code = serve(args, &plan, has_run);
    stk_free(words);
    return code;
}

const struct stk_cmd stk_cmd_view = {
    .name = "view",
    .summary = "show the diagnosis and the timeline in a browser",
    .group = STK_CMD_DIAGNOSE,
    .words = "PROFILE... [-- PROFILE_B...]",
    .description =
        "Reads the profiles and serves pages on this machine: why the step takes its time, the "
        "timeline of every thread and stream, the analyses, and what each fix saves. It prints its "
        "address, which contains a secret token, and serves until Ctrl-C.\n\n"
        "PROFILE is as in stoker why. Profiles after -- are compared with those before it. It "
        "listens "
        "only on 127.0.0.1, unless you give --host. Anyone who has the token can then see the "
        "whole profile.\n\n"
        "You can also give the folder of a stoker run, even while it is running, proofs (stoker "
        "prove --json) and ledgers. Each gets its own page.\n\n"
        "--html FILE writes the pages to one file instead, as stoker report does: to send, or to "
        "keep. It opens in any browser and loads nothing from the network.\n\n"
        "The index of each profile is cached in $XDG_CACHE_HOME/stoker/view (at most 4 GB), so it "
        "opens at once next time. --no-cache turns that off.",
    .examples = "stoker view trace.json.gz\tone profile\n"
                "stoker view stoker-runs/today\ta run, even while it is running\n"
                "stoker view before/ -- after/\ta comparison\n"
                "stoker view trace.json.gz --html why.html\tone file, to send to someone\n"
                "stoker view t.json.gz --port 8080 --no-open\tfor an SSH tunnel\n",
    .min_words = 0,
    .max_words = INT32_MAX,
    .has_sides = true,
    .options = {STK_OPT_ID_HTML, STK_OPT_ID_STEPS, STK_OPT_ID_RANK, STK_OPT_ID_DEVICE,
                STK_OPT_ID_FROM, STK_OPT_ID_TO, STK_OPT_ID_PORT, STK_OPT_ID_HOST,
                STK_OPT_ID_NO_OPEN, STK_OPT_ID_UI_DIR, STK_OPT_ID_NO_CACHE, STK_OPT_ID_AS_RANKS,
                STK_OPT_ID_REDACT, STK_OPT_ID_THREADS, STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = view_run,
};
