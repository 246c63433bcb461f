// SPDX-License-Identifier: Apache-2.0
// Who makes the batches that the step waits for, and what it would take to have them made faster:
// processors, where the makers compute; none, where they wait for an answer.
#pragma once

#include "answers/rules/finding.h"

// Rows of the rule's thresholds after STK_FROM_DEVICE and STK_FROM_HOST.
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

// Threads or processes of the job's own hand batches over.
bool stk_input_is_handed_over(const struct stk_rule_ctx *ctx);
// Workers of a DataLoader's make them; it has none and makes them itself.
bool stk_input_has_workers(const struct stk_rule_ctx *ctx);
bool stk_input_is_alone(const struct stk_rule_ctx *ctx);
// Python is called for each element of tf.data, and that is a good part of the wait.
bool stk_input_python_limits(const struct stk_rule_ctx *ctx);
// The loop waits for Python's lock, beside Python that makes elements.
bool stk_input_shares_lock(const struct stk_rule_ctx *ctx);
// Most steps make an iterator of tf.data's again.
bool stk_input_makes_iterators(const struct stk_rule_ctx *ctx);
// Whoever prepares a batch waits for an answer most of the time (a store, a network), and keeps no
// processor busy: asked several times at once, it would answer as fast as the step goes on.
bool stk_input_waits_for_answer(const struct stk_rule_ctx *ctx);
// How many requests at once that takes; STK_NOT_KNOWN: more than STK_INPUT_MOST_REQUESTS.
#define STK_INPUT_MOST_REQUESTS 100
uint64_t stk_input_requests(const struct stk_rule_ctx *ctx);

// Half of the steps make an iterator of a DataLoader, as next(iter(loader)) does.
bool stk_input_makes_loader_iterators(const struct stk_rule_ctx *ctx);
// A DataLoader without workers fetches, and the most of the wait is functions of the job's own that
// go on with what it gives.
bool stk_input_is_beside_loader(const struct stk_rule_ctx *ctx);
// Most of a fetch is a sampler's drawing of numbers, which the training process does itself.
bool stk_input_is_drawing(const struct stk_rule_ctx *ctx);
// A batch is made by many short calls of PyTorch's operators, sample by sample.
bool stk_input_many_calls(const struct stk_rule_ctx *ctx);
// Making a batch takes longer than to hand it over from a worker, tensor by tensor.
bool stk_input_workers_pay(const struct stk_rule_ctx *ctx);

// Functions of the job's own, called in the fetch, fill most of it.
bool stk_input_owns_fetch(const struct stk_rule_ctx *ctx);

// What the cure of a step that waits saves, and what it takes, as evidence and saving. `even`: the
// wait is spread over the steps; `by_pipeline`: tf.data is to work on more threads.
void stk_input_price(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even,
                     bool by_pipeline);
