// SPDX-License-Identifier: Apache-2.0
// SQLite: a database for any SQL tool. Tables, views, columns and event ids are the same as in
// stoker query, so queries work in both.
//
//   rows of events: event (compact: names and kinds by number), strings, kinds, tracks
//   views:          events, kernels, transfers, links
//   of stoker:      steps, parts, time_line, findings, issues, run
//
// Uses one transaction without a journal: the file gets its name only when complete, so nothing
// needs to be rolled back. Rows are appended in the order of their key.
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/assert.h"
#include "answers/export/export.h"
#include "base/type.h"

static const char views[] =
    "CREATE VIEW events AS SELECT e.id, t.rank, e.track, t.device,"
    " CASE WHEN t.kind = 'stream' THEN t.thread END AS stream,"
    " CASE WHEN t.kind = 'thread' THEN t.thread END AS thread, k.kind, s.text AS name,"
    " e.start_ns, e.dur_ns, e.start_ns + e.dur_ns AS end_ns, e.depth, e.value, e.launch,"
    " e.direction, e.source, e.target, e.asynchronous"
    " FROM event e JOIN tracks t ON t.id = e.track JOIN kinds k ON k.id = e.kind"
    " JOIN strings s ON s.id = e.name;"
    "CREATE VIEW kernels AS SELECT id, rank, track, device, stream, kind, name, start_ns, dur_ns,"
    " end_ns, launch FROM events WHERE kind IN ('kernel', 'collective');"
    "CREATE VIEW transfers AS SELECT id, rank, track, device, stream, name, start_ns, dur_ns,"
    " end_ns, direction, source, target, asynchronous, value AS bytes, launch"
    " FROM events WHERE kind = 'memcpy';"
    "CREATE VIEW links AS SELECT launch, id AS event FROM event WHERE launch IS NOT NULL;"
    "COMMIT;";

struct sqlite {
    struct stk_export *x;
    struct stoker_err *err;
    sqlite3 *db;
    sqlite3_stmt *insert; // for the table being filled
    int column;           // number of columns already put in its row
    uint32_t file;
    const struct stk_export_file *f;
    enum stoker_status status;
    int64_t event;                  // the event whose arguments are written
    struct stk_export_out capacity; // for texts that need fixing
};

static void sqlite_fail(struct sqlite *w)
{
    if (w->status != STOKER_OK) {
        return;
    }
    int code = w->db ? sqlite3_errcode(w->db) : SQLITE_NOMEM;
    w->status = code == SQLITE_NOMEM
                    ? stk_err_nomem(w->err)
                    : stk_err_set(w->err, STOKER_EOUTPUT, "cannot write the database: %s",
                                  w->db ? sqlite3_errmsg(w->db) : "out of memory");
}

