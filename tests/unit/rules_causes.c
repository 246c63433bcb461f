// SPDX-License-Identifier: Apache-2.0
// The rules of causes: they fire at their threshold and not below, name what they saw, choose the
// advice that suits, and stay quiet on artefacts.
#include "results/print/text_parts.h"
#include "rules_run.h"

static struct fake f;

// A cause takes `share` of every step; is the rule in this state?
static void share_gives(const char *id, enum stk_part part, enum stk_scope scope, double share,
                        const char *state)
{
    fake_init(&f, 1, scope);
    fake_part(&f, part, share, -1);
    fake_ask(&f);
    if (strcmp(fake_state(&f, id), state) != 0) {
        fprintf(stderr, "%s with %.3f: \n", id, share);
    }
    CHECK_STR(fake_state(&f, id), state);
    if (strcmp(state, "fired") == 0) {
        const struct stk_rep_finding *x = fake_finding(&f, id);
        CHECK_EQ(x->steps_affected, FAKE_STEPS);
        CHECK(x->saving.has_high && x->saving.high_share > share - 1e-6 &&
              x->saving.high_share < share + 1e-6);
        CHECK(x->saving.has_low && x->saving.low_share == 0 && !x->saving.has_expected);
        CHECK_STR(x->saving.basis, "bound");
        CHECK(says(x, "6/6 steps"));
        CHECK(x->fix.count > 0 && x->explain && strstr(x->explain, id));
    }
    fake_done(&f);
}

static void thresholds(void)
{
    share_gives("input-wait", STK_PART_INPUT, STK_SCOPE_STEPS, 0.031, "fired");
    share_gives("input-wait", STK_PART_INPUT, STK_SCOPE_STEPS, 0.029, "passed");
    share_gives("input-wait", STK_PART_INPUT, STK_SCOPE_HOST, 0.16, "fired");
    share_gives("input-wait", STK_PART_INPUT, STK_SCOPE_HOST, 0.14, "passed");
    share_gives("host-bound", STK_PART_LAUNCH, STK_SCOPE_STEPS, 0.051, "fired");
    share_gives("host-bound", STK_PART_LAUNCH, STK_SCOPE_STEPS, 0.049, "passed");
    share_gives("host-bound", STK_PART_HOST, STK_SCOPE_HOST, 0.16, "fired");
    share_gives("host-bound", STK_PART_HOST, STK_SCOPE_HOST, 0.14, "passed");
    share_gives("host-sync", STK_PART_SYNC, STK_SCOPE_STEPS, 0.021, "fired");
    share_gives("host-sync", STK_PART_SYNC, STK_SCOPE_STEPS, 0.019, "passed");
    share_gives("transfer-exposed", STK_PART_H2D, STK_SCOPE_STEPS, 0.021, "fired");
    share_gives("transfer-exposed", STK_PART_D2H, STK_SCOPE_STEPS, 0.019, "passed");
    share_gives("transfer-exposed", STK_PART_D2H, STK_SCOPE_HOST, 0.14, "passed");
    share_gives("communication-exposed", STK_PART_COMMUNICATION, STK_SCOPE_STEPS, 0.031, "fired");
    share_gives("communication-exposed", STK_PART_COMMUNICATION, STK_SCOPE_STEPS, 0.029, "passed");
    share_gives("cold-start", STK_PART_COMPILE, STK_SCOPE_STEPS, 0.031, "fired");
    share_gives("cold-start", STK_PART_COMPILE, STK_SCOPE_STEPS, 0.029, "passed");
}

// The function of the user's own is named with the sum over all its calls, and its line.
static void owners(void)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_HOST, 0.4, -1);
    struct stk_cause *c = &f.run.causes[STK_PART_HOST];
    c->ns = f.run.parts[STK_PART_HOST];
    fake_name(&f, STK_PART_HOST, "<built-in function fsync>");
    c->owners[c->owner_count++] =
        (struct stk_cause_name){"jobs/train.py(50): save_checkpoint", 200000000, 4};
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(says(x, "200 ms of it is in save_checkpoint (train.py:50), 4 calls"));
    CHECK(!says(x, "of it in <built-in"));
    CHECK(x->has_source && x->source.line == 50);
    CHECK_STR(x->source.file, "jobs/train.py");
    CHECK(advises(x, "your own code") == 0 && advises(x, "Write checkpoints") < 0);
    f.run.facts.signs[STK_SIGN_CHECKPOINT] = (struct stk_sign_sum){.count = 4, .ns = 200000000};
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "host-bound"), "Write checkpoints rarely"), 0);
    fake_done(&f);
}

