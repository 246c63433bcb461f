// SPDX-License-Identifier: Apache-2.0
// What is one valid JSON value and what isn't. Every truncation of a document and every change of
// one byte ends with an answer.
#include "base/json_check.h"

#include "check.h"

static bool is_value(const char *text)
{
    return stk_json_is_value(text, strlen(text));
}

static void values(void)
{
    static const char *const good[] = {
        "0",
        "-0",
        "12",
        "-1.5e+10",
        "1E5",
        "0.25",
        "true",
        "false",
        "null",
        "\"\"",
        "\"a\\\"b\\u00e4\\n\"",
        "\"\xc3\xa4\"",
        "[]",
        "{}",
        "[ ]",
        "{ }",
        "[1, [2, {\"a\": []}], \"x\"]",
        " {\"a\": 1, \"b\": {\"c\": [true, null]}} \n",
        "[[[]], {}, [{}]]",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(is_value(good[i]));
    }
}

static void no_values(void)
{
    static const char *const bad[] = {
        "",           " ",         "{",       "}",          "[",      "[1",      "[1,",
        "[1,]",       "[,]",       "[1 2]",   "1 2",        "01",     "1.",      ".5",
        "-",          "+1",        "1e",      "0x1",        "nul",    "True",    "NaN",
        "'a'",        "\"a",       "\"\\x\"", "\"\n\"",     "{1: 2}", "{\"a\"}", "{\"a\": }",
        "{\"a\":1,}", "{\"a\" 1}", "[}",      "{]",         "[]]",    "{}{}",    "\"\xff\"",
        "\"\xc3\"",   "\"\\u12\"", "[1],",    "{\"a\":1}}", "// x",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(!is_value(bad[i]));
    }
    CHECK(!stk_json_is_value("1\0", 2));
    CHECK(!stk_json_is_value("\"a\0b\"", 5));
}

static void depth(void)
{
    char text[2 * 65 + 1] = {0};
    for (size_t n = 64; n <= 65; n++) {
        memset(text, '[', n);
        memset(text + n, ']', n);
        CHECK_EQ(stk_json_is_value(text, 2 * n), n == 64);
    }
}

static void damaged(void)
{
    static const char whole[] =
        "{\"schema\": \"stoker.run/1\", \"list\": [1.5e3, {\"\\u0041\": null}]}";
    char text[sizeof whole];
    CHECK(is_value(whole));
    for (size_t n = 0; n < strlen(whole); n++) {
        char *exact = malloc(n + 1); // so that a byte too far is seen
        memcpy(exact, whole, n);
        CHECK(!stk_json_is_value(exact, n));
        free(exact);
    }
    size_t good = 0;
    for (size_t i = 0; i < strlen(whole); i++) {
        for (int c = 0; c < 256; c++) {
            memcpy(text, whole, sizeof whole);
            text[i] = (char)c;
            good += stk_json_is_value(text, strlen(whole));
        }
    }
    CHECK(good > strlen(whole) && good < strlen(whole) * 256 / 2);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(values);
    CHECK_RUN(no_values);
    CHECK_RUN(depth);
    CHECK_RUN(damaged);
    return check_done("unit.base_json_check");
}