static void run_sql(struct sqlite *w, const char *sql)
{
    if (w->status == STOKER_OK && sqlite3_exec(w->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        sqlite_fail(w);
    }
}

// ---- tables ----
//
// A table's columns are rows C(name, type, put) of a macro: PUT puts their values in that order,
// those that are not known stay null; COLUMN says what CREATE TABLE needs.

struct column {
    const char *name;
    enum stk_type type;
};
struct table {
    const char *name;
    bool has_key; // the first column
    int count;
    const struct column *columns;
};
#define COLUMN(name, type, put) {#name, STK_TYPE_##type},
#define PUT(name, type, put)                                                                       \
    w->column++;                                                                                   \
    put;
#define TABLE(name, has_key, columns)                                                              \
    static const struct column name##_columns[] = {columns(COLUMN)};                               \
    static const struct table name##_table = {                                                     \
        #name, has_key, sizeof name##_columns / sizeof name##_columns[0], name##_columns};

static void create(struct sqlite *w, const struct table *table)
{
    static const char *const types[] = {[STK_HOLDS_TEXT] = " TEXT",
                                        [STK_HOLDS_NUMBER] = " INTEGER",
                                        [STK_HOLDS_TRUTH] = " INTEGER"};
    char sql[480];
    int n = snprintf(sql, sizeof sql, "CREATE TABLE %s(", table->name);
    for (int i = 0; i < table->count; i++) {
        enum stk_holds holds = stk_type_info(table->columns[i].type)->holds;
        n += snprintf(sql + n, sizeof sql - (size_t)n, "%s%s%s%s", i ? ", " : "",
                      table->columns[i].name, types[holds] ? types[holds] : "",
                      i == 0 && table->has_key ? " PRIMARY KEY" : "");
    }
    STK_ASSERT((size_t)n + 2 < sizeof sql);
    snprintf(sql + n, sizeof sql - (size_t)n, ");");
    run_sql(w, sql);
}

// To fill a table: begin, then for each row its values and row(), then end.
static void sqlite_begin(struct sqlite *w, const struct table *table)
{
    char sql[160];
    int n = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?1", table->name);
    for (int i = 2; i <= table->count; i++) {
        n += snprintf(sql + n, sizeof sql - (size_t)n, ",?%d", i);
    }
    snprintf(sql + n, sizeof sql - (size_t)n, ")");
    w->insert = NULL;
    w->column = 0;
    if (w->status == STOKER_OK &&
        sqlite3_prepare_v2(w->db, sql, -1, &w->insert, NULL) != SQLITE_OK) {
        sqlite_fail(w);
    }
}

static void end(struct sqlite *w)
{
    sqlite3_finalize(w->insert);
    w->insert = NULL;
}

static void put_number(struct sqlite *w, int64_t value)
{
    sqlite3_bind_int64(w->insert, w->column, value);
}

static void put_number_if(struct sqlite *w, bool is_known, int64_t value)
{
    if (is_known) {
        put_number(w, value);
    }
}

static void put_str(struct sqlite *w, struct stk_str text)
{
    text = stk_ex_utf8(&w->capacity, text);
    if (text.n <= INT32_MAX) {
        sqlite3_bind_text(w->insert, w->column, text.p, (int)text.n, SQLITE_STATIC);
    }
}

// The text of a profile's string; 0: none.
static void put_name(struct sqlite *w, uint32_t name)
{
    if (name) {
        put_str(w, stk_export_text(w->f, name));
    }
}

static void put_text(struct sqlite *w, const char *text)
{
    if (text && *text) {
        sqlite3_bind_text(w->insert, w->column, text, -1, SQLITE_STATIC);
    }
}

static void row(struct sqlite *w)
{
    w->column = 0;
    if (!w->insert) {
        return;
    }
    if (sqlite3_step(w->insert) != SQLITE_DONE) {
        sqlite_fail(w);
    }
    sqlite3_reset(w->insert);
    sqlite3_clear_bindings(w->insert);
}

// ---- events ----

static int64_t id_of(const struct sqlite *w, uint32_t index)
{
    return (int64_t)w->file << 32 | index;
}

#define STRINGS(C)                                                                                 \
    C(id, NUMBER, put_number(w, id_of(w, i)))                                                      \
    C(text, TEXT, put_str(w, stk_export_text(w->f, i)))
TABLE(strings, true, STRINGS)

static void put_strings(struct sqlite *w)
{
    sqlite_begin(w, &strings_table);
    for (uint32_t i = 0; i < w->f->t->strings.count && w->status == STOKER_OK; i++) {
        STRINGS(PUT)
        row(w);
    }
    end(w);
}

static const char *device_id(struct sqlite *w, uint32_t device, char text[48])
{
    const struct stk_device *d = &w->f->t->devices[device];
    int32_t rank = w->f->processes[d->process].rank;
    snprintf(text, 48, "%" PRId32 "/%" PRId64, rank < 0 ? 0 : rank, d->ordinal);
    return text;
}

#define TRACKS(C)                                                                                  \
    C(id, NUMBER, put_number(w, id_of(w, k)))                                                      \
    C(rank, NUMBER, put_number_if(w, rank >= 0, rank))                                             \
    C(kind, TEXT, put_text(w, kinds[track->kind]))                                                 \
    C(name, TEXT, put_name(w, track->name))                                                        \
    C(process, NUMBER, put_number(w, t->processes[track->process].pid))                            \
    C(thread, NUMBER, put_number(w, track->id))                                                    \
    C(device, TEXT,                                                                                \
      put_text(w, track->device != STK_NONE ? device_id(w, track->device, device) : NULL))         \
    C(parent, NUMBER, put_number_if(w, track->parent != STK_NONE, id_of(w, track->parent)))        \
    C(events, NUMBER, put_number(w, track->count))
TABLE(tracks, true, TRACKS)

static void put_tracks(struct sqlite *w)
{
    static const char *const kinds[] = {"thread", "stream", "derived", "counter", "other"};
    const struct stk_trace *t = w->f->t;
    char device[48];
    sqlite_begin(w, &tracks_table);
    for (uint32_t k = 0; k < t->track_count && w->status == STOKER_OK; k++) {
        const struct stk_track *track = &t->tracks[k];
        if (stk_export_takes_track(w->x, w->f, track)) {
            int32_t rank = w->f->processes[track->process].rank;
            TRACKS(PUT)
            row(w);
        }
    }
    end(w);
}

#define DEVICES(C)                                                                                 \
    C(device, TEXT, put_text(w, device_id(w, i, device)))                                          \
    C(rank, NUMBER, put_number_if(w, rank >= 0, rank))                                             \
    C(number, NUMBER, put_number(w, d->ordinal))                                                   \
    C(kind, TEXT, put_text(w, kinds[d->kind]))                                                     \
    C(name, TEXT, put_name(w, d->name))                                                            \
    C(sm_count, NUMBER, put_number_if(w, d->sm_count, d->sm_count))                                \
    C(compute_capability, TEXT, put_text(w, d->cc_major ? capability : NULL))                      \
    C(memory_bytes, BYTES, put_number_if(w, d->memory_bytes, d->memory_bytes))
TABLE(devices, false, DEVICES)

static void put_devices(struct sqlite *w)
{
    static const char *const kinds[] = {
        [STK_DEVICE_GPU] = "gpu", [STK_DEVICE_TPU] = "tpu", [STK_DEVICE_OTHER] = "other"};
    char device[48], capability[32];
    sqlite_begin(w, &devices_table);
    for (uint32_t i = 0; i < w->f->t->device_count && w->status == STOKER_OK; i++) {
        const struct stk_device *d = &w->f->t->devices[i];
        if (!w->f->processes[d->process].taken ||
            (w->x->has_device && d->ordinal != w->x->device)) {
            continue;
        }
        int32_t rank = w->f->processes[d->process].rank;
        snprintf(capability, sizeof capability, "%" PRId32 ".%" PRId32, d->cc_major, d->cc_minor);
        DEVICES(PUT)
        row(w);
    }
    end(w);
}

#define EVENT(C)                                                                                   \
    C(id, NUMBER, put_number(w, id_of(w, event)))                                                  \
    C(track, NUMBER, put_number(w, id_of(w, track)))                                               \
    C(kind, NUMBER, put_number(w, t->kind[event]))                                                 \
    C(name, NUMBER, put_number(w, id_of(w, t->name[event])))                                       \
    C(start_ns, NS, put_number(w, t->start_ns[event] + w->f->shift_ns))                            \
    C(dur_ns, NS, put_number(w, stk_dur_ns(t, event)))                                             \
    C(depth, NUMBER, put_number(w, t->depth[event]))                                               \
    C(value, NUMBER, put_number_if(w, flags &STK_EXT_VALUE, e ? e->value : 0))                     \
    C(launch, NUMBER, put_number_if(w, e && e->link != STK_NONE, e ? id_of(w, e->link) : 0))       \
    C(direction, TEXT, put_text(w, e ? stk_dir_key(e->dir) : NULL))                                \
    C(source, TEXT, put_text(w, e ? stk_mem_key(e->src_mem) : NULL))                               \
    C(target, TEXT, put_text(w, e ? stk_mem_key(e->dst_mem) : NULL))                               \
    C(asynchronous, BOOL,                                                                          \
      put_number_if(w, flags &(STK_EXT_ASYNC | STK_EXT_SYNCHRONOUS),                               \
                    (flags & STK_EXT_ASYNC) != 0))
TABLE(event, true, EVENT)

static void sqlite_put_event(struct sqlite *w, uint32_t track, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    const struct stk_ext *e = stk_ext_of(t, event);
    unsigned flags = e ? e->flags : 0;
    EVENT(PUT)
    row(w);
}

// Keys and values of events: recorded details, and with --args their arguments.
#define PAIRS(C)                                                                                   \
    C(event, NUMBER, put_number(w, w->event))                                                      \
    C(key, TEXT,                                                                                   \
      sqlite3_bind_text64(w->insert, w->column, key.p, key.n, SQLITE_STATIC, SQLITE_UTF8))         \
    C(value, ANY, put_value(w, kind, whole, real, text))
TABLE(details, false, PAIRS)
TABLE(args, false, PAIRS)

static void put_value(struct sqlite *w, enum stk_export_number kind, int64_t whole, double real,
                      struct stk_str text)
{
    if (kind == STK_EXPORT_WHOLE) {
        put_number(w, whole);
    } else if (kind == STK_EXPORT_REAL) {
        sqlite3_bind_double(w->insert, w->column, real);
    } else {
        put_str(w, text);
    }
}

static void put_details(struct sqlite *w, uint32_t event)
{
    uint32_t count;
    const struct stk_detail *d = stk_details_of(w->f->t, event, &count);
    w->event = id_of(w, event);
    for (uint32_t i = 0; i < count && w->status == STOKER_OK; i++) {
        enum stk_detail_type type = stk_detail_type_of(d[i].key);
        enum stk_export_number kind = type == STK_DETAIL_INT    ? STK_EXPORT_WHOLE
                                      : type == STK_DETAIL_REAL ? STK_EXPORT_REAL
                                                                : STK_EXPORT_NO_NUMBER;
        struct stk_str key = stk_str_from(stk_detail_key_text(d[i].key)), text = {0};
        int64_t whole = type == STK_DETAIL_INT ? d[i].number : 0;
        double real = type == STK_DETAIL_REAL ? d[i].real : 0;
        if (type == STK_DETAIL_TEXT) {
            text = stk_export_text(w->f, d[i].text);
        }
        PAIRS(PUT)
        row(w);
    }
}

static void sqlite_put_arg(void *arg, struct stk_str key, struct stk_str text)
{
    struct sqlite *w = arg;
    int64_t whole = 0;
    double real = 0;
    enum stk_export_number kind = stk_export_number(text, &whole, &real);
    if (w->status == STOKER_OK) {
        PAIRS(PUT)
        row(w);
    }
}

static void put_args(struct sqlite *w, uint32_t event)
{
    w->event = id_of(w, event);
    enum stoker_status status =
        w->x->args(w->x->args_arg, w->file, event, sqlite_put_arg, w, w->err);
    if (w->status == STOKER_OK) {
        w->status = status;
    }
}

// A table of keys and values for the selected events.
static void put_pairs(struct sqlite *w, const struct table *table,
                      void (*put_of)(struct sqlite *w, uint32_t event))
{
    const struct stk_trace *t = w->f->t;
    sqlite_begin(w, table);
    for (uint32_t k = 0; k < t->track_count && w->status == STOKER_OK; k++) {
        const struct stk_track *track = &t->tracks[k];
        if (!stk_export_takes_track(w->x, w->f, track)) {
            continue;
        }
        uint32_t last = track->first + track->count;
        for (uint32_t e = track->first; e < last && w->status == STOKER_OK; e++) {
            if (stk_export_takes(t, &w->f->processes[track->process], e)) {
                put_of(w, e);
            }
        }
    }
    end(w);
}

static void put_events(struct sqlite *w)
{
    const struct stk_trace *t = w->f->t;
    struct stk_export_counts *c = &w->x->counts;
    sqlite_begin(w, &event_table);
    for (uint32_t k = 0; k < t->track_count && w->status == STOKER_OK; k++) {
        const struct stk_track *track = &t->tracks[k];
        const struct stk_export_process *p = &w->f->processes[track->process];
        if (!stk_export_takes_track(w->x, w->f, track)) {
            c->unselected += track->count;
            continue;
        }
        for (uint32_t e = track->first; e < track->first + track->count && w->status == STOKER_OK;
             e++) {
            if (!stk_export_takes(t, p, e)) {
                c->unselected++;
                continue;
            }
            c->events++;
            c->overlaps += track->parent != STK_NONE;
            sqlite_put_event(w, k, e);
        }
    }
    end(w);
}

// ---- of stoker ----

#define KINDS(C)                                                                                   \
    C(id, NUMBER, put_number(w, k))                                                                \
    C(kind, TEXT, put_text(w, stk_kind_key(k)))
TABLE(kinds, true, KINDS)

static void put_kinds(struct sqlite *w)
{
    sqlite_begin(w, &kinds_table);
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        KINDS(PUT)
        row(w);
    }
    end(w);
}

