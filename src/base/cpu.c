// SPDX-License-Identifier: Apache-2.0
// CPU feature flags. Two threads that ask at once compute the same word, so no lock is needed.
#include "base/cpu.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SSE42 (STK_CPU_SSE2 | STK_CPU_SSE42)
#define AVX2 (SSE42 | STK_CPU_AVX2 | STK_CPU_PEXT)
#define AVX512 (AVX2 | STK_CPU_AVX512)

static const struct word {
    const char *name;
    unsigned flags;
} words[] = {
    {"plain", 0},           {"sse2", STK_CPU_SSE2},       {"sse42", SSE42},
    {"avx2", AVX2},         {"avx512", AVX512},           {"pext", STK_CPU_PEXT},
    {"vbmi", STK_CPU_VBMI}, {"vpclmul", STK_CPU_VPCLMUL}, {"neon", STK_CPU_NEON},
    {"crc", STK_CPU_CRC},
};
#define WORDS (sizeof words / sizeof *words)

atomic_uint stk_cpu_word;

#if defined(__x86_64__) && defined(__GNUC__)
// CPUID's answers, and which registers the system saves. Queried here because
// __builtin_cpu_supports needs a table filled by a compiler runtime library, which zig's lacks:
// there it answers no to everything.
struct cpuid {
    uint32_t ecx1, ebx7, ecx7; // leaves 1 and 7
    uint64_t saved;            // XCR0
};
enum { YMM = 0x06, ZMM = 0xe6 }; // registers in XCR0, with those they extend

static struct cpuid read_cpuid(void)
{
    struct cpuid c = {0};
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
        c.ecx1 = ecx;
    }
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        c.ebx7 = ebx;
        c.ecx7 = ecx;
    }
    if (c.ecx1 & bit_OSXSAVE) {
        uint32_t low, high;
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        c.saved = (uint64_t)high << 32 | low;
    }
    return c;
}

static bool has(uint32_t word, uint32_t bits)
{
    return (word & bits) == bits;
}

static bool has_avx2(const struct cpuid *c)
{
    return has(c->ecx1, bit_AVX | bit_FMA) && has(c->ebx7, bit_AVX2 | bit_BMI | bit_BMI2) &&
           (c->saved & YMM) == YMM;
}

static bool has_avx512(const struct cpuid *c)
{
    return has(c->ebx7, bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ) &&
           (c->saved & ZMM) == ZMM;
}

// AMD before Zen 3: families 15h and 17h run it in microcode.
static bool is_pext_slow(void)
{
    unsigned eax, ebx, ecx, edx, family = 0;
    bool is_amd = __get_cpuid(0, &eax, &ebx, &ecx, &edx) && ebx == signature_AMD_ebx;
    if (is_amd && __get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
        family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff);
    }
    return family == 0x15 || family == 0x17;
}

// Each flag only with the one it builds on: code for it may use that too.
static unsigned ask(void)
{
    const struct cpuid c = read_cpuid();
    unsigned flags = STK_CPU_SSE2;
    if (!has(c.ecx1, bit_SSE4_2 | bit_PCLMUL | bit_POPCNT)) {
        return flags;
    }
    flags |= STK_CPU_SSE42;
    if (!has_avx2(&c)) {
        return flags;
    }
    flags |= STK_CPU_AVX2 | (is_pext_slow() ? 0 : STK_CPU_PEXT);
    if (!has_avx512(&c)) {
        return flags;
    }
    flags |= STK_CPU_AVX512;
    flags |= has(c.ecx7, bit_AVX512VBMI) ? STK_CPU_VBMI : 0;
    flags |= has(c.ecx7, bit_VPCLMULQDQ) ? STK_CPU_VPCLMUL : 0;
    return flags;
}
#elif defined(__aarch64__)
static unsigned ask(void)
{
#if defined(__ARM_FEATURE_CRC32)
    return STK_CPU_NEON | STK_CPU_CRC;
#else
    return STK_CPU_NEON;
#endif
}
#else
static unsigned ask(void)
{
    return 0;
}
#endif

static const struct word *find_word(const char *name, size_t length)
{
    for (size_t i = 0; i < WORDS; i++) {
        if (strlen(words[i].name) == length && memcmp(words[i].name, name, length) == 0) {
            return &words[i];
        }
    }
    return NULL;
}

// Takes the next word off the list; NULL at its end.
static const char *next_word(const char **list, size_t *length)
{
    *list += strspn(*list, ", ");
    const char *word = *list;
    *length = strcspn(word, ", ");
    *list += *length;
    return *length ? word : NULL;
}

static unsigned allowed(const char *list)
{
    if (!list || !*list) {
        return ~0u;
    }
    unsigned flags = 0;
    size_t length;
    for (const char *at; (at = next_word(&list, &length));) {
        const struct word *w = find_word(at, length);
        if (!w) {
            return ~0u;
        }
        flags |= w->flags;
    }
    return flags;
}

void stk_cpu_allow(const char *list)
{
    atomic_store(&stk_cpu_word, (ask() & allowed(list)) | STK_CPU_KNOWN);
}

unsigned stk_cpu_find(void)
{
    stk_cpu_allow(getenv("STOKER_CPU"));
    return atomic_load(&stk_cpu_word);
}

const char *stk_cpu_unknown_word(const char *list, size_t *length)
{
    for (const char *at; list && (at = next_word(&list, length));) {
        if (!find_word(at, *length)) {
            return at;
        }
    }
    return NULL;
}

const char *stk_cpu_word_at(size_t i)
{
    return i < WORDS ? words[i].name : NULL;
}
