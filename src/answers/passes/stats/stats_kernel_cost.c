// SPDX-License-Identifier: Apache-2.0
// The operations and bytes of kernels, and whether these limit them. PyTorch's operators have
// shapes, kernels don't: an operator's cost (readers keep it as a configuration of the host event)
// goes to the kernels that it launched itself. If operators with a cost are nested, the innermost
// counts. The cost of a matrix product or convolution goes to the kernels that compute one, in
// proportion to their time, any other to its only kernel. XLA records the cost of each operation:
// nothing to do. Method: one pass over each host thread with a stack of open operators. Limits:
// data from a cache doesn't reach the memory, so a share may be above 1: it is shown as 1.
// Operators deeper than 64 count for the one around them.
#include "base/map.h"
#include "answers/passes/stats/stats_kernels.h"

#define OPEN_MAX 64
#define LATENCY_SHARE 0.1 // of both limits: below it, neither limits the kernel

struct open_op {
    int64_t end_ns;
    const struct stk_launch_config *cost;
    size_t first; // of its kernels among those waiting
};
struct sweep {
    const struct stk_analysis *view;
    const struct stk_map *row_of;
    const uint32_t *owner; // NULL: rows are of the kernels' names
    const uint8_t *chosen;
    struct stk_kernel_facts *facts;
    struct stk_vec waiting; // uint32_t: kernels of open operators
    struct open_op open[OPEN_MAX];
    int depth;
};

static struct stk_kernel_facts *facts_of(const struct sweep *s, uint32_t event)
{
    const struct stk_trace *t = s->view->t;
    uint32_t track = stk_track_of(t, event);
    uint32_t device = track == STK_NONE ? STK_NONE : t->tracks[track].device;
    const uint32_t *row = stk_map_get(s->row_of, stk_kernel_row_id(t, s->owner, event), device);
    return row ? &s->facts[*row - 1] : NULL;
}

static bool computes_product(const struct stk_kernel_facts *f, bool or_unknown)
{
    enum stk_tensor_core use = f->traits.tensor_core;
    return use == STK_TENSOR_YES || use == STK_TENSOR_ELIGIBLE ||
           (or_unknown && use == STK_TENSOR_UNKNOWN);
}

// The time of the operator's kernels that get its cost.
static int64_t bearing_ns(const struct sweep *s, const struct open_op *op, bool or_unknown)
{
    const uint32_t *kernels = s->waiting.items;
    int64_t sum_ns = 0;
    for (size_t i = op->first; i < s->waiting.count; i++) {
        const struct stk_kernel_facts *f = facts_of(s, kernels[i]);
        if (f && (op->cost->flops < 0 || computes_product(f, or_unknown))) {
            sum_ns += stk_dur_ns(s->view->t, kernels[i]);
        }
    }
    return sum_ns;
}

static void give_cost(struct sweep *s, const struct open_op *op)
{
    const uint32_t *kernels = s->waiting.items;
    size_t n = s->waiting.count - op->first;
    bool product = op->cost->flops >= 0, or_unknown = false;
    if (n == 0 || (!product && n != 1)) {
        return;
    }
    int64_t all_ns = bearing_ns(s, op, false);
    if (all_ns == 0 && product) {
        all_ns = bearing_ns(s, op, or_unknown = true);
    }
    if (all_ns == 0) {
        return;
    }
    for (size_t i = op->first; i < s->waiting.count; i++) {
        struct stk_kernel_facts *f = facts_of(s, kernels[i]);
        int64_t ns = stk_dur_ns(s->view->t, kernels[i]);
        bool is_chosen = s->chosen[kernels[i] / 8] >> kernels[i] % 8 & 1;
        if (!f || !is_chosen || (product && !computes_product(f, or_unknown))) {
            continue;
        }
        double part = (double)ns / (double)all_ns;
        if (product) {
            f->flops += part * (double)op->cost->flops;
            f->flops_ns += ns;
        }
        if (op->cost->bytes >= 0) {
            f->bytes += part * (double)op->cost->bytes;
            f->bytes_ns += ns;
        }
    }
}