#define RUN(C)                                                                                     \
    C(key, TEXT, put_text(w, key))                                                                 \
    C(value, ANY, text ? put_text(w, text) : put_number(w, number))
TABLE(run, true, RUN)

// A text, or if it is NULL a number.
static void put_fact(struct sqlite *w, const char *key, const char *text, int64_t number)
{
    RUN(PUT)
    row(w);
}

static void put_run(struct sqlite *w)
{
    const struct stk_report *r = w->x->report;
    char key[32];
    sqlite_begin(w, &run_table);
    put_fact(w, "stoker", w->x->version, 0);
    put_fact(w, "base_ns", NULL, w->x->base_ns);
    put_fact(w, "verdict", stk_verdict_key(r->verdict.kind), 0);
    put_fact(w, "sentence", r->verdict.sentence, 0);
    put_fact(w, "confidence", stk_level_key(r->verdict.confidence), 0);
    put_fact(w, "health", r->profile.health.status, 0);
    for (size_t i = 0; i < w->x->selection_count; i++) {
        snprintf(key, sizeof key, "selection %zu", i + 1);
        put_fact(w, key, w->x->selection[i], 0);
    }
    end(w);
}

static const char *device_of(const struct stk_rank_sum *sum, uint32_t device)
{
    return device == STK_NONE ? NULL : sum->devices[device].id;
}

