// SPDX-License-Identifier: Apache-2.0
// CPU flags: the list masks them, never adds one, and every loop chosen by them gives the same as
// the plain one.
#include "check.h"

#include "base/cpu.h"
#include "base/crc32c.h"
#include "engine/formats/csv.h"
#include "engine/memory/stream_copy.h"
#include "engine/ops/float_math.h"

static unsigned flags_under(const char *list)
{
    stk_cpu_allow(list);
    return stk_cpu() & ~(unsigned)STK_CPU_KNOWN;
}

static void masks(void)
{
    unsigned all = flags_under(NULL);
    CHECK_EQ(flags_under("plain"), 0);
    CHECK_EQ(flags_under(""), all);
    CHECK_EQ(flags_under("avx521"), all); // a word that means nothing
    CHECK_EQ(flags_under("sse2"), all & STK_CPU_SSE2);
    CHECK_EQ(flags_under("sse42"), all & (STK_CPU_SSE2 | STK_CPU_SSE42));
    CHECK_EQ(flags_under("plain,neon, crc"), all & (STK_CPU_NEON | STK_CPU_CRC));
    CHECK_EQ(flags_under("avx2") & (STK_CPU_AVX512 | STK_CPU_VBMI | STK_CPU_VPCLMUL), 0);
    CHECK_EQ(flags_under("avx512,vbmi,vpclmul,neon,crc"), all);
    unsigned order[] = {STK_CPU_SSE2, STK_CPU_SSE42, STK_CPU_AVX2, STK_CPU_AVX512, STK_CPU_VBMI};
    for (size_t i = 1; i < sizeof order / sizeof *order; i++) {
        CHECK(!(all & order[i]) || (all & order[i - 1]));
    }
    setenv("STOKER_CPU", "plain", 1);
    atomic_store(&stk_cpu_word, 0); // as before the first question
    CHECK(!stk_cpu_has(STK_CPU_SSE2) && !stk_cpu_has(STK_CPU_NEON));
    unsetenv("STOKER_CPU");
}

static void words(void)
{
    size_t length = 0;
    CHECK(stk_cpu_unknown_word(NULL, &length) == NULL);
    CHECK(stk_cpu_unknown_word("", &length) == NULL);
    CHECK(stk_cpu_unknown_word(" plain,avx512 ", &length) == NULL);
    const char *bad = stk_cpu_unknown_word("sse42,avx,neon", &length);
    CHECK(bad && length == 3 && memcmp(bad, "avx", 3) == 0);
    for (size_t i = 0; stk_cpu_word_at(i); i++) {
        CHECK(stk_cpu_unknown_word(stk_cpu_word_at(i), &length) == NULL);
    }
}

// Under each word: a checksum, a mask of CSV, a copy and a function of floats.
static void loops(void)
{
    enum { N = 4099 };
    static uint8_t in[N], out[N];
    static float x[N], y[N], wanted[N];
    for (int i = 0; i < N; i++) {
        in[i] = (uint8_t)(i * 37 ^ i >> 3);
        x[i] = (float)(i - N / 2) / 64;
    }
    stk_cpu_allow("plain");
    CHECK(stk_crc32c_best() == stk_crc32c_of_kind(STK_CRC32C_PLAIN));
    uint32_t crc = stk_crc32c(0, in, N);
    stk_float_exp(wanted, x, N);
    for (size_t i = 0; stk_cpu_word_at(i); i++) {
        stk_cpu_allow(stk_cpu_word_at(i));
        CHECK_EQ(stk_crc32c(0, in, N), crc);
        CHECK_EQ(stk_csv_mask(in, in[5], true), stk_csv_mask_plain(in, in[5], true));
        memset(out, 0, N);
        stk_copy_streamed(out, in, N);
        CHECK(memcmp(out, in, N) == 0);
        stk_float_exp(y, x, N);
        CHECK(memcmp(y, wanted, sizeof y) == 0);
    }
    stk_cpu_allow(NULL);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(masks);
    CHECK_RUN(words);
    CHECK_RUN(loops);
    return check_done("unit.base_cpu");
}
