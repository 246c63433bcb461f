// SPDX-License-Identifier: Apache-2.0
// Protobuf and XSpace messages for tests, and the reader run over them. Nothing is shared with the
// reader's own decoder.
#ifndef STK_TESTS_XPLANE_WRITER_H
#define STK_TESTS_XPLANE_WRITER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "profile/readers/reader.h"

struct pb {
    uint8_t *p;
    size_t n, cap;
};

static inline void pb_raw(struct pb *b, const void *p, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = 2 * (b->n + n) + 64;
        b->p = realloc(b->p, b->cap);
        if (!b->p) {
            exit(2);
        }
    }
    if (n) {
        memcpy(b->p + b->n, p, n);
    }
    b->n += n;
}

static inline void pb_varint(struct pb *b, uint64_t v)
{
    do {
        uint8_t byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        pb_raw(b, &byte, 1);
    } while (v >>= 7);
}

static inline void pb_int(struct pb *b, unsigned field, int64_t v)
{
    pb_varint(b, field << 3);
    pb_varint(b, (uint64_t)v);
}

static inline void pb_double(struct pb *b, unsigned field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    pb_varint(b, field << 3 | 1);
    for (int i = 0; i < 8; i++, bits >>= 8) {
        pb_raw(b, &(uint8_t){(uint8_t)bits}, 1);
    }
}

static inline void pb_bytes(struct pb *b, unsigned field, const void *p, size_t n)
{
    pb_varint(b, field << 3 | 2);
    pb_varint(b, n);
    pb_raw(b, p, n);
}

static inline void pb_str(struct pb *b, unsigned field, const char *s)
{
    pb_bytes(b, field, s, strlen(s));
}

// Takes what `m` holds.
static inline void pb_msg(struct pb *b, unsigned field, struct pb *m)
{
    pb_bytes(b, field, m->p, m->n);
    free(m->p);
    *m = (struct pb){0};
}

// Map entries of a plane: field 4 event metadata, 5 stat metadata.
static inline void pb_named(struct pb *plane, unsigned field, int64_t id, const char *name)
{
    struct pb entry = {0}, meta = {0};
    pb_int(&entry, 1, id);
    pb_int(&meta, 1, id);
    pb_str(&meta, 2, name);
    pb_msg(&entry, 2, &meta);
    pb_msg(plane, field, &entry);
}

static inline struct pb pb_event(int64_t meta, int64_t offset_ps, int64_t duration_ps)
{
    struct pb e = {0};
    pb_int(&e, 1, meta);
    pb_int(&e, 2, offset_ps);
    if (duration_ps) {
        pb_int(&e, 3, duration_ps);
    }
    return e;
}

static inline void pb_stat_int(struct pb *owner, unsigned field, int64_t id, unsigned kind,
                               int64_t v)
{
    struct pb s = {0};
    pb_int(&s, 1, id);
    pb_int(&s, kind, v); // 3 uint64, 4 int64, 7 reference
    pb_msg(owner, field, &s);
}

static inline void pb_stat_str(struct pb *owner, unsigned field, int64_t id, const char *text)
{
    struct pb s = {0};
    pb_int(&s, 1, id);
    pb_str(&s, 5, text);
    pb_msg(owner, field, &s);
}

static inline struct pb pb_plane(const char *name)
{
    struct pb plane = {0};
    pb_str(&plane, 2, name);
    return plane;
}

static inline struct pb pb_line(int64_t id, const char *name, int64_t timestamp_ns)
{
    struct pb line = {0};
    pb_int(&line, 1, id);
    pb_str(&line, 2, name);
    pb_int(&line, 3, timestamp_ns);
    return line;
}

// gzip of stored blocks: a codec without a compressor.
static inline struct pb pb_gzip(const uint8_t *p, size_t n)
{
    static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    struct pb z = {0};
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    crc = ~crc;
    pb_raw(&z, head, sizeof head);
    for (size_t at = 0; at < n || at == 0;) {
        size_t size = n - at < 65535 ? n - at : 65535;
        bool last = at + size == n;
        uint8_t block[5] = {last, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size,
                            (uint8_t)(~size >> 8)};
        pb_raw(&z, block, sizeof block);
        pb_raw(&z, p + at, size);
        at += size;
        if (last) {
            break;
        }
    }
    for (int i = 0; i < 4; i++) {
        pb_raw(&z, &(uint8_t){(uint8_t)(crc >> 8 * i)}, 1);
    }
    for (int i = 0; i < 4; i++) {
        pb_raw(&z, &(uint8_t){(uint8_t)(n >> 8 * i)}, 1);
    }
    return z;
}

// Path of a temporary file that holds the bytes; the caller unlinks it.
static inline const char *file_of(const void *p, size_t n)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/stoker-test-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n) {
        exit(2);
    }
    close(fd);
    return path;
}

static inline enum stoker_status read_xplane_file(const char *path, int threads,
                                                  struct stk_trace **out, struct stoker_err *err)
{
    struct stk_stream *s = NULL;
    struct stk_read_ctx ctx = {.path = path, .threads = threads};
    *out = NULL;
    stk_err_init(err);
    enum stoker_status status = stk_stream_open(&s, path, &(struct stk_stream_opts){0}, err);
    ctx.stream = s;
    if (status == STOKER_OK) {
        status = stk_reader_xplane.read(&ctx, out, err);
    }
    stk_stream_close(s);
    return status;
}

static inline enum stoker_status read_xplane_bytes(const void *p, size_t n, int threads,
                                                   struct stk_trace **out, struct stoker_err *err)
{
    const char *path = file_of(p, n);
    enum stoker_status status = read_xplane_file(path, threads, out, err);
    unlink(path);
    return status;
}

static inline const char *text_of(const struct stk_trace *t, uint32_t id)
{
    return stk_strpool_get(&t->strings, id).p;
}

// The event with this name (the n-th, from 0), or STK_NONE.
static inline uint32_t find_event(const struct stk_trace *t, const char *name, unsigned n)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (strcmp(text_of(t, t->name[i]), name) == 0 && n-- == 0) {
            return i;
        }
    }
    return STK_NONE;
}

static inline const struct stk_track *track_with(const struct stk_trace *t, uint32_t event)
{
    return &t->tracks[stk_track_of(t, event)];
}

#endif
