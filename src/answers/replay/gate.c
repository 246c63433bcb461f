// SPDX-License-Identifier: Apache-2.0
// The gate (gate.h). Thresholds are in a table, each with its reason.
#include "answers/replay/gate.h"

#include <math.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/median.h"
#include "answers/replay/transplant.h"

#define MIN_PAIRS 2       // pairs of steps needed for the transplant check
#define MAX_STARTS 100000 // starts to compare
#define GRAPHS 0.05       // of the steps: graph launches, in excess of a normal launch

// Values that close the gate.
static const struct {
    double replay_error, worst_error, unexplained, start_error, unlinked, spread;
} red = {
    .replay_error = 0.05, // published replays of real jobs are within 5%
    .worst_error = 0.10,
    .unexplained = 0.30, // a third of the step may then change for reasons outside the graph
    .start_error = 0.20, // the order of the work is different
    .unlinked = 0.20,    // the launches of this work are unknown
    .spread = 0.40,      // the mean itself isn't known better
};

static void say(struct stk_gate *o, bool closes, const char *why)
{
    STK_ASSERT(o->why_count >= 0);
    o->ok &= !closes;
    if (o->why_count < (int)(sizeof o->why / sizeof o->why[0])) {
        o->why[o->why_count++] = why;
    }
}

double stk_gate_median(double *v, size_t n)
{
    if (n == 0) {
        return 0;
    }
    stk_sort_reals(v, n);
    return v[(n - 1) / 2];
}

// The errors of the used steps, and the spread of their recorded times.
static bool compare_steps(const struct stk_graph *g, const int64_t *was, const int64_t *is,
                          struct stk_gate *o)
{
    double *errors = stk_alloc_array((size_t)g->step_count + 1, sizeof *errors);
    size_t n = 0;
    double square = 0;
    if (!errors) {
        return false;
    }
    for (uint32_t k = 0; k < g->step_count; k++) {
        double recorded = (double)(was[k + 1] - was[k]);
        if (!g->steps[k].used) {
            continue;
        }
        double error = fabs((double)(is[k + 1] - is[k]) - recorded) / (recorded > 1 ? recorded : 1);
        errors[n++] = error;
        o->worst_error = error > o->worst_error ? error : o->worst_error;
        square += (recorded - o->measured_ns) * (recorded - o->measured_ns);
    }
    o->replay_error = stk_gate_median(errors, n);
    o->spread = o->measured_ns > 0 ? sqrt(square / (double)n) / o->measured_ns : 0;
    // Steps differ within a round, but rounds are alike.
    bool are_rounds = g->has_rounds && g->is_mixed;
    o->mean_error = n > 2 && !are_rounds ? o->spread / sqrt((double)n - 1) : 0;
    stk_free(errors);
    return true;
}

static bool compare_starts(const struct stk_graph *g, const struct stk_times *t, struct stk_gate *o)
{
    int64_t *distance = stk_alloc_array(MAX_STARTS, sizeof *distance);
    size_t n = 0, every = g->node_count / MAX_STARTS + 1;
    for (size_t i = 0; distance && i < g->node_count && n < MAX_STARTS; i += every) {
        if (stk_node_is_device(&g->nodes[i]) || !g->has_device) {
            distance[n++] = llabs(t->begin_ns[i] - g->nodes[i].start_ns);
        }
    }
    if (n && o->measured_ns > 0) {
        o->start_error = (double)stk_median_low(distance, n) / o->measured_ns;
    }
    stk_free(distance);
    return distance != NULL;
}

static void count_edges(const struct stk_graph *g, double time_ns, struct stk_gate *o)
{
    const struct stk_graph_counts *c = &g->counts;
    double waiting =
        (double)c->unexplained_ns + (g->has_device ? 0 : (double)c->host_unexplained_ns);
    o->unexplained = time_ns > 0 ? fmin(waiting / time_ns, 1) : 0;
    o->contended = time_ns > 0 ? (double)c->contended_ns / time_ns : 0;
    o->inferred = c->cross_edges ? (double)c->inferred_edges / (double)c->cross_edges : 0;
    o->unlinked = c->device_ops ? (double)c->unlinked / (double)c->device_ops : 0;
}

