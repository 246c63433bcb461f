// SPDX-License-Identifier: Apache-2.0
// One run of a command, and the numbers it prints: how it ends, what it leaves behind, limits.
#include "job/prove/keeper.h"
#include "job/prove/metric.h"
#include "job/prove/neighbours.h"
#include "job/prove/trial.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"

struct seen {
    char text[256];
    size_t n, all;
};

static enum stoker_status take(void *arg, const char *bytes, size_t n, struct stoker_err *err)
{
    struct seen *s = arg;
    (void)err;
    for (size_t i = 0; i < n && s->n + 1 < sizeof s->text; i++) {
        s->text[s->n++] = bytes[i];
    }
    s->text[s->n] = 0;
    s->all += n;
    return STOKER_OK;
}

static struct seen seen;
static struct stk_trial_result result;
static struct stoker_err err;

static enum stoker_status run_shell(const char *script, char *const *env, int64_t timeout_ns)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)script, NULL};
    struct stk_trial t = {
        .argv = argv, .env = env, .timeout_ns = timeout_ns, .take = take, .arg = &seen};
    seen = (struct seen){0};
    return stk_trial_run(&t, &result, &err);
}

static void ends(void)
{
    CHECK_EQ(run_shell("echo out; echo err >&2; exit 7", NULL, 0), STOKER_OK);
    CHECK_STR(seen.text, "out\nerr\n");
    CHECK(result.status == 7 && result.signal == 0 && !result.is_late && result.wall_ns > 0);
    CHECK_EQ(run_shell("kill -TERM $$", NULL, 0), STOKER_OK);
    CHECK(result.signal == SIGTERM && result.status == 0);
    CHECK_EQ(run_shell("cat; echo read", NULL, 0), STOKER_OK); // its input is empty
    CHECK_STR(seen.text, "read\n");
    char *const env[] = {(char *)"WORD=one two", (char *)"PATH=/usr/bin:/bin", NULL};
    CHECK_EQ(run_shell("echo \"$WORD\"", env, 0), STOKER_OK);
    CHECK_STR(seen.text, "one two\n");
    char *none[] = {(char *)"/no/such/command", NULL};
    struct stk_trial t = {.argv = none};
    CHECK_EQ(stk_trial_run(&t, &result, &err), STOKER_EINPUT);
    CHECK(strstr(err.message, "can't run /no/such/command: No such file") != NULL);
}

static void is_gone(pid_t pid)
{
    for (int i = 0; i < 5000 && kill(pid, 0) == 0; i++) {
        usleep(1000); // killed, and not yet taken up by its new parent
    }
    CHECK(kill(pid, 0) != 0 && errno == ESRCH);
}

static void limits(void)
{
    CHECK_EQ(run_shell("echo $$; sleep 100", NULL, 300000000), STOKER_OK);
    CHECK(result.is_late && result.wall_ns >= 300000000 && result.signal == SIGKILL);
    is_gone((pid_t)strtol(seen.text, NULL, 10));
    // Without an end, and faster than it is read.
    CHECK_EQ(run_shell("exec yes", NULL, 300000000), STOKER_OK);
    CHECK(result.is_late && seen.all > 100000);
    // Processes left in its group end with it, and don't hold it up.
    CHECK_EQ(run_shell("sleep 100 & echo $!", NULL, 0), STOKER_OK);
    CHECK(result.status == 0 && result.wall_ns < 50000000000u);
    is_gone((pid_t)strtol(seen.text, NULL, 10));
}

static bool stop_now(void *arg)
{
    (void)arg;
    return true;
}

static void stops(void)
{
    char *argv[] = {(char *)"sleep", (char *)"100", NULL};
    struct stk_trial t = {.argv = argv, .stop = stop_now};
    CHECK_EQ(stk_trial_run(&t, &result, &err), STOKER_EINTR);
    CHECK(result.wall_ns < 50000000000u);
}

static bool has_said(void *arg)
{
    (void)arg;
    return strstr(seen.text, "ready") != NULL;
}

// A run that has done its job is asked to end, and forced if it doesn't. The second shell's output
// is discarded: it may report that its child, which gets the signal, too, was terminated.
static void is_done(void)
{
    static const char *const scripts[] = {"echo ready; exec sleep 100",
                                          "exec 2>/dev/null; trap 'echo told; exit 3' TERM; "
                                          "echo ready; while :; do sleep 0.01; done"};
    for (int i = 0; i < 2; i++) {
        char *argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)scripts[i], NULL};
        struct stk_trial t = {.argv = argv, .take = take, .is_done = has_said, .arg = &seen};
        seen = (struct seen){0};
        CHECK_EQ(stk_trial_run(&t, &result, &err), STOKER_OK);
        CHECK(result.is_done && !result.is_late && result.wall_ns < 50000000000u);
        CHECK(i ? result.status == 3 : result.signal == SIGTERM);
    }
    CHECK_STR(seen.text, "ready\ntold\n");
}

