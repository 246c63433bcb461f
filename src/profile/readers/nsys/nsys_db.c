// SPDX-License-Identifier: Apache-2.0
// A connection to a database that may be hostile, and where its rows are. The file is opened
// immutable: no lock is taken, no journal is replayed and no other file is written. Nothing from
// the file is executed: views, triggers, virtual tables and generated columns aren't read.
// Statements name their columns and use the rowid, never an index of the file.
//
// SQLite refuses a file with fewer pages than its header says. Such a file (cut, or still being
// copied) is opened a second time in a mode that tolerates it, so that the pages there are read.
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

#include <stdio.h>

#include "base/alloc.h"

// "file:" URI of a path; caller frees.
static char *uri_of(const char *path)
{
    static const char tail[] = "?mode=ro&immutable=1", hex[] = "0123456789ABCDEF";
    size_t n = strlen(path);
    char *uri = stk_alloc_array(n + 16, 3);
    if (!uri) {
        return NULL;
    }
    size_t at = (size_t)sprintf(uri, path[0] == '/' ? "file://" : "file:");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)path[i];
        if (c == '%' || c == '?' || c == '#' || c < 0x20 || c >= 0x7f) {
            uri[at++] = '%';
            uri[at++] = hex[c >> 4];
            uri[at++] = hex[c & 15];
        } else {
            uri[at++] = (char)c;
        }
    }
    memcpy(uri + at, tail, sizeof tail);
    return uri;
}

enum stoker_status stk_nsys_db_error(sqlite3 *db, const char *path, const char *doing,
                                     struct stoker_err *err)
{
    int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
    if ((code & 0xff) == SQLITE_NOMEM) {
        return stk_err_nomem(err);
    }
    const char *text = sqlite3_errmsg(db);
    if ((code & 0xff) == SQLITE_NOTADB || (code & 0xff) == SQLITE_CORRUPT) {
        return stk_err_set(err, STOKER_EINPUT,
                           "%s: the SQLite database is damaged (%s, while %s): export the report "
                           "again with nsys export --type=sqlite",
                           path, text, doing);
    }
    return stk_err_set(err, STOKER_EINPUT, "%s: %s, while %s", path, text, doing);
}

static void restrict_connection(sqlite3 *db, bool tolerant)
{
    static const int off[] = {
        SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
        SQLITE_DBCONFIG_ENABLE_VIEW,    SQLITE_DBCONFIG_DQS_DML,
        SQLITE_DBCONFIG_DQS_DDL,        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        sqlite3_db_config(db, off[i], 0, NULL);
    }
    // The schema is never written, since the connection is read-only. The pragma only makes SQLite
    // skip missing pages and unreadable schema entries.
    if (tolerant) {
        sqlite3_exec(db, "PRAGMA writable_schema=ON", NULL, NULL, NULL);
    } else {
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    }
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, 64 << 20}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_EXPR_DEPTH, 50},   {SQLITE_LIMIT_COMPOUND_SELECT, 4},
        {SQLITE_LIMIT_VDBE_OP, 25000},   {SQLITE_LIMIT_FUNCTION_ARG, 8},
        {SQLITE_LIMIT_ATTACHED, 0},      {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1}, {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        sqlite3_limit(db, limits[i][0], limits[i][1]);
    }
}

// SQLITE_OK, or the error; *out must be closed in any case.
static int connect_to(sqlite3 **out, const char *uri, const char *files, bool tolerant)
{
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(uri, out, flags, files);
    if (rc != SQLITE_OK) {
        return rc;
    }
    restrict_connection(*out, tolerant);
    // A small cache and no mapping: memory stays small, and a file that shrinks can't raise a
    // signal. The last statement reads the schema, so a damaged one is found here.
    return sqlite3_exec(*out,
                        "PRAGMA cache_size=-1024; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;"
                        "PRAGMA query_only=ON; PRAGMA cell_size_check=ON;"
                        "SELECT 1 FROM sqlite_master LIMIT 1;",
                        NULL, NULL, NULL);
}

