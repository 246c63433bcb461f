// SPDX-License-Identifier: Apache-2.0
// Arrays in a mapped file; see frozen.h. Layout: one block of 128 bytes (struct head), then for
// each array a block of 16 bytes (struct item) and its bytes, padded to 16.
#include "base/frozen.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/guard.h"

enum { ALIGN = 16, PIECE = 4 << 20 };
#define MAGIC UINT64_C(0x315a5246504b4f54)

struct head {
    uint64_t magic, bytes;
    char builder[STK_FROZEN_BUILDER];
    uint32_t crc, crc_of_head; // crc_of_head: of all fields above
    char filler[128 - 16 - STK_FROZEN_BUILDER - 8];
};

struct item {
    uint64_t count;
    uint32_t size, mark;
};
#define MARK 0x5ad1f00du

static const char zeros[ALIGN];

static void write_all(struct stk_frost *f, const char *p, size_t n)
{
    while (n > 0 && !f->failed) {
        size_t piece = n < PIECE ? n : PIECE;
        ssize_t done = write(f->fd, p, piece);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0 || (f->interrupted && f->interrupted(f->arg))) {
            f->failed = true;
            return;
        }
        f->crc = stk_crc32c(f->crc, p, (size_t)done);
        f->bytes += (uint64_t)done;
        p += done;
        n -= (size_t)done;
    }
}

void stk_frost_begin(struct stk_frost *f, int fd)
{
    *f = (struct stk_frost){.fd = fd};
    f->failed = lseek(fd, sizeof(struct head), SEEK_SET) < 0;
}

void stk_frost_put(struct stk_frost *f, const void *items, size_t count, size_t size)
{
    const struct item item = {count, (uint32_t)size, MARK};
    size_t bytes = count * size, over = bytes % ALIGN;
    write_all(f, (const char *)&item, sizeof item);
    if (bytes) {
        write_all(f, items, bytes);
    }
    write_all(f, zeros, over ? ALIGN - over : 0);
}

static void fill_head(struct head *h, uint64_t bytes, uint32_t crc, const char *builder)
{
    *h = (struct head){.magic = MAGIC, .bytes = bytes, .crc = crc};
    size_t n = strlen(builder);
    memcpy(h->builder, builder, n < sizeof h->builder ? n : sizeof h->builder - 1);
    h->crc_of_head = stk_crc32c(0, h, offsetof(struct head, crc_of_head));
}

bool stk_frost_end(struct stk_frost *f, const char *builder)
{
    struct head h;
    fill_head(&h, f->bytes, f->crc, builder);
    return !f->failed && pwrite(f->fd, &h, sizeof h, 0) == (ssize_t)sizeof h;
}

static bool is_whole(const struct stk_thaw *t, const char *builder)
{
    struct head h, like;
    if (t->size < sizeof h) {
        return false;
    }
    memcpy(&h, t->map, sizeof h);
    fill_head(&like, h.bytes, h.crc, builder);
    return h.bytes == t->size - sizeof h && memcmp(&h, &like, sizeof h) == 0 &&
           stk_crc32c(0, t->map + sizeof h, t->size - sizeof h) == h.crc;
}

enum stoker_status stk_thaw_open(struct stk_thaw *t, const char *path, const char *builder,
                                 struct stoker_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *t = (struct stk_thaw){.at = sizeof(struct head)};
    // A file that others may have written isn't trusted: later code doesn't check each index again.
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
        st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)) {
        if (fd >= 0) {
            close(fd);
        }
        return stk_err_set(err, STOKER_EMISSING, "%s: no such index", path);
    }
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        return stk_err_set(err, STOKER_EMISSING, "%s can't be mapped: %s", path, strerror(errno));
    }
    t->map = map;
    t->size = (size_t)st.st_size;
    struct stk_guard *guard = stk_guard_add(map, t->size); // while it is read for the first time
    bool fits = is_whole(t, builder) && !stk_guard_is_torn(guard);
    stk_guard_drop(guard);
    if (!fits) {
        stk_thaw_close(t);
        return stk_err_set(err, STOKER_EMISSING, "%s: incomplete, or from another build", path);
    }
    return STOKER_OK;
}

void stk_thaw_close(struct stk_thaw *t)
{
    if (t->map) {
        munmap((void *)(uintptr_t)t->map, t->size);
    }
    t->map = NULL;
    t->size = 0;
}

void *stk_thaw_take(struct stk_thaw *t, size_t size, size_t *count)
{
    struct item item = {.count = 0};
    *count = 0;
    if (!t->failed && t->size - t->at >= sizeof item) {
        memcpy(&item, t->map + t->at, sizeof item);
    }
    size_t room = t->failed ? 0 : t->size - t->at - sizeof item, bytes;
    if (item.mark != MARK || item.size != size ||
        __builtin_mul_overflow(item.count, size, &bytes) || bytes > room) {
        t->failed = true;
        return (void *)(uintptr_t)zeros;
    }
    const char *items = t->map + t->at + sizeof item;
    size_t over = bytes % ALIGN;
    t->at += sizeof item + bytes + (over ? ALIGN - over : 0);
    *count = item.count;
    return (void *)(uintptr_t)items;
}

void *stk_thaw_array(struct stk_thaw *t, size_t size, size_t count)
{
    size_t found;
    void *items = stk_thaw_take(t, size, &found);
    t->failed |= found != count;
    return items;
}
