// SPDX-License-Identifier: Apache-2.0
// assert_true: passes on bools if all are true; else the element is an error with the text
// `message`. It stays in a function even if nothing uses its result.
#include "engine/ops/op_util.h"

enum { ARG_MESSAGE };
static const struct stk_arg_row assert_args[] = {
    [ARG_MESSAGE] = STK_ARG("message", TEXT, "the error's message"), {0}};

static enum stoker_status assert_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    const struct stk_attr *message = r->args[ARG_MESSAGE].attr;
    bool has_text = message && message->kind == STK_ATTR_TEXT;
    int64_t each = stk_shape_count(&in->shape);
    for (int64_t i = 0; i < r->n; i++) {
        const uint8_t *v = stk_col_at(in, i);
        for (int64_t k = 0; k < each; k++) {
            if (!v[k]) {
                (void)stk_op_fail(r, i, STOKER_EINVAL, "%.*s", has_text ? (int)message->count : 0,
                                  has_text ? message->text : "");
                return stk_op_pass(r, 0, 0, NULL, err);
            }
        }
    }
    return stk_op_pass(r, 0, 0, NULL, err);
}

const struct stk_op stk_op_assert_true = {.name = "assert_true",
                                          .summary = "Asserts that bools are true",
                                          .is_stateful = true,
                                          .cost_ns = 1,
                                          .signature = "bool -> bool",
                                          .run = assert_run,
                                          .args = assert_args};
