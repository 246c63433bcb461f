// SPDX-License-Identifier: Apache-2.0
// stoker stats kernels: launch configurations of every format, occupancy against what profilers
// computed themselves, cost of kernels from the shapes of the operators around them.
#include <math.h>

#include "answer_files.h"
#include "answers/passes/stats/stats_kernels.h"
#include "profile/readers/xplane/xplane_event.h"

#define NEAR(a, b) CHECK(fabs((a) - (double)(b)) <= 1e-6 * (fabs((double)(b)) + 1))

static const char head[] =
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-80GB\","
    "\"computeMajor\":8,\"computeMinor\":0,\"maxThreadsPerMultiprocessor\":2048,"
    "\"regsPerMultiprocessor\":65536,\"warpSize\":32,\"sharedMemPerMultiprocessor\":167936,"
    "\"numSms\":108}],\"traceEvents\":[";

// An operator, its launch call and its kernel, one after the other.
static void add_op(char *out, size_t size, int at_us, int id, const char *op, const char *args,
                   const char *kernel, int kernel_us, const char *kernel_args)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n,
             "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":9,\"tid\":9,\"ts\":%d,"
             "\"dur\":50,\"args\":{%s}},"
             "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
             "\"tid\":9,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}},"
             "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":%d,"
             "\"dur\":%d,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d%s}}",
             id > 1 ? "," : "", op, at_us, args, at_us + 10, id, kernel, at_us + 20, kernel_us, id,
             kernel_args);
}

