// SPDX-License-Identifier: Apache-2.0
// Packs a record; see gpu_pack.h. Writes good blocks to a new file in their order, so that
// definitions stay before their uses; the END mark, which has its own place in the original, comes
// last. Bad blocks are left out, except for one damaged piece, so that readers still report it.
#include "job/capture/parent/gpu_pack.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/atomic_file.h"
#include "base/guard.h"
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

// Copies the piece at `at` and returns its length.
static size_t copy_piece(struct packing *p, size_t at)
{
    STK_ASSERT(at < p->size);
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

static void pack(const char *path, const uint8_t *bytes, size_t size, const struct stk_guard *guard)
{
    struct packing p = {.bytes = bytes, .size = size};
    struct stk_atomic_file file;
    if (stk_atomic_file_open(&file, path) != 0) {
        return;
    }
    p.to = fchmod(file.fd, 0600) == 0 ? fdopen(file.fd, "w") : NULL;
    file.fd = p.to ? -1 : file.fd;
    bool good = p.to && copy(&p);
    good = p.to && fclose(p.to) == 0 && good && !stk_guard_is_torn(guard);
    (void)stk_atomic_file_close(&file, good);
}

uint64_t stk_gpu_pack(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        struct stk_guard *guard =
            bytes != MAP_FAILED ? stk_guard_add(bytes, (size_t)st.st_size) : NULL;
        if (guard) {
            pack(path, bytes, (size_t)st.st_size, guard);
        }
        stk_guard_drop(guard);
        if (bytes != MAP_FAILED) {
            munmap(bytes, (size_t)st.st_size);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}
