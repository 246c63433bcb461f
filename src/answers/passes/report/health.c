// SPDX-License-Identifier: Apache-2.0
// Health of the capture, before any verdict:
//   unusable  nothing can be judged: no events, or the model abstains for lack of rows
//   limited   data was lost or is missing; the verdict stands with what is named
//   good      nothing known against it
// Each reason is one sentence. Things that the profile can't show in principle (only one step,
// unmarked steps) also limit it: a reader must know them before the figures.
#include "answers/passes/report/health.h"

#include <string.h>

#define MAX_REASONS 24

// Thresholds, with their reasons.
#define UNLINKED_FROM 0.05     // of device operations: above it the verdict's confidence also drops
#define UNKNOWN_FROM 0.15      // of the time: as for the verdict's confidence
#define SKEWED_FROM 0.01       // of device operations: a few are rounding
#define BAD_RECORDS_FROM 0.001 // of the records: fewer don't change any printed share
#define OVERHEAD_FROM 0.05 // of the time: with this cost a profiler distorts its own measurements

struct judge {
    const struct stk_pass_ctx *ctx;
    const char **reasons;
    size_t count;
    bool failed;
};

static void health_add(struct judge *j, const char *text)
{
    if (!text) {
        j->failed = true;
    } else if (j->count < MAX_REASONS) {
        j->reasons[j->count++] = text;
    }
}

// A partial may hold parts that are larger than their whole.
static int percent(uint64_t part, uint64_t whole)
{
    double share = part < whole ? (double)part / (double)whole : whole > 0;
    return (int)(share * 100 + 0.5);
}

// A few bad records among many don't matter; damage to the whole file always does.
static bool is_negligible(const struct stk_rep_issue *issue, uint64_t records)
{
    static const enum stk_issue_id single[] = {STK_ISSUE_TIME_INVALID, STK_ISSUE_DURATION_ABSURD,
                                               STK_ISSUE_FIELD_INVALID, STK_ISSUE_MESSAGE_INVALID};
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        if (strcmp(issue->id, stk_issue_info(single[i])->key) == 0) {
            return (double)issue->count < BAD_RECORDS_FROM * (double)records;
        }
    }
    return false;
}

static void judge_issues(struct judge *j, const struct stk_rep_profile *p)
{
    const struct stk_rep_issue *issue = p->issues.items;
    for (size_t i = 0; i < p->issues.count; i++) {
        if (issue[i].severity != STK_SEVERITY_INFO && !is_negligible(&issue[i], p->events.read)) {
            health_add(j, stk_arena_printf(j->ctx->arena, "%s (%llu)", issue[i].meaning,
                                           (unsigned long long)issue[i].count));
        }
    }
}

// Files treated as ranks of one run only because they were given together.
static void judge_ranks(struct judge *j)
{
    for (uint32_t i = 0; i < j->ctx->input_count; i++) {
        if (j->ctx->inputs[i].issues[STK_ISSUE_RANKS_NUMBERED].count) {
            health_add(j, "The files don't name their rank, so they were numbered in the order of "
                          "their names");
            return;
        }
    }
}

// A TPU runs its program without launch calls, so their absence means nothing.
static bool has_launches(const struct stk_run_sum *run)
{
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (run->devices[d].analysed && run->devices[d].kind != STK_DEVICE_TPU) {
            return true;
        }
    }
    return false;
}

