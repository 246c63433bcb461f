// SPDX-License-Identifier: Apache-2.0
// All ranks are as fast as the others: a step takes what the median rank would need without waiting
// for its peers. Needs the profiles of several ranks; the pricing knows them (price.c).
#include "answers/replay/price_row.h"

static bool no_straggler_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    (void)how;
    s->is_even = true;
    return true;
}

const struct stk_price_row stk_price_no_straggler = {
    .id = "no-straggler",
    .what = "all ranks are as fast as the others",
    .assumes = "you can remove what makes a rank late",
    .is_priced_alone = true,
    .needs_peers = true,
    .apply = no_straggler_apply,
};
