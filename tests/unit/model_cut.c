// SPDX-License-Identifier: Apache-2.0
// Truncated inputs: which steps are used, by the time that a reader gives and by the positions of
// the records.
#include "synth.h"

#define MAIN 1
#define BACKWARD 2
#define STEPS 6

// Steps that are used, as bits; the others say that the file is cut.
static uint32_t used_bits(struct synth *s)
{
    struct stk_rank_sum *r = synth_summarize(s);
    uint32_t bits = 0;
    for (uint32_t i = 0; r && i < r->step_count; i++) {
        const struct stk_step *step = &r->steps[i];
        bits |= (uint32_t)(step->excluded == NULL) << step->number;
        if (step->excluded) {
            CHECK_STR(step->excluded, STK_EXCLUDED_CUT);
        }
    }
    return bits;
}

static void host_of_step(struct synth *s, int i)
{
    synth_step(s, MAIN, i * 1000, 990, i);
    synth_host(s, MAIN, i * 1000 + 90, 40, "aten::mm", STK_KIND_HOST_OP);
    synth_host(s, MAIN, i * 1000 + 190, 40, "aten::relu", STK_KIND_HOST_OP);
}

static void calls_of_step(struct synth *s, int i)
{
    synth_launch(s, MAIN, i * 1000 + 100, 5, "gemm", i * 1000 + 110, 300, 7);
    synth_launch(s, MAIN, i * 1000 + 200, 5, "relu", i * 1000 + 410, 100, 7);
}

// A launch whose kernel is in what is missing.
static void call_alone(struct synth *s, double at_us)
{
    struct stk_track_key host = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = MAIN};
    struct stk_row_ext ext = {.has_corr = true, .corr = ++s->corr};
    synth_row(s, &host, at_us, 5, "cudaLaunchKernel", STK_KIND_RUNTIME, &ext);
}

// Rows as they happen: step by step. Kineto's: first those of the host, then calls and kernels.
static void write_in_order(struct synth *s, int steps)
{
    for (int i = 0; i < steps; i++) {
        host_of_step(s, i);
        calls_of_step(s, i);
    }
}

static void write_host_first(struct synth *s, int calls)
{
    for (int i = 0; i < STEPS; i++) {
        host_of_step(s, i);
    }
    for (int i = 0; i < calls; i++) {
        calls_of_step(s, i);
    }
}

static void check_known_time(void)
{
    static const struct {
        enum stk_cut cut;
        int64_t until_ns;
        uint32_t used;
    } rows[] = {
        {STK_CUT_NOT, 0, 63},           {STK_CUT_AT, INT64_MAX, 63}, // behind all that counts
        {STK_CUT_AT, 4000 * US, 15}, // a step ends where the next begins
        {STK_CUT_AT, 4000 * US - 1, 7}, {STK_CUT_AT, INT64_MIN, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct synth s;
        synth_begin(&s);
        write_in_order(&s, STEPS);
        if (rows[i].cut != STK_CUT_NOT) {
            stk_build_cut(s.build, rows[i].cut, rows[i].until_ns);
        }
        CHECK_EQ(used_bits(&s), rows[i].used);
        CHECK_EQ(s.ranks[0]->facts.is_cut, rows[i].cut != STK_CUT_NOT);
        CHECK_EQ(s.ranks[0]->devices[0].wall_ns > 0, rows[i].used != 0);
        synth_end(&s);
    }
}

// An input that says no more than that it ends early.
static void check_in_order(void)
{
    struct synth s;
    synth_begin(&s);
    write_in_order(&s, STEPS);
    stk_shard_issue(s.shard, STK_ISSUE_TRUNCATED, 1, 0, -1, STK_STR(""));
    CHECK_EQ(used_bits(&s), 31); // a kernel that comes next would say what the last one waits for
    synth_end(&s);

    synth_begin(&s); // the device's rows alone come late, by two steps
    for (int i = 0; i < STEPS + 2; i++) {
        if (i < STEPS) {
            host_of_step(&s, i);
            call_alone(&s, i * 1000 + 100);
        }
        for (int k = i - 2; k >= 0 && k == i - 2; k++) {
            struct stk_track_key dev = {
                .kind = STK_TRACK_STREAM, .process = 1, .device = 0, .id = 7};
            struct stk_row_ext ext = {.has_corr = true, .corr = k + 1};
            synth_row(&s, &dev, k * 1000 + 110, 300, "gemm", STK_KIND_KERNEL, &ext);
        }
    }
    stk_shard_issue(s.shard, STK_ISSUE_TRUNCATED, 1, 0, -1, STK_STR(""));
    CHECK_EQ(used_bits(&s), 7);
    synth_end(&s);

    synth_begin(&s); // the device's rows before those of the host: none of these is known
    for (int i = 0; i < STEPS; i++) {
        synth_device(&s, 7, i * 1000 + 110, 300, "gemm", STK_KIND_KERNEL, STK_DIR_UNKNOWN,
                     STK_MEM_UNKNOWN);
    }
    for (int i = 0; i < STEPS - 2; i++) {
        host_of_step(&s, i);
    }
    stk_shard_issue(s.shard, STK_ISSUE_TRUNCATED, 1, 0, -1, STK_STR(""));
    CHECK_EQ(used_bits(&s), 0);
    synth_end(&s);
}

static void check_host_first(void)
{
    struct synth s;
    for (int calls = 0; calls <= STEPS; calls++) {
        synth_begin(&s);
        write_host_first(&s, calls);
        stk_shard_issue(s.shard, STK_ISSUE_TRUNCATED, 1, 0, -1, STK_STR(""));
        CHECK_EQ(used_bits(&s), calls > 1 ? (1u << (calls - 1)) - 1 : 0);
        synth_end(&s);
    }

    synth_begin(&s); // a call without its kernel, before others that have theirs
    write_host_first(&s, STEPS);
    call_alone(&s, 2500);
    stk_shard_issue(s.shard, STK_ISSUE_TRUNCATED, 1, 0, -1, STK_STR(""));
    CHECK_EQ(used_bits(&s), 3);
    synth_end(&s);

    synth_begin(&s); // calls of another thread, which runs operators, are not there yet
    synth_host(&s, BACKWARD, 300, 40, "MulBackward0", STK_KIND_HOST_OP);
    write_host_first(&s, STEPS);
    stk_shard_issue(s.shard, STK_ISSUE_TRUNCATED, 1, 0, -1, STK_STR(""));
    CHECK_EQ(used_bits(&s), 0);
    synth_end(&s);
}

// A launch of a graph is whole when its kernels are.
static void check_graph(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 4; i++) {
        host_of_step(&s, i);
        synth_launch_as(&s, MAIN, i * 1000 + 100, 5, "cudaGraphLaunch", "gemm", i * 1000 + 110, 300,
                        7, STK_KIND_KERNEL, STK_DIR_UNKNOWN, STK_MEM_UNKNOWN);
        synth_of_graph(&s, "relu", i * 1000 + 410, i == 1 ? 2700 : 100, 8);
    }
    stk_build_cut(s.build, STK_CUT_AT, 4000 * US);
    CHECK_EQ(used_bits(&s), 1); // that of step 1 still runs at the end
    synth_end(&s);
}

