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

// The public level: larger is worse.
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

// One input file: read and summarized; its trace is freed unless it is kept. Everything else is in
// its arena.
struct stk_job {
    const char *path;
    int32_t rank_hint; // from the file's name; -1: none
    bool is_numbered;  // the hint is the order of hosts' names: nothing states the rank
    bool is_found;     // in a directory, not named by the user
    bool is_decoded;   // from a partial: not read again
    const struct stk_partial_packed *packed; // the same, to be written again unchanged; else NULL
    bool is_older;                           // from an older run than the chosen one
    struct stk_arena arena;
    struct stk_trace *trace;      // if traces are kept (see open.h); else NULL
    const struct stk_trace *lent; // already read, owned by another run; NULL: read the file
    struct stk_stream *stream;    // already open, because it can't be opened twice; NULL: not open
    struct stk_input_info info;
    struct stk_rank_sum **ranks;
    uint32_t rank_count;
    struct stk_worker_sum workers; // if the file is a DataLoader worker's recording, which has no
                                   // rank
    struct stk_machine *machine;   // if it is a sampler's recording, which has no rank either; else
                                   // NULL
    enum stoker_status status;
    struct stoker_err err;
};

// The jobs that the files belong to, if there are several (job_groups.c): those of job k are
// jobs[first[k]] to jobs[first[k + 1]].
struct stk_groups {
    size_t count; // 0: all files belong to one job
    size_t *first;
    const char **notes;      // for each: which of several runs was taken; or NULL
    struct stk_list skipped; // struct stk_jobs_skipped: read, but part of none of them
};

// The run that several inputs make up. Starts zeroed with an initialized arena. It must not move:
// pointers into it (pass) would become invalid.
struct stk_collected {
    struct stk_arena arena;
    struct stk_job *jobs;
    size_t job_count;
    struct stk_select select;
    bool has_graphs;     // the ranks kept graphs of their steps (answers/replay/graph.h)
    uint64_t keep_bytes; // keep traces, up to this many bytes together; 0: free them
    // An open run of the same paths, whose traces are reused; NULL: none.
    const struct stk_collected *lender;
    uint32_t lent_wants;    // bits STK_WANT_... that these were read with
    const char *stdin_name; // the name shown for "-"; NULL: "-"
    const char *joined;     // a partial of all inputs, read instead of them; NULL: read them
    bool is_redacted;       // the jobs already are: they are part of another run
    bool takes_jobs;        // several jobs aren't an error: sets `groups` and merges nothing
    struct stk_groups groups;
    struct stk_inputs *inputs; // given and found files
    struct stk_run_sum *run;
    struct stk_verdict verdict;
    struct stk_pass_ctx pass; // everything, for analyses
};
// Reads the inputs and merges them into a run. `hook` (may be NULL) is called for every rank.
STK_MUST_CHECK enum stoker_status stk_collect(struct stk_collected *c, const char *const *paths,
                                              size_t count,
                                              const struct stoker_why_options *options,
                                              const struct stk_view_hook *hook,
                                              struct stoker_err *err);
// Reads the inputs without merging them into a run: sets c->jobs.
STK_MUST_CHECK enum stoker_status stk_collect_items(struct stk_collected *c,
                                                    const char *const *paths, size_t count,
                                                    const struct stoker_why_options *options,
                                                    const struct stk_view_hook *hook,
                                                    struct stoker_err *err);
void stk_collected_free(struct stk_collected *c);
// Finds the inputs without reading them: sets c->inputs, c->jobs and c->select.
STK_MUST_CHECK enum stoker_status stk_collect_find(struct stk_collected *c,
                                                   const char *const *paths, size_t count,
                                                   const struct stoker_why_options *options,
                                                   struct stoker_err *err);

// Job k of several, as a separate run: *part borrows from `c`, has its own arena, and must be freed
// with stk_part_free.
STK_MUST_CHECK enum stoker_status stk_collect_part(struct stk_collected *c, size_t k,
                                                   const struct stoker_why_options *options,
                                                   struct stk_collected *part,
                                                   struct stoker_err *err);
