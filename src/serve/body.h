// SPDX-License-Identifier: Apache-2.0
// Bytes that grow: what the library writes, for an answer. A cap keeps one answer from taking the
// machine. Bytes that could not be taken are remembered, so that writers look once, at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STK_BODY_MAX (UINT64_C(256) << 20)

struct stk_body {
    char *p; // NUL-terminated where there are any; freed by stk_body_free
    size_t n, capacity;
    bool lacks, is_full; // some bytes: no memory, or beyond the cap
};

// A stoker_write_fn: arg is a struct stk_body. Non-zero: this or something before was not taken.
int stk_body_write(void *arg, const char *bytes, size_t n);
int stk_body_text(struct stk_body *b, const char *text);
// What became of an answer that was written to it: STOKER_ENOMEM or STOKER_ELIMIT if bytes are
// lacking: a writer knows only that they were not taken.
STK_MUST_CHECK enum stoker_status stk_body_end(const struct stk_body *b, enum stoker_status status,
                                               struct stoker_err *err);
// What the library made (a blob's bytes) becomes an empty body's, without a copy, and without a
// NUL.
void stk_body_adopt(struct stk_body *b, char *p, size_t n);
void stk_body_free(struct stk_body *b); // then empty
