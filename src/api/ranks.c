// SPDX-License-Identifier: Apache-2.0
// Numbers the ranks of one run from several files, and aligns their clocks.
//   seen    a recording of stoker.data from the same time as another profile is that profile's
//           rank again, not another rank.
//   number  from the profile, else from the file's name, else the next free number. Two files with
//           the same rank are two runs: rejected (see inputs.h).
//   clock   time 0 is the earliest first event. Files whose clocks are more than a day apart were
//           recorded on unrelated clocks (or at other times): each keeps its own zero.
#include <inttypes.h>
#include <string.h>

#include "api/api.h"
#include "api/inputs.h"
#include "profile/model/idle/recorded_waits.h"
#include "profile/model/intervals.h"

#define UNRELATED_NS (86400 * INT64_C(1000000000))

struct roster {
    struct stk_job *jobs;
    size_t job_count;
    struct stk_rank_sum **ranks; // of all jobs
    struct stk_job **owner;      // the job of each
    uint32_t count;
    struct stk_rank_sum **again,
        **again_of; // duplicates in recordings of stoker.data; the original rank
    uint32_t again_count;
};

static enum stoker_status gather(struct roster *r, struct stk_arena *arena, struct stoker_err *err)
{
    for (size_t i = 0; i < r->job_count; i++) {
        if (r->jobs[i].status == STOKER_OK) {
            r->count += r->jobs[i].rank_count;
        }
    }
    r->ranks = stk_arena_array(arena, (size_t)r->count + 1, sizeof *r->ranks);
    r->owner = stk_arena_array(arena, (size_t)r->count + 1, sizeof *r->owner);
    r->again = stk_arena_array(arena, (size_t)r->count + 1, sizeof *r->again);
    r->again_of = stk_arena_array(arena, (size_t)r->count + 1, sizeof *r->again_of);
    if (!r->ranks || !r->owner || !r->again || !r->again_of) {
        return stk_err_nomem(err);
    }
    uint32_t n = 0;
    for (size_t i = 0; i < r->job_count; i++) {
        struct stk_job *job = &r->jobs[i];
        for (uint32_t k = 0; job->status == STOKER_OK && k < job->rank_count; k++) {
            r->ranks[n] = job->ranks[k];
            r->owner[n++] = job;
        }
    }
    return STOKER_OK;
}

// A recording of stoker.data from the same time as another profile isn't a rank: it tells that
// profile's rank what limits the input.
static void fold_records(struct roster *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t same = 0;
        while (same < r->count && !stk_runs_same(r->owner[i], r->owner[same])) {
            same++;
        }
        if (same < r->count) {
            r->ranks[same]->facts.recorded_limit = r->ranks[i]->facts.input_limit;
            r->again_of[r->again_count] = r->ranks[same];
            r->again[r->again_count++] = r->ranks[i];
            continue;
        }
        r->ranks[kept] = r->ranks[i];
        r->owner[kept++] = r->owner[i];
    }
    r->count = kept;
}

static bool same_in_file(const struct roster *r, uint32_t i)
{
    for (uint32_t k = i; k-- > 0 && r->owner[k] == r->owner[i];) {
        if (r->ranks[i]->rank >= 0 && r->ranks[k]->rank == r->ranks[i]->rank) {
            return true;
        }
    }
    return false;
}

// Ranks by content, name or order. Processes of one file that share a rank count once.
static enum stoker_status settle(struct roster *r, struct stk_arena *arena, struct stoker_err *err)
{
    struct stk_input_rank *entries = stk_arena_array(arena, (size_t)r->count + 1, sizeof *entries);
    uint32_t *whose = stk_arena_array(arena, (size_t)r->count + 1, sizeof *whose);
    const char *note = NULL;
    size_t n = 0;
    if (!entries || !whose) {
        return stk_err_nomem(err);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        int32_t hint = r->owner[i]->rank_count == 1 ? r->owner[i]->rank_hint : -1;
        if (same_in_file(r, i)) {
            continue;
        }
        whose[n] = i;
        entries[n++] = (struct stk_input_rank){r->owner[i]->path, r->ranks[i]->rank, hint};
    }
    enum stoker_status status = stk_inputs_check_ranks(entries, n, arena, &note, err);
    for (size_t i = 0; i < n; i++) {
        r->ranks[whose[i]]->rank = entries[i].rank;
    }
    if (note && r->job_count > 1) {
        struct stk_input_info *info = &r->jobs[0].info;
        info->issues[STK_ISSUE_RANKS_NUMBERED].count++;
        info->issue_notes[STK_ISSUE_RANKS_NUMBERED] = note;
    }
    return status;
}

