// SPDX-License-Identifier: Apache-2.0
// Open profiles, and the two kinds of queries about their events: SQL and search by name.
#include "stoker/query.h"

#include <string.h>

#include "api/open.h"
#include "api/path_pieces.h"
#include "api/profiles.h"
#include "api/query_args.h"
#include "api/query_rows.h"
#include "base/alloc.h"
#include "base/near.h"
#include "stoker/timeline.h"
#include "answers/replay/graph.h"

#define DEFAULT_TIMEOUT_NS (INT64_C(60) * 1000000000)

struct stoker_profiles {
    struct stk_open_run run;
    struct stk_report report; // from the same reading, in the run's arena
    const char *const *paths; // as given, in that arena
    size_t path_count;
    struct stoker_why_options reading;
    struct stk_query *query;
    const struct stk_query_rank *ranks; // what the query was opened with
    struct stk_query_args args;
    const struct stoker_query_options *options; // of the running query
};

// What an open run keeps of a rank besides its trace: gaps, a step's critical path, and the graph
// for estimates of findings.
struct kept_gaps {
    struct stk_query_gap *v;
    size_t count;
    struct stk_path_pieces path;
    struct stk_ribbons ribbons;
    void *graph;
};

static enum stoker_status see(const struct stk_analysis *view, struct stk_arena *arena,
                              void **partial, struct stoker_err *err)
{
    const struct stk_gap_piece *pieces = view->gaps.items;
    struct kept_gaps *kept = stk_arena_alloc(arena, sizeof *kept);
    if (kept) {
        kept->v = stk_arena_array(arena, view->gaps.count + 1, sizeof *kept->v);
    }
    if (!kept || !kept->v) {
        return stk_err_nomem(err);
    }
    for (; kept->count < view->gaps.count; kept->count++) {
        const struct stk_gap_piece *p = &pieces[kept->count];
        kept->v[kept->count] = (struct stk_query_gap){.start_ns = p->start_ns,
                                                      .dur_ns = p->end_ns - p->start_ns,
                                                      .device = p->line,
                                                      .event = p->event,
                                                      .around = p->around,
                                                      .part = p->part};
    }
    *partial = kept;
    struct stk_replay_path path;
    enum stoker_status status = stk_replay_path(view, arena, &path, err);
    if (status == STOKER_OK) {
        kept->graph = path.priced;
        status = stk_path_pieces_keep(&path, arena, &kept->path, err);
    }
    return status;
}

static enum stoker_status see_with_ribbon(const struct stk_analysis *view, struct stk_arena *arena,
                                          void **partial, struct stoker_err *err)
{
    enum stoker_status status = see(view, arena, partial, err);
    struct kept_gaps *kept = *partial;
    if (status == STOKER_OK && !stk_ribbons_make(view, arena, &kept->ribbons)) {
        status = stk_err_nomem(err);
    }
    return status;
}

// The merged run's rows for a ribbon's device, which are contiguous.
static void find_rows(const struct stk_run_sum *run, uint32_t device, int32_t rank,
                      struct stk_ribbon_rows *rows)
{
    size_t first = 0, end;
    while (first < run->step_count && (run->steps[first].device != device ||
                                       (device == STK_NONE && run->steps[first].rank != rank))) {
        first++;
    }
    for (end = first; end < run->step_count && run->steps[end].device == device &&
                      (device != STK_NONE || run->steps[end].rank == rank);) {
        end++;
    }
    rows->steps = run->steps + first;
    rows->count = end - first;
}

// Makes the ribbons of a rank agree with the merged run. device_base: its first device there.
static bool settle_ribbons(struct stoker_profiles *p, uint32_t r, uint32_t device_base,
                           struct stk_ribbons *ribbons)
{
    const struct stk_run_sum *run = p->run.in.run;
    const struct stk_rank_sum *rank = run->ranks[r];
    bool ok = true;
    for (size_t i = 0; ok && i < ribbons->count; i++) {
        struct stk_ribbon *ribbon = &ribbons->v[i];
        bool is_host = ribbon->device == STK_NONE;
        uint32_t device = is_host ? STK_NONE : device_base + ribbon->device;
        struct stk_ribbon_rows rows = {.device = is_host ? NULL : &run->devices[device],
                                       .rank = rank,
                                       .base_ns = p->run.ranks[r].trace->base_ns,
                                       .shift_ns = p->run.ranks[r].shift_ns};
        find_rows(run, device, rank->rank, &rows);
        ok = stk_ribbon_settle(ribbon, &rows, &p->run.in.arena);
    }
    return ok;
}

