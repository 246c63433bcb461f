// SPDX-License-Identifier: Apache-2.0
// What the hooks of `stoker run` recorded about a program, in a trace; told.def lists it. Profiles
// of other recorders have none of it.
#pragma once

#include <stdint.h>

#include "base/str.h"

enum stk_told_place {
#define P(id, key) STK_TOLD_##id,
#define N(id, key)
#include "profile/store/told.def"
#undef P
#undef N
    STK_TOLD_PLACES
};
enum stk_told_number {
#define P(id, key)
#define N(id, key) STK_TOLD_##id,
#include "profile/store/told.def"
#undef P
#undef N
    STK_TOLD_NUMBERS
};

struct stk_told {
    uint32_t places[STK_TOLD_PLACES];   // string ids, 0: not told
    uint32_t permille[STK_TOLD_PLACES]; // 1000 at most
    int64_t numbers[STK_TOLD_NUMBERS];  // never below 0
};
// While a trace is built; borrowed.
struct stk_told_texts {
    struct stk_str places[STK_TOLD_PLACES];
    uint32_t permille[STK_TOLD_PLACES];
    int64_t numbers[STK_TOLD_NUMBERS];
};
