// SPDX-License-Identifier: Apache-2.0
// Flags of the processor. Two threads that ask at once find the same word, so that no lock is
// needed.
#include "base/cpu.h"

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
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

static bool is_pext_slow(void)
{
    return __builtin_cpu_is("amdfam15h") || __builtin_cpu_is("znver1") ||
           __builtin_cpu_is("znver2");
}

// Each flag only above the one that it builds on: code for it may use that too.
static unsigned ask(void)
{
    __builtin_cpu_init();
    unsigned flags = STK_CPU_SSE2;
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul") ||
        !__builtin_cpu_supports("popcnt")) {
        return flags;
    }
    flags |= STK_CPU_SSE42;
    if (!has_avx2()) {
        return flags;
    }
    flags |= STK_CPU_AVX2 | (is_pext_slow() ? 0 : STK_CPU_PEXT);
    if (!has_avx512()) {
        return flags;
    }
    flags |= STK_CPU_AVX512;
    flags |= __builtin_cpu_supports("avx512vbmi") ? STK_CPU_VBMI : 0;
    flags |= __builtin_cpu_supports("vpclmulqdq") ? STK_CPU_VPCLMUL : 0;
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
