// SPDX-License-Identifier: Apache-2.0
// Operations by name and the shapes of their inputs, as they were recorded:
//   PyTorch      "Input Dims" of an operator: "aten::mm [[32,64],[64,10]]"
//   TensorFlow   "shape" in a profile of a GPU: "MatMul half[4,384,1024];half[1024,64]"
// Device work of PyTorch has the shapes of the operator that launched it. Limit: a text longer than
// about 1000 bytes is cut, and such groups may be several.
#include <ctype.h>
#include <string.h>

#include "answers/passes/stats/stats_ops_by.h"
#include "profile/store/tf_name.h"

#define NAME_BYTES_MAX 400

// The name of the operation; for TensorFlow, the type in "path:Type". Empty: device work without a
// recorded operation.
static struct stk_str name_of(const struct stk_trace *t, uint32_t event)
{
    struct stk_str name = stk_kind_is_device_work(t->kind[event])
                              ? stk_detail_text(t, event, STK_DETAIL_SCOPE)
                              : stk_name_of(t, event);
    struct stk_str type = stk_tf_name_parse(name).type;
    return type.n ? type : name;
}

static struct stk_str shape_group(struct stk_op_around *around, uint32_t event)
{
    const struct stk_trace *t = around->view->t;
    struct stk_str shapes = stk_detail_text(t, event, STK_DETAIL_SHAPES), name = name_of(t, event);
    if (!shapes.n || !name.n) {
        return STK_STR("");
    }
    if (shapes.n > 1 && shapes.p[0] == '(' && shapes.p[shapes.n - 1] == ')') {
        // TensorFlow's: after a name they would look like a function's arguments, which narrow
        // tables leave out.
        shapes = (struct stk_str){shapes.p + 1, shapes.n - 2};
    }
    size_t n = name.n < NAME_BYTES_MAX ? name.n : NAME_BYTES_MAX;
    memcpy(around->text, name.p, n);
    around->text[n++] = ' ';
    for (size_t i = 0; i < shapes.n && n < sizeof around->text; i++) {
        if (!isspace((unsigned char)shapes.p[i])) {
            around->text[n++] = shapes.p[i];
        }
    }
    return (struct stk_str){around->text, n};
}

static enum stoker_status shape_see(const struct stk_analysis *view, struct stk_arena *arena,
                                    void **partial, struct stoker_err *err)
{
    return stk_ops_by_see(view, shape_group, NULL, arena, partial, err);
}

static const struct stk_column shape_columns[] = {
    STK_OPS_BY_COLUMNS(stk_ops_by_row, , "shape",
                       "operation and its input dimensions; unknown if those weren't recorded")};
static const struct stk_table_info shape_table = STK_TABLE_INFO(
    "shapes", "Operations by the shapes of their inputs", stk_ops_by_row, shape_columns);

static const struct stk_missing no_shapes = {
    "shapes of inputs", "almost no operation has its input dimensions",
    "PyTorch: record_shapes=True in torch.profiler.profile; TensorFlow: a profile of a GPU; "
    "JAX records none"};

static void shape_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    stk_ops_by_describe(ctx, &shape_table, &no_shapes, doc);
}

const struct stk_stats stk_ops_by_shape = {
    .name = "shape",
    .question = "Which operations take the time, by the shapes of their inputs?",
    .needs = "operations and the dimensions of their inputs",
    .tables = {&shape_table},
    .summary = &stk_ops_keyed_figures,
    .missing = {&no_shapes, &stk_ops_keyed_missing},
    .hook = {.see = shape_see, .wants = STK_WANT_SCOPES | STK_WANT_SHAPES},
    .describe = shape_describe,
};
