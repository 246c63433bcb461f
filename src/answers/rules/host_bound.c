// SPDX-License-Identifier: Apache-2.0
// The device is idle because the host is late: launch calls, Python and framework code, the
// allocator. The largest of these determines title and advice (host_fixes.c). A profiler stretches
// host time, Python tracing most of all, so near the threshold the profiler may be part of the
// cause.
#include <string.h>

#include "profile/model/threads/python_frame.h"
#include "profile/model/thresholds.h"
#include "pages_data.h"
#include "answers/rules/host_fixes.h"
#include "answers/rules/job_places.h"
#include "profile/model/verdict/busy_work.h"
#include "answers/rules/torch_signs.h"
#include "evidence_says.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST };
static const struct stk_threshold *const thresholds = stk_host_thresholds;

static bool leads(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    double share = stk_rule_part_share(ctx, part);
    return share > 0 && share >= thresholds[STK_HOST_FROM_LEADS].value *
                                     stk_rule_group_share(ctx, STK_GROUP_HOST);
}

static bool allocates(const struct stk_rule_ctx *ctx)
{
    return leads(ctx, STK_PART_ALLOC) ||
           stk_rule_part_share(ctx, STK_PART_ALLOC) >= thresholds[STK_HOST_FROM_ALLOC].value;
}

static bool many_brief(const struct stk_rule_ctx *ctx)
{
    uint64_t kernels, brief;
    stk_rule_count_kernels(ctx, &kernels, &brief);
    return kernels > 0 && (double)brief >= thresholds[STK_HOST_FROM_BRIEF].value * (double)kernels;
}

// Python and the framework take most, and not because of the launches that short kernels need.
static bool code_leads(const struct stk_rule_ctx *ctx)
{
    double host = stk_rule_part_share(ctx, STK_PART_HOST);
    double launch = stk_rule_part_share(ctx, STK_PART_LAUNCH);
    return leads(ctx, STK_PART_HOST) &&
           (!many_brief(ctx) || launch < thresholds[STK_HOST_FROM_LEADS].value * host);
}

static void say_launches(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    uint64_t kernels, brief;
    stk_rule_count_kernels(ctx, &kernels, &brief);
    if (many_brief(ctx)) {
        stk_say_kernels_are_brief(ctx, f, brief, kernels);
    }
    if (facts->launches > 0 && facts->launch_call_median_ns > 0) {
        stk_say_launch_calls(ctx, f, facts->launches, facts->launch_call_median_ns);
    }
    if (facts->graph_launches > 0) {
        stk_say_graphs_launched(ctx, f, facts->graph_launches);
    }
    if (allocates(ctx) && facts->alloc_calls > 0) {
        stk_say_allocations(ctx, f, facts->alloc_calls, facts->alloc_call_ns);
    }
    if (facts->python_events > 0) {
        stk_say_python_was_traced(ctx, f);
    }
}

// A library function in which the job's own function spends most of its time.
static void say_called(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_HOST];
    if (!facts->owner_calls || !facts->owner_calling || !stk_rule_owners_tell(c) ||
        c->owners[0].count < 2 || strcmp(facts->owner_calling, c->owners[0].name) != 0) {
        return;
    }
    struct stk_python_frame called = stk_python_frame_parse(stk_str_from(facts->owner_calls));
    const char *name = called.file.n
                           ? stk_rule_text(ctx, "%.*s (%.*s)", (int)called.function.n,
                                           called.function.p, (int)called.file.n, called.file.p)
                           : facts->owner_calls; // redacted
    stk_say_own_function_calls(ctx, f, facts->owner_calls_share,
                               stk_rule_owner(ctx, c->owners[0].name), name);
}

// The verdict is host-bound although little of it is measured: unlinked device work, mostly short
// kernels.
static enum stk_rule_state check_unlinked(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                          const char **why)
{
    double share = stk_rule_part_share(ctx, STK_PART_UNKNOWN);
    if (ctx->pass.verdict->kind != STK_VERDICT_HOST ||
        share < thresholds[STK_HOST_FROM_UNLINKED].value || !many_brief(ctx)) {
        return STK_RULE_PASSED;
    }
    f->title = "The device is idle between short kernels";
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = STK_LEVEL_LOW;
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_UNKNOWN).most_affected;
    stk_finding_bound(f, share);
    *why = stk_why_idle_unlinked(ctx, share);
    stk_say_host_likely_late(ctx, f, share);
    say_launches(ctx, f);
    stk_host_fixes_choose(ctx, f, STK_HOST_LAUNCHES);
    return STK_RULE_FIRED;
}

// Most of the host's loss is calls of tiny operations, which the parts count as the model's work.
static bool tiny_leads(const struct stk_rule_ctx *ctx)
{
    const struct stk_verdict *v = ctx->pass.verdict;
    return v->kind == STK_VERDICT_HOST && v->tiny_share > 0 &&
           (v->held_share > 0 || v->tiny_share > v->group_share[STK_GROUP_HOST] / 2);
}

