// SPDX-License-Identifier: Apache-2.0
// Conversion between limits and their words.
#include "wire/limits.h"

#include <string.h>

static const char *const words[STK_WIRE_LIMIT_COUNT] = {
#define L(id, word, what) [STK_WIRE_LIMIT_##id] = word,
#include "wire/limits.def"
#undef L
};

const char *stk_wire_limit_word(enum stk_wire_limit limit)
{
    return words[limit];
}

enum stk_wire_limit stk_wire_limit_find(const char *text, size_t n)
{
    for (int i = 0; i < STK_WIRE_LIMIT_COUNT; i++) {
        if (strlen(words[i]) == n && memcmp(words[i], text, n) == 0) {
            return (enum stk_wire_limit)i;
        }
    }
    return STK_WIRE_LIMIT_OTHER;
}
