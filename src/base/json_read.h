// SPDX-License-Identifier: Apache-2.0
// A small JSON document as a flat array of values: for requests from other programs, not profiles.
// Each value knows where it ends, so members are walked without pointers. The text is modified:
// strings are decoded in place. It must live as long as the values.
//
//   struct stk_json_value v[256];
//   if (stk_json_read(text, n, v, 256)) {
//       const struct stk_json_value *name = stk_json_member(v, "name");
//
// Limits: brackets nest at most 64 deep; a string with U+0000 is rejected.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum stk_json_kind {
    STK_JSON_NULL,
    STK_JSON_FALSE,
    STK_JSON_TRUE,
    STK_JSON_NUMBER, // `text` has its source
    STK_JSON_STRING,
    STK_JSON_ARRAY,
    STK_JSON_OBJECT // names and values alternately
};
struct stk_json_value {
    enum stk_json_kind kind;
    char *text;   // terminated; for a string or number, else NULL
    size_t after; // how many values this one takes, including nested ones
};

// text: n bytes, and a terminator. False: not JSON, or more than `most` values.
bool stk_json_read(char *text, size_t n, struct stk_json_value *values, size_t most);
// A member of an object; NULL: no such member, or not an object.
const struct stk_json_value *stk_json_member(const struct stk_json_value *object, const char *name);
// The text of a member that is a string; NULL: another type.
const char *stk_json_member_text(const struct stk_json_value *object, const char *name);
