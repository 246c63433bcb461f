// SPDX-License-Identifier: Apache-2.0
// See run_names.h. If there are very many models, the first are named.
#include "answers/passes/run_names.h"

#include <string.h>

#include "base/sort.h"

#define MAX_MODELS 16

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool stk_run_devices(const struct stk_run_sum *run, struct stk_arena *arena, const char **out,
                     uint64_t *count)
{
    const char *models[MAX_MODELS], *text = NULL;
    size_t n = 0;
    *count = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        const struct stk_device_sum *dev = &run->devices[d];
        *count += dev->analysed;
        if (dev->analysed && dev->name && *dev->name && n < MAX_MODELS) {
            models[n++] = dev->name;
        }
    }
    stk_sort(models, n, sizeof *models, by_text);
    for (size_t i = 0; i < n; i++) {
        if (i && strcmp(models[i], models[i - 1]) == 0) {
            continue;
        }
        text = text ? stk_arena_printf(arena, "%s, %s", text, models[i]) : models[i];
        if (!text) {
            return false;
        }
    }
    *out = text;
    return true;
}

bool stk_run_frameworks(const struct stk_run_sum *run, struct stk_arena *arena, const char **out)
{
    uint32_t seen = run->facts.frameworks & ((1u << STK_FW_COUNT) - 1), plain = 1u << STK_FW_CUDA;
    seen = seen & ~plain ? seen & ~plain : seen;
    *out = NULL;
    for (enum stk_framework i = 0; i < STK_FW_COUNT; i++) {
        if (!(seen & (1u << i))) {
            continue;
        }
        *out = *out ? stk_arena_printf(arena, "%s, %s", *out, stk_framework_key(i))
                    : stk_framework_key(i);
        if (!*out) {
            return false;
        }
    }
    return true;
}
