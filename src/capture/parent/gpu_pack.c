// SPDX-License-Identifier: Apache-2.0
// Packs a record; see gpu_pack.h. Good blocks are written behind one another into a new file, in
// their order, so that definitions stay before their uses; the END mark, which the library puts
// where there is always room, comes last. What is no good block stays out, but for one damaged
// piece as it is, so that readers still tell of it.
#include "capture/parent/gpu_pack.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "wire/wire_read.h"

struct packing {
    const uint8_t *bytes;
    size_t size;
    FILE *to;
    bool is_whole, has_end, was_damaged;
    struct stk_wire_block end;
};

static void put(struct packing *p, const void *bytes, size_t n)
{
    p->is_whole = p->is_whole && fwrite(bytes, 1, n, p->to) == n;
}

// One piece at `at`; how long it is.
static size_t copy_piece(struct packing *p, size_t at)
{
    struct stk_wire_block block;
    size_t use;
    enum stk_wire_found found = stk_wire_find(p->bytes + at, p->size - at, true, &block, &use);
    if (found == STK_WIRE_BLOCK && block.type == STK_WIRE_END) {
        p->has_end = true;
        p->end = block;
    } else if (found == STK_WIRE_BLOCK) {
        put(p, p->bytes + at, use);
    } else if (found == STK_WIRE_DAMAGE && !p->was_damaged) {
        put(p, "torn....", 8);
        p->was_damaged = true;
    }
    return found == STK_WIRE_MORE ? p->size - at : use;
}

static bool copy(struct packing *p)
{
    struct stk_wire_header h;
    if (!stk_wire_is_header(p->bytes, p->size, &h) || h.header_bytes > p->size) {
        return false;
    }
    p->is_whole = true;
    put(p, p->bytes, h.header_bytes);
    for (size_t at = h.header_bytes; at < p->size && p->is_whole;) {
        at += copy_piece(p, at);
    }
    if (p->has_end) {
        put(p, &p->end, sizeof p->end);
    }
    return p->is_whole;
}

static bool pack(const char *path, const char *part, const uint8_t *bytes, size_t size)
{
    struct packing p = {.bytes = bytes, .size = size};
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    p.to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!p.to) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    bool good = copy(&p);
    good = fclose(p.to) == 0 && good && rename(part, path) == 0;
    if (!good) {
        unlink(part);
    }
    return good;
}

uint64_t stk_gpu_pack(const char *path)
{
    struct stat st;
    size_t n = strlen(path) + 6;
    char *part = stk_alloc(n);
    int fd = part ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            snprintf(part, n, "%s.part", path);
            (void)pack(path, part, bytes, (size_t)st.st_size);
            munmap(bytes, (size_t)st.st_size);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    uint64_t size = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    stk_free(part);
    return size;
}
