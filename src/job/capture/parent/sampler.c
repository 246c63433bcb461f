// SPDX-License-Identifier: Apache-2.0
// The sampler's thread: looks, scans, its own cost, and the record; see sampler.h.
//
// Looks happen every period, scans (for new and ended processes, and figures that cost more to
// read) about once a second. Each may use half of the allowed cost: if it costs more, its interval
// grows until it fits. After every COUNTERS values the period doubles, so a run twice as long has a
// record that is only a little longer.
// Limit: if a driver hangs in a call of NVML, so does this thread, and with it stk_sampler_stop.
#include "job/capture/parent/sampler.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "job/capture/parent/watch.h"
#include "stoker/version.h"

#define PERIOD_NS UINT64_C(200000000)
#define PERIOD_MOST_NS UINT64_C(30000000000)
#define SCAN_NS UINT64_C(1000000000)
#define COST_SHARE 0.002
#define THREADS_MAX 2048
#define COUNTERS UINT64_C(200000)

static const struct stk_watch *const watches[] = {
#define X(name) &stk_watch_##name,
#include "job/capture/parent/sources.def"
#undef X
};
enum { WATCHES = sizeof watches / sizeof watches[0] };
_Static_assert(WATCHES <= STK_SAMPLER_SOURCES, "each has a place among those that are absent");

struct stk_sampler {
    struct stk_sampling shared;
    void *states[WATCHES];
    bool is_open[WATCHES];
    double cost_share;
    uint64_t start_ns, period_ns, scan_ns, last_look_ns, last_scan_ns, cpu_ns, counters_limit;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop; // under the lock
};

// ---- the thread ----

static void open_sources(struct stk_sampler *s)
{
    struct stk_sampling *shared = &s->shared;
    for (int i = 0; i < STK_SAMPLE_COUNT; i++) {
        shared->names[i] = stk_wire_string(shared->writer, stk_sample_info(i)->name);
    }
    for (uint32_t i = 0; i < WATCHES; i++) {
        struct stk_sampler_absent *absent = &shared->totals.absent[shared->totals.absent_count];
        s->is_open[i] = watches[i]->open(shared, &s->states[i], absent->why, sizeof absent->why);
        if (!s->is_open[i]) {
            char name[sizeof absent->why + 32];
            absent->source = watches[i]->name;
            shared->totals.absent_count++;
            snprintf(name, sizeof name, "%s: %s", absent->source, absent->why);
            stk_watch_put(shared, STK_SAMPLE_OF_ABSENT,
                          stk_watch_thing(shared, STK_SAMPLE_SOURCE, i, name), 1);
        }
    }
}

static uint64_t at_least(uint64_t least, double wanted)
{
    STK_ASSERT(least > 0);
    uint64_t ns = wanted > (double)PERIOD_MOST_NS ? PERIOD_MOST_NS : (uint64_t)wanted;
    return ns > least ? ns : least;
}

// Sets how often each part runs by its cost. Costs are smoothed, so that a single interruption
// changes little.
static void keep_within_cost(struct stk_sampler *s, double *smooth, uint64_t cost_ns,
                             uint64_t least_ns, uint64_t *interval_ns)
{
    STK_ASSERT(s->cost_share > 0);
    *smooth = *smooth <= 0 ? (double)cost_ns : 0.8 * *smooth + 0.2 * (double)cost_ns;
    *interval_ns = at_least(least_ns, *smooth / (0.5 * s->cost_share));
}

