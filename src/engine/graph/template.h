// SPDX-License-Identifier: Apache-2.0
// Templates: the make_dataset operations of a function (op_dataset.c), viewed as the datasets they
// will create.
#pragma once

#include "engine/graph/dataset.h"

// The dataset that a make_dataset with these attributes and input specs stands for, over `in`. Its
// computed arguments are BOUND, each with its own specs.
STK_MUST_CHECK enum stoker_status stk_template_make(struct stk_dataset **out,
                                                    const struct stk_attrs *node_attrs,
                                                    const struct stk_spec *specs, int n_specs,
                                                    struct stk_dataset *const *in,
                                                    const char *where, struct stoker_err *err);
// A stand-in for an input dataset; only the specs of its elements are known.
STK_MUST_CHECK enum stoker_status
stk_template_stand_in(struct stk_dataset **out, struct stk_specs *specs, struct stoker_err *err);
