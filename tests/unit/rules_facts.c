// SPDX-License-Identifier: Apache-2.0
// Advice by what a profile shows about TensorFlow's loops, concatenations, loss scaling and
// placement, several devices in a process, a tf.data map with a GPU, and kernels with unsuitable
// sizes or layout: it is given if the profile shows that, and not otherwise.
#include "rules_run.h"

static struct fake f;

// A TensorFlow job whose device (or host step) loses half of the time to the host.
static void tensorflow(enum stk_scope scope)
{
    fake_init(&f, 1, scope);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    fake_part(&f, STK_PART_HOST, 0.5, -1);
    f.run.causes[STK_PART_HOST].ns = 50000000;
}

static const struct stk_rep_finding *host_bound(void)
{
    fake_ask(&f);
    return fake_finding(&f, "host-bound");
}

static void sign(enum stk_sign which, uint64_t a_step)
{
    f.run.facts.signs[which].count = a_step * FAKE_STEPS;
}

static void loops(void)
{
    tensorflow(STK_SCOPE_HOST);
    sign(STK_SIGN_WHILE_LOOP, 51);
    const struct stk_rep_finding *x = host_bound();
    CHECK(advises(x, "tf.cumsum") == 0 && says(x, "51 loop conditions"));
    fake_done(&f);
    tensorflow(STK_SCOPE_HOST);
    sign(STK_SIGN_WHILE_LOOP, 19);
    CHECK(advises(host_bound(), "tf.cumsum") < 0);
    fake_done(&f);
    // Several steps in a call, as was advised: each iteration fetches its batch.
    tensorflow(STK_SCOPE_HOST);
    sign(STK_SIGN_WHILE_LOOP, 51);
    f.run.facts.loader_fetches = 51 * FAKE_STEPS;
    CHECK(advises(host_bound(), "tf.cumsum") < 0);
    fake_done(&f);
    tensorflow(STK_SCOPE_HOST);
    sign(STK_SIGN_WHILE_LOOP, 51);
    sign(STK_SIGN_KERAS, 1);
    CHECK(advises(host_bound(), "tf.cumsum") < 0);
    fake_done(&f);
}

static void concatenations(void)
{
    tensorflow(STK_SCOPE_STEPS);
    sign(STK_SIGN_CONCAT, 30);
    fake_name(&f, STK_PART_HOST, "step/concat_3:ConcatV2");
    const struct stk_rep_finding *x = host_bound();
    CHECK(advises(x, "one tensor") >= 0 && says(x, "Tensors are concatenated 30 times per step"));
    fake_done(&f);
    tensorflow(STK_SCOPE_STEPS);
    sign(STK_SIGN_CONCAT, 30); // somewhere, not where the device waits
    CHECK(advises(host_bound(), "one tensor") < 0);
    fake_done(&f);
}

static void loss_scaling(void)
{
    tensorflow(STK_SCOPE_STEPS);
    sign(STK_SIGN_LOSS_SCALE, 40);
    const struct stk_rep_finding *x = host_bound();
    CHECK(advises(x, "bfloat16 needs no scaling") >= 0 &&
          says(x, "checks gradients 40 times per step"));
    fake_done(&f);
    tensorflow(STK_SCOPE_STEPS);
    sign(STK_SIGN_LOSS_SCALE, 40);
    f.devices[0].name = "Tesla V100-SXM2-16GB";
    x = host_bound();
    CHECK(advises(x, "fixed scale") >= 0 && advises(x, "bfloat16 needs no scaling") < 0);
    fake_done(&f);
    tensorflow(STK_SCOPE_STEPS);
    sign(STK_SIGN_LOSS_SCALE, 2);
    CHECK(advises(host_bound(), "bfloat16 needs no scaling") < 0);
    fake_done(&f);
}

// model.predict in a callback, against a loop that makes its iterator once.
static void iterators_made_anew(void)
{
    for (uint64_t a_step = 0; a_step < 2; a_step++) {
        tensorflow(STK_SCOPE_HOST);
        sign(STK_SIGN_KERAS, 1);
        sign(STK_SIGN_EAGER_OP, 20);
        sign(STK_SIGN_ITERATOR, a_step);
        f.run.facts.signs[STK_SIGN_ITERATOR].ns = f.run.parts[STK_PART_HOST] / 2;
        const struct stk_rep_finding *x = host_bound();
        CHECK_EQ(advises(x, "instead of model.predict") == 0, a_step == 1);
        CHECK_EQ(advises(x, "run_eagerly=False") == 0, a_step == 0);
        fake_done(&f);
    }
}

