// SPDX-License-Identifier: Apache-2.0
// The gate's result for a recording that begins while the device still works for an earlier one,
// for a first step that fills the queue, and for waiting while other streams run.
#include "synth.h"

#include "answers/replay/gate.h"

#define MAIN 1
#define STEPS 6
#define STEP_US 10000

static struct stk_graph *summarize(struct synth *s)
{
    CHECK_EQ(stk_build_finish(s->build, 1, &s->trace, &s->err), STOKER_OK);
    CHECK_EQ(stk_model_summarize_with(s->trace, &s->select, &stk_replay_hook, 1, &s->arena,
                                      &s->ranks, &s->rank_count, &s->err),
             STOKER_OK);
    return s->ranks[0]->partial;
}

static bool near(double x, double y, double by)
{
    return x > y - by && x < y + by;
}

// Kernels that were launched before the recording, then four a step; `torn`: one of those lacks its
// launch, too.
static struct stk_graph *ahead_job(struct synth *s, int head, bool torn)
{
    synth_begin(s);
    double device = 10;
    for (int i = 0; i < head; i++, device += 1000) {
        synth_device(s, 7, device, 998, "gemm", STK_KIND_KERNEL, STK_DIR_UNKNOWN, STK_MEM_UNKNOWN);
    }
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 4000;
        synth_step(s, MAIN, at, 3990, k);
        for (int i = 0; i < 4; i++, device += 1000) {
            if (torn && k == 2 && i == 2) {
                synth_device(s, 7, device, 998, "gemm", STK_KIND_KERNEL, STK_DIR_UNKNOWN,
                             STK_MEM_UNKNOWN);
                continue;
            }
            synth_launch(s, MAIN, at + 20 * i + 10, 5, "gemm", device, 998, 7);
        }
    }
    return summarize(s);
}

static void check_head(void)
{
    struct synth s;
    struct stk_gate gate;
    const struct stk_graph *g = ahead_job(&s, 20, false);
    CHECK_EQ(g->counts.unlinked, 0);
    CHECK_EQ(g->counts.device_ops, 4 * g->step_count);
    CHECK_EQ(s.ranks[0]->facts.queued_ops, 20); // by the same rule
    CHECK(stk_gate_check(g, &gate));
    CHECK(gate.ok);
    CHECK(near(gate.measured_ns, 4000 * US, 50 * US));
    synth_end(&s);
    g = ahead_job(&s, 2, false); // a short one stays with the steps
    CHECK_EQ(g->counts.unlinked, 2);
    CHECK_EQ(s.ranks[0]->facts.queued_ops, 2);
    synth_end(&s);
    g = ahead_job(&s, 28, false); // more than what was launched: calls were lost
    CHECK(g->counts.unlinked > 10);
    CHECK_EQ(s.ranks[0]->facts.queued_ops, 0);
    synth_end(&s);
    g = ahead_job(&s, 20, true); // nothing says that it was launched earlier
    CHECK(g->counts.unlinked > 10);
    CHECK(stk_gate_check(g, &gate));
    CHECK(!gate.ok);
    synth_end(&s);
}

// Without marks: the host launches twelve steps of four kernels within 12 ms; the device begins
// after 40 ms and takes 4 ms for each.
static void check_filling(void)
{
    static const char *const names[] = {"gemm", "add", "relu", "adam"};
    struct synth s;
    struct stk_gate gate;
    synth_begin(&s);
    for (int i = 0; i < 48; i++) {
        double at = 10 + 1000.0 * (i / 4) + 50.0 * (i % 4);
        synth_launch(&s, MAIN, at, 5, names[i % 4], 40000 + 1000.0 * i, i % 4 == 3 ? 800 : 998, 7);
    }
    const struct stk_graph *g = summarize(&s);
    CHECK(g->step_count >= 4 && !g->is_span);
    CHECK(stk_gate_check(g, &gate));
    CHECK(gate.ok);
    CHECK(near(gate.measured_ns, 4000 * US, 50 * US));
    synth_end(&s);
}

