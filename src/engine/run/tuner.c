// SPDX-License-Identifier: Apache-2.0
// AUTOTUNE: a model of the run, solved directly.
//
// The iterator tree splits into groups: an async stage with the serial stages that its workers run
// to get its input, and, at the top, the stages on the consumer's thread. For each group the tuner
// measures the CPU time and wall time per root element, and how much of both is serial. With C
// cores, a root rate X is possible if
//     sum of cpu * X <= C,   serial * X <= 1 for each group,   X <= the consumer's own rate,
// where the consumer's rate is what it takes while it isn't waiting. The largest X is the
// prediction; each group then needs X * wall workers. Groups grow at once and shrink after a few
// looks that agree. Times come from account.h, so waiting for a core or for another stage isn't
// work.
//
// Threads that wait for something else (disks, sleeping functions) need no core: while they are
// mostly blocked, more threads than cores may work, unless the user set the number.
//
// ring_capacity.h decides how many pieces may wait in a prefetch's ring. inline_trial.h decides
// whether to use threads at all: for very cheap elements, handing over costs more than it gains.
// Stages inside datasets that functions return (flat_map, interleave, group_by_window) come and go,
// and several with the same place may be open at once. So a group stands for a place: it keeps its
// figures from one dataset to the next and divides its workers among the open ones. What such
// datasets cost on an interleave's workers counts as that stage's own time (see
// engine/run/aggregate.h). If a run ended without threads, the next run of its dataset (the next
// epoch) starts without them; otherwise short epochs would spend all their time on trials.
// Everything else is reset. Predicted and achieved rates are published after PREDICT_NS and
// PREDICT_ELEMENTS; earlier figures are mostly start-up. A prediction counts all CPU time of the
// process per element, including the consumer's, since they share the cores. It assumes that no
// other program uses them.
//
// Limits: costs are means weighted toward the last looks. If no root element came since the last
// look, there is no look.
#include "engine/run/tuner.h"

#include <math.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "engine/run/aggregate.h"
#include "engine/run/inline_trial.h"
#include "engine/run/ring.h"

#define STAGES_MAX 64
#define LOOK_FIRST_NS 10000000u
#define LOOK_MAX_NS 100000000u
#define SHRINK_LOOKS 4
#define HEADROOM 1.15       // above the consumer's rate
#define BLOCKED_SHARE 0.5   // of the wall time; above it, there may be more threads than cores
#define PAUSES_EACH 0.5     // pauses per piece; above it, work counts as blocking
#define BLOCKED_FACTOR 4    // at most this many threads per core
#define ROOM_MEMORY_PARTS 4 // rings stop growing once 1/4 of the budget is in use
#define WEIGHT_NEW 0.5      // weight of the newest look in a mean
#define PREDICT_NS 200000000u
#define PREDICT_ELEMENTS 8

struct sums { // counts since the start
    uint64_t own_cpu_ns, own_wall_ns, serial_cpu_ns, serial_wall_ns, elements;
    uint64_t pieces, pauses;
};

struct group {
    struct stk_tuned *stages; // with that place; NULL: none now, or group 0 (the consumer's)
    uint64_t place;
    struct stk_iter *node; // in the tree at this look; NULL: not in it
    bool is_free, is_known;
    bool is_blocking; // its work is mostly waiting, and not for a core
    struct sums last, now;
    double own_cpu, own_wall, serial_cpu, serial_wall, ratio; // per root element
    int shrink_looks;
    int workers, limit;                // of each stage
    uint64_t gone_pieces, gone_pauses; // counts of stages that were closed
    struct stk_ring_capacity capacity;
};

struct stk_tuner {
    pthread_mutex_t lock;
    struct group groups[STAGES_MAX];
    int count;
    uint64_t next_ns, every_ns; // atomic: time of the next look
    uint64_t last_ns, last_elements, last_starve_ns, last_memory_waits, last_cpu_ns;
    uint64_t first_ns, first_elements; // time and elements at the first look
    double demand;
    double process_cpu, wall; // ns per root element: the whole process's CPU time; wall time
    struct stk_trial_look trial_look;
    struct stk_trial trial;
    bool is_inline; // stages run on the consumer's thread
    int looks;
};

