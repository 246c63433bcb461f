// SPDX-License-Identifier: Apache-2.0
// Calls of JAX's compiled functions, and their programs in the profile. Limits: functions of one
// name count as one; a program is matched to a call by its function's name.
#include "profile/model/steps/jitted.h"

#include <string.h>

enum { MODULE_MAX = 512 }; // bytes of a name; longer ones belong to no program

struct stk_str stk_jitted_function(struct stk_str call)
{
    static const char head[] = "PjitFunction(";
    const size_t n = sizeof head - 1;
    if (call.n <= n + 1 || memcmp(call.p, head, n) != 0 || call.p[call.n - 1] != ')') {
        return STK_STR("");
    }
    return (struct stk_str){call.p + n, call.n - n - 1};
}

// The name of a function's module in JAX: "<lambda>" becomes "jit__lambda_". STK_STRPOOL_FAILED:
// the profile has no such name.
static uint32_t module_of(const struct stk_trace *t, struct stk_str function)
{
    char name[MODULE_MAX] = "jit_";
    size_t n = strlen(name);
    if (function.n > sizeof name - n) {
        return STK_STRPOOL_FAILED;
    }
    for (size_t i = 0; i < function.n; i++) {
        char c = function.p[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '-';
        name[n++] = is_word ? c : '_';
    }
    return stk_strpool_find(&t->strings, name, n);
}

// Where the programs of a name begin, or would begin: they are sorted by name id.
static uint32_t lower_bound(const struct stk_trace *t, uint64_t name)
{
    uint32_t low = 0, high = t->program_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->programs[middle].name < name) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void stk_jitted_programs(const struct stk_trace *t, struct stk_str function, uint32_t *first,
                         uint32_t *end)
{
    uint32_t name = module_of(t, function);
    *first = lower_bound(t, name);
    *end = name == STK_STRPOOL_FAILED ? *first : lower_bound(t, (uint64_t)name + 1);
}

bool stk_jitted_differentiates(const struct stk_trace *t, struct stk_str call)
{
    struct stk_str function = stk_jitted_function(call);
    uint32_t first = 0, end = 0;
    if (!function.n) {
        return false;
    }
    stk_jitted_programs(t, function, &first, &end);
    bool all = first < end;
    for (uint32_t i = first; i < end; i++) {
        all &= t->programs[i].differentiates;
    }
    return all;
}
