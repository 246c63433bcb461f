// SPDX-License-Identifier: Apache-2.0
// A run's recording. Each thread has its own writer and track, found through thread-local memory.
// That identifies the recorder by number, because addresses are reused.
#include "engine/run/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/str.h"
#include "engine/run/aggregate.h"
#include "engine/run/recorder_limit.h"
#include "engine/run/stage_name.h"
#include "wire/wire_write.h"

#define DEPTH_MAX 64
#define NAMES_MAX 256
#define EVENTS_MAX UINT64_C(10000000)
#define SHORT_NS 1000

struct named { // a stage's string in this writer; outlives iterators of the stage
    uint64_t hash;
    uint32_t string;
    uint64_t owed;             // elements of calls left out
    uint64_t start_ns, dur_ns; // the last of those calls
};

struct recorder_thread {
    struct recorder_thread *next;
    struct stk_wire_writer *writer;
    uint32_t track, depth;
    struct {
        uint64_t start_ns;
    } open[DEPTH_MAX];
    int names;
    struct named name[NAMES_MAX];
};

struct session { // a file, and the consumer of all runs recorded in it
    struct session *next;
    struct stk_wire_file *file;
    char *asked, *path; // as the caller gave it; as used
    int users;          // guarded by sessions_lock
    bool is_shared;
    pid_t pid;
    pthread_mutex_t lock; // guards the following fields
    struct stk_wire_writer *consumer;
    uint32_t consumer_track, next_name, own_name, step_count;
    uint64_t step_start_ns, given_ns; // of the last element; 0: none yet
};

struct stk_recorder {
    struct session *session;
    struct stk_wire_file *file;        // the session's
    uint64_t number, events, left_out; // atomic, except number
    uint64_t waited_ns, step_ns;       // the consumer's waits for batches, and its time between
                                       // them; atomic
    pthread_mutex_t lock;              // guards threads
    struct recorder_thread *threads;
};

static struct session *sessions; // shared ones live as long as the process
static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local struct {
    uint64_t number;
    struct recorder_thread *thread;
} mine;

static enum stoker_status session_close(struct session *s, bool is_whole, struct stoker_err *err)
{
    stk_wire_writer_close(s->consumer);
    enum stoker_status status = stk_wire_close(s->file, is_whole, err);
    pthread_mutex_destroy(&s->lock);
    stk_free(s->asked);
    stk_free(s->path);
    stk_free(s);
    return status;
}

// In a process forked from one that writes "run.stk", the path is "run.1234.stk".
static bool own_path(struct session *s, const char *path, bool is_forked)
{
    size_t n = strlen(path);
    const char *dot = strrchr(path, '.');
    s->asked = stk_alloc(n + 1);
    s->path = stk_alloc(n + 32);
    if (s->asked) {
        memcpy(s->asked, path, n + 1);
    }
    if (s->path && is_forked && dot && !strchr(dot, '/')) {
        snprintf(s->path, n + 32, "%.*s.%ld%s", (int)(dot - path), path, (long)s->pid, dot);
    } else if (s->path) {
        snprintf(s->path, n + 32, "%s", path);
        if (is_forked) {
            snprintf(s->path + n, 32, ".%ld", (long)s->pid);
        }
    }
    return s->asked && s->path;
}

static enum stoker_status session_open(struct session **out, const char *path, bool is_forked,
                                       struct stoker_err *err)
{
    struct session *s = stk_alloc_zero(1, sizeof *s);
    *out = NULL;
    if (!s) {
        return stk_err_nomem(err);
    }
    s->pid = getpid();
    pthread_mutex_init(&s->lock, NULL);
    enum stoker_status status = own_path(s, path, is_forked) ? STOKER_OK : stk_err_nomem(err);
    status = status == STOKER_OK ? stk_wire_create(&s->file, s->path, "stoker.data", err) : status;
    if (status == STOKER_OK) {
        s->consumer = stk_wire_writer_open(s->file);
        status = s->consumer ? STOKER_OK : stk_err_nomem(err);
    }
    if (status != STOKER_OK) {
        struct stoker_err ignored;
        (void)!session_close(s, false, &ignored);
        return status;
    }
    uint32_t name = stk_wire_string(s->consumer, "consumer");
    s->consumer_track = stk_wire_track(s->consumer, STK_WIRE_HOST, 0, -1, name);
    s->next_name = stk_wire_string(s->consumer, STK_WIRE_NEXT);
    s->own_name = stk_wire_string(s->consumer, "consumer, between two batches");
    *out = s;
    return STOKER_OK;
}

