// SPDX-License-Identifier: Apache-2.0
// Shared by the files that implement include/stoker: reading inputs into summaries.
#pragma once

#include "profile/model/machine/machine.h"
#include "profile/model/view.h"
#include "results/print/out.h"
#include "answers/passes/pass.h"
#include "results/diff.h"
#include "base/sink.h"
#include "results/jobs.h"
#include "results/table.h"
#include "results/whatif.h"
#include "stoker/report.h"

// As programs know it: more is worse.
static inline enum stoker_level stk_api_level(enum stk_level level)
{
    return (enum stoker_level)(STOKER_LEVEL_HIGH - (int)level);
}
_Static_assert(STOKER_LEVEL_HIGH - STK_LEVEL_INFO == STOKER_LEVEL_INFO,
               "the same levels, reversed");
_Static_assert(STOKER_LEVEL_HIGH - STK_LEVEL_NONE == STOKER_LEVEL_NONE,
               "the same levels, reversed");

struct stk_partial_kept; // answers/partial/partial.h
struct stk_partial_packed;
struct stk_stream; // base/stream.h

// One input file: read, summarized, and its trace freed unless it is to be kept. Everything else
// lives in its arena.
struct stk_job {
    const char *path;
    int32_t rank_hint; // from the file's name, -1 none
    bool is_numbered;  // the hint is the order of hosts' names: no rank that anybody said
    bool is_found;     // in a directory, not named by the user
    bool is_decoded;   // of a partial: it is not read again
    const struct stk_partial_packed *packed; // the same, to be written again as it is; else NULL
    bool is_older;                           // of an older run than the one that is taken
    struct stk_arena arena;
    struct stk_trace *trace;      // where traces are kept (see open.h), else NULL
    const struct stk_trace *lent; // read already and somebody else's; NULL: the file is read
    struct stk_stream *stream;    // opened already, since it can't be twice; NULL: it is not
    struct stk_input_info info;
    struct stk_rank_sum **ranks;
    uint32_t rank_count;
    struct stk_worker_sum workers; // where the file is a DataLoader worker's record: it has no rank
    struct stk_machine *machine; // where it is a sampler's record: that has no rank either; or NULL
    enum stoker_status status;
    struct stoker_err err;
};

// The jobs that files are of, where they are several (job_groups.c): those of job k are in
// jobs[first[k]] to jobs[first[k + 1]].
struct stk_groups {
    size_t count; // 0: all are of one
    size_t *first;
    const char **notes;      // of each: which of several runs was taken; or NULL
    struct stk_list skipped; // struct stk_jobs_skipped: read, and of none of them
};

// The run that several inputs make. Zeroed with an initialized arena at first; what points into it
// (pass) is valid as long as it stays where it is.
struct stk_collected {
    struct stk_arena arena;
    struct stk_job *jobs;
    size_t job_count;
    struct stk_select select;
    bool has_graphs;     // what the ranks kept are graphs of their steps (answers/replay/graph.h)
    uint64_t keep_bytes; // traces are kept, up to this much together; 0: they are freed
    // An open run of the same paths, whose traces are used again; NULL: none.
    const struct stk_collected *lender;
    uint32_t lent_wants;    // bits STK_WANT_... that these were read with
    const char *stdin_name; // what "-" is called; NULL: "-"
    const char *joined;     // a partial of all inputs, read instead of them; NULL: they are read
    bool is_redacted;       // the jobs are: those of a part of another one
    bool takes_jobs;        // several jobs are no error: `groups` tells them, and nothing is merged
    struct stk_groups groups;
    struct stk_inputs *inputs; // what was given and found
    struct stk_run_sum *run;
    struct stk_verdict verdict;
    struct stk_pass_ctx pass; // all of it, for analyses
};
// Read the inputs and merge them into a run. `hook` (may be NULL) sees every rank.
STK_MUST_CHECK enum stoker_status stk_collect(struct stk_collected *c, const char *const *paths,
                                              size_t count,
                                              const struct stoker_why_options *options,
                                              const struct stk_view_hook *hook,
                                              struct stoker_err *err);
// The inputs as they were read, not yet a run: c->jobs.
STK_MUST_CHECK enum stoker_status stk_collect_items(struct stk_collected *c,
                                                    const char *const *paths, size_t count,
                                                    const struct stoker_why_options *options,
                                                    const struct stk_view_hook *hook,
                                                    struct stoker_err *err);
