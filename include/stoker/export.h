// SPDX-License-Identifier: Apache-2.0
// Write profiles in other formats: the library of `stoker export`.
//
//   struct stoker_why_options o; stoker_why_options_default(&o);
//   struct stoker_export *x; struct stoker_err e;
//   if (stoker_export_open(paths, 1, &o, &x, &e) == STOKER_OK) {
//       stoker_export_write(x, "perfetto", NULL, NULL, write_to_file, file, &e);
//       stoker_export_free(x);
//   }
#ifndef STOKER_EXPORT_H
#define STOKER_EXPORT_H

#include "stoker/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stoker_export;

struct stoker_export_options {
    int args;    // non-zero: every argument of every event too, read again from the profile's file
    int csv_raw; // csv, non-zero: no ' before a name that a spreadsheet would take for a formula
    uint64_t reserved[8];
};

// What a format is. All texts are static.
struct stoker_export_format {
    const char *name;       // "perfetto"
    const char *extension;  // ".pftrace"
    const char *summary;    // one line
    const char *opens_with; // programs that read it
    const char *keeps;
    const char *drops;
    int needs_file; // stoker_export_write takes a path for it, not a callback
    int is_text;
    int takes_args; // knows a place for arguments
    int has_stacks; // holds the time of each stack of calls instead of events
    int wants_gzip; // its files are compressed under any name; the caller does that
    uint64_t reserved[3];
};
// The format at `index` of their list. Zero: past the end.
int stoker_export_format(size_t index, struct stoker_export_format *out);
// The format of this name. Zero: unknown; the text of err (may be NULL) suggests one.
int stoker_export_find(const char *name, struct stoker_export_format *out, struct stoker_err *err);

// Read the profiles as stoker_why does and keep their events in memory: STOKER_ELIMIT where that is
// more than three quarters of the machine's. On success *out is the caller's to free.
enum stoker_status stoker_export_open(const char *const *paths, size_t count,
                                      const struct stoker_why_options *options,
                                      struct stoker_export **out, struct stoker_err *err);
void stoker_export_free(struct stoker_export *export_); // takes NULL

// Write one format, either through the callback or, for formats that need one, into the file `path`
// (replaced if it is there; left half-written where this fails). STOKER_EUSAGE for an unknown
// format, or one that cannot hold these profiles. May be called again, for another format.
// options may be NULL.
enum stoker_status stoker_export_write(struct stoker_export *export_, const char *format,
                                       const struct stoker_export_options *options,
                                       const char *path, stoker_write_fn write, void *arg,
                                       struct stoker_err *err);

// What the last write wrote.
struct stoker_export_counts {
    uint64_t events;     // of the profiles
    uint64_t unselected; // left out since they were not selected
    uint64_t rows_added; // of stoker's own: verdict, findings, steps, parts
    uint64_t overlaps;   // events that overlap others of their row without nesting
    uint64_t bytes;      // before any compression; 0 for formats that need a file
    uint64_t dropped;    // events that could not be read, see stoker why
    uint64_t stacks;     // of formats that hold stacks: those with time of their own
    uint64_t folded;     // and those that were put to the stack around them, for their number
    uint64_t reserved[6];
};
void stoker_export_counts(const struct stoker_export *export_, struct stoker_export_counts *out);
// Texts of what was selected; NULL beyond the last.
const char *stoker_export_selection(const struct stoker_export *export_, size_t index);

// One file for a maintainer who has to see a wrong answer: Chrome JSON, compressed, that stoker
// reads again, with names replaced as by options->redact, and the whole report after its events as
// the member "stoker_bundle". At most max_bytes (0: STOKER_BUNDLE_BYTES): events beyond are left
// out by whole steps. It is written by one call of `write`. options and result may be NULL.
#define STOKER_BUNDLE_BYTES 1000000
struct stoker_bundle {
    uint64_t bytes;
    uint64_t events, of_events;
    uint64_t ranks, of_ranks;
    uint64_t steps, of_steps; // steps 0: all that was selected, or a part of one step
    uint64_t reserved[4];
};
enum stoker_status stoker_bundle_write(const char *const *paths, size_t count,
                                       const struct stoker_why_options *options, size_t max_bytes,
                                       stoker_write_fn write, void *arg,
                                       struct stoker_bundle *result, struct stoker_err *err);

// The page about formats, as markdown.
enum stoker_status stoker_describe_exports(stoker_write_fn write, void *arg,
                                           struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
