// SPDX-License-Identifier: Apache-2.0
// Prices (price.h).
#include "answers/replay/price.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "answers/replay/price_replay.h"

// The error of a prediction if nothing else is known: step times vary from run to run, and part of
// what a fix removes comes back elsewhere.
#define STEP_DOUBT 0.01
#define GAIN_DOUBT 0.10
// If the graph has the device's work, the remaining time is measured. The error is smaller if only
// a rate or size of that work is assumed. Chosen on the seen jobs of lab/sim: with all of
// GAIN_DOUBT more than nine in ten were inside.
#define GAIN_DOUBT_DEVICE 0.08
#define GAIN_DOUBT_SUPPOSED 0.04
#define LEAST_LEFT 0.5    // of the replay's remaining step at best: doubt doesn't remove work
#define MEAN_DOUBT 1.28   // deviations of the mean that cover four fifths of such means
#define MOST_SLOWER 1e6   // of a step, for effects that may slow it
#define MUCH_FASTER 0.6   // of the step: workers that kept up may no longer do so
#define USUAL_PACE_NS 1e6 // of their time, at best: queues pass on a thousand batches a second
#define KEPT_UP 0.9       // of the step: a worker pace that isn't known is faster than that

static void worse(double *a, double b)
{
    *a = b > *a ? b : *a;
}

// A run's gate is its worst rank's.
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
    worse(&all->contended, one->contended);
    worse(&all->start_error, one->start_error);
    worse(&all->inferred, one->inferred);
    worse(&all->unlinked, one->unlinked);
    worse(&all->spread, one->spread);
    worse(&all->mean_error, one->mean_error);
    all->has_transplant &= one->has_transplant;
    worse(&all->transplant_error, one->transplant_error);
    worse(&all->slowest_ns, one->slowest_ns);
    all->measured_ns += one->measured_ns;
    all->replayed_ns += one->replayed_ns;
    if (all->ok && !one->ok) {
        memcpy(all->why, one->why, sizeof all->why);
        all->why_count = one->why_count;
        all->ok = false;
    }
}

static double bounded(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double pace_of(double *means, uint32_t count, bool is_even)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++) {
        most = means[i] > most ? means[i] : most;
    }
    return is_even ? stk_gate_median(means, count) : most;
}

static void lessen(struct stk_taken_step *s, const struct stk_taken_step *all,
                   const struct stk_taken_step *bare, double share)
{
    bool is_circle = s->mean_ns < 0 || all->mean_ns < 0 || bare->mean_ns < 0;
    s->inner_ns += is_circle ? 0 : share * (bare->inner_ns - all->inner_ns);
    s->mean_ns = is_circle ? -1 : s->mean_ns + share * (bare->mean_ns - all->mean_ns);
}

// One rank, with its peers on time: interpolates between its steps with all of its collectives and
// with none, by the share of them that is waiting. Their contribution is that of the expected
// level, if requested. False: no memory.
static bool replay_rank(const struct stk_pricing *p, uint32_t i, const struct stk_ask *ask,
                        struct stk_outcome out[STK_PRICE_LEVELS])
{
    struct stk_ask bare = *ask;
    struct stk_outcome none[STK_PRICE_LEVELS];
    bool is_usual = ask->at[STK_PRICE_EXPECTED];
    bool ok = stk_price_replay(p->rooms, p->graphs[i], ask, out);
    if (!ok || p->wait_share[i] <= 0) {
        return ok;
    }
    bare.is_bare = true;
    bare.at[STK_PRICE_LOW] &= !is_usual;
    bare.at[STK_PRICE_HIGH] &= !is_usual;
    ok = stk_price_replay(p->rooms, p->graphs[i], &bare, none);
    const struct stk_taken_step usual = out[STK_PRICE_EXPECTED].step;
    for (int k = 0; ok && k < STK_PRICE_LEVELS; k++) {
        const struct stk_taken_step own = out[k].step;
        lessen(&out[k].step, is_usual ? &usual : &own,
               is_usual ? &none[STK_PRICE_EXPECTED].step : &none[k].step, p->wait_share[i]);
    }
    return ok;
}

