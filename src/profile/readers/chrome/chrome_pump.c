// SPDX-License-Identifier: Apache-2.0
// Blocks of text from the stream to the workers. A worker takes the next block under a lock.
// (Compressed data is also inflated there, by one worker while the others parse.) It cuts the block
// where an event seems to begin, and parses it right away on the guess that one does. Then it waits
// for its turn. If the previous block ended exactly there, between two events, the guess was right.
// Otherwise the block is parsed again from where the previous one ended. So the result equals one
// pass over the file, for any cuts and any number of workers.
//
// Memory: per worker two blocks and the rows of one. A unit longer than a block grows the buffers
// up to STK_CHROME_EVENT_BYTES. A longer unit is skipped.
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/thread.h"
#include "profile/readers/chrome/chrome_run.h"

static _Atomic size_t block_bytes = STK_CHROME_BLOCK_BYTES;

void stk_chrome_use_blocks(size_t bytes)
{
    atomic_store(&block_bytes, bytes ? bytes : STK_CHROME_BLOCK_BYTES);
}

struct buffer {
    char *p;
    size_t len, size; // size without padding
};

static bool buffer_reserve(struct buffer *b, size_t size)
{
    if (size <= b->size && b->p) {
        return true;
    }
    char *grown = stk_realloc_array(b->p, size + STK_CHROME_PAD, 1);
    if (!grown) {
        return false;
    }
    b->p = grown;
    b->size = size;
    return true;
}

static bool buffer_set(struct buffer *b, size_t at, const char *p, size_t n)
{
    STK_ASSERT(p || n == 0);
    if (at + n > b->size && !buffer_reserve(b, (at + n) + (at + n) / 2)) {
        return false;
    }
    if (n) {
        memmove(b->p + at, p, n);
    }
    b->len = at + n;
    STK_ASSERT(b->len <= b->size);
    return true;
}

static void buffer_pad(struct buffer *b)
{
    STK_ASSERT(b->p && b->len <= b->size);
    memset(b->p + b->len, ' ', STK_CHROME_PAD);
}

struct run {
    const struct stk_read_ctx *ctx;
    struct stk_chrome_sink *sink; // with the turn lock
    struct stk_chrome_input *in;
    size_t block_bytes;
    atomic_bool stop;
    // Reading.
    pthread_mutex_t read_lock;
    uint64_t next_block, read_pos; // read_pos: of the first byte of `carry`
    struct buffer carry;           // already read; belongs to the next block
    bool next_is_cut, ended;       // the next block begins where an event seems to
    // Joining.
    pthread_mutex_t turn_lock;
    pthread_cond_t turn_changed;
    uint64_t turn;
    struct stk_chrome_place place;
    struct buffer rest; // text left when the last block ended
    uint64_t rest_pos;
    // First failure.
    enum stoker_status status;
    struct stoker_err err;
};

struct worker {
    struct run *run;
    struct stk_chrome_stager s;
    struct stk_chrome_cursor *cursor;
    struct buffer block, joined;
    uint64_t pos, number;
    bool is_cut;
};

// Bytes of a block: a small uncompressed file as a whole, with its padding; else what is read at a
// time.
static size_t block_of(const struct stk_stream *s)
{
    size_t most = atomic_load(&block_bytes);
    uint64_t size = stk_stream_codec(s) == STK_CODEC_PLAIN ? stk_stream_size(s) : 0;
    return size && size < most ? (size_t)size + 1 : most;
}

static void fail(struct run *run, enum stoker_status status, const struct stoker_err *err)
{
    if (!atomic_exchange(&run->stop, true)) {
        run->status = status;
        if (err) {
            run->err = *err;
        } else {
            stk_err_nomem(&run->err);
        }
    }
}

static bool report_progress(struct run *run)
{
    const struct stk_progress *progress = run->ctx->progress;
    if (!progress || !progress->update) {
        return true;
    }
    struct stk_stream *stream = run->ctx->stream;
    return progress->update(progress->arg, stk_stream_consumed(stream), stk_stream_size(stream)) ==
           0;
}

