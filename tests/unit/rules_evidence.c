// SPDX-License-Identifier: Apache-2.0
// Advice by what the profile shows about the job, when the usual advice would change nothing:
// samplers that draw in the training process, stages that discard or split others' results, weights
// that go through one rank, exported models, states that the loop waits to save.
#include "rules_run.h"
#include "synth.h"

#define MAIN 1
#define SINGLE "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

static struct fake f;

static const struct stk_rep_finding *asked(const char *id)
{
    fake_ask(&f);
    return fake_finding(&f, id);
}

static void wait_for(const char *fetch, uint32_t framework)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    f.run.facts.frameworks = 1u << framework;
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    fake_name(&f, STK_PART_INPUT, fetch);
    f.run.facts.loader_fetches = FAKE_STEPS;
    f.run.facts.loader_fetch_ns = FAKE_STEPS * 20000000ll;
}

// Most of a fetch is a sampler's, or less: no worker draws.
static void drawing(double share, bool is_told)
{
    wait_for(SINGLE, STK_FW_PYTORCH);
    f.run.facts.fetch_draw_ns = (int64_t)(share * (double)f.run.facts.loader_fetch_ns);
    const struct stk_rep_finding *x = asked("input-wait");
    CHECK_EQ(says(x, "Drawing the sample order"), is_told);
    CHECK_EQ(advises(x, "draw for many steps at once"), is_told ? 0 : -1);
    CHECK_EQ(advises(x, "num_workers=0"), is_told ? -1 : 0);
    fake_done(&f);
}

// The operator that draws calls itself, and counts once; what draws behind the fetch does not.
static void drawn(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 6; i++) {
        double t = i * 10000;
        synth_step(&s, MAIN, t, 10000, i);
        synth_host(&s, MAIN, t, 6000, SINGLE, STK_KIND_INPUT);
        synth_host(&s, MAIN, t + 100, 4000, "aten::randperm", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 200, 3000, "aten::randperm", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 5000, 500, "aten::multinomial", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 6500, 1000, "aten::randperm", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 8000, 1900, "aten::mm", STK_KIND_HOST_OP);
    }
    CHECK_EQ(synth_summarize(&s)->facts.fetch_draw_ns, 6 * 4500 * 1000);
    synth_end(&s);
}

static const struct stk_rep_finding *stage(const char *name, const char *kind, bool is_apart)
{
    f.run.slow_stage = (struct stk_slow_stage){.stage = name,
                                               .kind = kind,
                                               .is_pipeline = true,
                                               .is_async = true,
                                               .is_buffered = true,
                                               .is_taken_apart = is_apart,
                                               .self_ns = 120000000,
                                               .elements = 10,
                                               .parallelism = 2,
                                               .share = 0.93};
    return asked("input-wait");
}

static void stages(void)
{
    wait_for("IteratorGetNext::DoCompute", STK_FW_TENSORFLOW);
    f.run.facts.signs[STK_SIGN_CAPTURED].count = FAKE_STEPS * 200;
    const struct stk_rep_finding *x =
        stage("Iterator::Prefetch::BatchV2::Shard::ParallelMapV2", "preprocess", false);
    CHECK(advises(x, "Shard first") == 0 && advises(x, "Batch first") < 0);
    x = stage("Iterator::Prefetch::BatchV2::Filter::ParallelMapV2", "preprocess", false);
    CHECK(advises(x, "Filter first") == 0 && advises(x, "Batch first") < 0);
    x = stage("Iterator::Prefetch::BatchV2::ParallelMapV2::Shard", "control", false);
    CHECK(advises(x, "Shard first") < 0);
    x = stage("Iterator::Prefetch::BatchV2::ParallelMapV2", "preprocess", false);
    CHECK(advises(x, "Batch first") == 0);
    // What decodes pictures takes them one by one.
    f.run.facts.signs[STK_SIGN_PICTURE].count = FAKE_STEPS * 200;
    x = stage("Iterator::Prefetch::BatchV2::ParallelMapV2", "preprocess", false);
    CHECK(advises(x, "Batch first") < 0 && advises(x, "parallel already") == 0);
    x = stage("Iterator::Prefetch::BatchV2", "batch", true);
    CHECK(advises(x, "rebatch") == 0 && advises(x, "Make batches in parallel") < 0);
    x = stage("Iterator::Prefetch::BatchV2", "batch", false);
    CHECK(advises(x, "rebatch") < 0 && advises(x, "Make batches in parallel") == 0);
    fake_done(&f);
}

// A step of 10 ms that waits 8 of them for tf.data's buffer; returns when it begins.
static double waiting_step(struct synth *s, int i)
{
    double t = i * 10000;
    synth_step(s, MAIN, t, 10000, i);
    synth_host(s, MAIN, t, 8000, "IteratorGetNextOp::DoCompute", STK_KIND_INPUT);
    synth_host(s, MAIN, t + 10, 7900, "Iterator::Root::Prefetch", STK_KIND_INPUT);
    synth_host(s, MAIN, t + 8000, 1900, "aten::mm", STK_KIND_HOST_OP);
    return t;
}

