// SPDX-License-Identifier: Apache-2.0
// Compare two results: the library of `stoker diff`.
//
//   struct stoker_diff *d; struct stoker_err e;
//   const char *a[] = {"before.json.gz"}, *b[] = {"after.json.gz"};
//   if (stoker_diff(a, 1, b, 1, NULL, &d, &e) == STOKER_OK) {
//       stoker_diff_write(d, "markdown", NULL, write_to_file, file, &e);
//       stoker_diff_free(d);
//   }
#ifndef STOKER_DIFF_H
#define STOKER_DIFF_H

#include "stoker/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stoker_diff;

struct stoker_diff_options {
    struct stoker_why_options reading; // selections apply to both sides
    int has_steps[2];                  // steps of one side, overriding reading's
    int64_t step_first[2], step_last[2];
    int force; // compares even what isn't comparable
    uint64_t reserved[4];
};
// Sets every field to its default; takes NULL.
void stoker_diff_options_default(struct stoker_diff_options *options);

// Read both sides like stoker_why (several files are the ranks of one run) and compare them.
// Incomparable sides aren't an error: the verdict is "inconclusive" and says why. options may be
// NULL. On success the caller must free *out.
enum stoker_status stoker_diff(const char *const *a, size_t a_count, const char *const *b,
                               size_t b_count, const struct stoker_diff_options *options,
                               struct stoker_diff **out, struct stoker_err *err);
void stoker_diff_free(struct stoker_diff *diff); // takes NULL

// format: a name from stoker_diff_formats(). options may be NULL.
enum stoker_status stoker_diff_write(const struct stoker_diff *diff, const char *format,
                                     const struct stoker_write_options *options,
                                     stoker_write_fn write, void *arg, struct stoker_err *err);
// NULL-terminated names of the outputs: "text", "json", "markdown".
const char *const *stoker_diff_formats(void);

// "faster", "slower", "equivalent" or "inconclusive".
const char *stoker_diff_verdict(const struct stoker_diff *diff);
// B / A - 1 of the step time, as the verdict measures it; 0 if nothing was compared.
double stoker_diff_change(const struct stoker_diff *diff);
// Severity of a slowdown; STOKER_LEVEL_NONE if none.
enum stoker_level stoker_diff_level(const struct stoker_diff *diff);
// The part ("input_wait"), other than computing, that takes most of A's step; NULL: none, or
// nothing was compared. Borrowed until the comparison is freed.
const char *stoker_diff_cause(const struct stoker_diff *diff);
// The part that improved most in B (sign -1), or got worse most (sign 1); NULL: none.
const char *stoker_diff_moved(const struct stoker_diff *diff, int sign);
// A part's time per step on either side. Non-zero: it was compared. a_ns and b_ns may be NULL.
int stoker_diff_part(const struct stoker_diff *diff, const char *part, int64_t *a_ns,
                     int64_t *b_ns);
// The contract field by field as a markdown page.
enum stoker_status stoker_describe_diff(stoker_write_fn write, void *arg, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
