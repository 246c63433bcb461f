// SPDX-License-Identifier: Apache-2.0
// JSON text, one token at a time, tolerant of exporters' mistakes: for records that the fast path
// rejects, for the few values outside the events, and for arguments shown on demand.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define STK_CHROME_DEPTH 1024 // anything deeper counts as broken

enum stk_chrome_token {
    STK_CHROME_TOK_OPEN,   // { or [
    STK_CHROME_TOK_CLOSE,  // } or ]
    STK_CHROME_TOK_KEY,    // a string and its colon
    STK_CHROME_TOK_STRING, // value: the bytes between the quotes, escapes and all
    STK_CHROME_TOK_BARE,   // value: number, literal, or a word that isn't JSON
    STK_CHROME_TOK_CUT,    // the text ends here: inside a record, more is needed to decide
    STK_CHROME_TOK_BROKEN  // beyond repair
};

struct stk_chrome_lexer {
    const char *text;
    size_t len, pos;
    bool after_value, after_comma, after_key;
    unsigned depth;                          // brackets open after this token
    unsigned repairs;                        // repairs so far
    struct stk_str str;                      // of the token
    size_t at;                               // of the token
    uint64_t objects[STK_CHROME_DEPTH / 64]; // bit per depth: an object, not an array
};

void stk_chrome_lexer_init(struct stk_chrome_lexer *x, const char *text, size_t len, size_t pos);
enum stk_chrome_token stk_chrome_lexer_next(struct stk_chrome_lexer *x);
// True if the bracket just opened is an object.
static inline bool stk_chrome_lexer_in_object(const struct stk_chrome_lexer *x)
{
    return x->depth > 0 && (x->objects[(x->depth - 1) / 64] >> ((x->depth - 1) % 64) & 1);
}

static inline bool stk_chrome_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
static inline size_t stk_chrome_skip_space(const char *text, size_t len, size_t i)
{
    while (i < len && stk_chrome_is_space(text[i])) {
        i++;
    }
    return i;
}

// At a quote: a string that is a key of an event, with its colon? 1 yes, 0 no, -1 the text ends.
int stk_chrome_is_event_key(const char *text, size_t len, size_t at);
// At a brace: does an event of its own begin here, rather than a value nested in one? `before` is
// the last byte before it that isn't a space. 1 yes, 0 no, -1 the text ends.
int stk_chrome_is_event_start(const char *text, size_t len, size_t at, char before);

// Raw bytes between quotes -> UTF-8 into out, which must hold 3 * n bytes: escapes resolved, bytes
// that aren't valid UTF-8, and NUL, replaced by U+FFFD. Returns the length.
size_t stk_chrome_unescape(const char *raw, size_t n, char *out);

// Every value of the object or array at text[0], in file order: keys joined by '.', arrays as their
// text. Strings arrive unescaped. False if it is broken or cut.
bool stk_chrome_flatten(const char *text, size_t len, struct stk_str skip_prefix, stk_emit_fn *emit,
                        void *arg);
