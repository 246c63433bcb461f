// SPDX-License-Identifier: Apache-2.0
// The replay and its prices on a job with known times: six steps of 10 ms, each with a fetch of 4
// ms in the training thread, then a kernel of 5 ms that the thread waits for. Properties of any
// change are tested on random ones.
#include "synth.h"

#include "answers/replay/scenarios.h"

#define MAIN 1
#define STEPS 6
#define STEP_US 10000
#define FETCH_US 4000
#define FETCH "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

struct job {
    struct synth s;
    struct stk_run_sum *run;
    struct stk_graph *graph;
};

static void add_step(struct synth *s, int64_t number)
{
    double at = (double)number * STEP_US;
    synth_step(s, MAIN, at, STEP_US - 10, number);
    synth_host(s, MAIN, at + 5, FETCH_US, FETCH, STK_KIND_HOST_OP);
    synth_launch(s, MAIN, at + 4100, 5, "ampere_sgemm_128x64_nn", at + 4110, 5000, 7);
    synth_host(s, MAIN, at + 4200, 4915, "cudaStreamSynchronize", STK_KIND_RUNTIME);
}

static void summarize(struct job *j)
{
    struct synth *s = &j->s;
    CHECK_EQ(stk_build_finish(s->build, 1, &s->trace, &s->err), STOKER_OK);
    CHECK_EQ(stk_model_summarize_with(s->trace, &s->select, &stk_replay_hook, 1, &s->arena,
                                      &s->ranks, &s->rank_count, &s->err),
             STOKER_OK);
    CHECK_EQ(stk_model_merge(s->ranks, s->rank_count, &s->arena, &j->run, &s->err), STOKER_OK);
    j->graph = j->run->rank_count ? j->run->ranks[0]->partial : NULL;
    CHECK(j->graph != NULL);
}

static void job_begin(struct job *j)
{
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        add_step(&j->s, k);
    }
    summarize(j);
}

static struct stk_price_asked fix(const char *text)
{
    struct stk_price_asked set = {0};
    struct stoker_err err;
    stk_err_init(&err);
    CHECK_EQ(stk_price_parse(text, &set, &err), STOKER_OK);
    return set;
}

static struct stk_price price(const struct job *j, const struct stk_price_asked *set, size_t count)
{
    struct stk_pricing p;
    struct stk_price out = {0};
    struct stk_arena arena;
    stk_arena_init(&arena, 0);
    CHECK(stk_pricing_init(&p, j->run, &(struct stk_verdict){.kind = STK_VERDICT_HOST}, true,
                           &arena));
    CHECK(p.gate.ok);
    CHECK(stk_price_set(&p, set, count, &out));
    stk_pricing_deinit(&p);
    stk_arena_deinit(&arena);
    return out;
}

static bool near(double x, double y, double by)
{
    return x > y - by && x < y + by;
}

static void check_unchanged(void)
{
    struct job j;
    job_begin(&j);
    struct stk_gate gate;
    CHECK(stk_gate_check(j.graph, &gate));
    CHECK(gate.ok);
    CHECK(near(gate.measured_ns, STEP_US * US, 20 * US));
    CHECK(gate.replay_error < 0.001);
    CHECK(gate.unexplained < 0.01);
    CHECK(gate.has_transplant);
    CHECK(gate.transplant_error < 0.001);
    struct stk_price_asked none = fix("none");
    struct stk_price p = price(&j, &none, 1);
    CHECK(near(p.expected, 1, 0.01));
    CHECK(p.low >= 0.98 && p.high <= 1.02);
    synth_end(&j.s);
}

static void check_input_free(void)
{
    struct job j;
    job_begin(&j);
    CHECK_EQ(j.graph->feed, STK_FEED_INLINE);
    struct stk_price_asked free = fix("input-free");
    struct stk_price p = price(&j, &free, 1);
    CHECK(near(p.expected, 0.605, 0.01)); // 10 ms less 4 ms, and taking the batch
    CHECK(p.low <= p.expected && p.expected <= p.high);
    CHECK_STR(p.next_bottleneck, "compute");
    synth_end(&j.s);
}

// PyTorch without a device: what comes behind the optimizer and before the next fetch is callbacks,
// whether it is recorded or not.
static void check_callbacks_on_the_host(void)
{
    struct job j;
    synth_begin(&j.s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US;
        synth_step(&j.s, MAIN, at, STEP_US - 10, k);
        synth_host(&j.s, MAIN, at + 5, 1000, FETCH, STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 1010, 3000, "aten::linear", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 4010, 990, "Optimizer.step#SGD.step", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 5000, 3000, "aten::sort", STK_KIND_HOST_OP);
    }
    struct stk_build_facts facts = {
        .format = "kineto", .rank = -1, .world_size = -1, .framework_hint = 1u << STK_FW_PYTORCH};
    stk_build_facts(j.s.build, &facts);
    summarize(&j);
    struct stk_price_asked rarely = fix("callbacks-every=10");
    struct stk_price p = price(&j, &rarely, 1);
    CHECK(near(p.expected, 0.55, 0.01)); // 5 of 10 ms, of them nine in ten
    synth_end(&j.s);
}