// tf.data's stages of one thread, which none of them fills alone: they limit together, and the one
// that works most is named. Another thread's stage of the same work does not take turns with them.
static void in_turn(const char *apart, bool is_apart)
{
    struct synth s;
    static const char batch[] = "Iterator::Root::Prefetch::BatchV2";
    static const char shuffle[] = "Iterator::Root::Prefetch::BatchV2::Shuffle";
    synth_begin(&s);
    for (int i = 0; i < 6; i++) {
        double t = waiting_step(&s, i);
        synth_host(&s, 2, t, 7800, batch, STK_KIND_INPUT);
        synth_host(&s, 2, t + 10, 4800, shuffle, STK_KIND_INPUT);
        synth_host(&s, 2, t + 20, 2350, apart, STK_KIND_INPUT);
        char below[128];
        for (int k = 0; k < 3; k++) { // on threads of their own
            snprintf(below, sizeof below, "%s::Prefetch[%d]::Map%d", apart, k, k);
            synth_host(&s, 3 + k, t, 2600, below, STK_KIND_INPUT);
        }
    }
    const struct stk_slow_stage *slow = &synth_summarize(&s)->slow_stage;
    CHECK_STR(slow->stage, batch);
    CHECK(slow->share < 0.3);
    CHECK_STR(slow->next, shuffle);
    CHECK_EQ(slow->is_taken_apart, is_apart);
    synth_end(&s);
}

// flat_map puts the windows together that window() cuts: of a tensor, or of records of files.
static void windows(const char *source, const char *between, bool is_windowed)
{
    static const char flat[] = "Iterator::Root::Prefetch::FlatMap";
    struct synth s;
    char window[128], from[160];
    snprintf(window, sizeof window, "%s::%s", flat, between);
    snprintf(from, sizeof from, "%s::%s", window, source);
    synth_begin(&s);
    for (int i = 0; i < 6; i++) {
        double t = waiting_step(&s, i);
        synth_host(&s, 2, t, 7800, flat, STK_KIND_INPUT);
        synth_host(&s, 2, t + 10, 2000, window, STK_KIND_INPUT);
        synth_host(&s, 2, t + 20, 500, from, STK_KIND_INPUT);
    }
    const struct stk_slow_stage *slow = &synth_summarize(&s)->slow_stage;
    CHECK_STR(slow->stage, flat);
    CHECK_EQ(slow->is_windowed, is_windowed);
    wait_for("IteratorGetNext::DoCompute", STK_FW_TENSORFLOW);
    f.run.slow_stage = *slow;
    const struct stk_rep_finding *x = asked("input-wait");
    CHECK_EQ(advises(x, "cut all windows of a batch from one tensor") == 0, is_windowed);
    CHECK_EQ(advises(x, "Read several files") < 0, is_windowed);
    fake_done(&f);
    synth_end(&s);
}

// Reduced to one rank, and sent back by it: no smaller bucket of DDP's is the cure.
static void through_one_rank(const char *first, uint64_t ddp, bool is_told)
{
    fake_init(&f, 2, STK_SCOPE_HOST);
    f.run.facts.frameworks = 1u << STK_FW_PYTORCH;
    fake_part(&f, STK_PART_COMMUNICATION, 0.4, -1);
    fake_name(&f, STK_PART_COMMUNICATION, first);
    f.run.facts.signs[STK_SIGN_DDP].count = ddp;
    const struct stk_rep_finding *x = asked("communication-exposed");
    CHECK_EQ(advises(x, "one all_reduce of all gradients"), is_told ? 0 : -1);
    CHECK_EQ(advises(x, "smaller buckets"), is_told ? -1 : 0);
    CHECK_EQ(advises(x, "no_sync") >= 0, !is_told);
    fake_done(&f);
}

static void compiled_anew(const char *function, uint64_t keras, const char *first,
                          const char *absent)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    fake_part(&f, STK_PART_COMPILE, 0.3, -1);
    f.run.facts.compile_recurring_ns = f.run.parts[STK_PART_COMPILE];
    f.run.facts.recompiled[0] = (struct stk_recompiled){.name = function, .count = 9, .later = 7};
    f.run.facts.signs[STK_SIGN_KERAS].count = keras;
    const struct stk_rep_finding *x = asked("compile-recurring");
    CHECK_EQ(advises(x, first), 0);
    CHECK(advises(x, absent) < 0);
    fake_done(&f);
}

// XLA compiles for a shape: no signature helps; if functions are retraced, they are the cause.
static void compiled_by_xla(int64_t xla_ns, uint32_t later, bool is_told)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    fake_part(&f, STK_PART_COMPILE, 0.3, -1);
    f.run.facts.compile_recurring_ns = f.run.parts[STK_PART_COMPILE];
    f.run.facts.recompiled[0] =
        (struct stk_recompiled){.name = later ? "step" : NULL, .count = later, .later = later};
    f.run.facts.signs[STK_SIGN_KERAS].count = 9;
    f.run.causes[STK_PART_COMPILE].ns = 9000000;
    fake_name(&f, STK_PART_COMPILE, "CpuCompiler::RunBackend");
    f.run.causes[STK_PART_COMPILE].names[0].ns = xla_ns;
    const struct stk_rep_finding *x = asked("compile-recurring");
    CHECK_EQ(advises(x, "Pad to a few sizes"), is_told ? 0 : -1);
    CHECK_EQ(advises(x, "input_signature") < 0, is_told);
    fake_done(&f);
}

