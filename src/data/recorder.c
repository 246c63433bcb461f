// SPDX-License-Identifier: Apache-2.0
// The run's report. Each thread has a writer and a track of its own, found through thread-local
// memory that names the recorder by number, since addresses come again.
#include "data/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "wire/wire_write.h"

#define DEPTH_MAX 64
#define NAMES_MAX 256
#define EVENTS_MAX UINT64_C(10000000)
#define SHORT_NS 1000

struct named { // a stage's string of this writer; iterators of one stage come and go
    uint64_t hash;
    uint32_t string;
};

struct recorder_thread {
    struct recorder_thread *next;
    struct stk_wire_writer *writer;
    uint32_t track, depth;
    struct {
        uint64_t start_ns, elements;
        const struct stk_iter *it;
    } open[DEPTH_MAX];
    int names;
    struct named name[NAMES_MAX];
};

struct stk_recorder {
    struct stk_wire_file *file;
    uint64_t number, events, left_out; // the latter two atomic
    pthread_mutex_t lock;              // of threads
    struct recorder_thread *threads;
    struct stk_wire_writer *consumer;
    uint32_t consumer_track, next_name, own_name, step_count;
    uint64_t step_start_ns, given_ns; // of the last element; 0: none yet
};

static _Thread_local struct {
    uint64_t number;
    struct recorder_thread *thread;
} mine;

enum stk_status stk_recorder_open(struct stk_recorder **out, const char *path, struct stk_err *err)
{
    static uint64_t numbers;
    *out = NULL;
    struct stk_recorder *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        return stk_err_nomem(err);
    }
    enum stk_status s = stk_wire_create(&r->file, path, "stoker.data", err);
    if (s == STK_OK) {
        r->consumer = stk_wire_writer_open(r->file);
        s = r->consumer ? STK_OK : stk_err_nomem(err);
    }
    if (s != STK_OK) {
        struct stk_err ignored;
        s = stk_wire_close(r->file, false, &ignored) == STK_OK ? s : ignored.code;
        stk_free(r);
        return s;
    }
    r->number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    pthread_mutex_init(&r->lock, NULL);
    uint32_t name = stk_wire_string(r->consumer, "consumer");
    r->consumer_track = stk_wire_track(r->consumer, STK_WIRE_HOST, 0, -1, name);
    r->next_name = stk_wire_string(r->consumer, "stoker.data next");
    r->own_name = stk_wire_string(r->consumer, "consumer, between two batches");
    *out = r;
    return STK_OK;
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
    mine.thread = t; // NULL: this thread is not recorded
    return t;
}

void stk_recorder_begin(struct stk_recorder *r, const struct stk_iter *it)
{
    struct recorder_thread *t = thread_of(r);
    if (t && t->depth++ < DEPTH_MAX) {
        t->open[t->depth - 1].start_ns = stk_wire_now_ns();
        t->open[t->depth - 1].it = it;
        t->open[t->depth - 1].elements = __atomic_load_n(&it->stats.elements, __ATOMIC_RELAXED);
    }
}

// "tensor_slices" as "TensorSlices".
static size_t add_kind(char *text, size_t used, size_t room, const char *kind)
{
    bool is_capital = true;
    for (; *kind && used + 1 < room; kind++) {
        if (*kind == '_') {
            is_capital = true;
            continue;
        }
        text[used++] = is_capital && *kind >= 'a' && *kind <= 'z' ? (char)(*kind - 32) : *kind;
        is_capital = false;
    }
    text[used] = 0;
    return used;
}

static void stage_name(const struct stk_iter *it, char text[512])
{
    const struct stk_iter *up[DEPTH_MAX];
    int n = 0;
    for (; it && n < DEPTH_MAX; it = it->parent) {
        up[n++] = it;
    }
    size_t used = (size_t)snprintf(text, 512, "Iterator");
    while (n-- > 0 && used + 3 < 512) {
        memcpy(text + used, "::", 3);
        used = add_kind(text, used + 2, 512, up[n]->kind->name);
    }
}

static uint32_t name_of(struct recorder_thread *t, const struct stk_iter *it)
{
    char text[512];
    stage_name(it, text);
    uint64_t hash = stk_hash_bytes(text, strlen(text));
    for (int k = 0; k < t->names; k++) {
        if (t->name[k].hash == hash) {
            return t->name[k].string;
        }
    }
    uint32_t string = stk_wire_string(t->writer, text);
    if (t->names < NAMES_MAX) {
        t->name[t->names++] = (struct named){hash, string};
    }
    return string;
}

