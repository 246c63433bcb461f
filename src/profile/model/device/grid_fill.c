// SPDX-License-Identifier: Apache-2.0
// How much of a device the kernels' grids reach: while kernels run in the used steps, the share of
// its SMs that get a block. A kernel with fewer blocks than SMs leaves the others empty, unless
// another kernel runs at the same time.
//
// Method: one pass over a device's operations in order of their start. The SMs of concurrent
// kernels add up, to all SMs at most, and are averaged over time. So SMs that another stream's
// kernels fill don't count as empty. Collectives are left out: they are meant to take few SMs. Time
// with a kernel whose grid isn't recorded is unknown, as is all time of a device whose number of
// SMs isn't.
// Limits: blocks that wait for an SM count like those that run, and how well a block uses its SM
// isn't visible.
#include "profile/model/device/grid_fill.h"

#include "profile/model/view.h"

#define AT_ONCE 128 // concurrent kernels of a device; with more, it counts as full

struct running {
    int64_t end_ns;
    double share; // of the SMs; below 0: not known
    uint32_t name;
};

struct sweep {
    struct running now[AT_ONCE];
    int count;
    int64_t at_ns;
    int64_t *empty_ns; // per string: while a kernel of that name runs
    struct stk_grid_fill *out;
};

static int64_t first_end(const struct sweep *s, int64_t to_ns)
{
    for (int i = 0; i < s->count; i++) {
        to_ns = s->now[i].end_ns < to_ns ? s->now[i].end_ns : to_ns;
    }
    return to_ns;
}

// The empty share counts for the largest running kernel, the only one that could use it.
static void add_time(struct sweep *s, int64_t ns)
{
    const struct running *largest = &s->now[0];
    double share = 0;
    s->out->kernels_ns += ns;
    for (int i = 0; i < s->count; i++) {
        const struct running *r = &s->now[i];
        if (r->share < 0) {
            return;
        }
        share += r->share;
        largest = r->share > largest->share ? r : largest;
    }
    s->out->known_ns += ns;
    if (share < 1) {
        int64_t empty_ns = (int64_t)((double)ns * (1 - share));
        s->out->empty_ns += empty_ns;
        s->empty_ns[largest->name] += empty_ns;
    }
}

static void go_on(struct sweep *s, int64_t to_ns)
{
    while (s->count > 0 && s->at_ns < to_ns) {
        int64_t next_ns = first_end(s, to_ns);
        int left = 0;
        if (next_ns > s->at_ns) {
            add_time(s, next_ns - s->at_ns);
            s->at_ns = next_ns;
        }
        for (int i = 0; i < s->count; i++) {
            if (s->now[i].end_ns > next_ns) {
                s->now[left++] = s->now[i];
            }
        }
        s->count = left;
    }
    s->at_ns = s->at_ns < to_ns ? to_ns : s->at_ns;
}

static void begin(struct sweep *s, const struct stk_device_op *op, double share, uint32_t name)
{
    struct running *r = s->count < AT_ONCE ? &s->now[s->count++] : &s->now[0];
    if (s->count == AT_ONCE) {
        share = 1;
    }
    *r = (struct running){op->end_ns, share, name};
}

// Below 0: not known.
static double share_of(const struct stk_trace *t, const struct stk_device *d, uint32_t event)
{
    const struct stk_launch_config *c = stk_config_of(t, event);
    double blocks = c ? (double)c->grid[0] * (double)c->grid[1] * (double)c->grid[2] : 0;
    return blocks < 1 || d->sm_count <= 0 ? -1 : blocks / d->sm_count;
}

bool stk_grid_fill_add(const struct stk_analysis *a, uint32_t line, int64_t *empty_ns,
                       struct stk_grid_fill *out)
{
    const struct stk_trace *t = a->t;
    const struct stk_device_line *l = &a->lines[line];
    const struct stk_device *device = &t->devices[l->device];
    struct sweep s = {.at_ns = INT64_MIN, .empty_ns = empty_ns, .out = out};
    struct stk_spans used;
    stk_spans_init(&used);
    bool ok = stk_view_used(a, line, &used);
    struct stk_view_cursor in = {.selected = &used};
    for (uint32_t i = 0; ok && i < l->op_count; i++) {
        const struct stk_device_op *op = &l->ops[i];
        if (t->kind[op->event] != STK_KIND_KERNEL || !stk_view_in(&in, op->start_ns)) {
            continue;
        }
        double share = share_of(t, device, op->event);
        go_on(&s, op->start_ns);
        begin(&s, op, share, t->name[op->event]);
        out->kernels++;
        out->small += share >= 0 && share < 1;
    }
    go_on(&s, INT64_MAX);
    stk_spans_deinit(&used);
    out->multiprocessors = device->sm_count > 0 ? (uint32_t)device->sm_count : out->multiprocessors;
    return ok;
}
