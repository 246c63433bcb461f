// SPDX-License-Identifier: Apache-2.0
// Values of a fix that are worth a run, according to the job's facts: functions in values_*.c, one
// for each X(ID) in tries.def, and what they share.
#pragma once

#include "fixes/fixes.h"
#include "job/tune/job_facts.h"

enum { STK_TUNE_VALUES = 4, STK_TUNE_VALUE = 256, STK_TUNE_WHY = 320 };

struct stk_tune_values {
    char at[STK_TUNE_VALUES][STK_TUNE_VALUE]; // "": a fix without a value
    int count;                                // 0: it cannot be tried
    char why[STK_TUNE_WHY];                   // if count is 0
};

#define V(id)
#define X(id) void stk_values_##id(const struct stk_tune_facts *facts, struct stk_tune_values *to);
#include "job/tune/tries.def"
#undef X
#undef V
double stk_saving_process_keep_memory(const struct stk_tune_facts *facts, double step_s);

// Adds a value, unless it is already there or there is no room.
void stk_tune_add(struct stk_tune_values *to, const char *value);
void stk_tune_add_number(struct stk_tune_values *to, long number, long least, long most);
// Removes all values; sets why.
void stk_tune_refuse(struct stk_tune_values *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
