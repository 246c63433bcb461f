// SPDX-License-Identifier: Apache-2.0
// What are the steps, and how long do they take?
// Reads the summaries' step rows (one per step and device) and the run's medians. Rows beyond the
// limit are counted, not listed.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/sort.h"
#include "answers/passes/report/parts_list.h"

#define STEPS_TELL 3 // steps needed for the number of batches per step

static const char *source_key(enum stk_step_source source)
{
    STK_ASSERT((unsigned)source <= STK_STEPS_INFERRED);
    static const char *const keys[] = {
        [STK_STEPS_NONE] = "none",
        [STK_STEPS_ANNOTATED] = "annotated",
        [STK_STEPS_FRAMEWORK] = "framework",
        [STK_STEPS_INFERRED] = "inferred",
    };
    return keys[source];
}

static bool selected(const struct stk_step *s)
{
    return !s->excluded || strcmp(s->excluded, STK_EXCLUDED_UNSELECTED) != 0;
}

static bool list_steps(const struct stk_pass_ctx *ctx, struct stk_list *out)
{
    const struct stk_run_sum *run = ctx->run;
    size_t n = 0, count = 0;
    for (uint32_t i = 0; i < run->step_count; i++) {
        n += selected(&run->steps[i]);
    }
    size_t shown = ctx->limit && ctx->limit < n ? (size_t)ctx->limit : n;
    struct stk_rep_step *rows = stk_arena_array(ctx->arena, shown + 1, sizeof *rows);
    if (!rows) {
        return false;
    }
    for (uint32_t i = 0; count < shown; i++) {
        const struct stk_step *s = &run->steps[i];
        if (!selected(s)) {
            continue;
        }
        rows[count] = (struct stk_rep_step){
            .number = s->number,
            .device = s->device < run->device_count ? run->devices[s->device].id : NULL,
            .start_ns = s->start_ns,
            .dur_ns = s->dur_ns,
            .has_host = s->host_dur_ns >= 0,
            .host_start_ns = s->host_start_ns,
            .host_dur_ns = s->host_dur_ns,
        };
        if (!stk_parts_map(s->parts, ctx->arena, &rows[count++].parts)) {
            return false;
        }
    }
    *out = (struct stk_list){.items = rows, .count = shown, .left_out = n - shown};
    return true;
}

static int by_number(const void *pa, const void *pb)
{
    const struct stk_step *a = *(const struct stk_step *const *)pa;
    const struct stk_step *b = *(const struct stk_step *const *)pb;
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return strcmp(a->excluded, b->excluded);
}

// Names a step excluded on several devices or ranks once per reason.
static bool list_excluded(const struct stk_pass_ctx *ctx, struct stk_list *out)
{
    const struct stk_run_sum *run = ctx->run;
    const struct stk_step **steps =
        stk_arena_array(ctx->arena, (size_t)run->step_count + 1, sizeof *steps);
    if (!steps) {
        return false;
    }
    size_t n = 0, count = 0;
    for (uint32_t i = 0; i < run->step_count; i++) {
        if (run->steps[i].excluded && selected(&run->steps[i])) {
            steps[n++] = &run->steps[i];
        }
    }
    stk_sort(steps, n, sizeof *steps, by_number);
    struct stk_rep_excluded *rows = stk_arena_array(ctx->arena, n + 1, sizeof *rows);
    if (!rows) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || by_number(&steps[i - 1], &steps[i]) != 0) {
            rows[count++] = (struct stk_rep_excluded){steps[i]->number, steps[i]->excluded};
        }
    }
    *out = (struct stk_list){.items = rows, .count = count};
    return true;
}

// Batches per step: several if gradients are accumulated over small batches, or if one call runs
// many steps (steps_per_execution). 0: unknown, or not the same in all steps.
static uint64_t batches_of(const struct stk_run_sum *run)
{
    uint64_t fetches = run->facts.batch_fetches, steps = run->step_marks;
    // Steps belong to one rank. A request to another iterator for its end is not a batch.
    if (steps < STEPS_TELL || run->rank_count != 1 ||
        2 * run->facts.signs[STK_SIGN_ITERATOR].count >= steps) {
        return 0;
    }
    uint64_t each = (fetches + steps / 2) / steps, all = each * steps;
    uint64_t off = all > fetches ? all - fetches : fetches - all;
    return off <= 1 ? each : 0; // the window's edge may cut one off
}

static enum stoker_status steps_describe(const struct stk_pass_ctx *ctx, struct stk_report *report,
                                         struct stoker_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_rep_steps *out = &report->steps;
    *out = (struct stk_rep_steps){
        .source = source_key(run->source),
        .has_confidence = run->source != STK_STEPS_NONE,
        .confidence = run->confidence,
        .count = run->step_marks,
        .used = run->steps_used,
        .has_times = run->step_median_ns >= 0,
        .median_ns = run->step_median_ns,
        .mean_ns = run->step_mean_ns,
        .p95_ns = run->step_p95_ns,
    };
    out->batches = batches_of(run);
    out->has_batches = out->batches > 1;
    if (!list_steps(ctx, &out->list) || !list_excluded(ctx, &out->excluded)) {
        return stk_err_nomem(err);
    }
    return STOKER_OK;
}

const struct stk_pass stk_pass_steps = {
    .name = "steps",
    .question = "What are the steps, and how long do they take?",
    .describe = steps_describe,
};
