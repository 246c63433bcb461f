// SPDX-License-Identifier: Apache-2.0
// Figures as people read them. Integers throughout: no locale, no binary fractions.
#include "out/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// value / unit with three significant digits, rounded half up.
static void three_digits(char *out, size_t size, uint64_t value, uint64_t unit)
{
    if (value / unit >= 100) {
        snprintf(out, size, "%" PRIu64, value / unit + (value % unit >= unit - unit / 2));
        return;
    }
    uint64_t step = value / unit >= 10 ? unit / 10 : unit / 100;
    uint64_t rounded = (value + step / 2) / step;
    if (step == unit / 100 && rounded >= 1000) { // 9.996 is 10.0
        rounded /= 10;
        step = unit / 10;
    }
    if (step == unit / 10)
        snprintf(out, size, "%" PRIu64 ".%" PRIu64, rounded / 10, rounded % 10);
    else
        snprintf(out, size, "%" PRIu64 ".%02" PRIu64, rounded / 100, rounded % 100);
}

struct stk_human stk_human_ns(int64_t ns, bool ascii)
{
    struct stk_human h;
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    const char *sign = ns < 0 ? "-" : "";
    char digits[24];
    if (size < 1000) {
        snprintf(h.text, sizeof h.text, "%s%" PRIu64 " ns", sign, size);
        return h;
    }
    // A value that would round up to 1000 is given in the next unit.
    uint64_t unit = size < 999500 ? 1000 : size < 999500000 ? 1000000 : 1000000000;
    const char *name = unit == 1000 ? (ascii ? "us" : "µs") : unit == 1000000 ? "ms" : "s";
    three_digits(digits, sizeof digits, size, unit);
    snprintf(h.text, sizeof h.text, "%s%s %s", sign, digits, name);
    return h;
}

struct stk_human stk_human_count(uint64_t n)
{
    struct stk_human h;
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            h.text[used++] = ' ';
        h.text[used++] = digits[i];
    }
    h.text[used] = 0;
    return h;
}

struct stk_human stk_human_bytes(uint64_t bytes)
{
    static const char *const names[] = {"kB", "MB", "GB", "TB", "PB"};
    struct stk_human h;
    char digits[24];
    if (bytes < 1000) {
        snprintf(h.text, sizeof h.text, "%" PRIu64 " B", bytes);
        return h;
    }
    uint64_t unit = 1000;
    size_t n = 0;
    while (n + 1 < sizeof names / sizeof names[0] && bytes >= unit * 1000 - unit / 2) {
        unit *= 1000;
        n++;
    }
    three_digits(digits, sizeof digits, bytes, unit);
    snprintf(h.text, sizeof h.text, "%s %s", digits, names[n]);
    return h;
}

static long tenths_of_percent(double share)
{
    if (!(share > 0)) // not a number too
        return 0;
    return share > 10 ? 10000 : lround(share * 1000);
}

struct stk_human stk_human_percent(double share)
{
    struct stk_human h;
    long tenths = tenths_of_percent(share);
    if (tenths == 0)
        strcpy(h.text, share > 0 ? "<0.1 %" : "0 %");
    else if (tenths < 10)
        snprintf(h.text, sizeof h.text, "0.%ld %%", tenths);
    else
        snprintf(h.text, sizeof h.text, "%ld %%", (tenths + 5) / 10);
    return h;
}

struct stk_human stk_human_range(double low, double high)
{
    struct stk_human a = stk_human_percent(low), b = stk_human_percent(high);
    if (strcmp(a.text, b.text) == 0)
        return a;
    struct stk_human h;
    a.text[strcspn(a.text, " ")] = 0;
    snprintf(h.text, sizeof h.text, "%.10s-%.20s", a.text, b.text);
    return h;
}