void stk_part_free(struct stk_collected *part);

struct stoker_result {
    struct stk_collected in;
    struct stk_report report;
    struct stk_jobs *jobs;   // with several jobs, instead of the report; else NULL
    enum stoker_level level; // with several jobs: the highest of all findings
};
// jobs_found.c: describes each of several jobs. In the arena of `in`.
STK_MUST_CHECK enum stoker_status stk_jobs_found(struct stoker_result *result,
                                                 const struct stoker_why_options *options,
                                                 struct stoker_err *err);
enum stoker_level stk_report_level(const struct stk_report *report);

// Makes the report of a collected run. In the arena of `in`.
STK_MUST_CHECK enum stoker_status stk_diagnose(const struct stk_collected *in,
                                               const struct stoker_why_options *options,
                                               struct stk_report *report, struct stoker_err *err);

// Tables of an analysis, a query or a search.
struct stoker_tables {
    struct stk_collected in; // for a query, only the arena is used
    struct stk_table_doc doc;
    struct stk_table_doc *every; // all analyses at once, instead of doc; else NULL
    size_t every_count;
    bool has_texts;
    struct stk_strpool texts; // texts of the rows
};

// tables.c: stoker_stats, reusing the traces of an open run of the same paths if they have what the
// analysis needs. lender: NULL reads the files.
STK_MUST_CHECK enum stoker_status
stk_stats_again(const struct stk_collected *lender, uint32_t lent_wants, const char *analysis,
                const char *const *paths, size_t count, const struct stoker_why_options *options,
                struct stoker_tables **out, struct stoker_err *err);

// A caller's bug at an entry point that reads profiles: no paths, a NULL path, or no pointer for
// the result.
STK_MUST_CHECK enum stoker_status stk_entry_paths(const char *entry, const char *const *paths,
                                                  size_t count, const void *out,
                                                  struct stoker_err *err);

// Writes a report in one of the formats; the arguments are stoker_result_write's.
STK_MUST_CHECK enum stoker_status stk_api_report_write(const struct stk_report *report,
                                                       const char *format,
                                                       const struct stoker_write_options *options,
                                                       stoker_write_fn write, void *arg,
                                                       struct stoker_err *err);

// Describes the available estimates, as a part of a page.
void stk_describe_prices(struct stk_sink *sink);

// Writes an object in one of the forms that outs.def lists for its document. `of`, for the error if
// there is no such form: "" or " for comparisons".
STK_MUST_CHECK enum stoker_status stk_api_write(const char *document, const char *of,
                                                const void *object, const char *format,
                                                const struct stoker_write_options *options,
                                                stoker_write_fn write, void *arg,
                                                struct stoker_err *err);

// Limits width, colors and so on; NULL: the defaults.
struct stk_out_options stk_api_out_options(const struct stoker_write_options *options);

// Reads every job, several files at once if there are several cores. Fails if no file could be
// read, memory ran out or the caller interrupted; one failing file among others becomes an issue of
// its job. keep_bytes: as in struct stk_collected; exceeding it fails.
STK_MUST_CHECK enum stoker_status stk_jobs_read(struct stk_job *jobs, size_t count,
                                                const struct stoker_why_options *options,
                                                const struct stk_select *select,
                                                const struct stk_view_hook *hook,
                                                uint64_t keep_bytes, struct stoker_err *err);
void stk_jobs_free(struct stk_job *jobs, size_t count); // takes NULL
void stk_job_free(struct stk_job *job);                 // frees its contents
// Notes job->err as an issue of a failed job. False: no memory.
bool stk_job_note_failure(struct stk_job *job);

