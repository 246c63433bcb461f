// SPDX-License-Identifier: Apache-2.0
// What bounds the job?
// The model decides (profile/model/verdict/verdict_decide.c); this only copies the decision to the
// report.
#include "answers/passes/pass.h"

static enum stoker_status verdict_describe(const struct stk_pass_ctx *ctx,
                                           struct stk_report *report, struct stoker_err *err)
{
    (void)err;
    report->verdict = (struct stk_rep_verdict){
        .kind = ctx->verdict->kind,
        .sentence = ctx->verdict->sentence,
        .confidence = ctx->verdict->confidence,
    };
    return STOKER_OK;
}

const struct stk_pass stk_pass_verdict = {
    .name = "verdict",
    .question = "What bounds the job?",
    .describe = verdict_describe,
};
