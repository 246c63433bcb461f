// SPDX-License-Identifier: Apache-2.0
// What-ifs of collectives, of data that stays on the device, of preparation that moves to it, and
// of another device, each on a job whose time with the change is known; and why there is no price.
#include "whatif_job.h"

#define COMM 9
#define NCCL "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

static void add_collective(struct synth *s, double call, double start, double us, int64_t bytes)
{
    struct stk_track_key host = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = MAIN};
    struct stk_track_key stream = {.kind = STK_TRACK_STREAM, .process = 1, .device = 0, .id = COMM};
    struct stk_row_ext ext = {.has_corr = true, .corr = ++s->corr};
    struct stk_detail details[] = {{.key = STK_DETAIL_IN_ELEMENTS, .number = bytes / 4},
                                   {.key = STK_DETAIL_ELEMENT_BYTES, .number = 4},
                                   {.key = STK_DETAIL_GROUP_SIZE, .number = 4}};
    struct stk_row row = {.start_ns = (int64_t)(start * 1000),
                          .dur_ns = (int64_t)(us * 1000),
                          .kind = STK_KIND_COLLECTIVE};
    synth_row(s, &host, call, 5, "cudaLaunchKernel", STK_KIND_RUNTIME, &ext);
    row.name = stk_shard_intern(s->shard, NCCL, strlen(NCCL));
    row.track = stk_shard_track(s->shard, &stream);
    stk_shard_add_detailed(s->shard, &row, &ext, details, bytes ? 3 : 0);
}

// 30 kernels of 300 us, `count` collectives after them, and the optimizer. Bytes: 10 ns for each
// kB and 100 us; the last one of a step is half as large.
static void reducing_job(struct job *j, int count, bool has_bytes)
{
    synth_begin(&j->s);
    double step = 9000 + 600.0 * count + 400;
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * step, done = at + 20;
        synth_step(&j->s, MAIN, at, step - 1, k);
        for (int i = 0; i < 30; i++, done += 301) {
            synth_launch(&j->s, MAIN, at + 1 + 10 * i, 5, SGEMM, done, 300, STREAM);
        }
        for (int i = 0; i < count; i++) {
            bool half = i + 1 == count;
            double us = half ? 350 : 600;
            int64_t bytes = half ? 25000000 : 50000000;
            add_collective(&j->s, at + 400 + 10 * i, done, us, has_bytes ? bytes : 0);
            done += us + 1;
        }
        synth_launch(&j->s, MAIN, at + 700, 5, "multi_tensor_apply_kernel<Adam>", done + 1, 200,
                     STREAM);
        synth_host(&j->s, MAIN, at + 710, done + 200 - (at + 710), "cudaStreamSynchronize",
                   STK_KIND_RUNTIME);
    }
    summarize(j);
}

static void check_comm_overlap(void)
{
    struct job j;
    reducing_job(&j, 5, true);
    double step = j.pricing.base_ns / 1000, comm = 4 * 600 + 350;
    struct stk_price p = price(&j, "comm-overlap");
    CHECK(near(p.low, (step - comm + 350) / step, 0.05)); // the last one alone is left
    CHECK(p.expected > p.low && p.expected < 1 - 0.5 * comm / step + 0.05);
    CHECK(p.high < 1.01);
    end(&j);
    reducing_job(&j, 1, true); // one collective is cut into buckets
    step = j.pricing.base_ns / 1000;
    p = price(&j, "comm-overlap");
    CHECK(p.low > (step - 350) / step - 0.05 && p.low < 0.99);
    end(&j);
}

static void check_comm_bucket(void)
{
    struct job j;
    reducing_job(&j, 5, true);
    double step = j.pricing.base_ns / 1000;
    struct stk_price p = price(&j, "comm-bucket=100000000"); // 100, 100 and 25 MB
    CHECK(near(p.expected, (step - 2 * 106) / step, 0.02));
    p = price(&j, "comm-bucket=25000000"); // four pay 100 us twice
    CHECK(near(p.expected, (step + 4 * 100) / step, 0.02));
    end(&j);
    reducing_job(&j, 5, false);
    CHECK_STR(refusal(&j, "comm-bucket=25000000"),
              "the profile doesn't say how many bytes its collectives reduce");
    CHECK_STR(refusal(&j, "gpus=8"),
              "the profile doesn't say how many bytes its collectives reduce");
    end(&j);
}

