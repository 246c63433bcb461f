// SPDX-License-Identifier: Apache-2.0
// The bytes of a TFRecord reader: a block at a time, a larger one for a record that is longer.
#include <string.h>

#include "engine/formats/record_impl.h"

#define REST_MIN                                                                                   \
    ((size_t)8 << 10) // bytes of a cut record; fewer are moved, else its rest is read in place

enum stoker_status stk_record_no_budget(struct stk_pool *pool, size_t bytes, const char *path,
                                        struct stoker_err *err)
{
    struct stk_pool_stats s = stk_pool_stats_of(pool);
    return stk_err_set(err, STOKER_ELIMIT,
                       "out of memory: %zu bytes to read %s (%llu of %llu bytes of %s in use)",
                       bytes, path, (unsigned long long)s.in_use_bytes,
                       (unsigned long long)s.cap_bytes, s.cap_name);
}

// Moves the unread bytes to the start of a block of `bytes` that only the reader holds.
static enum stoker_status make_capacity(struct stk_record_reader *r, size_t bytes,
                                        struct stoker_err *err)
{
    struct stk_buf *old = r->block, *b = old;
    size_t left = r->end - r->pos;
    bytes = bytes < left ? left : bytes;
    if (!old || bytes != r->capacity || !stk_buf_is_sole(old)) {
        b = stk_buf_get(r->pool, bytes);
        if (!b) {
            return stk_pool_refused()
                       ? stk_record_no_budget(r->pool, bytes, stk_stream_path(r->stream), err)
                       : stk_err_nomem(err);
        }
        r->capacity = bytes;
    }
    if (left) {
        memmove(b->data, old->data + r->pos, left);
    }
    if (b != old) {
        stk_buf_drop(old);
    }
    r->block = b;
    r->base += r->pos;
    r->pos = 0;
    r->end = left;
    return STOKER_OK;
}

// Where the first read into a new block ends: the rest of the record cut there must fit after it.
static size_t first_read_end(const struct stk_record_reader *r)
{
    size_t spare = r->last_size < REST_MIN ? 0 : r->last_size;
    return r->capacity - (spare < r->capacity / 2 ? spare : r->capacity / 2);
}

static enum stoker_status fill(struct stk_record_reader *r, size_t until, struct stoker_err *err)
{
    size_t got, want = until - r->end;
    enum stoker_status status =
        stk_stream_read(r->stream, r->block->data + r->end, want, &got, err);
    r->end += got;
    r->ended = !status && got < want;
    return status;
}

enum stoker_status stk_record_load(struct stk_record_reader *r, size_t n, struct stoker_err *err)
{
    size_t have = r->end - r->pos;
    if (have >= n || r->ended) {
        return STOKER_OK;
    }
    if (have >= REST_MIN && n <= r->capacity - r->pos) {
        return fill(r, r->pos + n, err);
    }
    bool is_large = r->last_size > r->block_bytes / 8;
    enum stoker_status status =
        make_capacity(r, is_large ? r->large_block_bytes : r->block_bytes, err);
    while (!status && r->end < n && !r->ended) {
        if (r->end < r->capacity) {
            size_t until = first_read_end(r), least = n < r->capacity ? n : r->capacity;
            status = fill(r, until < least ? least : until, err);
        } else {
            status = make_capacity(r, r->capacity * 2 < n ? r->capacity * 2 : n, err);
        }
    }
    return status;
}
