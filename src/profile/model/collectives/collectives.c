// SPDX-License-Identifier: Apache-2.0
// Collectives matched across ranks. A collective ends on all ranks together, so the rank that is
// last to enter it has the shortest kernel: wait = own duration - the shortest. Durations alone are
// enough for the waiting and need no common clock; who came last is taken from the starts where the
// clocks agree (ends of matched collectives within microseconds), else from the shortest duration.
//
// Ranks without a device have host collectives, of whose waiting only the exposed part counts.
// Method: series of the same name and group are joined across ranks. Series whose counts differ
// between the ranks of their group are left out and counted. An index finds the k-th of each series
// in a rank's list: 4 bytes a collective. Time grows with the collectives.
// Limits: if a profile doesn't say which ranks take part, all are assumed to. A collective over
// some of them then has unequal counts and is left out.
#include "profile/model/collectives/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/collectives/rank_clocks.h"
#include "profile/model/collectives/culprit.h"
#include "profile/model/intervals.h"
#include "profile/model/median.h"
#include "profile/model/thresholds.h"
#include "profile/store/words.h"

#define STEPS_RECUR 3 // used steps: fewer don't show what recurs

struct member { // a series on one rank
    uint64_t name_hash, group_hash;
    uint32_t rank; // index into run->ranks
    struct stk_collective_series *series;
    uint32_t *index; // its collectives' places in the rank's list, by ordinal
};

struct matching {
    struct stk_run_sum *run;
    const uint32_t *device_base, *step_base;
    struct stk_arena *arena;
    struct member *members;
    size_t member_count, meeting_count;
    uint32_t *index;
    int64_t *waits, *scratch, *ends; // of one collective, by its members
    int64_t *step_late_ns;           // by row of the run's steps
    struct stk_latenesses late, held_by_duration;
    struct stk_clocks clocks;
    uint32_t *last; // per rank: how often it came last
    int64_t wait_ns;
    uint32_t matched, agreeing;
};

STK_ORDER(by_name_group_rank, struct member, STK_UP(name_hash) STK_UP(group_hash) STK_UP(rank))

static const struct stk_collective *collective_at(const struct matching *m,
                                                  const struct member *member, uint32_t ordinal)
{
    const struct stk_rank_sum *rank = m->run->ranks[member->rank];
    uint32_t at = member->index[ordinal];
    return member->series->device == STK_NONE ? &rank->host_collectives[at]
                                              : &rank->collectives[at];
}

// The places of a rank's collectives, series by series.
static void index_list(const struct stk_rank_sum *rank, const struct stk_collective *list,
                       uint32_t count, const struct member *members)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct member *m = &members[stk_collective_class_of(rank, &list[i])->series];
        STK_ASSERT(list[i].ordinal < m->series->count);
        m->index[list[i].ordinal] = i;
    }
}

static void index_rank(struct matching *m, uint32_t r, size_t first, uint32_t *index)
{
    const struct stk_rank_sum *rank = m->run->ranks[r];
    for (uint32_t s = 0; s < rank->collective_series_count; s++) {
        struct stk_collective_series *series = &rank->collective_series[s];
        series->meetings = NULL;
        m->members[first + s] =
            (struct member){series->name_hash, series->group_hash, r, series, index};
        index += series->count;
    }
    index_list(rank, rank->collectives, rank->collective_count, m->members + first);
    index_list(rank, rank->host_collectives, rank->host_collective_count, m->members + first);
}

