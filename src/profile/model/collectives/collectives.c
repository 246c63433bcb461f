// SPDX-License-Identifier: Apache-2.0
// Collectives matched across ranks. A collective ends on all ranks together, so the rank that is
// last to enter it has the shortest kernel: wait = own duration - the shortest. Durations alone are
// enough for the waiting and need no common clock; who came last is taken from the starts where the
// clocks agree (ends of matched collectives within microseconds), else from the shortest duration.
//
// Ranks without a device have the host's collectives: of their waiting only what is exposed counts.
//
// Method: sort all collectives by (name, group, ordinal, rank); those whose counts differ between
// the ranks of their group are left out and counted. O(n log n).
// Limits: where a profile does not say which ranks take part, all are taken to, and a collective
// over some of them has unequal counts and is left out.
#include "profile/model/collectives/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/thresholds.h"

struct entry {
    uint64_t name_hash, group_hash;
    uint32_t ordinal, rank; // rank: index into run->ranks
    struct stk_collective *c;
};

struct aggregate {
    int64_t wait_ns;      // of all ranks
    int64_t *held_ns;     // per rank: waiting that it caused
    int64_t *shortest_ns; // the same, judged by durations
    uint32_t *last;       // per rank: how often it came last
    uint32_t matched, agreeing;
};

STK_ORDER(by_name_ordinal_rank, struct entry,
          STK_UP(name_hash) STK_UP(group_hash) STK_UP(ordinal) STK_UP(rank))

static struct entry *gather(const struct stk_run_sum *run, size_t *count)
{
    size_t n = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        n += run->ranks[r]->collective_count + run->ranks[r]->host_collective_count;
    }
    struct entry *all = stk_alloc_array(n ? n : 1, sizeof *all);
    if (!all) {
        return NULL;
    }
    *count = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        struct stk_rank_sum *rank = run->ranks[r];
        for (uint32_t i = 0; i < rank->collective_count; i++) {
            struct stk_collective *c = &rank->collectives[i];
            all[(*count)++] = (struct entry){c->name_hash, c->group_hash, c->ordinal, r, c};
        }
        for (uint32_t i = 0; i < rank->host_collective_count; i++) {
            struct stk_collective *c = &rank->host_collectives[i];
            all[(*count)++] = (struct entry){c->name_hash, 0, c->ordinal, r, c};
        }
    }
    stk_sort(all, *count, sizeof *all, by_name_ordinal_rank);
    return all;
}

// How many ranks take part in these: all, or as many of a named group as are here.
static uint32_t members_of(const struct entry *e, size_t n, uint32_t ranks)
{
    uint32_t members = 1;
    if (e[0].group_hash == 0) {
        return ranks;
    }
    while (members < n && e[members].ordinal == e[0].ordinal) {
        members++;
    }
    return members;
}

// All its ranks have this name equally often, once per ordinal.
static bool counts_equal(const struct entry *e, size_t n, uint32_t members, uint32_t ranks)
{
    if (n % members != 0) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t want = members == ranks ? (uint32_t)(i % members) : e[i % members].rank;
        bool again = i % members > 0 && e[i].rank == e[i - 1].rank;
        if (again || e[i].rank != want || e[i].ordinal != e[i - i % members].ordinal) {
            return false;
        }
    }
    return true;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Removes one collective's waiting from the exposed communication of its step and
// its device, if it has one. Returns what was removed from used time.
static int64_t move_wait(struct stk_run_sum *run, const struct entry *e, int64_t wait_ns,
                         const uint32_t *device_base, const uint32_t *step_base)
{
    struct stk_device_sum *d =
        e->c->device == STK_NONE ? NULL : &run->devices[device_base[e->rank] + e->c->device];
    int64_t moved = min64(wait_ns, e->c->exposed_ns);
    if (e->c->step != STK_NONE) {
        struct stk_step *s = &run->steps[step_base[e->rank] + e->c->step];
        moved = min64(moved, s->parts[STK_PART_COMMUNICATION]);
        s->parts[STK_PART_COMMUNICATION] -= moved;
        s->parts[STK_PART_COLLECTIVE_WAIT] += moved;
        if (s->excluded) {
            return 0;
        }
    } else if (!d || run->ranks[e->rank]->step_count > 0) {
        return 0; // outside every step: in no part
    }
    if (d) {
        moved = min64(moved, d->parts[STK_PART_COMMUNICATION]);
        d->parts[STK_PART_COMMUNICATION] -= moved;
        d->parts[STK_PART_COLLECTIVE_WAIT] += moved;
    }
    return moved;
}

