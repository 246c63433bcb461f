// SPDX-License-Identifier: Apache-2.0
// Analyses on small traces whose answers are known, from trace to table.
#include "answer.h"

static void test_kernels(void)
{
    struct answer a;
    answer_begin(&a);
    synth_launch(&a.s, MAIN, 0, 2, "volta_sgemm_128x64_nn", 10, 100, S0);
    synth_launch(&a.s, MAIN, 5, 2, "volta_sgemm_128x64_nn", 60, 300, S1); // overlaps by 50
    synth_launch(&a.s, MAIN, 9, 2, "ampere_fp16_s16816gemm_fp16_128x64_nn", 400, 96, S0);
    synth_launch(&a.s, MAIN, 12, 2, "tiny", 500, 4, S0);
    synth_device(&a.s, S1, 600, 50, "Memcpy", STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
    answer_analyse(&a, &stk_stats_kernels);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    CHECK_STR(answer_cell(&a, 0, "name")->text, "volta_sgemm_128x64_nn");
    CHECK_EQ(NUMBER(&a, 0, "count"), 2);
    CHECK_EQ(NUMBER(&a, 0, "total_ns"), 400 * US);
    CHECK_EQ(NUMBER(&a, 0, "mean_ns"), 200 * US);
    CHECK_EQ(NUMBER(&a, 0, "min_ns"), 100 * US);
    CHECK_EQ(NUMBER(&a, 0, "max_ns"), 300 * US);
    CHECK_EQ(PERCENT(answer_cell(&a, 0, "total_share")), 80);
    CHECK_STR(answer_cell(&a, 0, "tensor_core")->text, "eligible");
    CHECK_STR(answer_cell(&a, 0, "precision")->text, "fp32");
    CHECK_STR(answer_cell(&a, 1, "tensor_core")->text, "yes");
    CHECK(!answer_cell(&a, 2, "precision")->known);
    CHECK_EQ(answer_figure(&a, "kernels")->number, 4);
    CHECK_EQ(answer_figure(&a, "kernel_ns")->number, 450 * US);
    CHECK_EQ(answer_figure(&a, "total_kernel_ns")->number, 500 * US);
    CHECK_EQ(PERCENT(answer_figure(&a, "short_share")), 1);
    CHECK_EQ(PERCENT(answer_figure(&a, "short_count_share")), 25);
    CHECK_EQ(PERCENT(answer_figure(&a, "tensor_core_share")), 19);
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

static void test_transfers(void)
{
    struct answer a;
    answer_begin(&a);
    synth_device(&a.s, S0, 0, 100, "k", STK_KIND_KERNEL, 0, 0);
    synth_device(&a.s, S1, 50, 100, "Memcpy", STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PAGEABLE);
    synth_device(&a.s, 9, 100, 100, "Memcpy", STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PAGEABLE);
    synth_device(&a.s, S0, 180, 40, "Memcpy", STK_KIND_MEMCPY, STK_DIR_D2H, STK_MEM_PINNED);
    answer_analyse(&a, &stk_stats_transfers);
    CHECK_EQ(a.doc.tables[0].row_count, 2);
    CHECK_STR(answer_cell(&a, 0, "direction")->text, "h2d");
    CHECK_STR(answer_cell(&a, 0, "pinned")->text, "no");
    CHECK_EQ(NUMBER(&a, 0, "count"), 2);
    CHECK_EQ(NUMBER(&a, 0, "total_ns"), 200 * US);
    CHECK_EQ(NUMBER(&a, 0, "busy_ns"), 150 * US);    // 50..200
    CHECK_EQ(NUMBER(&a, 0, "exposed_ns"), 100 * US); // 100..200
    CHECK(!answer_cell(&a, 0, "bytes")->known);
    CHECK(!answer_cell(&a, 0, "bytes_per_s")->known);
    CHECK_STR(answer_cell(&a, 1, "direction")->text, "d2h");
    CHECK_EQ(NUMBER(&a, 1, "exposed_ns"), 40 * US);              // a row counts itself alone
    CHECK_EQ(answer_figure(&a, "exposed_ns")->number, 120 * US); // 100..220
    CHECK_EQ(answer_figure(&a, "pageable_count")->number, 2);
    answer_end(&a);
}

static void test_unknown_memory(void)
{
    struct answer a;
    answer_begin(&a);
    synth_device(&a.s, S0, 0, 100, "k", STK_KIND_KERNEL, 0, 0);
    synth_device(&a.s, S1, 150, 100, "CopyHostToDevice", STK_KIND_MEMCPY, STK_DIR_H2D,
                 STK_MEM_UNKNOWN);
    answer_analyse(&a, &stk_stats_transfers);
    CHECK_STR(answer_cell(&a, 0, "pinned")->text, "unknown");
    CHECK(!answer_figure(&a, "pageable_count")->known);
    CHECK_EQ(a.doc.missing_count, 1);
    answer_end(&a);
}

static void test_launches(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 20; i++) { // each launched after the one before has ended: bound
        synth_launch(&a.s, MAIN, i * 100, 4, "k", i * 100 + 10, 50, S0);
    }
    synth_launch(&a.s, MAIN, 2000, 100, "k", 2010, 400, S0); // 100 us: over ten times the median
    synth_launch(&a.s, MAIN, 2200, 4, "k", 2410, 50, S0);    // launched while busy
    answer_analyse(&a, &stk_stats_launches);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK_EQ(NUMBER(&a, 0, "count"), 22);
    CHECK_EQ(NUMBER(&a, 0, "median_ns"), 10 * US);
    CHECK_EQ(NUMBER(&a, 0, "p95_ns"), 10 * US);
    CHECK_EQ(NUMBER(&a, 0, "max_ns"), 210 * US);
    CHECK_EQ(NUMBER(&a, 0, "after_call_median_ns"), 6 * US);
    CHECK_EQ(NUMBER(&a, 0, "queue_full_ns"), 90 * US); // 2010..2100 of the long call
    CHECK_EQ(PERCENT(answer_figure(&a, "launch_bound_share")),
             91); // 20 of 22, the first is not one
    answer_end(&a);
}

static void test_no_links(void)
{
    struct answer a;
    answer_begin(&a);
    synth_device(&a.s, S0, 0, 100, "k", STK_KIND_KERNEL, 0, 0);
    answer_analyse(&a, &stk_stats_launches);
    CHECK(a.doc.inconclusive);
    CHECK_EQ(a.doc.missing_count, 1);
    answer_end(&a);
}

// What is missing without one makes it say nothing; the overview goes on with the host.
static bool needs_device(const struct stk_stats *stats)
{
    bool lists_device = false;
    for (int k = 0; stats->missing[k]; k++) {
        lists_device |= stats->missing[k] == &stk_missing_device;
    }
    return lists_device && stats != &stk_stats_overview;
}

static void test_no_device(void)
{
    int with_need = 0;
    for (int i = 0; i < stk_stats_count; i++) {
        struct answer a;
        answer_begin(&a);
        synth_host(&a.s, MAIN, 0, 100, "aten::mm", STK_KIND_HOST_OP);
        answer_analyse(&a, stk_stats_all[i]);
        if (needs_device(stk_stats_all[i])) {
            CHECK(a.doc.inconclusive);
            with_need++;
        }
        CHECK(!a.doc.inconclusive || a.doc.missing_count > 0);
        CHECK(strlen(stk_stats_all[i]->question) > 0 && strlen(stk_stats_all[i]->needs) > 0);
        answer_end(&a);
    }
    CHECK(with_need >= 7);
}

static void test_steps_selected(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 4; i++) {
        synth_step(&a.s, MAIN, i * 1000, 900, i);
        synth_launch(&a.s, MAIN, i * 1000 + 10, 4, "k", i * 1000 + 20, 100 * (i + 1), S0);
        synth_launch_as(&a.s, MAIN, i * 1000 + 15, 4, "cudaMemcpyAsync", "Memcpy", i * 1000 + 600,
                        10, S0, STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
    }
    a.s.select.has_steps = true;
    a.s.select.step_first = 1;
    a.s.select.step_last = 2;
    answer_analyse(&a, &stk_stats_kernels);
    CHECK_EQ(NUMBER(&a, 0, "count"), 2);
    CHECK_EQ(NUMBER(&a, 0, "total_ns"), 500 * US);
    stk_table_doc_deinit(&a.doc);
    answer_analyse(&a, &stk_stats_transfers);
    CHECK_EQ(NUMBER(&a, 0, "count"), 2);
    stk_table_doc_deinit(&a.doc);
    answer_analyse(&a, &stk_stats_launches);
    CHECK_EQ(NUMBER(&a, 0, "count"), 2);
    answer_end(&a);
}

static void test_gaps(void)
{
    struct answer a;
    answer_begin(&a);
    synth_step(&a.s, MAIN, 0, 3000, 7);
    synth_launch(&a.s, MAIN, 0, 4, "k", 10, 90, S0);
    synth_host(&a.s, MAIN, 100, 1890, "enumerate(DataLoader)#_It.__next__", STK_KIND_INPUT);
    synth_launch(&a.s, MAIN, 1995, 4, "k", 2000, 100, S0); // gap of 1900: input
    synth_device(&a.s, S1, 2050, 100, "Memcpy", STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
    synth_launch(&a.s, MAIN, 2100, 4, "k", 2200, 100, S0); // gap of 50 behind the copy
    answer_analyse(&a, &stk_stats_gaps);
    CHECK_EQ(a.doc.tables[0].row_count, 2);
    CHECK_EQ(NUMBER(&a, 0, "start_ns"), 100 * US);
    CHECK_EQ(NUMBER(&a, 0, "dur_ns"), 1900 * US);
    CHECK_STR(answer_cell(&a, 0, "cause")->text, "input_wait");
    CHECK_STR(answer_cell(&a, 0, "what")->text, "enumerate(DataLoader)#_It.__next__");
    CHECK_EQ(NUMBER(&a, 0, "step"), 7);
    CHECK_EQ(NUMBER(&a, 1, "dur_ns"), 50 * US);
    CHECK_EQ(answer_figure(&a, "idle_ns")->number, 1950 * US);
    const struct stk_table *causes = stk_table_find(&a.doc, "causes");
    int64_t sum = 0;
    for (size_t i = 0; i < causes->row_count; i++) {
        sum += ((struct stk_cell *)stk_vec_at(&causes->cells, i * causes->column_count))[2].number;
    }
    CHECK_EQ(sum, 1950 * US); // each nanosecond has exactly one cause
    answer_end(&a);
}

static const struct stk_cell *op_cell(const struct answer *a, const char *name,
                                      const char *placement, const char *column)
{
    for (size_t i = 0; i < a->doc.tables[0].row_count; i++) {
        if (strcmp(answer_cell(a, i, "name")->text, name) == 0 &&
            strcmp(answer_cell(a, i, "placement")->text, placement) == 0) {
            return answer_cell(a, i, column);
        }
    }
    return answer_cell(a, SIZE_MAX, column); // reported as missing
}

static void test_ops(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 100, "outer", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 10, 50, "aten::mm", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 20, 30, "aten::mm", STK_KIND_HOST_OP); // inside itself
    synth_launch(&a.s, MAIN, 25, 5, "gemm", 40, 70, S0);
    synth_launch(&a.s, MAIN, 70, 5, "copy", 120, 20, S0); // directly inside outer
    synth_device(&a.s, S1, 200, 9, "loop_fusion", STK_KIND_KERNEL, 0, 0);
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[0].row_count, 5);
    CHECK_EQ(op_cell(&a, "outer", "host", "self_ns")->number, 50 * US);
    CHECK_EQ(op_cell(&a, "outer", "host", "device_ns")->number, 90 * US);
    CHECK_EQ(op_cell(&a, "aten::mm", "host", "count")->number, 2);
    CHECK_EQ(op_cell(&a, "aten::mm", "host", "total_ns")->number, 50 * US);
    CHECK_EQ(op_cell(&a, "aten::mm", "host", "self_ns")->number, 50 * US);
    CHECK_EQ(op_cell(&a, "aten::mm", "host", "device_ns")->number, 70 * US);
    CHECK_EQ(op_cell(&a, "aten::mm", "device", "total_ns")->number, 70 * US);
    CHECK_EQ(op_cell(&a, "outer", "device", "total_ns")->number, 20 * US);
    CHECK_EQ(op_cell(&a, "loop_fusion", "device", "total_ns")->number, 9 * US);
    CHECK_EQ(answer_figure(&a, "host_self_ns")->number, 100 * US);
    CHECK_EQ(answer_figure(&a, "device_self_ns")->number, 99 * US);
    answer_end(&a);
}

