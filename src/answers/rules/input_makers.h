// SPDX-License-Identifier: Apache-2.0
// Who makes the batches that the step waits for, and what faster batches would take: CPU cores if
// making them is computing; none if it is waiting for replies.
#pragma once

#include "answers/rules/finding.h"

// The rule's thresholds after STK_FROM_DEVICE and STK_FROM_HOST.
enum {
    STK_INPUT_FROM_ONE_FETCH = STK_FROM_HOST + 1,
    STK_INPUT_FROM_ONE_STEPS,
    STK_INPUT_FROM_FEW,
    STK_INPUT_FROM_FEW_STEPS,
    STK_INPUT_FROM_INNER,
    STK_INPUT_FROM_PYTHON,
    STK_INPUT_FROM_SHARED,
    STK_INPUT_FROM_BUSY,
    STK_INPUT_FROM_COLLATE,
    STK_INPUT_FROM_MANY,
    STK_INPUT_FROM_SMALL,
    STK_INPUT_FROM_ASLEEP,
    STK_INPUT_FROM_HANDING,
    STK_INPUT_FROM_OPS,
    STK_INPUT_FROM_FINE,
    STK_INPUT_FROM_TENSOR,
    STK_INPUT_FROM_JAX_CALLS,
    STK_INPUT_FROM_DRAWING
};
extern const struct stk_threshold stk_input_thresholds[]; // ends with name == NULL

// The job's own threads or processes pass on batches.
bool stk_input_is_handed_over(const struct stk_rule_ctx *ctx);
// A DataLoader's workers make them; it has none and makes them itself.
bool stk_input_has_workers(const struct stk_rule_ctx *ctx);
bool stk_input_is_alone(const struct stk_rule_ctx *ctx);
// tf.data calls Python for each element, and that is a large part of the wait.
bool stk_input_python_limits(const struct stk_rule_ctx *ctx);
// The loop waits for the GIL, which Python code that makes elements holds.
bool stk_input_shares_lock(const struct stk_rule_ctx *ctx);
// Most steps create a new tf.data iterator.
bool stk_input_makes_iterators(const struct stk_rule_ctx *ctx);
// The code that prepares a batch mostly waits for a reply (a store, a network), without using a
// core. With several requests at once, it would keep up with the step.
bool stk_input_waits_for_answer(const struct stk_rule_ctx *ctx);
// tf.data's Python functions themselves wait, for a disk or a reply: the job's cores are idle.
bool stk_input_python_waits(const struct stk_rule_ctx *ctx);
// The number of concurrent requests that would keep up; STK_NOT_KNOWN: more than
// STK_INPUT_MOST_REQUESTS.
#define STK_INPUT_MOST_REQUESTS 100
uint64_t stk_input_requests(const struct stk_rule_ctx *ctx);

// Half of the steps create a DataLoader iterator, as next(iter(loader)) does.
bool stk_input_makes_loader_iterators(const struct stk_rule_ctx *ctx);
// A DataLoader without workers fetches, and most of the wait is in the job's own functions that
// process its batches further.
bool stk_input_is_beside_loader(const struct stk_rule_ctx *ctx);
// Most of a fetch is a sampler drawing numbers, in the training process itself.
bool stk_input_is_drawing(const struct stk_rule_ctx *ctx);
// Many short PyTorch operator calls make a batch, sample by sample.
bool stk_input_many_calls(const struct stk_rule_ctx *ctx);
// Making a batch takes longer than passing it on from a worker, tensor by tensor.
bool stk_input_workers_pay(const struct stk_rule_ctx *ctx);

// The job's own functions fill most of the fetch.
bool stk_input_owns_fetch(const struct stk_rule_ctx *ctx);

// The saving and cost of fixing the wait, as evidence and saving. `even`: the wait is spread over
// the steps; `by_pipeline`: tf.data should use more threads.
void stk_input_price(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even,
                     bool by_pipeline);
