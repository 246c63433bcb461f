// SPDX-License-Identifier: Apache-2.0
// Sentences about places in the job's own code. Except for the first, a line with less than a tenth
// is not named.
#include "answers/rules/job_places.h"

#include "base/assert.h"
#include "evidence_says.h"

enum { NAMED_PERMILLE = 100 };

struct line {
    double share;
    const char *text; // NULL: not to be named
};

static struct line line_of(const struct stk_rule_ctx *ctx, enum stk_told_place at, uint32_t least)
{
    STK_ASSERT(at < STK_TOLD_PLACES);
    const struct stk_facts *facts = &ctx->pass.run->facts;
    bool is_named = facts->told[at] && facts->told_permille[at] >= least;
    return (struct line){facts->told_permille[at] / 1000.0,
                         is_named ? stk_rule_name(ctx, facts->told[at]) : NULL};
}

const char *stk_place_of(const struct stk_rule_ctx *ctx, enum stk_told_place at)
{
    return line_of(ctx, at, 0).text;
}

void stk_places_say_input(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    struct line first = line_of(ctx, STK_TOLD_FETCH, 1);
    struct line second = line_of(ctx, STK_TOLD_FETCH_2ND, NAMED_PERMILLE);
    if (stk_place_of(ctx, STK_TOLD_LOOP)) {
        stk_say_input_places(ctx, f, stk_place_of(ctx, STK_TOLD_LOOP),
                             stk_place_of(ctx, STK_TOLD_LOADER), stk_place_of(ctx, STK_TOLD_MAKES));
    }
    if (first.text) {
        stk_say_fetch_lines(ctx, f, first.share, first.text, second.share, second.text);
    }
}

void stk_places_say_lines(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    struct line first = line_of(ctx, STK_TOLD_LINE, 1);
    struct line second = line_of(ctx, STK_TOLD_LINE_2ND, NAMED_PERMILLE);
    struct line third = line_of(ctx, STK_TOLD_LINE_3RD, NAMED_PERMILLE);
    if (first.text) {
        stk_say_step_lines(ctx, f, first.share, first.text, second.share, second.text, third.share,
                           third.text);
    }
}

void stk_places_say_evaluation(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const int64_t *numbers = ctx->pass.run->facts.told_numbers;
    if (stk_place_of(ctx, STK_TOLD_EVALUATION)) {
        int64_t every = numbers[STK_TOLD_EVALUATION_EVERY];
        stk_say_evaluation_place(ctx, f, numbers[STK_TOLD_EVALUATION_NS],
                                 stk_place_of(ctx, STK_TOLD_EVALUATION),
                                 every > 0 ? (uint64_t)every : (uint64_t)STK_NOT_KNOWN);
    }
}
