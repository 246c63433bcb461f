// SPDX-License-Identifier: Apache-2.0
// The table of fixes, and what their rows share.
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tune/fix.h"

const struct stk_tune_fix *const stk_tune_fixes[] = {
#define X(name) &stk_tune_fix_##name,
#include "tune/fixes.def"
#undef X
    NULL};

void stk_tune_add(struct stk_tune_values *to, const char *value)
{
    for (int i = 0; i < to->count; i++) {
        if (strcmp(to->at[i], value) == 0) {
            return;
        }
    }
    if (to->count < STK_TUNE_VALUES) {
        snprintf(to->at[to->count++], STK_TUNE_VALUE, "%s", value);
    }
}

void stk_tune_add_number(struct stk_tune_values *to, long number, long least, long most)
{
    char text[24];
    if (number >= least && number <= most) {
        snprintf(text, sizeof text, "%ld", number);
        stk_tune_add(to, text);
    }
}

void stk_tune_refuse(struct stk_tune_values *to, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(to->why, sizeof to->why, fmt, args);
    va_end(args);
    to->count = 0;
}

void stk_tune_add_workers(struct stk_tune_values *to, const struct stk_tune_facts *facts, long now)
{
    enum { MOST = 32 }; // beyond it memory runs out before processors gain
    long all = facts->processors;
    const long tried[] = {all, 2 * all, all / 2};
    for (int i = 0; i < 3; i++) {
        if (tried[i] != now) {
            stk_tune_add_number(to, tried[i], 1, MOST);
        }
    }
}
