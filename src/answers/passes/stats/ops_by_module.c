// SPDX-License-Identifier: Apache-2.0
// Operations by module of the model: the nn.Module frames of PyTorch's Python tracer around them,
// outermost first ("Net_0/Linear_1"; the number distinguishes instances of a class). A module
// includes the modules within it. Limit: modules are called in the forward pass, so the backward
// pass is missing.
#include <string.h>

#include "answers/passes/stats/stats_ops_by.h"

static struct stk_str module_group(struct stk_op_around *around, uint32_t event)
{
    static const struct stk_str mark = {"nn.Module: ", 11};
    const struct stk_trace *t = around->view->t;
    size_t n = 0;
    (void)event;
    for (uint32_t i = 0; i < around->count; i++) {
        struct stk_str name = stk_name_of(t, around->events[i]);
        if (t->kind[around->events[i]] != STK_KIND_PYTHON || !stk_str_starts(name, mark)) {
            continue;
        }
        size_t bytes = name.n - mark.n;
        if (bytes + 1 > sizeof around->text - n) {
            break; // deeper ones count for the one around them
        }
        if (n) {
            around->text[n++] = '/';
        }
        memcpy(around->text + n, name.p + mark.n, bytes);
        n += bytes;
    }
    return (struct stk_str){around->text, n};
}

static enum stoker_status module_see(const struct stk_analysis *view, struct stk_arena *arena,
                                     void **partial, struct stoker_err *err)
{
    return stk_ops_by_see(view, module_group, "/", arena, partial, err);
}

static const struct stk_column module_columns[] = {STK_OPS_BY_NESTED_COLUMNS(
    "module", "modules around the operation, outermost first; unknown if its thread records none")};
static const struct stk_table_info module_table =
    STK_TABLE_INFO("modules", "Operations by module", stk_ops_by_nested_row, module_columns);

static const struct stk_missing no_modules = {
    "modules of the model", "almost no operation names its module",
    "PyTorch: with_stack=True in torch.profiler.profile; TensorFlow and JAX layers are name "
    "scopes: stats ops --by scope"};

static void module_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    stk_ops_by_describe(ctx, &module_table, &no_modules, doc);
}

const struct stk_stats stk_ops_by_module = {
    .name = "module",
    .question = "Which modules of the model take the time?",
    .needs = "operations and the modules around them",
    .tables = {&module_table},
    .summary = &stk_ops_keyed_figures,
    .missing = {&no_modules, &stk_ops_keyed_missing},
    .hook = {.see = module_see},
    .describe = module_describe,
};
