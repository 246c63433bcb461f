// SPDX-License-Identifier: Apache-2.0
// What a search found, for people and for programs (JSON, "stoker.tune/1").
#pragma once

#include "base/sink.h"
#include "job/tune/tune.h"

// all: fixes that were skipped for the job has no place for them, and all advice, too.
void stk_tune_text(const struct stk_tune_plan *plan, const struct stk_tune *tune, bool all,
                   struct stk_sink *to);
void stk_tune_json(const struct stk_tune_plan *plan, const struct stk_tune *tune,
                   struct stk_sink *to);

// What the forms share.
enum { STK_TUNE_SENTENCE = 480 };
void stk_tune_sentence(const struct stk_tune *tune, char to[STK_TUNE_SENTENCE]);
const char *stk_tune_state_name(enum stk_tune_state state); // as in the JSON
const char *stk_tune_end_name(enum stk_tune_end end);       // the same
// Whether it was left out for a reason that no longer search would change: the job has no place for
// it, or it could save too little.
bool stk_tune_is_idle(const struct stk_tune_tried *tried);
// Calls `put` for each line of the program that what was kept changes; file NULL: it is not known.
void stk_tune_each_place(const struct stk_tune *tune,
                         void (*put)(void *arg, const char *file, int64_t line, const char *text),
                         void *arg);
// Whether the tried one of this row was kept by a variable that no row before it sets; `to` is
// "K=V", with what else was kept in it, and what it held before.
bool stk_tune_variable(const struct stk_tune *tune, size_t row, char *to, size_t size);
// A line about one that was just decided.
void stk_tune_line(const struct stk_tune_tried *tried, char *to, size_t size);
