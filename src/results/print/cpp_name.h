// SPDX-License-Identifier: Apache-2.0
// Names of C++ functions, kernels above all, shortened for people: see cpp_name.c.
#pragma once

#define STK_CPP_NAME_MAX 400 // bytes of a shortened name, its end included

// `name` in at most `width` characters, but not less than 12, written to `out`; returns out. Names
// that fit, or are no C++, keep their beginning as it is.
const char *stk_cpp_name_fit(const char *name, int width, char out[STK_CPP_NAME_MAX]);
