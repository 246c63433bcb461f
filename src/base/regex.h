// SPDX-License-Identifier: Apache-2.0
// Where a pattern is found in a text: PCRE2 over UTF-8, `$` only at the end, no \C. Hostile
// patterns are refused or given up: steps and memory of a search are bounded, its time too (ten
// seconds of the thread's processor time for one text), and long ones ask `stop`.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { STK_REGEX_WHY = 160 };  // bytes of a message
enum { STK_REGEX_PARTS = 10 }; // of a match, itself the first
struct stk_regex;

struct stk_regex_how {
    bool is_whole;      // it fits whole texts, not what is within them
    uint32_t steps_max; // from one place where a match may begin
    uint32_t first_go;  // places that are searched before the time is looked at
};

// NULL: *at is 0 where memory ran out, else the character (from 1) where the pattern goes wrong, as
// `why` says. how NULL: within texts, a million steps, 64 places.
struct stk_regex *stk_regex_make(struct stk_str pattern, const struct stk_regex_how *how,
                                 size_t *at, char why[STK_REGEX_WHY]);
// For another thread: of the same pattern, and gone before `r` is. NULL: no memory.
struct stk_regex *stk_regex_fork(const struct stk_regex *r);
void stk_regex_free(struct stk_regex *r); // or NULL
// Parentheses in the pattern whose match is a part.
uint32_t stk_regex_parts(const struct stk_regex *r);
// The first match from byte `from` on; 0 begins another text. 1 found, 0 not, -1 given up: `why`
// says it; empty: `stop` wanted it. -2: no memory. One thread at a time.
int stk_regex_find(struct stk_regex *r, struct stk_str text, size_t from, bool (*stop)(void *),
                   void *arg, char why[STK_REGEX_WHY]);
// Bytes of a part of what was found last, the match itself is 0. False: it has no share in it.
bool stk_regex_part(const struct stk_regex *r, uint32_t part, size_t *begin, size_t *end);
