// SPDX-License-Identifier: Apache-2.0
// The ranks that the others wait for (culprit.h). A rank that is slow anywhere between two
// collectives (input, forward, backward, a pause) has the same step time as all others, since they
// wait for it. Only its arrival at the collectives shows it.
//
// Method: ranks in the order of their lateness. Culprits are those above the widest relative gap,
// if it is wide enough: one, or of eight ranks and more at most half. The median rank's lateness is
// subtracted first: with noise alone, every rank is late at times. Limits: ranks that are late by
// less than a STRAGGLER_GAP of the latest other rank are not found next to it; a set of more than
// half of the ranks is not found: it becomes the median.
#include "profile/model/collectives/culprit.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "base/vec.h"
#include "profile/model/intervals.h"
#include "profile/model/thresholds.h"

#define RANKS_FOR_SEVERAL 8 // of fewer ranks, only one can be the culprit

struct place {
    int64_t late_ns, held_ns;
    uint32_t rank;
};

STK_ORDER(by_lateness, struct place, STK_DOWN(late_ns) STK_UP(rank))

// How many of the first ranks are clearly later than the rest; 0: none are. The spread of the ranks
// below the median is noise.
static uint32_t count_apart(const struct place *p, uint32_t n)
{
    int64_t bulk_ns = p[n / 2].late_ns, noise_ns = bulk_ns - p[n - 1].late_ns;
    double widest = stk_threshold_value(STK_T_STRAGGLER_GAP);
    uint32_t apart = 0;
    uint32_t most = n < RANKS_FOR_SEVERAL ? 1 : n / 2;
    for (uint32_t k = 1; k <= most && p[k - 1].late_ns > bulk_ns; k++) {
        int64_t below_ns = p[k].late_ns - bulk_ns;
        below_ns = below_ns > noise_ns ? below_ns : noise_ns;
        double gap = (double)(p[k - 1].late_ns - bulk_ns) / (below_ns > 0 ? (double)below_ns : 1);
        if (gap >= widest) {
            widest = gap;
            apart = k;
        }
    }
    return apart;
}

static uint32_t holder_of_most(const struct place *p, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < n; i++) {
        bool is_first = p[i].held_ns == p[most].held_ns && p[i].rank < p[most].rank;
        most = p[i].held_ns > p[most].held_ns || is_first ? i : most;
    }
    return most;
}

// How late a rank was in a used step: at its first collective, and at worst.
struct step_lag {
    uint32_t step, count;
    int64_t first_ns, most_ns;
};

static void add_step(struct stk_straggler *g, const struct step_lag *s, int64_t *first_ns,
                     int64_t *most_ns, uint32_t *with_more)
{
    if (s->count > 0) {
        g->late_steps++;
        g->late_ns = stk_add_ns(g->late_ns, s->most_ns);
    }
    if (s->count > 1) {
        (*with_more)++;
        *first_ns = stk_add_ns(*first_ns, s->first_ns);
        *most_ns = stk_add_ns(*most_ns, s->most_ns);
    }
}

// Where in its steps the latest rank becomes late. Its collectives are in time order.
static void find_place(struct stk_straggler *g, const struct stk_rank_sum *rank)
{
    bool on_host = rank->collective_count == 0;
    const struct stk_collective *list = on_host ? rank->host_collectives : rank->collectives;
    uint32_t n = on_host ? rank->host_collective_count : rank->collective_count, with_more = 0;
    struct step_lag s = {.step = STK_NONE};
    int64_t first_ns = 0, most_ns = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct stk_meeting *m = stk_meeting_of(rank, &list[i]);
        if (!m || list[i].step == STK_NONE || rank->steps[list[i].step].excluded) {
            continue;
        }
        int64_t late_ns = m->typical_ns > list[i].dur_ns ? m->typical_ns - list[i].dur_ns : 0;
        if (list[i].step != s.step) {
            add_step(g, &s, &first_ns, &most_ns, &with_more);
            s = (struct step_lag){.step = list[i].step, .first_ns = late_ns};
        }
        s.count++;
        s.most_ns = late_ns > s.most_ns ? late_ns : s.most_ns;
    }
    add_step(g, &s, &first_ns, &most_ns, &with_more);
    g->late_first =
        2 * with_more > g->late_steps && most_ns > 0 ? (double)first_ns / (double)most_ns : -1;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void describe(struct stk_straggler *g, const struct stk_latenesses *l)
{
    int64_t held_ns = 0;
    g->recurring_share = 1;
    for (uint32_t i = 0; i < g->late_count; i++) {
        const struct stk_lateness *r = &l->ranks[g->late_ranks[i]];
        held_ns = stk_add_ns(held_ns, r->held_ns);
        double recurring = share(r->late_ns - r->worst_ns, r->late_ns);
        g->recurring_share = recurring < g->recurring_share ? recurring : g->recurring_share;
    }
    g->held_share = share(held_ns, l->held_ns);
}

static int32_t number_of(const struct stk_run_sum *run, uint32_t index)
{
    int32_t rank = run->ranks[index]->rank;
    return rank >= 0 ? rank : (int32_t)index;
}