static int interrupted(void *arg)
{
    const struct stoker_profiles *p = arg;
    return p->options && p->options->interrupted &&
           p->options->interrupted(p->options->interrupted_arg);
}

static enum stoker_status fetch_args(void *arg, uint32_t rank, uint32_t event, stk_emit_fn *emit,
                                     void *emit_arg, struct stoker_err *err)
{
    struct stoker_profiles *p = arg;
    const struct stk_open_rank *from = &p->run.ranks[rank];
    return stk_query_args_fetch(&p->args, from->job->path, from->trace, event, emit, emit_arg, err);
}

static enum stoker_status find_findings(struct stoker_profiles *p,
                                        const struct stoker_why_options *options,
                                        struct stk_query_source *source, struct stoker_err *err)
{
    enum stoker_status status = stk_diagnose(&p->run.in, options, &p->report, err);
    if (status != STOKER_OK) {
        return status;
    }
    const struct stk_rep_finding *f = p->report.findings.items;
    size_t count = p->report.findings.count;
    struct stk_query_finding *out = stk_arena_array(&p->run.in.arena, count + 1, sizeof *out);
    if (!out) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = (struct stk_query_finding){
            .id = f[i].id,
            .title = f[i].title,
            .severity = stk_level_key(f[i].severity),
            .confidence = stk_level_key(f[i].confidence),
            .has_saving = f[i].saving.has_expected || f[i].saving.has_high,
            .saving_share =
                f[i].saving.has_expected ? f[i].saving.expected_share : f[i].saving.high_share,
            .steps_affected = (int64_t)f[i].steps_affected};
    }
    source->findings = out;
    source->finding_count = count;
    return STOKER_OK;
}

// What was kept of each rank: returns the gaps; moves the graph to where estimates look for it.
static struct kept_gaps *take_kept(struct stk_rank_sum *sum)
{
    struct kept_gaps *kept = sum->partial;
    sum->partial = kept ? kept->graph : NULL;
    return kept;
}

static enum stoker_status open_query(struct stoker_profiles *p,
                                     const struct stoker_why_options *options,
                                     struct stoker_err *err)
{
    struct stk_open_run *run = &p->run;
    struct stk_query_rank *ranks =
        stk_arena_array(&p->run.in.arena, (size_t)run->rank_count + 1, sizeof *ranks);
    if (!ranks) {
        return stk_err_nomem(err);
    }
    for (uint32_t r = 0, device = 0; r < run->rank_count; r++) {
        struct kept_gaps *gaps = take_kept(run->in.run->ranks[r]);
        ranks[r] = (struct stk_query_rank){.trace = run->ranks[r].trace,
                                           .sum = run->ranks[r].sum,
                                           .shift_ns = run->ranks[r].shift_ns,
                                           .gaps = gaps ? gaps->v : NULL,
                                           .gap_count = gaps ? gaps->count : 0};
        if (gaps) {
            ranks[r].path = stk_path_pieces_shown(&gaps->path, options->redact);
            if (!settle_ribbons(p, r, device, &gaps->ribbons)) {
                return stk_err_nomem(err);
            }
            ranks[r].ribbons = gaps->ribbons;
        }
        device += run->in.run->ranks[r]->device_count;
    }
    run->in.has_graphs = true;
    p->ranks = ranks;
    struct stk_query_source source = {.ranks = ranks,
                                      .rank_count = run->rank_count,
                                      .run = run->in.run,
                                      .one_rank = options->has_rank,
                                      .args = fetch_args,
                                      .interrupted = interrupted,
                                      .arg = p};
    enum stoker_status status = find_findings(p, options, &source, err);
    return status == STOKER_OK ? stk_query_open(&p->query, &source, err) : status;
}

// Details kept with the traces: counters for the timeline, STK_WANT_INPUT for
// stk_replay_brief_hook.
#define KEPT_WANTS (STK_WANT_LAUNCHES | STK_WANT_INPUT | STK_WANT_COUNTERS | STK_WANT_MESSAGES)