static void match_one(struct stk_run_sum *run, const struct entry *e, uint32_t members,
                      struct aggregate *t, const uint32_t *device_base, const uint32_t *step_base)
{
    uint32_t last = 0, briefest = 0;
    int64_t first_end = INT64_MAX, last_end = INT64_MIN;
    for (uint32_t r = 0; r < members; r++) {
        int64_t end = e[r].c->start_ns + e[r].c->dur_ns;
        first_end = end < first_end ? end : first_end;
        last_end = end > last_end ? end : last_end;
        if (e[r].c->start_ns > e[last].c->start_ns) {
            last = r;
        }
        if (e[r].c->dur_ns < e[briefest].c->dur_ns) {
            briefest = r;
        }
    }
    int64_t wait_ns = 0, min_ns = e[briefest].c->dur_ns;
    for (uint32_t r = 0; r < members; r++) {
        e[r].c->matched = true;
        e[r].c->wait_ns = e[r].c->dur_ns - min_ns;
        e[r].c->last_rank = (int32_t)e[last].rank;
        e[r].c->brief_rank = (int32_t)e[briefest].rank;
        int64_t moved_ns = move_wait(run, &e[r], e[r].c->dur_ns - min_ns, device_base, step_base);
        // On the host, collectives run in parallel, and overlap with the model: the exposed part
        // counts.
        wait_ns += e[r].c->device == STK_NONE ? moved_ns : e[r].c->dur_ns - min_ns;
    }
    t->wait_ns += wait_ns;
    t->held_ns[e[last].rank] += wait_ns;
    t->shortest_ns[e[briefest].rank] += wait_ns;
    t->last[e[last].rank]++;
    t->matched++;
    bool on_host = e[0].c->device == STK_NONE;
    t->agreeing +=
        last_end - first_end <=
        (int64_t)stk_threshold_value(on_host ? STK_T_CLOCK_AGREE_HOST_NS : STK_T_CLOCK_AGREE_NS);
}

static int64_t longest_span_ns(const struct stk_run_sum *run)
{
    int64_t longest = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (run->devices[d].span_ns > longest) {
            longest = run->devices[d].span_ns;
        }
    }
    int64_t steps_ns = 0; // of a rank without a device: rows of a rank lie together
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct stk_step *s = &run->steps[i];
        if (s->device != STK_NONE || s->excluded) {
            continue;
        }
        steps_ns = i > 0 && run->steps[i - 1].rank == s->rank ? steps_ns + s->dur_ns : s->dur_ns;
        longest = steps_ns > longest ? steps_ns : longest;
    }
    return longest;
}

static void judge(struct stk_run_sum *run, const struct aggregate *t)
{
    struct stk_straggler *g = &run->straggler;
    int64_t span_ns = longest_span_ns(run);
    g->matched = t->matched;
    g->wait_ns = t->wait_ns;
    g->clocks_agree = t->matched > 0 && 2 * t->agreeing > t->matched;
    if (t->matched == 0 || t->wait_ns <= 0 || span_ns <= 0) {
        return;
    }
    const int64_t *held = g->clocks_agree ? t->held_ns : t->shortest_ns;
    uint32_t late = 0;
    for (uint32_t r = 1; r < run->rank_count; r++) {
        if (held[r] > held[late]) {
            late = r;
        }
    }
    g->rank = run->ranks[late]->rank >= 0 ? run->ranks[late]->rank : (int32_t)late;
    g->last_count = t->last[late];
    g->held_share = (double)held[late] / (double)t->wait_ns;
    g->wait_share = (double)t->wait_ns / (run->rank_count - 1) / (double)span_ns;
    g->fired = t->matched >= stk_threshold_value(STK_T_STRAGGLER_MATCHED) &&
               g->wait_share >= stk_threshold_value(STK_T_STRAGGLER_WAIT) &&
               g->held_share >= stk_threshold_value(STK_T_STRAGGLER_HELD) &&
               g->held_share >= stk_threshold_value(STK_T_STRAGGLER_ABOVE) + 1.0 / run->rank_count;
}

enum stoker_status stk_collectives_match(struct stk_run_sum *run, const uint32_t *device_base,
                                         const uint32_t *step_base, struct stoker_err *err)
{
    STK_ASSERT(run->rank_count == 0 || (device_base && step_base));
    uint32_t ranks = run->rank_count;
    if (ranks < 2) {
        return STOKER_OK;
    }
    enum stoker_status status = STOKER_OK;
    size_t count = 0;
    struct entry *all = gather(run, &count);
    struct aggregate t = {
        .held_ns = stk_alloc_zero(ranks, sizeof(int64_t)),
        .shortest_ns = stk_alloc_zero(ranks, sizeof(int64_t)),
        .last = stk_alloc_zero(ranks, sizeof(uint32_t)),
    };
    if (!all || !t.held_ns || !t.shortest_ns || !t.last) {
        status = stk_err_nomem(err);
        goto done;
    }
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i; j < count && all[j].name_hash == all[i].name_hash &&
                    all[j].group_hash == all[i].group_hash;
             j++) {
            continue;
        }
        uint32_t members = members_of(all + i, j - i, ranks);
        if (members < 2) {
            continue; // the others of its group are not here
        }
        if (!counts_equal(all + i, j - i, members, ranks)) {
            run->rank_events_unequal += j - i;
            continue;
        }
        for (size_t k = i; k < j; k += members) {
            match_one(run, all + k, members, &t, device_base, step_base);
        }
    }
    judge(run, &t);
done:
    stk_free(all);
    stk_free(t.held_ns);
    stk_free(t.shortest_ns);
    stk_free(t.last);
    return status;
}
