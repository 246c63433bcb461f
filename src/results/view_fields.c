// SPDX-License-Identifier: Apache-2.0
// The contracts of what the pages of `stoker view` ask for, field by field. Rows are only ever
// added.
#include "results/field_rows.h"
#include "results/run.h"
#include "results/table.h"
#include "results/view.h"

static const struct stk_field clock_fields[] = {
    ROW_OR_NULL("rank", NUMBER, stk_view_doc_clock, rank,
                offsetof(struct stk_view_doc_clock, has_rank), "of the trace; null: none"),
    ROW("zero_ns", NS, stk_view_doc_clock, zero_ns, NULL, NULL,
        "where the zero of its own clock lies in the time of the run"),
    END};
INFO(clock, sizeof(struct stk_view_doc_clock));

static const struct stk_field track_fields[] = {
    ROW("id", NUMBER, stk_view_doc_track, id, NULL, NULL, "for tiles"),
    ROW("label", TEXT, stk_view_doc_track, label, NULL, NULL, "for people"),
    ROW("group", TEXT, stk_view_doc_track, group, NULL, "device|comm|host|input|counter|other",
        "what it stands among"),
    ROW_OR_NULL("rank", NUMBER, stk_view_doc_track, rank,
                offsetof(struct stk_view_doc_track, has_rank), "of its process; null: none"),
    ROW_OR_NULL("device", TEXT, stk_view_doc_track, device, STK_FIELD_IF_SET,
                "rank/number of its device; null: of the host"),
    ROW("rows", COUNT, stk_view_doc_track, rows, NULL, NULL, "below one another"),
    ROW("events", COUNT, stk_view_doc_track, events, NULL, NULL, "in all rows"),
    END};
INFO(track, sizeof(struct stk_view_doc_track));

static const struct stk_field tracks_fields[] = {
    ROW_IF("first_ns", NS, stk_view_doc_tracks, first_ns, has_timeline, NULL,
           "begin of the first event"),
    ROW_IF("last_ns", NS, stk_view_doc_tracks, last_ns, has_timeline, NULL, "end of the last one"),
    ROW_IF("events", COUNT, stk_view_doc_tracks, events, has_timeline, NULL, "on all tracks"),
    ROW_IF("clocks", LIST, stk_view_doc_tracks, clocks, has_timeline, &clock, "of each trace"),
    ROW("tracks", LIST, stk_view_doc_tracks, tracks, &track, NULL, "those with events"),
    ROW_MAYBE("no_timeline", stk_view_doc_tracks, no_timeline, NULL, "why there is no time line"),
    END};
const struct stk_struct_info stk_view_tracks_info = {"tracks", sizeof(struct stk_view_doc_tracks),
                                                     tracks_fields};

static const struct stk_field extra_fields[] = {
    ROW("kind", TEXT, stk_view_doc_extra, kind, NULL, "run|proof|ledger", "what it is"),
    ROW("name", TEXT, stk_view_doc_extra, name, NULL, NULL, "of its file or folder"), END};
INFO(extra, sizeof(struct stk_view_doc_extra));

static const struct stk_field view_fields[] = {
    ROW("schema", TEXT, stk_view_doc, schema, NULL, STK_VIEW_SCHEMA,
        "name and version of this contract"),
    ROW_IF("level", NUMBER, stk_view_doc, level, is_single, NULL,
           "of a single file: the level that its tiles have"),
    ROW_IF("tables", WORDS, stk_view_doc, tables, is_served, NULL,
           "of a server: the analyses that can be asked for"),
    ROW_IF("can", WORDS, stk_view_doc, can, is_served, NULL,
           "of a server: what else can be: report, query, tiles, diff"),
    ROW_IF("extras", LIST, stk_view_doc, extras, is_served, &extra,
           "of a server: what was given beside profiles"),
    ROW_IF("from_cache", BOOL, stk_view_doc, from_cache, is_served, NULL,
           "of a server: the time line came from the cache"),
    ROW("tracks", MERGED, stk_view_doc, tracks, &stk_view_tracks_info, NULL, "of the time line"),
    END};
const struct stk_struct_info stk_view_info = {"view", sizeof(struct stk_view_doc), view_fields};

static const struct stk_field step_fields[] = {
    ROW("number", COUNT, stk_view_run_doc_step, number, NULL, NULL, "of the step"),
    ROW("end_ns", NS, stk_view_run_doc_step, end_ns, NULL, NULL, "on the monotonic clock"),
    ROW("dur_ns", NS, stk_view_run_doc_step, dur_ns, NULL, NULL, "its time"),
    ROW("wait_ns", NS, stk_view_run_doc_step, wait_ns, NULL, NULL, "of it, for input"),
    ROW("flags", COUNT, stk_view_run_doc_step, flags, NULL, NULL,
        "of all steps of the stretch: 1 in the profiler's window, 2 the profiler worked in it, 4 "
        "other work in it"),
    END};
INFO(step, sizeof(struct stk_view_run_doc_step));

static const struct stk_field process_fields[] = {
    ROW_OR_NULL("rank", NUMBER, stk_view_run_doc_process, rank,
                offsetof(struct stk_view_run_doc_process, has_rank), "null: none"),
    ROW("pid", COUNT, stk_view_run_doc_process, pid, NULL, NULL, "process"),
    ROW("count", COUNT, stk_view_run_doc_process, count, NULL, NULL, "steps made"),
    ROW("step_ns", NS, stk_view_run_doc_process, step_ns, NULL, NULL, "of all steps"),
    ROW("first_ns", NS, stk_view_run_doc_process, first_ns, NULL, NULL, "on the monotonic clock"),
    ROW("last_ns", NS, stk_view_run_doc_process, last_ns, NULL, NULL, "the same"),
    ROW_IF("wait_ns", NS, stk_view_run_doc_process, wait_ns, has_wait, NULL,
           "of all steps, for input"),
    ROW("window_first", COUNT, stk_view_run_doc_process, window_first, NULL, NULL,
        "first step of the profiler's window"),
    ROW("window_steps", COUNT, stk_view_run_doc_process, window_steps, NULL, NULL, "in it"),
    ROW("window_state", COUNT, stk_view_run_doc_process, window_state, NULL, NULL,
        "0 none, 1 open, 2 done, 3 left"),
    ROW("framework", TEXT, stk_view_run_doc_process, framework, NULL, NULL, "that steps"),
    ROW("notes", TEXT, stk_view_run_doc_process, notes, NULL, NULL, "of the hooks, one a line"),
    ROW("every", COUNT, stk_view_run_doc_process, every, NULL, NULL, "steps of a stretch"),
    ROW("steps", TUPLES, stk_view_run_doc_process, steps, &step, NULL,
        "the longest step of each stretch"),
    END};
INFO(process, sizeof(struct stk_view_run_doc_process));

static const struct stk_field view_run_fields[] = {
    ROW("schema", TEXT, stk_view_run_doc, schema, NULL, STK_VIEW_RUN_SCHEMA,
        "name and version of this contract"),
    ROW("processes", LIST, stk_view_run_doc, processes, &process, NULL, "that step"),
    APART_OR_NULL("run", stk_view_run_doc, run, &stk_run_info,
                  "the run's own document once it has ended; null until then"),
    APART_OR_NULL("machine", stk_view_run_doc, machine, &stk_table_info,
                  "the tables of `stoker stats machine` until now; null: no record"),
    END};
const struct stk_struct_info stk_view_run_info = {"view_run", sizeof(struct stk_view_run_doc),
                                                  view_run_fields};
