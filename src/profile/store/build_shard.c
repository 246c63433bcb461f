// SPDX-License-Identifier: Apache-2.0
// The writing side of a shard: rows into chunks of their tracks, strings and tracks into the
// shard's own tables. Rows with impossible times (negative, overflowing, longer than 7 days) are
// dropped here. Rows that can only be judged with the whole trace are dropped at finish.
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/store/build_impl.h"
#include "profile/store/names.h"

static void fail(struct stk_shard *s, enum stoker_status status)
{
    if (s->failure == STOKER_OK) {
        s->failure = status;
    }
}

static void reset_issues(struct stk_issue *issues)
{
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        issues[i] = (struct stk_issue){.first_offset = -1};
    }
}

void stk_issue_add(struct stk_issue *issue, uint64_t n, uint64_t events_lost, int64_t offset,
                   uint32_t note)
{
    if (__builtin_add_overflow(issue->count, n, &issue->count)) {
        issue->count = UINT64_MAX;
    }
    if (__builtin_add_overflow(issue->events_lost, events_lost, &issue->events_lost)) {
        issue->events_lost = UINT64_MAX;
    }
    if (offset >= 0 && issue->first_offset < 0) {
        issue->first_offset = offset;
    }
    if (!issue->note) {
        issue->note = note;
    }
}

#define CHUNK_ROWS_FIRST 4u // a track may have one row, and there may be very many such tracks
#define CHUNKS_MAX ((size_t)1 << 28)

static void shard_init(struct stk_shard *s, struct stk_pool *pool, uint64_t max_rows)
{
    *s = (struct stk_shard){.pool = pool, .max_rows = max_rows};
    stk_vec_init(&s->chunks, sizeof(struct stk_chunk), CHUNKS_MAX);
    stk_vec_init(&s->ext_blocks, sizeof(struct stk_pool_part), UINT32_MAX / STK_BLOCK_EXTS);
    stk_vec_init(&s->call_blocks, sizeof(struct stk_pool_part), UINT32_MAX / STK_BLOCK_CALLS);
    stk_vec_init(&s->longs, sizeof(struct stk_raw_long), UINT32_MAX);
    stk_vec_init(&s->detail_blocks, sizeof(struct stk_raw_detail *),
                 UINT32_MAX / STK_BLOCK_DETAILS);
    stk_configs_init(&s->configs);
    stk_tracks_init(&s->tracks);
    reset_issues(s->issues);
    s->strings_ready = stk_strpool_init(&s->strings, 0) == 0;
    if (!s->strings_ready) {
        fail(s, STOKER_ENOMEM);
    }
}

void stk_shard_give_rows(struct stk_shard *s)
{
    for (size_t i = 0; i < s->chunks.count; i++) {
        stk_pool_give(s->pool, &stk_shard_chunk(s, i)->part);
    }
    for (size_t i = 0; i < s->ext_blocks.count; i++) {
        stk_pool_give(s->pool, stk_vec_at(&s->ext_blocks, i));
    }
    for (size_t i = 0; i < s->call_blocks.count; i++) {
        stk_pool_give(s->pool, stk_vec_at(&s->call_blocks, i));
    }
    s->chunks.count = s->ext_blocks.count = s->call_blocks.count = 0;
}

void stk_shard_free_details(struct stk_shard *s)
{
    for (size_t i = 0; i < s->detail_blocks.count; i++) {
        stk_free(*(struct stk_raw_detail **)stk_vec_at(&s->detail_blocks, i));
    }
    s->detail_blocks.count = s->detail_count = 0;
}

void stk_shard_deinit(struct stk_shard *s)
{
    stk_shard_give_rows(s);
    stk_vec_deinit(&s->chunks);
    stk_vec_deinit(&s->ext_blocks);
    stk_vec_deinit(&s->call_blocks);
    stk_vec_deinit(&s->longs);
    stk_shard_free_details(s);
    stk_vec_deinit(&s->detail_blocks);
    stk_configs_deinit(&s->configs);
    stk_tracks_deinit(&s->tracks);
    if (s->strings_ready) {
        stk_strpool_deinit(&s->strings);
    }
    s->strings_ready = false;
    stk_free(s->string_map);
    stk_free(s->track_map);
    stk_free(s->config_map);
    stk_free(s->cursors);
    s->string_map = s->track_map = s->config_map = NULL;
    s->cursors = NULL;
}

