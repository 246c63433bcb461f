// SPDX-License-Identifier: Apache-2.0
// A run's own report as wire records: what each stage did on each thread, the consumer's steps and
// waits, and each stage's counts at the end. Off unless the run was given a file to write.
//
// Stages are named as tf.data names its iterators ("Iterator::Prefetch::Batch::Map"), from the last
// one to the source, so that readers of one also find the other. Calls under a microsecond are left
// out and counted, and so is what comes after ten million events; the elements that they gave are
// those of the stage's next event on that thread, and of one more at the end.
//
// All iterators of a process that share a path share the file (training and evaluation, one epoch
// after the other): their consumers' steps follow one another, and the file is whole whenever none
// of them is open. A process forked from it writes a file of its own, NAME.PID.stk. The end of
// each run names the stage that limited it: recorder_limit.c.
#pragma once

#include "engine/run/iter.h"

struct stk_recorder;

// is_shared: with the other iterators of this process; otherwise the file is replaced.
STK_MUST_CHECK enum stoker_status stk_recorder_open(struct stk_recorder **out, const char *path,
                                                    bool is_shared, struct stoker_err *err);
// Each stage's counts, before the tree is closed.
void stk_recorder_sum(struct stk_recorder *r, struct stk_iter *root);
// After all threads of the run are gone.
STK_MUST_CHECK enum stoker_status stk_recorder_close(struct stk_recorder *r,
                                                     struct stoker_err *err);
// The calling thread begins to work for the stage, and ends, having given so many elements to who
// called; calls nest.
void stk_recorder_begin(struct stk_recorder *r);
void stk_recorder_end(struct stk_recorder *r, const struct stk_iter *it, int64_t given);
// The consumer asked for an element at asked_ns and had it at given_ns; the step before lasted from
// the last one until now. given: elements that came, more than one where others are at hand now.
void stk_recorder_step(struct stk_recorder *r, uint64_t asked_ns, uint64_t given_ns, int64_t given);
// It asked, and there was no more: the step before ended then.
void stk_recorder_last(struct stk_recorder *r, uint64_t asked_ns);