static void test_costs(void)
{
    char text[8192];
    snprintf(text, sizeof text, "%s", head);
    // 2 x 1024 x 512 x 2048 in 100 us: 21.5 TFLOP/s of 312
    add_op(text, sizeof text, 0, 1, "aten::mm",
           "\"Input Dims\":[[1024,512],[512,2048]],\"Input type\":[\"c10::BFloat16\","
           "\"c10::BFloat16\"]",
           "ampere_bf16_s16816gemm_bf16_128x128", 100,
           ",\"grid\":[216,1,1],\"block\":[256,1,1],\"registers per thread\":128,"
           "\"shared memory\":0,\"est. achieved occupancy %\":25");
    // 3 x 64 MiB in 150 us: 1.34e12 bytes/s of 2.04e12
    add_op(text, sizeof text, 200, 2, "aten::add",
           "\"Input Dims\":[[16777216],[16777216],[],[16777216]],\"Input type\":[\"float\","
           "\"float\",\"Scalar\",\"float\"]",
           "void at::native::vectorized_elementwise_kernel<float>", 150, "");
    // 2 x 8 x 64 x 56 x 56 outputs x (64 x 3 x 3)
    add_op(text, sizeof text, 400, 3, "aten::_convolution",
           "\"Input Dims\":[[8,64,112,112],[64,64,3,3],[],[],[]],\"Input type\":[\"c10::Half\","
           "\"c10::Half\"],\"Concrete Inputs\":[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\","
           "\"False\",\"[0, 0]\",\"1\"]",
           "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_tensor16x8x16", 10, "");
    add_op(text, sizeof text, 600, 4, "aten::mm", "\"Input Dims\":[[4,5],[6,7]]", "odd_gemm", 10,
           ",\"grid\":[\"x\"],\"block\":[1,2],\"registers per thread\":-1");
    add_op(text, sizeof text, 800, 5, "aten::bmm",
           "\"Input Dims\":[[1,4096,4096],[1,4096,4096]],\"Input type\":[\"c10::Half\","
           "\"c10::Half\"]",
           "ampere_fp16_s16816gemm_fp16_256x128", 600, "");
    strcat(text, "]}");
    struct answer a;
    answer_begin(&a);
    answer_read_text(&a, &stk_stats_kernels, text);
    answer_analyse(&a, &stk_stats_kernels);
    size_t large = answer_row(&a, 0, "ampere_fp16_s16816gemm_fp16_256x128");
    size_t gemm = answer_row(&a, 0, "ampere_bf16_s16816gemm_bf16_128x128");
    size_t add = answer_row(&a, 0, "void at::native::vectorized_elementwise_kernel<float>");
    size_t conv =
        answer_row(&a, 0, "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_tensor16x8x16");
    size_t odd = answer_row(&a, 0, "odd_gemm");
    CHECK_STR(answer_cell(&a, gemm, "grid")->text, "216,1,1");
    CHECK_STR(answer_cell(&a, gemm, "block")->text, "256,1,1");
    CHECK_EQ(NUMBER(&a, gemm, "registers"), 128);
    NEAR(answer_cell(&a, gemm, "occupancy")->ratio, 0.25);
    NEAR(answer_cell(&a, gemm, "waves")->ratio, 1);
    NEAR(answer_cell(&a, gemm, "sm_share")->ratio, 1);
    CHECK(!answer_cell(&a, gemm, "tail_share")->known);
    CHECK_STR(answer_cell(&a, gemm, "occupancy_limit")->text, "registers");
    NEAR(answer_cell(&a, gemm, "flops_per_s")->ratio, 2.0 * 1024 * 512 * 2048 / 100e-6);
    CHECK_STR(answer_cell(&a, gemm, "bound")->text, "latency"); // 7% of one, 4% of the other
    NEAR(answer_cell(&a, add, "bytes_per_s")->ratio, 3 * 67108864.0 / 150e-6);
    CHECK_STR(answer_cell(&a, add, "bound")->text, "memory");
    NEAR(answer_cell(&a, add, "roof_share")->ratio, 3 * 67108864.0 / 150e-6 / 2039e9);
    CHECK(!answer_cell(&a, add, "grid")->known && !answer_cell(&a, add, "flops_per_s")->known);
    NEAR(answer_cell(&a, conv, "flops_per_s")->ratio, 2.0 * 8 * 64 * 56 * 56 * 64 * 9 / 10e-6);
    CHECK_STR(answer_cell(&a, conv, "bound")->text,
              "memory"); // 16 MB in 10 us: 79%, 59% of flops
    CHECK_STR(answer_cell(&a, large, "bound")->text, "compute");
    NEAR(answer_cell(&a, large, "roof_share")->ratio, 2 * pow(4096, 3) / 600e-6 / 312e12);
    CHECK(!answer_cell(&a, odd, "grid")->known && !answer_cell(&a, odd, "registers")->known);
    CHECK_STR(answer_cell(&a, odd, "bound")->text, "unknown");
    CHECK_EQ(a.doc.tables[1].row_count, 1);
    CHECK_EQ(answer_cell_in(&a, 1, 0, "count")->number, 1);
    double shares = answer_figure(&a, "compute_bound_share")->ratio +
                    answer_figure(&a, "memory_bound_share")->ratio +
                    answer_figure(&a, "latency_bound_share")->ratio +
                    answer_figure(&a, "bound_unknown_share")->ratio;
    NEAR(shares, 1);
    answer_end(&a);
}

// What an operator costs is that of the kernels it launched itself.
static void test_nested(void)
{
    char text[8192];
    static const char dims[] = "\"Input Dims\":[[1024,512],[512,2048]],\"Input type\":"
                               "[\"c10::Half\",\"c10::Half\"]";
    snprintf(text, sizeof text,
             "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::addmm\",\"pid\":9,\"tid\":9,"
             "\"ts\":0,\"dur\":900,\"args\":{\"Input Dims\":[[2048],[64,32],[32,2048]]}},",
             head);
    add_op(text, sizeof text, 10, 1, "aten::mm", dims, "inner_fp16_s884gemm", 40, "");
    add_op(text, sizeof text, 100, 2, "aten::view", "", "outer_fp16_s884gemm", 20, "");
    add_op(text, sizeof text, 200, 3, "aten::view", "", "outer_fp16_s884gemm", 60, "");
    add_op(text, sizeof text, 300, 4, "aten::view", "", "splitKreduce_kernel", 10, "");
    strcat(text, "]}");
    struct answer a;
    answer_begin(&a);
    answer_read_text(&a, &stk_stats_kernels, text);
    answer_analyse(&a, &stk_stats_kernels);
    NEAR(answer_cell(&a, answer_row(&a, 0, "inner_fp16_s884gemm"), "flops_per_s")->ratio,
         2.0 * 1024 * 512 * 2048 / 40e-6);
    NEAR(answer_cell(&a, answer_row(&a, 0, "outer_fp16_s884gemm"), "flops_per_s")->ratio,
         2.0 * 64 * 32 * 2048 / 80e-6);
    CHECK(!answer_cell(&a, answer_row(&a, 0, "splitKreduce_kernel"), "flops_per_s")->known);
    answer_end(&a);
}

