// SPDX-License-Identifier: Apache-2.0
// Nsight Systems SQLite: repeats the rows of every table with a `start` column, later in time and
// with fresh correlation ids, by INSERT ... SELECT, until the file has the requested size.
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        grow_die(sql, message ? message : "failed");
    }
}

static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK) {
        grow_die(sql, sqlite3_errmsg(db));
    }
    int64_t value = sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_finalize(st);
    return value;
}

static void copy_file(const char *from, const char *to)
{
    size_t size;
    uint8_t *data = grow_read(from, &size);
    FILE *out = fopen(to, "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0) {
        grow_die(to, "cannot be written");
    }
    free(data);
}

// The columns of a row of repeat k, as SQL.
static void select_list(sqlite3 *db, const char *table, int64_t period, int64_t stride, char *sql,
                        size_t cap)
{
    sqlite3_stmt *st;
    char *query = sqlite3_mprintf("pragma table_info(%s)", table);
    if (!query || sqlite3_prepare_v2(db, query, -1, &st, NULL) != SQLITE_OK) {
        grow_die(table, sqlite3_errmsg(db));
    }
    sqlite3_free(query);
    sql[0] = '\0';
    while (sqlite3_step(st) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 1);
        size_t used = strlen(sql);
        const char *comma = used ? ", " : "";
        if (!strcmp(name, "start") || !strcmp(name, "end")) {
            snprintf(sql + used, cap - used, "%s\"%s\" + k.repeat_no * %lld", comma, name,
                     (long long)period);
        } else if (!strcmp(name, "correlationId")) {
            snprintf(sql + used, cap - used, "%scorrelationId + k.repeat_no * %lld", comma,
                     (long long)stride);
        } else {
            snprintf(sql + used, cap - used, "%s\"%s\"", comma, name);
        }
    }
    sqlite3_finalize(st);
}

struct table {
    char name[128];
    int64_t last_row; // of the file's original rows
};

// Finds tables with events. Returns how many there are.
static int find_tables(sqlite3 *db, struct table *tables, int most)
{
    int count = 0;
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db,
                           "select m.name from sqlite_master m where m.type='table' and exists "
                           "(select 1 from pragma_table_info(m.name) where name='start')",
                           -1, &st, NULL) != SQLITE_OK) {
        grow_die("sqlite_master", sqlite3_errmsg(db));
    }
    while (count < most && sqlite3_step(st) == SQLITE_ROW) {
        snprintf(tables[count++].name, sizeof tables[0].name, "%s",
                 (const char *)sqlite3_column_text(st, 0));
    }
    sqlite3_finalize(st);
    for (int i = 0; i < count; i++) {
        char *sql = sqlite3_mprintf("select max(rowid) from \"%w\"", tables[i].name);
        tables[i].last_row = sql ? ask(db, sql) : 0;
        sqlite3_free(sql);
    }
    return count;
}

// Adds repeats from..to - 1 of the file's original rows.
static void add_repeats(sqlite3 *db, const struct table *table, const char *list, uint64_t from,
                        uint64_t to)
{
    char *sql = sqlite3_mprintf(
        "insert into \"%w\" select %s from (with recursive c(repeat_no) as (values(%llu) union "
        "all select repeat_no + 1 from c where repeat_no < %llu) select repeat_no from c) "
        "k cross join (select * from \"%w\" where rowid <= %lld) t",
        table->name, list, (unsigned long long)from, (unsigned long long)to - 1, table->name,
        (long long)table->last_row);
    if (!sql) {
        grow_die(table->name, "no memory");
    }
    run(db, sql);
    sqlite3_free(sql);
}

static uint64_t size_of(sqlite3 *db)
{
    return (uint64_t)(ask(db, "pragma page_count") * ask(db, "pragma page_size"));
}

// In rounds: a small file is mostly empty pages, so its size says little about the size of a
// repeat.
uint64_t grow_nsys(const char *in_path, const char *out_path, uint64_t target_bytes)
{
    static struct table tables[64];
    static char list[8192];
    copy_file(in_path, out_path);
    sqlite3 *db;
    if (sqlite3_open(out_path, &db) != SQLITE_OK) {
        grow_die(out_path, sqlite3_errmsg(db));
    }
    uint64_t first_size = size_of(db), size = first_size, repeats = 1;
    int64_t period =
        ask(db, "select max(end) - min(start) from CUPTI_ACTIVITY_KIND_KERNEL") + 1000000;
    int64_t stride = ask(db, "select max(correlationId) from CUPTI_ACTIVITY_KIND_RUNTIME") + 1;
    run(db, "pragma journal_mode=off; pragma synchronous=off; begin");
    int count = find_tables(db, tables, (int)(sizeof tables / sizeof tables[0]));
    while (count && size < target_bytes) {
        uint64_t each = repeats > 1 ? (size - first_size) / (repeats - 1) + 1 : size;
        uint64_t more = (target_bytes - size) / each + 1;
        for (int i = 0; i < count; i++) {
            select_list(db, tables[i].name, period, stride, list, sizeof list);
            add_repeats(db, &tables[i], list, repeats, repeats + more);
        }
        repeats += more;
        size = size_of(db);
    }
    run(db, "commit");
    sqlite3_close(db);
    return repeats;
}
