// SPDX-License-Identifier: Apache-2.0
// The levels of a fix: one background worker, or as many as hide the wait. Each level has its step
// time. The finding's saving is that of the last level that doesn't take CPU cores from the model:
// without a device, a higher level's workers compete with the step for them. Its range covers all
// levels. Limit: a profile doesn't show how many CPU cores are free, so a level that needs more is
// still listed, with its count.
#include "base/assert.h"
#include "answers/rules/finding.h"

#define MAX_LEVELS 4

// Singular and plural; a row without a plural has no count.
static const struct {
    const char *one, *many;
} texts[STK_EFFORT_COUNT] = {
    [STK_EFFORT_ONE_WORKER] = {"one background worker", NULL},
    [STK_EFFORT_TWICE] = {"twice the background workers", NULL},
    [STK_EFFORT_WORKERS] = {"one background worker", "about %llu background workers"},
    [STK_EFFORT_REQUESTS] = {"one request at a time", "about %llu requests at once"},
    [STK_EFFORT_HALF] = {"half the work per batch", NULL},
    [STK_EFFORT_EIGHTH] = {"an eighth of the work per batch", NULL},
};

static const char *level_text(const struct stk_rule_ctx *ctx, enum stk_effort effort,
                              uint64_t count)
{
    STK_ASSERT((unsigned)effort < STK_EFFORT_COUNT);
    return count > 1 && texts[effort].many
               ? stk_rule_text(ctx, texts[effort].many, (unsigned long long)count)
               : texts[effort].one;
}

// The replay of its threads may miss that work.
double stk_level_most(const struct stk_rule_ctx *ctx)
{
    return stk_rule_on_host(ctx) ? 1 - stk_rule_part_share(ctx, STK_PART_COMPUTE) : 1;
}

static double at_most(double share, double most)
{
    return share > most ? most : share > 0 ? share : 0;
}

// Widens the saving to the range of all levels.
static void widen(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                  const struct stk_rep_level *level)
{
    bool first = f->levels.count == 0;
    bool competes = stk_rule_on_host(ctx) && level->effort == STK_EFFORT_WORKERS;
    double low = f->saving.low_share, high = f->saving.high_share;
    f->saving.has_low = f->saving.has_expected = f->saving.has_high = true;
    f->saving.low_share = first || level->low_share < low ? level->low_share : low;
    f->saving.high_share = first || level->high_share > high ? level->high_share : high;
    if (first || !competes) {
        f->saving.expected_share = level->expected_share;
    }
    f->saving.basis = "replay";
}

void stk_finding_level(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                       struct stk_rep_level level)
{
    struct stk_rep_level *list = (struct stk_rep_level *)(uintptr_t)f->levels.items;
    double most = stk_level_most(ctx);
    if (!list) {
        list = stk_list_room(ctx->pass.arena, &f->levels, MAX_LEVELS, sizeof *list);
    }
    level.expected_share = at_most(level.expected_share, most);
    level.low_share = at_most(level.low_share, level.expected_share);
    level.high_share = at_most(level.high_share, most);
    level.high_share =
        level.high_share < level.expected_share ? level.expected_share : level.high_share;
    level.has_count = level.count > 0;
    level.text = level_text(ctx, level.effort, level.count);
    widen(ctx, f, &level);
    if (list && f->levels.count < MAX_LEVELS) {
        list[f->levels.count++] = level;
    }
}
