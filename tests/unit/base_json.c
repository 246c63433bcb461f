// SPDX-License-Identifier: Apache-2.0
// JSON out: escaping, broken UTF-8, exact integers, shares, layout; failing sinks.
#include <math.h>

#include "check.h"
#include "base/json.h"
#include "base/utf8.h"

struct text {
    char bytes[65536];
    size_t used, capacity;
};

static int take(void *arg, const char *bytes, size_t n)
{
    struct text *t = arg;
    if (n > t->capacity - t->used) {
        return -1;
    }
    memcpy(t->bytes + t->used, bytes, n);
    t->used += n;
    t->bytes[t->used] = 0;
    return 0;
}

static struct text out;
static struct stk_sink sink;

static struct stk_json *begin(void)
{
    static struct stk_json j;
    out.used = 0;
    out.capacity = sizeof out.bytes - 1;
    out.bytes[0] = 0;
    stk_sink_init(&sink, take, &out);
    stk_json_init(&j, &sink);
    return &j;
}

static const char *end(void)
{
    struct stoker_err err;
    CHECK(stk_sink_finish(&sink, &err) == STOKER_OK);
    return out.bytes;
}

static const char *text_of(const char *bytes)
{
    stk_json_text(begin(), bytes);
    return end();
}

static const char *share_of(double value)
{
    stk_json_share(begin(), value);
    return end();
}

static void test_escaping(void)
{
    CHECK_STR(text_of("plain"), "\"plain\"");
    CHECK_STR(text_of("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    CHECK_STR(text_of("\n\t\001\x1f\x7f"), "\"\\n\\t\\u0001\\u001f\\u007f\"");
    CHECK_STR(text_of("µs €😀"), "\"µs €😀\"");
    CHECK_STR(text_of("\xff"
                      "a"),
              "\"\xef\xbf\xbd"
              "a\"");
    CHECK_STR(text_of("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\""); // overlong slash
    CHECK_STR(text_of("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); // surrogate
    CHECK_STR(text_of("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");                 // cut
    CHECK_STR(text_of("\xf4\x90\x80\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_numbers(void)
{
    stk_json_i64(begin(), INT64_MIN);
    CHECK_STR(end(), "-9223372036854775808");
    stk_json_u64(begin(), UINT64_MAX);
    CHECK_STR(end(), "18446744073709551615");
    CHECK_STR(share_of(0), "0.0");
    CHECK_STR(share_of(1), "1.0");
    CHECK_STR(share_of(0.3912346), "0.391235");
    CHECK_STR(share_of(0.5), "0.5");
    CHECK_STR(share_of(-0.25), "-0.25");
    CHECK_STR(share_of(0.0000004), "0.0");
    CHECK_STR(share_of(0.9999999), "1.0");
    CHECK_STR(share_of(NAN), "0.0");
}

static void test_layout(void)
{
    struct stk_json *j = begin();
    stk_json_open(j, '{', false);
    stk_json_key(j, "empty");
    stk_json_open(j, '[', false);
    stk_json_close(j, ']');
    stk_json_key(j, "row");
    stk_json_open(j, '{', true);
    stk_json_key(j, "a");
    stk_json_i64(j, 1);
    stk_json_key(j, "b");
    stk_json_open(j, '[', false);
    stk_json_i64(j, 2);
    stk_json_bool(j, true);
    stk_json_close(j, ']');
    stk_json_close(j, '}');
    stk_json_key(j, "list");
    stk_json_open(j, '[', false);
    stk_json_text(j, "x");
    stk_json_text(j, "y");
    stk_json_close(j, ']');
    stk_json_close(j, '}');
    CHECK_STR(end(), "{\n  \"empty\": [],\n  \"row\": {\"a\": 1, \"b\": [2, true]},\n"
                     "  \"list\": [\n    \"x\",\n    \"y\"\n  ]\n}");
}

// With any amount of room, a full sink says so at the end, and never before it is asked.
static void test_full_sink(void)
{
    for (size_t capacity = 0; capacity < 30000; capacity += 997) {
        struct stoker_err err;
        struct stk_json *j = begin();
        out.capacity = capacity;
        stk_json_open(j, '[', false);
        for (int i = 0; i < 2000; i++) {
            stk_json_i64(j, 1000000 + i);
        }
        stk_json_close(j, ']');
        stk_err_init(&err);
        bool fits =
            2000u * 11 + 2 <= capacity; // ",\n  1234567" less one comma, brackets, one line break
        CHECK((stk_sink_finish(&sink, &err) == STOKER_OK) == fits);
        CHECK(fits || err.code == STOKER_EOUTPUT);
    }
}

static void test_utf8(void)
{
    size_t n;
    CHECK_EQ(stk_utf8_next("\xf0\x9f\x98\x80", &n), 0x1f600);
    CHECK_EQ(n, 4);
    CHECK_EQ(stk_utf8_next("\xc3\xa9x", &n), 0xe9);
    CHECK_EQ(n, 2);
    CHECK_EQ(stk_utf8_next("\x80", &n), STK_UTF8_INVALID);
    CHECK_EQ(n, 1);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_escaping);
    CHECK_RUN(test_numbers);
    CHECK_RUN(test_layout);
    CHECK_RUN(test_full_sink);
    CHECK_RUN(test_utf8);
    return check_done("unit.base_json");
}
