// SPDX-License-Identifier: Apache-2.0
// Rows to columns. Each shard knows where its rows of each track go, so shards are scattered in
// parallel without locks. A chunk of rows already has the form of the columns: it is copied, its
// names, kinds and exts are translated, and its memory is freed. Columns are touched for the first
// time here, so memory moves from rows to columns instead of doubling.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/thread.h"
#include "profile/store/build_impl.h"
#include "profile/store/names.h"

// Bits of name_class: a name's kind on a device, once it is known.
#define CLASS_KNOWN 1u
#define CLASS_MEMCPY 2u
#define CLASS_MEMSET 4u
#define CLASS_COLLECTIVE 8u

static uint8_t classify(struct stk_finish *f, uint32_t name)
{
    uint8_t bits = atomic_load_explicit(&f->name_class[name], memory_order_relaxed);
    if (bits & CLASS_KNOWN) {
        return bits;
    }
    struct stk_str s = stk_strpool_get(&f->t->strings, name);
    enum stk_kind kind = stk_name_device_kind(s);
    bits = CLASS_KNOWN;
    if (kind == STK_KIND_MEMCPY) {
        bits |= CLASS_MEMCPY;
    } else if (kind == STK_KIND_MEMSET) {
        bits |= CLASS_MEMSET;
    }
    if (kind == STK_KIND_COLLECTIVE ||
        stk_name_classify(s, STK_KIND_KERNEL) & STK_NAME_COLLECTIVE) {
        bits |= CLASS_COLLECTIVE;
    }
    atomic_store_explicit(&f->name_class[name], bits, memory_order_relaxed);
    return bits;
}

enum stk_kind stk_build_kind(struct stk_finish *f, uint8_t kind, enum stk_track_kind track,
                             uint32_t name)
{
    if (kind == STK_KIND_UNSET) {
        if (track == STK_TRACK_THREAD) {
            return STK_KIND_HOST_OP;
        }
        if (track != STK_TRACK_STREAM) {
            return STK_KIND_OTHER;
        }
        uint8_t bits = classify(f, name);
        return bits & CLASS_MEMCPY       ? STK_KIND_MEMCPY
               : bits & CLASS_MEMSET     ? STK_KIND_MEMSET
               : bits & CLASS_COLLECTIVE ? STK_KIND_COLLECTIVE
                                         : STK_KIND_KERNEL;
    }
    if (kind == STK_KIND_KERNEL && track == STK_TRACK_STREAM &&
        classify(f, name) & CLASS_COLLECTIVE) {
        return STK_KIND_COLLECTIVE;
    }
    return (enum stk_kind)kind;
}

struct scatter_job {
    struct stk_finish *f;
    struct stk_vec *longs;               // per shard: struct stk_long_dur
    uint64_t (*by_kind)[STK_KIND_COUNT]; // per shard
    _Atomic size_t next_shard;
    atomic_bool out_of_memory;
};
// Running state of one shard.
struct scatter {
    struct stk_finish *f;
    struct stk_shard *s;
    enum stk_track_kind *track_kinds; // per shard track
    struct stk_vec *longs;
    uint64_t *by_kind;
    uint32_t *ext_final; // per ext of the shard: where it went; NULL: it has no details
    bool out_of_memory;
};

// Details of the shard get the rows where its values went, and the trace's string ids.
static void place_details(struct scatter *w)
{
    for (uint32_t i = 0; i < w->s->detail_count; i++) {
        struct stk_raw_detail *d = stk_shard_detail(w->s, i);
        d->ext = w->ext_final[d->ext];
        if (w->s->string_map && stk_detail_type_of(d->detail.key) == STK_DETAIL_TEXT) {
            d->detail.text = w->s->string_map[d->detail.text];
        }
    }
}