// Joins the session of this path, or creates it. Caller holds sessions_lock.
static enum stoker_status session_join(struct session **out, const char *path, bool is_shared,
                                       struct stoker_err *err)
{
    bool is_forked = false;
    for (struct session *s = sessions; s && is_shared; s = s->next) {
        if (s->pid != getpid()) {
            is_forked |= strcmp(s->asked, path) == 0 && stk_wire_is_at(s->file, path);
            continue;
        }
        if (strcmp(s->asked, path) == 0 && stk_wire_is_at(s->file, s->path)) {
            s->users++;
            *out = s;
            return STOKER_OK;
        }
    }
    enum stoker_status status = session_open(out, path, is_forked, err);
    if (status == STOKER_OK) {
        (*out)->users = 1;
        (*out)->is_shared = is_shared;
    }
    if (status == STOKER_OK && is_shared) {
        struct session **last = &sessions;
        while (*last) {
            last = &(*last)->next;
        }
        *last = *out; // after inherited ones, so that those are found first
    }
    return status;
}

enum stoker_status stk_recorder_open(struct stk_recorder **out, const char *path, bool is_shared,
                                     struct stoker_err *err)
{
    static uint64_t numbers;
    *out = NULL;
    struct stk_recorder *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        return stk_err_nomem(err);
    }
    pthread_mutex_lock(&sessions_lock);
    enum stoker_status s = session_join(&r->session, path, is_shared, err);
    pthread_mutex_unlock(&sessions_lock);
    if (s != STOKER_OK) {
        stk_free(r);
        return s;
    }
    r->file = r->session->file;
    r->number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    pthread_mutex_init(&r->lock, NULL);
    *out = r;
    return STOKER_OK;
}

static struct recorder_thread *thread_of(struct stk_recorder *r)
{
    if (mine.number == r->number) {
        return mine.thread;
    }
    struct recorder_thread *t = stk_alloc_zero(1, sizeof *t);
    if (t) {
        t->writer = stk_wire_writer_open(r->file);
        if (!t->writer) {
            stk_free(t);
            t = NULL;
        }
    }
    if (t) {
        t->track = stk_wire_track(t->writer, STK_WIRE_HOST, (int64_t)syscall(SYS_gettid), -1, 0);
        pthread_mutex_lock(&r->lock);
        t->next = r->threads;
        r->threads = t;
        pthread_mutex_unlock(&r->lock);
    }
    mine.number = r->number;
    mine.thread = t; // NULL: this thread isn't recorded
    return t;
}

void stk_recorder_begin(struct stk_recorder *r)
{
    struct recorder_thread *t = thread_of(r);
    if (t && t->depth++ < DEPTH_MAX) {
        t->open[t->depth - 1].start_ns = stk_clock_ns();
    }
}

// The stage's entry for this thread; NULL: no room for another. The kinds on the path make up the
// name and are compared without building it.
static struct named *named_of(struct recorder_thread *t, const struct stk_iter *it)
{
    char text[STK_STAGE_NAME];
    uint64_t hash = 0;
    for (const struct stk_iter *up = it; up; up = up->parent) {
        hash = stk_hash_u64(hash ^ (uint64_t)(uintptr_t)up->kind);
    }
    for (int k = 0; k < t->names; k++) {
        if (t->name[k].hash == hash) {
            return &t->name[k];
        }
    }
    if (t->names == NAMES_MAX) {
        return NULL;
    }
    stk_stage_name(it, text);
    t->name[t->names] = (struct named){.hash = hash, .string = stk_wire_string(t->writer, text)};
    return &t->name[t->names++];
}

