// SPDX-License-Identifier: Apache-2.0
// PyTorch's optimizers by their class, as records of their steps name it
// ("Optimizer.step#AdamW.step") and functions that loop over tensors ("_single_tensor_adamw").
#pragma once

#include <stdbool.h>

#include "base/str.h"

struct stk_optimizer_kind {
    const char *class; // "AdamW"
    bool has_fused;    // else foreach=True is the only way to fewer calls
};

// The class's name within the name of a record or function; empty: none is named.
struct stk_str stk_optimizer_named(struct stk_str name);
// One of torch.optim's that can update many tensors in a call; NULL: it is not.
const struct stk_optimizer_kind *stk_optimizer_kind_of(struct stk_str class);
