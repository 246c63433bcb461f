// SPDX-License-Identifier: Apache-2.0
// Types of values: one vocabulary for the fields of documents (results/field.h), the columns of
// tables (results/table.h) and of SQL (answers/query). A type includes the unit, so that every
// output can print a value, and every contract can describe it.
#pragma once

#include <stdbool.h>

#include "base/assert.h"

enum stk_type {
    STK_TYPE_TEXT,
    STK_TYPE_COUNT, // whole, from 0
    STK_TYPE_NS,    // whole, any sign: times may be before a base
    STK_TYPE_BYTES, // whole, from 0
    STK_TYPE_SHARE, // 0 to 1, six decimals
    STK_TYPE_RATE,  // per second, six decimals
    STK_TYPE_BOOL,
    STK_TYPE_NUMBER, // whole, any sign, without a unit: an id, a rank, a step
    STK_TYPE_REAL,   // any number without a unit, exact; not finite: null
    STK_TYPE_RATIO,  // a share of any sign, a change, an average: six decimals
    STK_TYPE_NAME,   // text from the profile
    STK_TYPE_WORD,   // an enum, printed as the word of a fixed list
    STK_TYPE_OBJECT, // with its own fields
    STK_TYPE_ANY,    // text, number, bool or null: depends on the value
    STK_TYPE_COUNT_
};

// What a value is stored as.
enum stk_holds {
    STK_HOLDS_UNSET, // not set
    STK_HOLDS_NOTHING,
    STK_HOLDS_TEXT,
    STK_HOLDS_NUMBER, // int64_t or uint64_t
    STK_HOLDS_RATIO,  // double
    STK_HOLDS_TRUTH
};

struct stk_type_info {
    const char *key;      // in contracts and on pages: "ns"; "" if it depends on the value
    const char *declared; // in SQL's CREATE TABLE
    const char *json;     // its JSON Schema type
    enum stk_holds holds;
    bool from_zero, to_one; // minimum 0, maximum 1
    const char *meaning;    // for people; NULL: not a type of cells
};
extern const struct stk_type_info stk_types[STK_TYPE_COUNT_];
static inline const struct stk_type_info *stk_type_info(enum stk_type type)
{
    STK_ASSERT((unsigned)type < STK_TYPE_COUNT_);
    return &stk_types[type];
}
// The type of a column declared like this in SQL; STK_TYPE_ANY: not one of ours. NULL is allowed.
enum stk_type stk_type_declared(const char *declared);
