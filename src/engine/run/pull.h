// SPDX-License-Identifier: Apache-2.0
// Pulling an iterator, block by block: `next` gives 1 to `want` elements; 0 is the end. It is
// called by one thread at a time. Stages that run beside their consumer (prefetch, parallel map,
// interleave) own threads; their inputs are then pulled by those.
//
// Errors are elements: a status other than STOKER_OK says that the next element could not be made,
// and the call after that continues after it (or ends, if the source can't continue). A
// kind's `next` may return a block and a status together: the elements before the bad one.
//
// Resuming. The state of an iterator is how many elements it has given (and its seed): `skip`
// passes over elements as cheaply as the kind can, which for indexed sources is no work at all.
// Where elements had failed, positions of what is cheaply passed over and of what was given could
// differ: then they are made again (`drop`), and stages below skip what they skipped the first
// time.
#pragma once

#include "engine/run/iter.h"

STK_MUST_CHECK enum stoker_status stk_iter_next(struct stk_iter *it, int64_t want,
                                                struct stk_block *out, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_iter_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                                struct stoker_err *err);
// The same by `next` alone.
STK_MUST_CHECK enum stoker_status stk_iter_drop(struct stk_iter *it, int64_t n, int64_t *done,
                                                struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_iter_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                              struct stk_block *out, struct stoker_err *err);
// Does it concern one element, which may be left out? Memory, cancellation and bugs do not.
bool stk_status_is_of_element(enum stoker_status s);