static bool is_selected(const struct stk_step *s)
{
    return !s->excluded || strcmp(s->excluded, STK_EXCLUDED_UNSELECTED) != 0;
}

#define STEPS(C)                                                                                   \
    C(rank, NUMBER, put_number(w, sum->rank))                                                      \
    C(device, TEXT, put_text(w, device_of(sum, s->device)))                                        \
    C(number, NUMBER, put_number(w, s->number))                                                    \
    C(start_ns, NS, put_number(w, s->start_ns))                                                    \
    C(dur_ns, NS, put_number(w, s->dur_ns))                                                        \
    C(end_ns, NS, put_number(w, s->start_ns + s->dur_ns))                                          \
    C(host_start_ns, NS, put_number_if(w, s->host_dur_ns >= 0, s->host_start_ns))                  \
    C(host_dur_ns, NS, put_number_if(w, s->host_dur_ns >= 0, s->host_dur_ns))                      \
    C(used, BOOL, put_number(w, s->excluded == NULL))                                              \
    C(excluded, TEXT, put_text(w, s->excluded))
TABLE(steps, false, STEPS)

static void put_steps(struct sqlite *w, const struct stk_rank_sum *sum)
{
    sqlite_begin(w, &steps_table);
    for (uint32_t i = 0; i < sum->step_count && w->status == STOKER_OK; i++) {
        const struct stk_step *s = &sum->steps[i];
        if (is_selected(s)) {
            STEPS(PUT)
            row(w);
            w->x->counts.lane_rows++;
        }
    }
    end(w);
}

