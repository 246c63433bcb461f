// SPDX-License-Identifier: Apache-2.0
// Checks traced functions; see fn_check.h. It looks at nodes, not at what operations make of
// attributes. Values of removed nodes keep their numbers but are meaningless.
#include "engine/graph/fn_check.h"

enum { LINES_MAX = 100, VALUES_BYTES_MAX = 400 };

// The node that makes the value; NULL: an input, or a removed node's.
static const struct stk_fn_node *maker_of(const struct stk_fn *fn, int value)
{
    int low = 0, high = fn->n_nodes;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const struct stk_fn_node *node = &fn->nodes[middle];
        if (value < node->first_out) {
            high = middle;
        } else if (value >= node->first_out + node->n_out) {
            low = middle + 1;
        } else {
            return node;
        }
    }
    return NULL;
}

static bool is_there(const struct stk_fn *fn, int value)
{
    return value >= 0 && (value < fn->n_in || maker_of(fn, value));
}

static const char *check_outputs(const struct stk_fn *fn, const struct stk_fn_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        if ((unsigned)fn->specs[node->first_out + i].dtype >= STK_DT_COUNT) {
            return "a value has no type";
        }
        if (fn->constants[node->first_out + i] && !node->op->is_const) {
            return "a value is constant, but its operation isn't";
        }
    }
    return NULL;
}

static const char *check_node(const struct stk_fn *fn, int k)
{
    const struct stk_fn_node *node = &fn->nodes[k];
    const struct stk_fn_node *before = k ? node - 1 : NULL;
    int from = before ? before->first_out + before->n_out : fn->n_in;
    if (!node->op) {
        return "a node without an operation";
    }
    if (node->n_in < 0 || node->n_in > STK_OP_INPUTS_MAX || node->n_out < 0 ||
        node->n_out > STK_OP_OUTPUTS_MAX) {
        return "a node with too many inputs or outputs";
    }
    if (node->first_out < from || node->n_out > fn->n_values - node->first_out) {
        return "nodes' values overlap, or aren't the function's";
    }
    for (int i = 0; i < node->n_in; i++) {
        if (!is_there(fn, node->in[i]) || node->in[i] >= node->first_out) {
            return "a node takes a value that nothing before it makes";
        }
        if (fn->is_finished && fn->last_use[node->in[i]] < k) {
            return "a value is used after its last use";
        }
    }
    return check_outputs(fn, node);
}

const char *stk_fn_check(const struct stk_fn *fn)
{
    if (__atomic_load_n(&fn->refs, __ATOMIC_RELAXED) < 1) {
        return "a function without owner";
    }
    if (fn->n_in < 0 || fn->n_in > fn->n_values || fn->n_values > fn->values_capacity ||
        fn->n_nodes < 0 || fn->n_nodes > fn->nodes_capacity) {
        return "more inputs, values or nodes than there is room for";
    }
    for (int k = 0; k < fn->n_nodes; k++) {
        const char *why = check_node(fn, k);
        if (why) {
            return why;
        }
    }
    for (int i = 0; fn->is_finished && i < fn->n_out; i++) {
        if (!is_there(fn, fn->out[i])) {
            return "a result that nothing makes";
        }
        if (fn->last_use[fn->out[i]] != fn->n_nodes) {
            return "a result is forgotten before the end";
        }
    }
    return NULL;
}

// "v1, v2, ..."
static const char *values_text(char text[VALUES_BYTES_MAX], const int *values, int n)
{
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < n && at + 20 < VALUES_BYTES_MAX; i++) {
        at += (size_t)snprintf(text + at, VALUES_BYTES_MAX - at, "%sv%d", i ? ", " : "", values[i]);
    }
    return text;
}

static void dump_value(const struct stk_fn *fn, int value, FILE *to)
{
    char shape[STK_SHAPE_TEXT];
    const struct stk_spec *s = &fn->specs[value];
    bool has_type = (unsigned)s->dtype < STK_DT_COUNT;
    fprintf(to, "v%d %s %s", value, has_type ? stk_dtype_name(s->dtype) : "?",
            stk_shape_text(&s->shape, shape));
}

static void dump_node(const struct stk_fn *fn, const struct stk_fn_node *node, FILE *to)
{
    char in[VALUES_BYTES_MAX];
    fprintf(to, "  %s(%s) ->", node->op ? node->op->name : "?",
            values_text(in, node->in, node->n_in));
    for (int i = 0; i < node->n_out && i < 4; i++) {
        fprintf(to, "%s ", i ? "," : "");
        dump_value(fn, node->first_out + i, to);
    }
    fprintf(to, "%s%s%s\n", node->n_out > 4 ? ", ..." : "", node->where ? "  " : "",
            node->where ? node->where : "");
}

void stk_fn_dump(const struct stk_fn *fn, FILE *to)
{
    char out[VALUES_BYTES_MAX];
    const char *why = stk_fn_check(fn);
    to = to ? to : stderr;
    fprintf(to, "function %s refs=%d inputs=%d values=%d nodes=%d%s%s%s\n", fn->name, fn->refs,
            fn->n_in, fn->n_values, fn->n_nodes, fn->is_finished ? "" : ", not finished",
            why ? "  BROKEN: " : "", why ? why : "");
    int lines = 0;
    for (int i = 0; i < fn->n_in && lines < LINES_MAX; i++, lines++) {
        fprintf(to, "  ");
        dump_value(fn, i, to);
        fprintf(to, "\n");
    }
    for (int k = 0; k < fn->n_nodes && lines < LINES_MAX; k++, lines++) {
        dump_node(fn, &fn->nodes[k], to);
    }
    int left = fn->n_in + fn->n_nodes - lines;
    if (left > 0) {
        fprintf(to, "  ... %d more\n", left);
    }
    if (fn->is_finished) {
        fprintf(to, "  gives %s\n", values_text(out, fn->out, fn->n_out));
    }
}
