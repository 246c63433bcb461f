// SPDX-License-Identifier: Apache-2.0
// Fixes by what they could save; see candidates.h.
#include "tune/candidates.h"

#include <stdio.h>
#include <string.h>

#include "stoker/report.h"
#include "stoker/whatif.h"

struct profile {
    struct stoker_result *result; // NULL: there is none
    struct stoker_whatif *prices; // NULL: it supports none
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
    out->has_report = true;
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

// The share of the parts that it can shorten, and of time without a name, which may be theirs.
static double bound_of(const struct stk_tune_fix *fix, const struct profile *p, double wait_share)
{
    char parts[160], *rest = NULL;
    double sum = 0, share;
    bool knows_any = false;
    snprintf(parts, sizeof parts, "%s idle_unknown", fix->parts);
    for (char *part = strtok_r(parts, " ", &rest); part; part = strtok_r(NULL, " ", &rest)) {
        bool is_input = strcmp(part, "input_wait") == 0;
        bool is_known = p->result && stoker_result_share(p->result, part, &share);
        if (is_input && wait_share >= 0 && (!is_known || wait_share > share)) {
            share = wait_share; // the hooks saw the whole run, the profile a few steps
            is_known = true;
        }
        sum += is_known ? share : 0;
        knows_any = knows_any || (is_known && strcmp(part, "idle_unknown") != 0);
    }
    return !knows_any ? -1 : sum < 1 ? sum : 1;
}

static struct stk_candidate value_of(const struct stk_tune_fix *fix, const struct profile *p,
                                     double wait_share)
{
    struct stk_candidate c = {fix, bound_of(fix, p, wait_share), false};
    struct stoker_saving saving;
    // A price may lie above what the profile's few steps showed of waiting, never above all of it.
    if (fix->price && p->prices && stoker_whatif_saving(p->prices, fix->price, &saving) &&
        saving.expected_share > 0) {
        c.saving = saving.expected_share;
        c.is_priced = true;
    }
    return c;
}

static bool comes_before(const struct stk_candidate *a, const struct stk_candidate *b)
{
    bool a_last = a->fix->is_general || a->fix->is_of_start;
    bool b_last = b->fix->is_general || b->fix->is_of_start;
    double near = 0.01; // what differs by less keeps the table's order
    return a_last != b_last ? b_last : a->saving > b->saving + near;
}

void stk_candidates_find(const char *folder, bool has_profile, double wait_share,
                         struct stk_candidates *out)
{
    struct profile p = {NULL, NULL};
    *out = (struct stk_candidates){.count = 0};
    if (has_profile) {
        open_profile(folder, &p, out);
    }
    for (int i = 0; stk_tune_fixes[i] && out->count < STK_CANDIDATES; i++) {
        const struct stk_tune_fix *fix = stk_tune_fixes[i];
        struct stk_candidate c = value_of(fix, &p, wait_share);
        int at = out->count++;
        while (at > 0 && comes_before(&c, &out->at[at - 1])) {
            out->at[at] = out->at[at - 1];
            at--;
        }
        out->at[at] = c;
    }
    stoker_whatif_free(p.prices);
    stoker_result_free(p.result);
}
