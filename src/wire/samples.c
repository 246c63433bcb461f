// SPDX-License-Identifier: Apache-2.0
// The table of counters; see samples.h.
#include "wire/samples.h"

#include <string.h>

static const struct stk_sample_info infos[] = {
#define X(id, name, scope, cadence, unit, meaning)                                                 \
    {name, unit, meaning, STK_SAMPLE_##scope, STK_SAMPLE_##cadence},
#include "wire/samples.def"
#undef X
};

const struct stk_sample_info *stk_sample_info(enum stk_sampled id)
{
    return &infos[(unsigned)id < STK_SAMPLE_COUNT ? (unsigned)id : 0];
}

enum stk_sampled stk_sample_find(const char *name, size_t n)
{
    for (int i = 0; i < STK_SAMPLE_COUNT; i++) {
        if (strlen(infos[i].name) == n && memcmp(infos[i].name, name, n) == 0) {
            return (enum stk_sampled)i;
        }
    }
    return STK_SAMPLE_COUNT;
}
