// SPDX-License-Identifier: Apache-2.0
// Names that show how a job's code is written: see signs.h. Each distinct name is compared once.
#include "profile/model/signs.h"

#include <string.h>

#include "profile/model/threads/python_frame.h"

enum scope { SCOPE_SLICE, SCOPE_TYPE, SCOPE_FUNCTION, SCOPE_FILE, SCOPES };
enum how { HOW_IS, HOW_STARTS, HOW_ENDS, HOW_HAS, HOW_NUMBERED };

static const struct row {
    struct stk_str pattern;
    uint8_t sign, scope, how;
} rows[] = {
#define W(id, scope, how, pattern)                                                                 \
    {{pattern, sizeof pattern - 1}, STK_SIGN_##id, SCOPE_##scope, HOW_##how},
#include "profile/model/signs.def"
};

_Static_assert(STK_SIGN_COUNT < UINT8_MAX, "a sign and 0 fit in a byte");

// Is the pattern's first half, found up to `at`, followed by a number or none, and the second half?
static bool goes_on(struct stk_str s, size_t at, struct stk_str second)
{
    size_t digits = at + 1;
    if (at < s.n && s.p[at] == '_') {
        while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9') {
            digits++;
        }
        at = digits > at + 1 ? digits : at;
    }
    return stk_str_starts((struct stk_str){s.p + at, s.n - at}, second);
}

// The pattern "a#b": "ab", "a_1b", "a_2b", ... somewhere.
static bool has_numbered(struct stk_str s, struct stk_str pattern)
{
    size_t half = (size_t)((const char *)memchr(pattern.p, '#', pattern.n) - pattern.p);
    struct stk_str first = {pattern.p, half};
    struct stk_str second = {pattern.p + half + 1, pattern.n - half - 1};
    for (size_t i = 0; i + half <= s.n; i++) {
        if (memcmp(s.p + i, first.p, half) == 0 && goes_on(s, i + half, second)) {
            return true;
        }
    }
    return false;
}

static bool matches(const struct row *r, struct stk_str s)
{
    switch (r->how) {
    case HOW_IS:
        return stk_str_eq(s, r->pattern);
    case HOW_STARTS:
        return stk_str_starts(s, r->pattern);
    case HOW_ENDS:
        return stk_str_ends(s, r->pattern);
    case HOW_NUMBERED:
        return has_numbered(s, r->pattern);
    default:
        return stk_str_contains(s, r->pattern);
    }
}

// The text that rows of each scope are compared with; empty: they don't apply.
static void split(struct stk_str name, struct stk_str parts[SCOPES])
{
    struct stk_python_frame frame = stk_python_frame_parse(name);
    memset(parts, 0, SCOPES * sizeof *parts);
    if (frame.is_source || frame.is_builtin) {
        parts[SCOPE_FUNCTION] = frame.function;
        parts[SCOPE_FILE] = frame.file;
        return;
    }
    parts[SCOPE_SLICE] = name;
    for (size_t i = name.n; i > 1; i--) {
        if (name.p[i - 1] == ':') {
            bool of_class = name.p[i - 2] == ':';
            parts[SCOPE_TYPE] = (struct stk_str){name.p + i, of_class ? 0 : name.n - i};
            break;
        }
    }
}

static uint8_t find(struct stk_str name)
{
    struct stk_str parts[SCOPES];
    split(name, parts);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct stk_str part = parts[r->scope];
        bool by_begin = r->how == HOW_IS || r->how == HOW_STARTS; // most: one byte rules them out
        if (part.n == 0 || (by_begin && part.p[0] != r->pattern.p[0])) {
            continue;
        }
        if (matches(r, part)) {
            return (uint8_t)(r->sign + 1);
        }
    }
    return 0;
}

const uint8_t *stk_signs_classify(const struct stk_trace *t, struct stk_arena *arena)
{
    uint8_t *signs = stk_arena_array(arena, (size_t)t->strings.count + 1, 1);
    for (uint32_t i = 0; signs && i < t->strings.count; i++) {
        signs[i] = find(stk_strpool_get(&t->strings, i));
    }
    return signs;
}