static void test_startup(void)
{
    struct answer a;
    static const int dur[] = {900, 500, 100, 300, 100, 110, 100, 100};
    int at = 100;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 50, "import", STK_KIND_HOST_OP);
    for (int i = 0; i < 8; i++) {
        synth_step(&a.s, MAIN, at, dur[i], i);
        synth_launch(&a.s, MAIN, at, 4, "k", at + 5, dur[i] - 10, S0);
        at += dur[i];
    }
    answer_analyse(&a, &stk_stats_startup);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    CHECK_STR(answer_cell(&a, 0, "phase")->text, "before_device");
    CHECK_EQ(NUMBER(&a, 0, "start_ns"), 0);
    CHECK_EQ(NUMBER(&a, 0, "dur_ns"), 100 * US);
    CHECK_STR(answer_cell(&a, 1, "phase")->text,
              "warm_up"); // a fast step before a slow one is not steady
    CHECK_EQ(NUMBER(&a, 1, "steps"), 4);
    CHECK_EQ(NUMBER(&a, 1, "dur_ns"), 1800 * US);
    CHECK_STR(answer_cell(&a, 2, "phase")->text, "steady");
    CHECK_EQ(NUMBER(&a, 2, "steps"), 4);
    CHECK_EQ(answer_figure(&a, "first_steady_ns")->number, 2000 * US);
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