static uint64_t read_count(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static struct stk_tuner *tuner_of(struct stk_run *run)
{
    struct stk_tuner *t = __atomic_load_n(&run->tuner, __ATOMIC_ACQUIRE);
    if (t) {
        return t;
    }
    t = stk_alloc_zero(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    t->count = 1;
    t->every_ns = LOOK_FIRST_NS;
    t->next_ns = stk_clock_ns() + LOOK_FIRST_NS;
    struct stk_tuner *other = NULL;
    if (!__atomic_compare_exchange_n(&run->tuner, &other, t, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        stk_tuner_close(t);
        return other;
    }
    return t;
}

void stk_tuner_close(struct stk_tuner *t)
{
    if (t) {
        pthread_mutex_destroy(&t->lock);
        stk_free(t);
    }
}

// The group of that place, or a new one; NULL if all are in use. Caller holds the lock.
static struct group *place_for(struct stk_tuner *t, uint64_t place)
{
    for (int i = 1; i < t->count; i++) {
        if (t->groups[i].place == place) {
            return &t->groups[i];
        }
    }
    if (t->count < STAGES_MAX) {
        return &t->groups[t->count++];
    }
    for (int i = 1; i < t->count; i++) {
        if (!t->groups[i].stages) {
            t->groups[i] = (struct group){0};
            return &t->groups[i];
        }
    }
    return NULL;
}

// May the tuner run the stage on the thread that asks for its elements?
static bool may_be_inline(const struct stk_tuned *s, bool is_free)
{
    const struct stk_run_options *o = &s->it->run->options;
    return s->set_inline && (is_free || s->ring) && !s->it->is_concurrent && !o->is_untuned &&
           o->min_parallelism <= 1;
}

bool stk_tuner_add(struct stk_tuned *s, bool is_free)
{
    struct stk_tuner *t = tuner_of(s->it->run);
    if (!t) {
        return false;
    }
    pthread_mutex_lock(&t->lock);
    struct group *g = place_for(t, s->it->place);
    int workers = 0;
    STK_ASSERT(t->count >= 1 && t->count <= STAGES_MAX);
    if (g) { // beyond STAGES_MAX a stage keeps its initial workers
        s->next = g->stages;
        g->stages = s;
        g->place = s->it->place;
        g->is_free = is_free && !s->it->run->options.is_untuned;
        g->limit = s->limit;
        workers = g->workers;
    }
    if (g && t->is_inline && may_be_inline(s, is_free)) {
        s->set_inline(s->owner, true);
    }
    pthread_mutex_unlock(&t->lock);
    if (is_free && workers > 0 && !s->it->run->options.is_untuned) {
        s->set_workers(s->owner, workers);
    }
    return true;
}

int stk_tuner_initial(const struct stk_iter *it, int limit)
{
    const struct stk_run_options *o = &it->run->options;
    int n = o->initial_parallelism > 0 ? o->initial_parallelism : STK_INITIAL_WORKERS;
    n = it->is_concurrent ? 1 : n < o->threads ? n : o->threads;
    STK_ASSERT(n > 0 && limit > 0);
    return n < limit ? n : limit;
}

void stk_tuner_remove(struct stk_tuned *s)
{
    struct stk_tuner *t = s->it->run->tuner;
    if (!t) {
        return;
    }
    pthread_mutex_lock(&t->lock);
    for (int i = 1; i < t->count; i++) {
        struct stk_tuned **at = &t->groups[i].stages;
        while (*at && *at != s) {
            at = &(*at)->next;
        }
        if (*at) {
            *at = s->next;
            t->groups[i].gone_pieces += read_count(&s->piece_count);
            t->groups[i].gone_pauses += read_count(&s->pauses);
            break;
        }
    }
    pthread_mutex_unlock(&t->lock);
}

static struct group *group_of(struct stk_tuner *t, const struct stk_iter *it)
{
    for (int i = 1; i < t->count; i++) {
        if (t->groups[i].place == it->place) {
            return &t->groups[i];
        }
    }
    return NULL;
}

// Adds up the counts of `it` and the stages below it, by group. is_own: they aren't a serial part
// of the group. Caller holds the tree's lock.
static void gather(struct stk_tuner *t, struct stk_iter *it, struct group *g, bool is_own)
{
    struct group *mine = group_of(t, it);
    g = mine ? mine : g;
    uint64_t cpu = read_count(&it->stats.busy_ns), wall = read_count(&it->stats.held_ns);
    if (mine) {
        g->node = it;
        g->now.elements += read_count(&it->stats.elements);
    }
    if (mine || is_own) {
        g->now.own_cpu_ns += cpu;
        g->now.own_wall_ns += wall;
    } else {
        g->now.serial_cpu_ns += cpu;
        g->now.serial_wall_ns += wall;
    }
    for (int i = 0; i < it->n_in; i++) {
        if (it->in[i]) { // an interleave's workers run the datasets it opened in parallel
            bool is_side = mine && it->in[i]->is_aggregate && i >= it->ds->n_in;
            gather(t, it->in[i], g, is_side || (is_own && !mine));
        }
    }
}

static void blend(double *mean, double value, bool is_first)
{
    *mean = is_first ? value : (1 - WEIGHT_NEW) * *mean + WEIGHT_NEW * value;
}

// Cost per root element, from the counts since the last look.
static void learn(struct group *g, double elements)
{
    const struct sums *a = &g->last, *b = &g->now;
    // A reopened stage may count from less than the old one had reached.
    bool is_usable = b->own_wall_ns >= a->own_wall_ns && b->serial_wall_ns >= a->serial_wall_ns &&
                     b->own_cpu_ns >= a->own_cpu_ns && b->serial_cpu_ns >= a->serial_cpu_ns &&
                     b->elements >= a->elements;
    if (is_usable && (g->is_known || g->last.own_wall_ns == 0)) {
        bool is_first = g->own_wall <= 0 && g->serial_wall <= 0;
        blend(&g->own_cpu, (double)(b->own_cpu_ns - a->own_cpu_ns) / elements, is_first);
        blend(&g->own_wall, (double)(b->own_wall_ns - a->own_wall_ns) / elements, is_first);
        blend(&g->serial_cpu, (double)(b->serial_cpu_ns - a->serial_cpu_ns) / elements, is_first);
        blend(&g->serial_wall, (double)(b->serial_wall_ns - a->serial_wall_ns) / elements,
              is_first);
        blend(&g->ratio, (double)(b->elements - a->elements) / elements, is_first);
    }
    double pauses = b->pauses > a->pauses ? (double)(b->pauses - a->pauses) : 0;
    double pieces = b->pieces > a->pieces ? (double)(b->pieces - a->pieces) : 0;
    g->is_blocking =
        pauses > PAUSES_EACH * pieces && g->own_cpu < (1 - BLOCKED_SHARE) * g->own_wall;
    g->is_known = true;
    g->last = g->now;
}

struct solution {
    double rate; // root elements per ns
    enum stk_binding binding;
};

static void lower(struct solution *s, double rate, enum stk_binding binding)
{
    if (rate < s->rate) {
        *s = (struct solution){rate, binding};
    }
}

// Open stages of the group, but at least 1.
static int stage_count(const struct group *g)
{
    int n = 0;
    for (const struct stk_tuned *s = g->stages; s; s = s->next) {
        n++;
    }
    return n > 0 ? n : 1;
}

// Workers of all open stages of the group.
static int worker_count(const struct group *g)
{
    int n = 0;
    for (const struct stk_tuned *s = g->stages; s; s = s->next) {
        n += __atomic_load_n(&s->workers, __ATOMIC_RELAXED);
    }
    return n > 0 ? n : g->workers > 0 ? g->workers : 1;
}

// The most workers a group may have. If they keep cores busy, more workers than cores gain nothing.
static int limit_of(const struct group *g, int processors)
{
    int limit = g->limit * stage_count(g);
    return !g->is_blocking && limit > processors ? processors : limit;
}

// The highest root rate that every group, the CPU and the consumer can keep up with.
static struct solution solve(const struct stk_tuner *t, const struct stk_run *run)
{
    struct solution s = {INFINITY, STK_BINDING_UNKNOWN};
    double cpu = t->groups[0].serial_cpu;
    for (int i = 1; i < t->count; i++) {
        const struct group *g = &t->groups[i];
        if (!g->node) {
            continue;
        }
        cpu += g->own_cpu + g->serial_cpu;
        double serial = g->serial_wall;
        int count = stage_count(g);
        int most = g->is_free ? limit_of(g, run->options.threads) : worker_count(g);
        if (most == 1 && count == 1) { // prefetch: all of it is serial
            serial += g->own_wall;
        } else if (g->own_wall > 0) {
            lower(&s, most / (g->own_wall + g->serial_wall),
                  g->is_free && !g->is_blocking ? STK_BINDING_CPU : STK_BINDING_THREADS);
        }
        if (serial > 0) {
            lower(&s, count / serial, STK_BINDING_SERIAL);
        }
    }
    if (cpu > 0) {
        lower(&s, run->options.threads / cpu, STK_BINDING_CPU);
    }
    if (t->demand > 0) {
        lower(&s, t->demand, STK_BINDING_CONSUMER);
    }
    return s;
}

// The rate to report: without the headroom, and limited by the CPU time of the whole process.
static struct solution predict(const struct stk_tuner *t, struct solution s)
{
    if (s.binding == STK_BINDING_CONSUMER) {
        s.rate /= HEADROOM;
    }
    if (t->process_cpu > 0) {
        lower(&s, stk_thread_count() / t->process_cpu, STK_BINDING_CPU);
    }
    return s;
}

static void set_workers(struct group *g, double rate, const struct stk_run_options *o)
{
    double need = rate * (g->own_wall + g->serial_wall);
    int count = stage_count(g), most = limit_of(g, o->threads);
    if (need <= 0 || !g->stages) { // nothing measured yet, or no stage is open
        return;
    }
    int all = need > most ? most : (int)ceil(need - 0.1);
    int n = (all + count - 1) / count; // per stage
    n = n < o->min_parallelism ? o->min_parallelism : n;
    n = n > g->limit ? g->limit : n;
    n = n > most ? most : n < 1 ? 1 : n;
    STK_ASSERT(n >= 1 && n <= g->limit);
    int now = __atomic_load_n(&g->stages->workers, __ATOMIC_RELAXED);
    g->shrink_looks = n < now ? g->shrink_looks + 1 : 0;
    if (n > now || g->shrink_looks >= SHRINK_LOOKS) {
        for (struct stk_tuned *s = g->stages; s; s = s->next) {
            s->set_workers(s->owner, n);
        }
        g->shrink_looks = 0;
        now = n;
    }
    g->workers = now;
}

// Permits: one per core; more while threads are mostly blocked.
static void set_permits(struct stk_tuner *t, struct stk_run *run)
{
    double cpu = 0, wall = 0;
    int workers = 0;
    bool blocks = false;
    for (int i = 1; i < t->count; i++) {
        const struct group *g = &t->groups[i];
        if (g->node) {
            cpu += g->own_cpu + g->serial_cpu;
            wall += g->own_wall + g->serial_wall;
            blocks = blocks || g->is_blocking;
            workers += g->is_free ? 0 : worker_count(g);
        }
    }
    int permits = run->options.threads;
    if (!run->has_cap && blocks && wall > 0) {
        double more = cpu > 0 ? permits * wall / cpu : BLOCKED_FACTOR * permits;
        permits = more < BLOCKED_FACTOR * permits ? (int)more : BLOCKED_FACTOR * permits;
        permits = workers > permits ? workers : permits;
    }
    STK_ASSERT(permits > 0);
    stk_permits_set(&run->permits, permits);
}

// ratio: elements of the stage per root element.
static void publish(struct stk_iter *it, const struct solution *s, double achieved, double ratio)
{
    struct stk_stage_stats *out = &it->stats;
    double predicted = s->rate * ratio * 1e12, got = achieved * ratio * 1e12;
    __atomic_store_n(&out->predicted_per_ks, predicted < 1e18 ? (uint64_t)predicted : 0,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&out->achieved_per_ks, got < 1e18 ? (uint64_t)got : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&out->binding, (uint32_t)s->binding, __ATOMIC_RELAXED);
}

// How long the consumer waited, for the topmost groups below it.
static uint64_t consumer_waits(struct stk_tuner *t, const struct stk_iter *it)
{
    if (group_of(t, it)) {
        return read_count(&it->stats.starve_ns) + read_count(&it->stats.inline_ns);
    }
    uint64_t sum = 0;
    for (int i = 0; i < it->n_in; i++) {
        sum += it->in[i] ? consumer_waits(t, it->in[i]) : 0;
    }
    return sum;
}

static void set_capacity(struct group *g, struct stk_pool *pool)
{
    struct stk_pool_stats memory = stk_pool_stats_of(pool);
    struct stk_ring_marks marks = stk_ring_marks(g->stages->ring);
    int capacity = stk_ring_capacity_choose(
        &g->capacity, &marks, memory.in_use_bytes < memory.cap_bytes / ROOM_MEMORY_PARTS);
    if (capacity != marks.capacity) {
        stk_ring_set_capacity(g->stages->ring, capacity);
    }
}

// Takes the counts of all groups now.
static void count_all(struct stk_tuner *t, struct stk_iter *root)
{
    for (int i = 0; i < t->count; i++) {
        t->groups[i].now = (struct sums){0};
        t->groups[i].node = NULL;
    }
    stk_aggregate_tell(root);
    gather(t, root, &t->groups[0], false);
    for (int i = 1; i < t->count; i++) {
        struct group *g = &t->groups[i];
        g->now.pieces = g->gone_pieces;
        g->now.pauses = g->gone_pauses;
        for (const struct stk_tuned *s = g->stages; s; s = s->next) {
            g->now.pieces += read_count(&s->piece_count);
            g->now.pauses += read_count(&s->pauses);
        }
    }
}

// Wall time since the last look of the stages on the consumer's thread (group 0).
static double own_ns_of(const struct group *g)
{
    uint64_t now = g->now.serial_wall_ns, last = g->last.serial_wall_ns;
    return now > last ? (double)(now - last) : 0;
}

// Updates all figures after n more elements in `passed` ns.
static void learn_all(struct stk_tuner *t, const struct stk_run *run, double n, double passed)
{
    bool is_first = t->last_ns == 0;
    uint64_t starve_ns = consumer_waits(t, run->root),
             cpu_ns = stk_clock_of(CLOCK_PROCESS_CPUTIME_ID);
    double waited = starve_ns > t->last_starve_ns ? (double)(starve_ns - t->last_starve_ns) : 0;
    double away = passed - (waited < passed ? waited : passed);
    double outside = away - own_ns_of(&t->groups[0]);
    for (int i = 0; i < t->count; i++) {
        if (i == 0 || t->groups[i].node) {
            learn(&t->groups[i], n);
        }
    }
    if (!is_first) {
        blend(&t->process_cpu, (double)(cpu_ns - t->last_cpu_ns) / n, t->process_cpu <= 0);
        blend(&t->wall, passed / n, t->wall <= 0);
    }
    t->trial_look = (struct stk_trial_look){
        .ns = passed,
        .elements = n,
        .away = passed > 0 ? outside / passed : 1,
        .cores = passed > 0 ? (double)(cpu_ns - t->last_cpu_ns) / passed : 0};
    // A consumer that nearly always waits could take far more: its limit is unknown.
    t->demand = is_first || away < 0.02 * passed ? 0 : HEADROOM * n / away;
    t->last_starve_ns = starve_ns;
    t->last_cpu_ns = cpu_ns;
}

// Publishes the rates and sets workers and rings. is_told: enough was seen to publish rates.
static void apply(struct stk_tuner *t, struct stk_run *run, bool is_told)
{
    struct solution s = solve(t, run), told = predict(t, s);
    uint64_t memory_waits = read_count(&run->memory_waits);
    if (memory_waits != t->last_memory_waits && told.binding != STK_BINDING_CONSUMER) {
        told.binding = STK_BINDING_MEMORY;
    }
    t->last_memory_waits = memory_waits;
    for (int i = 1; i < t->count; i++) {
        struct group *g = &t->groups[i];
        if (g->stages && !g->stages->next && g->stages->ring && !run->options.is_untuned) {
            set_capacity(g, run->pool);
        }
        if (g->node && s.rate < INFINITY && is_told) {
            publish(g->node, &told, 1 / t->wall, g->ratio);
        }
        if (g->node && s.rate < INFINITY && g->is_free) {
            set_workers(g, s.rate, &run->options);
        }
    }
    if (s.rate < INFINITY && is_told) {
        publish(run->root, &told, 1 / t->wall, 1);
    }
    set_permits(t, run);
}

// Switches all stages that can run inline to inline, or back. Caller holds the lock.
static void set_inline(struct stk_tuner *t, bool is_inline)
{
    t->is_inline = is_inline;
    for (int i = 1; i < t->count; i++) {
        const struct group *g = &t->groups[i];
        for (struct stk_tuned *s = g->stages; s; s = s->next) {
            if (may_be_inline(s, g->is_free)) {
                s->set_inline(s->owner, is_inline);
            }
        }
    }
}

// Takes the trial's next step. has_waited: a stage ran short of memory; then workers must wait for
// it, because the consumer's thread is the one that frees it.
static void try_inline(struct stk_tuner *t, bool has_waited)
{
    struct stk_trial_look *look = &t->trial_look;
    bool can = false, blocks = false;
    for (int i = 1; i < t->count; i++) {
        const struct group *g = &t->groups[i];
        can = can || (g->stages && may_be_inline(g->stages, g->is_free));
        blocks = blocks || (g->node && g->is_blocking);
    }
    look->is_allowed = can && !blocks && !has_waited;
    bool is_inline = stk_trial_step(&t->trial, look);
    if (is_inline != t->is_inline) {
        set_inline(t, is_inline);
    }
}

void stk_tuner_be_inline(struct stk_run *run, bool is_inline)
{
    struct stk_tuner *t = __atomic_load_n(&run->tuner, __ATOMIC_ACQUIRE);
    STK_ASSERT(t);
    pthread_mutex_lock(&t->lock);
    t->trial = (struct stk_trial){.mode = is_inline ? STK_TRIAL_INLINE : STK_TRIAL_THREADS,
                                  .threads_ns = is_inline ? INFINITY : 0};
    set_inline(t, is_inline);
    pthread_mutex_unlock(&t->lock);
}

void stk_tuner_recall(struct stk_run *run, const struct stk_dataset *ds)
{
    double ns;
    __atomic_load(&ds->inline_ns, &ns, __ATOMIC_RELAXED);
    bool begins = ns > 0 && !__atomic_load_n(&run->tuner, __ATOMIC_ACQUIRE);
    struct stk_tuner *t = begins ? tuner_of(run) : NULL;
    if (!t) {
        return;
    }
    pthread_mutex_lock(&t->lock);
    t->trial = (struct stk_trial){.mode = STK_TRIAL_INLINE,
                                  .looks = __atomic_load_n(&ds->inline_looks, __ATOMIC_RELAXED),
                                  .threads_ns = ns};
    set_inline(t, true);
    pthread_mutex_unlock(&t->lock);
}

void stk_tuner_keep(struct stk_run *run, struct stk_dataset *ds)
{
    struct stk_tuner *t = __atomic_load_n(&run->tuner, __ATOMIC_ACQUIRE);
    if (!t) {
        return;
    }
    pthread_mutex_lock(&t->lock);
    struct stk_trial trial = t->trial;
    pthread_mutex_unlock(&t->lock);
    double ns = trial.mode == STK_TRIAL_INLINE ? trial.threads_ns : 0;
    if (trial.mode != STK_TRIAL_TRYING) {
        __atomic_store_n(&ds->inline_looks, trial.looks, __ATOMIC_RELAXED);
        __atomic_store(&ds->inline_ns, &ns, __ATOMIC_RELAXED);
    }
}

// Caller holds the locks of the tuner and the tree. False: no new element yet.
static bool look(struct stk_tuner *t, struct stk_run *run, uint64_t now_ns)
{
    uint64_t elements = read_count(&run->root->stats.elements);
    if (elements <= t->last_elements) {
        return false;
    }
    bool is_first = t->last_ns == 0;
    count_all(t, run->root);
    learn_all(t, run, (double)(elements - t->last_elements), (double)(now_ns - t->last_ns));
    t->last_ns = now_ns;
    t->last_elements = elements;
    if (is_first) {
        t->first_ns = now_ns;
        t->first_elements = elements;
        return true;
    }
    bool has_waited = read_count(&run->memory_waits) != t->last_memory_waits;
    apply(t, run,
          now_ns - t->first_ns >= PREDICT_NS && elements - t->first_elements >= PREDICT_ELEMENTS);
    try_inline(t, has_waited);
    return true;
}

void stk_tuner_look(struct stk_run *run)
{
    struct stk_tuner *t = __atomic_load_n(&run->tuner, __ATOMIC_ACQUIRE);
    uint64_t now_ns = stk_clock_ns();
    if (!t || now_ns < __atomic_load_n(&t->next_ns, __ATOMIC_RELAXED) ||
        pthread_mutex_trylock(&t->lock) != 0) {
        return;
    }
    if (now_ns >= t->next_ns) {
        pthread_mutex_lock(&run->tree_lock);
        bool is_done = run->root && look(t, run, now_ns);
        pthread_mutex_unlock(&run->tree_lock);
        t->looks += is_done;
        bool is_trying = t->trial.mode == STK_TRIAL_TRYING;
        t->every_ns = t->looks < 4 || is_trying ? LOOK_FIRST_NS : LOOK_MAX_NS;
        __atomic_store_n(&t->next_ns, now_ns + t->every_ns, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&t->lock);
}
