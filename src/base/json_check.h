// SPDX-License-Identifier: Apache-2.0
// Checks that bytes are exactly one JSON value (RFC 8259), so that they can be embedded unchanged
// in another document.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// False also if nested deeper than 64 brackets, or not UTF-8.
bool stk_json_is_value(const char *text, size_t n);
