// SPDX-License-Identifier: Apache-2.0
// All analyses in one go: each sees a rank in turn while its trace is there, and each makes its
// document from what it kept itself.
#include "passes/stats_every.h"

static enum stk_status see(const struct stk_analysis *view, struct stk_arena *arena, void **partial,
                           struct stk_err *err)
{
    void **partials = stk_arena_array(arena, (size_t)stk_stats_count, sizeof *partials);
    enum stk_status status = partials ? STK_OK : stk_err_nomem(err);
    for (int i = 0; i < stk_stats_count && status == STK_OK; i++)
        if (stk_stats_all[i]->hook.see)
            status = stk_stats_all[i]->hook.see(view, arena, &partials[i], err);
    *partial = partials;
    return status;
}

struct stk_view_hook stk_stats_every_hook(void)
{
    struct stk_view_hook hook = {.see = see};
    for (int i = 0; i < stk_stats_count; i++) {
        hook.wants_gaps |= stk_stats_all[i]->hook.wants_gaps;
        hook.wants |= stk_stats_all[i]->hook.wants;
    }
    return hook;
}

enum stk_status stk_stats_every_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *docs,
                                         struct stk_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    void ***partials = stk_arena_array(ctx->arena, (size_t)run->rank_count + 1, sizeof *partials);
    enum stk_status status = partials ? STK_OK : stk_err_nomem(err);
    if (status != STK_OK)
        return status;
    for (uint32_t r = 0; r < run->rank_count; r++)
        partials[r] = run->ranks[r]->partial;
    for (int i = 0; i < stk_stats_count && status == STK_OK; i++) {
        for (uint32_t r = 0; r < run->rank_count; r++)
            run->ranks[r]->partial = partials[r] ? partials[r][i] : NULL;
        status = stk_stats_describe(stk_stats_all[i], ctx, &docs[i], err);
    }
    for (uint32_t r = 0; r < run->rank_count; r++)
        run->ranks[r]->partial = partials[r];
    return status;
}
