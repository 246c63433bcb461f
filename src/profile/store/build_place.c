// SPDX-License-Identifier: Apache-2.0
// The trace's processes, devices and tracks, and the place of each track's events. Only tracks with
// events are kept, and the devices and processes of such tracks: profilers describe all visible
// devices, used or not.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "profile/store/build_impl.h"

#define OBJECTS_MAX (1u << 24)

// Sum the rows of the shards' tracks, number those that have any, allocate t->tracks.
static enum stoker_status number_tracks(struct stk_finish *f, struct stoker_err *err)
{
    size_t n = f->merged.entries.count;
    f->track_final = stk_alloc_array(n + 1, sizeof *f->track_final);
    if (!f->track_final) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < f->b->shards.count; i++) {
        const struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (uint32_t j = 0; j < s->tracks.entries.count; j++) {
            stk_tracks_at(&f->merged, s->track_map[j])->rows += stk_tracks_at(&s->tracks, j)->rows;
        }
    }
    uint32_t kept = 0, first = 0;
    for (uint32_t i = 0; i < n; i++) {
        f->track_final[i] = stk_tracks_at(&f->merged, i)->rows ? kept++ : STK_NONE;
    }
    f->t->tracks = stk_alloc_zero(kept ? kept : 1, sizeof *f->t->tracks);
    f->track_kinds = stk_alloc_zero(kept ? kept : 1, sizeof *f->track_kinds);
    if (!f->t->tracks || !f->track_kinds) {
        return stk_err_nomem(err);
    }
    f->t->track_count = kept;
    for (uint32_t i = 0; i < n; i++) {
        const struct stk_track_entry *e = stk_tracks_at(&f->merged, i);
        if (!e->rows) {
            continue;
        }
        f->t->tracks[f->track_final[i]] = (struct stk_track){.kind = e->kind,
                                                             .device = STK_NONE,
                                                             .id = e->id,
                                                             .name = e->name ? e->name : e->sid,
                                                             .parent = STK_NONE,
                                                             .first = first,
                                                             .count = (uint32_t)e->rows};
        first += (uint32_t)e->rows;
    }
    f->t->count = first;
    return STOKER_OK;
}

static enum stoker_status place_processes(struct stk_finish *f, struct stk_map *pids,
                                          struct stoker_err *err)
{
    struct stk_trace *t = f->t;
    t->processes = stk_alloc_zero(t->track_count ? t->track_count : 1, sizeof *t->processes);
    if (!t->processes) {
        return stk_err_nomem(err);
    }
    for (uint32_t i = 0; i < f->merged.entries.count; i++) {
        const struct stk_track_entry *e = stk_tracks_at(&f->merged, i);
        int created = 0;
        if (!e->rows) {
            continue;
        }
        uint32_t *index = stk_map_put(pids, (uint64_t)e->process, 0, t->process_count, &created);
        if (!index) {
            return stk_err_nomem(err);
        }
        if (created) {
            t->processes[t->process_count++] = (struct stk_process){.pid = e->process, .rank = -1};
        }
        t->tracks[f->track_final[i]].process = *index;
    }
    for (size_t i = 0; i < f->b->processes.count; i++) {
        const struct stk_fact_process *fact = stk_vec_at(&f->b->processes, i);
        const uint32_t *index = stk_map_get(pids, (uint64_t)fact->process, 0);
        if (!index) {
            continue;
        }
        struct stk_process *p = &t->processes[*index];
        if (fact->rank >= 0) {
            p->rank = fact->rank;
        }
        if (fact->name) {
            p->name = f->builder_map[fact->name];
        }
        if (fact->host) {
            p->host = f->builder_map[fact->host];
        }
    }
    return STOKER_OK;
}

STK_ORDER(compare_devices, struct stk_device, STK_UP(process) STK_UP(ordinal))

static bool on_device(const struct stk_track_entry *e)
{
    return e->kind == STK_TRACK_STREAM || (e->kind != STK_TRACK_THREAD && e->device >= 0);
}

// A row of a device beyond the cap.
static void leave_device_out(struct stk_finish *f, uint32_t track)
{
    struct stk_track_entry *e = stk_tracks_at(&f->merged, track);
    e->kind = f->t->tracks[f->track_final[track]].kind = STK_TRACK_OTHER;
    e->device = -1;
    stk_issue_add(&f->t->issues[STK_ISSUE_DEVICES_LEFT_OUT], 1, 0, -1, 0);
}

// The devices that tracks name, ordered by process and number; `index` maps them.
static enum stoker_status list_devices(struct stk_finish *f, struct stk_map *index,
                                       struct stoker_err *err)
{
    struct stk_trace *t = f->t;
    t->devices = stk_alloc_zero(t->track_count ? t->track_count : 1, sizeof *t->devices);
    if (!t->devices) {
        return stk_err_nomem(err);
    }
    for (uint32_t i = 0; i < f->merged.entries.count; i++) {
        const struct stk_track_entry *e = stk_tracks_at(&f->merged, i);
        int created = 0;
        if (!e->rows || !on_device(e)) {
            continue;
        }
        uint32_t process = t->tracks[f->track_final[i]].process;
        if (t->device_count == STK_DEVICES_MAX &&
            !stk_map_get(index, process, (uint64_t)e->device)) {
            leave_device_out(f, i);
            continue;
        }
        if (!stk_map_put(index, process, (uint64_t)e->device, 0, &created)) {
            return stk_err_nomem(err);
        }
        if (created) {
            t->devices[t->device_count++] =
                (struct stk_device){.process = process, .ordinal = e->device};
        }
    }
    stk_sort(t->devices, t->device_count, sizeof *t->devices, compare_devices);
    for (uint32_t i = 0; i < t->device_count; i++) {
        *stk_map_get(index, t->devices[i].process, (uint64_t)t->devices[i].ordinal) = i;
    }
    return STOKER_OK;
}

