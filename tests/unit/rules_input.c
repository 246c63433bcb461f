// SPDX-License-Identifier: Apache-2.0
// The input-wait rule: what it reports as the limit, and advice that suits who fetches and how
// (PyTorch's loaders and their workers, tf.data, Keras, Grain, the loop itself).
#include "rules_run.h"

static struct fake f;

static const struct stk_rep_finding *input(const char *name, uint32_t framework)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.frameworks = 1u << framework;
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    if (name) {
        fake_name(&f, STK_PART_INPUT, name);
    }
    fake_ask(&f);
    CHECK(f.verdict.kind == STK_VERDICT_INPUT);
    CHECK_STR(((const struct stk_rep_finding *)f.report.findings.items)[0].id, "input-wait");
    return fake_finding(&f, "input-wait");
}

static void input_advice(void)
{
    const struct stk_rep_finding *x =
        input("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", STK_FW_PYTORCH);
    CHECK_EQ(x->severity, STK_LEVEL_HIGH);
    CHECK(says(x, "num_workers=0") && advises(x, "num_workers=0") == 0);
    CHECK(says(x, "833 us per step is in enumerate(DataLoader)") && says(x, "in step 3"));
    CHECK(advises(x, "prefetch(tf.data") < 0); // another framework's
    CHECK(advises(x, "named above") < 0);      // a loader is no code of the user's own
    CHECK(advises(x, "sched_getaffinity") == 0 && advises(x, "get_worker_info") == 1);
    CHECK(advises(x, "pin_memory=True") > 0 && advises(x, "holds an archive or database open") < 0);
    f.run.facts.signs[STK_SIGN_HELD_OPEN].count = 6; // zipfile, sqlite3
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "input-wait"), "holds an archive or database open") == 1);
    f.run.facts.has_device_rows = false; // no accelerator: nothing to pin memory for
    f.run.facts.runtime_calls = 0;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "input-wait"), "pin_memory") < 0);
    fake_done(&f);
}

// Many short calls: whole batches first; with many tensors of a batch, workers do not pay.
static void input_short_calls(void)
{
    for (int tensors = 2; tensors <= 40; tensors += 38) {
        const struct stk_rep_finding *x =
            input("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", STK_FW_PYTORCH);
        f.run.facts.loader_fetches = 10;
        f.run.facts.loader_fetch_ns = 50000000;
        f.run.facts.fetch_ops = f.run.facts.fetch_calls = 3000; // recording adds 6 of 50 ms
        f.run.facts.fetch_stacks = 10 * (uint64_t)tensors;
        f.run.facts.fetch_fine_ns = 45000000;
        fake_ask(&f);
        x = fake_finding(&f, "input-wait");
        CHECK(says(x, "A batch takes 300 PyTorch operators; short calls take 90%"));
        CHECK_EQ(advises(x, "indices of a whole batch"), 0);
        CHECK_EQ(advises(x, "persistent_workers"), tensors < 40 ? 1 : -1);
        CHECK(says(x, "about 400 us each, 40 per batch") == (tensors == 40));
        f.run.facts.fetch_fine_ns = 30000000; // decoding
        fake_ask(&f);
        CHECK(advises(fake_finding(&f, "input-wait"), "sample by sample") < 0);
        fake_done(&f);
    }
}

static void input_workers(void)
{
    const struct stk_rep_finding *x =
        input("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", STK_FW_PYTORCH);
    CHECK(says(x, "don't keep up") && advises(x, "trace_worker") == 0);
    CHECK(advises(x, "num_workers=0") < 0);
    f.run.step_marks = FAKE_STEPS; // next(iter(loader)): nobody keeps up with that
    f.run.facts.signs[STK_SIGN_LOADER_ITERATOR].count = FAKE_STEPS;
    fake_ask(&f);
    x = fake_finding(&f, "input-wait");
    CHECK(says(x, "iterators, one per step") && !says(x, "don't keep up"));
    CHECK(advises(x, "Make it once") == 0 && advises(x, "trace_worker") < 0);
    f.run.facts.loader_fetches = 20 * FAKE_STEPS; // the profiler's steps are epochs
    fake_ask(&f);
    CHECK(says(fake_finding(&f, "input-wait"), "don't keep up"));
    f.run.facts.loader_fetches = 0;
    f.run.facts.signs[STK_SIGN_LOADER_ITERATOR].count = 1; // an epoch's
    fake_ask(&f);
    CHECK(says(fake_finding(&f, "input-wait"), "don't keep up"));
    fake_done(&f);
}

