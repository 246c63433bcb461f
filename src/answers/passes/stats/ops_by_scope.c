// SPDX-License-Identifier: Apache-2.0
// Operations by name scope: the operation's place in the model, according to the framework's own
// names. TensorFlow's "model/layer/MatMul:MatMul" is in "model/layer"; JAX's and XLA's work of a
// device in the stages and named scopes that its row records ("jit(step)/jvp(Model)/dot_general" in
// "jit(step)/jvp(Model)"); PyTorch's operators in the innermost range that the user put around them
// (record_function, NVTX). XLA on a GPU and on the CPU only records the program ("jit_step"). A
// scope includes the scopes within it. Limits: an eager operation of TensorFlow has no scope;
// ranges of PyTorch count only on their own thread.
#include "answers/passes/stats/stats_ops_by.h"
#include "profile/store/tf_name.h"

// Everything before the last part; empty: none.
static struct stk_str scope_around(struct stk_str path)
{
    size_t n = path.n;
    while (n && path.p[n - 1] != '/') {
        n--;
    }
    return (struct stk_str){path.p, n ? n - 1 : 0};
}

// The framework's own name of a device operation, from its row.
static struct stk_str recorded_path(const struct stk_trace *t, uint32_t event)
{
    struct stk_str name = stk_detail_text(t, event, STK_DETAIL_SCOPE);
    struct stk_str path = stk_tf_name_parse(name).path;
    return path.n ? path : name;
}

static bool is_users_range(const struct stk_analysis *view, uint32_t event)
{
    return view->t->kind[event] == STK_KIND_ANNOTATION && !stk_is_step_mark(view, event) &&
           !(stk_class_of(view, event) &
             (STK_NAME_MODEL_OP | STK_NAME_OPTIMIZER | STK_NAME_FETCH | STK_NAME_HOST_COLL));
}

static struct stk_str scope_group(struct stk_op_around *around, uint32_t event)
{
    const struct stk_trace *t = around->view->t;
    struct stk_str recorded = scope_around(recorded_path(t, event));
    if (recorded.n || stk_kind_is_device_work(t->kind[event])) {
        return recorded;
    }
    uint32_t classes = stk_class_of(around->view, event);
    if ((classes & STK_NAME_MODEL_OP) && !(classes & STK_NAME_XLA_RUN)) {
        struct stk_str scope = scope_around(stk_tf_name_parse(stk_name_of(t, event)).path);
        if (scope.n) {
            return scope;
        }
    }
    for (uint32_t i = around->count; i-- > 0;) {
        if (is_users_range(around->view, around->events[i])) {
            return stk_name_of(t, around->events[i]);
        }
    }
    return STK_STR("");
}

static enum stoker_status scope_see(const struct stk_analysis *view, struct stk_arena *arena,
                                    void **partial, struct stoker_err *err)
{
    return stk_ops_by_see(view, scope_group, "/", arena, partial, err);
}

static const struct stk_column scope_columns[] = {
    STK_OPS_BY_NESTED_COLUMNS("scope", "the framework's name scope or your range around the "
                                       "operation; unknown if neither was recorded")};
static const struct stk_table_info scope_table =
    STK_TABLE_INFO("scopes", "Operations by name scope", stk_ops_by_nested_row, scope_columns);

static const struct stk_missing no_scopes = {
    "name scopes", "almost no operation shows where in the model it belongs",
    "TensorFlow: run the step as a tf.function, with tf.name_scope; JAX: use jax.named_scope and "
    "record a GPU; PyTorch: use torch.profiler.record_function around the parts of the model"};

static void scope_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    stk_ops_by_describe(ctx, &scope_table, &no_scopes, doc);
}

const struct stk_stats stk_ops_by_scope = {
    .name = "scope",
    .question = "Which name scopes of the model take the time?",
    .needs = "operations whose names show their scope",
    .tables = {&scope_table},
    .summary = &stk_ops_keyed_figures,
    .missing = {&no_scopes, &stk_ops_keyed_missing},
    .hook = {.see = scope_see, .wants = STK_WANT_SCOPES},
    .describe = scope_describe,
};
