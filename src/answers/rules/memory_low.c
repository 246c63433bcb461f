// SPDX-License-Identifier: Apache-2.0
// Much of the device's memory stays free while the device doesn't compute all the time: a larger
// batch may be worth a try. Needs a machine record from the time of the profile.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"
#include "answers/rules/on_machine.h"

enum { USED, IDLE };
static const struct stk_threshold thresholds[] = {
    [USED] = {"peak memory in use", "share of the GPU's memory", 0.5,
              "a batch of twice the size may fit"},
    [IDLE] = {"time without compute", "share of the step", 0.1,
              "a busy GPU gains little from a larger batch"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(memory_low_batch),
    STK_FIX(memory_low_tf_look),
    STK_FIX(memory_low_torch_look),
    STK_FIX(memory_low_jax_look),
    {0},
};

// The highest use of the fullest device, as a share; below 0: not known. Other devices don't
// matter: they may not be the job's. bytes: that device's memory.
static double used_by_machine(const struct stk_machine_view *v, double *bytes)
{
    double most = -1;
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        const struct stk_machine_figure *all =
            s->sample == STK_SAMPLE_OF_GPU_MEMORY && v->figures[i].samples
                ? stk_machine_figure_at(v, STK_SAMPLE_OF_GPU_MEMORY_TOTAL, s->number)
                : NULL;
        double share = all && all->mean > 0 ? v->figures[i].most / all->mean : -1;
        if (share > most) {
            most = share;
            *bytes = all->mean;
        }
    }
    return most;
}

static enum stk_rule_state memory_low_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    const char *ignored;
    const struct stk_machine_view *v = stk_rule_machine(ctx, &ignored);
    double bytes = 0, used = v ? used_by_machine(v, &bytes) : -1;
    if (used < 0 || used > 1) {
        *why = "no machine record shows how much of the GPU's memory is in use";
        return STK_RULE_NOT_APPLICABLE;
    }
    *why = stk_why_memory_used(ctx, used);
    double computes = stk_rule_group_share(ctx, STK_GROUP_COMPUTE);
    if (used >= thresholds[USED].value || 1 - computes < thresholds[IDLE].value) {
        return STK_RULE_PASSED;
    }
    f->severity = STK_LEVEL_INFO;
    f->confidence = STK_LEVEL_LOW;
    stk_say_device_memory_used(ctx, f, used, (uint64_t)bytes);
    stk_say_device_computes(ctx, f, computes);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_memory_low = {
    .page = STK_PAGE(memory_low),
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = memory_low_check,
};
