// SPDX-License-Identifier: Apache-2.0
// stoker run: records and explains an unmodified job. Standard output and input belong to the job;
// stoker prints to standard error.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/remove.h"
#include "job/capture/parent/ask_end.h"
#include "job/capture/parent/folder.h"
#include "job/capture/parent/gpu_windows.h"
#include "job/capture/parent/hooks.h"
#include "job/capture/parent/job.h"
#include "job/capture/parent/leftover.h"
#include "job/capture/parent/on_demand.h"
#include "job/capture/parent/run_out.h"
#include "job/capture/parent/sampler.h"
#include "job/capture/parent/scratch.h"
#include "cli/cli.h"
#include "cli/run_compare.h"
#include "cli/run_partial.h"
#include "cli/screen.h"

enum {
    STEPS = 5,   // of a window: enough for medians, quick to write
    WARMUP = 10, // steps before the window: compiling, caches, loaders that fill their queues
    STEPS_MAX = 1000,
    TICK_MS = 100,
    PARTIAL_TICKS = 5, // between two checks for the window's end
    ENDING_MS = 10000, // until a job that --stop ends is killed
    NOT_FOUND = 127,
    NOT_RUN = 126 // as in shells
};
#define AFTER_NS UINT64_C(5000000000) // from CUDA's start to a window, if no steps are seen
#define FOR_NS UINT64_C(2000000000)

// One run from its folder to its last line.
struct running {
    struct stk_job job;
    struct stk_run run;
    struct stk_sampler *sampler; // NULL: it could not be started
    struct stk_gpu_windows gpu;  // of level 1
    char *folder;
    int opened; // file descriptor of the folder
    struct stk_hooks hooks;
    uint64_t warmup;
    struct stk_run_partial partial;
    uint32_t ticks;
    uint64_t stopped_ns; // when --stop ended the job; 0: not yet
    bool stops;
};

static void tick(void *arg)
{
    struct running *r = arg;
    uint64_t now_ns = stk_clock_ns();
    stk_gpu_tick(&r->gpu, now_ns);
    if (!r->stops) {
        bool asks = r->run.has_window && !r->partial.was_started && r->ticks++ % PARTIAL_TICKS == 0;
        if (asks && stk_steps_window_is_recorded(r->folder)) {
            stk_run_partial_start(&r->partial, r->folder);
        }
        return;
    }
    if (!r->stopped_ns && stk_steps_window_is_over(r->folder)) {
        r->stopped_ns = now_ns;
        stk_ask_to_end(r->job.pid);
    } else if (r->stopped_ns && now_ns - r->stopped_ns > (uint64_t)ENDING_MS * 1000000u) {
        kill(r->job.pid, SIGKILL);
    }
}

static int write_file(void *file, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, file) == n ? 0 : -1;
}

static void put_json(const void *run, struct stk_sink *to)
{
    stk_run_json(run, to);
}

static void say(const struct running *r)
{
    char warnings[STK_RUN_WARNINGS][STK_RUN_SENTENCE];
    struct stk_sink sink;
    int count = stk_run_warnings(&r->run, warnings);
    for (int i = 0; i < count; i++) {
        fputs("stoker: ", stderr);
        stk_screen_put(stderr, warnings[i], STK_SCREEN_ALL);
        fputc('\n', stderr);
    }
    fputs("stoker: ", stderr);
    stk_sink_init(&sink, write_file, stderr);
    stk_run_line(&r->run, &sink);
    if (r->run.compared.step_ns) {
        stk_sink_text(&sink, "\nstoker: ");
        stk_run_compared_line(&r->run, &sink);
    }
    if (stk_sink_finish(&sink, NULL) == STOKER_OK) {
        fputs("\nstoker: recorded in ", stderr);
        stk_screen_put(stderr, r->folder, STK_SCREEN_ALL);
        fputc('\n', stderr);
    }
}

static bool has_profile(const struct running *r)
{
    const struct stk_steps_of_run *steps = &r->run.steps;
    return r->run.gpu.recorded ||
           (steps->count && steps->ranks[steps->lead].head.window_state == STK_WINDOW_DONE);
}

// Prints the report of the window's profile on standard error.
static void explain(const struct running *r)
{
    struct stoker_why_options options;
    struct stoker_result *result = NULL;
    struct stoker_err err;
    const char *path = r->folder;
    struct stoker_write_options how = {.colour = stk_screen_colour(STDERR_FILENO, false),
                                       .columns = stk_screen_columns(STDERR_FILENO),
                                       .ascii = stk_screen_ascii()};
    stoker_why_options_default(&options);
    options.limit = 20;
    if (stoker_why(&path, 1, &options, &result, &err) != STOKER_OK ||
        stoker_result_write(result, "text", &how, write_file, stderr, &err) != STOKER_OK) {
        stk_fail(&err);
    }
    stoker_result_free(result);
}

