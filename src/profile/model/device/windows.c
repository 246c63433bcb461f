// SPDX-License-Identifier: Apache-2.0
// A step on a device. Its window begins at the step's host start or, if later, at the end of all
// device work launched before it; it ends where the next one begins, the last one at the end of its
// own work or its host end, whichever is later. So windows tile the time, and a step holds the work
// it launched however deep the queue is. Without launch links, the host window is used. Without
// steps, the device's span is one window. Before a device's first operation, either the CPU was
// late, or the device was busy with work that the profile lacks. The launch call decides: the time
// until its end is the step's. Time after it, if longer than ordinary latency, belongs to no step
// (the hole).
//
// Method: one pass over the operations, each assigned to the step of its launch call.
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/analysis.h"

#define LATENCY_NS (50 * STK_US)

// Step of a host time: -1 before the first, step_count after the end of the last. `hint` is the
// answer of the call before, mostly the same or a neighbor.
static int64_t step_at(const struct stk_analysis *a, int64_t t_ns, int64_t hint)
{
    const struct stk_host_step *s = a->steps;
    int64_t n = a->step_count, low = 0, high = n;
    if (hint >= 0 && hint < n && s[hint].start_ns <= t_ns &&
        (hint + 1 == n || t_ns < s[hint + 1].start_ns)) {
        low = hint + 1;
    } else {
        while (low < high) {
            int64_t mid = low + (high - low) / 2;
            if (s[mid].start_ns <= t_ns) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
    }
    return low == n && t_ns >= s[n - 1].end_ns ? n : low - 1;
}

static void find_hole(struct stk_analysis *a, struct stk_device_line *line, int64_t window_start)
{
    uint32_t at = 0;
    const struct stk_device_op *first =
        line->busy.count ? stk_line_op_at(a, line, &at, line->busy.v[0].start_ns) : NULL;
    if (!first || first->start_ns <= window_start) {
        return;
    }
    uint32_t launch = stk_launch_of(a, first->event);
    int64_t from = window_start;
    if (launch != STK_NONE && stk_end_ns(a->t, launch) > from) {
        from = stk_end_ns(a->t, launch);
    }
    if (first->start_ns - from > LATENCY_NS) {
        line->hole = (struct stk_span){from, first->start_ns};
    }
}

// ends[i + 1]: the last end of the work launched in step i; ends[0]: before the first step.
static void find_work_ends(const struct stk_analysis *a, const struct stk_device_line *line,
                           int64_t *ends)
{
    for (uint32_t i = 0; i < a->step_count + 2; i++) {
        ends[i] = INT64_MIN;
    }
    int64_t step = 0;
    ends[0] = line->queued_end_ns;
    for (uint32_t i = 0; i < line->op_count; i++) {
        uint32_t launch = stk_launch_of(a, line->ops[i].event);
        if (launch == STK_NONE) {
            continue;
        }
        step = step_at(a, a->t->start_ns[launch], step);
        if (line->ops[i].end_ns > ends[step + 1]) {
            ends[step + 1] = line->ops[i].end_ns;
        }
    }
}

// Steps that belong to this device alone: already windows, start to start.
static void place_own(const struct stk_analysis *a, uint32_t index, struct stk_window *w,
                      uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        const struct stk_host_step *s = &a->steps[i];
        if (s->line == index) {
            w[(*count)++] =
                (struct stk_window){s->start_ns, s->end_ns, i, STK_NONE, s->excluded == NULL};
        }
    }
}

bool stk_windows_place(struct stk_analysis *a, uint32_t index, struct stk_window *w,
                       uint32_t *count)
{
    STK_ASSERT(index < a->sum->device_count);
    struct stk_device_line *line = &a->lines[index];
    if (a->steps_per_device && a->step_count > 0) {
        place_own(a, index, w, count);
        return true;
    }
    const struct stk_device_sum *d = &a->sum->devices[index];
    if (a->step_count == 0) {
        w[0] = (struct stk_window){d->first_ns, d->first_ns + d->span_ns, STK_NONE, STK_NONE, true};
        *count = 1;
        return true;
    }
    uint32_t n = a->step_count;
    *count = n;
    int64_t *ends = stk_alloc_array((size_t)n + 2, sizeof *ends);
    if (!ends) {
        return false;
    }
    bool linked = line->linked > 0 && !a->steps_on_device;
    for (uint32_t i = 0; i < n + 2; i++) {
        ends[i] = INT64_MIN;
    }
    if (linked) {
        find_work_ends(a, line, ends);
    }
    int64_t before = ends[0];
    for (uint32_t i = 0; i < n; i++) {
        int64_t start = a->steps[i].start_ns > before ? a->steps[i].start_ns : before;
        w[i] = (struct stk_window){start, start, i, STK_NONE, a->steps[i].excluded == NULL};
        if (i > 0) {
            w[i - 1].end_ns = start;
        }
        before = ends[i + 1] > before ? ends[i + 1] : before;
    }
    // The last step's own work, without what other code launched after it.
    int64_t own = ends[n] > a->steps[n - 1].end_ns ? ends[n] : a->steps[n - 1].end_ns;
    w[n - 1].end_ns = own > w[n - 1].start_ns ? own : w[n - 1].start_ns;
    stk_free(ends);
    if (linked) {
        find_hole(a, line, w[0].start_ns);
    }
    return true;
}
