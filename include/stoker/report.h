// SPDX-License-Identifier: Apache-2.0
// Diagnose profiles and print the result: the library behind `stoker why`.
//
//   struct stoker_why_options o; stoker_why_options_default(&o);
//   struct stoker_result *r; struct stoker_err e;
//   const char *paths[] = {"trace.json.gz"};
//   if (stoker_why(paths, 1, &o, &r, &e) == STOKER_OK) {
//       stoker_result_write(r, "json", NULL, write_to_file, file, &e);
//       stoker_result_free(r);
//   }
#ifndef STOKER_REPORT_H
#define STOKER_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "stoker/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stoker_result;

// Takes output bytes; returns non-zero if it can't (STOKER_EOUTPUT).
typedef int (*stoker_write_fn)(void *arg, const char *bytes, size_t n);

struct stoker_why_options {
    int threads;    // 0: all cores this process may use
    int redact;     // non-zero: remove host names, paths and user strings
    uint64_t limit; // rows of long lists; 0: all. Default 10000
    int has_steps, has_rank, has_device, has_from, has_to; // selections, off by default
    int64_t step_first, step_last;                         // inclusive
    int64_t rank, device;
    int64_t from_ns, to_ns; // since the profile's first event
    // Called now and then while reading, on the calling thread; non-zero interrupts. May be NULL.
    int (*progress)(void *arg, const char *path, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    const char *by; // stoker_stats: the key to group sums by ("scope" of "ops"); NULL: the default
    int as_ranks;   // non-zero: treat the profiles as the ranks of one run
    // A file name to show for "-"; NULL: "-". Only for functions that take partials
    // (stoker/partial.h).
    const char *stdin_name;
    // stoker_why: receives a partial of the profiles, as stoker_partial writes it, from the same
    // reading. NULL: makes none. With selections: STOKER_EUSAGE. The result doesn't depend on what
    // it returns. Not called if the profiles were partials themselves.
    stoker_write_fn partial;
    void *partial_arg;
    uint64_t reserved[3];
};
// Sets every field to its default; takes NULL.
void stoker_why_options_default(struct stoker_why_options *options);

// Read the profiles (files, directories, "-" for standard input) and diagnose them: several are the
// ranks of one run. If they belong to several jobs, the result is a list of jobs
// (stoker_result_jobs), written as stoker.jobs/1. On success the caller must free *out.
enum stoker_status stoker_why(const char *const *paths, size_t count,
                              const struct stoker_why_options *options, struct stoker_result **out,
                              struct stoker_err *err);
void stoker_result_free(struct stoker_result *result); // takes NULL
// How many jobs the profiles belong to.
size_t stoker_result_jobs(const struct stoker_result *result);

struct stoker_write_options {
    int colour;  // text: ANSI colors
    int columns; // text: width, 0 = 80; lines are kept within 40 to 120
    int verbose; // text: 1 more evidence, steps, all rules; -1 only the verdict's sentence
    int ascii;   // text: only ASCII
    int csv_raw; // csv: no ' before a cell that a spreadsheet would take for a formula
    int links;   // text: file:line as OSC 8 links, for a terminal; to files in the current folder
                 // or below
    uint64_t reserved[3];
};
// format: a name from stoker_formats(). options may be NULL.
enum stoker_status stoker_result_write(const struct stoker_result *result, const char *format,
                                       const struct stoker_write_options *options,
                                       stoker_write_fn write, void *arg, struct stoker_err *err);
// NULL-terminated names of the outputs: "text", "json".
const char *const *stoker_formats(void);

enum stoker_level {
    STOKER_LEVEL_NONE,
    STOKER_LEVEL_INFO,
    STOKER_LEVEL_LOW,
    STOKER_LEVEL_MEDIUM,
    STOKER_LEVEL_HIGH
};
// Highest severity among the findings, of all jobs.
enum stoker_level stoker_result_level(const struct stoker_result *result);
// Verdict kind, for instance "input-bound"; borrowed until the result is freed. For several jobs
// "several-jobs", or "cannot-tell" if that is every job's verdict.
const char *stoker_result_verdict(const struct stoker_result *result);

// A part's share of the step ("input_wait") in the breakdown; non-zero: it is known.
int stoker_result_share(const struct stoker_result *result, const char *part, double *share);
// What fixing a finding ("input-wait") saves, as shares of the step.
struct stoker_saving {
    double low_share, expected_share, high_share;
    int has_low, has_expected, has_high;
    uint64_t reserved[2];
};
// Non-zero: the rule with this id has a finding, and *saving says what fixing it saves.
int stoker_result_finding(const struct stoker_result *result, const char *id,
                          struct stoker_saving *saving);

// What a rule found. Texts are borrowed until the result is freed.
struct stoker_finding {
    const char *id, *title; // of the rule; what is wrong
    enum stoker_level severity;
    const char *file; // in the program, if the finding has a place; else NULL
    int64_t line;     // there
    uint64_t reserved[4];
};
// The findings in order. Zero: past the end, or the profiles belong to several jobs.
int stoker_result_finding_at(const struct stoker_result *result, size_t index,
                             struct stoker_finding *finding);

// A change that a finding advises. Texts are borrowed until the result is freed.
struct stoker_advice {
    const char *fix;             // id, for stoker_explain
    const char *finding, *title; // the rule's id, and what is wrong
    struct stoker_saving saving; // of the finding
    const char *file;            // in the program, if the finding has a place; else NULL
    int64_t line;                // there
    uint64_t reserved[4];
};
// The advice of all findings in order, best first within each. Zero: past the end.
int stoker_result_advice(const struct stoker_result *result, size_t index,
                         struct stoker_advice *advice);

// Names of the contracts, "report" first; NULL past the end.
const char *stoker_schema_name(size_t index);
// JSON Schema of a contract. STOKER_EUSAGE for an unknown name.
enum stoker_status stoker_schema(const char *name, stoker_write_fn write, void *arg,
                                 struct stoker_err *err);
// Text about one rule or fix, like `stoker explain ID`. STOKER_EUSAGE: an unknown id (err suggests
// similar ones). id NULL: a list of all rules. format: "text" or "markdown".
enum stoker_status stoker_explain(const char *id, const char *format, stoker_write_fn write,
                                  void *arg, struct stoker_err *err);
// All fixes that findings may name, one per line; in markdown like stoker_explain.
enum stoker_status stoker_describe_fixes(const char *format, stoker_write_fn write, void *arg,
                                         struct stoker_err *err);
// Supported formats, as text or markdown (docs page).
enum stoker_status stoker_describe_readers(const char *format, stoker_write_fn write, void *arg,
                                           struct stoker_err *err);
// Ids of the rules in table order; NULL past the end.
const char *stoker_rule_id(size_t index);
// Ids of the fixes, sorted; NULL past the end.
const char *stoker_fix_id(size_t index);
// A contract field by field as a markdown page. STOKER_EUSAGE for an unknown name.
enum stoker_status stoker_describe_schema(const char *name, stoker_write_fn write, void *arg,
                                          struct stoker_err *err);
// The same for the report.
enum stoker_status stoker_describe_report(stoker_write_fn write, void *arg, struct stoker_err *err);
// The same for several jobs.
enum stoker_status stoker_describe_jobs(stoker_write_fn write, void *arg, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
