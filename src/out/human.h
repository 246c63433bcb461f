// SPDX-License-Identifier: Apache-2.0
// Figures as people read them: three significant digits, a unit, thousands set apart by a space.
#ifndef STK_OUT_HUMAN_H
#define STK_OUT_HUMAN_H

#include <stdbool.h>
#include <stdint.h>

struct stk_human {
    char text[40];
};

struct stk_human stk_human_ns(int64_t ns, bool ascii);      // "412 ms", "1.23 s", "98.0 µs"
struct stk_human stk_human_count(uint64_t n);               // "4 812 330"
struct stk_human stk_human_bytes(uint64_t bytes);           // "1.90 GB", powers of 1000
struct stk_human stk_human_percent(double share);           // "24 %", "0.4 %", "<0.1 %"
struct stk_human stk_human_range(double low, double high);  // "15-24 %"

#endif
