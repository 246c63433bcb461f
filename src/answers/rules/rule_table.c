// SPDX-License-Identifier: Apache-2.0
// The table of rules, running all of them, and the order of their findings. The finding that
// explains the verdict comes first unless it is only information. Then the order is by severity, of
// the expected saving or of the finding itself if nothing is saved; then by expected saving; then
// the table's order.
//
// The expected saving of a replayed price is its middle value. A bound only limits the saving: half
// of it is expected, so that a bound doesn't come before a price just because it is vague.
#include <stdlib.h>
#include <string.h>

#include "answers/rules/finding.h"
#include "answers/rules/first_price.h"
#include "answers/rules/snippets.h"
#include "base/assert.h"
#include "evidence_says.h"

#define OF_BOUND 0.5 // of a bound is expected: halfway between nothing and all

const struct stk_rule *const stk_rules[] = {
#define X(name) &stk_rule_##name,
#include "answers/rules/rules.def"
#undef X
};
const int stk_rule_count = sizeof stk_rules / sizeof stk_rules[0];

const struct stk_rule *stk_rule_find(const char *id)
{
    STK_ASSERT(id);
    for (int i = 0; i < stk_rule_count; i++) {
        if (strcmp(stk_rules[i]->page.id, id) == 0) {
            return stk_rules[i];
        }
    }
    return NULL;
}

// What the rule needs but the profile lacks, or NULL.
static const char *missing(const struct stk_rule *rule, const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    if ((rule->needs & STK_NEED_BREAKDOWN) && stk_rule_abstained(ctx)) {
        return stk_rule_abstained(ctx);
    }
    if ((rule->needs & STK_NEED_BREAKDOWN) && run->wall_ns <= 0) {
        return "no time to break down";
    }
    if ((rule->needs & STK_NEED_DEVICE) && !run->facts.has_device_rows) {
        return "the profile has no GPU events";
    }
    if ((rule->needs & STK_NEED_HOST) && !run->facts.has_host_rows) {
        return "the profile has no CPU events";
    }
    if ((rule->needs & STK_NEED_STEPS) && run->steps_used == 0) {
        return "no steps were found";
    }
    return NULL;
}

static const char *const state_keys[] = {"fired", "passed", "not_applicable", "skipped"};

static bool read_from(const struct stk_rule_ctx *ctx, const char *format)
{
    for (uint32_t i = 0; i < ctx->pass.input_count; i++) {
        if (ctx->pass.inputs[i].format && strcmp(ctx->pass.inputs[i].format, format) == 0) {
            return true;
        }
    }
    return false;
}

static size_t rule_table_keep(struct stk_rep_fix *out, size_t kept, const struct stk_list *all,
                              uint32_t frameworks, bool general)
{
    STK_ASSERT(kept <= all->count);
    const struct stk_rep_fix *fixes = all->items;
    for (size_t i = 0; i < all->count; i++) {
        if (fixes[i].framework == STK_FW_ANY ? general : frameworks & (1u << fixes[i].framework)) {
            out[kept++] = fixes[i];
        }
    }
    return kept;
}

// The rule's chosen fixes, else its table, then the fixes whose texts name the rule. False: no
// memory.
static bool rule_table_fixes(const struct stk_rule *rule, struct stk_arena *arena,
                             const struct stk_rep_finding *f, struct stk_list *all)
{
    struct stk_rep_fix *more = NULL;
    *all = f->fix;
    if (!all->count && rule->fixes) {
        for (all->items = rule->fixes; rule->fixes[all->count].text;) {
            all->count++;
        }
    }
    for (int i = 0; i < stk_fix_row_count; i++) {
        if (!stk_fix_rows[i].given || strcmp(stk_fix_rows[i].given, rule->page.id) != 0) {
            continue;
        }
        if (!more) {
            more = stk_arena_array(arena, all->count + (size_t)stk_fix_row_count, sizeof *more);
            if (!more) {
                return false;
            }
            memcpy(more, all->items, all->count * sizeof *more);
            all->items = more;
        }
        more[all->count++] = stk_fix_rows[i];
    }
    return true;
}

