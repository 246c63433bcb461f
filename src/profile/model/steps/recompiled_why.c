// SPDX-License-Identifier: Apache-2.0
// Why a function was compiled again: which arguments differ between its compiled programs in the
// profile (JAX: XLA's modules "jit_NAME" next to the calls "PjitFunction(NAME)").
//
// Method: the programs are ordered by name, so those of a function are neighbors; arguments are
// compared by position, type and shape. Limits: functions of one name count as one. Arguments that
// JAX removes because the function doesn't use them are missing, and so are static ones.
#include "base/assert.h"
#include "profile/model/analysis.h"
#include "profile/model/steps/jitted.h"

#define KINDS_MAX 256u // distinct types of one argument

// The distinct types of argument k in programs [first, end).
static uint32_t list_types(const struct stk_trace *t, uint32_t first, uint32_t end, uint32_t k,
                           uint32_t types[KINDS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = first; i < end && count < KINDS_MAX; i++) {
        uint32_t type = t->arguments[t->programs[i].first + k].type, at = 0;
        while (at < count && types[at] != type) {
            at++;
        }
        if (at == count) {
            types[count++] = type;
        }
    }
    return count;
}

// The argument's name, or its position from 0.
static const char *argument_name(struct stk_analysis *a, uint32_t program, uint32_t k)
{
    struct stk_str name =
        stk_strpool_get(&a->t->strings, a->t->arguments[a->t->programs[program].first + k].name);
    return name.n ? stk_arena_strndup(a->out, name.p, name.n)
                  : stk_arena_printf(a->out, "argument %u", k);
}

// Keeps an argument if it is among those with the most types; false: no memory.
static bool keep_changed(struct stk_analysis *a, struct stk_recompiled *r, uint32_t program,
                         uint32_t k, const uint32_t *types, uint32_t type_count)
{
    uint32_t at = 0;
    r->changed_count++;
    while (at < STK_CHANGED && r->changed[at].type_count >= type_count) {
        at++;
    }
    if (at == STK_CHANGED) {
        return true;
    }
    for (uint32_t i = STK_CHANGED - 1; i > at; i--) {
        r->changed[i] = r->changed[i - 1];
    }
    struct stk_changed *c = &r->changed[at];
    *c = (struct stk_changed){.name = argument_name(a, program, k), .type_count = type_count};
    bool ok = c->name != NULL;
    for (uint32_t i = 0; i < type_count && i < STK_CHANGED_TYPES && ok; i++) {
        struct stk_str type = stk_strpool_get(&a->t->strings, types[i]);
        c->types[i] = stk_arena_strndup(a->out, type.p, type.n);
        ok = c->types[i] != NULL;
    }
    return ok;
}

static bool compare(struct stk_analysis *a, struct stk_recompiled *r, uint32_t first, uint32_t end)
{
    const struct stk_program *programs = a->t->programs;
    uint32_t types[KINDS_MAX];
    bool ok = true;
    r->programs = end - first;
    for (uint32_t i = first + 1; i < end; i++) {
        r->takes_differ |= programs[i].count != programs[first].count;
    }
    for (uint32_t k = 0; k < programs[first].count && !r->takes_differ && ok; k++) {
        uint32_t count = list_types(a->t, first, end, k, types);
        ok = count < 2 || keep_changed(a, r, first, k, types, count);
    }
    return ok;
}

bool stk_recompiled_explain(struct stk_analysis *a, struct stk_recompiled *r)
{
    STK_ASSERT(r->name);
    struct stk_str function = stk_jitted_function(stk_str_from(r->name));
    uint32_t first = 0, end = 0;
    if (!function.n) {
        return true;
    }
    r->function = stk_arena_strndup(a->out, function.p, function.n);
    if (!r->function) {
        return false;
    }
    stk_jitted_programs(a->t, function, &first, &end);
    return end - first < 2 || compare(a, r, first, end);
}