// What the job's own function calls most of its time, of a library; not where that calls back.
static void calls(double copy_us, const char *inside, bool is_told)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 6; i++) {
        double t = i * 10000;
        synth_step(&s, MAIN, t, 10000, i);
        synth_host(&s, MAIN, t, 4000, "aten::mm", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4000, 5000, "train.py(9): keep", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 4100, copy_us, "copy.py(128): deepcopy", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 4200, copy_us - 200, inside, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 9000, 900, "aten::mm", STK_KIND_HOST_OP);
    }
    const struct stk_facts *facts = &synth_summarize(&s)->facts;
    CHECK_EQ(facts->owner_calls != NULL, is_told);
    if (is_told) {
        CHECK_STR(facts->owner_calls, "copy.py(128): deepcopy");
        CHECK_STR(facts->owner_calling, "train.py(9): keep");
        CHECK(facts->owner_calls_share > copy_us / 5000 - 1e-6 &&
              facts->owner_calls_share < copy_us / 5000 + 1e-6);
    }
    synth_end(&s);
}

static void says_calls(const char *calling, bool is_told)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_HOST, 0.4, -1);
    struct stk_cause *c = &f.run.causes[STK_PART_HOST];
    c->ns = f.run.parts[STK_PART_HOST];
    c->owners[c->owner_count++] = (struct stk_cause_name){"train.py(9): keep", c->ns, 6};
    f.run.facts.owner_calls = "copy.py(128): deepcopy";
    f.run.facts.owner_calling = calling;
    f.run.facts.owner_calls_share = 0.8;
    CHECK_EQ(says(asked("host-bound"), "80% of keep (train.py:9) is spent in deepcopy (copy.py)"),
             is_told);
    fake_done(&f);
}

// The loop waits until a state is saved.
static void saves(void)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    f.run.facts.frameworks = 1u << STK_FW_JAX;
    fake_part(&f, STK_PART_WAIT, 0.5, -1);
    fake_name(&f, STK_PART_WAIT, "$threading.py:1087 join");
    CHECK_EQ(advises(asked("host-bound"), "Write checkpoints rarely"), -1);
    f.run.facts.signs[STK_SIGN_CHECKPOINT] = (struct stk_sign_sum){.count = 4, .ns = 200000000};
    CHECK_EQ(advises(asked("host-bound"), "Write checkpoints rarely"), 0);
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(drawing, 0.51, true);
    CHECK_RUN(drawing, 0.49, false);
    CHECK_RUN(drawn);
    CHECK_RUN(stages);
    CHECK_RUN(windows, "TensorSlice", "Window", true);
    CHECK_RUN(windows, "FromTensor", "Window", true);
    CHECK_RUN(windows, "TFRecord", "Window", false);
    CHECK_RUN(windows, "Generator", "Window", false);
    CHECK_RUN(windows, "TensorSlice", "Map", false);
    CHECK_RUN(in_turn, "Iterator::Root::Prefetch::BatchV2::Shuffle::Unbatch", true);
    CHECK_RUN(in_turn, "Iterator::Root::Prefetch::BatchV2::Shuffle::Window", false);
    CHECK_RUN(through_one_rank, "gloo:reduce", 0, true);
    CHECK_RUN(through_one_rank, "gloo:broadcast", 0, true);
    CHECK_RUN(through_one_rank, "gloo:broadcast", 8, false);
    CHECK_RUN(through_one_rank, "gloo:all_reduce", 0, false);
    CHECK_RUN(compiled_anew, "_traced_save", 0, "Export rarely or at the end",
              "fixed input_signature");
    CHECK_RUN(compiled_anew, "train_step", 0, "fixed input_signature", "Each export");
    CHECK_RUN(compiled_anew, "train_step", 6, "Each model.compile", "Each export");
    CHECK_RUN(compiled_by_xla, 8000000, 0, true);
    CHECK_RUN(compiled_by_xla, 8000000, 7, false);
    CHECK_RUN(compiled_by_xla, 3000000, 0, false);
    CHECK_RUN(calls, 2600, "copy.py(200): _deepcopy_list", true);
    CHECK_RUN(calls, 2400, "copy.py(200): _deepcopy_list", false);
    CHECK_RUN(calls, 2600, "train.py(40): __deepcopy__", false);
    CHECK_RUN(says_calls, "train.py(9): keep", true);
    CHECK_RUN(says_calls, "train.py(20): log", false);
    CHECK_RUN(saves);
    return check_done("unit.rules_evidence");
}
