// SPDX-License-Identifier: Apache-2.0
// Sorts fixes by possible savings; see candidates.h.
#include "job/tune/candidates.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/terms.h"
#include "stoker/report.h"
#include "stoker/whatif.h"

#define WORTH 0.02 // the least share of a step for advice

struct profile {
    struct stoker_result *result; // may be NULL
    struct stoker_whatif *prices; // NULL: not supported
};

static int take_text(void *arg, const char *bytes, size_t n)
{
    char *to = arg;
    size_t used = strlen(to), room = 255 - used;
    n = n < room ? n : room;
    memcpy(to + used, bytes, n);
    to[used + n] = 0;
    return 0;
}

static void open_profile(const char *folder, struct profile *p, struct stk_candidates *out)
{
    struct stoker_why_options options;
    struct stoker_whatif_options asked;
    struct stoker_write_options how = {.verbose = -1, .columns = 120};
    struct stoker_err err;
    stoker_why_options_default(&options);
    stoker_whatif_options_default(&asked);
    if (stoker_why(&folder, 1, &options, &p->result, &err) != STOKER_OK) {
        p->result = NULL;
        return;
    }
    const char *verdict = stoker_result_verdict(p->result);
    out->has_report = true;
    out->names_loss = strcmp(verdict, stk_verdict_key(STK_VERDICT_COMPUTE)) != 0 &&
                      strcmp(verdict, stk_verdict_key(STK_VERDICT_CANNOT_TELL)) != 0;
    if (stoker_result_write(p->result, "text", &how, take_text, out->sentence, &err) != STOKER_OK) {
        out->sentence[0] = 0;
    }
    out->sentence[strcspn(out->sentence, "\n")] = 0;
    if (stoker_whatif(&folder, 1, &asked, &p->prices, &err) != STOKER_OK) {
        p->prices = NULL;
    } else if (!stoker_whatif_ok(p->prices)) {
        stoker_whatif_free(p->prices);
        p->prices = NULL;
    }
}

static bool is_of_input(const struct stk_rep_fix *fix)
{
    return strcmp(fix->parts, "input_wait") == 0;
}

// For fixes that only shorten the input wait: the whole wait, if known. The hooks see each fetch,
// so unnamed time isn't part of it. Otherwise the saving of free input is the bound.
static double bound_of_input(const struct profile *p, double wait_share)
{
    struct stoker_saving saving;
    double share;
    if (wait_share >= 0) {
        bool is_known = p->result && stoker_result_share(p->result, "input_wait", &share);
        return is_known && share > wait_share ? share : wait_share;
    }
    bool is_priced =
        p->prices && stoker_whatif_saving(p->prices, "input-free", &saving) && saving.has_expected;
    return is_priced && saving.expected_share > 0 ? saving.expected_share : -1;
}

// The share of the parts that the fix can shorten, plus time without a name, which may belong to
// them.
static double bound_of(const struct stk_rep_fix *fix, const struct profile *p, double wait_share)
{
    double of_input = is_of_input(fix) ? bound_of_input(p, wait_share) : -1;
    if (of_input >= 0) {
        return of_input;
    }
    char parts[160], *rest = NULL;
    double sum = 0, share;
    bool knows_any = false;
    snprintf(parts, sizeof parts, "%s idle_unknown", fix->parts);
    for (char *part = strtok_r(parts, " ", &rest); part; part = strtok_r(NULL, " ", &rest)) {
        bool is_input = strcmp(part, "input_wait") == 0;
        bool is_known = p->result && stoker_result_share(p->result, part, &share);
        if (is_input && wait_share >= 0 && (!is_known || wait_share > share)) {
            share = wait_share; // the hooks saw the whole run, the profile only a few steps
            is_known = true;
        }
        sum += is_known ? share : 0;
        knows_any = knows_any || (is_known && strcmp(part, "idle_unknown") != 0);
    }
    return !knows_any ? -1 : sum < 1 ? sum : 1;
}

static struct stk_candidate value_of(const struct stk_rep_fix *fix, const struct profile *p,
                                     double wait_share)
{
    struct stk_candidate c = {.fix = fix, .saving = bound_of(fix, p, wait_share)};
    struct stoker_saving saving;
    // A price may exceed the wait in the profile's few steps, but never the whole wait.
    if (fix->price && p->prices && stoker_whatif_saving(p->prices, fix->price, &saving) &&
        saving.expected_share > 0) {
        c.saving = saving.expected_share;
        c.is_priced = true;
    }
    return c;
}

