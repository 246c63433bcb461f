// SPDX-License-Identifier: Apache-2.0
// Argument rows for callers: the docs and Python's signatures.
#include <stdio.h>
#include <string.h>

#include "engine/graph/dataset.h"

// The n-th item of a comma-separated list.
static void copy_choice(char *out, size_t size, const char *choices, int64_t n)
{
    while (n-- > 0 && choices) {
        const char *comma = strchr(choices, ',');
        choices = comma ? comma + 1 : NULL;
    }
    snprintf(out, size, "%.*s", choices ? (int)strcspn(choices, ",") : 0, choices ? choices : "");
}

static void put_fallback(const struct stk_arg_row *row, struct stoker_arg_row *out)
{
    char *text = out->fallback;
    size_t size = sizeof out->fallback;
    out->has_fallback = !row->is_required && !row->is_open && !row->is_input_too;
    switch (row->type) {
    case STK_ARG_INT:
        if (row->choices) {
            copy_choice(text, size, row->choices, row->fallback);
        } else {
            snprintf(text, size, "%lld", (long long)row->fallback);
        }
        break;
    case STK_ARG_BOOL:
        snprintf(text, size, "%s", row->fallback ? "true" : "false");
        break;
    case STK_ARG_FLOAT:
        snprintf(text, size, "%g", row->fallback_float);
        break;
    case STK_ARG_TEXT:
        snprintf(text, size, "%s", row->fallback_text ? row->fallback_text : "");
        break;
    case STK_ARG_DTYPE:
        snprintf(text, size, "%s", stk_dtype_name((enum stk_dtype)row->fallback));
        break;
    case STK_ARG_INTS:
    case STK_ARG_FLOATS:
    case STK_ARG_OTHER:
        out->has_fallback = 0;
        break;
    }
    if (!out->has_fallback) {
        text[0] = 0;
    }
}

static int put_row(const struct stk_arg_row *rows, int k, struct stoker_arg_row *out)
{
    for (int i = 0; rows && rows->name && (i < k || rows->is_internal); rows++) {
        i += !rows->is_internal;
    }
    *out = (struct stoker_arg_row){.name = NULL};
    if (!rows || k < 0 || !rows->name) {
        return 0;
    }
    out->name = rows->name;
    out->type = stk_arg_type_name(rows->type);
    out->help = rows->help;
    out->choices = rows->choices;
    out->is_required = rows->is_required;
    out->is_input_too = rows->is_input_too;
    put_fallback(rows, out);
    return 1;
}

int stoker_op_arg(int i, int k, struct stoker_arg_row *out)
{
    const struct stk_op *op = stk_op_at(i);
    return op ? put_row(op->args, k, out) : 0;
}

static const char *const tensorflow[][2] = {
#define X(name) {NULL, NULL},
#define TF(name, names, arguments) {names, arguments},
#include "engine/ops.def"
#undef X
};

int stoker_op_tensorflow(int i, const char **names, const char **arguments, int *is_random)
{
    if (i < 0 || i >= stk_op_count || !tensorflow[i][0]) {
        return 0;
    }
    *names = tensorflow[i][0];
    *arguments = tensorflow[i][1];
    *is_random = stk_op_at(i)->is_random;
    return 1;
}

int stoker_kind_arg(int i, int k, struct stoker_arg_row *out)
{
    bool is_there = i >= 0 && i < stk_dataset_kind_count;
    return is_there ? put_row(stk_dataset_kinds[i]->args, k, out) : 0;
}