// Of what the thread does in a step without any event one part in ten is left; what is recorded
// stays.
static void check_steps_per_launch(void)
{
    struct job j;
    synth_begin(&j.s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US;
        synth_step(&j.s, MAIN, at, STEP_US - 10, k);
        synth_host(&j.s, MAIN, at + 4000, 3000, "aten::linear", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 7000, 2990, "Optimizer.step#SGD.step", STK_KIND_HOST_OP);
    }
    summarize(&j);
    struct stk_price_asked ten = fix("steps-per-launch=10");
    CHECK(near(price(&j, &ten, 1).expected, 0.64, 0.01));
    synth_end(&j.s);
}

// JAX: arrays that the function for data makes are no work of the step, and the step's work ends
// when another thread is done with what was launched.
static void check_function_on_the_host(void)
{
    struct job j;
    synth_begin(&j.s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US;
        synth_step(&j.s, MAIN, at, STEP_US - 10, k);
        synth_host(&j.s, MAIN, at + 5, 2990, "$job.py:3 batches", STK_KIND_PYTHON);
        synth_host(&j.s, MAIN, at + 1000, 20, "PjitFunction(convert_element_type)",
                   STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 3000, 100, "PjitFunction(update)", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN + 1, at + 3200, 2800, "ThunkExecutor::Execute", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN + 1, at + 3200, 2800, "aten::linear", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 6000, 3900, "$job.py:9 report", STK_KIND_PYTHON);
    }
    summarize(&j);
    CHECK_EQ(j.graph->feed, STK_FEED_INLINE);
    struct stk_price_asked set[] = {fix("input-free"), fix("callbacks-every=10")};
    CHECK(near(price(&j, &set[0], 1).expected, 0.705, 0.01));
    CHECK(near(price(&j, &set[1], 1).expected, 0.64, 0.01));
    synth_end(&j.s);
}

// A host that is far ahead: its calls last as long as the stream's queue is full, and no longer
// once kernels are shorter.
static void check_full_queue(void)
{
    enum { LIMIT = 1024, PER_STEP = 600, ALL = STEPS * PER_STEP };
    static double ends[ALL];
    struct job j;
    double at = 0, device = 0, step = 0;
    synth_begin(&j.s);
    for (int i = 0; i < ALL; i++) {
        double call = at, free = i >= LIMIT ? ends[i - LIMIT] + 1 : 0;
        at = call + 5 > free ? call + 5 : free;
        device = device + 1 > call + 9 ? device + 1 : call + 9;
        synth_launch(&j.s, MAIN, call, at - call, "ampere_sgemm_128x64_nn", device, 15, 7);
        ends[i] = device += 15;
        at += 1;
        if (i % PER_STEP == PER_STEP - 1) {
            synth_step(&j.s, MAIN, step, at - step - 0.5, i / PER_STEP);
            step = at;
        }
    }
    summarize(&j);
    CHECK(near((double)j.graph->calibration.call_ns, 5 * US, 100));
    struct stk_price_asked faster = fix("kernel-faster=3");
    CHECK(near(price(&j, &faster, 1).expected, 0.375, 0.05)); // 6 us a launch instead of 16
    synth_end(&j.s);
}

