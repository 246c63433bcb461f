// SPDX-License-Identifier: Apache-2.0
// Elements through the TFRecord reader and writer (packed.h).
#include "engine/formats/packed.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/formats/element_file.h"
#include "engine/formats/element_code.h"
#include "engine/formats/record.h"

#define MAGIC "stkpack1"
#define LEVEL                                                                                      \
    1 // the first pass waits for compression; level 6 takes at least twice as long and saves a
      // tenth of the size
#define AT_ONCE 256

struct stk_packed_writer {
    struct stk_atomic_file file;
    struct stk_specs *specs;
    struct stk_record_writer *records;
    struct stk_element_bytes bytes;
};

static enum stoker_status write_head(struct stk_packed_writer *w, struct stoker_err *err)
{
    bool ok = stk_element_encode_specs(&w->bytes, w->specs);
    uint8_t *head = ok ? stk_alloc(8 + w->bytes.size) : NULL;
    if (!head) {
        return stk_err_nomem(err);
    }
    memcpy(head, MAGIC, 8);
    memcpy(head + 8, w->bytes.data, w->bytes.size);
    enum stoker_status s = stk_record_write(w->records, head, 8 + w->bytes.size, err);
    stk_free(head);
    return s;
}

enum stoker_status stk_packed_create(struct stk_packed_writer **out, const char *path,
                                     const struct stk_specs *specs, struct stoker_err *err)
{
    *out = NULL;
    enum stoker_status s = stk_element_file_check(path, specs, err);
    struct stk_packed_writer *w = s == STOKER_OK ? stk_alloc_zero(1, sizeof *w) : NULL;
    if (!w) {
        return s == STOKER_OK ? stk_err_nomem(err) : s;
    }
    w->specs = stk_specs_hold((struct stk_specs *)(uintptr_t)specs);
    s = stk_element_file_open(&w->file, path, err);
    if (s == STOKER_OK) {
        s = stk_record_create_at(&w->records, w->file.fd, path, STK_RECORD_GZIP, LEVEL, err);
        w->file.fd = -1;
    }
    if (s == STOKER_OK) {
        s = write_head(w, err);
    }
    if (s != STOKER_OK) {
        struct stoker_err ignored;
        return stk_packed_finish(w, false, &ignored) == STOKER_OK ? s : ignored.code;
    }
    *out = w;
    return STOKER_OK;
}

enum stoker_status stk_packed_append(struct stk_packed_writer *w, const struct stk_block *block,
                                     struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    for (int64_t i = 0; s == STOKER_OK && i < block->n; i++) {
        s = stk_element_encode(&w->bytes, w->specs, block, i)
                ? stk_record_write(w->records, w->bytes.data, w->bytes.size, err)
                : stk_err_nomem(err);
    }
    return s;
}

enum stoker_status stk_packed_finish(struct stk_packed_writer *w, bool keeps,
                                     struct stoker_err *err)
{
    if (!w) {
        return STOKER_OK;
    }
    bool is_open = w->records != NULL;
    struct stoker_err ignored;
    enum stoker_status s = stk_record_finish(w->records, keeps ? err : &ignored);
    s = keeps ? s : STOKER_OK;
    enum stoker_status closed =
        stk_element_file_close(&w->file, keeps && is_open && s == STOKER_OK, err);
    stk_specs_drop(w->specs);
    stk_element_bytes_free(&w->bytes);
    stk_free(w);
    return s == STOKER_OK ? closed : s;
}

struct stk_packed {
    char *path;
    struct stk_pool *pool;
    struct stk_record_reader *reader;
    struct stk_specs *specs;
    struct stk_record records[AT_ONCE]; // records read; the first of them already returned
    size_t count, used;
    struct stk_buf *block; // holds the records' bytes
    bool is_over;
};

static enum stoker_status bad(struct stk_packed *p, const char *why, struct stoker_err *err)
{
    p->is_over = true;
    return stk_err_set(err, STOKER_EDAMAGE, "%s: %s", p->path, why);
}

// Reads more records if all were returned.
static enum stoker_status fill(struct stk_packed *p, struct stoker_err *err)
{
    STK_ASSERT(p->used <= p->count);
    if (p->used < p->count || p->is_over) {
        return STOKER_OK;
    }
    stk_buf_drop(p->block);
    p->block = NULL;
    p->used = p->count = 0;
    enum stoker_status s =
        stk_record_read(p->reader, p->records, AT_ONCE, &p->count, &p->block, err);
    p->is_over = s == STOKER_OK ? p->count == 0 : s != STOKER_ELIMIT && s != STOKER_ENOMEM;
    if (s == STOKER_EINPUT) {
        err->code = STOKER_EDAMAGE;
        return STOKER_EDAMAGE;
    }
    return s;
}

