// SPDX-License-Identifier: Apache-2.0
// Questions about single events: the library of `stoker query` and `stoker find`.
//
//   struct stoker_why_options o; stoker_why_options_default(&o);
//   struct stoker_profiles *p; struct stoker_tables *t; struct stoker_err e;
//   if (stoker_open(paths, 1, &o, &p, &e) == STOKER_OK) {
//       if (stoker_query(p, "select name, count(*) from kernels group by name", NULL, &t, &e) ==
//           STOKER_OK) {
//           stoker_tables_write(t, "csv", NULL, NULL, write_to_file, file, &e);
//           stoker_tables_free(t);
//       }
//       stoker_close(p);
//   }
#ifndef STOKER_QUERY_H
#define STOKER_QUERY_H

#include "stoker/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

// Profiles whose events stay in memory. For one thread at a time.
struct stoker_profiles;

// Read the profiles like stoker_why and keep their events. Of the selections, the rank decides
// which to keep. STOKER_ELIMIT: they need more than three quarters of the machine's memory. On
// success the caller must close *out, after freeing the tables made from it.
enum stoker_status stoker_open(const char *const *paths, size_t count,
                               const struct stoker_why_options *options,
                               struct stoker_profiles **out, struct stoker_err *err);
void stoker_close(struct stoker_profiles *profiles); // takes NULL
// Writes the report of this reading, like stoker_result_write (stoker/report.h) for stoker_why.
enum stoker_status stoker_profiles_write(const struct stoker_profiles *profiles, const char *format,
                                         const struct stoker_write_options *options,
                                         stoker_write_fn write, void *arg, struct stoker_err *err);
// The tables of an analysis, as from stoker_stats (stoker/stats.h), made from the kept events;
// anything else an analysis needs is read from the files. The caller must free *out.
enum stoker_status stoker_profiles_stats(const struct stoker_profiles *profiles,
                                         const char *analysis, struct stoker_tables **out,
                                         struct stoker_err *err);

struct stoker_query_options {
    uint64_t limit;     // rows to keep, 0: all; others are only counted. Default 10000
    int64_t timeout_ns; // STOKER_ELIMIT beyond; 0: never. Default 60 s
    // Called now and then, on the calling thread; non-zero interrupts. May be NULL.
    int (*interrupted)(void *arg);
    void *interrupted_arg;
    uint64_t reserved[4];
};
// Sets every field to its default; takes NULL.
void stoker_query_options_default(struct stoker_query_options *options);

// One SELECT in SQLite's dialect over the tables that stoker_describe_tables lists. STOKER_EUSAGE:
// invalid SQL; err says where, and suggests a name. options may be NULL.
enum stoker_status stoker_query(struct stoker_profiles *profiles, const char *sql,
                                const struct stoker_query_options *options,
                                struct stoker_tables **out, struct stoker_err *err);

struct stoker_find_options {
    struct stoker_query_options query; // timeout_ns is ignored
    int has_steps, has_device, has_from, has_to;
    int64_t step_first, step_last, device, from_ns, to_ns; // as in struct stoker_why_options
    int64_t min_dur_ns, max_dur_ns;                        // default 0 and INT64_MAX
    const char *track;    // id in the table `tracks`, part of a name, or "thread 7"; NULL: any
    const char *kind;     // a kind of events, for instance "kernel"; NULL: any
    int by_time;          // sort by start; else the longest come first
    int on_critical_path; // only events on the critical path of the replayed steps
    uint64_t reserved[4];
};
// Sets every field to its default; takes NULL.
void stoker_find_options_default(struct stoker_find_options *options);

// Events whose name contains the pattern (ignoring ASCII case), or matches it if written as
// /regular expression/ (PCRE2). "" finds every event. options may be NULL.
enum stoker_status stoker_find(struct stoker_profiles *profiles, const char *pattern,
                               const struct stoker_find_options *options,
                               struct stoker_tables **out, struct stoker_err *err);

// Tables and columns of stoker_query with types, units and meanings, as "text" or "markdown".
enum stoker_status stoker_describe_tables(const char *format, stoker_write_fn write, void *arg,
                                          struct stoker_err *err);
// Kinds of events: "host_op", ...; NULL beyond the last.
const char *stoker_event_kind(size_t index);

#ifdef __cplusplus
}
#endif
#endif