static void put_call(struct recorder_thread *t, uint32_t name, uint64_t start_ns, uint64_t dur_ns,
                     uint64_t elements)
{
    struct stk_wire_event e = {.start_ns = start_ns,
                               .dur_ns = dur_ns,
                               .name = name,
                               .track = t->track,
                               .kind = STK_WIRE_INPUT,
                               .value = elements > UINT32_MAX ? UINT32_MAX : (uint32_t)elements};
    stk_wire_put(t->writer, STK_WIRE_EVENTS, &e, sizeof e, start_ns, start_ns + dur_ns);
}

void stk_recorder_end(struct stk_recorder *r, const struct stk_iter *it, int64_t given)
{
    struct recorder_thread *t = thread_of(r);
    if (!t || t->depth == 0 || --t->depth >= DEPTH_MAX) {
        return;
    }
    char text[STK_STAGE_NAME];
    uint64_t start_ns = t->open[t->depth].start_ns, dur_ns = stk_clock_ns() - start_ns;
    struct named *stage = named_of(t, it);
    bool is_left_out = (dur_ns < SHORT_NS && stage) ||
                       __atomic_add_fetch(&r->events, 1, __ATOMIC_RELAXED) > EVENTS_MAX;
    if (is_left_out) {
        __atomic_add_fetch(&r->left_out, 1, __ATOMIC_RELAXED);
        if (stage && given > 0) {
            stage->owed += (uint64_t)given;
            stage->start_ns = start_ns;
            stage->dur_ns = dur_ns;
        }
        return;
    }
    if (!stage) {
        stk_stage_name(it, text);
        put_call(t, stk_wire_string(t->writer, text), start_ns, dur_ns, (uint64_t)given);
        return;
    }
    stage->owed += (uint64_t)given;
    put_call(t, stage->string, start_ns, dur_ns, stage->owed);
    stage->owed -= stage->owed > UINT32_MAX ? UINT32_MAX : stage->owed;
}

// Records the last call that was left out, with the elements that no event has counted yet.
static void settle_thread(struct recorder_thread *t)
{
    for (int k = 0; k < t->names; k++) {
        struct named *n = &t->name[k];
        for (; n->owed > 0; n->owed -= n->owed > UINT32_MAX ? UINT32_MAX : n->owed) {
            put_call(t, n->string, n->start_ns, n->dur_ns, n->owed);
        }
    }
}

// Ends the previous step. Caller holds the session's lock.
static void end_step(struct session *s, uint64_t asked_ns)
{
    if (!s->step_start_ns || asked_ns < s->given_ns) {
        return;
    }
    struct stk_wire_step step = {.start_ns = s->step_start_ns,
                                 .dur_ns = asked_ns - s->step_start_ns,
                                 .number = s->step_count++,
                                 .track = s->consumer_track};
    stk_wire_put(s->consumer, STK_WIRE_STEPS, &step, sizeof step, step.start_ns, asked_ns);
    struct stk_wire_event own = {.start_ns = s->given_ns,
                                 .dur_ns = asked_ns - s->given_ns,
                                 .name = s->own_name,
                                 .track = s->consumer_track,
                                 .kind = STK_WIRE_HOST_OP};
    stk_wire_put(s->consumer, STK_WIRE_EVENTS, &own, sizeof own, own.start_ns, asked_ns);
}

void stk_recorder_step(struct stk_recorder *r, uint64_t asked_ns, uint64_t given_ns, int64_t given)
{
    struct session *s = r->session;
    STK_ASSERT(given_ns >= asked_ns && given >= 0);
    __atomic_add_fetch(&r->waited_ns, given_ns - asked_ns, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&r->events, 3, __ATOMIC_RELAXED) > EVENTS_MAX) {
        __atomic_add_fetch(&r->left_out, 3, __ATOMIC_RELAXED);
        return;
    }
    // a step starts when its batch is requested, and ends when the next one is
    pthread_mutex_lock(&s->lock);
    if (s->step_start_ns && asked_ns > s->given_ns) {
        __atomic_add_fetch(&r->step_ns, asked_ns - s->given_ns, __ATOMIC_RELAXED);
    }
    end_step(s, asked_ns);
    s->step_start_ns = asked_ns;
    s->given_ns = given_ns;
    struct stk_wire_event e = {.start_ns = asked_ns,
                               .dur_ns = given_ns - asked_ns,
                               .name = s->next_name,
                               .track = s->consumer_track,
                               .kind = STK_WIRE_INPUT,
                               .value = given > UINT32_MAX ? UINT32_MAX : (uint32_t)given};
    stk_wire_put(s->consumer, STK_WIRE_EVENTS, &e, sizeof e, asked_ns, given_ns);
    pthread_mutex_unlock(&s->lock);
}

