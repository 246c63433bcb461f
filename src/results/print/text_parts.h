// SPDX-License-Identifier: Apache-2.0
// Blocks of the text output (internal to it).
#pragma once

#include "results/print/term.h"

#define STK_TEXT_INDENT 2 // of every line
#define STK_TEXT_BODY 9   // where text after a label begins

// "  label  " and then the body column.
void stk_text_label(struct stk_term *t, const char *label);
// Findings about the job, or about the recording. Each keeps its number in the whole list.
void stk_text_findings(struct stk_term *t, const struct stk_report *r, enum stk_topic topic);
void stk_text_rules(struct stk_term *t, const struct stk_report *r);
// The answer (text_answer.c): the sentence; the bars of the step now and with the first fix, if
// there is a breakdown; the same as one line, for use next to another bar.
void stk_text_answer(struct stk_term *t, const struct stk_report *r);
void stk_text_bars(struct stk_term *t, const struct stk_report *r);
void stk_text_outlook(struct stk_term *t, const struct stk_report *r);
bool stk_text_has_breakdown(const struct stk_report *r);
// The first screen, instead of all of the above.
void stk_text_screen(struct stk_term *t, const struct stk_report *r);
size_t stk_text_count_rules(const struct stk_report *r, const char *state);
// The next command for a finding's fix, on one line for pasting: it tries the fix without editing
// the job, or else estimates it. Returns its label, "try" or "gain"; NULL: neither.
#define STK_TEXT_COMMAND_MAX 1500
const char *stk_text_next_command(const struct stk_report *r, const struct stk_rep_finding *f,
                                  size_t number, char *out, size_t size);
// Where the first line of a fix's code is a command of stoker on the profile: that command, on this
// profile. `code` may be NULL.
bool stk_text_given_command(const struct stk_report *r, const char *code, char *out, size_t size);
// "saves 15–24%", "saves up to 24%" if only a bound is known, "" if nothing is. A bound of more
// than 90% isn't a saving: "takes up to 96% of the time".
void stk_saving_text(const struct stk_rep_finding *f, char *out, size_t size);
// For one of several jobs: "15–24%", "up to 24%", "about 12%"; "-" if nothing is known but a
// bound of more than 90%.
struct stk_jobs_job;
#define STK_JOBS_SAVING_MAX 64
void stk_jobs_saving_text(const struct stk_jobs_job *job, char *out, size_t size);
