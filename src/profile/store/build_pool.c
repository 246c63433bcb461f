// SPDX-License-Identifier: Apache-2.0
// Memory of rows that wait for their columns. Shards take parts of a few KB to a few hundred KB.
// The pool cuts them from slabs of the size of the system's large pages, and frees a slab as soon
// as none of its parts is in use, since the columns grow meanwhile.
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/store/build_impl.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#define SLAB_FIRST ((size_t)64 << 10) // most profiles in tests and tools are small
#define SLAB_MAX ((size_t)2 << 20)
#define SLABS_MAX ((size_t)1 << 24)
#define PART_ALIGN ((size_t)64)

void stk_pool_init(struct stk_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    stk_vec_init(&pool->slabs, sizeof(struct stk_slab *), SLABS_MAX);
    pool->open = NULL;
    pool->next_size = SLAB_FIRST;
}

// Return a large block to the system, even if the allocator would keep it for later.
static void release(struct stk_slab *slab)
{
#if defined(__linux__)
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)slab->p + page - 1) & ~(page - 1);
    uintptr_t last = ((uintptr_t)slab->p + slab->size) & ~(page - 1);
    if (slab->p && first < last) {
        (void)madvise((void *)first, last - first, MADV_DONTNEED);
    }
#endif
    stk_free(slab->p);
    slab->p = NULL;
}

void stk_pool_deinit(struct stk_pool *pool)
{
    for (size_t i = 0; i < pool->slabs.count; i++) {
        struct stk_slab *slab = *(struct stk_slab **)stk_vec_at(&pool->slabs, i);
        stk_free(slab->p);
        stk_free(slab);
    }
    stk_vec_deinit(&pool->slabs);
    pthread_mutex_destroy(&pool->lock);
}

static struct stk_slab *open_slab(struct stk_pool *pool, size_t at_least)
{
    struct stk_slab *slab = stk_alloc_zero(1, sizeof *slab);
    size_t size = pool->next_size > at_least ? pool->next_size : at_least;
    if (slab) {
        slab->p = stk_alloc_large(size, 1);
    }
    struct stk_slab **slot = slab && slab->p ? stk_vec_push(&pool->slabs) : NULL;
    if (!slot) {
        stk_free(slab ? slab->p : NULL);
        stk_free(slab);
        return NULL;
    }
    slab->size = size;
    pool->next_size = pool->next_size < SLAB_MAX ? pool->next_size * 2 : SLAB_MAX;
    *slot = slab;
    return slab;
}

struct stk_pool_part stk_pool_take(struct stk_pool *pool, size_t size)
{
    STK_ASSERT(size > 0);
    struct stk_pool_part part = {NULL, NULL};
    size = (size + PART_ALIGN - 1) & ~(PART_ALIGN - 1);
    pthread_mutex_lock(&pool->lock);
    struct stk_slab *slab = pool->open;
    if (!slab || slab->size - slab->used < size) {
        if (slab && slab->parts == 0) {
            release(slab);
        }
        slab = pool->open = open_slab(pool, size);
    }
    if (slab) {
        part = (struct stk_pool_part){slab->p + slab->used, slab};
        slab->used += size;
        slab->parts++;
    }
    pthread_mutex_unlock(&pool->lock);
    return part;
}

void stk_pool_give(struct stk_pool *pool, struct stk_pool_part *part)
{
    struct stk_slab *slab = part->slab;
    *part = (struct stk_pool_part){NULL, NULL};
    if (!slab) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    bool last = --slab->parts == 0 && slab != pool->open;
    pthread_mutex_unlock(&pool->lock);
    if (last) {
        release(slab);
    }
}

void stk_pool_close(struct stk_pool *pool)
{
    pool->open = NULL;
}
