// SPDX-License-Identifier: Apache-2.0
// Classes of a redacted name, written by --redact after its number: "name-7 [fetch, python]". The
// replacement keeps the name's meaning, so a redacted trace gives the verdict of its original.
//
// Limits: only classes are kept. Other information in a name (its file, an operation's type, a
// kernel's precision) is lost.
#include "profile/store/names_said.h"

#include <stdio.h>

#include "base/assert.h"

static const char *const words[] = {
#define N(id, word) word,
#include "profile/store/names_said.def"
#undef N
};
static const uint32_t bits_of[] = {
#define N(id, word) STK_NAME_##id,
#include "profile/store/names_said.def"
#undef N
};
enum { WORDS = sizeof words / sizeof words[0] };

size_t stk_name_say(uint32_t bits, char buffer[STK_NAME_SAID_MAX])
{
    size_t n = 0;
    buffer[0] = 0;
    for (int i = 0; i < WORDS; i++) {
        if (bits & bits_of[i]) {
            n += (size_t)snprintf(buffer + n, STK_NAME_SAID_MAX - n, "%s%s", n ? ", " : " [",
                                  words[i]);
            STK_ASSERT(n + 2 < STK_NAME_SAID_MAX);
        }
    }
    if (n) {
        buffer[n++] = ']';
        buffer[n] = 0;
    }
    return n;
}

static uint32_t bit_of(struct stk_str word)
{
    for (int i = 0; i < WORDS; i++) {
        if (stk_str_eq(word, stk_str_from(words[i]))) {
            return bits_of[i];
        }
    }
    return 0;
}

bool stk_name_says(struct stk_str name, uint32_t *bits)
{
    size_t at = sizeof STK_NAME_REPLACED - 1, end = name.n - 1;
    *bits = 0;
    while (at < end && name.p[at] >= '0' && name.p[at] <= '9') {
        at++;
    }
    if (at + 2 > end || name.p[at] != ' ' || name.p[at + 1] != '[') {
        return false;
    }
    for (at += 2; at < end; at += 2) {
        size_t from = at;
        while (at < end && name.p[at] != ',') {
            at++;
        }
        uint32_t bit = bit_of((struct stk_str){name.p + from, at - from});
        if (!bit) {
            return false;
        }
        *bits |= bit;
        if (at < end && (at + 2 >= end || name.p[at + 1] != ' ')) {
            return false;
        }
    }
    return true;
}
