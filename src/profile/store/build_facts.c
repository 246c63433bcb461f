// SPDX-License-Identifier: Apache-2.0
// The facts that a reader gives the builder besides rows: names, processes, devices, tracks and
// their later changes. They are kept as given; finish() merges them. Limits: STK_FACTS_MAX of a
// kind, more are left out; a lack of memory is remembered.
#include <string.h>

#include "base/assert.h"
#include "profile/store/build_impl.h"

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
        if (b->processes.count < STK_FACTS_MAX) {
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
        if (b->devices.count < STK_FACTS_MAX) {
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
    } else if (b->moves.count < STK_FACTS_MAX) {
        b->failure = STOKER_ENOMEM;
    }
}

void stk_build_cut(struct stk_build *b, enum stk_cut cut, int64_t whole_until_ns)
{
    STK_ASSERT((unsigned)cut <= STK_CUT_AT);
    b->cut = cut;
    b->whole_until_ns = whole_until_ns;
}

void stk_build_facts(struct stk_build *b, const struct stk_build_facts *facts)
{
    STK_ASSERT(facts->format && facts->rank >= -1 && facts->world_size >= -1);
    b->facts = *facts;
    b->producer = stk_build_intern(b, facts->producer);
    b->host = stk_build_intern(b, facts->host);
    for (int i = 0; i < STK_TOLD_PLACES; i++) {
        STK_ASSERT(facts->told.permille[i] <= 1000);
        b->told.places[i] =
            facts->told.places[i].n ? stk_build_intern(b, facts->told.places[i]) : 0;
        b->told.permille[i] = facts->told.permille[i];
    }
    memcpy(b->told.numbers, facts->told.numbers, sizeof b->told.numbers);
}