// CUPTI may hand over a later buffer first: a stretch of operators that always call has no calls.
static void check_gap(bool is_gap)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        synth_step(&s, MAIN, i * 1000, 990, i);
        for (int k = 0; k < 20; k++) {
            synth_host(&s, MAIN, i * 1000 + k * 40, 30, k % 2 ? "aten::mm" : "aten::relu",
                       STK_KIND_HOST_OP);
        }
    }
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 20 && !(is_gap && i == 2); k++) {
            double at = i * 1000 + k * 40 + 10;
            synth_launch(&s, MAIN, at, 5, "gemm", at + 10, 20, 7);
        }
    }
    stk_shard_issue(s.shard, STK_ISSUE_TRUNCATED, 1, 0, -1, STK_STR(""));
    CHECK_EQ(used_bits(&s), is_gap ? 1 : 31); // the gap begins with the last call of step 1
    synth_end(&s);
}

// Without marks the steps of a part of the work may be others: none is used, nor is the span.
static void check_inferred_and_none(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 40; i++) {
        synth_launch(&s, MAIN, i * 100, 5, i % 4 ? "relu" : "gemm", i * 100 + 10, 50, 7);
    }
    stk_build_cut(s.build, STK_CUT_AT, 3000 * US);
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->devices[0].wall_ns, 0);
    synth_end(&s);

    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "gemm", 10, 50, 7);
    synth_launch(&s, MAIN, 900, 5, "relu", 910, 50, 7);
    stk_build_cut(s.build, STK_CUT_AT, 500 * US);
    r = synth_summarize(&s);
    CHECK_EQ(r->step_count, 0);
    CHECK(!r->devices[0].analysed && r->devices[0].left_out);
    CHECK_EQ(r->devices[0].wall_ns, 0);
    synth_end(&s);
}

// Work queued before the recording is found, however few calls follow it.
static void check_queue(void)
{
    struct synth s;
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        synth_begin(&s);
        for (int i = 0; i < 8; i++) {
            synth_device(&s, 7, i * 50, 50, "queued", STK_KIND_KERNEL, STK_DIR_UNKNOWN,
                         STK_MEM_UNKNOWN);
        }
        for (int i = 0; i < 3; i++) {
            synth_step(&s, MAIN, i * 1000, 990, i);
            synth_launch(&s, MAIN, i * 1000 + 100, 5, "gemm", i * 1000 + 410, 300, 7);
        }
        if (is_cut) {
            stk_build_cut(s.build, STK_CUT_AT, 2100 * US);
        }
        struct stk_rank_sum *r = synth_summarize(&s);
        CHECK_EQ(r->facts.queued_ops, is_cut ? 8 : 0);
        CHECK_EQ(r->steps[0].start_ns, is_cut ? 400 * US : 0);
        synth_end(&s);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_known_time);
    CHECK_RUN(check_in_order);
    CHECK_RUN(check_host_first);
    CHECK_RUN(check_graph);
    CHECK_RUN(check_gap, false);
    CHECK_RUN(check_gap, true);
    CHECK_RUN(check_inferred_and_none);
    CHECK_RUN(check_queue);
    return check_done("unit.model_cut");
}
