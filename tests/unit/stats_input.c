// SPDX-License-Identifier: Apache-2.0
// The input pipeline on small traces whose answers are known: whose work each nanosecond is, on
// which threads, and which stage limits.
#include "answer.h"
#include "profile/model/input/input_kinds.h"

enum { RUNNER = 2, POOL_A = 3, POOL_B = 4 }; // threads besides MAIN
enum { STAGES, KINDS, FETCHES };

#define STAGE(name) answer_row(&a, STAGES, name)
#define VALUE(name, column) answer_cell_in(&a, STAGES, STAGE(name), column)->number
#define LIMITS(name) answer_cell_in(&a, STAGES, STAGE(name), "limiting")->truth

// An event of tf.data with one value.
static void detailed(struct answer *a, int64_t thread, double start_us, double dur_us,
                     const char *name, enum stk_kind kind, enum stk_detail_key key, int64_t value)
{
    struct stk_track_key track = {
        .kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = thread};
    struct stk_row row = {.start_ns = (int64_t)(start_us * 1000),
                          .dur_ns = (int64_t)(dur_us * 1000),
                          .kind = (uint8_t)kind};
    struct stk_detail detail = {.key = key, .number = value};
    row.name = stk_shard_intern(a->s.shard, name, strlen(name));
    row.track = stk_shard_track(a->s.shard, &track);
    stk_shard_add_detailed(a->s.shard, &row, NULL, &detail, 1);
}

static void input(struct answer *a, int64_t thread, double start_us, double dur_us,
                  const char *name)
{
    synth_host(&a->s, thread, start_us, dur_us, name, STK_KIND_INPUT);
}

// Four steps of 1 ms: `wait_us` of fetching, then the model.
static void add_steps(struct answer *a, double wait_us)
{
    for (int i = 0; i < 4; i++) {
        synth_step(&a->s, MAIN, i * 1000, 1000, i);
        input(a, MAIN, i * 1000, wait_us, "IteratorGetNextOp::DoCompute");
        synth_host(&a->s, MAIN, i * 1000 + wait_us, 1000 - wait_us, "aten::mm", STK_KIND_HOST_OP);
    }
}

