// SPDX-License-Identifier: Apache-2.0
// Whether a pattern is found in a text: PCRE2 over UTF-8, `$` only at the end. Hostile patterns are
// refused or given up: steps and memory of a search are bounded, and long ones ask `stop`.
#ifndef STK_BASE_REGEX_H
#define STK_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { STK_REGEX_WHY = 160 }; // bytes of a message
struct stk_regex;

// NULL: *at is 0 where memory ran out, else the character (from 1) where the pattern goes wrong, as
// `why` says.
struct stk_regex *stk_regex_make(struct stk_str pattern, size_t *at, char why[STK_REGEX_WHY]);
void stk_regex_free(struct stk_regex *r); // or NULL
// 1 found, 0 not, -1 given up: `why` says it; empty: `stop` wanted it. -2: no memory. One thread at
// a time.
int stk_regex_find(struct stk_regex *r, struct stk_str text, bool (*stop)(void *), void *arg,
                   char why[STK_REGEX_WHY]);

#endif
