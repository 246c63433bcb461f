// SPDX-License-Identifier: Apache-2.0
// All analyses in one pass: each sees a rank while its trace is in memory, in parallel on the
// rank's threads, and makes its document from the data that it kept. They share only the view,
// which none changes; each has its own arena until all are done.
#include "answers/passes/stats/stats_every.h"

#include "base/alloc.h"
#include "base/thread.h"

struct look {
    const struct stk_analysis *view;
    struct stk_arena arena;
    void *partial;
    enum stoker_status status;
    struct stoker_err err;
};

static void look(void *arg, size_t i)
{
    struct look *l = (struct look *)arg + i;
    if (stk_stats_all[i]->hook.see) {
        l->status = stk_stats_all[i]->hook.see(l->view, &l->arena, &l->partial, &l->err);
    }
}

static enum stoker_status see(const struct stk_analysis *view, struct stk_arena *arena,
                              void **partial, struct stoker_err *err)
{
    void **partials = stk_arena_array(arena, (size_t)stk_stats_count, sizeof *partials);
    struct look *looks = stk_alloc_zero((size_t)stk_stats_count, sizeof *looks);
    enum stoker_status status = STOKER_OK;
    if (!partials || !looks) {
        stk_free(looks);
        return stk_err_nomem(err);
    }
    for (int i = 0; i < stk_stats_count; i++) {
        looks[i].view = view;
        stk_arena_init(&looks[i].arena, 0);
        stk_err_init(&looks[i].err);
    }
    stk_thread_each(view->worker_count, (size_t)stk_stats_count, look, looks);
    for (int i = 0; i < stk_stats_count; i++) {
        stk_arena_adopt(arena, &looks[i].arena);
        partials[i] = looks[i].partial;
        if (looks[i].status != STOKER_OK && status == STOKER_OK) {
            status = looks[i].status;
            *err = looks[i].err;
        }
    }
    stk_free(looks);
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

enum stoker_status stk_stats_every_describe(const struct stk_pass_ctx *ctx,
                                            struct stk_table_doc *docs, struct stoker_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    void ***partials = stk_arena_array(ctx->arena, (size_t)run->rank_count + 1, sizeof *partials);
    enum stoker_status status = partials ? STOKER_OK : stk_err_nomem(err);
    if (status != STOKER_OK) {
        return status;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        partials[r] = run->ranks[r]->partial;
    }
    for (int i = 0; i < stk_stats_count && status == STOKER_OK; i++) {
        for (uint32_t r = 0; r < run->rank_count; r++) {
            run->ranks[r]->partial = partials[r] ? partials[r][i] : NULL;
        }
        status = stk_stats_describe(stk_stats_all[i], ctx, &docs[i], err);
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        run->ranks[r]->partial = partials[r];
    }
    return status;
}
