// SPDX-License-Identifier: Apache-2.0
// Finds quotes and brackets of JSON text, 64 bytes at a time: compare bytes into bit masks, remove
// escaped quotes by the parity of the backslashes before them, and turn quotes into "inside a
// string" by a prefix XOR. The method is that of G. Langdale and D. Lemire, "Parsing Gigabytes of
// JSON per Second", VLDB Journal 28 (2019); here it runs in windows that follow a cursor, so that
// damage stays local. AVX-512, AVX2, NEON and plain C are chosen at run time and agree bit by bit.
#include "profile/readers/chrome/chrome_scan.h"

#include "base/assert.h"
#include "base/cpu.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

struct masks {
    uint64_t quote, backslash, open, close, control, high;
};

// Combined bits of all words: whether a window needs a closer look.
struct odd {
    uint64_t bytes, control;
};

#define EVEN 0x5555555555555555u

// Bits that an unescaped backslash before them escapes. *carry: the first bit is escaped.
static inline uint64_t find_escaped(uint64_t backslash, uint64_t *carry)
{
    if (backslash == 0) {
        uint64_t first = *carry;
        *carry = 0;
        return first;
    }
    backslash &= ~*carry;
    uint64_t follows = backslash << 1 | *carry;
    uint64_t odd_starts = backslash & ~EVEN & ~follows;
    uint64_t even_sequences;
    *carry = __builtin_add_overflow(odd_starts, backslash, &even_sequences);
    return (EVEN ^ even_sequences << 1) & follows;
}

static inline uint64_t prefix_xor(uint64_t x)
{
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    return x ^ x << 32;
}

// One word of the window from its masks; `inside` is the prefix XOR of the true quotes.
static inline void put_word(struct stk_chrome_cursor *c, unsigned i, const struct masks *m,
                            uint64_t quote, uint64_t inside, struct odd *odd)
{
    inside ^= c->in_string;
    c->in_string = (uint64_t)((int64_t)inside >> 63);
    c->open[i] = m->open & ~inside;
    c->close[i] = m->close & ~inside;
    c->all[i] = quote | c->open[i] | c->close[i];
    odd->control |= m->control & inside;
    odd->bytes |= m->backslash | m->high;
}

static inline void classify_plain(const char *p, struct masks *m)
{
    memset(m, 0, sizeof *m);
    for (unsigned i = 0; i < 64; i++) {
        unsigned char ch = (unsigned char)p[i];
        uint64_t bit = (uint64_t)1 << i;
        m->quote |= ch == '"' ? bit : 0;
        m->backslash |= ch == '\\' ? bit : 0;
        m->open |= (ch | 0x20) == '{' ? bit : 0;
        m->close |= (ch | 0x20) == '}' ? bit : 0;
        m->control |= ch < 0x20 ? bit : 0;
        m->high |= ch > 0x7f ? bit : 0;
    }
}

static struct odd scan_plain(struct stk_chrome_cursor *c, const char *p, unsigned words)
{
    struct odd odd = {0, 0};
    for (unsigned i = 0; i < words; i++) {
        struct masks m;
        classify_plain(p + i * 64, &m);
        uint64_t quote = m.quote & ~find_escaped(m.backslash, &c->escaped);
        put_word(c, i, &m, quote, prefix_xor(quote), &odd);
    }
    return odd;
}

#if defined(__x86_64__)
#define TARGET_AVX2 __attribute__((target("avx2,pclmul,bmi,bmi2")))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,pclmul,bmi,bmi2")))

TARGET_AVX2 static inline uint64_t mask_avx2(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

TARGET_AVX2 static inline uint64_t equal_avx2(__m256i a, __m256i b, char want)
{
    __m256i w = _mm256_set1_epi8(want);
    return mask_avx2(_mm256_cmpeq_epi8(a, w), _mm256_cmpeq_epi8(b, w));
}

TARGET_AVX2 static struct odd scan_avx2(struct stk_chrome_cursor *c, const char *p, unsigned words)
{
    const __m256i lower = _mm256_set1_epi8(0x20), last_control = _mm256_set1_epi8(0x1f);
    struct odd odd = {0, 0};
    for (unsigned i = 0; i < words; i++) {
        __m256i a = _mm256_loadu_si256((const void *)(p + i * 64));
        __m256i b = _mm256_loadu_si256((const void *)(p + i * 64 + 32));
        __m256i al = _mm256_or_si256(a, lower), bl = _mm256_or_si256(b, lower);
        struct masks m = {
            .quote = equal_avx2(a, b, '"'),
            .backslash = equal_avx2(a, b, '\\'),
            .open = equal_avx2(al, bl, '{'),
            .close = equal_avx2(al, bl, '}'),
            .control = mask_avx2(_mm256_cmpeq_epi8(_mm256_min_epu8(a, last_control), a),
                                 _mm256_cmpeq_epi8(_mm256_min_epu8(b, last_control), b)),
            .high = mask_avx2(a, b),
        };
        uint64_t quote = m.quote & ~find_escaped(m.backslash, &c->escaped);
        __m128i inside =
            _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)quote), _mm_set1_epi8((char)0xff), 0);
        put_word(c, i, &m, quote, (uint64_t)_mm_cvtsi128_si64(inside), &odd);
    }
    return odd;
}