// partial_jobs.c: replaces partials among the jobs by the profiles they contain, in path order.
// `hook` says what each rank keeps; partials that lack it stay, and their reader rejects them.
// _write writes the jobs as a partial. _hand_on takes jobs read with stk_partial_hook: it writes
// what options->partial wants, and leaves each rank as `hook` would have.
STK_MUST_CHECK enum stoker_status stk_partials_write(const struct stk_collected *c,
                                                     stoker_write_fn write, void *arg,
                                                     struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_partials_hand_on(struct stk_collected *c,
                                                       const struct stoker_why_options *options,
                                                       const struct stk_view_hook *hook,
                                                       struct stoker_err *err);
// Which of the two things in a partial a rank keeps for the command of `hook`.
void *stk_partial_keep(const struct stk_view_hook *hook, struct stk_partial_kept *kept);
// Rejects options that partials can't answer.
STK_MUST_CHECK enum stoker_status stk_partials_check(const struct stk_select *select,
                                                     struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_partials_expand(struct stk_collected *c,
                                                      const struct stk_view_hook *hook,
                                                      struct stoker_err *err);

// job_groups.c: finds which jobs the files belong to. For one job nothing changes; for several,
// sorts the files by job and frees those that belong to none (*count falls).
STK_MUST_CHECK enum stoker_status stk_groups_make(struct stk_job *jobs, size_t *count,
                                                  struct stk_arena *arena, struct stk_groups *out,
                                                  struct stoker_err *err);
// beside.c: also reads profiles of other formats in the folders of the chosen ones, if they belong
// to other jobs; c->jobs grows by them.
STK_MUST_CHECK enum stoker_status stk_beside_read(struct stk_collected *c,
                                                  const struct stoker_why_options *options,
                                                  const struct stk_view_hook *hook,
                                                  struct stoker_err *err);

// runs.c: of jobs found in a directory that state no rank, keeps those of the newest run and frees
// the others (*count falls). *note reports it, in the arena; NULL if all are one run.
STK_MUST_CHECK enum stoker_status stk_runs_choose(struct stk_job *jobs, size_t *count,
                                                  struct stk_arena *arena, const char **note,
                                                  struct stoker_err *err);
// Is it one of stoker's own recordings?
bool stk_job_is_record(const struct stk_job *job);
// Do a recording of stoker.data and another profile cover the same time: one run recorded twice?
bool stk_runs_same(const struct stk_job *record, const struct stk_job *other);

// machine_choose.c: of the samplers' recordings, picks the one that belongs to the run; sets
// run->machine.
STK_MUST_CHECK enum stoker_status stk_machine_choose(const struct stk_job *jobs, size_t count,
                                                     struct stk_run_sum *run,
                                                     struct stk_arena *arena,
                                                     struct stoker_err *err);

// All ranks of all jobs: numbered, on a common clock, filtered by the selection; then those that
// appear again in another file. The array is in `arena`.
STK_MUST_CHECK enum stoker_status
stk_ranks_collect(struct stk_job *jobs, size_t count, const struct stk_select *select,
                  struct stk_arena *arena, struct stk_rank_sum ***ranks, uint32_t *rank_count,
                  uint32_t *again_count, struct stoker_err *err);

// Replaces host names, paths and user strings in jobs and their ranks by "host-1", "name-7", ...
STK_MUST_CHECK enum stoker_status stk_redact(struct stk_job *jobs, size_t count,
                                             struct stk_arena *arena, struct stoker_err *err);
// The same for strings of kept traces, which from then on show, and are found by, the replaced
// text.
STK_MUST_CHECK enum stoker_status stk_redact_traces(struct stk_job *jobs, size_t count,
                                                    struct stk_arena *arena,
                                                    struct stoker_err *err);
// The same for names in the tables of documents, numbered jointly.
STK_MUST_CHECK enum stoker_status stk_redact_tables(struct stk_table_doc *docs, size_t count,
                                                    struct stk_arena *arena,
                                                    struct stoker_err *err);

// The same for names in a comparison; paths and hosts were replaced in its sides.
STK_MUST_CHECK enum stoker_status stk_redact_diff(struct stk_diff *diff, struct stk_arena *arena,
                                                  struct stoker_err *err);

// The same for names on a critical path.
STK_MUST_CHECK enum stoker_status stk_redact_critical(struct stk_whatif_critical *path,
                                                      struct stk_arena *arena,
                                                      struct stoker_err *err);