// Ref of a row with an ext.
static uint32_t put_ext(struct scatter *w, struct stk_cursor *cursor, uint32_t ext, uint8_t kind,
                        uint32_t name)
{
    if (kind == STK_KIND_RUNTIME) {
        w->f->call_corr[cursor->call] = *stk_shard_call(w->s, ext);
        return cursor->call++;
    }
    const struct stk_raw_ext *from = stk_shard_ext(w->s, ext);
    struct stk_ext *e = &w->f->t->ext[cursor->ext];
    *e = (struct stk_ext){.link = STK_NONE,
                          .next = STK_NONE,
                          .value = from->value,
                          .dir = from->dir,
                          .src_mem = from->src_mem,
                          .dst_mem = from->dst_mem,
                          .flags = from->flags};
    if (e->flags & STK_EXT_CONFIG && w->s->config_map) {
        e->value = w->s->config_map[e->value];
    }
    if (from->has_corr && stk_kind_is_device_work(kind)) {
        e->flags |= STK_EXT_HAS_CORR;
        e->link = (uint32_t)((uint64_t)from->corr >> 32);
        e->next = (uint32_t)(uint64_t)from->corr;
    }
    if (kind == STK_KIND_MEMCPY && e->dir == STK_DIR_UNKNOWN) {
        uint8_t src = STK_MEM_UNKNOWN, dst = STK_MEM_UNKNOWN;
        stk_name_parse_copy(stk_strpool_get(&w->f->t->strings, name), &e->dir, &src, &dst);
        if (e->src_mem == STK_MEM_UNKNOWN) {
            e->src_mem = src;
        }
        if (e->dst_mem == STK_MEM_UNKNOWN) {
            e->dst_mem = dst;
        }
    }
    if (w->ext_final) {
        w->ext_final[ext] = cursor->ext;
    }
    return cursor->ext++;
}

static void put_long(struct scatter *w, uint32_t event, int64_t dur_ns)
{
    struct stk_long_dur *d = stk_vec_push(w->longs);
    if (d) {
        *d = (struct stk_long_dur){event, dur_ns};
    } else {
        w->out_of_memory = true;
    }
}

STK_ORDER(compare_raw_longs, struct stk_raw_long, STK_UP(chunk) STK_UP(row))

static int64_t long_dur(const struct stk_shard *s, uint32_t chunk, uint32_t row)
{
    struct stk_raw_long key = {chunk, row, 0};
    const struct stk_raw_long *found =
        bsearch(&key, s->longs.items, s->longs.count, sizeof key, compare_raw_longs);
    return found ? found->dur_ns : UINT32_MAX;
}

// Close the gaps of removed rows in a chunk's columns. Durations that don't fit the column follow
// their rows.
static void close_gone(struct stk_shard *s, uint32_t chunk)
{
    struct stk_chunk *c = stk_shard_chunk(s, chunk);
    struct stk_chunk_columns rows = stk_chunk_columns(c);
    uint32_t n = 0;
    for (uint32_t r = 0; r < c->count; r++) {
        struct stk_raw_long key = {chunk, r, 0}, *x = NULL;
        if (rows.kind[r] == STK_KIND_GONE) {
            continue;
        }
        if (rows.dur_low[r] == UINT32_MAX) {
            x = bsearch(&key, s->longs.items, s->longs.count, sizeof key, compare_raw_longs);
        }
        rows.start_ns[n] = rows.start_ns[r];
        rows.dur_low[n] = rows.dur_low[r];
        rows.name[n] = rows.name[r];
        rows.pos_low[n] = rows.pos_low[r];
        rows.pos_high[n] = rows.pos_high[r];
        rows.ext[n] = rows.ext[r];
        rows.kind[n] = rows.kind[r];
        if (x) {
            x->row = n;
        }
        n++;
    }
    c->count = n;
}