// Room for everything, by the number of series and collectives.
static bool make_room(struct matching *m)
{
    const struct stk_run_sum *run = m->run;
    size_t collectives = 0, ranks = run->rank_count;
    for (uint32_t r = 0; r < ranks; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        size_t own = (size_t)rank->collective_count + rank->host_collective_count;
        m->member_count += rank->collective_series_count;
        m->meeting_count = own > m->meeting_count ? own : m->meeting_count;
        collectives += own;
    }
    m->members = stk_alloc_array(m->member_count + 1, sizeof *m->members);
    m->index = stk_alloc_zero(collectives + 1, sizeof *m->index);
    m->waits = stk_alloc_array(ranks, sizeof *m->waits);
    m->scratch = stk_alloc_array(ranks, sizeof *m->scratch);
    m->ends = stk_alloc_array(ranks, sizeof *m->ends);
    m->step_late_ns = stk_alloc_zero(run->step_count + 1, sizeof *m->step_late_ns);
    m->late.ranks = stk_alloc_zero(ranks, sizeof *m->late.ranks);
    m->held_by_duration.ranks = stk_alloc_zero(ranks, sizeof *m->held_by_duration.ranks);
    m->last = stk_alloc_zero(ranks, sizeof *m->last);
    return stk_clocks_begin(&m->clocks, run->rank_count, m->meeting_count) && m->members &&
           m->index && m->waits && m->scratch && m->ends && m->step_late_ns && m->late.ranks &&
           m->held_by_duration.ranks && m->last;
}

static void free_room(struct matching *m)
{
    stk_free(m->members);
    stk_free(m->index);
    stk_free(m->waits);
    stk_free(m->scratch);
    stk_free(m->ends);
    stk_free(m->step_late_ns);
    stk_free(m->late.ranks);
    stk_free(m->held_by_duration.ranks);
    stk_free(m->last);
    stk_free(m->clocks.samples);
}

static void gather(struct matching *m)
{
    size_t at = 0;
    uint32_t *index = m->index;
    for (uint32_t r = 0; r < m->run->rank_count; r++) {
        const struct stk_rank_sum *rank = m->run->ranks[r];
        index_rank(m, r, at, index);
        at += rank->collective_series_count;
        index += rank->collective_count + rank->host_collective_count;
    }
    stk_sort(m->members, m->member_count, sizeof *m->members, by_name_group_rank);
}

// Each participating rank has the series once, with the same count: all ranks of the run, or those
// of a named group that were read.
static bool counts_equal(const struct matching *m, const struct member *e, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (e[i].rank == e[i - 1].rank || e[i].series->count != e[0].series->count) {
            return false;
        }
    }
    return e[0].group_hash != 0 || n == m->run->rank_count;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Removes one collective's waiting from the exposed communication of its step and