TARGET_AVX512 static struct odd scan_avx512(struct stk_chrome_cursor *c, const char *p,
                                            unsigned words)
{
    struct odd odd = {0, 0};
    for (unsigned i = 0; i < words; i++) {
        __m512i v = _mm512_loadu_si512((const void *)(p + i * 64));
        __m512i lower = _mm512_or_si512(v, _mm512_set1_epi8(0x20));
        struct masks m = {
            .quote = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"')),
            .backslash = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\')),
            .open = _mm512_cmpeq_epi8_mask(lower, _mm512_set1_epi8('{')),
            .close = _mm512_cmpeq_epi8_mask(lower, _mm512_set1_epi8('}')),
            .control = _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20)),
            .high = _mm512_movepi8_mask(v),
        };
        uint64_t quote = m.quote & ~find_escaped(m.backslash, &c->escaped);
        __m128i inside =
            _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)quote), _mm_set1_epi8((char)0xff), 0);
        put_word(c, i, &m, quote, (uint64_t)_mm_cvtsi128_si64(inside), &odd);
    }
    return odd;
}
#elif defined(__aarch64__)
static inline uint64_t mask_neon(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t ab = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
    uint8x16_t cd = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));
    uint8x16_t all = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static inline uint64_t equal_neon(const uint8x16_t v[4], uint8_t or_with, uint8_t want)
{
    uint8x16_t o = vdupq_n_u8(or_with), w = vdupq_n_u8(want);
    return mask_neon(vceqq_u8(vorrq_u8(v[0], o), w), vceqq_u8(vorrq_u8(v[1], o), w),
                     vceqq_u8(vorrq_u8(v[2], o), w), vceqq_u8(vorrq_u8(v[3], o), w));
}

static struct odd scan_neon(struct stk_chrome_cursor *c, const char *p, unsigned words)
{
    struct odd odd = {0, 0};
    for (unsigned i = 0; i < words; i++) {
        const uint8_t *u = (const uint8_t *)p + i * 64;
        uint8x16_t v[4] = {vld1q_u8(u), vld1q_u8(u + 16), vld1q_u8(u + 32), vld1q_u8(u + 48)};
        uint8x16_t space = vdupq_n_u8(0x20), last = vdupq_n_u8(0x7f);
        struct masks m = {
            .quote = equal_neon(v, 0, '"'),
            .backslash = equal_neon(v, 0, '\\'),
            .open = equal_neon(v, 0x20, '{'),
            .close = equal_neon(v, 0x20, '}'),
            .control = mask_neon(vcltq_u8(v[0], space), vcltq_u8(v[1], space),
                                 vcltq_u8(v[2], space), vcltq_u8(v[3], space)),
            .high = mask_neon(vcgtq_u8(v[0], last), vcgtq_u8(v[1], last), vcgtq_u8(v[2], last),
                              vcgtq_u8(v[3], last)),
        };
        uint64_t quote = m.quote & ~find_escaped(m.backslash, &c->escaped);
        put_word(c, i, &m, quote, prefix_xor(quote), &odd);
    }
    return odd;
}
#endif

// Where in this word `depth` reaches 0 (64: nowhere, and depth is that at the word's end).
static inline __attribute__((always_inline)) unsigned close_in_word(uint64_t open, uint64_t close,
                                                                    uint64_t *depth)
{
    unsigned closes = (unsigned)__builtin_popcountll(close);
    if (closes < *depth) {
        *depth += (uint64_t)__builtin_popcountll(open);
        *depth -= closes;
        return 64;
    }
    for (uint64_t all = open | close; all; all &= all - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(all);
        if (open >> bit & 1) {
            (*depth)++;
        } else if (--*depth == 0) {
            return bit;
        }
    }
    return 64;
}

