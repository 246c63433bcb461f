// SPDX-License-Identifier: Apache-2.0
// Tables that answer one question each: the library of `stoker stats`.
//
//   struct stoker_why_options o; stoker_why_options_default(&o);
//   struct stoker_tables *t; struct stoker_err e;
//   if (stoker_stats("kernels", paths, 1, &o, &t, &e) == STOKER_OK) {
//       stoker_tables_write(t, "csv", NULL, NULL, write_to_file, file, &e);
//       stoker_tables_free(t);
//   }
#ifndef STOKER_STATS_H
#define STOKER_STATS_H

#include "stoker/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stoker_tables;

// Analyses in list order, and the question that each answers; NULL past the end.
const char *stoker_analysis_name(size_t index);
const char *stoker_analysis_question(size_t index);
const char *stoker_analysis_needs(size_t index); // what a profile must have for it

// Describes an analysis (NULL: all of them): its tables with each column's type and meaning, the
// figures of its summary, and what a profile may lack. format: "text", "markdown". STOKER_EUSAGE:
// an unknown analysis or format.
enum stoker_status stoker_describe_stats(const char *analysis, const char *format,
                                         stoker_write_fn write, void *arg, struct stoker_err *err);

// Read the profiles like stoker_why and run one analysis, or all ("all") on one reading.
// STOKER_EUSAGE: an unknown one (err suggests similar ones). On success the caller must free *out.
enum stoker_status stoker_stats(const char *analysis, const char *const *paths, size_t count,
                                const struct stoker_why_options *options,
                                struct stoker_tables **out, struct stoker_err *err);
void stoker_tables_free(struct stoker_tables *tables); // takes NULL

// NULL-terminated names of the outputs: "text", "json", "csv".
const char *const *stoker_table_formats(void);
// table: id of the one to print; NULL: all (in csv, which prints one, the first). options may be
// NULL. STOKER_EUSAGE: an unknown format or table. With "all", text prints the first table of each
// analysis, json an array of their documents; csv and a table id are STOKER_EUSAGE.
enum stoker_status stoker_tables_write(const struct stoker_tables *tables, const char *format,
                                       const char *table,
                                       const struct stoker_write_options *options,
                                       stoker_write_fn write, void *arg, struct stoker_err *err);
// Non-zero: the profile lacks what the question needs; the tables say what.
int stoker_tables_inconclusive(const struct stoker_tables *tables);
// The contract of tables as a markdown page.
enum stoker_status stoker_describe_table(stoker_write_fn write, void *arg, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
