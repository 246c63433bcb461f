// SPDX-License-Identifier: Apache-2.0
// A table document made by hand, with every kind of value and names that outputs must quote.
#include "check.h"
#include "render/table_out.h"

struct text {
    char bytes[16384];
    size_t n;
};

static int take(void *arg, const char *bytes, size_t n)
{
    struct text *t = arg;
    if (t->n + n >= sizeof t->bytes) {
        return -1;
    }
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    t->bytes[t->n] = 0;
    return 0;
}

static const char *print(const struct stk_table_doc *doc, const char *format, const char *table,
                         int columns)
{
    static struct text out;
    struct stk_sink sink;
    struct stk_err err;
    struct stk_out_options options = {.columns = columns};
    out.n = 0;
    out.bytes[0] = 0;
    stk_err_init(&err);
    stk_sink_init(&sink, take, &out);
    stk_table_out_find(format)->write(doc, table, &options, &sink);
    CHECK(stk_sink_finish(&sink, &err) == STK_OK);
    return out.bytes;
}

static const struct stk_column columns[] = {
    {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "short_share", .type = STK_CELL_SHARE},
    {.id = "bytes_per_s", .type = STK_CELL_RATE, .is_detail = true},
    {.id = "limiting", .type = STK_CELL_BOOL, .is_detail = true},
};
#define WIDTH (sizeof columns / sizeof columns[0])

static void add(struct stk_table *t, const char *name, int64_t total_ns)
{
    struct stk_cell *row = stk_table_row(t);
    CHECK(row != NULL);
    row[0] = stk_cell_text(name);
    row[1] = stk_cell_number(total_ns);
    row[3] = stk_cell_ratio(0.25);
    row[4] = stk_cell_ratio(1.5e9);
    row[5] = (struct stk_cell){.known = true, .truth = true};
}

static void fill(struct stk_table_doc *doc)
{
    struct stk_table *t = stk_table_add(doc, "first", "First table", columns, WIDTH);
    add(t, "b", 1000);
    add(t, "a \"quoted\", with comma", 3000000);
    add(t, "a", 1000);
    add(t, "line\nbreak", -5);
    stk_table_row(t); // nothing known
    CHECK(stk_table_sort(t, "total_ns"));
    stk_table_add(doc, "second", "Second table", columns, 2);
    stk_table_figure(doc, "wait_ns", STK_CELL_NS, stk_cell_number(42));
    stk_table_figure(doc, "unknown_ns", STK_CELL_NS, stk_cell_unknown());
    stk_table_figure(doc, "busy_share", STK_CELL_SHARE, stk_cell_share_of(1, 4));
    stk_table_figure(doc, "no_share", STK_CELL_SHARE, stk_cell_share_of(1, 0));
    stk_table_lacks(doc, "something", "why", "remedy");
}

static void test_order(const struct stk_table_doc *doc)
{
    const struct stk_table *t = stk_table_find(doc, NULL);
    const struct stk_cell *c = t->cells.items;
    CHECK_EQ(t->row_count, 5);
    CHECK_EQ(c[1].number, 3000000);
    CHECK_STR(c[WIDTH].text, "a"); // equal totals: by the columns before
    CHECK_STR(c[2 * WIDTH].text, "b");
    CHECK_EQ(c[3 * WIDTH + 1].number, -5);
    CHECK(!c[4 * WIDTH].known); // what is not known comes last
    CHECK(stk_table_find(doc, "second") == &doc->tables[1]);
    CHECK(stk_table_find(doc, "third") == NULL);
}

static void test_csv(const struct stk_table_doc *doc)
{
    CHECK_STR(print(doc, "csv", NULL, 80),
              "name,total_ns,bytes,short_share,bytes_per_s,limiting\r\n"
              "\"a \"\"quoted\"\", with comma\",3000000,,0.25,1500000000.0,true\r\n"
              "a,1000,,0.25,1500000000.0,true\r\n"
              "b,1000,,0.25,1500000000.0,true\r\n"
              "\"line\nbreak\",-5,,0.25,1500000000.0,true\r\n"
              ",,,,,\r\n");
    CHECK_STR(print(doc, "csv", "second", 80), "name,total_ns\r\n");
}

