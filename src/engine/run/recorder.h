// SPDX-License-Identifier: Apache-2.0
// Records a run as wire records: what each stage did on each thread, the consumer's steps and
// waits, and each stage's final counts. Off unless the run was given a file to write.
//
// Stages are named like tf.data's iterators ("Iterator::Prefetch::Batch::Map"), from the last one
// to the source, so tools that know one know the other. Calls under a microsecond, and calls after
// ten million events, are left out but counted: their elements go to the stage's next event on that
// thread, and to a final one at the end.
//
// All iterators of a process with the same path share the file (training and evaluation, one epoch
// after the other): their steps follow one another, and the file is complete whenever none of them
// is open. A forked process writes its own file, NAME.PID.stk. The end of each run names the stage
// that limited it: recorder_limit.c.
#pragma once

#include "engine/run/iter.h"

struct stk_recorder;

// is_shared: with other iterators of this process; otherwise it replaces the file.
STK_MUST_CHECK enum stoker_status stk_recorder_open(struct stk_recorder **out, const char *path,
                                                    bool is_shared, struct stoker_err *err);
// Records each stage's counts; call it before the tree is closed.
void stk_recorder_sum(struct stk_recorder *r, struct stk_iter *root);
// Call it after all threads of the run have ended.
STK_MUST_CHECK enum stoker_status stk_recorder_close(struct stk_recorder *r,
                                                     struct stoker_err *err);
// The calling thread starts or ends work for the stage. given: elements returned to the caller.
// Calls nest.
void stk_recorder_begin(struct stk_recorder *r);
void stk_recorder_end(struct stk_recorder *r, const struct stk_iter *it, int64_t given);
// The consumer requested an element at asked_ns and got it at given_ns; the previous step ends now.
// given: elements that arrived; more than one if others are now ready.
void stk_recorder_step(struct stk_recorder *r, uint64_t asked_ns, uint64_t given_ns, int64_t given);
// It asked and there were no more, which ended the previous step.
void stk_recorder_last(struct stk_recorder *r, uint64_t asked_ns);