struct stk_shard *stk_build_shard(struct stk_build *b)
{
    struct stk_shard *s = stk_alloc_zero(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    shard_init(s, &b->pool, b->max_rows);
    struct stk_shard **slot = s->failure == STOKER_OK ? stk_vec_push(&b->shards) : NULL;
    if (!slot) {
        stk_shard_deinit(s);
        stk_free(s);
        return NULL;
    }
    *slot = s;
    return s;
}

void stk_shard_reset(struct stk_shard *s)
{
    struct stk_pool *pool = s->pool;
    uint64_t max_rows = s->max_rows;
    stk_shard_deinit(s);
    shard_init(s, pool, max_rows);
}

bool stk_shard_failed(const struct stk_shard *s)
{
    return s->failure != STOKER_OK || s->limit_reached;
}

uint32_t stk_shard_intern(struct stk_shard *s, const char *p, size_t n)
{
    if (n == 0 || s->failure != STOKER_OK) {
        return 0;
    }
    uint32_t id = stk_strpool_intern(&s->strings, p, n);
    if (id != STK_STRPOOL_FAILED) {
        return id;
    }
    if (s->strings.cap_bytes && n >= s->strings.cap_bytes - s->strings.used_bytes) {
        s->limit_reached = true;
        stk_issue_add(&s->issues[STK_ISSUE_LIMIT_REACHED], 1, 0, -1, 0);
    } else {
        fail(s, STOKER_ENOMEM);
    }
    return 0;
}

struct stk_str stk_shard_text(const struct stk_shard *s, uint32_t id)
{
    return stk_strpool_get(&s->strings, id);
}

uint32_t stk_shard_track(struct stk_shard *s, const struct stk_track_key *key)
{
    STK_ASSERT((unsigned)key->kind <= STK_TRACK_OTHER);
    struct stk_track_entry e = {.kind = key->kind,
                                .process = key->process,
                                .device = key->device,
                                .id = key->id,
                                .sid = stk_shard_intern(s, key->sid.p, key->sid.n)};
    uint32_t track = s->failure == STOKER_OK ? stk_tracks_put(&s->tracks, &e) : STK_NONE;
    if (track == STK_NONE && !stk_tracks_full(&s->tracks)) {
        fail(s, STOKER_ENOMEM);
    }
    return track; // if there are too many, stk_shard_add counts their rows
}

void stk_shard_count(struct stk_shard *s, enum stk_kind kind, uint64_t n)
{
    s->by_kind[(unsigned)kind < STK_KIND_COUNT ? kind : STK_KIND_OTHER] += n;
    s->read += n;
}

void stk_shard_issue(struct stk_shard *s, enum stk_issue_id id, uint64_t n, uint64_t events_lost,
                     int64_t offset, struct stk_str note)
{
    if ((unsigned)id >= STK_ISSUE_COUNT) {
        return;
    }
    struct stk_issue *issue = &s->issues[id];
    uint32_t note_id = issue->note ? 0 : stk_shard_intern(s, note.p, note.n);
    stk_issue_add(issue, n, events_lost, offset, note_id);
    s->dropped += events_lost;
}

static void drop(struct stk_shard *s, const struct stk_row *row, enum stk_issue_id why)
{
    uint8_t kind = row->kind;
    if (kind >= STK_KIND_COUNT) {
        kind = STK_KIND_OTHER;
        if (row->track < s->tracks.entries.count) {
            enum stk_track_kind track = stk_tracks_at(&s->tracks, row->track)->kind;
            if (track == STK_TRACK_STREAM) {
                kind = (uint8_t)stk_name_device_kind(stk_strpool_get(&s->strings, row->name));
            } else if (track == STK_TRACK_THREAD) {
                kind = STK_KIND_HOST_OP;
            }
        }
    }
    s->by_kind[kind]++;
    s->read++;
    s->dropped++;
    stk_issue_add(&s->issues[why], 1, 1, row->pos <= STK_POS_MAX ? (int64_t)row->pos : -1,
                  row->name < s->strings.count ? row->name : 0);
}

static bool add_block(struct stk_shard *s, struct stk_vec *blocks, size_t size)
{
    struct stk_pool_part part = stk_pool_take(s->pool, size);
    struct stk_pool_part *slot = part.p ? stk_vec_push(blocks) : NULL;
    if (slot) {
        *slot = part;
        return true;
    }
    stk_pool_give(s->pool, &part);
    fail(s, STOKER_ENOMEM);
    return false;
}

// Index of a new ext, or STK_NONE.
static uint32_t add_ext(struct stk_shard *s, const struct stk_row_ext *ext)
{
    struct stk_raw_ext *e;
    if (s->ext_count % STK_BLOCK_EXTS == 0 &&
        !add_block(s, &s->ext_blocks, STK_BLOCK_EXTS * sizeof *e)) {
        return STK_NONE;
    }
    e = stk_shard_ext(s, s->ext_count);
    *e = (struct stk_raw_ext){.corr = ext->corr,
                              .value = ext->value,
                              .dir = ext->dir,
                              .src_mem = ext->src_mem,
                              .dst_mem = ext->dst_mem,
                              .flags = ext->flags & (uint8_t)~STK_EXT_HAS_CORR,
                              .has_corr = ext->has_corr};
    return s->ext_count++;
}

// Index of a new call, or STK_NONE.
static uint32_t add_call(struct stk_shard *s, int64_t corr)
{
    if (s->call_count % STK_BLOCK_CALLS == 0 &&
        !add_block(s, &s->call_blocks, STK_BLOCK_CALLS * sizeof corr)) {
        return STK_NONE;
    }
    *stk_shard_call(s, s->call_count) = corr;
    return s->call_count++;
}

// Correlations only matter on both ends of a launch, other values on everything but a call.
static bool ext_is_worth_keeping(const struct stk_row *row, const struct stk_row_ext *ext)
{
    if (row->kind == STK_KIND_RUNTIME) {
        return ext && ext->has_corr;
    }
    if (row->kind == STK_KIND_MEMCPY) {
        return true;
    }
    if (!ext) {
        return false;
    }
    if (ext->flags || ext->dir || ext->src_mem || ext->dst_mem || ext->value) {
        return true;
    }
    return ext->has_corr && (row->kind == STK_KIND_UNSET || stk_kind_is_device_work(row->kind));
}

// The chunk that the track's next row goes to, NULL without memory.
static struct stk_chunk *next_chunk(struct stk_shard *s, struct stk_track_entry *track, uint32_t id)
{
    uint32_t rows = CHUNK_ROWS_FIRST;
    if (track->chunk) {
        rows = stk_shard_chunk(s, track->chunk - 1)->capacity * 4;
    }
    rows = rows < STK_CHUNK_ROWS ? rows : STK_CHUNK_ROWS;
    struct stk_pool_part part = stk_pool_take(s->pool, (size_t)rows * STK_CHUNK_ROW_BYTES);
    struct stk_chunk *c = part.p ? stk_vec_push(&s->chunks) : NULL;
    if (!c) {
        stk_pool_give(s->pool, &part);
        fail(s, STOKER_ENOMEM);
        return NULL;
    }
    *c = (struct stk_chunk){.part = part, .capacity = rows, .track = id};
    track->chunk = (uint32_t)s->chunks.count;
    return c;
}

static void add_long(struct stk_shard *s, uint32_t chunk, uint32_t row, int64_t dur_ns)
{
    struct stk_raw_long *x = stk_vec_push(&s->longs);
    if (x) {
        *x = (struct stk_raw_long){chunk, row, dur_ns};
    } else {
        fail(s, STOKER_ENOMEM);
    }
    stk_shard_chunk(s, chunk)->has_long = true;
}

static void note_row(struct stk_track_entry *track, int64_t start_ns)
{
    if (track->rows == 0) {
        track->min_start_ns = track->max_start_ns = start_ns;
    }
    if (start_ns < track->min_start_ns) {
        track->min_start_ns = start_ns;
    }
    if (start_ns > track->max_start_ns) {
        track->max_start_ns = start_ns;
    }
    track->rows++;
}

static struct stk_raw_detail *new_detail(struct stk_shard *s)
{
    if (s->detail_count % STK_BLOCK_DETAILS == 0) {
        struct stk_raw_detail *block = stk_alloc_array(STK_BLOCK_DETAILS, sizeof *block);
        struct stk_raw_detail **slot = block ? stk_vec_push(&s->detail_blocks) : NULL;
        if (!slot) {
            stk_free(block);
            return NULL;
        }
        *slot = block;
    }
    return stk_shard_detail(s, s->detail_count++);
}

static void add_details(struct stk_shard *s, uint32_t ext_id, const struct stk_detail *details,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stk_raw_detail *d = new_detail(s);
        if (!d) {
            fail(s, STOKER_ENOMEM);
            return;
        }
        *d = (struct stk_raw_detail){ext_id, details[i]};
    }
}

