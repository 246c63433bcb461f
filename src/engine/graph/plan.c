// SPDX-License-Identifier: Apache-2.0
// The plan as text: one line for each stage, the last one first, its inputs below it; then its
// function's operations ("|") and its rewrites ("*").
#include "engine/graph/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { LINE_MAX_BYTES = 1200, ARGS_MAX = 600, SPEC_MAX = 400, OPS_SHOWN = 60, DEPTH_MAX = 200 };
enum { FN_DEPTH_MAX = 4 }; // functions within functions

struct line {
    char text[LINE_MAX_BYTES];
    size_t n;
};

static void add(struct line *l, const char *fmt, ...) STK_PRINTF(2, 3);
static void add(struct line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = stk_text_vprintf(l->text + l->n, sizeof l->text - l->n, fmt, args);
    va_end(args);
    size_t capacity = sizeof l->text - 2 - l->n;
    l->n += n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
}

static bool end_line(struct stk_rewrite_log *out, struct line *l)
{
    l->text[l->n++] = '\n';
    l->text[l->n] = '\0';
    return stk_rewrite_append(out, l->text);
}

static void add_spec(struct line *l, const struct stk_spec *s)
{
    char shape[STK_SHAPE_TEXT];
    add(l, "%s %s", stk_dtype_name(s->dtype), stk_shape_text(&s->shape, shape));
}

static void add_specs(struct line *l, const struct stk_specs *s)
{
    size_t most = l->n + SPEC_MAX;
    for (int i = 0; s && i < s->count; i++) {
        add(l, "%s", i ? ", " : "");
        if (l->n > most) {
            add(l, "... %d more", s->count - i);
            return;
        }
        add_spec(l, &s->items[i]);
    }
}

static const struct stk_arg_row *row_of(const struct stk_arg_row *rows, const char *name)
{
    while (rows && rows->name && strcmp(rows->name, name) != 0) {
        rows++;
    }
    return rows && rows->name ? rows : NULL;
}

// row: the argument's; NULL: added by a rewrite.
static void add_value(struct line *l, const struct stk_attr *t, const struct stk_arg_row *row)
{
    bool is_type = row && row->type == STK_ARG_DTYPE;
    if (t->kind == STK_ATTR_INT && is_type && t->i >= 0 && t->i < STK_DT_COUNT) {
        add(l, "%s=%s", t->name, stk_dtype_name((enum stk_dtype)t->i));
    } else if (t->kind == STK_ATTR_INT && t->i == -1 && row && row->is_tunable) {
        add(l, "%s=AUTOTUNE", t->name);
    } else if (t->kind == STK_ATTR_INT) {
        add(l, "%s=%" PRId64, t->name, t->i);
    } else if (t->kind == STK_ATTR_FLOAT) {
        add(l, "%s=%g", t->name, t->f);
    } else {
        add(l, "%s='%.80s'", t->name, t->text);
    }
}

// Prints what the user wrote, numbers and texts; functions and tensors have lines of their own.
static void add_args(struct line *l, const struct stk_dataset *ds)
{
    const struct stk_attrs *a = ds->attrs;
    size_t most = l->n + ARGS_MAX;
    bool is_first = true;
    add(l, "(");
    for (int i = 0; i < stk_attrs_count(a) && l->n < most; i++) {
        const struct stk_attr *t = stk_attrs_at(a, i);
        bool is_shown =
            (t->kind == STK_ATTR_INT || t->kind == STK_ATTR_FLOAT || t->kind == STK_ATTR_TEXT) &&
            strcmp(t->name, "id") != 0 && strcmp(t->name, "keeps_paths") != 0;
        if (is_shown) {
            add(l, "%s", is_first ? "" : ", ");
            add_value(l, t, row_of(ds->kind->args, t->name));
            is_first = false;
        }
    }
    add(l, ")");
}

static bool write_fn(struct stk_rewrite_log *out, const struct stk_fn *fn, int indent, int depth);

// The functions of a dataset that the operation creates, or of a branch.
static bool write_inner_fns(struct stk_rewrite_log *out, const struct stk_fn_node *node, int indent,
                            int depth)
{
    bool ok = true;
    for (int i = 0; ok && depth < FN_DEPTH_MAX && i < stk_attrs_count(node->attrs); i++) {
        const struct stk_attr *t = stk_attrs_at(node->attrs, i);
        ok = t->kind != STK_ATTR_FN || write_fn(out, t->fn, indent, depth + 1);
    }
    return ok;
}

