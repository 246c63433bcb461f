// SPDX-License-Identifier: Apache-2.0
// CRC-32C. x86: the crc32 instruction takes 8 bytes a cycle but has a latency of 3, so long data
// are read as three streams, which are joined by carry-less multiplication with x^(8 n - 33) modulo
// the polynomial, n being the distance in bytes (V. Gopal et al., "Fast CRC Computation for iSCSI
// Polynomial Using CRC32 Instruction", Intel, 2011). With AVX-512, long data are folded 256 bytes
// at a time by carry-less multiplication (V. Gopal et al., "Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction", Intel, 2009). ARM: one stream. Elsewhere: eight tables,
// 8 bytes at a time ("slicing by 8", M. Kounavis and F. Berry, 2005), filled once.
#include "base/crc32c.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

#define POLYNOMIAL 0x82f63b78u // bit-reversed

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) {
            c = c >> 1 ^ (c & 1 ? POLYNOMIAL : 0);
        }
        tables[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++) {
        for (int t = 1; t < 8; t++) {
            tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
        }
    }
}

static uint32_t little_endian(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t plain(uint32_t crc, const void *data, size_t n)
{
    pthread_once(&tables_once, fill_tables);
    const uint8_t *p = data;
    uint32_t c = ~crc;
    for (; n >= 8; p += 8, n -= 8) {
        uint32_t low = little_endian(p) ^ c, high = little_endian(p + 4);
        c = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
            tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
            tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; n > 0; p++, n--) {
        c = c >> 8 ^ tables[0][(c ^ *p) & 0xff];
    }
    return ~c;
}

#if defined(__x86_64__)

#ifdef __clang__ // clang has a separate feature for the checksum
#define CRC32 ",crc32"
#else
#define CRC32
#endif
#define X86_TARGET __attribute__((target("sse4.2,pclmul" CRC32)))
#define SHORT_RUN 128u // bytes of each of three streams
#define LONG_RUN 1024u
#define SHORT_NEAR 0x0d3b6092u
#define SHORT_FAR 0xb9e02b86u
#define LONG_NEAR 0x170076fau
#define LONG_FAR 0xa51b6135u

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

// Joins the checksums of three consecutive streams of `run` bytes. `far` and `near` shift by two
// runs and by one.
X86_TARGET static inline uint64_t join(uint64_t a, uint64_t b, uint64_t c, uint32_t far,
                                       uint32_t near)
{
    __m128i x =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)a), _mm_cvtsi64_si128((int64_t)far), 0);
    __m128i y =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)b), _mm_cvtsi64_si128((int64_t)near), 0);
    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(_mm_xor_si128(x, y))) ^ c;
}

X86_TARGET static inline uint64_t run_three(uint64_t crc, const uint8_t *p, size_t run,
                                            uint32_t far, uint32_t near)
{
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < run; i += 8) {
        a = _mm_crc32_u64(a, load64(p + i));
        b = _mm_crc32_u64(b, load64(p + run + i));
        c = _mm_crc32_u64(c, load64(p + 2 * run + i));
    }
    return join(a, b, c, far, near);
}

X86_TARGET static uint32_t x86(uint32_t crc, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint64_t c = ~crc;
    for (; n >= 3 * LONG_RUN; p += 3 * LONG_RUN, n -= 3 * LONG_RUN) {
        c = run_three(c, p, LONG_RUN, LONG_FAR, LONG_NEAR);
    }
    for (; n >= 3 * SHORT_RUN; p += 3 * SHORT_RUN, n -= 3 * SHORT_RUN) {
        c = run_three(c, p, SHORT_RUN, SHORT_FAR, SHORT_NEAR);
    }
    for (; n >= 8; p += 8, n -= 8) {
        c = _mm_crc32_u64(c, load64(p));
    }
    if (n & 4) {
        c = _mm_crc32_u32((uint32_t)c, little_endian(p));
        p += 4;
    }
    for (n &= 3; n > 0; p++, n--) {
        c = _mm_crc32_u8((uint32_t)c, *p);
    }
    return ~(uint32_t)c;
}

#define WIDE_TARGET                                                                                \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,vpclmulqdq,sse4.2,pclmul" CRC32)))
#define FOLD_BYTES 256u

