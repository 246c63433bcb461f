// SPDX-License-Identifier: Apache-2.0
// On random traces, whose events nest, cross and belong to nothing: the time of stages and Python
// functions is within its total, no nanosecond of a thread counts twice, and at most one stage
// limits.
#include "answer.h"

#define THREADS 3
#define SPAN_US 20000

static uint64_t seed = 0x9e3779b97f4a7c15u;
static uint32_t next_random(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

static const struct {
    const char *name;
    enum stk_kind kind;
} events[] = {
    {"IteratorGetNextOp::DoCompute", STK_KIND_INPUT},
    {"Iterator::Root", STK_KIND_INPUT},
    {"Iterator::Root::Prefetch", STK_KIND_INPUT},
    {"Iterator::Root::Prefetch::ParallelMapV2", STK_KIND_INPUT},
    {"Iterator::Root::Prefetch::ParallelMapV2::Zip[0]::TFRecord", STK_KIND_INPUT},
    {"PrefetchProduce", STK_KIND_INPUT},
    {"ParallelMapProduce", STK_KIND_INPUT},
    {"InstantiatedCapturedFunction::RunAsync", STK_KIND_INPUT},
    {"InstantiatedCapturedFunction::Run", STK_KIND_INPUT},
    {"ExecutorState::Process", STK_KIND_HOST_OP},
    {"DecodeJpeg:DecodeJpeg", STK_KIND_INPUT},
    {"enumerate(DataLoader)#_Iter.__next__", STK_KIND_INPUT},
    {"data.py(3): __getitem__", STK_KIND_PYTHON},
    {"data.py(9): load_image", STK_KIND_PYTHON},
    {"<built-in method read of Reader object at 0x1>", STK_KIND_PYTHON},
    {"$builtins next", STK_KIND_PYTHON},
    {"aten::mm", STK_KIND_HOST_OP},
    {"cudaLaunchKernel", STK_KIND_RUNTIME},
};

static void add_event(struct synth *s)
{
    uint32_t i = next_random(sizeof events / sizeof *events);
    struct stk_track_key track = {
        .kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = 1 + next_random(THREADS)};
    struct stk_row row = {.start_ns = next_random(SPAN_US) * US,
                          .dur_ns = next_random(next_random(4) ? 40 : 6000) * US,
                          .kind = (uint8_t)events[i].kind};
    struct stk_detail detail = {.key = STK_DETAIL_FUNCTION, .number = next_random(40)};
    row.name = stk_shard_intern(s->shard, events[i].name, strlen(events[i].name));
    row.track = stk_shard_track(s->shard, &track);
    stk_shard_add_detailed(s->shard, &row, NULL, &detail, 1);
}

static void fill(struct answer *a, uint32_t count)
{
    answer_begin(a);
    for (int i = 0; i < 4; i++) {
        synth_step(&a->s, MAIN, i * SPAN_US / 4, SPAN_US / 4.0, i);
    }
    for (uint32_t i = 0; i < count; i++) {
        add_event(&a->s);
    }
}

static void check_stages(uint32_t count)
{
    struct answer a;
    int64_t sum_ns = 0;
    size_t limiting = 0;
    fill(&a, count);
    answer_analyse(&a, &stk_stats_input);
    for (size_t r = 0; r < a.doc.tables[0].row_count; r++) {
        int64_t self_ns = NUMBER(&a, r, "self_ns"), wait_ns = NUMBER(&a, r, "wait_ns");
        CHECK(self_ns >= 0 && wait_ns >= 0 && self_ns + wait_ns <= NUMBER(&a, r, "total_ns"));
        CHECK(NUMBER(&a, r, "parallelism") <= THREADS);
        sum_ns += self_ns + wait_ns;
        limiting += answer_cell(&a, r, "limiting")->truth;
    }
    CHECK(sum_ns <= THREADS * (SPAN_US + 6000) * US);
    CHECK(limiting <= 1);
    CHECK((limiting == 1) == answer_figure(&a, "limiting_stage")->known);
    double shares = 0;
    for (size_t r = 0; r < a.doc.tables[1].row_count; r++) {
        CHECK(answer_cell_in(&a, 1, r, "self_ns")->number >= 0);
        shares += answer_cell_in(&a, 1, r, "self_share")->ratio;
    }
    CHECK(shares < 1.000001);
    answer_end(&a);
}

static void check_functions(uint32_t count)
{
    struct answer a;
    int64_t sum_ns = 0;
    fill(&a, count);
    answer_analyse(&a, &stk_stats_python);
    for (size_t r = 0; r < a.doc.tables[0].row_count; r++) {
        int64_t self_ns = NUMBER(&a, r, "self_ns"), python_ns = NUMBER(&a, r, "python_ns");
        CHECK(python_ns >= 0 && python_ns <= self_ns && self_ns <= NUMBER(&a, r, "total_ns"));
        sum_ns += self_ns;
    }
    CHECK(sum_ns <= THREADS * (SPAN_US + 6000) * US);
    if (a.doc.tables[0].row_count) {
        double traced = answer_figure(&a, "traced_share")->ratio;
        CHECK(traced >= 0 && traced < 1.000001);
        CHECK(answer_figure(&a, "python_self_share")->ratio <= traced + 1e-9);
    }
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (uint32_t round = 0; round < 300; round++) {
        CHECK_RUN(check_stages, 1 + next_random(round + 2));
        CHECK_RUN(check_functions, 1 + next_random(round + 2));
    }
    return check_done("prop.input_random");
}
