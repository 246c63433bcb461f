// SPDX-License-Identifier: Apache-2.0
// Measures for rules: shares, spread over steps, names of causes, counts over devices.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "base/str.h"
#include "answers/rules/finding.h"
#include "evidence_says.h"

#define AFFECTED_SHARE 0.01 // of a step

uint32_t stk_rule_group_parts(enum stk_group group)
{
    STK_ASSERT((unsigned)group < STK_GROUP_COUNT);
    uint32_t parts = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (stk_part_info(p)->group == group && p != STK_PART_OVERHEAD) {
            parts |= 1u << p;
        }
    }
    return parts;
}

double stk_rule_part_share(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    STK_ASSERT((unsigned)part < STK_PART_COUNT);
    const struct stk_run_sum *run = ctx->pass.run;
    return run->wall_ns > 0 ? (double)run->parts[part] / (double)run->wall_ns : 0;
}

double stk_rule_parts_share(const struct stk_rule_ctx *ctx, uint32_t parts)
{
    STK_ASSERT(parts >> STK_PART_COUNT == 0);
    double share = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (parts & (1u << p)) {
            share += stk_rule_part_share(ctx, p);
        }
    }
    return share;
}

double stk_rule_group_share(const struct stk_rule_ctx *ctx, enum stk_group group)
{
    STK_ASSERT((unsigned)group < STK_GROUP_COUNT);
    return stk_rule_parts_share(ctx, stk_rule_group_parts(group));
}

bool stk_rule_on_host(const struct stk_rule_ctx *ctx)
{
    return ctx->pass.run->scope == STK_SCOPE_HOST;
}

bool stk_rule_on_pipeline(const struct stk_rule_ctx *ctx)
{
    return stk_rule_on_host(ctx) && ctx->pass.run->facts.input_limit != NULL;
}

bool stk_rule_of_own_capture(const struct stk_rule_ctx *ctx)
{
    static const char capture[] = "stoker capture ";
    for (uint32_t i = 0; i < ctx->pass.input_count; i++) {
        const char *producer = ctx->pass.inputs[i].producer;
        if (producer && strncmp(producer, capture, sizeof capture - 1) == 0) {
            return true;
        }
    }
    return false;
}

bool stk_rule_on_tpu(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    bool any = false;
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (!run->devices[d].analysed) {
            continue;
        }
        if (run->devices[d].kind != STK_DEVICE_TPU) {
            return false;
        }
        any = true;
    }
    return any;
}

const char *stk_rule_abstained(const struct stk_rule_ctx *ctx)
{
    const struct stk_verdict *v = ctx->pass.verdict;
    if (v->kind != STK_VERDICT_CANNOT_TELL || v->reason == STK_REASON_NONE ||
        stk_reason_leaves_shares(v->reason)) {
        return NULL;
    }
    return stk_why_not_judged(ctx, stk_reason_key(v->reason));
}

uint64_t stk_rule_issue_count(const struct stk_rule_ctx *ctx, enum stk_issue_id id)
{
    STK_ASSERT((unsigned)id < STK_ISSUE_COUNT);
    uint64_t count = 0;
    for (uint32_t i = 0; i < ctx->pass.input_count; i++) {
        count += ctx->pass.inputs[i].issues[id].count;
    }
    return count;
}

void stk_rule_count_kernels(const struct stk_rule_ctx *ctx, uint64_t *kernels, uint64_t *brief)
{
    *kernels = *brief = 0;
    for (uint32_t d = 0; d < ctx->pass.run->device_count; d++) {
        *kernels += ctx->pass.run->devices[d].kernels;
        *brief += ctx->pass.run->devices[d].short_kernels;
    }
}

int64_t stk_rule_recorded_ns(const struct stk_rule_ctx *ctx)
{
    int64_t total = 0;
    for (uint32_t r = 0; r < ctx->pass.run->rank_count; r++) {
        const struct stk_facts *f = &ctx->pass.run->ranks[r]->facts;
        total += f->last_ns > f->first_ns ? f->last_ns - f->first_ns : 0;
    }
    return total > 0 ? total : 1;
}

static bool row_counts(const struct stk_run_sum *run, const struct stk_step *s)
{
    if (s->excluded) {
        return false;
    }
    if (run->scope == STK_SCOPE_HOST) {
        return s->device == STK_NONE;
    }
    return s->device < run->device_count && run->devices[s->device].analysed;
}