bool stk_culprit_find(struct stk_run_sum *run, const struct stk_latenesses *l,
                      struct stk_arena *arena)
{
    uint32_t n = run->rank_count;
    STK_ASSERT(n >= 2);
    struct stk_straggler *g = &run->straggler;
    struct place *p = stk_alloc_array(n, sizeof *p);
    uint32_t *late = stk_arena_array(arena, n, sizeof *late);
    if (!p || !late) {
        stk_free(p);
        return false;
    }
    for (uint32_t r = 0; r < n; r++) {
        p[r] = (struct place){l->ranks[r].late_ns, l->ranks[r].held_ns, r};
    }
    stk_sort(p, n, sizeof *p, by_lateness);
    uint32_t apart = count_apart(p, n), most = holder_of_most(p, n);
    g->late_count = apart ? apart : 1;
    for (uint32_t i = 0; i < g->late_count; i++) {
        late[i] = p[apart ? i : most].rank;
    }
    g->late_ranks = late;
    stk_free(p);
    const struct stk_rank_sum *first = run->ranks[late[0]];
    g->rank = number_of(run, late[0]);
    describe(g, l);
    find_place(g, first);
    return true;
}

bool stk_culprit_is(const struct stk_run_sum *run, int32_t rank)
{
    const struct stk_straggler *g = &run->straggler;
    for (uint32_t i = 0; i < g->late_count; i++) {
        if (number_of(run, g->late_ranks[i]) == rank) {
            return true;
        }
    }
    return g->late_count == 0 && g->rank == rank;
}

const char *stk_culprit_host(const struct stk_run_sum *run)
{
    const struct stk_straggler *g = &run->straggler;
    const char *host = g->late_count > 1 ? run->ranks[g->late_ranks[0]]->host : "";
    uint32_t there = 0, late = 0;
    if (!host || !*host) {
        return NULL;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        bool is_there = run->ranks[r]->host && strcmp(run->ranks[r]->host, host) == 0;
        there += is_there;
        late += is_there && stk_culprit_is(run, number_of(run, r));
    }
    return late == g->late_count && late == there && there < run->rank_count ? host : NULL;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

#define RUNS_SHOWN 4 // runs of consecutive ranks

// "16 to 23", "3 and 9", "1, 4, 6, 8 and 12 more", of n > 0 numbers in order.
static const char *list_text(const int32_t *v, uint32_t n, struct stk_arena *arena)
{
    const char *text = "";
    uint32_t i = 0, end;
    for (uint32_t shown = 0; i < n && shown < RUNS_SHOWN && text; shown++, i = end) {
        for (end = i + 1; end < n && (int64_t)v[end] == (int64_t)v[end - 1] + 1; end++) {
        }
        end = end - i == 2 ? i + 1 : end;
        const char *joint = shown == 0 ? "" : end == n ? " and " : ", ";
        text = end - i > 1 ? stk_arena_printf(arena, "%s%s%d to %d", text, joint, (int)v[i],
                                              (int)v[end - 1])
                           : stk_arena_printf(arena, "%s%s%d", text, joint, (int)v[i]);
    }
    return i < n && text ? stk_arena_printf(arena, "%s and %u more", text, n - i) : text;
}

// The numbers of the late ranks, in order. NULL: no memory.
static int32_t *late_numbers(const struct stk_run_sum *run, struct stk_arena *arena)
{
    const struct stk_straggler *g = &run->straggler;
    int32_t *numbers = stk_arena_array(arena, (size_t)g->late_count + 1, sizeof *numbers);
    for (uint32_t i = 0; i < g->late_count && numbers; i++) {
        numbers[i] = number_of(run, g->late_ranks[i]);
    }
    if (numbers) {
        stk_sort(numbers, g->late_count, sizeof *numbers, by_number);
    }
    return numbers;
}

const char *stk_culprit_text(const struct stk_run_sum *run, struct stk_arena *arena)
{
    const struct stk_straggler *g = &run->straggler;
    if (g->late_count < 2) {
        return stk_arena_printf(arena, "rank %d", (int)g->rank);
    }
    const int32_t *numbers = late_numbers(run, arena);
    const char *host = stk_culprit_host(run);
    const char *list = numbers ? list_text(numbers, g->late_count, arena) : NULL;
    return !list  ? NULL
           : host ? stk_arena_printf(arena, "host %s (ranks %s)", host, list)
                  : stk_arena_printf(arena, "ranks %s", list);
}

const char *stk_culprit_ranks(const struct stk_run_sum *run, struct stk_arena *arena)
{
    const int32_t *numbers = late_numbers(run, arena);
    struct stk_vec text;
    stk_vec_init(&text, 1, (size_t)16 * UINT32_MAX);
    for (uint32_t i = 0; i < run->straggler.late_count && numbers; i++) {
        char one[16];
        int n = snprintf(one, sizeof one, "%s%d", i ? "," : "", (int)numbers[i]);
        char *at = stk_vec_push_n(&text, (size_t)n);
        if (!at) {
            break;
        }
        memcpy(at, one, (size_t)n);
    }
    const char *kept = stk_arena_strndup(arena, text.items ? text.items : "", text.count);
    stk_vec_deinit(&text);
    return kept;
}