static uint64_t own_ns(void)
{
    return stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static void scan(struct stk_sampler *s)
{
    struct stk_sampling *shared = &s->shared;
    uint64_t since_ns = s->last_scan_ns ? shared->now_ns - s->last_scan_ns : 0;
    shared->scan_s = (double)since_ns * 1e-9;
    s->last_scan_ns = shared->now_ns;
    if (since_ns) {
        stk_watch_put(shared, STK_SAMPLE_OF_SCAN, 0, (double)since_ns);
    }
    for (int i = 0; i < WATCHES; i++) {
        if (s->is_open[i] && watches[i]->scan) {
            watches[i]->scan(shared, s->states[i]);
        }
    }
}

static void look(struct stk_sampler *s)
{
    struct stk_sampling *shared = &s->shared;
    uint64_t since_ns = s->last_look_ns ? shared->now_ns - s->last_look_ns : 0;
    shared->look_s = (double)since_ns * 1e-9;
    s->last_look_ns = shared->now_ns;
    if (since_ns) {
        stk_watch_put(shared, STK_SAMPLE_OF_TICK, 0, (double)since_ns);
    }
    for (int i = 0; i < WATCHES; i++) {
        if (s->is_open[i] && watches[i]->look) {
            watches[i]->look(shared, s->states[i]);
        }
    }
    shared->totals.ticks++;
    uint64_t cpu_ns = own_ns();
    if (since_ns) {
        stk_watch_put(shared, STK_SAMPLE_OF_COST, 0,
                      (double)(cpu_ns - s->cpu_ns) / (double)since_ns);
    }
    s->cpu_ns = cpu_ns;
}

// True: stop now.
static bool wait_until(struct stk_sampler *s, uint64_t ns)
{
    struct timespec moment = stk_clock_moment(ns);
    pthread_mutex_lock(&s->lock);
    while (!s->stop && stk_clock_ns() < ns) {
        pthread_cond_timedwait(&s->wake, &s->lock, &moment);
    }
    bool stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static void limit_record(struct stk_sampler *s)
{
    if (s->shared.totals.counters > s->counters_limit && s->period_ns < PERIOD_MOST_NS / 2) {
        s->period_ns *= 2;
        s->counters_limit += COUNTERS;
    }
}

static void *sample(void *arg)
{
    struct stk_sampler *s = arg;
    double look_cost = 0, scan_cost = 0;
    uint64_t interval_ns = s->period_ns;
    bool stop = false;
    s->cpu_ns = own_ns();
    s->shared.now_ns = stk_clock_ns();
    open_sources(s);
    for (;;) {
        s->shared.now_ns = stk_clock_ns();
        if (stop || s->shared.now_ns - s->last_scan_ns >= s->scan_ns || !s->last_scan_ns) {
            uint64_t before_ns = own_ns();
            scan(s);
            keep_within_cost(s, &scan_cost, own_ns() - before_ns, SCAN_NS, &s->scan_ns);
        }
        uint64_t before_ns = own_ns();
        look(s);
        stk_wire_flush(s->shared.writer); // so that a killed run loses no look
        keep_within_cost(s, &look_cost, own_ns() - before_ns, s->period_ns, &interval_ns);
        limit_record(s);
        s->shared.totals.period_ns = interval_ns;
        if (stop) {
            break;
        }
        stop = wait_until(s, s->shared.now_ns + interval_ns);
    }
    s->shared.totals.cpu_ns = own_ns();
    for (int i = 0; i < WATCHES; i++) {
        if (s->is_open[i]) {
            watches[i]->close(s->states[i]);
        }
    }
    return NULL;
}

// ---- start and stop ----

static const char *or_usual(const char *given, const char *usual)
{
    return given && *given ? given : usual;
}

static void configure(struct stk_sampler *s, pid_t root, const struct stk_sampler_options *o)
{
    s->period_ns = o->period_ns ? o->period_ns : PERIOD_NS;
    s->scan_ns = SCAN_NS;
    s->cost_share = o->cost_share > 0 ? o->cost_share : COST_SHARE;
    s->counters_limit = COUNTERS;
    s->start_ns = stk_clock_ns();
    s->shared.root = root;
    s->shared.threads_max = o->threads_max ? o->threads_max : THREADS_MAX;
    s->shared.no_gpu = o->no_gpu;
    s->shared.proc = or_usual(o->proc, "/proc");
    s->shared.cgroup = or_usual(o->cgroup, "/sys/fs/cgroup");
    s->shared.nvml = or_usual(o->nvml, "libnvidia-ml.so.1");
}

// Copies the texts of the options: they belong to the caller, and the thread needs them later.
static bool copy_texts(struct stk_sampling *s)
{
    const char **texts[] = {&s->proc, &s->cgroup, &s->nvml};
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(*texts[i]) + 1;
        char *copy = stk_alloc(n);
        *texts[i] = copy ? memcpy(copy, *texts[i], n) : NULL;
        ok &= copy != NULL;
    }
    return ok;
}

static void free_sampler(struct stk_sampler *s)
{
    const char *texts[] = {s->shared.proc, s->shared.cgroup, s->shared.nvml};
    for (int i = 0; i < 3; i++) {
        stk_free((char *)(uintptr_t)texts[i]);
    }
    stk_free(s);
}

static bool start_thread(struct stk_sampler *s)
{
    pthread_condattr_t attr;
    sigset_t before;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attr);
    pthread_condattr_destroy(&attr);
    bool masked = stk_thread_block_signals(&before);
    bool ok = pthread_create(&s->thread, NULL, sample, s) == 0;
    if (masked) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return ok;
}

enum stoker_status stk_sampler_start(struct stk_sampler **out, pid_t root,
                                     const struct stk_sampler_options *options, const char *path,
                                     struct stoker_err *err)
{
    STK_ASSERT(path);
    static const struct stk_sampler_options usual;
    char producer[24];
    struct stk_sampler *s = stk_alloc_zero(1, sizeof *s);
    *out = NULL;
    if (!s) {
        return stk_err_nomem(err);
    }
    configure(s, root, options ? options : &usual);
    snprintf(producer, sizeof producer, STK_SAMPLE_PRODUCER " %d.%d.%d", STOKER_VERSION_MAJOR,
             STOKER_VERSION_MINOR, STOKER_VERSION_PATCH);
    enum stoker_status status = copy_texts(&s->shared) ? STOKER_OK : stk_err_nomem(err);
    if (status == STOKER_OK) {
        status = stk_wire_create(&s->shared.file, path, producer, err);
    }
    if (status == STOKER_OK) {
        s->shared.writer = stk_wire_writer_open(s->shared.file);
        status = s->shared.writer ? STOKER_OK : stk_err_nomem(err);
    }
    if (status == STOKER_OK && !start_thread(s)) {
        status = stk_err_set(err, STOKER_ELIMIT, "no thread could be started to sample the job");
    }
    if (status != STOKER_OK) {
        stk_wire_writer_close(s->shared.writer);
        (void)!stk_wire_close(s->shared.file, false, NULL);
        free_sampler(s);
        return status;
    }
    *out = s;
    return STOKER_OK;
}

enum stoker_status stk_sampler_stop(struct stk_sampler *s, struct stk_sampler_totals *totals,
                                    struct stoker_err *err)
{
    if (!s) {
        return STOKER_OK;
    }
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    s->shared.totals.elapsed_ns = stk_clock_ns() - s->start_ns;
    stk_wire_writer_close(s->shared.writer);
    enum stoker_status status = stk_wire_close(s->shared.file, true, err);
    if (totals) {
        *totals = s->shared.totals;
    }
    free_sampler(s);
    return status;
}
