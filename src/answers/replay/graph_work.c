// SPDX-License-Identifier: Apache-2.0
// Where each step's work ends, in a profile without a device: after the call that does it, known by
// the framework's name for it. From there to the next fetch, the driving thread runs callbacks,
// metrics and logging, recorded or not.
//
// JAX's call returns before its work is done. There the work ends with the step's last operation of
// the model on other threads. Limits: a job in several functions, none of which takes most of the
// time, has no such end. JAX computation in callbacks counts as work.
#include "profile/model/steps/main_calls.h"
#include "answers/replay/graph.h"

uint32_t stk_graph_step_at(const struct stk_graph_build *b, int64_t t_ns)
{
    uint32_t low = 0, high = b->g->step_count;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (b->starts_ns[mid] <= t_ns) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return low;
}

// Operations of the model on threads other than the caller's.
static void follow(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    const struct stk_trace *t = a->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_thread_info *x = &a->threads[k];
        bool wanted = x->in_rank && x->root != a->driver && !a->threads[x->root].is_loader;
        const struct stk_track *row = &t->tracks[k];
        for (uint32_t e = row->first; wanted && e < row->first + row->count; e++) {
            int64_t start = t->start_ns[e], end = stk_end_ns(t, e);
            if (!(stk_class_of(a, e) & STK_NAME_MODEL_OP) || start < b->from_ns || end > b->to_ns) {
                continue;
            }
            int64_t *ends = &b->work_ends_ns[stk_graph_step_at(b, start)];
            *ends = *ends != INT64_MAX && end > *ends ? end : *ends;
        }
    }
}

static bool has_device_work(const struct stk_analysis *a)
{
    bool any = false;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        any |= a->lines[d].op_count > 0;
    }
    return any;
}

bool stk_graph_work_ends(struct stk_graph_build *b)
{
    struct stk_vec calls;
    uint32_t class;
    if (has_device_work(b->a) || b->g->is_span || b->a->driver == STK_NONE) {
        return true;
    }
    b->work_ends_ns = stk_arena_array(b->arena, (size_t)b->g->step_count + 1, sizeof(int64_t));
    bool ok = stk_main_calls_find(b->a, &calls, &class) && b->work_ends_ns;
    for (uint32_t k = 0; ok && k < b->g->step_count; k++) {
        b->work_ends_ns[k] = INT64_MAX;
    }
    for (size_t i = 0; ok && i < calls.count; i++) {
        const struct stk_mark *m = stk_vec_at(&calls, i);
        if (m->start_ns >= b->from_ns && m->start_ns < b->to_ns) { // the last one of a step counts
            b->work_ends_ns[stk_graph_step_at(b, m->start_ns)] = m->end_ns;
        }
    }
    if (ok && class == STK_NAME_PJIT) {
        follow(b);
    }
    stk_vec_deinit(&calls);
    return ok;
}
