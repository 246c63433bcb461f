// SPDX-License-Identifier: Apache-2.0
// Checks arguments against the rows of the operation or kind that takes them.
#include "engine/graph/arg.h"

#include <string.h>

#include "base/assert.h"
#include "base/alloc.h"
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

// Which of the row's choices the text is; -1: none.
static int64_t choice_of(const struct stk_arg_row *row, const char *text)
{
    size_t n = strlen(text);
    const char *at = row->choices;
    STK_ASSERT(at);
    for (int64_t k = 0; at; k++) {
        const char *end = strchr(at, ',');
        if ((end ? (size_t)(end - at) : strlen(at)) == n && memcmp(at, text, n) == 0) {
            return k;
        }
        at = end ? end + 1 : NULL;
    }
    return -1;
}

static enum stoker_status no_choice(const char *who, const struct stk_arg_row *row,
                                    const char *text, struct stoker_err *err)
{
    char list[300];
    size_t n = 0;
    for (const char *p = row->choices; *p && n + 3 < sizeof list; p++) {
        list[n++] = *p;
        if (*p == ',') {
            list[n++] = ' ';
        }
    }
    list[n] = 0;
    return stk_err_set(err, STOKER_EINVAL, "%s: %s is '%.60s' but must be %s%s", who, row->name,
                       text, row->choices[0] == ',' ? "empty" : "one of ", list);
}

// The type must exist and be one of the row's choices.
static enum stoker_status check_dtype(const char *who, const struct stk_arg_row *row, int64_t value,
                                      struct stoker_err *err)
{
    if (value < 0 || value >= STK_DT_COUNT) {
        return stk_err_set(err, STOKER_EINVAL, "%s: %s is %lld, which is not a type (%s)", who,
                           row->name, (long long)value, row->help);
    }
    const char *name = stk_dtype_name((enum stk_dtype)value);
    return row->choices && choice_of(row, name) < 0 ? no_choice(who, row, name, err) : STOKER_OK;
}

static enum stoker_status check_row(const char *who, const struct stk_arg_row *row,
                                    const struct stk_attrs *attrs, struct stoker_err *err)
{
    const struct stk_attr *t = stk_attrs_get(attrs, row->name);
    if (!t) {
        return row->is_required ? stk_err_set(err, STOKER_EINVAL, "%s: %s is missing (%s)", who,
                                              row->name, row->help)
                                : STOKER_OK;
    }
    bool is_computed = t->kind == STK_ATTR_BOUND || t->kind == STK_ATTR_COLS;
    if (!has_type(row, t) || (row->is_internal && is_computed)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: %s has the wrong type (%s)", who, row->name,
                           row->help);
    }
    if (row->type == STK_ARG_TEXT && row->choices && t->kind == STK_ATTR_TEXT &&
        choice_of(row, t->text) < 0) {
        return no_choice(who, row, t->text, err);
    }
    int64_t value = stk_attrs_int(attrs, row->name, row->fallback);
    if (row->type == STK_ARG_DTYPE && t->kind != STK_ATTR_BOUND) {
        return check_dtype(who, row, value, err);
    }
    if (row->type != STK_ARG_INT || t->kind == STK_ATTR_BOUND || row->min >= row->max) {
        return STOKER_OK;
    }
    return value >= row->min && value <= row->max
               ? STOKER_OK
               : stk_err_set(err, STOKER_EINVAL, "%s: %s is %lld but must be %lld to %lld (%s)",
                             who, row->name, (long long)value, (long long)row->min,
                             (long long)row->max, row->help);
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

static void find_nearest(const struct stk_arg_row *rows, const char *name, const char **best)
{
    for (const struct stk_arg_row *row = rows; row && row->name; row++) {
        if (!row->is_internal && stk_near_slip(name, row->name) &&
            (!*best || stk_near_distance(name, row->name) < stk_near_distance(name, *best))) {
            *best = row->name;
        }
    }
}

enum stoker_status stk_args_check_names(const char *who, const struct stk_arg_row *rows,
                                        const struct stk_arg_row *common,
                                        const struct stk_attrs *attrs, struct stoker_err *err)
{
    for (int i = 0; i < stk_attrs_count(attrs); i++) {
        const char *name = stk_attrs_at(attrs, i)->name, *best = NULL;
        if (is_known(rows, name) || is_known(common, name)) {
            continue;
        }
        find_nearest(rows, name, &best);
        find_nearest(common, name, &best);
        return stk_err_set(err, STOKER_EINVAL, "%s: no argument '%.60s'%s%s%s", who, name,
                           best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
    }
    return STOKER_OK;
}

enum stoker_status stk_args_check_given(const char *who, const struct stk_arg_row *rows,
                                        const struct stk_attrs *attrs, struct stoker_err *err)
{
    for (const struct stk_arg_row *row = rows; row && row->name; row++) {
        if (row->is_internal && stk_attrs_get(attrs, row->name)) {
            return stk_err_set(err, STOKER_EINVAL, "%s: no argument '%s'", who, row->name);
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_args_check(const char *who, const struct stk_arg_row *rows,
                                  const struct stk_attrs *attrs, struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    for (const struct stk_arg_row *row = rows; s == STOKER_OK && row && row->name; row++) {
        s = check_row(who, row, attrs, err);
    }
    return s;
}

struct stk_arg_value *stk_args_resolve(const struct stk_arg_row *rows,
                                       const struct stk_attrs *attrs)
{
    size_t n = 0;
    while (rows && rows[n].name) {
        n++;
    }
    struct stk_arg_value *values = stk_alloc_zero(n + 1, sizeof values[0]);
    for (size_t k = 0; values && k < n; k++) {
        STK_ASSERT(!rows[k].is_required || (!rows[k].is_open && !rows[k].is_input_too));
        STK_ASSERT(rows[k].help && *rows[k].help);
        const char *name = rows[k].name, *text = rows[k].fallback_text;
        values[k] =
            (struct stk_arg_value){.attr = stk_attrs_get(attrs, name),
                                   .i = stk_attrs_int(attrs, name, rows[k].fallback),
                                   .f = stk_attrs_float(attrs, name, rows[k].fallback_float),
                                   .text = stk_attrs_text(attrs, name, text ? text : "")};
        if (rows[k].type == STK_ARG_TEXT && rows[k].choices) {
            values[k].i = choice_of(&rows[k], values[k].text);
        }
    }
    return values;
}
