// SPDX-License-Identifier: Apache-2.0
// Between the engine and its public header: tensors as columns of one element, and back.
#pragma once

#include "engine/graph/dataset.h"
#include "stoker/data.h"

struct stk_data_hold { // contents of a tensor of strings or datasets
    struct stk_buf *data;
    struct stk_keep *keep;
};

// The engine's iterator of a public one.
struct stk_iter *stk_data_root(struct stoker_iterator *it);
void stk_data_spec_out(struct stoker_spec *to, const struct stk_spec *from);
// Are type and rank valid?
bool stk_data_spec_is_one(const struct stoker_spec *s);
void stk_data_spec_in(struct stk_spec *to, const struct stoker_spec *from);
// The engine's calls into the embedding language. *host stays owned by the caller.
void stk_data_host_open(struct stk_host *host, struct stoker_host *caller);
// Element i of the column, held by the tensor.
void stk_data_tensor_out(struct stoker_tensor *to, const struct stk_col *c, int64_t i);
// A column of one element over the tensor's memory, which is borrowed.
bool stk_data_tensor_view(struct stk_col *to, const struct stoker_tensor *from);
// STOKER_EINVAL: an argument that only rewrites may set, of the operation (`name`) or of the
// dataset kind it makes; says which.
STK_MUST_CHECK enum stoker_status
stk_data_check_given(const char *name, const struct stk_attrs *attrs, struct stoker_err *err);
