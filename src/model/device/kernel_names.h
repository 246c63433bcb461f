// SPDX-License-Identifier: Apache-2.0
// What a kernel's name says about the units it runs on and the numbers it works with.
#ifndef STK_MODEL_KERNEL_NAMES_H
#define STK_MODEL_KERNEL_NAMES_H

#include "base/str.h"

enum stk_tensor_core {
    STK_TENSOR_UNKNOWN,  // the name does not say
    STK_TENSOR_NO,       // no matrix product or convolution
    STK_TENSOR_ELIGIBLE, // a matrix product or convolution that runs without them
    STK_TENSOR_YES
};
struct stk_kernel_traits {
    enum stk_tensor_core tensor_core;
    const char *precision; // of the operands: "fp16", "bf16", "tf32", "fp32", ...; NULL unknown
};
struct stk_kernel_traits stk_kernel_traits_of(struct stk_str name);
const char *stk_tensor_core_key(enum stk_tensor_core value); // "yes", "eligible", "no", "unknown"

#endif
