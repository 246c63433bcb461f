// SPDX-License-Identifier: Apache-2.0
// TFRecord reader. Bytes are read a block at a time; while they are in the cache the checksums are
// taken. What a block's end cuts off is copied to the start of the next one. A record longer than a
// block makes its block grow, in steps no larger than what has arrived, so that a length alone
// cannot claim memory.
#include "base/alloc.h"
#include "data/formats/record_impl.h"

#define BLOCK_BYTES ((size_t)256 << 10)
#define BLOCKS 8u
#define KEPT_BLOCKS 64 // a block that grew to more than so many gives its memory back
#define BLOCKS_MAX 65536u
#define RECORD_MAX ((size_t)1 << 30)
#define STREAM_BYTES ((size_t)192 << 10) // of an open file, beside the compressed input
#define INPUT_BYTES ((size_t)1 << 20)

static enum stk_status check_opts(const struct stk_record_opts *o, struct stk_err *err)
{
    if ((o->max_blocks && (o->max_blocks < 2 || o->max_blocks > BLOCKS_MAX)) ||
        (o->block_bytes && (o->block_bytes < 64 || o->block_bytes > RECORD_MAX)) ||
        o->max_record_bytes > (size_t)PTRDIFF_MAX / 4)
        return stk_err_set(err, STK_EINVAL,
                           "a record reader needs 2 to %u blocks of 64 bytes to 1 GiB", BLOCKS_MAX);
    return STK_OK;
}

enum stk_stream_codec stk_record_stream_codec(enum stk_record_codec codec)
{
    return codec == STK_RECORD_GZIP   ? STK_CODEC_GZIP
           : codec == STK_RECORD_ZLIB ? STK_CODEC_ZLIB
                                      : STK_CODEC_PLAIN;
}

static struct stk_record_ring *new_ring(uint32_t max, struct stk_pool *pool)
{
    size_t size = sizeof(struct stk_record_ring) + max * sizeof(struct stk_record_block);
    struct stk_record_ring *ring = stk_alloc_zero(1, size);
    if (!ring)
        return NULL;
    atomic_init(&ring->holders, 1);
    ring->max = max;
    ring->pool = pool ? stk_pool_hold(pool) : NULL;
    for (uint32_t i = 0; i < max; i++) {
        ring->blocks[i].ring = ring;
        atomic_init(&ring->blocks[i].holders, 0);
    }
    return ring;
}

static void free_bytes(struct stk_record_block *b)
{
    if (b->ring->pool)
        stk_pool_unclaim(b->ring->pool, b->capacity);
    stk_free(b->bytes);
    b->bytes = NULL;
    b->capacity = 0;
}

static enum stk_status no_budget(struct stk_pool *pool, size_t bytes, const char *path,
                                 struct stk_err *err)
{
    struct stk_pool_stats s = stk_pool_stats_of(pool);
    return stk_err_set(err, STK_ELIMIT,
                       "no memory for %zu bytes to read %s (%llu of %llu bytes of the budget in "
                       "use)",
                       bytes, path, (unsigned long long)s.in_use_bytes,
                       (unsigned long long)s.cap_bytes);
}

// The block has room for so many bytes from now on, and keeps what is in it.
static enum stk_status resize(struct stk_record_reader *r, struct stk_record_block *b, size_t want,
                              struct stk_err *err)
{
    struct stk_pool *pool = r->ring->pool;
    if (pool && !stk_pool_claim(pool, want - b->capacity))
        return no_budget(pool, want - b->capacity, stk_stream_path(r->stream), err);
    uint8_t *bytes = stk_realloc_array(b->bytes, want, 1);
    if (!bytes) {
        if (pool)
            stk_pool_unclaim(pool, want - b->capacity);
        return stk_err_nomem(err);
    }
    b->bytes = bytes;
    b->capacity = want;
    return STK_OK;
}

