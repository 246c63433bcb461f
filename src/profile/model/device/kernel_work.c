// SPDX-License-Identifier: Apache-2.0
// What could be better about the used steps' kernels, judged by their names: matrix products
// without tensor cores, elementwise kernels in a row, layout changes. How much of the GPU their
// grids fill (grid_fill.c), and whether a process's devices work at the same time.
// Limit: names are labels (kernel_names.c).
#include <string.h>

#include "base/alloc.h"
#include "profile/model/device/grid_fill.h"
#include "profile/model/device/kernel_names.h"
#include "profile/model/view.h"

#define CHAIN 2       // kernels that follow each other, at least
#define UNCLASSED 255 // a name that hasn't been classified yet
#define NO_KIND 254
#define A_PART 0.1 // of what the busiest device does

// Consecutive elementwise kernels of a stream.
struct run {
    int64_t ns;
    uint32_t count;
};

struct collect {
    struct stk_analysis *a;
    uint8_t *class;   // per string: enum stk_kernel_kind, or above
    int64_t *ns;      // per string: time of kernels of that kind
    struct run *runs; // per track
    struct stk_kernel_work *out;
};

// Is it one of mixed precision's types?
static bool is_low_precision(const char *precision)
{
    return precision && (strcmp(precision, "fp16") == 0 || strcmp(precision, "bf16") == 0 ||
                         strcmp(precision, "fp8") == 0);
}

static uint8_t class_of(struct collect *c, uint32_t name)
{
    uint8_t *class = &c->class[name];
    if (*class == UNCLASSED) {
        struct stk_str text = stk_strpool_get(&c->a->t->strings, name);
        struct stk_kernel_traits k = stk_kernel_traits_of(text);
        bool is_plain = k.tensor_core == STK_TENSOR_ELIGIBLE &&
                        (!k.precision || strcmp(k.precision, "fp32") == 0);
        bool is_low = k.tensor_core == STK_TENSOR_YES && is_low_precision(k.precision);
        *class = is_plain                          ? STK_KERNEL_PLAIN
                 : is_low                          ? STK_KERNEL_LOW
                 : stk_kernel_changes_layout(text) ? STK_KERNEL_LAYOUT
                 : stk_kernel_is_elementwise(text) ? STK_KERNEL_CHAINED
                                                   : NO_KIND;
    }
    return *class;
}

static void end_run(struct collect *c, struct run *r)
{
    if (r->count >= CHAIN) {
        c->out->kind_ns[STK_KERNEL_CHAINED] += r->ns;
        c->out->kind_count[STK_KERNEL_CHAINED] += r->count;
    }
    *r = (struct run){0};
}

static void add_kernel(struct collect *c, const struct stk_device_op *op)
{
    uint32_t name = c->a->t->name[op->event];
    int64_t ns = op->end_ns - op->start_ns;
    uint8_t class = class_of(c, name);
    struct run *r = &c->runs[stk_track_of(c->a->t, op->event)];
    c->out->all_ns += ns;
    c->ns[name] += ns;
    if (class == STK_KERNEL_CHAINED) {
        r->ns += ns;
        r->count++;
    } else {
        end_run(c, r);
    }
    if (class < STK_KERNEL_KINDS && class != STK_KERNEL_CHAINED) {
        c->out->kind_ns[class] += ns;
        c->out->kind_count[class]++;
    }
}

static bool add_line(struct collect *c, uint32_t d)
{
    const struct stk_trace *t = c->a->t;
    const struct stk_device_line *line = &c->a->lines[d];
    struct stk_spans used;
    stk_spans_init(&used);
    bool ok = stk_view_used(c->a, d, &used);
    struct stk_view_cursor in = {.selected = &used};
    for (uint32_t i = 0; ok && i < line->op_count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        uint8_t kind = t->kind[op->event];
        if (!stk_view_in(&in, op->start_ns)) {
            continue;
        }
        if (kind == STK_KIND_KERNEL) {
            add_kernel(c, op);
        } else {
            end_run(c, &c->runs[stk_track_of(t, op->event)]);
        }
    }
    stk_spans_deinit(&used);
    return ok;
}

