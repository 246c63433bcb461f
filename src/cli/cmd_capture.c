// SPDX-License-Identifier: Apache-2.0
// stoker capture: a window of a job that is already running. A process is a PyTorch job, asked
// through Kineto's protocol; HOST:PORT is the profiler server of a TensorFlow or JAX program.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/atomic_file.h"
#include "base/remove.h"
#include "base/str.h"
#include "base/terms.h"
#include "job/capture/parent/folder.h"
#include "job/capture/parent/scratch.h"
#include "job/capture/parent/step_record.h"
#include "job/capture/remote/kineto.h"
#include "job/capture/remote/profiler_service.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "job/live/target.h"

#define CAPTURES "stoker-captures"
#define STEPS_ROOM 1.2 // steps vary; the first one is incomplete
enum {
    DURATION_MS = 3000,
    DURATION_MOST_MS = 600000,
    STEPS_MOST = 1000,
    ASK_MS = 30000, // Kineto polls every five seconds
    WRITE_MS = 120000,
    ANSWER_MS = 120000,
    PORT_MAX = 65535
};

static bool is_cancelled(void)
{
    return stk_signals_pending() != 0;
}

static void tell(void *arg, const char *what)
{
    (void)arg;
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "stoker: %s\n", what);
    }
}

static int write_stdout(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    return fwrite(bytes, 1, n, stdout) == n ? 0 : -1;
}

// ---- the request ----

static int window_of(const struct stk_args *args, uint64_t median_ns, uint64_t *ms)
{
    const struct stk_opt_value *v = args->values;
    *ms = DURATION_MS;
    if (v[STK_OPT_ID_DURATION].set && v[STK_OPT_ID_CAPTURE_STEPS].set) {
        return stk_usage(&stk_cmd_capture,
                         "--duration and --steps both set the window's length; give one");
    }
    if (v[STK_OPT_ID_DURATION].set) {
        *ms = (uint64_t)v[STK_OPT_ID_DURATION].number / 1000000u;
    } else if (v[STK_OPT_ID_CAPTURE_STEPS].set) {
        if (!median_ns) {
            return stk_usage(&stk_cmd_capture,
                             "--steps works only for jobs under `stoker run`, whose step time is "
                             "known. For this job, give --duration 3s");
        }
        int64_t steps = v[STK_OPT_ID_CAPTURE_STEPS].number;
        if (steps < 1 || steps > STEPS_MOST) {
            return stk_usage(&stk_cmd_capture, "--steps: from 1 to %d", STEPS_MOST);
        }
        *ms = (uint64_t)(STEPS_ROOM * (double)(steps + 1) * (double)median_ns * 1e-6) + 1;
    }
    if (*ms < 1 || *ms > DURATION_MOST_MS) {
        return stk_usage(&stk_cmd_capture, "--duration: from 1ms to 10min");
    }
    return STK_EXIT_DONE;
}

// Prints the report of the captured window on standard output.
static int explain(const struct stk_args *args, const char *path)
{
    struct stoker_why_options options;
    struct stoker_result *result = NULL;
    struct stoker_err err;
    struct stoker_write_options how = {
        .colour = stk_screen_colour(STDOUT_FILENO, args->values[STK_OPT_ID_NO_COLOR].set),
        .columns = stk_screen_columns(STDOUT_FILENO),
        .ascii = isatty(STDOUT_FILENO) && stk_screen_ascii()};
    fprintf(stderr, "stoker: recorded ");
    stk_screen_put(stderr, path, STK_SCREEN_ALL);
    fputc('\n', stderr);
    if (args->values[STK_OPT_ID_QUIET].set) {
        return STK_EXIT_DONE;
    }
    stoker_why_options_default(&options);
    options.limit = 20;
    int code = STK_EXIT_DONE;
    if (stoker_why(&path, 1, &options, &result, &err) != STOKER_OK ||
        stoker_result_write(result, "text", &how, write_stdout, NULL, &err) != STOKER_OK) {
        code = stk_fail(&err);
    } else if (strcmp(stoker_result_verdict(result), stk_verdict_key(STK_VERDICT_CANNOT_TELL)) ==
               0) {
        code = STK_EXIT_CANNOT_TELL;
    }
    stoker_result_free(result);
    return fflush(stdout) == 0 ? code : stk_output_failed(code);
}

// ---- a process ----

// The stepping process of a run, and how long its steps are. Skips `stoker run` itself.
static void see_steps(const struct stk_live_target *target, pid_t *pid, uint64_t *median_ns)
{
    struct stk_steps_of_run steps = {0};
    struct stoker_err err;
    bool is_rank = false;
    if (!target->folder[0] || stk_steps_read(target->folder, 0, &steps, &err) != STOKER_OK) {
        stk_steps_free(&steps);
        return;
    }
    for (size_t i = 0; i < steps.count; i++) {
        is_rank |= steps.ranks[i].head.pid == (uint64_t)*pid;
    }
    if (steps.count) {
        *median_ns = steps.ranks[steps.lead].median_ns;
        *pid = is_rank ? *pid : (pid_t)steps.ranks[steps.lead].head.pid;
    }
    stk_steps_free(&steps);
}

