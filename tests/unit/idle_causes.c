// SPDX-License-Identifier: Apache-2.0
// One small trace per cause of idle time, each with the parts that follow from its construction.
// Times in microseconds. Without step markers the device's span is the window.
#include "synth.h"

#define MAIN 1
#define AUTOGRAD 2
#define LOADER 3
#define FETCH "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

static double part_us(const struct stk_rank_sum *r, enum stk_part part)
{
    int64_t ns = 0;
    for (uint32_t d = 0; d < r->device_count; d++) {
        ns += r->devices[d].parts[part];
    }
    return (double)ns / 1000;
}

// A copy of so many bytes, and its call.
static void synth_copy(struct synth *s, int64_t thread, double call_us, double call_dur_us,
                       const char *op, double start_us, double dur_us, int64_t stream,
                       enum stk_dir dir, int64_t bytes)
{
    struct stk_track_key host = {
        .kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = thread};
    struct stk_track_key dev = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = s->device, .id = stream};
    struct stk_row_ext ext = {.has_corr = true, .corr = ++s->corr};
    synth_row(s, &host, call_us, call_dur_us, "cudaMemcpyAsync", STK_KIND_RUNTIME, &ext);
    ext.dir = dir;
    ext.value = bytes;
    ext.flags = STK_EXT_VALUE;
    synth_row(s, &dev, start_us, dur_us, op, STK_KIND_MEMCPY, &ext);
}

#define PART(r, part, us) CHECK_EQ(part_us(r, STK_PART_##part) * 1000, (us) * 1000)

// A long synchronization: the host comes late since it was held until the device was done.
static void check_sync_credit(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 990, 7);
    synth_host(&s, MAIN, 8, 1000, "aten::item", STK_KIND_HOST_OP);
    synth_host(&s, MAIN, 10, 995, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    synth_host(&s, MAIN, 1010, 280, "aten::add", STK_KIND_HOST_OP);
    synth_launch(&s, MAIN, 1300, 5, "b", 1310, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, 1090);
    PART(r, SYNC, 300); // gap 1000 to the launch at 1300: the call held the host for longer
    PART(r, LAUNCH, 10);
    const struct stk_cause *c = &r->causes[STK_PART_SYNC];
    CHECK(c->name_count > 0);
    CHECK_STR(c->names[0].name, "cudaStreamSynchronize in aten::item");
    CHECK_EQ(r->facts.sync_calls, 1);
    synth_end(&s);
}

// A short one gives back only as much as it held; the rest is the host's own work.
static void check_sync_credit_is_bounded(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 990, 7);
    synth_host(&s, MAIN, 900, 105, "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    synth_host(&s, MAIN, 1005, 900, "my_metric", STK_KIND_HOST_OP);
    synth_launch(&s, MAIN, 1910, 5, "b", 1920, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, SYNC, 105); // 5 in the gap, and the 100 for which the device still worked
    PART(r, HOST, 805);
    PART(r, LAUNCH, 10);
    synth_end(&s);
}

// The next batch is copied before the host launches again: the call still released it late.
static void check_sync_credit_over_copies(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 990, 7);
    synth_host(&s, MAIN, 10, 995, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    synth_launch_as(&s, MAIN, 1020, 5, "cudaMemcpyAsync", "Memcpy HtoD", 1030, 20, 8,
                    STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
    synth_host(&s, MAIN, 1030, 260, "my_metric", STK_KIND_HOST_OP);
    synth_launch(&s, MAIN, 1300, 5, "b", 1310, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, SYNC, 270); // 20 to the copy's launch, 250 from its end to the kernel's
    PART(r, HOST, 0);
    PART(r, LAUNCH, 20);
    synth_end(&s);
}

// A thread of PjRt lays an array out for its copy, in pieces of one event: the transfer's time.
static void check_staging_of_the_framework(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 990, 7);
    synth_host(&s, MAIN, 1000, 2110, "PjitFunction(step)", STK_KIND_HOST_OP);
    synth_host(&s, LOADER, 1010, 2010, "H2D Dispatch", STK_KIND_HOST_OP);
    synth_host(&s, LOADER, 1010, 1980, "Transpose::ExecuteChunk", STK_KIND_HOST_OP);
    synth_launch_as(&s, LOADER, 3000, 5, "MemcpyH2D", "MemcpyH2D", 3010, 80, 8, STK_KIND_MEMCPY,
                    STK_DIR_H2D, STK_MEM_PINNED);
    synth_launch(&s, MAIN, 3095, 5, "b", 3100, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, 1090);
    PART(r, H2D, 1990 + 80); // from 1010 to the launch at 3000, and the copy
    CHECK_STR(r->causes[STK_PART_H2D].names[0].name, "Transpose::ExecuteChunk");
    synth_end(&s);
}

