// SPDX-License-Identifier: Apache-2.0
// What each fix saves: the library of `stoker whatif`.
//
//   struct stoker_whatif *w; struct stoker_err e; struct stoker_whatif_options o;
//   stoker_whatif_options_default(&o);
//   o.fixes = "input-free";
//   const char *paths[] = {"trace.json.gz"};
//   if (stoker_whatif(paths, 1, &o, &w, &e) == STOKER_OK) {
//       stoker_whatif_write(w, "json", NULL, write_to_file, file, &e);
//       stoker_whatif_free(w);
//   }
#ifndef STOKER_WHATIF_H
#define STOKER_WHATIF_H

#include "stoker/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stoker_whatif;

struct stoker_whatif_options {
    struct stoker_why_options reading;
    const char *fixes; // "input-free,fuse": all of these together; NULL: each that applies, alone
    int64_t target_ns; // find the fixes that bring a step to this time; 0: off
    int list;          // only list them, no estimates
    int critical;      // only the critical path of the steps, no estimates
    // A profile of the same job with other_times the batch, or NULL: `batch=` then uses both.
    const char *other_batch;
    double other_times;
    int pairs; // if each is estimated alone: also the five best two at a time
    uint64_t reserved[1];
};
// Sets every field to its default; takes NULL.
void stoker_whatif_options_default(struct stoker_whatif_options *options);

// Read the profiles like stoker_why and estimate fixes. A profile that allows no estimate isn't an
// error: stoker_whatif_ok returns 0, and the output says why. STOKER_EUSAGE: an unknown fix (err
// suggests a similar one). On success the caller must free *out.
enum stoker_status stoker_whatif(const char *const *paths, size_t count,
                                 const struct stoker_whatif_options *options,
                                 struct stoker_whatif **out, struct stoker_err *err);
void stoker_whatif_free(struct stoker_whatif *whatif); // takes NULL

// format: a name from stoker_whatif_formats(). options may be NULL.
enum stoker_status stoker_whatif_write(const struct stoker_whatif *whatif, const char *format,
                                       const struct stoker_write_options *options,
                                       stoker_write_fn write, void *arg, struct stoker_err *err);
// NULL-terminated names of the outputs: "text", "json".
const char *const *stoker_whatif_formats(void);

// Does the profile allow estimates?
int stoker_whatif_ok(const struct stoker_whatif *whatif);
// What a fix alone ("input-free") saves; non-zero: it has an estimate.
int stoker_whatif_saving(const struct stoker_whatif *whatif, const char *fix,
                         struct stoker_saving *saving);
// The contract field by field and the available what-ifs, as a markdown page.
enum stoker_status stoker_describe_whatif(stoker_write_fn write, void *arg, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
