// SPDX-License-Identifier: Apache-2.0
// Finds the stage that limited a run: the one with the most own time per thread, including waits
// for disks and for the GIL, because a wait for the stage includes these. Stages that only pass on
// (prefetch) have none. The limit is named by its remedy.
// If all stages would fit in the consumer's step time, the missing prefetch is the limit.
#include "engine/run/recorder_limit.h"

#include <stdio.h>

#include "engine/run/stage_name.h"
#include "wire/limits.h"

static bool is_host_call(const struct stk_fn_node *node)
{
    return node->op->is_host_call;
}

// Operations that do several things may also decode (attribute "decode").
static bool decodes(const struct stk_fn_node *node)
{
    return node->op->decodes || stk_attrs_int(node->attrs, "decode", 0) != 0;
}

// The first such node of the stage's function. NULL: none.
static const struct stk_fn_node *find_node(const struct stk_iter *it,
                                           bool (*is_so)(const struct stk_fn_node *node))
{
    const struct stk_attr *a = stk_attrs_get(it->ds->attrs, "fn");
    for (int i = 0; a && a->kind == STK_ATTR_FN && i < a->fn->n_nodes; i++) {
        if (is_so(&a->fn->nodes[i])) {
            return &a->fn->nodes[i];
        }
    }
    return NULL;
}

// The kind's own limit, if its function doesn't suggest a more specific one.
static enum stk_wire_limit limit_of(enum stk_dataset_role role, bool is_parallel)
{
    switch (role) {
    case STK_DS_FILES:
        return STK_WIRE_LIMIT_READ;
    case STK_DS_PROGRAM:
        return STK_WIRE_LIMIT_GENERATOR;
    case STK_DS_BATCH:
    case STK_DS_PAD:
        return STK_WIRE_LIMIT_BATCH;
    case STK_DS_FUNCTION:
    case STK_DS_NESTED:
        return is_parallel ? STK_WIRE_LIMIT_MAP_PARALLEL : STK_WIRE_LIMIT_MAP;
    default:
        return STK_WIRE_LIMIT_OTHER;
    }
}

static enum stk_wire_limit what_of(const struct stk_iter *it, const char **where)
{
    const struct stk_fn_node *node = find_node(it, is_host_call);
    *where = it->ds->where;
    if (node) {
        *where = node->where ? node->where : *where;
        return STK_WIRE_LIMIT_PYTHON;
    }
    bool is_parallel = it->stats.threads > 1;
    if (find_node(it, decodes)) {
        return is_parallel ? STK_WIRE_LIMIT_DECODE_PARALLEL : STK_WIRE_LIMIT_DECODE;
    }
    return limit_of(it->kind->role, is_parallel);
}

// ns per thread
static uint64_t own_ns(const struct stk_iter *it)
{
    uint64_t held = __atomic_load_n(&it->stats.held_ns, __ATOMIC_RELAXED);
    uint32_t threads = __atomic_load_n(&it->stats.threads, __ATOMIC_RELAXED);
    return it->kind->role == STK_DS_AHEAD ? 0 : held / (threads ? threads : 1);
}

static void find_most(const struct stk_iter *it, const struct stk_iter **most, uint64_t *most_ns,
                      uint64_t *all_ns)
{
    uint64_t ns = own_ns(it);
    *all_ns += ns;
    if (ns > *most_ns) {
        *most = it;
        *most_ns = ns;
    }
    for (int k = 0; k < it->n_in; k++) {
        if (it->in[k]) {
            find_most(it->in[k], most, most_ns, all_ns);
        }
    }
}

// Does a stage work ahead of the step?
static bool is_buffered(const struct stk_iter *root)
{
    const struct stk_iter *it = root;
    while (it && it->kind->role != STK_DS_AHEAD) {
        it = it->n_in > 0 ? it->in[0] : NULL;
    }
    return it != NULL;
}

bool stk_recorder_limit(const struct stk_iter *root, uint64_t step_ns, char *text, size_t capacity)
{
    const struct stk_iter *most = NULL;
    uint64_t most_ns = 0, all_ns = 0;
    const char *where;
    char stage[STK_STAGE_NAME], place[256];
    find_most(root, &most, &most_ns, &all_ns);
    if (!most) {
        return false;
    }
    enum stk_wire_limit what = what_of(most, &where);
    if (most_ns < step_ns && !is_buffered(root)) {
        what = STK_WIRE_LIMIT_UNBUFFERED; // it would overlap with the steps
    }
    stk_stage_name(most, stage);
    snprintf(place, sizeof place, "%s", where ? where : "");
    for (char *c = place; *c; c++) {
        *c = *c == '|' ? '/' : *c;
    }
    snprintf(text, capacity, "%s|%s|%s|%llu", stk_wire_limit_word(what), place, stage,
             (unsigned long long)(most_ns * 100 / all_ns));
    return true;
}
