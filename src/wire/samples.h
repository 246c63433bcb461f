// SPDX-License-Identifier: Apache-2.0
// Counters of a machine record: samples.def as an enumeration and a table.
//
// Their tracks have the kind STK_WIRE_SAMPLED. For a thread or process, `device` is the process and
// `number` the thread (0: the whole process). For others `device` is -1 and `number` is
// STK_SAMPLE_NUMBER of the scope and the disk's or GPU's number.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum stk_sample_scope {
    STK_SAMPLE_MACHINE,
    STK_SAMPLE_JOB,
    STK_SAMPLE_THREAD,
    STK_SAMPLE_PROCESS,
    STK_SAMPLE_DISK,
    STK_SAMPLE_GPU,
    STK_SAMPLE_SOURCE
};
enum stk_sample_cadence { STK_SAMPLE_LOOK, STK_SAMPLE_SCAN, STK_SAMPLE_STATE, STK_SAMPLE_ONCE };

enum stk_sampled {
#define X(id, name, scope, cadence, unit, meaning) STK_SAMPLE_OF_##id,
#include "wire/samples.def"
#undef X
    STK_SAMPLE_COUNT
};
struct stk_sample_info {
    const char *name, *unit, *meaning;
    enum stk_sample_scope scope;
    enum stk_sample_cadence cadence;
};
const struct stk_sample_info *stk_sample_info(enum stk_sampled id);
enum stk_sampled stk_sample_find(const char *name, size_t n); // STK_SAMPLE_COUNT: none

#define STK_SAMPLE_NUMBER(scope, n) ((int64_t)(scope) << 40 | (int64_t)(n))
// Can it be a counter's value? Readers leave others out: they are damage, and would make a sum
// infinite.
static inline bool stk_sample_is_value(double value)
{
    return value >= -0x1p64 && value <= 0x1p64;
}
// The producer's name in such a record, before its version.
#define STK_SAMPLE_PRODUCER "stoker sampler"
