// SPDX-License-Identifier: Apache-2.0
// The GPU's clocks are low for a reason that can be fixed: heat, the power supply, a power cap. The
// bits are NVML's clocks event reasons; idle clocks and user settings aren't a fault.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { HEAT, CAP, SLOW, USED };
static const struct stk_threshold thresholds[] = {
    [HEAT] = {"slowed by heat or the power supply", "share of the samples", 0.05,
              "it shouldn't happen at all"},
    [CAP] = {"slowed by the power cap", "share of the samples", 0.5,
             "large GPUs reach their cap under full load: that is normal"},
    [SLOW] = {"clock", "share of the highest", 0.85, "less isn't worth reporting"},
    [USED] = {"utilisation", "share", 0.2, "an idle GPU clocks down"},
    {0},
};
enum { FIX_HEAT, FIX_CAP };
static const struct stk_rep_fix fixes[] = {
    [FIX_HEAT] = STK_FIX(gpu_clocks_heat),
    [FIX_CAP] = STK_FIX(gpu_clocks_cap),
    {0},
};
#define BITS_HEAT (0x20u | 0x40u)   // software's and hardware's thermal slowdown
#define BITS_SUPPLY (0x08u | 0x80u) // hardware slowdown, power brake
#define BITS_CAP 0x04u

static double mean_of(const struct stk_machine_view *v, enum stk_sampled sample, int64_t number)
{
    const struct stk_machine_figure *f = stk_machine_figure_at(v, sample, number);
    return f ? f->mean : 0;
}

// The most slowed of the GPUs in use.
static const struct stk_machine_series *slowest(const struct stk_machine_view *v, double *clock,
                                                uint32_t *count)
{
    const struct stk_machine_series *best = NULL;
    *clock = 1;
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        if (s->sample != STK_SAMPLE_OF_GPU_REASONS) {
            continue;
        }
        double most = mean_of(v, STK_SAMPLE_OF_GPU_SM_CLOCK_MAX, s->number);
        double now = mean_of(v, STK_SAMPLE_OF_GPU_SM_CLOCK, s->number);
        bool is_used = mean_of(v, STK_SAMPLE_OF_GPU_BUSY, s->number) >= thresholds[USED].value;
        double heat = stk_machine_share_of_bits(v, s, BITS_HEAT | BITS_SUPPLY);
        double cap = stk_machine_share_of_bits(v, s, BITS_CAP);
        bool is_slow = most > 0 && now > 0 && now < thresholds[SLOW].value * most;
        if (is_used &&
            (heat >= thresholds[HEAT].value || (is_slow && cap >= thresholds[CAP].value))) {
            double share = most > 0 && now > 0 && now < most ? now / most : 1;
            ++*count;
            best = !best || share < *clock ? s : best;
            *clock = share < *clock ? share : *clock;
        }
    }
    return best;
}

static void gpu_clocks_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                           const struct stk_machine_view *v, const struct stk_machine_series *s)
{
    double heat = stk_machine_share_of_bits(v, s, BITS_HEAT);
    double supply = stk_machine_share_of_bits(v, s, BITS_SUPPLY);
    double cap = stk_machine_share_of_bits(v, s, BITS_CAP);
    stk_say_gpu_clock(ctx, f, s->number & 0xffffff, stk_rule_name(ctx, s->name),
                      mean_of(v, STK_SAMPLE_OF_GPU_SM_CLOCK, s->number),
                      mean_of(v, STK_SAMPLE_OF_GPU_SM_CLOCK_MAX, s->number));
    if (heat > 0) {
        stk_say_gpu_is_hot(ctx, f, heat, mean_of(v, STK_SAMPLE_OF_GPU_TEMPERATURE, s->number));
        stk_finding_fix(ctx, f, &fixes[FIX_HEAT]);
    }
    if (supply > 0) {
        stk_say_gpu_supply_short(ctx, f, supply);
    }
    if (cap > 0) {
        stk_say_gpu_power_capped(ctx, f, cap, mean_of(v, STK_SAMPLE_OF_GPU_POWER, s->number),
                                 mean_of(v, STK_SAMPLE_OF_GPU_POWER_LIMIT, s->number));
        stk_finding_fix(ctx, f, &fixes[FIX_CAP]);
    }
}

static enum stk_rule_state gpu_clocks_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    const struct stk_machine_view *v = stk_rule_machine(ctx, why);
    if (!v) {
        return STK_RULE_NOT_APPLICABLE;
    }
    if (!stk_machine_figure_of(v, STK_SAMPLE_OF_GPU_REASONS)) {
        *why = "the machine record has no GPU clocks";
        return STK_RULE_NOT_APPLICABLE;
    }
    double clock;
    uint32_t count = 0;
    const struct stk_machine_series *s = slowest(v, &clock, &count);
    *why = "clocks are as high as they should be";
    if (!s) {
        return STK_RULE_PASSED;
    }
    *why = stk_why_gpus_slowed(ctx, count);
    gpu_clocks_say(ctx, f, v, s);
    if (count > 1) {
        stk_say_gpus_slowed(ctx, f, count);
    }
    double compute = stk_rule_on_host(ctx) ? 0 : stk_rule_group_share(ctx, STK_GROUP_COMPUTE);
    double saving = compute * (1 - clock);
    f->severity = saving < 0.02 ? STK_LEVEL_INFO : stk_rule_severity(ctx, saving);
    f->confidence = STK_LEVEL_MEDIUM;
    stk_finding_bound(f, saving);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_gpu_clocks = {
    .page = STK_PAGE(gpu_clocks),
    .thresholds = thresholds,
    .fixes = fixes,
    .is_live = true,
    .check = gpu_clocks_check,
};