static void placement(void)
{
    tensorflow(STK_SCOPE_STEPS);
    fake_name(&f, STK_PART_HOST, "model/lookup/Unique:Unique"); // 5 ms in 6 intervals
    const struct stk_rep_finding *x = host_bound();
    CHECK(advises(x, "set_log_device_placement") == 0);
    CHECK(says(x, "model/lookup/Unique:Unique runs on the CPU: the GPU waits 5.00 ms"));
    fake_done(&f);
    tensorflow(STK_SCOPE_STEPS);
    fake_name(&f, STK_PART_HOST, "model/dense/MatMul:MatMul");
    f.run.causes[STK_PART_HOST].names[0].count = 100; // 50 us each: it launches
    CHECK(advises(host_bound(), "set_log_device_placement") < 0);
    fake_done(&f);
    tensorflow(STK_SCOPE_STEPS);
    fake_name(&f, STK_PART_HOST, "train.py:12 main");
    CHECK(advises(host_bound(), "set_log_device_placement") < 0);
    fake_done(&f);
    tensorflow(STK_SCOPE_HOST); // there is no device that could wait
    fake_name(&f, STK_PART_HOST, "model/lookup/Unique:Unique");
    CHECK(advises(host_bound(), "set_log_device_placement") < 0);
    fake_done(&f);
}

static void launching_threads(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    fake_part(&f, STK_PART_LAUNCH, 0.5, -1);
    f.run.facts.has_iterators = true;
    CHECK(advises(host_bound(), "TF_GPU_THREAD_COUNT=2") >= 0);
    f.run.facts.has_iterators = false;
    CHECK(advises(host_bound(), "TF_GPU_THREAD_COUNT") < 0);
    fake_done(&f);
}

static void cross_device(void)
{
    for (uint32_t busy = 1; busy <= 2; busy++) {
        fake_init(&f, 1, STK_SCOPE_STEPS);
        f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
        fake_part(&f, STK_PART_COMMUNICATION, 0.4, -1);
        f.rank[0].device_count = 2;
        for (uint32_t d = 0; d < busy; d++) {
            f.devices[d].communication_ns = 300;
        }
        fake_ask(&f);
        CHECK_EQ(advises(fake_finding(&f, "communication-exposed"), "NcclAllReduce") >= 0,
                 busy == 2);
        fake_done(&f);
    }
}

static int map_advice(const char *kind, enum stk_scope scope)
{
    fake_init(&f, 1, scope);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    fake_part(&f, STK_PART_INPUT, 0.5, -1);
    f.run.slow_stage = (struct stk_slow_stage){.stage = "Iterator::Prefetch::ParallelMapV2",
                                               .kind = kind,
                                               .is_pipeline = true,
                                               .is_buffered = true,
                                               .self_ns = 100,
                                               .elements = 1,
                                               .parallelism = 8,
                                               .share = 0.9};
    fake_ask(&f);
    int at = advises(fake_finding(&f, "input-wait"), "always runs on the CPU");
    fake_done(&f);
    return at;
}

// Calls of tiny operations are the host's loss where they, or what else it does, are a loss by
// themselves; a model may consist of small operations.
static void tiny_calls(double host, double tiny, uint64_t inside, enum stk_verdict_kind kind)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_HOST, host, -1);
    int64_t tiny_ns = (int64_t)(tiny * FAKE_STEPS * (double)FAKE_STEP_NS);
    f.run.facts.signs[STK_SIGN_ATEN] = (struct stk_sign_sum){
        .count = 20000 * FAKE_STEPS, .outer = 20000 * FAKE_STEPS / inside, .ns = tiny_ns};
    fake_ask(&f);
    CHECK_STR(stk_verdict_key(f.verdict.kind), stk_verdict_key(kind));
    fake_done(&f);
}

// A map that is parallel is not told to be, on however many threads it was seen; what works more
// beside the limiting stage is named.
static void parallel_maps(void)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    fake_part(&f, STK_PART_INPUT, 0.5, -1);
    f.run.slow_stage = (struct stk_slow_stage){.stage = "Iterator::Root::Prefetch::ParallelMapV2",
                                               .kind = "preprocess",
                                               .is_pipeline = true,
                                               .is_buffered = true,
                                               .self_ns = 100,
                                               .elements = 1,
                                               .parallelism = 1,
                                               .share = 0.9};
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "input-wait"), "runs in parallel already") == 0);
    f.run.slow_stage.stage = "Iterator::Root::Prefetch::GroupByWindow";
    f.run.slow_stage.kind = "batch";
    f.run.slow_stage.next = "Iterator::Root::Prefetch::GroupByWindow::ParallelMapV2";
    f.run.slow_stage.next_kind = "preprocess";
    f.run.slow_stage.next_is_beside = true;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "input-wait");
    CHECK(says(x, "GroupByWindow::ParallelMapV2 runs in parallel"));
    CHECK(advises(x, "padded_batch") == 2 && advises(x, "runs in parallel already") == 0);
    fake_done(&f);
}

