// SPDX-License-Identifier: Apache-2.0
// Work moves between host and device. OP:device takes an operation that runs on the host between
// two copies to the device (`op` means any). OP:host takes an operator's kernels to the thread that
// launches them. all:host takes the whole model to the host: is the device worth it at all?
//
// Method. OP:device: the copies, the wait and the thread's work are removed; a kernel replaces them
// on the stream. OP:host: consecutive kernels of the operator on a stream become work of the
// thread, which waits for the stream's earlier work and for a copy of it; the stream continues
// after the copy back. The profile doesn't show what is copied: a kernel that moves data is assumed
// to move it again over a link that is 20 times slower. all:host: kernels become work of the
// threads that launch them; copies, launches and waits are removed. A host's slow-down is a prior,
// from cores and devices of the same period: SLOWER times the kernel's work beyond the fixed time
// of any kernel.
//
// Limits: the host's cores aren't counted; whether the framework has a kernel for the operation
// isn't known; other streams that wait for the moved kernels wait for the copy back.
#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "answers/replay/price_transfers.h"

#define LEAST_NS 10000 // of a kernel that replaces a host operation
#define SETUP_NS 1500  // of any kernel: fixed time, not work
#define CALL_NS 300    // of a host operation, at least

static const double slower[STK_PRICE_LEVELS] = {6, 25, 100}; // slow-down of the whole host
static const double faster[STK_PRICE_LEVELS] = {100, 40,
                                                10}; // speed-up of the device, one operation

static const double link[STK_PRICE_LEVELS] = {1, 20, 80}; // copy time each way, over kernel time
#define COPY_NS 10000                                     // of a copy, at least

static const char *value_of(const char *text)
{
    const char *at = strchr(text, '=');
    return at ? at + 1 : text;
}

static bool is_all(const char *value)
{
    return strcmp(value, "all:host") == 0;
}

static bool place_takes(const char *value)
{
    const char *colon = strrchr(value, ':');
    return colon && colon > value && (strcmp(colon, ":device") == 0 || strcmp(colon, ":host") == 0);
}

static bool is_to_host(const char *value)
{
    return strcmp(strrchr(value, ':'), ":host") == 0;
}

// Does the value, up to its last colon, name it?
static bool is_named(const char *name, const char *value)
{
    size_t n = (size_t)(strrchr(value, ':') - value);
    return name && stk_str_contains_nocase(stk_str_from(name), (struct stk_str){value, n});
}

static bool is_meant(const struct stk_host_op *op, const char *value)
{
    return strncmp(value, "op:", 3) == 0 || is_named(op->name, value);
}

// Why none of the device's operators can move; NULL: one can.
static const char *refuse_to_host(const struct stk_graph *g, const char *value)
{
    for (uint32_t i = 0; i < g->op_count; i++) {
        const struct stk_node *n = &g->nodes[g->ops[i].node];
        if (n->launch != STK_NONE && is_named(g->op_names[g->ops[i].name], value)) {
            return NULL;
        }
    }
    return "no operator of that name launches GPU work";
}

static const char *place_refuse(const struct stk_graph *g)
{
    return stk_price_finds(g, STK_NODE_KERNEL, -1) ? NULL : "no GPU work was recorded";
}

static const char *place_refuse_value(const struct stk_graph *g, const struct stk_price_how *how)
{
    const char *value = value_of(how->text);
    if (is_all(value)) {
        return stk_price_finds(g, STK_NODE_COLLECTIVE, -1)
                   ? "several devices share the work, so one CPU can't replace them"
               : g->counts.unlinked * 20 > g->counts.device_ops
                   ? "some GPU work has no recorded launch"
                   : NULL;
    }
    if (is_to_host(value)) {
        return refuse_to_host(g, value);
    }
    for (uint32_t i = 0; i < g->host_op_count; i++) {
        if (is_meant(&g->host_ops[i], value)) {
            return NULL;
        }
    }
    return g->host_op_count ? "no operation of that name runs on the CPU between two copies"
                            : "no operation runs on the CPU between two data copies";
}

static void drop(struct stk_node *n)
{
    n->dur_ns = 0;
    if (stk_node_is_device(n)) {
        n->gap_ns = n->rest_ns = 0;
    } else if (n->kind == STK_NODE_WAIT) {
        n->wait = STK_NONE;
    }
}

static void move_to_device(struct stk_scene *s, const struct stk_host_op *op,
                           enum stk_price_level level)
{
    STK_ASSERT(op->wait <= op->call && op->call < s->g->node_count);
    struct stk_node *nodes = s->nodes;
    int64_t work_ns = 0;
    for (uint32_t i = op->wait; i <= op->call; i++) {
        bool is_work = i > op->wait && i < op->call && nodes[i].kind == STK_NODE_WORK;
        work_ns += is_work ? nodes[i].dur_ns : 0;
        drop(&nodes[i]);
    }
    uint32_t brings = nodes[op->to_host].launch;
    if (brings != STK_NONE) {
        drop(&nodes[brings]);
    }
    drop(&nodes[op->to_host]);
    struct stk_node *n = &nodes[op->to_device];
    int64_t kernel_ns = stk_price_scaled(work_ns, 1 / faster[level]);
    nodes[op->call].dur_ns = s->g->calibration.call_ns;
    n->kind = STK_NODE_KERNEL;
    n->what = STK_WHAT_OTHER;
    n->dur_ns = kernel_ns > LEAST_NS ? kernel_ns : LEAST_NS;
    n->rest_ns = 0;
}

