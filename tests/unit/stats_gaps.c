// SPDX-License-Identifier: Apache-2.0
// stoker stats gaps on small traces whose answers are known: the host's stack in a gap, what runs
// between steps, and a bound on what is kept of very many gaps.
#include "answer.h"

enum { GAPS, CAUSES, BETWEEN };

static void test_stack(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 1000, "train", STK_KIND_ANNOTATION);
    synth_host(&a.s, MAIN, 50, 900, "aten::linear", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 60, 500, "aten::addmm", STK_KIND_HOST_OP);
    synth_launch(&a.s, MAIN, 10, 2, "k", 20, 60, S0);
    synth_launch(&a.s, MAIN, 555, 2, "k", 560, 60, S0);
    answer_analyse(&a, &stk_stats_gaps);
    CHECK_EQ(a.doc.tables[GAPS].row_count, 1);
    CHECK_EQ(NUMBER(&a, 0, "dur_ns"), 480 * US);
    CHECK_STR(answer_cell(&a, 0, "what")->text, "aten::addmm");
    CHECK_STR(answer_cell(&a, 0, "stack")->text, "train > aten::linear > aten::addmm");
    CHECK(!answer_cell(&a, 0, "after")->known);
    answer_end(&a);
}

// Nothing runs in the gap: what ended last is named; an allocator event doesn't count.
static void test_after(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 60, "aten::linear", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 70, 0, "[memory]", STK_KIND_MEMORY);
    synth_launch(&a.s, MAIN, 10, 2, "k", 20, 60, S0);
    synth_launch(&a.s, MAIN, 555, 2, "k", 560, 60, S0);
    answer_analyse(&a, &stk_stats_gaps);
    CHECK(!answer_cell(&a, 0, "what")->known);
    CHECK(!answer_cell(&a, 0, "inside")->known);
    CHECK(!answer_cell(&a, 0, "stack")->known);
    CHECK_STR(answer_cell(&a, 0, "after")->text, "aten::linear");
    answer_end(&a);
}

// Steps of 900 us, a callback after each, a checkpoint after each third.
static void test_between(void)
{
    struct answer a;
    answer_begin(&a);
    double t = 0;
    for (int i = 0; i < 12; i++) {
        synth_step(&a.s, MAIN, t, 900, i);
        synth_launch(&a.s, MAIN, t + 10, 2, "k", t + 20, 860, S0);
        t += 900;
        if (i % 3 == 2) {
            synth_host(&a.s, MAIN, t + 10, 480, "save", STK_KIND_HOST_OP);
            synth_host(&a.s, MAIN, t + 20, 450, "write", STK_KIND_HOST_OP);
            t += 400;
        } else {
            synth_host(&a.s, MAIN, t + 10, 80, "metrics", STK_KIND_HOST_OP);
        }
        t += 100;
    }
    answer_analyse(&a, &stk_stats_gaps);
    CHECK_EQ(a.doc.tables[BETWEEN].row_count, 11);
    static const int64_t saves[] = {8, 5, 2}; // equally long: the latest first
    for (size_t r = 0; r < 3; r++) {
        CHECK_EQ(answer_cell_in(&a, BETWEEN, r, "dur_ns")->number, 500 * US);
        CHECK_EQ(answer_cell_in(&a, BETWEEN, r, "after_step")->number, saves[r]);
        CHECK_STR(answer_cell_in(&a, BETWEEN, r, "what")->text, "save");
        CHECK_EQ(answer_cell_in(&a, BETWEEN, r, "every")->number, 3);
        CHECK_EQ(answer_cell_in(&a, BETWEEN, r, "idle_ns")->number, 500 * US);
    }
    CHECK_EQ(answer_cell_in(&a, BETWEEN, 3, "dur_ns")->number, 100 * US);
    CHECK_STR(answer_cell_in(&a, BETWEEN, 3, "what")->text, "metrics");
    CHECK(!answer_cell_in(&a, BETWEEN, 3, "every")->known); // two of three steps
    CHECK_EQ(answer_figure(&a, "between_steps_ns")->number, (3 * 500 + 8 * 100) * US);
    answer_end(&a);
}

