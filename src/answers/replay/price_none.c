// SPDX-License-Identifier: Apache-2.0
// The null fix: nothing changes, and the result must show that.
#include "answers/replay/price_row.h"

static const char *none_refuse(const struct stk_graph *g)
{
    (void)g;
    return NULL;
}

static bool none_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    (void)s;
    (void)how;
    return true;
}

const struct stk_price_row stk_price_none = {
    .id = "none",
    .what = "change nothing: replay the step unchanged",
    .assumes = "nothing",
    .refuse = none_refuse,
    .apply = none_apply,
};
