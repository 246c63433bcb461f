// SPDX-License-Identifier: Apache-2.0
// stoker stats launches beyond the delays: the queue over time, regions in which the device runs
// dry, slow runtime calls; on small traces whose answers are known, and on a real one.
#include <math.h>

#include "answer.h"

enum { QUEUE = 1, REGIONS, CALLS };

// The sum of a column of a table.
static double sum_of(const struct answer *a, size_t table, const char *column, bool is_real)
{
    double sum = 0;
    for (size_t r = 0; r < a->doc.tables[table].row_count; r++) {
        const struct stk_cell *c = answer_cell_in(a, table, r, column);
        sum += is_real ? c->ratio : (double)c->number;
    }
    return sum;
}

static void test_queue(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 10; i++) { // all launched at once, one begun every 100 us
        synth_launch(&a.s, MAIN, i, 0.5, "k", 100 + 100 * i, 90, S0);
    }
    answer_analyse(&a, &stk_stats_launches);
    size_t bins = a.doc.tables[QUEUE].row_count;
    CHECK_EQ(bins, 20);
    CHECK_EQ(sum_of(&a, QUEUE, "dur_ns", false), 1000 * US); // 0 to 1000 us
    CHECK_EQ(answer_cell_in(&a, QUEUE, 0, "max_depth")->number, 10);
    // The k-th waits from k us until 100 (k + 1) us: 5455 us in all.
    double waited_us = 0;
    for (size_t r = 0; r < bins; r++) {
        double dur_us = (double)answer_cell_in(&a, QUEUE, r, "dur_ns")->number / 1000;
        double mean = answer_cell_in(&a, QUEUE, r, "mean_depth")->ratio;
        CHECK(mean <= (double)answer_cell_in(&a, QUEUE, r, "max_depth")->number);
        waited_us += mean * dur_us;
    }
    CHECK(fabs(waited_us - 5455) < 10); // depths are shown to a hundredth
    CHECK(answer_cell_in(&a, QUEUE, bins - 1, "mean_depth")->ratio <= 1);
    CHECK_EQ(a.doc.tables[REGIONS].row_count, 0);
    answer_end(&a);
}

// Every launch after the one before has ended: the device waits 20 of each 30 us.
static void launch_late(struct answer *a, int64_t thread, double from_us, int count)
{
    for (int i = 0; i < count; i++) {
        synth_launch(&a->s, thread, from_us + 30 * i, 5, "k", from_us + 30 * i + 10, 10, S0);
    }
}

static void test_regions(void)
{
    struct answer a;
    answer_begin(&a);
    synth_launch(&a.s, MAIN, 0, 2, "first", 5, 5, S0);
    launch_late(&a, MAIN, 20, 10); // 20 us after the first
    for (int i = 0; i < 6; i++) {  // well fed
        synth_launch(&a.s, MAIN, 301 + i, 1, "fed", 340 + 10 * i, 10, S0);
    }
    launch_late(&a, 2, 440, 9);
    launch_late(&a, MAIN, 5000, 7); // too few
    answer_analyse(&a, &stk_stats_launches);
    CHECK_EQ(a.doc.tables[REGIONS].row_count, 2);
    CHECK_EQ(answer_figure(&a, "regions")->number, 2);
    CHECK_EQ(answer_cell_in(&a, REGIONS, 0, "start_ns")->number, 400 * US);
    CHECK_EQ(answer_cell_in(&a, REGIONS, 0, "kernels")->number, 9);
    CHECK_EQ(answer_cell_in(&a, REGIONS, 0, "idle_ns")->number, 210 * US); // 50 and 8 x 20
    CHECK_STR(answer_cell_in(&a, REGIONS, 0, "thread")->text, "thread 2");
    CHECK_EQ(answer_cell_in(&a, REGIONS, 1, "start_ns")->number, 10 * US);
    CHECK_EQ(answer_cell_in(&a, REGIONS, 1, "late")->number, 10);
    CHECK_EQ(answer_cell_in(&a, REGIONS, 1, "dur_ns")->number, 300 * US);
    CHECK_EQ(answer_cell_in(&a, REGIONS, 1, "idle_ns")->number, 200 * US);
    CHECK_EQ(PERCENT(answer_cell_in(&a, REGIONS, 1, "busy_share")), 33);
    CHECK_STR(answer_cell_in(&a, REGIONS, 1, "thread")->text, "thread 1");
    CHECK_EQ((int64_t)sum_of(&a, REGIONS, "idle_ns", false),
             answer_figure(&a, "region_idle_ns")->number);
    answer_end(&a);
}