// The fixes for any framework and for the recognized ones, in the rule's order. Plain CUDA counts
// if no framework was recognized, and if the profile comes from Nsight Systems. If none is left, or
// the profile doesn't even show CUDA, the other frameworks' fixes follow. Recording is explained
// only for the recorder in use: Nsight Systems users don't need advice about PyTorch's profiler.
// Users of stoker's own GPU windows don't need advice about either.
static bool pick_fixes(const struct stk_rule *rule, const struct stk_rule_ctx *ctx,
                       struct stk_rep_finding *f)
{
    const uint32_t cuda = 1u << STK_FW_CUDA, every = (1u << STK_FW_COUNT) - 1;
    struct stk_list all;
    uint32_t known = ctx->pass.run->facts.frameworks & every, seen = known & ~cuda;
    bool by_nsys = read_from(ctx, "nsys");
    if (by_nsys && rule->fixes_recorder) {
        known = cuda;
        seen = 0;
    }
    bool is_own = rule->fixes_recorder && stk_rule_of_own_capture(ctx);
    size_t kept = 0;
    if (!rule_table_fixes(rule, ctx->pass.arena, f, &all)) {
        return false;
    }
    struct stk_rep_fix *fixes = stk_arena_array(ctx->pass.arena, all.count + 1, sizeof *fixes);
    if (!fixes) {
        return false;
    }
    uint32_t told = is_own ? 0 : !seen || by_nsys ? seen | cuda : seen;
    kept = rule_table_keep(fixes, kept, &all, told, true);
    bool is_unknown = !known && ctx->pass.verdict->reason != STK_REASON_MACHINE_ALONE;
    if (kept == 0 || (is_unknown && !is_own)) {
        kept = rule_table_keep(fixes, kept, &all, every & ~seen & ~cuda, false);
    }
    f->fix = (struct stk_list){.items = fixes, .count = kept};
    return true;
}

// A rule about the job that saw something outside of it: no change to the job saves that cost.
static bool is_from_outside(const struct stk_rule *rule, const struct stk_rep_finding *f)
{
    return rule && rule->kind == STK_TOPIC_JOB && f->kind == STK_TOPIC_RECORDING;
}

// The expected saving, as a share of the step; 0: not known.
static double worth_of(const struct stk_rep_finding *f)
{
    return f->saving.has_expected ? f->saving.expected_share
           : f->saving.has_high   ? OF_BOUND * f->saving.high_share
                                  : 0;
}

// Sort keys of findings; larger first, except rank.
struct order {
    bool leads; // explains the verdict, and is more than information
    enum stk_level rank;
    bool explains; // the verdict
    double worth;
};

static struct order order_of(const struct stk_rule_ctx *ctx, const struct stk_rep_finding *f)
{
    const struct stk_rule *rule = stk_rule_find(f->id);
    enum stk_level rank = f->severity;
    bool explains = rule && (rule->verdicts & (1u << ctx->pass.verdict->kind));
    double worth = is_from_outside(rule, f) ? 0 : worth_of(f);
    bool leads = explains && rank < STK_LEVEL_INFO;
    if (rank < STK_LEVEL_INFO && (f->saving.has_expected || f->saving.has_high)) {
        rank = stk_rule_severity(ctx, worth > 0 ? worth : 0);
    }
    return (struct order){leads, rank, explains, worth};
}

static bool comes_before(const struct stk_rule_ctx *ctx, const struct stk_rep_finding *fa,
                         const struct stk_rep_finding *fb)
{
    struct order a = order_of(ctx, fa), b = order_of(ctx, fb);
    if (a.leads != b.leads) {
        return a.leads;
    }
    if (a.rank != b.rank) {
        return a.rank < b.rank;
    }
    if (a.rank == STK_LEVEL_INFO && a.explains != b.explains) {
        return a.explains;
    }
    return a.worth > b.worth;
}

// Stable insertion: findings are few.
static void insert(const struct stk_rule_ctx *ctx, struct stk_rep_finding *list, size_t *count,
                   const struct stk_rep_finding *f)
{
    STK_ASSERT(f->id && (unsigned)f->severity < STK_LEVEL_NONE);
    size_t at = *count;
    while (at > 0 && comes_before(ctx, f, &list[at - 1])) {
        at--;
    }
    memmove(&list[at + 1], &list[at], (*count - at) * sizeof *f);
    list[at] = *f;
    (*count)++;
}