void stk_shard_add(struct stk_shard *s, const struct stk_row *row, const struct stk_row_ext *ext)
{
    stk_shard_add_detailed(s, row, ext, NULL, 0);
}

void stk_shard_add_detailed(struct stk_shard *s, const struct stk_row *row,
                            const struct stk_row_ext *ext, const struct stk_detail *details,
                            size_t count)
{
    STK_ASSERT(count == 0 || details);
    static const struct stk_row_ext no_ext;
    int64_t end_ns;
    if (s->failure != STOKER_OK) {
        return;
    }
    if (row->kind == STK_KIND_RUNTIME) {
        count = 0;
    }
    if (row->dur_ns < 0 || __builtin_add_overflow(row->start_ns, row->dur_ns, &end_ns)) {
        drop(s, row, STK_ISSUE_TIME_INVALID);
        return;
    }
    if (row->dur_ns > STK_DUR_MAX_NS) {
        drop(s, row, STK_ISSUE_DURATION_ABSURD);
        return;
    }
    if (s->row_count >= s->max_rows) {
        s->limit_reached = true;
        drop(s, row, STK_ISSUE_LIMIT_REACHED);
        return;
    }
    if (row->track >= s->tracks.entries.count) {
        drop(s, row, STK_ISSUE_TRACKS_LEFT_OUT);
        return;
    }
    struct stk_track_entry *track = stk_tracks_at(&s->tracks, row->track);
    struct stk_chunk *c = track->chunk ? stk_shard_chunk(s, track->chunk - 1) : NULL;
    if (!c || c->count == c->capacity) {
        c = next_chunk(s, track, row->track);
    }
    uint32_t ext_id = STK_NONE;
    if (count > 0 || ext_is_worth_keeping(row, ext)) {
        bool is_call = row->kind == STK_KIND_RUNTIME;
        ext_id = is_call ? add_call(s, ext->corr) : add_ext(s, ext ? ext : &no_ext);
        track->exts += !is_call;
        track->calls += is_call;
        add_details(s, ext_id, details, count);
    }
    if (s->failure != STOKER_OK) {
        return;
    }
    uint64_t pos = row->pos <= STK_POS_MAX ? row->pos : STK_POS_MAX;
    uint8_t kind =
        row->kind < STK_KIND_COUNT || row->kind == STK_KIND_UNSET ? row->kind : STK_KIND_OTHER;
    uint32_t i = c->count++;
    const struct stk_chunk_columns to = stk_chunk_columns(c);
    to.start_ns[i] = row->start_ns;
    to.dur_low[i] = row->dur_ns < UINT32_MAX ? (uint32_t)row->dur_ns : UINT32_MAX;
    to.name[i] = row->name < s->strings.count ? row->name : 0;
    to.pos_low[i] = (uint32_t)pos;
    to.ext[i] = ext_id;
    to.pos_high[i] = (uint8_t)(pos >> 32);
    to.kind[i] = kind;
    c->has_exts |= ext_id != STK_NONE;
    if (row->dur_ns >= UINT32_MAX) {
        add_long(s, track->chunk - 1, i, row->dur_ns);
    }
    note_row(track, row->start_ns);
    s->row_count++;
    s->read++;
}
