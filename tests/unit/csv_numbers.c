// SPDX-License-Identifier: Apache-2.0
// CSV against simpler readers: positions of special characters with vectors and one by one, rows
// with and without kept fields, numbers and the C library's.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "engine/formats/csv.h"
#include "engine/formats/text_number.h"

#define LONGEST 80

static uint64_t state = 1;

static uint64_t draw(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

static void test_masks(void)
{
    static const char likely[] = ",;\t\"\n\r a";
    uint8_t p[64];
    int differ = 0;
    for (int i = 0; i < 200000; i++) {
        bool is_text = draw(2);
        for (int k = 0; k < 64; k++) {
            p[k] = is_text ? (uint8_t)likely[draw(8)] : (uint8_t)draw(256);
        }
        uint8_t delim = draw(2) ? (uint8_t)likely[draw(4)] : (uint8_t)draw(256);
        bool quotes = draw(2);
        uint64_t want = 0;
        for (int k = 0; k < 64; k++) {
            bool hit = p[k] == delim || p[k] == '\n' || p[k] == '\r' || (quotes && p[k] == '"');
            want |= (uint64_t)hit << k;
        }
        differ += stk_csv_mask(p, delim, quotes) != want;
        differ += stk_csv_mask_plain(p, delim, quotes) != want;
    }
    CHECK_EQ(differ, 0);
}

// The same rows come out where no field is kept, which takes every field by itself.
static void same_rows(const uint8_t *text, size_t n, bool quotes)
{
    struct stk_csv_field fields[400];
    struct stk_csv_scan kept = {.delim = ',', .has_quotes = quotes}, bare = kept;
    const char *why, *bare_why;
    size_t count, bare_count;
    bool is_last = draw(2), has_row = true;
    stk_csv_start(&kept, text, text + n);
    stk_csv_start(&bare, text, text + n);
    while (has_row) {
        const uint8_t *at = kept.at;
        has_row = stk_csv_row(&kept, is_last, fields, 400, &count, &why);
        CHECK_EQ(stk_csv_row(&bare, is_last, fields, 0, &bare_count, &bare_why), has_row);
        CHECK(kept.at == bare.at);
        if (!has_row) {
            break;
        }
        CHECK_EQ(count, bare_count);
        CHECK((why == NULL) == (bare_why == NULL));
        for (size_t k = 0; !why && k < count; k++) { // one behind the other
            bool is_quoted = quotes && *at == '"' && at < kept.end;
            CHECK(fields[k].data == at + is_quoted);
            CHECK(is_quoted || !memchr(at, ',', fields[k].size));
            at = fields[k].data + fields[k].size + is_quoted + 1;
        }
    }
}

static void test_rows(void)
{
    static const char from[] = "abcdef,,,,,\n\r\"";
    uint8_t text[300 + STK_CSV_PAD];
    for (int i = 0; i < 20000; i++) {
        size_t n = draw(300);
        uint64_t variety = draw(2) ? 14 : 13; // with quotes or none
        for (size_t k = 0; k < sizeof text; k++) {
            text[k] = (uint8_t)from[draw(draw(3) ? 8 : variety)];
        }
        same_rows(text, n, draw(2));
    }
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// The text between white space, with an end.
static void strip(char *out, const char *text)
{
    size_t n = strlen(text);
    while (n && is_space(text[n - 1])) {
        n--;
    }
    while (n && is_space(*text)) {
        text++;
        n--;
    }
    memcpy(out, text, n);
    out[n] = 0;
}

static void number(const char *text, size_t spare)
{
    size_t n = strlen(text);
    uint8_t *p = malloc(n + spare + 1); // as long as may be read
    char bare[LONGEST + 1], *end;
    memcpy(p, text, n);
    for (size_t k = n; k < n + spare; k++) {
        p[k] = (uint8_t)"0123456789.e-,\n \xff"[draw(17)];
    }
    strip(bare, text);
    double f64, want64 = strtod(bare, &end);
    bool is_float = *bare && *end == 0;
    float f32, want32 = strtof(bare, &end);
    p = realloc(p, n + spare ? n + spare : 1);
    bool good = stk_text_f64(p, n, spare, &f64) == is_float &&
                (!is_float || memcmp(&f64, &want64, sizeof f64) == 0);
    good = good && stk_text_f32(p, n, spare, &f32) == is_float &&
           (!is_float || memcmp(&f32, &want32, sizeof f32) == 0);
    errno = 0;
    long long want = strtoll(bare, &end, 10);
    bool is_int = *bare && *end == 0 && errno == 0;
    int64_t i64;
    int32_t i32;
    good = good && stk_text_i64(p, n, spare, &i64) == is_int && (!is_int || i64 == want);
    bool is_short = is_int && want >= INT32_MIN && want <= INT32_MAX;
    good = good && stk_text_i32(p, n, spare, &i32) == is_short && (!is_short || i32 == want);
    if (!good) {
        fprintf(stderr, "'%s', %zu bytes after it\n", text, spare);
    }
    CHECK(good);
    free(p);
}

static size_t put_digits(char *to, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        to[k] = (char)('0' + (draw(4) ? draw(10) : draw(2) * 9));
    }
    return n;
}

static void random_number(char *text)
{
    size_t n = 0, few = draw(3) ? 9 : 24;
    n += (size_t)snprintf(text, 8, "%s%s", draw(8) ? "" : " \t",
                          draw(3)   ? ""
                          : draw(4) ? "-"
                                    : "+");
    n += put_digits(text + n, draw(few));
    if (draw(3)) {
        text[n++] = '.';
        n += put_digits(text + n, draw(few));
    }
    if (!draw(4)) {
        n += (size_t)snprintf(text + n, 16, "%c%s%d", draw(2) ? 'e' : 'E',
                              draw(2)   ? "-"
                              : draw(2) ? "+"
                                        : "",
                              (int)draw(draw(2) ? 30 : 400));
    }
    n += (size_t)snprintf(text + n, 4, "%s", draw(8) ? "" : " \r");
    text[n] = 0;
    if (n && !draw(8)) {
        text[draw(n)] = "0.e-+x/: "[draw(9)];
    }
}

static void test_numbers(void)
{
    static const char *const odd[] = {"",
                                      "-",
                                      "+",
                                      ".",
                                      "-.",
                                      "1.",
                                      ".5",
                                      "1..2",
                                      "1.2.3",
                                      "--1",
                                      "+-1",
                                      "1e",
                                      "1e+",
                                      "1e5.",
                                      "0x1p3",
                                      "inf",
                                      "-nan(1)",
                                      "12345678",
                                      "1234567.",
                                      "1234567.12345678",
                                      "12345678.12345678",
                                      "0.00000000",
                                      "-0.0",
                                      "-0",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "-9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999",
                                      "2147483648",
                                      "-2147483648",
                                      "00000000000000000000000000000000012",
                                      "16777217.0",
                                      "16777219.",
                                      "0.1",
                                      "1e22",
                                      "1e23",
                                      "9007199254740993",
                                      "1.17549435e-38",
                                      "1e-45",
                                      "3.4028236e38",
                                      "1e39",
                                      "1e-400",
                                      "1 2",
                                      "1\n"};
    char text[LONGEST];
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        for (size_t spare = 0; spare < 20; spare++) {
            number(odd[i], spare);
        }
    }
    for (int i = 0; i < 300000; i++) {
        random_number(text);
        number(text, draw(2) ? 64 : draw(20));
    }
}

// Decimals next to the middle between two floats, where rounding twice could go wrong.
static void test_middles(void)
{
    for (int i = 0; i < 50000; i++) {
        char text[LONGEST];
        uint32_t bits = (uint32_t)(100 + draw(56)) << 23 | (uint32_t)draw(1 << 23);
        float f;
        memcpy(&f, &bits, sizeof f);
        double next = (double)f, v;
        memcpy(&bits, &f, sizeof bits);
        bits++;
        memcpy(&f, &bits, sizeof f);
        v = (next + (double)f) / 2;
        snprintf(text, sizeof text, "%.*f", (int)draw(9), v);
        number(text, 64);
        snprintf(text, sizeof text, "%.*g", (int)draw(19), v);
        number(text, 64);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_masks);
    CHECK_RUN(test_rows);
    CHECK_RUN(test_numbers);
    CHECK_RUN(test_middles);
    return check_done("unit.csv_numbers");
}
