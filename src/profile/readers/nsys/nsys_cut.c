// SPDX-License-Identifier: Apache-2.0
// Until when the rows are complete in a database that lacks pages, or has unreadable ones.
//
// Method: a table is read in rowid order, so its first missing row is known. Let D be the most that
// an earlier row's time trails the latest one before it. Rows earlier than the latest less D are
// complete. Tables are written at the same time, so the earliest such time of all tables counts.
// Without all names, or the list of tables, no time is certain.
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

// The time of rows is the first column of every table, after the rowid (nsys_tables.def).
static int64_t table_whole_until(sqlite3 *db, const struct stk_nsys_found *f, int64_t lost_row)
{
    sqlite3_stmt *st = NULL;
    int64_t newest_ns = INT64_MIN, back_ns = 0;
    if (lost_row > f->first_row && sqlite3_prepare_v2(db, f->sql, -1, &st, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(st, 1, f->first_row);
        sqlite3_bind_int64(st, 2, lost_row - 1);
        // As when the rows were read: a tampered tree may return rows forever.
        int64_t last_row = INT64_MIN;
        while (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_int64(st, 0) > last_row) {
            last_row = sqlite3_column_int64(st, 0);
            int64_t at_ns = sqlite3_column_int64(st, 1), step_ns;
            newest_ns = at_ns > newest_ns ? at_ns : newest_ns;
            if (__builtin_sub_overflow(newest_ns, at_ns, &step_ns)) {
                step_ns = INT64_MAX;
            }
            back_ns = step_ns > back_ns ? step_ns : back_ns;
        }
    }
    sqlite3_finalize(st);
    return newest_ns < INT64_MIN + back_ns ? INT64_MIN : newest_ns - back_ns;
}

static bool has_all_names(struct stk_nsys_schema *schema, const struct stk_nsys_file *file)
{
    if (!file->has_strings || !file->strings_by_rowid) {
        return !file->lacks_strings;
    }
    sqlite3_stmt *st = stk_nsys_select(schema, "StringIds", "!id,!value", "");
    int64_t last = INT64_MIN;
    int rc = SQLITE_ERROR;
    while (st && (rc = sqlite3_step(st)) == SQLITE_ROW && sqlite3_column_int64(st, 0) > last) {
        last = sqlite3_column_int64(st, 0);
        (void)sqlite3_column_text(st, 1); // long ones are on separate pages
    }
    sqlite3_finalize(st);
    return rc == SQLITE_DONE;
}

void stk_nsys_cut_note(struct stk_nsys_schema *schema, const struct stk_nsys_file *file,
                       const struct stk_nsys_unit *units, uint32_t count, struct stk_build *b)
{
    STK_ASSERT(units || count == 0);
    bool is_cut = file->lacks_pages || file->lacks_journal || file->lacks_strings || schema->is_cut;
    int64_t until_ns = file->lacks_journal || schema->is_cut ? INT64_MIN : INT64_MAX;
    const struct stk_nsys_found *done = NULL;
    for (uint32_t i = 0; i < count; i++) { // of a table in order of rows: the first is the earliest
        const struct stk_nsys_unit *u = &units[i];
        if (u->lost_row == INT64_MAX || u->found == done) {
            continue;
        }
        done = u->found;
        is_cut = true;
        int64_t table_ns = until_ns == INT64_MIN
                               ? INT64_MIN
                               : table_whole_until(schema->db, u->found, u->lost_row);
        until_ns = table_ns < until_ns ? table_ns : until_ns;
    }
    if (is_cut && until_ns != INT64_MIN && !has_all_names(schema, file)) {
        until_ns = INT64_MIN;
    }
    if (is_cut) {
        stk_build_cut(b, STK_CUT_AT, until_ns);
    }
}
