// SPDX-License-Identifier: Apache-2.0
// Nsight Systems, as SQLite: what `nsys export --type=sqlite` writes.
//
// Format: an SQLite 3 database, one table per kind of record (nsys_tables.def), names in StringIds.
// Specified by NVIDIA's "SQLite Schema Reference" in the Nsight Systems Analysis Guide, and by the
// files themselves: tables without rows are absent, columns come and go, so both are probed. Seen:
// schema 2.9 (2022.2) to 3.25 (2026.2), and files written by hand with fewer columns.
// Clock: ns since the start of the session; the session's Unix time is added to the trace's base.
// Position of an event: table number << 32 | low 32 bits of the rowid.
//
// Method: each table is cut into ranges of rowids, a unit of work each with a shard of its own,
// read by workers that have a connection each; the cut depends on the file alone, so the result
// does not depend on the number of workers. Rows of a table come in any order of time; the store
// sorts. Rows of intact tables come from the pages of the file, others through SQLite.
//
// Left out: class 67 rows that repeat an API call (counted as OTHER); ranges without an end
// (TIME_INVALID); CPU samples, scheduling, call chains (TABLES_UNREAD); GPU metrics, unless
// counters are wanted. A damaged page costs its rows (TABLE_UNREADABLE), not the table. A journal
// or write-ahead log next to the file isn't applied (TRUNCATED).
#include "profile/readers/nsys/nsys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/thread.h"

#define UNIT_ROWS (1u << 18)
#define UNITS_PER_TABLE_MAX 128
#define SKIP_ROWS 32  // first step over a damaged page
#define SKIPS_MAX 512 // per unit
#define WORKERS_MAX 64

struct worker {
    sqlite3 *db;
    sqlite3_stmt *find;
    struct stk_nsys_leaves *leaves; // NULL: SQLite reads all
    struct stk_nsys_cells cells;
    uint64_t rows;
    enum stoker_status status;
    struct stoker_err err;
};

struct reading {
    const struct stk_read_ctx *ctx;
    struct stk_nsys_file file;
    sqlite3 *db; // of the first worker, too
    struct stk_nsys_schema schema;
    struct stk_build *build;
    struct stk_shard *notes; // issues of the file as a whole
    struct stk_nsys_unit *units;
    uint32_t unit_count;
    struct worker workers[WORKERS_MAX];
    atomic_uint next_unit, units_done;
    atomic_ullong rows_done;
    atomic_bool stop;
};

static int nsys_sniff(const uint8_t *head, size_t n, const char **why_not)
{
    STK_ASSERT(head || n == 0);
    static const char magic[16] = "SQLite format 3";
    if (n >= sizeof magic && memcmp(head, magic, sizeof magic) == 0) {
        return 2;
    }
    if (n < 100) {
        return 0;
    }
    for (size_t i = 0; i < 100; i++) {
        if (head[i]) {
            return 0;
        }
    }
    *why_not = "the file begins with zeros, like an interrupted export: export the report again "
               "with nsys export --type=sqlite";
    return 0;
}

static void note_issue(struct reading *r, enum stk_issue_id id, const char *text)
{
    STK_ASSERT((unsigned)id < STK_ISSUE_COUNT);
    stk_shard_issue(r->notes, id, 1, 0, -1, stk_str_from(text));
}

static enum stoker_status cannot_read(const struct reading *r, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT, "can't read %s: %s", r->ctx->path, strerror(errno));
}

// An unfinished export has a journal next to it.
static enum stoker_status check_beside(struct reading *r, struct stoker_err *err)
{
    static const char *const beside[] = {"-wal", "-journal"};
    struct stat info;
    char path[4096];
    for (int i = 0; i < 2; i++) {
        int n = snprintf(path, sizeof path, "%s%s", r->ctx->path, beside[i]);
        if (n <= 0 || (size_t)n >= sizeof path) {
            continue;
        }
        if (stat(path, &info) != 0) {
            if (errno != ENOENT) {
                return cannot_read(r, err);
            }
        } else if (info.st_size > 0) {
            r->file.lacks_journal = true;
            note_issue(r, STK_ISSUE_TRUNCATED,
                       i == 0 ? "the write-ahead log (-wal) next to the file was not applied"
                              : "there is a journal next to the file: an export was interrupted");
        }
    }
    return STOKER_OK;
}

