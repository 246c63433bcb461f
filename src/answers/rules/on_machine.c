// SPDX-License-Identifier: Apache-2.0
// Shared by rules on the record of the machine; see on_machine.h.
#include "answers/rules/on_machine.h"

#include <string.h>

#include "evidence_says.h"

#define NOT_WORTH 0.03 // of the step: with less delayed, it is only information

const struct stk_machine_view *stk_rule_machine(const struct stk_rule_ctx *ctx, const char **why)
{
    *why = "no machine record next to the profile (machine.stk)";
    return ctx->pass.run->machine;
}

double stk_rule_held(const struct stk_rule_ctx *ctx, enum stk_held what)
{
    if (ctx->pass.run->wall_ns <= 0 || stk_rule_abstained(ctx)) {
        return -1;
    }
    double share = stk_rule_group_share(ctx, STK_GROUP_INPUT);
    if (what == STK_HELD_HOST) {
        share += stk_rule_group_share(ctx, STK_GROUP_HOST) +
                 stk_rule_group_share(ctx, STK_GROUP_UNKNOWN) +
                 stk_rule_group_share(ctx, STK_GROUP_COLD);
        share += stk_rule_on_host(ctx) ? stk_rule_group_share(ctx, STK_GROUP_COMPUTE) : 0;
    }
    return share < 1 ? share : 1;
}

void stk_finding_held(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, enum stk_held what,
                      double loss)
{
    double held = stk_rule_held(ctx, what);
    if (held < 0) {
        f->severity = loss >= 0.25 ? STK_LEVEL_MEDIUM : STK_LEVEL_LOW;
        f->confidence = STK_LEVEL_LOW;
        f->saving.basis = "none";
        stk_say_cost_not_known(ctx, f);
        return;
    }
    double most = loss < held ? loss : held;
    f->severity = held < NOT_WORTH ? STK_LEVEL_INFO : stk_rule_severity(ctx, most);
    f->confidence = ctx->pass.run->machine->is_of_profile ? STK_LEVEL_MEDIUM : STK_LEVEL_LOW;
    stk_finding_bound(f, most);
    stk_say_step_held_up(ctx, f, held, what == STK_HELD_INPUT, stk_rule_on_host(ctx),
                         held >= NOT_WORTH);
    if (!ctx->pass.run->machine->is_of_profile) {
        stk_say_figures_of_whole_run(ctx, f);
    }
}

// Processes are sorted by work: the first of each group is its busiest.
bool stk_rule_crew(const struct stk_machine_view *v, struct stk_crew *out)
{
    double most = 0;
    uint32_t looked = v->process_count < 64 ? v->process_count : 64;
    *out = (struct stk_crew){0};
    for (uint32_t i = 0; i < looked; i++) {
        const struct stk_machine_process *p = &v->processes[i];
        struct stk_crew crew = {.name = p->name};
        for (uint32_t k = 0; k < v->process_count; k++) {
            const struct stk_machine_process *q = &v->processes[k];
            bool is_in = q->parent == p->parent && strcmp(q->name, p->name) == 0 &&
                         q->cpu + q->queue >= 0.05;
            crew.count += is_in;
            crew.cpu += is_in ? q->cpu : 0;
            crew.queue += is_in ? q->queue : 0;
        }
        if (crew.count > 1 && crew.cpu + crew.queue > most) {
            most = crew.cpu + crew.queue;
            *out = crew;
        }
    }
    if (out->count) {
        out->cpu /= out->count;
        out->queue /= out->count;
    }
    return out->count > 1;
}