static int cannot_listen(pid_t pid, const struct stk_kineto_job *job)
{
    struct stoker_err err;
    stk_err_init(&err);
    stk_err_set(&err, STOKER_EINPUT,
                job->is_known ? "process %d can't be profiled on request. Start a PyTorch job with "
                                "`stoker run --on-demand`, or set KINETO_USE_DAEMON=1. For "
                                "TensorFlow and JAX, give the profiler server's HOST:PORT"
                              : "process %d: its environment can't be read, so the way to profile "
                                "it is unknown. Run stoker as the user who owns the process",
                (int)pid);
    return stk_fail(&err);
}

// The path of the trace, named like PyTorch's own traces.
static bool name_trace(const char *from, const char *folder, char *to, size_t size)
{
    STK_ASSERT(size > 0);
    const char *slash = strrchr(from, '/');
    int n = snprintf(to, size, "%s/%s", folder, slash ? slash + 1 : from);
    if (n < 0 || (size_t)n + 16 > size) {
        return false;
    }
    char *dot = strstr(to + strlen(folder), ".json");
    if (dot) {
        snprintf(dot, size - (size_t)(dot - to), ".pt.trace.json");
    }
    return true;
}

// Copies the trace of another user's job. That user may put a link under the name, so only a plain
// file of that user is copied, and only its bytes. 0, or an errno.
static int copy_trace(const char *from, uid_t owner, const char *to)
{
    char buffer[65536];
    struct stat st;
    struct stk_atomic_file file;
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_its = in >= 0 && fstat(in, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == owner &&
                  st.st_nlink == 1;
    int error = is_its ? stk_atomic_file_open(&file, to) : EPERM;
    if (error == 0) {
        ssize_t n = 1;
        off_t left = st.st_size; // no more: somebody could append forever
        while (n > 0 && left > 0 && (n = read(in, buffer, sizeof buffer)) > 0) {
            n = write(file.fd, buffer, (size_t)n) == n ? n : -1;
            left -= n;
        }
        error = n < 0 ? EIO : 0;
        int last = stk_atomic_file_close(&file, error == 0);
        error = error ? error : last;
    }
    if (in >= 0) {
        close(in);
    }
    return error;
}

// Kineto writes such traces only into its own folder; they are moved from there.
static enum stoker_status move_trace(const char *from, const struct stk_kineto_job *job,
                                     const char *folder, char *to, size_t size,
                                     struct stoker_err *err)
{
    if (!name_trace(from, folder, to, size)) {
        return stk_err_set(err, STOKER_EUSAGE, "%.200s: too long a name", folder);
    }
    int error =
        job->uid == geteuid() ? stk_atomic_file_move(from, to) : copy_trace(from, job->uid, to);
    return error ? stk_err_set(err, STOKER_EOUTPUT, "%.200s: cannot be moved to %.200s: %s", from,
                               to, strerror(error))
                 : STOKER_OK;
}

static enum stoker_status capture_kineto(pid_t pid, const struct stk_kineto_job *job, uint64_t ms,
                                         const char *folder, char *path, size_t size,
                                         struct stoker_err *err)
{
    char trace[STK_KINETO_PATH + 16], found[STK_KINETO_PATH];
    struct stk_scratch scratch;
    enum stoker_status status =
        stk_scratch_make(job->trace_dir[0] ? job->trace_dir : "/tmp", &scratch, err);
    if (status != STOKER_OK) {
        return status;
    }
    if (job->uid != geteuid() && fchown(scratch.folder, job->uid, (gid_t)-1) != 0) {
        stk_scratch_remove(&scratch);
        return stk_err_set(err, STOKER_EOUTPUT,
                           "process %d belongs to another user and can't write to your folders. "
                           "Run stoker as that user, or as root",
                           (int)pid);
    }
    snprintf(trace, sizeof trace, "%s/trace.json", scratch.path);
    struct stk_kineto_plan plan = {.pid = pid,
                                   .job = job,
                                   .trace = trace,
                                   .duration_ms = ms,
                                   .ask_ms = ASK_MS,
                                   .write_ms = WRITE_MS,
                                   .is_cancelled = is_cancelled,
                                   .told = tell};
    status = stk_kineto_capture(&plan, found, err);
    if (status == STOKER_OK) {
        status = move_trace(found, job, folder, path, size, err);
    }
    stk_scratch_remove(&scratch);
    return status;
}

static int capture_process(const struct stk_args *args)
{
    static struct stk_live_target target;
    static struct stk_kineto_job job;
    struct stoker_err err;
    uint64_t median_ns = 0, ms;
    if (stk_live_target_find(args->words[0], &target, &err) != STOKER_OK) {
        return stk_fail(&err);
    }
    pid_t pid = target.pid;
    see_steps(&target, &pid, &median_ns);
    int code = window_of(args, median_ns, &ms);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    stk_kineto_look(pid, &job);
    if (!job.listens) {
        return cannot_listen(pid, &job);
    }
    char *folder = NULL, path[STK_KINETO_PATH];
    if (stk_folder_make(args->values[STK_OPT_ID_CAPTURE_OUT].text, CAPTURES, &folder, &err) !=
        STOKER_OK) {
        return stk_fail(&err);
    }
    stk_signals_catch();
    stk_scratch_sweep();
    code = capture_kineto(pid, &job, ms, folder, path, sizeof path, &err) == STOKER_OK
               ? explain(args, path)
               : stk_fail(&err);
    (void)stk_remove_folder(AT_FDCWD, folder); // if nothing arrived
    stk_free(folder);
    return code;
}

// ---- a profiler server ----

// HOST:PORT or [ADDRESS]:PORT; false: neither.
static bool split(const char *word, char *host, size_t size, const char **port)
{
    STK_ASSERT(size > 0);
    const char *colon = strrchr(word, ':');
    int64_t number;
    bool is_v6 = *word == '[' && colon && colon > word && colon[-1] == ']';
    size_t n = colon ? (size_t)(colon - word) : 0;
    if (n < 1 || n >= size || !stk_str_to_i64(stk_str_from(colon + 1), &number) || number < 1 ||
        number > PORT_MAX || (!is_v6 && memchr(word, ':', n)) || memchr(word, '/', n)) {
        return false;
    }
    snprintf(host, size, "%.*s", (int)(is_v6 ? n - 2 : n), is_v6 ? word + 1 : word);
    *port = colon + 1;
    return *host != 0;
}

static int say_wrote(const struct stk_args *args, const char *folder, const char *session)
{
    char path[4200];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, session);
    if (stat(path, &st) == 0) { // the server writes to this machine's disk
        return explain(args, path);
    }
    fputs("stoker: this server is too old to send its profiles and keeps them on its own disk: "
          "look there for ",
          stderr);
    stk_screen_put(stderr, path, STK_SCREEN_ALL);
    fputc('\n', stderr);
    return STK_EXIT_CANNOT_TELL;
}

