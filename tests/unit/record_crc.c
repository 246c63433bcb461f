// SPDX-License-Identifier: Apache-2.0
// CRC-32C against the vectors of RFC 3720 B.4, against a bit-by-bit model, and each kind against
// the tables at all lengths, alignments and ways to cut the data in two.
#include "check.h"
#include "base/crc32c.h"

static uint32_t by_bits(const uint8_t *p, size_t n)
{
    uint32_t c = ~0u;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
        }
    }
    return ~c;
}

static void vectors(stk_crc32c_fn *fn)
{
    uint8_t p[32];
    memset(p, 0, sizeof p);
    CHECK_EQ(fn(0, p, 32), 0x8a9136aau);
    memset(p, 0xff, sizeof p);
    CHECK_EQ(fn(0, p, 32), 0x62a8ab43u);
    for (int i = 0; i < 32; i++) {
        p[i] = (uint8_t)i;
    }
    CHECK_EQ(fn(0, p, 32), 0x46dd794eu);
    for (int i = 0; i < 32; i++) {
        p[i] = (uint8_t)(31 - i);
    }
    CHECK_EQ(fn(0, p, 32), 0x113fdb5cu);
    CHECK_EQ(fn(0, "123456789", 9), 0xe3069283u);
    CHECK_EQ(fn(5, p, 0), 5);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    enum { SIZE = 20000 };
    uint8_t *p = malloc(SIZE);
    uint32_t state = 1;
    for (int i = 0; i < SIZE; i++) {
        p[i] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
    }
    stk_crc32c_fn *plain = stk_crc32c_of_kind(STK_CRC32C_PLAIN);
    for (int kind = 0; kind < STK_CRC32C_KINDS; kind++) {
        stk_crc32c_fn *fn = stk_crc32c_of_kind((enum stk_crc32c_kind)kind);
        if (!fn) {
            continue;
        }
        CHECK_RUN(vectors, fn);
        for (size_t n = 0; n < 800; n++) {
            CHECK_EQ(fn(0, p + n % 9, n), by_bits(p + n % 9, n));
        }
        for (size_t n = 200; n < 1700; n++) {
            CHECK_EQ(fn(9, p + n % 16, n), plain(9, p + n % 16, n));
        }
        for (size_t n = 800; n < SIZE - 16; n += 101) {
            CHECK_EQ(fn(0, p + n % 16, n), plain(0, p + n % 16, n));
        }
        for (size_t cut = 0; cut < 7000; cut += 13) {
            CHECK_EQ(fn(fn(0, p, cut), p + cut, 7000 - cut), plain(0, p, 7000));
        }
    }
    CHECK(stk_crc32c_best() != NULL);
    CHECK_EQ(stk_crc32c(0, "123456789", 9), 0xe3069283u);
    CHECK_EQ(stk_crc32c_mask(0), 0xa282ead8u);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_EQ(stk_crc32c_unmask(stk_crc32c_mask(i * 4294967u)), i * 4294967u);
    }
    free(p);
    return check_done("unit.record_crc");
}
