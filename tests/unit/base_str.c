// SPDX-License-Identifier: Apache-2.0
// String views: comparisons, strict numbers, and how evenly the hash distributes similar strings.
#include "check.h"

#include "base/hash.h"
#include "base/str.h"

#define S(z) stk_str_from(z)

static void comparisons(void)
{
    CHECK(stk_str_eq(STK_STR(""), S(NULL)));
    CHECK(stk_str_starts(STK_STR("abc"), STK_STR("ab")) && !stk_str_starts(S("a"), S("ab")));
    CHECK(stk_str_ends(STK_STR("abc"), STK_STR("bc")) && !stk_str_ends(S("c"), S("bc")));
    CHECK(stk_str_contains(S("abcabd"), S("abd")) && !stk_str_contains(S("abcab"), S("abd")));
    CHECK(stk_str_contains(S(""), S("")) && !stk_str_contains(S(""), S("a")));
    CHECK(stk_str_contains_nocase(S("ncclKernel_AllReduce"), S("ALLREDUCE")));
    CHECK(!stk_str_contains_nocase(S("ncclKernel_AllReduc"), S("allreduce")));
    CHECK(stk_str_contains_nocase(S("aab"), S("AB")));
    CHECK(stk_str_starts_nocase(S("NCCL:x"), S("nccl")) && !stk_str_starts_nocase(S("n"), S("nc")));
    CHECK(stk_str_eq_nocase(S("GPU"), S("gpu")) && !stk_str_eq_nocase(S("[x"), S("{x")));
}

static void numbers(void)
{
    int64_t i = 5;
    uint64_t u = 5;
    CHECK(stk_str_to_i64(S("-9223372036854775808"), &i) && i == INT64_MIN);
    CHECK(stk_str_to_i64(S("9223372036854775807"), &i) && i == INT64_MAX);
    CHECK(stk_str_to_i64(S("+12"), &i) && i == 12);
    CHECK(stk_str_to_i64(S("-0"), &i) && i == 0);
    CHECK(stk_str_to_u64(S("18446744073709551615"), &u) && u == UINT64_MAX);
    i = 5;
    u = 5;
    const char *bad[] = {"",
                         "-",
                         "+",
                         "+-1",
                         "-+1",
                         "1 ",
                         " 1",
                         "1.0",
                         "0x1",
                         "9223372036854775808",
                         "-9223372036854775809",
                         "99999999999999999999"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK(!stk_str_to_i64(S(bad[k]), &i) && i == 5);
    }
    CHECK(!stk_str_to_u64(S("18446744073709551616"), &u) && u == 5);
    CHECK(!stk_str_to_u64(S("-1"), &u) && u == 5);
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Numbered names of every length: no two hashes equal, and the low bits fill 2^16 buckets about as
// random ones would (expected 63% taken by as many keys as buckets).
static void hashing(void)
{
    enum { N = 65536 };
    static uint64_t h[N];
    static unsigned char taken[N];
    char text[128];
    for (int width = 5; width < 100; width += 7) {
        memset(taken, 0, sizeof taken);
        int buckets = 0, equal = 0;
        for (int i = 0; i < N; i++) {
            int n = snprintf(text, sizeof text, "%0*d", width, i);
            h[i] = stk_hash_bytes(text, (size_t)n);
            buckets += !taken[h[i] >> 32 & (N - 1)];
            taken[h[i] >> 32 & (N - 1)] = 1;
        }
        qsort(h, N, sizeof *h, compare_u64);
        for (int i = 1; i < N; i++) {
            equal += h[i] == h[i - 1];
        }
        CHECK_EQ(equal, 0);
        CHECK(buckets > N * 60 / 100 && buckets < N * 66 / 100);
    }
    memset(text, 0, sizeof text);
    for (size_t n = 0; n < 100; n++) {
        h[n] = stk_hash_bytes(text, n);
    }
    qsort(h, 100, sizeof *h, compare_u64);
    for (int i = 1; i < 100; i++) {
        CHECK(h[i] != h[i - 1]); // zeros of different length
    }
}

// Words of eight bytes that the hash once multiplied by zero, or that no seed met: what stands in
// front of a name must not make it equal to another.
static void no_word_absorbs(void)
{
    enum { N = 2000 };
    static const uint64_t words[] = {0, 0xd6e8feb86659fd93u, 0xa0761d6478bd642fu,
                                     0x9e3779b97f4a7c15u, UINT64_MAX};
    static uint64_t fixed[N], seeded[N];
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        int equal = 0;
        for (int i = 0; i < N; i++) {
            char text[64];
            memcpy(text, &words[w], 8);
            int n = 8 + snprintf(text + 8, sizeof text - 8, "%08xzzzzzzzzzzzzzzzz", i);
            fixed[i] = stk_hash_bytes(text, (size_t)n);
            seeded[i] = stk_hash_table_bytes(text, (size_t)n);
        }
        qsort(fixed, N, sizeof *fixed, compare_u64);
        qsort(seeded, N, sizeof *seeded, compare_u64);
        for (int i = 1; i < N; i++) {
            equal += (fixed[i] == fixed[i - 1]) + (seeded[i] == seeded[i - 1]);
        }
        CHECK_EQ(equal, 0);
    }
    CHECK(stk_hash_seeds[0] != 0);
    CHECK(stk_hash_table_bytes("name", 4) != stk_hash_bytes("name", 4));
    CHECK(stk_hash_table_pair(0, 1) != stk_hash_table_pair(1, 0));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(comparisons);
    CHECK_RUN(numbers);
    CHECK_RUN(hashing);
    CHECK_RUN(no_word_absorbs);
    return check_done("unit.base_str");
}
