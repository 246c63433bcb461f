// SPDX-License-Identifier: Apache-2.0
// TensorFlow steps that are suspended while tf.data's threads work: no CPU core is left for them.
// One small trace each; times in microseconds.
#include "synth.h"

#include "profile/model/verdict/verdict.h"

#define MAIN 1
#define POOL 2
#define LOADER 3
#define GETTER 4
#define STEPS 6
#define STEP_US 10000

static int64_t part_us(const struct stk_rank_sum *r, enum stk_part part)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < r->step_count; i++) {
        ns += r->steps[i].excluded ? 0 : r->steps[i].parts[part];
    }
    return ns / 1000;
}

#define PART(r, part, us) CHECK_EQ(part_us(r, STK_PART_##part), STEPS *(us))

static void begin(struct synth *s)
{
    struct stk_track_key loader = {
        .kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = LOADER};
    synth_begin(s);
    stk_build_track_name(s->build, &loader, STK_STR("tf_data_private_threadpool"));
}

// In each step 8 ms of a function's call: an operation runs in the first and in the last of them,
// and between the two tf.data's thread does `loader` for 4 ms. The call fetches its batch itself.
static void steps_of(struct synth *s, const char *call, const char *loader)
{
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(s, MAIN, t, STEP_US, i);
        synth_host(s, MAIN, t + 1000, 8000, call, STK_KIND_HOST_OP);
        synth_host(s, GETTER, t + 1000, 100, "IteratorGetNextOp::DoCompute", STK_KIND_INPUT);
        synth_host(s, POOL, t + 1000, 1000, "conv:Conv2D", STK_KIND_HOST_OP);
        synth_host(s, POOL, t + 8000, 1000, "sum:Sum", STK_KIND_HOST_OP);
        synth_host(s, LOADER, t + 3000, 4000, loader, STK_KIND_INPUT);
    }
}

static void check_works(void)
{
    static const char *const works[] = {"Iterator::Root::Prefetch::Map", "ExecutorState::Process",
                                        "Iterator::Root::Prefetch::FlatMap[0]::Generator"};
    for (size_t n = 0; n < sizeof works / sizeof *works; n++) {
        struct synth s;
        begin(&s);
        steps_of(&s, "FunctionRun", works[n]);
        synth_host(&s, LOADER, STEPS * STEP_US, 1, "Iterator::Root", STK_KIND_INPUT);
        struct stk_rank_sum *r = synth_summarize(&s);
        PART(r, INPUT, 4000);
        PART(r, COMPUTE, 4000);
        CHECK_EQ(r->facts.standstill_ns, STEPS * 4000 * US);
        synth_end(&s);
    }
}

// A stage with workers of its own only waits for them, whoever calls it; what is compiled by XLA
// records no operations.
static void check_none(void)
{
    static const char *const cases[][2] = {
        {"FunctionRun", "Iterator::Root::Prefetch::ParallelMapV2"},
        {"FunctionRun", "Iterator::Root::Prefetch"},
        {"ThunkExecutor::Execute (wait for completion)", "Iterator::Root::Prefetch::Map"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct synth s;
        begin(&s);
        steps_of(&s, cases[n][0], cases[n][1]);
        struct stk_rank_sum *r = synth_summarize(&s);
        PART(r, INPUT, 0);
        PART(r, COMPUTE, 8000);
        CHECK_EQ(r->facts.standstill_ns, 0);
        synth_end(&s);
    }
}

// A loop that fetches before it calls the step has its wait there.
static void check_outside(void)
{
    struct synth s;
    begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 900, "IteratorGetNext", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 1000, 8000, "FunctionRun", STK_KIND_HOST_OP);
        synth_host(&s, POOL, t + 1000, 1000, "conv:Conv2D", STK_KIND_HOST_OP);
        synth_host(&s, LOADER, t + 3000, 4000, "Iterator::Root::Prefetch::Map", STK_KIND_INPUT);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, 900);
    PART(r, COMPUTE, 8000);
    CHECK_EQ(r->facts.standstill_rest_ns, STEPS * 7000 * US);
    synth_end(&s);
}

// Between two operations of a step the executor takes a while, and calls them short of 200 us.
static void check_short(void)
{
    struct synth s;
    begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 1000, 8000, "FunctionRun", STK_KIND_HOST_OP);
        for (int k = 0; k < 40; k++) {
            synth_host(&s, POOL, t + 1000 + 200 * k, 50, "mul:Mul", STK_KIND_HOST_OP);
        }
        synth_host(&s, LOADER, t, 9000, "Iterator::Root::Prefetch::Map", STK_KIND_INPUT);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, 0);
    PART(r, COMPUTE, 8000);
    synth_end(&s);
}

// Operations that leave no event of their own are work of the executor's.
static void check_executor(void)
{
    struct synth s;
    begin(&s);
    steps_of(&s, "FunctionRun", "Iterator::Root::Prefetch::Map");
    for (int k = 0; k < STEPS * 60; k++) {
        synth_host(&s, POOL, k / 60 * STEP_US + 2000 + k % 60 * 100, 20, "ExecutorState::Process",
                   STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, 0);
    PART(r, COMPUTE, 8000);
    CHECK_EQ(r->facts.standstill_ns + r->facts.standstill_rest_ns, 0);
    synth_end(&s);
}

// Collectives run beside the operations, and a step may wait for one of another rank.
static void check_collectives(void)
{
    struct synth s;
    begin(&s);
    steps_of(&s, "FunctionRun", "Iterator::Root::Prefetch::Map");
    for (int i = 0; i < STEPS; i++) {
        synth_host(&s, POOL, i * STEP_US + 2500, 10, "reduce:CollectiveReduceV2", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK(r->facts.host_collective_ns > 0);
    PART(r, INPUT, 0);
    synth_end(&s);
}

// TensorFlow works without Python's lock, and takes it again at the end of a call.
static void check_lock(const char *function, int64_t waits_us)
{
    struct synth s;
    begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 1000, 8000, "TFE_Py_ExecuteCancelable", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 1010, 7490, "EagerExecute", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 2000, 6000, "FunctionRun", STK_KIND_HOST_OP);
        synth_host(&s, POOL, t + 2100, 5900, "conv:Conv2D", STK_KIND_HOST_OP);
        synth_host(&s, GETTER, t + 2000, 50, "IteratorGetNextOp::DoCompute", STK_KIND_INPUT);
        synth_host(&s, LOADER, t + 3000, 5900, "Iterator::Root::Prefetch::FlatMap::Generator",
                   STK_KIND_INPUT);
        synth_host(&s, LOADER, t + 3010, 5800, function, STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->facts.lock_ns, STEPS * waits_us * US);
    PART(r, INPUT, 50 + waits_us);
    PART(r, HOST, 8000 - 6000 - waits_us);
    PART(r, COMPUTE, 5950);
    synth_end(&s);
}

static void check_locks(void)
{
    check_lock("PyFunc:PyFunc", 500);
    check_lock("decode:DecodeJpeg", 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_works);
    CHECK_RUN(check_none);
    CHECK_RUN(check_outside);
    CHECK_RUN(check_short);
    CHECK_RUN(check_executor);
    CHECK_RUN(check_collectives);
    CHECK_RUN(check_locks);
    return check_done("unit.input_standstill");
}