// Two ways of launching one kernel: the row has the one with most time, the table both.
static void test_ways(void)
{
    char text[8192];
    snprintf(text, sizeof text, "%s", head);
    for (int i = 1; i <= 6; i++) {
        add_op(text, sizeof text, 200 * i, i, "aten::x", "", "k", i < 4 ? 10 : 90,
               i < 4 ? ",\"grid\":[1,1,1],\"block\":[32,1,1]"
                     : ",\"grid\":[2,1,1],\"block\":[32,1,1]");
    }
    strcat(text, "]}");
    struct answer a;
    answer_begin(&a);
    answer_read_text(&a, &stk_stats_kernels, text);
    CHECK_EQ(a.s.trace->config_count, 2);
    answer_analyse(&a, &stk_stats_kernels);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK_STR(answer_cell(&a, 0, "grid")->text, "2,1,1");
    CHECK_EQ(a.doc.tables[1].row_count, 2);
    CHECK_EQ(answer_cell_in(&a, 1, 0, "total_ns")->number, 270 * US);
    CHECK_EQ(answer_cell_in(&a, 1, 1, "total_ns")->number, 30 * US);
    // Every kernel found the device idle and began 10 us after its call.
    CHECK_EQ(answer_figure(&a, "launch_latency_ns")->number, 10 * US);
    CHECK_EQ(PERCENT(answer_figure(&a, "below_latency_count_share")), 0);
    answer_end(&a);
    answer_begin(&a); // nobody asks: nothing is kept
    answer_read_text(&a, &stk_stats_launches, text);
    CHECK_EQ(a.s.trace->config_count, 0);
    answer_end(&a);
}

static void test_xplane(void)
{
    struct pb space = {0}, gpu = pb_plane("/device:GPU:0");
    struct pb line = pb_line(5, "Stream #5(Compute)", 0);
    pb_named(&gpu, 4, 1, "gemm");
    static const char *const stats[] = {"kernel_details", "core_count", "compute_cap_major",
                                        "compute_cap_minor", "memory_bandwidth"};
    for (int i = 0; i < 5; i++) {
        pb_named(&gpu, 5, i + 1, stats[i]);
    }
    pb_stat_int(&gpu, 6, 2, 3, 132);
    pb_stat_int(&gpu, 6, 3, 3, 9);
    pb_stat_int(&gpu, 6, 4, 3, 0);
    pb_stat_int(&gpu, 6, 5, 3, 3352000000000);
    struct pb e = pb_event(1, 0, 5000000);
    pb_stat_str(&e, 4, 1,
                "regs:168 static_shared:1024 dynamic_shared:230400 grid:66,2,1 block:384,1,1 "
                "occ_pct:18");
    pb_msg(&line, 4, &e);
    pb_msg(&gpu, 3, &line);
    pb_msg(&space, 1, &gpu);
    struct answer a;
    answer_begin(&a);
    answer_read_space(&a, &stk_stats_kernels, &space);
    CHECK_EQ(a.s.trace->devices[0].limits.memory_bytes_per_s, 3352000000000);
    answer_analyse(&a, &stk_stats_kernels);
    CHECK_EQ(NUMBER(&a, 0, "shared_bytes"), 231424);
    CHECK_STR(answer_cell(&a, 0, "grid")->text, "66,2,1");
    NEAR(answer_cell(&a, 0, "occupancy")->ratio, 12.0 / 64);
    NEAR(answer_cell(&a, 0, "waves")->ratio, 1);
    answer_end(&a);
}

