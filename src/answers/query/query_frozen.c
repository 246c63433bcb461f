// SPDX-License-Identifier: Apache-2.0
// Traces with the facts of each track; see query_frozen.h. Sets of steps, which many tracks share,
// are stored once.
#include "answers/query/query_frozen.h"

#include "base/alloc.h"
#include "base/vec.h"
#include "answers/query/sql_impl.h"
#include "profile/store/trace_frozen.h"

struct frozen_query {
    uint32_t trace_count, rank_count;
    uint64_t event_count;
};

struct frozen_trace {
    int64_t shift_ns;
    uint32_t rank, step_sets;
};

struct frozen_track {
    int32_t rank;
    uint32_t owner, steps; // steps: which set, STK_NONE
    uint8_t taken, has_device;
};

// The sets of steps of a trace's tracks, each once: tracks of one rank and device are adjacent.
static bool steps_once(const struct stk_query_trace *x, struct stk_vec *sets, uint32_t *set_of)
{
    for (uint32_t k = 0; k < x->t->track_count; k++) {
        const struct stk_query_steps *steps = x->tracks[k].steps;
        set_of[k] = STK_NONE;
        for (size_t i = sets->count; steps && i-- > 0 && set_of[k] == STK_NONE;) {
            if (*(const struct stk_query_steps **)stk_vec_at(sets, i) == steps) {
                set_of[k] = (uint32_t)i;
            }
        }
        if (steps && set_of[k] == STK_NONE) {
            const struct stk_query_steps **to = stk_vec_push(sets);
            if (!to) {
                return false;
            }
            *to = steps;
            set_of[k] = (uint32_t)sets->count - 1;
        }
    }
    return true;
}

static void freeze_tracks(const struct stk_query_trace *x, struct stk_frost *f)
{
    struct stk_vec sets;
    uint32_t *set_of = stk_alloc_array((size_t)x->t->track_count + 1, sizeof *set_of);
    stk_vec_init(&sets, sizeof(const struct stk_query_steps *), UINT32_MAX);
    f->failed |= !set_of || !steps_once(x, &sets, set_of);
    const struct frozen_trace head = {x->shift_ns, x->rank, (uint32_t)sets.count};
    stk_frost_put(f, &head, 1, sizeof head);
    for (size_t i = 0; i < sets.count && !f->failed; i++) {
        const struct stk_query_steps *s = *(const struct stk_query_steps **)stk_vec_at(&sets, i);
        stk_frost_put(f, s->v, s->count, sizeof *s->v);
    }
    for (uint32_t k = 0; k < x->t->track_count && !f->failed; k++) {
        const struct stk_query_track *track = &x->tracks[k];
        const struct frozen_track frozen = {track->rank, track->owner, set_of[k], track->taken,
                                            track->device != NULL};
        stk_frost_put(f, &frozen, 1, sizeof frozen);
        if (track->device) {
            stk_text_freeze(f, track->device);
        }
    }
    stk_vec_deinit(&sets);
    stk_free(set_of);
}

void stk_query_freeze(const struct stk_query *q, struct stk_frost *f)
{
    const struct frozen_query head = {q->trace_count, q->source.rank_count, q->event_count};
    stk_frost_put(f, &head, 1, sizeof head);
    for (uint32_t i = 0; i < q->trace_count; i++) {
        stk_trace_freeze(q->traces[i].t, f);
        freeze_tracks(&q->traces[i], f);
    }
}

static bool thaw_tracks(struct stk_query *q, struct stk_query_trace *x, struct stk_thaw *thaw)
{
    const struct frozen_trace *head = stk_thaw_array(thaw, sizeof *head, 1);
    if (thaw->failed) {
        return false;
    }
    struct stk_query_steps *sets =
        stk_arena_array(&q->arena, (size_t)head->step_sets + 1, sizeof *sets);
    x->tracks = stk_arena_array(&q->arena, (size_t)x->t->track_count + 1, sizeof *x->tracks);
    x->shift_ns = head->shift_ns;
    x->rank = head->rank;
    if (!sets || !x->tracks) {
        return false;
    }
    for (uint32_t i = 0; i < head->step_sets; i++) {
        size_t count;
        sets[i].v = stk_thaw_take(thaw, sizeof *sets[i].v, &count);
        sets[i].count = (uint32_t)count;
    }
    for (uint32_t k = 0; k < x->t->track_count && !thaw->failed; k++) {
        const struct frozen_track *frozen = stk_thaw_array(thaw, sizeof *frozen, 1);
        thaw->failed |= frozen->steps != STK_NONE && frozen->steps >= head->step_sets;
        if (thaw->failed) {
            return false;
        }
        x->tracks[k] = (struct stk_query_track){
            .taken = frozen->taken,
            .rank = frozen->rank,
            .owner = frozen->owner,
            .steps = frozen->steps == STK_NONE ? NULL : &sets[frozen->steps],
            .device = frozen->has_device ? stk_text_thaw(thaw) : NULL};
    }
    return !thaw->failed;
}

static bool thaw_traces(struct stk_query *q, struct stk_thaw *thaw)
{
    const struct frozen_query *head = stk_thaw_array(thaw, sizeof *head, 1);
    if (thaw->failed || head->trace_count > STK_QUERY_TRACES_MAX) {
        return false;
    }
    q->db = stk_arena_alloc(&q->arena, sizeof *q->db);
    q->traces = stk_arena_array(&q->arena, (size_t)head->trace_count + 1, sizeof *q->traces);
    q->source.rank_count = head->rank_count;
    q->event_count = head->event_count;
    for (uint32_t i = 0; i < head->trace_count && q->db && q->traces; i++) {
        struct stk_query_trace *x = &q->traces[i];
        *x = (struct stk_query_trace){.t = stk_trace_thaw(thaw), .failed = &q->failed};
        if (!x->t) {
            return false;
        }
        q->trace_count++;
        if (!thaw_tracks(q, x, thaw)) {
            return false;
        }
    }
    return q->db && q->traces;
}

enum stoker_status stk_query_thaw(struct stk_query **out, struct stk_thaw *thaw,
                                  struct stoker_err *err)
{
    struct stk_query *q = stk_alloc_zero(1, sizeof *q);
    *out = NULL;
    if (!q) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&q->arena, 0);
    q->is_thawed = true;
    if (!thaw_traces(q, thaw)) {
        stk_query_close(q);
        return thaw->failed ? stk_err_set(err, STOKER_EMISSING, "the index has no traces")
                            : stk_err_nomem(err);
    }
    *out = q;
    return STOKER_OK;
}