// A function of the job that framework code calls repeatedly is named, too, from a tenth of the
// wait on; the loop, which is called once, isn't.
static void called_again(int64_t own_ns, uint32_t calls, bool named)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    struct stk_cause *c = &f.run.causes[STK_PART_INPUT];
    c->ns = f.run.parts[STK_PART_INPUT];
    fake_name(&f, STK_PART_INPUT, "$data_loader.py:303 __next__");
    c->owners[c->owner_count++] =
        (struct stk_cause_name){"$plants.py:19 split_berry", own_ns, calls};
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "input-wait");
    CHECK(says(x, " is in $data_loader.py:303 __next__"));
    CHECK(says(x, " is in your split_berry (plants.py:19), 12 calls") == named);
    CHECK(says(x, "in your ") == named);
    fake_done(&f);
}

// A job whose own function waits for a connection gets the advice to ask rarely.
static void awaited_answer(const char *blocked_in, const char *own, bool told)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_WAIT, 0.5, -1);
    struct stk_cause *c = &f.run.causes[STK_PART_WAIT];
    c->ns = f.run.parts[STK_PART_WAIT];
    fake_name(&f, STK_PART_WAIT, blocked_in);
    if (own) {
        c->owners[c->owner_count++] = (struct stk_cause_name){own, c->ns, FAKE_STEPS};
    }
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK_EQ(advises(x, "Call it every hundred steps"), told ? 0 : -1);
    CHECK_EQ(advises(x, "blocked, not busy"), told ? 1 : 0);
    fake_done(&f);
}

// Tensors that the job makes in each step, and those that Keras makes.
static void constants(bool keras, uint64_t each, int at)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_HOST, 0.4, -1);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    f.run.facts.signs[STK_SIGN_KERAS].count = keras ? FAKE_STEPS : 0;
    f.run.facts.signs[STK_SIGN_CONSTANT].count = each * FAKE_STEPS;
    f.run.facts.signs[STK_SIGN_CONSTANT].ns = f.run.parts[STK_PART_HOST] / 2;
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "host-bound"), "makes tensors"), at);
    fake_done(&f);
}

// A tf.function of what the loop calls one by one pays where that is many.
static void rounds(uint64_t each, const char *advice)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_HOST, 0.4, -1);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    f.run.facts.signs[STK_SIGN_EAGER_OP].count = 60 * each * FAKE_STEPS;
    f.run.facts.signs[STK_SIGN_EAGER_OP].ns = 1;
    f.run.facts.signs[STK_SIGN_FUNCTION] = (struct stk_sign_sum){.count = 6, .ns = 60000000};
    f.run.facts.eager_rounds = 60 * FAKE_STEPS;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "host-bound"), advice) == 0);
    f.run.facts.signs[STK_SIGN_FUNCTION].count = 0; // no tf.function, or it runs eagerly
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "host-bound"), "remove tf.config.run_functions_eagerly(True)") ==
          0);
    fake_done(&f);
}

