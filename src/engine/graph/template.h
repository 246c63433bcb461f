// SPDX-License-Identifier: Apache-2.0
// Templates: the make_dataset operations of a function (op_dataset.c), seen as the datasets that
// they will make.
#pragma once

#include "engine/graph/dataset.h"

// The dataset that a make_dataset with these attributes and inputs' specs stands for, over `in`;
// its computed arguments are BOUND, each with specs of its own.
STK_MUST_CHECK enum stoker_status stk_template_make(struct stk_dataset **out,
                                                    const struct stk_attrs *node_attrs,
                                                    const struct stk_spec *specs, int n_specs,
                                                    struct stk_dataset *const *in,
                                                    const char *where, struct stoker_err *err);
// Stands for an input dataset of which only the elements' specs are known.
STK_MUST_CHECK enum stoker_status
stk_template_stand_in(struct stk_dataset **out, struct stk_specs *specs, struct stoker_err *err);