// Kinds of the chunk's rows, counted; names are the trace's already.
static void put_kinds(struct scatter *w, const struct stk_chunk *c, uint32_t first)
{
    const uint32_t *names = w->f->t->name + first;
    const uint8_t *from = stk_chunk_columns(c).kind;
    uint8_t *to = w->f->t->kind + first;
    enum stk_track_kind track = w->track_kinds[c->track];
    // Runs of one kind are common: with four counters per kind, a row needn't wait for the previous
    // one.
    uint32_t counts[4][STK_KIND_COUNT] = {{0}};
    for (uint32_t r = 0; r < c->count; r++) {
        uint8_t kind = from[r];
        if (kind == STK_KIND_UNSET || kind == STK_KIND_KERNEL) {
            kind = (uint8_t)stk_build_kind(w->f, kind, track, names[r]);
        }
        to[r] = kind;
        counts[r & 3][kind]++;
    }
    uint32_t kinds = 0;
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        uint64_t n = (uint64_t)counts[0][k] + counts[1][k] + counts[2][k] + counts[3][k];
        w->by_kind[k] += n;
        kinds |= n ? 1u << k : 0;
    }
    uint32_t final = w->f->track_final[w->s->track_map[c->track]];
    if (final != STK_NONE) {
        atomic_fetch_or_explicit(&w->f->track_kinds[final], kinds, memory_order_relaxed);
    }
}

static void put_refs(struct scatter *w, const struct stk_chunk *c, uint32_t first)
{
    struct stk_trace *t = w->f->t;
    const uint32_t *from = stk_chunk_columns(c).ext;
    uint32_t *to = t->ref + first;
    if (!c->has_exts) {
        memset(to, 0xff, c->count * sizeof *to); // STK_NONE
        return;
    }
    struct stk_cursor *cursor = &w->s->cursors[c->track];
    for (uint32_t r = 0; r < c->count; r++) {
        to[r] = from[r] == STK_NONE
                    ? STK_NONE
                    : put_ext(w, cursor, from[r], t->kind[first + r], t->name[first + r]);
    }
}

static void scatter_chunk(struct scatter *w, uint32_t chunk)
{
    struct stk_trace *t = w->f->t;
    const struct stk_chunk *c = stk_shard_chunk(w->s, chunk);
    if (c->has_gone) {
        close_gone(w->s, chunk);
    }
    uint32_t first = w->s->cursors[c->track].row, n = c->count;
    const struct stk_chunk_columns rows = stk_chunk_columns(c);
    const uint32_t *string_map = w->s->string_map;
    int64_t base_ns = w->f->base_ns;
    w->s->cursors[c->track].row += n;
    for (uint32_t r = 0; r < n; r++) {
        t->start_ns[first + r] = rows.start_ns[r] - base_ns;
    }
    for (uint32_t r = 0; r < n; r++) {
        t->name[first + r] = string_map ? string_map[rows.name[r]] : rows.name[r];
    }
    memcpy(t->dur_low + first, rows.dur_low, n * sizeof *t->dur_low);
    memcpy(t->pos_low + first, rows.pos_low, n * sizeof *t->pos_low);
    memcpy(t->pos_high + first, rows.pos_high, n);
    put_kinds(w, c, first);
    put_refs(w, c, first);
    for (uint32_t r = 0; r < n && c->has_long; r++) {
        if (t->dur_low[first + r] == UINT32_MAX) {
            put_long(w, first + r, long_dur(w->s, chunk, r));
        }
    }
}

static void scatter_shard(struct scatter *w)
{
    struct stk_shard *s = w->s;
    stk_sort(s->longs.items, s->longs.count, sizeof(struct stk_raw_long), compare_raw_longs);
    for (uint32_t j = 0; j < s->tracks.entries.count; j++) {
        w->track_kinds[j] = stk_tracks_at(&w->f->merged, s->track_map[j])->kind;
    }
    for (uint32_t k = 0; k < s->chunks.count; k++) {
        scatter_chunk(w, k);
        stk_pool_give(s->pool, &stk_shard_chunk(s, k)->part);
    }
    stk_shard_give_rows(s);
    if (w->ext_final) {
        place_details(w);
    }
}