// Data that an operation of the model works on, on the host: it needs it, whoever waits.
static void check_data_for_the_host(double bytes, double sync, double host)
{
    struct synth s;
    struct stk_track_key thread = {
        .kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = MAIN};
    synth_begin(&s);
    struct stk_track_key stream = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = s.device, .id = 7};
    struct stk_row_ext ext = {.has_corr = true,
                              .corr = 77,
                              .dir = STK_DIR_D2H,
                              .src_mem = STK_MEM_DEVICE,
                              .dst_mem = STK_MEM_PAGEABLE,
                              .value = (int64_t)bytes,
                              .flags = STK_EXT_VALUE};
    synth_launch(&s, MAIN, 0, 5, "a", 10, 990, 7);
    synth_host(&s, MAIN, 8, 1592, "aten::unique_dim", STK_KIND_HOST_OP);
    synth_row(&s, &thread, 10, 1095, "cudaMemcpyAsync", STK_KIND_RUNTIME, &ext);
    synth_row(&s, &stream, 1000, 100, "Memcpy DtoH", STK_KIND_MEMCPY, &ext);
    synth_launch(&s, MAIN, 1700, 5, "b", 1710, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, SYNC, sync);
    PART(r, HOST, host);
    synth_end(&s);
}

static void check_first_use_call(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_host(&s, MAIN, 200, 30000, "cudaFuncGetAttributes", STK_KIND_RUNTIME);
    synth_launch(&s, MAIN, 30210, 5, "b", 30220, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPILE, 30000);
    PART(r, LAUNCH, 110); // 90 and 10 of short pieces, 10 of latency
    CHECK_EQ(r->cold_ns, 30000 * US);
    CHECK_EQ(r->facts.first_use_ns, 30000 * US);
    synth_end(&s);
}

// An allocator without a cache is slow in every step: not a first use.
static void check_alloc_churn(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 40; i++) {
        double t = i * 40000.0;
        synth_launch(&s, MAIN, t, 5, "a", t + 10, 990, 7);
        synth_host(&s, MAIN, t + 1000, 30000, "cudaFree", STK_KIND_RUNTIME);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, ALLOC, 39 * 30000);
    PART(r, COMPILE, 0);
    CHECK_EQ(r->facts.alloc_calls, 40);
    synth_end(&s);
}

// A kernel's first launch, stuck inside one operator without any runtime call: it was compiled. If
// the device waits as long at that place again, the host is slow there.
static void check_one_off_gap(bool again)
{
    double wait = again ? 20000 : 1000;
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_host(&s, MAIN, 120, 20000, "aten::fused", STK_KIND_HOST_OP);
    synth_launch(&s, MAIN, 20100, 5, "fused", 20110, 100, 7);
    synth_host(&s, MAIN, 20220, wait, "aten::fused", STK_KIND_HOST_OP);
    synth_launch(&s, MAIN, 20210 + wait, 5, "fused", 20220 + wait, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPILE, again ? 0 : 20100 - 110);
    PART(r, HOST, again ? 20100 - 110 + wait : wait);
    PART(r, LAUNCH, 20);
    synth_end(&s);
}

