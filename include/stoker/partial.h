// SPDX-License-Identifier: Apache-2.0
// Partial results: the library of `stoker partial`. A partial has what a diagnosis needs of
// profiles, without their events, in a file that can be merged with others.
//
//   const char *profiles[] = {"rank17.pt.trace.json.gz"};
//   stoker_partial(profiles, 1, NULL, write_to_file, file, &e);
//
// The file can be given to stoker_why and stoker_diff instead of the profile, along with others of
// the same job. This function also takes partials: several are merged. The result doesn't depend on
// how they were merged, or in which order.
#ifndef STOKER_PARTIAL_H
#define STOKER_PARTIAL_H

#include "stoker/report.h"

#ifdef __cplusplus
extern "C" {
#endif

// Read profiles and partials, and write all of them as one partial. Steps, devices or times must
// not be selected (STOKER_EUSAGE): a partial holds everything. options may be NULL. Nothing is
// written before all inputs are read. STOKER_EINPUT: a named input can't be read, or is a partial
// in another stoker's layout.
enum stoker_status stoker_partial(const char *const *paths, size_t count,
                                  const struct stoker_why_options *options, stoker_write_fn write,
                                  void *arg, struct stoker_err *err);

// Several processes read a job's files, each its share, and one of them reports:
//
//   1. one makes a plan of the paths and sends its bytes to all;
//   2. each reads the files of its share with stoker_plan_read, one at a time;
//   3. their output, concatenated in any order, is a partial of all; stoker_plan_why makes the
//      report of it, the same as stoker_why's on the same paths.

// Finds the files and splits them into `shares` by size. options: those of the report, NULL for the
// defaults. STOKER_EUSAGE: standard input, or a selection that stoker_partial rejects.
enum stoker_status stoker_plan_make(const char *const *paths, size_t count,
                                    const struct stoker_why_options *options, size_t shares,
                                    stoker_write_fn write, void *arg, struct stoker_err *err);
// The path of file k of a share, from 0; valid as long as the plan. NULL: no such file.
const char *stoker_plan_file(const char *plan, size_t size, size_t share, size_t k);
// Reads that file and writes its partial. If it can't be read, that isn't an error here: the report
// names it. failed: not NULL: doesn't read it, but reports it with this reason.
enum stoker_status stoker_plan_read(const char *plan, size_t size, size_t share, size_t k,
                                    const char *failed, const struct stoker_why_options *options,
                                    stoker_write_fn write, void *arg, struct stoker_err *err);
// The report of the paths, from the file `joined`.
enum stoker_status stoker_plan_why(const char *const *paths, size_t count, const char *joined,
                                   const struct stoker_why_options *options,
                                   struct stoker_result **out, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