// A gap of more than a millisecond has a cause of its own and ends a region.
static void test_long_gap(void)
{
    struct answer a;
    answer_begin(&a);
    synth_launch(&a.s, MAIN, 0, 2, "first", 5, 5, S0);
    launch_late(&a, MAIN, 20, 5);
    launch_late(&a, MAIN, 2000, 5);
    answer_analyse(&a, &stk_stats_launches);
    CHECK_EQ(a.doc.tables[REGIONS].row_count, 0);
    answer_end(&a);
}

static void test_calls(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 19; i++) {
        synth_launch(&a.s, MAIN, 100 * i, 2, "k", 100 * i + 5, 50, S0);
    }
    // Over ten times the median of 2 us, half of it beside a kernel.
    synth_launch(&a.s, MAIN, 1805 + 25, 50, "k", 1900, 10, S0);
    synth_host(&a.s, MAIN, 2000, 7, "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    synth_host(&a.s, MAIN, 2010, 4, "Command Buffer Full", STK_KIND_OTHER);
    answer_analyse(&a, &stk_stats_launches);
    CHECK_EQ(a.doc.tables[CALLS].row_count, 2);
    CHECK_STR(answer_cell_in(&a, CALLS, 0, "call")->text, "cudaLaunchKernel");
    CHECK_EQ(answer_cell_in(&a, CALLS, 0, "count")->number, 20);
    CHECK_EQ(answer_cell_in(&a, CALLS, 0, "total_ns")->number, 88 * US);
    CHECK_EQ(answer_cell_in(&a, CALLS, 0, "median_ns")->number, 2 * US);
    CHECK_EQ(answer_cell_in(&a, CALLS, 0, "p95_ns")->number, 2 * US);
    CHECK_EQ(answer_cell_in(&a, CALLS, 0, "max_ns")->number, 50 * US);
    CHECK_EQ(PERCENT(answer_cell_in(&a, CALLS, 0, "slow_share")), 5);
    CHECK_EQ(answer_cell_in(&a, CALLS, 0, "slow_ns")->number, 50 * US);
    CHECK_EQ(PERCENT(answer_cell_in(&a, CALLS, 0, "device_busy_share")), 50);
    CHECK_EQ(answer_cell_in(&a, CALLS, 1, "slow_ns")->number, 0);
    CHECK(!answer_cell_in(&a, CALLS, 1, "device_busy_share")->known);
    CHECK_EQ(answer_figure(&a, "command_buffer_full_ns")->number, 4 * US);
    answer_end(&a);
}

// On a real profile: parts of wholes, bins without holes, regions apart from each other.
static void test_fixture(void)
{
    const char *dir = check_fixtures();
    char path[4096];
    struct answer a;
    if (!dir) {
        return;
    }
    snprintf(path, sizeof path, "%s/kineto/param/linear_kineto.json.gz", dir);
    answer_begin(&a);
    answer_read(&a, &stk_stats_launches, path);
    answer_analyse(&a, &stk_stats_launches);
    for (size_t r = 1; r < a.doc.tables[QUEUE].row_count; r++) {
        CHECK_EQ(answer_cell_in(&a, QUEUE, r, "start_ns")->number,
                 answer_cell_in(&a, QUEUE, r - 1, "start_ns")->number +
                     answer_cell_in(&a, QUEUE, r - 1, "dur_ns")->number);
    }
    CHECK(a.doc.tables[REGIONS].row_count > 10);
    for (size_t r = 0; r < a.doc.tables[REGIONS].row_count; r++) {
        int64_t dur_ns = answer_cell_in(&a, REGIONS, r, "dur_ns")->number;
        double busy = answer_cell_in(&a, REGIONS, r, "busy_share")->ratio;
        int64_t idle_ns = answer_cell_in(&a, REGIONS, r, "idle_ns")->number;
        CHECK(busy > 0 && busy < 1);
        CHECK((double)idle_ns <= (1 - busy) * (double)dur_ns + 1);
        CHECK(answer_cell_in(&a, REGIONS, r, "step")->known);
    }
    for (size_t r = 0; r < a.doc.tables[CALLS].row_count; r++) {
        int64_t total_ns = answer_cell_in(&a, CALLS, r, "total_ns")->number;
        CHECK(answer_cell_in(&a, CALLS, r, "slow_ns")->number <= total_ns);
        CHECK(answer_cell_in(&a, CALLS, r, "max_ns")->number <= total_ns);
        CHECK(answer_cell_in(&a, CALLS, r, "median_ns")->number <=
              answer_cell_in(&a, CALLS, r, "p95_ns")->number);
    }
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_queue);
    CHECK_RUN(test_regions);
    CHECK_RUN(test_long_gap);
    CHECK_RUN(test_calls);
    CHECK_RUN(test_fixture);
    return check_done("unit.stats_launches");
}