static void check_long_launch_call(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_launch(&s, MAIN, 110, 8000, "b", 8120, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPILE, 8000);
    PART(r, LAUNCH, 10);
    synth_end(&s);
}

static void check_copies(uint8_t memory, double staged, double launch)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_launch_as(&s, MAIN, 110, 700, "cudaMemcpyAsync", "Memcpy HtoD", 610, 300, 7,
                    STK_KIND_MEMCPY, STK_DIR_H2D, memory);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, H2D, 300 + staged);
    PART(r, LAUNCH, launch);
    CHECK_EQ(r->facts.pageable_copies, memory == STK_MEM_PAGEABLE);
    synth_end(&s);
}

// A batch is made by operators on the host, and copied as soon as it is there. Behind a copy back
// of data it is a layer on the host, and a small copy is no batch.
static void check_made_and_copied(int64_t bytes, int64_t read_bytes, double made_us, bool is_input)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 4; i++) {
        double t = i * 10000;
        synth_step(&s, MAIN, t, 10000, i);
        if (read_bytes) {
            synth_copy(&s, MAIN, t, 20, "Memcpy DtoH", t + 5, 10, 7, STK_DIR_D2H, read_bytes);
        }
        synth_host(&s, MAIN, t + 30, made_us, "aten::normal_", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4040, 60, "aten::to", STK_KIND_HOST_OP);
        synth_copy(&s, MAIN, t + 4050, 20, "Memcpy HtoD", t + 4060, 100, 7, STK_DIR_H2D, bytes);
        synth_launch(&s, MAIN, t + 4150, 5, "gemm", t + 4160, 5700, 7);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    double input_us = 0;
    for (uint32_t i = 0; i < r->step_count; i++) {
        input_us += (double)r->steps[i].parts[STK_PART_INPUT] / 1000;
    }
    CHECK(is_input ? input_us > 3 * 4000 : input_us == 0); // the first batch has no gap before it
    CHECK_EQ(r->facts.own_batches, is_input ? 4 : 0);
    synth_end(&s);
}

// Behind a fetch, all of it up to the copy is the batch's, where a tensor is made of it.
static void check_made_of_fetched(const char *op, bool is_input)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 4; i++) {
        double t = i * 10000;
        synth_step(&s, MAIN, t, 10000, i);
        synth_host(&s, MAIN, t, 500, FETCH, STK_KIND_INPUT);
        synth_host(&s, MAIN, t + 3900, 10, op, STK_KIND_HOST_OP);
        synth_copy(&s, MAIN, t + 4050, 20, "Memcpy HtoD", t + 4060, 100, 7, STK_DIR_H2D, 65536);
        synth_launch(&s, MAIN, t + 4150, 5, "gemm", t + 4160, 5700, 7);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    double input_us = 0;
    for (uint32_t i = 0; i < r->step_count; i++) {
        input_us += (double)r->steps[i].parts[STK_PART_INPUT] / 1000;
    }
    CHECK(is_input ? input_us > 3 * 4000 : input_us < 4 * 600);
    synth_end(&s);
}

// The host waits for data on one thread, the gap ends with a launch of another.
static void check_fetch(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_host(&s, MAIN, 150, 5000, FETCH, STK_KIND_INPUT);
    synth_host(&s, MAIN, 1000, 300, "cudaMemcpyAsync", STK_KIND_RUNTIME); // belongs to the fetch
    synth_host(&s, AUTOGRAD, 5155, 20, "aten::mul", STK_KIND_HOST_OP);
    synth_launch(&s, AUTOGRAD, 5180, 5, "b", 5190, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, 5000);
    CHECK_EQ(r->facts.loader_fetches, 1);
    CHECK_STR(r->causes[STK_PART_INPUT].names[0].name, FETCH);
    synth_end(&s);
}

