// SPDX-License-Identifier: Apache-2.0
// CPU features, as one word of flags: queried once, and masked by the variable STOKER_CPU, so that
// tests and benchmarks can run every variant of a loop on one machine.
//
// STOKER_CPU is a comma-separated list of words; features not named aren't used. `plain` disables
// all; `sse42`, `avx2` and `avx512` include what they build on; other words (`sse2`, `pext`,
// `vbmi`, `vpclmul`, `neon`, `crc`) add one feature each. Features that the CPU lacks stay off. A
// list with an unknown word is ignored; the command line rejects it.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum stk_cpu {
    STK_CPU_SSE2 = 1 << 0,    // in every x86-64
    STK_CPU_SSE42 = 1 << 1,   // SSE4.2, PCLMUL, POPCNT
    STK_CPU_AVX2 = 1 << 2,    // AVX2, FMA, BMI1, BMI2
    STK_CPU_PEXT = 1 << 3,    // BMI2's pext, if fast: AMD's before Zen 3 takes hundreds of cycles
    STK_CPU_AVX512 = 1 << 4,  // AVX-512 F, BW, VL and DQ
    STK_CPU_VBMI = 1 << 5,    // AVX-512 VBMI
    STK_CPU_VPCLMUL = 1 << 6, // VPCLMULQDQ
    STK_CPU_NEON = 1 << 7,    // in every aarch64
    STK_CPU_CRC = 1 << 8,     // ARMv8's CRC instructions, if compiled for them
    STK_CPU_KNOWN = 1 << 15   // the word was determined; never tested
};

extern atomic_uint stk_cpu_word; // 0 until first asked
unsigned stk_cpu_find(void);

// The flags of this CPU, masked by STOKER_CPU.
static inline unsigned stk_cpu(void)
{
    unsigned word = atomic_load_explicit(&stk_cpu_word, memory_order_relaxed);
    return word ? word : stk_cpu_find();
}

// Does it have all of the flags?
static inline bool stk_cpu_has(unsigned flags)
{
    return (stk_cpu() & flags) == flags;
}

// For tests: from now on masks the CPU's flags with the list, like STOKER_CPU; NULL for all. What
// already chose its loops (open files, image contexts) keeps them.
void stk_cpu_allow(const char *list);
// First unknown word of a list, *length bytes of it; NULL if all are known.
const char *stk_cpu_unknown_word(const char *list, size_t *length);
// The words by age, for messages; NULL past the end.
const char *stk_cpu_word_at(size_t i);
