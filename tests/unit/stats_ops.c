// SPDX-License-Identifier: Apache-2.0
// stoker stats ops on small traces whose answers are known: kernels and copies by operation, how
// work was issued, operations on the host between two copies.
#include "answer.h"

enum { OPS, MODES, KERNELS, COPIES, ISLANDS };

static size_t row_of_two(const struct answer *a, size_t table, const char *first,
                         const char *column, const char *second)
{
    for (size_t r = 0; r < a->doc.tables[table].row_count; r++) {
        const struct stk_cell *c =
            stk_vec_at(&a->doc.tables[table].cells, r * a->doc.tables[table].column_count);
        if (c->known && strcmp(c->text, first) == 0 &&
            strcmp(answer_cell_in(a, table, r, column)->text, second) == 0) {
            return r;
        }
    }
    CHECK(!"there is such a row");
    return 0;
}

static void copy(struct synth *s, double call_us, double start_us, double dur_us, uint8_t dir)
{
    synth_launch_as(s, MAIN, call_us, 2, "cudaMemcpyAsync", "Memcpy", start_us, dur_us, S0,
                    STK_KIND_MEMCPY, dir, STK_MEM_PINNED);
}

static void test_kernels_under_ops(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 100, "aten::linear", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 10, 80, "aten::addmm", STK_KIND_HOST_OP);
    synth_launch(&a.s, MAIN, 20, 2, "gemm", 30, 60, S0);
    synth_launch(&a.s, MAIN, 30, 2, "gemm", 100, 60, S0);
    synth_launch(&a.s, MAIN, 40, 2, "splitk", 200, 40, S0);
    synth_launch(&a.s, MAIN, 92, 2, "bias", 250, 30, S0);   // in aten::linear itself
    synth_launch(&a.s, MAIN, 150, 2, "alone", 300, 10, S0); // in no operation
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[KERNELS].row_count, 3);
    size_t gemm = row_of_two(&a, KERNELS, "aten::addmm", "kernel", "gemm");
    CHECK_EQ(answer_cell_in(&a, KERNELS, gemm, "count")->number, 2);
    CHECK_EQ(answer_cell_in(&a, KERNELS, gemm, "total_ns")->number, 120 * US);
    CHECK_EQ(PERCENT(answer_cell_in(&a, KERNELS, gemm, "op_share")), 75);
    size_t bias = row_of_two(&a, KERNELS, "aten::linear", "kernel", "bias");
    CHECK_EQ(PERCENT(answer_cell_in(&a, KERNELS, bias, "op_share")), 100);
    CHECK_EQ(a.doc.missing_count, 0);
    answer_end(&a);
}

// Ranges of emit_nvtx are operators, users' ranges aren't.
static void test_ranges(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 200, "my training loop", STK_KIND_ANNOTATION);
    synth_host(&a.s, MAIN, 10, 50, "aten::mm", STK_KIND_ANNOTATION);
    synth_launch(&a.s, MAIN, 20, 2, "gemm", 30, 100, S0);
    synth_launch(&a.s, MAIN, 100, 2, "own", 150, 20, S0);
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[KERNELS].row_count, 1);
    CHECK_STR(answer_cell_in(&a, KERNELS, 0, "op")->text, "aten::mm");
    CHECK_EQ(a.doc.tables[OPS].row_count, 3); // aten::mm on both sides, and the kernel of its own
    answer_end(&a);
}

static void test_modes(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 100, "Torch-Compiled Region: 0/0", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 10, 50, "aten::mm", STK_KIND_HOST_OP);
    synth_launch(&a.s, MAIN, 20, 2, "gemm", 30, 100, S0); // compiled
    synth_host(&a.s, MAIN, 200, 50, "aten::mm", STK_KIND_HOST_OP);
    synth_launch(&a.s, MAIN, 210, 2, "gemm", 230, 200, S0);                // eager
    synth_launch(&a.s, MAIN, 300, 2, "triton_poi_fused_add", 500, 50, S0); // compiled, by its name
    synth_host(&a.s, MAIN, 400, 50, "aten::mm", STK_KIND_HOST_OP);
    synth_launch_as(&a.s, MAIN, 410, 2, "cudaGraphLaunch", "gemm", 600, 150, S0, STK_KIND_KERNEL,
                    STK_DIR_UNKNOWN, STK_MEM_UNKNOWN);
    synth_host(&a.s, 2, 500, 100, "ExecutorState::Process", STK_KIND_HOST_OP);
    synth_host(&a.s, 2, 510, 50, "model/dense/MatMul:MatMul", STK_KIND_HOST_OP);
    synth_launch(&a.s, 2, 520, 2, "gemm", 800, 300, S0); // function
    synth_host(&a.s, 3, 700, 100, "PJRT_LoadedExecutable_Execute", STK_KIND_HOST_OP);
    synth_launch(&a.s, 3, 720, 2, "loop_fusion", 1100, 120, S0); // XLA
    synth_host(&a.s, 3, 900, 20, "Mul:Mul", STK_KIND_HOST_OP);
    synth_launch(&a.s, 3, 910, 2, "mul", 1300, 30, S0);    // eager TensorFlow
    synth_launch(&a.s, MAIN, 950, 2, "raw", 1400, 50, S0); // not known
    answer_analyse(&a, &stk_stats_ops);
    static const struct {
        const char *mode;
        int64_t device_us;
    } want[] = {{"compiled", 150}, {"eager", 230}, {"graph", 150}, {"function", 300}, {"xla", 120}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        size_t r = answer_row(&a, MODES, want[i].mode);
        CHECK(r != SIZE_MAX);
        CHECK_EQ(answer_cell_in(&a, MODES, r, "device_ns")->number, want[i].device_us * US);
    }
    CHECK_EQ(a.doc.tables[MODES].row_count, 6);
    CHECK_EQ(PERCENT(answer_figure(&a, "eager_share")), 23);
    CHECK_EQ(PERCENT(answer_figure(&a, "compiled_share")), 72);
    CHECK_STR(
        answer_cell_in(&a, OPS, row_of_two(&a, OPS, "aten::mm", "placement", "device"), "mode")
            ->text,
        "mixed");
    answer_end(&a);
}