// Are all pages there? By the header; a file without one is judged by SQLite.
static void check_pages(struct reading *r, const uint8_t head[100])
{
    uint32_t page = (uint32_t)head[16] << 8 | head[17];
    uint32_t pages =
        (uint32_t)head[28] << 24 | (uint32_t)head[29] << 16 | (uint32_t)head[30] << 8 | head[31];
    if (page == 1) {
        page = 65536;
    }
    // The count holds only if both change counters agree.
    bool is_counted = memcmp(head + 24, head + 92, 4) == 0;
    bool is_torn = page && r->file.size_bytes % page;
    if (is_torn || (is_counted && (uint64_t)page * pages > r->file.size_bytes)) {
        r->file.lacks_pages = true;
        note_issue(r, STK_ISSUE_TRUNCATED, "pages are missing at the end of the file");
    }
}

// Checks for files next to this one, and whether all pages are there. *plain is false for a
// compressed file, which SQLite can't read although a stream can.
static enum stoker_status check_whole(struct reading *r, bool *plain, struct stoker_err *err)
{
    struct stat info;
    uint8_t head[100];
    if (stat(r->ctx->path, &info) != 0) {
        return cannot_read(r, err);
    }
    r->file.size_bytes = (uint64_t)info.st_size;
    enum stoker_status status = check_beside(r, err);
    FILE *f = status == STOKER_OK ? fopen(r->ctx->path, "rbe") : NULL;
    if (!f) {
        return status == STOKER_OK ? cannot_read(r, err) : status;
    }
    bool has_head = fread(head, sizeof head, 1, f) == 1;
    if (ferror(f)) {
        status = cannot_read(r, err);
    }
    fclose(f);
    *plain =
        !has_head || (memcmp(head, "\x1f\x8b", 2) != 0 && memcmp(head, "\x28\xb5\x2f\xfd", 4) != 0);
    if (has_head && *plain) {
        check_pages(r, head);
    }
    return status;
}

// First value of an integer column; false if the table is empty.
static bool first_value(struct stk_nsys_schema *schema, const char *table, const char *column,
                        const char *tail, int64_t *out)
{
    sqlite3_stmt *st = stk_nsys_select(schema, table, column, tail);
    bool found =
        st && sqlite3_step(st) == SQLITE_ROW && sqlite3_column_type(st, 0) == SQLITE_INTEGER;
    if (found) {
        *out = sqlite3_column_int64(st, 0);
    }
    sqlite3_finalize(st);
    return found;
}

// Rows of old or hand-written files don't have a process: they belong to the one that made API
// calls, if there is only one.
static void find_processes(struct reading *r)
{
    struct stk_nsys_file *file = &r->file;
    static const char *const tables[][2] = {{"CUPTI_ACTIVITY_KIND_RUNTIME", "!globalTid"},
                                            {"CUPTI_ACTIVITY_KIND_KERNEL", "!globalPid"},
                                            {"CUPTI_ACTIVITY_KIND_MEMCPY", "!globalPid"},
                                            {"NVTX_EVENTS", "!globalTid"},
                                            {"OSRT_API", "!globalTid"}};
    int64_t global = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !file->has_machine; i++) {
        file->has_machine = first_value(&r->schema, tables[i][0], tables[i][1], "LIMIT 1", &global);
    }
    file->machine = (uint64_t)global >> 48;
    file->default_process = file->has_machine ? stk_nsys_process_of(file, global) : 0;
    bool nameless = false;
    for (int i = 0; i < stk_nsys_table_count; i++) {
        nameless |= file->found[i].present && !file->found[i].has_process;
    }
    int64_t low, high;
    if (nameless &&
        first_value(&r->schema, tables[0][0], tables[0][1], "ORDER BY 1 LIMIT 1", &low) &&
        first_value(&r->schema, tables[0][0], tables[0][1], "ORDER BY 1 DESC LIMIT 1", &high) &&
        stk_nsys_global_pid(low) != stk_nsys_global_pid(high)) {
        file->default_process = 0;
    }
    file->drop_wrappers = first_value(&r->schema, tables[0][0], "!eventClass",
                                      "WHERE eventClass IN (0, 1) LIMIT 1", &low);
}

