// SPDX-License-Identifier: Apache-2.0
// Arena, vector, map and string pool against plain models, at their caps, and with allocations
// failing one after the other.
#include "check.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/strpool.h"
#include "base/vec.h"

static uint64_t random_state = 1;
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void arenas(void)
{
    struct stk_arena a;
    stk_arena_init(&a, 0);
    unsigned char *p[3000];
    size_t size[3000];
    int misaligned = 0, unclean = 0, overlap = 0;
    for (int i = 0; i < 3000; i++) {
        size[i] = next_random() % (i % 100 == 0 ? 300000 : 200);
        p[i] = stk_arena_alloc(&a, size[i]);
        misaligned += !p[i] || (uintptr_t)p[i] % 16 != 0;
        for (size_t k = 0; k < size[i]; k++) {
            unclean += p[i][k] != 0;
        }
        memset(p[i], i & 0xff, size[i]);
    }
    for (int i = 0; i < 3000; i++) {
        for (size_t k = 0; k < size[i]; k++) {
            overlap += p[i][k] != (i & 0xff);
        }
    }
    CHECK_EQ(misaligned, 0);
    CHECK_EQ(unclean, 0);
    CHECK_EQ(overlap, 0);
    char *text = stk_arena_printf(&a, "%0600d|%s", 7, "end");
    CHECK(text && strlen(text) == 604 && strcmp(text + 599, "7|end") == 0);
    CHECK_STR(stk_arena_strndup(&a, "abcdef", 3), "abc");
    CHECK_STR(stk_arena_strdup(&a, "abc"), "abc");
    CHECK(stk_arena_alloc(&a, SIZE_MAX) == NULL);
    CHECK(stk_arena_array(&a, SIZE_MAX / 4, 8) == NULL);
    stk_arena_deinit(&a);
    stk_arena_init(&a, 1000);
    CHECK(stk_arena_alloc(&a, 1001) == NULL);
    CHECK(stk_arena_alloc(&a, 900) != NULL);
    CHECK(stk_arena_alloc(&a, 100) == NULL);
    CHECK(stk_arena_alloc(&a, 64) != NULL);
    stk_arena_deinit(&a);
}

static void vectors(void)
{
    struct stk_vec v;
    stk_vec_init(&v, sizeof(int), 1000);
    for (int i = 0; i < 1000; i++) {
        int *slot = stk_vec_push(&v);
        CHECK(slot && *slot == 0);
        if (slot) {
            *slot = i;
        }
    }
    CHECK(stk_vec_push(&v) == NULL);
    CHECK(stk_vec_push_n(&v, SIZE_MAX) == NULL);
    CHECK(stk_vec_push_n(&v, 0) != NULL);
    int wrong = 0;
    for (int i = 0; i < 1000; i++) {
        wrong += *(int *)stk_vec_at(&v, (size_t)i) != i;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(stk_vec_reserve(&v, 1001), -1);
    stk_vec_deinit(&v);
    CHECK(v.items == NULL && v.count == 0);
    stk_vec_init(&v, 24, 5);
    CHECK(stk_vec_push_n(&v, 6) == NULL);
    CHECK(stk_vec_push_n(&v, 5) != NULL);
    CHECK_EQ(v.capacity, 5);
    stk_vec_deinit(&v);
}

// Keys are (i * 3, i % 7): entry i exists once put and keeps its value through growth.
static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sorting(void)
{
    struct stk_vec v;
    stk_vec_init(&v, sizeof(uint64_t), 1000);
    stk_sort(v.items, v.count, v.item_size, by_value); // nothing, and no memory for it
    for (int n = 0; n < 200; n++) {
        *(uint64_t *)stk_vec_push(&v) = next_random() % 50;
        stk_sort(v.items, v.count, v.item_size, by_value);
        for (size_t i = 1; i < v.count; i++) {
            CHECK(by_value(stk_vec_at(&v, i - 1), stk_vec_at(&v, i)) <= 0);
        }
    }
    stk_vec_deinit(&v);
}

static void maps(void)
{
    enum { N = 50000 };
    struct stk_map m;
    stk_map_init(&m, N);
    CHECK(stk_map_get(&m, 1, 2) == NULL);
    int wrong = 0;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < N; i++) {
            int created;
            uint32_t *value = stk_map_put(&m, i * 3u, i % 7, i + round, &created);
            wrong += !value || *value != i || created != (round == 0);
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(m.count, N);
    CHECK(stk_map_get(&m, 1, 0) == NULL);
    CHECK(stk_map_get(&m, 3, 2) == NULL);
    CHECK(stk_map_put(&m, 1, 0, 0, NULL) == NULL); // at the cap
    CHECK(stk_map_put(&m, 3, 1, 0, NULL) != NULL); // there already
    struct stk_map_entry *sorted = stk_map_sorted(&m);
    int misplaced = 0;
    for (uint64_t i = 0; sorted && i < N; i++) { // keys rise with i
        misplaced += sorted[i].a != i * 3u || sorted[i].b != i % 7;
    }
    CHECK(sorted && misplaced == 0);
    stk_free(sorted);
    stk_map_deinit(&m);
}

// Keys of any size in both words, some of which agree in one: by comparing and byte by byte.
static void sorted_maps(void)
{
    const size_t counts[] = {1, 100, 2047, 2048, 30000};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        struct stk_map m;
        stk_map_init(&m, counts[k]);
        while (m.count < counts[k]) {
            uint64_t a = next_random() >> next_random() % 64, b = next_random()
                                                                  << next_random() % 64;
            CHECK(stk_map_put(&m, a % 16 ? a : 7, b % 3 ? b : UINT64_MAX - a, (uint32_t)(a ^ b),
                              NULL));
        }
        struct stk_map_entry *sorted = stk_map_sorted(&m);
        size_t wrong = 0;
        for (size_t i = 0; sorted && i < m.count; i++) {
            const struct stk_map_entry *e = &sorted[i], *before = i ? e - 1 : NULL;
            uint32_t *value = stk_map_get(&m, e->a, e->b);
            wrong += !value || *value != e->value;
            wrong += before && (before->a > e->a || (before->a == e->a && before->b >= e->b));
        }
        CHECK(sorted && wrong == 0);
        stk_free(sorted);
        stk_map_deinit(&m);
    }
}

