// SPDX-License-Identifier: Apache-2.0
// Shared by the functions for values; see values.h.
#include "job/tune/values.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
