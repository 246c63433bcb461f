// SPDX-License-Identifier: Apache-2.0
// Numbers for people: durations, sizes and counts with at most three significant digits.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define STK_HUMAN_MAX 40 // bytes that always suffice

// "12.3 ms", "980 ns", "1.20 s", "-4.00 us"; hours and days above. Returns buf.
char *stk_human_ns(int64_t ns, char buf[STK_HUMAN_MAX]);
// "1.9 GB", "640 B" (decimal units). Returns buf.
char *stk_human_bytes(uint64_t bytes, char buf[STK_HUMAN_MAX]);
// "4,812,330": digits in groups of three. Returns buf.
char *stk_human_count(uint64_t n, char buf[STK_HUMAN_MAX]);
// "39%", "0.4%", "<0.1%". Returns buf.
char *stk_human_share(double share, char buf[STK_HUMAN_MAX]);
// A C++ function's name without a leading "void ".
const char *stk_human_name(const char *name);
