// SPDX-License-Identifier: Apache-2.0
// Calls by the words that show them (calls_seen.h). One pass over each distinct name; a word is
// compared where its first letter is, as long as no name has shown its key.
#include "profile/model/calls_seen.h"

#include <ctype.h>
#include <string.h>

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

// The rows whose word begins with a byte, as bits.
struct words {
    uint32_t begin[256], bits[ROWS];
};

static void prepare(struct words *w)
{
    memset(w, 0, sizeof *w);
    for (int i = 0; i < ROWS; i++) {
        uint8_t first = (uint8_t)rows[i].word.p[0];
        w->begin[first] |= 1u << i;
        w->begin[toupper(first)] |= 1u << i;
        w->bits[i] = stk_calls_seen_bit(rows[i].key);
    }
}

static uint32_t seen_in(const struct words *w, struct stk_str name, uint32_t seen)
{
    for (size_t at = 0; at < name.n; at++) {
        for (uint32_t left = w->begin[(uint8_t)name.p[at]]; left; left &= left - 1) {
            int i = __builtin_ctz(left);
            struct stk_str part = {name.p + at, rows[i].word.n};
            bool is_it = !(seen & w->bits[i]) && name.n - at >= part.n &&
                         stk_str_eq_nocase(part, rows[i].word);
            seen |= is_it ? w->bits[i] : 0;
        }
    }
    return seen;
}

uint32_t stk_calls_seen(const struct stk_trace *t)
{
    struct words words;
    uint32_t seen = 0;
    prepare(&words);
    for (uint32_t id = 0; id < t->strings.count; id++) {
        seen = seen_in(&words, stk_strpool_get(&t->strings, id), seen);
    }
    return seen;
}
