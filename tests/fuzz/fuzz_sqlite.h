// SPDX-License-Identifier: Apache-2.0
// SQLite's memory in the targets that use it: blocks up to a page, of which a statement takes
// dozens, come from free lists instead of the sanitizer's allocator, which was a third of the work.
// SQLite itself is not compiled with sanitizers, and cuts small blocks from larger ones anyway
// (lookaside). Programs that replay keep the usual allocator, under sanitizers too.
#ifndef STK_TESTS_FUZZ_SQLITE_H
#define STK_TESTS_FUZZ_SQLITE_H

#include <sqlite3.h>
#include <stddef.h>

#ifndef FUZZ_REPLAY
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define FUZZ_ROOT(p, n) __lsan_register_root_region(p, n)
#else
#define FUZZ_ROOT(p, n) (void)0
#endif
#endif

#include "fuzz.h"

#ifndef FUZZ_REPLAY
enum { FUZZ_SMALL_BYTES = 4608, FUZZ_STEP_BYTES = 32, FUZZ_CHUNK_BYTES = 1 << 16 };

// Before each block: its size and the next free one of its size. Aligned as malloc's are.
union fuzz_block {
    struct {
        size_t size;
        union fuzz_block *next;
    };
    max_align_t alignment;
};
static union fuzz_block *fuzz_free_blocks[FUZZ_SMALL_BYTES / FUZZ_STEP_BYTES + 1];

static void *fuzz_small_block(size_t size)
{
    static uint8_t *chunk;
    static size_t left;
    union fuzz_block **list = &fuzz_free_blocks[size / FUZZ_STEP_BYTES], *b = *list;
    if (b) {
        *list = b->next;
        return b;
    }
    if (left < size + sizeof *b) {
        left = FUZZ_CHUNK_BYTES;
        chunk = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        FUZZ_REQUIRE(chunk != MAP_FAILED);
        FUZZ_ROOT(chunk, left); // larger blocks are known from here alone
    }
    b = (union fuzz_block *)chunk;
    chunk += size + sizeof *b;
    left -= size + sizeof *b;
    return b;
}
static int fuzz_sqlite_round(int n)
{
    return (n + FUZZ_STEP_BYTES - 1) & ~(FUZZ_STEP_BYTES - 1);
}
static void *fuzz_sqlite_malloc(int n)
{
    size_t size = (size_t)fuzz_sqlite_round(n);
    union fuzz_block *b =
        size <= FUZZ_SMALL_BYTES ? fuzz_small_block(size) : malloc(size + sizeof *b);
    if (b) {
        b->size = size;
    }
    return b ? b + 1 : NULL;
}
static void fuzz_sqlite_free(void *p)
{
    union fuzz_block *b = (union fuzz_block *)p - 1;
    if (b->size > FUZZ_SMALL_BYTES) {
        free(b);
        return;
    }
    b->next = fuzz_free_blocks[b->size / FUZZ_STEP_BYTES];
    fuzz_free_blocks[b->size / FUZZ_STEP_BYTES] = b;
}
static int fuzz_sqlite_size(void *p)
{
    return p ? (int)((union fuzz_block *)p - 1)->size : 0;
}
static void *fuzz_sqlite_realloc(void *p, int n)
{
    void *larger = fuzz_sqlite_malloc(n);
    int had = fuzz_sqlite_size(p);
    if (larger) {
        memcpy(larger, p, (size_t)(had < n ? had : n));
        fuzz_sqlite_free(p);
    }
    return larger;
}
static int fuzz_sqlite_begin(void *arg)
{
    (void)arg;
    return SQLITE_OK;
}
static void fuzz_sqlite_end(void *arg)
{
    (void)arg;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const sqlite3_mem_methods memory = {
        fuzz_sqlite_malloc, fuzz_sqlite_free,  fuzz_sqlite_realloc, fuzz_sqlite_size,
        fuzz_sqlite_round,  fuzz_sqlite_begin, fuzz_sqlite_end,     NULL};
    (void)argc;
    (void)argv;
    FUZZ_REQUIRE(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK &&
                 sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK &&
                 sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK &&
                 sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0) == SQLITE_OK &&
                 sqlite3_config(SQLITE_CONFIG_MALLOC, &memory) == SQLITE_OK);
    return 0;
}
#endif

#endif
