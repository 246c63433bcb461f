// SPDX-License-Identifier: Apache-2.0
// Text output: a small buffer in front of a callback. Failures are remembered, so writers don't
// check every line: they check once, at the end. A text during which the system refused memory
// counts as failed: a part may be missing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STK_SINK_BUFFER 8192

struct stk_sink {
    int (*write)(void *arg, const char *bytes, size_t n); // non-zero: cannot be taken
    void *arg;
    bool failed;
    uint64_t refusals; // stk_alloc_refusals() at the start
    size_t used;
    char buffer[STK_SINK_BUFFER];
};

void stk_sink_init(struct stk_sink *s, int (*write)(void *, const char *, size_t), void *arg);
void stk_sink_put(struct stk_sink *s, const char *bytes, size_t n);
void stk_sink_text(struct stk_sink *s, const char *text);
// Truncated to 1023 bytes: for numbers and fixed phrases. Strings from a profile go through
// stk_sink_text.
void stk_sink_printf(struct stk_sink *s, const char *fmt, ...) STK_PRINTF(2, 3);
void stk_sink_i64(struct stk_sink *s, int64_t value);
// Up to six decimals, exact from 1e12 on; 0 if not finite.
void stk_sink_share(struct stk_sink *s, double value);
void stk_sink_real(struct stk_sink *s, double value); // the fewest digits that read back exactly;
                                                      // finite
// A CSV field, quoted if needed; is_guarded: for a spreadsheet (base/text.h).
void stk_sink_csv(struct stk_sink *s, const char *text, bool is_guarded);
// Empty the buffer. STOKER_ENOMEM if the system refused memory since init, in any thread;
// STOKER_EOUTPUT if anything could not be written.
STK_MUST_CHECK enum stoker_status stk_sink_finish(struct stk_sink *s, struct stoker_err *err);
