// SPDX-License-Identifier: Apache-2.0
// First stage of finish(): one numbering of strings and tracks for all shards. The first shard's
// string pool becomes the trace's, so that a single-shard build copies nothing. Tracks keep the
// order in which rows first named them.
#include "base/alloc.h"
#include "profile/store/build_impl.h"

// New ids for all strings of `from`; *map is the caller's to free.
static enum stoker_status map_strings(struct stk_strpool *into, const struct stk_strpool *from,
                                      uint32_t **map, struct stoker_err *err)
{
    uint32_t *ids = stk_alloc_array(from->count ? from->count : 1, sizeof *ids);
    if (!ids) {
        return stk_err_nomem(err);
    }
    *map = ids;
    ids[0] = 0;
    for (uint32_t i = 1; i < from->count; i++) {
        ids[i] = stk_strpool_intern(into, from->strings[i], from->lengths[i]);
        if (ids[i] != STK_STRPOOL_FAILED) {
            continue;
        }
        if (into->cap_bytes && from->lengths[i] >= into->cap_bytes - into->used_bytes) {
            return stk_err_set(err, STOKER_ELIMIT,
                               "the profile has more than 4 GiB of distinct names: split it");
        }
        return stk_err_nomem(err);
    }
    return STOKER_OK;
}

static enum stoker_status merge_strings(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_build *b = f->b;
    struct stk_strpool *into = &f->t->strings;
    enum stoker_status status = STOKER_OK;
    for (size_t i = 0; i < b->shards.count && status == STOKER_OK; i++) {
        struct stk_shard *s = stk_build_shard_at(b, i);
        if (i == 0) {
            stk_strpool_deinit(into);
            *into = s->strings;
            s->strings = (struct stk_strpool){0};
            s->strings_ready = false;
            continue;
        }
        status = map_strings(into, &s->strings, &s->string_map, err);
        stk_strpool_deinit(&s->strings);
        s->strings_ready = false;
    }
    if (status == STOKER_OK) {
        status = map_strings(into, &b->strings, &f->builder_map, err);
    }
    return status;
}

static uint32_t put_mapped(struct stk_track_table *keys, const struct stk_track_entry *e,
                           const uint32_t *string_map)
{
    struct stk_track_entry mapped = *e;
    mapped.sid = string_map ? string_map[e->sid] : e->sid;
    return stk_tracks_put(keys, &mapped);
}

// Key of a shard's track. If there are too many, the track is only marked, and its rows are removed
// when times are checked. Until then it has an arbitrary key.
static uint32_t key_of(struct stk_finish *f, struct stk_shard *s, uint32_t track,
                       struct stk_track_table *keys)
{
    struct stk_track_entry *e = stk_tracks_at(&s->tracks, track);
    uint32_t key = put_mapped(keys, e, s->string_map);
    if (key != STK_NONE || !stk_tracks_full(keys)) {
        return key;
    }
    e->left_out = f->has_left_out = true;
    return 0;
}

// All keys that the shards and the facts have.
static bool collect_keys(struct stk_finish *f, struct stk_track_table *keys)
{
    struct stk_build *b = f->b;
    for (size_t i = 0; i < b->shards.count; i++) {
        struct stk_shard *s = stk_build_shard_at(b, i);
        size_t n = s->tracks.entries.count;
        s->track_map = stk_alloc_array(n ? n : 1, sizeof *s->track_map);
        if (!s->track_map) {
            return false;
        }
        for (uint32_t j = 0; j < n; j++) {
            s->track_map[j] = key_of(f, s, j, keys);
            if (s->track_map[j] == STK_NONE) {
                return false;
            }
        }
    }
    for (uint32_t j = 0; j < b->tracks.entries.count; j++) {
        const struct stk_track_entry *fact = stk_tracks_at(&b->tracks, j);
        uint32_t id = put_mapped(keys, fact, f->builder_map);
        if (id == STK_NONE && stk_tracks_full(keys)) {
            continue;
        }
        if (id == STK_NONE) {
            return false;
        }
        struct stk_track_entry *key = stk_tracks_at(keys, id);
        key->name = f->builder_map[fact->name];
        key->becomes = fact->becomes;
        key->becomes_kind = fact->becomes_kind;
        key->becomes_device = fact->becomes_device;
    }
    return true;
}

