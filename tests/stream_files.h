// SPDX-License-Identifier: Apache-2.0
// Files for the stream tests: content that resembles a trace, compressed in memory by the reference
// libraries, written to a temporary directory that is removed at the end.
#ifndef STK_TESTS_STREAM_FILES_H
#define STK_TESTS_STREAM_FILES_H

#include <stdbool.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "check.h"

struct bytes {
    uint8_t *p;
    size_t n, capacity;
};

static char files_dir[64];
static char files_path[128];

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline void bytes_add(struct bytes *b, const void *p, size_t n)
{
    if (b->n + n > b->capacity) {
        b->capacity = (b->n + n) * 2;
        b->p = realloc(b->p, b->capacity);
        if (!b->p) {
            exit(9);
        }
    }
    if (n) {
        memcpy(b->p + b->n, p, n);
    }
    b->n += n;
}

static inline void bytes_free(struct bytes *b)
{
    free(b->p);
    *b = (struct bytes){0};
}

// Records with changing numbers, and now and then a stretch that cannot be compressed.
static inline struct bytes make_content(size_t n, uint64_t seed)
{
    struct bytes b = {0};
    while (b.n < n) {
        char line[200];
        uint64_t r = next_random(&seed);
        int len = snprintf(line, sizeof line,
                           "{\"ph\": \"X\", \"name\": \"kernel_%u\", \"ts\": %llu, \"dur\": %u},\n",
                           (unsigned)(r % 50), (unsigned long long)(b.n * 1000 + r % 997),
                           (unsigned)(r >> 50));
        bytes_add(&b, line, (size_t)len);
        if (r % 1000 == 0) {
            for (int i = 0; i < 5000; i++) {
                r = next_random(&seed);
                bytes_add(&b, &r, 8);
            }
        }
    }
    b.n = n;
    return b;
}

// Adds one gzip member. level 0 stores. With `long_header` all optional parts are there.
static inline void add_gzip(struct bytes *to, const uint8_t *p, size_t n, int level,
                            bool long_header)
{
    z_stream z = {0};
    if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        exit(9);
    }
    Bytef extra[300], name[] = "a name.json", comment[] = "and a comment";
    memset(extra, 7, sizeof extra);
    gz_header h = {
        .extra = extra, .extra_len = sizeof extra, .name = name, .comment = comment, .hcrc = 1};
    if (long_header) {
        deflateSetHeader(&z, &h);
    }
    size_t capacity = deflateBound(&z, n) + 1000;
    uint8_t *out = malloc(capacity);
    z.next_in = (Bytef *)p;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)capacity;
    if (!out || deflate(&z, Z_FINISH) != Z_STREAM_END) {
        exit(9);
    }
    bytes_add(to, out, capacity - z.avail_out);
    deflateEnd(&z);
    free(out);
}

// Adds one zstd frame with a checksum.
static inline void add_zstd(struct bytes *to, const uint8_t *p, size_t n)
{
    size_t capacity = ZSTD_compressBound(n);
    uint8_t *out = malloc(capacity);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    size_t made = ZSTD_compress2(c, out, capacity, p, n);
    if (!out || ZSTD_isError(made)) {
        exit(9);
    }
    bytes_add(to, out, made);
    ZSTD_freeCCtx(c);
    free(out);
}

static inline void files_end(void)
{
    if (files_path[0]) {
        unlink(files_path);
    }
    if (files_dir[0]) {
        rmdir(files_dir);
    }
}

// The one temporary file, with this content. Borrowed until the next call.
static inline const char *write_file(const uint8_t *p, size_t n)
{
    if (!files_dir[0]) {
        snprintf(files_dir, sizeof files_dir, "/tmp/stoker-test-XXXXXX");
        if (!mkdtemp(files_dir)) {
            exit(9);
        }
        snprintf(files_path, sizeof files_path, "%s/input", files_dir);
        atexit(files_end);
    }
    FILE *f = fopen(files_path, "wb");
    if (!f || (n && fwrite(p, 1, n, f) != n) || fclose(f)) {
        exit(9);
    }
    return files_path;
}

#endif
