// SPDX-License-Identifier: Apache-2.0
// What was read, and can it be trusted?
// Reads the facts of each input and of the run. Issues are summed over the inputs, in the order of
// their table. Health is judged in health.c.
#include <stdio.h>
#include <string.h>

#include "profile/model/intervals.h"
#include "answers/passes/report/health.h"
#include "answers/passes/pass.h"

static bool list_inputs(const struct stk_pass_ctx *ctx, struct stk_list *out)
{
    struct stk_rep_input *rows =
        stk_arena_array(ctx->arena, (size_t)ctx->input_count + 1, sizeof *rows);
    if (!rows) {
        return false;
    }
    for (uint32_t i = 0; i < ctx->input_count; i++) {
        const struct stk_input_info *in = &ctx->inputs[i];
        rows[i] = (struct stk_rep_input){
            .path = in->path,
            .format = in->format,
            .producer = in->producer && *in->producer ? in->producer : NULL,
            .has_bytes = in->bytes > 0,
            .bytes = in->bytes,
            .ranks = {.items = in->ranks, .count = in->rank_count},
        };
    }
    *out = (struct stk_list){.items = rows, .count = ctx->input_count};
    return true;
}

static bool list_issues(const struct stk_pass_ctx *ctx, struct stk_list *out)
{
    struct stk_rep_issue *rows = stk_arena_array(ctx->arena, STK_ISSUE_COUNT, sizeof *rows);
    size_t n = 0;
    if (!rows) {
        return false;
    }
    for (int id = 0; id < STK_ISSUE_COUNT; id++) {
        const struct stk_issue_info *info = stk_issue_info(id);
        struct stk_rep_issue row = {info->key,     info->severity, 0,
                                    info->meaning, info->remedy,   NULL};
        for (uint32_t i = 0; i < ctx->input_count; i++) {
            row.count += ctx->inputs[i].issues[id].count;
            if (!row.example) {
                row.example = ctx->inputs[i].issue_notes[id];
            }
        }
        if (row.count) {
            rows[n++] = row;
        }
    }
    *out = (struct stk_list){.items = rows, .count = n};
    return true;
}

static bool count_events(const struct stk_pass_ctx *ctx, struct stk_rep_profile *out)
{
    struct stk_entry *kinds = stk_arena_array(ctx->arena, STK_KIND_COUNT, sizeof *kinds);
    if (!kinds) {
        return false;
    }
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        kinds[k].key = stk_kind_key(k);
    }
    for (uint32_t i = 0; i < ctx->input_count; i++) {
        const struct stk_input_info *in = &ctx->inputs[i];
        out->events.read += in->read;
        out->events.dropped += in->dropped;
        for (int k = 0; k < STK_KIND_COUNT; k++) {
            kinds[k].ns += (int64_t)in->by_kind[k];
        }
    }
    out->events.by_kind = (struct stk_list){.items = kinds, .count = STK_KIND_COUNT};
    return true;
}

// "10 ms", "1 500 us": as a user would type it.
static const char *duration_text(int64_t ns, struct stk_arena *arena)
{
    static const struct {
        int64_t unit;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t i = 0;
    while (ns % units[i].unit != 0) {
        i++;
    }
    return stk_arena_printf(arena, "%lld%s", (long long)(ns / units[i].unit), units[i].name);
}

static bool list_selection(const struct stk_pass_ctx *ctx, struct stk_list *out)
{
    const struct stk_select *s = ctx->select;
    const char **texts = stk_arena_array(ctx->arena, 6, sizeof *texts);
    size_t n = 0;
    if (!texts) {
        return false;
    }
    if (s->has_steps && s->step_last == INT64_MAX) {
        texts[n++] = stk_arena_printf(ctx->arena, "steps %lld:", (long long)s->step_first);
    } else if (s->has_steps) {
        texts[n++] = stk_arena_printf(ctx->arena, "steps %lld:%lld", (long long)s->step_first,
                                      (long long)s->step_last);
    }
    if (s->has_rank) {
        texts[n++] = stk_arena_printf(ctx->arena, "rank %d", (int)s->rank);
    }
    if (s->has_device) {
        texts[n++] = stk_arena_printf(ctx->arena, "device %lld", (long long)s->device);
    }
    const char *from = s->has_from ? duration_text(s->from_ns, ctx->arena) : "the start";
    const char *to = s->has_to ? duration_text(s->to_ns, ctx->arena) : "the end";
    if (!from || !to) {
        return false;
    }
    if (s->has_from || s->has_to) {
        texts[n++] = stk_arena_printf(ctx->arena, "from %s to %s", from, to);
    }
    for (size_t i = 0; i < n; i++) {
        if (!texts[i]) {
            return false;
        }
    }
    for (uint32_t i = 0; i < ctx->input_count && n < 6; i++) { // files taken from a directory
        if (ctx->inputs[i].issue_notes[STK_ISSUE_FILE_SKIPPED]) {
            texts[n++] = ctx->inputs[i].issue_notes[STK_ISSUE_FILE_SKIPPED];
        }
    }
    *out = (struct stk_list){.items = texts, .count = n};
    return true;
}

// For inputs that end early: the unused part, and the earliest time from which rows may be missing.
static void describe_cut(const struct stk_pass_ctx *ctx, struct stk_rep_profile *out)
{
    const struct stk_run_sum *run = ctx->run;
    out->is_cut = run->facts.is_cut;
    for (uint32_t i = 0; i < run->step_count; i++) {
        const char *why = run->steps[i].excluded;
        out->cut_steps += why && strcmp(why, STK_EXCLUDED_CUT) == 0;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        int64_t ns = rank->facts.whole_until_ns, shift_ns;
        if (!rank->facts.is_cut || ns <= 0 || ns == INT64_MAX ||
            __builtin_sub_overflow(rank->base_ns, out->base_ns, &shift_ns)) {
            continue;
        }
        ns = stk_add_ns(ns, shift_ns);
        if (!out->has_whole_until || ns < out->whole_until_ns) {
            out->whole_until_ns = ns;
        }
        out->has_whole_until = true;
    }
}

static enum stoker_status profile_describe(const struct stk_pass_ctx *ctx,
                                           struct stk_report *report, struct stoker_err *err)
{
    struct stk_rep_profile *out = &report->profile;
    if (!list_inputs(ctx, &out->inputs) || !list_issues(ctx, &out->issues) ||
        !count_events(ctx, out) || !list_selection(ctx, &out->selection)) {
        return stk_err_nomem(err);
    }
    if (ctx->run->rank_count > 0) {
        out->base_ns = ctx->run->ranks[0]->base_ns;
        for (uint32_t r = 1; r < ctx->run->rank_count; r++) {
            if (ctx->run->ranks[r]->base_ns < out->base_ns) {
                out->base_ns = ctx->run->ranks[r]->base_ns;
            }
        }
    }
    describe_cut(ctx, out);
    return stk_health_judge(ctx, out, err);
}

const struct stk_pass stk_pass_profile = {
    .name = "profile",
    .question = "What was read, and can it be trusted?",
    .describe = profile_describe,
};
