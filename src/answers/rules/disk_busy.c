// SPDX-License-Identifier: Apache-2.0
// A disk reaches its limit while the job reads. "Busy" alone means little for a disk that serves
// many requests in parallel, so some task must also be waiting for storage.
#include <math.h>

#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { BUSY, STALLED, OWN };
static const struct stk_threshold thresholds[] = {
    [BUSY] = {"time with requests", "share of the time", 0.85, "an idle disk has room"},
    [STALLED] = {"a thread waited for storage", "share of the time", 0.10,
                 "a busy disk doesn't matter if nothing waits for it"},
    [OWN] = {"the job's share of the disk's bytes", "share", 0.25,
             "other programs' reads are a different problem, and reported as such"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(disk_busy_read_less),
    STK_FIX(disk_busy_faster_disk),
    {0},
};

static const struct stk_machine_series *busiest(const struct stk_machine_view *v, double *busy)
{
    const struct stk_machine_series *best = NULL;
    *busy = 0;
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        if (s->sample == STK_SAMPLE_OF_DISK_BUSY && v->figures[i].mean > *busy) {
            *busy = v->figures[i].mean;
            best = s;
        }
    }
    return best;
}

static double rate_of(const struct stk_machine_view *v, enum stk_sampled sample, int64_t number)
{
    const struct stk_machine_figure *f = stk_machine_figure_at(v, sample, number);
    return f && f->mean > 0 ? fmin(f->mean, 1e18) : 0;
}

// For the job's own cgroup if the kernel reports it, else for the machine; -1: neither.
static double stalled_of(const struct stk_machine_view *v)
{
    const struct stk_machine_figure *own = stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_WAIT_IO);
    const struct stk_machine_figure *all = stk_machine_figure_of(v, STK_SAMPLE_OF_MACHINE_WAIT_IO);
    return own ? own->mean : all ? all->mean : -1;
}

static double job_bytes(const struct stk_machine_view *v)
{
    double bytes = 0;
    for (uint32_t i = 0; i < v->process_count; i++) {
        bytes += v->processes[i].read + v->processes[i].write;
    }
    return bytes;
}

static enum stk_rule_state disk_busy_check(const struct stk_rule_ctx *ctx,
                                           struct stk_rep_finding *f, const char **why)
{
    const struct stk_machine_view *v = stk_rule_machine(ctx, why);
    if (!v) {
        return STK_RULE_NOT_APPLICABLE;
    }
    double busy, stalled = stalled_of(v), job = job_bytes(v);
    const struct stk_machine_series *disk = busiest(v, &busy);
    *why = disk ? stk_why_disk_busy(ctx, busy) : "the disks did nothing";
    if (busy < thresholds[BUSY].value) {
        return STK_RULE_PASSED;
    }
    if (stalled < thresholds[STALLED].value) {
        *why = stalled < 0 ? "a disk is busy, but waits for it weren't recorded"
                           : "a disk is busy, but almost nothing waits for it";
        return STK_RULE_PASSED;
    }
    double rate = rate_of(v, STK_SAMPLE_OF_DISK_READ, disk->number) +
                  rate_of(v, STK_SAMPLE_OF_DISK_WRITE, disk->number);
    stk_say_disk_gives(ctx, f, stk_rule_name(ctx, disk->name), rate, busy);
    stk_say_storage_waited_for(ctx, f, stalled);
    stk_say_job_reads(ctx, f, job);
    if (job < thresholds[OWN].value * rate) {
        f->title = "Other programs keep a disk busy";
    }
    stk_finding_held(ctx, f, STK_HELD_INPUT, stalled);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_disk_busy = {
    .page = STK_PAGE(disk_busy),
    .thresholds = thresholds,
    .fixes = fixes,
    .is_live = true,
    .check = disk_busy_check,
};
