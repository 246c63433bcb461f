// SPDX-License-Identifier: Apache-2.0
// TFRecord reader. Reads a block of bytes at a time and computes the checksums while they are in
// the cache. If a block's end cuts a record, a few bytes are copied to the start of the next block;
// for a longer record, room is left for the rest. A record longer than a block gets a larger one,
// in steps no larger than what has arrived, so that a length alone can't claim memory.
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/formats/record_impl.h"

#define BLOCK_BYTES ((size_t)256 << 10)
#define POOL_MAX (SIZE_MAX / 2)
#define RECORD_MAX ((size_t)1 << 30)
#define STREAM_BYTES ((size_t)192 << 10) // per open file, besides the compressed input
#define INPUT_BYTES ((size_t)1 << 20)

static enum stoker_status check_opts(const struct stk_record_opts *o, struct stoker_err *err)
{
    if ((o->block_bytes && (o->block_bytes < 64 || o->block_bytes > RECORD_MAX)) ||
        o->large_block_bytes > RECORD_MAX || o->max_record_bytes > (size_t)PTRDIFF_MAX / 4) {
        return stk_err_set(err, STOKER_EINVAL, "a record reader needs blocks of 64 bytes to 1 GiB");
    }
    return STOKER_OK;
}

enum stk_stream_codec stk_record_stream_codec(enum stk_record_codec codec, const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0) {
        return STK_CODEC_PLAIN;
    }
    return codec == STK_RECORD_GZIP   ? STK_CODEC_GZIP
           : codec == STK_RECORD_ZLIB ? STK_CODEC_ZLIB
                                      : STK_CODEC_PLAIN;
}

// Claims memory for the stream, for as long as the reader lives.
static enum stoker_status claim(struct stk_record_reader *r, const struct stk_record_opts *o,
                                const char *path, struct stoker_err *err)
{
    size_t input = o->codec == STK_RECORD_PLAIN ? 0 : o->input_bytes ? o->input_bytes : INPUT_BYTES;
    if (!stk_pool_claim_waiting(r->pool, STREAM_BYTES + input)) {
        return stk_record_no_budget(r->pool, STREAM_BYTES + input, path, err);
    }
    r->claimed = STREAM_BYTES + input;
    return STOKER_OK;
}

enum stoker_status stk_record_open(struct stk_record_reader **out, const char *path,
                                   const struct stk_record_opts *opts, struct stoker_err *err)
{
    static const struct stk_record_opts defaults;
    const struct stk_record_opts *o = opts ? opts : &defaults;
    *out = NULL;
    enum stoker_status status = check_opts(o, err);
    if (status) {
        return status;
    }
    struct stk_record_reader *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        return stk_err_nomem(err);
    }
    r->crc = stk_crc32c_best();
    r->policy = o->on_damage;
    r->skip_data_crc = o->skip_data_crc;
    r->block_bytes = o->block_bytes ? o->block_bytes : BLOCK_BYTES;
    r->large_block_bytes =
        o->large_block_bytes > r->block_bytes ? o->large_block_bytes : r->block_bytes;
    r->max_record = o->max_record_bytes ? o->max_record_bytes : RECORD_MAX;
    r->pool = o->pool ? stk_pool_hold(o->pool) : stk_pool_open(POOL_MAX);
    struct stk_stream_opts how = {.codec_given = 1,
                                  .codec = stk_record_stream_codec(o->codec, path),
                                  .input_bytes = o->input_bytes};
    status = r->pool ? claim(r, o, path, err) : stk_err_nomem(err);
    if (!status) {
        status = stk_stream_open(&r->stream, path, &how, err);
    }
    if (status) {
        stk_record_close(r);
    } else {
        *out = r;
    }
    return status;
}

void stk_record_close(struct stk_record_reader *r)
{
    if (!r) {
        return;
    }
    stk_stream_close(r->stream);
    stk_buf_drop(r->block);
    if (r->claimed) {
        stk_pool_unclaim(r->pool, r->claimed);
    }
    stk_pool_drop(r->pool);
    stk_free(r);
}

// Takes the whole, valid records of the current block.
static size_t take(struct stk_record_reader *r, struct stk_record *out, size_t cap,
                   enum stk_record_why *why, size_t *need)
{
    STK_ASSERT(r->pos <= r->end);
    const uint8_t *bytes = r->block ? r->block->data : NULL;
    size_t n = 0, pos = r->pos;
    *need = STK_RECORD_HEADER;
    *why = STK_RECORD_SHORT;
    while (n < cap && r->end - pos >= STK_RECORD_HEADER) {
        const uint8_t *p = bytes + pos;
        uint64_t size = stk_record_le64(p);
        *why = STK_RECORD_BAD_LENGTH;
        if (stk_crc32c_mask(r->crc(0, p, 8)) != stk_record_le32(p + 8)) {
            break;
        }
        *why = STK_RECORD_TOO_LONG;
        if (size > r->max_record) {
            break;
        }
        *why = STK_RECORD_SHORT;
        *need = (size_t)size + STK_RECORD_OVERHEAD;
        if (r->end - pos < *need) {
            break;
        }
        const uint8_t *data = p + STK_RECORD_HEADER;
        *why = STK_RECORD_BAD_DATA;
        if (!r->skip_data_crc &&
            stk_crc32c_mask(r->crc(0, data, size)) != stk_record_le32(data + size)) {
            break;
        }
        *why = STK_RECORD_SHORT;
        out[n++] = (struct stk_record){data, (size_t)size, r->base + pos, r->number++};
        r->stats.bytes += size;
        pos += *need;
        r->last_size = *need;
        *need = STK_RECORD_HEADER;
    }
    r->pos = pos;
    return n;
}

// Gets more bytes, or handles the end of the file.
static enum stoker_status go_on(struct stk_record_reader *r, size_t need, bool *done,
                                struct stoker_err *err)
{
    STK_ASSERT(need > 0);
    enum stoker_status status = stk_record_load(r, need, err);
    if (status || r->end - r->pos >= need) {
        return status;
    }
    const char *broken = stk_stream_damage(r->stream);
    if (r->end > r->pos) {
        return stk_record_damaged(r, STK_RECORD_TRUNCATED, err);
    }
    if (broken && !r->stream_damage_said) {
        return stk_record_damaged(r, STK_RECORD_COMPRESSION, err);
    }
    *done = true;
    return STOKER_OK;
}

enum stoker_status stk_record_read(struct stk_record_reader *r, struct stk_record *out, size_t cap,
                                   size_t *count, struct stk_buf **block, struct stoker_err *err)
{
    *count = 0;
    *block = NULL;
    if (r->failed.code) {
        if (err) {
            *err = r->failed;
        }
        return r->failed.code;
    }
    bool done = cap == 0;
    enum stoker_status status = STOKER_OK;
    while (!done && !status) {
        if (r->passing || r->scanning) {
            status = stk_record_recover(r, err);
            continue;
        }
        enum stk_record_why why;
        size_t need, n = take(r, out, cap, &why, &need);
        if (n > 0) {
            r->stats.records += n;
            *block = stk_buf_hold(r->block);
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

const struct stoker_err *stk_record_first_damage(const struct stk_record_reader *r)
{
    return &r->first_damage;
}
