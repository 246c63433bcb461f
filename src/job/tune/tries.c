// SPDX-License-Identifier: Apache-2.0
// The fixes of tune; see tries.h.
#include "job/tune/tries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "fixes_data.h" // STK_FIX_AT_...

static const struct {
    const struct stk_rep_fix *fix;
    void (*values)(const struct stk_tune_facts *facts, struct stk_tune_values *to);
} rows[] = {
#define X(id) {&stk_fix_rows[STK_FIX_AT_##id], stk_values_##id},
#define V(id) {&stk_fix_rows[STK_FIX_AT_##id], NULL},
#include "job/tune/tries.def"
#undef X
#undef V
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int row_of(const struct stk_rep_fix *fix)
{
    int i = 0;
    while (i < ROWS && rows[i].fix != fix) {
        i++;
    }
    return i;
}

const struct stk_rep_fix *stk_tune_fix(int i)
{
    if (i < ROWS) {
        return rows[i].fix;
    }
    i -= ROWS;
    for (int k = 0; k < stk_fix_row_count; k++) {
        const struct stk_rep_fix *fix = &stk_fix_rows[k];
        if (fix->is_tunes && row_of(fix) == ROWS && i-- == 0) {
            return fix;
        }
    }
    return NULL;
}

// The values in the text, separated by commas; a variable that is already set isn't changed.
static void values_of_text(const struct stk_rep_fix *fix, const struct stk_tune_facts *f,
                           struct stk_tune_values *to)
{
    char name[64], value[STK_TUNE_VALUE];
    const char *rest = fix->values ? fix->values : "";
    size_t n = fix->env ? strcspn(fix->env, "+=") : 0;
    snprintf(name, sizeof name, "%.*s", (int)n, fix->env ? fix->env : "");
    if (fix->needs_gpu && !f->has_gpu) {
        stk_tune_refuse(to, "there is no GPU");
    } else if (n && fix->env[n] == '=' && getenv(name)) {
        stk_tune_refuse(to, "%s is set already", name);
    } else {
        do {
            n = strcspn(rest, ",");
            snprintf(value, sizeof value, "%.*s", (int)n, rest);
            stk_tune_add(to, value);
            rest += n + (rest[n] == ',');
            rest += strspn(rest, " ");
        } while (*rest);
    }
}

void stk_tune_values(const struct stk_rep_fix *fix, const struct stk_tune_facts *facts,
                     struct stk_tune_values *to)
{
    int row = row_of(fix);
    if (row < ROWS && rows[row].values) {
        rows[row].values(facts, to);
    } else {
        values_of_text(fix, facts, to);
    }
}

double stk_tune_saving(const struct stk_rep_fix *fix, const struct stk_tune_facts *facts,
                       double step_s)
{
    return fix == &stk_fix_rows[STK_FIX_AT_process_keep_memory]
               ? stk_saving_process_keep_memory(facts, step_s)
               : -1;
}

enum { ID_MOST = 128 }; // bytes of an id; a longer one is ignored

// Does one id of a list, of n bytes, select the fix?
static bool asks_for(const char *asked, size_t n, const struct stk_rep_fix *fix)
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

bool stk_tune_is_asked(const char *list, const struct stk_rep_fix *fix)
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
    for (int i = 0; stk_tune_fix(i); i++) {
        near = stk_near_best(id, near, stk_tune_fix(i)->id);
    }
    return stk_fix_row_refuse(id, STK_FIX_TRIES, near, err);
}

const struct stk_rep_fix *stk_tune_fix_find(const char *id, struct stoker_err *err)
{
    const char *tries = stk_fix_row_link(id, STK_FIX_TRIES);
    for (int i = 0; stk_tune_fix(i); i++) {
        const struct stk_rep_fix *fix = stk_tune_fix(i);
        if (strcmp(fix->id, id) == 0 || (tries && strcmp(fix->id, tries) == 0)) {
            return fix;
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
        for (int i = 0; stk_tune_fix(i) && !is_one; i++) {
            is_one = asks_for(list, n, stk_tune_fix(i));
        }
        if (!is_one) {
            snprintf(id, sizeof id, "%.*s", (int)(n < sizeof id ? n : sizeof id - 1), list);
            return refuse(id, err);
        }
    }
    return STOKER_OK;
}