static bool plan_unit(struct reading *r, int table, int64_t first, int64_t last)
{
    STK_ASSERT(table >= 0 && table < stk_nsys_table_count);
    struct stk_nsys_unit *u = &r->units[r->unit_count];
    *u = (struct stk_nsys_unit){.file = &r->file,
                                .table = &stk_nsys_tables[table],
                                .found = &r->file.found[table],
                                .index = r->unit_count,
                                .first_row = first,
                                .last_row = last,
                                .lost_row = INT64_MAX};
    u->shard = stk_build_shard(r->build);
    stk_map_init(&u->threads, 1 << 20);
    stk_map_init(&u->devices, 1 << 16);
    stk_map_init(&u->ranks, 1 << 16);
    stk_vec_init(&u->marks, sizeof(struct stk_nsys_mark), STK_NSYS_MARKS_MAX);
    stk_vec_init(&u->name_marks, 1, 64u << 20);
    r->unit_count++;
    return u->shard != NULL;
}

// Units that a table is cut into.
static uint64_t parts_of(const struct stk_nsys_found *f)
{
    uint64_t last = (uint64_t)f->last_row - (uint64_t)f->first_row; // of rowids, from 0
    uint64_t parts = last / UNIT_ROWS + 1;
    return !f->present ? 0 : parts > UNITS_PER_TABLE_MAX ? UNITS_PER_TABLE_MAX : parts;
}

static enum stoker_status plan(struct reading *r, struct stoker_err *err)
{
    uint64_t count = 0;
    for (int i = 0; i < stk_nsys_table_count; i++) {
        count += parts_of(&r->file.found[i]);
    }
    r->units = stk_alloc_zero(count ? count : 1, sizeof *r->units);
    if (!r->units) {
        return stk_err_nomem(err);
    }
    for (int i = 0; i < stk_nsys_table_count; i++) {
        const struct stk_nsys_found *f = &r->file.found[i];
        uint64_t parts = parts_of(f), last = (uint64_t)f->last_row - (uint64_t)f->first_row;
        uint64_t size = parts ? last / parts + 1 : 0;
        for (uint64_t from = 0, k = 0; k < parts && from <= last; k++, from += size) {
            uint64_t to = k + 1 == parts || size > last - from ? last : from + size - 1;
            if (!plan_unit(r, i, (int64_t)((uint64_t)f->first_row + from),
                           (int64_t)((uint64_t)f->first_row + to))) {
                return stk_err_nomem(err);
            }
            if (to == last) {
                break;
            }
        }
    }
    return STOKER_OK;
}

// Every few thousand rows: report progress, and stop if requested.
static bool may_go_on(struct reading *r, const struct stk_nsys_unit *u, int worker, uint64_t rows)
{
    uint64_t done = atomic_fetch_add(&r->rows_done, rows) + rows;
    const struct stk_progress *progress = r->ctx->progress;
    if (worker == 0 && progress && progress->update) {
        uint64_t estimate = r->file.row_estimate ? r->file.row_estimate : 1;
        double share = (double)done / (double)estimate;
        uint64_t bytes =
            share >= 1 ? r->file.size_bytes : (uint64_t)(share * (double)r->file.size_bytes);
        if (progress->update(progress->arg, bytes, r->file.size_bytes)) {
            r->workers[0].status = stk_err_set(&r->workers[0].err, STOKER_EINTR, "interrupted");
            atomic_store(&r->stop, true);
        }
    }
    return !atomic_load(&r->stop) && !stk_shard_failed(u->shard);
}

// Hand on the row in the worker's cells. False: stop.
static bool take_row(struct reading *r, struct stk_nsys_unit *u, int worker)
{
    enum { BATCH = 4096 };
    struct worker *w = &r->workers[worker];
    u->table->row(u, &w->cells);
    return ++w->rows % BATCH != 0 || may_go_on(r, u, worker, BATCH);
}

// Rows from the statement until it ends; *last is the rowid of the last one read. SQLITE_DONE,
// SQLITE_INTERRUPT, or what went wrong.
static int read_rows(struct reading *r, struct stk_nsys_unit *u, int worker, sqlite3_stmt *st,
                     int64_t *last, bool *any)
{
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        int64_t rowid = sqlite3_column_int64(st, 0);
        // A tree that returns a row twice was tampered with, and may do so forever.
        if (*any && rowid <= *last) {
            return SQLITE_CORRUPT;
        }
        *last = rowid;
        *any = true;
        stk_nsys_cells_take(&r->workers[worker].cells, st);
        if (!take_row(r, u, worker)) {
            return SQLITE_INTERRUPT;
        }
    }
    return rc;
}

