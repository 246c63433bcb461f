// SPDX-License-Identifier: Apache-2.0
// Writes JSON: commas, indentation, escaping and exact numbers, in any locale. Objects and arrays
// opened `inline` are on one line.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sink.h"

struct stk_json {
    struct stk_sink *sink;
    int depth;        // open brackets
    int inline_depth; // of these, how many from the first inline one on
    bool empty;       // nothing yet inside the innermost bracket
    bool after_key;
};

void stk_json_init(struct stk_json *j, struct stk_sink *sink);
void stk_json_open(struct stk_json *j, char bracket, bool in_line); // '{' or '['
void stk_json_close(struct stk_json *j, char bracket);              // '}' or ']'
void stk_json_key(struct stk_json *j, const char *key);
void stk_json_text(struct stk_json *j, const char *text); // invalid UTF-8 becomes U+FFFD
void stk_json_i64(struct stk_json *j, int64_t value);
void stk_json_u64(struct stk_json *j, uint64_t value);
void stk_json_share(struct stk_json *j,
                    double value); // six decimals, exact from 1e12 on; not finite: 0
void stk_json_real(struct stk_json *j, double value); // exact; NaN or infinite: null
void stk_json_bool(struct stk_json *j, bool value);
void stk_json_null(struct stk_json *j);
void stk_json_raw(struct stk_json *j, const char *json); // a value that is already JSON
