// SPDX-License-Identifier: Apache-2.0
// A growing buffer for what the library writes as an answer. A limit keeps one answer from taking
// the whole machine. Failures are remembered, so writers check once, at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STK_BODY_MAX (UINT64_C(256) << 20)

struct stk_body {
    char *p; // NUL-terminated if not empty; freed by stk_body_free
    size_t n, capacity;
    bool lacks, is_full; // bytes are missing: no memory, or beyond the limit
};

// A stoker_write_fn: arg is a struct stk_body. Non-zero: this or an earlier call failed.
int stk_body_write(void *arg, const char *bytes, size_t n);
int stk_body_text(struct stk_body *b, const char *text);
// The final status of an answer written to it: STOKER_ENOMEM or STOKER_ELIMIT if bytes are missing;
// a writer only knows that a write failed.
STK_MUST_CHECK enum stoker_status stk_body_end(const struct stk_body *b, enum stoker_status status,
                                               struct stoker_err *err);
// Moves the library's bytes (a blob's) to an empty body, without a copy and without a NUL.
void stk_body_adopt(struct stk_body *b, char *p, size_t n);
void stk_body_free(struct stk_body *b); // then empty
