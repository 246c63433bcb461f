// SPDX-License-Identifier: Apache-2.0
// Lanes of streams: the device work that the steps launched, in the order in which it ran.
//
// Work launched before the first step only determines when a stream becomes free. So does a long
// queue launched before the recording began (the host was ahead; stream_heads.h). Other work
// without a recorded launch call belongs to the steps during which it ran; the gate counts it.
#include "base/alloc.h"
#include "profile/model/device/kernel_names.h"
#include "profile/model/device/stream_heads.h"
#include "answers/replay/graph.h"

#include <string.h>

#define WHAT_UNKNOWN 255
#define MAX_LANES 4096
#define LONG_HEAD 0.2 // of a stream's work
// A kernel that fills the device runs this long, and has more blocks than its SMs hold at a time,
// or about one per SM, like persistent kernels, which process tile after tile.
#define FILLING_BLOCKS 3.0
#define PERSISTENT_BLOCKS 0.9
#define FILLING_NS (80 * STK_US)
#define NEAR 16 // host nodes to check before a search

struct devices {
    struct stk_graph_build *b;
    uint8_t *by_name; // per string: the class of a kernel with that name
    uint32_t *fill;   // per lane of a stream: the position of its next node; of a thread: the last
                      // call
    struct stk_stream_head *heads; // per track
};

static enum stk_node_what matrix_of(const struct stk_kernel_traits *k)
{
    if (k->precision && strcmp(k->precision, "tf32") == 0) {
        return STK_WHAT_MATRIX_TF32;
    }
    bool is_32 =
        k->tensor_core != STK_TENSOR_YES && (!k->precision || strcmp(k->precision, "fp32") == 0);
    return is_32 ? STK_WHAT_MATRIX_32 : STK_WHAT_MATRIX_16;
}

// By words that libraries and compilers use in kernel names.
static enum stk_node_what kernel_what(struct stk_str name)
{
    static const char *const optimizer[] = {"adam",      "multi_tensor", "sgd",
                                            "optimizer", "momentum",     NULL};
    static const char *const scaling[] = {"non_finite", "isfinite", "is_finite", "amp_update_scale",
                                          NULL};
    static const char *const fused[] = {"loop_", "fusion", "triton_poi", NULL};
    static const char *const matrix[] = {"gemm", "conv", "xmma", NULL};
    struct stk_kernel_traits traits = stk_kernel_traits_of(name);
    bool is_known =
        traits.tensor_core == STK_TENSOR_YES || traits.tensor_core == STK_TENSOR_ELIGIBLE;
    bool is_named = traits.tensor_core == STK_TENSOR_UNKNOWN && traits.precision;
    bool is_untold =
        stk_str_contains_nocase(name, STK_STR("gemm_fusion")); // a product, of any type
    return is_known || (is_named && stk_str_contains_any_nocase(name, matrix)) ? matrix_of(&traits)
           : stk_str_contains_any_nocase(name, scaling)                        ? STK_WHAT_SCALING
           : stk_str_contains_any_nocase(name, optimizer)                      ? STK_WHAT_OPTIMIZER
           : is_untold                                                         ? STK_WHAT_OTHER
           : stk_str_contains_any_nocase(name, fused)                          ? STK_WHAT_FUSED
           : stk_kernel_is_elementwise(name) ? STK_WHAT_ELEMENTWISE
                                             : STK_WHAT_OTHER;
}

static enum stk_node_what copy_what(const struct stk_ext *x)
{
    bool back = x && x->dir == STK_DIR_D2H, to = x && x->dir == STK_DIR_H2D;
    bool pageable = x && (back ? x->dst_mem : x->src_mem) == STK_MEM_PAGEABLE;
    return to     ? pageable ? STK_WHAT_H2D_PAGEABLE : STK_WHAT_H2D
           : back ? pageable ? STK_WHAT_D2H_PAGEABLE : STK_WHAT_D2H
                  : STK_WHAT_OTHER;
}

// Does the kernel fill the device, judged by its blocks and its time?
static bool fills_device(const struct stk_trace *t, const struct stk_device_op *op)
{
    const struct stk_launch_config *c = stk_config_of(t, op->event);
    uint32_t track = stk_track_of(t, op->event);
    uint32_t device = track == STK_NONE ? STK_NONE : t->tracks[track].device;
    if (!c || device == STK_NONE || t->devices[device].sm_count <= 0) {
        return false;
    }
    double each = (double)c->grid[0] * c->grid[1] * c->grid[2] / t->devices[device].sm_count;
    bool fills = each >= FILLING_BLOCKS || (each >= PERSISTENT_BLOCKS && each <= 1);
    return fills && stk_dur_ns(t, op->event) >= FILLING_NS;
}