// its device, if it has one. Returns what was removed from used time.
static int64_t move_wait(const struct matching *m, const struct member *e,
                         const struct stk_collective *c, int64_t wait_ns)
{
    struct stk_run_sum *run = m->run;
    uint32_t device = e->series->device;
    struct stk_device_sum *d =
        device == STK_NONE ? NULL : &run->devices[m->device_base[e->rank] + device];
    int64_t moved = min64(wait_ns, c->exposed_ns);
    if (c->step != STK_NONE) {
        struct stk_step *s = &run->steps[m->step_base[e->rank] + c->step];
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

// Is the collective in a step that is used?
static bool is_used(const struct matching *m, uint32_t rank, const struct stk_collective *c)
{
    return c->step == STK_NONE ? m->run->ranks[rank]->step_count == 0
                               : !m->run->steps[m->step_base[rank] + c->step].excluded;
}

static int64_t typical_wait_ns(const struct matching *m, uint32_t members)
{
    memcpy(m->scratch, m->waits, members * sizeof *m->scratch);
    return stk_nth_value(m->scratch, members, members / 2);
}

// Adds how much later than the typical member each one came. The share `counted` of the waiting
// counts.
static void add_lateness(struct matching *m, const struct member *e, uint32_t members, uint32_t k,
                         int64_t typical_ns, double counted)
{
    for (uint32_t i = 0; i < members; i++) {
        const struct stk_collective *c = collective_at(m, &e[i], k);
        struct stk_lateness *l = &m->late.ranks[e[i].rank];
        int64_t late_ns = (int64_t)((double)(typical_ns - m->waits[i]) * counted);
        if (late_ns <= 0 || !is_used(m, e[i].rank, c)) {
            continue;
        }
        l->late_ns = stk_add_ns(l->late_ns, late_ns);
        if (c->step == STK_NONE) {
            l->worst_ns = late_ns > l->worst_ns ? late_ns : l->worst_ns;
            continue;
        }
        int64_t *in_step = &m->step_late_ns[m->step_base[e[i].rank] + c->step];
        *in_step = stk_add_ns(*in_step, late_ns);
        l->worst_ns = *in_step > l->worst_ns ? *in_step : l->worst_ns;
    }
}

// Ranks leave a collective together if each needs all others' data.
static bool ends_together(enum stk_collective_kind kind)
{
    return kind != STK_COLLECTIVE_BROADCAST && kind != STK_COLLECTIVE_REDUCE &&
           kind != STK_COLLECTIVE_SEND_RECV && kind != STK_COLLECTIVE_PERMUTE &&
           kind != STK_COLLECTIVE_GATHER && kind != STK_COLLECTIVE_SCATTER;
}

static void see_clocks(struct matching *m, const struct member *e, uint32_t members, uint32_t k)
{
    const struct stk_collective *c = collective_at(m, e, k);
    const struct stk_collective_class *class = stk_collective_class_of(m->run->ranks[e->rank], c);
    int64_t first = INT64_MAX, last = INT64_MIN, spread_ns;
    for (uint32_t i = 0; i < members; i++) {
        first = min64(first, m->ends[i]);
        last = m->ends[i] > last ? m->ends[i] : last;
    }
    double agree_ns = stk_threshold_value(e->series->device == STK_NONE ? STK_T_CLOCK_AGREE_HOST_NS
                                                                        : STK_T_CLOCK_AGREE_NS);
    m->agreeing +=
        !__builtin_sub_overflow(last, first, &spread_ns) && spread_ns <= (int64_t)agree_ns;
    if (members == m->run->rank_count && ends_together((enum stk_collective_kind) class->kind)) {
        stk_clocks_see(&m->clocks, m->ends, m->scratch);
    }
}

static struct stk_meeting meet(struct matching *m, const struct member *e, uint32_t members,
                               uint32_t k, uint32_t *last, uint32_t *briefest)
{
    const struct stk_collective *late = collective_at(m, e, k), *brief = late;
    *last = *briefest = 0;
    for (uint32_t i = 0; i < members; i++) {
        const struct stk_collective *c = collective_at(m, &e[i], k);
        m->ends[i] = stk_add_ns(c->start_ns, c->dur_ns);
        if (c->start_ns > late->start_ns) {
            late = c;
            *last = i;
        }
        if (c->dur_ns < brief->dur_ns) {
            brief = c;
            *briefest = i;
        }
    }
    return (struct stk_meeting){
        .shortest_ns = brief->dur_ns, .last_rank = e[*last].rank, .brief_rank = e[*briefest].rank};
}

static void add_ns(int64_t *sum, int64_t ns)
{
    *sum = stk_add_ns(*sum, ns);
}

static void match_one(struct matching *m, const struct member *e, uint32_t members, uint32_t k,
                      struct stk_meeting *out)
{
    uint32_t last, briefest;
    int64_t counted_ns = 0, all_ns = 0;
    bool used = false;
    *out = meet(m, e, members, k, &last, &briefest);
    for (uint32_t i = 0; i < members; i++) {
        const struct stk_collective *c = collective_at(m, &e[i], k);
        m->waits[i] = c->dur_ns - out->shortest_ns;
        int64_t moved_ns = move_wait(m, &e[i], c, m->waits[i]);
        // On the host, collectives run in parallel, and overlap with the model: the exposed part
        // counts.
        add_ns(&counted_ns, e[i].series->device == STK_NONE ? moved_ns : m->waits[i]);
        add_ns(&all_ns, m->waits[i]);
        used |= is_used(m, e[i].rank, c);
    }
    int64_t typical_ns = typical_wait_ns(m, members);
    out->typical_ns = out->shortest_ns + typical_ns;
    add_ns(&m->wait_ns, counted_ns);
    m->last[out->last_rank]++;
    m->matched++;
    if (used && all_ns > 0) {
        add_ns(&m->late.held_ns, counted_ns);
        add_ns(&m->late.ranks[out->last_rank].held_ns, counted_ns);
        add_ns(&m->held_by_duration.ranks[out->brief_rank].held_ns, counted_ns);
        add_lateness(m, e, members, k, typical_ns, (double)counted_ns / (double)all_ns);
    }
    see_clocks(m, e, members, k);
}

static bool match_series(struct matching *m, const struct member *e, size_t n)
{
    uint32_t count = e->series->count;
    struct stk_meeting *meetings = stk_arena_array(m->arena, (size_t)count + 1, sizeof *meetings);
    if (!meetings) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        e[i].series->meetings = meetings;
    }
    for (uint32_t k = 0; k < count; k++) {
        match_one(m, e, (uint32_t)n, k, &meetings[k]);
    }
    return true;
}

static int64_t longest_span_ns(const struct stk_run_sum *run)
{
    int64_t longest = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (run->devices[d].span_ns > longest) {
            longest = run->devices[d].span_ns;
        }
    }
    int64_t steps_ns = 0; // of a rank without a device: a rank's rows are adjacent
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

// Who is late and how much the others wait for it. False: no memory.
static bool judge(struct matching *m)
{
    struct stk_run_sum *run = m->run;
    struct stk_straggler *g = &run->straggler;
    int64_t span_ns = longest_span_ns(run);
    g->matched = m->matched;
    g->wait_ns = m->wait_ns;
    g->clocks_agree = m->matched > 0 && 2 * m->agreeing > m->matched;
    if (m->matched == 0 || m->wait_ns <= 0 || span_ns <= 0) {
        return true;
    }
    for (uint32_t r = 0; r < run->rank_count && !g->clocks_agree; r++) {
        m->late.ranks[r].held_ns = m->held_by_duration.ranks[r].held_ns;
    }
    if (!stk_culprit_find(run, &m->late, m->arena)) {
        return false;
    }
    for (uint32_t i = 0; i < g->late_count; i++) {
        g->last_count += m->last[g->late_ranks[i]];
    }
    double chance = (double)g->late_count / run->rank_count;
    g->wait_share = (double)m->wait_ns / (run->rank_count - g->late_count) / (double)span_ns;
    g->fired = m->matched >= stk_threshold_value(STK_T_STRAGGLER_MATCHED) &&
               g->wait_share >= stk_threshold_value(STK_T_STRAGGLER_WAIT) &&
               g->held_share >= stk_threshold_value(STK_T_STRAGGLER_HELD) &&
               g->held_share >= stk_threshold_value(STK_T_STRAGGLER_ABOVE) + chance &&
               (run->steps_used < STEPS_RECUR ||
                g->recurring_share >= stk_threshold_value(STK_T_STRAGGLER_RECURS));
    return true;
}

static bool match_all(struct matching *m)
{
    for (size_t i = 0, j; i < m->member_count; i = j) {
        const struct member *e = m->members + i;
        size_t collectives = 0;
        for (j = i; j < m->member_count && m->members[j].name_hash == e->name_hash &&
                    m->members[j].group_hash == e->group_hash;
             j++) {
            collectives += m->members[j].series->count;
        }
        if (e->group_hash != 0 && j - i < 2) {
            continue; // the group's other ranks were not read
        }
        if (!counts_equal(m, e, j - i)) {
            m->run->rank_events_unequal += collectives;
        } else if (!match_series(m, e, j - i)) {
            return false;
        }
    }
    m->run->clock_ns = stk_clocks_end(&m->clocks, m->arena);
    return m->run->clock_ns && judge(m);
}

enum stoker_status stk_collectives_match(struct stk_run_sum *run, const uint32_t *device_base,
                                         const uint32_t *step_base, struct stk_arena *arena,
                                         struct stoker_err *err)
{
    STK_ASSERT(run->rank_count == 0 || (device_base && step_base));
    if (run->rank_count < 2) {
        return STOKER_OK;
    }
    struct matching m = {
        .run = run, .device_base = device_base, .step_base = step_base, .arena = arena};
    bool ok = make_room(&m);
    if (ok) {
        gather(&m);
        ok = match_all(&m);
    }
    free_room(&m);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