static void leave_ring(struct stk_record_ring *ring)
{
    if (!ring || atomic_fetch_sub_explicit(&ring->holders, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < ring->count; i++)
        free_bytes(&ring->blocks[i]);
    stk_pool_drop(ring->pool);
    stk_free(ring);
}

// Of the stream; claimed for as long as the reader lives.
static enum stk_status claim(struct stk_record_reader *r, const struct stk_record_opts *o,
                             const char *path, struct stk_err *err)
{
    size_t input = o->codec == STK_RECORD_PLAIN ? 0 : o->input_bytes ? o->input_bytes : INPUT_BYTES;
    if (!r->ring->pool)
        return STK_OK;
    if (!stk_pool_claim(r->ring->pool, STREAM_BYTES + input))
        return no_budget(r->ring->pool, STREAM_BYTES + input, path, err);
    r->claimed = STREAM_BYTES + input;
    return STK_OK;
}

enum stk_status stk_record_open(struct stk_record_reader **out, const char *path,
                                const struct stk_record_opts *opts, struct stk_err *err)
{
    static const struct stk_record_opts defaults;
    const struct stk_record_opts *o = opts ? opts : &defaults;
    *out = NULL;
    enum stk_status status = check_opts(o, err);
    if (status)
        return status;
    struct stk_record_reader *r = stk_alloc_zero(1, sizeof *r);
    if (!r)
        return stk_err_nomem(err);
    r->crc = stk_crc32c_best();
    r->policy = o->on_damage;
    r->skip_data_crc = o->skip_data_crc;
    r->block_bytes = o->block_bytes ? o->block_bytes : BLOCK_BYTES;
    r->max_record = o->max_record_bytes ? o->max_record_bytes : RECORD_MAX;
    r->ring = new_ring(o->max_blocks ? o->max_blocks : BLOCKS, o->pool);
    struct stk_stream_opts how = {.codec_given = 1,
                                  .codec = stk_record_stream_codec(o->codec),
                                  .input_bytes = o->input_bytes};
    status = r->ring ? claim(r, o, path, err) : STK_OK;
    if (!status)
        status = r->ring ? stk_stream_open(&r->stream, path, &how, err) : stk_err_nomem(err);
    if (status)
        stk_record_close(r);
    else
        *out = r;
    return status;
}

void stk_record_hold(struct stk_record_block *block)
{
    if (atomic_fetch_add_explicit(&block->holders, 1, memory_order_relaxed) == 0)
        atomic_fetch_add_explicit(&block->ring->holders, 1, memory_order_relaxed);
}

void stk_record_release(struct stk_record_block *block)
{
    if (!block)
        return;
    struct stk_record_ring *ring = block->ring;
    if (atomic_fetch_sub_explicit(&block->holders, 1, memory_order_acq_rel) == 1)
        leave_ring(ring);
}

void stk_record_close(struct stk_record_reader *r)
{
    if (!r)
        return;
    stk_stream_close(r->stream);
    stk_record_release(r->block);
    if (r->claimed)
        stk_pool_unclaim(r->ring->pool, r->claimed);
    for (uint32_t i = 0; r->ring && i < r->ring->count; i++) {
        if (atomic_load_explicit(&r->ring->blocks[i].holders, memory_order_acquire) == 0)
            free_bytes(&r->ring->blocks[i]);
    }
    leave_ring(r->ring);
    stk_free(r);
}

// Where half of the budget is in use, blocks that are held by nobody, from the i-th on, let go of
// their memory. Nobody but the reader takes free blocks.
static void free_idle(struct stk_record_ring *ring, uint32_t i)
{
    struct stk_pool_stats s = stk_pool_stats_of(ring->pool);
    for (; i < ring->count && s.in_use_bytes > s.cap_bytes / 2; i++) {
        struct stk_record_block *b = &ring->blocks[i];
        if (b->bytes && atomic_load_explicit(&b->holders, memory_order_acquire) == 0)
            free_bytes(b);
    }
}

// A free block, held once: the first one, whose bytes are the likeliest to be cached.
static enum stk_status free_block(struct stk_record_reader *r, struct stk_record_block **out,
                                  struct stk_err *err)
{
    struct stk_record_ring *ring = r->ring;
    for (uint32_t i = 0; i < ring->max; i++) {
        struct stk_record_block *b = &ring->blocks[i];
        if (i < ring->count && atomic_load_explicit(&b->holders, memory_order_acquire) != 0)
            continue;
        if (i == ring->count)
            ring->count++;
        if (b->capacity / KEPT_BLOCKS > r->block_bytes)
            free_bytes(b);
        enum stk_status status = b->bytes ? STK_OK : resize(r, b, r->block_bytes, err);
        if (status)
            return status;
        if (ring->pool)
            free_idle(ring, i + 1);
        stk_record_hold(b);
        *out = b;
        return STK_OK;
    }
    return stk_err_set(err, STK_ELIMIT,
                       "all %u blocks of %s are held; release one, or allow more blocks", ring->max,
                       stk_stream_path(r->stream));
}

// Moves what is left to the start of a block that nobody else holds.
static enum stk_status make_room(struct stk_record_reader *r, struct stk_err *err)
{
    struct stk_record_block *old = r->block, *b = old;
    size_t left = r->end - r->pos;
    if (!old || atomic_load_explicit(&old->holders, memory_order_acquire) > 1) {
        enum stk_status status = free_block(r, &b, err);
        if (status)
            return status;
    }
    if (left > b->capacity) { // of a block that had grown
        enum stk_status status = resize(r, b, left, err);
        if (status) {
            if (b != old)
                stk_record_release(b);
            return status;
        }
    }
    if (left)
        memmove(b->bytes, old->bytes + r->pos, left);
    if (b != old)
        stk_record_release(old);
    r->block = b;
    r->base += r->pos;
    r->pos = 0;
    r->end = left;
    return STK_OK;
}

static enum stk_status grow(struct stk_record_reader *r, size_t n, struct stk_err *err)
{
    struct stk_record_block *b = r->block;
    return resize(r, b, b->capacity * 2 < n ? b->capacity * 2 : n, err);
}

enum stk_status stk_record_load(struct stk_record_reader *r, size_t n, struct stk_err *err)
{
    if (r->end - r->pos >= n || r->ended)
        return STK_OK;
    enum stk_status status = make_room(r, err);
    while (!status && r->end < n && !r->ended) {
        struct stk_record_block *b = r->block;
        if (r->end == b->capacity) {
            status = grow(r, n, err);
            continue;
        }
        size_t got, want = b->capacity - r->end;
        status = stk_stream_read(r->stream, b->bytes + r->end, want, &got, err);
        r->end += got;
        r->ended = !status && got < want;
    }
    return status;
}

// Takes whole, sound records of the current block.
static size_t take(struct stk_record_reader *r, struct stk_record *out, size_t cap,
                   enum stk_record_why *why, size_t *need)
{
    const uint8_t *bytes = r->block ? r->block->bytes : NULL;
    size_t n = 0, pos = r->pos;
    *need = STK_RECORD_HEADER;
    *why = STK_RECORD_SHORT;
    while (n < cap && r->end - pos >= STK_RECORD_HEADER) {
        const uint8_t *p = bytes + pos;
        uint64_t size = stk_record_le64(p);
        *why = STK_RECORD_BAD_LENGTH;
        if (stk_crc32c_mask(r->crc(0, p, 8)) != stk_record_le32(p + 8))
            break;
        *why = STK_RECORD_TOO_LONG;
        if (size > r->max_record)
            break;
        *why = STK_RECORD_SHORT;
        *need = (size_t)size + STK_RECORD_OVERHEAD;
        if (r->end - pos < *need)
            break;
        const uint8_t *data = p + STK_RECORD_HEADER;
        *why = STK_RECORD_BAD_DATA;
        if (!r->skip_data_crc &&
            stk_crc32c_mask(r->crc(0, data, size)) != stk_record_le32(data + size))
            break;
        *why = STK_RECORD_SHORT;
        out[n++] = (struct stk_record){data, (size_t)size, r->base + pos, r->number++};
        r->stats.bytes += size;
        pos += *need;
        *need = STK_RECORD_HEADER;
    }
    r->pos = pos;
    return n;
}

// More bytes, or what the end of the file means.
static enum stk_status go_on(struct stk_record_reader *r, size_t need, bool *done,
                             struct stk_err *err)
{
    enum stk_status status = stk_record_load(r, need, err);
    if (status || r->end - r->pos >= need)
        return status;
    const char *broken = stk_stream_damage(r->stream);
    if (r->end > r->pos)
        return stk_record_damaged(r, STK_RECORD_TRUNCATED, err);
    if (broken && !r->stream_damage_said)
        return stk_record_damaged(r, STK_RECORD_COMPRESSION, err);
    *done = true;
    return STK_OK;
}

enum stk_status stk_record_read(struct stk_record_reader *r, struct stk_record *out, size_t cap,
                                size_t *count, struct stk_record_block **block, struct stk_err *err)
{
    *count = 0;
    *block = NULL;
    if (r->failed.code) {
        if (err)
            *err = r->failed;
        return r->failed.code;
    }
    bool done = cap == 0;
    enum stk_status status = STK_OK;
    while (!done && !status) {
        if (r->passing || r->scanning) {
            status = stk_record_recover(r, err);
            continue;
        }
        enum stk_record_why why;
        size_t need, n = take(r, out, cap, &why, &need);
        if (n > 0) {
            r->stats.records += n;
            stk_record_hold(r->block);
            *block = r->block;
            *count = n;
            break;
        }
        status =
            why == STK_RECORD_SHORT ? go_on(r, need, &done, err) : stk_record_damaged(r, why, err);
    }
    return status;
}

const struct stk_record_stats *stk_record_stats_of(const struct stk_record_reader *r)
{
    return &r->stats;
}

const struct stk_err *stk_record_first_damage(const struct stk_record_reader *r)
{
    return &r->first_damage;
}
