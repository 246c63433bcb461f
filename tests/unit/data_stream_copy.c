// SPDX-License-Identifier: Apache-2.0
// Copies past the caches are exact, for all alignments and lengths near those of cache lines, and
// write nothing else. Columns and batches that are large enough for them have the right content.
#include "check.h"
#include "engine/memory/col.h"
#include "engine/memory/stream_copy.h"

static void lengths_and_alignments(void)
{
    enum { SIZE = 1000, MARGIN = 64 };
    uint8_t from[SIZE + MARGIN], to[SIZE + 2 * MARGIN];
    for (int i = 0; i < SIZE + MARGIN; i++) {
        from[i] = (uint8_t)(i * 7 + 1);
    }
    for (size_t n = 0; n < SIZE; n += 1 + n / 100) {
        for (size_t at = 0; at < MARGIN; at += 1 + n % 5) {
            memset(to, 0, sizeof to);
            stk_copy_streamed(to + at, from + n % 17, n);
            CHECK(memcmp(to + at, from + n % 17, n) == 0);
            CHECK(at == 0 || to[at - 1] == 0);
            CHECK_EQ(to[at + n], 0);
        }
    }
}

// Elements of 40 kB picked in another order, and joined: 20 MB of them.
static void columns(void)
{
    enum { COUNT = 512, EACH = 40004 };
    struct stk_pool *pool = stk_pool_open((size_t)1 << 30);
    struct stk_shape shape = {1, {EACH / 4}};
    struct stk_col from, picked, joined;
    int64_t index[COUNT];
    CHECK(stk_col_uniform(&from, pool, STK_DT_I32, &shape, COUNT));
    int32_t *values = (int32_t *)from.data;
    for (int64_t i = 0; i < (int64_t)COUNT * (EACH / 4); i++) {
        values[i] = (int32_t)(i * 2654435761u);
    }
    for (int64_t i = 0; i < COUNT; i++) {
        index[i] = i * 37 % COUNT;
    }
    CHECK(stk_col_gather(&picked, pool, &from, index, COUNT));
    for (int64_t i = 0; i < COUNT; i++) {
        CHECK(memcmp(stk_col_at(&picked, i), stk_col_at(&from, index[i]), EACH) == 0);
    }
    const struct stk_col *parts[] = {&picked, &from};
    CHECK(stk_col_concat(&joined, pool, parts, 2));
    for (int64_t i = 0; i < 2 * COUNT; i++) {
        CHECK(memcmp(stk_col_at(&joined, i), stk_col_at(parts[i / COUNT], i % COUNT), EACH) == 0);
    }
    stk_col_clear(&from);
    stk_col_clear(&picked);
    stk_col_clear(&joined);
    stk_pool_drop(pool);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(lengths_and_alignments);
    CHECK_RUN(columns);
    return check_done("unit.data_stream_copy");
}