// Fill the worker's block: the carried bytes, then the stream's, up to a block.
static bool fill_block(struct run *run, struct worker *w, struct stoker_err *err)
{
    size_t want =
        run->block_bytes > run->carry.len ? run->block_bytes : run->carry.len + run->block_bytes;
    if (!buffer_reserve(&w->block, want) ||
        !buffer_set(&w->block, 0, run->carry.p, run->carry.len)) {
        fail(run, STOKER_ENOMEM, NULL);
        return false;
    }
    w->pos = run->read_pos;
    w->is_cut = run->next_is_cut;
    while (w->block.len < want && !run->ended) {
        size_t got = 0;
        enum stoker_status status = stk_stream_read(run->ctx->stream, w->block.p + w->block.len,
                                                    want - w->block.len, &got, err);
        if (status != STOKER_OK) {
            fail(run, status, err);
            return false;
        }
        run->ended = got == 0;
        w->block.len += got;
    }
    return w->block.len > 0;
}

// Take the next block; false at the end or after a failure. Holds the read lock.
static bool take_block(struct run *run, struct worker *w)
{
    struct stoker_err err;
    stk_err_init(&err);
    if (atomic_load(&run->stop) || !fill_block(run, w, &err)) {
        return false;
    }
    if (!report_progress(run)) {
        stk_err_set(&err, STOKER_EINTR, "interrupted");
        fail(run, STOKER_EINTR, &err);
        return false;
    }
    size_t cut = run->ended ? 0 : stk_chrome_find_cut(w->block.p, w->block.len);
    size_t carried = cut ? w->block.len - cut : 0;
    run->carry.len = 0;
    if (!buffer_set(&run->carry, 0, w->block.p + cut, carried)) {
        fail(run, STOKER_ENOMEM, NULL);
        return false;
    }
    w->block.len -= carried;
    buffer_pad(&w->block);
    run->next_is_cut = cut != 0;
    run->read_pos = w->pos + w->block.len;
    w->number = run->next_block++;
    return true;
}

static size_t parse(struct worker *w, struct stk_chrome_place *place, const struct buffer *b,
                    uint64_t pos, bool last)
{
    struct stk_chrome_text text = {b->p, b->len, pos, last};
    stk_chrome_stage_begin(&w->s);
    return stk_chrome_consume(place, &w->s, w->cursor, &text);
}

// Join the text that the last block left with this one.
static bool join_rest(struct run *run, struct worker *w)
{
    if (!buffer_set(&w->joined, 0, run->rest.p, run->rest.len) ||
        !buffer_set(&w->joined, run->rest.len, w->block.p, w->block.len)) {
        return false;
    }
    buffer_pad(&w->joined);
    return true;
}

static void keep_captures(struct run *run, struct worker *w)
{
    for (int i = 0; i < STK_CHROME_CAPTURES; i++) {
        struct stk_str text = w->s.captures[i];
        if (text.n == 0) {
            continue;
        }
        char *p = stk_arena_strndup(&run->in->arena, text.p, text.n);
        if (!p) {
            fail(run, STOKER_ENOMEM, NULL);
        } else {
            run->in->captures[i] = (struct stk_str){p, text.n};
        }
    }
}

// It is this worker's turn: confirm the block's rows, and set where the next one begins.
static void join_block(struct run *run, struct worker *w, const struct stk_chrome_place *guess,
                       size_t guess_done)
{
    const struct stk_chrome_place *before = &run->place;
    bool right = guess && before->at == STK_CHROME_AT_EVENTS && before->seen_comma &&
                 run->rest.len == 0 && (!before->bare_array || guess->at == STK_CHROME_AT_EVENTS);
    const struct buffer *text = &w->block;
    size_t done = guess_done;
    if (right) {
        bool bare_array = before->bare_array;
        run->place = *guess;
        run->place.bare_array = bare_array;
    } else {
        if (run->rest.len > 0) {
            if (!join_rest(run, w)) {
                fail(run, STOKER_ENOMEM, NULL);
                return;
            }
            text = &w->joined;
        }
        done = parse(w, &run->place, text, w->pos - run->rest.len, false);
    }
    run->rest.len = 0;
    if (!buffer_set(&run->rest, 0, text->p + done, text->len - done)) {
        fail(run, STOKER_ENOMEM, NULL);
    }
    run->in->bytes = w->pos + w->block.len;
    keep_captures(run, w);
    stk_chrome_sink_take(run->sink, &w->s);
    if (run->sink->failed) {
        fail(run, STOKER_ENOMEM, NULL);
    } else if (stk_shard_failed(run->sink->shard)) {
        fail(run, STOKER_OK, NULL); // the builder has the error
    }
}

static void wait_for_turn(struct run *run, uint64_t number)
{
    while (run->turn != number && !atomic_load(&run->stop)) {
        pthread_cond_wait(&run->turn_changed, &run->turn_lock);
    }
}