static enum stoker_status keep_paths(struct stoker_profiles *p, const char *const *paths,
                                     size_t count, struct stoker_err *err)
{
    const char **kept = stk_arena_array(&p->run.in.arena, count + 1, sizeof *kept);
    for (size_t i = 0; kept && i < count; i++) {
        kept[i] = stk_arena_strdup(&p->run.in.arena, paths[i]);
        if (!kept[i]) {
            return stk_err_nomem(err);
        }
    }
    p->paths = kept;
    p->path_count = count;
    return kept ? STOKER_OK : stk_err_nomem(err);
}

static enum stoker_status open_profiles(struct stoker_profiles *p, const char *const *paths,
                                        size_t count, const struct stoker_why_options *options,
                                        bool is_viewed, struct stoker_err *err)
{
    const struct stk_view_hook hook = {.see = is_viewed ? see_with_ribbon : see,
                                       .wants_gaps = true,
                                       .wants_ribbon = is_viewed,
                                       .diagnoses = true,
                                       .wants = KEPT_WANTS};
    p->args.redact = options->redact;
    p->reading = *options;
    p->reading.progress = NULL;
    enum stoker_status status = stk_open_run_read(&p->run, paths, count, options, &hook, err);
    if (status == STOKER_OK) {
        status = keep_paths(p, paths, count, err);
    }
    return status == STOKER_OK ? open_query(p, options, err) : status;
}

enum stoker_status stoker_profiles_stats(const struct stoker_profiles *profiles,
                                         const char *analysis, struct stoker_tables **out,
                                         struct stoker_err *err)
{
    if (!profiles || !analysis || !out) {
        return stk_err_misuse(err,
                              "stoker_profiles_stats needs profiles, an analysis and a pointer "
                              "for the result");
    }
    // Replaced names no longer say what kind of work they are.
    const struct stk_collected *lender = profiles->reading.redact ? NULL : &profiles->run.in;
    return stk_stats_again(lender, KEPT_WANTS, analysis, profiles->paths, profiles->path_count,
                           &profiles->reading, out, err);
}

static enum stoker_status open_entry(const char *entry, const char *const *paths, size_t count,
                                     const struct stoker_why_options *options, bool is_viewed,
                                     struct stoker_profiles **out, struct stoker_err *err)
{
    struct stoker_why_options defaults;
    if (stk_entry_paths(entry, paths, count, out, err) != STOKER_OK) {
        return STOKER_EINVAL;
    }
    *out = NULL;
    stoker_why_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_profiles *p = stk_alloc_zero(1, sizeof *p);
    if (!p) {
        return stk_err_nomem(err);
    }
    uint64_t refused = stk_alloc_refusals();
    if (stk_err_whole(refused,
                      open_profiles(p, paths, count, options ? options : &defaults, is_viewed, err),
                      err) != STOKER_OK) {
        stoker_close(p);
        return stk_err_fail(err);
    }
    *out = p;
    return STOKER_OK;
}

enum stoker_status stoker_open(const char *const *paths, size_t count,
                               const struct stoker_why_options *options,
                               struct stoker_profiles **out, struct stoker_err *err)
{
    return open_entry("stoker_open", paths, count, options, false, out, err);
}

enum stoker_status stoker_open_to_view(const char *const *paths, size_t count,
                                       const struct stoker_why_options *options,
                                       struct stoker_profiles **out, struct stoker_err *err)
{
    return open_entry("stoker_open_to_view", paths, count, options, true, out, err);
}

void stoker_close(struct stoker_profiles *p)
{
    if (!p) {
        return;
    }
    stk_query_close(p->query);
    stk_query_args_free(&p->args);
    stk_open_run_free(&p->run);
    stk_free(p);
}

void stoker_query_options_default(struct stoker_query_options *options)
{
    if (options) {
        *options = (struct stoker_query_options){.limit = 10000, .timeout_ns = DEFAULT_TIMEOUT_NS};
    }
}

void stoker_find_options_default(struct stoker_find_options *options)
{
    if (!options) {
        return;
    }
    *options = (struct stoker_find_options){.max_dur_ns = INT64_MAX};
    stoker_query_options_default(&options->query);
}

