// SPDX-License-Identifier: Apache-2.0
// The diagnosis from end to end: inputs -> summaries -> run -> verdict -> report. The traces are
// gone by the time the ranks are merged.
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/inputs.h"
#include "base/alloc.h"
#include "rules/rule.h"
#include "stoker/version.h"

void stoker_why_options_default(struct stoker_why_options *options)
{
    if (options)
        *options = (struct stoker_why_options){.limit = 10000};
}

static enum stk_status to_select(const struct stoker_why_options *o, struct stk_select *out,
                                 struct stk_err *err)
{
    *out = (struct stk_select){
        .has_steps = o->has_steps,
        .has_rank = o->has_rank,
        .has_device = o->has_device,
        .has_from = o->has_from,
        .has_to = o->has_to,
        .step_first = o->step_first,
        .step_last = o->step_last,
        .rank = (int32_t)o->rank,
        .device = o->device,
        .from_ns = o->from_ns,
        .to_ns = o->to_ns,
    };
    if (o->has_rank && (o->rank < 0 || o->rank > INT32_MAX))
        return stk_err_set(err, STK_EUSAGE, "a rank is a number from 0");
    if (o->has_steps && o->step_first > o->step_last)
        return stk_err_set(err, STK_EUSAGE, "the first step lies after the last one");
    if (o->has_from && o->has_to && o->from_ns >= o->to_ns)
        return stk_err_set(err, STK_EUSAGE, "the selected time ends before it begins");
    return STK_OK;
}

static enum stk_status find_inputs(struct stoker_result *r, const char *const *paths, size_t count,
                                   struct stk_inputs *inputs, struct stk_err *err)
{
    enum stk_status status = stk_inputs_expand(paths, count, &r->arena, inputs, err);
    if (status != STK_OK)
        return status;
    r->jobs = stk_alloc_zero(inputs->taken, sizeof *r->jobs);
    if (!r->jobs)
        return stk_err_nomem(err);
    r->job_count = inputs->taken;
    for (size_t i = 0; i < r->job_count; i++) {
        r->jobs[i].path = inputs->entries[i].path;
        r->jobs[i].rank_hint = inputs->entries[i].rank_hint;
    }
    return STK_OK;
}

static bool was_named(const struct stk_input *in, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(paths[i], in->path) == 0)
            return true;
    return false;
}

// What was not taken is an issue: a file named by the user failed, others of a directory are only
// left out. (A file given twice was taken once: not a failure.)
static enum stk_status record_left_out(struct stoker_result *r, const struct stk_inputs *inputs,
                                       const char *const *paths, size_t count, struct stk_err *err)
{
    struct stk_input_info *info = &r->jobs[0].info;
    uint64_t failed = 0;
    for (uint32_t i = inputs->taken; i < inputs->count; i++) {
        const struct stk_input *in = &inputs->entries[i];
        bool twice = false;
        for (size_t k = 0; k < r->job_count; k++)
            twice |= strcmp(r->jobs[k].path, in->path) == 0;
        if (twice || !was_named(in, paths, count))
            continue;
        failed++;
        info->issues[STK_ISSUE_INPUT_FAILED].count++;
        if (info->issue_notes[STK_ISSUE_INPUT_FAILED])
            continue;
        info->issue_notes[STK_ISSUE_INPUT_FAILED] =
            stk_arena_printf(&r->arena, "%s: %s", in->path, in->why ? in->why : "not a profile");
        if (!info->issue_notes[STK_ISSUE_INPUT_FAILED])
            return stk_err_nomem(err);
    }
    if (inputs->left_out > failed) {
        info->issues[STK_ISSUE_FILE_SKIPPED].count += inputs->left_out - failed;
        info->issue_notes[STK_ISSUE_FILE_SKIPPED] = inputs->note;
    }
    return STK_OK;
}

// A selection that selects nothing is a slip, not a profile that cannot be judged.
static enum stk_status check_selection(const struct stk_run_sum *run,
                                       const struct stk_select *select, struct stk_err *err)
{
    bool any = !select->has_steps;
    for (uint32_t i = 0; i < run->step_count && !any; i++)
        any =
            !run->steps[i].excluded || strcmp(run->steps[i].excluded, STK_EXCLUDED_UNSELECTED) != 0;
    if (!any && select->step_last == INT64_MAX)
        return stk_err_set(err, STK_EUSAGE, "the profile holds no step numbered %lld or more",
                           (long long)select->step_first);
    if (!any)
        return stk_err_set(err, STK_EUSAGE, "the profile holds no step numbered %lld to %lld",
                           (long long)select->step_first, (long long)select->step_last);
    any = !select->has_device;
    for (uint32_t i = 0; i < run->device_count && !any; i++)
        any = run->devices[i].ordinal == select->device;
    if (!any)
        return stk_err_set(err, STK_EUSAGE, "no device %lld in the profile",
                           (long long)select->device);
    return STK_OK;
}