static int64_t row_ns(const struct stk_step *s, uint32_t parts)
{
    STK_ASSERT(parts >> STK_PART_COUNT == 0);
    int64_t ns = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (parts & (1u << p)) {
            ns += s->parts[p];
        }
    }
    return ns;
}

static int by_ns(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return a < b ? -1 : a > b;
}

// Affected steps per device, where `per` has a place for each; on the host the ranks' rows lie one
// after the other.
static void count_owner(struct stk_rule_steps *out, const struct stk_run_sum *run, uint32_t *per,
                        uint32_t row, uint32_t *last_row, bool affected)
{
    STK_ASSERT(row < run->step_count);
    const struct stk_step *s = &run->steps[row];
    uint32_t at = s->device;
    if (s->device == STK_NONE) {
        if (*last_row != STK_NONE && run->steps[*last_row].rank != s->rank) {
            per[0] = 0;
        }
        if (*last_row == STK_NONE || run->steps[*last_row].rank != s->rank) {
            out->devices++;
        }
        at = 0;
    }
    *last_row = row;
    per[at] += affected;
    if (per[at] > out->most_affected) {
        out->most_affected = per[at];
    }
}

struct stk_rule_steps stk_rule_spread(const struct stk_rule_ctx *ctx, uint32_t parts)
{
    STK_ASSERT(parts >> STK_PART_COUNT == 0);
    const struct stk_run_sum *run = ctx->pass.run;
    struct stk_rule_steps out = {.largest_ns = -1, .largest_step = -1};
    uint32_t *per = stk_alloc_zero((size_t)run->device_count + 1, sizeof *per);
    uint32_t last_row = STK_NONE;
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct stk_step *s = &run->steps[i];
        if (!row_counts(run, s)) {
            continue;
        }
        int64_t ns = row_ns(s, parts);
        bool affected = ns > 0 && (double)ns >= AFFECTED_SHARE * (double)s->dur_ns;
        if (per) {
            count_owner(&out, run, per, i, &last_row, affected);
        }
        out.used++;
        out.affected += affected;
        out.total_ns += ns;
        if (ns > out.largest_ns) {
            out.largest_ns = ns;
            out.largest_step = s->number;
        }
    }
    if (run->scope != STK_SCOPE_HOST) {
        for (uint32_t d = 0; d < run->device_count; d++) {
            out.devices += run->devices[d].analysed;
        }
    }
    stk_free(per);
    return out;
}

int64_t stk_rule_median_ns(const struct stk_rule_ctx *ctx, uint32_t parts)
{
    STK_ASSERT(parts >> STK_PART_COUNT == 0);
    const struct stk_run_sum *run = ctx->pass.run;
    int64_t *each = stk_alloc_array((size_t)run->step_count + 1, sizeof *each), median_ns = -1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < run->step_count && each; i++) {
        if (row_counts(run, &run->steps[i])) {
            each[n++] = row_ns(&run->steps[i], parts);
        }
    }
    if (n > 0) {
        stk_sort(each, n, sizeof *each, by_ns);
        median_ns = each[(n - 1) / 2];
    }
    stk_free(each);
    return median_ns;
}

bool stk_rule_cause_names(const struct stk_rule_ctx *ctx, enum stk_part part, const char *word)
{
    STK_ASSERT(word);
    STK_ASSERT((unsigned)part < STK_PART_COUNT);
    const struct stk_cause *c = &ctx->pass.run->causes[part];
    struct stk_str w = stk_str_from(word);
    for (int i = 0; i < c->name_count; i++) {
        if (c->names[i].name && stk_str_contains_nocase(stk_str_from(c->names[i].name), w)) {
            return true;
        }
    }
    for (int i = 0; i < c->example_count; i++) {
        if (c->examples[i].name && stk_str_contains_nocase(stk_str_from(c->examples[i].name), w)) {
            return true;
        }
    }
    return false;
}

bool stk_rule_cause_names_any(const struct stk_rule_ctx *ctx, enum stk_part part,
                              const char *const *words)
{
    for (; *words; words++) {
        if (stk_rule_cause_names(ctx, part, *words)) {
            return true;
        }
    }
    return false;
}