// A loader's thread prepares batches ahead: that is no wait.
static void check_background_fetch(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_host(&s, LOADER, 0, 6000, "load_batch", STK_KIND_HOST_OP);
    synth_host(&s, MAIN, 120, 5000, "my_callback", STK_KIND_HOST_OP);
    synth_launch(&s, MAIN, 5130, 5, "a", 5140, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, 0);
    PART(r, HOST, 5020);
    synth_end(&s);
}

static void check_host_collective(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_host(&s, MAIN, 110, 3000, "gloo:all_reduce", STK_KIND_HOST_OP);
    synth_launch(&s, MAIN, 3110, 5, "b", 3120, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COLLECTIVE_WAIT, 3000);
    PART(r, LAUNCH, 10);
    synth_end(&s);
}

// After the launch call returned, more than latency is nobody's fault that we know of.
static void check_dependency_and_unlinked(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_launch(&s, MAIN, 20, 5, "b", 700, 100, 7);            // 590 after the gap began
    synth_launch(&s, MAIN, 30, 5, "c", 840, 100, 7);            // 40: latency
    synth_device(&s, 7, 1500, 100, "d", STK_KIND_KERNEL, 0, 0); // 560, no launch row
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, UNKNOWN, 590 + 560);
    PART(r, LAUNCH, 40);
    CHECK_EQ(r->facts.unlinked_ops, 1);
    synth_end(&s);
}

// Short pieces between runtime calls are launching; a busy device hides everything.
static void check_launching(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 10; i++) {
        synth_host(&s, MAIN, i * 100, 90, "aten::add", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, i * 100 + 20, 5, "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                   STK_KIND_RUNTIME);
        synth_launch(&s, MAIN, i * 100 + 50, 5, "k", i * 100 + 60, 10, 7);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, 100);
    PART(r, LAUNCH, 9 * 90);
    CHECK_EQ(r->devices[0].short_kernels, 0);
    CHECK_EQ(r->facts.delay_median_ns, 10 * US);
    synth_end(&s);
}

static void check_overhead(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_launch(&s, MAIN, 1010, 5, "b", 1020, 100, 7);
    synth_host(&s, 99, 300, 400, "Activity Buffer Request", STK_KIND_OTHER);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, OVERHEAD, 400);
    PART(r, HOST, 500);
    PART(r, LAUNCH, 10);
    synth_end(&s);
}

// Busy time: compute hides collectives, both hide copies; directions are separated.
static void check_busy_parts(void)
{
    struct synth s;
    synth_begin(&s);
    synth_device(&s, 7, 0, 100, "gemm", STK_KIND_KERNEL, 0, 0);
    synth_device(&s, 8, 50, 100, "ncclDevKernel_AllReduce_Sum", STK_KIND_COLLECTIVE, 0, 0);
    synth_device(&s, 9, 120, 100, "Memcpy HtoD", STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
    synth_device(&s, 9, 200, 50, "Memcpy DtoH", STK_KIND_MEMCPY, STK_DIR_D2H, STK_MEM_PINNED);
    synth_device(&s, 10, 250, 10, "Memset", STK_KIND_MEMSET, 0, 0);
    synth_device(&s, 10, 260, 10, "Memcpy PtoP", STK_KIND_MEMCPY, STK_DIR_P2P, 0);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, 110);
    PART(r, COMMUNICATION, 50);
    PART(r, H2D, 70);
    PART(r, D2H, 30);
    PART(r, D2D, 10);
    const struct stk_device_sum *d = &r->devices[0];
    CHECK_EQ(d->communication_ns, 100 * US);
    CHECK_EQ(d->communication_exposed_ns, 50 * US);
    CHECK_EQ(d->h2d_ns, 100 * US);
    CHECK_EQ(d->p2p_ns, 10 * US);
    CHECK_EQ(d->transfer_exposed_ns, 110 * US);
    CHECK_EQ(d->kernels, 2);
    CHECK_EQ(d->kernel_ns, 150 * US);
    CHECK_EQ(r->collective_count, 1);
    CHECK_EQ((int64_t)r->collectives[0].exposed_ns, 50 * US);
    synth_end(&s);
}

