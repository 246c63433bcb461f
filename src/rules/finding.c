// SPDX-License-Identifier: Apache-2.0
// What rules share when they write a finding. Evidence lives in the result's arena; when memory is
// out a line is left out rather than the finding.
#include "rules/finding.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/human.h"

#define MAX_EVIDENCE 16

double stk_rule_part_share(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    const struct stk_run_sum *run = ctx->pass.run;
    return run->wall_ns > 0 ? (double)run->parts[part] / (double)run->wall_ns : 0;
}

double stk_rule_group_share(const struct stk_rule_ctx *ctx, enum stk_group group)
{
    double share = 0;
    for (int p = 0; p < STK_PART_COUNT; p++)
        if (stk_part_info(p)->group == group && p != STK_PART_OVERHEAD)
            share += stk_rule_part_share(ctx, p);
    return share;
}

const char *stk_rule_severity(const struct stk_rule_ctx *ctx, double share)
{
    bool host = ctx->pass.run->scope == STK_SCOPE_HOST;
    return share >= (host ? 0.50 : 0.15) ? "high" : share >= (host ? 0.25 : 0.05) ? "medium" : "low";
}

const char *stk_level_key(enum stk_level level)
{
    static const char *const keys[] = {"none", "info", "low", "medium", "high"};
    return keys[level];
}

const char *stk_rule_text(const struct stk_rule_ctx *ctx, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *copy = stk_arena_strdup(ctx->pass.arena, text);
    return copy ? copy : "";
}

void stk_finding_show(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *text,
                      const char *track, int64_t start_ns, int64_t dur_ns)
{
    if (!f->evidence.items)
        f->evidence.items = stk_arena_array(ctx->pass.arena, MAX_EVIDENCE, sizeof(struct stk_rep_evidence));
    struct stk_rep_evidence *items = (struct stk_rep_evidence *)f->evidence.items;
    if (!items || f->evidence.count == MAX_EVIDENCE)
        return;
    items[f->evidence.count++] = (struct stk_rep_evidence){
        .text = text, .track = track, .has_time = dur_ns >= 0, .start_ns = start_ns, .dur_ns = dur_ns};
}

void stk_finding_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *copy = stk_arena_strdup(ctx->pass.arena, text);
    if (copy)
        stk_finding_show(ctx, f, copy, NULL, 0, -1);
}

static uint32_t steps_counted(const struct stk_run_sum *run)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < run->step_count; i++)
        used += !run->steps[i].excluded;
    return used;
}

static void say_total(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, enum stk_part part)
{
    const struct stk_cause *c = &ctx->pass.run->causes[part];
    const struct stk_part_info *info = stk_part_info(part);
    int64_t ns = ctx->pass.run->parts[part];
    uint32_t used = steps_counted(ctx->pass.run);
    char time[STK_HUMAN_MAX], share[STK_HUMAN_MAX];
    stk_human_ns(ns, time);
    stk_human_share(stk_rule_part_share(ctx, part), share);
    if (used > 0 && c->steps_affected > 0)
        stk_finding_say(ctx, f, "%s: %s, %s of the time, in %u of %u steps", info->meaning, time, share,
                        c->steps_affected < used ? c->steps_affected : used, used);
    else
        stk_finding_say(ctx, f, "%s: %s, %s of the time", info->meaning, time, share);
}

void stk_finding_cause(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, enum stk_part part)
{
    const struct stk_cause *c = &ctx->pass.run->causes[part];
    char time[STK_HUMAN_MAX];
    say_total(ctx, f, part);
    for (int i = 0; i < c->name_count && i < 3; i++)
        if (c->names[i].ns > 0 && c->names[i].name[0])
            stk_finding_say(ctx, f, "%s of it in %.160s (%u x)", stk_human_ns(c->names[i].ns, time),
                            c->names[i].name, c->names[i].count);
    if (c->example_count > 0) {
        const struct stk_example *e = &c->examples[0];
        const char *text = e->step >= 0
            ? stk_rule_text(ctx, "longest: %s in step %lld%s%.160s", stk_human_ns(e->dur_ns, time),
                            (long long)e->step, e->name && e->name[0] ? ", " : "", e->name ? e->name : "")
            : stk_rule_text(ctx, "longest: %s%s%.160s", stk_human_ns(e->dur_ns, time),
                            e->name && e->name[0] ? ", " : "", e->name ? e->name : "");
        stk_finding_show(ctx, f, text, e->track, e->start_ns, e->dur_ns);
    }
}

void stk_finding_bound(struct stk_rep_finding *f, double share)
{
    f->saving.has_low = f->saving.has_high = true;
    f->saving.low_share = 0;
    f->saving.high_share = share > 1 ? 1 : share;
    f->saving.basis = "bound";
}

static uint32_t most_affected(const struct stk_run_sum *run, enum stk_group group)
{
    uint32_t steps = 0;
    for (int p = 0; p < STK_PART_COUNT; p++)
        if (stk_part_info(p)->group == group && run->causes[p].steps_affected > steps)
            steps = run->causes[p].steps_affected;
    return steps;
}

enum stk_rule_state stk_rule_check_group(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                         enum stk_group group, double from, const char **why)
{
    double share = stk_rule_group_share(ctx, group);
    char percent[STK_HUMAN_MAX];
    stk_human_share(share, percent);
    if (ctx->pass.run->scope == STK_SCOPE_HOST && from < 0.15)
        from = 0.15;
    if (share < from) {
        *why = stk_rule_text(ctx, "%s of the time, below %.0f %%", percent, from * 100);
        return STK_RULE_PASSED;
    }
    *why = stk_rule_text(ctx, "%s of the time", percent);
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = stk_level_key(ctx->pass.verdict->confidence);
    f->steps_affected = most_affected(ctx->pass.run, group);
    stk_finding_bound(f, share);
    for (int p = 0; p < STK_PART_COUNT; p++)
        if (stk_part_info(p)->group == group && stk_rule_part_share(ctx, p) >= 0.01)
            stk_finding_cause(ctx, f, p);
    return STK_RULE_FIRED;
}