// A kernel of 5 ms, and one on another stream, launched at the same time, that begins 4 ms later
// than it could: in the middle of the first, or (`after`) with nothing on the device.
static struct stk_graph *waiting_job(struct synth *s, bool after)
{
    synth_begin(s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US, begins = after ? at + 9000 : at + 4030;
        synth_step(s, MAIN, at, STEP_US - 10, k);
        synth_launch(s, MAIN, at + 10, 5, "gemm", at + 20, 5000, 7);
        synth_launch(s, MAIN, at + 20, 5, "other", begins, 500, 8);
        synth_host(s, MAIN, at + 40, begins + 510 > at + 5030 ? begins + 465 - at : 4985,
                   "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    }
    return summarize(s);
}

static void check_waiting(void)
{
    struct synth s;
    struct stk_gate gate;
    const struct stk_graph *g = waiting_job(&s, false);
    CHECK(stk_gate_check(g, &gate));
    CHECK(gate.ok);
    CHECK(g->is_contended);
    CHECK(near(gate.contended, 0.4, 0.02));
    CHECK(gate.unexplained < 0.01);
    CHECK_EQ(gate.why_count, 1);
    synth_end(&s);
    g = waiting_job(&s, true);
    CHECK(stk_gate_check(g, &gate));
    CHECK(!gate.ok);
    CHECK(near(gate.unexplained, 0.4, 0.02));
    CHECK(near(gate.contended, 0.5, 0.02));
    synth_end(&s);
}

// Steps of 4 ms behind a first one of `first` us.
static struct stk_graph *starting_job(struct synth *s, double first)
{
    synth_begin(s);
    for (int64_t k = 0; k < 10; k++) {
        double at = k ? first + (double)(k - 1) * 4000 : 0, us = k ? 4000 : first;
        synth_step(s, MAIN, at, us - 10, k);
        synth_launch(s, MAIN, at + 10, 5, "gemm", at + 20, us - 60, 7);
        synth_host(s, MAIN, at + 20, us - 55, "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    }
    return summarize(s);
}

static void check_first(void)
{
    struct synth s;
    struct stk_gate gate;
    const struct stk_graph *g = starting_job(&s, 6000);
    CHECK(g->leaves_first && !g->steps[0].used);
    CHECK_EQ(g->steps_used, g->step_count - 1);
    CHECK(stk_gate_check(g, &gate));
    CHECK(near(gate.measured_ns, 4000 * US, 20 * US));
    CHECK_EQ(gate.why_count, 1);
    synth_end(&s);
    g = starting_job(&s, 4500);
    CHECK(!g->leaves_first && g->steps[0].used);
    synth_end(&s);
}

// Steps of the host: twelve operations of 20 us each around a launch, half of them on a thread that
// the first one waits for, which it goes on 500 us behind; the device waits for both.
static struct stk_graph *threads_job(struct synth *s, uint32_t hint)
{
    struct stk_build_facts facts = {
        .format = "kineto", .rank = -1, .world_size = -1, .framework_hint = hint};
    synth_begin(s);
    stk_build_facts(s->build, &facts);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 20000;
        synth_step(s, MAIN, at, 19990, k);
        for (int thread = MAIN; thread <= MAIN + 1; thread++) {
            double from = at + (thread == MAIN ? 10 : 300);
            double every = thread == MAIN ? 20 : 1500;
            for (int i = 0; i < 12; i++) {
                double t = from + every * i, us = thread == MAIN ? 18 : 1490;
                synth_host(s, thread, t, us, "aten::mm", STK_KIND_HOST_OP);
                synth_launch(s, thread, t + us - 8, 5, "gemm", t + us, 1, 7);
            }
        }
        synth_host(s, MAIN, at + 300 + 12 * 1500 + 500, 400, "aten::add_", STK_KIND_HOST_OP);
    }
    return summarize(s);
}

static double replayed_ns(const struct stk_graph *g, bool is_profiled)
{
    struct stk_scene scene;
    struct stk_times t;
    int64_t borders[STEPS + 1];
    CHECK(stk_scene_init(&scene, g) && stk_times_init(&t, g));
    if (!is_profiled) {
        stk_scene_unprofile(&scene);
    }
    CHECK(stk_replay_run(&scene, &t));
    stk_replay_steps(g, scene.nodes, &t, borders);
    double ns = stk_replay_mean(g, borders);
    stk_times_deinit(&t);
    stk_scene_deinit(&scene);
    return ns;
}

static void check_recording(void)
{
    struct synth s;
    const struct stk_graph *g = threads_job(&s, 1u << STK_FW_PYTORCH);
    CHECK(near(replayed_ns(g, true), 20000 * US, 20 * US));
    // Of both threads: 25 operations at 2 us, 24 calls at 0.8.
    CHECK(near(replayed_ns(g, true) - replayed_ns(g, false), 69.2 * US, 8 * US));
    synth_end(&s);
    g = threads_job(&s, 0); // 0.4 us an operation
    CHECK(near(replayed_ns(g, true) - replayed_ns(g, false), 29.2 * US, 5 * US));
    synth_end(&s);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_head);
    CHECK_RUN(check_filling);
    CHECK_RUN(check_waiting);
    CHECK_RUN(check_first);
    CHECK_RUN(check_recording);
    return check_done("unit.whatif_gate");
}
