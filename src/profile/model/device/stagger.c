// SPDX-License-Identifier: Apache-2.0
// Devices of a process that begin a step later than the first one, because one thread launches for
// all and reaches them last.
//
// Method: the first kernel of each used step on each device, by the host time of its launch. A
// device is late by its idle time between the first one's kernel and its own launch. Kernels that
// were launched in time and waited for something else don't count. A step loses the delay of its
// latest device. O(operations).
// Limits: steps without a mark on the CPU, and work without a recorded launch, are ignored.
#include "profile/model/device/stagger.h"

#include "base/alloc.h"

#define A_PART 0.1 // of the busiest device's work: devices with less hold a copy, or do little
#define PROMPT_NS (100 * STK_US) // a kernel that begins this soon waited for its launch

struct first {
    int64_t start_ns; // INT64_MAX: none in this step
    uint32_t launch;
};

// The first kernel that the step launched on a line. The cursor moves to it.
static struct first first_of(const struct stk_analysis *a, uint32_t line, uint32_t *cursor,
                             const struct stk_host_step *step)
{
    const struct stk_device_line *l = &a->lines[line];
    for (; *cursor < l->op_count; (*cursor)++) {
        const struct stk_device_op *op = &l->ops[*cursor];
        uint32_t launch =
            a->t->kind[op->event] == STK_KIND_KERNEL ? stk_launch_of(a, op->event) : STK_NONE;
        if (launch == STK_NONE || a->t->start_ns[launch] < step->start_ns) {
            continue;
        }
        if (a->t->start_ns[launch] >= step->end_ns) {
            break;
        }
        return (struct first){op->start_ns, launch};
    }
    return (struct first){INT64_MAX, STK_NONE};
}

// How long after the first kernel of all devices an idle device waited for its first launch.
static int64_t late_by(const struct stk_analysis *a, uint32_t line, const struct first *own,
                       int64_t first_ns)
{
    int64_t launch_ns = a->t->start_ns[own->launch];
    int64_t until_ns = launch_ns < own->start_ns ? launch_ns : own->start_ns;
    if (until_ns <= first_ns || own->start_ns - launch_ns > PROMPT_NS) {
        return 0;
    }
    return until_ns - first_ns -
           stk_spans_measure(&a->lines[line].busy, a->lines[line].busy_sums, first_ns, until_ns);
}

static void add_step(const struct stk_analysis *a, const struct first *firsts, int64_t step_ns,
                     struct stk_stagger *out)
{
    int64_t first_ns = INT64_MAX, most_ns = 0;
    uint32_t devices = 0, thread = STK_NONE, latest = STK_NONE;
    bool is_one = true;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        if (firsts[d].launch == STK_NONE) {
            continue;
        }
        uint32_t of = stk_thread_of(a, firsts[d].launch);
        is_one &= devices == 0 || of == thread;
        thread = of;
        first_ns = firsts[d].start_ns < first_ns ? firsts[d].start_ns : first_ns;
        devices++;
    }
    if (devices < 2) {
        return;
    }
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        int64_t late_ns = firsts[d].launch == STK_NONE ? 0 : late_by(a, d, &firsts[d], first_ns);
        if (late_ns > most_ns) {
            most_ns = late_ns;
            latest = d;
        }
    }
    out->devices = devices > out->devices ? devices : out->devices;
    out->steps++;
    out->one_thread_steps += is_one;
    out->steps_ns = stk_add_ns(out->steps_ns, step_ns);
    out->late_ns = stk_add_ns(out->late_ns, most_ns);
    if (most_ns > out->latest_ns) {
        out->latest_ns = most_ns;
        out->latest = a->sum->devices[latest].id;
    }
}

bool stk_stagger_find(struct stk_analysis *a)
{
    uint32_t n = a->sum->device_count;
    int64_t most_ns = 0;
    if (n < 2 || a->steps_on_device) {
        return true;
    }
    for (uint32_t d = 0; d < n; d++) {
        int64_t ns = a->sum->devices[d].compute_ns;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    uint32_t *cursors = stk_alloc_zero(n, sizeof *cursors);
    struct first *firsts = stk_alloc_array(n, sizeof *firsts);
    bool ok = cursors && firsts;
    for (uint32_t i = 0; ok && i < a->step_count; i++) {
        const struct stk_host_step *step = &a->steps[i];
        for (uint32_t d = 0; d < n && !step->excluded; d++) {
            bool works = a->sum->devices[d].analysed &&
                         (double)a->sum->devices[d].compute_ns >= A_PART * (double)most_ns;
            firsts[d] =
                works ? first_of(a, d, &cursors[d], step) : (struct first){INT64_MAX, STK_NONE};
        }
        if (!step->excluded) {
            add_step(a, firsts, step->end_ns - step->start_ns, &a->sum->facts.kernels.stagger);
        }
    }
    stk_free(cursors);
    stk_free(firsts);
    return ok;
}