void stk_recorder_end(struct stk_recorder *r)
{
    struct recorder_thread *t = thread_of(r);
    if (!t || t->depth == 0 || --t->depth >= DEPTH_MAX) {
        return;
    }
    uint64_t now = stk_wire_now_ns(), start = t->open[t->depth].start_ns;
    const struct stk_iter *it = t->open[t->depth].it;
    bool is_left_out =
        now - start < SHORT_NS || __atomic_add_fetch(&r->events, 1, __ATOMIC_RELAXED) > EVENTS_MAX;
    if (is_left_out) {
        __atomic_add_fetch(&r->left_out, 1, __ATOMIC_RELAXED);
        return;
    }
    uint64_t given =
        __atomic_load_n(&it->stats.elements, __ATOMIC_RELAXED) - t->open[t->depth].elements;
    struct stk_wire_event e = {.start_ns = start,
                               .dur_ns = now - start,
                               .track = t->track,
                               .kind = STK_WIRE_INPUT,
                               .value = given > UINT32_MAX ? UINT32_MAX : (uint32_t)given};
    e.name = name_of(t, it);
    stk_wire_put(t->writer, STK_WIRE_EVENTS, &e, sizeof e, start, now);
}

void stk_recorder_step(struct stk_recorder *r, uint64_t asked_ns, uint64_t given_ns)
{
    if (__atomic_add_fetch(&r->events, 3, __ATOMIC_RELAXED) > EVENTS_MAX) {
        __atomic_add_fetch(&r->left_out, 3, __ATOMIC_RELAXED);
        return;
    }
    // A step begins with the fetch of its batch and lasts until the next one is asked for.
    if (r->step_start_ns) {
        struct stk_wire_step s = {.start_ns = r->step_start_ns,
                                  .dur_ns = asked_ns - r->step_start_ns,
                                  .number = r->step_count++,
                                  .track = r->consumer_track};
        stk_wire_put(r->consumer, STK_WIRE_STEPS, &s, sizeof s, s.start_ns, asked_ns);
        struct stk_wire_event own = {.start_ns = r->given_ns,
                                     .dur_ns = asked_ns - r->given_ns,
                                     .name = r->own_name,
                                     .track = r->consumer_track,
                                     .kind = STK_WIRE_HOST_OP};
        stk_wire_put(r->consumer, STK_WIRE_EVENTS, &own, sizeof own, own.start_ns, asked_ns);
    }
    r->step_start_ns = asked_ns;
    r->given_ns = given_ns;
    struct stk_wire_event e = {.start_ns = asked_ns,
                               .dur_ns = given_ns - asked_ns,
                               .name = r->next_name,
                               .track = r->consumer_track,
                               .kind = STK_WIRE_INPUT,
                               .value = 1};
    stk_wire_put(r->consumer, STK_WIRE_EVENTS, &e, sizeof e, asked_ns, given_ns);
}

static void sum_up(struct stk_recorder *r, const struct stk_iter *it, uint32_t parent,
                   uint32_t *next)
{
    char text[512];
    const struct stk_stage_stats *s = &it->stats;
    uint32_t stage = (*next)++;
    stage_name(it, text);
    struct stk_wire_stage w = {.time_ns = stk_wire_now_ns(),
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
                               .room = s->room};
    w.name = stk_wire_string(r->consumer, text);
    stk_wire_put(r->consumer, STK_WIRE_STAGES, &w, sizeof w, w.time_ns, w.time_ns);
    for (int k = 0; k < it->n_in; k++) {
        if (it->in[k]) {
            sum_up(r, it->in[k], stage, next);
        }
    }
}

void stk_recorder_sum(struct stk_recorder *r, const struct stk_iter *root)
{
    uint32_t next = 0;
    pthread_mutex_lock(&root->run->tree_lock);
    sum_up(r, root, 0, &next);
    pthread_mutex_unlock(&root->run->tree_lock);
}

enum stk_status stk_recorder_close(struct stk_recorder *r, struct stk_err *err)
{
    if (r->left_out) {
        struct stk_wire_loss loss = {.count = r->left_out};
        loss.what =
            stk_wire_string(r->consumer, "calls under a microsecond, or beyond ten million events");
        stk_wire_put(r->consumer, STK_WIRE_LOSSES, &loss, sizeof loss, 0, 0);
    }
    while (r->threads) {
        struct recorder_thread *t = r->threads;
        r->threads = t->next;
        stk_wire_writer_close(t->writer);
        stk_free(t);
    }
    stk_wire_writer_close(r->consumer);
    enum stk_status s = stk_wire_close(r->file, true, err);
    pthread_mutex_destroy(&r->lock);
    stk_free(r);
    return s;
}
