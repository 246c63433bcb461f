// SPDX-License-Identifier: Apache-2.0
// A run's own report as wire records: what each stage did on each thread, the consumer's steps and
// waits, and each stage's counts at the end. Off unless the run was given a file to write.
//
// Stages are named as tf.data names its iterators ("Iterator::Prefetch::Batch::Map"), from the last
// one to the source, so that whoever reads one reads the other. Calls under a microsecond are left
// out and counted, and so is what comes after ten million events.
#ifndef STK_DATA_RECORDER_H
#define STK_DATA_RECORDER_H

#include "data/dataset.h"

struct stk_recorder;

STK_MUST_CHECK enum stk_status stk_recorder_open(struct stk_recorder **out, const char *path,
                                                 struct stk_err *err);
// Each stage's counts, before the tree is closed.
void stk_recorder_sum(struct stk_recorder *r, const struct stk_iter *root);
// After all threads of the run are gone.
STK_MUST_CHECK enum stk_status stk_recorder_close(struct stk_recorder *r, struct stk_err *err);
// The calling thread begins to work for the stage, and ends; calls nest.
void stk_recorder_begin(struct stk_recorder *r, const struct stk_iter *it);
void stk_recorder_end(struct stk_recorder *r);
// The consumer asked for an element at asked_ns and had it at given_ns; the step before lasted from
// the last one until now.
void stk_recorder_step(struct stk_recorder *r, uint64_t asked_ns, uint64_t given_ns);

#endif
