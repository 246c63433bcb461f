// SPDX-License-Identifier: Apache-2.0
// Writes wire files: buffers become blocks; blocks get their place by an atomic addition.
#include "wire/wire_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/crc32c.h"

#define BUFFER_BYTES (64u << 10)
#define STRING_MAX 4096u

struct stk_wire_file {
    int fd;
    int failed; // errno of the first failure; atomic
    uint64_t end;
    uint32_t next_id, next_writer; // atomic
    char *path;
};

struct stk_wire_writer {
    struct stk_wire_file *file;
    struct stk_wire_block head;
    uint32_t number, sequence;
    uint8_t buffer[sizeof(struct stk_wire_block) + BUFFER_BYTES];
};

static void fail(struct stk_wire_file *f, int why)
{
    int none = 0;
    __atomic_compare_exchange_n(&f->failed, &none, why ? why : EIO, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

static void write_at(struct stk_wire_file *f, const void *bytes, size_t n)
{
    uint64_t at = __atomic_fetch_add(&f->end, n, __ATOMIC_RELAXED);
    for (size_t done = 0; done < n;) {
        ssize_t k = pwrite(f->fd, (const uint8_t *)bytes + done, n - done, (off_t)(at + done));
        if (k < 0 && errno != EINTR) {
            fail(f, errno);
            return;
        }
        done += k > 0 ? (size_t)k : 0;
    }
}

enum stoker_status stk_wire_create(struct stk_wire_file **out, const char *path,
                                   const char *producer, struct stoker_err *err)
{
    STK_ASSERT(path && producer);
    *out = NULL;
    struct stk_wire_file *f = stk_alloc_zero(1, sizeof *f);
    size_t n = strlen(path) + 1;
    if (!f || !(f->path = stk_alloc(n))) {
        stk_free(f);
        return stk_err_nomem(err);
    }
    memcpy(f->path, path, n);
    f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        int why = errno;
        stk_free(f->path);
        stk_free(f);
        return stk_err_set(err, stk_err_of_file(why, STOKER_EOUTPUT), "%s: can't be written: %s",
                           path, strerror(why));
    }
    struct stk_wire_header h = {.version = STK_WIRE_VERSION,
                                .header_bytes = sizeof h,
                                .flags = STK_WIRE_HAS_ELEMENTS,
                                .pid = (uint64_t)getpid(),
                                .mono_ns = stk_clock_ns(),
                                .real_ns = stk_clock_of(CLOCK_REALTIME)};
    memcpy(h.magic, STK_WIRE_MAGIC, sizeof h.magic);
    snprintf(h.producer, sizeof h.producer, "%s", producer);
    f->next_id = 1;
    write_at(f, &h, sizeof h);
    *out = f;
    return STOKER_OK;
}

static void write_end(struct stk_wire_file *f)
{
    struct stk_wire_block end = {.magic = STK_WIRE_BLOCK_MAGIC, .type = STK_WIRE_END};
    end.head_crc = stk_crc32c(0, &end, sizeof end);
    write_at(f, &end, sizeof end);
}

static enum stoker_status tell(const struct stk_wire_file *f, struct stoker_err *err)
{
    return f->failed ? stk_err_set(err, stk_err_of_file(f->failed, STOKER_EOUTPUT),
                                   "%s: can't be written: %s", f->path, strerror(f->failed))
                     : STOKER_OK;
}

enum stoker_status stk_wire_pause(struct stk_wire_file *f, struct stoker_err *err)
{
    uint64_t at = __atomic_load_n(&f->end, __ATOMIC_RELAXED);
    write_end(f);
    __atomic_store_n(&f->end, at, __ATOMIC_RELAXED); // no block is shorter than the one it replaces
    return tell(f, err);
}

bool stk_wire_is_at(const struct stk_wire_file *f, const char *path)
{
    struct stat here, there;
    return fstat(f->fd, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

enum stoker_status stk_wire_close(struct stk_wire_file *f, bool is_whole, struct stoker_err *err)
{
    if (!f) {
        return STOKER_OK;
    }
    if (is_whole) {
        write_end(f);
    }
    if (close(f->fd)) {
        fail(f, errno);
    }
    enum stoker_status s = tell(f, err);
    stk_free(f->path);
    stk_free(f);
    return s;
}

struct stk_wire_writer *stk_wire_writer_open(struct stk_wire_file *f)
{
    struct stk_wire_writer *w = stk_alloc(sizeof *w);
    if (w) {
        w->file = f;
        w->number = __atomic_fetch_add(&f->next_writer, 1, __ATOMIC_RELAXED);
        w->sequence = 0;
        w->head = (struct stk_wire_block){0};
    }
    return w;
}

void stk_wire_flush(struct stk_wire_writer *w)
{
    STK_ASSERT(w->head.length <= BUFFER_BYTES && w->head.length % 8 == 0);
    struct stk_wire_block *h = &w->head;
    if (h->count == 0) {
        return;
    }
    h->magic = STK_WIRE_BLOCK_MAGIC;
    h->writer = w->number;
    h->sequence = w->sequence++;
    h->crc = stk_crc32c(0, w->buffer + sizeof *h, h->length);
    h->head_crc = 0;
    h->head_crc = stk_crc32c(0, h, sizeof *h);
    memcpy(w->buffer, h, sizeof *h);
    write_at(w->file, w->buffer, sizeof *h + h->length);
    *h = (struct stk_wire_block){0};
}

void stk_wire_writer_close(struct stk_wire_writer *w)
{
    if (w) {
        stk_wire_flush(w);
        stk_free(w);
    }
}

// Space for a record of `size` bytes (a multiple of 8) in a block of the type.
static uint8_t *capacity(struct stk_wire_writer *w, enum stk_wire_type type, size_t size)
{
    if (w->head.count && (w->head.type != type || w->head.length + size > BUFFER_BYTES)) {
        stk_wire_flush(w);
    }
    w->head.type = (uint16_t)type;
    uint8_t *at = w->buffer + sizeof w->head + w->head.length;
    w->head.length += (uint32_t)size;
    w->head.count++;
    return at;
}

void stk_wire_put(struct stk_wire_writer *w, enum stk_wire_type type, const void *record,
                  size_t size, uint64_t first_ns, uint64_t last_ns)
{
    memcpy(capacity(w, type, size), record, size);
    w->head.first_ns =
        w->head.count == 1 || first_ns < w->head.first_ns ? first_ns : w->head.first_ns;
    w->head.last_ns = last_ns > w->head.last_ns ? last_ns : w->head.last_ns;
}

uint32_t stk_wire_string(struct stk_wire_writer *w, const char *text)
{
    size_t n = strlen(text);
    n = n < STRING_MAX ? n : STRING_MAX;
    struct stk_wire_string s = {__atomic_fetch_add(&w->file->next_id, 1, __ATOMIC_RELAXED),
                                (uint32_t)n};
    size_t padded = (n + 7) & ~(size_t)7;
    uint8_t *at = capacity(w, STK_WIRE_STRINGS, sizeof s + padded);
    memcpy(at, &s, sizeof s);
    memset(at + sizeof s, 0, padded);
    memcpy(at + sizeof s, text, n);
    return s.id;
}

uint32_t stk_wire_track(struct stk_wire_writer *w, enum stk_wire_track_kind kind, int64_t number,
                        int device, uint32_t name)
{
    struct stk_wire_track t = {.id = __atomic_fetch_add(&w->file->next_id, 1, __ATOMIC_RELAXED),
                               .kind = kind,
                               .number = number,
                               .device = device,
                               .name = name};
    stk_wire_put(w, STK_WIRE_TRACKS, &t, sizeof t, 0, 0);
    return t.id;
}