static void check_gpus(void)
{
    struct job j;
    reducing_job(&j, 5, true);
    double step = j.pricing.base_ns / 1000;
    struct stk_price same = price(&j, "gpus=4"), more = price(&j, "gpus=8");
    struct stk_price many = price(&j, "gpus=1024"), alone = price(&j, "gpus=1");
    CHECK(near(same.expected, 1, 0.001));
    // Bytes go 7/8 over 3/4 times as often; 24 us of hops for each of five.
    CHECK(near(more.expected, (step + 2250 * (7.0 / 6 - 1) + 5 * 24) / step, 0.01));
    CHECK(many.expected > more.expected && many.high > many.expected);
    CHECK(near(alone.expected, (step - 2750) / step, 0.02));
    CHECK(strstr(refusal(&j, "gpus=2.5"), "whole") != NULL);
    end(&j);
}

static void add_copy_from(struct synth *s, enum stk_mem memory, double at, double call_us,
                          double start, double us, int64_t bytes)
{
    struct stk_track_key host = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = MAIN};
    struct stk_track_key stream = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = 0, .id = STREAM};
    struct stk_row_ext ext = {.has_corr = true, .corr = ++s->corr};
    synth_row(s, &host, at, call_us, "cudaMemcpyAsync", STK_KIND_RUNTIME, &ext);
    ext.dir = STK_DIR_H2D;
    ext.src_mem = memory;
    ext.dst_mem = STK_MEM_DEVICE;
    ext.flags = STK_EXT_VALUE;
    ext.value = bytes;
    synth_row(s, &stream, start, us, "Memcpy HtoD", STK_KIND_MEMCPY, &ext);
}

static void add_copy(struct synth *s, double at, double start, double us, int64_t bytes)
{
    add_copy_from(s, STK_MEM_PINNED, at, 5, start, us, bytes);
}

// A fetch of `fetch` us by the thread itself, a copy of 1 ms, one of 2 ms unless it is the batch
// alone, and a kernel of 3 ms, waited for.
static void copying_job(struct job *j, const char *device, double fetch, bool two)
{
    synth_begin(&j->s);
    struct stk_device_facts facts = {.source_id = STK_STR("0"), .name = stk_str_from(device)};
    stk_build_device(j->s.build, 1, 0, &facts);
    double copies = two ? 3001 : 1000, step = fetch + copies + 3000 + 60;
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * step, done = at + fetch + 20;
        synth_step(&j->s, MAIN, at, step - 1, k);
        synth_host(&j->s, MAIN, at + 1, fetch, "enumerate(DataLoader)#_SingleProcessDataLoaderIter",
                   STK_KIND_INPUT);
        add_copy(&j->s, done - 10, done, 1000, 12000000);
        if (two) {
            add_copy(&j->s, done - 4, done + 1001, 2000, 24000000);
        }
        synth_launch(&j->s, MAIN, done + 5, 5, SGEMM, done + copies + 1, 3000, STREAM);
        synth_host(&j->s, MAIN, done + 12, copies + 2995, "cudaStreamSynchronize",
                   STK_KIND_RUNTIME);
    }
    summarize(j);
}

static void check_data_on_device(void)
{
    struct job j;
    copying_job(&j, "Test GPU", 500, true);
    double step = j.pricing.base_ns / 1000;
    struct stk_price p = price(&j, "data-on-device");
    CHECK(near(p.expected, (step - 2000) / step, 0.01));
    CHECK(p.high > (step - 1000) / step && p.high < 1); // the shorter one
    end(&j);
    copying_job(&j, "Test GPU", 500, false);
    step = j.pricing.base_ns / 1000;
    p = price(&j, "data-on-device"); // the batch, most likely: nothing is sure
    CHECK(near(p.expected, (step - 1000) / step, 0.01));
    CHECK(p.high >= 1);
    end(&j);
}