// One row through SQLite, into the worker's cells.
static bool ask_row(struct worker *w, sqlite3_stmt *st)
{
    int64_t rowid = w->cells.rowid;
    sqlite3_reset(st);
    sqlite3_bind_int64(st, 1, rowid);
    sqlite3_bind_int64(st, 2, rowid);
    bool found = sqlite3_step(st) == SQLITE_ROW;
    if (found) {
        stk_nsys_cells_take(&w->cells, st);
    }
    return found;
}

// Rows from the pages of the file, as long as those are as expected. SQLITE_DONE, SQLITE_INTERRUPT,
// or SQLITE_ROW: *from is the first row that is left for SQLite.
static int read_leaves(struct reading *r, struct stk_nsys_unit *u, int worker, sqlite3_stmt *st,
                       int64_t *from)
{
    struct worker *w = &r->workers[worker];
    enum stk_nsys_leaf_row how;
    stk_nsys_cells_clear(&w->cells);
    if (!w->leaves || !stk_nsys_leaves_seek(w->leaves, u->found, u->first_row, u->last_row)) {
        return SQLITE_ROW;
    }
    while ((how = stk_nsys_leaves_next(w->leaves, &w->cells)) == STK_NSYS_ROW ||
           (how == STK_NSYS_ASK && ask_row(w, st))) {
        int64_t rowid = w->cells.rowid;
        bool goes_on = take_row(r, u, worker);
        if (!goes_on || rowid == u->last_row) {
            sqlite3_reset(st);
            return goes_on ? SQLITE_DONE : SQLITE_INTERRUPT;
        }
        *from = rowid + 1;
    }
    sqlite3_reset(st);
    return how == STK_NSYS_END ? SQLITE_DONE : SQLITE_ROW;
}

static void note_damage(struct stk_nsys_unit *u, const char *what, uint64_t lost)
{
    char note[200];
    int n = snprintf(note, sizeof note, "%s: %s", u->table->name, what);
    stk_shard_issue(u->shard, STK_ISSUE_TABLE_UNREADABLE, 1, lost, -1,
                    (struct stk_str){note, (size_t)n < sizeof note ? (size_t)n : sizeof note - 1});
}

// Read the unit's rows; after a damaged page, continue with the next. Rowids are dense in an
// export, so those skipped are counted as lost.
static int read_range(struct reading *r, struct stk_nsys_unit *u, int worker, sqlite3_stmt *st)
{
    int64_t last = 0, from = u->first_row;
    int read = read_leaves(r, u, worker, st, &from);
    if (read != SQLITE_ROW) {
        return read;
    }
    int64_t good = from;
    uint64_t skip = SKIP_ROWS;
    for (int skips = 0;; skips++) {
        bool any = false;
        sqlite3_bind_int64(st, 1, from);
        sqlite3_bind_int64(st, 2, u->last_row);
        int rc = read_rows(r, u, worker, st, &last, &any);
        if (from > good && (any || rc == SQLITE_DONE)) {
            // The first row after the damage is known only if rows are consecutive.
            bool unsure = !any && u->found->last_is_guess;
            note_damage(u, "damaged pages were skipped",
                        unsure ? 0 : (uint64_t)from - (uint64_t)good);
            skip = SKIP_ROWS;
        }
        if (rc == SQLITE_DONE || rc == SQLITE_INTERRUPT) {
            return rc;
        }
        bool hopeless = rc != SQLITE_CORRUPT && (rc & 0xff) != SQLITE_IOERR;
        char why[120];
        snprintf(why, sizeof why, "%s", sqlite3_errmsg(sqlite3_db_handle(st)));
        sqlite3_reset(st);
        if (any) {
            good = from = last == INT64_MAX ? last : last + 1;
        }
        if (rc == SQLITE_NOMEM) {
            return rc;
        }
        if (good <= u->last_row && good < u->lost_row) {
            u->lost_row = good;
        }
        uint64_t left = (uint64_t)u->last_row - (uint64_t)from;
        if (hopeless || from > u->last_row || skip > left || skips >= SKIPS_MAX) {
            uint64_t lost = good > u->last_row ? 0 : (uint64_t)u->last_row - (uint64_t)good + 1;
            note_damage(u, why, u->found->last_is_guess ? 0 : lost);
            return SQLITE_DONE;
        }
        from = (int64_t)((uint64_t)from + skip);
        skip *= 2;
    }
}