static int capture_service(const struct stk_args *args, const char *host, const char *port)
{
    struct stoker_err err;
    uint64_t ms;
    char *folder = NULL, path[4200];
    enum stk_service_how how;
    int code = window_of(args, 0, &ms);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    if (stk_folder_make(args->values[STK_OPT_ID_CAPTURE_OUT].text, CAPTURES, &folder, &err) !=
        STOKER_OK) {
        return stk_fail(&err);
    }
    struct stk_service_plan plan = {.host = host,
                                    .port = port,
                                    .folder = folder,
                                    .session = "capture",
                                    .duration_ms = ms,
                                    .answer_ms = ANSWER_MS,
                                    .is_cancelled = is_cancelled};
    stk_signals_catch();
    if (stk_service_capture(&plan, &how, path, sizeof path, &err) != STOKER_OK) {
        code = stk_fail(&err);
    } else if (how == STK_SERVICE_SENT) {
        code = explain(args, path);
    } else if (how == STK_SERVICE_WROTE) {
        code = say_wrote(args, folder, plan.session);
    } else {
        fputs("stoker: the server recorded nothing in that time\n", stderr);
        code = STK_EXIT_CANNOT_TELL;
    }
    (void)stk_remove_folder(AT_FDCWD, folder);
    stk_free(folder);
    return code;
}

static int capture_run(const struct stk_args *args)
{
    char host[256];
    const char *port;
    int64_t number;
    if (stk_str_to_i64(stk_str_from(args->words[0]), &number)) {
        return capture_process(args);
    }
    if (split(args->words[0], host, sizeof host, &port)) {
        return capture_service(args, host, port);
    }
    return stk_usage(&stk_cmd_capture, "'%s' is neither a process id nor HOST:PORT",
                     args->words[0]);
}

const struct stk_cmd stk_cmd_capture = {
    .name = "capture",
    .summary = "profile a running job, and report where its time goes",
    .group = STK_CMD_RECORD,
    .words = "PID|HOST:PORT",
    .description =
        "Profiles a running job for a few seconds with its framework's own profiler, and prints "
        "the same report as stoker why.\n\n"
        "PID: a PyTorch job started by `stoker run --on-demand`, or with KINETO_USE_DAEMON=1 in "
        "its environment. Its profiler (Kineto) checks for requests every five seconds, and stoker "
        "takes the role of dynolog.\n\n"
        "HOST:PORT: the profiler server of a TensorFlow or JAX program. The program starts it with "
        "tf.profiler.experimental.server.start(PORT) or jax.profiler.start_server(PORT). stoker "
        "contacts only the host that you name.\n\n"
        "The profile goes to a new folder in stoker-captures/, unless you give --out.",
    .examples = "stoker capture 4242\tthree seconds of a PyTorch job\n"
                "stoker capture --steps 20 4242\t20 steps of a job under stoker run\n"
                "stoker capture --duration 1s localhost:6009\ta TensorFlow or JAX program\n",
    .min_words = 1,
    .max_words = 1,
    .options = {STK_OPT_ID_DURATION, STK_OPT_ID_CAPTURE_STEPS, STK_OPT_ID_CAPTURE_OUT,
                STK_OPT_ID_NO_COLOR, STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .run = capture_run,
};
