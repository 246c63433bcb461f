// SPDX-License-Identifier: Apache-2.0
// Varints: every decoder reads back what was written, and rejects truncated or endless ones.
#include "check.h"

#include "base/cpu.h"
#include "base/varint.h"

static void round_trip(uint64_t v)
{
    uint8_t bytes[STK_VARINT_MAX + 8];
    memset(bytes, 0xff, sizeof bytes); // must not be read as part of it
    const uint8_t *end = stk_varint_put(bytes, v);
    size_t n = (size_t)(end - bytes);
    CHECK_EQ(stk_varint_size(v), n);
    uint64_t got = ~v, slow = ~v, eight = ~v, pext = ~v;
    CHECK(stk_varint_get(bytes, end, &got) == end && got == v);
    CHECK(stk_varint_get(bytes, bytes + sizeof bytes, &got) == end && got == v);
    CHECK(stk_varint_get_slow(bytes, end, &slow) == end && slow == v);
    const uint8_t *next = stk_varint_get8(bytes, &eight);
    CHECK(n > 8 ? !next : next == end && eight == v);
    if (stk_cpu_has(STK_CPU_PEXT)) {
        next = stk_varint_get8_pext(bytes, &pext);
        CHECK(n > 8 ? !next : next == end && pext == v);
    }
    for (size_t k = 0; k < n; k++) { // cut anywhere
        CHECK(!stk_varint_get(bytes, bytes + k, &got));
    }
}

static void endless(void)
{
    uint8_t bytes[STK_VARINT_MAX + 8];
    uint64_t v;
    memset(bytes, 0x80, sizeof bytes);
    CHECK(!stk_varint_get(bytes, bytes + sizeof bytes, &v));
    bytes[STK_VARINT_MAX - 1] = 0x7f; // six of its bits fall off
    CHECK(stk_varint_get(bytes, bytes + sizeof bytes, &v) == bytes + STK_VARINT_MAX);
    CHECK(v == (uint64_t)1 << 63);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (int bit = 0; bit < 64; bit++) {
        CHECK_RUN(round_trip, (uint64_t)1 << bit);
        CHECK_RUN(round_trip, ((uint64_t)1 << bit) - 1);
        CHECK_RUN(round_trip, UINT64_MAX >> bit ^ 0x5555555555555555u >> bit);
    }
    CHECK_RUN(round_trip, UINT64_MAX);
    CHECK_RUN(endless);
    return check_done("unit.base_varint");
}
