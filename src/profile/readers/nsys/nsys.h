// SPDX-License-Identifier: Apache-2.0
// What the files of the Nsight Systems reader share. Private to src/profile/readers/nsys*.c and its
// tests.
//
//   nsys.c        descriptor, order of the work, workers
//   nsys_db.c     a connection that trusts nothing; where the rows of tables are
//   nsys_leaves.c rows straight from the pages of the file
//   nsys_cells.c  the cells of a row, of a page's or of SQLite's
//   nsys_pages.c  the complete pages of a file that is cut
//   nsys_schema.c which tables and columns there are
//   nsys_cut.c    until when rows are whole in a file that is cut or damaged
//   nsys_names.c  StringIds -> string ids of a shard, with profiler suffixes removed
//   nsys_rows.c   one handler per table: a row becomes an event
//   nsys_metrics.c names of the sampled metrics
//   nsys_steps.c  which NVTX ranges are steps
//   nsys_facts.c  devices, processes, threads, host, the profiler's own messages
//   nsys_args.c   one row again, on demand
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/readers/reader.h"

struct stk_nsys_unit;

// A value of a row.
enum stk_nsys_type { STK_NSYS_NULL, STK_NSYS_INT, STK_NSYS_FLOAT, STK_NSYS_TEXT, STK_NSYS_BLOB };
struct stk_nsys_cell {
    enum stk_nsys_type type;
    int64_t integer;     // 0 unless INT
    double real;         // of FLOAT
    struct stk_str text; // "" unless TEXT; as long as the row
};
#define STK_NSYS_CELLS_MAX 20
// A row of a table: from cell 1 on the columns of nsys_tables.def in their order.
struct stk_nsys_cells {
    int64_t rowid;
    struct stk_nsys_cell cell[STK_NSYS_CELLS_MAX];
};

// A table that is read row by row (nsys_tables.def).
struct stk_nsys_table {
    uint8_t number;
    const char *name, *columns;
    void (*row)(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells);
};
extern const struct stk_nsys_table stk_nsys_tables[];
extern const int stk_nsys_table_count;
#define STK_NSYS_TABLES_MAX 32
#define STK_NSYS_SQL_MAX 640

// A table's contents in this file.
struct stk_nsys_found {
    bool present;       // a real table with the columns that must exist, and rows
    bool has_process;   // a column globalPid or globalTid
    bool last_is_guess; // the end of the table is damaged
    int64_t first_row, last_row;
    char sql[STK_NSYS_SQL_MAX]; // selects rowids ?1..?2, in their order
    // Where nsys_leaves.c reads it: the root of its tree, and the place in a record of each cell
    // after the rowid (STK_NSYS_NO_FIELD: the column is absent). Root 0: SQLite reads it.
    uint32_t root_page;
    int cell_count; // without the rowid
    int16_t fields[STK_NSYS_CELLS_MAX];
};
#define STK_NSYS_NO_FIELD (-1)
#define STK_NSYS_UNFIT_FIELD (-2) // not stored as it is read

struct stk_nsys_file {
    const char *path;
    uint64_t size_bytes;
    struct stk_nsys_found found[STK_NSYS_TABLES_MAX];
    uint64_t row_estimate; // of all tables, from their rowids
    bool has_strings;      // a table StringIds
    bool strings_by_rowid; // its id is the rowid: found by one descent
    int64_t string_max_id;
    struct stk_strpool loose; // else its strings, all read beforehand,
    struct stk_map loose_ids; // by id
    uint64_t machine;         // upper 16 bits of most global ids (hardware and VM)
    bool has_machine;
    int64_t default_process; // of rows that do not name theirs
    uint32_t wants;          // bits STK_WANT_...
    struct stk_map metrics;  // (typeId, metricId) -> id in metric_names
    struct stk_strpool metric_names;
    bool has_metrics;
    bool drop_wrappers; // eventClass 67 rows repeat those of class 0 and 1
    bool lacks_strings; // they were read beforehand, some failed
    bool lacks_pages;   // at its end
    bool lacks_journal; // a journal next to it was not applied and may hold any row
};

// Ids of StringIds -> string ids of one shard.
struct stk_nsys_names {
    sqlite3_stmt *find; // borrowed from the worker; NULL: not by rowid
    uint32_t *dense;    // by id: string id + 1, 0 not asked yet
    size_t dense_count;
    struct stk_map sparse; // ids beyond
};
enum stk_nsys_strip { STK_NSYS_AS_IS, STK_NSYS_API_VERSION, STK_NSYS_NVTX };

// An NVTX range that may be a step: held until all are known.
struct stk_nsys_mark {
    struct stk_row row;
    int64_t global_tid, number; // number -1: the name has none
    uint64_t family;            // hash of the name without its number
    uint32_t unit;
    bool is_step, keeps_number;
};
#define STK_NSYS_MARKS_MAX (1u << 20) // per unit; the rest are plain annotations

#define STK_NSYS_TRACK_SLOTS 64
struct stk_nsys_track_slot {
    bool full;
    uint8_t kind;
    int64_t group, device, id; // group: globalPid, or globalTid of a thread
    uint32_t track;
};