// What the profile shows of the job chooses the advice.
static void host_evidence(void)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_HOST, 0.4, -1);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    f.run.facts.signs[STK_SIGN_EAGER_OP].count = 19 * FAKE_STEPS;
    f.run.facts.signs[STK_SIGN_FUNCTION] = (struct stk_sign_sum){.count = 60, .ns = 60 * 4900000};
    fake_ask(&f); // calling them takes 18 ms, far less than a fifth of what the host loses
    CHECK(advises(fake_finding(&f, "host-bound"), "tf.range(steps)") < 0);
    f.run.facts.signs[STK_SIGN_FUNCTION] =
        (struct stk_sign_sum){.count = 400, .ns = 400 * 4900000ll};
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(says(x, "400 calls of a tf.function take 4.90 ms each"));
    CHECK(advises(x, "tf.range(steps)") == 0 && advises(x, "one graph") < 0);
    f.run.facts.signs[STK_SIGN_KERAS].count = 6;
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "host-bound"), "steps_per_execution"), 0);
    f.run.facts.signs[STK_SIGN_FUNCTION].ns = 400 * 5100000ll;
    fake_ask(&f);
    x = fake_finding(&f,
                     "host-bound"); // what is between long calls is needed once for several, too
    CHECK(advises(x, "Each call is short") < 0 && advises(x, "Between two calls") == 0);
    f.run.facts.signs[STK_SIGN_EAGER_OP].count = 20 * FAKE_STEPS;
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK(says(x, "120 operations run eagerly") && advises(x, "run_eagerly=False") < 0);
    CHECK(advises(x, "save_freq='epoch'") == 0); // the step is compiled: a callback's
    struct stk_sign_sum calls = f.run.facts.signs[STK_SIGN_FUNCTION];
    f.run.facts.signs[STK_SIGN_FUNCTION].count = 0;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "host-bound"), "run_eagerly=False") == 0);
    f.run.facts.signs[STK_SIGN_FUNCTION] = calls;
    f.run.facts.signs[STK_SIGN_SUMMARY].count = FAKE_STEPS;
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK(advises(x, "writes summaries") == 0 && advises(x, "run_eagerly=False") < 0);
    f.run.facts.signs[STK_SIGN_SUMMARY].count = FAKE_STEPS - 1;
    f.run.facts.signs[STK_SIGN_KERAS].count = 0;
    fake_ask(&f);
    x = fake_finding(&f, "host-bound"); // the step is a function already
    CHECK(advises(x, "tf.function(prepare)") == 0 && advises(x, "one graph") < 0);
    f.run.facts.signs[STK_SIGN_WRITING] = (struct stk_sign_sum){.count = 8, .ns = 30000000};
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "host-bound"), "encodes images or audio"), 0);
    f.run.facts.signs[STK_SIGN_WRITING].ns = 0;
    f.run.facts.signs[STK_SIGN_FUNCTION].count = FAKE_STEPS - 1;
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "host-bound"), "one graph"), 0);
    f.run.facts.signs[STK_SIGN_CONSTANT] = (struct stk_sign_sum){.count = 6, .ns = 30000000};
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "host-bound"), "tf.constant(values)"), 0);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.4, -1);
    f.run.facts.signs[STK_SIGN_COMPILED].count = 6;
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK(advises(x, "compiled already") == 0 && advises(x, "compile the model") < 0);
    f.run.facts.graph_launches = 6;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "host-bound"), "torch.compile") < 0);
    fake_done(&f);
}

// Python in a graph, and operations of JAX that run one by one, have advice of their own.
static void host_calls(void)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_HOST, 0.4, -1);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    fake_name(&f, STK_PART_HOST, "rank/EagerPyFunc:EagerPyFunc");
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "host-bound"), "graph calls Python"), 0);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_HOST, 0.4, -1);
    f.run.facts.frameworks = 1u << STK_FW_JAX;
    f.run.facts.signs[STK_SIGN_JAX_CALL].outer = 10 * FAKE_STEPS;
    f.run.facts.signs[STK_SIGN_JAX_CALL].count = 19 * FAKE_STEPS;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "host-bound"), "jax.jit(prepare)") < 0);
    f.run.facts.signs[STK_SIGN_JAX_CALL].count = 20 * FAKE_STEPS;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(advises(x, "jax.jit(prepare)") == 0 && says(x, "calls JAX's compiled code 120 times"));
    // Within calls of a function under jit: it is switched off, unless they trace it.
    f.run.facts.signs[STK_SIGN_JAX_CALL].outer = FAKE_STEPS;
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK(advises(x, "jit is off") == 0 && advises(x, "jax.jit(prepare)") < 0);
    CHECK(says(x, "114 recorded JAX calls from Python, within 6 calls"));
    f.run.facts.signs[STK_SIGN_CALLBACK].count = 1;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "host-bound"), "jit is off") < 0);
    f.run.facts.signs[STK_SIGN_CALLBACK].count = 0;
    f.run.facts.compile_recurring_ns = f.run.parts[STK_PART_HOST] / 5;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "host-bound"), "jit is off") < 0);
    fake_done(&f);
}

static void host_advice(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_ALLOC, 0.5, -1);
    fake_name(&f, STK_PART_ALLOC, "hipFree");
    f.run.facts.alloc_calls = 1360;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK_STR(x->title, "The device waits for memory allocation");
    CHECK(says(x, "hipFree") && says(x, "1,360 allocation and free calls"));
    CHECK(advises(x, "caching allocator") == 0 && advises(x, "reduce-overhead") < 0);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.3, -1);
    fake_part(&f, STK_PART_HOST, 0.2, -1);
    f.devices[0].short_kernels = 400;
    f.run.facts.launch_call_median_ns = 6100;
    f.run.facts.python_events = 10;
    fake_name(&f, STK_PART_LAUNCH, "torch/optim/adam.py(300): _single_tensor_adam");
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK_STR(x->title, "The device waits for kernel launches");
    CHECK(says(x, "400 of 500 kernels are shorter than 10 us") && says(x, "6.10 us each (median)"));
    CHECK(says(x, "Python tracing slows"));
    CHECK(advises(x, "reduce-overhead") == 0 && advises(x, "torch.optim.Adam(") == 1);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.3, -1);
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK_STR(x->title, "The device waits for Python and the framework");
    CHECK(advises(x, "log every hundred steps") == 0 && advises(x, "reduce-overhead") < 0);
    fake_done(&f);
}