// A daemon in a session of its own, whose parent is gone, ends with the run.
static void daemons(void)
{
    if (access("/proc/thread-self/children", R_OK) != 0) {
        printf("skipped: this kernel does not list children\n");
        return;
    }
    CHECK_EQ(run_shell("f=$(mktemp); setsid sh -c \"sleep 100 & echo \\$! | tee $f; sleep 100\" & "
                       "until [ -s $f ]; do sleep 0.01; done; rm $f",
                       NULL, 0),
             STOKER_OK);
    pid_t daemon = (pid_t)strtol(seen.text, NULL, 10);
    CHECK(daemon > 0 && result.status == 0);
    is_gone(daemon);
}

// What a shell starts in groups and sessions of its own; prints the numbers of three processes.
static const char many[] = "sleep 100 & echo $!; setsid sleep 100 & sleep 0.3; "
                           "setsid sh -c 'sleep 100 & echo $!; exec sleep 100' & echo $!; "
                           "sleep 0.3; echo ready; sleep 100";

// Reads as many numbers as there are, up to "ready".
static int read_pids(int from, pid_t pids[8])
{
    char line[32];
    int count = 0;
    FILE *f = fdopen(from, "r");
    while (f && count < 8 && fgets(line, sizeof line, f) && strncmp(line, "ready", 5) != 0) {
        pids[count++] = (pid_t)strtol(line, NULL, 10);
    }
    if (f) {
        fclose(f);
    }
    return count;
}

static enum stoker_status pass_on(void *arg, const char *bytes, size_t n, struct stoker_err *e)
{
    const int *to = arg;
    return write(*to, bytes, n) == (ssize_t)n ? STOKER_OK : stk_err_set(e, STOKER_EOUTPUT, "pipe");
}

// A process that runs a trial is killed: nothing of the trial goes on.
static void killed(void)
{
    int out[2];
    pid_t pids[8];
    CHECK_EQ(pipe(out), 0);
    pid_t stoker = fork();
    if (stoker == 0) {
        char *argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)many, NULL};
        struct stk_trial t = {.argv = argv, .take = pass_on, .arg = &out[1]};
        close(out[0]);
        (void)!stk_trial_run(&t, &result, &err);
        _exit(0);
    }
    close(out[1]);
    int count = read_pids(out[0], pids);
    CHECK_EQ(count, 3);
    for (int i = 0; i < count; i++) {
        CHECK_EQ(kill(pids[i], 0), 0);
    }
    kill(stoker, SIGKILL);
    CHECK_EQ(waitpid(stoker, NULL, 0), stoker);
    for (int i = 0; i < count; i++) {
        is_gone(pids[i]);
    }
}

static void kill_root(void *arg, pid_t root)
{
    *(pid_t *)arg = root;
    kill(root, SIGKILL);
}

// The process between is killed: the run is no measurement, and what it watched over ends.
static void without_its_keeper(void)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"sleep 100", NULL};
    pid_t root = 0;
    struct stk_trial t = {.argv = argv, .starts = kill_root, .arg = &root};
    uint64_t start_ns = stk_clock_ns();
    CHECK_EQ(stk_trial_run(&t, &result, &err), STOKER_EINPUT);
    CHECK(strstr(err.message, "sh: stoker's process that watched it was killed"));
    CHECK(root > 0 && stk_clock_ns() - start_ns < 50000000000u);
    is_gone(root);
}

// Holds up a keeper until its command has ended; exits with 0 where the end is known.
static void end_late(int tell_keeper)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"sleep 0.2; exit 5", NULL};
    struct stk_keeper keeper;
    struct stk_keeper_end end;
    if (stk_keeper_start(&keeper, argv, NULL, STDOUT_FILENO, &err) != STOKER_OK) {
        _exit(1);
    }
    kill(keeper.pid, SIGSTOP);
    stk_keeper_tell(&keeper); // read before the keeper sees that the command has ended
    (void)!write(tell_keeper, &keeper.pid, sizeof keeper.pid);
    bool known = stk_keeper_end(&keeper, &end); // this order is not read
    _exit(known && WIFEXITED(end.wait_status) && WEXITSTATUS(end.wait_status) == 5 ? 0 : 2);
}

// The keeper closes its line with an order unread, before its news is taken: the news still
// arrives. The process that asks is stopped until the keeper is gone.
static void late_order(void)
{
    int out[2], status = -1;
    pid_t keeper = 0;
    CHECK_EQ(pipe(out), 0);
    pid_t asks = fork();
    if (asks == 0) {
        end_late(out[1]);
    }
    CHECK_EQ(read(out[0], &keeper, sizeof keeper), (ssize_t)sizeof keeper);
    usleep(500000); // the command has ended, the process waits for the news
    kill(asks, SIGSTOP);
    kill(keeper, SIGCONT);
    usleep(500000); // the keeper is gone
    kill(asks, SIGCONT);
    CHECK_EQ(waitpid(asks, &status, 0), asks);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(out[0]);
    close(out[1]);
}

