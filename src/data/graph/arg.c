// SPDX-License-Identifier: Apache-2.0
// Arguments checked by the rows of what takes them.
#include "data/graph/arg.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"

const char *stk_arg_type_name(enum stk_arg_type type)
{
    static const char *const names[] = {
        [STK_ARG_INT] = "int",       [STK_ARG_BOOL] = "bool",   [STK_ARG_FLOAT] = "float",
        [STK_ARG_TEXT] = "text",     [STK_ARG_DTYPE] = "dtype", [STK_ARG_INTS] = "ints",
        [STK_ARG_FLOATS] = "floats", [STK_ARG_OTHER] = "other"};
    return names[type];
}

static bool has_type(const struct stk_arg_row *row, const struct stk_attr *t)
{
    bool is_number = t->kind == STK_ATTR_INT || (t->kind == STK_ATTR_COLS && t->count == 1);
    bool is_bound = t->kind == STK_ATTR_BOUND;
    switch (row->type) {
    case STK_ARG_INT:
    case STK_ARG_BOOL:
    case STK_ARG_DTYPE:
        return is_number || is_bound;
    case STK_ARG_FLOAT:
        return is_number || t->kind == STK_ATTR_FLOAT || is_bound;
    case STK_ARG_TEXT:
        return t->kind == STK_ATTR_TEXT || t->kind == STK_ATTR_COLS || is_bound;
    case STK_ARG_INTS:
        return is_number || t->kind == STK_ATTR_INTS || is_bound;
    case STK_ARG_FLOATS:
        return is_number || t->kind == STK_ATTR_FLOAT || t->kind == STK_ATTR_FLOATS || is_bound;
    case STK_ARG_OTHER:
        return true;
    }
    return false;
}

static enum stk_status check_row(const char *who, const struct stk_arg_row *row,
                                 const struct stk_attrs *attrs, struct stk_err *err)
{
    const struct stk_attr *t = stk_attrs_get(attrs, row->name);
    if (!t) {
        return row->is_required ? stk_err_set(err, STK_EINVAL, "%s: %s is missing (%s)", who,
                                              row->name, row->help)
                                : STK_OK;
    }
    if (!has_type(row, t)) {
        return stk_err_set(err, STK_EINVAL, "%s: %s has the wrong type (%s)", who, row->name,
                           row->help);
    }
    if (row->type != STK_ARG_INT || t->kind == STK_ATTR_BOUND || row->min >= row->max) {
        return STK_OK;
    }
    int64_t value = stk_attrs_int(attrs, row->name, row->fallback);
    return value >= row->min && value <= row->max
               ? STK_OK
               : stk_err_set(err, STK_EINVAL, "%s: %s is %lld; it must be %lld to %lld (%s)", who,
                             row->name, (long long)value, (long long)row->min, (long long)row->max,
                             row->help);
}

static bool is_known(const struct stk_arg_row *rows, const char *name)
{
    for (const struct stk_arg_row *row = rows; row && row->name; row++) {
        if (strcmp(row->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static enum stk_status unknown(const char *who, const struct stk_arg_row *rows, const char *name,
                               struct stk_err *err)
{
    const char *best = NULL;
    for (const struct stk_arg_row *row = rows; row && row->name; row++) {
        if (stk_near_slip(name, row->name) &&
            (!best || stk_near_distance(name, row->name) < stk_near_distance(name, best))) {
            best = row->name;
        }
    }
    return best ? stk_err_set(err, STK_EINVAL, "%s: no argument '%.60s'; did you mean '%s'?", who,
                              name, best)
                : stk_err_set(err, STK_EINVAL, "%s: no argument '%.60s'", who, name);
}

enum stk_status stk_args_check(const char *who, const struct stk_arg_row *rows, bool takes_more,
                               const struct stk_attrs *attrs, struct stk_err *err)
{
    for (int i = 0; !takes_more && i < stk_attrs_count(attrs); i++) {
        const char *name = stk_attrs_at(attrs, i)->name;
        if (!is_known(rows, name)) {
            return unknown(who, rows, name, err);
        }
    }
    enum stk_status s = STK_OK;
    for (const struct stk_arg_row *row = rows; s == STK_OK && row && row->name; row++) {
        s = check_row(who, row, attrs, err);
    }
    return s;
}
