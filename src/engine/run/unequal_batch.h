// SPDX-License-Identifier: Apache-2.0
// Collects elements of unequal shapes until a batch is full: shared by padded_batch and
// ragged_batch, except how a batch is made. Arguments: batch_size, drop_remainder.
#pragma once

#include "engine/run/held.h"

struct stk_unequal {      // the iterator's state
    struct stk_held held; // elements of the next batch, perhaps more
    int64_t size;
    bool drops_remainder;
};

int64_t stk_unequal_size(const struct stk_dataset *ds);
// Rows of a batch: known if short ones are dropped, else STK_UNKNOWN.
int64_t stk_unequal_rows(const struct stk_dataset *ds);
int64_t stk_unequal_cardinality(const struct stk_dataset *ds);
// The kind's open().
enum stoker_status stk_unequal_open(struct stk_iter *it, struct stoker_err *err);
// The kind's next(). make: turns the first n elements held into a batch in the columns of `out`. An
// error of the input drops the batch it is part of.
STK_MUST_CHECK enum stoker_status
stk_unequal_next(struct stk_iter *it,
                 enum stoker_status (*make)(struct stk_iter *it, int64_t n, struct stk_block *out,
                                            struct stoker_err *err),
                 struct stk_block *out, struct stoker_err *err);
void stk_unequal_close(struct stk_iter *it);
