// SPDX-License-Identifier: Apache-2.0
// Operations by the line of the user's code that called them: file, line and function of the
// innermost Python function around them in the job's own files. The line is that of the tracer: for
// PyTorch and JAX, the function's first line. Limits: only Python on the operation's own thread
// counts, so PyTorch's backward pass on a GPU, which has its own thread, has no line; a file that
// JAX recorded without its folder may be a library's.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profile/model/threads/python_frame.h"
#include "answers/passes/stats/stats_ops_by.h"

enum { NOT_LOOKED_AT, OTHERS, USERS };

static bool is_users(struct stk_op_around *around, uint32_t event)
{
    const struct stk_trace *t = around->view->t;
    uint8_t *memo = &around->memo[t->name[event]];
    if (t->kind[event] != STK_KIND_PYTHON) {
        return false;
    }
    if (*memo == NOT_LOOKED_AT) {
        *memo = stk_python_frame_is_users(stk_name_of(t, event)) ? USERS : OTHERS;
    }
    return *memo == USERS;
}

// "job/train.py:35 train_step", from any tracer.
static struct stk_str line_text(struct stk_op_around *around, struct stk_str name)
{
    struct stk_python_frame f = stk_python_frame_parse(name);
    if (!f.line) {
        return name;
    }
    int file = (int)(f.file.n < 500 ? f.file.n : 500);
    int function = (int)(f.function.n < 200 ? f.function.n : 200);
    int n = snprintf(around->text, sizeof around->text, "%.*s:%" PRId64 " %.*s", file, f.file.p,
                     f.line, function, f.function.p);
    return (struct stk_str){around->text, (size_t)n};
}

static struct stk_str stack_group(struct stk_op_around *around, uint32_t event)
{
    (void)event;
    for (uint32_t i = around->count; i-- > 0;) {
        if (is_users(around, around->events[i])) {
            return line_text(around, stk_name_of(around->view->t, around->events[i]));
        }
    }
    return STK_STR("");
}

static enum stoker_status stack_see(const struct stk_analysis *view, struct stk_arena *arena,
                                    void **partial, struct stoker_err *err)
{
    return stk_ops_by_see(view, stack_group, NULL, arena, partial, err);
}

static const struct stk_column stack_columns[] = {
    STK_OPS_BY_COLUMNS(stk_ops_by_row, , "stack",
                       "file, line and name of your innermost Python function around the "
                       "operation; unknown if its thread records none",
                       .is_path = true)};
static const struct stk_table_info stack_table =
    STK_TABLE_INFO("stacks", "Operations by your line", stk_ops_by_row, stack_columns);

static const struct stk_missing no_stacks = {
    "Python functions", "almost no operation shows the line of your code that called it",
    "PyTorch: with_stack=True in torch.profiler.profile; JAX: "
    "options.python_tracer_level = 1 in jax.profiler.ProfileOptions; TensorFlow records no Python: "
    "stats ops --by scope"};

static void stack_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    stk_ops_by_describe(ctx, &stack_table, &no_stacks, doc);
}

const struct stk_stats stk_ops_by_stack = {
    .name = "stack",
    .question = "Which lines of your own code take the time?",
    .needs = "operations and Python functions",
    .tables = {&stack_table},
    .summary = &stk_ops_keyed_figures,
    .missing = {&no_stacks, &stk_ops_keyed_missing},
    .hook = {.see = stack_see},
    .describe = stack_describe,
};