#define PARTS(C)                                                                                   \
    C(rank, NUMBER, put_number(w, sum->rank))                                                      \
    C(device, TEXT, put_text(w, device_of(sum, s->device)))                                        \
    C(step, NUMBER, put_number(w, s->number))                                                      \
    C(part, TEXT, put_text(w, stk_part_info(p)->key))                                              \
    C(dur_ns, NS, put_number(w, s->parts[p]))                                                      \
    C(used, BOOL, put_number(w, s->excluded == NULL))
TABLE(parts, false, PARTS)

static void put_parts(struct sqlite *w, const struct stk_rank_sum *sum)
{
    sqlite_begin(w, &parts_table);
    for (uint32_t i = 0; i < sum->step_count && w->status == STOKER_OK; i++) {
        const struct stk_step *s = &sum->steps[i];
        for (int p = 0; p < STK_PART_COUNT && is_selected(s); p++) {
            PARTS(PUT)
            row(w);
        }
    }
    end(w);
}

#define TIME_LINE(C)                                                                               \
    C(rank, NUMBER, put_number(w, r->sum->rank))                                                   \
    C(device, TEXT, put_text(w, device_of(r->sum, piece->device)))                                 \
    C(part, TEXT, put_text(w, stk_part_info(piece->part)->key))                                    \
    C(start_ns, NS, put_number(w, piece->start_ns + w->x->files[r->file].shift_ns))                \
    C(dur_ns, NS, put_number(w, piece->end_ns - piece->start_ns))                                  \
    C(event, NUMBER, put_number_if(w, piece->event != STK_NONE, id_of(w, piece->event)))