static bool was_said(const struct stk_rep_finding *list, size_t count, size_t finding, size_t at)
{
    STK_ASSERT(finding < count);
    const struct stk_rep_fix *x = (const struct stk_rep_fix *)list[finding].fix.items + at;
    for (size_t i = 0; i < count && i <= finding; i++) {
        const struct stk_rep_fix *fixes = list[i].fix.items;
        size_t n = i == finding ? at : list[i].fix.count;
        for (size_t k = 0; k < n; k++) {
            if (x->snippet ? fixes[k].snippet && strcmp(x->snippet, fixes[k].snippet) == 0
                           : !fixes[k].snippet && strcmp(x->text, fixes[k].text) == 0) {
                return true;
            }
        }
    }
    return false;
}

// Leaves out advice that an earlier finding gives, unless nothing would be left; then only its
// snippet is left out.
static void drop_repeated(struct stk_rep_finding *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stk_rep_fix *fixes = (struct stk_rep_fix *)list[i].fix.items;
        size_t kept = 0, n = list[i].fix.count;
        for (size_t k = 0; k < n; k++) {
            if (!was_said(list, count, i, k)) {
                fixes[kept++] = fixes[k];
            }
        }
        if (kept == 0 && n > 0) {
            fixes[kept++].snippet = NULL;
        }
        list[i].fix.count = kept;
    }
}

// The saving shown next to the severity: that of the fix's highest level, or the bound if only that
// is known. Negative: neither is.
static double shown_saving(const struct stk_rep_finding *f)
{
    const struct stk_rep_level *level = f->levels.items;
    double share = f->saving.has_expected ? f->saving.expected_share
                   : f->saving.has_high   ? f->saving.high_share
                                          : -1;
    for (size_t i = 0; i < f->levels.count; i++) {
        share = level[i].expected_share > share ? level[i].expected_share : share;
    }
    return share;
}

// Severity of a finding about the job. A replay decides. A bound can only raise the rule's own
// severity, which may consider more than time: a process that was killed. Pure information stays
// that.
static void follow_saving(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    double share = shown_saving(f);
    if (f->kind == STK_TOPIC_JOB && f->severity < STK_LEVEL_INFO && share >= 0) {
        enum stk_level by_saving = stk_rule_severity(ctx, share);
        bool decides = f->saving.has_expected || by_saving < f->severity;
        f->severity = decides ? by_saving : f->severity;
    }
}

enum stoker_status stk_rules_run(const struct stk_rule_ctx *ctx, struct stk_report *report,
                                 struct stoker_err *err)
{
    size_t n = (size_t)stk_rule_count, found = 0;
    struct stk_rep_rule *rows = stk_arena_array(ctx->pass.arena, n, sizeof *rows);
    struct stk_rep_finding *findings = stk_arena_array(ctx->pass.arena, n + 1, sizeof *findings);
    if (!rows || !findings) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        const struct stk_rule *rule = stk_rules[i];
        struct stk_rep_finding f = {.id = rule->page.id,
                                    .title = rule->page.title,
                                    .kind = rule->kind,
                                    .severity = STK_LEVEL_INFO,
                                    .confidence = STK_LEVEL_HIGH};
        f.saving.basis = "none";
        f.explain = stk_arena_printf(ctx->pass.arena, "stoker explain %s", rule->page.id);
        const char *why = missing(rule, ctx);
        enum stk_rule_state state = why ? STK_RULE_SKIPPED : STK_RULE_PASSED;
        if ((rule->needs & STK_NEED_RANKS) && ctx->pass.run->rank_count < 2) {
            state = STK_RULE_NOT_APPLICABLE;
            why = "one rank only";
        } else if (!why) {
            state = rule->check(ctx, &f, &why);
        }
        bool fired = state == STK_RULE_FIRED;
        if (fired && (!pick_fixes(rule, ctx, &f) || !f.explain)) {
            return stk_err_nomem(err);
        }
        if (fired) {
            stk_snippets_choose(ctx, &f);
            stk_first_price_put(rule, ctx, &f);
        }
        if (fired && rule->needs_saving && stk_first_price_is_small(&f)) {
            state = STK_RULE_PASSED;
            why = stk_why_hardly_shorter(ctx, why);
        }
        rows[i] = (struct stk_rep_rule){rule->page.id, state_keys[state], why ? why : ""};
        if (state != STK_RULE_FIRED) {
            continue;
        }
        follow_saving(ctx, &f);
        insert(ctx, findings, &found, &f);
    }
    drop_repeated(findings, found);
    report->rules = (struct stk_list){.items = rows, .count = n};
    report->findings = (struct stk_list){.items = findings, .count = found};
    stk_outlook_fill(ctx, report);
    return STOKER_OK;
}
