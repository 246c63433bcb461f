// SPDX-License-Identifier: Apache-2.0
// Numbers, JSON strings and CSV fields: exact, the same in every locale, and read back.
#include "check.h"
#include "comma_locale.h"

#include <float.h>
#include <math.h>

#include "base/text.h"

static char text[STK_TEXT_NUMBER_MAX];

static const char *real_of(double v)
{
    text[0] = 0;
    stk_text_put_real(text, v);
    return text;
}

static const char *share_of(double v)
{
    stk_text_put_share(text, v);
    return text;
}

static void whole_numbers(void)
{
    static const int64_t cases[] = {0,    1,     9,         10,        99,
                                    100,  12345, -1,        -100,      4294967296,
                                    -999, 1000,  INT64_MAX, INT64_MIN, 1234567890123456789};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "%" PRId64, cases[i]);
        CHECK_EQ(stk_text_put_i64(text, cases[i]), strlen(wanted));
        CHECK_STR(text, wanted);
        snprintf(wanted, sizeof wanted, "%" PRIu64, (uint64_t)cases[i]);
        CHECK_EQ(stk_text_put_u64(text, (uint64_t)cases[i]), strlen(wanted));
        CHECK_STR(text, wanted);
    }
    stk_text_put_us(text, 1234567);
    CHECK_STR(text, "1234.567");
    stk_text_put_us(text, -7);
    CHECK_STR(text, "-0.007");
    stk_text_put_us(text, INT64_MIN);
    CHECK_STR(text, "-9223372036854775.808");
}

// Under any locale.
static void reals(void)
{
    static const double cases[] = {0,    0.1,      1.0 / 3, 1e300,   5e-324, 123456789.125,
                                   -2.5, 1e22 / 7, DBL_MAX, DBL_MIN, 1e15,   1e-7};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *s = real_of(cases[i]);
        char *end;
        CHECK(stk_text_to_real(s, &end) == cases[i] && *end == 0);
        CHECK(!strchr(s, ',') && strlen(s) < STK_TEXT_NUMBER_MAX);
    }
    CHECK_STR(real_of(0.1), "0.1");
    CHECK_STR(real_of(1e300), "1e+300");
    CHECK_EQ(stk_text_put_real(text, NAN), 0);
    CHECK_EQ(stk_text_put_real(text, -INFINITY), 0);
    CHECK_STR(share_of(0.3912346), "0.391235");
    CHECK_STR(share_of(-0.25), "-0.25");
    CHECK_STR(share_of(123456789012.5), "123456789012.5");
    CHECK_STR(share_of(1), "1.0");
    CHECK_STR(share_of(0.0000004), "0.0");
    char *end;
    CHECK(stk_text_to_real("1.5x", &end) == 1.5 && *end == 'x');
    CHECK(stk_text_to_real("1,5", &end) == 1 && *end == ',');
    CHECK(stk_text_to_float("16777217.0000001", &end) == 16777218.0f && *end == 0);
    char line[40];
    CHECK_EQ(stk_text_printf(line, sizeof line, "%.2f of %d", 2.5, 7), 9);
    CHECK_STR(line, "2.50 of 7");
}

// The whole of a text in another notation.
static const char *all_of(void (*next)(struct stk_text_piece *, struct stk_str), const char *p,
                          size_t n)
{
    static char out[400];
    size_t used = 0;
    for (struct stk_str s = {p, n}; s.n;) {
        struct stk_text_piece piece;
        next(&piece, s);
        CHECK(piece.taken > 0 && piece.taken <= s.n);
        memcpy(out + used, piece.text, piece.n);
        used += piece.n;
        s = (struct stk_str){s.p + piece.taken, s.n - piece.taken};
    }
    out[used] = 0;
    return out;
}

#define JSON(literal) all_of(stk_text_json, literal, sizeof(literal) - 1)
#define CSV(literal) all_of(stk_text_csv, literal, sizeof(literal) - 1)
#define FFFD "\xef\xbf\xbd"