// XLA's own costs on a TPU, against the peaks that the plane states.
static void test_tpu(void)
{
    struct pb space = {0}, tpu = pb_plane("/device:TPU:0"), line = pb_line(3, "XLA Ops", 0);
    static const char *const stats[] = {"flops", "bytes_accessed", "peak_teraflops_per_second",
                                        "peak_hbm_bw_gigabytes_per_second"};
    static const char *const ops[] = {"convolution.1", "copy-start.2"};
    for (int i = 0; i < 4; i++) {
        pb_named(&tpu, 5, i + 1, stats[i]);
    }
    for (int i = 0; i < 2; i++) {
        struct pb entry = {0}, meta = {0};
        pb_int(&entry, 1, i + 1);
        pb_int(&meta, 1, i + 1);
        pb_str(&meta, 2, ops[i]);
        pb_stat_int(&meta, 5, 1, 3, 500000000000);
        pb_stat_int(&meta, 5, 2, 3, 100000000);
        pb_msg(&entry, 2, &meta);
        pb_msg(&tpu, 4, &entry);
    }
    for (int i = 0; i < 2; i++) {
        struct pb s = {0};
        pb_int(&s, 1, 3 + i);
        pb_double(&s, 2, i ? 1640 : 918);
        pb_msg(&tpu, 6, &s);
    }
    for (int i = 0; i < 2; i++) {
        struct pb e = pb_event(1 + i, (int64_t)i * 2000000000, 1000000000); // 1 ms
        pb_msg(&line, 4, &e);
    }
    pb_msg(&tpu, 3, &line);
    pb_msg(&space, 1, &tpu);
    struct answer a;
    answer_begin(&a);
    answer_read_space(&a, &stk_stats_kernels, &space);
    answer_analyse(&a, &stk_stats_kernels);
    size_t conv = answer_row(&a, 0, ops[0]), start = answer_row(&a, 0, ops[1]);
    NEAR(answer_cell(&a, conv, "flops_per_s")->ratio, 500e12);
    NEAR(answer_cell(&a, conv, "roof_share")->ratio, 500.0 / 918);
    CHECK_STR(answer_cell(&a, conv, "bound")->text, "compute");
    CHECK(!answer_cell(&a, conv, "grid")->known);
    CHECK(!answer_cell(&a, start, "bytes_per_s")->known);
    CHECK_EQ(a.doc.tables[1].row_count, 0);
    answer_end(&a);
}

static void test_details_text(void)
{
    struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
    stk_xp_parse_kernel(STK_STR("regs:38 shm:16 grid:160,2,3 block:1024,1,1"), &c);
    CHECK_EQ(c.registers, 38);
    CHECK_EQ(c.shared_bytes, 16);
    CHECK_EQ(c.grid[2], 3);
    CHECK_EQ(c.occupancy_pct, -1);
    c = STK_LAUNCH_CONFIG_UNKNOWN; // early TensorFlow, what it did not know
    stk_xp_parse_kernel(STK_STR("regs:18446744073709551615 shm:18446744073709551615 "
                                "grid:139910925219184,1,1 block:18446744073709551615,0,1"),
                        &c);
    CHECK(c.registers < 0 && c.shared_bytes < 0 && !c.grid[0] && !c.block[0]);
    stk_xp_parse_kernel(STK_STR("regs: grid:1,2 block:,, :: a occ_pct:0 regs:x grid"), &c);
    CHECK(c.registers < 0 && !c.grid[0] && !c.block[0] && c.occupancy_pct < 0);
    stk_xp_parse_kernel(STK_STR("grid:1280,1,1 block:256,1,1 private_mem:0 group_mem:49280"), &c);
    CHECK_EQ(c.shared_bytes, 49280);
}

