// SPDX-License-Identifier: Apache-2.0
// nvidia-smi calls the GPU busy, but the profile shows that it computes far less of the time.
// NVML's utilization is the share of its sampling intervals in which any kernel ran at all: small
// kernels with gaps between them look like full use.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { SHOWN, APART };
static const struct stk_threshold thresholds[] = {
    [SHOWN] = {"utilization as nvidia-smi shows it", "share", 0.6,
               "below it, no conclusion changes"},
    [APART] = {"above the profile's compute share", "share of the time", 0.25,
               "smaller differences come from different time windows"},
    {0},
};
static const struct stk_rep_fix fixes[] = {
    STK_FIX(gpu_utilisation_judge_otherwise),
    {0},
};

static enum stk_rule_state gpu_utilisation_check(const struct stk_rule_ctx *ctx,
                                                 struct stk_rep_finding *f, const char **why)
{
    const struct stk_machine_view *v = stk_rule_machine(ctx, why);
    if (!v) {
        return STK_RULE_NOT_APPLICABLE;
    }
    double shown = 0;
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        if (v->machine->series[i].sample == STK_SAMPLE_OF_GPU_BUSY && v->figures[i].mean > shown) {
            shown = v->figures[i].mean;
        }
    }
    if (shown <= 0 || stk_rule_on_host(ctx) || !v->is_of_profile || stk_rule_abstained(ctx)) {
        *why = "a GPU's utilization and its compute share aren't both known for the same time";
        return STK_RULE_NOT_APPLICABLE;
    }
    double compute = stk_rule_group_share(ctx, STK_GROUP_COMPUTE);
    *why = stk_why_gpu_busy(ctx, shown, compute);
    if (shown < thresholds[SHOWN].value || shown - compute < thresholds[APART].value) {
        return STK_RULE_PASSED;
    }
    f->severity = STK_LEVEL_INFO;
    f->confidence = STK_LEVEL_MEDIUM;
    f->saving.basis = "none";
    stk_say_gpu_busy_by_smi(ctx, f, shown, compute);
    const struct stk_machine_figure *sm = stk_machine_figure_of(v, STK_SAMPLE_OF_GPM_SM);
    if (sm) {
        stk_say_multiprocessors_had_work(ctx, f, sm->mean);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_gpu_utilisation = {
    .page = STK_PAGE(gpu_utilisation),
    .thresholds = thresholds,
    .fixes = fixes,
    .check = gpu_utilisation_check,
};
