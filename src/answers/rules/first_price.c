// SPDX-License-Identifier: Apache-2.0
// A finding's saving: the price of its first fix, not the whole loss.
//
// Method: replays the what-if of the first fix, or else that of the rule. If replay and bound
// disagree, the smaller is expected, and nothing beyond the bound is promised. A first fix that is
// known to reach only part of the loss lowers the bound to that part. Levels that the rule priced
// itself stay if they belong to the first fix's what-if. Limit: without steps that can be replayed
// there are only bounds.
#include <string.h>

#include "answers/rules/finding.h"
#include "answers/rules/first_price.h"
#include "base/assert.h"
#include "evidence_says.h"

#define WORTH_NAMING 0.02 // of the step: least saving of a replayed opportunity

static const struct stk_rep_fix *first_of(const struct stk_rep_finding *f)
{
    return f->fix.count > 0 ? f->fix.items : NULL;
}

static bool is_same_whatif(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && memcmp(a, b, n) == 0;
}

// Do the levels belong to the first fix's what-if? Also true if it has none.
static bool has_levels_of(const struct stk_rep_finding *f, const char *whatif)
{
    const struct stk_rep_level *level = f->levels.items;
    bool any = f->levels.count == 0;
    for (size_t i = 0; i < f->levels.count; i++) {
        any |= level[i].price && is_same_whatif(level[i].price, whatif);
    }
    return any;
}

static double saved(double left, double work)
{
    return left < work ? 1 - left / work : 0;
}

bool stk_first_price_of(const struct stk_rule_ctx *ctx, const char *whatif,
                        struct stk_rep_saving *out)
{
    struct stk_price_asked set;
    struct stk_price price;
    if (!stk_rule_may_price(ctx, whatif, &set) || !stk_price_set(ctx->prices, &set, 1, &price)) {
        return false;
    }
    *out = (struct stk_rep_saving){.has_low = true,
                                   .has_expected = true,
                                   .has_high = true,
                                   .low_share = saved(price.high, price.work),
                                   .expected_share = saved(price.expected, price.work),
                                   .high_share = saved(price.low, price.work),
                                   .basis = "replay"};
    return true;
}

static double least_of(double a, double b)
{
    return a < b ? a : b;
}

static void put(struct stk_rep_finding *f, const struct stk_rep_saving *priced, double bound)
{
    STK_ASSERT(bound >= 0);
    double expected = priced->expected_share;
    double kept = expected > bound ? bound / expected : 1; // the minimum shrinks as much
    f->saving = *priced;
    f->saving.low_share = priced->low_share * kept;
    f->saving.expected_share = expected * kept;
    f->saving.high_share = least_of(priced->high_share, bound);
}

void stk_first_price_put(const struct stk_rule *rule, const struct stk_rule_ctx *ctx,
                         struct stk_rep_finding *f)
{
    struct stk_rep_saving priced;
    const struct stk_rep_fix *first = first_of(f);
    const char *whatif = first && first->price ? first->price : rule->whatif;
    bool is_bound = strcmp(f->saving.basis, "bound") == 0;
    if (is_bound && first && first->most > 0) {
        f->saving.high_share = least_of(f->saving.high_share, first->most);
    }
    bool is_others = !is_bound && whatif && !has_levels_of(f, whatif);
    if (!whatif || !(is_bound || is_others) || !stk_first_price_of(ctx, whatif, &priced)) {
        return;
    }
    double bound = is_bound ? f->saving.high_share : stk_level_most(ctx);
    f->levels.count = 0;
    put(f, &priced, bound);
    if (bound >= stk_threshold_value(STK_T_LOSS) && priced.high_share < WORTH_NAMING && first &&
        first->price) {
        stk_say_fix_has_no_effect(ctx, f, priced.high_share);
    }
}

bool stk_first_price_is_small(const struct stk_rep_finding *f)
{
    return f->saving.has_expected && f->saving.expected_share < WORTH_NAMING;
}