enum stoker_status stk_nsys_db_open(sqlite3 **out, const char *path, bool lacks_pages,
                                    struct stoker_err *err)
{
    STK_ASSERT(path);
    enum stoker_status status = STOKER_OK;
    const char *files = lacks_pages ? stk_nsys_whole_pages() : NULL;
    sqlite3 *db = NULL;
    char *uri = uri_of(path);
    *out = NULL;
    if (!uri) {
        return stk_err_nomem(err);
    }
    int rc = connect_to(&db, uri, files, false);
    if ((rc & 0xff) == SQLITE_CORRUPT) {
        sqlite3_close(db);
        db = NULL;
        rc = connect_to(&db, uri, files, true);
    }
    if (rc != SQLITE_OK) {
        status = stk_nsys_db_error(db, path, "opening it", err);
    }
    stk_free(uri);
    if (status == STOKER_OK) {
        *out = db;
    } else {
        sqlite3_close(db);
    }
    return status;
}

// Smallest or largest rowid; each is one descent of the tree. false: no rows; *failed: unreadable.
static bool rowid_end(sqlite3 *db, const char *table, const char *which, int64_t *out, bool *failed)
{
    char sql[160];
    sqlite3_stmt *st = NULL;
    bool found = false;
    snprintf(sql, sizeof sql, "SELECT %s(rowid) FROM \"%s\" NOT INDEXED", which, table);
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK || sqlite3_step(st) != SQLITE_ROW) {
        *failed = true;
    } else if (sqlite3_column_type(st, 0) == SQLITE_INTEGER) {
        *out = sqlite3_column_int64(st, 0);
        found = true;
    }
    sqlite3_finalize(st);
    return found;
}

static void unreadable(struct stk_shard *shard, const char *table, const char *why)
{
    char note[200];
    int n = snprintf(note, sizeof note, "%s: %s", table, why);
    stk_shard_issue(shard, STK_ISSUE_TABLE_UNREADABLE, 1, 0, -1,
                    (struct stk_str){note, (size_t)n < sizeof note ? (size_t)n : sizeof note - 1});
}

// Exports number their rows from 1, and a row takes at least 16 bytes.
static bool guess_rows(const struct stk_nsys_file *file, struct stk_nsys_found *f, bool no_first,
                       bool no_last)
{
    if (no_first) {
        f->first_row = no_last || f->last_row > 1 ? 1 : f->last_row;
    }
    if (no_last) {
        int64_t most = (int64_t)(file->size_bytes / 16);
        f->last_row = f->first_row > INT64_MAX - most ? INT64_MAX : f->first_row + most;
        f->last_is_guess = true;
    }
    return true;
}

static void probe_table(struct stk_nsys_schema *schema, const struct stk_nsys_table *table,
                        const struct stk_nsys_file *file, struct stk_nsys_found *f,
                        struct stk_shard *shard)
{
    enum stk_nsys_table_state state = stk_nsys_table_state(schema, table->name);
    if (state == STK_NSYS_ABSENT) {
        return;
    }
    if (state == STK_NSYS_UNFIT) {
        unreadable(shard, table->name, "not an ordinary table, so it was not read");
        return;
    }
    bool no_first = false, no_last = false;
    bool rows = rowid_end(schema->db, table->name, "min", &f->first_row, &no_first);
    rows |= rowid_end(schema->db, table->name, "max", &f->last_row, &no_last);
    bool disordered = rows && !no_first && !no_last && f->first_row > f->last_row;
    no_first |= disordered;
    no_last |= disordered;
    if (no_first || no_last) { // damage at an end of the table: check what is between
        rows = guess_rows(file, f, no_first, no_last);
    }
    if (!rows) {
        return;
    }
    char list[STK_NSYS_SQL_MAX - 200], columns[STK_NSYS_SQL_MAX - 200];
    snprintf(columns, sizeof columns, "%s", table->columns);
    char *more = strchr(columns, ';');
    if (more) {
        *more = 0;
    }
    struct stk_nsys_places places = {0};
    int absent = stk_nsys_select_list(schema, table->name, columns, list, sizeof list, &places);
    if (absent >= 0 && more && stk_wants_grids(file->wants)) {
        *more = ',';
        places.count = 0;
        if (stk_nsys_select_list(schema, table->name, columns, list, sizeof list, &places) < 0) {
            absent = -1;
        }
    }
    if (absent < 0) {
        unreadable(shard, table->name, "required columns are missing");
        return;
    }
    if (absent > 0) {
        stk_shard_issue(shard, STK_ISSUE_COLUMN_MISSING, (uint64_t)absent, 0, -1,
                        stk_str_from(table->name));
    }
    snprintf(f->sql, sizeof f->sql,
             "SELECT rowid, %s FROM \"%s\" NOT INDEXED WHERE rowid BETWEEN ?1 AND ?2", list,
             table->name);
    memcpy(f->fields, places.field, sizeof f->fields);
    f->cell_count = places.count;
    f->root_page = f->last_is_guess ? 0 : stk_nsys_root_page(schema, table->name);
    f->has_process = stk_nsys_has_column(schema, table->name, "globalPid") ||
                     stk_nsys_has_column(schema, table->name, "globalTid");
    f->present = true;
}