// Kernels without launch calls, mostly short: the verdict says host, and the finding says how sure.
static void host_unlinked(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_UNKNOWN, 0.8, -1);
    f.devices[0].short_kernels = 450;
    f.run.facts.unlinked_ops = 600;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(f.verdict.kind == STK_VERDICT_HOST);
    CHECK_EQ(x->confidence, STK_LEVEL_LOW);
    CHECK(says(x, "idle 80% of the time"));
    CHECK_STR(fake_state(&f, "capture-unlinked"), "fired");
    fake_done(&f);
}

static void sync_advice(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_SYNC, 0.3, -1);
    fake_name(&f, STK_PART_SYNC, "aten::item");
    fake_name(&f, STK_PART_SYNC, "cudaDeviceSynchronize");
    f.run.facts.sync_calls = 12;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-sync");
    CHECK(f.verdict.kind == STK_VERDICT_SYNC);
    CHECK(says(x, "aten::item") && says(x, "12 blocking calls"));
    CHECK(advises(x, ".item()") == 0 && advises(x, "torch.cuda.synchronize") == 1);
    CHECK(advises(x, "torch.where") < 0 && advises(x, "set_sync_debug_mode") > 1);
    fake_done(&f);

    // Long blocking calls that the device's work hides: no idle time, no finding.
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.sync_calls = 1000;
    f.run.facts.sync_call_ns = FAKE_STEPS * FAKE_STEP_NS;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "host-sync"), "passed");
    fake_done(&f);
}

static void transfer_advice(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_H2D, 0.3, -1);
    f.run.facts.copies = 12;
    f.run.facts.pageable_copies = 10;
    f.run.facts.pageable_bytes = 5000000;
    f.run.facts.copy_ns = 1000;
    f.run.facts.pageable_copy_ns = 900;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "transfer-exposed");
    CHECK(f.verdict.kind == STK_VERDICT_TRANSFER);
    CHECK(says(x, "10 of 12 copies use pageable memory: 5.00 MB") &&
          advises(x, "pin_memory=True") == 0);
    CHECK(advises(x, "into one buffer") < 0);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_H2D, 0.9, -1);
    f.run.facts.copies = 100;
    f.run.facts.pinned_copies = 12; // few, but they take the time
    f.run.facts.pageable_copies = 88;
    f.run.facts.copy_ns = 1000;
    f.run.facts.pageable_copy_ns = 10;
    f.run.facts.frameworks = 1u << STK_FW_PYTORCH;
    fake_ask(&f);
    x = fake_finding(&f, "transfer-exposed");
    CHECK(says(x, "12 copies use pinned memory already") && advises(x, "pin_memory=True") < 0);
    CHECK(advises(x, "optimizer state") == 0);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_H2D, 0.9, -1);
    f.devices[0].kind = STK_DEVICE_TPU;
    f.run.facts.frameworks = 1u << STK_FW_JAX;
    fake_ask(&f);
    x = fake_finding(&f, "transfer-exposed");
    CHECK_STR(x->title, "The TPU waits for copies");
    CHECK(advises(x, "with_memory_kind") == 0);
    CHECK_STR(fake_state(&f, "capture-unlinked"), "not_applicable");
    fake_done(&f);
}

// Copies inside of a device: memory of the host has no part in them, pinned or not, and a batch's
// tensors are not what they move.
static void transfer_within(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_D2D, 0.3, -1);
    fake_part(&f, STK_PART_H2D, 0.1, -1);
    f.run.facts.copies = 5000;
    f.run.facts.pinned_copies = 12;
    f.run.facts.copy_ns = 1000;
    f.devices[0].d2d_ns = 900;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "transfer-exposed");
    CHECK(advises(x, "within the GPU's own memory") == 0);
    CHECK(!says(x, "pinned memory") && advises(x, "into one buffer") < 0);
    f.devices[0].p2p_ns = 2000; // most go between devices
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "transfer-exposed"), "peer access"), 0);
    fake_done(&f);
}

