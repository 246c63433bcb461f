// SPDX-License-Identifier: Apache-2.0
// The classes of a name (profile/store/names.h) as words after its replacement.
#pragma once

#include "profile/store/names.h"

#define STK_NAME_REPLACED "name-" // before the number of a replaced name
enum { STK_NAME_SAID_MAX = 512 };

// " [fetch, prepares]", or nothing for no class. Returns its length.
size_t stk_name_say(uint32_t bits, char buffer[STK_NAME_SAID_MAX]);
bool stk_name_says(struct stk_str name, uint32_t *bits);

// Whether stk_name_says must be called: hardly any name ends like this.
static inline bool stk_name_may_say(struct stk_str name)
{
    return name.n > sizeof STK_NAME_REPLACED && name.p[name.n - 1] == ']' &&
           stk_str_starts(name, STK_STR(STK_NAME_REPLACED));
}
