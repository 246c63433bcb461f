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

// Bytes out; return non-zero when they cannot be taken (STOKER_EOUTPUT).
typedef int (*stoker_write_fn)(void *arg, const char *bytes, size_t n);

struct stoker_why_options {
    int threads;    // 0: all processors this process may use
    int redact;     // non-zero: remove host names, paths and user strings
    uint64_t limit; // rows of long lists; 0: all. Default 10000
    int has_steps, has_rank, has_device, has_from, has_to; // selections, off by default
    int64_t step_first, step_last;                         // inclusive
    int64_t rank, device;
    int64_t from_ns, to_ns; // since the profile's first event
    // Called now and then while reading, from the calling thread; non-zero interrupts. May be NULL.
    int (*progress)(void *arg, const char *path, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    const char *by; // stoker_stats: the key that sums are by ("scope" of "ops"); NULL: its own
    int as_ranks;   // non-zero: treat the profiles as the ranks of one run
    // What "-" is called, as if it were a file of that name; NULL: "-". Only where partials are
    // taken (stoker/partial.h).
    const char *stdin_name;
    // stoker_why: takes a partial of the profiles, as stoker_partial writes it, from the same
    // reading. NULL: none is made. With selections: STOKER_EUSAGE. The result does not depend on
    // what it returns. Nothing is written where the profiles were partials themselves.
    stoker_write_fn partial;
    void *partial_arg;
    uint64_t reserved[3];
};
// Every field at its default; takes NULL.
void stoker_why_options_default(struct stoker_why_options *options);

// Read the profiles (files, directories, "-" for standard input) and diagnose them: several are the
// ranks of one run. Where they are of several jobs, the result is a list of these
// (stoker_result_jobs): it is written as stoker.jobs/1. On success *out is the caller's to free.
enum stoker_status stoker_why(const char *const *paths, size_t count,
                              const struct stoker_why_options *options, struct stoker_result **out,
                              struct stoker_err *err);
void stoker_result_free(struct stoker_result *result); // takes NULL
// How many jobs the profiles are of.
size_t stoker_result_jobs(const struct stoker_result *result);

struct stoker_write_options {
    int colour;  // text: ANSI colors
    int columns; // text: width, 0 = 80; lines are kept within 40 to 120
    int verbose; // text: 1 more evidence, steps, all rules; -1 the verdict's sentence alone
    int ascii;   // text: no character beyond ASCII
    int csv_raw; // csv: no ' before a cell that a spreadsheet would take for a formula
    int links;   // text: file:line as OSC 8 links, for a terminal; to files below the folder
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
// Verdict kind, for instance "input-bound"; borrowed until the result is freed. Of several jobs
// "several-jobs", or "cannot-tell" where that holds for all of them.
const char *stoker_result_verdict(const struct stoker_result *result);

// The share of a part of the step ("input_wait") in the breakdown; non-zero: it is known.
int stoker_result_share(const struct stoker_result *result, const char *part, double *share);
// What a finding ("input-wait") is worth, as shares of the step.
struct stoker_saving {
    double low_share, expected_share, high_share;
    int has_low, has_expected, has_high;
    uint64_t reserved[2];
};
// Non-zero: the rule of this id found something, and *saving says what it is worth.
int stoker_result_finding(const struct stoker_result *result, const char *id,
                          struct stoker_saving *saving);

// What a rule found. Texts are borrowed until the result is freed.
struct stoker_finding {
    const char *id, *title; // of the rule; what is wrong
    enum stoker_level severity;
    const char *file; // of the program, where the finding has a place; else NULL
    int64_t line;     // there
    uint64_t reserved[4];
};
// The findings in their order. Zero: beyond the last, or the profiles are of several jobs.
int stoker_result_finding_at(const struct stoker_result *result, size_t index,
                             struct stoker_finding *finding);

// One change that a finding advises. Texts are borrowed until the result is freed.
struct stoker_advice {
    const char *fix;             // id, which stoker_explain takes
    const char *finding, *title; // id of the rule, and what is wrong
    struct stoker_saving saving; // of the finding
    const char *file;            // of the program, where the finding has a place; else NULL
    int64_t line;                // there
    uint64_t reserved[4];
};
// The advice of all findings in their order, best first within each. Zero: beyond the last.
int stoker_result_advice(const struct stoker_result *result, size_t index,
                         struct stoker_advice *advice);

// Names of the contracts, "report" first; NULL beyond the last.
const char *stoker_schema_name(size_t index);
// JSON Schema of a contract. STOKER_EUSAGE for an unknown name.
enum stoker_status stoker_schema(const char *name, stoker_write_fn write, void *arg,
                                 struct stoker_err *err);
// Text about one rule or fix, as `stoker explain ID` prints it. STOKER_EUSAGE for an unknown id
// (the text of err suggests near ones). id NULL: a list of all rules. format: "text" or "markdown".
enum stoker_status stoker_explain(const char *id, const char *format, stoker_write_fn write,
                                  void *arg, struct stoker_err *err);
// All fixes that findings may name, a line each; in markdown as stoker_explain has them.
enum stoker_status stoker_describe_fixes(const char *format, stoker_write_fn write, void *arg,
                                         struct stoker_err *err);
// Formats that can be read, as text or markdown (docs page).
enum stoker_status stoker_describe_readers(const char *format, stoker_write_fn write, void *arg,
                                           struct stoker_err *err);
// Ids of the rules in the order of their table; NULL beyond the last.
const char *stoker_rule_id(size_t index);
// Ids of the fixes, sorted; NULL beyond the last.
const char *stoker_fix_id(size_t index);
// A contract field by field as a markdown page. STOKER_EUSAGE for an unknown name.
enum stoker_status stoker_describe_schema(const char *name, stoker_write_fn write, void *arg,
                                          struct stoker_err *err);
// The same of the report.
enum stoker_status stoker_describe_report(stoker_write_fn write, void *arg, struct stoker_err *err);
// The same of several jobs.
enum stoker_status stoker_describe_jobs(stoker_write_fn write, void *arg, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
