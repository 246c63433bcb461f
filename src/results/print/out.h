// SPDX-License-Identifier: Apache-2.0
// An output prints a report. To add one: a file render/out_<name>.c that ends in its descriptor
// `const struct stk_out stk_out_<name>`, and one line X(<name>) in outs.def. Help, completion and
// the docs take the name from that row.
#ifndef STK_OUT_OUT_H
#define STK_OUT_OUT_H

#include "results/report.h"
#include "base/sink.h"

struct stk_out_options {
    bool colour;   // ANSI colours; never the only carrier of a meaning
    bool ascii;    // no character beyond ASCII
    bool csv_raw;  // CSV has cells as they are, whatever a spreadsheet makes of them
    int columns;   // width to fill, at least 40
    int verbosity; // -1: the verdict alone; 0; 1: more evidence, steps, every rule
};

struct stk_out {
    const char *name, *summary;
    // Failures of the sink are remembered in it; the caller finishes it.
    void (*write)(const struct stk_report *report, const struct stk_out_options *options,
                  struct stk_sink *sink);
};

#define X(name) extern const struct stk_out stk_out_##name;
#include "results/print/outs.def"
#undef X
extern const struct stk_out *const stk_outs[];
extern const char *const stk_out_names[]; // ends with NULL
extern const int stk_out_count;
const struct stk_out *stk_out_find(const char *name); // NULL: none

#endif