static void check_input_on_device(void)
{
    struct job j;
    copying_job(&j, "Test GPU", 6000, false);
    double step = j.pricing.base_ns / 1000;
    struct stk_price p = price(&j, "input-on-device=0.5"); // a kernel takes a thirtieth of 3 ms
    CHECK(near(p.expected, (step - 3000 + 100) / step, 0.02));
    CHECK(p.high > p.expected + 0.1);
    CHECK(strstr(refusal(&j, "input-on-device=2"), "at most 1") != NULL);
    end(&j);
}

// From fp32 to 16 bits by the root of the peaks' ratio, 16; where the device is not known by 3.5.
static void check_precision(void)
{
    struct job j;
    copying_job(&j, "NVIDIA A100-SXM4-40GB", 500, false);
    double step = j.pricing.base_ns / 1000;
    CHECK(near(price(&j, "precision=bf16").expected, (step - 2997 * 0.75) / step, 0.01));
    end(&j);
    copying_job(&j, "Test GPU", 500, false);
    CHECK(near(price(&j, "precision=bf16").expected, (step - 2997 * (1 - 1 / 3.5)) / step, 0.01));
    end(&j);
}

// Steps of two products of 1 ms: of [32, 64] by [64, n], and of multiples of 8.
static void shaped_job(struct job *j, const char *device, const char *shapes)
{
    struct stk_device_facts facts = {.source_id = STK_STR("0"), .name = stk_str_from(device)};
    synth_begin(&j->s);
    stk_build_device(j->s.build, 1, 0, &facts);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 2200;
        const char *of[] = {shapes, "[[32, 64], [64, 16], [7]]"};
        synth_step(&j->s, MAIN, at, 2199, k);
        for (int i = 0; i < 2; i++) {
            struct stk_track_key key = {
                .kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = MAIN};
            struct stk_row row = {.start_ns = (int64_t)(at + 10 + 30 * i) * 1000,
                                  .dur_ns = 20000,
                                  .kind = STK_KIND_HOST_OP};
            struct stk_detail detail = {.key = STK_DETAIL_SHAPES};
            row.name = stk_shard_intern(j->s.shard, "aten::mm", 8);
            row.track = stk_shard_track(j->s.shard, &key);
            detail.text = stk_shard_intern(j->s.shard, of[i], strlen(of[i]));
            stk_shard_add_detailed(j->s.shard, &row, NULL, &detail, 1);
            synth_launch(&j->s, MAIN, at + 20 + 30 * i, 5, SGEMM, at + 30 + 1001 * i, 1000, STREAM);
        }
        synth_host(&j->s, MAIN, at + 80, 1960, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    }
    summarize(j);
}

static void check_align(void)
{
    struct job j;
    shaped_job(&j, "Test GPU", "[[32, 64], [64, 10]]");
    struct stk_price p = price(&j, "align=8"); // one of the two is twice as fast
    CHECK(near(p.expected, 1 - 498.0 / 2200, 0.03));
    CHECK(p.low < 1 - 700.0 / 2200 && p.high > 0.99);
    end(&j);
    shaped_job(&j, "Test GPU", "[[32, 64], [64, 24]]");
    CHECK_STR(refusal(&j, "align=8"),
              "the dimensions of matrix products are multiples of 8 already");
    end(&j);
    copying_job(&j, "Test GPU", 500, false);
    CHECK(strstr(refusal(&j, "align=8"), "record_shapes") != NULL);
    end(&j);
}