static void test_json(const struct stk_table_doc *doc)
{
    const char *json = print(doc, "json", NULL, 80);
    CHECK(strstr(json, "\"schema\": \"stoker.table/1\"") != NULL);
    CHECK(strstr(json, "[\"a\", 1000, null, 0.25, 1500000000.0, true]") != NULL);
    CHECK(strstr(json, "[null, null, null, null, null, null]") != NULL);
    CHECK(strstr(json, "\"wait_ns\": 42") != NULL);
    CHECK(strstr(json, "\"busy_share\": 0.25") != NULL);
    CHECK(strstr(json, "unknown_ns") == NULL);
    CHECK(strstr(json, "no_share") == NULL);
    CHECK(strstr(json, "\"remedy\": \"remedy\"") != NULL);
    CHECK(strstr(json, "\"id\": \"second\"") != NULL);
    CHECK(strstr(print(doc, "json", "second", 80), "\"id\": \"first\"") == NULL);
}

static void test_text(const struct stk_table_doc *doc)
{
    const char *text = print(doc, "text", NULL, 120);
    CHECK(strstr(text, "3.00 ms") != NULL);
    CHECK(strstr(text, "1.50 GB/s") != NULL || strstr(text, "1.5 GB/s") != NULL);
    CHECK(strstr(text, "missing: something") != NULL);
    CHECK(strstr(text, "line\nbreak") == NULL);             // a name cannot break a line
    CHECK(strstr(text, "(not known here: bytes)") != NULL); // no row has any
    CHECK(strstr(text, "no room for: ") == NULL);
    CHECK(strstr(print(doc, "text", NULL, 40), "no room for: rate, limiting)") != NULL);
}

// No line is longer than the width, whatever the names.
static void test_width(struct stk_arena *arena)
{
    struct stk_table_doc doc;
    char name[600];
    memset(name, 'k', sizeof name);
    name[sizeof name - 1] = 0;
    stk_table_doc_init(&doc, arena, "test");
    struct stk_table *t = stk_table_add(&doc, "t", "T", columns, WIDTH);
    add(t, name, 1);
    add(t, "void at::native::(anonymous namespace)::kernel<float, 4>(float, int)", 2);
    add(t, "\xff\xfe\x1b[31m", 3);
    for (int width = 80; width <= 120; width += 8) {
        const char *line = print(&doc, "text", NULL, width);
        CHECK(strchr(line, '\x1b') == NULL);
        for (size_t n; *line; line += n + 1) {
            n = strcspn(line, "\n");
            CHECK(n <= (size_t)width + 8); // U+FFFD takes three bytes and one column
            if (!line[n]) {
                break;
            }
        }
    }
    CHECK(strstr(print(&doc, "text", NULL, 80), "kkk...") != NULL);
    stk_table_doc_deinit(&doc);
}

static void test_cut(struct stk_table_doc *doc)
{
    struct stk_table *t = &doc->tables[0];
    stk_table_cut(t, 0);
    CHECK_EQ(t->row_count, 5);
    stk_table_cut(t, 2);
    CHECK_EQ(t->row_count, 2);
    CHECK_EQ(t->rows_left_out, 3);
    CHECK(strstr(print(doc, "json", NULL, 80), "\"rows_left_out\": 3") != NULL);
    CHECK(strstr(print(doc, "text", NULL, 80), "3 more rows: --limit 0 shows all") != NULL);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    struct stk_arena arena;
    struct stk_table_doc doc;
    stk_arena_init(&arena, 0);
    stk_table_doc_init(&doc, &arena, "test");
    fill(&doc);
    CHECK_RUN(test_order, &doc);
    CHECK_RUN(test_csv, &doc);
    CHECK_RUN(test_json, &doc);
    CHECK_RUN(test_text, &doc);
    CHECK_RUN(test_width, &arena);
    CHECK_RUN(test_cut, &doc);
    CHECK(stk_table_out_find("pdf") == NULL);
    stk_table_doc_deinit(&doc);
    stk_arena_deinit(&arena);
    return check_done("unit.table_outputs");
}
