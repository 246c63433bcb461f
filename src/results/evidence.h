// SPDX-License-Identifier: Apache-2.0
// Evidence is a sentence with named values. The sentences are rows of text files next to the rules,
// src/answers/rules/evidence/RULE.txt. cmake/evidence.cmake generates a function for each: a rule
// calls stk_say_ID(ctx, finding, values...), and builds no text itself. The reason why a rule fired
// or not is also such a row: why_NAME, with stk_why_NAME(ctx, values...). A row:
//
//   brief_kernels(brief, kernels): {brief} of {kernels} kernels are shorter than 10 us
//
// Lines that begin with a blank continue it and are joined by a blank. In the sentence
//   {calls}             is a value, written as its unit asks
//   {calls|call|calls}  is the first word where the value is 1, else the second
//   [, of {what}|...]   is the first of the parts whose values are all known, or nothing
//
// Evidence is shown in the order of the calls. id@1(...) goes to the second place, @2 to the third,
// so that the most important evidence comes first.
//
// A value's name is its key in the report, and ends in its unit: _ns, _bytes, _bytes_per_s,
// _share; others are counts, or name their unit in the head, `rank:number`: number, ratio, round,
// percent (a share in whole percent), text, flag, or id: a text for programs that needn't be in the
// sentence. The function takes the values in the order of the head.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/type.h"

enum stk_unit {
    STK_UNIT_NS,
    STK_UNIT_BYTES,
    STK_UNIT_BYTES_PER_S,
    STK_UNIT_SHARE,   // of 1; written as percent
    STK_UNIT_PERCENT, // the same, in whole percent
    STK_UNIT_COUNT,   // digits in groups of three
    STK_UNIT_NUMBER,  // an identifier: a rank, a step
    STK_UNIT_ROUND,   // written without digits after the point
    STK_UNIT_RATIO,   // with three digits
    STK_UNIT_TEXT,
    STK_UNIT_ID,  // stoker's own id, such as that of a part of a step
    STK_UNIT_FLAG // not written: it selects a part of the sentence; known if true
};
union stk_amount {
    int64_t whole;
    uint64_t count;
    double real;
    const char *text;
    bool flag;
};
// Given for an unknown number; an unknown text is NULL.
#define STK_NOT_KNOWN INT64_MIN

enum { STK_EVIDENCE_VALUES = 8 };
struct stk_evidence_row {
    const char *id, *sentence;
    uint32_t place, count; // place 0: after the others
    struct {
        const char *name;
        enum stk_unit unit;
    } values[STK_EVIDENCE_VALUES];
};
// A value of a report, for programs.
struct stk_value {
    const char *key;
    enum stk_unit unit;
    union stk_amount is;
};

// The type of a value with this unit in the report.
enum stk_type stk_unit_type(enum stk_unit unit);
bool stk_amount_known(enum stk_unit unit, union stk_amount is);
// The sentence of a row with these amounts, one for each of its values. Returns its length. If `to`
// isn't NULL, it must have room; the sentence is written there with a NUL.
size_t stk_evidence_write(const struct stk_evidence_row *row, const union stk_amount *amounts,
                          char *to);