static void test_overview(void)
{
    struct answer a;
    answer_begin(&a);
    synth_launch(&a.s, MAIN, 0, 4, "volta_sgemm_128x64_nn", 10, 100, S0);
    synth_launch(&a.s, MAIN, 50, 4, "ampere_fp16_s16816gemm_fp16_128x64_nn", 150, 300, S0);
    answer_analyse(&a, &stk_stats_overview);
    CHECK_STR(answer_cell(&a, 0, "name")->text, "ampere_fp16_s16816gemm_fp16_128x64_nn");
    CHECK_EQ(PERCENT(answer_cell(&a, 0, "self_share")), 75);
    CHECK_EQ(a.doc.tables[1].row_count, 2);
    const struct stk_cell *precision = a.doc.tables[1].cells.items;
    CHECK_STR(precision[0].text, "fp16");
    CHECK_EQ(PERCENT(&precision[4]), 100);
    CHECK_STR(precision[5].text, "fp32");
    CHECK_EQ(a.doc.tables[2].row_count, 1);
    CHECK_EQ(PERCENT(answer_figure(&a, "busy_share")), 91); // 400 of 440
    answer_end(&a);
}

// Rank 1 enters 60 us late twice, rank 0 10 us late once; all end together.
static void test_comm(void)
{
    static const int start[2][3] = {{100, 300, 510}, {160, 360, 500}};
    struct answer a[2];
    for (int r = 0; r < 2; r++) {
        answer_begin(&a[r]);
        for (int i = 0; i < 3; i++) {
            synth_device(&a[r].s, S0, start[r][i], 200 * i + 200 - start[r][i],
                         "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", STK_KIND_COLLECTIVE, 0, 0);
        }
        synth_device(&a[r].s, S1, 0, 150, "k", STK_KIND_KERNEL, 0, 0);
        answer_see(&a[r], &stk_stats_comm);
        a[r].s.ranks[0]->rank = r;
    }
    struct stk_rank_sum *ranks[2] = {a[0].s.ranks[0], a[1].s.ranks[0]};
    answer_describe(&a[0], &stk_stats_comm, ranks, 2);
    CHECK_EQ(a[0].doc.tables[0].row_count, 6);
    CHECK_EQ(answer_figure(&a[0], "collectives")->number, 6);
    CHECK_EQ(answer_figure(&a[0], "wait_ns")->number, 130 * US);
    CHECK_EQ(answer_figure(&a[0], "total_ns")->number, (100 + 100 + 90 + 40 + 40 + 100) * US);
    CHECK_EQ(answer_figure(&a[0], "exposed_ns")->number, (50 + 100 + 90 + 40 + 40 + 100) * US);
    for (size_t i = 0; i < 6; i++) {
        int64_t rank = NUMBER(&a[0], i, "rank"), k = NUMBER(&a[0], i, "ordinal");
        int64_t late = start[1 - rank][k] - start[rank][k];
        CHECK_STR(answer_cell(&a[0], i, "kind")->text, "all_reduce");
        CHECK_EQ(NUMBER(&a[0], i, "wait_ns"), (late > 0 ? late : 0) * US);
        CHECK_EQ(NUMBER(&a[0], i, "last_rank"), k < 2 ? 1 : 0);
    }
    CHECK_EQ(a[0].doc.missing_count, 2); // bytes
    stk_table_doc_deinit(&a[1].doc);
    synth_end(&a[1].s);
    answer_end(&a[0]);
}

