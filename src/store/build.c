// SPDX-License-Identifier: Apache-2.0
// The builder: its life cycle, the facts that a reader gives besides rows, and finish(), which runs
// the stages listed in build_impl.h. Memory of a shard is freed as soon as its rows are in the
// columns; all else when the builder is freed.
#include "base/alloc.h"
#include "base/assert.h"
#include "store/build_impl.h"
#include "store/trace_check.h"

#define FACTS_MAX (1u << 20)

enum stoker_status stk_build_new(struct stk_build **out, struct stoker_err *err)
{
    struct stk_build *b = stk_alloc_zero(1, sizeof *b);
    *out = NULL;
    if (!b) {
        return stk_err_nomem(err);
    }
    stk_vec_init(&b->shards, sizeof(struct stk_shard *), 1u << 20);
    stk_vec_init(&b->processes, sizeof(struct stk_fact_process), FACTS_MAX);
    stk_vec_init(&b->moves, sizeof(struct stk_fact_move), FACTS_MAX);
    stk_map_init(&b->move_map, FACTS_MAX);
    stk_vec_init(&b->devices, sizeof(struct stk_fact_device), FACTS_MAX);
    stk_vec_init(&b->programs, sizeof(struct stk_program), STK_PROGRAMS_MAX);
    stk_vec_init(&b->arguments, sizeof(struct stk_argument), STK_ARGUMENTS_MAX);
    stk_tracks_init(&b->tracks);
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

uint32_t stk_build_intern(struct stk_build *b, struct stk_str s)
{
    uint32_t id = s.n ? stk_strpool_intern(&b->strings, s.p, s.n) : 0;
    if (id != STK_STRPOOL_FAILED) {
        return id;
    }
    b->failure = STOKER_ENOMEM;
    return 0;
}

void stk_build_process(struct stk_build *b, int64_t process, int32_t rank, struct stk_str name,
                       struct stk_str host)
{
    STK_ASSERT(rank >= -1);
    struct stk_fact_process *fact = stk_vec_push(&b->processes);
    if (!fact) {
        if (b->processes.count < FACTS_MAX) {
            b->failure = STOKER_ENOMEM;
        }
        return;
    }
    *fact = (struct stk_fact_process){process, rank, stk_build_intern(b, name),
                                      stk_build_intern(b, host)};
}

void stk_build_device(struct stk_build *b, int64_t process, int64_t device,
                      const struct stk_device_facts *facts)
{
    STK_ASSERT((unsigned)facts->kind <= STK_DEVICE_OTHER);
    STK_ASSERT(facts->sm_count >= 0 && facts->memory_bytes >= 0);
    struct stk_fact_device *fact = stk_vec_push(&b->devices);
    if (!fact) {
        if (b->devices.count < FACTS_MAX) {
            b->failure = STOKER_ENOMEM;
        }
        return;
    }
    *fact = (struct stk_fact_device){process, device, *facts, stk_build_intern(b, facts->source_id),
                                     stk_build_intern(b, facts->name)};
}

// Entry for facts about a track, or NULL.
static struct stk_track_entry *track_fact(struct stk_build *b, const struct stk_track_key *key)
{
    struct stk_track_entry e = {.kind = key->kind,
                                .process = key->process,
                                .device = key->device,
                                .id = key->id,
                                .sid = stk_build_intern(b, key->sid)};
    uint32_t track = stk_tracks_put(&b->tracks, &e);
    if (track != STK_NONE) {
        return stk_tracks_at(&b->tracks, track);
    }
    if (!stk_tracks_full(&b->tracks)) {
        b->failure = STOKER_ENOMEM;
    }
    return NULL;
}

void stk_build_track_name(struct stk_build *b, const struct stk_track_key *key, struct stk_str name)
{
    struct stk_track_entry *track = track_fact(b, key);
    if (track) {
        track->name = stk_build_intern(b, name);
    }
}

void stk_build_track_becomes(struct stk_build *b, const struct stk_track_key *key,
                             enum stk_track_kind kind, int64_t device)
{
    STK_ASSERT((unsigned)kind <= STK_TRACK_OTHER);
    struct stk_track_entry *track = track_fact(b, key);
    if (!track) {
        return;
    }
    track->becomes = true;
    track->becomes_kind = kind;
    track->becomes_device = device;
}

void stk_build_process_becomes(struct stk_build *b, int64_t process, int64_t to)
{
    int created;
    uint32_t *at =
        stk_map_put(&b->move_map, (uint64_t)process, 0, (uint32_t)b->moves.count, &created);
    struct stk_fact_move *move = !at       ? NULL
                                 : created ? stk_vec_push(&b->moves)
                                           : stk_vec_at(&b->moves, *at);
    if (move) {
        *move = (struct stk_fact_move){process, to};
    } else if (b->moves.count < FACTS_MAX) {
        b->failure = STOKER_ENOMEM;
    }
}

void stk_build_facts(struct stk_build *b, const struct stk_build_facts *facts)
{
    STK_ASSERT(facts->format && facts->rank >= -1 && facts->world_size >= -1);
    b->facts = *facts;
    b->producer = stk_build_intern(b, facts->producer);
    b->host = stk_build_intern(b, facts->host);
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
        STK_ASSERT_SOUND(stk_trace_check(f.t));
        *out = f.t;
        f.t = NULL;
    }
done:
    stk_trace_free(f.t);
    free_finish(&f);
    return status;
}
