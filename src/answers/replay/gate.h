// SPDX-License-Identifier: Apache-2.0
// Whether a rank's graph supports predictions, and how well. A replay of the unchanged graph must
// give the recorded time, but that proves little: the amount of unexplained waiting matters as
// much.
#pragma once

#include "answers/replay/replay.h"

// The least and the most cost of recording, relative to the assumed one. Operations recorded by
// PyTorch's profiler cost 1.3 to 5 us each in measurements.
#define STK_PROFILER_LEAST 0.4
#define STK_PROFILER_MOST 1.7
#define STK_PROFILER_MOST_TORCH 2.6
// The largest assumed share of recording in a step.
#define STK_PROFILER_SHARE_MOST 0.9

struct stk_gate {
    bool ok;
    bool has_figures, has_transplant;
    double replay_error, worst_error; // of a used step, as shares
    double unexplained;               // unexplained waiting, of the steps' time
    double contended;                 // the same, while other streams run
    double start_error;               // median of |replayed - recorded start|, of a step
    double inferred;                  // of the edges between streams
    double unlinked;                  // device work without a launch call
    double spread;                    // deviation of the steps' times over their mean
    double mean_error;                // of the mean of the steps, by their spread
    double transplant_error;          // median over pairs of steps
    double profiler;                  // of the measured step: profiling overhead; set by the
                                      // pricing
    double profiler_most;             // the same, at most
    double measured_ns, replayed_ns;  // means of the used steps; of several ranks their sums
    double slowest_ns;                // the measured one of the slowest rank
    const char *why[6];               // reasons against predictions; then remarks
    int why_count;
};
// False: no memory. If the graph can't be replayed, the gate is closed.
bool stk_gate_check(const struct stk_graph *g, struct stk_gate *out);

// Does this much device work without a launch call close the gate?
bool stk_gate_is_unlinked(uint64_t unlinked, uint64_t ops);
// If a replayed and a reported step differ by this ratio or more, they aren't the same step.
#define STK_STEP_APART 1.5

// Lower median, 0 without values; reorders the values.
double stk_gate_median(double *v, size_t n);
