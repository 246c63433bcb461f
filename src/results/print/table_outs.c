// SPDX-License-Identifier: Apache-2.0
// The outputs of table documents, by name.
#include <string.h>

#include "results/print/table_out.h"

static const struct stk_table_out *const outs[] = {
#define X(name) &stk_table_out_##name,
#include "results/print/table_outs.def"
#undef X
};

const char *const stk_table_out_names[] = {
#define X(name) #name,
#include "results/print/table_outs.def"
#undef X
    NULL,
};

const struct stk_table_out *stk_table_out_find(const char *name)
{
    for (size_t i = 0; i < sizeof outs / sizeof outs[0]; i++) {
        if (strcmp(outs[i]->name, name) == 0) {
            return outs[i];
        }
    }
    return NULL;
}
