// SPDX-License-Identifier: Apache-2.0
// The job waits for memory: pages are reclaimed or read back before it can continue, or a process
// was killed for lack of memory. The whole machine's pressure includes all programs: it counts as
// the job's only if memory is short, or the job reads pages back.
#include <math.h>

#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { STALLED, FAULTS, LEFT, SOME };
static const struct stk_threshold thresholds[] = {
    [STALLED] = {"a thread waited for memory", "share of the time", 0.05,
                 "above the noise of reclaiming the page cache"},
    [FAULTS] = {"major page faults", "a second", 200,
                "each reads from storage, 0.1 to 10 ms; a starting job has some"},
    [LEFT] = {"memory left, where the machine's threads waited", "share of the machine's", 0.1,
              "with more, another program's own limit makes them wait"},
    [SOME] = {"major page faults, where the machine's threads waited", "a second", 20,
              "a job that reads no pages back waits for none"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(memory_short_use_less),
    {0},
};

static double faults_of(const struct stk_machine_view *v)
{
    double faults = 0;
    for (uint32_t i = 0; i < v->process_count; i++) {
        faults += v->processes[i].major;
    }
    return faults;
}

// Upper bound from the machine's threads: other programs' threads count too.
static double stalled_of_machine(const struct stk_machine_view *v, double faults)
{
    double all = stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_MEMORY);
    const struct stk_machine_figure *left =
        stk_machine_figure_of(v, STK_SAMPLE_OF_MACHINE_AVAILABLE);
    bool is_short = left && all > 0 && left->mean < thresholds[LEFT].value * all;
    return is_short || faults >= thresholds[SOME].value
               ? stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_WAIT_MEMORY)
               : 0;
}

static void say_limits(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                       const struct stk_machine_view *v)
{
    double most = stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_MEMORY_LIMIT);
    const struct stk_machine_figure *group = stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_MEMORY);
    const struct stk_machine_figure *free =
        stk_machine_figure_of(v, STK_SAMPLE_OF_MACHINE_AVAILABLE);
    if (group && most > 0) {
        stk_say_group_memory(ctx, f, (uint64_t)fmin(fmax(group->most, 0), 1e18),
                             (uint64_t)fmin(most, 1e18));
    } else if (free) {
        stk_say_machine_memory_left(ctx, f, (uint64_t)fmin(fmax(free->mean, 0), 1e18));
    }
}

static enum stk_rule_state memory_short_check(const struct stk_rule_ctx *ctx,
                                              struct stk_rep_finding *f, const char **why)
{
    const struct stk_machine_view *v = stk_rule_machine(ctx, why);
    if (!v) {
        return STK_RULE_NOT_APPLICABLE;
    }
    double faults = faults_of(v);
    double stalled =
        fmax(stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_WAIT_MEMORY), stalled_of_machine(v, faults));
    const struct stk_machine_figure *killed = stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_KILLS);
    *why = stk_why_memory_waited_for(ctx, stalled, faults);
    bool waits = stalled >= thresholds[STALLED].value || faults >= thresholds[FAULTS].value;
    if (!waits && !(killed && killed->most > 0)) {
        return STK_RULE_PASSED;
    }
    if (killed && killed->most > 0) {
        f->title = "A process was killed for lack of memory";
        stk_say_processes_killed(ctx, f, killed->most);
    }
    stk_say_memory_waited_for(ctx, f, stalled);
    if (faults >= 1) {
        stk_say_faults_from_storage(ctx, f, faults);
    }
    say_limits(ctx, f, v);
    stk_finding_held(ctx, f, STK_HELD_HOST, stalled);
    if (killed && killed->most > 0) {
        f->severity = STK_LEVEL_HIGH;
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_memory_short = {
    .page = STK_PAGE(memory_short),
    .thresholds = thresholds,
    .fixes = fixes,
    .is_live = true,
    .check = memory_short_check,
};