static void maps(void)
{
    CHECK(map_advice("preprocess", STK_SCOPE_STEPS) > 0);
    CHECK(map_advice("read", STK_SCOPE_STEPS) < 0);
    CHECK(map_advice("preprocess", STK_SCOPE_HOST) < 0); // no device that anybody could mean
}

// A healthy job whose kernels are one of this name and a product of another.
static const struct stk_rep_finding *computing(const char *kernel, int64_t ns)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_name(&f, STK_PART_COMPUTE, "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_tn");
    fake_name(&f, STK_PART_COMPUTE, kernel);
    f.run.causes[STK_PART_COMPUTE].ns = 100000000;
    f.run.causes[STK_PART_COMPUTE].names[1].ns = ns;
    fake_ask(&f);
    return fake_finding(&f, "compute-bound");
}

static void kernels(void)
{
    const struct stk_rep_finding *x =
        computing("cutlass_80_tensorop_f16_s16816gemm_f16_64x64_32x6_nn_align2", 5000000);
    CHECK(advises(x, "multiples of 8") >= 0 && says(x, "5.0% of compute uses kernels for sizes"));
    fake_done(&f);
    x = computing("cutlass_80_tensorop_f16_s16816gemm_f16_64x64_32x6_nn_align8", 5000000);
    CHECK(advises(x, "multiples of 8") < 0);
    fake_done(&f);
    x = computing("cutlass_80_simt_sgemm_128x64_8x5_nn_align1", 5000000); // always so
    CHECK(advises(x, "multiples of 8") < 0);
    fake_done(&f);
    x = computing("cutlass_80_tensorop_f16_s16816gemm_f16_64x64_32x6_nn_align2", 1000000);
    CHECK(advises(x, "multiples of 8") < 0); // too little
    fake_done(&f);
}

// Launches of an inference engine: its own graphs, and no call that it does not have.
static void engines(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.5, -1);
    CHECK(advises(host_bound(), "torch.compile(model") == 0);
    sign(STK_SIGN_ENGINE, 40);
    const struct stk_rep_finding *x = host_bound();
    CHECK(advises(x, "enforce_eager=False") == 0 && advises(x, "torch.compile(model") < 0);
    f.run.facts.graph_launches = 6; // it has them on
    CHECK(advises(host_bound(), "enforce_eager=False") < 0);
    fake_done(&f);
}

// What a pass without gradients may be depends on the framework.
static void passes(enum stk_framework framework, const char *is, const char *other)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.frameworks = 1u << framework;
    f.run.facts.sees_operators = true;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "training-not-recorded");
    CHECK(says(x, is) && !says(x, other));
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(loops);
    CHECK_RUN(concatenations);
    CHECK_RUN(loss_scaling);
    CHECK_RUN(iterators_made_anew);
    CHECK_RUN(placement);
    CHECK_RUN(launching_threads);
    CHECK_RUN(cross_device);
    CHECK_RUN(tiny_calls, 0.13, 0.11, 4, STK_VERDICT_COMPUTE);
    CHECK_RUN(tiny_calls, 0.21, 0.11, 4, STK_VERDICT_HOST);
    CHECK_RUN(tiny_calls, 0.01, 0.30, 4, STK_VERDICT_HOST);
    CHECK_RUN(tiny_calls, 0.01, 0.30, 80, STK_VERDICT_COMPUTE); // an operator's own loop
    CHECK_RUN(maps);
    CHECK_RUN(parallel_maps);
    CHECK_RUN(kernels);
    CHECK_RUN(engines);
    CHECK_RUN(passes, STK_FW_TENSORFLOW, "before training (adapt())", "TextVectorization");
    CHECK_RUN(passes, STK_FW_PYTORCH, "a pass before training", "adapt()");
    CHECK_RUN(passes, STK_FW_JAX, "jax.grad or vjp", "weight updates");
    return check_done("unit.rules_facts");
}
