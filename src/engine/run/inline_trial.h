// SPDX-License-Identifier: Apache-2.0
// Decides whether a run's stages use threads of their own or run inline, on the consumer's thread.
// It tries both, since no stage's figures show what handing over costs (sleeping, waking, cache
// lines of another core).
// It tries only if the consumer does little but take elements, and only while threads keep fewer
// than STK_TRIAL_CORES cores busy: inline can't win against more. A trial takes a few looks of 10
// ms, and is won by less time, or by as much and less of the processors; each that fails doubles
// the time until the next one. Inline ends at the next look (100 ms) where the consumer has work of
// its own, which threads would run beside, or where the thread waits for something else than a
// processor or for memory; and within a second where it turns out to be slower than threads were.
//
// Limits: all stages of a run are inline, or none.
#pragma once

#include <stdbool.h>

#define STK_TRIAL_CORES 1.8

enum stk_trial_mode { STK_TRIAL_THREADS, STK_TRIAL_TRYING, STK_TRIAL_INLINE };

struct stk_trial { // all zero: threads
    enum stk_trial_mode mode;
    int looks;           // in this mode
    int wait, last_wait; // looks before the next trial; the same after the last one that failed
    double threads_ns, threads_cpu_ns; // an element took with threads; 0: not known
    double ns, cpu_ns, elements;       // of this trial, or since inline was last compared
};

struct stk_trial_look { // since the last one
    double ns, elements;
    double away;     // share in which the consumer was outside of the pipeline
    double cores;    // processors that the process kept busy
    bool is_allowed; // there are stages that can be inline, and none waits for something else
};

// Whether stages are to be inline from now on.
bool stk_trial_step(struct stk_trial *t, const struct stk_trial_look *look);