// Nothing ran: a command that can't be started has its own exit codes.
static int cannot_run(const struct running *r, const struct stoker_err *err)
{
    int code = stk_fail(err);
    return r->job.error == ENOENT ? NOT_FOUND : r->job.error ? NOT_RUN : code;
}

// Ends as the job ended.
static int end_as(const struct running *r)
{
    STK_ASSERT(r->job.pid > 0);
    if (r->stopped_ns) {
        return STK_EXIT_DONE; // --stop ended it
    }
    if (r->run.signal) {
        fflush(stderr);
        stk_job_die_as(r->run.signal);
        return 128 + r->run.signal;
    }
    return r->run.exit_status;
}

// Reads what the job left in the run's folder and writes run.json. If that path now leads to
// something else, nothing is read from it or written into it.
static void read_and_write(struct running *r, const struct stk_args *args)
{
    struct stoker_err err;
    stk_err_init(&err);
    if (stk_folder_check(r->opened, r->folder, &err) != STOKER_OK) {
        stk_fail(&err);
        return;
    }
    if (stk_steps_read(r->folder, r->warmup, &r->run.steps, &err) != STOKER_OK) {
        stk_fail(&err);
    }
    stk_run_compare(&r->run, args->values[STK_OPT_ID_COMPARE].text, r->warmup);
    (void)stk_output_put_in(r->folder, "run.json", put_json, &r->run);
}

static void read_and_say(struct running *r, const struct stk_args *args)
{
    const struct stk_opt_value *json = &args->values[STK_OPT_ID_RUN_JSON];
    read_and_write(r, args);
    stk_run_partial_wait(&r->partial);
    if (json->set) {
        stk_output_put(json->text, put_json, &r->run);
    }
    if (has_profile(r)) {
        if (!args->values[STK_OPT_ID_QUIET].set) {
            explain(r);
        }
        stk_run_partial_write(r->folder);
    }
    say(r);
}

// Samples processes, control group, disks and GPUs into machine.stk while the job runs. If that
// fails, the run goes on.
static void sample(struct running *r)
{
    struct stk_sampler_options options = {0};
    struct stoker_err err;
    char *path = stk_folder_path(r->folder, "machine.stk");
    enum stoker_status status =
        path ? stk_sampler_start(&r->sampler, r->job.pid, &options, path, &err)
             : stk_err_nomem(&err);
    if (status != STOKER_OK) {
        r->sampler = NULL;
        stk_fail(&err);
    }
    stk_free(path);
}

static void end_sampling(struct running *r)
{
    struct stk_sampler_totals totals = {0};
    struct stoker_err err;
    if (r->sampler && stk_sampler_stop(r->sampler, &totals, &err) != STOKER_OK) {
        stk_fail(&err);
    }
    r->run.sampler_cpu_ns = totals.cpu_ns;
}

// Such a run must not be mistaken for real training, so this is printed before and after it.
static void announce(const struct stk_run *run, const char *trains)
{
    if (strcmp(run->input_mode, "as-is") != 0) {
        fprintf(
            stderr,
            "stoker: --input %s: the job %s on fake batches; don't use what it learns or writes\n",
            run->input_mode, trains);
    }
}

static bool is_level(const struct stk_args *args, long long level)
{
    const struct stk_opt_value *v = &args->values[STK_OPT_ID_LEVEL];
    return v->set && v->number == level;
}

static void start_gpu(struct running *r, const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    struct stk_gpu_plan plan = {.after_ns = AFTER_NS, .for_ns = FOR_NS};
    if (v[STK_OPT_ID_RUN_AFTER].set) {
        plan.after_ns = (uint64_t)v[STK_OPT_ID_RUN_AFTER].number;
        plan.has_after = true;
    }
    if (v[STK_OPT_ID_RUN_FOR].set) {
        plan.for_ns = (uint64_t)v[STK_OPT_ID_RUN_FOR].number;
    }
    plan.every_ns = v[STK_OPT_ID_RUN_EVERY].set ? (uint64_t)v[STK_OPT_ID_RUN_EVERY].number : 0;
    stk_gpu_start(&r->gpu, r->folder, &r->hooks, &plan);
    r->run.no_gpu = r->gpu.why_not;
}

