// SPDX-License-Identifier: Apache-2.0
// Names of stages; see stage_name.h.
#include "engine/run/stage_name.h"

#include <stdio.h>
#include <string.h>

// "tensor_slices" as "TensorSlices".
static size_t add_kind(char *text, size_t used, size_t capacity, const char *kind)
{
    bool is_capital = true;
    for (; *kind && used + 1 < capacity; kind++) {
        if (*kind == '_') {
            is_capital = true;
            continue;
        }
        text[used++] = is_capital && *kind >= 'a' && *kind <= 'z' ? (char)(*kind - 32) : *kind;
        is_capital = false;
    }
    text[used] = 0;
    return used;
}

void stk_stage_name(const struct stk_iter *it, char text[STK_STAGE_NAME])
{
    const struct stk_iter *up[STK_STAGE_DEPTH];
    int n = 0;
    for (; it && n < STK_STAGE_DEPTH; it = it->parent) {
        up[n++] = it;
    }
    size_t used = (size_t)snprintf(text, STK_STAGE_NAME, "Iterator");
    while (n-- > 0 && used + 3 < STK_STAGE_NAME) {
        memcpy(text + used, "::", 3);
        const struct stk_dataset_kind *kind = up[n]->kind;
        used = add_kind(text, used + 2, STK_STAGE_NAME, kind->called ? kind->called : kind->name);
    }
}