static enum stoker_status place_devices(struct stk_finish *f, const struct stk_map *pids,
                                        struct stk_map *index, struct stoker_err *err)
{
    struct stk_trace *t = f->t;
    enum stoker_status status = list_devices(f, index, err);
    if (status != STOKER_OK) {
        return status;
    }
    for (uint32_t i = 0; i < f->merged.entries.count; i++) {
        const struct stk_track_entry *e = stk_tracks_at(&f->merged, i);
        if (!e->rows || !on_device(e)) {
            continue;
        }
        struct stk_track *track = &t->tracks[f->track_final[i]];
        track->device = *stk_map_get(index, track->process, (uint64_t)e->device);
    }
    for (size_t i = 0; i < f->b->devices.count; i++) {
        const struct stk_fact_device *fact = stk_vec_at(&f->b->devices, i);
        const uint32_t *process = stk_map_get(pids, (uint64_t)fact->process, 0);
        const uint32_t *at = process ? stk_map_get(index, *process, (uint64_t)fact->device) : NULL;
        if (!at) {
            continue;
        }
        struct stk_device *d = &t->devices[*at];
        d->source_id = f->builder_map[fact->source_id];
        d->name = f->builder_map[fact->name];
        d->kind = fact->facts.kind;
        d->sm_count = fact->facts.sm_count;
        d->cc_major = fact->facts.cc_major;
        d->cc_minor = fact->facts.cc_minor;
        d->memory_bytes = fact->facts.memory_bytes;
        d->limits = fact->facts.limits;
    }
    for (uint32_t i = 0; i < t->device_count; i++) {
        char number[24];
        if (t->devices[i].source_id) {
            continue;
        }
        int n = snprintf(number, sizeof number, "%" PRId64, t->devices[i].ordinal);
        uint32_t id = stk_strpool_intern(&t->strings, number, (size_t)n);
        if (id == STK_STRPOOL_FAILED) {
            return stk_err_nomem(err);
        }
        t->devices[i].source_id = id;
    }
    return STOKER_OK;
}

// The space for each track's rows, values and correlations of calls. Afterwards `next` has where
// each track's begin.
static bool place_values(struct stk_finish *f, struct stk_cursor *next)
{
    uint64_t exts = 0, calls = 0;
    for (size_t i = 0; i < f->b->shards.count; i++) {
        const struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (uint32_t j = 0; j < s->tracks.entries.count; j++) {
            const struct stk_track_entry *e = stk_tracks_at(&s->tracks, j);
            uint32_t track = f->track_final[s->track_map[j]];
            exts += e->exts;
            calls += e->calls;
            if (exts >= UINT32_MAX || calls >= UINT32_MAX) {
                return false;
            }
            if (track != STK_NONE) {
                next[track].ext += e->exts;
                next[track].call += e->calls;
            }
        }
    }
    f->t->ext_count = f->call_count = 0;
    for (uint32_t i = 0; i < f->t->track_count; i++) {
        uint32_t n_exts = next[i].ext, n_calls = next[i].call;
        next[i] = (struct stk_cursor){f->t->tracks[i].first, f->t->ext_count, f->call_count};
        f->t->ext_count += n_exts;
        f->call_count += n_calls;
    }
    return true;
}

// For each shard and track, where its first row goes: after those of the shards before it.
static enum stoker_status place_cursors(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_cursor *next =
        stk_alloc_zero(f->t->track_count ? f->t->track_count : 1, sizeof *next);
    enum stoker_status status = STOKER_OK;
    if (!next) {
        return stk_err_nomem(err);
    }
    if (!place_values(f, next)) {
        status = stk_err_set(err, STOKER_ELIMIT,
                             "the profile has more than 4,294,967,294 events "
                             "with values: record a shorter window");
    }
    for (size_t i = 0; i < f->b->shards.count && status == STOKER_OK; i++) {
        struct stk_shard *s = stk_build_shard_at(f->b, i);
        size_t n = s->tracks.entries.count;
        s->cursors = stk_alloc_zero(n ? n : 1, sizeof *s->cursors);
        if (!s->cursors) {
            status = stk_err_nomem(err);
        }
        for (uint32_t j = 0; j < n && status == STOKER_OK; j++) {
            const struct stk_track_entry *e = stk_tracks_at(&s->tracks, j);
            uint32_t track = f->track_final[s->track_map[j]];
            if (track == STK_NONE) {
                continue;
            }
            s->cursors[j] = next[track];
            next[track].row += (uint32_t)e->rows;
            next[track].ext += e->exts;
            next[track].call += e->calls;
        }
    }
    stk_free(next);
    return status;
}

enum stoker_status stk_build_place(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_map pids, devices;
    stk_map_init(&pids, OBJECTS_MAX);
    stk_map_init(&devices, OBJECTS_MAX);
    enum stoker_status status = number_tracks(f, err);
    if (status == STOKER_OK) {
        status = place_processes(f, &pids, err);
    }
    if (status == STOKER_OK) {
        status = place_devices(f, &pids, &devices, err);
    }
    if (status == STOKER_OK) {
        status = place_cursors(f, err);
    }
    stk_map_deinit(&pids);
    stk_map_deinit(&devices);
    return status;
}
