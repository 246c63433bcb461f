// SPDX-License-Identifier: Apache-2.0
// The outputs of prices by name.
#include <string.h>

#include "results/print/whatif_out.h"

#define X(name) extern const struct stk_whatif_out stk_whatif_out_##name;
#include "results/print/whatif_outs.def"
#undef X

static const struct stk_whatif_out *const outs[] = {
#define X(name) &stk_whatif_out_##name,
#include "results/print/whatif_outs.def"
#undef X
};

const char *const stk_whatif_out_names[] = {
#define X(name) #name,
#include "results/print/whatif_outs.def"
#undef X
    NULL,
};

const struct stk_whatif_out *stk_whatif_out_find(const char *name)
{
    for (size_t i = 0; i < sizeof outs / sizeof outs[0]; i++) {
        if (strcmp(outs[i]->name, name) == 0) {
            return outs[i];
        }
    }
    return NULL;
}
