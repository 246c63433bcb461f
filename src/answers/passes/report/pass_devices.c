// SPDX-License-Identifier: Apache-2.0
// What did each device do?
// Reads the summaries' device rows; one pass over them. A device without any operation keeps its
// row, since it was idle or not recorded; its span is then unknown.
#include "base/assert.h"
#include "answers/passes/pass.h"

static const char *known(const char *text)
{
    return text && *text ? text : NULL;
}

static struct stk_rep_device devices_row_of(const struct stk_device_sum *d)
{
    STK_ASSERT(d->busy_ns <= d->span_ns);
    return (struct stk_rep_device){
        .id = d->id,
        .source_id = known(d->source_id),
        .name = known(d->name),
        .host = known(d->host),
        .rank = d->rank < 0 ? 0 : d->rank,
        .has_span = d->ops > 0,
        .first_ns = d->first_ns,
        .span_ns = d->span_ns,
        .busy_ns = d->busy_ns,
        .idle_ns = d->idle_ns,
        .kernel_ns = d->kernel_ns,
        .compute_ns = d->compute_ns,
        .communication_ns = d->communication_ns,
        .communication_exposed_ns = d->communication_exposed_ns,
        .transfer_ns = {.h2d = d->h2d_ns, .d2h = d->d2h_ns, .d2d = d->d2d_ns, .p2p = d->p2p_ns},
        .transfer_exposed_ns = d->transfer_exposed_ns,
        .kernels = d->kernels,
        .short_kernels = d->short_kernels,
    };
}

static enum stoker_status devices_describe(const struct stk_pass_ctx *ctx,
                                           struct stk_report *report, struct stoker_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_rep_device *rows =
        stk_arena_array(ctx->arena, (size_t)run->device_count + 1, sizeof *rows);
    if (!rows) {
        return stk_err_nomem(err);
    }
    for (uint32_t i = 0; i < run->device_count; i++) {
        rows[i] = devices_row_of(&run->devices[i]);
    }
    report->devices = (struct stk_list){.items = rows, .count = run->device_count};
    return STOKER_OK;
}

const struct stk_pass stk_pass_devices = {
    .name = "devices",
    .question = "What did each device do?",
    .describe = devices_describe,
};