static enum stk_rule_state check_tiny(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                      const char **why)
{
    const struct stk_verdict *v = ctx->pass.verdict;
    double share = v->group_share[STK_GROUP_HOST];
    f->title = "The CPU's step is mostly calls to tiny operations";
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = v->confidence;
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_COMPUTE).most_affected;
    stk_finding_bound(f, share * (1 - v->held_share));
    stk_finding_source(ctx, f, stk_rule_group_parts(STK_GROUP_HOST));
    *why = stk_why_tiny_calls(ctx, share);
    stk_say_operators_are_tiny(ctx, f, ctx->pass.verdict->tiny_share,
                               stk_threshold_value(STK_T_TINY_CALL_US), share);
    stk_finding_cause(ctx, f, STK_PART_COMPUTE);
    stk_torch_signs_choose(ctx, f);
    stk_places_say_lines(ctx, f);
    return STK_RULE_FIRED;
}

// The unrecorded time is between operations that run one by one: it is the Python that calls them.
static bool eager_leads(const struct stk_rule_ctx *ctx)
{
    const struct stk_verdict *v = ctx->pass.verdict;
    return v->kind == STK_VERDICT_HOST && v->unrecorded_share > 0 &&
           stk_runs_eagerly(ctx->pass.run);
}

// The most that can be saved of such a step: everything but its fetches and the work of its
// operations. The profile also counts the operations' calls as the model's work.
static double most_eager(const struct stk_run_sum *run, double lost)
{
    double steps = run->step_marks > 0 ? run->step_marks : 1;
    if (run->wall_ns <= 0 || run->steps_used == 0) {
        return lost;
    }
    double step_ns = (double)run->wall_ns / run->steps_used;
    double left = (double)run->facts.eager_least_ns / steps / step_ns +
                  (double)run->parts[STK_PART_INPUT] / (double)run->wall_ns;
    return 1 - left > lost ? 1 - left : lost;
}

static enum stk_rule_state check_eager(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                       const char **why)
{
    double share = ctx->pass.verdict->group_share[STK_GROUP_HOST];
    f->title = "TensorFlow runs the step eagerly, operation by operation";
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = ctx->pass.verdict->confidence;
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_UNKNOWN).most_affected;
    stk_finding_bound(f, most_eager(ctx->pass.run, share));
    stk_finding_source(ctx, f, stk_rule_group_parts(STK_GROUP_HOST));
    *why = stk_why_eager_leads(ctx, share);
    stk_say_runs_eagerly(ctx, f, (uint64_t)stk_sign_a_step(ctx->pass.run, STK_SIGN_EAGER_OP),
                         share);
    stk_finding_cause(ctx, f, STK_PART_HOST);
    stk_host_fixes_choose(ctx, f, STK_HOST_CODE);
    return STK_RULE_FIRED;
}

// The time of stoker.data's consumer between two batches is mostly the training itself: the record
// can't show a loss in it.
static void state_own_time(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                           uint32_t parts)
{
    struct stk_rule_steps s = stk_rule_spread(ctx, parts);
    f->title = "The step's own time, between two batches";
    f->severity = STK_LEVEL_INFO;
    f->saving.has_low = f->saving.has_high = false;
    f->saving.basis = "none";
    stk_say_between_batches(ctx, f, s.used ? s.total_ns / s.used : 0,
                            stk_rule_parts_share(ctx, parts));
    stk_host_fixes_choose(ctx, f, STK_HOST_NOT_RECORDED);
}

static enum stk_rule_state host_bound_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    uint32_t parts = stk_rule_group_parts(STK_GROUP_HOST);
    enum stk_rule_state state = stk_rule_check_share(ctx, f, parts, thresholds, why);
    if (tiny_leads(ctx)) {
        return check_tiny(ctx, f, why);
    }
    if (eager_leads(ctx)) {
        return check_eager(ctx, f, why);
    }
    if (state == STK_RULE_PASSED) {
        return check_unlinked(ctx, f, why);
    }
    if (leads(ctx, STK_PART_WAIT)) {
        f->title = stk_rule_on_host(ctx) ? "The CPU's step is blocked, but not by input"
                                         : "The device waits while the CPU is blocked";
    } else if (stk_rule_on_host(ctx)) {
        f->title = "The CPU's step is busy outside the model";
    } else if (leads(ctx, STK_PART_ALLOC)) {
        f->title = "The device waits for memory allocation";
    } else if (code_leads(ctx)) {
        f->title = "The device waits for Python and the framework";
    } else if (leads(ctx, STK_PART_LAUNCH)) {
        f->title = stk_host_graphs_lead(ctx)
                       ? "The device idles at graph launches and between their kernels"
                       : "The device waits for kernel launches";
    }
    if (stk_rule_on_pipeline(ctx)) {
        state_own_time(ctx, f, parts);
        return STK_RULE_FIRED;
    }
    stk_finding_causes(ctx, f, parts);
    stk_places_say_lines(ctx, f);
    say_called(ctx, f);
    if (!stk_rule_on_host(ctx)) {
        say_launches(ctx, f);
    }
    uint32_t other = leads(ctx, STK_PART_WAIT) ? STK_HOST_BLOCKED
                     : code_leads(ctx)         ? STK_HOST_CODE
                                               : STK_HOST_LAUNCHES;
    stk_host_fixes_choose(ctx, f,
                          (allocates(ctx) ? STK_HOST_ALLOCATES : 0) |
                              (leads(ctx, STK_PART_ALLOC) ? 0 : other));
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_host_bound = {
    .page = STK_PAGE(host_bound),
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_HOST,
    .thresholds = stk_host_thresholds,
    .fixes = stk_host_fixes,
    .check = host_bound_check,
};
