// SPDX-License-Identifier: Apache-2.0
// Tasks of line stretches, and the workers that decode them.
#include "profile/readers/xplane/xplane_decode.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/thread.h"

#define BLOCK_BYTES ((size_t)256 * 1024) // read and decoded at a time: stays in a core's cache
#define TASK_BYTES ((uint64_t)8 << 20)
#define TASKS_MAX 64 // of a job, approximately: each costs a shard
#define EVENT_MAX_BYTES ((size_t)64 << 20)

struct stretch {
    uint32_t line;
    uint64_t from, to;
    bool guessed; // `to` is a field boundary only if decoding arrives there
};
struct task {
    struct stk_shard *shard;
    struct stk_vec stretches;
};

struct crew {
    struct stk_xp_decode_job *job;
    pthread_mutex_t lock; // guards everything below
    pthread_t caller;
    uint64_t task_bytes;
    size_t next_line;
    uint64_t next_from; // in next_line; 0: its first event
    uint8_t *hop_buf;
    bool exact;            // no guessing where to cut lines
    struct stk_vec shards; // struct stk_shard *: those of this run
    atomic_bool stop, guessed_wrong;
    enum stoker_status status;
    struct stoker_err err;
};

static void crew_fail(struct crew *crew, enum stoker_status status, const struct stoker_err *err)
{
    pthread_mutex_lock(&crew->lock);
    if (crew->status == STOKER_OK) {
        crew->status = status;
        if (err) {
            crew->err = *err;
        }
    }
    crew->stop = true;
    pthread_mutex_unlock(&crew->lock);
}

// Length of the event field at p (tag and all), 0 if it is something else or not wholly visible.
static inline uint64_t event_size(const uint8_t *p, const uint8_t *end)
{
    if (end - p < 16 || *p != (4 << 3 | STK_PB_LEN)) {
        return 0;
    }
    if (p[1] < 0x80) {
        return 2 + (uint64_t)p[1];
    }
    struct stk_pb_cursor c = {p + 1, end};
    uint64_t size;
    if (stk_pb_varint(&c, &size) != STK_PB_FIELD || size > EVENT_MAX_BYTES) {
        return 0;
    }
    return (uint64_t)(c.p - p) + size;
}

// First field boundary of the line at or after from + task_bytes, or the line's end if that is
// near or the fields can't be followed.
static uint64_t hop(struct crew *crew, const struct stk_xp_line *line, uint64_t from, uint64_t want)
{
    uint64_t end = line->offset + line->size, at = from;
    struct stoker_err ignored;
    while (at - from < want && at < end) {
        size_t got;
        const uint8_t *p =
            stk_pb_fetch(&crew->job->source, at, BLOCK_BYTES, crew->hop_buf, &got, &ignored);
        if (!p || got < 16) {
            return end; // decoding meets the same damage and reports it
        }
        const uint8_t *q = p, *limit = p + got;
        uint64_t size;
        while (q < limit && (size = event_size(q, limit)) != 0) {
            if (size > (uint64_t)(limit - q)) {
                at += (uint64_t)(q - p) + size;
                q = NULL;
                break;
            }
            q += size;
        }
        if (!q) {
            continue;
        }
        if (q == p) {
            return end;
        }
        at += (uint64_t)(q - p);
    }
    return at < end ? at : end;
}

// Hops that a guess must survive, and the hop at which it is accepted. A chain of fields that
// starts inside an event runs through that event's stats (they have the same tag), then over
// events.
#define GUESS_HOPS 64
#define GUESS_TAKEN 40
#define GUESS_WITHIN 4096

// Size of an event that looks like one.
static inline uint64_t likely_event_size(const uint8_t *p, const uint8_t *end)
{
    uint64_t size = event_size(p, end), head = p[1] < 0x80 ? 2 : p[2] < 0x80 ? 3 : 4;
    if (!size || size > (uint64_t)(end - p) || head > size) {
        return 0;
    }
    uint8_t tag = size == head ? 8 : p[head];
    return tag == 8 || tag == 16 || tag == 24 || tag == 34 || tag == 40 ? size : 0;
}

// A likely field boundary near `near`, found without reading what is before it; 0: none found.
static uint64_t guess(struct crew *crew, const struct stk_xp_line *line, uint64_t near)
{
    size_t got;
    struct stoker_err ignored;
    uint64_t left = line->offset + line->size - near;
    const uint8_t *p =
        stk_pb_fetch(&crew->job->source, near, left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES,
                     crew->hop_buf, &got, &ignored);
    for (size_t start = 0; p && start < GUESS_WITHIN && start + 16 < got; start++) {
        const uint8_t *q = p + start, *taken = NULL;
        uint64_t size;
        int hops = 0;
        for (; hops < GUESS_HOPS && (size = likely_event_size(q, p + got)) != 0; hops++) {
            taken = hops == GUESS_TAKEN ? q : taken;
            q += size;
        }
        if (hops == GUESS_HOPS) {
            return near + (uint64_t)(taken - p);
        }
    }
    return 0;
}