TABLE(time_line, false, TIME_LINE)

static void put_time_line(struct sqlite *w, const struct stk_export_lane *lane)
{
    const struct stk_export_rank *r = &w->x->ranks[lane->rank];
    sqlite_begin(w, &time_line_table);
    w->file = r->file;
    for (size_t i = lane->first; i < lane->first + lane->count && w->status == STOKER_OK; i++) {
        const struct stk_export_piece *piece = &r->pieces[i];
        TIME_LINE(PUT)
        row(w);
        w->x->counts.lane_rows++;
    }
    end(w);
}

#define FINDINGS(C)                                                                                \
    C(rule, TEXT, put_text(w, f->id))                                                              \
    C(title, TEXT, put_text(w, f->title))                                                          \
    C(severity, TEXT, put_text(w, stk_level_key(f->severity)))                                     \
    C(confidence, TEXT, put_text(w, stk_level_key(f->confidence)))                                 \
    C(evidence, TEXT, put_text(w, e->text))                                                        \
    C(track, TEXT, put_text(w, e->track))                                                          \
    C(start_ns, NS, put_number_if(w, e->has_time, e->start_ns))                                    \
    C(dur_ns, NS, put_number_if(w, e->has_time, e->dur_ns))                                        \
    C(fix, TEXT, put_text(w, f->fix.count ? fix->text : NULL))
TABLE(findings, false, FINDINGS)

static void put_findings(struct sqlite *w)
{
    const struct stk_list *findings = &w->x->report->findings;
    const struct stk_rep_finding *f = findings->items;
    sqlite_begin(w, &findings_table);
    for (size_t i = 0; i < findings->count; i++, f++) {
        const struct stk_rep_evidence *e = f->evidence.items;
        const struct stk_rep_fix *fix = f->fix.items;
        for (size_t k = 0; k < f->evidence.count && w->status == STOKER_OK; k++, e++) {
            FINDINGS(PUT)
            row(w);
            w->x->counts.lane_rows++;
        }
    }
    end(w);
}