// Ranks run in lockstep: the slowest sets the pace, or the median one if a fix makes all equally
// fast. The step's critical path is the first rank's.
static bool replay_ranks(const struct stk_pricing *p, const struct stk_ask *ask,
                         struct stk_outcome first[STK_PRICE_LEVELS])
{
    size_t n = p->count;
    double *means = stk_alloc_array(2 * n * STK_PRICE_LEVELS + 1, sizeof *means);
    bool ok = means != NULL;
    for (uint32_t i = 0; ok && i < p->count; i++) {
        struct stk_outcome o[STK_PRICE_LEVELS];
        ok = replay_rank(p, i, ask, o);
        for (size_t k = 0; ok && k < STK_PRICE_LEVELS; k++) {
            const struct stk_taken_step *s = &o[k].step;
            if (ask->at[k]) {
                means[2 * k * n + i] = s->mean_ns < 0 ? p->base_ns : s->mean_ns;
                means[(2 * k + 1) * n + i] = s->mean_ns < 0 ? p->base_inner_ns : s->inner_ns;
                first[k] = i ? first[k] : o[k];
            }
        }
    }
    for (size_t k = 0; ok && k < STK_PRICE_LEVELS; k++) {
        if (ask->at[k]) {
            struct stk_taken_step *s = &first[k].step;
            s->mean_ns = pace_of(means + 2 * k * n, p->count, s->is_even);
            s->inner_ns = pace_of(means + (2 * k + 1) * n, p->count, s->is_even);
        }
    }
    stk_free(means);
    return ok;
}

static void share_path(const int64_t ns[STK_CRITICAL_COUNT], double share[STK_CRITICAL_COUNT])
{
    double all = 0;
    for (int i = 0; i < STK_CRITICAL_COUNT; i++) {
        all += (double)ns[i];
    }
    for (int i = 0; i < STK_CRITICAL_COUNT; i++) {
        share[i] = all > 0 ? (double)ns[i] / all : 0;
    }
}

// The current step without the profiler, and its share of the recorded one.
static bool find_base(struct stk_pricing *p)
{
    struct stk_outcome with[STK_PRICE_LEVELS], without[STK_PRICE_LEVELS];
    struct stk_ask recorded = {.which = STK_ASK_RECORDED, .at = {[STK_PRICE_EXPECTED] = true}};
    struct stk_ask before = {
        .which = STK_ASK_BEFORE, .at = {[STK_PRICE_EXPECTED] = true}, .wants_path = p->exposes};
    if (!replay_ranks(p, &recorded, with) || !replay_ranks(p, &before, without)) {
        return false;
    }
    struct stk_outcome profiled = with[STK_PRICE_EXPECTED], o = without[STK_PRICE_EXPECTED];
    p->base_ns = o.step.mean_ns;
    p->base_inner_ns = o.step.inner_ns;
    share_path(o.critical, p->base_path);
    share_path(o.exposed, p->base_exposed);
    double with_ns = profiled.step.mean_ns;
    p->gate.profiler = with_ns > p->base_ns ? 1 - p->base_ns / with_ns : 0;
    double most = p->graphs[0]->is_by_torch ? STK_PROFILER_MOST_TORCH : STK_PROFILER_MOST;
    p->gate.profiler_most = bounded(most * p->gate.profiler, 0, STK_PROFILER_SHARE_MOST);
    return true;
}

static bool has_device(const struct stk_pricing *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->count; i++) {
        any |= p->graphs[i]->has_device;
    }
    return any;
}

// The remaining part of the step, by both measures. If steps wait for batches, the larger counts.
// Without a device, the mean includes one-off events and the median excludes rare ones: the middle
// is expected, and the two are the ends.
static double share_of(const struct stk_pricing *p, const struct stk_taken_step *base,
                       const struct stk_taken_step *o, enum stk_price_level level, double floor,
                       double most)
{
    double all = base->mean_ns > 0 ? o->mean_ns / base->mean_ns : 1;
    double second = base->inner_ns > 0 ? o->inner_ns / base->inner_ns : 1;
    double less = all < second ? all : second, more = all < second ? second : all;
    double share = has_device(p) || level == STK_PRICE_HIGH ? more
                   : level == STK_PRICE_EXPECTED            ? (less + more) / 2
                                                            : less;
    return bounded(share, floor, most);
}

