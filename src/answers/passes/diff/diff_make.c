// SPDX-License-Identifier: Apache-2.0
// What changed between two results, in time and in cause?
// Reads the used steps of both sides (without excluded ones), the kernels and operations that each
// kept within those steps, and the two reports. First decides whether both measure the same thing,
// then compares the step's time with its interval, then its parts.
// Limits: one run per side. The difference between two runs of one program isn't known, so
// confidence is high only if the change is far larger than such differences usually are.
#include "answers/passes/diff/diff_impl.h"

#include <string.h>

static enum stoker_status stk_diff_hook_see(const struct stk_analysis *view,
                                            struct stk_arena *arena, void **partial,
                                            struct stoker_err *err)
{
    struct stk_diff_partial *out = stk_arena_alloc(arena, sizeof *out);
    void *kernels = NULL, *ops = NULL;
    if (!out) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = stk_kernel_sums_see_used(view, arena, &kernels, err);
    if (status == STOKER_OK) {
        status = stk_op_sums_see_used(view, arena, &ops, err);
    }
    if (status == STOKER_OK && !stk_diff_keep(kernels, ops)) {
        status = stk_err_nomem(err);
    }
    out->kernels = kernels;
    out->ops = ops;
    *partial = out;
    return status;
}

const struct stk_view_hook stk_diff_hook = {.see = stk_diff_hook_see,
                                            .wants = STK_WANT_GRIDS | STK_WANT_MESSAGES};

static const struct stk_rep_finding *find_finding(const struct stk_report *report, const char *id)
{
    const struct stk_rep_finding *f = report->findings.items;
    for (size_t i = 0; i < report->findings.count; i++) {
        if (strcmp(f[i].id, id) == 0) {
            return &f[i];
        }
    }
    return NULL;
}

// A's findings in its order, then those that only B has.
static bool list_findings(struct stk_diff_work *w)
{
    const struct stk_report *a = w->in[0]->report, *b = w->in[1]->report;
    size_t n = 0, most = a->findings.count + b->findings.count;
    struct stk_diff_finding *rows = stk_arena_array(w->arena, most + 1, sizeof *rows);
    if (!rows) {
        return false;
    }
    for (size_t i = 0; i < a->findings.count; i++) {
        const struct stk_rep_finding *f = (const struct stk_rep_finding *)a->findings.items + i;
        const struct stk_rep_finding *g = find_finding(b, f->id);
        rows[n++] = (struct stk_diff_finding){.id = f->id,
                                              .title = f->title,
                                              .state = g ? "both" : "gone",
                                              .a_severity = f->severity,
                                              .b_severity = g ? g->severity : STK_LEVEL_NONE};
    }
    for (size_t i = 0; i < b->findings.count; i++) {
        const struct stk_rep_finding *g = (const struct stk_rep_finding *)b->findings.items + i;
        if (!find_finding(a, g->id)) {
            rows[n++] = (struct stk_diff_finding){.id = g->id,
                                                  .title = g->title,
                                                  .state = "new",
                                                  .a_severity = STK_LEVEL_NONE,
                                                  .b_severity = g->severity};
        }
    }
    w->out->findings = (struct stk_list){.items = rows, .count = n};
    return true;
}

static bool describe_side(struct stk_diff_work *w, int side)
{
    const struct stk_report *r = w->in[side]->report;
    struct stk_diff_side *out = stk_diff_side_of(w, side);
    out->profile = r->profile;
    out->source = r->steps.source;
    out->scope = r->breakdown.scope;
    out->steps = r->steps.count;
    out->verdict = r->verdict;
    return stk_diff_steps_take(w, side) && stk_diff_facts_make(w, side);
}

static bool compare(struct stk_diff_work *w)
{
    stk_diff_measures_make(w);
    stk_diff_verdict_decide(w);
    return stk_diff_parts_make(w) && stk_diff_pairs_make(w) && list_findings(w);
}

enum stoker_status stk_diff_make(const struct stk_diff_input *a, const struct stk_diff_input *b,
                                 bool force, uint64_t limit, struct stk_arena *arena,
                                 struct stk_diff *out, struct stoker_err *err)
{
    struct stk_diff_work w = {
        .in = {a, b}, .force = force, .limit = limit, .arena = arena, .out = out};
    bool ok = describe_side(&w, 0) && describe_side(&w, 1) && stk_diff_names_make(&w) &&
              stk_diff_comparable_judge(&w);
    // Without steps there is nothing to compare, even with --force.
    out->is_compared = ok && w.steps[0].count && w.steps[1].count &&
                       (force || strcmp(out->comparable.status, "no") != 0);
    if (ok && out->is_compared) {
        ok = compare(&w);
    }
    ok = ok && stk_diff_verdict_word(&w);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