void stk_collected_free(struct stk_collected *c);
// The inputs, found and not read: c->inputs, c->jobs and c->select.
STK_MUST_CHECK enum stoker_status stk_collect_find(struct stk_collected *c,
                                                   const char *const *paths, size_t count,
                                                   const struct stoker_why_options *options,
                                                   struct stoker_err *err);

// Job k of several, as a run of its own: *part borrows from `c`, has an arena of its own, and is
// let go of with stk_part_free.
STK_MUST_CHECK enum stoker_status stk_collect_part(struct stk_collected *c, size_t k,
                                                   const struct stoker_why_options *options,
                                                   struct stk_collected *part,
                                                   struct stoker_err *err);
void stk_part_free(struct stk_collected *part);

struct stoker_result {
    struct stk_collected in;
    struct stk_report report;
    struct stk_jobs *jobs;   // of several jobs, instead of the report; else NULL
    enum stoker_level level; // of several: the highest of all findings
};
// jobs_found.c: what each of several jobs is. Lives in the arena of `in`.
STK_MUST_CHECK enum stoker_status stk_jobs_found(struct stoker_result *result,
                                                 const struct stoker_why_options *options,
                                                 struct stoker_err *err);
enum stoker_level stk_report_level(const struct stk_report *report);

// The report of what was collected. Lives in the arena of `in`.
STK_MUST_CHECK enum stoker_status stk_diagnose(const struct stk_collected *in,
                                               const struct stoker_why_options *options,
                                               struct stk_report *report, struct stoker_err *err);

// Tables of an analysis, a query or a search.
struct stoker_tables {
    struct stk_collected in; // of a query only the arena
    struct stk_table_doc doc;
    struct stk_table_doc *every; // of all analyses at once, instead of doc; else NULL
    size_t every_count;
    bool has_texts;
    struct stk_strpool texts; // of rows
};

// tables.c: stoker_stats, with the traces of an open run of the same paths where they hold what the
// analysis wants. lender: NULL reads the files.
STK_MUST_CHECK enum stoker_status
stk_stats_again(const struct stk_collected *lender, uint32_t lent_wants, const char *analysis,
                const char *const *paths, size_t count, const struct stoker_why_options *options,
                struct stoker_tables **out, struct stoker_err *err);

// A caller's bug at an entry that reads profiles: no paths, one that is NULL, or no place for the
// result.
STK_MUST_CHECK enum stoker_status stk_entry_paths(const char *entry, const char *const *paths,
                                                  size_t count, const void *out,
                                                  struct stoker_err *err);

// A report in one of the formats; the arguments are those of stoker_result_write.
STK_MUST_CHECK enum stoker_status stk_api_report_write(const struct stk_report *report,
                                                       const char *format,
                                                       const struct stoker_write_options *options,
                                                       stoker_write_fn write, void *arg,
                                                       struct stoker_err *err);

// What can be asked of prices, as a part of a page.
void stk_describe_prices(struct stk_sink *sink);

// An object in one of the forms that outs.def has of its document; `of` says in an error what has
// no such form: "" or " for comparisons".
STK_MUST_CHECK enum stoker_status stk_api_write(const char *document, const char *of,
                                                const void *object, const char *format,
                                                const struct stoker_write_options *options,
                                                stoker_write_fn write, void *arg,
                                                struct stoker_err *err);

// Width, colors and so on within their bounds; NULL: the defaults.
struct stk_out_options stk_api_out_options(const struct stoker_write_options *options);

// Read every job, several files at once where there are several processors. Fails where no file
// could be read, memory ran out or the caller interrupted; a file that fails among others becomes
// an issue of its job. keep_bytes: as in struct stk_collected; more than that fails.
STK_MUST_CHECK enum stoker_status stk_jobs_read(struct stk_job *jobs, size_t count,
                                                const struct stoker_why_options *options,
                                                const struct stk_select *select,
                                                const struct stk_view_hook *hook,
                                                uint64_t keep_bytes, struct stoker_err *err);
void stk_jobs_free(struct stk_job *jobs, size_t count); // takes NULL
void stk_job_free(struct stk_job *job);                 // what it holds
// Notes what job->err says as an issue of a job that failed. False: no memory.
bool stk_job_note_failure(struct stk_job *job);

