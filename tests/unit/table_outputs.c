// SPDX-License-Identifier: Apache-2.0
// A table document made by hand, with every kind of value and names that outputs must quote.
#include "check.h"
#include "results/print/out.h"
#include "results/table.h"

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
    struct stoker_err err;
    struct stk_out_options options = {.columns = columns, .table = table};
    out.n = 0;
    out.bytes[0] = 0;
    stk_err_init(&err);
    stk_sink_init(&sink, take, &out);
    stk_out_find("table", format)->write(doc, &options, &sink);
    CHECK(stk_sink_finish(&sink, &err) == STOKER_OK);
    return out.bytes;
}

struct first_row {
    struct stk_cell name, total_ns, bytes, short_share, bytes_per_s, limiting;
};
static const struct stk_column columns[] = {
    STK_COLUMN(first_row, name, TEXT, "name", .is_name = true),
    STK_COLUMN(first_row, total_ns, NS, "time"),
    STK_COLUMN(first_row, bytes, BYTES, "size"),
    STK_COLUMN(first_row, short_share, SHARE, "share"),
    STK_COLUMN(first_row, bytes_per_s, RATE, "rate", .is_detail = true),
    STK_COLUMN(first_row, limiting, BOOL, "whether it limits", .is_detail = true),
};
static const struct stk_table_info first_info =
    STK_TABLE_INFO("first", "First table", first_row, columns);
static const struct stk_table_info second_info = {"second", "Second table", columns, 2};

struct summary {
    struct stk_cell wait_ns, unknown_ns, busy_share, no_share;
};
static const struct stk_column figures[] = {
    STK_COLUMN(summary, wait_ns, NS, "wait"),
    STK_COLUMN(summary, unknown_ns, NS, "not known"),
    STK_COLUMN(summary, busy_share, SHARE, "busy"),
    STK_COLUMN(summary, no_share, SHARE, "of nothing"),
};
static const struct stk_summary_info summary_info = STK_SUMMARY_INFO(summary, figures);
#define WIDTH (sizeof columns / sizeof columns[0])

static void add(struct stk_table *t, const char *name, int64_t total_ns)
{
    const struct first_row row = {
        .name = stk_cell_text(name),
        .total_ns = stk_cell_number(total_ns),
        .bytes = stk_cell_unknown(),
        .short_share = stk_cell_ratio(0.25),
        .bytes_per_s = stk_cell_ratio(1.5e9),
        .limiting = stk_cell_truth(true),
    };
    CHECK(stk_table_put(t, &row));
}

static void fill(struct stk_table_doc *doc)
{
    static const struct stk_missing missing = {"something", "why", "remedy"};
    struct stk_table *t = stk_table_add(doc, &first_info);
    add(t, "b", 1000);
    add(t, "a \"quoted\", with comma", 3000000);
    add(t, "a", 1000);
    add(t, "line\nbreak", -5);
    stk_table_row(t); // nothing known
    CHECK(stk_table_sort(t, "total_ns"));
    stk_table_add(doc, &second_info);
    const struct summary sums = {
        .wait_ns = stk_cell_number(42),
        .unknown_ns = stk_cell_unknown(),
        .busy_share = stk_cell_share_of(1, 4),
        .no_share = stk_cell_share_of(1, 0),
    };
    stk_table_summarize(doc, &summary_info, &sums);
    stk_table_lacks(doc, &missing);
    CHECK(stk_table_check(doc) == NULL);
}

// A cell that was never set, or holds what its column does not, is found.
static void test_check(struct stk_table_doc *doc)
{
    struct stk_cell *cells = doc->tables[0].cells.items, kept = cells[1];
    cells[1] = (struct stk_cell){.known = false};
    CHECK(stk_table_check(doc) == &columns[1]);
    cells[1] = stk_cell_ratio(1);
    CHECK(stk_table_check(doc) == &columns[1]);
    cells[1] = stk_cell_unknown();
    CHECK(stk_table_check(doc) == NULL);
    cells[1] = kept;
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
    CHECK(strstr(json, "\"unknown_ns\":") == NULL);
    CHECK(strstr(json, "\"no_share\":") == NULL);
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

// No line is longer than the width, for any names.
static void test_width(struct stk_arena *arena)
{
    struct stk_table_doc doc;
    char name[600];
    memset(name, 'k', sizeof name);
    name[sizeof name - 1] = 0;
    static const struct stk_table_info t_info = {"t", "T", columns, WIDTH};
    stk_table_doc_init(&doc, arena, "test");
    struct stk_table *t = stk_table_add(&doc, &t_info);
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
    CHECK_RUN(test_check, &doc);
    CHECK_RUN(test_order, &doc);
    CHECK_RUN(test_csv, &doc);
    CHECK_RUN(test_json, &doc);
    CHECK_RUN(test_text, &doc);
    CHECK_RUN(test_width, &arena);
    CHECK_RUN(test_cut, &doc);
    CHECK(stk_out_find("table", "pdf") == NULL);
    stk_table_doc_deinit(&doc);
    stk_arena_deinit(&arena);
    return check_done("unit.table_outputs");
}
