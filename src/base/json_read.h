// SPDX-License-Identifier: Apache-2.0
// A small JSON document as values that are in a row: requests of another program, not profiles.
// Each value knows where it ends, so that members are walked without pointers. The text is changed:
// strings are decoded where they stand. It must live as long as the values.
//
//   struct stk_json_value v[256];
//   if (stk_json_read(text, n, v, 256)) {
//       const struct stk_json_value *name = stk_json_member(v, "name");
//
// Limits: brackets nest at most 64 deep; a string that holds U+0000 is refused.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum stk_json_kind {
    STK_JSON_NULL,
    STK_JSON_FALSE,
    STK_JSON_TRUE,
    STK_JSON_NUMBER, // `text` is what stands there
    STK_JSON_STRING,
    STK_JSON_ARRAY,
    STK_JSON_OBJECT // names and values alternately
};
struct stk_json_value {
    enum stk_json_kind kind;
    char *text;   // ends with a zero; of a string or number, else NULL
    size_t after; // how many values this one takes, with those inside of it
};

// text: n bytes, and a zero after them. false: it is no JSON, or has more than `most` values.
bool stk_json_read(char *text, size_t n, struct stk_json_value *values, size_t most);
// A member of an object; NULL: no such member, or not an object.
const struct stk_json_value *stk_json_member(const struct stk_json_value *object, const char *name);
// The text of a member that is a string; NULL: another type.
const char *stk_json_member_text(const struct stk_json_value *object, const char *name);
