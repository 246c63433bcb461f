// SPDX-License-Identifier: Apache-2.0
// Prices of irregular traces: work without its launch, times of centuries, work before its launch,
// one rank of several. Each gives a reason, or a valid price.
#include "whatif_job.h"

#define STEP_US 10000

// Steps of a fetch, a kernel, and a wait for it.
static void add_steps(struct synth *s, int64_t from)
{
    for (int64_t k = from; k < STEPS; k++) {
        double at = (double)k * STEP_US;
        synth_step(s, MAIN, at, STEP_US - 10, k);
        synth_launch(s, MAIN, at + 100, 5, SGEMM, at + 110, 8000, STREAM);
        synth_host(s, MAIN, at + 200, 7915, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    }
}

static struct stk_gate gate_of_judged(struct synth *s, enum stk_verdict_kind verdict,
                                      struct stk_run_sum **run, struct stk_arena *arena)
{
    struct stk_pricing p;
    CHECK_EQ(stk_build_finish(s->build, 1, &s->trace, &s->err), STOKER_OK);
    CHECK_EQ(stk_model_summarize_with(s->trace, &s->select, &stk_replay_hook, 1, &s->arena,
                                      &s->ranks, &s->rank_count, &s->err),
             STOKER_OK);
    CHECK_EQ(stk_model_merge(s->ranks, s->rank_count, &s->arena, run, &s->err), STOKER_OK);
    stk_arena_init(arena, 0);
    CHECK(stk_pricing_init(&p, *run, &(struct stk_verdict){.kind = verdict}, true, arena));
    stk_pricing_deinit(&p);
    return p.gate;
}

static struct stk_gate gate_of(struct synth *s, struct stk_run_sum **run, struct stk_arena *arena)
{
    return gate_of_judged(s, STK_VERDICT_HOST, run, arena);
}

static void check_unlinked(void)
{
    struct synth s;
    struct stk_run_sum *run;
    struct stk_arena arena;
    synth_begin(&s);
    add_steps(&s, 0);
    for (int64_t k = 0; k < STEPS; k++) { // as much work again that nothing launched
        synth_device(&s, STREAM, (double)k * STEP_US + 8500, 1000, SGEMM, STK_KIND_KERNEL,
                     STK_DIR_UNKNOWN, STK_MEM_UNKNOWN);
    }
    struct stk_gate gate = gate_of(&s, &run, &arena);
    bool said = false;
    for (int i = 0; i < gate.why_count; i++) {
        said |= strstr(gate.why[i], "isn't linked to its launch call") != NULL;
    }
    CHECK(!gate.ok);
    CHECK(said);
    stk_arena_deinit(&arena);
    synth_end(&s);
}

// Steps that can be replayed have no prices where the profile does not say where their time goes.
static void check_abstained(void)
{
    struct synth s;
    struct stk_run_sum *run;
    struct stk_arena arena;
    synth_begin(&s);
    add_steps(&s, 0);
    struct stk_gate gate = gate_of_judged(&s, STK_VERDICT_CANNOT_TELL, &run, &arena);
    CHECK(!gate.ok && gate.has_figures);
    CHECK(gate.why_count == 1 && strstr(gate.why[0], "doesn't show where the time"));
    stk_arena_deinit(&arena);
    synth_end(&s);
}

// A kernel that lasts for a century: any answer about it gives a reason.
static void check_absurd(void)
{
    static const double lasts_us[] = {3e15, 9.2e15};
    for (int i = 0; i < 2; i++) {
        struct synth s;
        struct stk_run_sum *run;
        struct stk_arena arena;
        synth_begin(&s);
        add_steps(&s, 0);
        synth_launch(&s, MAIN, 9000, 5, SGEMM, 9010, lasts_us[i], 9);
        struct stk_gate gate = gate_of(&s, &run, &arena);
        CHECK(gate.ok || gate.why_count > 0);
        CHECK(!gate.has_figures || gate.measured_ns >= 0);
        stk_arena_deinit(&arena);
        synth_end(&s);
    }
}

// Work that begins a millisecond before its call: clocks that do not agree.
static void check_early(void)
{
    struct synth s;
    struct stk_run_sum *run;
    struct stk_arena arena;
    synth_begin(&s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US + STEP_US;
        synth_step(&s, MAIN, at, STEP_US - 10, k);
        synth_launch(&s, MAIN, at + 2000, 5, SGEMM, at + 1000, 5000, STREAM);
    }
    struct stk_gate gate = gate_of(&s, &run, &arena);
    CHECK(gate.ok || gate.why_count > 0);
    CHECK(!gate.ok || (gate.replay_error < 0.05 && gate.measured_ns > 0));
    stk_arena_deinit(&arena);
    synth_end(&s);
}

// Collectives of a rank whose peers' profiles are not there: who waits for whom is not known.
static void check_one_of_many(void)
{
    struct job j;
    synth_begin(&j.s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US;
        synth_step(&j.s, MAIN, at, STEP_US - 10, k);
        synth_launch(&j.s, MAIN, at + 100, 5, SGEMM, at + 110, 5000, STREAM);
        synth_launch(&j.s, MAIN, at + 120, 5, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 5120,
                     3000, 9);
        synth_host(&j.s, MAIN, at + 200, 7925, "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    }
    summarize(&j);
    CHECK(strstr(refusal(&j, "no-straggler"), "profiles of several ranks") != NULL);
    struct stk_price p = price(&j, "kernel-faster=2");
    CHECK(p.expected < 1);
    end(&j);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_unlinked);
    CHECK_RUN(check_abstained);
    CHECK_RUN(check_absurd);
    CHECK_RUN(check_early);
    CHECK_RUN(check_one_of_many);
    return check_done("unit.whatif_bad");
}