// Part of a table, read by one worker into one shard.
struct stk_nsys_unit {
    const struct stk_nsys_file *file;
    const struct stk_nsys_table *table;
    const struct stk_nsys_found *found;
    uint32_t index;
    int64_t first_row, last_row;
    int64_t lost_row; // the first that could not be read; INT64_MAX: all were
    struct stk_shard *shard;
    struct stk_nsys_names names;
    struct stk_nsys_track_slot slots[STK_NSYS_TRACK_SLOTS];
    struct stk_map threads;    // globalTid seen
    struct stk_map devices;    // (globalPid, deviceId) seen; value: globalPid was given
    struct stk_map ranks;      // globalPid -> rank, from thread names
    struct stk_vec marks;      // struct stk_nsys_mark
    struct stk_vec name_marks; // uint8_t per string id: NAME_UNSEEN, ...
    bool saw_torch;            // ranges written by PyTorch's emit_nvtx
    bool out_of_memory;
};

// nsys_schema.c: what there is, read once.
struct stk_nsys_schema {
    sqlite3 *db; // borrowed
    struct stk_arena names;
    struct stk_vec tables;
    bool is_cut;        // tables may be missing: their list could not be read to its end
    bool out_of_memory; // while columns were read
};
// Must be closed in any case.
STK_MUST_CHECK enum stoker_status stk_nsys_schema_read(struct stk_nsys_schema *s, sqlite3 *db,
                                                       struct stoker_err *err);
void stk_nsys_schema_close(struct stk_nsys_schema *s); // takes one that is all zeros
// False: memory ran out, so existing tables may have been reported as absent.
bool stk_nsys_schema_is_whole(const struct stk_nsys_schema *s);
enum stk_nsys_table_state { STK_NSYS_ABSENT, STK_NSYS_REAL, STK_NSYS_UNFIT };
// Whether the name is an ordinary table: not a view, not virtual.
enum stk_nsys_table_state stk_nsys_table_state(const struct stk_nsys_schema *s, const char *table);
// Whether an ordinary table has the column (generated and hidden ones do not count).
bool stk_nsys_has_column(struct stk_nsys_schema *s, const char *table, const char *column);
// Select list for a list of columns as in nsys_tables.def: those that are absent become NULL.
// Returns the number of columns that are absent, or -1 if one of them must exist. places: NULL, or
// gets for each column its place in a record, or one of STK_NSYS_..._FIELD.
struct stk_nsys_places {
    int count;
    int16_t field[STK_NSYS_CELLS_MAX];
};
int stk_nsys_select_list(struct stk_nsys_schema *s, const char *table, const char *columns,
                         char *out, size_t cap, struct stk_nsys_places *places);
// Root page of an ordinary table; 0: unknown.
uint32_t stk_nsys_root_page(const struct stk_nsys_schema *s, const char *table);
// Prepare "SELECT columns FROM table tail" of an ordinary table. NULL if the table is absent or
// unusable, or lacks a required column.
sqlite3_stmt *stk_nsys_select(struct stk_nsys_schema *s, const char *table, const char *columns,
                              const char *tail);

// nsys_pages.c: name of the file system for sqlite3_open_v2 in which a file ends with its last
// complete page; NULL: unavailable.
const char *stk_nsys_whole_pages(void);

// nsys_db.c. lacks_pages: the file is cut; its partial last page isn't read.
STK_MUST_CHECK enum stoker_status stk_nsys_db_open(sqlite3 **out, const char *path,
                                                   bool lacks_pages, struct stoker_err *err);
// Status and text for the last error of a connection.
enum stoker_status stk_nsys_db_error(sqlite3 *db, const char *path, const char *doing,
                                     struct stoker_err *err);
// Fill found[] for all tables; unusable ones become issues of the shard.
STK_MUST_CHECK enum stoker_status stk_nsys_db_probe(struct stk_nsys_schema *schema,
                                                    struct stk_nsys_file *file,
                                                    struct stk_shard *shard,
                                                    struct stoker_err *err);

// nsys_cells.c
void stk_nsys_cells_clear(struct stk_nsys_cells *cells);
// The row that a statement of stk_nsys_found.sql is at. Text is valid until the next step.
void stk_nsys_cells_take(struct stk_nsys_cells *cells, sqlite3_stmt *st);
// For each field of a record up to the last that is wanted: its cell, or 0.
#define STK_NSYS_FIELDS_MAX 128
struct stk_nsys_layout {
    int field_count;
    uint8_t cell_of[STK_NSYS_FIELDS_MAX];
};
// False: the table can't be read this way.
bool stk_nsys_layout_of(struct stk_nsys_layout *out, const struct stk_nsys_found *found);
// The fields of a record of `n` bytes into their cells; text points into the record. False: the
// record is damaged, or lacks a field, which SQLite fills with the column's default.
bool stk_nsys_cells_decode(struct stk_nsys_cells *cells, const struct stk_nsys_layout *layout,
                           const uint8_t *record, size_t n);
