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
    int args;    // non-zero: also every argument of every event, read again from the profile's file
    int csv_raw; // csv, non-zero: no ' before a name that a spreadsheet would take for a formula
    uint64_t reserved[8];
};

// A format. All texts are static.
struct stoker_export_format {
    const char *name;       // "perfetto"
    const char *extension;  // ".pftrace"
    const char *summary;    // one line
    const char *opens_with; // programs that read it
    const char *keeps;
    const char *drops;
    int needs_file; // stoker_export_write takes a path for it instead of a callback
    int is_text;
    int takes_args; // can store arguments
    int has_stacks; // stores the time of each call stack instead of events
    int wants_gzip; // its files are compressed under any name; that is up to the caller
    uint64_t reserved[3];
};
// The format at `index` of their list. Zero: past the end.
int stoker_export_format(size_t index, struct stoker_export_format *out);
// The format of this name. Zero: unknown; the text of err (may be NULL) suggests one.
int stoker_export_find(const char *name, struct stoker_export_format *out, struct stoker_err *err);

// Read the profiles like stoker_why and keep their events in memory. STOKER_ELIMIT: that would take
// more than three quarters of the machine's memory. On success the caller must free *out.
enum stoker_status stoker_export_open(const char *const *paths, size_t count,
                                      const struct stoker_why_options *options,
                                      struct stoker_export **out, struct stoker_err *err);
void stoker_export_free(struct stoker_export *export_); // takes NULL

// Write one format, either through the callback or, for formats that need one, to the file `path`
// (replaced if it exists; incomplete on failure). STOKER_EUSAGE: an unknown format, or one that
// can't hold these profiles. May be called again for another format. options may be NULL.
enum stoker_status stoker_export_write(struct stoker_export *export_, const char *format,
                                       const struct stoker_export_options *options,
                                       const char *path, stoker_write_fn write, void *arg,
                                       struct stoker_err *err);

// What the last write wrote.
struct stoker_export_counts {
    uint64_t events;     // of the profiles
    uint64_t unselected; // left out because they weren't selected
    uint64_t rows_added; // stoker's own: verdict, findings, steps, parts
    uint64_t overlaps;   // events that overlap others in their row without nesting
    uint64_t bytes;      // before any compression; 0 for formats that need a file
    uint64_t dropped;    // events that couldn't be read, see stoker why
    uint64_t stacks;     // formats with stacks: stacks with self time
    uint64_t folded;     // and those merged into the enclosing stack, because there are too many
    uint64_t reserved[6];
};
void stoker_export_counts(const struct stoker_export *export_, struct stoker_export_counts *out);
// Describes the selection; NULL past the end.
const char *stoker_export_selection(const struct stoker_export *export_, size_t index);

// One file for a maintainer, to reproduce a wrong answer: compressed Chrome JSON that stoker reads
// again, with names replaced according to options->redact, and the whole report after its events as
// the member "stoker_bundle". At most max_bytes (0: STOKER_BUNDLE_BYTES): leaves out whole steps
// beyond that. Written by one call of `write`. options and result may be NULL.
#define STOKER_BUNDLE_BYTES 1000000
struct stoker_bundle {
    uint64_t bytes;
    uint64_t events, of_events;
    uint64_t ranks, of_ranks;
    uint64_t steps, of_steps; // steps 0: everything selected, or a part of one step
    uint64_t reserved[4];
};
enum stoker_status stoker_bundle_write(const char *const *paths, size_t count,
                                       const struct stoker_why_options *options, size_t max_bytes,
                                       stoker_write_fn write, void *arg,
                                       struct stoker_bundle *result, struct stoker_err *err);

// The page about formats, in markdown.
enum stoker_status stoker_describe_exports(stoker_write_fn write, void *arg,
                                           struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