void stk_recorder_last(struct stk_recorder *r, uint64_t asked_ns)
{
    pthread_mutex_lock(&r->session->lock);
    end_step(r->session, asked_ns);
    r->session->step_start_ns = 0;
    pthread_mutex_unlock(&r->session->lock);
}

static void sum_up(struct session *c, const struct stk_iter *it, uint32_t parent, uint32_t *next)
{
    char text[STK_STAGE_NAME];
    const struct stk_stage_stats *s = &it->stats;
    uint32_t stage = (*next)++;
    stk_stage_name(it, text);
    struct stk_wire_stage w = {.time_ns = stk_clock_ns(),
                               .elements = s->elements,
                               .errors = s->errors,
                               .skipped = s->skipped,
                               .busy_ns = s->busy_ns,
                               .wait_ns = s->wait_ns,
                               .starve_ns = s->starve_ns,
                               .stage = stage,
                               .parent = parent,
                               .threads = s->threads,
                               .fill = s->fill,
                               .capacity = s->capacity};
    w.name = stk_wire_string(c->consumer, text);
    stk_wire_put(c->consumer, STK_WIRE_STAGES, &w, sizeof w, w.time_ns, w.time_ns);
    for (int k = 0; k < it->n_in; k++) {
        if (it->in[k]) {
            sum_up(c, it->in[k], stage, next);
        }
    }
}

void stk_recorder_sum(struct stk_recorder *r, struct stk_iter *root)
{
    struct session *c = r->session;
    uint32_t next = 0;
    char limit[1024], text[1100];
    pthread_mutex_lock(&root->run->tree_lock);
    stk_aggregate_tell(root);
    pthread_mutex_lock(&c->lock);
    sum_up(c, root, 0, &next);
    uint64_t step_ns = __atomic_load_n(&r->step_ns, __ATOMIC_RELAXED);
    if (stk_recorder_limit(root, step_ns, limit, sizeof limit)) {
        struct stk_wire_event e = {
            .start_ns = stk_clock_ns(), .track = c->consumer_track, .kind = STK_WIRE_ANNOTATION};
        snprintf(text, sizeof text, STK_WIRE_LIMIT "%020llu|%s",
                 (unsigned long long)__atomic_load_n(&r->waited_ns, __ATOMIC_RELAXED), limit);
        e.name = stk_wire_string(c->consumer, text);
        stk_wire_put(c->consumer, STK_WIRE_EVENTS, &e, sizeof e, e.start_ns, e.start_ns);
    }
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_unlock(&root->run->tree_lock);
}

// The last user of a shared file leaves it complete, and open for the next.
static enum stoker_status session_leave(struct session *s, struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    pthread_mutex_lock(&sessions_lock);
    STK_ASSERT(s->users > 0);
    bool is_last = --s->users == 0;
    if (is_last && s->is_shared) {
        stk_wire_flush(s->consumer);
        status = stk_wire_pause(s->file, err);
    }
    pthread_mutex_unlock(&sessions_lock);
    return is_last && !s->is_shared ? session_close(s, true, err) : status;
}

enum stoker_status stk_recorder_close(struct stk_recorder *r, struct stoker_err *err)
{
    struct session *c = r->session;
    if (r->left_out) {
        struct stk_wire_loss loss = {.count = r->left_out};
        pthread_mutex_lock(&c->lock);
        loss.what =
            stk_wire_string(c->consumer, "calls under a microsecond, or beyond ten million events");
        stk_wire_put(c->consumer, STK_WIRE_LOSSES, &loss, sizeof loss, 0, 0);
        pthread_mutex_unlock(&c->lock);
    }
    while (r->threads) {
        struct recorder_thread *t = r->threads;
        r->threads = t->next;
        settle_thread(t);
        stk_wire_writer_close(t->writer);
        stk_free(t);
    }
    enum stoker_status s = session_leave(c, err);
    pthread_mutex_destroy(&r->lock);
    stk_free(r);
    return s;
}
