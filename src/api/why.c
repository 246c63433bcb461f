// SPDX-License-Identifier: Apache-2.0
// The diagnosis from end to end: the run and its verdict (collect.c), then the report.
#include <string.h>

#include "api/api.h"
#include "api/job_command.h"
#include "base/alloc.h"
#include "rules/rule.h"
#include "stoker/version.h"

void stoker_why_options_default(struct stoker_why_options *options)
{
    if (options) {
        *options = (struct stoker_why_options){.limit = 10000};
    }
}

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

// Which fixes have a what-if that applies to these steps.
static void mark_priced(const struct stk_pricing *prices, struct stk_report *report)
{
    struct stk_rep_finding *f = (struct stk_rep_finding *)(uintptr_t)report->findings.items;
    for (size_t i = 0; i < report->findings.count && prices->gate.ok; i++) {
        const struct stk_rep_fix *fix = f[i].fix.items;
        for (size_t k = 0; k < f[i].fix.count && k < 64; k++) {
            struct stk_fix_set set;
            struct stoker_err ignored;
            bool is_priced = fix[k].price &&
                             stk_fix_parse(fix[k].price, &set, &ignored) == STOKER_OK &&
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
        if (!stk_pricing_init(&prices, in->run, &in->verdict, in->pass.arena)) {
            return stk_err_nomem(err);
        }
        ctx.prices = &prices;
    }
    report->schema = "stoker.report/1";
    report->stoker.version = stoker_version();
    enum stoker_status status = run_passes(&ctx, report, err);
    if (status == STOKER_OK && ctx.prices) {
        mark_priced(ctx.prices, report);
    }
    if (status == STOKER_OK && options->redact) {
        drop_sources(report);
    }
    return status;
}

// What the commands that try or price a fix are made of. Nothing of it is told with --redact.
static void put_commands(struct stoker_result *r, const char *const *paths, size_t count)
{
    struct stk_arena *arena = &r->in.arena;
    if (r->in.job_count > 0) {
        r->report.command = stk_job_command(arena, r->in.jobs[0].path);
    }
    if (count == 1 && strcmp(paths[0], "-") != 0) {
        r->report.given = stk_shell_words(arena, paths, 1);
    }
}

static enum stoker_status why(struct stoker_result *r, const char *const *paths, size_t count,
                              const struct stoker_why_options *options, struct stoker_err *err)
{
    r->in.has_graphs = true;
    enum stoker_status status =
        stk_collect(&r->in, paths, count, options, &stk_replay_brief_hook, err);
    if (status == STOKER_OK && !options->redact) {
        put_commands(r, paths, count);
    }
    return status == STOKER_OK ? stk_diagnose(&r->in, options, &r->report, err) : status;
}

enum stoker_status stoker_why(const char *const *paths, size_t count,
                              const struct stoker_why_options *options, struct stoker_result **out,
                              struct stoker_err *err)
{
    struct stoker_why_options defaults;
    struct stoker_err own;
    if (stk_entry_paths("stoker_why", paths, count, out, err) != STOKER_OK) {
        return STOKER_EINVAL;
    }
    *out = NULL;
    stoker_why_options_default(&defaults);
    err = stk_err_begin(err, &own);
    struct stoker_result *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&r->in.arena, 0);
    if (why(r, paths, count, options ? options : &defaults, err) != STOKER_OK) {
        stoker_result_free(r);
        return stk_err_fail(err);
    }
    *out = r;
    return STOKER_OK;
}