static void describe(struct devices *d, const struct stk_device_op *op, uint32_t launch,
                     struct stk_node *n)
{
    const struct stk_trace *t = d->b->a->t;
    uint8_t kind = t->kind[op->event];
    const struct stk_ext *x = stk_ext_of(t, op->event);
    if (kind == STK_KIND_MEMCPY || kind == STK_KIND_MEMSET) {
        n->kind = STK_NODE_COPY;
        n->what = kind == STK_KIND_MEMCPY ? (uint8_t)copy_what(x) : STK_WHAT_OTHER;
        if (x && x->flags & STK_EXT_VALUE && x->value > 0) {
            n->size = x->value >> 10 < UINT32_MAX ? (uint32_t)(x->value >> 10) : UINT32_MAX;
        }
        return;
    }
    n->kind = kind == STK_KIND_COLLECTIVE ? STK_NODE_COLLECTIVE : STK_NODE_KERNEL;
    uint8_t *what = &d->by_name[t->name[op->event]];
    if (*what == WHAT_UNKNOWN) {
        *what = (uint8_t)kernel_what(stk_name_of(t, op->event));
    }
    n->what = *what;
    bool is_matrix =
        *what == STK_WHAT_MATRIX_32 || *what == STK_WHAT_MATRIX_TF32 || *what == STK_WHAT_MATRIX_16;
    if (is_matrix && launch != STK_NONE && t->detail_count) {
        n->size = stk_graph_shapes(t, launch);
    }
    if (is_matrix && n->size == STK_ALIGNMENT_UNKNOWN && fills_device(t, op)) {
        n->size = STK_ALIGNMENT_UNKNOWN_FILLS;
    }
}

// Finds the heads of streams to leave out: those with more than LONG_HEAD of their work. A shorter
// head belongs to the steps in which it ran, just as part of each step runs in the next. Fixes
// change its nodes, too.
static bool find_heads(struct devices *d)
{
    const struct stk_analysis *a = d->b->a;
    d->heads = stk_alloc_zero((size_t)a->t->track_count + 1, sizeof *d->heads);
    for (uint32_t l = 0; d->heads && l < a->sum->device_count; l++) {
        stk_stream_heads_find(a, &a->lines[l], d->heads);
    }
    return d->heads != NULL;
}

static bool was_queued(const struct devices *d, const struct stk_device_op *op)
{
    const struct stk_stream_head *h = &d->heads[stk_stream_of(d->b->a->t, op->event)];
    bool is_long = h->count > LONG_HEAD * (double)(h->count + h->linked);
    return is_long && stk_stream_head_is_queue(d->b->a, h) && op->start_ns < h->behind_ns;
}

enum where { BEFORE, INSIDE, AFTER };

// The step that an operation belongs to: `at_ns` is when it was launched, else when it began.
static enum where place(const struct devices *d, const struct stk_device_op *op, uint32_t launch,
                        int64_t at_ns)
{
    if (at_ns < d->b->from_ns || (launch == STK_NONE && was_queued(d, op))) {
        return BEFORE;
    }
    return at_ns >= d->b->to_ns ? AFTER : INSIDE;
}

static int64_t placed_at(const struct devices *d, const struct stk_device_op *op, uint32_t launch)
{
    return launch == STK_NONE ? op->start_ns : d->b->a->t->start_ns[launch];
}

// The host node that contains a launch, usually shortly after that of the previous launch.
static uint32_t find_call(struct devices *d, uint16_t lane, int64_t at_ns)
{
    const struct stk_lane *l = stk_vec_at(&d->b->lanes, lane);
    const struct stk_node *nodes = d->b->nodes.items;
    uint32_t end = l->first + l->count, i = d->fill[lane] ? d->fill[lane] : l->first;
    for (uint32_t n = 0; n < NEAR && i < end && nodes[i].start_ns <= at_ns; n++, i++) {
        if (at_ns < stk_node_end(&nodes[i])) {
            return d->fill[lane] = i;
        }
    }
    i = stk_graph_node_at(d->b, lane, at_ns);
    d->fill[lane] = i != STK_NONE ? i : d->fill[lane];
    return i;
}

static struct stk_node node_of(struct devices *d, const struct stk_device_op *op, uint32_t launch,
                               int64_t at_ns)
{
    const struct stk_graph_build *b = d->b;
    const struct stk_node *nodes = b->nodes.items;
    struct stk_node n = {.start_ns = op->start_ns,
                         .dur_ns = op->end_ns - op->start_ns,
                         .launch = STK_NONE,
                         .wait = STK_NONE};
    uint32_t thread = launch != STK_NONE ? stk_thread_of(b->a, launch) : STK_NONE;
    uint16_t lane = thread != STK_NONE ? b->lane_of[thread] : 0;
    n.launch = lane ? find_call(d, (uint16_t)(lane - 1), at_ns) : STK_NONE;
    n.step = n.launch != STK_NONE ? nodes[n.launch].step : stk_graph_step_at(b, at_ns);
    return n;
}

static bool add_lane(struct stk_graph_build *b, uint32_t track)
{
    if (b->lanes.count >= MAX_LANES) {
        b->g->why_not = "its work is on more than 4096 threads and streams";
        return true;
    }
    struct stk_lane *lane = stk_vec_push(&b->lanes);
    if (!lane) {
        return false;
    }
    *lane = (struct stk_lane){.track = track, .free_ns = INT64_MIN, .is_device = true};
    b->lane_of[track] = (uint16_t)b->lanes.count;
    return true;
}

