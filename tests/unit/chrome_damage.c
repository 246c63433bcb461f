// SPDX-License-Identifier: Apache-2.0
// Damaged JSON: what is repaired, skipped, refused; every prefix of a file, flipped bits, deep
// nesting.
#include "chrome_read.h"

#define E(n)                                                                                       \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op" #n "\",\"pid\":1,\"tid\":1,\"ts\":" #n        \
    "0,\"dur\":5}"

static struct stoker_err err;

struct want {
    const char *text;
    uint32_t events; // stored
    uint64_t repaired, skipped, truncated;
};

static void check_text(const struct want *w)
{
    struct stk_trace *t = chrome_read_text(w->text, &err);
    CHECK(t != NULL);
    if (!t) {
        fprintf(stderr, "%s: %s\n", w->text, err.message);
        return;
    }
    uint64_t repaired = t->issues[STK_ISSUE_JSON_REPAIRED].count;
    uint64_t skipped = t->issues[STK_ISSUE_JSON_SKIPPED].count;
    uint64_t truncated = t->issues[STK_ISSUE_TRUNCATED].count;
    CHECK(t->count == w->events && repaired == w->repaired && skipped == w->skipped &&
          truncated == w->truncated);
    if (t->count != w->events || repaired != w->repaired || skipped != w->skipped ||
        truncated != w->truncated) {
        fprintf(stderr, "%s: %u events, %d repaired, %d skipped, %d truncated\n", w->text, t->count,
                (int)repaired, (int)skipped, (int)truncated);
    }
    CHECK_EQ(t->dropped, skipped + t->issues[STK_ISSUE_TRUNCATED].events_lost);
    stk_trace_free(t);
}