static bool write_fn(struct stk_rewrite_log *out, const struct stk_fn *fn, int indent, int depth)
{
    int shown = 0, ops = 0, calls = 0, many = 0;
    for (int k = 0; k < fn->n_nodes; k++) {
        bool is_const = fn->nodes[k].op->is_const;
        ops += !is_const;
        bool takes_many = stk_attrs_int(fn->nodes[k].attrs, "takes_many", 0) != 0;
        calls += fn->nodes[k].op->is_host_call && !takes_many;
        many += fn->nodes[k].op->is_host_call && takes_many;
    }
    struct line l = {.n = 0};
    add(&l, "%*s| %s: %s, %d operation%s", indent, "", fn->name,
        calls  ? "calls Python for each element"
        : many ? "calls Python with many elements at once"
               : "native",
        ops, ops == 1 ? "" : "s");
    bool ok = end_line(out, &l);
    for (int k = 0; ok && k < fn->n_nodes && shown < OPS_SHOWN; k++) {
        const struct stk_fn_node *node = &fn->nodes[k];
        if (node->op->is_const) {
            continue;
        }
        shown++;
        l.n = 0;
        const char *kind = stk_attrs_text(node->attrs, "kind", NULL);
        bool makes = kind && node->op->makes_dataset;
        add(&l, "%*s|   %s%s%s -> ", indent, "", node->op->name, makes ? " " : "",
            makes ? kind : "");
        if (node->n_out > 0) {
            add_spec(&l, &fn->specs[node->first_out]);
        }
        if (node->n_out > 1) {
            add(&l, " and %d more", node->n_out - 1);
        }
        if (node->where) {
            add(&l, " (%s)", node->where);
        }
        ok = end_line(out, &l) && write_inner_fns(out, node, indent + 4, depth);
    }
    if (ok && shown < ops) {
        l.n = 0;
        add(&l, "%*s|   ... %d more", indent, "", ops - shown);
        ok = end_line(out, &l);
    }
    return ok;
}

static bool write_reason(struct stk_rewrite_log *out, const char *reason, int indent)
{
    bool ok = true;
    while (ok && reason && *reason) {
        size_t n = strcspn(reason, "\n");
        struct line l = {.n = 0};
        add(&l, "%*s* %.*s", indent, "", (int)n, reason);
        ok = end_line(out, &l);
        reason += n + (reason[n] == '\n');
    }
    return ok;
}

static bool write_stage(struct stk_rewrite_log *out, const struct stk_dataset *ds, int depth)
{
    struct line l = {.n = 0};
    int indent = 2 * depth;
    add(&l, "%*s%s", indent, "", ds->kind->name);
    add_args(&l, ds);
    add(&l, " -> ");
    add_specs(&l, ds->specs);
    if (ds->where) {
        add(&l, "  [%s]", ds->where);
    }
    bool ok = end_line(out, &l);
    for (int i = 0; ok && i < stk_attrs_count(ds->attrs); i++) {
        const struct stk_attr *t = stk_attrs_at(ds->attrs, i);
        ok = t->kind != STK_ATTR_FN || write_fn(out, t->fn, indent + 2, 0);
    }
    ok = ok && write_reason(out, ds->reason, indent + 2);
    for (int i = 0; ok && i < ds->n_in && depth < DEPTH_MAX; i++) {
        ok = write_stage(out, ds->in[i], depth + 1);
    }
    return ok;
}

bool stk_plan_write(struct stk_rewrite_log *out, const struct stk_dataset *ds)
{
    return write_stage(out, ds, 0);
}

static void dump(const struct stk_dataset *ds, FILE *to, int depth)
{
    struct line l = {.n = 0};
    add(&l, "%*s%s refs=%d hops=%d -> ", 2 * depth, "", ds->kind->name,
        __atomic_load_n(&ds->refs, __ATOMIC_RELAXED), ds->hops);
    add_specs(&l, ds->specs);
    fprintf(to, "%s%s%s\n", l.text, ds->where ? "  " : "", ds->where ? ds->where : "");
    for (int i = 0; i < ds->n_in && depth < DEPTH_MAX; i++) {
        dump(ds->in[i], to, depth + 1);
    }
}

void stk_dataset_dump(const struct stk_dataset *ds, FILE *to)
{
    dump(ds, to ? to : stderr, 0);
}