// Next task, under the lock. Returns false when no task is left.
static bool claim(struct crew *crew, struct task *task)
{
    struct stk_xp_decode_job *job = crew->job;
    uint64_t capacity = crew->task_bytes;
    task->shard = NULL;
    task->stretches.count = 0;
    if (crew->stop || crew->next_line >= job->line_count) {
        return false;
    }
    while (capacity > 0 && crew->next_line < job->line_count) {
        const struct stk_xp_line *line = &job->lines[crew->next_line];
        uint64_t from = crew->next_from ? crew->next_from : line->events;
        uint64_t end = line->offset + line->size, to = end;
        bool guessed = false;
        if (end - from > capacity + capacity / 2) {
            to = crew->exact ? 0 : guess(crew, line, from + capacity);
            guessed = to != 0;
            if (!guessed) {
                to = hop(crew, line, from, capacity);
            }
        }
        struct stretch *s = stk_vec_push(&task->stretches);
        if (!s) {
            crew->status = STOKER_ENOMEM;
            crew->stop = true;
            return false;
        }
        *s = (struct stretch){(uint32_t)crew->next_line, from, to, guessed};
        crew->next_from = to < end ? to : 0;
        crew->next_line += to >= end;
        capacity = to - from < capacity ? capacity - (to - from) : 0;
    }
    task->shard = stk_build_shard(job->build);
    struct stk_shard **slot = task->shard ? stk_vec_push(&crew->shards) : NULL;
    if (!slot) {
        crew->status = STOKER_ENOMEM;
        crew->stop = true;
        return false;
    }
    *slot = task->shard;
    return true;
}

static void report_progress(struct crew *crew, uint64_t bytes)
{
    struct stk_xp_decode_job *job = crew->job;
    pthread_mutex_lock(&crew->lock);
    job->done_bytes += bytes;
    uint64_t done = job->done_bytes;
    pthread_mutex_unlock(&crew->lock);
    if (!job->progress || !job->progress->update || !pthread_equal(pthread_self(), crew->caller)) {
        return;
    }
    if (job->progress->update(job->progress->arg, done, job->total_bytes)) {
        crew_fail(crew, STOKER_EINTR, NULL);
    }
}

// An event that doesn't fit the buffer has a huge value; it is left out.
static uint64_t skip_monster(struct stk_xp_decoder *d, const uint8_t *p, size_t n, uint64_t at,
                             uint64_t to)
{
    STK_ASSERT(at < to);
    struct stk_pb_cursor c = {p, p + n};
    uint64_t tag, size;
    if (stk_pb_varint(&c, &tag) != STK_PB_FIELD || (tag & 7) != STK_PB_LEN ||
        stk_pb_varint(&c, &size) != STK_PB_FIELD || size > to - at - (uint64_t)(c.p - p)) {
        return to;
    }
    stk_shard_count(d->shard, STK_KIND_OTHER, 1);
    stk_shard_issue(d->shard, STK_ISSUE_LIMIT_REACHED, 1, 1, (int64_t)at,
                    STK_STR("event above 64 MiB"));
    return at + (uint64_t)(c.p - p) + size;
}

struct capacity {
    uint8_t *p;
    size_t size; // without the pad
};

static bool enlarge(struct capacity *capacity, size_t size)
{
    STK_ASSERT(size > capacity->size);
    uint8_t *p = stk_realloc_array(capacity->p, size + STK_XP_PAD, 1);
    if (!p) {
        return false;
    }
    memset(p + size, 0, STK_XP_PAD);
    *capacity = (struct capacity){p, size};
    return true;
}

// The rest of a stretch without a complete field. In a cut line that is the known truncation;
// anywhere else it is damage.
static void end_of_stretch(struct stk_xp_decoder *d, uint64_t at)
{
    STK_ASSERT(d->line);
    if (d->line->cut) {
        return;
    }
    stk_shard_issue(d->shard, STK_ISSUE_MESSAGE_INVALID, 1, 0, (int64_t)at, STK_STR(""));
}

// The file became shorter while it was read.
static void note_shorter(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->job->truncated = true;
    pthread_mutex_unlock(&crew->lock);
}

