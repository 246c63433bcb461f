// SPDX-License-Identifier: Apache-2.0
// Finds a pattern in a text: PCRE2 over UTF-8, `$` only at the end, no \C. Hostile patterns are
// rejected or given up: a search's steps and memory are limited, and its time (ten seconds of CPU
// time for one text); long ones call `stop`.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { STK_REGEX_WHY = 160 };  // bytes of a message
enum { STK_REGEX_PARTS = 10 }; // of a match; the first is the match itself
struct stk_regex;

struct stk_regex_how {
    bool is_whole;      // matches whole texts only
    uint32_t steps_max; // steps from one place where a match may start
    uint32_t first_go;  // places searched before the first check of the time
};

// NULL: *at is 0 if memory ran out, else the character (from 1) at which the pattern is wrong;
// `why` says how. how NULL: within texts, a million steps, 64 places.
struct stk_regex *stk_regex_make(struct stk_str pattern, const struct stk_regex_how *how,
                                 size_t *at, char why[STK_REGEX_WHY]);
// A copy for another thread; free it before `r`. NULL: no memory.
struct stk_regex *stk_regex_fork(const struct stk_regex *r);
void stk_regex_free(struct stk_regex *r); // takes NULL
// Number of capturing parentheses in the pattern.
uint32_t stk_regex_parts(const struct stk_regex *r);
// The first match from byte `from` on; 0 starts another text. 1: found, 0: not found, -1: given up
// (`why` says why; empty: `stop` ended it), -2: no memory. One thread at a time.
int stk_regex_find(struct stk_regex *r, struct stk_str text, size_t from, bool (*stop)(void *),
                   void *arg, char why[STK_REGEX_WHY]);
// Bytes of a part of the last match; 0 is the match itself. False: it didn't take part in it.
bool stk_regex_part(const struct stk_regex *r, uint32_t part, size_t *begin, size_t *end);
