// SPDX-License-Identifier: Apache-2.0
// Queries for single events of profiles in memory: SQL over the columns of the store (SQLite
// virtual tables, without copies), and search by name.
//
// A query object belongs to one thread at a time. Texts in rows live as long as the traces and the
// object, unless stated otherwise.
#pragma once

#include "base/str.h"
#include "base/type.h"
#include "profile/model/path_piece.h"
#include "profile/model/ribbon.h"
#include "profile/model/summary.h"

#define STK_QUERY_COLUMNS_MAX 64 // of a result

struct stk_query_column {
    const char *name;
    enum stk_type type;
    int field; // of event tables: enum stk_query_field
    const char *doc;
};

struct stk_query_value {
    enum { STK_VALUE_NULL, STK_VALUE_INT, STK_VALUE_REAL, STK_VALUE_TEXT } kind;
    union {
        int64_t number;
        double real;
        struct stk_str text;
    };
};

// All tables, for help and docs; aliases that `select *` leaves out aren't listed.
size_t stk_query_table_count(void);
const char *stk_query_table_name(size_t index);
const char *stk_query_table_doc(size_t index);
bool stk_query_table_column(size_t index, size_t column, struct stk_query_column *out);

// A piece of a gap between device operations, with the part it belongs to.
struct stk_query_gap {
    int64_t start_ns, dur_ns; // in the trace's time
    uint32_t device;          // index into the rank's devices
    uint32_t event, around;   // the event that fills it and the operator around that, or STK_NONE
    uint8_t part;
};

// A finding of the report.
struct stk_query_finding {
    const char *id, *title, *severity, *confidence;
    bool has_saving;
    double saving_share; // expected, else the most that a fix can save
    int64_t steps_affected;
};

struct stk_query_rank {
    const struct stk_trace *trace; // ranks of one trace are adjacent
    const struct stk_rank_sum *sum;
    int64_t shift_ns; // trace's time -> run's time
    const struct stk_query_gap *gaps;
    size_t gap_count;
    struct stk_path_pieces path; // critical path of a usual step
    struct stk_ribbons ribbons;  // settled; empty unless requested
};

struct stk_query_source {
    const struct stk_query_rank *ranks;
    uint32_t rank_count;
    const struct stk_run_sum *run;
    const struct stk_query_finding *findings;
    size_t finding_count;
    bool one_rank; // a rank was selected: also leave out processes without a rank
    // Arguments of one event; `rank` is the index of a rank with its trace. The texts are valid
    // during `emit`. NULL: none.
    enum stoker_status (*args)(void *arg, uint32_t rank, uint32_t event, stk_emit_fn *emit,
                               void *emit_arg, struct stoker_err *err);
    // Called regularly; non-zero interrupts. May be NULL.
    int (*interrupted)(void *arg);
    void *arg; // for both
};

struct stk_query;
// `source` is copied; what it points to must outlive the query.
STK_MUST_CHECK enum stoker_status stk_query_open(struct stk_query **out,
                                                 const struct stk_query_source *source,
                                                 struct stoker_err *err);
void stk_query_close(struct stk_query *q); // takes NULL

// Receives rows of a result. A status other than STOKER_OK stops the query and is returned. Texts
// are valid during the call; `begin` is called once, before the rows. Rows beyond `limit` (0: all)
// are only counted, and reported with `left_out`, which may be NULL without a limit.
struct stk_query_sink {
    uint64_t limit;
    void (*left_out)(void *arg, uint64_t rows);
    enum stoker_status (*begin)(void *arg, const struct stk_query_column *columns, size_t count,
                                struct stoker_err *err);
    enum stoker_status (*row)(void *arg, const struct stk_query_value *values,
                              struct stoker_err *err);
    void *arg;
};

// Runs one SELECT. STOKER_EUSAGE: wrong SQL; the message has its place and a suggestion.
// STOKER_ELIMIT: took longer than timeout_ns (0: no limit).
STK_MUST_CHECK enum stoker_status stk_query_run(struct stk_query *q, const char *sql,
                                                int64_t timeout_ns,
                                                const struct stk_query_sink *sink,
                                                struct stoker_err *err);
// Whether the last query was answered by batches (answers/query/columns/columns.h), for tests;
// `wanted` false switches that off, as STOKER_SQL=sqlite does when the query is opened.
// `events_per_thread` (0: as usual): with this many more events, one more thread is used.
void stk_query_set_batches(struct stk_query *q, bool wanted, uint32_t events_per_thread);
bool stk_query_used_batches(const struct stk_query *q);

// Search by name; unset members don't restrict it.
struct stk_find {
    struct stk_str pattern; // substring, case ignored (ASCII); "/.../" is a regular
                            // expression of PCRE2; empty: every event
    bool has_steps, has_device, has_from, has_to, has_track;
    int64_t step_first, step_last, device, from_ns, to_ns;
    int64_t min_dur_ns, max_dur_ns; // 0 and INT64_MAX: any
    int64_t track;                  // id in the table `tracks`
    struct stk_str track_name;      // of the track, if has_track is false; empty: any
    int kind;                       // enum stk_kind, -1 any
    bool by_time;                   // rows by start; else longest first
    bool on_path;                   // on the critical path of the replayed steps of their rank
    uint64_t limit;                 // rows; 0: all
};
struct stk_found {
    uint64_t count;   // events that match, rows or not
    int64_t total_ns; // their durations summed
    uint32_t names;   // distinct names among all strings that match
};
// Columns: rank, device, track, kind, name, start_ns, dur_ns, step, id.
STK_MUST_CHECK enum stoker_status stk_query_find(struct stk_query *q, const struct stk_find *find,
                                                 const struct stk_query_sink *sink,
                                                 struct stk_found *found, struct stoker_err *err);
