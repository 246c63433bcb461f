// SPDX-License-Identifier: Apache-2.0
// Rewrites the datasets that a function creates: turns a chain of make_dataset operations into the
// datasets it stands for, rewrites these like any others, and turns the result back into
// operations. Values that the chain takes from the function are matched by identity: computed
// arguments by the specs of their BOUND attributes, datasets from elsewhere by their stand-ins.
// Done once when the pipeline starts, not for each element.
#include <string.h>

#include "base/alloc.h"
#include "engine/rewrites/rewrite.h"
#include "engine/graph/template.h"

#define DEPTH_MAX 64
#define TAKEN_MAX 4096

struct taken { // what a dataset of the chain takes from the function
    const void *what;
    int values[STK_OP_INPUTS_MAX]; // of `from`
    int count;
};

struct templates {
    const struct stk_fn *from;
    struct stk_fn *to;
    int *value; // by value of `from`: its number in `to`
    int *uses, *maker;
    bool *is_inner; // by node: its result is used only as a make_dataset's input
    struct stk_vec taken;
    struct stk_rewrite_log *log;
    enum stk_on_error policy;
    bool has_changed;
};

static bool makes(const struct stk_fn_node *node)
{
    return node->op->makes_dataset;
}

static int dataset_inputs(const struct stk_fn_node *node)
{
    return (int)stk_attrs_int(node->attrs, "n_in", 0);
}

// A stage with a computed argument, such as threads, stays unchanged: rules need its number.
static bool is_plain(const struct stk_fn_node *node)
{
    const struct stk_attr *bound = stk_attrs_get(node->attrs, "bound");
    const char *kind = stk_attrs_text(node->attrs, "kind", "");
    return !bound || bound->count == 0 || (strcmp(kind, "map") != 0 && strcmp(kind, "filter") != 0);
}

static bool find_uses(struct templates *t)
{
    const struct stk_fn *fn = t->from;
    size_t n = (size_t)fn->n_values + 1;
    t->value = stk_alloc_zero(n, sizeof t->value[0]);
    t->uses = stk_alloc_zero(n, sizeof t->uses[0]);
    t->maker = stk_alloc_zero(n, sizeof t->maker[0]);
    t->is_inner = stk_alloc_zero((size_t)fn->n_nodes + 1, sizeof t->is_inner[0]);
    if (!t->value || !t->uses || !t->maker || !t->is_inner) {
        return false;
    }
    for (int i = 0; i < fn->n_in; i++) {
        t->maker[i] = -1;
    }
    for (int k = 0; k < fn->n_nodes; k++) {
        const struct stk_fn_node *node = &fn->nodes[k];
        for (int i = 0; i < node->n_out; i++) {
            t->maker[node->first_out + i] = k;
        }
        for (int i = 0; i < node->n_in; i++) {
            t->uses[node->in[i]]++;
        }
    }
    for (int i = 0; i < fn->n_out; i++) {
        t->uses[fn->out[i]]++;
    }
    for (int k = 0; k < fn->n_nodes; k++) {
        const struct stk_fn_node *node = &fn->nodes[k];
        for (int i = 0; makes(node) && i < dataset_inputs(node); i++) {
            int from = t->maker[node->in[i]];
            if (from >= 0 && t->uses[node->in[i]] == 1 && makes(&fn->nodes[from]) &&
                is_plain(&fn->nodes[from])) {
                t->is_inner[from] = true;
            }
        }
    }
    return true;
}

static struct taken *find_taken(const struct templates *t, const void *what)
{
    for (size_t i = 0; i < t->taken.count; i++) {
        struct taken *x = stk_vec_at(&t->taken, i);
        if (x->what == what) {
            return x;
        }
    }
    return NULL;
}

static bool take(struct templates *t, const void *what, const int *values, int count)
{
    struct taken *x = count <= STK_OP_INPUTS_MAX ? stk_vec_push(&t->taken) : NULL;
    if (!x) {
        return false;
    }
    x->what = what;
    x->count = count;
    memcpy(x->values, values, (size_t)count * sizeof values[0]);
    return true;
}