// Rows of known tables that no analysis uses: counted by their rowids, which are dense in an
// export, and not read.
static void note_unread(struct stk_nsys_schema *schema, const struct stk_nsys_file *file,
                        struct stk_shard *shard)
{
    static const char *const tables[] = {
        "SCHED_EVENTS",
        "COMPOSITE_EVENTS", // CPU samples
        "SAMPLING_CALLCHAINS",
        "CUDA_CALLCHAINS",
        "OSRT_CALLCHAINS",
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
        "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
        "GPU_CONTEXT_SWITCH_EVENTS",
        "NIC_METRICS",
        "NET_NIC_METRIC",
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        int64_t low = 0, high = 0;
        bool failed = false;
        if (stk_nsys_table_state(schema, tables[i]) != STK_NSYS_REAL ||
            !rowid_end(schema->db, tables[i], "min", &low, &failed) ||
            !rowid_end(schema->db, tables[i], "max", &high, &failed) || failed) {
            continue;
        }
        uint64_t last = (uint64_t)high - (uint64_t)low; // of rowids, from 0
        // More rows than bytes: made by hand, so rowids aren't dense.
        stk_shard_issue(shard, STK_ISSUE_TABLES_UNREAD, last < file->size_bytes ? last + 1 : 1, 0,
                        -1, stk_str_from(tables[i]));
    }
}

enum stoker_status stk_nsys_db_probe(struct stk_nsys_schema *schema, struct stk_nsys_file *file,
                                     struct stk_shard *shard, struct stoker_err *err)
{
    bool any = false;
    for (int i = 0; i < stk_nsys_table_count; i++) {
        struct stk_nsys_found *f = &file->found[i];
        bool samples = strcmp(stk_nsys_tables[i].name, "GPU_METRICS") == 0;
        if (samples && !(file->wants & STK_WANT_COUNTERS)) {
            continue;
        }
        probe_table(schema, &stk_nsys_tables[i], file, f, shard);
        any |= stk_nsys_table_state(schema, stk_nsys_tables[i].name) != STK_NSYS_ABSENT;
        if (f->present) {
            file->row_estimate += (uint64_t)f->last_row - (uint64_t)f->first_row + 1;
        }
    }
    note_unread(schema, file, shard);
    if (!stk_nsys_schema_is_whole(schema)) {
        return stk_err_nomem(err);
    }
    if (any || stk_nsys_table_state(schema, "StringIds") == STK_NSYS_REAL) {
        return STOKER_OK;
    }
    return stk_err_set(err, STOKER_EINPUT,
                       "%s: this SQLite database has no tables of Nsight Systems: write one "
                       "with nsys export --type=sqlite REPORT.nsys-rep",
                       file->path);
}
