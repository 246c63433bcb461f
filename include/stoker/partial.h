// SPDX-License-Identifier: Apache-2.0
// Partial results: the library of `stoker partial`. What a diagnosis needs of profiles, without
// their events, in a file that merges with others of the same kind.
//
//   const char *profiles[] = {"rank17.pt.trace.json.gz"};
//   stoker_partial(profiles, 1, NULL, write_to_file, file, &e);
//
// The file may then be given to stoker_why and stoker_diff instead of the profile, with any others
// of the same job. Partials are profiles here too: given several, their items are merged. The
// result does not depend on how they were merged, or in which order.
#ifndef STOKER_PARTIAL_H
#define STOKER_PARTIAL_H

#include "stoker/report.h"

#ifdef __cplusplus
extern "C" {
#endif

// Read profiles and partials, and write all of them as one partial. Selections of steps, devices
// or times must not be set (STOKER_EUSAGE): a partial holds everything. options may be NULL.
// Nothing is written before all inputs are read. STOKER_EINPUT: an input that was named cannot be
// read, or is a partial of a stoker that stores them in another layout.
enum stoker_status stoker_partial(const char *const *paths, size_t count,
                                  const struct stoker_why_options *options, stoker_write_fn write,
                                  void *arg, struct stoker_err *err);

// Several processes that read the files of one job, each its share, where one of them reports:
//
//   1. one makes a plan of the paths and gives its bytes to all;
//   2. each reads the files of its share with stoker_plan_read, one at a time;
//   3. what these wrote, joined end to end in any order, is a partial of all; stoker_plan_why makes
//      the report of it, which is that of stoker_why on the same paths.

// Which files there are, and the share of each, below `shares`, by size. options: those of the
// report, NULL for the defaults. STOKER_EUSAGE: standard input, or a selection of stoker_partial's.
enum stoker_status stoker_plan_make(const char *const *paths, size_t count,
                                    const struct stoker_why_options *options, size_t shares,
                                    stoker_write_fn write, void *arg, struct stoker_err *err);
// File k of a share, from 0; its path is valid as long as the plan. NULL: no such file.
const char *stoker_plan_file(const char *plan, size_t size, size_t share, size_t k);
// Reads that file and writes its partial. One that can't be read is no error here: it is named in
// the report. failed: not NULL: it is not read, but named with this reason.
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
