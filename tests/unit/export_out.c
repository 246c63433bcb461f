// SPDX-License-Identifier: Apache-2.0
// The buffer that exports are written into: numbers, texts, nested protobuf messages, failures.
#include "base/alloc.h"
#include "base/gzip_write.h"
#include "base/stream.h"
#include "check.h"
#include "answers/export/export_out.h"
#include "base/protobuf.h"

struct kept {
    char *p;
    size_t n, cap;
};

static int keep(void *arg, const char *bytes, size_t n)
{
    struct kept *k = arg;
    if (k->n + n > k->cap) {
        k->cap = (k->n + n) * 2;
        k->p = realloc(k->p, k->cap);
        if (!k->p) {
            exit(2);
        }
    }
    memcpy(k->p + k->n, bytes, n);
    k->n += n;
    return 0;
}

static int refuse(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    (void)bytes;
    (void)n;
    return -1;
}

static bool is(struct stk_export_out *o, const char *text, size_t n)
{
    bool same = o->used == n && memcmp(o->p, text, n) == 0;
    if (!same) {
        fprintf(stderr, "got %.*s\n", (int)o->used, (const char *)o->p);
    }
    o->used = 0;
    return same;
}

static void test_numbers(void)
{
    static const struct {
        int64_t value;
        const char *plain, *us;
    } cases[] = {
        {0, "0", "0.000"},
        {7, "7", "0.007"},
        {42, "42", "0.042"},
        {-1, "-1", "-0.001"},
        {999, "999", "0.999"},
        {1000, "1000", "1.000"},
        {1234567, "1234567", "1234.567"},
        {-1234567, "-1234567", "-1234.567"},
        {INT64_MAX, "9223372036854775807", "9223372036854775.807"},
        {INT64_MIN, "-9223372036854775808", "-9223372036854775.808"},
    };
    struct stk_export_out o;
    stk_ex_init(&o, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stk_ex_i64(&o, cases[i].value);
        CHECK(is(&o, cases[i].plain, strlen(cases[i].plain)));
        stk_ex_us(&o, cases[i].value);
        CHECK(is(&o, cases[i].us, strlen(cases[i].us)));
    }
    stk_ex_deinit(&o);
}

