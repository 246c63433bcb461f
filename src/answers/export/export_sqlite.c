// SPDX-License-Identifier: Apache-2.0
// SQLite: a database for any SQL tool. Names of tables, views and columns are those of stoker
// query, so that a question asked there works here as well; an event's id is the same number too.
//
//   rows of events: event (compact: names and kinds by number), strings, kinds, tracks
//   views:          events, kernels, transfers, links
//   of stoker:      steps, parts, time_line, findings, issues, run
//
// One transaction without a journal: the file appears under its name only when it is complete, so
// nothing has to be rolled back. Rows come in the order of their key and are appended.
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/alloc.h"
#include "answers/export/export.h"

static const char schema[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
    "PRAGMA cache_size=-16000; BEGIN;"
    "CREATE TABLE run(key TEXT PRIMARY KEY, value);"
    "CREATE TABLE kinds(id INTEGER PRIMARY KEY, kind TEXT);"
    "CREATE TABLE strings(id INTEGER PRIMARY KEY, text TEXT);"
    "CREATE TABLE tracks(id INTEGER PRIMARY KEY, rank INTEGER, kind TEXT, name TEXT,"
    " process INTEGER, thread INTEGER, device TEXT, parent INTEGER, events INTEGER);"
    "CREATE TABLE event(id INTEGER PRIMARY KEY, track INTEGER, kind INTEGER, name INTEGER,"
    " start_ns INTEGER, dur_ns INTEGER, depth INTEGER, value INTEGER, launch INTEGER,"
    " direction TEXT, source TEXT, target TEXT, asynchronous INTEGER);"
    "CREATE TABLE details(event INTEGER, key TEXT, value);"
    "CREATE TABLE args(event INTEGER, key TEXT, value);"
    "CREATE TABLE devices(device TEXT, rank INTEGER, number INTEGER, kind TEXT, name TEXT,"
    " sm_count INTEGER, compute_capability TEXT, memory_bytes INTEGER);"
    "CREATE TABLE steps(rank INTEGER, device TEXT, number INTEGER, start_ns INTEGER,"
    " dur_ns INTEGER, end_ns INTEGER, host_start_ns INTEGER, host_dur_ns INTEGER, used INTEGER,"
    " excluded TEXT);"
    "CREATE TABLE parts(rank INTEGER, device TEXT, step INTEGER, part TEXT, dur_ns INTEGER,"
    " used INTEGER);"
    "CREATE TABLE time_line(rank INTEGER, device TEXT, part TEXT, start_ns INTEGER,"
    " dur_ns INTEGER, event INTEGER);"
    "CREATE TABLE findings(rule TEXT, title TEXT, severity TEXT, confidence TEXT, evidence TEXT,"
    " track TEXT, start_ns INTEGER, dur_ns INTEGER, fix TEXT);"
    "CREATE TABLE issues(issue TEXT, severity TEXT, count INTEGER, meaning TEXT, remedy TEXT,"
    " example TEXT);";

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
    sqlite3_stmt *insert; // what is being filled
    uint32_t file;
    const struct stk_export_file *f;
    enum stoker_status status;
    int64_t event;                  // whose arguments are written
    struct stk_export_out capacity; // for texts that have to be fixed
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

// ---- filling a table: begin, then for each row values in order and row(), then end ----

static void sqlite_begin(struct sqlite *w, const char *table, int columns)
{
    char sql[160];
    int n = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?1", table);
    for (int i = 2; i <= columns; i++) {
        n += snprintf(sql + n, sizeof sql - (size_t)n, ",?%d", i);
    }
    snprintf(sql + n, sizeof sql - (size_t)n, ")");
    w->insert = NULL;
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

static void sqlite_put(struct sqlite *w, int column, int64_t value)
{
    sqlite3_bind_int64(w->insert, column, value);
}

static void put_str(struct sqlite *w, int column, struct stk_str text)
{
    text = stk_ex_utf8(&w->capacity, text);
    if (text.n <= INT32_MAX) {
        sqlite3_bind_text(w->insert, column, text.p, (int)text.n, SQLITE_STATIC);
    }
}

static void put_text(struct sqlite *w, int column, const char *text)
{
    if (text && *text) {
        sqlite3_bind_text(w->insert, column, text, -1, SQLITE_STATIC);
    }
}

static void row(struct sqlite *w)
{
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

static void put_strings(struct sqlite *w)
{
    sqlite_begin(w, "strings", 2);
    for (uint32_t i = 0; i < w->f->t->strings.count && w->status == STOKER_OK; i++) {
        sqlite_put(w, 1, id_of(w, i));
        put_str(w, 2, stk_export_text(w->f, i));
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

static void put_tracks(struct sqlite *w)
{
    static const char *const kinds[] = {"thread", "stream", "derived", "counter", "other"};
    const struct stk_trace *t = w->f->t;
    char device[48];
    sqlite_begin(w, "tracks", 9);
    for (uint32_t k = 0; k < t->track_count && w->status == STOKER_OK; k++) {
        const struct stk_track *track = &t->tracks[k];
        if (!stk_export_takes_track(w->x, w->f, track)) {
            continue;
        }
        sqlite_put(w, 1, id_of(w, k));
        if (w->f->processes[track->process].rank >= 0) {
            sqlite_put(w, 2, w->f->processes[track->process].rank);
        }
        put_text(w, 3, kinds[track->kind]);
        if (track->name) {
            put_str(w, 4, stk_export_text(w->f, track->name));
        }
        sqlite_put(w, 5, t->processes[track->process].pid);
        sqlite_put(w, 6, track->id);
        if (track->device != STK_NONE) {
            put_text(w, 7, device_id(w, track->device, device));
        }
        if (track->parent != STK_NONE) {
            sqlite_put(w, 8, id_of(w, track->parent));
        }
        sqlite_put(w, 9, track->count);
        row(w);
    }
    end(w);
}

static void put_devices(struct sqlite *w)
{
    static const char *const kinds[] = {
        [STK_DEVICE_GPU] = "gpu", [STK_DEVICE_TPU] = "tpu", [STK_DEVICE_OTHER] = "other"};
    char device[48], capability[32];
    sqlite_begin(w, "devices", 8);
    for (uint32_t i = 0; i < w->f->t->device_count && w->status == STOKER_OK; i++) {
        const struct stk_device *d = &w->f->t->devices[i];
        if (!w->f->processes[d->process].taken ||
            (w->x->has_device && d->ordinal != w->x->device)) {
            continue;
        }
        put_text(w, 1, device_id(w, i, device));
        if (w->f->processes[d->process].rank >= 0) {
            sqlite_put(w, 2, w->f->processes[d->process].rank);
        }
        sqlite_put(w, 3, d->ordinal);
        put_text(w, 4, kinds[d->kind]);
        if (d->name) {
            put_str(w, 5, stk_export_text(w->f, d->name));
        }
        if (d->sm_count) {
            sqlite_put(w, 6, d->sm_count);
        }
        snprintf(capability, sizeof capability, "%" PRId32 ".%" PRId32, d->cc_major, d->cc_minor);
        if (d->cc_major) {
            put_text(w, 7, capability);
        }
        if (d->memory_bytes) {
            sqlite_put(w, 8, d->memory_bytes);
        }
        row(w);
    }
    end(w);
}

static void sqlite_put_event(struct sqlite *w, uint32_t track, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    const struct stk_ext *e = stk_ext_of(t, event);
    sqlite_put(w, 1, id_of(w, event));
    sqlite_put(w, 2, id_of(w, track));
    sqlite_put(w, 3, t->kind[event]);
    sqlite_put(w, 4, id_of(w, t->name[event]));
    sqlite_put(w, 5, t->start_ns[event] + w->f->shift_ns);
    sqlite_put(w, 6, stk_dur_ns(t, event));
    sqlite_put(w, 7, t->depth[event]);
    if (e && e->flags & STK_EXT_VALUE) {
        sqlite_put(w, 8, e->value);
    }
    if (e && e->link != STK_NONE) {
        sqlite_put(w, 9, id_of(w, e->link));
    }
    if (e) {
        put_text(w, 10, stk_dir_key(e->dir));
        put_text(w, 11, stk_mem_key(e->src_mem));
        put_text(w, 12, stk_mem_key(e->dst_mem));
        if (e->flags & (STK_EXT_ASYNC | STK_EXT_SYNCHRONOUS)) {
            sqlite_put(w, 13, (e->flags & STK_EXT_ASYNC) != 0);
        }
    }
    row(w);
}

static void put_details(struct sqlite *w, uint32_t event)
{
    uint32_t count;
    const struct stk_detail *d = stk_details_of(w->f->t, event, &count);
    for (uint32_t i = 0; i < count && w->status == STOKER_OK; i++) {
        sqlite_put(w, 1, id_of(w, event));
        put_text(w, 2, stk_detail_key_text(d[i].key));
        switch (stk_detail_type_of(d[i].key)) {
        case STK_DETAIL_INT:
            sqlite_put(w, 3, d[i].number);
            break;
        case STK_DETAIL_REAL:
            sqlite3_bind_double(w->insert, 3, d[i].real);
            break;
        case STK_DETAIL_TEXT:
            put_str(w, 3, stk_export_text(w->f, d[i].text));
        }
        row(w);
    }
}

static void sqlite_put_arg(void *arg, struct stk_str key, struct stk_str value)
{
    struct sqlite *w = arg;
    int64_t whole;
    double real;
    if (w->status != STOKER_OK) {
        return;
    }
    sqlite_put(w, 1, w->event);
    switch (stk_export_number(value, &whole, &real)) {
    case STK_EXPORT_WHOLE:
        sqlite_put(w, 3, whole);
        break;
    case STK_EXPORT_REAL:
        sqlite3_bind_double(w->insert, 3, real);
        break;
    case STK_EXPORT_NO_NUMBER:
        put_str(w, 3, value);
    }
    sqlite3_bind_text64(w->insert, 2, key.p, key.n, SQLITE_STATIC, SQLITE_UTF8);
    row(w);
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
static void put_pairs(struct sqlite *w, const char *table,
                      void (*put_of)(struct sqlite *w, uint32_t event))
{
    const struct stk_trace *t = w->f->t;
    sqlite_begin(w, table, 3);
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
    sqlite_begin(w, "event", 13);
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

static void put_kinds(struct sqlite *w)
{
    sqlite_begin(w, "kinds", 2);
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        sqlite_put(w, 1, k);
        put_text(w, 2, stk_kind_key(k));
        row(w);
    }
    end(w);
}

static void put_fact(struct sqlite *w, const char *key, const char *text)
{
    put_text(w, 1, key);
    put_text(w, 2, text);
    row(w);
}

static void put_run(struct sqlite *w)
{
    const struct stk_report *r = w->x->report;
    char key[32];
    sqlite_begin(w, "run", 2);
    put_fact(w, "stoker", w->x->version);
    put_text(w, 1, "base_ns");
    sqlite_put(w, 2, w->x->base_ns);
    row(w);
    put_fact(w, "verdict", stk_verdict_key(r->verdict.kind));
    put_fact(w, "sentence", r->verdict.sentence);
    put_fact(w, "confidence", stk_level_key(r->verdict.confidence));
    put_fact(w, "health", r->profile.health.status);
    for (size_t i = 0; i < w->x->selection_count; i++) {
        snprintf(key, sizeof key, "selection %zu", i + 1);
        put_fact(w, key, w->x->selection[i]);
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

static void put_steps(struct sqlite *w, const struct stk_rank_sum *sum)
{
    sqlite_begin(w, "steps", 10);
    for (uint32_t i = 0; i < sum->step_count && w->status == STOKER_OK; i++) {
        const struct stk_step *s = &sum->steps[i];
        if (!is_selected(s)) {
            continue;
        }
        sqlite_put(w, 1, sum->rank);
        put_text(w, 2, device_of(sum, s->device));
        sqlite_put(w, 3, s->number);
        sqlite_put(w, 4, s->start_ns);
        sqlite_put(w, 5, s->dur_ns);
        sqlite_put(w, 6, s->start_ns + s->dur_ns);
        if (s->host_dur_ns >= 0) {
            sqlite_put(w, 7, s->host_start_ns);
            sqlite_put(w, 8, s->host_dur_ns);
        }
        sqlite_put(w, 9, s->excluded == NULL);
        put_text(w, 10, s->excluded);
        row(w);
        w->x->counts.lane_rows++;
    }
    end(w);
}

static void put_parts(struct sqlite *w, const struct stk_rank_sum *sum)
{
    sqlite_begin(w, "parts", 6);
    for (uint32_t i = 0; i < sum->step_count && w->status == STOKER_OK; i++) {
        const struct stk_step *s = &sum->steps[i];
        for (int p = 0; p < STK_PART_COUNT && is_selected(s); p++) {
            sqlite_put(w, 1, sum->rank);
            put_text(w, 2, device_of(sum, s->device));
            sqlite_put(w, 3, s->number);
            put_text(w, 4, stk_part_info(p)->key);
            sqlite_put(w, 5, s->parts[p]);
            sqlite_put(w, 6, s->excluded == NULL);
            row(w);
        }
    }
    end(w);
}

static void put_time_line(struct sqlite *w, const struct stk_export_lane *lane)
{
    const struct stk_export_rank *r = &w->x->ranks[lane->rank];
    sqlite_begin(w, "time_line", 6);
    w->file = r->file;
    for (size_t i = lane->first; i < lane->first + lane->count && w->status == STOKER_OK; i++) {
        const struct stk_export_piece *piece = &r->pieces[i];
        sqlite_put(w, 1, r->sum->rank);
        put_text(w, 2, device_of(r->sum, piece->device));
        put_text(w, 3, stk_part_info(piece->part)->key);
        sqlite_put(w, 4, piece->start_ns + w->x->files[r->file].shift_ns);
        sqlite_put(w, 5, piece->end_ns - piece->start_ns);
        if (piece->event != STK_NONE) {
            sqlite_put(w, 6, id_of(w, piece->event));
        }
        row(w);
        w->x->counts.lane_rows++;
    }
    end(w);
}

static void put_findings(struct sqlite *w)
{
    const struct stk_rep_finding *f = w->x->report->findings.items;
    sqlite_begin(w, "findings", 9);
    for (size_t i = 0; i < w->x->report->findings.count; i++) {
        const struct stk_rep_evidence *e = f[i].evidence.items;
        for (size_t k = 0; k < f[i].evidence.count && w->status == STOKER_OK; k++) {
            put_text(w, 1, f[i].id);
            put_text(w, 2, f[i].title);
            put_text(w, 3, stk_level_key(f[i].severity));
            put_text(w, 4, stk_level_key(f[i].confidence));
            put_text(w, 5, e[k].text);
            put_text(w, 6, e[k].track);
            if (e[k].has_time) {
                sqlite_put(w, 7, e[k].start_ns);
                sqlite_put(w, 8, e[k].dur_ns);
            }
            if (f[i].fix.count) {
                put_text(w, 9, ((const struct stk_rep_fix *)f[i].fix.items)[0].text);
            }
            row(w);
            w->x->counts.lane_rows++;
        }
    }
    end(w);
}

static void put_issues(struct sqlite *w)
{
    const struct stk_rep_issue *s = w->x->report->profile.issues.items;
    sqlite_begin(w, "issues", 6);
    for (size_t i = 0; i < w->x->report->profile.issues.count; i++) {
        put_text(w, 1, s[i].id);
        put_text(w, 2, stk_severity_key(s[i].severity));
        sqlite_put(w, 3, (int64_t)s[i].count);
        put_text(w, 4, s[i].meaning);
        put_text(w, 5, s[i].remedy);
        put_text(w, 6, s[i].example);
        row(w);
    }
    end(w);
}

static enum stoker_status write_sqlite(struct stk_export *x, struct stk_export_out *out,
                                       struct stoker_err *err)
{
    struct sqlite w = {.x = x, .err = err};
    // Without locks of its own: the caller's, which tells others that the file is being written
    // (base/atomic_file.h), is one and the same thing to a network file system.
    if (sqlite3_open_v2(out->path, &w.db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        "unix-none") != SQLITE_OK) {
        sqlite_fail(&w);
    }
    stk_ex_init(&w.capacity, NULL, NULL);
    run_sql(&w, schema);
    put_kinds(&w);
    put_run(&w);
    for (w.file = 0; w.file < x->file_count && w.status == STOKER_OK; w.file++) {
        w.f = &x->files[w.file];
        put_strings(&w);
        put_tracks(&w);
        put_devices(&w);
        put_events(&w);
        if (w.f->t->detail_count) {
            put_pairs(&w, "details", put_details);
        }
        if (x->with_args) {
            put_pairs(&w, "args", put_args);
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
    .keeps = "every event with its times to the nanosecond since the run's first event (table run "
             "has base_ns to add), kind, track, nesting, bytes, direction and memory of copies, "
             "numbers of steps, launch call, details (a table of key and value); tracks with "
             "process, thread, device and stream; "
             "devices with their properties; steps, their parts, the time line of parts, findings "
             "with their evidence, issues. Views events, kernels, transfers and links join names "
             "and tracks as stoker query does",
    .drops =
        "the columns that stoker query derives: parent, step, precision, the launch call's own "
        "columns. No index but the keys, so that the file stays small: create what you need",
    .needs_file = true,
    .takes_args = true,
    .write = write_sqlite,
};