// What is ignored stays so (nohup), what this program does itself is not passed on.
static void signals(void)
{
    signal(SIGHUP, SIG_IGN);
    CHECK_EQ(run_shell("kill -HUP $$; echo lives", NULL, 0), STOKER_OK);
    CHECK_STR(seen.text, "lives\n");
    signal(SIGHUP, SIG_DFL);
    CHECK_EQ(run_shell("kill -HUP $$; echo lives", NULL, 0), STOKER_OK);
    CHECK(result.signal == SIGHUP && seen.n == 0);
}

static double number_of(const char *pattern, int64_t warmup, const char *output)
{
    struct stk_metric m;
    double value = -1;
    CHECK_EQ(stk_metric_open(&m, pattern, &err), STOKER_OK);
    stk_metric_begin(&m);
    for (const char *p = output; *p; p++) { // cut anywhere
        if (stk_metric_feed(&m, p, 1, &err) != STOKER_OK) {
            stk_metric_close(&m);
            return -2;
        }
    }
    if (stk_metric_end(&m, warmup, &value, &err) != STOKER_OK) {
        value = -2;
    }
    stk_metric_close(&m);
    return value;
}

static void metrics(void)
{
    CHECK_EQ(number_of("([0-9.]+) ms", -1, "step 9.5 ms\nstep 2 ms\rstep 4 ms and 3 ms"), 3.5);
    CHECK_EQ(number_of("([0-9.]+) ms", 2, "step 9.5 ms\nstep 2 ms\rstep 4 ms and 3 ms"), 3.5);
    CHECK_EQ(number_of("([0-9.]+) ms", 3, "step 9.5 ms\nstep 2 ms\rstep 4 ms and 3 ms"), 3);
    CHECK_EQ(number_of("[0-9.]+e-3", -1, "1.5e-3"), 0.0015); // no parenthesis: all of it
    CHECK_EQ(number_of("x(?:a|([0-9]))", -1, "xa x7"), 7);   // a part that has no share in a match
    CHECK_EQ(number_of("([0-9]*)x", 0, "x"), -2);
    CHECK(strstr(err.message, "is not a number above 0") != NULL);
    CHECK_EQ(number_of("step.*", 0, "step 3"), -2);
    CHECK_EQ(number_of("-?[0-9]+", 0, "-3"), -2);
    CHECK_EQ(number_of("loss ([0-9.]+)", 0, "nothing\n"), -2);
    CHECK(strstr(err.message, "no number") != NULL);
    CHECK_EQ(number_of("([0-9.]+)", 5, "1 2 3"), -2);
    CHECK(strstr(err.message, "skips everything") != NULL);
    struct stk_metric m;
    CHECK_EQ(stk_metric_open(&m, "(", &err), STOKER_EUSAGE);
    stk_metric_close(&m);
    // The end of the output is kept, however long it was; so is a line that is longer than that.
    CHECK_EQ(stk_metric_open(&m, NULL, &err), STOKER_OK);
    for (int i = 0; i < 20000; i++) {
        const char *line = &"0123456789 the last\n"[i % 3]; // of several lengths
        CHECK_EQ(stk_metric_feed(&m, line, strlen(line), &err), STOKER_OK);
    }
    CHECK(m.tail_n <= STK_METRIC_TAIL && m.tail_n > 100);
    CHECK(memcmp(m.tail + m.tail_n - 9, "the last\n", 9) == 0);
    for (int i = 0; i < 10000; i++) {
        CHECK_EQ(stk_metric_feed(&m, "x", 1, &err), STOKER_OK);
    }
    CHECK_EQ(stk_metric_feed(&m, "\n", 1, &err), STOKER_OK);
    CHECK(m.tail_n <= STK_METRIC_TAIL && m.tail[m.tail_n - 2] == 'x');
    stk_metric_close(&m);
}

static void neighbours(void)
{
    struct stk_neighbours before = {.busy = 1000, .stolen = 0, .all = 2000};
    struct stk_neighbours after = before;
    struct stk_neighbour_shares s = stk_neighbours_between(&before, &after, 0);
    CHECK(s.others == 0 && s.stolen == 0);
    uint64_t ticks = 100 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) *
                     (uint64_t)sysconf(_SC_CLK_TCK); // of a hundred seconds
    after.all += ticks;
    after.busy += ticks / 2;
    after.stolen += ticks / 10;
    uint64_t own_ns = 100u * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * 1000000000u / 5;
    s = stk_neighbours_between(&before, &after, own_ns);
    CHECK(s.others > 0.299 && s.others < 0.301 && s.stolen > 0.099 && s.stolen < 0.101);
    s = stk_neighbours_between(&after, &before, 0); // counters that went back
    CHECK(s.others == 0 && s.stolen == 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(ends);
    CHECK_RUN(limits);
    CHECK_RUN(stops);
    CHECK_RUN(is_done);
    CHECK_RUN(daemons);
    CHECK_RUN(killed);
    CHECK_RUN(without_its_keeper);
    CHECK_RUN(late_order);
    CHECK_RUN(signals);
    CHECK_RUN(metrics);
    CHECK_RUN(neighbours);
    return check_done("unit.prove_trial");
}
