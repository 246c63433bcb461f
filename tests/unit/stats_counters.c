// SPDX-License-Identifier: Apache-2.0
// stoker stats counters: samples of every format, and the queue of launched work.
#include "answer_files.h"

#define REAL(a, row, column) answer_cell(a, row, column)->ratio

// Row of a counter, or past the last one.
static size_t row_named(const struct answer *a, const char *name)
{
    size_t row = 0;
    while (row < a->doc.tables[0].row_count &&
           strcmp(answer_cell(a, row, "counter")->text, name) != 0) {
        row++;
    }
    CHECK(row < a->doc.tables[0].row_count);
    return row;
}

static void test_chrome(void)
{
    static const char text[] =
        "{\"traceEvents\": ["
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"nvml\"}},"
        "{\"ph\":\"C\",\"name\":\"sm_clock_mhz\",\"pid\":7,\"ts\":1,\"args\":{\"value\":2000}},"
        "{\"ph\":\"C\",\"name\":\"sm_clock_mhz\",\"pid\":7,\"ts\":2,\"args\":{\"value\":1000}},"
        "{\"ph\":\"C\",\"name\":\"power (W)\",\"pid\":7,\"ts\":1,"
        "\"args\":{\"draw\":312.5,\"limit\":700,\"note\":\"x\",\"bad\":null}},"
        "{\"ph\":\"C\",\"name\":\"throttle\",\"pid\":7,\"ts\":1,\"args\":{\"a\":0}},"
        "{\"ph\":\"C\",\"name\":\"throttle\",\"pid\":7,\"ts\":2,\"args\":{\"a\":4}}]}";
    struct answer a;
    answer_begin(&a);
    answer_read_text(&a, &stk_stats_counters, text);
    answer_analyse(&a, &stk_stats_counters);
    CHECK_EQ(a.doc.tables[0].row_count, 4);
    size_t clock = row_named(&a, "sm_clock_mhz"), power = row_named(&a, "power (W): draw");
    CHECK(REAL(&a, clock, "min") == 1000);
    CHECK(REAL(&a, clock, "mean") == 1500);
    CHECK(REAL(&a, clock, "p95") == 2000);
    CHECK(REAL(&a, clock, "max") == 2000);
    CHECK_EQ(NUMBER(&a, clock, "samples"), 2);
    CHECK_STR(answer_cell(&a, clock, "kind")->text, "clock");
    CHECK_STR(answer_cell(&a, clock, "unit")->text, "MHz");
    CHECK_STR(answer_cell(&a, clock, "source")->text, "nvml");
    CHECK(!answer_cell(&a, clock, "device")->known);
    CHECK(REAL(&a, power, "mean") == 312.5);
    CHECK_STR(answer_cell(&a, power, "unit")->text, "W");
    CHECK(REAL(&a, row_named(&a, "power (W): limit"), "max") == 700);
    CHECK_EQ(answer_figure(&a, "samples")->number, 6);
    CHECK_EQ(PERCENT(answer_figure(&a, "clock_drop_share")), 25);
    CHECK_EQ(PERCENT(answer_figure(&a, "throttled_share")), 50);
    CHECK(!a.doc.inconclusive);
    CHECK_EQ(a.doc.missing_count, 0);
    answer_end(&a);
}

static void test_xplane(void)
{
    struct pb space = {0}, gpu = pb_plane("/device:GPU:2"), line = pb_line(9, "_counters_", 1000);
    pb_named(&gpu, 4, 1, "gpu_temp_c");
    pb_named(&gpu, 5, 1, "gpu_temp_c");
    for (int i = 0; i < 3; i++) {
        struct pb e = pb_event(1, i * 1000000, 0), s = {0};
        pb_int(&s, 1, 1);
        pb_double(&s, 2, 60 + 10 * i);
        pb_msg(&e, 4, &s);
        pb_msg(&line, 4, &e);
    }
    pb_msg(&gpu, 3, &line);
    pb_msg(&space, 1, &gpu);
    struct answer a;
    answer_begin(&a);
    answer_read_space(&a, &stk_stats_counters, &space);
    answer_analyse(&a, &stk_stats_counters);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK_STR(answer_cell(&a, 0, "counter")->text, "gpu_temp_c");
    CHECK_STR(answer_cell(&a, 0, "device")->text, "0/2");
    CHECK_STR(answer_cell(&a, 0, "kind")->text, "temperature");
    CHECK(REAL(&a, 0, "mean") == 70);
    CHECK_EQ(a.doc.missing_count, 1); // clocks
    answer_end(&a);
}

static void test_nsys(void)
{
    static const char rows[] =
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
        "CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER NOT "
        "NULL, metricId INTEGER NOT NULL, value INTEGER NOT NULL);"
        "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, "
        "metricId INTEGER, metricName TEXT);"
        "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (257, 1, 'x', 5, "
        "'SMs Active [Throughput %]'), (257, 1, 'x', 6, 'GPC Clock Frequency [MHz]');"
        "INSERT INTO GPU_METRICS VALUES (0, 10, 257, 5, 20), (0, 20, 257, 5, 40), "
        "(0, 10, 257, 6, 1980), (0, 20, 257, 9, 1), (0, 30, 257, 5, 9e999);"; // infinite: dropped
    struct answer a;
    answer_begin(&a);
    answer_read_rows(&a, &stk_stats_counters, rows);
    CHECK_EQ(a.s.trace->count, 4);
    answer_analyse(&a, &stk_stats_counters);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    size_t active = row_named(&a, "SMs Active [Throughput %]");
    CHECK(REAL(&a, active, "mean") == 30);
    CHECK_STR(answer_cell(&a, active, "unit")->text, "%");
    CHECK_STR(answer_cell(&a, active, "kind")->text, "activity");
    CHECK_STR(answer_cell(&a, active, "device")->text, "0/1");
    CHECK_STR(answer_cell(&a, row_named(&a, "GPC Clock Frequency [MHz]"), "kind")->text, "clock");
    row_named(&a, "metric 9");
    answer_end(&a);
    answer_begin(&a); // not read where nobody asks
    answer_read_rows(&a, &stk_stats_kernels, rows);
    CHECK_EQ(a.s.trace->count, 0);
    answer_end(&a);
}

// Ten launched at once, run one after another: 10, 9, ... 1 wait, each for 10 us.
static void test_queue(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 10; i++) {
        synth_launch(&a.s, MAIN, 0.001 * i, 0.001, "k", 10 + i * 10, 10, S0);
    }
    answer_analyse(&a, &stk_stats_counters);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK_STR(answer_cell(&a, 0, "kind")->text, "queue");
    CHECK(REAL(&a, 0, "max") == 10);
    CHECK(REAL(&a, 0, "p95") == 10);
    CHECK(REAL(&a, 0, "min") == 1);
    CHECK(REAL(&a, 0, "mean") >= 5 && REAL(&a, 0, "mean") <= 6);
    CHECK_EQ(answer_figure(&a, "queue_depth_p95")->number, 10);
    CHECK(a.doc.inconclusive); // nothing is sampled
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_chrome);
    CHECK_RUN(test_xplane);
    CHECK_RUN(test_nsys);
    CHECK_RUN(test_queue);
    return check_done("unit.stats_counters");
}
