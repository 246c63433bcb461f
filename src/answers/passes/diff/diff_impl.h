// SPDX-License-Identifier: Apache-2.0
// Shared by the files that compare two results: diff_make.c (the order of work), diff_steps.c
// (samples of step times and their parts), diff_names.c (kernels and operations), diff_comparable.c
// (whether the sides measure the same thing), diff_verdict.c (the answer).
#pragma once

#include "profile/model/spread.h"
#include "answers/passes/diff/diff.h"
#include "answers/passes/sums.h"

struct stk_diff_partial { // kept of each rank
    const struct stk_kernel_sums *kernels;
    const struct stk_op_sums *ops;
};

// A step of a side: the mean over the devices that ran it.
struct stk_diff_sample {
    int64_t number, dur_ns;
    int64_t parts[STK_PART_COUNT]; // sum == dur_ns
};
struct stk_diff_steps {
    struct stk_diff_sample *v; // in order of their numbers
    size_t count;
    uint64_t windows;         // steps times devices
    uint64_t host_steps;      // steps times ranks
    struct stk_sample sample; // if count > 0
};

// The share of time in names that both sides have; -1: a side has no such time.
struct stk_diff_overlap {
    double kernels_least, kernels_most; // of the side with less, and with more
    double ops_most;
};

struct stk_diff_work {
    const struct stk_diff_input *in[2];
    struct stk_diff_steps steps[2];
    struct stk_diff_overlap overlap;
    enum stk_center_kind basis;
    bool force;
    uint64_t limit;
    struct stk_arena *arena;
    struct stk_diff *out;
};
static inline struct stk_diff_side *stk_diff_side_of(struct stk_diff_work *w, int side)
{
    return side ? &w->out->b : &w->out->a;
}

// diff_kept.c: of a rank's rows those with most time, up to a limit. False: no memory.
bool stk_diff_keep(struct stk_kernel_sums *kernels, struct stk_op_sums *ops);
// diff_steps.c. All: false: no memory.
bool stk_diff_steps_take(struct stk_diff_work *w, int side);
void stk_diff_measures_make(struct stk_diff_work *w);
bool stk_diff_parts_make(struct stk_diff_work *w); // by w->basis
bool stk_diff_pairs_make(struct stk_diff_work *w);
// diff_names.c
bool stk_diff_names_make(struct stk_diff_work *w);
// diff_comparable.c
bool stk_diff_facts_make(struct stk_diff_work *w, int side); // device, framework, precision
bool stk_diff_comparable_judge(struct stk_diff_work *w);
// diff_verdict.c: first kind and w->basis, which the parts need; then the words.
void stk_diff_verdict_decide(struct stk_diff_work *w);
bool stk_diff_verdict_word(struct stk_diff_work *w);
