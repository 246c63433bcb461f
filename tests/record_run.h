// SPDX-License-Identifier: Apache-2.0
// For tests of the record layer: files from bytes, and whole files read back.
#ifndef STK_TESTS_RECORD_RUN_H
#define STK_TESTS_RECORD_RUN_H

#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "engine/formats/record.h"

// The scratch file of this process, in memory: there are many thousand versions of it.
static int record_fd = -1;

static inline const char *record_scratch(void)
{
    static char path[64];
    if (record_fd < 0) {
        record_fd = memfd_create("records", 0);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", record_fd);
    return path;
}

static inline const char *record_put(const uint8_t *bytes, size_t size)
{
    const char *path = record_scratch();
    if (ftruncate(record_fd, (off_t)size) || pwrite(record_fd, bytes, size, 0) != (ssize_t)size) {
        CHECK(!"the scratch file can be written");
    }
    return path;
}

static inline uint8_t *record_get(const char *path, size_t *size)
{
    *size = 0;
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    uint8_t *bytes = malloc((size_t)1 << 20);
    *size = fread(bytes, 1, (size_t)1 << 20, f);
    fclose(f);
    return bytes;
}

struct record_copy {
    uint8_t *data;
    size_t size;
    uint64_t offset, number;
};

struct record_all {
    enum stoker_status status;
    struct stoker_err err;
    struct stk_record_stats stats;
    struct record_copy items[4096];
    size_t count;
};

// Copies of exactly the records' sizes, so that sanitizers see every byte too far.
static inline void record_read_all(struct record_all *all, const char *path,
                                   const struct stk_record_opts *opts, size_t chunk)
{
    struct stk_record views[64];
    struct stk_buf *block;
    struct stk_record_reader *r;
    size_t n = 1;
    all->count = 0;
    all->stats = (struct stk_record_stats){0};
    stk_err_init(&all->err);
    all->status = stk_record_open(&r, path, opts, &all->err);
    if (all->status) {
        return;
    }
    while (!all->status && n > 0) {
        all->status = stk_record_read(r, views, chunk, &n, &block, &all->err);
        for (size_t i = 0; i < n && all->count < 4096; i++) {
            struct record_copy *c = &all->items[all->count++];
            *c = (struct record_copy){malloc(views[i].size ? views[i].size : 1), views[i].size,
                                      views[i].offset, views[i].number};
            if (views[i].size) {
                memcpy(c->data, views[i].data, views[i].size);
            }
        }
        stk_buf_drop(block);
    }
    all->stats = *stk_record_stats_of(r);
    stk_record_close(r);
}

static inline void record_drop_all(struct record_all *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i].data);
    }
    all->count = 0;
}

#endif
