// SPDX-License-Identifier: Apache-2.0
// Prices (price.h).
#include "replay/price.h"

#include <string.h>

#include "base/alloc.h"
#include "replay/critical.h"

// What a prediction is off by where nothing else is known: the time of steps varies from run to
// run, and of what a fix takes away a part comes back elsewhere.
#define STEP_DOUBT 0.01
#define GAIN_DOUBT 0.10

static void worse(double *a, double b)
{
    *a = b > *a ? b : *a;
}

// The gate of a run is that of its worst rank.
static void add_gate(struct stk_gate *all, const struct stk_gate *one, uint32_t count)
{
    if (count == 0) {
        *all = *one;
        return;
    }
    all->has_figures &= one->has_figures;
    worse(&all->replay_error, one->replay_error);
    worse(&all->worst_error, one->worst_error);
    worse(&all->unexplained, one->unexplained);
    worse(&all->start_error, one->start_error);
    worse(&all->inferred, one->inferred);
    worse(&all->unlinked, one->unlinked);
    worse(&all->spread, one->spread);
    all->measured_ns += one->measured_ns;
    all->replayed_ns += one->replayed_ns;
    if (all->ok && !one->ok) {
        memcpy(all->why, one->why, sizeof all->why);
        all->why_count = one->why_count;
        all->ok = false;
    }
}

bool stk_pricing_init(struct stk_pricing *p, const struct stk_run_sum *run, struct stk_arena *arena)
{
    const struct stk_graph **graphs =
        stk_arena_array(arena, (size_t)run->rank_count + 1, sizeof *graphs);
    *p = (struct stk_pricing){.graphs = graphs};
    for (uint32_t i = 0; graphs && i < run->rank_count; i++) {
        struct stk_gate gate;
        if (!run->ranks[i]->partial) {
            continue;
        }
        graphs[p->count] = run->ranks[i]->partial;
        if (!stk_gate_check(graphs[p->count], &gate)) {
            return false;
        }
        add_gate(&p->gate, &gate, p->count);
        p->count++;
    }
    if (p->count == 0) {
        p->gate.why[p->gate.why_count++] = "the profile holds nothing to replay";
    }
    return graphs != NULL;
}

const char *stk_price_refuse(const struct stk_pricing *p, const struct stk_fix *fix)
{
    const char *why = "the profile holds nothing to replay";
    for (uint32_t i = 0; i < p->count; i++) {
        why = fix->refuse(p->graphs[i]);
        if (!why) {
            return NULL;
        }
    }
    return why;
}

// Mean step of one rank with the fixes at one level; negative: a circle. False: no memory.
static bool replay_with(const struct stk_graph *g, const struct stk_fix_set *set, size_t count,
                        enum stk_level_of_fix level, int64_t *critical, double *mean_ns)
{
    struct stk_scene s;
    struct stk_times t;
    if (!stk_scene_init(&s, g)) {
        return false;
    }
    int64_t *borders = stk_alloc_array((size_t)g->step_count + 1, sizeof *borders);
    bool ok = borders && stk_times_init(&t, g);
    if (ok) {
        for (size_t k = 0; k < count; k++) {
            if (!set[k].fix->refuse(g)) {
                const struct stk_fix_how how = {level, set[k].value, set[k].text};
                set[k].fix->apply(&s, &how);
            }
        }
        *mean_ns = -1;
        if (stk_replay_run(&s, &t)) {
            stk_replay_steps(g, s.nodes, &t, borders);
            *mean_ns = stk_replay_mean(g, borders);
            stk_critical_sum(&s, &t, critical);
        }
        stk_times_deinit(&t);
    }
    stk_free(borders);
    stk_scene_deinit(&s);
    return ok;
}

static const char *largest(const int64_t ns[STK_CRITICAL_COUNT])
{
    int best = 0;
    for (int i = 1; i < STK_CRITICAL_COUNT; i++) {
        best = ns[i] > ns[best] ? i : best;
    }
    return stk_critical_key((enum stk_critical)best);
}

static double bounded(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

bool stk_price_set(const struct stk_pricing *p, const struct stk_fix_set *set, size_t count,
                   struct stk_price *out)
{
    double share[STK_FIX_LEVELS];
    int64_t critical[STK_CRITICAL_COUNT];
    for (int level = 0; level < STK_FIX_LEVELS; level++) {
        double sum = 0;
        memset(critical, 0, sizeof critical);
        for (uint32_t i = 0; i < p->count; i++) {
            double mean;
            if (!replay_with(p->graphs[i], set, count, (enum stk_level_of_fix)level, critical,
                             &mean)) {
                return false;
            }
            sum += mean >= 0 ? mean : p->gate.replayed_ns / p->count;
        }
        share[level] = p->gate.replayed_ns > 0 ? bounded(sum / p->gate.replayed_ns, 0, 1) : 1;
        if (level == STK_FIX_EXPECTED) {
            out->next_bottleneck = largest(critical);
        }
    }
    double expected = share[STK_FIX_EXPECTED];
    double doubt = STEP_DOUBT + GAIN_DOUBT * (1 - expected) + p->gate.unexplained * (1 - expected);
    out->expected = expected;
    out->low = bounded(share[STK_FIX_LOW] - doubt, 0, expected);
    out->high = bounded(share[STK_FIX_HIGH] + doubt, expected, 1 + STEP_DOUBT);
    return true;
}
