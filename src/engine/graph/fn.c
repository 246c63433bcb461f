// SPDX-License-Identifier: Apache-2.0
// Builds a function: nodes are checked and typed as they are added. A node with constant inputs is
// computed at once. fn_finish.c completes the function.
#include "engine/graph/fn.h"

#include <string.h>

#include "base/assert.h"
#include "base/alloc.h"
#include "base/str.h"

// A constant is computed once, when the function is built, and lives as long as it does, outside of
// any run's budget. So a result much larger than its inputs isn't folded but computed per element.
#define CONST_BYTES_MAX ((size_t)1 << 30)
#define CONST_BYTES_FREE ((size_t)32 << 20) // a constant may always have this many bytes
#define CONST_GROWTH 8                      // and up to this many times the bytes of its inputs

static char *copy_text(const char *text)
{
    if (!text) {
        return NULL;
    }
    size_t n = strlen(text) + 1;
    char *copy = stk_alloc(n);
    if (copy) {
        memcpy(copy, text, n);
    }
    return copy;
}

static bool reserve_values(struct stk_fn *fn, int more)
{
    int need = fn->n_values + more;
    if (need <= fn->values_capacity) {
        return true;
    }
    int capacity = 2 * fn->values_capacity > need ? 2 * fn->values_capacity : need + 16;
    struct stk_spec *specs = stk_realloc_array(fn->specs, (size_t)capacity, sizeof specs[0]);
    if (!specs) {
        return false;
    }
    fn->specs = specs;
    const struct stk_col **constants =
        stk_realloc_array(fn->constants, (size_t)capacity, sizeof constants[0]);
    if (!constants) {
        return false;
    }
    fn->constants = constants;
    fn->values_capacity = capacity;
    return true;
}

static void add_value(struct stk_fn *fn, const struct stk_spec *spec)
{
    stk_spec_copy(&fn->specs[fn->n_values], spec);
    fn->constants[fn->n_values++] = NULL;
}

enum stoker_status stk_fn_open(struct stk_fn **out, const struct stk_spec *in, int n_in,
                               const char *name, struct stoker_err *err)
{
    *out = NULL;
    struct stk_fn *fn = stk_alloc_zero(1, sizeof *fn);
    if (!fn) {
        return stk_err_nomem(err);
    }
    fn->refs = 1;
    fn->name = copy_text(name ? name : "function");
    if (!fn->name || !reserve_values(fn, n_in + 16)) {
        stk_fn_drop(fn);
        return stk_err_nomem(err);
    }
    for (int i = 0; i < n_in; i++) {
        add_value(fn, &in[i]);
    }
    fn->n_in = n_in;
    *out = fn;
    return STOKER_OK;
}

void stk_fn_node_free(struct stk_fn_node *node)
{
    if (node->prepared && node->op->unprepare) {
        node->op->unprepare(node->prepared);
    }
    stk_attrs_drop(node->attrs);
    stk_free(node->args);
    stk_free(node->in);
    stk_free(node->where);
}

struct stk_fn *stk_fn_hold(struct stk_fn *fn)
{
    if (fn) {
        STK_ASSERT(__atomic_load_n(&fn->refs, __ATOMIC_RELAXED) > 0);
        __atomic_add_fetch(&fn->refs, 1, __ATOMIC_RELAXED);
    }
    return fn;
}

