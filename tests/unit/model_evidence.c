// SPDX-License-Identifier: Apache-2.0
// What advice is chosen by: whose code fills a part, what names show about the job, and the records
// of a loader's workers.
#include "synth.h"

#include "profile/model/sum/merge_rows.h"
#include "profile/model/workers.h"
#include "wire/wire.h"

#define MAIN 7
#define STEPS 4

// A step of 1000 us: a batch that a generator makes (200), the model (300), a checkpoint (400) of
// many short calls, and the loop's own time.
static void add_step(struct synth *s, double at)
{
    synth_host(s, MAIN, at + 10, 200, "<built-in function next>", STK_KIND_PYTHON);
    synth_host(s, MAIN, at + 20, 180, "jobs/data.py(9): elements", STK_KIND_PYTHON);
    synth_host(s, MAIN, at + 30, 100, "numpy/core/numeric.py(5): ones", STK_KIND_PYTHON);
    synth_host(s, MAIN, at + 220, 300, "aten::mm", STK_KIND_HOST_OP);
    synth_host(s, MAIN, at + 550, 400, "train.py(20): save_checkpoint", STK_KIND_PYTHON);
    for (int i = 0; i < 3; i++) {
        synth_host(s, MAIN, at + 560 + 100 * i, 90, "<built-in function fsync>", STK_KIND_PYTHON);
    }
}

static void owners(void)
{
    struct synth s;
    synth_begin(&s);
    synth_host(&s, MAIN, 0, 1000.0 * STEPS + 50, "train.py(3): main", STK_KIND_PYTHON);
    for (int i = 0; i < STEPS; i++) {
        synth_step(&s, MAIN, 1000 * i, 1000, i);
        add_step(&s, 1000 * i);
    }
    const struct stk_rank_sum *r = synth_summarize(&s);
    const struct stk_cause *host = &r->causes[STK_PART_HOST], *input = &r->causes[STK_PART_INPUT];
    CHECK(r->host_scope && host->owner_count >= 2 && input->owner_count >= 1);
    CHECK_STR(host->owners[0].name, "train.py(20): save_checkpoint");
    CHECK_EQ(host->owners[0].ns, STEPS * 400 * US); // all its calls together
    CHECK_EQ(host->owners[0].count, STEPS);
    CHECK_STR(host->owners[1].name, "train.py(3): main");
    CHECK_STR(input->owners[0].name, "jobs/data.py(9): elements"); // rather than next()
    CHECK_EQ(input->owners[0].ns, STEPS * 180 * US);
    CHECK_EQ(r->causes[STK_PART_COMPUTE].owner_count, 0);
    CHECK_EQ(r->facts.signs[STK_SIGN_CHECKPOINT].count, STEPS);
    CHECK_EQ(r->facts.signs[STK_SIGN_CHECKPOINT].ns, STEPS * 400 * US);
    synth_end(&s);
}

// The thread that trains only waits; what it waits for is on a thread of the loader's. Files of
// Grain have no folder, and are nobody's own where it is in use.
static void worker_threads(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double at = 1000 * i;
        synth_step(&s, MAIN, at, 1000, i);
        synth_host(&s, MAIN, at + 10, 600, "PrefetchDatasetIterator.__next__", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, at + 20, 550, "$prefetch.py:238 __next__", STK_KIND_PYTHON);
        synth_host(&s, MAIN, at + 620, 300, "aten::mm", STK_KIND_HOST_OP);
        synth_host(&s, MAIN + 1, at + 50, 500, "$map.py:40 __getitem__", STK_KIND_PYTHON);
        synth_host(&s, MAIN + 1, at + 60, 450, "$fields.py:19 trim", STK_KIND_PYTHON);
    }
    const struct stk_rank_sum *r = synth_summarize(&s);
    const struct stk_cause *input = &r->causes[STK_PART_INPUT];
    CHECK_EQ(input->owner_count, 1);
    CHECK_STR(input->owners[0].name, "$fields.py:19 trim");
    CHECK_EQ(input->owners[0].ns, STEPS * 450 * US);
    synth_end(&s);
}

// JAX's tracer records no folder: a file of a name that JAX has, too, is the job's where the
// function says that it prepares data, and what Optax and JAX do is not.
static void common_files(const char *function, bool is_own)
{
    struct synth s;
    synth_begin(&s);
    const struct stk_build_facts facts = {
        .format = "xplane", .rank = -1, .world_size = -1, .framework_hint = 1u << STK_FW_JAX};
    stk_build_facts(s.build, &facts);
    for (int i = 0; i < STEPS; i++) {
        double at = 1000 * i;
        synth_step(&s, MAIN, at, 1000, i);
        synth_host(&s, MAIN, at + 10, 500, "$train.py:3 next_batch", STK_KIND_PYTHON);
        synth_host(&s, MAIN, at + 11, 490, function, STK_KIND_PYTHON);
        synth_host(&s, MAIN, at + 620, 300, "PjitFunction(step)", STK_KIND_HOST_OP);
    }
    const struct stk_rank_sum *r = synth_summarize(&s);
    const struct stk_cause *input = &r->causes[STK_PART_INPUT];
    CHECK(input->owner_count > 0);
    CHECK_STR(input->owners[0].name, is_own ? function : "$train.py:3 next_batch");
    synth_end(&s);
}