static enum stk_status run_passes(const struct stk_rule_ctx *ctx, struct stk_report *report,
                                  struct stk_err *err)
{
    for (int i = 0; i < stk_pass_count; i++) {
        enum stk_status status = stk_passes[i]->describe(&ctx->pass, report, err);
        if (status != STK_OK)
            return status;
    }
    return stk_rules_run(ctx, report, err);
}

static void drop_sources(struct stk_report *report)
{
    struct stk_rep_finding *f = (struct stk_rep_finding *)(uintptr_t)report->findings.items;
    for (size_t i = 0; i < report->findings.count; i++)
        f[i].has_source = false;
}

static enum stk_status diagnose(struct stoker_result *r, const struct stoker_why_options *options,
                                const struct stk_select *select, struct stk_err *err)
{
    struct stk_rank_sum **ranks = NULL;
    uint32_t rank_count = 0;
    struct stk_run_sum *run = NULL;
    struct stk_verdict verdict;
    enum stk_status status =
        stk_ranks_collect(r->jobs, r->job_count, select, &r->arena, &ranks, &rank_count, err);
    if (status == STK_OK && options->redact)
        status = stk_redact(r->jobs, r->job_count, &r->arena, err);
    if (status == STK_OK)
        status = stk_model_merge(ranks, rank_count, &r->arena, &run, err);
    if (status == STK_OK)
        status = check_selection(run, select, err);
    if (status == STK_OK)
        status = stk_verdict_decide(run, &r->arena, &verdict, err);
    if (status != STK_OK)
        return status;
    struct stk_input_info *infos = stk_arena_array(&r->arena, r->job_count, sizeof *infos);
    if (!infos)
        return stk_err_nomem(err);
    for (size_t i = 0; i < r->job_count; i++)
        infos[i] = r->jobs[i].info;
    struct stk_rule_ctx ctx = {
        .pass = {.inputs = infos,
                 .input_count = (uint32_t)r->job_count,
                 .run = run,
                 .verdict = &verdict,
                 .select = select,
                 .limit = options->limit,
                 .arena = &r->arena},
        .report = &r->report,
    };
    r->report.schema = "stoker.report/1";
    r->report.stoker.version = stoker_version();
    status = run_passes(&ctx, &r->report, err);
    if (status == STK_OK && options->redact)
        drop_sources(&r->report);
    return status;
}

// Damage that left nothing to read is an error of the input; an empty but sound profile is not.
static enum stk_status check_events(const struct stoker_result *r, struct stk_err *err)
{
    uint64_t read = 0;
    const char *damage = NULL;
    for (size_t i = 0; i < r->job_count; i++) {
        read += r->jobs[i].info.read;
        for (int id = 0; id < STK_ISSUE_COUNT; id++)
            if (r->jobs[i].info.issues[id].count &&
                stk_issue_info(id)->severity != STK_SEVERITY_INFO && !damage)
                damage = stk_issue_info(id)->meaning;
    }
    if (read > 0 || !damage)
        return STK_OK;
    return stk_err_set(err, STK_EINPUT, "%s: no event could be read: %s", r->jobs[0].path, damage);
}

static enum stk_status why(struct stoker_result *r, const char *const *paths, size_t count,
                           const struct stoker_why_options *options, struct stk_err *err)
{
    struct stk_select select;
    struct stk_inputs inputs;
    enum stk_status status = to_select(options, &select, err);
    if (status == STK_OK)
        status = find_inputs(r, paths, count, &inputs, err);
    if (status == STK_OK)
        status = stk_jobs_read(r->jobs, r->job_count, options, &select, err);
    if (status == STK_OK)
        status = check_events(r, err);
    if (status != STK_OK)
        return status;
    status = record_left_out(r, &inputs, paths, count, err);
    if (status != STK_OK)
        return status;
    return diagnose(r, options, &select, err);
}

enum stoker_status stoker_why(const char *const *paths, size_t count,
                              const struct stoker_why_options *options, struct stoker_result **out,
                              struct stoker_err *err)
{
    struct stoker_why_options defaults;
    struct stk_err e;
    if (!out || !paths || count == 0)
        return stk_api_invalid(err, "stoker_why needs paths and a place for the result");
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (!paths[i])
            return stk_api_invalid(err, "stoker_why: a path is NULL");
    stoker_why_options_default(&defaults);
    stk_err_init(&e);
    struct stoker_result *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        stk_err_nomem(&e);
        return stk_api_fail(err, &e);
    }
    stk_arena_init(&r->arena, 0);
    if (why(r, paths, count, options ? options : &defaults, &e) != STK_OK) {
        stoker_result_free(r);
        return stk_api_fail(err, &e);
    }
    *out = r;
    return STOKER_OK;
}