// A product of 15.6e9 operations a millisecond, four fifths of the device's peak, reaches seven
// eighths of the ratio of the peaks, 16, as matrix units reach less of theirs than plain cores; the
// other one, of 65 thousand operations, reaches its root.
static void check_filling_products(void)
{
    struct job j;
    shaped_job(&j, "NVIDIA A100-SXM4-40GB", "[[2048, 2048], [2048, 1856]]");
    struct stk_price p = price(&j, "precision=bf16");
    CHECK(near(p.expected, 1 - (997 * (1 - 1 / 14.0) + 997 * 0.75) / 2200, 0.005));
    CHECK(p.high < 0.6); // the least: powers of 0.6, and 0.25 of a product of multiples of 8
    p = price(&j, "precision=tf32"); // 8
    CHECK(near(p.expected, 1 - (997 * (1 - 1 / 7.0) + 997 * (1 - 1 / 2.83)) / 2200, 0.005));
    end(&j);
    shaped_job(&j, "NVIDIA A100-SXM4-40GB", "[[20480, 2048], [2048, 1856]]"); // beyond the peak
    CHECK(near(price(&j, "precision=bf16").expected, 1 - 2 * 997 * 0.75 / 2200, 0.02));
    end(&j);
    shaped_job(&j, "Tesla V100-SXM2-32GB", "[[2048, 2048], [2048, 1856]]");
    CHECK_STR(refusal(&j, "precision=tf32"), "the GPU computes no faster in tf32 than in fp32");
    end(&j);
}

// Steps that the host makes: six products of 200 us, each launched by 100 us of an operation or, as
// one graph, by one call; plus a compiler's kernel.
static void program_job(struct job *j, bool is_graph)
{
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 3000;
        synth_step(&j->s, MAIN, at, 2999, k);
        for (int i = 0; i < 7; i++) {
            const char *name = i < 6 ? SGEMM : "triton_poi_fused_add_0";
            double call = at + 90 + (is_graph ? 0 : 400 * i);
            if (i == 0 || !is_graph) {
                synth_launch(&j->s, MAIN, call, 10, name, call + 20, 200, STREAM);
            } else {
                synth_of_graph(&j->s, name, call + 20 + 201 * i, 200, STREAM);
            }
        }
        synth_host(&j->s, MAIN, at + 2600, 390, "aten::item", STK_KIND_HOST_OP);
    }
    summarize(j);
}

// Casts cost the host what usually lies between the launches of a program: nothing in a graph.
static void check_casts(void)
{
    struct job j;
    program_job(&j, false);
    CHECK(price(&j, "precision=bf16").expected > 1 + 2 * 90.0 / 3000); // two casts a step
    end(&j);
    program_job(&j, true);
    CHECK(price(&j, "precision=bf16").expected < 1.02);
    end(&j);
}

// Steps of a product of 2 ms without shapes, of so many blocks on 108 multiprocessors.
static void gridded_job(struct job *j, uint32_t blocks)
{
    struct stk_device_facts facts = {
        .source_id = STK_STR("0"), .name = STK_STR("NVIDIA A100-SXM4-40GB"), .sm_count = 108};
    struct stk_track_key host = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = MAIN};
    struct stk_track_key stream = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = 0, .id = STREAM};
    struct stk_launch_config config = STK_LAUNCH_CONFIG_UNKNOWN;
    synth_begin(&j->s);
    stk_build_device(j->s.build, 1, 0, &facts);
    config.grid[0] = blocks;
    config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
    config.block[0] = 128;
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 2100;
        struct stk_row_ext ext = {.has_corr = true, .corr = ++j->s.corr};
        synth_step(&j->s, MAIN, at, 2099, k);
        synth_row(&j->s, &host, at + 20, 5, "cudaLaunchKernel", STK_KIND_RUNTIME, &ext);
        stk_shard_set_config(j->s.shard, &config, &ext);
        synth_row(&j->s, &stream, at + 30, 2000, SGEMM, STK_KIND_KERNEL, &ext);
        synth_host(&j->s, MAIN, at + 40, 2000, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    }
    summarize(j);
}

