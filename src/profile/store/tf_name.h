// SPDX-License-Identifier: Apache-2.0
// TensorFlow's names of operations: "model/layer/MatMul:MatMul", the path in the graph and the type
// (tsl/profiler/utils/tf_op_utils.cc).
#pragma once

#include <string.h>

#include "base/str.h"

struct stk_tf_name {
    struct stk_str path, type; // both empty: not such a name
};

// Needs both parts; "aten::mm" and "EagerExecute: MatMul" don't qualify. The type itself isn't
// checked.
static inline struct stk_tf_name stk_tf_name_parse(struct stk_str name)
{
    const char *colon = name.n ? memchr(name.p, ':', name.n) : NULL;
    size_t before = colon ? (size_t)(colon - name.p) : 0;
    if (before == 0 || before + 1 == name.n || colon[1] == ':' || colon[1] == ' ') {
        return (struct stk_tf_name){STK_STR(""), STK_STR("")};
    }
    return (struct stk_tf_name){{name.p, before}, {colon + 1, name.n - before - 1}};
}