// Apply the changes of tracks and processes; final[i] is the final id of key i.
static bool resolve_keys(struct stk_finish *f, const struct stk_track_table *keys, uint32_t *final)
{
    for (uint32_t i = 0; i < keys->entries.count; i++) {
        struct stk_track_entry e = *stk_tracks_at(keys, i);
        if (e.becomes) {
            e.kind = e.becomes_kind;
            e.device = e.becomes_device;
        }
        const uint32_t *move = stk_map_get(&f->b->move_map, (uint64_t)e.process, 0);
        if (move) {
            e.process = ((const struct stk_fact_move *)stk_vec_at(&f->b->moves, *move))->to;
        }
        final[i] = stk_tracks_put(&f->merged, &e);
        if (final[i] == STK_NONE) {
            return false;
        }
        if (e.name) {
            stk_tracks_at(&f->merged, final[i])->name = e.name;
        }
    }
    return true;
}

static enum stoker_status merge_tracks(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_build *b = f->b;
    struct stk_track_table keys;
    uint32_t *final = NULL;
    enum stoker_status status = STOKER_ENOMEM;
    stk_tracks_init(&keys);
    if (!collect_keys(f, &keys)) {
        goto done;
    }
    final = stk_alloc_array(keys.entries.count + 1, sizeof *final);
    if (!final || !resolve_keys(f, &keys, final)) {
        goto done;
    }
    for (size_t i = 0; i < b->shards.count; i++) {
        struct stk_shard *s = stk_build_shard_at(b, i);
        for (uint32_t j = 0; j < s->tracks.entries.count; j++) {
            s->track_map[j] = final[s->track_map[j]];
        }
    }
    status = STOKER_OK;
done:
    stk_free(final);
    stk_tracks_deinit(&keys);
    return status == STOKER_OK ? STOKER_OK : stk_err_nomem(err);
}

static void merge_counts(struct stk_finish *f)
{
    struct stk_trace *t = f->t;
    for (size_t i = 0; i < f->b->shards.count; i++) {
        const struct stk_shard *s = stk_build_shard_at(f->b, i);
        t->read += s->read;
        t->dropped += s->dropped;
        for (int k = 0; k < STK_KIND_COUNT; k++) {
            t->by_kind[k] += s->by_kind[k];
        }
        for (int k = 0; k < STK_ISSUE_COUNT; k++) {
            const struct stk_issue *issue = &s->issues[k];
            uint32_t note = s->string_map ? s->string_map[issue->note] : issue->note;
            stk_issue_add(&t->issues[k], issue->count, issue->events_lost, issue->first_offset,
                          note);
        }
    }
}

enum stoker_status stk_build_merge(struct stk_finish *f, struct stoker_err *err)
{
    const struct stk_build_facts *facts = &f->b->facts;
    enum stoker_status status = merge_strings(f, err);
    if (status == STOKER_OK) {
        status = merge_tracks(f, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    merge_counts(f);
    f->t->rank = facts->rank;
    f->t->world_size = facts->world_size;
    f->t->format = facts->format ? facts->format : "";
    f->t->framework_hint = facts->framework_hint;
    f->t->producer = f->builder_map[f->b->producer];
    f->t->host = f->builder_map[f->b->host];
    f->t->told = f->b->told;
    for (int i = 0; i < STK_TOLD_PLACES; i++) {
        f->t->told.places[i] = f->b->told.places[i] ? f->builder_map[f->b->told.places[i]] : 0;
    }
    return STOKER_OK;
}
