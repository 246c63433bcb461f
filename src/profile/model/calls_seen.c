// SPDX-License-Identifier: Apache-2.0
// Calls by the words that show them (calls_seen.h). Each distinct name is looked at once, and for
// the words of keys that no name has shown yet.
#include "profile/model/calls_seen.h"

static const struct row {
    struct stk_str key, word;
} rows[] = {
#define C(key, word) {{key, sizeof key - 1}, {word, sizeof word - 1}},
#include "profile/model/calls_seen.def"
#undef C
};
enum { ROWS = sizeof rows / sizeof rows[0] };

_Static_assert(ROWS <= 32, "a bit for the first row of each key");

// Rows of a key share the bit of its first one.
static int first_of(struct stk_str key)
{
    int i = 0;
    while (i < ROWS && !stk_str_eq(rows[i].key, key)) {
        i++;
    }
    return i;
}

uint32_t stk_calls_seen_bit(struct stk_str key)
{
    int i = first_of(key);
    return i < ROWS ? 1u << i : 0;
}

uint32_t stk_calls_seen(const struct stk_trace *t)
{
    uint32_t bits[ROWS], seen = 0;
    for (int i = 0; i < ROWS; i++) {
        bits[i] = stk_calls_seen_bit(rows[i].key);
    }
    for (uint32_t id = 0; id < t->strings.count; id++) {
        struct stk_str name = stk_strpool_get(&t->strings, id);
        for (int i = 0; i < ROWS; i++) {
            bool is_new = !(seen & bits[i]);
            seen |= is_new && stk_str_contains_nocase(name, rows[i].word) ? bits[i] : 0;
        }
    }
    return seen;
}
