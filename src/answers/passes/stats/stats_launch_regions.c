// SPDX-License-Identifier: Apache-2.0
// Regions in which a device runs dry again and again because launches come too late.
// An operation (kernel, copy, memset) is late if its call began after the device became idle, but
// at most GAP_MAX_NS later: longer gaps have another cause, which `stoker stats gaps` names. A
// region is a run of LATE_LEAST or more late operations with at most BETWEEN others from one to the
// next; it begins where the device went idle for the first of them and ends with the last one.
// Method: one pass over each device's operations. The KEEP_MAX regions with most idle time are
// kept.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/model/median.h"
#include "answers/passes/stats/stats_launches.h"

#define LATE_LEAST 8
#define BETWEEN 3
#define GAP_MAX_NS 1000000
#define KEEP_MAX 512

struct region {
    struct stk_launch_region r;
    uint32_t call; // of its first operation
};
struct sweep {
    const struct stk_analysis *view;
    struct stk_vec found; // struct region
    struct region open;
    uint64_t pending, pending_kernels; // operations after the last late one
    uint32_t step;                     // first row of sum->steps that may hold the next region
    int64_t idle_ns;
};

static bool is_kernel(uint8_t kind)
{
    return kind == STK_KIND_KERNEL || kind == STK_KIND_COLLECTIVE;
}

static void find_step(struct sweep *s, struct stk_launch_region *r)
{
    const struct stk_rank_sum *sum = s->view->sum;
    while (s->step < sum->step_count &&
           (sum->steps[s->step].device != r->line ||
            sum->steps[s->step].start_ns + sum->steps[s->step].dur_ns <= r->start_ns)) {
        s->step++;
    }
    if (s->step == sum->step_count || sum->steps[s->step].start_ns > r->start_ns) {
        return;
    }
    r->has_step = true;
    r->step = sum->steps[s->step].number;
}

static bool close_region(struct sweep *s)
{
    struct region *kept = NULL;
    bool is_region = s->open.r.late >= LATE_LEAST;
    if (is_region && (kept = stk_vec_push(&s->found))) {
        const struct stk_device_line *l = &s->view->lines[s->open.r.line];
        find_step(s, &s->open.r);
        s->open.r.busy_ns = stk_spans_measure(&l->busy, l->busy_sums, s->open.r.start_ns,
                                              s->open.r.start_ns + s->open.r.dur_ns);
        *kept = s->open;
        s->idle_ns += s->open.r.idle_ns;
    }
    s->open.r.late = 0;
    return !is_region || kept;
}

static bool add_late(struct sweep *s, uint32_t line, const struct stk_device_op *op, uint32_t call,
                     int64_t idle_from_ns)
{
    struct stk_launch_region *r = &s->open.r;
    if (r->late > 0 && s->pending > BETWEEN && !close_region(s)) {
        return false;
    }
    if (r->late == 0) {
        s->open = (struct region){.r = {.line = line, .start_ns = idle_from_ns}, .call = call};
        s->pending_kernels = 0;
    }
    r->late++;
    r->kernels += s->pending_kernels + is_kernel(s->view->t->kind[op->event]);
    r->idle_ns += op->start_ns - idle_from_ns;
    r->dur_ns = op->end_ns - r->start_ns;
    s->pending = s->pending_kernels = 0;
    return true;
}

static bool launch_regions_sweep_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_trace *t = s->view->t;
    const struct stk_device_line *l = &s->view->lines[line];
    struct stk_view_cursor cursor = {selected, 0};
    int64_t busy_until_ns = INT64_MIN;
    s->step = 0;
    s->open.r.late = 0;
    if (!stk_view_selected(s->view, line, selected)) {
        return false;
    }
    for (uint32_t i = 0; i < l->op_count; i++) {
        const struct stk_device_op *op = &l->ops[i];
        if (stk_view_in(&cursor, op->start_ns)) {
            uint32_t call = stk_launch_of(s->view, op->event);
            bool dry = busy_until_ns != INT64_MIN && busy_until_ns < op->start_ns;
            bool late = dry && call != STK_NONE && t->start_ns[call] >= busy_until_ns;
            bool apart = dry && op->start_ns - busy_until_ns > GAP_MAX_NS;
            if (apart && s->open.r.late > 0 && !close_region(s)) {
                return false;
            }
            if (late && !apart && !add_late(s, line, op, call, busy_until_ns)) {
                return false;
            }
            if (!late || apart) {
                s->pending++;
                s->pending_kernels += is_kernel(t->kind[op->event]);
            }
        }
        busy_until_ns = op->end_ns > busy_until_ns ? op->end_ns : busy_until_ns;
    }
    return close_region(s);
}

// The thread's name, or its number.
static const char *thread_of(struct sweep *s, uint32_t call, struct stk_name_cache *names,
                             struct stk_arena *arena)
{
    uint32_t track = stk_thread_of(s->view, call);
    if (track == STK_NONE) {
        return "";
    }
    const struct stk_track *t = &s->view->t->tracks[track];
    return t->name ? stk_name_cache_get(names, t->name)
                   : stk_arena_printf(arena, "thread %lld", (long long)t->id);
}

static bool keep_most_idle(struct sweep *s, struct stk_name_cache *names, struct stk_arena *arena,
                           struct stk_launch_regions *out)
{
    size_t n = s->found.count, keep = n < KEEP_MAX ? n : KEEP_MAX;
    int64_t *idle = stk_alloc_array(n + 1, sizeof *idle), least_ns = 0;
    out->v = stk_arena_array(arena, keep + 1, sizeof *out->v);
    if (!idle || !out->v) {
        stk_free(idle);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        idle[i] = ((struct region *)stk_vec_at(&s->found, i))->r.idle_ns;
    }
    if (n > keep) {
        least_ns = stk_nth_value(idle, n, n - keep);
    }
    stk_free(idle);
    for (size_t i = 0; i < n && out->count < keep; i++) {
        struct region *found = stk_vec_at(&s->found, i);
        if (found->r.idle_ns < least_ns) {
            continue;
        }
        struct stk_launch_region *r = &out->v[out->count++];
        *r = found->r;
        r->thread = thread_of(s, found->call, names, arena);
        if (!r->thread) {
            return false;
        }
    }
    out->left_out = n - out->count;
    out->idle_ns = s->idle_ns;
    return true;
}

enum stoker_status stk_launch_regions_find(const struct stk_analysis *view,
                                           struct stk_name_cache *names, struct stk_arena *arena,
                                           struct stk_launch_regions *out, struct stoker_err *err)
{
    struct sweep s = {.view = view};
    struct stk_spans selected;
    bool ok = true;
    *out = (struct stk_launch_regions){.count = 0};
    stk_spans_init(&selected);
    stk_vec_init(&s.found, sizeof(struct region), UINT32_MAX - 1);
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        ok = launch_regions_sweep_device(&s, d, &selected);
    }
    ok = ok && keep_most_idle(&s, names, arena, out);
    stk_vec_deinit(&s.found);
    stk_spans_deinit(&selected);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
