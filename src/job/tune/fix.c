// SPDX-License-Identifier: Apache-2.0
// The table of fixes, and what their rows share.
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "fixes/fixes.h"
#include "job/tune/fix.h"

const struct stk_tune_fix *const stk_tune_fixes[] = {
#define X(name) &stk_tune_fix_##name,
#include "job/tune/fixes.def"
#undef X
    NULL};

enum { ID_MOST = 128 }; // bytes of an id; a longer one is none

// Does one id of a list, of n bytes, ask for the fix?
static bool asks_for(const char *asked, size_t n, const struct stk_tune_fix *fix)
{
    char id[ID_MOST];
    if (n == 0 || n >= sizeof id) {
        return false;
    }
    memcpy(id, asked, n);
    id[n] = 0;
    const char *tries = stk_fix_row_link(id, STK_FIX_TRIES);
    return (strncmp(fix->id, id, n) == 0 && (fix->id[n] == 0 || fix->id[n] == '.')) ||
           (tries && strcmp(tries, fix->id) == 0);
}

bool stk_tune_is_asked(const char *list, const struct stk_tune_fix *fix)
{
    bool is = !list;
    for (size_t n; list && *list && !is; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        is = asks_for(list, n, fix);
    }
    return is;
}

static enum stoker_status refuse(const char *id, struct stoker_err *err)
{
    const char *near = NULL;
    for (int i = 0; stk_tune_fixes[i]; i++) {
        near = stk_near_best(id, near, stk_tune_fixes[i]->id);
    }
    return stk_fix_row_refuse(id, STK_FIX_TRIES, near, err);
}

const struct stk_tune_fix *stk_tune_fix_find(const char *id, struct stoker_err *err)
{
    const char *tries = stk_fix_row_link(id, STK_FIX_TRIES);
    for (int i = 0; stk_tune_fixes[i]; i++) {
        if (strcmp(stk_tune_fixes[i]->id, id) == 0 ||
            (tries && strcmp(stk_tune_fixes[i]->id, tries) == 0)) {
            return stk_tune_fixes[i];
        }
    }
    (void)!refuse(id, err);
    return NULL;
}

enum stoker_status stk_tune_check_asked(const char *list, struct stoker_err *err)
{
    for (size_t n; list && *list; list += n + (list[n] == ',')) {
        char id[ID_MOST];
        bool is_one = false;
        n = strcspn(list, ",");
        for (int i = 0; stk_tune_fixes[i] && !is_one; i++) {
            is_one = asks_for(list, n, stk_tune_fixes[i]);
        }
        if (!is_one) {
            snprintf(id, sizeof id, "%.*s", (int)(n < sizeof id ? n : sizeof id - 1), list);
            return refuse(id, err);
        }
    }
    return STOKER_OK;
}

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
