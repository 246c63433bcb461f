// SPDX-License-Identifier: Apache-2.0
// The advice in a report; see advice.h.
#include "job/tune/advice.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/bound.h"

double stk_advice_share(const struct stk_tune_advice *a)
{
    return a->saving.has_expected ? a->saving.expected_share
           : a->saving.has_high   ? a->saving.high_share
                                  : 0;
}

static int rank_of(const struct stk_vec *all, const char *finding)
{
    const struct stk_tune_advice *a = all->items;
    int rank = 0;
    for (size_t i = 0; i < all->count; i++) {
        rank += a[i].takes_edit && strcmp(a[i].finding, finding) == 0;
    }
    return rank;
}

// What a finding states is what its first fix saves; of the others the price alone is known.
static struct stk_tune_advice made(const struct stoker_advice *given, const struct stk_rep_fix *fix,
                                   const struct stoker_whatif *prices, bool is_first)
{
    STK_ASSERT(given->finding);
    struct stk_tune_advice a = {.fix = fix, .line = given->line, .takes_edit = !fix->tries};
    if (is_first) {
        a.saving = given->saving;
    }
    struct stoker_saving priced;
    snprintf(a.finding, sizeof a.finding, "%s", given->finding);
    snprintf(a.file, sizeof a.file, "%s", given->file ? given->file : "");
    if (fix->price && prices && stoker_whatif_saving(prices, fix->price, &priced) &&
        priced.has_expected && priced.expected_share > 0) {
        a.saving = priced;
        a.is_priced = true;
    }
    return a;
}

enum stoker_status stk_advice_find(const struct stoker_result *result,
                                   const struct stoker_whatif *prices, double least,
                                   struct stk_vec *to, struct stoker_err *err)
{
    STK_ASSERT(to->item_size == sizeof(struct stk_tune_advice));
    struct stoker_advice given;
    char last[sizeof((struct stk_tune_advice *)NULL)->finding] = "";
    for (size_t i = 0; stoker_result_advice(result, i, &given) && to->count < STK_TUNE_ADVICE;
         i++) {
        const struct stk_rep_fix *fix = stk_fix_row_find(given.fix);
        bool is_first = strcmp(last, given.finding) != 0;
        snprintf(last, sizeof last, "%s", given.finding);
        if (!fix) {
            continue; // a framework's own code, without a file
        }
        struct stk_tune_advice a = made(&given, fix, prices, is_first);
        a.rank = rank_of(to, a.finding);
        if (stk_advice_share(&a) < least) {
            continue;
        }
        struct stk_tune_advice *row = stk_vec_push(to);
        if (!row) {
            return stk_err_nomem(err);
        }
        *row = a;
    }
    return STOKER_OK;
}

static void mark(struct stk_vec *advice, const char *finding)
{
    struct stk_tune_advice *a = advice->items;
    for (size_t i = 0; i < advice->count; i++) {
        a[i].is_answered = a[i].is_answered || strcmp(a[i].finding, finding) == 0;
    }
}

void stk_advice_answer(struct stk_vec *advice, const struct stk_tune_set *kept)
{
    const struct stk_tune_advice *a = advice->items;
    for (size_t i = 0; i < advice->count; i++) {
        for (int k = 0; !a[i].takes_edit && k < kept->count; k++) {
            if (strcmp(a[i].fix->tries, kept->items[k].fix->id) == 0) {
                mark(advice, a[i].finding);
            }
        }
    }
}

void stk_advice_price(const struct stk_tune_advice *a, char to[STK_ADVICE_PRICE])
{
    const struct stoker_saving *s = &a->saving;
    if (!s->has_expected && s->high_share > STK_BOUND_TELLS) {
        snprintf(to, STK_ADVICE_PRICE, "its cause takes up to %.0f%%", 100 * s->high_share);
    } else if (!s->has_expected) {
        snprintf(to, STK_ADVICE_PRICE, "saves up to %.0f%%", 100 * s->high_share);
    } else if (s->has_low && s->has_high) {
        snprintf(to, STK_ADVICE_PRICE, "saves %.0f%% [%.0f, %.0f]", 100 * s->expected_share,
                 100 * s->low_share, 100 * s->high_share);
    } else {
        snprintf(to, STK_ADVICE_PRICE, "saves %.0f%%", 100 * s->expected_share);
    }
}
