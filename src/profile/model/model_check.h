// SPDX-License-Identifier: Apache-2.0
// Checks and dumps of what the model derived, for assertions, tests and a debugger. A check returns
// the first thing that is wrong, or NULL. The text is valid until the thread's next check.
#pragma once

#include <stdio.h>

#include "profile/model/analysis.h"

// Sorted, disjoint, not touching, none empty.
const char *stk_spans_check(const struct stk_spans *s);
// STK_PART_COUNT parts, none negative, that sum to the wall time exactly.
const char *stk_parts_check(const int64_t *parts, int64_t wall_ns);
// Windows of one device, or of the host: they tile the time.
const char *stk_windows_check(const struct stk_window *w, uint32_t count);
// Rows of steps: each one's parts sum to its time, those of one rank and device are in order and do
// not overlap. (Time that belongs to no step is cut from its window, so there may be gaps between
// rows.)
const char *stk_steps_check(const struct stk_step *steps, uint32_t count, uint32_t device_count);
// Timeline of one device: operations sorted by start; exposed sets disjoint, with the busy time as
// their union.
const char *stk_line_check(const struct stk_device_line *line);
const char *stk_rank_sum_check(const struct stk_rank_sum *sum);
const char *stk_run_sum_check(const struct stk_run_sum *run);

// For people; bounded to some forty rows of each list.
void stk_spans_dump(const struct stk_spans *s, FILE *to);
void stk_parts_dump(const int64_t *parts, FILE *to); // with shares of their sum
void stk_steps_dump(const struct stk_step *steps, uint32_t count, FILE *to);
void stk_line_dump(const struct stk_device_line *line, FILE *to);
void stk_gaps_dump(const struct stk_analysis *a, FILE *to); // where they are kept (keeps_gaps)
void stk_run_sum_dump(const struct stk_run_sum *run, FILE *to);
