// SPDX-License-Identifier: Apache-2.0
// Functions that return a dataset for each element (flat_map, interleave, group_by_window), and
// datasets over elements in memory (windows).
#pragma once

#include "engine/run/feed.h"

struct stk_nest {
    struct stk_frame *frame;
    struct stk_feed made; // a block of one component: datasets
    struct stk_feed in;   // elements of the input
    int64_t index;        // index of the next element at the input
};

// Element specs of the datasets that the function returns. NULL: it returns no dataset.
struct stk_specs *stk_nest_specs(const struct stk_dataset *ds, struct stk_fn *fn,
                                 struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_nest_open(struct stk_nest *n, struct stk_iter *it,
                                                struct stk_fn *fn, struct stoker_err *err);
void stk_nest_close(struct stk_nest *n);
// An iterator over the dataset for the next element of input 0; NULL: the end. is_concurrent:
// others are open at the same time.
STK_MUST_CHECK enum stoker_status stk_nest_next(struct stk_nest *n, struct stk_iter *it,
                                                bool is_concurrent, struct stk_iter **inner,
                                                struct stoker_err *err);
// A dataset whose elements are the block's columns first .. first + count - 1.
STK_MUST_CHECK enum stoker_status stk_dataset_of_block(struct stk_dataset **out,
                                                       const struct stk_block *b, int first,
                                                       int count, struct stk_specs *specs,
                                                       struct stoker_err *err);