static void judge_links(struct judge *j)
{
    const struct stk_facts *f = &j->ctx->run->facts;
    struct stk_arena *arena = j->ctx->arena;
    if (!f->has_device_rows) {
        health_add(j, "No GPU events: the breakdown shows the CPU's steps");
    }
    uint64_t lost = f->unlinked_ops > f->queued_ops ? f->unlinked_ops - f->queued_ops : 0;
    if (f->device_ops && has_launches(j->ctx->run) &&
        (double)lost > UNLINKED_FROM * (double)f->device_ops) {
        health_add(j,
                   stk_arena_printf(arena,
                                    "%d%% of GPU operations have no launch call in the profile, so "
                                    "what the CPU did before them is unknown",
                                    percent(lost, f->device_ops)));
    }
    if (f->device_ops && (double)f->negative_delays > SKEWED_FROM * (double)f->device_ops) {
        health_add(j, stk_arena_printf(arena,
                                       "%d%% of GPU operations start before their launch call: the "
                                       "CPU's and GPU's clocks disagree",
                                       percent(f->negative_delays, f->device_ops)));
    }
}

static void judge_steps(struct judge *j)
{
    const struct stk_run_sum *run = j->ctx->run;
    struct stk_arena *arena = j->ctx->arena;
    if (run->source == STK_STEPS_NONE) {
        health_add(j, "No steps are marked, so the recorded time is judged as a whole");
    } else if (run->source == STK_STEPS_INFERRED) {
        health_add(j, "No steps are marked; they were inferred from repeating work");
    }
    if (run->source != STK_STEPS_NONE && run->steps_used < 3) {
        health_add(j,
                   stk_arena_printf(arena,
                                    "Only %u step%s used, so one-off costs can't be separated from "
                                    "recurring ones",
                                    run->steps_used, run->steps_used == 1 ? " was" : "s were"));
    }
    if (run->rank_events_unequal) {
        health_add(j, stk_arena_printf(
                          arena, "%llu collectives are missing on some ranks and were not matched",
                          (unsigned long long)run->rank_events_unequal));
    }
}

static void judge_time(struct judge *j)
{
    const struct stk_run_sum *run = j->ctx->run;
    if (run->wall_ns <= 0) {
        return;
    }
    double unknown = (double)run->parts[STK_PART_UNKNOWN] / (double)run->wall_ns;
    double overhead = (double)run->parts[STK_PART_OVERHEAD] / (double)run->wall_ns;
    if (unknown >= UNKNOWN_FROM) {
        health_add(j, stk_arena_printf(j->ctx->arena,
                                       "%d%% of the time is idle, and the profile doesn't show why",
                                       (int)(unknown * 100 + 0.5)));
    }
    if (overhead >= OVERHEAD_FROM) {
        health_add(j, stk_arena_printf(j->ctx->arena, "The profiler itself takes %d%% of the time",
                                       (int)(overhead * 100 + 0.5)));
    }
}

// If nothing can be judged, gives the verdict's own reason, unless it is only too much unknown
// time.
static bool unusable(const struct stk_pass_ctx *ctx, const struct stk_rep_profile *p)
{
    if (p->events.read == 0) {
        return true;
    }
    const struct stk_verdict *v = ctx->verdict;
    return v->kind == STK_VERDICT_CANNOT_TELL && v->reason != STK_REASON_NONE &&
           !stk_reason_leaves_shares(v->reason);
}

enum stoker_status stk_health_judge(const struct stk_pass_ctx *ctx, struct stk_rep_profile *out,
                                    struct stoker_err *err)
{
    struct judge j = {.ctx = ctx};
    j.reasons = stk_arena_array(ctx->arena, MAX_REASONS, sizeof *j.reasons);
    if (!j.reasons) {
        return stk_err_nomem(err);
    }
    bool nothing = unusable(ctx, out);
    if (nothing) {
        health_add(&j, out->events.read == 0 ? "no event could be read" : ctx->verdict->sentence);
    }
    judge_issues(&j, out);
    if (!nothing) {
        judge_ranks(&j);
        judge_links(&j);
        judge_steps(&j);
        judge_time(&j);
    }
    if (j.failed) {
        return stk_err_nomem(err);
    }
    out->health.status = nothing ? "unusable" : j.count ? "limited" : "good";
    out->health.why = (struct stk_list){.items = j.reasons, .count = j.count};
    return STOKER_OK;
}