#define ISSUES(C)                                                                                  \
    C(issue, TEXT, put_text(w, s->id))                                                             \
    C(severity, TEXT, put_text(w, stk_severity_key(s->severity)))                                  \
    C(count, NUMBER, put_number(w, (int64_t)s->count))                                             \
    C(meaning, TEXT, put_text(w, s->meaning))                                                      \
    C(remedy, TEXT, put_text(w, s->remedy))                                                        \
    C(example, TEXT, put_text(w, s->example))
TABLE(issues, false, ISSUES)

static void put_issues(struct sqlite *w)
{
    const struct stk_list *issues = &w->x->report->profile.issues;
    const struct stk_rep_issue *s = issues->items;
    sqlite_begin(w, &issues_table);
    for (size_t i = 0; i < issues->count; i++, s++) {
        ISSUES(PUT)
        row(w);
    }
    end(w);
}

static void create_tables(struct sqlite *w)
{
    static const struct table *const tables[] = {
        &run_table,       &kinds_table,    &strings_table, &tracks_table, &event_table,
        &details_table,   &args_table,     &devices_table, &steps_table,  &parts_table,
        &time_line_table, &findings_table, &issues_table};
    run_sql(w, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
               "PRAGMA cache_size=-16000; BEGIN;");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        create(w, tables[i]);
    }
}

static enum stoker_status write_sqlite(struct stk_export *x, struct stk_export_out *out,
                                       struct stoker_err *err)
{
    struct sqlite w = {.x = x, .err = err};
    // Without SQLite's locks: the caller holds its own, which shows that the file is being written
    // (base/atomic_file.h), and a network file system can't distinguish the two.
    if (sqlite3_open_v2(out->path, &w.db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        "unix-none") != SQLITE_OK) {
        sqlite_fail(&w);
    }
    stk_ex_init(&w.capacity, NULL, NULL);
    create_tables(&w);
    put_kinds(&w);
    put_run(&w);
    for (w.file = 0; w.file < x->file_count && w.status == STOKER_OK; w.file++) {
        w.f = &x->files[w.file];
        put_strings(&w);
        put_tracks(&w);
        put_devices(&w);
        put_events(&w);
        if (w.f->t->detail_count) {
            put_pairs(&w, &details_table, put_details);
        }
        if (x->with_args) {
            put_pairs(&w, &args_table, put_args);
        }
    }
    for (uint32_t r = 0; r < x->rank_count && w.status == STOKER_OK; r++) {
        put_steps(&w, x->ranks[r].sum);
        put_parts(&w, x->ranks[r].sum);
    }
    for (uint32_t i = 0; i < x->lane_count && w.status == STOKER_OK; i++) {
        if (x->lanes[i].kind == STK_EXPORT_PARTS) {
            put_time_line(&w, &x->lanes[i]);
        }
    }
    put_findings(&w);
    put_issues(&w);
    run_sql(&w, views);
    if (w.db && sqlite3_close(w.db) != SQLITE_OK) {
        sqlite_fail(&w);
    }
    if (w.capacity.failed && w.status == STOKER_OK) {
        w.status = stk_err_nomem(err);
    }
    stk_ex_deinit(&w.capacity);
    return w.status;
}

const struct stk_exporter stk_exporter_sqlite = {
    .name = "sqlite",
    .extension = ".sqlite",
    .summary = "A SQLite database with the names of stoker query",
    .opens_with = "sqlite3, DuckDB, pandas, any tool that speaks SQL",
    .keeps = "every event with its times to the nanosecond since the run's first event (add "
             "base_ns of table run), kind, track, nesting, bytes and step number; direction and "
             "memory of copies; the launch call; details (a table of key and value); tracks with "
             "process, thread, device and stream; devices with their properties; steps, their "
             "parts, the timeline of parts, findings with their evidence, issues. Views events, "
             "kernels, transfers and links join names "
             "and tracks as stoker query does",
    .drops =
        "the columns that stoker query derives: parent, step, precision, the launch call's own "
        "columns. No index but the keys, so that the file stays small: create what you need",
    .needs_file = true,
    .takes_args = true,
    .write = write_sqlite,
};