// The loader is quick, and a function of the job's own goes on with what it gives.
static void input_beside_loader(void)
{
    const struct stk_rep_finding *x =
        input("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", STK_FW_PYTORCH);
    static const struct stk_cause_name own = {
        .name = "train.py(17): augment", .ns = 9000000, .count = 6};
    f.run.causes[STK_PART_INPUT].owners[0] = own;
    f.run.causes[STK_PART_INPUT].owner_count = 1;
    f.run.causes[STK_PART_INPUT].ns = 10000000;
    f.run.facts.loader_fetch_ns = 1000000;
    f.run.facts.prep_ops = 4000 * FAKE_STEPS;
    f.run.step_marks = FAKE_STEPS;
    fake_ask(&f);
    x = fake_finding(&f, "input-wait");
    CHECK(says(x, "4,000 PyTorch operators per step") && advises(x, "whole batch") == 0);
    CHECK(advises(x, "Move these functions out of") == 1 && advises(x, "num_workers") < 0);
    f.run.facts.loader_fetch_ns = 9000000;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "input-wait"), "num_workers=0") == 0);
    fake_done(&f);

    // Lists that JAX looks at number by number.
    x = input("$train.py:3 collate", STK_FW_JAX);
    f.run.causes[STK_PART_INPUT].ns = 100;
    for (int lists = 49; lists <= 51; lists += 2) {
        f.run.facts.list_handing_ns = lists;
        fake_ask(&f);
        CHECK_EQ(advises(fake_finding(&f, "input-wait"), "NumPy arrays"), lists > 50 ? 0 : -1);
    }
    fake_done(&f);

    // The loop makes batches of what the workers give: that is what takes the time.
    x = input("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", STK_FW_PYTORCH);
    f.run.facts.own_batches = FAKE_STEPS;
    fake_ask(&f);
    x = fake_finding(&f, "input-wait");
    CHECK(says(x, "workers keep up") && !says(x, "don't keep up"));
    CHECK(advises(x, "Move what the loop does") == 0 && advises(x, "trace_worker") < 0);
    fake_done(&f);
}

static void input_frameworks(void)
{
    const struct stk_rep_finding *x = input("IteratorGetNext::DoCompute", STK_FW_TENSORFLOW);
    CHECK(advises(x, "tf.data.AUTOTUNE") == 0 && advises(x, "py_function") < 0);
    CHECK(advises(x, "DataLoader(") < 0);
    fake_done(&f);

    x = input("PjRtBuffer::Await", STK_FW_JAX);
    CHECK(advises(x, "threading.Thread") >= 0 && advises(x, "mp_prefetch") < 0);
    f.run.facts.signs[STK_SIGN_GRAIN].count = 6;
    fake_ask(&f);
    x = fake_finding(&f, "input-wait");
    CHECK(advises(x, "mp_prefetch") == 0 && advises(x, "threading.Thread") < 0);
    fake_done(&f);
}

static void input_own(void)
{
    const struct stk_rep_finding *x =
        input("VideoClassificationPipeline.preprocess", STK_FW_PYTORCH);
    CHECK_EQ(advises(x, "these functions out"), 0);
    CHECK(advises(x, "Move what the loop does") < 0);

    // The loop makes its batches itself; most of that is numbers, one by one, or it is not.
    f.run.facts.own_batches = 6;
    f.run.facts.loader_fetch_ns = 100;
    for (int handing = 49; handing <= 51; handing += 2) {
        f.run.facts.own_handing_ns = handing;
        fake_ask(&f);
        x = fake_finding(&f, "input-wait");
        CHECK(says(x, "The loop makes its batches itself"));
        CHECK(says(x, "of making a batch is converting it") == (handing > 50));
        CHECK((advises(x, "value by value each time") >= 0) == (handing > 50));
        CHECK(advises(x, "Move what the loop does") >= 0 && advises(x, "these functions out") < 0);
    }
    fake_done(&f);
}