static void read_unit(struct reading *r, struct stk_nsys_unit *u, int worker)
{
    struct worker *w = &r->workers[worker];
    sqlite3_stmt *st = NULL;
    stk_nsys_names_init(&u->names, &r->file, w->find);
    if (sqlite3_prepare_v3(w->db, u->found->sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL) !=
        SQLITE_OK) {
        u->lost_row = u->first_row;
        note_damage(u, sqlite3_errmsg(w->db), 0);
    } else if (read_range(r, u, worker, st) == SQLITE_NOMEM || u->out_of_memory) {
        w->status = stk_err_nomem(&w->err);
        atomic_store(&r->stop, true);
    }
    sqlite3_finalize(st);
    stk_nsys_names_deinit(&u->names);
    u->names.find = NULL;
    atomic_fetch_add(&r->units_done, 1);
}

static void work(void *arg, int index)
{
    STK_ASSERT(index >= 0);
    struct reading *r = arg;
    struct worker *w = &r->workers[index];
    uint32_t i;
    stk_err_init(&w->err);
    w->db = index == 0 ? r->db : NULL;
    w->status = index == 0 ? STOKER_OK
                           : stk_nsys_db_open(&w->db, r->ctx->path, r->file.lacks_pages, &w->err);
    if (w->status != STOKER_OK) {
        return;
    }
    w->find = stk_nsys_names_prepare(w->db, &r->file);
    w->leaves = stk_nsys_leaves_open(&r->file);
    while (!atomic_load(&r->stop) && (i = atomic_fetch_add(&r->next_unit, 1)) < r->unit_count) {
        read_unit(r, &r->units[i], index);
    }
    sqlite3_finalize(w->find);
    stk_nsys_leaves_close(w->leaves);
    if (index != 0) {
        sqlite3_close(w->db);
    }
}

static enum stoker_status read_units(struct reading *r, struct stoker_err *err)
{
    uint64_t per_worker = r->file.row_estimate / 50000 + 1; // small files aren't worth a thread
    int n = r->ctx->threads < 1 ? 1 : r->ctx->threads > WORKERS_MAX ? WORKERS_MAX : r->ctx->threads;
    if ((uint64_t)n > per_worker) {
        n = (int)per_worker;
    }
    if ((uint32_t)n > r->unit_count) {
        n = r->unit_count ? (int)r->unit_count : 1;
    }
    if (!sqlite3_threadsafe()) {
        n = 1;
    }
    stk_thread_run(n, work, r);
    // A worker that could not open the file does not matter if others did its share.
    bool complete = atomic_load(&r->units_done) == r->unit_count && !atomic_load(&r->stop);
    for (int i = 0; i < n && !complete; i++) {
        if (r->workers[i].status != STOKER_OK) {
            if (err) {
                *err = r->workers[i].err;
            }
            return r->workers[i].status;
        }
    }
    return STOKER_OK;
}

static void close_reading(struct reading *r)
{
    for (uint32_t i = 0; i < r->unit_count; i++) {
        struct stk_nsys_unit *u = &r->units[i];
        stk_map_deinit(&u->threads);
        stk_map_deinit(&u->devices);
        stk_map_deinit(&u->ranks);
        stk_vec_deinit(&u->marks);
        stk_vec_deinit(&u->name_marks);
    }
    stk_free(r->units);
    stk_nsys_strings_close(&r->file);
    stk_nsys_metrics_close(&r->file);
    stk_nsys_schema_close(&r->schema);
    sqlite3_close(r->db);
    stk_build_free(r->build);
    stk_free(r);
}