static inline __attribute__((always_inline)) size_t skip_nested(struct stk_chrome_cursor *c,
                                                                size_t at)
{
    uint64_t depth = 1;
    unsigned bit = (unsigned)(at - c->base) & 63;
    uint64_t keep = bit == 63 ? 0 : ~(uint64_t)0 << (bit + 1);
    for (;;) {
        unsigned found = close_in_word(c->open[c->word] & keep, c->close[c->word] & keep, &depth);
        if (found < 64) {
            keep = found == 63 ? 0 : ~(uint64_t)0 << (found + 1);
            c->left = c->all[c->word] & keep;
            return c->base + c->word * 64u + found;
        }
        keep = ~(uint64_t)0;
        if (++c->word >= c->words && !stk_chrome_cursor_refill(c)) {
            return STK_CHROME_END;
        }
    }
}

static size_t skip_plain(struct stk_chrome_cursor *c, size_t at)
{
    return skip_nested(c, at);
}

#if defined(__x86_64__)
// The same with instructions that count and find bits.
__attribute__((target("popcnt,bmi"))) static size_t skip_popcnt(struct stk_chrome_cursor *c,
                                                                size_t at)
{
    return skip_nested(c, at);
}
#endif

struct isa {
    struct odd (*scan)(struct stk_chrome_cursor *c, const char *p, unsigned words);
    size_t (*skip)(struct stk_chrome_cursor *c, size_t at);
};

static const struct isa isa_plain = {scan_plain, skip_plain};
#if defined(__x86_64__)
static const struct isa isa_avx2 = {scan_avx2, skip_popcnt};
static const struct isa isa_avx512 = {scan_avx512, skip_popcnt};
#elif defined(__aarch64__)
static const struct isa isa_neon = {scan_neon, skip_plain};
#endif

static const struct isa *find_isa(enum stk_chrome_isa isa)
{
#if defined(__x86_64__)
    bool avx2 = stk_cpu_has(STK_CPU_SSE42 | STK_CPU_AVX2);
    bool avx512 = avx2 && stk_cpu_has(STK_CPU_AVX512);
    if (avx512 && (isa == STK_CHROME_ISA_AUTO || isa == STK_CHROME_ISA_AVX512)) {
        return &isa_avx512;
    }
    if (avx2 && (isa == STK_CHROME_ISA_AUTO || isa == STK_CHROME_ISA_AVX2)) {
        return &isa_avx2;
    }
#elif defined(__aarch64__)
    if ((isa == STK_CHROME_ISA_AUTO || isa == STK_CHROME_ISA_NEON) && stk_cpu_has(STK_CPU_NEON)) {
        return &isa_neon;
    }
#endif
    return isa == STK_CHROME_ISA_AUTO || isa == STK_CHROME_ISA_PLAIN ? &isa_plain : NULL;
}

static _Atomic(const struct isa *) chosen;

bool stk_chrome_scan_use(enum stk_chrome_isa isa)
{
    const struct isa *found = find_isa(isa);
    if (found) {
        atomic_store(&chosen, found);
    }
    return found != NULL;
}

static inline const struct isa *current_isa(void)
{
    const struct isa *isa = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!isa) {
        isa = find_isa(STK_CHROME_ISA_AUTO);
        atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    }
    return isa;
}

static void scan_window(struct stk_chrome_cursor *c)
{
    size_t words = (c->len - c->base + 63) / 64;
    c->words = words < STK_CHROME_WORDS ? (unsigned)words : STK_CHROME_WORDS;
    c->word = 0;
    if (c->words == 0) {
        c->left = 0;
        c->window_odd = c->window_control = false;
        return;
    }
    struct odd odd = current_isa()->scan(c, c->text + c->base, c->words);
    c->window_odd = odd.bytes != 0;
    c->window_control = odd.control != 0;
    c->odd |= c->window_odd;
    c->control |= c->window_control;
    c->left = c->all[0];
}

size_t stk_chrome_cursor_skip(struct stk_chrome_cursor *c, size_t at)
{
    return current_isa()->skip(c, at);
}

void stk_chrome_cursor_set(struct stk_chrome_cursor *c, const char *text, size_t len, size_t offset)
{
    STK_ASSERT(text && offset <= len);
    c->text = text;
    c->len = len;
    c->base = offset;
    c->in_string = c->escaped = 0;
    scan_window(c);
}

bool stk_chrome_cursor_refill(struct stk_chrome_cursor *c)
{
    STK_ASSERT(c->base <= c->len);
    size_t end = c->base + c->words * 64u;
    if (end >= c->len || c->words == 0) {
        c->word = c->words; // stays at the end
        c->left = 0;
        return false;
    }
    c->base = end;
    scan_window(c);
    return true;
}
