// SPDX-License-Identifier: Apache-2.0
// The result of a search, for people and for programs (JSON, "stoker.tune/1").
#pragma once

#include "base/sink.h"
#include "job/tune/tune.h"

// all: includes skipped fixes that don't apply to the job, and all advice.
void stk_tune_text(const struct stk_tune_plan *plan, const struct stk_tune *tune, bool all,
                   struct stk_sink *to);
void stk_tune_json(const struct stk_tune_plan *plan, const struct stk_tune *tune,
                   struct stk_sink *to);

// Shared by the forms.
enum { STK_TUNE_SENTENCE = 480 };
void stk_tune_sentence(const struct stk_tune *tune, char to[STK_TUNE_SENTENCE]);
const char *stk_tune_state_name(enum stk_tune_state state); // as in JSON
const char *stk_tune_end_name(enum stk_tune_end end);       // the same
// Whether even a longer search would leave it out: it doesn't apply to the job, or could save too
// little.
bool stk_tune_is_idle(const struct stk_tune_tried *tried);
// Calls `put` for each line of the program that the kept fixes change; file NULL: unknown.
void stk_tune_each_place(const struct stk_tune *tune,
                         void (*put)(void *arg, const char *file, int64_t line, const char *text),
                         void *arg);
// Whether this row's fix was kept and sets a variable that no earlier row sets. Then `to` is "K=V",
// with the values of other kept fixes and the original value.
bool stk_tune_variable(const struct stk_tune *tune, size_t row, char *to, size_t size);
// A line about a fix that was just decided.
void stk_tune_line(const struct stk_tune_tried *tried, char *to, size_t size);
