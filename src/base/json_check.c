// SPDX-License-Identifier: Apache-2.0
// Walks the text without recursion; see json_check.h. `brackets` holds the open ones.
#include "base/json_check.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

enum { DEPTH = 64 };

struct walk {
    const char *at, *end;
    char brackets[DEPTH];
    int depth;
};

static bool is_next(const struct walk *w, char c)
{
    return w->at < w->end && *w->at == c;
}

static bool take(struct walk *w, char c)
{
    bool is_there = is_next(w, c);
    w->at += is_there;
    return is_there;
}

static void skip_space(struct walk *w)
{
    while (w->at < w->end && memchr(" \t\r\n", *w->at, 4)) {
        w->at++;
    }
}

static bool take_word(struct walk *w, const char *word)
{
    size_t n = strlen(word);
    bool is_there = (size_t)(w->end - w->at) >= n && memcmp(w->at, word, n) == 0;
    w->at += is_there ? n : 0;
    return is_there;
}

static bool take_digits(struct walk *w)
{
    const char *from = w->at;
    while (w->at < w->end && *w->at >= '0' && *w->at <= '9') {
        w->at++;
    }
    return w->at > from;
}

static bool take_number(struct walk *w)
{
    take(w, '-');
    bool ok = take(w, '0') || take_digits(w);
    if (ok && take(w, '.')) {
        ok = take_digits(w);
    }
    if (ok && (take(w, 'e') || take(w, 'E'))) {
        (void)(take(w, '+') || take(w, '-'));
        ok = take_digits(w);
    }
    return ok;
}

static bool take_escape(struct walk *w)
{
    if (!take(w, 'u')) {
        return w->at < w->end && *w->at && strchr("\"\\/bfnrt", *w->at++);
    }
    for (int i = 0; i < 4; i++, w->at++) {
        if (w->at == w->end || !*w->at || !strchr("0123456789abcdefABCDEF", *w->at)) {
            return false;
        }
    }
    return true;
}

static bool take_string(struct walk *w)
{
    if (!take(w, '"')) {
        return false;
    }
    while (!take(w, '"')) {
        size_t length = 1;
        if (w->at == w->end || (unsigned char)*w->at < ' ') {
            return false;
        }
        if (take(w, '\\')) {
            if (!take_escape(w)) {
                return false;
            }
        } else if (stk_utf8_next_of(w->at, (size_t)(w->end - w->at), &length) == STK_UTF8_INVALID) {
            return false;
        } else {
            w->at += length;
        }
    }
    return true;
}

static bool take_key(struct walk *w)
{
    bool ok = take_string(w);
    skip_space(w);
    ok = ok && take(w, ':');
    skip_space(w);
    return ok;
}

// The start of a value: a whole one, or an opening bracket. *is_open: after a bracket, another
// value must follow.
static bool take_start(struct walk *w, bool *is_open)
{
    char c = w->at < w->end ? *w->at : 0;
    *is_open = false;
    if (c != '{' && c != '[') {
        return c == '"'   ? take_string(w)
               : c == 't' ? take_word(w, "true")
               : c == 'f' ? take_word(w, "false")
               : c == 'n' ? take_word(w, "null")
                          : take_number(w);
    }
    if (w->depth == DEPTH) {
        return false;
    }
    w->brackets[w->depth++] = c == '{' ? '}' : ']';
    w->at++;
    skip_space(w);
    *is_open = !is_next(w, w->brackets[w->depth - 1]);
    return !*is_open || c == '[' || take_key(w);
}

// The end of a value: closing brackets, and a comma if another value must follow.
static bool take_end(struct walk *w, bool *is_open)
{
    *is_open = false;
    for (skip_space(w); w->depth > 0; skip_space(w)) {
        char closes = w->brackets[w->depth - 1];
        if (take(w, ',')) {
            *is_open = true;
            skip_space(w);
            return closes == ']' || take_key(w);
        }
        if (!take(w, closes)) {
            return false;
        }
        w->depth--;
    }
    return true;
}

bool stk_json_is_value(const char *text, size_t n)
{
    struct walk w = {.at = text, .end = text + n};
    bool is_open = true;
    skip_space(&w);
    while (is_open) {
        if (!take_start(&w, &is_open) || (!is_open && !take_end(&w, &is_open))) {
            return false;
        }
    }
    return w.depth == 0 && w.at == w.end;
}