void stk_fn_drop(struct stk_fn *fn)
{
    if (!fn || __atomic_sub_fetch(&fn->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (int i = 0; i < fn->n_nodes; i++) {
        stk_fn_node_free(&fn->nodes[i]);
    }
    for (int i = 0; i < fn->n_values; i++) {
        stk_specs_drop(fn->specs[i].nested);
    }
    stk_free(fn->nodes);
    stk_free(fn->specs);
    stk_free(fn->constants);
    stk_free(fn->last_use);
    stk_free(fn->out);
    stk_free(fn->name);
    stk_free(fn);
}

// Fills the new node. On failure the function stays unchanged.
static enum stoker_status node_make(struct stk_fn_node *node, const struct stk_op *op,
                                    const int *in, int n_in, struct stk_attrs *attrs,
                                    const char *where, struct stoker_err *err)
{
    *node = (struct stk_fn_node){.op = op, .n_in = n_in, .attrs = stk_attrs_hold(attrs)};
    node->in = stk_alloc_array(n_in ? (size_t)n_in : 1, sizeof node->in[0]);
    node->where = copy_text(where);
    node->args = stk_args_resolve(op->args, attrs);
    if (!node->in || !node->args || (where && !node->where)) {
        stk_fn_node_free(node);
        return stk_err_nomem(err);
    }
    if (n_in) {
        memcpy(node->in, in, (size_t)n_in * sizeof in[0]);
    }
    return STOKER_OK;
}

static enum stoker_status infer(struct stk_fn *fn, struct stk_fn_node *node, struct stk_spec *out,
                                struct stoker_err *err)
{
    struct stk_spec specs[STK_OP_INPUTS_MAX];
    const struct stk_col *constants[STK_OP_INPUTS_MAX];
    for (int i = 0; i < node->n_in; i++) {
        specs[i] = fn->specs[node->in[i]];
        constants[i] = fn->constants[node->in[i]];
    }
    struct stk_op_infer c = {.op = node->op,
                             .attrs = node->attrs,
                             .args = node->args,
                             .n_in = node->n_in,
                             .in = specs,
                             .constant = constants,
                             .n_out = 1,
                             .out = out};
    const struct stk_op *op = node->op;
    enum stoker_status s =
        op->takes_more ? STOKER_OK : stk_args_check_names(op->name, op->args, NULL, c.attrs, err);
    s = s == STOKER_OK ? stk_args_check(op->name, op->args, c.attrs, err) : s;
    s = s == STOKER_OK ? stk_op_infer(&c, err) : s;
    node->n_out = c.n_out;
    STK_ASSERT(s != STOKER_OK || (c.n_out >= 0 && c.n_out <= STK_OP_OUTPUTS_MAX));
    for (int k = 0; s == STOKER_OK && k < c.n_out; k++) {
        STK_ASSERT(out[k].shape.rank <= STK_RANK_MAX);
    }
    if (s == STOKER_OK && op->prepare) {
        s = op->prepare(&c, &node->prepared, err);
    }
    if (s != STOKER_OK) {
        stk_err_while(err, "adding %s to %s", op->name, fn->name);
    }
    return s;
}

static bool is_foldable(const struct stk_fn *fn, const struct stk_fn_node *node)
{
    const struct stk_op *op = node->op;
    if (op->is_random || op->is_stateful || op->is_slow || node->n_in == 0 || node->n_out != 1) {
        return false;
    }
    for (int i = 0; i < node->n_in; i++) {
        if (!fn->constants[node->in[i]]) {
            return false;
        }
    }
    return fn->specs[node->first_out].dtype != STK_DT_DATASET;
}

static size_t fold_bytes_max(const struct stk_fn *fn, const struct stk_fn_node *node)
{
    size_t most = CONST_BYTES_FREE;
    for (int i = 0; i < node->n_in; i++) {
        const struct stk_col *in = fn->constants[node->in[i]];
        size_t bytes = in->is_varied ? 0 : stk_col_bytes_each(in);
        most += bytes < CONST_BYTES_MAX / CONST_GROWTH ? bytes * CONST_GROWTH : CONST_BYTES_MAX;
    }
    return most < CONST_BYTES_MAX ? most : CONST_BYTES_MAX;
}

// Replaces the newest node by the constant it computes. If computing fails, the node stays, and
// each element reports the error.
static void fold(struct stk_fn *fn)
{
    struct stk_fn_node *node = &fn->nodes[fn->n_nodes - 1];
    STK_ASSERT(node->n_out == 1 && !node->op->is_random && !node->op->is_stateful);
    const struct stk_col *in[STK_OP_INPUTS_MAX];
    struct stk_col out = {0};
    struct stoker_err ignored, failure;
    stk_err_init(&ignored);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = fn->constants[node->in[i]];
    }
    struct stk_pool *pool = stk_pool_open(fold_bytes_max(fn, node));
    void *scratch = stk_alloc_zero(1, node->op->scratch_bytes + 1);
    struct stk_attrs *attrs = stk_attrs_new();
    struct stk_op_run r = {.op = node->op,
                           .attrs = node->attrs,
                           .args = node->args,
                           .prepared = node->prepared,
                           .scratch = scratch,
                           .n = 1,
                           .n_in = node->n_in,
                           .n_out = 1,
                           .in = in,
                           .spec = &fn->specs[node->first_out],
                           .out = &out,
                           .pool = pool,
                           .failed = 1,
                           .err = &failure};
    bool ok = pool && scratch && attrs && node->op->run(&r, &ignored) == STOKER_OK && r.failed == 1;
    if (ok && out.is_varied) {
        stk_col_settle(&out);
    }
    struct stk_attr value = {.name = "value", .kind = STK_ATTR_COLS, .count = 1, .cols = &out};
    ok = ok && stk_attrs_set(attrs, &value);
    struct stk_arg_value *args = ok ? stk_args_resolve(stk_op_const.args, attrs) : NULL;
    if (args) {
        if (node->prepared && node->op->unprepare) {
            node->op->unprepare(node->prepared);
        }
        node->prepared = NULL;
        stk_attrs_drop(node->attrs);
        node->attrs = stk_attrs_hold(attrs);
        stk_free(node->args);
        node->args = args;
        node->op = &stk_op_const;
        node->n_in = 0;
        fn->specs[node->first_out].shape = stk_col_shape(&out, 0);
    }
    if (scratch && r.op->scratch_end) {
        r.op->scratch_end(scratch);
    }
    stk_attrs_drop(attrs);
    stk_free(scratch);
    stk_col_clear(&out);
    stk_pool_drop(pool);
}

static enum stoker_status check_inputs(const struct stk_fn *fn, const char *op, const int *in,
                                       int n_in, struct stoker_err *err)
{
    if (n_in > STK_OP_INPUTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "%s: %d inputs, but at most %d are allowed", op,
                           n_in, STK_OP_INPUTS_MAX);
    }
    for (int i = 0; i < n_in; i++) {
        if (in[i] < 0 || in[i] >= fn->n_values) {
            return stk_err_set(err, STOKER_EINVAL, "%s: input %d is not a value of this function",
                               op, i);
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_fn_add(struct stk_fn *fn, const char *name, const int *in, int n_in,
                              struct stk_attrs *attrs, const char *where, int *first, int *count,
                              struct stoker_err *err)
{
    const struct stk_op *op = stk_op_find(name);
    STK_ASSERT(!fn->is_finished);
    if (!op) {
        return stk_err_set(err, STOKER_EUSAGE, "no operation '%s'", name);
    }
    enum stoker_status s = check_inputs(fn, name, in, n_in, err);
    if (s != STOKER_OK) {
        return s;
    }
    if (fn->n_nodes == fn->nodes_capacity) {
        int capacity = fn->nodes_capacity ? 2 * fn->nodes_capacity : 16;
        struct stk_fn_node *nodes =
            capacity > STK_FN_NODES_MAX
                ? NULL
                : stk_realloc_array(fn->nodes, (size_t)capacity, sizeof nodes[0]);
        if (!nodes) {
            return stk_err_nomem(err);
        }
        fn->nodes = nodes;
        fn->nodes_capacity = capacity;
    }
    struct stk_spec *out = stk_alloc_zero(STK_OP_OUTPUTS_MAX, sizeof out[0]);
    struct stk_fn_node *node = &fn->nodes[fn->n_nodes];
    if (!out) {
        return stk_err_nomem(err);
    }
    for (int i = 0; i < STK_OP_OUTPUTS_MAX; i++) {
        out[i].shape.rank = STK_UNKNOWN;
    }
    s = node_make(node, op, in, n_in, attrs, where, err);
    if (s == STOKER_OK) {
        s = infer(fn, node, out, err);
        if (s == STOKER_OK && !reserve_values(fn, node->n_out)) {
            s = stk_err_nomem(err);
        }
        if (s != STOKER_OK) {
            stk_fn_node_free(node);
        }
    }
    if (s == STOKER_OK) {
        node->first_out = *first = fn->n_values;
        node->salt = (uint64_t)fn->n_nodes + 1;
        *count = node->n_out;
        for (int i = 0; i < node->n_out; i++) {
            add_value(fn, &out[i]);
        }
        fn->n_nodes++;
        if (is_foldable(fn, node)) {
            fold(fn);
        }
        const struct stk_attr *value = stk_attrs_get(node->attrs, "value");
        if (value && value->kind == STK_ATTR_COLS && node->op->is_const) {
            fn->constants[node->first_out] = &value->cols[0];
        }
    }
    for (int i = 0; i < STK_OP_OUTPUTS_MAX; i++) {
        stk_specs_drop(out[i].nested);
    }
    stk_free(out);
    return s;
}

bool stk_fn_is_random(const struct stk_fn *fn)
{
    for (int k = 0; k < fn->n_nodes; k++) {
        if (fn->nodes[k].op->is_random) {
            return true;
        }
    }
    return false;
}

bool stk_fn_is_stateful(const struct stk_fn *fn)
{
    for (int k = 0; k < fn->n_nodes; k++) {
        if (fn->nodes[k].op->is_stateful) {
            return true;
        }
    }
    return false;
}

struct stk_specs *stk_fn_result(const struct stk_fn *fn)
{
    struct stk_specs *s = stk_specs_new(fn->n_out);
    for (int i = 0; s && i < fn->n_out; i++) {
        stk_spec_copy(&s->items[i], &fn->specs[fn->out[i]]);
    }
    return s;
}