// SQLite's variable-length integer; NULL: it is cut.
const uint8_t *stk_nsys_varint(const uint8_t *p, const uint8_t *end, uint64_t *out);

// nsys_leaves.c: rows of ordinary tables, read from the pages of the file. For one worker.
struct stk_nsys_leaves;
// NULL: the file is cut, in another encoding, or memory is missing; SQLite reads it.
struct stk_nsys_leaves *stk_nsys_leaves_open(const struct stk_nsys_file *file);
void stk_nsys_leaves_close(struct stk_nsys_leaves *l); // takes NULL
// Go to the first row of the range. False: SQLite reads it.
bool stk_nsys_leaves_seek(struct stk_nsys_leaves *l, const struct stk_nsys_found *found,
                          int64_t first_row, int64_t last_row);
enum stk_nsys_leaf_row {
    STK_NSYS_ROW,  // in cells, until the next call
    STK_NSYS_ASK,  // SQLite reads this one, whose rowid is in cells
    STK_NSYS_END,  // of the range
    STK_NSYS_LOST, // a page isn't as expected: SQLite reads the rest
};
enum stk_nsys_leaf_row stk_nsys_leaves_next(struct stk_nsys_leaves *l,
                                            struct stk_nsys_cells *cells);

// nsys_cut.c: if rows are missing, tell the builder until when the rows of all tables are complete.
void stk_nsys_cut_note(struct stk_nsys_schema *schema, const struct stk_nsys_file *file,
                       const struct stk_nsys_unit *units, uint32_t count, struct stk_build *b);

// nsys_names.c
STK_MUST_CHECK enum stoker_status stk_nsys_strings_open(struct stk_nsys_schema *schema,
                                                        struct stk_nsys_file *file,
                                                        struct stk_shard *shard,
                                                        struct stoker_err *err);
void stk_nsys_strings_close(struct stk_nsys_file *file);
// Statement that finds a string by id, for one worker; NULL if strings aren't found by rowid.
sqlite3_stmt *stk_nsys_names_prepare(sqlite3 *db, const struct stk_nsys_file *file);
void stk_nsys_names_init(struct stk_nsys_names *names, const struct stk_nsys_file *file,
                         sqlite3_stmt *find);
void stk_nsys_names_deinit(struct stk_nsys_names *names);
// String id in the unit's shard of the text in cell `col`: an id of StringIds, or the text
// itself. 0 (the empty string) if it is NULL or unknown.
uint32_t stk_nsys_name(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells, int col,
                       enum stk_nsys_strip strip);
struct stk_str stk_nsys_strip_version(struct stk_str name);
// *torch is set if PyTorch's own suffix was found.
struct stk_str stk_nsys_strip_nvtx(struct stk_str name, bool *torch);

// nsys_rows.c
static inline int64_t stk_nsys_process_of(const struct stk_nsys_file *file, int64_t global)
{
    uint64_t g = (uint64_t)global;
    return g >> 48 == file->machine ? (int64_t)(g >> 24 & 0xffffff) : (int64_t)(g >> 24);
}
static inline int64_t stk_nsys_global_pid(int64_t global)
{
    return (int64_t)((uint64_t)global & ~UINT64_C(0xffffff));
}
static inline uint64_t stk_nsys_pos(const struct stk_nsys_table *table, int64_t rowid)
{
    return (uint64_t)table->number << 32 | (uint32_t)rowid;
}

// nsys_metrics.c: names of sampled metrics.
STK_MUST_CHECK enum stoker_status stk_nsys_metrics_open(struct stk_nsys_schema *schema,
                                                        struct stk_nsys_file *file,
                                                        struct stoker_err *err);
void stk_nsys_metrics_close(struct stk_nsys_file *file);
struct stk_str stk_nsys_metric_name(const struct stk_nsys_file *file, int64_t type, int64_t metric);

// nsys_steps.c
enum { STK_NSYS_NAME_UNSEEN, STK_NSYS_NAME_PLAIN, STK_NSYS_NAME_MARK };
// Whether the name looks like a step's; number -1 without one.
bool stk_nsys_step_parse(struct stk_str name, uint64_t *family, int64_t *number);
// Decide which of the marks of all units are steps, and add them all to their shards.
STK_MUST_CHECK enum stoker_status stk_nsys_steps_add(struct stk_nsys_unit *units, uint32_t count,
                                                     struct stoker_err *err);

// nsys_facts.c
STK_MUST_CHECK enum stoker_status
stk_nsys_facts_add(struct stk_nsys_schema *schema, const struct stk_nsys_file *file,
                   const struct stk_nsys_unit *units, uint32_t count, struct stk_build *b,
                   struct stk_shard *shard, struct stoker_err *err);

// nsys_args.c
enum stoker_status stk_nsys_args_open(struct stk_stream *stream, const char *path, void **state,
                                      struct stoker_err *err);
enum stoker_status stk_nsys_args_next(void *state, const struct stk_trace *t, uint32_t event,
                                      stk_emit_fn *emit, void *arg, struct stoker_err *err);
void stk_nsys_args_close(void *state);