static void test_copies(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 100, "aten::copy_", STK_KIND_HOST_OP);
    copy(&a.s, 10, 20, 100, STK_DIR_H2D);
    copy(&a.s, 20, 60, 100, STK_DIR_H2D); // beside the first: 20..160 in all
    synth_launch(&a.s, MAIN, 30, 2, "k", 100, 30, S1);
    copy(&a.s, 200, 300, 50, STK_DIR_D2H); // in no operation
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[COPIES].row_count, 2);
    CHECK_STR(answer_cell_in(&a, COPIES, 0, "op")->text, "aten::copy_");
    CHECK_STR(answer_cell_in(&a, COPIES, 0, "direction")->text, "h2d");
    CHECK_EQ(answer_cell_in(&a, COPIES, 0, "count")->number, 2);
    CHECK_EQ(answer_cell_in(&a, COPIES, 0, "total_ns")->number, 200 * US);
    CHECK_EQ(answer_cell_in(&a, COPIES, 0, "exposed_ns")->number, 110 * US);
    CHECK(!answer_cell_in(&a, COPIES, 0, "bytes")->known);
    CHECK(!answer_cell_in(&a, COPIES, 1, "op")->known);
    CHECK_EQ(answer_cell_in(&a, COPIES, 1, "exposed_ns")->number, 50 * US);
    answer_end(&a);
}

// A step that reads a tensor back, works on it and copies the result to the device.
static void island_step(struct synth *s, int64_t number, const char *op, const char *between)
{
    double t = 1000.0 * (double)number;
    synth_step(s, MAIN, t, 900, number);
    synth_launch(s, MAIN, t + 10, 2, "k", t + 20, 100, S0);
    copy(s, t + 30, t + 120, 10, STK_DIR_D2H);
    synth_host(s, MAIN, t + 140, 200, op, STK_KIND_HOST_OP);
    if (between) {
        synth_host(s, MAIN, t + 345, 4, between, STK_KIND_HOST_OP);
    }
    copy(s, t + 350, t + 360, 10, STK_DIR_H2D);
    synth_launch(s, MAIN, t + 400, 2, "k", t + 410, 400, S0);
}

static void test_islands(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 5; i++) {
        island_step(&a.s, i, "aten::sort", "aten::empty_strided");
    }
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[ISLANDS].row_count, 1);
    CHECK_STR(answer_cell_in(&a, ISLANDS, 0, "op")->text, "aten::sort");
    CHECK_EQ(answer_cell_in(&a, ISLANDS, 0, "count")->number, 5);
    CHECK_EQ(answer_cell_in(&a, ISLANDS, 0, "copies")->number, 10);
    CHECK_EQ(answer_cell_in(&a, ISLANDS, 0, "host_ns")->number, 5 * 200 * US);
    CHECK_EQ(answer_cell_in(&a, ISLANDS, 0, "total_ns")->number, 5 * 220 * US); // 130..350
    int64_t step_ns =
        (int64_t)((double)a.run->wall_ns * answer_cell_in(&a, ISLANDS, 0, "step_share")->ratio +
                  0.5);
    CHECK_EQ(step_ns, 5 * 220 * US);
    answer_end(&a);
}

// What only moves data is no island, nor is the preparation of the next batch.
static void test_no_islands(void)
{
    static const struct {
        const char *op, *between;
    } quiet[] = {{"aten::copy_", "aten::empty_strided"},
                 {"aten::item", NULL},
                 {"aten::sort", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"}};
    for (size_t q = 0; q < sizeof quiet / sizeof quiet[0]; q++) {
        struct answer a;
        answer_begin(&a);
        for (int i = 0; i < 5; i++) {
            island_step(&a.s, i, quiet[q].op, quiet[q].between);
        }
        answer_analyse(&a, &stk_stats_ops);
        CHECK_EQ(a.doc.tables[ISLANDS].row_count, 0);
        CHECK_EQ(a.doc.tables[COPIES].row_count, 2);
        answer_end(&a);
    }
}

// A kernel between the copies: the device did not wait for the host.
static void test_busy_between(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 5; i++) {
        island_step(&a.s, i, "aten::sort", NULL);
        synth_launch(&a.s, MAIN, 1000.0 * i + 150, 2, "k", 1000.0 * i + 200, 10, S1);
    }
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[ISLANDS].row_count, 0);
    answer_end(&a);
}