static enum stoker_status nothing_read(struct reading *r, const struct stk_trace *t,
                                       struct stoker_err *err)
{
    if (t->count || !t->issues[STK_ISSUE_TABLE_UNREADABLE].count) {
        return STOKER_OK;
    }
    struct stk_str note = stk_strpool_get(&t->strings, t->issues[STK_ISSUE_TABLE_UNREADABLE].note);
    return stk_err_set(err, STOKER_EINPUT,
                       "%s: no table could be read (%s): export the report again with "
                       "nsys export --type=sqlite",
                       r->ctx->path, note.p);
}

// Open the database, find out what it has, and plan the work.
static enum stoker_status prepare(struct reading *r, struct stoker_err *err)
{
    r->notes = stk_build_shard(r->build);
    if (!r->notes) {
        return stk_err_nomem(err);
    }
    bool plain = true;
    enum stoker_status status = check_whole(r, &plain, err);
    if (status == STOKER_OK && !plain) {
        status = stk_err_set(err, STOKER_EINPUT,
                             "%s: a compressed SQLite database: unpack it first (gunzip, unzstd)",
                             r->ctx->path);
    }
    if (status == STOKER_OK) {
        status = stk_nsys_db_open(&r->db, r->ctx->path, r->file.lacks_pages, err);
    }
    if (status == STOKER_OK) {
        status = stk_nsys_schema_read(&r->schema, r->db, err);
    }
    if (status == STOKER_OK) {
        status = stk_nsys_db_probe(&r->schema, &r->file, r->notes, err);
    }
    if (status == STOKER_OK) {
        status = stk_nsys_strings_open(&r->schema, &r->file, r->notes, err);
    }
    if (status == STOKER_OK) {
        status = stk_nsys_metrics_open(&r->schema, &r->file, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    find_processes(r);
    return plan(r, err);
}

static enum stoker_status read_nsys(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                    struct stoker_err *err)
{
    *out = NULL;
    struct reading *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        return stk_err_nomem(err);
    }
    r->ctx = ctx;
    r->file.path = ctx->path;
    r->file.wants = ctx->wants;
    enum stoker_status status = stk_build_new(&r->build, err);
    if (status != STOKER_OK) {
        goto done;
    }
    status = prepare(r, err);
    if (status == STOKER_OK) {
        status = read_units(r, err);
    }
    if (status == STOKER_OK) {
        stk_nsys_cut_note(&r->schema, &r->file, r->units, r->unit_count, r->build);
        status = stk_nsys_steps_add(r->units, r->unit_count, err);
    }
    if (status == STOKER_OK) {
        status = stk_nsys_facts_add(&r->schema, &r->file, r->units, r->unit_count, r->build,
                                    r->notes, err);
    }
    if (status == STOKER_OK) {
        status = stk_build_finish(r->build, ctx->threads, out, err);
    }
    if (status == STOKER_OK) {
        status = nothing_read(r, *out, err);
    }
done:
    if (status != STOKER_OK) {
        stk_trace_free(*out);
        *out = NULL;
    }
    close_reading(r);
    return status;
}

static const struct stk_reader_suffix nsys_suffixes[] = {
    {".sqlite", false}, {".sqlite3", false}, {".db", false}, {NULL, false}};

#define REPORT(ending)                                                                             \
    {.suffix = ending,                                                                             \
     .text = "only nsys can read an Nsight Systems report; export it",                             \
     .export_suffix = ".sqlite",                                                                   \
     .export_command = "nsys export --type=sqlite --include-blobs=true --lazy=false"}
#define BESIDE(ending) {.suffix = ending, .text = "belongs to an SQLite database"}
static const struct stk_reader_stranger nsys_refuses[] = {
    REPORT(".nsys-rep"), REPORT(".qdrep"),   REPORT(".qdstrm"), BESIDE("-wal"),
    BESIDE("-shm"),      BESIDE("-journal"), {.text = NULL},
};

const struct stk_reader stk_reader_nsys = {
    .name = "nsys",
    .summary = "Nsight Systems, exported with nsys export --type=sqlite",
    .files = "*.sqlite (exported by nsys)",
    .suffixes = nsys_suffixes,
    .refuses = nsys_refuses,
    .mistaken = "not an SQLite database",
    .folder_rank = 3,
    .opens_path = true,
    .sniff = nsys_sniff,
    .read = read_nsys,
    .args_open = stk_nsys_args_open,
    .args_next = stk_nsys_args_next,
    .args_close = stk_nsys_args_close,
};
