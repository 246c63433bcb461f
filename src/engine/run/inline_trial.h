// SPDX-License-Identifier: Apache-2.0
// Decides whether a run's stages use their own threads or run inline, on the consumer's thread. It
// tries both, since no stage's figures show what handing over costs (sleeping, waking, cache lines
// of another core).
// It tries only if the consumer does little but take elements, and only while threads keep fewer
// than STK_TRIAL_CORES cores busy: inline can't win against more. A trial takes a few looks of 10
// ms. Inline wins if it takes less time, or the same time and less CPU; each failed trial doubles
// the time until the next one. Inline ends at the next look (100 ms) if the consumer has work of
// its own, which threads would overlap, or if the thread waits for anything but a core or memory.
// It ends within a second if it turns out slower than threads.
//
// Limits: all stages of a run are inline, or none.
#pragma once

#include <stdbool.h>

#define STK_TRIAL_CORES 1.8

enum stk_trial_mode { STK_TRIAL_THREADS, STK_TRIAL_TRYING, STK_TRIAL_INLINE };

struct stk_trial { // all zero: threads
    enum stk_trial_mode mode;
    int looks;           // in this mode
    int wait, last_wait; // looks before the next trial; the same after the last failed one
    double threads_ns, threads_cpu_ns; // per element with threads; 0: unknown
    double ns, cpu_ns, elements;       // of this trial, or since the last comparison
};

struct stk_trial_look { // since the last look
    double ns, elements;
    double away;     // share of time the consumer spent outside the pipeline
    double cores;    // cores that the process kept busy
    bool is_allowed; // a stage can be inline, and none waits for something other than a core
};

// Should stages be inline from now on?
bool stk_trial_step(struct stk_trial *t, const struct stk_trial_look *look);
