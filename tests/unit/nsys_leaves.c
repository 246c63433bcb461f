// SPDX-License-Identifier: Apache-2.0
// Rows from the pages of a database against the same rows through SQLite, cell by cell: values of
// all sizes and types, deep trees, page sizes, ranges; tables that aren't read this way; damaged
// pages.
#include <sqlite3.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "profile/readers/nsys/nsys.h"

#define COLUMNS "a,b,missing,c|d"

static char path[300];
static sqlite3 *db;

static void begin(int page_size, int reserved)
{
    char text[60];
    snprintf(path, sizeof path, "%s/stoker-leaves-%ld.sqlite",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    remove(path);
    CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
    snprintf(text, sizeof text, "PRAGMA page_size=%d; PRAGMA journal_mode=OFF", page_size);
    CHECK_EQ(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
#ifdef SQLITE_FCNTL_RESERVE_BYTES
    sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
#endif
}

static void sql(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void sql(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = sqlite3_vmprintf(fmt, args);
    va_end(args);
    int rc = sqlite3_exec(db, text, NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", text, sqlite3_errmsg(db));
    }
    CHECK_EQ(rc, SQLITE_OK);
    sqlite3_free(text);
}

// What the reader knows of table t.
static struct stk_nsys_found found_of(struct stk_nsys_schema *schema, int64_t first, int64_t last)
{
    struct stk_nsys_found found = {.present = true, .first_row = first, .last_row = last};
    struct stk_nsys_places places = {0};
    char list[200];
    CHECK(stk_nsys_select_list(schema, "t", COLUMNS, list, sizeof list, &places) >= 0);
    snprintf(found.sql, sizeof found.sql,
             "SELECT rowid, %s FROM t NOT INDEXED WHERE rowid BETWEEN ?1 AND ?2", list);
    memcpy(found.fields, places.field, sizeof found.fields);
    found.cell_count = places.count;
    found.root_page = stk_nsys_root_page(schema, "t");
    return found;
}

static bool same_cell(const struct stk_nsys_cell *a, const struct stk_nsys_cell *b)
{
    return a->type == b->type && a->integer == b->integer && a->real == b->real &&
           stk_str_eq(a->text, b->text);
}

static bool same_row(const struct stk_nsys_cells *a, const struct stk_nsys_cells *b, int count)
{
    bool same = a->rowid == b->rowid;
    for (int i = 1; i <= count; i++) {
        same &= same_cell(&a->cell[i], &b->cell[i]);
    }
    return same;
}

struct walk {
    uint64_t rows, asked, wrong;
    bool sought;
    enum stk_nsys_leaf_row end;
};

// Walk a range by pages; where `check`, next to a statement of SQLite.
static struct walk walk(int64_t first, int64_t last, bool check)
{
    struct walk w = {.end = STK_NSYS_LOST};
    struct stk_nsys_schema schema;
    struct stk_nsys_file file = {.path = path};
    struct stk_nsys_cells cells, wanted;
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    fseek(f, 0, SEEK_END);
    file.size_bytes = (uint64_t)ftell(f);
    fclose(f);
    CHECK_EQ(stk_nsys_schema_read(&schema, db, NULL), STOKER_OK);
    struct stk_nsys_found found = found_of(&schema, first, last);
    struct stk_nsys_leaves *l = stk_nsys_leaves_open(&file);
    sqlite3_stmt *st = NULL;
    CHECK_EQ(sqlite3_prepare_v2(db, found.sql, -1, &st, NULL), SQLITE_OK);
    sqlite3_bind_int64(st, 1, first);
    sqlite3_bind_int64(st, 2, last);
    stk_nsys_cells_clear(&cells);
    stk_nsys_cells_clear(&wanted);
    w.sought = l && stk_nsys_leaves_seek(l, &found, first, last);
    while (w.sought &&
           ((w.end = stk_nsys_leaves_next(l, &cells)) == STK_NSYS_ROW || w.end == STK_NSYS_ASK)) {
        w.rows++;
        w.asked += w.end == STK_NSYS_ASK;
        if (!check) {
            continue;
        }
        CHECK_EQ(sqlite3_step(st), SQLITE_ROW);
        stk_nsys_cells_take(&wanted, st);
        int cells_read = w.end == STK_NSYS_ASK ? 0 : found.cell_count;
        w.wrong += !same_row(&cells, &wanted, cells_read);
    }
    if (check && w.end == STK_NSYS_END) {
        CHECK_EQ(sqlite3_step(st), SQLITE_DONE);
    }
    sqlite3_finalize(st);
    stk_nsys_leaves_close(l);
    stk_nsys_schema_close(&schema);
    return w;
}

static void end(void)
{
    sqlite3_close(db);
    remove(path);
}

// Integers around each size that a record has, and every other type.
static void fill(int rows)
{
    static const char *const values[] = {"0",
                                         "1",
                                         "-1",
                                         "127",
                                         "-128",
                                         "128",
                                         "-129",
                                         "32767",
                                         "-32768",
                                         "8388607",
                                         "-8388608",
                                         "8388608",
                                         "2147483647",
                                         "-2147483648",
                                         "2147483648",
                                         "140737488355327",
                                         "-140737488355328",
                                         "140737488355328",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "NULL",
                                         "''",
                                         "'text'",
                                         "x'00ff'",
                                         "1.5",
                                         "-0.0",
                                         "9e999"};
    int count = sizeof values / sizeof values[0];
    sql("CREATE TABLE t(a INTEGER NOT NULL DEFAULT 0, x, b TEXT, y INT, d INTEGER)");
    sql("BEGIN");
    for (int i = 0; i < rows; i++) {
        const char *a = values[i % count];
        sql("INSERT INTO t VALUES(%s, %d, %s, NULL, %s)", strcmp(a, "NULL") == 0 ? "3" : a, i,
            values[(i / 3) % count], values[(i / 7) % count]);
    }
    sql("COMMIT");
}

static void test_values(void)
{
    static const int sizes[][2] = {{512, 0}, {512, 32}, {4096, 0}, {4096, 12}, {65536, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        begin(sizes[i][0], sizes[i][1]);
        fill(8000);
        struct walk w = walk(1, INT64_MAX, true);
        CHECK(w.sought && w.rows == 8000 && w.asked == 0 && w.wrong == 0 && w.end == STK_NSYS_END);
        end();
    }
}

static void test_ranges(void)
{
    static const int64_t ranges[][3] = {{1, 1, 1},
                                        {1, 10, 10},
                                        {777, 1776, 1000},
                                        {2999, 5000, 2},
                                        {4000, 5000, 0},
                                        {-5, 0, 0},
                                        {INT64_MIN, INT64_MAX, 2000},
                                        {1001, 2000, 0},
                                        {INT64_MAX, INT64_MAX, 0}};
    begin(512, 0);
    fill(3000);
    sql("DELETE FROM t WHERE rowid BETWEEN 1001 AND 2000");
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        int64_t first = ranges[i][0], last = ranges[i][1];
        int64_t rows = first == 777 ? 224 : ranges[i][2];
        struct walk w = walk(first, last, true);
        CHECK(w.sought && w.end == STK_NSYS_END && w.wrong == 0);
        CHECK_EQ(w.rows, (uint64_t)rows);
    }
    sql("UPDATE t SET rowid = -rowid WHERE rowid %% 2");
    struct walk w = walk(INT64_MIN, INT64_MAX, true);
    CHECK(w.rows == 2000 && w.wrong == 0 && w.end == STK_NSYS_END);
    end();
}

static void test_long_rows(void)
{
    begin(1024, 0);
    fill(300);
    sql("UPDATE t SET b = hex(randomblob(900)) WHERE rowid %% 10 = 0");
    struct walk w = walk(1, 300, true);
    CHECK(w.sought && w.rows == 300 && w.asked == 30 && w.wrong == 0 && w.end == STK_NSYS_END);
    end();
}

// A column that old records lack: its first row ends the walk.
static void test_defaults(void)
{
    begin(4096, 0);
    fill(10);
    sql("ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 7");
    struct walk w = walk(1, 10, true);
    CHECK(w.sought && w.rows == 0 && w.end == STK_NSYS_LOST);
    end();
}

static void test_refused(void)
{
    static const char *const tables[] = {
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)", // the rowid
        "CREATE TABLE t(a REAL, b TEXT)",                // stored as integers where they are whole
        "CREATE TABLE t(a INT, g INT AS (a + 1), b TEXT)",
        "CREATE TABLE t(b TEXT, a INT, PRIMARY KEY(b)) WITHOUT ROWID",
        "PRAGMA encoding='UTF-16'; CREATE TABLE t(a INT, b TEXT)",
        "CREATE TABLE t(a INT, b TEXT); DELETE FROM t", // empty, below
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        begin(4096, 0);
        sql("%s", tables[i]);
        if (i < 5) {
            sql("INSERT INTO t(a, b) VALUES(1, 'one'), (2, 'two')");
        }
        if (i == 3) {
            struct stk_nsys_schema schema;
            CHECK_EQ(stk_nsys_schema_read(&schema, db, NULL), STOKER_OK);
            struct stk_nsys_found found = found_of(&schema, 1, 2);
            struct stk_nsys_file file = {.path = path, .size_bytes = 1 << 20};
            struct stk_nsys_leaves *l = stk_nsys_leaves_open(&file);
            CHECK(l && !stk_nsys_leaves_seek(l, &found, 1, 2));
            stk_nsys_leaves_close(l);
            stk_nsys_schema_close(&schema);
        } else {
            CHECK(!walk(1, 2, false).sought);
        }
        end();
    }
    begin(4096, 0);
    fill(10);
    struct stk_nsys_file cut = {.path = path, .size_bytes = 1 << 20, .lacks_pages = true};
    CHECK(stk_nsys_leaves_open(&cut) == NULL);
    end();
}

static uint64_t state = 88172645463325252u;
static uint32_t below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % n;
}

// Changed bytes: every walk ends, with no more rows than the file has bytes.
static void test_damage(void)
{
    begin(512, 0);
    fill(2000);
    FILE *f = fopen(path, "r+b");
    CHECK(f != NULL);
    fseek(f, 0, SEEK_END);
    int rounds = CHECK_ROUNDS(3000), ended = 0, lost = 0;
    uint32_t size = (uint32_t)ftell(f);
    for (int i = 0; i < rounds; i++) {
        uint32_t at[4];
        int before[4];
        for (int k = 0; k < 4; k++) {
            at[k] = 512 + below(size / 512 - 1) * 512 + (below(2) ? below(512) : below(12));
            fseek(f, at[k], SEEK_SET);
            before[k] = fgetc(f);
            fseek(f, at[k], SEEK_SET);
            fputc((int)below(256), f);
        }
        fflush(f);
        struct walk w = walk(1, INT64_MAX, false);
        CHECK(w.rows < size);
        ended += w.end == STK_NSYS_END;
        lost += w.end == STK_NSYS_LOST;
        for (int k = 3; k >= 0; k--) {
            fseek(f, at[k], SEEK_SET);
            fputc(before[k], f);
        }
        fflush(f);
    }
    fclose(f);
    CHECK(ended > 10 && lost > 10 && ended + lost == rounds);
    CHECK_EQ(walk(1, INT64_MAX, true).rows, 2000);
    end();
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_values);
    CHECK_RUN(test_ranges);
    CHECK_RUN(test_long_rows);
    CHECK_RUN(test_defaults);
    CHECK_RUN(test_refused);
    CHECK_RUN(test_damage);
    return check_done("unit.nsys_leaves");
}