// The model's work on threads without a lane (XLA's, TensorFlow's executor's) isn't in any node,
// and runs in parallel with the loop. Without its fetches, the loop waits for that work.
static double model_share_of(const struct stk_pricing *p, const struct stk_run_sum *run)
{
    bool is_in_lanes = has_device(p) || p->graphs[0]->is_by_torch || run->wall_ns <= 0;
    double share = is_in_lanes ? 0 : (double)run->parts[STK_PART_COMPUTE] / (double)run->wall_ns;
    return bounded(share, 0, 1);
}

static int compare_starts(const void *x, const void *y)
{
    const struct stk_collective *a = *(const struct stk_collective *const *)x,
                                *b = *(const struct stk_collective *const *)y;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static const struct stk_collective *find_collective(const struct stk_collective *const *sorted,
                                                    uint32_t count, int64_t start_ns)
{
    uint32_t low = 0, high = count;
    STK_BISECT(low, high, mid, sorted[mid]->start_ns < start_ns);
    return low < count && sorted[low]->start_ns == start_ns ? sorted[low] : NULL;
}

// Sets how long each collective of a rank waited for the last of its peers.
static bool add_waits(struct stk_graph *g, const struct stk_rank_sum *rank)
{
    const struct stk_collective **sorted =
        stk_alloc_array((size_t)rank->collective_count + 1, sizeof *sorted);
    if (!sorted) {
        return false;
    }
    for (uint32_t i = 0; i < rank->collective_count; i++) {
        sorted[i] = &rank->collectives[i];
    }
    stk_sort(sorted, rank->collective_count, sizeof *sorted, compare_starts);
    for (uint32_t i = 0; i < g->node_count; i++) {
        struct stk_node *n = &g->nodes[i];
        const struct stk_collective *c =
            n->kind == STK_NODE_COLLECTIVE
                ? find_collective(sorted, rank->collective_count, n->start_ns + g->base_ns)
                : NULL;
        if (c && stk_meeting_of(rank, c)) {
            n->size = (uint32_t)(stk_collective_wait_ns(rank, c) / STK_US);
            g->has_peers = true;
        }
    }
    stk_free(sorted);
    return true;
}

// Remarks about an open gate no longer matter once it is closed.
static void close_gate(struct stk_gate *g, const char *why)
{
    g->why_count = g->ok ? 0 : g->why_count;
    g->ok = false;
    if (g->why_count < (int)(sizeof g->why / sizeof g->why[0])) {
        g->why[g->why_count++] = why;
    }
}

// Prices are shares of the reported step, so the graph's steps must be the same ones. They aren't
// if the host's clock, or its marks, don't match the device's.
static void check_steps(struct stk_gate *g, uint32_t ranks, double reported_ns)
{
    double ratio = reported_ns > 0 ? g->measured_ns / ranks / reported_ns : 1;
    if (g->has_figures && (ratio > STK_STEP_APART || ratio < 1 / STK_STEP_APART)) {
        close_gate(g, "the replayed steps aren't as long as the reported ones");
    }
}

// The share of a rank's collectives that is waiting for others, in used steps.
static double wait_share_of(struct stk_graph *g, const struct stk_rank_sum *rank)
{
    int64_t wait_ns = 0, all_ns = 0;
    for (uint32_t i = 0; i < rank->collective_count; i++) {
        const struct stk_collective *c = &rank->collectives[i];
        bool is_used = c->step != STK_NONE && !rank->steps[c->step].excluded;
        g->has_peers |= stk_meeting_of(rank, c) != NULL;
        wait_ns = stk_add_ns(wait_ns, is_used ? stk_collective_wait_ns(rank, c) : 0);
        all_ns = stk_add_ns(all_ns, is_used ? c->dur_ns : 0);
    }
    return all_ns > 0 ? (double)wait_ns / (double)all_ns : 0;
}

// The graphs of the ranks, and the worst of their gates. False: no memory.
static bool take_graphs(struct stk_pricing *p, const struct stk_run_sum *run,
                        struct stk_graph **graphs, double *wait_share)
{
    for (uint32_t i = 0; i < run->rank_count; i++) {
        struct stk_gate gate;
        struct stk_graph *g = run->ranks[i]->partial;
        if (!g) {
            continue;
        }
        graphs[p->count] = g;
        wait_share[p->count] = p->exposes ? 0 : wait_share_of(g, run->ranks[i]);
        p->leaves_steps |= g->leaves_first || g->counts_rounds;
        gate = g->taken ? g->taken->gate : (struct stk_gate){.ok = false};
        if ((!g->taken && !stk_gate_check(g, &gate)) ||
            (p->exposes && !add_waits(g, run->ranks[i]))) {
            return false;
        }
        add_gate(&p->gate, &gate, p->count);
        p->count++;
    }
    return true;
}

bool stk_pricing_init(struct stk_pricing *p, const struct stk_run_sum *run,
                      const struct stk_verdict *verdict, bool exposes, struct stk_arena *arena)
{
    struct stk_graph **graphs = stk_arena_array(arena, (size_t)run->rank_count + 1, sizeof *graphs);
    double *wait_share = stk_arena_array(arena, (size_t)run->rank_count + 1, sizeof *wait_share);
    *p = (struct stk_pricing){.graphs = (const struct stk_graph *const *)graphs,
                              .wait_share = wait_share,
                              .exposes = exposes};
    if (!graphs || !wait_share || !take_graphs(p, run, graphs, wait_share)) {
        return false;
    }
    if (p->count == 0) {
        p->gate.why[p->gate.why_count++] = "the profile has nothing to replay";
        return true;
    }
    p->model_share = model_share_of(p, run);
    check_steps(&p->gate, p->count, (double)run->step_mean_ns);
    if (verdict->kind == STK_VERDICT_CANNOT_TELL) {
        close_gate(&p->gate,
                   "the profile doesn't show where the time of its steps goes (stoker why)");
    }
    if (!p->gate.ok) {
        return true;
    }
    p->rooms = stk_rooms_new(p->graphs, p->count);
    if (!p->rooms || !find_base(p)) {
        stk_pricing_deinit(p);
        return false;
    }
    return true;
}

void stk_pricing_deinit(struct stk_pricing *p)
{
    stk_rooms_free(p->rooms);
    p->rooms = NULL;
}

struct stk_pricing_step stk_pricing_step(const struct stk_pricing *p, const struct stk_run_sum *run)
{
    const struct stk_gate *g = &p->gate;
    bool has_steps = run->step_mean_ns > 0, is_mean = has_steps && !p->leaves_steps;
    int64_t measured_ns = is_mean     ? run->step_mean_ns
                          : has_steps ? (int64_t)g->slowest_ns
                                      : (int64_t)g->measured_ns;
    STK_ASSERT(g->profiler >= 0 && g->profiler <= 1);
    return (struct stk_pricing_step){
        .measured_ns = measured_ns,
        .share = 1 - g->profiler,
        .low_share = 1 - g->profiler_most,
        .high_share = 1 - STK_PROFILER_LEAST * g->profiler,
    };
}

const char *stk_price_refuse(const struct stk_pricing *p, const struct stk_price_asked *set)
{
    const char *why = "the profile has nothing to replay";
    for (uint32_t i = 0; i < p->count; i++) {
        why = stk_price_refuse_in(p->graphs[i], set);
        if (!why) {
            return NULL;
        }
    }
    return why;
}

static const char *largest(const int64_t ns[STK_CRITICAL_COUNT])
{
    int best = 0;
    for (int i = 1; i < STK_CRITICAL_COUNT; i++) {
        best = ns[i] > ns[best] ? i : best;
    }
    return stk_critical_key((enum stk_critical)best);
}

// If hardly any fetch waited for workers, their pace isn't known, and may be the next limit.
static bool hides_pace(const struct stk_pricing *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct stk_graph *g = p->graphs[i];
        bool is_seen = g->waited_first != STK_NONE && g->waited_first != g->waited_last;
        if (g->has_workers && !is_seen && g->pace_ns <= 0) {
            return true;
        }
    }
    return false;
}