static void communication_advice(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COMMUNICATION, 0.3, -1);
    f.devices[0].communication_ns = 300;
    f.devices[0].communication_exposed_ns = 75;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "communication-exposed");
    CHECK(says(x, "a straggler looks the same") && says(x, "hides 75%"));
    CHECK(advises(x, "bucket_cap_mb") == 0 && advises(x, "Record all ranks") > 0);
    CHECK_STR(fake_state(&f, "straggler"), "not_applicable");
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COMMUNICATION, 0.3, -1);
    fake_name(&f, STK_PART_COMMUNICATION, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t");
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "communication-exposed"), "all-to-all"), 0);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COMMUNICATION, 0.3, -1);
    fake_name(&f, STK_PART_COMMUNICATION, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    f.run.causes[STK_PART_COMMUNICATION].intervals = 30 * FAKE_STEPS;
    f.run.causes[STK_PART_COMMUNICATION].ns = 30 * FAKE_STEPS * INT64_C(200000);
    fake_ask(&f);
    x = fake_finding(&f, "communication-exposed");
    CHECK(says(x, "30 collectives per step, 200 us each"));
    CHECK(advises(x, "bucket_cap_mb=100") == 0 && advises(x, "smaller buckets") < 0);
    f.run.facts.signs[STK_SIGN_ENGINE].count = 1;
    fake_ask(&f);
    x = fake_finding(&f, "communication-exposed");
    CHECK(advises(x, "inference engine") == 0 && advises(x, "bucket_cap_mb") < 0);
    fake_done(&f);

    fake_init(&f, 2, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COLLECTIVE_WAIT, 0.3, -1);
    fake_ask(&f);
    x = fake_finding(&f, "communication-exposed");
    CHECK_STR(x->title, "Ranks wait for each other in collectives");
    CHECK(says(x, "12/12 steps of all devices"));
    CHECK_EQ(x->steps_affected, FAKE_STEPS); // of a rank, never over ranks
    CHECK_STR(fake_state(&f, "straggler"), "skipped");
    CHECK(advises(x, "equal work") == 0 && advises(x, "smaller buckets") < 0); // no network's fault
    CHECK(advises(x, "NCCL_DEBUG") < 0);
    fake_done(&f);

    // On the CPU as well; if the link is slow, the DDP advice fits gloo.
    fake_init(&f, 2, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_COLLECTIVE_WAIT, 0.15, -1);
    fake_part(&f, STK_PART_COMMUNICATION, 0.15, -1);
    fake_ask(&f);
    x = fake_finding(&f, "communication-exposed");
    CHECK(advises(x, "equal work") == 0 && advises(x, "GLOO_SOCKET_IFNAME") < 0);
    fake_done(&f);
    fake_init(&f, 2, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_COLLECTIVE_WAIT, 0.14, -1);
    fake_part(&f, STK_PART_COMMUNICATION, 0.16, -1);
    fake_ask(&f);
    x = fake_finding(&f, "communication-exposed");
    CHECK(advises(x, "equal work") < 0 && advises(x, "smaller buckets") == 0);
    CHECK(advises(x, "device_ids") < 0 && advises(x, "forward_prefetch") < 0);
    CHECK(advises(x, "GLOO_SOCKET_IFNAME") > 0);
    fake_done(&f);
}

