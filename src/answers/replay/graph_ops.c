// SPDX-License-Identifier: Apache-2.0
// Which operator a kernel belongs to: the innermost operation of the framework around its launch,
// else the kernel's own name. Names are kept once each, as a graph outlives its trace.
//
// Limits: operators beyond MOST_NAMES are left out; a compiler's module is one operator.
#include <string.h>

#include "base/alloc.h"
#include "answers/replay/graph.h"

#define MOST_NAMES 4096
#define MOST_BACK 256 // events before a launch to search for its operator

static uint32_t operator_of(const struct stk_trace *t, uint32_t launch)
{
    const struct stk_track *row = &t->tracks[stk_track_of(t, launch)];
    uint8_t depth = t->depth[launch];
    for (uint32_t e = launch, n = 0; e-- > row->first && n < MOST_BACK && depth > 0; n++) {
        if (t->depth[e] < depth) {
            depth = t->depth[e];
            if (t->kind[e] == STK_KIND_HOST_OP) {
                return t->name[e];
            }
        }
    }
    return STK_NONE;
}

bool stk_graph_op(struct stk_graph_build *b, uint32_t event, uint32_t launch, uint32_t node)
{
    const struct stk_trace *t = b->a->t;
    if (!b->wants_ops) {
        return true;
    }
    if (!b->op_index) {
        b->op_index = stk_alloc_zero((size_t)t->strings.count + 1, sizeof *b->op_index);
        b->g->op_names = stk_arena_array(b->arena, MOST_NAMES, sizeof *b->g->op_names);
        if (!b->op_index || !b->g->op_names) {
            return false;
        }
    }
    uint32_t name = launch != STK_NONE ? operator_of(t, launch) : STK_NONE;
    name = name == STK_NONE ? t->name[event] : name;
    if (!b->op_index[name]) {
        if (b->g->op_name_count == MOST_NAMES) {
            return true;
        }
        struct stk_str text = stk_strpool_get(&t->strings, name);
        const char *copy = stk_arena_strndup(b->arena, text.p, text.n);
        if (!copy) {
            return false;
        }
        b->g->op_names[b->g->op_name_count++] = copy;
        b->op_index[name] = (uint16_t)b->g->op_name_count;
    }
    struct stk_graph_op *op = stk_vec_push(&b->ops);
    if (op) {
        *op = (struct stk_graph_op){node, b->op_index[name] - 1u};
    }
    return op != NULL;
}
