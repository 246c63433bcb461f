// SPDX-License-Identifier: Apache-2.0
// The builder: its life cycle, and finish(), which runs the stages listed in build_impl.h. A
// shard's memory is freed as soon as its rows are in the columns, everything else with the builder.
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/store/build_impl.h"
#include "profile/store/trace_check.h"

enum stoker_status stk_build_new(struct stk_build **out, struct stoker_err *err)
{
    struct stk_build *b = stk_alloc_zero(1, sizeof *b);
    *out = NULL;
    if (!b) {
        return stk_err_nomem(err);
    }
    stk_vec_init(&b->shards, sizeof(struct stk_shard *), 1u << 20);
    stk_vec_init(&b->processes, sizeof(struct stk_fact_process), STK_FACTS_MAX);
    stk_vec_init(&b->moves, sizeof(struct stk_fact_move), STK_FACTS_MAX);
    stk_map_init(&b->move_map, STK_FACTS_MAX);
    stk_vec_init(&b->devices, sizeof(struct stk_fact_device), STK_FACTS_MAX);
    stk_vec_init(&b->programs, sizeof(struct stk_program), STK_PROGRAMS_MAX);
    stk_vec_init(&b->arguments, sizeof(struct stk_argument), STK_ARGUMENTS_MAX);
    stk_tracks_init(&b->tracks);
    b->whole_until_ns = INT64_MAX;
    b->facts = (struct stk_build_facts){.format = "", .rank = -1, .world_size = -1};
    b->max_rows = UINT32_MAX - 1;
    if (stk_strpool_init(&b->strings, 0) != 0) {
        stk_free(b);
        return stk_err_nomem(err);
    }
    b->strings_ready = true;
    stk_pool_init(&b->pool);
    *out = b;
    return STOKER_OK;
}

void stk_build_free(struct stk_build *b)
{
    if (!b) {
        return;
    }
    for (size_t i = 0; i < b->shards.count; i++) {
        stk_shard_deinit(stk_build_shard_at(b, i));
        stk_free(stk_build_shard_at(b, i));
    }
    stk_vec_deinit(&b->shards);
    stk_pool_deinit(&b->pool);
    stk_vec_deinit(&b->processes);
    stk_vec_deinit(&b->moves);
    stk_map_deinit(&b->move_map);
    stk_vec_deinit(&b->devices);
    stk_vec_deinit(&b->programs);
    stk_vec_deinit(&b->arguments);
    stk_tracks_deinit(&b->tracks);
    if (b->strings_ready) {
        stk_strpool_deinit(&b->strings);
    }
    stk_free(b);
}

static void free_finish(struct stk_finish *f)
{
    for (uint32_t i = 0; i < f->sub_count; i++) {
        stk_free(f->subs[i].counts);
    }
    stk_free(f->subs);
    stk_free(f->builder_map);
    stk_free((void *)f->name_class);
    stk_free(f->call_corr);
    stk_free(f->track_final);
    stk_free((void *)f->track_kinds);
    stk_tracks_deinit(&f->merged);
}

static enum stoker_status first_failure(const struct stk_build *b)
{
    enum stoker_status status = b->failure;
    for (size_t i = 0; i < b->shards.count && status == STOKER_OK; i++) {
        status = stk_build_shard_at(b, i)->failure;
    }
    return status;
}

enum stoker_status stk_build_finish(struct stk_build *b, int threads, struct stk_trace **out,
                                    struct stoker_err *err)
{
    STK_ASSERT(b && out);
    static enum stoker_status (*const stages[])(struct stk_finish *, struct stoker_err *) = {
        stk_build_merge, stk_build_configs, stk_build_check_times,
        stk_build_place, stk_build_scatter, stk_build_details,
        stk_build_order, stk_build_link,    stk_build_programs};
    struct stk_finish f = {.b = b, .threads = threads > 0 ? threads : 1};
    enum stoker_status status = STOKER_OK;
    *out = NULL;
    stk_tracks_init(&f.merged);
    if (first_failure(b) != STOKER_OK) {
        status = stk_err_nomem(err);
        goto done;
    }
    f.t = stk_trace_new();
    if (!f.t) {
        status = stk_err_nomem(err);
        goto done;
    }
    for (size_t i = 0; i < sizeof stages / sizeof *stages && status == STOKER_OK; i++) {
        status = stages[i](&f, err);
    }
    if (status == STOKER_OK) {
        stk_trace_index_tracks(f.t);
        STK_ASSERT_SOUND(stk_trace_check(f.t));
        *out = f.t;
        f.t = NULL;
    }
done:
    stk_trace_free(f.t);
    free_finish(&f);
    return status;
}