static void test_comm_alone(void)
{
    struct answer a;
    answer_begin(&a);
    synth_device(&a.s, S0, 0, 100, "ncclDevKernel_ReduceScatter_Sum_f32", STK_KIND_COLLECTIVE, 0,
                 0);
    answer_analyse(&a, &stk_stats_comm);
    CHECK_STR(answer_cell(&a, 0, "kind")->text, "reduce_scatter");
    CHECK(!answer_cell(&a, 0, "wait_ns")->known);
    CHECK(!answer_cell(&a, 0, "last_rank")->known);
    CHECK(!answer_figure(&a, "wait_ns")->known);
    CHECK(!answer_figure(&a, "straggler_rank")->known);
    CHECK_EQ(a.doc.missing_count, 3); // the other ranks, bytes
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_comm_alone);
    CHECK_RUN(test_comm);
    CHECK_RUN(test_overview);
    CHECK_RUN(test_startup);
    CHECK_RUN(test_ops);
    CHECK_RUN(test_gaps);
    CHECK_RUN(test_kernels);
    CHECK_RUN(test_transfers);
    CHECK_RUN(test_unknown_memory);
    CHECK_RUN(test_launches);
    CHECK_RUN(test_no_links);
    CHECK_RUN(test_no_device);
    CHECK_RUN(test_steps_selected);
    return check_done("unit.stats_tables");
}
