// SPDX-License-Identifier: Apache-2.0
// The values of thresholds.def.
#include "profile/model/thresholds.h"

#include "base/assert.h"

double stk_threshold_value(enum stk_threshold_id id)
{
    STK_ASSERT((unsigned)id < STK_T_COUNT);
    static const double values[] = {
#define T(name, value, unit, reason) value,
#include "profile/model/thresholds.def"
#undef T
    };
    return values[id];
}
