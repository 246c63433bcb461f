// SPDX-License-Identifier: Apache-2.0
// What a target's program prints, kept in memory, and what must hold of it: text moves no cursor
// and turns nothing around; JSON is JSON, in UTF-8. One output at a time, 4 MB at most.
#ifndef STK_TESTS_FUZZ_OUTPUT_H
#define STK_TESTS_FUZZ_OUTPUT_H

#include "fuzz.h"

#include "base/utf8.h"

enum { FUZZ_OUTPUT_MAX = 1 << 22 };
static struct {
    char bytes[FUZZ_OUTPUT_MAX + 1];
    size_t n;
} fuzz_output;

// A stoker_write_fn.
static inline int fuzz_take(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    FUZZ_REQUIRE(fuzz_output.n + n <= FUZZ_OUTPUT_MAX);
    memcpy(fuzz_output.bytes + fuzz_output.n, bytes, n);
    fuzz_output.n += n;
    fuzz_output.bytes[fuzz_output.n] = 0;
    return 0;
}

// Controls of both blocks; marks that turn the direction or end a line.
static inline bool fuzz_is_obeyed(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

// Length of a color of stoker's own at p; 0: it is none.
static inline size_t fuzz_color_at(const char *p)
{
    size_t n = p[0] == '\033' && p[1] == '[' ? 2 + strspn(p + 2, "0123456789;") : 0;
    return n > 2 && p[n] == 'm' ? n + 1 : 0;
}

// `width`: of a line at most; 0: any.
static inline void fuzz_check_text(bool has_color, bool is_ascii, int width)
{
    int column = 0;
    size_t length;
    FUZZ_REQUIRE(strlen(fuzz_output.bytes) == fuzz_output.n);
    for (const char *p = fuzz_output.bytes; *p; p += length) {
        uint32_t c = stk_utf8_next(p, &length);
        if (*p == '\n') {
            column = 0;
            continue;
        }
        if (*p == '\033') {
            FUZZ_REQUIRE(has_color && fuzz_color_at(p));
            length = fuzz_color_at(p);
            continue;
        }
        FUZZ_REQUIRE(c != STK_UTF8_INVALID && !fuzz_is_obeyed(c) && (c < 0x80 || !is_ascii));
        FUZZ_REQUIRE(++column <= width || width == 0);
    }
}

// ---- JSON, by a reader of its own: the program's is what is checked ----

static inline const char *fuzz_skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static inline const char *fuzz_json_string(const char *p)
{
    size_t length = 1;
    FUZZ_REQUIRE(*p == '"');
    for (p++; *p != '"'; p += length) {
        FUZZ_REQUIRE(stk_utf8_next(p, &length) != STK_UTF8_INVALID && (uint8_t)*p >= 0x20);
        if (*p == '\\') {
            length = p[1] == 'u' ? 6 : 2;
            FUZZ_REQUIRE(p[1] && strchr("\"\\/bfnrtu", p[1]));
            FUZZ_REQUIRE(length == 2 || strspn(p + 2, "0123456789abcdefABCDEF") >= 4);
        }
    }
    return p + 1;
}

// A number may be as long as a file has it: a document may hold another one unchanged.
static inline const char *fuzz_json_scalar(const char *p)
{
    size_t n = strcspn(p, " \t\r\n,]}");
    char *end;
    bool is_word =
        strncmp(p, "true", n) == 0 || strncmp(p, "false", n) == 0 || strncmp(p, "null", n) == 0;
    FUZZ_REQUIRE(n > 0);
    if (!is_word) {
        strtod(p, &end);
        FUZZ_REQUIRE(end == p + n && strspn(p, "+-.0123456789eE") >= n);
    }
    return p + n;
}

// What follows the value at p.
static inline const char *fuzz_json_value(const char *p, int depth)
{
    FUZZ_REQUIRE(depth < 80);
    if (*p == '"') {
        return fuzz_json_string(p);
    }
    if (*p != '{' && *p != '[') {
        return fuzz_json_scalar(p);
    }
    char close = *p == '{' ? '}' : ']';
    p = fuzz_skip_space(p + 1);
    while (*p != close) {
        if (close == '}') {
            p = fuzz_skip_space(fuzz_json_string(p));
            FUZZ_REQUIRE(*p == ':');
            p = fuzz_skip_space(p + 1);
        }
        p = fuzz_skip_space(fuzz_json_value(p, depth + 1));
        FUZZ_REQUIRE(*p == ',' || *p == close);
        p = *p == ',' ? fuzz_skip_space(p + 1) : p;
    }
    return p + 1;
}

static inline void fuzz_check_json(void)
{
    FUZZ_REQUIRE(strlen(fuzz_output.bytes) == fuzz_output.n);
    FUZZ_REQUIRE(*fuzz_skip_space(fuzz_json_value(fuzz_skip_space(fuzz_output.bytes), 0)) == 0);
}

#endif