// First pass over a device: its lanes, the number of nodes of each, and when it becomes free.
// Stops, and says so, if there are too many nodes.
static bool count_line(struct devices *d, const struct stk_device_line *line)
{
    struct stk_graph_build *b = d->b;
    const struct stk_trace *t = b->a->t;
    for (uint32_t i = 0; i < line->op_count; i++) {
        uint32_t track = stk_stream_of(t, line->ops[i].event);
        uint32_t launch = stk_launch_of(b->a, line->ops[i].event);
        if (!b->lane_of[track] && !add_lane(b, track)) {
            return false;
        }
        if (b->g->why_not) {
            return true;
        }
        struct stk_lane *lane = stk_vec_at(&b->lanes, (size_t)b->lane_of[track] - 1);
        enum where where = place(d, &line->ops[i], launch, placed_at(d, &line->ops[i], launch));
        if (where == INSIDE) {
            lane->count++;
        } else if (where == BEFORE && line->ops[i].end_ns > lane->free_ns && !lane->count) {
            lane->free_ns = line->ops[i].end_ns;
        }
    }
    return true;
}

// Stores what else is kept of a node of the graph. False: no memory.
static bool keep_more(struct devices *d, uint32_t line, const struct stk_device_op *op,
                      uint32_t launch, const struct stk_node *n, uint32_t at)
{
    struct stk_graph_build *b = d->b;
    if (b->wants_events) {
        uint32_t *first = stk_vec_at(&b->events, at);
        *first = op->event;
    }
    return n->kind == STK_NODE_COLLECTIVE ? stk_graph_message(b, line, op, at)
           : n->kind == STK_NODE_KERNEL   ? stk_graph_op(b, op->event, launch, at)
                                          : true;
}

static bool fill_line(struct devices *d, uint32_t index)
{
    const struct stk_device_line *line = &d->b->a->lines[index];
    struct stk_graph_build *b = d->b;
    const struct stk_trace *t = b->a->t;
    struct stk_node *nodes = b->nodes.items;
    for (uint32_t i = 0; i < line->op_count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        uint32_t launch = stk_launch_of(b->a, op->event);
        int64_t at_ns = placed_at(d, op, launch);
        if (place(d, op, launch, at_ns) != INSIDE) {
            continue;
        }
        struct stk_node n = node_of(d, op, launch, at_ns);
        n.lane = (uint16_t)(b->lane_of[stk_stream_of(t, op->event)] - 1);
        describe(d, op, launch, &n);
        b->g->counts.device_ops++;
        b->g->counts.unlinked += n.launch == STK_NONE;
        uint32_t at = d->fill[n.lane]++;
        if (!keep_more(d, index, op, launch, &n, at)) {
            return false;
        }
        nodes[at] = n;
    }
    return true;
}

// Makes room for the nodes of all streams, after those of the threads.
static bool reserve(struct devices *d)
{
    struct stk_graph_build *b = d->b;
    size_t total = b->nodes.count;
    d->fill = stk_alloc_zero(b->lanes.count + 1, sizeof *d->fill);
    for (size_t i = 0; d->fill && i < b->lanes.count; i++) {
        struct stk_lane *lane = stk_vec_at(&b->lanes, i);
        if (lane->is_device) {
            lane->first = d->fill[i] = (uint32_t)total;
            total += lane->count;
        }
    }
    size_t more = total - b->nodes.count;
    bool ok = !b->wants_events || more == 0 || stk_vec_push_n(&b->events, more);
    return d->fill && total < UINT32_MAX && ok && (more == 0 || stk_vec_push_n(&b->nodes, more));
}

static void name_device(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    for (uint32_t i = 0; i < a->sum->device_count; i++) {
        if (stk_view_has_device(a, i)) {
            const struct stk_device *d = &a->t->devices[a->lines[i].device];
            b->g->rates = stk_device_rates_of(stk_strpool_get(&a->t->strings, d->name), &d->limits);
            return;
        }
    }
}

bool stk_graph_devices(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    struct devices d = {.b = b};
    bool ok = find_heads(&d);
    d.by_name = stk_alloc(a->t->strings.count + 1);
    if (d.by_name) {
        memset(d.by_name, WHAT_UNKNOWN, a->t->strings.count + 1);
    }
    for (uint32_t i = 0; ok && !b->g->why_not && i < a->sum->device_count; i++) {
        ok = !stk_view_has_device(a, i) || count_line(&d, &a->lines[i]);
    }
    ok = ok && d.by_name && (b->g->why_not || reserve(&d));
    for (uint32_t i = 0; ok && !b->g->why_not && i < a->sum->device_count; i++) {
        ok = !stk_view_has_device(a, i) || fill_line(&d, i);
    }
    b->g->has_device = b->g->counts.device_ops > 0;
    name_device(b);
    stk_free(d.by_name);
    stk_free(d.fill);
    stk_free(d.heads);
    return ok;
}
