// SPDX-License-Identifier: Apache-2.0
// Taken prices (taken.h): a few tens of them.
#include "answers/replay/taken.h"

#include <string.h>

const struct stk_taken_price *stk_taken_find(const struct stk_taken *t, const char *text)
{
    for (uint32_t i = 0; i < t->price_count; i++) {
        if (strcmp(t->prices[i].text, text) == 0) {
            return &t->prices[i];
        }
    }
    return NULL;
}