enum stoker_status stoker_profiles_write(const struct stoker_profiles *profiles, const char *format,
                                         const struct stoker_write_options *options,
                                         stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!profiles) {
        return stk_err_misuse(err, "stoker_profiles_write needs profiles");
    }
    return stk_api_report_write(&profiles->report, format, options, write, arg, err);
}

struct stk_query *stk_profiles_query(struct stoker_profiles *p)
{
    return p->query;
}

const struct stk_open_run *stk_profiles_run(const struct stoker_profiles *p)
{
    return &p->run;
}

const struct stk_rep_profile *stk_profiles_described(const struct stoker_profiles *p)
{
    return &p->report.profile;
}

enum stoker_status stk_tables_new(const char *analysis, struct stoker_tables **out,
                                  struct stoker_err *err)
{
    struct stoker_tables *t = stk_alloc_zero(1, sizeof *t);
    *out = t;
    if (!t) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&t->in.arena, 0);
    t->has_texts = stk_strpool_init(&t->texts, 0) == 0;
    if (!t->has_texts) {
        return stk_err_nomem(err);
    }
    stk_table_doc_init(&t->doc, &t->in.arena, analysis);
    return STOKER_OK;
}

enum stoker_status stk_profiles_tables(const struct stoker_profiles *p, const char *analysis,
                                       struct stoker_tables **out, struct stoker_err *err)
{
    struct stk_report report = {.schema = NULL};
    enum stoker_status status = stk_tables_new(analysis, out, err);
    if (status != STOKER_OK) {
        return status;
    }
    struct stk_pass_ctx pass = p->run.in.pass;
    pass.arena = &(*out)->in.arena;
    status = stk_pass_profile.describe(&pass, &report, err);
    (*out)->doc.profile = report.profile;
    return status;
}

static enum stoker_status query(struct stoker_profiles *p, const char *sql,
                                const struct stoker_query_options *o, struct stoker_tables *t,
                                struct stoker_err *err)
{
    struct stk_query_rows rows;
    stk_query_rows_init(&rows, t, o->limit);
    struct stk_query_sink sink = stk_query_rows_sink(&rows);
    p->options = o;
    enum stoker_status status = stk_query_run(p->query, sql, o->timeout_ns, &sink, err);
    p->options = NULL;
    if (status == STOKER_OK) {
        status = stk_query_rows_finish(&rows, "rows", "Rows", err);
    }
    stk_query_rows_deinit(&rows);
    return status;
}

enum stoker_status stoker_query(struct stoker_profiles *profiles, const char *sql,
                                const struct stoker_query_options *options,
                                struct stoker_tables **out, struct stoker_err *err)
{
    struct stoker_query_options defaults;
    if (!profiles || !sql || !out) {
        return stk_err_misuse(err, "stoker_query needs profiles, SQL and a pointer for the result");
    }
    *out = NULL;
    stoker_query_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_tables *t = NULL;
    enum stoker_status status = stk_profiles_tables(profiles, "query", &t, err);
    if (status == STOKER_OK) {
        status = query(profiles, sql, options ? options : &defaults, t, err);
    }
    if (status != STOKER_OK) {
        stoker_tables_free(t);
        return stk_err_fail(err);
    }
    *out = t;
    return STOKER_OK;
}

static enum stoker_status kind_of(const char *text, int *out, struct stoker_err *err)
{
    const char *best = NULL;
    *out = -1;
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        const char *key = stk_kind_key((enum stk_kind)k);
        if (strcmp(key, text) == 0) {
            *out = k;
        }
        best = stk_near_best(text, best, key);
    }
    if (*out >= 0) {
        return STOKER_OK;
    }
    if (best) {
        return stk_err_set(err, STOKER_EUSAGE, "no kind of events '%.40s'; did you mean '%s'?",
                           text, best);
    }
    return stk_err_set(err, STOKER_EUSAGE,
                       "no kind of events '%.40s'; stoker schema report --markdown lists them",
                       text);
}