// TensorFlow's executor isn't an operation: it isn't in the table, one figure has its time outside
// operations, and what it launches still belongs to the operations around it.
static void test_internals(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, 2, 0, 100, "ExecutorState::Process", STK_KIND_HOST_OP);
    synth_host(&a.s, 2, 10, 40, "dense/MatMul:MatMul", STK_KIND_HOST_OP);
    synth_host(&a.s, 2, 20, 10, "KernelAndDeviceFunc::Run", STK_KIND_HOST_OP);
    synth_launch(&a.s, 2, 22, 2, "gemm", 40, 30, S0);
    synth_host(&a.s, 2, 60, 10, "ExecutorPropagateOutputs", STK_KIND_HOST_OP);
    synth_launch(&a.s, 2, 80, 2, "alone", 100, 20, S0); // in no operation
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[OPS].row_count, 3);
    size_t host = row_of_two(&a, OPS, "dense/MatMul:MatMul", "placement", "host");
    CHECK_EQ(answer_cell_in(&a, OPS, host, "self_ns")->number, 40 * US);
    CHECK_EQ(answer_cell_in(&a, OPS, host, "device_ns")->number, 30 * US);
    CHECK_STR(answer_cell_in(&a, OPS, host, "mode")->text, "function");
    size_t device = row_of_two(&a, OPS, "dense/MatMul:MatMul", "placement", "device");
    CHECK_EQ(answer_cell_in(&a, OPS, device, "total_ns")->number, 30 * US);
    size_t alone = row_of_two(&a, OPS, "alone", "placement", "device");
    CHECK_STR(answer_cell_in(&a, OPS, alone, "mode")->text, "function");
    CHECK_EQ(answer_figure(&a, "host_self_ns")->number, 40 * US);
    CHECK_EQ(answer_figure(&a, "runtime_ns")->number, 60 * US);
    answer_end(&a);
}

// Phases of a compiler have names of their own, and are no operations either; a call of the user's
// that leads there is.
static void test_compile_phases(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 100, "TfrtTpuCompiler::Compile", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 10, 50, "layout assignment", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 200, 50, "PjitFunction(f)", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 210, 30, "TfrtTpuCompiler::Compile", STK_KIND_HOST_OP);
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[OPS].row_count, 1);
    CHECK_STR(answer_cell_in(&a, OPS, 0, "name")->text, "PjitFunction(f)");
    CHECK_EQ(answer_cell_in(&a, OPS, 0, "self_ns")->number, 50 * US);
    CHECK_EQ(answer_figure(&a, "runtime_ns")->number, 100 * US);
    answer_end(&a);
}

// Of very many names the later ones have a row together on each side; no time is lost.
static void test_further_names(void)
{
    enum { ROWS = 1 << 17, MORE = 7 };
    struct answer a;
    char name[40];
    int64_t sum_ns = 0;
    answer_begin(&a);
    for (int i = 0; i < ROWS + MORE; i++) {
        snprintf(name, sizeof name, "op%d", i);
        synth_host(&a.s, MAIN, i * 10, 5, name, STK_KIND_HOST_OP);
    }
    synth_host(&a.s, MAIN, (ROWS + MORE) * 10.0, 5, "op0", STK_KIND_HOST_OP); // has a row already
    synth_launch(&a.s, MAIN, (ROWS + MORE) * 10.0 + 20, 2, "late", (ROWS + MORE) * 10.0 + 40, 3,
                 S0);
    answer_analyse(&a, &stk_stats_ops);
    CHECK_EQ(a.doc.tables[OPS].row_count, ROWS + 2);
    size_t host = answer_row(&a, OPS, "further operations");
    for (size_t r = 0; r < a.doc.tables[OPS].row_count; r++) {
        sum_ns += answer_cell_in(&a, OPS, r, "self_ns")->number;
    }
    CHECK_EQ(sum_ns, (ROWS + MORE + 1) * 5 * US + 3 * US);
    CHECK_EQ(answer_cell_in(&a, OPS, host, "count")->number, MORE);
    CHECK_EQ(answer_cell_in(&a, OPS, host, "total_ns")->number, MORE * 5 * US);
    CHECK_EQ(answer_cell_in(&a, OPS, answer_row(&a, OPS, "op0"), "count")->number, 2);
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_kernels_under_ops);
    CHECK_RUN(test_ranges);
    CHECK_RUN(test_modes);
    CHECK_RUN(test_copies);
    CHECK_RUN(test_islands);
    CHECK_RUN(test_no_islands);
    CHECK_RUN(test_busy_between);
    CHECK_RUN(test_internals);
    CHECK_RUN(test_compile_phases);
    CHECK_RUN(test_further_names);
    return check_done("unit.stats_ops");
}
