// SPDX-License-Identifier: Apache-2.0
// The sampler on real children of this program: what a busy one, many on too few cores, and one
// that forks endlessly leave in the record. A record whose sampler was killed is readable.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/capture/parent/sampler.h"
#include "check.h"
#include "profile/model/machine/machine.h"
#include "profile/readers/reader.h"

static char path[64];
static struct stk_arena arena;

static void spin(double seconds)
{
    double end = stk_clock_seconds(CLOCK_MONOTONIC) + seconds;
    while (stk_clock_seconds(CLOCK_MONOTONIC) < end) {
    }
}

static void wait_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static pid_t start_child(void (*work)(void))
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
        _exit(0);
    }
    CHECK(child > 0);
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    CHECK_EQ(waitpid(child, NULL, 0), child);
}

static struct stk_sampler *start(pid_t root, uint64_t period_ms)
{
    struct stk_sampler *s = NULL;
    struct stoker_err err;
    struct stk_sampler_options o = {
        .period_ns = period_ms * 1000000, .cost_share = 1, .no_gpu = true, .threads_max = 64};
    stk_err_init(&err);
    CHECK_EQ(stk_sampler_start(&s, root, &o, path, &err), STOKER_OK);
    return s;
}

static struct stk_sampler_totals stop(struct stk_sampler *s)
{
    struct stk_sampler_totals totals = {0};
    CHECK_EQ(stk_sampler_stop(s, &totals, NULL), STOKER_OK);
    return totals;
}

static struct stk_machine_view *view_of(bool *is_cut)
{
    struct stk_trace *t = NULL;
    struct stk_machine *m = NULL;
    struct stoker_err err;
    stk_err_init(&err);
    if (stk_reader_read_path(path, 1, NULL, &t, &err) != STOKER_OK) {
        CHECK(false);
        return NULL;
    }
    CHECK(stk_machine_is_record(t));
    *is_cut = t->issues[STK_ISSUE_TRUNCATED].count > 0;
    CHECK_EQ(t->dropped, 0);
    m = stk_machine_see(t, &arena);
    stk_trace_free(t);
    return m ? stk_machine_look(m, 0, 0, &arena) : NULL;
}

static const struct stk_machine_process *process_of(const struct stk_machine_view *v, pid_t pid)
{
    for (uint32_t i = 0; v && i < v->process_count; i++) {
        if (v->processes[i].pid == pid) {
            return &v->processes[i];
        }
    }
    return NULL;
}

static void be_busy(void)
{
    prctl(PR_SET_NAME, "busy one");
    spin(60);
}

// One process that runs all the time: its share, its name and its parent are recorded.
static void busy(void)
{
    bool is_cut;
    pid_t child = start_child(be_busy);
    struct stk_sampler *s = start(child, 20);
    wait_ms(1500);
    struct stk_sampler_totals totals = stop(s);
    end_child(child);
    struct stk_machine_view *v = view_of(&is_cut);
    const struct stk_machine_process *p = process_of(v, child);
    CHECK(p != NULL && !is_cut);
    if (!p) {
        return;
    }
    CHECK(p->cpu + p->queue > 0.5 && p->cpu < 1.1);
    CHECK(strcmp(p->name, "busy one") == 0);
    CHECK_EQ(p->parent, getpid());
    CHECK(p->resident > 0 && p->threads >= 1); // the thread sanitizer has one of its own
    CHECK(stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS) >= 1);
    CHECK(stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_CPU) > 0);
    CHECK(totals.ticks > 2 && totals.processes_seen == 1 && totals.lost == 0);
    CHECK(totals.cpu_ns > 0 && totals.cpu_ns < totals.elapsed_ns);
    printf("busy: %.2f of a processor, %llu looks at %.1f us each\n", p->cpu,
           (unsigned long long)totals.ticks, (double)totals.cpu_ns / 1e3 / (double)totals.ticks);
}

// Four on one processor: each wants to run all the time, and waits for most of it.
static void be_crowd(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu() >= 0 ? sched_getcpu() : 0, &set);
    (void)!sched_setaffinity(0, sizeof set, &set);
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            break;
        }
    }
    spin(60);
}