// Without shapes, blocks tell whether a product fills the device: 12.1 times as fast, else 4.
static void check_filling_grids(void)
{
    struct job j;
    gridded_job(&j, 108 * 8);
    CHECK(near(price(&j, "precision=bf16").expected, 1 - 1997 * (1 - 1 / 12.1) / 2100, 0.02));
    CHECK(price(&j, "precision=bf16").high < 0.75); // half at the least, and doubt
    end(&j);
    gridded_job(&j, 104); // a persistent kernel: a block for each multiprocessor but four
    CHECK(near(price(&j, "precision=bf16").expected, 1 - 1997 * (1 - 1 / 12.1) / 2100, 0.02));
    end(&j);
    gridded_job(&j, 108 * 2);
    CHECK(near(price(&j, "precision=bf16").expected, 1 - 1997 * 0.75 / 2100, 0.02));
    end(&j);
}

// Copies of 12 MB from pageable memory in 1 ms each, behind whose call the thread waits for them;
// then 2 ms of the host that only this wait keeps from running beside the kernel.
static void staging_job(struct job *j, const char *device)
{
    struct stk_device_facts facts = {.source_id = STK_STR("0"), .name = stk_str_from(device)};
    synth_begin(&j->s);
    stk_build_device(j->s.build, 1, 0, &facts);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 4100;
        synth_step(&j->s, MAIN, at, 4099, k);
        add_copy_from(&j->s, STK_MEM_PAGEABLE, at + 5, 990, at + 10, 1000, 12000000);
        synth_host(&j->s, MAIN, at + 1000, 14, "cudaStreamSynchronize", STK_KIND_RUNTIME);
        synth_host(&j->s, MAIN, at + 1030, 2000, "aten::copy_", STK_KIND_HOST_OP);
        synth_launch(&j->s, MAIN, at + 3040, 5, SGEMM, at + 3050, 1000, STREAM);
        synth_host(&j->s, MAIN, at + 3060, 1000, "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    }
    summarize(j);
}

static void check_pinned(void)
{
    struct job j;
    staging_job(&j, "Test GPU"); // a third of the copy, and beside the host
    CHECK(near(price(&j, "transfer-pinned").expected, 1 - 1000.0 / 4100, 0.03));
    CHECK(price(&j, "transfer-pinned").high > 1 - 600.0 / 4100); // who waits, waits for half
    CHECK(price(&j, "transfer-pinned").low < 3000.0 / 4800); // staging may take 1.8 times as long
    end(&j);
}

static void check_device(void)
{
    struct job j;
    copying_job(&j, "NVIDIA A100-SXM4-40GB", 500, false);
    double step = j.pricing.base_ns / 1000;
    struct stk_price p = price(&j, "device=H100"), old = price(&j, "device=V100-SXM2");
    CHECK(p.expected < 1 - 0.5 * 3000 / step && p.expected > 500 / step); // 3.4 times the fp32
    CHECK(p.low < p.expected && p.high > p.expected + 0.05);
    CHECK(old.expected > 1 && old.high < 2);
    CHECK(strstr(refusal(&j, "device=A100"), "full name") != NULL);
    end(&j);
    copying_job(&j, "Test GPU", 500, false);
    CHECK_STR(refusal(&j, "device=H100"),
              "the profile doesn't name its GPU, or its peak rates aren't known");
    struct stk_price_asked set;
    struct stoker_err err;
    stk_err_init(&err);
    CHECK_EQ(stk_price_parse("device=Abacus", &set, &err), STOKER_EUSAGE);
    end(&j);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_comm_overlap);
    CHECK_RUN(check_comm_bucket);
    CHECK_RUN(check_gpus);
    CHECK_RUN(check_data_on_device);
    CHECK_RUN(check_input_on_device);
    CHECK_RUN(check_precision);
    CHECK_RUN(check_casts);
    CHECK_RUN(check_align);
    CHECK_RUN(check_filling_products);
    CHECK_RUN(check_filling_grids);
    CHECK_RUN(check_pinned);
    CHECK_RUN(check_device);
    return check_done("unit.whatif_places");
}
