// SPDX-License-Identifier: Apache-2.0
// Lists of partial results: a count that doesn't fit in the remaining bytes costs no memory.
// Numbers that times are added and multiplied from are bounded in both directions.
#include "answers/partial/code.h"

#include "check.h"

enum { BYTES = 1 << 20, MEMBERS = 6, ITEM = MEMBERS * sizeof(uint64_t), HEAD = 4 };

static uint8_t bytes[BYTES];

// Whether a list of so many items of six numbers is read; all of them are 0.
static bool read_list(uint32_t count, uint32_t *kept)
{
    struct stk_arena arena;
    struct stk_code c;
    stk_arena_init(&arena, 0);
    stk_code_init(&c, STK_CODE_WRITE, NULL);
    stk_code_u32(&c, "count", &count);
    size_t head = c.bytes.count;
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, c.bytes.items, head);
    stk_code_deinit(&c);
    stk_code_init(&c, STK_CODE_READ, &arena);
    c.at = bytes;
    c.end = bytes + sizeof bytes;
    *kept = 0;
    void *items = stk_code_list(&c, "list", NULL, kept, ITEM);
    bool is_read = items && !c.failed;
    CHECK_EQ(items == NULL, *kept == 0);
    stk_code_deinit(&c);
    stk_arena_deinit(&arena);
    return is_read;
}

static void counts(void)
{
    uint32_t kept, most = (BYTES - HEAD) / MEMBERS;
    CHECK(read_list(1, &kept) && kept == 1);
    CHECK(read_list(most - 1, &kept) && kept == most - 1);
    CHECK(!read_list(most + 1, &kept));
    CHECK(!read_list(BYTES - HEAD, &kept)); // a byte of each: six times the memory
    CHECK(!read_list(UINT32_MAX, &kept));
}

// An item that is smaller than a number still takes a byte.
static void small_items(void)
{
    struct stk_arena arena;
    struct stk_code c;
    const uint8_t three[] = {3, 1, 2, 3}, four[] = {4, 1, 2, 3};
    stk_arena_init(&arena, 0);
    for (int i = 0; i < 2; i++) {
        uint32_t count = 0;
        stk_code_init(&c, STK_CODE_READ, &arena);
        c.at = i ? four : three;
        c.end = c.at + sizeof three;
        CHECK_EQ(stk_code_list(&c, "bytes", NULL, &count, 1) != NULL, i == 0);
        CHECK_EQ(c.failed, i == 1);
        stk_code_deinit(&c);
    }
    stk_arena_deinit(&arena);
}

// Written and read, as a number, a date, and a number that may be missing (0, 1, 2).
static bool comes_back(int64_t value, int how)
{
    struct stk_arena arena;
    struct stk_code c, r;
    int64_t read = value, written = value;
    stk_arena_init(&arena, 0);
    stk_code_init(&r, STK_CODE_READ, &arena);
    // What another program wrote: no limit there.
    uint64_t wide = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    stk_code_init(&c, STK_CODE_WRITE, NULL);
    stk_code_u64(&c, "value", &wide);
    r.at = c.bytes.items;
    r.end = r.at + c.bytes.count;
    for (int i = 0; i < 2; i++) {
        struct stk_code *x = i ? &c : &r; // writing moves the bytes that are read
        int64_t *number = i ? &written : &read;
        if (how == 0) {
            stk_code_i64(x, "value", number);
        } else if (how == 1) {
            stk_code_date(x, "value", number);
        } else {
            stk_code_maybe(x, "value", number, INT64_MIN);
        }
    }
    CHECK_EQ(c.failed, r.failed);
    bool same = !r.failed && read == value;
    stk_code_deinit(&c);
    stk_code_deinit(&r);
    stk_arena_deinit(&arena);
    return same;
}

static void numbers(void)
{
    const int64_t number = STK_CODE_NUMBER_MOST, date = STK_CODE_DATE_MOST;
    for (int sign = -1; sign <= 1; sign += 2) {
        CHECK(comes_back(sign * number, 0) && !comes_back(sign * (number + 1), 0));
        CHECK(comes_back(sign * date, 1) && !comes_back(sign * (date + 1), 1));
        CHECK(comes_back(sign * number, 2) && !comes_back(sign * (number + 1), 2));
    }
    CHECK(!comes_back(INT64_MIN, 0) && !comes_back(INT64_MAX, 0));
    CHECK(!comes_back(INT64_MIN, 1) && !comes_back(INT64_MAX, 1));
    CHECK(comes_back(INT64_MIN, 2) && !comes_back(INT64_MAX, 2));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(counts);
    CHECK_RUN(small_items);
    CHECK_RUN(numbers);
    return check_done("unit.partial_code");
}