static void work_on_block(struct run *run, struct worker *w)
{
    struct stk_chrome_place guess = stk_chrome_place_events();
    size_t done = 0;
    if (w->is_cut) {
        done = parse(w, &guess, &w->block, w->pos, false);
    }
    pthread_mutex_lock(&run->turn_lock);
    wait_for_turn(run, w->number);
    if (!atomic_load(&run->stop)) {
        join_block(run, w, w->is_cut ? &guess : NULL, done);
        run->turn++;
    }
    pthread_cond_broadcast(&run->turn_changed);
    pthread_mutex_unlock(&run->turn_lock);
}

static bool worker_init(struct worker *w, struct run *run)
{
    *w = (struct worker){.run = run};
    w->cursor = stk_alloc_zero(1, sizeof *w->cursor);
    bool ok = stk_chrome_stager_init(&w->s) && w->cursor;
    w->s.wants = run->ctx->wants;
    return ok;
}

static void worker_deinit(struct worker *w)
{
    stk_chrome_stager_deinit(&w->s);
    stk_free(w->cursor);
    stk_free(w->block.p);
    stk_free(w->joined.p);
}

// Wake the workers, whose turn will never come.
static void wake_all(struct run *run)
{
    pthread_mutex_lock(&run->turn_lock);
    pthread_cond_broadcast(&run->turn_changed);
    pthread_mutex_unlock(&run->turn_lock);
}

static void work(void *arg, int index)
{
    struct run *run = arg;
    struct worker w;
    (void)index;
    if (!worker_init(&w, run)) {
        fail(run, STOKER_ENOMEM, NULL);
    }
    while (!atomic_load(&run->stop)) {
        pthread_mutex_lock(&run->read_lock);
        bool taken = take_block(run, &w);
        pthread_mutex_unlock(&run->read_lock);
        if (!taken) {
            break;
        }
        work_on_block(run, &w);
    }
    if (atomic_load(&run->stop)) {
        wake_all(run);
    }
    worker_deinit(&w);
}

// The rest when the stream ends: only now are units known to be complete or truncated.
static void finish_rest(struct run *run)
{
    struct worker w;
    if (!worker_init(&w, run) || !buffer_reserve(&run->rest, 1)) {
        fail(run, STOKER_ENOMEM, NULL);
        worker_deinit(&w);
        return;
    }
    buffer_pad(&run->rest);
    uint64_t pos = run->in->bytes - run->rest.len;
    size_t done = parse(&w, &run->place, &run->rest, pos, true);
    const struct stk_chrome_place *end = &run->place;
    bool cut = done < run->rest.len;
    bool open = end->at == STK_CHROME_AT_EVENTS
                    ? !end->bare_array
                    : end->at == STK_CHROME_AT_KEYS || end->at == STK_CHROME_AT_SKIP;
    if (cut || open) {
        bool event = cut && end->at == STK_CHROME_AT_EVENTS;
        stk_chrome_stage_issue(&w.s, STK_ISSUE_TRUNCATED, event, pos + done, STK_STR(""));
        w.s.counts.by_kind[STK_KIND_OTHER] += event;
    }
    keep_captures(run, &w);
    stk_chrome_sink_take(run->sink, &w.s);
    if (run->sink->failed) {
        fail(run, STOKER_ENOMEM, NULL);
    }
    worker_deinit(&w);
}

enum stoker_status stk_chrome_pump(const struct stk_read_ctx *ctx, int count,
                                   struct stk_chrome_sink *sink, struct stk_chrome_input *in,
                                   struct stk_chrome_place *end, struct stoker_err *err)
{
    STK_ASSERT(count > 0);
    struct run run = {.ctx = ctx,
                      .sink = sink,
                      .in = in,
                      .block_bytes = block_of(ctx->stream),
                      .status = STOKER_OK};
    stk_err_init(&run.err);
    pthread_mutex_init(&run.read_lock, NULL);
    pthread_mutex_init(&run.turn_lock, NULL);
    pthread_cond_init(&run.turn_changed, NULL);
    stk_thread_run(count, work, &run);
    if (!atomic_load(&run.stop)) {
        finish_rest(&run);
    }
    *end = run.place;
    in->damage = stk_stream_damage(ctx->stream);
    pthread_cond_destroy(&run.turn_changed);
    pthread_mutex_destroy(&run.turn_lock);
    pthread_mutex_destroy(&run.read_lock);
    stk_free(run.carry.p);
    stk_free(run.rest.p);
    if (run.status != STOKER_OK && err) {
        *err = run.err;
    }
    return run.status;
}
