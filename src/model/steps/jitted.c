// SPDX-License-Identifier: Apache-2.0
// Calls of JAX's compiled functions, and the programs of them that the profile holds.
// Limits: functions of one name are one; a program belongs to a call by its function's name.
#include "model/steps/jitted.h"

#include <string.h>

struct stk_str stk_jitted_function(struct stk_str call)
{
    static const char head[] = "PjitFunction(";
    const size_t n = sizeof head - 1;
    if (call.n <= n + 1 || memcmp(call.p, head, n) != 0 || call.p[call.n - 1] != ')') {
        return STK_STR("");
    }
    return (struct stk_str){call.p + n, call.n - n - 1};
}

// Is this the module that JAX makes of the function? "<lambda>" becomes "jit__lambda_".
static bool is_module_of(struct stk_str module, struct stk_str function)
{
    static const char head[] = "jit_";
    const size_t n = sizeof head - 1;
    if (module.n != function.n + n || memcmp(module.p, head, n) != 0) {
        return false;
    }
    for (size_t i = 0; i < function.n; i++) {
        char c = function.p[i], m = module.p[n + i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '-';
        if (m != (is_word ? c : '_')) {
            return false;
        }
    }
    return true;
}

void stk_jitted_programs(const struct stk_trace *t, struct stk_str function, uint32_t *first,
                         uint32_t *end)
{
    for (*first = *end = 0; *first < t->program_count; *first = *end) {
        uint32_t name = t->programs[*first].name;
        while (*end < t->program_count && t->programs[*end].name == name) {
            (*end)++;
        }
        if (is_module_of(stk_strpool_get(&t->strings, name), function)) {
            return;
        }
    }
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