static void straggling(void)
{
    fake_init(&f, 4, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COLLECTIVE_WAIT, 0.3, -1);
    for (int s = 0; s < FAKE_STEPS; s++) { // rank 2 waits for nobody, and prepares data instead
        struct stk_step *late = &f.steps[2 * FAKE_STEPS + s];
        late->parts[STK_PART_INPUT] = late->parts[STK_PART_COLLECTIVE_WAIT];
        late->parts[STK_PART_COLLECTIVE_WAIT] = 0;
    }
    fake_total(&f);
    f.run.straggler = (struct stk_straggler){.fired = true,
                                             .rank = 2,
                                             .wait_ns = 540000000,
                                             .wait_share = 0.3,
                                             .held_share = 1,
                                             .matched = 12,
                                             .last_count = 11,
                                             .clocks_agree = true};
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "straggler");
    CHECK(f.verdict.kind == STK_VERDICT_STRAGGLER);
    CHECK_STR(((const struct stk_rep_finding *)f.report.findings.items)[0].id, "straggler");
    CHECK_STR(x->title, "Ranks wait for rank 2");
    CHECK(says(x, "last in 11 of 12") && says(x, "Rank 2 spends 180 ms more"));
    CHECK(says(x, "waiting for the next batch"));
    CHECK_EQ(advises(x, "shard size"), 0);
    CHECK_STR(fake_state(&f, "communication-exposed"), "passed"); // the waiting is reported once
    f.run.facts.frameworks = 1u << STK_FW_PYTORCH;
    fake_part(&f, STK_PART_COMMUNICATION, 0.35, -1);
    fake_ask(&f);
    x = fake_finding(&f, "communication-exposed");
    CHECK(advises(x, "smaller buckets") < 0 && advises(x, "no_sync") >= 0);
    f.run.straggler.fired = false;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "communication-exposed"), "smaller buckets") >= 0);
    fake_done(&f);

    // What the late rank does is not made up: unknown idle time explains nothing.
    fake_init(&f, 2, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_UNKNOWN, 0.4, 0);
    f.run.straggler = (struct stk_straggler){.fired = true,
                                             .rank = 0,
                                             .wait_ns = 10000000,
                                             .wait_share = 0.1,
                                             .held_share = 1,
                                             .matched = 5};
    fake_ask(&f);
    x = fake_finding(&f, "straggler");
    CHECK(says(x, "The profiles don't show why") && says(x, "clocks disagree"));
    CHECK_EQ(x->severity, STK_LEVEL_MEDIUM);
    fake_done(&f);

    fake_init(&f, 2, STK_SCOPE_STEPS);
    f.run.straggler =
        (struct stk_straggler){.matched = 12, .wait_share = 0.02, .clocks_agree = true};
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "straggler"), "passed");
    fake_done(&f);
}

static void cold(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COMPILE, 0.6, -1);
    fake_name(&f, STK_PART_COMPILE, "cuModuleLoadData");
    f.rank[0].cold_ns = f.rank[0].facts.last_ns / 2;
    f.run.facts.startup_ns = 995000000;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "cold-start");
    CHECK(f.verdict.kind == STK_VERDICT_COLD);
    CHECK(says(x, "50% of the recorded time") &&
          says(x, "The first step or GPU operation starts after 995 ms"));
    CHECK(says(x, "cuModuleLoadData") && advises(x, "schedule(wait=5") == 0);
    CHECK(advises(x, "CUDA_MODULE_LOADING=LAZY") > 0 && advises(x, "INDUCTOR") < 0);
    fake_done(&f);

    // The name of a first use outside the steps tells what it was.
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.rank[0].cold_ns = f.rank[0].facts.last_ns / 2;
    f.run.facts.first_use =
        (struct stk_example){.dur_ns = 995000000, .name = "cudaFree", .step = -1};
    fake_ask(&f);
    x = fake_finding(&f, "cold-start");
    CHECK(says(x, "995 ms in cudaFree") && advises(x, "GPU context") > 0);
    fake_done(&f);

    // First use before clean steps: information, with nothing to save in a step.
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.rank[0].cold_ns = f.rank[0].facts.last_ns / 5;
    fake_ask(&f);
    x = fake_finding(&f, "cold-start");
    CHECK_EQ(x->severity, STK_LEVEL_INFO);
    CHECK_STR(x->saving.basis, "none");
    CHECK(!x->saving.has_high);
    fake_done(&f);
}

static void compiling_again(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COMPILE, 0.3, -1);
    f.run.facts.compile_recurring_ns = f.run.parts[STK_PART_COMPILE];
    f.run.facts.recompiled[0] = (struct stk_recompiled){
        .name = "PjitFunction(step)",
        .function = "step",
        .count = 9,
        .later = 7,
        .programs = 9,
        .changed_count = 3,
        .changed = {{"x", {"f32[8]", "f32[9]", "f32[10]"}, 9}, {"mask", {"pred[8]", "s32[8]"}, 2}}};
    f.run.facts.recompiled[1] = (struct stk_recompiled){
        .name = "PjitFunction(apply)", .function = "apply", .count = 5, .later = 5, .programs = 5};
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "compile-recurring");
    CHECK(says(x, "9 compiled programs of step differ in x: f32[8], f32[9], f32[10] and 6 more; "
                  "mask: pred[8], s32[8]; 1 more argument"));
    CHECK(says(x, "5 compiled programs of apply take equal shapes and types"));
    CHECK(f.verdict.kind == STK_VERDICT_HOST);
    CHECK_EQ(x->severity, STK_LEVEL_HIGH);
    CHECK(advises(x, "mark_dynamic") == 0);
    CHECK_STR(fake_state(&f, "cold-start"), "passed"); // told once
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COMPILE, 0.9, 0); // the first used step only
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "compile-recurring"), "passed");
    CHECK_STR(fake_state(&f, "cold-start"), "fired");
    fake_done(&f);
}

