// SPDX-License-Identifier: Apache-2.0
// Pulls an iterator block by block: `next` returns 1 to `want` elements; 0: the end. One thread at
// a time may call it. Stages that run in parallel with their consumer (prefetch, parallel map,
// interleave) own threads, which then pull their inputs.
//
// Errors are elements: a status other than STOKER_OK means that the next element couldn't be made;
// the call after that continues after it (or ends, if the source can't continue). A kind's `next`
// may return a block and a status together: the elements before the bad one.
//
// Resuming. An iterator's state is its seed and how many elements it has returned: `skip` passes
// over elements as cheaply as the kind can, for indexed sources at no cost. If elements had failed,
// cheaply skipped positions and returned ones could differ; so then elements are made again
// (`drop`), and stages below skip what they skipped the first time.
#pragma once

#include "engine/run/iter.h"

STK_MUST_CHECK enum stoker_status stk_iter_next(struct stk_iter *it, int64_t want,
                                                struct stk_block *out, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_iter_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                                struct stoker_err *err);
// The same, using only `next`.
STK_MUST_CHECK enum stoker_status stk_iter_drop(struct stk_iter *it, int64_t n, int64_t *done,
                                                struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_iter_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                              struct stk_block *out, struct stoker_err *err);
// Is it about one element, which may be skipped? Memory, cancellation and bugs aren't.
bool stk_status_is_of_element(enum stoker_status s);