bool stk_gate_is_unlinked(uint64_t unlinked, uint64_t ops)
{
    return ops > 0 && (double)unlinked / (double)ops > red.unlinked;
}

static void judge(const struct stk_graph *g, struct stk_gate *o)
{
    if (o->replay_error > red.replay_error || o->worst_error > red.worst_error) {
        say(o, true, "replaying the unchanged steps doesn't reproduce their times");
    }
    if (o->unlinked > red.unlinked) {
        say(o, true, "much of the GPU's work isn't linked to its launch call");
    }
    if (o->unexplained > red.unexplained) {
        say(o, true, "too much of the GPU's idle time has no cause in the profile");
    }
    if (o->start_error > red.start_error) {
        say(o, true, "replayed work starts at different times than recorded work");
    }
    if (o->mean_error > red.spread &&
        !g->has_rounds) { // steps differ within a round, but rounds are alike
        say(o, true, "the steps differ too much from each other");
    }
    if (o->ok && o->contended > red.unexplained) {
        say(o, false,
            "operations wait long for other streams; the intervals include how much of that could "
            "be saved");
    }
    if (o->ok && g->leaves_first) {
        say(o, false, "the first step differs from the others and is left out of the mean");
    }
    if (o->ok && g->counts_rounds) {
        say(o, false, "the mean covers the steps between the first and the last wait for a batch");
    }
    if (o->ok && (double)g->counts.graphs_ns > GRAPHS * o->measured_ns * g->step_count) {
        say(o, false,
            "recording a graph's kernels slows its launch: without a profiler, the CPU may need "
            "far less time than estimated");
    }
    if (o->ok && o->inferred > 0.3) {
        say(o, false, "most dependencies between streams are inferred");
    }
}

static bool transplant(const struct stk_graph *g, struct stk_times *t, const int64_t *was,
                       struct stk_gate *o)
{
    double *errors = stk_alloc_array((size_t)g->step_count + 1, sizeof *errors);
    size_t n = 0;
    bool ok = errors && stk_transplant_check(g, t, was, errors, &n);
    if (ok) {
        // Which step of a round waits for its batch doesn't show in any step's durations.
        o->has_transplant = n >= MIN_PAIRS && !g->has_rounds;
        o->transplant_error = stk_gate_median(errors, n);
    }
    stk_free(errors);
    return ok;
}

static bool replay(const struct stk_graph *g, struct stk_times *t, int64_t *was, int64_t *is,
                   struct stk_gate *o)
{
    struct stk_scene s;
    stk_replay_recorded(g, t);
    stk_replay_steps(g, g->nodes, t, was);
    if (!stk_scene_init(&s, g)) {
        return false;
    }
    bool ran = stk_replay_run(&s, t);
    stk_scene_deinit(&s);
    if (!ran) {
        say(o, true, "the order of the recorded events contradicts itself");
        return true;
    }
    stk_replay_steps(g, g->nodes, t, is);
    o->has_figures = true;
    o->measured_ns = o->slowest_ns = stk_replay_mean(g, was);
    o->replayed_ns = stk_replay_mean(g, is);
    count_edges(g, (double)(was[g->step_count] - was[0]), o);
    if (!compare_steps(g, was, is, o) || !compare_starts(g, t, o)) {
        return false;
    }
    judge(g, o);
    return transplant(g, t, was, o);
}

bool stk_gate_check(const struct stk_graph *g, struct stk_gate *out)
{
    *out = (struct stk_gate){.ok = true};
    if (g->why_not) {
        say(out, true, g->why_not);
        return true;
    }
    struct stk_times t;
    if (!stk_times_init(&t, g)) {
        return false;
    }
    int64_t *was = stk_alloc_array((size_t)g->step_count + 1, sizeof *was);
    int64_t *is = stk_alloc_array((size_t)g->step_count + 1, sizeof *is);
    bool ok = was && is && replay(g, &t, was, is, out);
    stk_free(was);
    stk_free(is);
    stk_times_deinit(&t);
    return ok;
}