// Kernels [first, last] of a stream become work of the thread that launches the first of them.
static void move_kernels(struct stk_scene *s, uint32_t first, uint32_t last,
                         enum stk_price_level level)
{
    STK_ASSERT(first <= last && last < s->g->node_count);
    struct stk_node *nodes = s->nodes;
    uint32_t call = nodes[first].launch;
    bool has_before = first > s->g->lanes[nodes[first].lane].first;
    int64_t work_ns = 0, copy_ns = 0;
    for (uint32_t i = first; i <= last; i++) {
        int64_t ns = nodes[i].dur_ns > SETUP_NS ? nodes[i].dur_ns - SETUP_NS : 0;
        work_ns += CALL_NS + stk_price_scaled(ns, slower[level]);
        copy_ns = ns > copy_ns ? ns : copy_ns;
        if (nodes[i].launch != STK_NONE && nodes[i].launch != call) {
            nodes[nodes[i].launch].dur_ns = 0;
        }
        drop(&nodes[i]);
        nodes[i].launch = call;
        nodes[i].lag_ns = 0;
    }
    copy_ns = COPY_NS + stk_price_scaled(copy_ns, link[level]);
    nodes[call].kind = STK_NODE_WAIT;
    nodes[call].what = STK_WHAT_STAGING;
    nodes[call].wait = has_before ? first - 1 : STK_NONE;
    nodes[call].dur_ns = copy_ns + work_ns;
    nodes[call].lag_ns = stk_graph_clamp(copy_ns + work_ns);
    nodes[first].kind = STK_NODE_COPY;
    nodes[first].what = STK_WHAT_H2D_PAGEABLE;
    nodes[first].dur_ns = copy_ns;
    nodes[first].wait = call;
}

// Moves an operator's kernels, consecutive ones on a stream together.
static void move_operator(struct stk_scene *s, const char *value, enum stk_price_level level)
{
    const struct stk_graph *g = s->g;
    for (uint32_t i = 0; i < g->op_count;) {
        uint32_t first = g->ops[i].node, last = first;
        if (g->nodes[first].launch == STK_NONE || !is_named(g->op_names[g->ops[i].name], value)) {
            i++;
            continue;
        }
        for (i++; i < g->op_count && g->ops[i].node == last + 1 &&
                  g->nodes[last + 1].lane == g->nodes[first].lane &&
                  g->nodes[last + 1].step == g->nodes[first].step &&
                  is_named(g->op_names[g->ops[i].name], value);
             i++) {
            last++;
        }
        move_kernels(s, first, last, level);
    }
}

static void move_to_host(struct stk_scene *s, enum stk_price_level level)
{
    struct stk_node *nodes = s->nodes;
    uint32_t count = s->g->node_count;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i].kind == STK_NODE_CALL || nodes[i].kind == STK_NODE_WAIT) {
            drop(&nodes[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        struct stk_node *n = &nodes[i];
        if (n->kind == STK_NODE_KERNEL && n->launch != STK_NONE) {
            int64_t work_ns = n->dur_ns > SETUP_NS ? n->dur_ns - SETUP_NS : 0;
            nodes[n->launch].dur_ns += CALL_NS + stk_price_scaled(work_ns, slower[level]);
        }
        if (stk_node_is_device(n)) {
            drop(n);
            n->lag_ns = 0;
            n->wait = STK_NONE;
        }
    }
}

static bool place_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const char *value = value_of(how->text);
    if (is_all(value)) {
        move_to_host(s, how->level);
        return true;
    }
    if (is_to_host(value)) {
        move_operator(s, value, how->level);
        return true;
    }
    for (uint32_t i = 0; i < s->g->host_op_count; i++) {
        if (is_meant(&s->g->host_ops[i], value)) {
            move_to_device(s, &s->g->host_ops[i], how->level);
        }
    }
    return true;
}

const struct stk_price_row stk_price_place = {
    .id = "place=",
    .value = "op:device",
    .choices = "OP:device|OP:host|all:host",
    .takes = place_takes,
    .what = "move an operation between CPU and GPU, or the whole model to the CPU",
    .assumes = "the operation has such a kernel; a CPU is 6 to 100 times slower",
    .is_priced_alone = true,
    .may_slow = true,
    .refuse = place_refuse,
    .refuse_value = place_refuse_value,
    .apply = place_apply,
};