static void scatter_worker(void *arg, int index)
{
    struct scatter_job *job = arg;
    (void)index;
    for (;;) {
        size_t i = atomic_fetch_add(&job->next_shard, 1);
        if (i >= job->f->b->shards.count) {
            return;
        }
        struct stk_shard *s = stk_build_shard_at(job->f->b, i);
        struct scatter w = {
            .f = job->f, .s = s, .longs = &job->longs[i], .by_kind = job->by_kind[i]};
        w.track_kinds = stk_alloc_array(s->tracks.entries.count + 1, sizeof *w.track_kinds);
        bool ok = w.track_kinds != NULL;
        if (ok && s->detail_count) {
            w.ext_final = stk_alloc_array((size_t)s->ext_count + 1, sizeof *w.ext_final);
            if ((ok = w.ext_final != NULL)) {
                memset(w.ext_final, 0xff, s->ext_count * sizeof *w.ext_final); // STK_NONE
            }
        }
        if (ok) {
            scatter_shard(&w);
        }
        if (!ok || w.out_of_memory) {
            atomic_store(&job->out_of_memory, true);
        }
        stk_free(w.track_kinds);
        stk_free(w.ext_final);
    }
}

static bool alloc_columns(struct stk_finish *f)
{
    struct stk_trace *t = f->t;
    size_t n = t->count ? t->count : 1, exts = t->ext_count ? t->ext_count : 1;
    size_t calls = f->call_count ? f->call_count : 1;
    return (t->start_ns = stk_alloc_large(n, sizeof *t->start_ns)) &&
           (t->dur_low = stk_alloc_large(n, sizeof *t->dur_low)) &&
           (t->name = stk_alloc_large(n, sizeof *t->name)) &&
           (t->ref = stk_alloc_large(n, sizeof *t->ref)) &&
           (t->pos_low = stk_alloc_large(n, sizeof *t->pos_low)) &&
           (t->pos_high = stk_alloc_large(n, 1)) && (t->kind = stk_alloc_large(n, 1)) &&
           (t->depth = stk_alloc_large(n, 1)) && (t->ext = stk_alloc_large(exts, sizeof *t->ext)) &&
           (f->call_corr = stk_alloc_large(calls, sizeof *f->call_corr));
}

STK_ORDER(compare_longs, struct stk_long_dur, STK_UP(event))

static enum stoker_status collect(struct scatter_job *job, struct stoker_err *err)
{
    struct stk_trace *t = job->f->t;
    size_t shards = job->f->b->shards.count, n = 0;
    for (size_t i = 0; i < shards; i++) {
        n += job->longs[i].count;
        for (int k = 0; k < STK_KIND_COUNT; k++) {
            t->by_kind[k] += job->by_kind[i][k];
        }
    }
    t->long_durs = stk_alloc_array(n ? n : 1, sizeof *t->long_durs);
    if (!t->long_durs) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < shards; i++) {
        for (size_t k = 0; k < job->longs[i].count; k++) {
            t->long_durs[t->long_dur_count++] =
                *(const struct stk_long_dur *)stk_vec_at(&job->longs[i], k);
        }
    }
    stk_sort(t->long_durs, n, sizeof *t->long_durs, compare_longs);
    return STOKER_OK;
}

enum stoker_status stk_build_scatter(struct stk_finish *f, struct stoker_err *err)
{
    size_t shards = f->b->shards.count;
    struct scatter_job job = {.f = f};
    enum stoker_status status = STOKER_OK;
    job.longs = stk_alloc_zero(shards + 1, sizeof *job.longs);
    job.by_kind = stk_alloc_zero(shards + 1, sizeof *job.by_kind);
    if (!job.longs || !job.by_kind || !alloc_columns(f)) {
        status = stk_err_nomem(err);
    }
    for (size_t i = 0; i < shards && status == STOKER_OK; i++) {
        stk_vec_init(&job.longs[i], sizeof(struct stk_long_dur), UINT32_MAX);
    }
    stk_pool_close(&f->b->pool);
    if (status == STOKER_OK) {
        int workers = (size_t)f->threads < shards ? f->threads : (int)shards;
        stk_thread_run(workers > 0 ? workers : 1, scatter_worker, &job);
        status = atomic_load(&job.out_of_memory) ? stk_err_nomem(err) : collect(&job, err);
    }
    if (job.longs) {
        for (size_t i = 0; i < shards; i++) {
            stk_vec_deinit(&job.longs[i]);
        }
    }
    stk_free(job.longs);
    stk_free(job.by_kind);
    return status;
}
