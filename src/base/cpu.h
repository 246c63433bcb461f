// SPDX-License-Identifier: Apache-2.0
// What the processor can do, as one word of flags: asked once, and masked by the variable
// STOKER_CPU, so that tests and benches can run every body of a loop on one machine.
//
// STOKER_CPU is a list of words between commas, and what they do not name is not used: `plain` is
// nothing, `sse42`, `avx2` and `avx512` bring what they build on along, other words (`sse2`,
// `pext`, `vbmi`, `vpclmul`, `neon`, `crc`) add one thing each. What is not there stays out. A list
// with any other word is as if it were not set; the command line refuses it.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum stk_cpu {
    STK_CPU_SSE2 = 1 << 0,    // in every x86-64
    STK_CPU_SSE42 = 1 << 1,   // SSE4.2, PCLMUL, POPCNT
    STK_CPU_AVX2 = 1 << 2,    // AVX2, FMA, BMI1, BMI2
    STK_CPU_PEXT = 1 << 3,    // BMI2's pext, and fast: AMD's before Zen 3 take hundreds of cycles
    STK_CPU_AVX512 = 1 << 4,  // AVX-512 F, BW, VL and DQ
    STK_CPU_VBMI = 1 << 5,    // AVX-512 VBMI
    STK_CPU_VPCLMUL = 1 << 6, // VPCLMULQDQ
    STK_CPU_NEON = 1 << 7,    // in every aarch64
    STK_CPU_CRC = 1 << 8,     // ARMv8's CRC instructions, if compiled for them
    STK_CPU_KNOWN = 1 << 15   // the word was determined; never asked for
};

extern atomic_uint stk_cpu_word; // 0 until first asked
unsigned stk_cpu_find(void);

// The flags of this processor less those that STOKER_CPU leaves out.
static inline unsigned stk_cpu(void)
{
    unsigned word = atomic_load_explicit(&stk_cpu_word, memory_order_relaxed);
    return word ? word : stk_cpu_find();
}

// All of the flags?
static inline bool stk_cpu_has(unsigned flags)
{
    return (stk_cpu() & flags) == flags;
}

// For tests: from now on the flags are those of the processor that the list allows, as STOKER_CPU
// would; NULL for all. What chose its loops before (open files, image contexts) keeps them.
void stk_cpu_allow(const char *list);
// First word of a list that means nothing, *length bytes of it; NULL if all are known.
const char *stk_cpu_unknown_word(const char *list, size_t *length);
// The words in order of age, for messages: NULL after the last.
const char *stk_cpu_word_at(size_t i);
