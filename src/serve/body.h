// SPDX-License-Identifier: Apache-2.0
// Bytes that grow: what the library writes, for an answer. A cap keeps one answer from taking the
// machine.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STK_BODY_MAX (UINT64_C(256) << 20)

struct stk_body {
    char *p; // NUL-terminated where there are any; freed by stk_body_free
    size_t n, capacity;
};

// A stoker_write_fn: arg is a struct stk_body. Non-zero: no memory, or beyond the cap.
int stk_body_write(void *arg, const char *bytes, size_t n);
int stk_body_text(struct stk_body *b, const char *text);
// What the library made (a blob's bytes) becomes an empty body's, without a copy, and without a
// NUL.
void stk_body_adopt(struct stk_body *b, char *p, size_t n);
void stk_body_free(struct stk_body *b); // then empty
