// SPDX-License-Identifier: Apache-2.0
// Names of C++ functions, mostly kernels, shortened for people: see cpp_name.c.
#pragma once

#define STK_CPP_NAME_MAX 400 // bytes of a shortened name, its end included

// `name` in at most `width` characters (12 or more), written to `out`; returns out. Names that fit,
// or aren't C++, keep their beginning.
const char *stk_cpp_name_fit(const char *name, int width, char out[STK_CPP_NAME_MAX]);
