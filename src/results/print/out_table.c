// SPDX-License-Identifier: Apache-2.0
// The table of outputs.
#include "results/print/out.h"

#include <string.h>

const struct stk_out *const stk_outs[] = {
#define X(name) &stk_out_##name,
#include "results/print/outs.def"
#undef X
};
const int stk_out_count = sizeof stk_outs / sizeof stk_outs[0];

const char *const stk_out_names[] = {
#define X(name) #name,
#include "results/print/outs.def"
#undef X
    NULL,
};

const struct stk_out *stk_out_find(const char *name)
{
    for (int i = 0; i < stk_out_count; i++) {
        if (strcmp(stk_outs[i]->name, name) == 0) {
            return stk_outs[i];
        }
    }
    return NULL;
}