// The device's id starts with its rank: "0/1" becomes "3/1".
static bool rename_devices(struct stk_rank_sum *rank, struct stk_arena *arena)
{
    for (uint32_t d = 0; d < rank->device_count; d++) {
        struct stk_device_sum *dev = &rank->devices[d];
        const char *slash = strchr(dev->id, '/');
        dev->rank = rank->rank;
        dev->id = stk_arena_printf(arena, "%d%s", (int)rank->rank, slash ? slash : "/0");
        if (!dev->id) {
            return false;
        }
    }
    return true;
}

static enum stoker_status number(struct roster *r, struct stk_arena *arena, struct stoker_err *err)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct stk_rank_sum *rank = r->ranks[i];
        if (rank->rank < 0) { // a run of one: not settled above
            rank->rank = r->owner[i]->rank_hint >= 0 ? r->owner[i]->rank_hint : 0;
        }
        if (!rename_devices(rank, arena)) {
            return stk_err_nomem(err);
        }
        for (uint32_t s = 0; s < rank->step_count; s++) {
            rank->steps[s].rank = rank->rank;
        }
        struct stk_input_info *info = &r->owner[i]->info;
        if (info->rank_count < sizeof info->ranks / sizeof info->ranks[0]) {
            info->ranks[info->rank_count++] = rank->rank;
        }
    }
    for (uint32_t i = 0; i < r->again_count; i++) {
        r->again[i]->rank = r->again_of[i]->rank;
    }
    return STOKER_OK;
}

static void shift(struct stk_rank_sum *rank, int64_t by_ns)
{
    rank->base_ns -= by_ns;
    rank->facts.first_ns = stk_add_ns(rank->facts.first_ns, by_ns); // INT64_MAX: no events
    rank->facts.last_ns += by_ns;
    rank->facts.first_use.start_ns += by_ns;
    for (uint32_t d = 0; d < rank->device_count; d++) {
        rank->devices[d].first_ns += by_ns;
    }
    for (uint32_t s = 0; s < rank->step_count; s++) {
        rank->steps[s].start_ns += by_ns;
        if (rank->steps[s].host_dur_ns >= 0) {
            rank->steps[s].host_start_ns += by_ns;
        }
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        for (int e = 0; e < rank->causes[p].example_count; e++) {
            rank->causes[p].examples[e].start_ns += by_ns;
        }
    }
}

static struct stk_rank_sum *rank_at(const struct roster *r, uint32_t i)
{
    return i < r->count ? r->ranks[i] : r->again[i - r->count];
}

static void share_clock(struct roster *r)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = 0; i < r->count + r->again_count; i++) {
        int64_t base = rank_at(r, i)->base_ns;
        least = base < least ? base : least;
        most = base > most ? base : most;
    }
    int64_t apart;
    if (r->count + r->again_count < 2 || __builtin_sub_overflow(most, least, &apart) ||
        apart > UNRELATED_NS) {
        return;
    }
    for (uint32_t i = 0; i < r->count + r->again_count; i++) {
        shift(rank_at(r, i), rank_at(r, i)->base_ns - least);
    }
    for (uint32_t i = 0; i < r->again_count; i++) {
        stk_recorded_waits_use(r->again_of[i], r->again[i]);
    }
}

static enum stoker_status select_rank(struct roster *r, const struct stk_select *select,
                                      struct stoker_err *err)
{
    uint32_t kept = 0;
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (uint32_t i = 0; i < r->count; i++) {
        low = r->ranks[i]->rank < low ? r->ranks[i]->rank : low;
        high = r->ranks[i]->rank > high ? r->ranks[i]->rank : high;
        if (r->ranks[i]->rank == select->rank) {
            r->ranks[kept++] = r->ranks[i];
        }
    }
    if (kept == 0 && r->count == 0) {
        return stk_err_set(err, STOKER_EUSAGE, "--rank %d: the profile has no ranks",
                           (int)select->rank);
    }
    if (kept == 0) {
        return stk_err_set(err, STOKER_EUSAGE, "no rank %d: the profile has rank %d%s%.0d",
                           (int)select->rank, (int)low, high > low ? " to " : "",
                           high > low ? (int)high : 0);
    }
    r->count = kept;
    return STOKER_OK;
}

enum stoker_status stk_ranks_collect(struct stk_job *jobs, size_t count,
                                     const struct stk_select *select, struct stk_arena *arena,
                                     struct stk_rank_sum ***ranks, uint32_t *rank_count,
                                     uint32_t *again_count, struct stoker_err *err)
{
    struct roster r = {.jobs = jobs, .job_count = count};
    enum stoker_status status = gather(&r, arena, err);
    if (status == STOKER_OK) {
        fold_records(&r);
        status = settle(&r, arena, err);
    }
    if (status == STOKER_OK) {
        status = number(&r, arena, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    share_clock(&r);
    if (select->has_rank) {
        status = select_rank(&r, select, err);
    }
    if (r.again_count) {
        memcpy(r.ranks + r.count, r.again, r.again_count * sizeof(struct stk_rank_sum *));
    }
    *ranks = r.ranks;
    *rank_count = r.count;
    *again_count = r.again_count;
    return status;
}