static void test_sequential(void)
{
    struct answer a;
    answer_begin(&a);
    add_steps(&a, 600);
    for (int i = 0; i < 4; i++) {
        double t = i * 1000;
        input(&a, MAIN, t + 10, 580, "Iterator::Root");
        input(&a, MAIN, t + 20, 560, "Iterator::Root::BatchV2");
        // One pass after the other: the same stages.
        const char *map = i % 2 ? "Iterator::Root::BatchV2::ForeverRepeat[1]::Map"
                                : "Iterator::Root::BatchV2::ForeverRepeat[2]::Map";
        input(&a, MAIN, t + 30, 200, map);
        input(&a, MAIN, t + 30, 50, "Iterator::Root::BatchV2::ForeverRepeat[2]::Map::TensorSlice");
        input(&a, MAIN, t + 230, 300, map);
        synth_host(&a.s, MAIN, t + 240, 100, "DecodeJpeg:DecodeJpeg", STK_KIND_INPUT);
    }
    answer_analyse(&a, &stk_stats_input);
    const char *map = "Iterator::Root::BatchV2::ForeverRepeat::Map";
    CHECK_EQ(STAGE(map), 0); // most work first
    CHECK_EQ(VALUE(map, "calls"), 8);
    CHECK_EQ(VALUE(map, "elements"), 8);
    CHECK_EQ(VALUE(map, "total_ns"), 4 * 500 * US);
    CHECK_EQ(VALUE(map, "self_ns"), 4 * 450 * US);
    CHECK_EQ(VALUE(map, "per_element_ns"), 225 * US);
    CHECK_EQ(VALUE(map, "parallelism"), 1);
    CHECK_EQ((int64_t)(answer_cell_in(&a, STAGES, 0, "capacity_per_s")->ratio + 0.5), 4444);
    CHECK_STR(answer_cell_in(&a, STAGES, 0, "kind")->text, "preprocess");
    CHECK(LIMITS(map));
    CHECK(!LIMITS("Iterator::Root::BatchV2"));
    CHECK_EQ(VALUE("Iterator::Root::BatchV2", "self_ns"), 4 * 60 * US);
    CHECK_EQ(VALUE("Iterator::Root", "self_ns"), 4 * 20 * US);
    CHECK_EQ(VALUE("IteratorGetNextOp::DoCompute", "self_ns"), 4 * 20 * US);
    CHECK_STR(answer_figure(&a, "limiting_stage")->text, map);
    CHECK_EQ(answer_figure(&a, "wait_ns")->number, 4 * 600 * US);
    CHECK_EQ((int64_t)(answer_figure(&a, "wait_share")->ratio * 100 + 0.5), 60);
    // What the map's function does is counted by what it is; its stage keeps it.
    CHECK_EQ(answer_cell_in(&a, KINDS, answer_row(&a, KINDS, "decode"), "self_ns")->number,
             4 * 100 * US);
    CHECK_EQ(answer_cell_in(&a, KINDS, answer_row(&a, KINDS, "preprocess"), "self_ns")->number,
             4 * 350 * US);
    CHECK_EQ(answer_cell_in(&a, FETCHES, 0, "calls")->number, 4);
    CHECK_EQ(answer_cell_in(&a, FETCHES, 0, "median_ns")->number, 600 * US);
    // Each nanosecond of the thread inside the pipeline is some stage's.
    int64_t sum_ns = 0;
    for (size_t r = 0; r < a.doc.tables[STAGES].row_count; r++) {
        sum_ns += answer_cell_in(&a, STAGES, r, "self_ns")->number +
                  answer_cell_in(&a, STAGES, r, "wait_ns")->number;
    }
    CHECK_EQ(sum_ns, 4 * 600 * US);
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

// A parallel map: its caller waits, a runner starts the function, two threads of a pool run it.
static void add_parallel(struct answer *a, double wait_us, bool is_numbered)
{
    static const char map[] = "Iterator::Root::ParallelMapV2";
    add_steps(a, wait_us);
    for (int i = 0; i < 4; i++) {
        double t = i * 1000;
        detailed(a, MAIN, t, wait_us, map, STK_KIND_INPUT, STK_DETAIL_PARALLELISM, 4);
        input(a, RUNNER, t, 40, "ParallelMapProduce");
        input(a, RUNNER, t + 5, 15, "Iterator::Root::ParallelMapV2::Range");
        if (!is_numbered) {
            continue;
        }
        detailed(a, RUNNER, t + 20, 10, "InstantiatedCapturedFunction::RunAsync", STK_KIND_INPUT,
                 STK_DETAIL_FUNCTION, 70 + i);
        detailed(a, POOL_A, t + 30, 500, "ExecutorState::Process", STK_KIND_HOST_OP,
                 STK_DETAIL_FUNCTION, 70 + i);
        detailed(a, POOL_B, t + 30, 400, "ExecutorDoneCallback", STK_KIND_HOST_OP,
                 STK_DETAIL_FUNCTION, 70 + i);
        // Not of the input pipeline: the model's function.
        detailed(a, POOL_B, t + 500, 300, "ExecutorState::Process", STK_KIND_HOST_OP,
                 STK_DETAIL_FUNCTION, 900 + i);
    }
}

static void test_parallel(void)
{
    struct answer a;
    answer_begin(&a);
    add_parallel(&a, 600, true);
    answer_analyse(&a, &stk_stats_input);
    const char *map = "Iterator::Root::ParallelMapV2";
    CHECK_EQ(VALUE(map, "wait_ns"), 4 * 600 * US);
    CHECK_EQ(VALUE(map, "self_ns"), 4 * (500 + 400 + 25) * US); // pool, and the runner's own part
    CHECK_EQ(VALUE(map, "total_ns"), 4 * (600 + 500 + 400 + 25) * US);
    CHECK_EQ(VALUE(map, "parallelism"), 2);
    CHECK_EQ(VALUE(map, "parallelism_set"), 4);
    CHECK_EQ(VALUE(map, "threads"), 4);
    CHECK_EQ((int64_t)(answer_cell_in(&a, STAGES, STAGE(map), "capacity_per_s")->ratio + 0.5),
             2162);
    CHECK_EQ(VALUE("Iterator::Root::ParallelMapV2::Range", "self_ns"), 4 * 15 * US);
    CHECK(LIMITS(map));
    answer_end(&a);
}

static void test_not_numbered(void)
{
    struct answer a;
    answer_begin(&a);
    add_parallel(&a, 600, false);
    answer_analyse(&a, &stk_stats_input);
    // What the caller waited for beyond the stages before it.
    CHECK_EQ(VALUE("Iterator::Root::ParallelMapV2", "self_ns"), 4 * (600 - 15 + 25) * US);
    CHECK(LIMITS("Iterator::Root::ParallelMapV2"));
    answer_end(&a);
}

static void test_hidden(void)
{
    struct answer a;
    answer_begin(&a);
    add_parallel(&a, 20, true); // 2% of the step
    answer_analyse(&a, &stk_stats_input);
    CHECK(!answer_figure(&a, "limiting_stage")->known);
    for (size_t r = 0; r < a.doc.tables[STAGES].row_count; r++) {
        CHECK(!answer_cell_in(&a, STAGES, r, "limiting")->truth);
    }
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

// A slow source behind a prefetch: the caller waits in Prefetch, the generator limits.
static void test_prefetch(void)
{
    struct answer a;
    answer_begin(&a);
    add_steps(&a, 600);
    for (int i = 0; i < 4; i++) {
        double t = i * 1000;
        detailed(&a, MAIN, t, 600, "Iterator::Root::Prefetch", STK_KIND_INPUT,
                 STK_DETAIL_BUFFER_LIMIT, 2);
        input(&a, RUNNER, t, 950, "PrefetchProduce");
        input(&a, RUNNER, t + 10, 930, "Iterator::Root::Prefetch::Generator");
    }
    answer_analyse(&a, &stk_stats_input);
    const char *prefetch = "Iterator::Root::Prefetch";
    CHECK(LIMITS("Iterator::Root::Prefetch::Generator"));
    CHECK_EQ(VALUE(prefetch, "self_ns"), 4 * 20 * US);
    CHECK_EQ(VALUE(prefetch, "wait_ns"), 4 * 600 * US);
    CHECK_EQ(VALUE(prefetch, "buffer_limit"), 2);
    CHECK_EQ((int64_t)(answer_cell_in(&a, STAGES, STAGE(prefetch), "buffer_fill")->ratio * 100), 0);
    answer_end(&a);
}

// A stage whose workers wait for another's, and of which no function is recorded: that is not its
// work, though it is what its caller waits for.
static void test_waiting_workers(void)
{
    struct answer a;
    answer_begin(&a);
    add_steps(&a, 600);
    const char *both = "Iterator::Root::MapAndBatch",
               *prefetch = "Iterator::Root::MapAndBatch::Prefetch";
    const char *source = "Iterator::Root::MapAndBatch::Prefetch::Generator";
    for (int i = 0; i < 4; i++) {
        double t = i * 1000;
        input(&a, MAIN, t, 600, both);
        input(&a, RUNNER, t + 10, 580, prefetch);
        input(&a, POOL_A, t + 20, 560, source);
    }
    answer_analyse(&a, &stk_stats_input);
    CHECK_EQ(VALUE(both, "self_ns"), 4 * 20 * US);
    CHECK_EQ(VALUE(prefetch, "self_ns"), 0);
    CHECK(LIMITS(source));
    answer_end(&a);
}

// A consumer that waits for a pipeline on another thread: no work of its own. Elements as recorded,
// unknown where one call's are.
static void test_waiting_fetch(void)
{
    struct answer a;
    answer_begin(&a);
    add_steps(&a, 600);
    for (int i = 0; i < 4; i++) {
        double t = i * 1000;
        detailed(&a, RUNNER, t, 500, "Iterator::Batch", STK_KIND_INPUT, STK_DETAIL_ELEMENTS, 2);
        detailed(&a, RUNNER, t + 10, 400, "Iterator::Batch::Map", STK_KIND_INPUT,
                 STK_DETAIL_ELEMENTS, i == 1 ? 0 : 20);
        detailed(&a, RUNNER, t + 20, 40, "Iterator::Batch::Map::Range", STK_KIND_INPUT,
                 STK_DETAIL_ELEMENTS, i == 2 ? -1 : 20);
    }
    answer_analyse(&a, &stk_stats_input);
    const char *fetch = "IteratorGetNextOp::DoCompute", *map = "Iterator::Batch::Map";
    CHECK_EQ(STAGE(map), 0);
    CHECK_EQ(STAGE(fetch), 3);
    CHECK_EQ(VALUE(fetch, "self_ns"), 0);
    CHECK_EQ(VALUE(fetch, "wait_ns"), 4 * 600 * US);
    CHECK_EQ(VALUE(fetch, "elements"), 4);
    CHECK_EQ(VALUE("Iterator::Batch", "elements"), 8);
    CHECK_EQ(VALUE(map, "elements"), 60);
    CHECK_EQ(VALUE(map, "per_element_ns"), 4 * 360 * US / 60);
    CHECK_EQ((int64_t)(answer_cell_in(&a, STAGES, 0, "capacity_per_s")->ratio + 0.5), 41667);
    CHECK_EQ(VALUE(map, "calls"), 4);
    CHECK(!answer_cell_in(&a, STAGES, 3, "capacity_per_s")->known);
    size_t range = STAGE("Iterator::Batch::Map::Range");
    CHECK(!answer_cell_in(&a, STAGES, range, "elements")->known);
    CHECK(!answer_cell_in(&a, STAGES, range, "capacity_per_s")->known);
    CHECK(!answer_cell_in(&a, STAGES, range, "per_element_ns")->known);
    CHECK(LIMITS(map));
    answer_end(&a);
}

static void test_loader(void)
{
    struct answer a;
    static const char loader[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    answer_begin(&a);
    for (int i = 0; i < 4; i++) {
        synth_step(&a.s, MAIN, i * 1000, 1000, i);
        input(&a, MAIN, i * 1000, i == 3 ? 900 : 500, loader);
        synth_host(&a.s, MAIN, i * 1000 + 10, 200, "data.py(7): __getitem__", STK_KIND_PYTHON);
        synth_host(&a.s, MAIN, i * 1000 + 900, 100, "aten::mm", STK_KIND_HOST_OP);
        // The same function outside a fetch is no stage.
        synth_host(&a.s, MAIN, i * 1000 + 950, 20, "data.py(7): __getitem__", STK_KIND_PYTHON);
    }
    answer_analyse(&a, &stk_stats_input);
    CHECK_EQ(VALUE(loader, "self_ns"), (2400 - 800) * US);
    CHECK_EQ(VALUE("data.py(7): __getitem__", "calls"), 4);
    CHECK_EQ(VALUE("data.py(7): __getitem__", "self_ns"), 800 * US);
    CHECK(LIMITS(loader));
    CHECK_EQ(answer_cell_in(&a, FETCHES, 0, "mean_ns")->number, 600 * US);
    CHECK_EQ(answer_cell_in(&a, FETCHES, 0, "median_ns")->number, 500 * US);
    CHECK_EQ(answer_cell_in(&a, FETCHES, 0, "max_ns")->number, 900 * US);
    answer_end(&a);
}

// A Python row that begins before the fetch and ends inside it has a row of its own: time still
// belongs, once, to what was entered last and is still open.
static void test_crossing(void)
{
    struct answer a;
    static const char loader[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    answer_begin(&a);
    for (int i = 0; i < 4; i++) {
        synth_step(&a.s, MAIN, i * 1000, 1000, i);
        synth_host(&a.s, MAIN, i * 1000, 300, "loop.py(3): step", STK_KIND_PYTHON);
        input(&a, MAIN, i * 1000 + 100, 500, loader);
        synth_host(&a.s, MAIN, i * 1000 + 250, 300, "data.py(7): __getitem__", STK_KIND_PYTHON);
        synth_host(&a.s, MAIN, i * 1000 + 600, 400, "aten::mm", STK_KIND_HOST_OP);
    }
    answer_analyse(&a, &stk_stats_input);
    CHECK_EQ(VALUE("data.py(7): __getitem__", "self_ns"), 4 * 300 * US);
    CHECK_EQ(VALUE(loader, "self_ns"), 4 * 200 * US);
    CHECK_EQ(VALUE(loader, "total_ns"), 4 * 500 * US);
    CHECK(LIMITS("data.py(7): __getitem__"));
    answer_end(&a);
}

static void test_nothing(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 100, "aten::mm", STK_KIND_HOST_OP);
    answer_analyse(&a, &stk_stats_input);
    CHECK(a.doc.inconclusive);
    CHECK_EQ(a.doc.missing_count, 1);
    CHECK(!answer_figure(&a, "wait_ns")->known);
    CHECK_EQ(a.doc.tables[STAGES].row_count, 0);
    answer_end(&a);
}

// tf.data as TensorFlow 2.21 recorded it: a parallel map with two threads, behind a prefetch of
// one.
static void test_recorded(void)
{
    struct answer a;
    const char *map = "Iterator::Root::Prefetch::MapAndBatch";
    answer_begin(&a);
    answer_read(&a, &stk_stats_input, "tests/fuzz/seeds/xplane/tfdata.xplane.pb");
    answer_analyse(&a, &stk_stats_input);
    CHECK_EQ(STAGE(map), 0);
    CHECK_EQ(VALUE(map, "parallelism_set"), 2);
    CHECK_EQ(VALUE(map, "parallelism"), 2);
    CHECK_EQ(VALUE(map, "buffer_limit"), 2);
    CHECK(!answer_cell_in(&a, STAGES, STAGE(map), "autotuned")->truth);
    CHECK(answer_cell_in(&a, STAGES, STAGE("Iterator::Root::Prefetch"), "autotuned")->truth);
    CHECK_EQ(VALUE("Iterator::Root::Prefetch", "buffer_limit"), 1);
    // Two threads of a pool, for three steps of 22 ms: what they did is the map's.
    CHECK(VALUE(map, "self_ns") > 100000 * US && VALUE(map, "self_ns") < 150000 * US);
    answer_end(&a);
}

static void check_text(const char *name, bool is_pipeline, const char *want)
{
    char text[64];
    struct stk_input_name what = {.is_pipeline = is_pipeline};
    size_t n = stk_input_stage_text(stk_str_from(name), what, text, sizeof text);
    CHECK_STR(text, want);
    CHECK_EQ(n, strlen(want));
}

static void test_texts(void)
{
    check_text("Iterator::Root::Zip[1]::Map[2]::Range", true, "Iterator::Root::Zip[1]::Map::Range");
    check_text("Iterator::A[1", true, "Iterator::A[1");
    check_text("Iterator::", true, "Iterator::");
    check_text("cond/IteratorGetNext_4:IteratorGetNext", false, "IteratorGetNext");
    check_text("<built-in method read of Reader object at 0x7f01>", false,
               "<built-in method read of Reader>");
    char cut[8];
    CHECK_EQ(stk_input_stage_text(STK_STR("Iterator::Root"),
                                  (struct stk_input_name){.is_pipeline = true}, cut, sizeof cut),
             7);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_sequential);
    CHECK_RUN(test_parallel);
    CHECK_RUN(test_not_numbered);
    CHECK_RUN(test_hidden);
    CHECK_RUN(test_prefetch);
    CHECK_RUN(test_waiting_workers);
    CHECK_RUN(test_waiting_fetch);
    CHECK_RUN(test_loader);
    CHECK_RUN(test_crossing);
    CHECK_RUN(test_nothing);
    CHECK_RUN(test_recorded);
    CHECK_RUN(test_texts);
    return check_done("unit.stats_input");
}
