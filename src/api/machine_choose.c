// SPDX-License-Identifier: Apache-2.0
// Picks the machine recording that belongs to a run, and its time range: of several (hosts, runs)
// the one that overlaps the profile's ranks longest; figures are from that overlap. If none
// overlaps, or there is no profile, the whole of the longest recording. The others are counted.
#include "api/api.h"
#include "profile/model/intervals.h"

// Time of day of all ranks' events. False: no events.
static bool extent_of(const struct stk_run_sum *run, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        int64_t from = stk_add_ns(rank->base_ns, rank->facts.first_ns);
        int64_t to = stk_add_ns(rank->base_ns, rank->facts.last_ns);
        *from_ns = from < *from_ns ? from : *from_ns;
        *to_ns = to > *to_ns ? to : *to_ns;
    }
    return *from_ns < *to_ns;
}

static int64_t overlap(const struct stk_machine *m, int64_t from_ns, int64_t to_ns)
{
    int64_t from = m->first_ns > from_ns ? m->first_ns : from_ns;
    int64_t to = m->last_ns < to_ns ? m->last_ns : to_ns;
    return to > from ? to - from : 0;
}

enum stoker_status stk_machine_choose(const struct stk_job *jobs, size_t count,
                                      struct stk_run_sum *run, struct stk_arena *arena,
                                      struct stoker_err *err)
{
    const struct stk_machine *best = NULL;
    int64_t from_ns, to_ns, most_overlap = -1, longest = -1;
    uint32_t records = 0;
    if (!extent_of(run, &from_ns, &to_ns)) {
        from_ns = to_ns = 0;
    }
    for (size_t i = 0; i < count; i++) {
        const struct stk_machine *m = jobs[i].machine;
        if (!m) {
            continue;
        }
        int64_t shared = overlap(m, from_ns, to_ns), whole = m->last_ns - m->first_ns;
        if (shared > most_overlap || (shared == most_overlap && whole > longest)) {
            best = m;
            most_overlap = shared;
            longest = whole;
        }
        records++;
    }
    if (!best) {
        return STOKER_OK;
    }
    struct stk_machine_view *view = stk_machine_look(best, from_ns, to_ns, arena);
    if (!view) {
        return stk_err_nomem(err);
    }
    view->left_out = records - 1;
    run->machine = view;
    return STOKER_OK;
}
