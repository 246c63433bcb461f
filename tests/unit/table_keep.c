// SPDX-License-Identifier: Apache-2.0
// A table that keeps only its first rows while rows arrive has the same rows as one that is sorted
// and truncated at the end, in bounded memory.
#include <stdlib.h>

#include "base/alloc.h"
#include "check.h"
#include "results/table.h"

static const struct stk_column columns[] = {
    {.id = "device", .type = STK_TYPE_TEXT},
    {.id = "dur_ns", .type = STK_TYPE_NS},
    {.id = "at", .type = STK_TYPE_COUNT},
};

static const struct stk_table_info whole_info = {"whole", "", columns, 3};
static const struct stk_table_info kept_info = {"kept", "", columns, 3};

static uint32_t next_random(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

// `range`: how many different durations; few make many equal rows.
static void fill(struct stk_table *table, size_t count, uint32_t range, uint32_t seed)
{
    static const char *const devices[] = {"0/0", "0/1", "0/2"};
    for (size_t i = 0; i < count; i++) {
        struct stk_cell *row = stk_table_row(table);
        CHECK(row != NULL);
        if (!row) {
            return;
        }
        row[0] = stk_cell_text(devices[(next_random(&seed) >> 8) % 3]);
        row[1] = (next_random(&seed) >> 8) % 50 ? stk_cell_number((next_random(&seed) >> 8) % range)
                                                : stk_cell_unknown();
        row[2] = stk_cell_number((int64_t)i);
    }
}

static void compare(size_t count, uint32_t range, uint64_t limit)
{
    struct stk_table_doc doc;
    struct stk_arena arena;
    stk_arena_init(&arena, 0);
    stk_table_doc_init(&doc, &arena, "test");
    struct stk_table *whole = stk_table_add(&doc, &whole_info);
    struct stk_table *kept = stk_table_add(&doc, &kept_info);
    stk_table_keep(kept, "dur_ns", limit);
    fill(whole, count, range, 7);
    fill(kept, count, range, 7);
    CHECK(limit == 0 || kept->row_count <= 2 * limit + 4097);
    CHECK(stk_table_sort(whole, "dur_ns") && stk_table_sort(kept, "dur_ns"));
    stk_table_cut(whole, limit);
    stk_table_cut(kept, limit);
    CHECK_EQ(kept->row_count, whole->row_count);
    CHECK_EQ(kept->rows_left_out, whole->rows_left_out);
    const struct stk_cell *a = whole->cells.items, *b = kept->cells.items;
    size_t other = 0;
    for (size_t i = 0; i < whole->row_count && i < kept->row_count; i++) {
        other += a[i * 3 + 2].number != b[i * 3 + 2].number;
    }
    CHECK_EQ(other, 0);
    stk_table_doc_deinit(&doc);
    stk_arena_deinit(&arena);
}

static void test_memory_fails(void)
{
    struct stk_table_doc doc;
    struct stk_arena arena;
    stk_arena_init(&arena, 0);
    stk_table_doc_init(&doc, &arena, "test");
    struct stk_table *kept = stk_table_add(&doc, &kept_info);
    stk_table_keep(kept, "dur_ns", 1);
    fill(kept, 4098, 100, 3);
    stk_alloc_fail_at(1, 0);
    CHECK(stk_table_row(kept) == NULL);
    stk_alloc_fail_at(0, 0);
    CHECK(stk_table_row(kept) != NULL);
    stk_table_doc_deinit(&doc);
    stk_arena_deinit(&arena);
}

static void test_adopt(void)
{
    struct stk_arena a, b;
    stk_arena_init(&a, 0);
    stk_arena_init(&b, 0);
    char *first = stk_arena_strdup(&b, "first");
    char *large = stk_arena_alloc(&b, (size_t)3 << 20);
    size_t used = b.used_bytes;
    stk_arena_adopt(&a, &b); // into an empty one
    CHECK_EQ(a.used_bytes, used);
    CHECK_EQ(b.used_bytes, 0);
    char *second = stk_arena_strdup(&b, "second");
    stk_arena_adopt(&a, &b);
    stk_arena_adopt(&a, &b); // an empty one
    char *third = stk_arena_strdup(&a, "third");
    stk_arena_deinit(&b);
    CHECK_STR(first, "first");
    CHECK_STR(second, "second");
    CHECK_STR(third, "third");
    CHECK(large && large[(3 << 20) - 1] == 0);
    stk_arena_deinit(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(compare, 0, 10, 5);
    CHECK_RUN(compare, 1, 10, 5);
    CHECK_RUN(compare, 3000, 1000, 10);
    CHECK_RUN(compare, 100000, 1u << 24, 10);
    CHECK_RUN(compare, 100000, 1u << 24, 5000);
    CHECK_RUN(compare, 100000, 3, 5000); // many are equal
    CHECK_RUN(compare, 50000, 1, 1);     // all are
    CHECK_RUN(compare, 20000, 1000, 0);
    CHECK_RUN(test_memory_fails);
    CHECK_RUN(test_adopt);
    return check_done("unit.table_keep");
}