static enum stoker_status decode_stretch(struct crew *crew, struct stk_xp_decoder *d,
                                         struct capacity *capacity, const struct stretch *s,
                                         struct stoker_err *err)
{
    struct stk_xp_decode_job *job = crew->job;
    STK_ASSERT(s->line < job->line_count && s->from <= s->to);
    uint64_t at = s->from;
    size_t block = BLOCK_BYTES;
    stk_xp_line_begin(d, &job->lines[s->line]);
    while (at < s->to && !crew->stop && !stk_shard_failed(d->shard) && !d->no_memory) {
        uint64_t left = s->to - at;
        size_t got, want = left < block ? (size_t)left : block;
        if (job->source.stream && capacity->size < want && !enlarge(capacity, want)) {
            return stk_err_nomem(err);
        }
        const uint8_t *p = stk_pb_fetch(&job->source, at, want, capacity->p, &got, err);
        if (!p) {
            return err->code;
        }
        size_t used = got ? stk_xp_decode(d, p, got, at) : SIZE_MAX;
        if (!got) {
            note_shorter(crew);
        }
        if (used == SIZE_MAX || (used == 0 && (got < want || got == left))) {
            if (got) {
                end_of_stretch(d, at);
            }
            break;
        }
        if (used == 0 && block < EVENT_MAX_BYTES) {
            block *= 4; // an event larger than the block
            continue;
        }
        uint64_t next = used ? at + used : skip_monster(d, p, got, at, s->to);
        report_progress(crew, next - at);
        at = next;
        block = BLOCK_BYTES;
    }
    stk_xp_line_end(d);
    if (s->guessed && at != s->to && !crew->stop && !stk_shard_failed(d->shard) && !d->no_memory) {
        crew->guessed_wrong = true;
        crew->stop = true;
    }
    return d->no_memory ? stk_err_nomem(err) : STOKER_OK;
}

static void work(void *arg, int index)
{
    struct crew *crew = arg;
    struct task task;
    struct capacity capacity = {0};
    struct stoker_err err;
    (void)index;
    stk_err_init(&err);
    stk_vec_init(&task.stretches, sizeof(struct stretch), UINT32_MAX);
    for (;;) {
        pthread_mutex_lock(&crew->lock);
        bool more = claim(crew, &task);
        pthread_mutex_unlock(&crew->lock);
        if (!more) {
            break;
        }
        struct stk_xp_decoder d;
        enum stoker_status status = STOKER_OK;
        if (!stk_xp_decoder_init(&d, task.shard, crew->job->planes, crew->job->plane_count)) {
            status = stk_err_nomem(&err);
        }
        d.wants = crew->job->wants;
        for (size_t i = 0; i < task.stretches.count && status == STOKER_OK; i++) {
            status = decode_stretch(crew, &d, &capacity, stk_vec_at(&task.stretches, i), &err);
        }
        stk_xp_decoder_deinit(&d);
        if (status != STOKER_OK) {
            crew_fail(crew, status, &err);
        }
    }
    stk_vec_deinit(&task.stretches);
    stk_free(capacity.p);
}

// If a cut was guessed wrongly, everything is decoded again with exact cuts. That only happens with
// damaged or malicious files.
static void run_crew(struct crew *crew, uint64_t total)
{
    uint64_t tasks = total / crew->task_bytes + 1, done_before = crew->job->done_bytes;
    int threads = tasks < (uint64_t)crew->job->threads ? (int)tasks : crew->job->threads;
    stk_thread_run(threads, work, crew);
    if (!crew->guessed_wrong || crew->status != STOKER_OK) {
        return;
    }
    for (size_t i = 0; i < crew->shards.count; i++) {
        stk_shard_reset(*(struct stk_shard **)stk_vec_at(&crew->shards, i));
    }
    crew->exact = true;
    crew->stop = crew->guessed_wrong = false;
    crew->next_line = 0;
    crew->next_from = 0;
    crew->job->done_bytes = done_before;
    crew->job->truncated = false;
    stk_thread_run(threads, work, crew);
}

enum stoker_status stk_xp_decode_lines(struct stk_xp_decode_job *job, struct stoker_err *err)
{
    STK_ASSERT(job->line_count == 0 || job->lines);
    struct crew crew = {.job = job, .caller = pthread_self(), .task_bytes = TASK_BYTES};
    uint64_t total = 0;
    for (size_t i = 0; i < job->line_count; i++) {
        total += job->lines[i].size;
    }
    if (!total) {
        return STOKER_OK;
    }
    if (total / TASKS_MAX > crew.task_bytes) {
        crew.task_bytes = total / TASKS_MAX;
    }
    if (job->source.stream) {
        crew.hop_buf = stk_alloc(BLOCK_BYTES);
        if (!crew.hop_buf) {
            return stk_err_nomem(err);
        }
    }
    stk_err_init(&crew.err);
    stk_vec_init(&crew.shards, sizeof(struct stk_shard *), SIZE_MAX / sizeof(struct stk_shard *));
    pthread_mutex_init(&crew.lock, NULL);
    run_crew(&crew, total);
    pthread_mutex_destroy(&crew.lock);
    stk_vec_deinit(&crew.shards);
    stk_free(crew.hop_buf);
    if (crew.status == STOKER_ENOMEM) {
        return stk_err_nomem(err);
    }
    if (crew.status == STOKER_EINTR) {
        return stk_err_set(err, STOKER_EINTR, "interrupted");
    }
    if (crew.status != STOKER_OK && err) {
        *err = crew.err;
    }
    return crew.status;
}
