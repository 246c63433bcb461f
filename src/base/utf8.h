// SPDX-License-Identifier: Apache-2.0
// Strings of a profile may contain any bytes: one step of a tolerant UTF-8 decoder for the outputs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define STK_UTF8_INVALID UINT32_MAX
#define STK_UTF8_MAX 4 // bytes of a code point

// Code point at p (p[0] != 0, NUL-terminated text) and its length in bytes. Overlong forms,
// surrogates, values above U+10FFFF and broken sequences give STK_UTF8_INVALID and length 1.
uint32_t stk_utf8_next(const char *p, size_t *length);
// The same for text with a length: `left` bytes from p on, at least one; may include NUL.
uint32_t stk_utf8_next_of(const char *p, size_t left, size_t *length);