// The possible error of a remaining share of the step, either way.
static double doubt_of(const struct stk_pricing *p, const struct stk_price_asked *set, size_t count,
                       double expected)
{
    double change = fabs(1 - expected);
    double of_gain = !has_device(p)                      ? GAIN_DOUBT
                     : stk_price_is_supposed(set, count) ? GAIN_DOUBT_SUPPOSED
                                                         : GAIN_DOUBT_DEVICE;
    double doubt = STEP_DOUBT + (of_gain + p->gate.unexplained) * change;
    doubt += p->gate.has_transplant ? p->gate.transplant_error * change : 0;
    if (change > 0 && !has_device(p)) { // other work on the CPU cores isn't in any graph
        doubt += MEAN_DOUBT * p->gate.mean_error;
    }
    return doubt;
}

// Workers of unknown pace may limit a much faster step, or one with more to prepare, since their
// work for a batch grows with it. The step is then between the expected one and the slowest pace
// that would have kept up; the pessimistic end is their geometric mean.
static double bind_pace(const struct stk_pricing *p, double work, double expected, double *high)
{
    bool is_short = expected < MUCH_FASTER;
    double most = work > 1 ? work * KEPT_UP : is_short ? bounded(*high, KEPT_UP, 1) : *high;
    double usual = bounded(work * USUAL_PACE_NS / p->base_ns, 0, most);
    double bound = expected > usual ? expected : usual, middle = sqrt(bound * KEPT_UP);
    *high = is_short && *high < middle ? middle : *high;
    return bound;
}

