// SPDX-License-Identifier: Apache-2.0
// A run's number from its own output: a regular expression finds it in lines, and the
// median of those after the warm-up represents the run. The last lines are kept for
// the message about a failed run.
// Limits: lines beyond 4,096 bytes are cut; numbers beyond the first million are dropped, with
// an error; a number is decimal, as 1.5 or 2e-3, and above 0.
#pragma once

#include "base/err.h"
#include "base/regex.h"

enum { STK_METRIC_LINE = 4096, STK_METRIC_TAIL = 1200, STK_METRIC_NUMBERS = 1000000 };

struct stk_metric {
    struct stk_regex *regex; // NULL: only keep lines
    uint32_t part;           // the part of a match with the number
    double *numbers;
    size_t count, room, left_out;
    char line[STK_METRIC_LINE];
    size_t line_n;
    char tail[STK_METRIC_TAIL]; // of the output, complete lines if they fit
    size_t tail_n;
};

// pattern NULL: doesn't look for numbers. The number is the first parenthesis, or else the whole
// match.
STK_MUST_CHECK enum stoker_status stk_metric_open(struct stk_metric *m, const char *pattern,
                                                  struct stoker_err *err);
void stk_metric_close(struct stk_metric *m);
void stk_metric_begin(struct stk_metric *m); // another run
STK_MUST_CHECK enum stoker_status stk_metric_feed(struct stk_metric *m, const char *bytes, size_t n,
                                                  struct stoker_err *err);
// At the end of the output: the median of the numbers after the first `warmup`; below 0: after a
// fifth of them.
STK_MUST_CHECK enum stoker_status stk_metric_end(struct stk_metric *m, int64_t warmup,
                                                 double *value, struct stoker_err *err);