static const struct stk_rep_finding *pipeline(const char *stage, const char *kind, bool is_async,
                                              bool is_buffered, int64_t python_ns)
{
    input("IteratorGetNext::DoCompute", STK_FW_TENSORFLOW);
    f.run.causes[STK_PART_INPUT].ns = f.run.parts[STK_PART_INPUT];
    f.run.slow_stage = (struct stk_slow_stage){.stage = stage,
                                               .kind = kind,
                                               .is_pipeline = true,
                                               .is_async = is_async,
                                               .is_buffered = is_buffered,
                                               .self_ns = 120000000,
                                               .elements = 10,
                                               .parallelism = is_async ? 2 : 1,
                                               .share = 0.93};
    f.run.facts.signs[STK_SIGN_PY_FUNC] =
        (struct stk_sign_sum){.count = python_ns > 0, .ns = python_ns};
    fake_ask(&f);
    return fake_finding(&f, "input-wait");
}

// The stage that limits is named, and the advice is for its sort.
static void input_stage(void)
{
    const struct stk_rep_finding *x =
        pipeline("Iterator::Prefetch::Map", "preprocess", false, true, 0);
    CHECK(says(x, "Stage Iterator::Prefetch::Map limits the pipeline: 93% of its work, 12.0 ms per "
                  "element, on 1 thread"));
    CHECK(advises(x, "Run the map in parallel") == 0 && advises(x, "doesn't end with") < 0);
    fake_done(&f);

    x = pipeline("Iterator::ParallelMapV2", "preprocess", true, false, 0);
    CHECK(advises(x, "parallel already") == 0 && advises(x, "Run the map in parallel") < 0);
    CHECK(advises(x, "doesn't end with") == 2);
    fake_done(&f);

    x = pipeline("Iterator::Prefetch::FlatMap", "read", false, true, 0);
    CHECK(advises(x, "Read several files") == 0);
    fake_done(&f);
    x = pipeline("Iterator::Prefetch::TensorSlice", "read", false, true, 0);
    CHECK(advises(x, "Read several files") < 0); // it is in memory
    f.run.facts.signs[STK_SIGN_ITERATOR].count = FAKE_STEPS;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "input-wait"), "makes a new iterator") == 0);
    fake_done(&f);

    // Many short elements a batch: batch first.
    x = pipeline("Iterator::Prefetch::ParallelMapV2", "preprocess", true, true, 0);
    f.run.facts.loader_fetches = FAKE_STEPS;
    f.run.facts.loader_fetch_ns = FAKE_STEPS * 20000000ll;
    f.run.facts.signs[STK_SIGN_CAPTURED].count = FAKE_STEPS * 200;
    fake_ask(&f);
    x = fake_finding(&f, "input-wait");
    CHECK(advises(x, "Batch first") == 0 && says(x, "200 times per batch"));
    f.run.facts.signs[STK_SIGN_CAPTURED].count = FAKE_STEPS * 63; // few
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "input-wait"), "Batch first") < 0);
    f.run.facts.signs[STK_SIGN_CAPTURED].count = FAKE_STEPS * 200;
    f.run.facts.loader_fetch_ns = FAKE_STEPS * 200000000ll; // each takes long
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "input-wait"), "Batch first") < 0);
    fake_done(&f);

    // A generator or py_function runs under Python's lock, in any stage.
    x = pipeline("Iterator::Prefetch::ParallelMapV2", "preprocess", true, true, 100000000);
    CHECK(advises(x, "py_function") == 0 && advises(x, "parallel already") < 0);
    CHECK(advises(x, "PyDataset") < 0);
    f.run.facts.signs[STK_SIGN_KERAS].count = 6;
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "input-wait"), "PyDataset"), 1);
    fake_done(&f);
    x = pipeline("Iterator::Prefetch::ParallelMapV2", "preprocess", true, true, 10000000);
    CHECK(advises(x, "py_function") < 0);
    fake_done(&f);
}