static void strings(void)
{
    CHECK_STR(JSON("a\"b\\c/d"), "a\\\"b\\\\c/d");
    CHECK_STR(JSON("\n\t\r\001\x7f\0z"), "\\n\\t\\u000d\\u0001\\u007f\\u0000z");
    CHECK_STR(JSON("\xc3\xa9\xf0\x9f\x98\x80"), "\xc3\xa9\xf0\x9f\x98\x80");
    CHECK_STR(JSON("a\xff"), "a" FFFD);
    CHECK_STR(JSON("\xe2\x82"), FFFD FFFD); // cut at the end of the text
    CHECK_STR(CSV("a\"\"b\","), "a\"\"\"\"b\"\",");
    CHECK_STR(CSV("\""), "\"\"");
    static const char *const quoted[] = {"a,b", "\"", "a\nb", "\r", " a", "a "};
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++) {
        CHECK(stk_text_csv_is_quoted(stk_str_from(quoted[i])));
    }
    CHECK(!stk_text_csv_is_quoted(STK_STR("a b;c'd")) && !stk_text_csv_is_quoted(STK_STR("")));
}

static void shown(struct stk_text_piece *piece, struct stk_str s)
{
    stk_text_shown(piece, s, false);
}
static void shown_in_ascii(struct stk_text_piece *piece, struct stk_str s)
{
    stk_text_shown(piece, s, true);
}
#define SHOWN(literal) all_of(shown, literal, sizeof(literal) - 1)

static void terminals(void)
{
    CHECK_STR(SHOWN("a\x1b[31m\n\t\r\x7f\0z"), "a?[31m?????z");
    CHECK_STR(SHOWN("\xc2\x9b \xc2\xa0\x9b\xe2\x80"), "? \xc2\xa0???");
    CHECK_STR(SHOWN("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
              "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK_STR(all_of(shown_in_ascii, "a\xc3\xa9\xe2\x82\xac~", 7), "a??~");
    static const char signs[] = "7 \xc2\xb5s, 3\xc3\x97, 1\xe2\x80\x93"
                                "2, 5 \xe2\x86\x92 4"; // µ × – →
    CHECK_STR(all_of(shown_in_ascii, signs, sizeof signs - 1), "7 us, 3x, 1-2, 5 -> 4");
    CHECK_STR(all_of(shown, signs, sizeof signs - 1), signs);
    CHECK_STR(JSON("\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xd8\x9c"), "\\u009b\\u202e\\u2066\\u061c");
    static const uint32_t marks[] = {0x61c, 0x200e, 0x200f};
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        bool is_mark = (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            is_mark |= c == marks[i];
        }
        bool is_code = c < 0x20 || (c >= 0x7f && c <= 0x9f);
        if (stk_text_is_control(c) != (is_code || is_mark)) {
            CHECK_EQ(c, 0);
        }
    }
}

static void formulas(void)
{
    static const char *const run[] = {"=1", "+x",   "-x",   "@",    "\t1",  "\r", "\n=1",
                                      "-",  "-1-1", "+inf", "-nan", "-1,5", "--1"};
    static const char *const kept[] = {"", "x", "1", "-1", "+1.5e-3", "-.5", "'=1", " =1", "a=b"};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        CHECK(stk_text_csv_is_formula(stk_str_from(run[i])));
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        CHECK(!stk_text_csv_is_formula(stk_str_from(kept[i])));
    }
    char longest[200];
    memset(longest, '1', sizeof longest);
    longest[0] = '-';
    CHECK(stk_text_csv_is_formula((struct stk_str){longest, sizeof longest})); // nobody's number
    CHECK(stk_text_csv_is_formula((struct stk_str){"-1\0x", 4}));
}

static void under_a_comma(void)
{
    if (!comma_locale_set()) {
        check_skip("no locale with a decimal comma, and no localedef to make one");
        return;
    }
    reals();
    CHECK(comma_is_set()); // the program's own stays
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(whole_numbers);
    CHECK_RUN(strings);
    CHECK_RUN(terminals);
    CHECK_RUN(formulas);
    CHECK_RUN(reals);
    CHECK_RUN(under_a_comma);
    return check_done("unit.base_text");
}
