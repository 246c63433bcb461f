// SPDX-License-Identifier: Apache-2.0
// What a kernel's name says about the units it runs on and the numbers it works with.
#pragma once

#include "base/str.h"

enum stk_tensor_core {
    STK_TENSOR_UNKNOWN,  // the name does not say
    STK_TENSOR_NO,       // no matrix product or convolution
    STK_TENSOR_ELIGIBLE, // a matrix product or convolution that runs without them
    STK_TENSOR_YES
};
struct stk_kernel_traits {
    enum stk_tensor_core tensor_core;
    // Of the operands: "fp16", "bf16", "tf32", "fp32", ...; "cast": only a conversion between
    // types; NULL unknown.
    const char *precision;
};
struct stk_kernel_traits stk_kernel_traits_of(struct stk_str name);
bool stk_kernel_is_elementwise(struct stk_str name); // by the libraries' names; not fused ones
bool stk_kernel_changes_layout(
    struct stk_str name); // only changes the layout of a convolution's tensors
const char *stk_tensor_core_key(enum stk_tensor_core value); // "yes", "eligible", "no", "unknown"
