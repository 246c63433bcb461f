// SPDX-License-Identifier: Apache-2.0
// An output prints a document: a report for people, a table as CSV. To add one: a file that ends in
// its descriptor `const struct stk_out stk_out_<document>_<output>`, and one row in outs.def.
#pragma once

#include "results/report.h"
#include "base/sink.h"

struct stk_out_options {
    bool colour;       // ANSI colors; they never carry a meaning alone
    bool ascii;        // no character beyond ASCII
    bool links;        // OSC 8: files below the current folder become links
    bool csv_raw;      // CSV cells are unchanged, even if a spreadsheet would run them as formulas
    int columns;       // width to fill, at least 40
    int verbosity;     // -1: only the verdict; 0; 1: more evidence, steps, every rule
    const char *table; // in a table document, the table to print; NULL: all, or the first one
};

struct stk_out {
    // `object`: struct stk_report, stk_jobs, stk_table_doc, stk_diff, stk_whatif. Failures of the
    // sink are remembered in it; the caller finishes it.
    void (*write)(const void *object, const struct stk_out_options *options, struct stk_sink *sink);
    // Documents of one run together; NULL: not supported.
    void (*write_list)(const void *objects, size_t count, const struct stk_out_options *options,
                       struct stk_sink *sink);
};
const struct stk_out *stk_out_find(const char *document, const char *output); // NULL: none
const char *const *stk_out_names(const char *document);                       // ends with NULL