// The step before the fixes, as slow as it may be for the optimistic end. False: no memory.
static bool find_before(const struct stk_pricing *p, const struct stk_price_asked *set,
                        size_t count, struct stk_outcome out[STK_PRICE_LEVELS])
{
    struct stk_ask ask = {.set = set,
                          .count = count,
                          .which = STK_ASK_BEFORE,
                          .at = {[STK_PRICE_LOW] = true, [STK_PRICE_HIGH] = true}};
    bool varies = false;
    for (size_t k = 0; k < count; k++) {
        varies |= set[k].fix->vary != NULL;
    }
    for (int level = 0; level < STK_PRICE_LEVELS; level++) {
        out[level].step =
            (struct stk_taken_step){.mean_ns = p->base_ns, .inner_ns = p->base_inner_ns};
    }
    return !varies || replay_ranks(p, &ask, out);
}

bool stk_price_set(const struct stk_pricing *p, const struct stk_price_asked *set, size_t count,
                   struct stk_price *out)
{
    double share[STK_PRICE_LEVELS], most = stk_price_may_slow(set, count) ? MOST_SLOWER : 1;
    double floor = stk_price_changes_model(set, count) ? 0 : p->model_share;
    struct stk_ask ask = {.set = set,
                          .count = count,
                          .which = STK_ASK_AFTER,
                          .at = {true, true, true},
                          .wants_path = p->exposes};
    struct stk_outcome after[STK_PRICE_LEVELS], before[STK_PRICE_LEVELS];
    const struct stk_outcome *usual = &after[STK_PRICE_EXPECTED];
    if (!replay_ranks(p, &ask, after) || !find_before(p, set, count, before)) {
        return false;
    }
    for (int level = 0; level < STK_PRICE_LEVELS; level++) {
        share[level] = share_of(p, &before[level].step, &after[level].step,
                                (enum stk_price_level)level, floor, most);
    }
    out->next_bottleneck = largest(usual->critical);
    share_path(usual->critical, out->path);
    share_path(usual->exposed, out->exposed);
    bool needs_batches = !usual->step.needs_no_batches;
    double expected = share[STK_PRICE_EXPECTED], doubt = doubt_of(p, set, count, expected);
    out->work = stk_price_work(set, count);
    if (needs_batches && (expected < MUCH_FASTER || out->work > 1) && hides_pace(p)) {
        expected = bind_pace(p, out->work, expected, &share[STK_PRICE_HIGH]);
    }
    out->expected = expected;
    double least = LEAST_LEFT * share[STK_PRICE_LOW];
    out->low = bounded(share[STK_PRICE_LOW] - doubt, least < expected ? least : expected, expected);
    out->high = bounded(share[STK_PRICE_HIGH] + doubt, expected, most + STEP_DOUBT);
    return true;
}