static void pools(void)
{
    enum { N = 100000 };
    struct stk_strpool p;
    CHECK_EQ(stk_strpool_init(&p, 0), 0);
    CHECK_EQ(stk_strpool_intern(&p, NULL, 0), 0);
    CHECK_EQ(stk_strpool_get(&p, 0).n, 0);
    CHECK_EQ(stk_strpool_find(&p, "kernel", 6), STK_STRPOOL_FAILED);
    int wrong = 0;
    char text[256];
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < N; i++) {
            int n = snprintf(text, sizeof text, "%*u", (int)(i % 60) + 1, i);
            wrong += stk_strpool_intern(&p, text, (size_t)n) != i + 1;
        }
    }
    for (uint32_t i = 0; i < N; i++) {
        int n = snprintf(text, sizeof text, "%*u", (int)(i % 60) + 1, i);
        struct stk_str s = stk_strpool_get(&p, i + 1);
        wrong += s.n != (size_t)n || strcmp(s.p, text) != 0;
        wrong += stk_strpool_find(&p, text, (size_t)n) != i + 1;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(p.count, N + 1);
    uint32_t with_nul = stk_strpool_intern(&p, "a\0b", 3);
    CHECK_EQ(with_nul, N + 1);
    CHECK(stk_strpool_intern(&p, "a\0c", 3) != with_nul);
    CHECK_EQ(stk_strpool_get(&p, UINT32_MAX).n, 0);
    stk_strpool_deinit(&p);
    CHECK_EQ(stk_strpool_init(&p, 10), 0);
    CHECK_EQ(stk_strpool_intern(&p, "0123456789", 10), STK_STRPOOL_FAILED);
    CHECK_EQ(stk_strpool_intern(&p, "012345678", 9), 1);
    CHECK_EQ(stk_strpool_intern(&p, "x", 1), STK_STRPOOL_FAILED);
    CHECK_EQ(stk_strpool_find(&p, "012345678", 9), 1);
    stk_strpool_deinit(&p);
}

// Everything keeps what it held when an allocation fails; returns whether all went through.
static int work_under_failure(void)
{
    enum { N = 600 };
    struct stk_arena a;
    struct stk_vec v;
    struct stk_map m;
    struct stk_strpool p;
    uint32_t ids[N] = {0}, put[N] = {0};
    int failed = 0, wrong = 0;
    stk_arena_init(&a, 0);
    stk_vec_init(&v, 8, N);
    stk_map_init(&m, N);
    failed += stk_strpool_init(&p, 0) != 0;
    for (uint32_t i = 0; i < N; i++) {
        char text[128];
        size_t n = (size_t)snprintf(text, sizeof text, "string %0100u", i);
        ids[i] = stk_strpool_intern(&p, text, n);
        put[i] = stk_map_put(&m, i, i, i, NULL) != NULL;
        uint64_t *slot = stk_vec_push(&v);
        if (slot) {
            *slot = i;
        }
        failed += ids[i] == STK_STRPOOL_FAILED || !put[i] || !slot || !stk_arena_alloc(&a, 100);
    }
    for (uint32_t i = 0; i < N; i++) {
        char text[128];
        size_t n = (size_t)snprintf(text, sizeof text, "string %0100u", i);
        wrong += stk_strpool_find(&p, text, n) != ids[i];
        uint32_t *value = stk_map_get(&m, i, i);
        wrong += put[i] ? !value || *value != i : value != NULL;
    }
    for (size_t i = 1; i < v.count; i++) {
        wrong += *(uint64_t *)stk_vec_at(&v, i) <= *(uint64_t *)stk_vec_at(&v, i - 1);
    }
    CHECK_EQ(wrong, 0);
    stk_arena_deinit(&a);
    stk_vec_deinit(&v);
    stk_map_deinit(&m);
    stk_strpool_deinit(&p);
    return failed == 0;
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(arenas);
    CHECK_RUN(vectors);
    CHECK_RUN(sorting);
    CHECK_RUN(maps);
    CHECK_RUN(sorted_maps);
    CHECK_RUN(pools);
    for (int sticky = 0; sticky < 2; sticky++) {
        uint64_t n = 1;
        for (;; n++) {
            stk_alloc_fail_at(n, sticky);
            if (work_under_failure()) {
                break;
            }
        }
        CHECK(n > 20);
    }
    stk_alloc_fail_at(0, 0);
    return check_done("unit.base_containers");
}
