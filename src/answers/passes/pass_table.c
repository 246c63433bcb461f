// SPDX-License-Identifier: Apache-2.0
// The table of analyses, in their order of work.
#include "answers/passes/pass.h"

const struct stk_pass *const stk_passes[] = {
#define X(name) &stk_pass_##name,
#include "answers/passes/passes.def"
#undef X
};
const int stk_pass_count = sizeof stk_passes / sizeof stk_passes[0];
