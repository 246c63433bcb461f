// SPDX-License-Identifier: Apache-2.0
// Whether bytes are one JSON value (RFC 8259) and nothing else, so that they may stand as they are
// inside of another document.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Not one: what is nested deeper than 64 brackets, or holds bytes that are no UTF-8.
bool stk_json_is_value(const char *text, size_t n);