// partial_jobs.c: the profiles that partials among the jobs stand for take their place, in the
// order that paths are put in. `hook` says what each rank keeps; one that partials do not hold
// leaves them as they are, for their reader to refuse. _write writes the jobs as a partial.
// _hand_on takes jobs that were read with stk_partial_hook: it writes what options->partial wants,
// and leaves each rank as `hook` would have.
STK_MUST_CHECK enum stoker_status stk_partials_write(const struct stk_collected *c,
                                                     stoker_write_fn write, void *arg,
                                                     struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_partials_hand_on(struct stk_collected *c,
                                                       const struct stoker_why_options *options,
                                                       const struct stk_view_hook *hook,
                                                       struct stoker_err *err);
// What a rank keeps for the command that `hook` is of, of the two things that partials hold.
void *stk_partial_keep(const struct stk_view_hook *hook, struct stk_partial_kept *kept);
// Options that partials cannot answer are refused.
STK_MUST_CHECK enum stoker_status stk_partials_check(const struct stk_select *select,
                                                     struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_partials_expand(struct stk_collected *c,
                                                      const struct stk_view_hook *hook,
                                                      struct stoker_err *err);

// job_groups.c: which jobs the files are of. Of one job nothing is changed; of several the files
// are put into their order, and what goes with none of them is freed (*count falls).
STK_MUST_CHECK enum stoker_status stk_groups_make(struct stk_job *jobs, size_t *count,
                                                  struct stk_arena *arena, struct stk_groups *out,
                                                  struct stoker_err *err);
// beside.c: profiles of other formats in the folders of those that were taken, read too where they
// are of other jobs; c->jobs grows by them.
STK_MUST_CHECK enum stoker_status stk_beside_read(struct stk_collected *c,
                                                  const struct stoker_why_options *options,
                                                  const struct stk_view_hook *hook,
                                                  struct stoker_err *err);

// runs.c: of jobs found in a directory whose ranks nothing tells, those of the newest run stay; the
// others are freed and *count falls. *note says so, in the arena; NULL where all are one run.
STK_MUST_CHECK enum stoker_status stk_runs_choose(struct stk_job *jobs, size_t *count,
                                                  struct stk_arena *arena, const char **note,
                                                  struct stoker_err *err);
// A record of stoker's own.
bool stk_job_is_record(const struct stk_job *job);
// A record of stoker.data and another profile are of the same time: one run seen twice.
bool stk_runs_same(const struct stk_job *record, const struct stk_job *other);

// machine_choose.c: of the samplers' records the one that goes with the run; sets run->machine.
STK_MUST_CHECK enum stoker_status stk_machine_choose(const struct stk_job *jobs, size_t count,
                                                     struct stk_run_sum *run,
                                                     struct stk_arena *arena,
                                                     struct stoker_err *err);

// All ranks of all jobs: numbered, put on one clock, filtered by the selection; then those
// that appear again in another file. The array lives in `arena`.
STK_MUST_CHECK enum stoker_status
stk_ranks_collect(struct stk_job *jobs, size_t count, const struct stk_select *select,
                  struct stk_arena *arena, struct stk_rank_sum ***ranks, uint32_t *rank_count,
                  uint32_t *again_count, struct stoker_err *err);

// Replace host names, paths and user strings in jobs and their ranks by "host-1", "name-7", ...
STK_MUST_CHECK enum stoker_status stk_redact(struct stk_job *jobs, size_t count,
                                             struct stk_arena *arena, struct stoker_err *err);
// The same for the strings of kept traces, which all show the replaced text from then on, and are
// found by it.
STK_MUST_CHECK enum stoker_status stk_redact_traces(struct stk_job *jobs, size_t count,
                                                    struct stk_arena *arena,
                                                    struct stoker_err *err);
// The same for the names in the tables of documents, which are numbered together.
STK_MUST_CHECK enum stoker_status stk_redact_tables(struct stk_table_doc *docs, size_t count,
                                                    struct stk_arena *arena,
                                                    struct stoker_err *err);

// The same for the names in a comparison; paths and hosts went with the sides.
STK_MUST_CHECK enum stoker_status stk_redact_diff(struct stk_diff *diff, struct stk_arena *arena,
                                                  struct stoker_err *err);

// The same for the names on a critical path.
STK_MUST_CHECK enum stoker_status stk_redact_critical(struct stk_whatif_critical *path,
                                                      struct stk_arena *arena,
                                                      struct stoker_err *err);