// Multiplies each 128 bits by x^n modulo the polynomial: `by` holds x^(n + 32) for the first half
// and x^(n - 32) for the second, bits reversed and shifted by one.
WIDE_TARGET static inline __m512i fold(__m512i x, __m512i by, __m512i next)
{
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, by, 0x00),
                                     _mm512_clmulepi64_epi128(x, by, 0x11), next, 0x96);
}

WIDE_TARGET static inline __m512i fold_by(uint64_t first, uint64_t second)
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x((long long)second, (long long)first));
}

WIDE_TARGET static uint32_t wide(uint32_t crc, const void *data, size_t n)
{
    if (n < FOLD_BYTES) {
        return x86(crc, data, n);
    }
    const uint8_t *p = data;
    const __m512i far = fold_by(0xdcb17aa4u, 0xb9e02b86u), near = fold_by(0x740eef02u, 0x9e4addf8u);
    __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64),
            c = _mm512_loadu_si512(p + 128), d = _mm512_loadu_si512(p + 192);
    a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
    for (p += FOLD_BYTES, n -= FOLD_BYTES; n >= FOLD_BYTES; p += FOLD_BYTES, n -= FOLD_BYTES) {
        a = fold(a, far, _mm512_loadu_si512(p));
        b = fold(b, far, _mm512_loadu_si512(p + 64));
        c = fold(c, far, _mm512_loadu_si512(p + 128));
        d = fold(d, far, _mm512_loadu_si512(p + 192));
    }
    a = fold(fold(fold(a, near, b), near, c), near, d);
    for (; n >= 64; p += 64, n -= 64) {
        a = fold(a, near, _mm512_loadu_si512(p));
    }
    // The first three parts of 128 bits shift by 384, 256 and 128; the last one stays.
    const __m512i ends = _mm512_set_epi64(0, 0, 0x14cd00bd6, 0xf20c0dfe, 0xba4fc28e, 0x1384aa63a,
                                          0x1d82c63da, 0x1c291d04);
    __m512i moved = fold(a, ends, _mm512_maskz_mov_epi64(0xc0, a));
    __m256i half =
        _mm256_xor_si256(_mm512_castsi512_si256(moved), _mm512_extracti64x4_epi64(moved, 1));
    __m128i rest = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    uint64_t sum = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(rest));
    sum = _mm_crc32_u64(sum, (uint64_t)_mm_extract_epi64(rest, 1));
    return x86(~(uint32_t)sum, p, n);
}

#elif defined(__ARM_FEATURE_CRC32)

static uint32_t arm(uint32_t crc, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t c = ~crc;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w;
        memcpy(&w, p, sizeof w);
        c = __crc32cd(c, w);
    }
    for (; n > 0; p++, n--) {
        c = __crc32cb(c, *p);
    }
    return ~c;
}

#endif

stk_crc32c_fn *stk_crc32c_of_kind(enum stk_crc32c_kind kind)
{
    STK_ASSERT(kind < STK_CRC32C_KINDS);
    if (kind == STK_CRC32C_PLAIN) {
        return plain;
    }
#if defined(__x86_64__)
    if (kind == STK_CRC32C_X86 && stk_cpu_has(STK_CPU_SSE42)) {
        return x86;
    }
    if (kind == STK_CRC32C_WIDE && stk_cpu_has(STK_CPU_SSE42 | STK_CPU_AVX512 | STK_CPU_VPCLMUL)) {
        return wide;
    }
#elif defined(__ARM_FEATURE_CRC32)
    if (kind == STK_CRC32C_ARM && stk_cpu_has(STK_CPU_CRC)) {
        return arm;
    }
#endif
    return NULL;
}

stk_crc32c_fn *stk_crc32c_best(void)
{
    for (int kind = STK_CRC32C_KINDS - 1; kind > STK_CRC32C_PLAIN; kind--) {
        stk_crc32c_fn *fn = stk_crc32c_of_kind((enum stk_crc32c_kind)kind);
        if (fn) {
            return fn;
        }
    }
    return plain;
}

uint32_t stk_crc32c(uint32_t crc, const void *p, size_t n)
{
    return stk_crc32c_best()(crc, p, n);
}
