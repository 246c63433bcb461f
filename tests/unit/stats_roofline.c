// SPDX-License-Identifier: Apache-2.0
// stoker stats roofline on kernels with known cost on a device with known limits, and when it
// reports nothing.
#include "answer.h"
#include "xplane_writer.h"

enum { OP = 1, SHAPE, DETAILS, MEMORY_RATE, DEVICE_NAME };

static struct pb gpu_plane(const char *device)
{
    struct pb plane = pb_plane("/device:GPU:0");
    pb_named(&plane, 5, OP, "tf_op");
    pb_named(&plane, 5, SHAPE, "shape");
    pb_named(&plane, 5, DETAILS, "kernel_details");
    pb_named(&plane, 5, DEVICE_NAME, "gpu_device_name");
    pb_named(&plane, 4, 1, "volta_h884gemm_128x128");
    pb_named(&plane, 4, 2, "splitKreduce_kernel");
    pb_named(&plane, 4, 3, "Eigen::internal::EigenMetaKernel<Eigen::half>");
    if (device) {
        pb_stat_str(&plane, 6, DEVICE_NAME, device);
    }
    return plane;
}

static void kernel(struct pb *line, int64_t id, int64_t at_us, int64_t dur_us, const char *op,
                   const char *shapes)
{
    struct pb e = pb_event(id, at_us * 1000000, dur_us * 1000000);
    pb_stat_str(&e, 4, DETAILS, "regs:32 shm:0 grid:160,1,1 block:256,1,1");
    pb_stat_str(&e, 4, OP, op);
    if (shapes) {
        pb_stat_str(&e, 4, SHAPE, shapes);
    }
    pb_msg(line, 4, &e);
}

static void see(struct answer *a, struct pb *plane, struct pb *line)
{
    struct pb space = {0};
    pb_msg(plane, 3, line);
    pb_msg(&space, 1, plane);
    const char *path = file_of(space.p, space.n);
    answer_begin(a);
    answer_read(a, &stk_stats_roofline, path);
    answer_analyse(a, &stk_stats_roofline);
    unlink(path);
    free(space.p);
}

static void test_tensorflow(void)
{
    struct answer a;
    struct pb plane = gpu_plane("Tesla V100-SXM2-16GB"), line = pb_line(1, "Stream #1", 0);
    // 2 * 1024^3 operations in 100 us: 21.5 of 125 TFLOP/s. The sum of parts bears none of them.
    kernel(&line, 1, 0, 100, "dense/MatMul:MatMul", "(half[1024,1024];half[1024,1024])");
    kernel(&line, 2, 100, 10, "dense/MatMul:MatMul", "(half[1024,1024];half[1024,1024])");
    // 45 MB in 100 us: 450 of 900 GB/s.
    kernel(&line, 3, 200, 100, "dense/Relu:Relu", "(half[11250000])");
    kernel(&line, 3, 300, 40, "dense/Odd:Odd", "(half[8])");
    see(&a, &plane, &line);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    size_t product = answer_row(&a, 0, "volta_h884gemm_128x128");
    CHECK(product != SIZE_MAX);
    CHECK_EQ((int64_t)(answer_cell(&a, product, "flops_per_s")->ratio / 1e11), 214);
    CHECK_STR(answer_cell(&a, product, "bound")->text, "compute");
    CHECK_EQ(PERCENT(answer_cell(&a, product, "roof_share")), 17);
    CHECK_EQ(PERCENT(answer_cell(&a, product, "intensity")) / 100, 341);
    CHECK_EQ((int64_t)answer_cell(&a, product, "ridge")->ratio, 138); // 125e12 / 900e9
    size_t relu = answer_row(&a, 0, "Eigen::internal::EigenMetaKernel<Eigen::half>");
    CHECK_STR(answer_cell(&a, relu, "bound")->text, "memory");
    CHECK_EQ(answer_cell(&a, relu, "count")->number, 2);
    CHECK_EQ(PERCENT(answer_cell(&a, relu, "roof_share")), 50);
    CHECK_EQ(answer_cell(&a, relu, "roof_ns")->number, 50 * US);
    CHECK_EQ(a.doc.missing_count, 0);
    answer_end(&a);
}

static void test_no_peaks(void)
{
    struct answer a;
    struct pb plane = gpu_plane("Some GPU"), line = pb_line(1, "Stream #1", 0);
    kernel(&line, 1, 0, 100, "dense/MatMul:MatMul", "(half[1024,1024];half[1024,1024])");
    see(&a, &plane, &line);
    CHECK(answer_cell(&a, 0, "flops_per_s")->known);
    CHECK_STR(answer_cell(&a, 0, "bound")->text, "unknown");
    CHECK(!answer_cell(&a, 0, "roof_share")->known);
    CHECK_STR(a.doc.missing[0].what, "the device's peak rates");
    CHECK(a.doc.inconclusive);
    answer_end(&a);
}

static void test_no_costs(void)
{
    struct answer a;
    struct pb plane = gpu_plane("Tesla V100-SXM2-16GB"), line = pb_line(1, "Stream #1", 0);
    kernel(&line, 1, 0, 100, "dense/MatMul:MatMul", NULL);
    see(&a, &plane, &line);
    CHECK(!answer_cell(&a, 0, "flops_per_s")->known);
    CHECK_STR(a.doc.missing[0].what, "what operations compute and move");
    CHECK(a.doc.inconclusive);
    answer_end(&a);
}

// Of very many names the later ones have a row together; no time is lost.
static void test_further_names(void)
{
    enum { ROWS = 1 << 17, MORE = 7 };
    struct answer a;
    char name[40];
    answer_begin(&a);
    for (int i = 0; i < ROWS + MORE; i++) {
        snprintf(name, sizeof name, "kernel%d", i);
        synth_launch(&a.s, MAIN, i * 10, 1, name, i * 10 + 2, 3, S0);
    }
    synth_launch(&a.s, MAIN, (ROWS + MORE) * 10.0, 1, "kernel0", (ROWS + MORE) * 10.0 + 2, 3, S0);
    answer_analyse(&a, &stk_stats_roofline);
    CHECK_EQ(a.doc.tables[0].row_count, ROWS + 1);
    size_t further = answer_row(&a, 0, "further operations");
    CHECK_EQ(answer_cell(&a, further, "count")->number, MORE);
    CHECK_EQ(answer_cell(&a, further, "total_ns")->number, MORE * 3 * US);
    CHECK_EQ(answer_cell(&a, answer_row(&a, 0, "kernel0"), "count")->number, 2);
    CHECK_EQ(answer_figure(&a, "kernel_ns")->number, (ROWS + MORE + 1) * 3 * US);
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_tensorflow);
    CHECK_RUN(test_no_peaks);
    CHECK_RUN(test_no_costs);
    CHECK_RUN(test_further_names);
    return check_done("unit.stats_roofline");
}