// Of two workers batches come in pairs: every second step waits for 9 ms, and no median step tells
// what the input costs.
static void check_rounds_on_the_host(void)
{
    struct job j;
    double at = 0;
    synth_begin(&j.s);
    for (int64_t k = 0; k < 2 * STEPS; k++) {
        double wait = k % 2 ? 50 : 9000;
        synth_step(&j.s, MAIN, at, wait + 490, k);
        synth_host(&j.s, MAIN, at + 5, wait,
                   "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                   STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + wait + 10, 470, "aten::linear", STK_KIND_HOST_OP);
        at += wait + 500;
    }
    summarize(&j);
    CHECK(j.graph->is_mixed);
    struct stk_price_asked free = fix("input-free");
    struct stk_price p = price(&j, &free, 1);
    CHECK(near(p.expected, 500.0 / 5025, 0.02));
    CHECK(p.high < 0.3);
    synth_end(&j.s);
}

// Workers that no fetch waited for may be the next limit of a step that becomes much faster, unless
// no batch is asked for any more.
static void check_hidden_pace(void)
{
    struct job j;
    synth_begin(&j.s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US;
        synth_step(&j.s, MAIN, at, STEP_US - 10, k);
        synth_host(&j.s, MAIN, at + 5, 50,
                   "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                   STK_KIND_HOST_OP);
        synth_launch(&j.s, MAIN, at + 100, 5, "ampere_sgemm_128x64_nn", at + 110, 9800, 7);
        synth_host(&j.s, MAIN, at + 200, 9715, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    }
    summarize(&j);
    struct stk_price_asked set[] = {fix("kernel-faster=4"), fix("input-free")};
    CHECK(price(&j, &set[0], 1).expected < 0.3);
    double high = price(&j, &set[0], 1).high; // the middle of that and 0.9, by logarithms
    CHECK(high > 0.45 && high < 0.6);
    CHECK(price(&j, set, 2).high < 0.4);
    synth_end(&j.s);
}

// Each fix alone, and all of them: in order, never slower than the step, never below nothing.
static void check_every_fix(void)
{
    struct job j;
    job_begin(&j);
    struct stk_price_asked all[40];
    char texts[40][80]; // which the sets point into
    size_t count = 0;
    double best = 1;
    CHECK(stk_price_row_count <= 40);
    for (int i = 0; i < stk_price_row_count; i++) {
        const struct stk_price_row *f = stk_price_rows[i];
        snprintf(texts[i], sizeof texts[i], "%s%s", f->id, f->value ? f->value : "");
        all[count] = fix(texts[i]);
        struct stk_price p = price(&j, &all[count], 1);
        count += !f->may_slow;
        CHECK(p.low <= p.expected && p.expected <= p.high);
        CHECK(p.low >= 0 && (p.expected <= 1 || f->may_slow));
        best = p.expected < best && !f->may_slow ? p.expected : best;
    }
    struct stk_price joint = price(&j, all, count);
    CHECK(joint.expected <= best + 1e-9);
    CHECK(joint.low >= 0);
    synth_end(&j.s);
}

// Nothing that takes time away makes a step longer.
static void check_less_is_never_slower(void)
{
    struct job j;
    struct stk_scene scene;
    struct stk_times t;
    int64_t borders[STEPS + 1];
    uint32_t seed = 1;
    job_begin(&j);
    CHECK(stk_scene_init(&scene, j.graph));
    CHECK(stk_times_init(&t, j.graph));
    CHECK(stk_replay_run(&scene, &t));
    stk_replay_steps(j.graph, scene.nodes, &t, borders);
    double last = stk_replay_mean(j.graph, borders);
    for (int round = 0; round < CHECK_ROUNDS(200); round++) {
        seed = seed * 1664525u + 1013904223u;
        struct stk_node *n = &scene.nodes[(seed >> 8) % j.graph->node_count];
        n->dur_ns = n->dur_ns * (seed >> 28) / 16;
        n->rest_ns /= 2;
        CHECK(stk_replay_run(&scene, &t));
        stk_replay_steps(j.graph, scene.nodes, &t, borders);
        double mean = stk_replay_mean(j.graph, borders);
        CHECK(mean <= last + 0.5);
        last = mean;
    }
    stk_times_deinit(&t);
    stk_scene_deinit(&scene);
    synth_end(&j.s);
}

static void check_circle(void)
{
    struct job j;
    struct stk_scene scene;
    struct stk_times t;
    job_begin(&j);
    CHECK(stk_scene_init(&scene, j.graph));
    CHECK(stk_times_init(&t, j.graph));
    const struct stk_lane *lane = &j.graph->lanes[j.graph->driver];
    scene.nodes[lane->first].kind = STK_NODE_WAIT;
    scene.nodes[lane->first].wait = lane->first + lane->count - 1; // waits for its own future
    CHECK(!stk_replay_run(&scene, &t));
    stk_times_deinit(&t);
    stk_scene_deinit(&scene);
    synth_end(&j.s);
}

static void check_no_steps(void)
{
    struct job j;
    synth_begin(&j.s);
    synth_host(&j.s, MAIN, 0, 100, "aten::add", STK_KIND_HOST_OP);
    summarize(&j);
    struct stk_gate gate;
    CHECK(stk_gate_check(j.graph, &gate));
    CHECK(!gate.ok);
    CHECK_EQ(gate.why_count, 1);
    CHECK_STR(gate.why[0], "the profile has no steps and no GPU launches");
    synth_end(&j.s);
}

static void check_what_is_typed(void)
{
    struct stk_price_asked set;
    struct stoker_err err;
    stk_err_init(&err);
    CHECK_EQ(stk_price_parse("input-fre", &set, &err), STOKER_EUSAGE);
    CHECK(strstr(err.message, "did you mean 'input-free'?") != NULL);
    stk_err_init(&err);
    CHECK_EQ(stk_price_parse("none=3", &set, &err), STOKER_EUSAGE);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_unchanged);
    CHECK_RUN(check_input_free);
    CHECK_RUN(check_callbacks_on_the_host);
    CHECK_RUN(check_steps_per_launch);
    CHECK_RUN(check_function_on_the_host);
    CHECK_RUN(check_full_queue);
    CHECK_RUN(check_rounds_on_the_host);
    CHECK_RUN(check_hidden_pace);
    CHECK_RUN(check_every_fix);
    CHECK_RUN(check_less_is_never_slower);
    CHECK_RUN(check_circle);
    CHECK_RUN(check_no_steps);
    CHECK_RUN(check_what_is_typed);
    return check_done("unit.replay");
}