// Twenty rounds in each step, of five operations; or operations of no such number.
static void rounds(int others, uint64_t want)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double at = 1000 * i;
        synth_step(&s, MAIN, at, 1000, i);
        for (int k = 0; k < 20; k++) {
            synth_host(&s, MAIN, at + 40 * k, 5, "EagerLocalExecute: Relu", STK_KIND_HOST_OP);
            for (int n = 0; n < 4; n++) {
                synth_host(&s, MAIN, at + 40 * k + 6 * (n + 1), 5, "EagerLocalExecute: MatMul",
                           STK_KIND_HOST_OP);
            }
        }
        for (int k = 0; k < others; k++) {
            synth_host(&s, MAIN, at + 820 + 2 * k, 1, "EagerLocalExecute: Cast", STK_KIND_HOST_OP);
        }
    }
    CHECK_EQ(synth_summarize(&s)->facts.eager_rounds, want);
    synth_end(&s);
}

// A range that the user marked is his own; those of frameworks are not.
static void ranges(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double at = 1000 * i;
        synth_step(&s, MAIN, at, 1000, i);
        synth_host(&s, MAIN, at + 10, 300, "aten::mm", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, at + 400, 500, "write metrics", STK_KIND_ANNOTATION);
        synth_host(&s, MAIN, at + 420, 100, "Lib::flush", STK_KIND_ANNOTATION);
    }
    const struct stk_rank_sum *r = synth_summarize(&s);
    const struct stk_cause *host = &r->causes[STK_PART_HOST];
    CHECK_EQ(host->owner_count, 1);
    CHECK_STR(host->owners[0].name, "write metrics");
    CHECK_EQ(host->owners[0].ns, STEPS * 500 * US);
    synth_end(&s);
}

static void signs(void)
{
    static const struct {
        const char *name;
        enum stk_kind kind;
        enum stk_sign sign;
    } cases[] = {
        {"EagerLocalExecute: MatMul", STK_KIND_HOST_OP, STK_SIGN_EAGER_OP},
        {"EagerLocalExecute: __inference_train_step_12", STK_KIND_HOST_OP, STK_SIGN_FUNCTION},
        {"FunctionRun", STK_KIND_HOST_OP, STK_SIGN_COUNT}, // tf.data runs functions, too
        {"EagerLocalExecute: MergeV2Checkpoints", STK_KIND_HOST_OP, STK_SIGN_CHECKPOINT},
        {"tf.constant", STK_KIND_HOST_OP, STK_SIGN_CONSTANT},
        {"$constant_op.py:177 constant", STK_KIND_PYTHON, STK_SIGN_CONSTANT},
        {"torch/serialization.py(900): save", STK_KIND_PYTHON, STK_SIGN_CHECKPOINT},
        {"save/SaveV2:SaveV2", STK_KIND_HOST_OP, STK_SIGN_CHECKPOINT},
        {"PyFunc:PyFunc", STK_KIND_HOST_OP, STK_SIGN_PY_FUNC},
        {"map/EagerPyFunc:EagerPyFunc", STK_KIND_HOST_OP, STK_SIGN_PY_FUNC},
        {"## Call CompiledFxGraph f0 ##", STK_KIND_HOST_OP, STK_SIGN_COMPILED},
        {"vllm/worker/model_runner.py(12): execute_model", STK_KIND_PYTHON, STK_SIGN_ENGINE},
        {"PrefetchDatasetIterator.__next__", STK_KIND_HOST_OP, STK_SIGN_GRAIN},
        {"one_step_on_data", STK_KIND_HOST_OP, STK_SIGN_KERAS},
        {"Profiled batch", STK_KIND_HOST_OP, STK_SIGN_KERAS},
        {"EagerLocalExecute: WriteSummary", STK_KIND_HOST_OP, STK_SIGN_SUMMARY},
        {"EagerLocalExecute: WriteFile", STK_KIND_HOST_OP, STK_SIGN_WRITING},
        {"EagerLocalExecute: ReadFile", STK_KIND_HOST_OP, STK_SIGN_EAGER_OP},
        {"PjitFunction(add)", STK_KIND_HOST_OP, STK_SIGN_JAX_CALL},
        {"aten::mm", STK_KIND_HOST_OP, STK_SIGN_ATEN},
        {"aten::sigmoid", STK_KIND_HOST_OP, STK_SIGN_RECURRENT},
        {"aten::_is_any_true", STK_KIND_HOST_OP, STK_SIGN_ANOMALY},
        {"Model::PyFunc", STK_KIND_HOST_OP, STK_SIGN_COUNT}, // a method of a class, no operation
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct synth s;
        synth_begin(&s);
        synth_host(&s, MAIN, 0, 100, cases[i].name, cases[i].kind);
        synth_host(&s, MAIN, 10, 50, cases[i].name, cases[i].kind); // inside: its time counts once
        synth_host(&s, MAIN, 200, 100, cases[i].name, cases[i].kind);
        const struct stk_rank_sum *r = synth_summarize(&s);
        for (int k = 0; k < STK_SIGN_COUNT; k++) {
            bool is_it = (enum stk_sign)k == cases[i].sign;
            CHECK_EQ(r->facts.signs[k].count, is_it ? 3 : 0);
            CHECK_EQ(r->facts.signs[k].outer, is_it ? 2 : 0);
            CHECK_EQ(r->facts.signs[k].ns, is_it ? 200 * US : 0);
        }
        synth_end(&s);
    }
}