// Records which values the BOUND attributes of the node's dataset stand for.
static bool take_bound(struct templates *t, const struct stk_fn_node *node,
                       const struct stk_dataset *ds)
{
    const struct stk_attr *bound = stk_attrs_get(node->attrs, "bound");
    const struct stk_attr *counts = stk_attrs_get(node->attrs, "bound_counts");
    int at = dataset_inputs(node);
    bool ok = true;
    for (int64_t i = 0; ok && bound && i < bound->count; i++) {
        const struct stk_attr *a = stk_attrs_get(ds->attrs, (const char *)bound->texts[i].data);
        int count = counts ? (int)counts->ints[i] : 1;
        ok = a && a->kind == STK_ATTR_BOUND && take(t, a->specs, node->in + at, count);
        at += count;
    }
    return ok;
}

// The dataset that a value of the function stands for; a new reference.
static enum stoker_status build(struct templates *t, int value, bool is_top, int depth,
                                struct stk_dataset **out, struct stoker_err *err)
{
    int k = t->maker[value];
    *out = NULL;
    if (!is_top && (k < 0 || !t->is_inner[k] || depth > DEPTH_MAX)) {
        enum stoker_status s = stk_template_stand_in(out, t->from->specs[value].nested, err);
        return s != STOKER_OK || take(t, *out, &value, 1) ? s : stk_err_nomem(err);
    }
    const struct stk_fn_node *node = &t->from->nodes[k];
    struct stk_dataset *in[STK_OP_INPUTS_MAX] = {0};
    struct stk_spec specs[STK_OP_INPUTS_MAX];
    int n = dataset_inputs(node);
    enum stoker_status s = STOKER_OK;
    for (int i = 0; i < node->n_in; i++) {
        specs[i] = t->from->specs[node->in[i]];
    }
    for (int i = 0; s == STOKER_OK && i < n; i++) {
        s = build(t, node->in[i], false, depth + 1, &in[i], err);
    }
    if (s == STOKER_OK) {
        s = stk_template_make(out, node->attrs, specs, node->n_in, in, node->where, err);
    }
    if (s == STOKER_OK && !take_bound(t, node, *out)) {
        s = stk_err_nomem(err);
    }
    for (int i = 0; i < n; i++) {
        stk_dataset_drop(in[i]);
    }
    return s;
}

// Appends the taken values to the inputs.
static bool put_values(const struct templates *t, const struct taken *x, int *in, int *n_in)
{
    if (!x || *n_in + x->count > STK_OP_INPUTS_MAX) {
        return false;
    }
    for (int i = 0; i < x->count; i++) {
        in[(*n_in)++] = t->value[x->values[i]];
    }
    return true;
}

// The attributes of the operation that creates the dataset with inputs in[0..*n_in); appends the
// values of computed arguments to the inputs.
static bool put_attrs(const struct templates *t, const struct stk_dataset *ds, struct stk_attrs *to,
                      int *in, int *n_in)
{
    struct stk_bytes names[STK_OP_INPUTS_MAX];
    int64_t counts[STK_OP_INPUTS_MAX], n = 0;
    bool ok = stk_attrs_set_text(to, "kind", ds->kind->name, strlen(ds->kind->name)) &&
              stk_attrs_set_int(to, "n_in", ds->n_in) && stk_attrs_set_int(to, "hops", ds->hops);
    for (int i = 0; ok && i < stk_attrs_count(ds->attrs); i++) {
        const struct stk_attr *a = stk_attrs_at(ds->attrs, i);
        if (a->kind != STK_ATTR_BOUND) {
            ok = stk_attrs_set(to, a);
            continue;
        }
        const struct taken *x = find_taken(t, a->specs);
        ok = n < STK_OP_INPUTS_MAX && put_values(t, x, in, n_in);
        if (ok) {
            names[n] = (struct stk_bytes){(const uint8_t *)a->name, strlen(a->name)};
            counts[n++] = x->count;
        }
    }
    return ok &&
           stk_attrs_set(to, &(struct stk_attr){.name = "bound",
                                                .kind = STK_ATTR_TEXTS,
                                                .count = n,
                                                .texts = names}) &&
           stk_attrs_set(
               to, &(struct stk_attr){
                       .name = "bound_counts", .kind = STK_ATTR_INTS, .count = n, .ints = counts});
}