static bool name_longest(struct collect *c)
{
    const struct stk_strpool *strings = &c->a->t->strings;
    uint32_t best[STK_KERNEL_KINDS] = {0};
    int64_t *most = c->out->longest_ns;
    for (uint32_t id = 0; id < strings->count; id++) {
        uint8_t class = c->class[id];
        if (class < STK_KERNEL_KINDS && c->ns[id] > most[class]) {
            most[class] = c->ns[id];
            best[class] = id;
        }
    }
    for (int k = 0; k < STK_KERNEL_KINDS; k++) {
        struct stk_str s = stk_strpool_get(strings, best[k]);
        if (c->out->kind_count[k] == 0) {
            most[k] = 0;
        } else if (!(c->out->longest[k] = stk_arena_strndup(c->a->out, s.p, s.n))) {
            return false;
        }
    }
    return true;
}

// The kernel that leaves SMs empty the longest, over all devices.
static bool look_at_grids(struct stk_analysis *a)
{
    struct stk_grid_fill *g = &a->sum->facts.kernels.grids;
    int64_t *empty_ns = stk_alloc_zero((size_t)a->t->strings.count + 1, sizeof *empty_ns);
    bool ok = empty_ns != NULL;
    for (uint32_t d = 0; ok && d < a->sum->device_count; d++) {
        ok = !a->sum->devices[d].analysed || stk_grid_fill_add(a, d, empty_ns, g);
    }
    uint32_t most = 0;
    for (uint32_t id = 1; ok && id < a->t->strings.count; id++) {
        most = empty_ns[id] > empty_ns[most] ? id : most;
    }
    if (ok && empty_ns[most] > 0) {
        struct stk_str name = stk_strpool_get(&a->t->strings, most);
        g->emptiest_ns = empty_ns[most];
        g->emptiest = stk_arena_strndup(a->out, name.p, name.n);
        ok = g->emptiest != NULL;
    }
    stk_free(empty_ns);
    return ok;
}

// Only devices that do a part of the work count: one that only holds a copy doesn't take turns.
static bool look_at_turns(struct stk_analysis *a)
{
    struct stk_kernel_work *f = &a->sum->facts.kernels;
    struct stk_spans any;
    int64_t most_ns = 0;
    bool ok = true;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        int64_t ns = a->sum->devices[d].compute_ns;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    stk_spans_init(&any);
    for (uint32_t d = 0; ok && d < a->sum->device_count; d++) {
        struct stk_spans both;
        if (!a->sum->devices[d].analysed ||
            (double)a->sum->devices[d].compute_ns < A_PART * (double)most_ns) {
            continue;
        }
        stk_spans_init(&both);
        ok = stk_spans_union(&any, &a->lines[d].busy, &both);
        stk_spans_deinit(&any);
        any = both;
        f->devices++;
        f->devices_busy_ns = stk_add_ns(f->devices_busy_ns, stk_spans_total(&a->lines[d].busy));
    }
    f->any_busy_ns = stk_spans_total(&any);
    stk_spans_deinit(&any);
    return ok;
}

bool stk_kernel_work_find(struct stk_analysis *a)
{
    size_t names = (size_t)a->t->strings.count + 1;
    struct collect c = {.a = a, .out = &a->sum->facts.kernels};
    if (a->sum->device_count == 0) {
        return true;
    }
    c.class = stk_alloc(names);
    c.ns = stk_alloc_zero(names, sizeof *c.ns);
    c.runs = stk_alloc_zero((size_t)a->t->track_count + 1, sizeof *c.runs);
    bool ok = c.class && c.ns && c.runs;
    if (ok) {
        memset(c.class, UNCLASSED, names);
    }
    for (uint32_t d = 0; ok && d < a->sum->device_count; d++) {
        ok = !a->sum->devices[d].analysed || add_line(&c, d);
    }
    for (uint32_t k = 0; ok && k < a->t->track_count; k++) {
        end_run(&c, &c.runs[k]);
    }
    ok = ok && name_longest(&c) && look_at_grids(a) &&
         (a->sum->device_count < 2 || look_at_turns(a));
    stk_free(c.class);
    stk_free(c.ns);
    stk_free(c.runs);
    return ok;
}
