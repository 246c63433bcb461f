// SPDX-License-Identifier: Apache-2.0
// Removes byte stuffing from entropy-coded JPEG data, so that the bit reader needs no test for
// 0xFF. One pass at several GB/s, whereas testing in the reader would cost a branch per refill.
#include "engine/image/jpeg_impl.h"

#include <string.h>
#if STK_JPEG_X86
#include <immintrin.h>
#endif

// At in[at] == 0xff: the number of bytes that stand for one data byte 0xff, or 0 at a marker, when
// *marker is set. Fill bytes before a zero belong to the data byte, as in libjpeg.
static size_t measure_ff(const uint8_t *in, size_t size, size_t at, size_t *marker)
{
    size_t code = at + 1;
    while (code < size && in[code] == 0xff) {
        code++;
    }
    if (code < size && in[code] == 0) {
        return code + 1 - at;
    }
    *marker = code;
    return 0;
}

size_t stk_jpeg_unstuff(const uint8_t *in, size_t size, uint8_t *out, size_t *marker)
{
    size_t at = 0, n = 0;
    *marker = size;
    while (at < size) {
        const uint8_t *ff = memchr(in + at, 0xff, size - at);
        size_t plain = (ff ? (size_t)(ff - in) : size) - at;
        memcpy(out + n, in + at, plain);
        n += plain;
        at += plain;
        if (!ff) {
            break;
        }
        size_t used = measure_ff(in, size, at, marker);
        if (used == 0) {
            break;
        }
        out[n++] = 0xff;
        at += used;
    }
    memset(out + n, 0, STK_JPEG_PAD);
    return n;
}

size_t stk_jpeg_find_marker(const uint8_t *in, size_t size)
{
    size_t at = 0, marker = size;
    while (at < size) {
        const uint8_t *ff = memchr(in + at, 0xff, size - at);
        if (!ff) {
            break;
        }
        at = (size_t)(ff - in);
        size_t used = measure_ff(in, size, at, &marker);
        if (used == 0) {
            break;
        }
        at += used;
    }
    return marker;
}

#if STK_JPEG_X86
__attribute__((target("avx2,bmi"))) size_t stk_jpeg_unstuff_avx2(const uint8_t *in, size_t size,
                                                                 uint8_t *out, size_t *marker)
{
    const __m256i ff = _mm256_set1_epi8(-1);
    size_t at = 0, n = 0;
    while (size - at >= 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(in + at));
        unsigned hits = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, ff));
        _mm256_storeu_si256((__m256i *)(out + n), v); // the following bytes overwrite the excess
        if (hits == 0) {
            at += 32;
            n += 32;
            continue;
        }
        size_t first = (size_t)__builtin_ctz(hits);
        at += first;
        n += first;
        size_t used = measure_ff(in, size, at, marker);
        if (used == 0) {
            memset(out + n, 0, STK_JPEG_PAD);
            return n;
        }
        out[n++] = 0xff;
        at += used;
    }
    n += stk_jpeg_unstuff(in + at, size - at, out + n, marker);
    *marker += at;
    return n;
}
#endif