static void source_lines(void)
{
    static const struct {
        const char *name, *file;
        int64_t line;
    } cases[] = {
        {"train.py(35): main", "train.py", 35},
        {"/home/u/my job/data.py(7): decode_image", "/home/u/my job/data.py", 7},
        {"$loop.py:120 next_batch", "loop.py", 120},
        {"aten::item in train.py(60): log", "train.py", 60},
        {"torch/nn/modules/module.py(1747): _call_impl in train.py(9): step", "train.py", 9},
        {"torch/nn/modules/module.py(1747): _call_impl", NULL, 0},
        {"/usr/lib/python3.11/threading.py(1): run", NULL, 0},
        {"<built-in method run of x.py(1)>", NULL, 0},
        {"happy(3): f", NULL, 0},
        {"a.py(): f", NULL, 0},
        {"a.py(99999999999999999999): f", NULL, 0},
        {".py(3): f", NULL, 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stk_str file = {"", 0};
        int64_t line = 0;
        bool found = stk_rule_parse_source(cases[i].name, &file, &line);
        CHECK(found == (cases[i].file != NULL));
        if (found && cases[i].file) {
            CHECK(stk_str_eq(file, stk_str_from(cases[i].file)));
            CHECK_EQ(line, cases[i].line);
        }
    }
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.3, -1);
    fake_name(&f, STK_PART_HOST, "torch/optim/adam.py(30): step");
    fake_name(&f, STK_PART_HOST, "train.py(35): main");
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(x->has_source && x->source.line == 35);
    CHECK_STR(x->source.file, "train.py");
    fake_done(&f);
}

// A frame has its function's first line. The hooks may have seen which line in it takes the time.
static void lines_inside(const char *place, enum stk_told_place at, enum stk_part part,
                         const char *frame, int64_t line)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, part, 0.3, -1);
    f.run.facts.told[at] = place;
    f.run.facts.told_permille[at] = 600;
    struct stk_cause *c = &f.run.causes[part];
    c->ns = f.run.parts[part];
    c->owners[c->owner_count++] = (struct stk_cause_name){frame, 150000000, 1};
    fake_ask(&f);
    const struct stk_rep_finding *x =
        fake_finding(&f, part == STK_PART_INPUT ? "input-wait" : "host-bound");
    CHECK(x->has_source);
    CHECK_EQ(x->source.line, line);
    fake_done(&f);
}

// A bound that nobody reaches is no step of the future.
static void bounds(double share, bool has_outlook)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, share, -1);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK_STR(x->saving.basis, "bound");
    CHECK(x->saving.high_share > share - 0.01 && x->saving.high_share < share + 0.01);
    CHECK_EQ(f.report.has_outlook, has_outlook);
    char text[80];
    stk_saving_text(x, text, sizeof text);
    CHECK_STR(text, has_outlook ? "saves up to 40%" : "takes up to 96% of the time");
    fake_done(&f);
}

static void make_long(uint32_t row)
{
    f.steps[row].long_why = "";
    f.steps[row].dur_ns = 5 * FAKE_STEP_NS;
    f.steps[row].parts[STK_PART_SYNC] = 4 * FAKE_STEP_NS;
    fake_total(&f);
}

// A step that is long on each device is one step.
static void long_steps(void)
{
    fake_init(&f, 4, STK_SCOPE_STEPS);
    for (uint32_t d = 0; d < 4; d++) {
        make_long(3 + d * FAKE_STEPS);
    }
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "long-steps");
    CHECK_STR(x->title, "One step is far longer than the others");
    CHECK(says(x, "step 3 on 4 devices: 500 ms on average, 50% of the time; the others 100 ms"));
    CHECK_EQ(x->steps_affected, 1);
    make_long(5);
    fake_ask(&f);
    x = fake_finding(&f, "long-steps");
    CHECK(says(x, "steps 3, 5: "));
    CHECK_EQ(x->steps_affected, 2);
    CHECK(advises(x, "stoker export") == 0);
    f.run.facts.long_what = "run_evaluation";
    f.run.facts.long_what_is_usual = true;
    fake_ask(&f);
    x = fake_finding(&f, "long-steps");
    CHECK(says(x, "Unusually long in the longest of them: run_evaluation") &&
          !says(x, "Runs only in the longest of them"));
    f.run.facts.long_what = STK_WHAT_SHUFFLE;
    f.run.facts.long_what_is_usual = false;
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    fake_ask(&f);
    x = fake_finding(&f, "long-steps");
    CHECK(says(x, "Runs only in the longest of them: a shuffle buffer") &&
          advises(x, "ds.repeat().shuffle") == 0);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "long-steps"), "passed");
    fake_done(&f);
}

