// SPDX-License-Identifier: Apache-2.0
// The critical path on a job with a known path: in steps of 10 ms the thread works for 4 ms, then
// waits for a kernel of 5 ms on one stream; a copy of 2 ms on another stream, which nothing waits
// for, runs in parallel.
#include "synth.h"

#include "base/alloc.h"
#include "answers/replay/critical.h"
#include "results/whatif.h"

#define MAIN 1
#define STEPS 6
#define STEP_US 10000

static struct stk_graph *build(struct synth *s)
{
    synth_begin(s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US;
        synth_step(s, MAIN, at, STEP_US - 10, k);
        synth_host(s, MAIN, at + 5, 4000, "aten::linear", STK_KIND_HOST_OP);
        synth_launch(s, MAIN, at + 4100, 5, "gemm", at + 4110, 5000, 7);
        synth_launch_as(s, MAIN, at + 4110, 5, "cudaMemcpyAsync", "Memcpy HtoD", at + 4120, 2000, 8,
                        STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
        synth_host(s, MAIN, at + 4200, 4915, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    }
    CHECK_EQ(stk_build_finish(s->build, 1, &s->trace, &s->err), STOKER_OK);
    CHECK_EQ(stk_model_summarize_with(s->trace, &s->select, &stk_replay_critical_hook, 1, &s->arena,
                                      &s->ranks, &s->rank_count, &s->err),
             STOKER_OK);
    return s->ranks[0]->partial;
}

static const struct stk_whatif_path_row *row_of(const struct stk_list *list, const char *kind,
                                                const char *name)
{
    const struct stk_whatif_path_row *r = list->items;
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(r[i].kind, kind) == 0 && (!name || strcmp(r[i].name, name) == 0)) {
            return &r[i];
        }
    }
    return NULL;
}

static bool is_about(int64_t ns, double us)
{
    return (double)ns > (us - 200) * 1000 && (double)ns < (us + 200) * 1000;
}

static void check_rows(void)
{
    struct synth s;
    const struct stk_graph *g = build(&s);
    const struct stk_whatif_critical *c = g->critical;
    CHECK(c != NULL);
    if (!c) {
        return;
    }
    CHECK(is_about(c->step_ns, STEP_US));
    const struct stk_whatif_path_row *compute = row_of(&c->kinds, "compute", NULL);
    const struct stk_whatif_path_row *linear = row_of(&c->names, "host", "aten::linear");
    const struct stk_whatif_path_row *copy = row_of(&c->beside, "transfer", "Memcpy HtoD");
    CHECK(compute && is_about(compute->ns, 5000));
    CHECK(linear && is_about(linear->ns, 4000) && linear->count > 0.9);
    CHECK(copy && is_about(copy->ns, 2000));
    // It may end as late as the last step does: that of the last step, 4110 + 5000 - 6120, and on.
    CHECK(copy && copy->slack_ns > 2900 * US && copy->slack_ns < 4000 * US);
    CHECK(row_of(&c->beside, "compute", "gemm") == NULL);
    synth_end(&s);
}

// The pieces of a step follow each other without a hole and make up the step.
static void check_events(void)
{
    struct synth s;
    const struct stk_graph *g = build(&s);
    const struct stk_whatif_path_event *e = g->critical->events.items;
    int64_t sum_ns = 0;
    CHECK(g->critical->events.count >= 3);
    CHECK_EQ(g->critical->left_out, 0);
    for (size_t i = 0; i < g->critical->events.count; i++) {
        sum_ns += e[i].dur_ns;
        CHECK(i == 0 || e[i - 1].t_ns + e[i - 1].dur_ns == e[i].t_ns);
        CHECK(e[i].where[0] != '\0');
    }
    CHECK(is_about(sum_ns, STEP_US));
    synth_end(&s);
}

static bool is_on_path(const struct stk_graph *g, uint32_t event)
{
    for (uint32_t i = 0; i < g->on_path_count; i++) {
        if (g->on_path[i] == event) {
            return true;
        }
    }
    return false;
}

// Which events are on it: the work and the kernel of each used step, and what the work consists of;
// neither the copy, which nothing waits for, nor the step's mark around all.
static void check_on_path(void)
{
    struct synth s;
    const struct stk_graph *g = build(&s);
    const struct stk_trace *t = s.trace;
    CHECK(g->on_path_count > 0);
    for (uint32_t i = 1; i < g->on_path_count; i++) {
        CHECK(g->on_path[i - 1] < g->on_path[i]);
    }
    uint32_t seen = 0;
    for (uint32_t e = 0; e < t->count; e++) {
        struct stk_str name = stk_name_of(t, e);
        int64_t step = t->start_ns[e] / (STEP_US * US);
        bool used = step < g->step_count && g->steps[step].used;
        bool wanted =
            stk_str_eq(name, STK_STR("aten::linear")) || stk_str_eq(name, STK_STR("gemm"));
        if (wanted && used) {
            CHECK(is_on_path(g, e));
            seen++;
        } else if (wanted || stk_str_eq(name, STK_STR("Memcpy HtoD"))) {
            CHECK(!is_on_path(g, e));
        }
    }
    CHECK_EQ(seen, 2 * g->steps_used);
    synth_end(&s);
}

// What has no slack delays the end if it is longer; what has some does not, by less than it has.
static void check_slack_is_true(void)
{
    struct synth s;
    const struct stk_graph *g = build(&s);
    struct stk_scene scene;
    struct stk_times t, later;
    CHECK(stk_scene_init(&scene, g) && stk_times_init(&t, g) && stk_times_init(&later, g));
    CHECK(stk_replay_run(&scene, &t));
    int64_t *slack = stk_critical_slack(&scene, &t), end = INT64_MIN;
    CHECK(slack != NULL);
    for (uint32_t i = 0; i < g->node_count; i++) {
        end = t.end_ns[i] > end ? t.end_ns[i] : end;
    }
    for (uint32_t i = 0; slack && i < g->node_count; i++) {
        int64_t was = scene.nodes[i].dur_ns, until = INT64_MIN;
        int64_t own = t.end_ns[i] - t.begin_ns[i] - was; // of a wait: hidden by what it waits for
        scene.nodes[i].dur_ns += slack[i] + (own > 0 ? own : 0);
        CHECK(stk_replay_run(&scene, &later));
        for (uint32_t k = 0; k < g->node_count; k++) {
            until = later.end_ns[k] > until ? later.end_ns[k] : until;
        }
        CHECK(until <= end);
        scene.nodes[i].dur_ns += 1000;
        CHECK(stk_replay_run(&scene, &later));
        until = INT64_MIN;
        for (uint32_t k = 0; k < g->node_count; k++) {
            until = later.end_ns[k] > until ? later.end_ns[k] : until;
        }
        CHECK(until > end);
        scene.nodes[i].dur_ns = was;
    }
    stk_free(slack);
    stk_times_deinit(&t);
    stk_times_deinit(&later);
    stk_scene_deinit(&scene);
    synth_end(&s);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_rows);
    CHECK_RUN(check_events);
    CHECK_RUN(check_on_path);
    CHECK_RUN(check_slack_is_true);
    return check_done("unit.whatif_critical");
}