static void test_nsys(void)
{
    static const char rows[] =
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
        "INSERT INTO StringIds VALUES (1, 'k');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
        "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
        "registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, "
        "blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0,9,0,7,1,NULL,1,32,108,1,1,512,1,1,8,8), "
        "(10,19,0,7,2,NULL,1,-1,NULL,'x',1,99999999999,1,1,-8,8);"
        "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, computeMajor "
        "INTEGER, computeMinor INTEGER, totalMemory INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm "
        "INTEGER, maxBlocksPerSm INTEGER, maxRegistersPerSm INTEGER, maxShmemPerSm INTEGER, "
        "memoryBandwidth INTEGER);"
        "INSERT INTO TARGET_INFO_GPU VALUES "
        "(0,'NVIDIA A100-SXM4-80GB',108,8,0,1,32,64,32,65536,167936,2039040000000);";
    struct answer a;
    answer_begin(&a);
    answer_read_rows(&a, &stk_stats_kernels, rows);
    CHECK_EQ(a.s.trace->devices[0].limits.sm_threads, 2048);
    CHECK_EQ(a.s.trace->devices[0].limits.memory_bytes_per_s, 2039040000000);
    CHECK_EQ(a.s.trace->config_count, 1); // of the second row nothing can be used
    answer_analyse(&a, &stk_stats_kernels);
    CHECK_STR(answer_cell(&a, 0, "block")->text, "512,1,1");
    CHECK_EQ(NUMBER(&a, 0, "registers"), 32);
    CHECK_EQ(NUMBER(&a, 0, "shared_bytes"), 16);
    NEAR(answer_cell(&a, 0, "occupancy")->ratio, 1);
    NEAR(answer_cell(&a, 0, "waves")->ratio, 0.25);
    NEAR(answer_cell(&a, 0, "grid_occupancy")->ratio, 0.25);
    answer_end(&a);
}

// Kineto's own estimate of each launch, against ours. Kineto says 0 of launches that use more than
// 48 KiB of shared memory, since it asks CUDA's calculator without the opt-in that they were
// launched with; they ran, so 0 is wrong, and ours must be above it.
static void compare_occupancy(const char *path)
{
    struct stk_trace *t = NULL;
    struct stoker_err err;
    struct stk_read_ctx ctx = {.path = path, .threads = 1, .wants = STK_WANT_LAUNCHES};
    unsigned compared = 0;
    stk_err_init(&err);
    if (stk_reader_read(&ctx, &t, &err) != STOKER_OK) {
        return;
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        for (uint32_t e = track->first;
             track->device != STK_NONE && e < track->first + track->count; e++) {
            const struct stk_launch_config *c = stk_config_of(t, e);
            if (!c || c->occupancy_pct < 0 || !t->devices[track->device].cc_major) {
                continue;
            }
            struct stk_occupancy o = stk_occupancy_of(&t->devices[track->device], c);
            CHECK(o.share > 0 && o.share <= 1);
            CHECK(o.grid_share > 0 && o.grid_share <= o.share + 1e-9);
            if (c->occupancy_pct == 0 && c->shared_bytes > 49152) {
                continue;
            }
            CHECK(fabs(100 * o.grid_share - c->occupancy_pct) <= 0.5 + 1e-6);
            compared++;
        }
    }
    printf("%s: occupancy of %u kernels\n", path, compared);
    stk_trace_free(t);
}

static void test_fixtures(void)
{
    static const char *const files[] = {
        "kineto/kineto/resnet50_nw4.1623212756351.pt.trace.json.gz", // V100, 2021
        "kineto/param/linear_kineto.json.gz",                        // RTX 2080 Ti
        "kineto/HolisticTraceAnalysis/trace_diff_control.json.gz",   // A100
        "kineto/HolisticTraceAnalysis/nccl_data.json.gz",            // A100, opt-in
        "kineto/segment-anything-fast/asdf_True_02c6.json.gz",       // A100
        "kineto/TraceLens/h100_timesformer.json.gz",                 // H100
        "kineto/torch-profiling-tutorial/dc3b0e7228dd_851.1752215573993169006.pt.trace.json.gz"};
    const char *dir = check_fixtures();
    char path[4096];
    for (size_t i = 0; dir && i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        compare_occupancy(path);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_costs);
    CHECK_RUN(test_nested);
    CHECK_RUN(test_ways);
    CHECK_RUN(test_xplane);
    CHECK_RUN(test_tpu);
    CHECK_RUN(test_details_text);
    CHECK_RUN(test_nsys);
    CHECK_RUN(test_fixtures);
    return check_done("unit.stats_kernels");
}