static void crowd(void)
{
    bool is_cut;
    pid_t child = start_child(be_crowd);
    wait_ms(100);
    struct stk_sampler *s = start(child, 20);
    wait_ms(1500);
    struct stk_sampler_totals totals = stop(s);
    end_child(child);
    struct stk_machine_view *v = view_of(&is_cut);
    CHECK(v != NULL);
    if (!v) {
        return;
    }
    CHECK_EQ(totals.processes_seen, 4);
    CHECK_EQ(stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS), 1);
    double cpu = stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU);
    double queue = stk_machine_mean(v, STK_SAMPLE_OF_JOB_QUEUE);
    CHECK(cpu > 0.02 && cpu < 1.2);
    CHECK(queue > 1.0 && queue < 5);
    printf("crowd: %.2f run, %.2f wait\n", cpu, queue);
}

// Children that live for a moment, one after the other and several at once.
static void be_storm(void)
{
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        for (int i = 0; i < 20; i++) {
            if (fork() == 0) {
                _exit(0);
            }
        }
        wait_ms(1);
    }
}

static void storm(void)
{
    bool is_cut;
    pid_t child = start_child(be_storm);
    struct stk_sampler *s = start(child, 10);
    wait_ms(2200);
    struct stk_sampler_totals totals = stop(s);
    end_child(child);
    struct stk_machine_view *v = view_of(&is_cut);
    CHECK(process_of(v, child) != NULL);
    CHECK(totals.processes_seen >= 1 && totals.ticks > 2);
    printf("storm: %llu processes seen\n", (unsigned long long)totals.processes_seen);
}

// The job ends while it is sampled; and there was none to begin with.
static void be_brief(void)
{
    spin(0.1);
}

static void ended(void)
{
    bool is_cut;
    pid_t child = start_child(be_brief);
    struct stk_sampler *s = start(child, 10);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    wait_ms(50);
    struct stk_sampler_totals totals = stop(s);
    CHECK(view_of(&is_cut) != NULL && !is_cut);
    s = start(child, 10); // no more there
    wait_ms(30);
    totals = stop(s);
    bool found = false;
    for (uint32_t i = 0; i < totals.absent_count; i++) {
        found |= strcmp(totals.absent[i].source, "tasks") == 0;
    }
    CHECK(found);
    CHECK(view_of(&is_cut) != NULL);
}

// Who samples is killed: what it saw so far can be read.
static void sampler_killed(void)
{
    bool is_cut;
    pid_t job = start_child(be_busy), parent = fork();
    if (parent == 0) {
        struct stk_sampler *s = NULL;
        struct stk_sampler_options o = {.period_ns = 20000000, .cost_share = 1, .no_gpu = true};
        (void)!stk_sampler_start(&s, job, &o, path, NULL);
        wait_ms(60000);
        _exit(0);
    }
    wait_ms(1200);
    end_child(parent);
    end_child(job);
    struct stk_machine_view *v = view_of(&is_cut);
    CHECK(is_cut);
    CHECK(process_of(v, job) != NULL && v->looks > 1);
}

// Stopped at once, and a place that cannot be written.
static void edges(void)
{
    bool is_cut;
    struct stk_sampler *s = start(getpid(), 1000);
    struct stk_sampler_totals totals = stop(s);
    CHECK(totals.ticks >= 1);
    CHECK(view_of(&is_cut) != NULL);
    struct stoker_err err;
    stk_err_init(&err);
    CHECK(stk_sampler_start(&s, getpid(), NULL, "/nonexistent/machine.stk", &err) != STOKER_OK);
    CHECK(s == NULL && err.message[0]);
    CHECK_EQ(stk_sampler_stop(NULL, NULL, NULL), STOKER_OK);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    stk_arena_init(&arena, 0);
    strcpy(path, "/tmp/stoker-sampler-XXXXXX");
    CHECK(close(mkstemp(path)) == 0);
    CHECK_RUN(busy);
    CHECK_RUN(crowd);
    CHECK_RUN(storm);
    CHECK_RUN(ended);
    CHECK_RUN(sampler_killed);
    CHECK_RUN(edges);
    unlink(path);
    stk_arena_deinit(&arena);
    return check_done("unit.capture_sampler_live");
}
