// SPDX-License-Identifier: Apache-2.0
// Prints code to paste only if the profile shows the calls that it edits (`edits` of a fix's text,
// profile/model/calls_seen.def): a user who never makes a call has nothing to edit. The advice
// itself stays. Limit: a redacted profile shows no names, so such code is left out.
#include "answers/rules/snippets.h"

#include <string.h>

#include "base/assert.h"
#include "profile/model/calls_seen.h"

static bool are_seen(const struct stk_rule_ctx *ctx, const char *keys)
{
    bool all = true;
    while (*keys) {
        struct stk_str key = {keys, strcspn(keys, " ")};
        uint32_t bit = stk_calls_seen_bit(key);
        STK_ASSERT(bit);
        all &= (ctx->pass.run->facts.calls_seen & bit) != 0;
        keys += key.n + strspn(keys + key.n, " ");
    }
    return all;
}

void stk_snippets_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    struct stk_rep_fix *fixes = (struct stk_rep_fix *)f->fix.items;
    for (size_t i = 0; i < f->fix.count; i++) {
        if (fixes[i].edits && !are_seen(ctx, fixes[i].edits)) {
            fixes[i].snippet = NULL;
        }
    }
}
