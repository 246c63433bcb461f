// SPDX-License-Identifier: Apache-2.0
// Attributes that make the compiler check each call of a function.
#pragma once

#define STK_MUST_CHECK __attribute__((warn_unused_result))
#define STK_PRINTF(f, a) __attribute__((format(printf, f, a)))