// A device that only receives a few copies is named and left out.
static void check_left_out(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 1000, 7);
    s.device = 1;
    synth_device(&s, 7, 0, 500, "Memcpy HtoD", STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
    s.device = 2;
    synth_device(&s, 7, 0, 20, "a", STK_KIND_KERNEL, 0, 0);
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->device_count, 3);
    CHECK(r->devices[0].analysed && !r->devices[1].analysed && !r->devices[2].analysed);
    CHECK(!r->devices[0].left_out && r->devices[1].left_out && r->devices[2].left_out);
    CHECK_EQ(r->devices[1].wall_ns, 0);
    CHECK_STR(r->devices[2].id, "0/2");
    synth_end(&s);
}

// Keras: the step's call on one thread, the fetch and the launches on threads of TensorFlow.
static void check_keras_on_gpu(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 6; i++) {
        double t = i * 10000;
        synth_host(&s, MAIN, t, 9900, "multi_step_on_iterator", STK_KIND_HOST_OP);
        synth_host(&s, LOADER, t + 100, 6000, "IteratorGetNextOp::DoCompute", STK_KIND_INPUT);
        synth_host(&s, LOADER + 1, t, 10000, "Iterator::Root::Prefetch", STK_KIND_INPUT);
        synth_host(&s, AUTOGRAD, t + 6100, 500, "dense/MatMul:MatMul", STK_KIND_HOST_OP);
        synth_launch_as(&s, AUTOGRAD, t + 6200, 5, "cuLaunchKernel", "gemm", t + 6210, 3000, 7,
                        STK_KIND_KERNEL, 0, 0);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->source, STK_STEPS_FRAMEWORK);
    CHECK_EQ(r->step_count, 6);
    CHECK_EQ(r->steps[2].parts[STK_PART_INPUT], 6000 * US);
    CHECK_EQ(r->steps[2].parts[STK_PART_COMPUTE], 3000 * US);
    CHECK_STR(r->causes[STK_PART_INPUT].names[0].name, "IteratorGetNextOp::DoCompute");
    synth_end(&s);
}

// A graph starts many kernels with one call: small gaps between them are launching, not the host.
static void check_graph(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch_as(&s, MAIN, 0, 10, "cudaGraphLaunch", "a", 20, 100, 7, STK_KIND_KERNEL, 0, 0);
    for (int i = 1; i < 10; i++) {
        struct stk_row_ext ext = {.has_corr = true, .corr = s.corr, .flags = STK_EXT_GRAPH};
        struct stk_track_key key = {.kind = STK_TRACK_STREAM, .process = 1, .device = 0, .id = 7};
        synth_row(&s, &key, 20 + i * 110, 100, "b", STK_KIND_KERNEL, &ext);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, 1000);
    PART(r, LAUNCH, 90);
    CHECK_EQ(r->devices[0].linked_ops, 10);
    CHECK_EQ(r->facts.graph_launches, 1);
    synth_end(&s);
}

// The launching thread of a pool sleeps while the driver works.
static void check_pool_thread(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 4; i++) {
        double t = i * 5000;
        synth_step(&s, MAIN, t, 5000, i);
        synth_host(&s, MAIN, t + 10, 2900, "host_metrics", STK_KIND_HOST_OP);
        synth_launch(&s, AUTOGRAD, t + 3000, 5, "a", t + 3010, 1990, 7);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->steps[2].parts[STK_PART_HOST], 3000 * US);
    CHECK_EQ(r->steps[2].parts[STK_PART_COMPUTE], 1990 * US);
    CHECK_STR(r->causes[STK_PART_HOST].names[0].name, "host_metrics");
    synth_end(&s);
}

