// SPDX-License-Identifier: Apache-2.0
// What the image and arithmetic rewrites share: creating and extending a chain of operations
// (ops/op_image_chain.c).
#pragma once

#include "engine/image/image_steps.h"
#include "engine/rewrites/rewrite.h"

// The start of a longer chain: attributes to change, inputs, and where random bits come from.
struct stk_chain {
    struct stk_attrs *attrs; // NULL: no chain
    int in[2 + STK_IMAGE_STEPS_MAX], n_in;
    bool is_image, is_random;
    uint64_t salt;
    int stage;
};

// Starts from the operation that makes the value: a chain or a resize. False: no memory.
bool stk_chain_begin(const struct stk_refn *r, int value, struct stk_chain *c);
bool stk_chain_add_step(struct stk_attrs *a, enum stk_image_step_kind kind, const float *constants,
                        int count, bool *has_capacity);
// Replaces r->node by the chain, and drops its attributes.
STK_MUST_CHECK enum stoker_status stk_chain_end(struct stk_refn *r, struct stk_chain *c,
                                                int *result, struct stoker_err *err);
// Can a chain start with this resize: float results of a static size?
bool stk_chain_resizes(const struct stk_refn *r, const struct stk_fn_node *resize, int image);