// Adds operations that create the dataset; *value: its number in `to`.
static enum stoker_status emit(struct templates *t, const struct stk_dataset *ds, int *value,
                               struct stoker_err *err)
{
    const struct taken *x = find_taken(t, ds);
    if (x) {
        *value = t->value[x->values[0]];
        return STOKER_OK;
    }
    int in[STK_OP_INPUTS_MAX], n_in = 0, count;
    enum stoker_status s = STOKER_OK;
    for (int i = 0; s == STOKER_OK && i < ds->n_in; i++) {
        s = emit(t, ds->in[i], &in[n_in++], err);
    }
    struct stk_attrs *attrs = stk_attrs_new();
    if (s == STOKER_OK && (!attrs || !put_attrs(t, ds, attrs, in, &n_in))) {
        s = stk_err_nomem(err);
    }
    if (s == STOKER_OK) {
        s = stk_fn_add(t->to, "make_dataset", in, n_in, attrs, ds->where, value, &count, err);
    }
    stk_attrs_drop(attrs);
    if (s == STOKER_OK && !stk_rewrite_append(t->log, ds->reason)) {
        s = stk_err_nomem(err);
    }
    return s;
}

// A make_dataset that ends its chain.
static enum stoker_status rewrite_chain(struct templates *t, const struct stk_fn_node *node,
                                        bool *is_done, struct stoker_err *err)
{
    struct stk_dataset *ds = NULL, *better = NULL;
    t->taken.count = 0;
    *is_done = false;
    enum stoker_status s = build(t, node->first_out, true, 0, &ds, err);
    s = s == STOKER_OK ? stk_rewrite_dataset(&better, ds, t->policy, err) : s;
    if (s == STOKER_OK && better != ds) {
        s = emit(t, better, &t->value[node->first_out], err);
        *is_done = s == STOKER_OK;
        t->has_changed = t->has_changed || *is_done;
    }
    stk_dataset_drop(better);
    stk_dataset_drop(ds);
    return s;
}

static enum stoker_status copy_node(struct templates *t, const struct stk_fn_node *node,
                                    struct stoker_err *err)
{
    int in[STK_OP_INPUTS_MAX], first, count;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = t->value[node->in[i]];
    }
    enum stoker_status s = stk_fn_add(t->to, node->op->name, in, node->n_in, node->attrs,
                                      node->where, &first, &count, err);
    if (s != STOKER_OK) {
        return s;
    }
    t->to->nodes[t->to->n_nodes - 1].salt = node->salt;
    t->to->nodes[t->to->n_nodes - 1].stage = node->stage;
    for (int i = 0; i < count; i++) {
        t->value[node->first_out + i] = first + i;
    }
    return STOKER_OK;
}

static enum stoker_status walk(struct templates *t, struct stoker_err *err)
{
    const struct stk_fn *fn = t->from;
    int out[STK_COMPONENTS_MAX];
    enum stoker_status s = stk_fn_open(&t->to, fn->specs, fn->n_in, fn->name, err);
    for (int i = 0; i < fn->n_in; i++) {
        t->value[i] = i;
    }
    for (int k = 0; s == STOKER_OK && k < fn->n_nodes; k++) {
        bool is_done = false;
        if (makes(&fn->nodes[k]) && !t->is_inner[k] && is_plain(&fn->nodes[k])) {
            s = rewrite_chain(t, &fn->nodes[k], &is_done, err);
        }
        s = s == STOKER_OK && !is_done ? copy_node(t, &fn->nodes[k], err) : s;
    }
    for (int i = 0; i < fn->n_out; i++) {
        out[i] = t->value[fn->out[i]];
    }
    return s == STOKER_OK && t->has_changed ? stk_fn_finish(t->to, out, fn->n_out, err) : s;
}

enum stoker_status stk_rewrite_templates(struct stk_fn **out, struct stk_fn *fn,
                                         enum stk_on_error policy, struct stk_rewrite_log *log,
                                         struct stoker_err *err)
{
    struct templates t = {.from = fn, .policy = policy, .log = log};
    bool has_any = false;
    for (int k = 0; fn->is_finished && k < fn->n_nodes; k++) {
        has_any = has_any || (makes(&fn->nodes[k]) && dataset_inputs(&fn->nodes[k]) > 0);
    }
    *out = NULL;
    if (!has_any) {
        *out = stk_fn_hold(fn);
        return STOKER_OK;
    }
    stk_vec_init(&t.taken, sizeof(struct taken), TAKEN_MAX);
    enum stoker_status s = find_uses(&t) ? walk(&t, err) : stk_err_nomem(err);
    if (s == STOKER_OK) {
        *out = stk_fn_hold(t.has_changed ? t.to : fn);
    }
    stk_fn_drop(t.to);
    stk_vec_deinit(&t.taken);
    stk_free(t.value);
    stk_free(t.uses);
    stk_free(t.maker);
    stk_free(t.is_inner);
    return s;
}
