// SPDX-License-Identifier: Apache-2.0
// The structure of JSON text: a cursor over quotes and brackets, found 64 bytes at a time. It skips
// escaped quotes, and brackets inside strings.
//
// The cursor scans a window of 4 KiB and moves on only when asked. So it can start anywhere outside
// a string, regardless of the text before.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STK_CHROME_WORDS 64 // words of 64 bytes in a window
#define STK_CHROME_PAD 64   // bytes after the text that must be readable, and be spaces
#define STK_CHROME_END SIZE_MAX

struct stk_chrome_cursor {
    const char *text;
    size_t len;
    size_t base;          // offset of the window's first byte
    unsigned word, words; // current word, words in the window
    uint64_t left;        // structure of the current word not returned yet
    uint64_t in_string;   // all ones if the window ends inside a string
    uint64_t escaped;     // 1 if the byte after the window is escaped
    // The window has a backslash or a byte above 0x7f; a control character in a string.
    bool window_odd, window_control;
    // The same of all windows since stk_chrome_cursor_begin.
    bool odd, control;
    uint64_t all[STK_CHROME_WORDS], open[STK_CHROME_WORDS], close[STK_CHROME_WORDS];
};

// Ways to scan; all give the same result. AUTO uses the fastest that this CPU has.
enum stk_chrome_isa {
    STK_CHROME_ISA_AUTO,
    STK_CHROME_ISA_PLAIN,
    STK_CHROME_ISA_AVX2,
    STK_CHROME_ISA_AVX512,
    STK_CHROME_ISA_NEON
};
// Test hook: scan this way from now on. False (and no change) if the CPU can't.
bool stk_chrome_scan_use(enum stk_chrome_isa isa);

// Start at `offset`, which must be outside a string.
void stk_chrome_cursor_set(struct stk_chrome_cursor *c, const char *text, size_t len,
                           size_t offset);
// Make the next window current; false at the end of the text.
bool stk_chrome_cursor_refill(struct stk_chrome_cursor *c);

// Offset of the next quote or bracket, or STK_CHROME_END.
static inline size_t stk_chrome_cursor_next(struct stk_chrome_cursor *c)
{
    while (c->left == 0) {
        if (++c->word < c->words) {
            c->left = c->all[c->word];
        } else if (!stk_chrome_cursor_refill(c)) {
            return STK_CHROME_END;
        }
    }
    size_t at = c->base + c->word * 64u + (unsigned)__builtin_ctzll(c->left);
    c->left &= c->left - 1;
    return at;
}

// A record begins in the current window.
static inline void stk_chrome_cursor_begin(struct stk_chrome_cursor *c)
{
    c->odd = c->window_odd;
    c->control = c->window_control;
}

// Skip to after the bracket that closes the one at `at`, which next just returned. Returns the
// closing one's offset; STK_CHROME_END if the text ends before.
size_t stk_chrome_cursor_skip(struct stk_chrome_cursor *c, size_t at);