// next() is a fetch where nothing better is recorded, but not where the model runs inside it.
static void check_python_next(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "a", 10, 100, 7);
    synth_host(&s, MAIN, 120, 3000, "<built-in function next>", STK_KIND_PYTHON);
    synth_launch(&s, MAIN, 3130, 5, "a", 3140, 100, 7);
    synth_host(&s, MAIN, 3250, 4000, "pipeline.py(12): __next__", STK_KIND_PYTHON);
    synth_launch(&s, MAIN, 7000, 5, "a", 7010, 100, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, 3000);
    synth_end(&s);
}

// A merged file: each process with a rank of its own is one rank.
static void check_ranks(void)
{
    struct synth s;
    synth_begin(&s);
    for (int64_t rank = 0; rank < 3; rank++) {
        struct stk_track_key key = {
            .kind = STK_TRACK_STREAM, .process = 10 + rank, .device = 0, .id = 7};
        stk_build_process(s.build, 10 + rank, (int32_t)(2 * rank), STK_STR(""), STK_STR("node"));
        synth_row(&s, &key, 10, 100 + (double)rank, "ncclDevKernel_AllReduce", STK_KIND_COLLECTIVE,
                  NULL);
    }
    CHECK(synth_summarize(&s) != NULL);
    CHECK_EQ(s.rank_count, 3);
    for (uint32_t i = 0; i < s.rank_count; i++) {
        CHECK_EQ(s.ranks[i]->rank, 2 * i);
        CHECK_EQ(s.ranks[i]->device_count, 1);
        CHECK_EQ(s.ranks[i]->collective_count, 1);
        CHECK_EQ(s.ranks[i]->collectives[0].ordinal, 0);
        CHECK_EQ((int64_t)s.ranks[i]->collectives[0].dur_ns, (100 + i) * US);
        CHECK_STR(s.ranks[i]->host, "node");
    }
    CHECK_STR(s.ranks[2]->devices[0].id, "4/0");
    synth_end(&s);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_sync_credit);
    CHECK_RUN(check_sync_credit_is_bounded);
    CHECK_RUN(check_sync_credit_over_copies);
    CHECK_RUN(check_staging_of_the_framework);
    CHECK_RUN(check_data_for_the_host, 2e6, 5, 595);
    CHECK_RUN(check_data_for_the_host, 4, 600, 0);
    CHECK_RUN(check_first_use_call);
    CHECK_RUN(check_alloc_churn);
    CHECK_RUN(check_one_off_gap, false);
    CHECK_RUN(check_one_off_gap, true);
    CHECK_RUN(check_keras_on_gpu);
    CHECK_RUN(check_graph);
    CHECK_RUN(check_pool_thread);
    CHECK_RUN(check_python_next);
    CHECK_RUN(check_ranks);
    CHECK_RUN(check_long_launch_call);
    CHECK_RUN(check_copies, STK_MEM_PAGEABLE, 500, 0);
    CHECK_RUN(check_copies, STK_MEM_PINNED, 0, 500);
    CHECK_RUN(check_made_and_copied, 1 << 20, 0, 4000, true);
    CHECK_RUN(check_made_and_copied, 512, 0, 4000, false);
    CHECK_RUN(check_made_and_copied, 1 << 20, 1 << 20, 4000, false);
    CHECK_RUN(check_made_and_copied, 1 << 20, 4, 4000, true); // a loss that was read
    CHECK_RUN(check_made_of_fetched, "aten::lift_fresh", true);
    CHECK_RUN(check_made_of_fetched, "aten::view", false);
    CHECK_RUN(check_fetch);
    CHECK_RUN(check_background_fetch);
    CHECK_RUN(check_host_collective);
    CHECK_RUN(check_dependency_and_unlinked);
    CHECK_RUN(check_launching);
    CHECK_RUN(check_overhead);
    CHECK_RUN(check_busy_parts);
    CHECK_RUN(check_left_out);
    return check_done("unit.idle_causes");
}
