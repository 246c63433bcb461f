// SPDX-License-Identifier: Apache-2.0
// What stoker_export_open read, for everything that writes its events: exports and the bundle.
#pragma once

#include "answers/export/export.h"
#include "api/open.h"
#include "api/query_args.h"
#include "stoker/export.h"

struct stoker_export {
    struct stk_open_run run;
    struct stk_report report;
    struct stk_arena arena;
    struct stk_query_args args;
    struct stk_export x;
    uint64_t bytes;
};

// Selects a rank's processes, with the selected time. Other processes of its file stay unchanged.
void stk_export_run_select(const struct stk_select *select, const struct stk_open_rank *rank,
                           struct stk_export_file *f);
// Writes the selection, and counts it.
STK_MUST_CHECK enum stoker_status stk_export_run_write(struct stoker_export *e,
                                                       const struct stk_exporter *exporter,
                                                       const char *path, stoker_write_fn write,
                                                       void *arg, struct stoker_err *err);