static enum stoker_status read_head(struct stk_packed *p, struct stoker_err *err)
{
    enum stoker_status s = fill(p, err);
    if (s != STOKER_OK) {
        return s;
    }
    const struct stk_record *r = &p->records[0];
    if (p->count == 0 || r->size < 8 || memcmp(r->data, MAGIC, 8) != 0) {
        return bad(p, "not a file of elements: it begins differently", err);
    }
    p->used = 1;
    enum stk_element_read read = stk_element_decode_specs(r->data + 8, r->size - 8, &p->specs);
    return read == STK_ELEMENT_OK          ? STOKER_OK
           : read == STK_ELEMENT_NO_MEMORY ? stk_err_nomem(err)
                                           : bad(p, "components of unknown type or shape", err);
}

enum stoker_status stk_packed_open(struct stk_packed **out, const char *path, struct stk_pool *pool,
                                   struct stoker_err *err)
{
    struct stk_record_opts how = {.codec = STK_RECORD_GZIP, .pool = pool};
    size_t size = strlen(path) + 1;
    *out = NULL;
    struct stk_packed *p = stk_alloc_zero(1, sizeof *p);
    if (!p || !(p->path = stk_alloc(size))) {
        stk_free(p);
        return stk_err_nomem(err);
    }
    memcpy(p->path, path, size);
    p->pool = stk_pool_hold(pool);
    enum stoker_status s = stk_record_open(&p->reader, path, &how, err);
    s = s == STOKER_OK ? read_head(p, err) : s;
    if (s != STOKER_OK) {
        stk_packed_close(p);
        return s;
    }
    *out = p;
    return STOKER_OK;
}

void stk_packed_close(struct stk_packed *p)
{
    if (!p) {
        return;
    }
    stk_buf_drop(p->block);
    stk_record_close(p->reader);
    stk_specs_drop(p->specs);
    stk_pool_drop(p->pool);
    stk_free(p->path);
    stk_free(p);
}

struct stk_specs *stk_packed_specs(const struct stk_packed *p)
{
    return p->specs;
}

static size_t padded(size_t n)
{
    return n + (8 - n % 8) % 8;
}

// Records aren't aligned, and their block is reused: decode elements from a copy.
static enum stoker_status decode(struct stk_packed *p, int64_t n, struct stk_buf *copy,
                                 struct stk_block *out, struct stoker_err *err)
{
    STK_ASSERT(n >= 0 && (uint64_t)n <= p->count - p->used);
    uint8_t *at = copy->data;
    for (int64_t i = 0; i < n; i++) {
        const struct stk_record *r = &p->records[p->used + (size_t)i];
        memcpy(at, r->data, r->size);
        enum stk_element_read read = stk_element_decode(at, r->size, p->specs, p->pool, out, n);
        if (read == STK_ELEMENT_NO_MEMORY) {
            return stk_err_set(err, STOKER_ELIMIT, "%s: out of memory for %lld elements", p->path,
                               (long long)n);
        }
        if (read == STK_ELEMENT_BAD) {
            return bad(p, "an element doesn't match the file's components", err);
        }
        at += padded(r->size);
    }
    for (int k = 0; k < out->count; k++) {
        struct stk_col *c = &out->cols[k];
        stk_col_settle(c);
        if (c->dtype == STK_DT_STRING && !stk_keep_add(&c->keep, copy)) {
            return stk_err_nomem(err);
        }
    }
    out->n = n;
    return STOKER_OK;
}

enum stoker_status stk_packed_read(struct stk_packed *p, int64_t want, struct stk_block *out,
                                   struct stoker_err *err)
{
    enum stoker_status s = fill(p, err);
    if (s != STOKER_OK || p->used == p->count) {
        return s;
    }
    int64_t left = (int64_t)(p->count - p->used), n = want < left ? want : left;
    size_t bytes = 8;
    for (int64_t i = 0; i < n; i++) {
        bytes += padded(p->records[p->used + (size_t)i].size);
    }
    struct stk_buf *copy = stk_buf_get(p->pool, bytes);
    if (!copy || !stk_block_reset(out, p->specs->count)) {
        stk_buf_drop(copy);
        return stk_err_set(err, STOKER_ELIMIT, "%s: out of memory for %lld elements", p->path,
                           (long long)n);
    }
    s = decode(p, n, copy, out, err);
    stk_buf_drop(copy);
    if (s != STOKER_OK) {
        stk_block_clear(out);
        p->used = p->is_over ? p->count : p->used;
        return s;
    }
    p->used += (size_t)n;
    return STOKER_OK;
}

enum stoker_status stk_packed_skip(struct stk_packed *p, int64_t n, int64_t *done,
                                   struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    *done = 0;
    while (s == STOKER_OK && *done < n) {
        s = fill(p, err);
        int64_t left = (int64_t)(p->count - p->used), more = n - *done < left ? n - *done : left;
        p->used += (size_t)more;
        *done += more;
        if (more == 0) {
            break;
        }
    }
    return s;
}
