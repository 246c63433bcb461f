// SPDX-License-Identifier: Apache-2.0
// The table of parts, from parts.def.

#include "base/assert.h"
#include "profile/model/summary.h"

static const struct stk_part_info parts[] = {
#define P(id, key, group, label, phrase, meaning) {key, label, phrase, meaning, STK_GROUP_##group},
#include "profile/model/parts.def"
#undef P
};

const struct stk_part_info *stk_part_info(enum stk_part part)
{
    STK_ASSERT((unsigned)part < STK_PART_COUNT);
    return (unsigned)part < STK_PART_COUNT ? &parts[part] : NULL;
}