static void kernel_cost_close_ended(struct sweep *s, int64_t t_ns)
{
    while (s->depth && s->open[s->depth - 1].end_ns <= t_ns) {
        give_cost(s, &s->open[--s->depth]);
        s->waiting.count = s->open[s->depth].first;
    }
}

static bool add_launch(struct sweep *s, uint32_t call)
{
    const struct stk_trace *t = s->view->t;
    for (uint32_t e = t->ref[call]; e != STK_NONE; e = t->ext[t->ref[e]].next) {
        uint32_t *kept = t->kind[e] == STK_KIND_KERNEL ? stk_vec_push_raw(&s->waiting) : NULL;
        if (kept) {
            *kept = e;
        } else if (t->kind[e] == STK_KIND_KERNEL) {
            return false;
        }
    }
    return true;
}

static bool sweep_thread(struct sweep *s, const struct stk_track *track)
{
    const struct stk_trace *t = s->view->t;
    s->depth = 0;
    s->waiting.count = 0;
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        if (t->ref[e] == STK_NONE) {
            continue;
        }
        const struct stk_launch_config *cost = stk_config_of(t, e);
        bool launch = t->kind[e] == STK_KIND_RUNTIME;
        if (!launch && !cost) {
            continue;
        }
        kernel_cost_close_ended(s, t->start_ns[e]);
        if (launch && s->depth && !add_launch(s, e)) {
            return false;
        }
        if (!launch && s->depth < OPEN_MAX) {
            s->open[s->depth++] = (struct open_op){stk_end_ns(t, e), cost, s->waiting.count};
        }
    }
    kernel_cost_close_ended(s, INT64_MAX);
    return true;
}

uint32_t stk_kernel_row_id(const struct stk_trace *t, const uint32_t *owner, uint32_t event)
{
    return owner && owner[event] >= STK_OWNER_FIRST ? owner[event] - STK_OWNER_FIRST
                                                    : t->name[event];
}

bool stk_kernel_cost_add(const struct stk_analysis *view, const struct stk_map *row_of,
                         const uint32_t *owner, const uint8_t *chosen,
                         struct stk_kernel_facts *facts)
{
    const struct stk_trace *t = view->t;
    struct sweep s = {
        .view = view, .row_of = row_of, .owner = owner, .chosen = chosen, .facts = facts};
    bool ok = true;
    stk_vec_init(&s.waiting, sizeof(uint32_t), UINT32_MAX - 1);
    for (uint32_t k = 0; k < t->track_count && ok; k++) {
        if (t->tracks[k].kind == STK_TRACK_THREAD && view->in_rank[t->tracks[k].process]) {
            ok = sweep_thread(&s, &t->tracks[k]);
        }
    }
    stk_vec_deinit(&s.waiting);
    return ok;
}

const char *stk_kernel_bound(const struct stk_kernel_facts *f, double *roof_share)
{
    double compute = -1, memory = -1;
    *roof_share = -1;
    if (f->flops_ns > 0 && f->peak_flops > 0) {
        compute = f->flops / ((double)f->flops_ns / 1e9) / f->peak_flops;
    } else if (f->flops_ns == 0 && f->traits.tensor_core == STK_TENSOR_NO) {
        compute = 0; // only a few operations per element
    }
    if (f->bytes_ns > 0 && f->peak_bytes > 0) {
        memory = f->bytes / ((double)f->bytes_ns / 1e9) / f->peak_bytes;
    }
    double nearer = compute > memory ? compute : memory;
    if (nearer > 0) {
        *roof_share = nearer < 1 ? nearer : 1;
    }
    if (compute < 0 || memory < 0) {
        return nearer >= 0.5 ? (compute > memory ? "compute" : "memory") : "unknown";
    }
    if (nearer < LATENCY_SHARE) {
        return "latency";
    }
    return compute > memory ? "compute" : "memory";
}
