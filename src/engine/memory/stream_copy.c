// SPDX-License-Identifier: Apache-2.0
// Non-temporal stores where the instruction set has them (x86-64), else memcpy.
#include "engine/memory/stream_copy.h"

#include "base/cpu.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>

enum { LINE = 64 };

void stk_copy_streamed(void *to, const void *from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    size_t head = -(uintptr_t)t % LINE;
    if (n < head + LINE || !stk_cpu_has(STK_CPU_SSE2)) {
        memcpy(to, from, n);
        return;
    }
    memcpy(t, f, head);
    t += head;
    f += head;
    for (n -= head; n >= LINE; n -= LINE, t += LINE, f += LINE) {
        const __m128i *in = (const __m128i *)(const void *)f;
        __m128i *out = (__m128i *)(void *)t;
        __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    _mm_sfence(); // non-temporal stores need a fence before other threads may read them
    memcpy(t, f, n);
}

#else

void stk_copy_streamed(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}

#endif