// An advised fix promises its finding's saving, limited by its bound.
static void take_advice(const struct stk_vec *advice, struct stk_candidates *all)
{
    const struct stk_tune_advice *a = advice->items;
    for (size_t i = 0; i < advice->count; i++) {
        struct stk_candidate *c = NULL;
        for (int k = 0; !a[i].takes_edit && k < all->count; k++) {
            c = strcmp(all->at[k].fix->id, a[i].fix->tries) == 0 ? &all->at[k] : c;
        }
        if (c && !c->is_advised && !c->is_priced) {
            double share = stk_advice_share(&a[i]);
            c->is_advised = true;
            c->saving = c->saving < 0 || share < c->saving ? share : c->saving;
        }
    }
}

static bool is_last(const struct stk_candidate *c)
{
    return c->fix->is_general || c->fix->is_of_start;
}

static double promise_of(const struct stk_candidate *c)
{
    return c->is_priced || c->is_advised || c->fix->is_strong ? c->saving : c->saving / 2;
}

static bool comes_before(const struct stk_candidate *a, const struct stk_candidate *b)
{
    STK_ASSERT(a->fix && b->fix);
    double near = 0.01; // smaller differences keep the table's order
    return is_last(a) != is_last(b) ? is_last(b) : promise_of(a) > promise_of(b) + near;
}

struct stk_candidate *stk_candidates_next(struct stk_candidates *all)
{
    STK_ASSERT(all->count >= 0 && all->count <= STK_CANDIDATES);
    struct stk_candidate *best = NULL;
    for (int i = 0; i < all->count; i++) {
        struct stk_candidate *c = &all->at[i];
        if (!c->is_taken && (!best || comes_before(c, best))) {
            best = c;
        }
    }
    if (best) {
        best->is_taken = true;
    }
    return best;
}

static bool shorten_the_same(const struct stk_rep_fix *a, const struct stk_rep_fix *b)
{
    char parts[160], *rest = NULL;
    snprintf(parts, sizeof parts, "%s", a->parts);
    for (char *part = strtok_r(parts, " ", &rest); part; part = strtok_r(NULL, " ", &rest)) {
        if (strstr(b->parts, part)) {
            return true;
        }
    }
    return false;
}

void stk_candidates_after(struct stk_candidates *all, const struct stk_rep_fix *kept, double ratio,
                          double wait_share)
{
    STK_ASSERT(kept->parts);
    for (int i = 0; i < all->count; i++) {
        struct stk_candidate *c = &all->at[i];
        if (c->saving < 0 || ratio <= 0) {
            continue;
        }
        double gone = shorten_the_same(c->fix, kept) ? 1 - ratio : 0;
        double left = c->saving > gone ? (c->saving - gone) / ratio : 0;
        c->saving = left < 1 ? left : 1;
        if (wait_share >= 0 && is_of_input(c->fix) && c->saving > wait_share) {
            c->saving = wait_share;
            c->is_priced = false;
        }
    }
}

void stk_candidates_measured(struct stk_candidates *all, const struct stk_tune_facts *facts,
                             double step_s)
{
    for (int i = 0; i < all->count; i++) {
        struct stk_candidate *c = &all->at[i];
        double saving = stk_tune_saving(c->fix, facts, step_s);
        if (saving >= 0) {
            c->saving = saving < 1 ? saving : 1;
        }
    }
}

struct stk_candidate *stk_candidates_of(struct stk_candidates *all, const struct stk_rep_fix *fix)
{
    for (int i = 0; i < all->count; i++) {
        if (all->at[i].fix == fix) {
            return &all->at[i];
        }
    }
    return NULL;
}

enum stoker_status stk_candidates_find(const char *folder, bool has_profile, double wait_share,
                                       struct stk_candidates *out, struct stk_vec *advice,
                                       struct stoker_err *err)
{
    struct profile p = {NULL, NULL};
    enum stoker_status status = STOKER_OK;
    *out = (struct stk_candidates){.count = 0};
    if (has_profile) {
        open_profile(folder, &p, out);
    }
    for (int i = 0; stk_tune_fix(i) && out->count < STK_CANDIDATES; i++) {
        out->at[out->count++] = value_of(stk_tune_fix(i), &p, wait_share);
    }
    if (p.result) {
        status = stk_advice_find(p.result, p.prices, WORTH, advice, err);
        take_advice(advice, out);
    }
    stoker_whatif_free(p.prices);
    stoker_result_free(p.result);
    return status;
}