// The report says what the step shares with the pipeline: CPU cores, and Python's lock, which more
// threads would share, too.
static void input_shared(void)
{
    const char *stage = "Iterator::Root::FlatMap::Generator";
    const struct stk_rep_finding *x = pipeline(stage, "read", false, true, 1000000);
    CHECK(!says(x, "threads are using the CPU cores") && !says(x, "waiting for the GIL"));
    CHECK(advises(x, "py_function") == 0 && advises(x, "Read several files") < 0);
    f.run.facts.signs[STK_SIGN_KERAS].count = 6;
    f.run.facts.standstill_ns = f.run.parts[STK_PART_INPUT] / 8;
    f.run.facts.lock_ns = f.run.parts[STK_PART_INPUT] / 7;
    fake_ask(&f);
    x = fake_finding(&f, "input-wait");
    CHECK(says(x, "threads are using the CPU cores") && says(x, "waiting for the GIL"));
    CHECK(advises(x, "Processes don't") == 1 && advises(x, "it has one worker by default") < 0);
    fake_done(&f);
}

static const struct stk_rep_finding *workers(int64_t batch_ns, int64_t collate_ns)
{
    input("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", STK_FW_PYTORCH);
    f.run.workers = (struct stk_worker_sum){.workers = 2,
                                            .items = 40,
                                            .batches = 10,
                                            .batch_ns = batch_ns,
                                            .item_ns = batch_ns - collate_ns,
                                            .collate_ns = collate_ns,
                                            .wall_ns = 1000000000,
                                            .item = "data.py(31): __getitem__",
                                            .most_ns = 1};
    fake_ask(&f);
    return fake_finding(&f, "input-wait");
}

// Records of the workers say what limits.
static void worker_records(void)
{
    const struct stk_rep_finding *x = workers(900000000, 100000000);
    CHECK(says(x, "2 workers recorded: busy 90% of the time"));
    CHECK(says(x, "20.0 ms per sample in __getitem__ (data.py:31), 89% of its work"));
    CHECK(!says(x, "don't keep up") && advises(x, "Make a sample cheaper") == 0);
    fake_done(&f);
    x = workers(900000000, 500000000);
    CHECK_EQ(advises(x, "Collating"), 0);
    fake_done(&f);
    x = workers(690000000, 100000000);
    CHECK_EQ(advises(x, "wait more than they work"), 0);
    fake_done(&f);
}

static void input_uneven(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.01, -1);
    fake_part(&f, STK_PART_INPUT, 0.80, 4);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "input-wait");
    CHECK_STR(x->title, "One long fetch causes most of the input wait");
    CHECK(strstr(((const struct stk_rep_evidence *)x->evidence.items)[1].text, "Step 4 alone"));
    CHECK(says(x, "Step 4 alone waits 81.0 ms") && says(x, "the median 1.00 ms"));
    CHECK(advises(x, "long fetch") == 0 && advises(x, "prefetch_factor=8") == 1);
    fake_done(&f);
}

// Few steps that are long hold the wait: no slow rate.
static void input_of_few(void)
{
    fake_init(&f, 2, STK_SCOPE_STEPS); // rows of two ranks
    for (uint32_t i = 0; i < 3; i++) {
        f.steps[i * 4].long_why = "";
        f.steps[i * 4].parts[STK_PART_INPUT] = FAKE_STEP_NS / 2;
    }
    fake_total(&f);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "input-wait");
    CHECK_STR(x->title, "A few long fetches cause most of the input wait");
    CHECK(says(x, "3 of 12 steps account for 100% of the wait"));
    CHECK(advises(x, "long fetch") == 0);
    f.steps[2].long_why = ""; // four of twelve are not few
    f.steps[2].parts[STK_PART_INPUT] = FAKE_STEP_NS / 2;
    fake_total(&f);
    fake_ask(&f);
    x = fake_finding(&f, "input-wait");
    CHECK_STR(x->title, "The step waits for its input");
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(input_advice);
    CHECK_RUN(input_short_calls);
    CHECK_RUN(input_workers);
    CHECK_RUN(input_beside_loader);
    CHECK_RUN(input_frameworks);
    CHECK_RUN(input_own);
    CHECK_RUN(input_stage);
    CHECK_RUN(input_shared);
    CHECK_RUN(input_uneven);
    CHECK_RUN(input_of_few);
    CHECK_RUN(worker_records);
    return check_done("unit.rules_input");
}