// Marks without a break: what follows the optimizer's step, and the fetch of the next batch apart.
static void test_between_contiguous(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 6; i++) {
        double t = 1000.0 * i;
        synth_step(&a.s, MAIN, t, 1000, i);
        synth_launch(&a.s, MAIN, t + 10, 2, "k", t + 20, 600, S0);
        synth_host(&a.s, MAIN, t + 600, 100, "Optimizer.step#SGD.step", STK_KIND_ANNOTATION);
        synth_host(&a.s, MAIN, t + 710, 90, "log_metrics", STK_KIND_HOST_OP);
        synth_host(&a.s, MAIN, t + 820, 150,
                   "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", STK_KIND_INPUT);
    }
    answer_analyse(&a, &stk_stats_gaps);
    CHECK_EQ(a.doc.tables[BETWEEN].row_count, 5);
    for (size_t r = 0; r < 5; r++) {
        CHECK_EQ(answer_cell_in(&a, BETWEEN, r, "dur_ns")->number, 300 * US);
        CHECK_EQ(answer_cell_in(&a, BETWEEN, r, "fetch_ns")->number, 150 * US);
        CHECK_STR(answer_cell_in(&a, BETWEEN, r, "what")->text, "log_metrics");
        CHECK_EQ(answer_cell_in(&a, BETWEEN, r, "every")->number, 1);
    }
    CHECK_STR(answer_cell_in(&a, BETWEEN, 0, "stack")->text, "ProfilerStep#4 > log_metrics");
    CHECK_EQ(answer_figure(&a, "between_steps_ns")->number, 5 * 150 * US);
    answer_end(&a);
}

// Marks that leave less than a hundredth of the step between them, and no optimizer's step inside:
// what is between them is that time.
static void test_between_short(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 6; i++) {
        double t = 1000.0 * i;
        synth_step(&a.s, MAIN, t, 991, i);
        synth_launch(&a.s, MAIN, t + 10, 2, "k", t + 20, 600, S0);
    }
    answer_analyse(&a, &stk_stats_gaps);
    CHECK_EQ(a.doc.tables[BETWEEN].row_count, 5);
    for (size_t r = 0; r < 5; r++) {
        CHECK_EQ(answer_cell_in(&a, BETWEEN, r, "dur_ns")->number, 9 * US);
    }
    CHECK_EQ(answer_figure(&a, "between_steps_ns")->number, 5 * 9 * US);
    answer_end(&a);
}

static void test_no_steps(void)
{
    struct answer a;
    answer_begin(&a);
    synth_launch(&a.s, MAIN, 10, 2, "k", 20, 60, S0);
    synth_launch(&a.s, MAIN, 555, 2, "k", 560, 60, S0);
    answer_analyse(&a, &stk_stats_gaps);
    CHECK_EQ(a.doc.tables[BETWEEN].row_count, 0);
    CHECK_EQ(a.doc.missing_count, 1);
    CHECK(!answer_figure(&a, "between_steps_ns")->known);
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

// Of more gaps than are kept, the longest are; the sums count all.
static void test_many(void)
{
    enum { GAPS_MADE = 300000, KEPT = 1 << 16 };
    struct answer a;
    answer_begin(&a);
    int64_t idle_us = 0, longest_us = 0;
    double t = 0;
    synth_device(&a.s, S0, t, 10, "k", STK_KIND_KERNEL, 0, 0);
    for (int i = 0; i < GAPS_MADE; i++) {
        int64_t gap_us = 1 + (int64_t)((uint64_t)i * 2654435761u % 1000003);
        t += 10 + (double)gap_us;
        idle_us += gap_us;
        longest_us = gap_us > longest_us ? gap_us : longest_us;
        synth_device(&a.s, S0, t, 10, "k", STK_KIND_KERNEL, 0, 0);
    }
    answer_analyse(&a, &stk_stats_gaps);
    CHECK_EQ(a.doc.tables[GAPS].row_count, KEPT);
    CHECK_EQ(a.doc.tables[GAPS].rows_left_out, GAPS_MADE - KEPT);
    CHECK_EQ(answer_figure(&a, "gaps")->number, GAPS_MADE);
    CHECK_EQ(answer_figure(&a, "idle_ns")->number, idle_us * US);
    CHECK_EQ(NUMBER(&a, 0, "dur_ns"), longest_us * US);
    for (size_t r = 1; r < KEPT; r += 997) {
        CHECK(NUMBER(&a, r, "dur_ns") <= NUMBER(&a, r - 1, "dur_ns"));
    }
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_stack);
    CHECK_RUN(test_after);
    CHECK_RUN(test_between);
    CHECK_RUN(test_between_contiguous);
    CHECK_RUN(test_between_short);
    CHECK_RUN(test_no_steps);
    CHECK_RUN(test_many);
    return check_done("unit.stats_gaps");
}
