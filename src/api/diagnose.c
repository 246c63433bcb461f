// SPDX-License-Identifier: Apache-2.0
// The report of a collected run: what the passes describe, then what the rules find.
#include "api/api.h"
#include "answers/rules/rule.h"
#include "stoker/version.h"

static enum stoker_status run_passes(const struct stk_rule_ctx *ctx, struct stk_report *report,
                                     struct stoker_err *err)
{
    for (int i = 0; i < stk_pass_count; i++) {
        enum stoker_status status = stk_passes[i]->describe(&ctx->pass, report, err);
        if (status != STOKER_OK) {
            return status;
        }
    }
    return stk_rules_run(ctx, report, err);
}

static void drop_sources(struct stk_report *report)
{
    struct stk_rep_finding *f = (struct stk_rep_finding *)(uintptr_t)report->findings.items;
    for (size_t i = 0; i < report->findings.count; i++) {
        f[i].has_source = false;
    }
}

// Marks fixes with a what-if that applies to these steps.
static void mark_priced(const struct stk_pricing *prices, struct stk_report *report)
{
    struct stk_rep_finding *f = (struct stk_rep_finding *)(uintptr_t)report->findings.items;
    for (size_t i = 0; i < report->findings.count && prices->gate.ok; i++) {
        const struct stk_rep_fix *fix = f[i].fix.items;
        for (size_t k = 0; k < f[i].fix.count && k < 64; k++) {
            struct stk_price_asked set;
            struct stoker_err ignored;
            bool is_priced = fix[k].price &&
                             stk_price_parse(fix[k].price, &set, &ignored) == STOKER_OK &&
                             !stk_price_refuse(prices, &set);
            f[i].priced |= (uint64_t)is_priced << k;
        }
    }
}

enum stoker_status stk_diagnose(const struct stk_collected *in,
                                const struct stoker_why_options *options, struct stk_report *report,
                                struct stoker_err *err)
{
    struct stk_rule_ctx ctx = {.pass = in->pass, .report = report};
    struct stk_pricing prices;
    if (in->has_graphs) {
        if (!stk_pricing_init(&prices, in->run, &in->verdict, false, in->pass.arena)) {
            return stk_err_nomem(err);
        }
        ctx.prices = &prices;
    }
    report->schema = STK_REPORT_SCHEMA;
    report->stoker.version = stoker_version();
    enum stoker_status status = run_passes(&ctx, report, err);
    if (status == STOKER_OK && ctx.prices) {
        mark_priced(ctx.prices, report);
    }
    if (ctx.prices) {
        stk_pricing_deinit(&prices);
    }
    if (status == STOKER_OK && options->redact) {
        drop_sources(report);
    }
    return status;
}
