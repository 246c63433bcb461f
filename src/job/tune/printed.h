// SPDX-License-Identifier: Apache-2.0
// A run's output: its last line, for the message about a failed run, and the losses that a pattern
// finds in its lines (--loss), the n-th of them for step n.
// Limits: lines beyond 4,096 bytes are cut.
#pragma once

#include "base/err.h"
#include "base/regex.h"
#include "base/vec.h"

enum { STK_PRINTED_LINE = 4096 };

struct stk_tune_printed {
    struct stk_regex *regex; // NULL: doesn't look for losses
    uint32_t part;
    struct stk_vec losses; // struct stk_tune_loss
    char line[STK_PRINTED_LINE];
    size_t n;
    char last[STK_PRINTED_LINE]; // the last nonempty line
};

STK_MUST_CHECK enum stoker_status stk_printed_open(struct stk_tune_printed *o, const char *pattern,
                                                   struct stoker_err *err);
void stk_printed_close(struct stk_tune_printed *o); // may be all zeros
STK_MUST_CHECK enum stoker_status stk_printed_feed(struct stk_tune_printed *o, const char *bytes,
                                                   size_t n, struct stoker_err *err);
// The end of the output, in one line.
void stk_printed_end(const struct stk_tune_printed *o, char *to, size_t size);
// If a pattern was given, replaces the losses in *to with its own.
STK_MUST_CHECK enum stoker_status stk_printed_losses(struct stk_tune_printed *o, struct stk_vec *to,
                                                     struct stoker_err *err);