// Operators whose own time is long, with or without others inside: they may have lost their core.
static void slices(void)
{
    struct synth s;
    synth_begin(&s);
    synth_host(&s, MAIN, 0, 6000, "aten::linear", STK_KIND_HOST_OP);
    synth_host(&s, MAIN, 10, 5000, "aten::addmm", STK_KIND_HOST_OP);
    synth_host(&s, MAIN, 20, 50, "aten::expand", STK_KIND_HOST_OP);
    synth_host(&s, MAIN, 7000, 2000, "aten::mul", STK_KIND_HOST_OP);
    synth_host(&s, MAIN, 9000, 900, "aten::add", STK_KIND_HOST_OP);
    const struct stk_sign_sum *sum = &synth_summarize(&s)->facts.signs[STK_SIGN_ATEN];
    CHECK_EQ(sum->slice_ns, (1000 + 4950 + 2000) * US); // without what is inside
    CHECK_EQ(sum->work_ns, (50 + 2000 + 900) * US);
    synth_end(&s);
}

// Only the hooks know whether compiled code of JAX computes gradients.
static void no_gradients(enum stk_framework framework, int64_t untrained, bool is_known)
{
    struct synth s;
    synth_begin(&s);
    struct stk_build_facts facts = {
        .format = "xplane", .rank = -1, .world_size = -1, .framework_hint = 1u << framework};
    facts.told.numbers[STK_TOLD_UNTRAINED] = untrained;
    stk_build_facts(s.build, &facts);
    synth_host(&s, MAIN, 0, 100, "PjitFunction(apply)", STK_KIND_HOST_OP);
    const struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->facts.sees_operators, is_known);
    CHECK(!r->facts.sees_training);
    synth_end(&s);
}

static void workers(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 3; i++) {
        double at = 1000 * i;
        synth_host(&s, MAIN, at, 500, STK_WIRE_WORKER_BATCH, STK_KIND_ANNOTATION);
        for (int k = 0; k < 4; k++) {
            synth_host(&s, MAIN, at + 100 * k, 90, "data.py(31): __getitem__", STK_KIND_PYTHON);
        }
        synth_host(&s, MAIN, at + 400, 80, STK_WIRE_WORKER_COLLATE, STK_KIND_ANNOTATION);
    }
    CHECK_EQ(stk_build_finish(s.build, 1, &s.trace, &s.err), STOKER_OK);
    struct stk_worker_sum w, all = {0};
    CHECK(stk_workers_is_record(s.trace) && stk_workers_see(s.trace, &s.arena, &w));
    stk_worker_sum_merge(&all, &w);
    stk_worker_sum_merge(&all, &w);
    CHECK(all.workers == 2 && all.batches == 6 && all.items == 24);
    CHECK_EQ(all.batch_ns, 6 * 500 * US);
    CHECK_EQ(all.item_ns, 24 * 90 * US);
    CHECK_EQ(all.collate_ns, 6 * 80 * US);
    CHECK_EQ(all.wall_ns, 2 * 2500 * US);
    CHECK_STR(all.item, "data.py(31): __getitem__");
    synth_end(&s);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(owners);
    CHECK_RUN(worker_threads);
    CHECK_RUN(common_files, "$util.py:7 load_rows", true);
    CHECK_RUN(common_files, "$util.py:7 wrapper", false);
    CHECK_RUN(common_files, "$tree.py:116 map", false);
    CHECK_RUN(common_files, "$ad.py:947 linearize_from_jvp", false);
    CHECK_RUN(common_files, "$_clipping.py:104 clip_fn", false);
    CHECK_RUN(common_files, "$rows.py:7 pick", true);
    CHECK_RUN(rounds, 0, 20 * STEPS);
    CHECK_RUN(rounds, 5, 20 * STEPS);
    CHECK_RUN(rounds, 15, 0); // too many that are in no round
    CHECK_RUN(rounds, 27, 0); // of another number
    CHECK_RUN(ranges);
    CHECK_RUN(signs);
    CHECK_RUN(slices);
    CHECK_RUN(no_gradients, STK_FW_JAX, 1, true);
    CHECK_RUN(no_gradients, STK_FW_JAX, 0, false);
    CHECK_RUN(no_gradients, STK_FW_PYTORCH, 1, false); // its operators show it
    CHECK_RUN(workers);
    return check_done("unit.model_evidence");
}
