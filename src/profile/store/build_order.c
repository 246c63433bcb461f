// SPDX-License-Identifier: Apache-2.0
// Sorts each track, with one worker per thread, then inserts the sub-rows into the list of tracks.
// Tracks are independent: a worker takes the next free one.
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "profile/store/build_order.h"

struct order_job {
    struct stk_finish *f;
    uint32_t *long_first; // per track, and one past the last: its part of long_durs
    _Atomic uint32_t next_track;
    atomic_bool out_of_memory;
};

static void order_worker(void *arg, int index)
{
    struct order_job *job = arg;
    struct stk_trace *t = job->f->t;
    struct stk_order_scratch scratch = {0};
    (void)index;
    for (;;) {
        uint32_t i = atomic_fetch_add(&job->next_track, 1);
        if (i >= t->track_count) {
            break;
        }
        const struct stk_track *track = &t->tracks[i];
        scratch.long_from = job->long_first[i];
        scratch.long_to = job->long_first[i + 1];
        if (!stk_track_sort(t, track->first, track->count, &scratch) ||
            !stk_track_nest(t, track->first, track->count, &job->f->subs[i], &scratch)) {
            atomic_store(&job->out_of_memory, true);
            break;
        }
    }
    stk_order_scratch_free(&scratch);
}

static void note_overlaps(struct stk_finish *f)
{
    struct stk_trace *t = f->t;
    for (uint32_t i = 0; i < t->track_count; i++) {
        const struct stk_sub_rows *subs = &f->subs[i];
        if (subs->moved) {
            stk_issue_add(&t->issues[STK_ISSUE_OVERLAP_SUBROW], subs->moved, 0,
                          (int64_t)stk_pos(t, subs->first), t->name[subs->first]);
        }
    }
}

// The list of tracks with each sub-row after its parent.
static enum stoker_status insert_sub_rows(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_trace *t = f->t;
    uint64_t total = t->track_count;
    for (uint32_t i = 0; i < t->track_count; i++) {
        total += f->subs[i].count;
    }
    if (total == t->track_count) {
        return STOKER_OK;
    }
    struct stk_track *tracks = total < STK_NONE ? stk_alloc_array(total, sizeof *tracks) : NULL;
    if (!tracks) {
        return stk_err_nomem(err);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->track_count; i++) {
        struct stk_track track = t->tracks[i];
        uint32_t parent = n, next = track.first + track.count - (uint32_t)f->subs[i].moved;
        track.count -= (uint32_t)f->subs[i].moved;
        tracks[n++] = track;
        track.parent = parent;
        for (uint32_t k = 0; k < f->subs[i].count; k++) {
            track.first = next;
            track.count = f->subs[i].counts[k];
            next += track.count;
            tracks[n++] = track;
        }
    }
    stk_free(t->tracks);
    t->tracks = tracks;
    t->track_count = n;
    return STOKER_OK;
}

static void split_longs(const struct stk_trace *t, uint32_t *long_first)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < t->track_count; i++) {
        long_first[i] = at;
        while (at < t->long_dur_count &&
               t->long_durs[at].event - t->tracks[i].first < t->tracks[i].count) {
            at++;
        }
    }
    long_first[t->track_count] = at;
}

enum stoker_status stk_build_order(struct stk_finish *f, struct stoker_err *err)
{
    uint32_t n = f->t->track_count;
    struct order_job job = {.f = f};
    f->subs = stk_alloc_zero(n ? n : 1, sizeof *f->subs);
    job.long_first = stk_alloc_array((size_t)n + 1, sizeof *job.long_first);
    if (!f->subs || !job.long_first) {
        stk_free(job.long_first);
        return stk_err_nomem(err);
    }
    f->sub_count = n;
    split_longs(f->t, job.long_first);
    stk_thread_run((uint32_t)f->threads < n ? f->threads : n ? (int)n : 1, order_worker, &job);
    stk_free(job.long_first);
    if (atomic_load(&job.out_of_memory)) {
        return stk_err_nomem(err);
    }
    note_overlaps(f);
    return insert_sub_rows(f, err);
}
