// SPDX-License-Identifier: Apache-2.0
// An analysis answers one question. To add one: a file passes/<name>.c that ends in its descriptor
// `const struct stk_pass stk_pass_<name>`, and one line X(<name>) in passes.def.
#pragma once

#include "profile/model/summary.h"
#include "profile/model/verdict/verdict.h"
#include "results/report.h"

// Facts of one input file, kept after its trace is freed.
struct stk_input_info {
    const char *path, *format, *producer;
    uint64_t bytes;
    uint64_t read, dropped, by_kind[STK_KIND_COUNT];
    struct stk_issue issues[STK_ISSUE_COUNT];
    const char *issue_notes[STK_ISSUE_COUNT]; // text of each issue's note, or NULL
    int64_t ranks[64];
    uint32_t rank_count;
    int64_t base_ns;
};

struct stk_pass_ctx {
    const struct stk_input_info *inputs;
    uint32_t input_count;
    const struct stk_run_sum *run;
    const struct stk_verdict *verdict;
    const struct stk_select *select;
    uint64_t limit; // rows of long lists, 0 = all
    struct stk_arena *arena;
};

struct stk_pass {
    const char *name;     // "breakdown"
    const char *question; // "Where does each step's time go?"
    // Fills this analysis's part of the report.
    STK_MUST_CHECK enum stoker_status (*describe)(const struct stk_pass_ctx *ctx,
                                                  struct stk_report *report,
                                                  struct stoker_err *err);
};

#define X(name) extern const struct stk_pass stk_pass_##name;
#include "answers/passes/passes.def"
#undef X
extern const struct stk_pass *const stk_passes[];
extern const int stk_pass_count;
