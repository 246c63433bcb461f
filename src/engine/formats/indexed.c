// SPDX-License-Identifier: Apache-2.0
// Reads indexed files. The file is mapped and isn't trusted: the trailer and index are checked when
// it is opened, a record when it is read. Checks run on a copy, because others may write to the
// file or truncate it (base/guard.h) meanwhile. After a truncation, all of its elements count as
// damaged, because strings already returned point into it.
#include "engine/formats/indexed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/guard.h"
#include "base/crc32c.h"
#include "base/remote_name.h"
#include "engine/formats/indexed_impl.h"

struct stk_indexed {
    int refs; // atomic
    const uint8_t *map;
    size_t size;
    struct stk_guard *guard;
    const uint64_t *index;
    uint64_t index_at; // where records end
    int64_t count;
    struct stk_specs *specs;
    char *path;
    stk_crc32c_fn *crc;
};

struct stk_indexed *stk_indexed_hold(struct stk_indexed *x)
{
    __atomic_add_fetch(&x->refs, 1, __ATOMIC_RELAXED);
    return x;
}

void stk_indexed_drop(struct stk_indexed *x)
{
    if (!x || __atomic_sub_fetch(&x->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    stk_guard_drop(x->guard);
    if (x->map) {
        munmap((void *)(uintptr_t)x->map, x->size);
    }
    stk_specs_drop(x->specs);
    stk_free(x->path);
    stk_free(x);
}

struct stk_specs *stk_indexed_specs(const struct stk_indexed *x)
{
    return x->specs;
}

int64_t stk_indexed_count(const struct stk_indexed *x)
{
    return x->count;
}

static enum stoker_status bad(const char *path, const char *why, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EDAMAGE, "%s: %s", path, why);
}

static enum stoker_status map_file(struct stk_indexed *x, struct stoker_err *err)
{
    struct stat info;
    int fd = open(x->path, O_RDONLY | O_CLOEXEC), why = errno;
    if (fd < 0 || fstat(fd, &info)) {
        if (fd >= 0) {
            close(fd);
        }
        return stk_err_set(err, stk_err_of_file(why, STOKER_EINPUT), "%s: %s%s", x->path,
                           strerror(why), stk_remote_hint(x->path));
    }
    x->size = S_ISREG(info.st_mode) ? (size_t)info.st_size : 0;
    void *map = x->size ? mmap(NULL, x->size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED) {
        x->size = 0;
        return bad(x->path, "not an indexed file: it is empty or can't be mapped", err);
    }
    x->map = map;
    x->guard = stk_guard_add(map, x->size);
    return x->guard ? STOKER_OK
                    : stk_err_set(err, STOKER_ELIMIT, "%s: more than %d mapped files at once",
                                  x->path, STK_GUARDS_MAX);
}

static enum stoker_status read_header(struct stk_indexed *x, struct stoker_err *err)
{
    if (x->size < 16 + sizeof(struct stk_indexed_trailer) ||
        memcmp(x->map, STK_INDEXED_MAGIC, 8) != 0) {
        return bad(x->path, "not an indexed file: it begins differently", err);
    }
    enum stk_element_read r = stk_element_decode_specs(x->map + 8, x->size - 8, &x->specs);
    if (r == STK_ELEMENT_NO_MEMORY) {
        return stk_err_nomem(err);
    }
    return r == STK_ELEMENT_OK ? STOKER_OK
                               : bad(x->path, "damaged: components of unknown type or shape", err);
}

static enum stoker_status read_index(struct stk_indexed *x, struct stoker_err *err)
{
    struct stk_indexed_trailer t;
    uint64_t crc, bytes, end = x->size - sizeof t;
    memcpy(&t, x->map + end, sizeof t);
    if (memcmp(t.magic, STK_INDEXED_END, 8) != 0) {
        return bad(x->path, "it was not finished, or its end is missing: write it again", err);
    }
    bool fits = t.count < (UINT64_C(1) << 40) && !__builtin_mul_overflow(t.count + 1, 8, &bytes) &&
                t.index % 8 == 0 && t.index <= end && bytes + 8 == end - t.index;
    if (fits) {
        memcpy(&crc, x->map + t.index + bytes, sizeof crc);
        uint32_t head = x->crc(0, x->map, STK_INDEXED_HEADER((size_t)x->specs->count));
        fits = stk_crc32c_mask(x->crc(head, x->map + t.index, bytes)) == crc;
    }
    x->index = fits ? (const uint64_t *)(x->map + t.index) : NULL;
    for (uint64_t k = 0; fits && k < t.count; k++) {
        uint64_t from = x->index[k], to = x->index[k + 1];
        fits = from % 8 == 0 && from <= to && to - from >= 8;
    }
    if (!fits || x->index[t.count] != t.index) {
        return bad(x->path, "its index is damaged: write it again", err);
    }
    if (stk_guard_is_torn(x->guard)) {
        return bad(x->path, "it was truncated while being opened", err);
    }
    x->count = (int64_t)t.count;
    x->index_at = t.index;
    return STOKER_OK;
}

enum stoker_status stk_indexed_open(struct stk_indexed **out, const char *path,
                                    struct stoker_err *err)
{
    *out = NULL;
    struct stk_indexed *x = stk_alloc_zero(1, sizeof *x);
    size_t n = strlen(path) + 1;
    if (!x || !(x->path = stk_alloc(n))) {
        stk_free(x);
        return stk_err_nomem(err);
    }
    x->refs = 1;
    x->crc = stk_crc32c_best();
    memcpy(x->path, path, n);
    enum stoker_status s = map_file(x, err);
    s = s == STOKER_OK ? read_header(x, err) : s;
    s = s == STOKER_OK ? read_index(x, err) : s;
    if (s != STOKER_OK) {
        stk_indexed_drop(x);
        return s;
    }
    *out = x;
    return STOKER_OK;
}

static enum stk_element_read read_record(struct stk_indexed *x, int64_t i, struct stk_pool *pool,
                                         struct stk_block *out, int64_t capacity)
{
    STK_ASSERT(i >= 0 && i < x->count);
    uint64_t begin = __atomic_load_n(&x->index[i], __ATOMIC_RELAXED);
    uint64_t end = __atomic_load_n(&x->index[i + 1], __ATOMIC_RELAXED);
    if (end > x->index_at || begin > end || end - begin < 8 || begin % 8 != 0) {
        return STK_ELEMENT_BAD;
    }
    const uint8_t *from = x->map + begin;
    size_t size = (size_t)(end - begin) - 8;
    uint64_t crc;
    memcpy(&crc, from + size, sizeof crc);
    if (stk_crc32c_mask(x->crc(0, from, size)) != crc) {
        return STK_ELEMENT_BAD;
    }
    return stk_element_decode(from, size, x->specs, pool, out, capacity);
}

static void let_go(void *x)
{
    stk_indexed_drop(x);
}

// Views of strings keep the mapping alive.
static bool keep_map(struct stk_indexed *x, struct stk_block *out)
{
    struct stk_buf *b = stk_buf_foreign(x->map, 0, true, let_go, x);
    bool ok = b != NULL;
    if (b) {
        stk_indexed_hold(x);
    }
    for (int k = 0; ok && k < out->count; k++) {
        ok = out->cols[k].dtype != STK_DT_STRING || stk_keep_add(&out->cols[k].keep, b);
    }
    stk_buf_drop(b);
    return ok;
}

bool stk_indexed_is_torn(const struct stk_indexed *x)
{
    return stk_guard_is_torn(x->guard);
}

enum stoker_status stk_indexed_torn(const struct stk_indexed *x, struct stoker_err *err)
{
    return bad(x->path, "the file was truncated while being read", err);
}

enum stoker_status stk_indexed_read(struct stk_indexed *x, struct stk_pool *pool,
                                    const int64_t *index, int64_t n, struct stk_block *out,
                                    int64_t *failed, struct stoker_err *why, struct stoker_err *err)
{
    STK_ASSERT(n >= 0);
    *failed = n;
    if (!stk_block_reset(out, x->specs->count)) {
        return stk_err_nomem(err);
    }
    for (int64_t i = 0; i < n && *failed == n; i++) {
        bool is_inside = index[i] >= 0 && index[i] < x->count;
        enum stk_element_read r =
            is_inside ? read_record(x, index[i], pool, out, n) : STK_ELEMENT_BAD;
        if (r == STK_ELEMENT_NO_MEMORY) {
            stk_block_clear(out);
            return stk_err_set(err, STOKER_ELIMIT, "%s: out of memory for %lld elements", x->path,
                               (long long)n);
        }
        if (r == STK_ELEMENT_BAD) {
            *failed = i;
            (void)stk_err_set(why, is_inside ? STOKER_EDAMAGE : STOKER_ERANGE,
                              "%s: element %lld of %lld is %s", x->path, (long long)index[i],
                              (long long)x->count, is_inside ? "damaged" : "missing");
        }
    }
    for (int k = 0; k < out->count; k++) {
        out->cols[k].n = out->cols[k].is_varied
                             ? (out->cols[k].n < *failed ? out->cols[k].n : *failed)
                             : *failed;
        stk_col_settle(&out->cols[k]);
    }
    if (stk_indexed_is_torn(x)) {
        *failed = 0;
        (void)stk_indexed_torn(x, why);
        stk_block_clear(out);
        return STOKER_OK;
    }
    out->n = *failed;
    return keep_map(x, out) ? STOKER_OK : stk_err_nomem(err);
}