static void test_mending(void)
{
    static const struct want rows[] = {
        {"{\"traceEvents\":[" E(1) "," E(2) "]}", 2, 0, 0, 0},
        {"\xef\xbb\xbf [" E(1) " , " E(2) " ] ", 2, 0, 0, 0},
        {"[" E(1) "," E(2) "\n", 2, 0, 0, 0}, // the closing bracket may be missing in a bare array
        {"{\"traceEvents\":[]}", 0, 0, 0, 0},
        {"[]", 0, 0, 0, 0},
        {"{\"traceEvents\":[" E(1) ",]}", 1, 0, 0, 0},
        {"{\"traceEvents\":[" E(1) " " E(2) ",," E(3) "]}", 3, 2, 0, 0},
        {"{\"traceEvents\":[" E(1) "]} trailing {\"ph\":1}", 1, 1, 0, 0},
        {"{\"a\":N/A,\"b\":\"x\ny\",\"traceEvents\":[" E(1) "]}", 1, 0, 0, 0},
        {"{\"a\":\"say \"hello\",\"traceEvents\":[" E(1) "]}", 1, 1, 0, 0},
        // In an event: trailing and missing commas, bare words, control characters, quotes.
        {"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,}," E(2) "]", 2, 1,
         0, 0},
        {"[{\"ph\":\"X\" \"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}," E(2) "]", 2, 1, 0,
         0},
        {"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"args\":{\"v\":N/A,"
         "\"w\":NaN,\"x\":-Infinity}}," E(2) "]",
         2, 3, 0, 0},
        {"[{\"ph\":\"X\",\"name\":\"a\nb\x01\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}," E(2) "]",
         2, 1, 0, 0},
        {"[{\"ph\":\"X\",\"name\":\"say \"hi\"!\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}," E(
             2) "]",
         2, 1, 0, 0},
        {"[{\"ph\":\"X\",\"name\":\"C:\\dir\\file\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}," E(
             2) "]",
         2, 0, 0, 0},
        {"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"args\":{\"stack\":"
         "\"f \"g\" (x.py); h\",\"n\":1}}," E(2) "]",
         2, 1, 0, 0},
        // Beyond repair: the next event is found again.
        {"[{\"ph\":\"X\",\"name\":\"a,\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}," E(2) "," E(3) "]",
         2, 0, 1, 0},
        {"[{\"ph\":\"X\",\"name\":a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}," E(2) "]", 1, 0, 1,
         0},
        {"[{\"ph\":\"X\",\"args\":{\"a\":1,\"b\":[1,2}," E(2) "]", 1, 0, 1, 0},
        {"[{\"ph\":\"X\",\"args\":{\"a\":{\"b\":1}," E(2) "," E(3) "]", 2, 0, 1, 0},
        {"[" E(1) "}}," E(2) "]", 2, 0, 1, 0},
        {"[" E(1) ",garbage," E(2) "]", 2, 0, 1, 0},
        {"[" E(1) ",[1,2,{\"x\":3}]," E(2) "]", 2, 0, 1, 0},
        // Cut short.
        {"{\"traceEvents\":[" E(1) ",", 1, 0, 0, 1},
        {"{\"traceEvents\":[" E(1) ",{\"ph\":\"X\",\"na", 1, 0, 0, 1},
        {"{\"traceEvents\":[" E(1) "]", 1, 0, 0, 1},
        {"{\"traceEvents\":[" E(1) "],\"traceName\":\"/tmp/x", 1, 0, 0, 1},
        // Of a key that occurs twice, the last one counts.
        {"[{\"ph\":\"M\",\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":\"x\",\"ts\":1,"
         "\"dur\":2}]",
         1, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_text(&rows[i]);
    }
}

static void test_refused(void)
{
    static const char *const texts[] = {
        "{\"a\":1}",
        "{}",
        "{",
        "[1,2,3]",
        "[\"a\"]",
        "[{\"a\":1",
        "{\"traceEvents\":{}}",
        "{\"traceEvents\":null}",
        "hello",
        "[{\"cols\":[],\"rows\":[{\"ph\":1}]},{\"p\":{}}]",
        "",
        "{\"rows\":[{\"ph\":\"X\"}]}",
        "{\"note\":\"\\\"traceEvents\\\":[\"}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct stk_trace *t = chrome_read_text(texts[i], &err);
        CHECK(t == NULL);
        CHECK_EQ(err.code, STOKER_EINPUT);
        if (t) {
            fprintf(stderr, "read: %s\n", texts[i]);
        }
        stk_trace_free(t);
    }
}

// Where the file ends says whether events may be missing.
static void test_cut(void)
{
#define SPAN                                                                                       \
    "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"ts\":1,\"dur\":99}"
    static const struct {
        const char *text;
        enum stk_cut cut;
        int64_t whole_until_ns;
    } rows[] = {
        {"{\"traceEvents\":[" E(1) "," E(2) "]}", STK_CUT_NOT, INT64_MAX},
        {"[" E(1) "," E(2) "\n", STK_CUT_NOT, INT64_MAX}, // the bracket may be missing
        {"{\"traceEvents\":[" E(1) "," E(2), STK_CUT_SOMEWHERE, INT64_MAX},
        {"{\"traceEvents\":[" E(1) ",{\"ph\":\"X\"", STK_CUT_SOMEWHERE, INT64_MAX},
        {"[" E(1) ",{\"ph\":\"X\"", STK_CUT_SOMEWHERE, INT64_MAX},
        // After the events, or among what Kineto writes after them.
        {"{\"traceEvents\":[" E(1) "," E(2) "]", STK_CUT_AT, INT64_MAX},
        {"{\"traceEvents\":[" E(1) "," E(2) "],\"name\":\"x", STK_CUT_AT, INT64_MAX},
        {"{\"traceEvents\":[" E(1) "," SPAN ",{\"ph\":", STK_CUT_AT, INT64_MAX},
        {"{\"traceEvents\":[" SPAN "," E(1) ",{\"ph\":", STK_CUT_SOMEWHERE, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stk_trace *t = chrome_read_text(rows[i].text, &err);
        CHECK(t != NULL);
        if (!t) {
            continue;
        }
        CHECK_EQ(t->cut, rows[i].cut);
        CHECK_EQ(t->whole_until_ns, rows[i].whole_until_ns);
        stk_trace_free(t);
    }
#undef SPAN
}

// Every event that lies wholly before the cut is there.
static void check_prefixes(const char *text, size_t n, size_t step)
{
    struct stk_trace *all = chrome_read_bytes(text, n, 1, &err);
    CHECK(all != NULL);
    if (!all) {
        return;
    }
    uint64_t last = 0, most = all->read;
    size_t wrong = 0;
    for (size_t cut = 0; cut <= n; cut += step) {
        struct stk_trace *t = chrome_read_bytes(text, cut, 1, &err);
        uint64_t read = t ? t->read - t->issues[STK_ISSUE_TRUNCATED].events_lost : 0;
        wrong += read < last || read > most || (t && t->issues[STK_ISSUE_JSON_SKIPPED].count > 0);
        last = read;
        stk_trace_free(t);
    }
    CHECK_EQ(wrong, 0);
    CHECK(last == most || step > 1);
    stk_trace_free(all);
}

static void check_flips(char *text, size_t n, size_t step)
{
    struct stk_trace *all = chrome_read_bytes(text, n, 1, &err);
    uint64_t least = 0;
    size_t refused = 0, flips = 0;
    for (size_t i = 0; i < n; i += step, flips++) {
        char was = text[i];
        text[i] ^= (char)(1 << i % 8);
        struct stk_trace *t = chrome_read_bytes(text, n, 2, &err);
        refused += !t;
        if (t && (flips == 0 || t->read < least)) {
            least = t->read;
        }
        text[i] = was;
        stk_trace_free(t);
    }
    CHECK(all != NULL);
    CHECK(refused * 10 <= flips); // one bit seldom costs the file
    stk_trace_free(all);
}

static void test_small_file(void)
{
    static const char small[] =
        "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"G\"}\n"
        "  ],\n  \"note\": [1, {\"a\": \"]\"}], \"traceEvents\": [\n  {\n"
        "    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\\\"{\", \"pid\": 0, \"tid\": 7,\n"
        "    \"ts\": 12.5, \"dur\": 3,\n    \"args\": {\n      \"grid\": [1, 1, 1], \"stream\": 7\n"
        "    }\n  },\n  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": 0,\n"
        "    \"args\": {\n      \"name\": \"python\"\n    }\n  },\n" E(
            3) "\n],\n"
               "  \"baseTimeNanoseconds\": 17, \"traceName\": \"x\"\n}\n";
    static char copy[sizeof small];
    memcpy(copy, small, sizeof small);
    for (size_t blocks = 0; blocks <= 64; blocks += 64) {
        stk_chrome_use_blocks(blocks);
        check_prefixes(copy, sizeof small - 1, 1);
        check_flips(copy, sizeof small - 1, 1);
    }
    stk_chrome_use_blocks(0);
}

static void test_real_file(const char *dir)
{
    static char text[20000];
    char path[4096];
    snprintf(path, sizeof path, "%s/kineto/kineto/after_fix_trace.json", dir);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    CHECK(n > 10000);
    if (f) {
        fclose(f);
    }
    check_prefixes(text, n, 13);
    check_flips(text, n, 13);
}

// `depth` brackets inside the args of an event; then a good event.
static void check_nesting(char open, char close, size_t depth, bool closed, uint32_t events)
{
    size_t n = 0, size = depth * 8 + 1000;
    char *text = malloc(size);
    n += (size_t)sprintf(text,
                         "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
                         "\"args\":{\"x\":");
    for (size_t i = 0; i < depth; i++) {
        n += (size_t)sprintf(text + n, "%c%s", open, open == '{' ? "\"k\":" : "");
    }
    n += (size_t)sprintf(text + n, "1");
    for (size_t i = 0; closed && i < depth; i++) {
        text[n++] = close;
    }
    n += (size_t)sprintf(text + n, "}},%s]", E(2));
    struct stk_trace *t = chrome_read_bytes(text, n, 1, &err);
    CHECK(t != NULL);
    if (t) {
        CHECK_EQ(t->count, events);
    }
    stk_trace_free(t);
    free(text);
}

static void test_nesting(void)
{
    check_nesting('[', ']', 500, true, 2);
    check_nesting('{', '}', 500, true, 2);
    check_nesting('[', ']', 10000, true, 2);
    check_nesting('[', ']', 3000000, true, 1);
    check_nesting('{', '}', 200000, true, 1);
    check_nesting('[', ']', 100000, false, 1);
}

// A string longer than several blocks.
static void test_long_event(void)
{
    size_t n = 0, size = 5u << 20;
    char *text = malloc(size);
    n += (size_t)sprintf(text,
                         "[%s,{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
                         "\"args\":{\"x\":\"",
                         E(1));
    memset(text + n, 'y', 4u << 20);
    n += 4u << 20;
    n += (size_t)sprintf(text + n, "\"}},%s]", E(2));
    for (int threads = 1; threads <= 2; threads++) {
        struct stk_trace *t = chrome_read_bytes(text, n, threads, &err);
        CHECK(t && t->count == 3 && t->issues[STK_ISSUE_JSON_SKIPPED].count == 0);
        stk_trace_free(t);
    }
    free(text);
}

// What never ends is given up, and does not pile up.
static void test_endless(void)
{
    static const char *const heads[] = {"{\"",
                                        "{\"key\":",
                                        "{\"key\"",
                                        "[{\"",
                                        "[{\"ph\":",
                                        "[{\"ph\":\"X\",\"args\":{\"a\":\"",
                                        "{\"deviceProperties\":[{\"a\":\"",
                                        "[",
                                        "{"};
    const size_t n = 36u << 20;
    char *text = malloc(n);
    memset(text, ' ', n);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        memset(text, ' ', 64);
        memcpy(text, heads[i], strlen(heads[i]));
        struct stk_trace *t = chrome_read_bytes(text, n, 2, &err);
        CHECK(!t || t->count == 0);
        stk_trace_free(t);
    }
    free(text);
}

static void test_sniff(void)
{
    static const struct {
        const char *text;
        int sure;
    } rows[] = {{"{\"schemaVersion\": 1, \"traceEvents\": [", 2},
                {" [ {\"ph\":\"X\"", 2},
                {"{\"a\": 1", 1},
                {"[1,2", 1},
                {"{x", 0},
                {"\x1f\x8b", 0},
                {"", 0},
                {"text", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *why = NULL;
        CHECK_EQ(stk_reader_chrome.sniff((const uint8_t *)rows[i].text, strlen(rows[i].text), &why),
                 rows[i].sure);
    }
    const char *why = NULL;
    CHECK_EQ(stk_reader_chrome.sniff((const uint8_t *)"\xff\xfe{\0", 4, &why), 0);
    CHECK(why != NULL);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_mending);
    CHECK_RUN(test_cut);
    CHECK_RUN(test_refused);
    CHECK_RUN(test_small_file);
    CHECK_RUN(test_nesting);
    CHECK_RUN(test_long_event);
    CHECK_RUN(test_endless);
    CHECK_RUN(test_sniff);
    const char *dir = check_fixtures();
    if (dir) {
        CHECK_RUN(test_real_file, dir);
    }
    return check_done("unit.chrome_damage");
}
