// SPDX-License-Identifier: Apache-2.0
// Where does each step's time go?
// Reads the run's parts and its median step; their sum was asserted when they were made. If there
// is no time to break down, the scope is absent and the list of parts empty.
#include "base/assert.h"
#include "answers/passes/report/parts_list.h"

static const char *scope_key(enum stk_scope scope)
{
    STK_ASSERT((unsigned)scope <= STK_SCOPE_HOST);
    static const char *const keys[] = {
        [STK_SCOPE_STEPS] = "steps",
        [STK_SCOPE_SPAN] = "span",
        [STK_SCOPE_HOST] = "host",
    };
    return keys[scope];
}

static bool list_left_out(const struct stk_pass_ctx *ctx, struct stk_list *out)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_rep_left_out *rows =
        stk_arena_array(ctx->arena, (size_t)run->device_count + 1, sizeof *rows);
    size_t n = 0;
    if (!rows) {
        return false;
    }
    for (uint32_t i = 0; i < run->device_count; i++) {
        if (!run->devices[i].analysed) {
            rows[n++] = (struct stk_rep_left_out){run->devices[i].id, run->devices[i].left_out
                                                                          ? run->devices[i].left_out
                                                                          : "not analyzed"};
        }
    }
    *out = (struct stk_list){.items = rows, .count = n};
    return true;
}

static enum stoker_status breakdown_describe(const struct stk_pass_ctx *ctx,
                                             struct stk_report *report, struct stoker_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_rep_breakdown *out = &report->breakdown;
    if (!list_left_out(ctx, &out->devices_left_out)) {
        return stk_err_nomem(err);
    }
    if (run->wall_ns <= 0) {
        return STOKER_OK;
    }
    out->scope = scope_key(run->scope);
    if (!stk_parts_shares(run->parts, run->wall_ns, ctx->arena, &out->parts)) {
        return stk_err_nomem(err);
    }
    if (run->median_step >= run->step_count) {
        return STOKER_OK;
    }
    const struct stk_step *s = &run->steps[run->median_step];
    out->has_median_step = true;
    out->median_step.number = s->number;
    out->median_step.device = s->device < run->device_count ? run->devices[s->device].id : NULL;
    if (!stk_parts_shares(s->parts, s->dur_ns, ctx->arena, &out->median_step.parts)) {
        return stk_err_nomem(err);
    }
    return STOKER_OK;
}

const struct stk_pass stk_pass_breakdown = {
    .name = "breakdown",
    .question = "Where does each step's time go?",
    .describe = breakdown_describe,
};
