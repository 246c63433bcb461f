// SPDX-License-Identifier: Apache-2.0
// Shared by the outputs of a comparison for people: its lines and figures as text.
#pragma once

#include "results/print/figure.h"
#include "results/print/out.h"
#include "results/diff.h"

// Outputs for people show kernels and operations that changed by less than this share of the step
// only with --verbose.
#define STK_DIFF_SHOWN_FROM 0.001

// One line of the table of causes, as text.
struct stk_diff_line {
    char label[48], a[STK_HUMAN_MAX], b[STK_HUMAN_MAX], change[STK_HUMAN_MAX], share[STK_HUMAN_MAX];
    bool is_part; // of the line of the step
    bool is_noise;
};
#define STK_DIFF_LINES 24
// The step, its parts that are not 0 on both sides, the further measures; returns how many.
size_t stk_diff_lines(const struct stk_diff *diff, struct stk_diff_line *out);
// "+12%", "-0.4%", "0%".
void stk_diff_share_text(double share, char *out);
// "+1.20 ms", "-3 us", "0".
void stk_diff_ns_text(int64_t ns, char *out);
// How many of the rows are worth showing.
size_t stk_diff_names_shown(const struct stk_list *names, const struct stk_out_options *options);