static enum stoker_status to_find(const char *pattern, const struct stoker_find_options *o,
                                  struct stk_find *out, struct stoker_err *err)
{
    *out = (struct stk_find){.pattern = stk_str_from(pattern),
                             .has_steps = o->has_steps,
                             .has_device = o->has_device,
                             .has_from = o->has_from,
                             .has_to = o->has_to,
                             .step_first = o->step_first,
                             .step_last = o->step_last,
                             .device = o->device,
                             .from_ns = o->from_ns,
                             .to_ns = o->to_ns,
                             .min_dur_ns = o->min_dur_ns,
                             .max_dur_ns = o->max_dur_ns,
                             .kind = -1,
                             .by_time = o->by_time,
                             .on_path = o->on_critical_path,
                             .limit = o->query.limit};
    if (o->track) {
        struct stk_str track = stk_str_from(o->track);
        out->has_track = stk_str_to_i64(track, &out->track);
        out->track_name = out->has_track ? STK_STR("") : track;
    }
    if (o->min_dur_ns > o->max_dur_ns) {
        return stk_err_set(err, STOKER_EUSAGE, "the minimum duration is above the maximum");
    }
    return o->kind ? kind_of(o->kind, &out->kind, err) : STOKER_OK;
}

struct find_summary {
    struct stk_cell events, names, total_ns;
};
static const struct stk_column find_figures[] = {
    STK_COLUMN(find_summary, events, COUNT, "events that match, including those not listed"),
    STK_COLUMN(find_summary, names, COUNT, "distinct names among them"),
    STK_COLUMN(find_summary, total_ns, NS, "sum of their durations"),
};
static const struct stk_summary_info find_summary_info =
    STK_SUMMARY_INFO(find_summary, find_figures);

// If no rank has a path, finding nothing on it isn't an answer.
static void say_paths(const struct stoker_profiles *p, struct stk_table_doc *doc)
{
    const char *why = NULL;
    uint32_t without = 0;
    for (uint32_t r = 0; r < p->run.rank_count; r++) {
        const char *of_rank = p->ranks[r].path.why_not;
        why = why ? why : of_rank;
        without += of_rank != NULL;
    }
    if (why) {
        const struct stk_missing missing = {
            without < p->run.rank_count ? "critical paths of some ranks" : "a critical path", why,
            "record some whole steps, with the CPU's events"};
        stk_table_lacks(doc, &missing);
        doc->inconclusive = without == p->run.rank_count;
    }
}

static enum stoker_status find(struct stoker_profiles *p, const char *pattern,
                               const struct stoker_find_options *o, struct stoker_tables *t,
                               struct stoker_err *err)
{
    struct stk_query_rows rows;
    struct stk_find wanted;
    struct stk_found found = {.count = 0};
    stk_query_rows_init(&rows, t, 0);
    struct stk_query_sink sink = stk_query_rows_sink(&rows);
    p->options = &o->query;
    enum stoker_status status = to_find(pattern, o, &wanted, err);
    if (status == STOKER_OK) {
        status = stk_query_find(p->query, &wanted, &sink, &found, err);
    }
    p->options = NULL;
    const struct find_summary summary = {
        .events = stk_cell_number((int64_t)found.count),
        .names = stk_cell_number(found.names),
        .total_ns = stk_cell_number(found.total_ns),
    };
    stk_table_summarize(&t->doc, &find_summary_info, &summary);
    if (o->on_critical_path) {
        say_paths(p, &t->doc);
    }
    rows.rows = found.count;
    if (status == STOKER_OK) {
        status = stk_query_rows_finish(
            &rows, "events", o->by_time ? "Events by time" : "Events, longest first", err);
    }
    stk_query_rows_deinit(&rows);
    return status;
}

enum stoker_status stoker_find(struct stoker_profiles *profiles, const char *pattern,
                               const struct stoker_find_options *options,
                               struct stoker_tables **out, struct stoker_err *err)
{
    struct stoker_find_options defaults;
    if (!profiles || !pattern || !out) {
        return stk_err_misuse(err,
                              "stoker_find needs profiles, a pattern and a pointer for the result");
    }
    *out = NULL;
    stoker_find_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_tables *t = NULL;
    enum stoker_status status = stk_profiles_tables(profiles, "find", &t, err);
    if (status == STOKER_OK) {
        status = find(profiles, pattern, options ? options : &defaults, t, err);
    }
    if (status != STOKER_OK) {
        stoker_tables_free(t);
        return stk_err_fail(err);
    }
    *out = t;
    return STOKER_OK;
}

const char *stoker_event_kind(size_t index)
{
    return index < STK_KIND_COUNT ? stk_kind_key((enum stk_kind)index) : NULL;
}