static void test_texts(void)
{
    static const struct {
        const char *in;
        size_t n;
        const char *json;
    } cases[] = {
        {"", 0, "\"\""},
        {"plain", 5, "\"plain\""},
        {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
        {"\n\t\x7f", 3, "\"\\n\\t\\u007f\""},
        {"nul\0in", 6, "\"nul\\u0000in\""},
        {"\xc3\xbc\xe2\x80\xa8", 5, "\"\xc3\xbc\\u2028\""},
        {"\xff"
         "a\xc3",
         3,
         "\"\xef\xbf\xbd"
         "a\xef\xbf\xbd\""},                                             // the last one is cut
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, // a surrogate
        {"\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\""},
    };
    struct stk_export_out o, capacity;
    stk_ex_init(&o, NULL, NULL);
    stk_ex_init(&capacity, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stk_str in = {cases[i].in, cases[i].n};
        stk_ex_json(&o, in);
        CHECK(is(&o, cases[i].json, strlen(cases[i].json)));
    }
    struct stk_str good = STK_STR("good"), bad = {"b\xff"
                                                  "d",
                                                  3};
    CHECK(stk_ex_utf8(&capacity, good).p == good.p);
    CHECK(stk_str_eq(stk_ex_utf8(&capacity, bad), STK_STR("b\xef\xbf\xbd"
                                                          "d")));
    stk_pbw_text(&o, 1, bad);
    CHECK(is(&o,
             "\x0a\x05"
             "b\xef\xbf\xbd"
             "d",
             7));
    stk_ex_deinit(&o);
    stk_ex_deinit(&capacity);
}

// Messages nested in messages, with payloads around the sizes where a length takes more bytes.
static void test_nesting(void)
{
    static const size_t sizes[] = {0,   1,   100, 123,   124,   125,   126,
                                   127, 128, 129, 16380, 16384, 70000, 3000000};
    struct stk_export_out o;
    stk_ex_init(&o, NULL, NULL);
    char *payload = calloc(3000000, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t outer = stk_pbw_begin(&o, 60);
        size_t inner = stk_pbw_begin(&o, 2);
        stk_pbw_str(&o, 3, (struct stk_str){payload, sizes[i]});
        stk_pbw_end(&o, inner);
        stk_pbw_u64(&o, 4, UINT64_MAX);
        stk_pbw_fixed64(&o, 5, 0x0123456789abcdefu);
        stk_pbw_end(&o, outer);
        struct stk_pb_cursor c = {o.p, o.p + o.used};
        struct stk_pb_field f;
        CHECK(stk_pb_next(&c, &f) == STK_PB_FIELD && f.number == 60 && c.p == c.end);
        struct stk_pb_cursor in = {f.data, f.data + f.value};
        CHECK(stk_pb_next(&in, &f) == STK_PB_FIELD && f.number == 2);
        struct stk_pb_cursor deep = {f.data, f.data + f.value};
        CHECK(stk_pb_next(&deep, &f) == STK_PB_FIELD && f.number == 3 && f.value == sizes[i]);
        CHECK(stk_pb_next(&in, &f) == STK_PB_FIELD && f.value == UINT64_MAX);
        CHECK(stk_pb_next(&in, &f) == STK_PB_FIELD && f.value == 0x0123456789abcdefu);
        CHECK(stk_pb_next(&in, &f) == STK_PB_END);
        o.used = 0;
    }
    for (uint64_t v = 1; v; v <<= 1) {
        uint8_t bytes[10];
        CHECK_EQ(stk_varint_size(v), (uint64_t)(stk_varint_put(bytes, v) - bytes));
        CHECK_EQ(stk_varint_size(v - 1), (uint64_t)(stk_varint_put(bytes, v - 1) - bytes));
    }
    free(payload);
    stk_ex_deinit(&o);
}

static void test_failures(void)
{
    struct stk_export_out o;
    struct stoker_err err;
    struct kept k = {0};
    stk_err_init(&err);
    stk_ex_init(&o, refuse, NULL);
    stk_ex_literal(&o, "text");
    CHECK_EQ(stk_ex_finish(&o, &err), STOKER_EOUTPUT);
    stk_ex_deinit(&o);

    stk_ex_init(&o, keep, &k);
    stk_alloc_fail_at(1, 1);
    size_t at = stk_pbw_begin(&o, 1);
    stk_pbw_u64(&o, 2, 3);
    stk_ex_literal(&o, "text");
    stk_pbw_end(&o, at);
    CHECK_EQ(stk_ex_finish(&o, &err), STOKER_ENOMEM);
    stk_alloc_fail_at(0, 0);
    stk_ex_deinit(&o);
    CHECK_EQ(k.n, 0);

    stk_ex_init(&o, keep, &k);
    o.counts_only = true;
    for (int i = 0; i < 100000; i++) {
        stk_ex_literal(&o, "0123456789");
        stk_ex_record(&o);
    }
    CHECK_EQ(stk_ex_finish(&o, &err), STOKER_OK);
    CHECK_EQ(o.total, 1000000);
    CHECK_EQ(k.n, 0);
    stk_ex_deinit(&o);
    free(k.p);
}

// What is compressed is read back by the stream that reads inputs.
static void test_gzip(void)
{
    char path[] = "/tmp/stoker-gzip-XXXXXX", *back = malloc(2 << 20);
    struct kept k = {0};
    struct stk_gzip_write *w = stk_gzip_write_open(STK_GZIP_FAST, keep, &k);
    size_t n = 0, got;
    CHECK(w != NULL);
    for (int i = 0; w && i < 20000; i++) {
        char line[64];
        int length = snprintf(line, sizeof line, "line %d of many that are alike\n", i);
        CHECK_EQ(stk_gzip_write_bytes(w, line, (size_t)length), 0);
        n += (size_t)length;
    }
    CHECK(w && stk_gzip_write_finish(w) == 0);
    stk_gzip_write_close(w);
    CHECK(k.n < n / 4);
    FILE *f = fdopen(mkstemp(path), "wb");
    CHECK(f && fwrite(k.p, 1, k.n, f) == k.n && fclose(f) == 0);
    struct stk_stream *s;
    CHECK_EQ(stk_stream_open(&s, path, NULL, NULL), STOKER_OK);
    size_t total = 0;
    while (stk_stream_read(s, back + total, (2 << 20) - total, &got, NULL) == STOKER_OK && got) {
        total += got;
    }
    CHECK_EQ(total, n);
    CHECK(memcmp(back, "line 0 of", 9) == 0 && memcmp(back + n - 6, "alike\n", 6) == 0);
    CHECK(stk_stream_damage(s) == NULL);
    stk_stream_close(s);
    remove(path);
    w = stk_gzip_write_open(STK_GZIP_FAST, refuse, NULL);
    CHECK(w && stk_gzip_write_finish(w) != 0);
    stk_gzip_write_close(w);
    free(back);
    free(k.p);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_numbers);
    CHECK_RUN(test_texts);
    CHECK_RUN(test_nesting);
    CHECK_RUN(test_failures);
    CHECK_RUN(test_gzip);
    return check_done("unit.export_out");
}