// Starts the job, with the hooks and the other variables in its environment.
static enum stoker_status start(struct running *r, const struct stk_args *args, char *const *argv,
                                const char *plan, struct stk_scratch *sockets,
                                struct stoker_err *err)
{
    enum stoker_status status = stk_hooks_put(r->folder, &r->hooks, err);
    if (status == STOKER_OK && args->values[STK_OPT_ID_ON_DEMAND].set) {
        status = stk_on_demand_set(&r->hooks, sockets, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    if (is_level(args, 1)) {
        start_gpu(r, args);
    }
    char **with_gpu = stk_gpu_environment(&r->gpu);
    char **env = with_gpu ? stk_hooks_environment(&r->hooks, with_gpu, plan) : NULL;
    if (env) {
        announce(&r->run, "trains");
        status = stk_job_start(&r->job, argv, env, err);
    } else {
        status = stk_err_nomem(err);
    }
    stk_free(env);
    stk_free(with_gpu);
    return status;
}

static int run_in_folder(struct running *r, const struct stk_args *args, char *const *argv,
                         const char *plan)
{
    STK_ASSERT(argv && argv[0]);
    struct stk_scratch sockets = STK_NO_SCRATCH;
    struct stoker_err err;
    if (start(r, args, argv, plan, &sockets, &err) != STOKER_OK) {
        stk_gpu_end(&r->gpu, &r->run.gpu);
        stk_hooks_drop(&r->hooks);
        stk_scratch_remove(&sockets);
        (void)stk_remove_folder(AT_FDCWD, r->folder);
        int code = cannot_run(r, &err);
        stk_job_release(&r->job);
        return code;
    }
    sample(r);
    stk_job_wait(&r->job, TICK_MS, tick, r);
    end_sampling(r);
    stk_job_end(&r->job);
    stk_gpu_end(&r->gpu, &r->run.gpu);
    r->run.wall_ns = r->job.end_ns - r->job.start_ns;
    int status = r->job.wait_status;
    r->run.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    r->run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    r->run.processes = stk_hooks_seen(&r->hooks, NULL, 0);
    stk_hooks_drop(&r->hooks);
    stk_scratch_remove(&sockets);
    stk_job_release(&r->job);
    read_and_say(r, args);
    announce(&r->run, "trained");
    return end_as(r);
}

// The run's folder can't be opened: the job isn't started.
static int without_folder(const struct running *r)
{
    struct stoker_err err;
    stk_err_set(&err, stk_err_of_file(errno, STOKER_EOUTPUT), "%s: %s", r->folder, strerror(errno));
    (void)stk_remove_folder(AT_FDCWD, r->folder);
    return stk_fail(&err);
}

// Refuses options that don't apply to the chosen level.
static int check_level(const struct stk_args *args)
{
    static const enum stk_opt_id of_gpu[] = {STK_OPT_ID_RUN_AFTER, STK_OPT_ID_RUN_FOR,
                                             STK_OPT_ID_RUN_EVERY};
    static const char *const names[] = {"after", "for", "every"};
    const struct stk_opt_value *v = args->values;
    if (v[STK_OPT_ID_LEVEL].set && !is_level(args, 0) && !is_level(args, 1)) {
        return stk_usage(&stk_cmd_run, "--level: 0 (no profile) or 1 (only GPU activity). Without "
                                       "--level, the framework's profiler records a window");
    }
    if (is_level(args, 0) && (v[STK_OPT_ID_STOP].set || v[STK_OPT_ID_WINDOW].set)) {
        return stk_usage(&stk_cmd_run, "--level 0 records no window, so --%s doesn't apply",
                         v[STK_OPT_ID_STOP].set ? "stop" : "steps");
    }
    for (size_t i = 0; i < sizeof of_gpu / sizeof of_gpu[0]; i++) {
        if (v[of_gpu[i]].set && !is_level(args, 1)) {
            return stk_usage(&stk_cmd_run, "--%s applies only to GPU windows: add --level 1",
                             names[i]);
        }
    }
    return STK_EXIT_DONE;
}

static int check(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    if (v[STK_OPT_ID_WINDOW].set &&
        (v[STK_OPT_ID_WINDOW].number < 1 || v[STK_OPT_ID_WINDOW].number > STEPS_MAX)) {
        return stk_usage(&stk_cmd_run,
                         "--steps: from 1 to %d, as a profile holds every call of its steps",
                         STEPS_MAX);
    }
    int code = check_level(args);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    const char *input = v[STK_OPT_ID_INPUT].text;
    if (input && strcmp(input, "cached") != 0 && strcmp(input, "synthetic") != 0) {
        return stk_usage(&stk_cmd_run, "--input: '%s' is neither cached nor synthetic", input);
    }
    if ((v[STK_OPT_ID_ALLOW_CHECKPOINTS].set || v[STK_OPT_ID_COMPARE].set) && !input) {
        return stk_usage(&stk_cmd_run, "--%s needs --input",
                         v[STK_OPT_ID_COMPARE].set ? "compare" : "allow-checkpoints");
    }
    return STK_EXIT_DONE;
}

static int run_run(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    struct running r = {.stops = v[STK_OPT_ID_STOP].set};
    struct stoker_err err;
    int code = check(args);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    r.warmup = v[STK_OPT_ID_RUN_WARMUP].set ? (uint64_t)v[STK_OPT_ID_RUN_WARMUP].number : WARMUP;
    r.run.has_window = !is_level(args, 0);
    r.run.input_mode = v[STK_OPT_ID_INPUT].set ? v[STK_OPT_ID_INPUT].text : "as-is";
    char **argv = stk_alloc_array((size_t)args->word_count + 1, sizeof *argv);
    if (!argv) {
        return stk_fail_nomem();
    }
    memcpy(argv, args->words, (size_t)args->word_count * sizeof *argv);
    argv[args->word_count] = NULL;
    r.run.command = (const char *const *)argv;
    stk_job_prepare(&r.job);
    if (stk_folder_make(v[STK_OPT_ID_OUT].text, "stoker-runs", &r.folder, &err) != STOKER_OK) {
        stk_job_release(&r.job);
        stk_free(argv);
        return stk_fail(&err);
    }
    r.run.folder = r.folder;
    stk_leftover_sweep_beside(r.folder);
    stk_scratch_sweep();
    struct stk_hook_plan plan = {.warmup = r.warmup,
                                 .saves = v[STK_OPT_ID_ALLOW_CHECKPOINTS].set,
                                 .gpu = is_level(args, 1),
                                 .input = r.run.input_mode};
    if (v[STK_OPT_ID_RUN_EVERY].set) {
        plan.every_ns = (uint64_t)v[STK_OPT_ID_RUN_EVERY].number;
    }
    if (r.run.has_window) {
        plan.steps =
            v[STK_OPT_ID_WINDOW].set ? (uint64_t)v[STK_OPT_ID_WINDOW].number : (uint64_t)STEPS;
    }
    char text[STK_HOOK_PLAN_MAX];
    stk_hooks_plan(&plan, r.folder, text);
    r.opened = stk_folder_itself(AT_FDCWD, r.folder);
    code = r.opened < 0 ? without_folder(&r) : run_in_folder(&r, args, argv, text);
    if (r.opened >= 0) {
        close(r.opened);
    }
    stk_steps_free(&r.run.steps);
    stk_free(argv);
    stk_free(r.folder);
    return code;
}

const struct stk_cmd stk_cmd_run = {
    .name = "run",
    .summary = "run a job unchanged, record it, and report where its time goes",
    .group = STK_CMD_RECORD,
    .words = "-- COMMAND...",
    .description =
        "Runs COMMAND with its own input, output, terminal, directory and signals, and exits with "
        "its status. Hooks record the step times and input waits of the whole run, for PyTorch, "
        "Keras, tf.data loops and JAX. Your code doesn't change. After a warm-up, the framework's "
        "own profiler records a few steps. At the end stoker prints the same report as `stoker "
        "why`.\n\n"
        "Everything goes to a folder in stoker-runs/, unless you give --out. `stoker why FOLDER` "
        "prints the report again. If the program profiles itself, stoker records no window and "
        "says so.\n\n"
        "--input cached|synthetic measures the job with free input. After the first batches of "
        "each data set (DataLoader, Keras' fit, tf.data, Grain), it repeats them, or returns "
        "random batches of the same shapes. The step time is compared with the newest normal run "
        "of the same command, or with --compare DIR. No checkpoints are written.\n\n"
        "--level 1 records only GPU activity, through CUPTI. It works for programs in any "
        "language, and --every repeats it. docs/level1.md lists its limits.\n\n"
        "--on-demand lets `stoker capture PID` profile a PyTorch job again while it runs "
        "(KINETO_USE_DAEMON).\n\n"
        "Exit codes are the job's; 127 if the command isn't found, 126 if it can't be run. A job "
        "that --stop ended exits with 0.",
    .examples = "stoker run -- python train.py\trecord and explain a job\n"
                "stoker run --stop -- python train.py\tonly its first steps\n"
                "stoker run --level 0 --json run.json -- python train.py\tonly step times\n"
                "stoker run --level 1 --after 0s --for 0s -- ./train\tthe whole run\n"
                "stoker run -- torchrun --nproc-per-node 2 train.py\tseveral ranks\n",
    .min_words = 1,
    .max_words = 1 << 20,
    .options = {STK_OPT_ID_WINDOW, STK_OPT_ID_RUN_WARMUP, STK_OPT_ID_OUT, STK_OPT_ID_STOP,
                STK_OPT_ID_LEVEL, STK_OPT_ID_RUN_AFTER, STK_OPT_ID_RUN_FOR, STK_OPT_ID_RUN_EVERY,
                STK_OPT_ID_INPUT, STK_OPT_ID_COMPARE, STK_OPT_ID_ALLOW_CHECKPOINTS,
                STK_OPT_ID_ON_DEMAND, STK_OPT_ID_RUN_JSON, STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = run_run,
};