// What long steps wait for their input, the finding of the input holds already.
static void long_waits(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    make_long(3);
    f.steps[3].parts[STK_PART_SYNC] = 0;
    f.steps[3].parts[STK_PART_INPUT] = 4 * FAKE_STEP_NS;
    fake_total(&f);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "long-steps");
    CHECK(says(x, "The finding input-wait already counts this wait") &&
          x->severity == STK_LEVEL_INFO);
    CHECK_STR(x->saving.basis, "none");
    CHECK(!x->saving.has_high);
    f.run.facts.long_what = STK_WHAT_SHUFFLE; // a buffer that fills has a fix of its own
    fake_ask(&f);
    CHECK_STR(fake_finding(&f, "long-steps")->saving.basis, "bound");
    fake_done(&f);
}

// Steps in which the device computes for longer lose nothing, but where they come periodically.
static void long_work(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    make_long(3);
    f.steps[3].parts[STK_PART_SYNC] = 0;
    f.steps[3].parts[STK_PART_COMPUTE] = 5 * FAKE_STEP_NS;
    fake_total(&f);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "long-steps");
    CHECK(says(x, "Their kernels take longer") && x->severity == STK_LEVEL_INFO);
    CHECK_STR(x->saving.basis, "none");
    f.run.facts.long_period = 4;
    fake_ask(&f);
    x = fake_finding(&f, "long-steps");
    CHECK_STR(x->saving.basis, "bound");
    CHECK(!says(x, "their kernels take longer"));
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(thresholds);
    CHECK_RUN(lines_inside, "main (train.py:41)", STK_TOLD_LINE, STK_PART_HOST,
              "train.py(35): main", 41);
    CHECK_RUN(lines_inside, "Job.fit (train.py:41)", STK_TOLD_LINE_2ND, STK_PART_HOST,
              "jobs/train.py(35): fit", 41);
    CHECK_RUN(lines_inside, "main (train.py:41)", STK_TOLD_LINE, STK_PART_HOST,
              "train.py(50): main", 50); // another function of that name
    CHECK_RUN(lines_inside, "main (train.py:41)", STK_TOLD_LINE, STK_PART_HOST,
              "train.py(20): domain", 20);
    CHECK_RUN(lines_inside, "main (other.py:41)", STK_TOLD_LINE, STK_PART_HOST,
              "train.py(20): main", 20);
    CHECK_RUN(lines_inside, "main (train.py:41)", STK_TOLD_LINE, STK_PART_INPUT,
              "train.py(20): main", 20); // the line of the step, not of the fetch
    CHECK_RUN(lines_inside, "main (train.py:38)", STK_TOLD_LOOP, STK_PART_INPUT,
              "train.py(20): main", 38);
    CHECK_RUN(bounds, 0.40, true);
    CHECK_RUN(bounds, 0.96, false);
    CHECK_RUN(owners);
    CHECK_RUN(called_again, 30000000, 12, true);
    CHECK_RUN(called_again, 20000000, 12, false); // a twelfth of the wait
    CHECK_RUN(called_again, 30000000, 1, false);
    CHECK_RUN(awaited_answer, "<method 'recv' of '_socket.socket' objects>", "train.py(9): report",
              true);
    CHECK_RUN(awaited_answer, "threading.py(1080): join", "train.py(9): report", false);
    CHECK_RUN(awaited_answer, "<method 'recv' of '_socket.socket' objects>", NULL, false);
    CHECK_RUN(constants, false, 1, 0);
    CHECK_RUN(constants, true, 12, -1);
    CHECK_RUN(constants, true, 40, 0);
    CHECK_RUN(rounds, 11, "Run all iterations in one call");
    CHECK_RUN(rounds, 30, "operation by operation. Move it");
    CHECK_RUN(host_evidence);
    CHECK_RUN(host_calls);
    CHECK_RUN(host_advice);
    CHECK_RUN(host_unlinked);
    CHECK_RUN(sync_advice);
    CHECK_RUN(transfer_advice);
    CHECK_RUN(transfer_within);
    CHECK_RUN(communication_advice);
    CHECK_RUN(straggling);
    CHECK_RUN(cold);
    CHECK_RUN(compiling_again);
    CHECK_RUN(source_lines);
    CHECK_RUN(long_steps);
    CHECK_RUN(long_waits);
    CHECK_RUN(long_work);
    return check_done("unit.rules_causes");
}
