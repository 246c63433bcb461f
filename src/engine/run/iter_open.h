// SPDX-License-Identifier: Apache-2.0
// Opens, exchanges and closes trees of iterators.
#pragma once

#include "engine/run/iter.h"

// A root. path and epoch: 0 for a run's first.
STK_MUST_CHECK enum stoker_status stk_iter_open(struct stk_iter **out, struct stk_dataset *ds,
                                                struct stk_run *run, uint64_t path, uint64_t epoch,
                                                struct stoker_err *err);
// Input i of a stage that opens its inputs itself.
STK_MUST_CHECK enum stoker_status stk_iter_open_input(struct stk_iter **out, struct stk_iter *it,
                                                      int i, uint64_t epoch,
                                                      struct stoker_err *err);
// The number-th dataset that the function of `it` returned. is_concurrent: others are open at the
// same time.
STK_MUST_CHECK enum stoker_status stk_iter_open_given(struct stk_iter **out, struct stk_iter *it,
                                                      struct stk_dataset *ds, uint64_t number,
                                                      bool is_concurrent, struct stoker_err *err);
void stk_iter_close(struct stk_iter *it); // takes NULL
// Closes one that joined the aggregate of `it`, which keeps its counts. Takes NULL.
void stk_iter_close_concurrent(struct stk_iter *it, struct stk_iter *inner);
// Replaces input i by `fresh`; closes the old one, which may be NULL, and adds its counts to the
// new one.
void stk_iter_exchange(struct stk_iter *it, int i, struct stk_iter *fresh);
