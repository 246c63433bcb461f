// SPDX-License-Identifier: Apache-2.0
// What-ifs that change more than the length of nodes, each on a job of eight steps whose time with
// the change is known: delayed launches, checks of loss scaling, host operations, larger batches,
// the model on the host.
#include "whatif_job.h"

#define SCALE "multi_tensor_apply_kernel<_amp_non_finite_check_and_unscale>"

// Steps of `count` launches, one each `every` us, of kernels that take `kernel` us on a stream that
// is idle by then, and a wait at the end.
static void launching_job(struct job *j, double call, double every, double kernel, int count)
{
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double step = every * count + 100, at = (double)k * step;
        synth_step(&j->s, MAIN, at, step - 1, k);
        for (int i = 0; i < count; i++) {
            double t = at + 1 + every * i;
            synth_host(&j->s, MAIN, t, every - 0.5, "aten::mm", STK_KIND_HOST_OP);
            synth_launch(&j->s, MAIN, t + every - call - 1, call, SGEMM, t + every - call + 5,
                         kernel, STREAM);
        }
    }
    summarize(j);
}

static void check_launch_thread(void)
{
    struct job j;
    launching_job(&j, 22, 60, 3, 100); // a call that takes four times 5.5 us
    CHECK(j.graph->calibration.call_ns == 22 * US);
    struct stk_price p = price(&j, "launch-thread");
    CHECK(near(p.expected, 0.25, 0.05));
    CHECK(p.high > 0.95); // no call was quick
    end(&j);
    launching_job(&j, 6, 60, 3, 100);
    CHECK_STR(refusal(&j, "launch-thread"),
              "launch calls take no longer than on an uncontended core");
    end(&j);
}

// A batch of 4 ms, handed to a thread of a pool that copies it and sleeps again; the driving thread
// goes on and launches 20 kernels of 100 us by one call, as XLA does.
static void pool_job(struct job *j)
{
    enum { POOL = 2, KERNELS = 20 };
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 6500, call = at + 4200;
        synth_step(&j->s, MAIN, at, 6499, k);
        synth_host(&j->s, MAIN, at + 5, 4000,
                   "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", STK_KIND_HOST_OP);
        synth_host(&j->s, MAIN, at + 4010, 180, "PjitFunction(step)", STK_KIND_HOST_OP);
        synth_launch_as(&j->s, POOL, at + 4100, 5, "cuMemcpyAsync", "Memcpy HtoD", at + 4110, 40,
                        STREAM + 1, STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
        synth_launch_as(&j->s, MAIN, call, 120, "cuGraphLaunch", SGEMM, call + 130, 100, STREAM,
                        STK_KIND_KERNEL, STK_DIR_UNKNOWN, STK_MEM_UNKNOWN);
        for (int i = 1; i < KERNELS; i++) {
            synth_of_graph(&j->s, SGEMM, call + 130 + 101 * i, 100, STREAM);
        }
    }
    summarize(j);
}

// A value that is read back in each step: a kernel of 1 ms, which the driving thread waits for in a
// call that a thread of a pool serves; that copies the value, and wakes the driving thread.
static void read_back_job(struct job *j)
{
    enum { POOL = 2 };
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 2600;
        synth_step(&j->s, MAIN, at, 2599, k);
        synth_host(&j->s, MAIN, at + 5, 300, "PjitFunction(step)", STK_KIND_HOST_OP);
        synth_launch(&j->s, MAIN, at + 200, 5, SGEMM, at + 210, 1000, STREAM);
        synth_host(&j->s, MAIN, at + 310, 2280, "np.asarray(jax.Array)", STK_KIND_HOST_OP);
        synth_launch_as(&j->s, POOL, at + 1300, 5, "cuMemcpyAsync", "Memcpy DtoH", at + 1310, 10,
                        STREAM + 1, STK_KIND_MEMCPY, STK_DIR_D2H, STK_MEM_PINNED);
        synth_host(&j->s, POOL, at + 1310, 200, "D2H Dispatch", STK_KIND_HOST_OP);
    }
    summarize(j);
}

static void check_read_back(void)
{
    struct job j;
    read_back_job(&j);
    CHECK(j.pricing.gate.replay_error < 0.001);
    CHECK(near(price(&j, "no-sync").expected, 1000.0 / 2600, 0.02)); // the device alone
    end(&j);
}

// What recording the kernels of a graph adds to the call that launches it is taken off: of 100 us
// what is beyond 5 us and 1.5 for each of 40.
static void check_graph_recording(void)
{
    struct job j;
    synth_begin(&j.s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 500;
        synth_step(&j.s, MAIN, at, 499, k);
        synth_launch_as(&j.s, MAIN, at + 10, 100, "cuGraphLaunch", SGEMM, at + 110, 2, STREAM,
                        STK_KIND_KERNEL, STK_DIR_UNKNOWN, STK_MEM_UNKNOWN);
        for (int i = 1; i < 40; i++) {
            synth_of_graph(&j.s, SGEMM, at + 110 + 2 * i, 2, STREAM);
        }
        synth_host(&j.s, MAIN, at + 115, 375, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    }
    summarize(&j);
    CHECK(near(j.pricing.gate.profiler, 35.8 / 500, 0.003));
    CHECK(j.pricing.gate.unexplained < 0.01); // a graph begins when its call has ended
    CHECK(near(price(&j, "none").expected, 1, 1e-9));
    end(&j);
}

// Half of each step's launches are those of a thread that the driving thread waits for (backward);
// it wakes up half a millisecond after it was called.
static void check_late_thread(void)
{
    enum { OTHER = 2 };
    struct job j;
    synth_begin(&j.s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 5000;
        synth_step(&j.s, MAIN, at, 4999, k);
        for (int i = 0; i < 20; i++) {
            double call = at + 5 + 100 * i, back = at + 2500 + 100 * i;
            synth_host(&j.s, MAIN, call - 4, 99, "aten::mul", STK_KIND_HOST_OP);
            synth_launch(&j.s, MAIN, call + 80, 5, SGEMM, call + 90, 2, STREAM);
            synth_host(&j.s, OTHER, back, 99, "aten::mul", STK_KIND_HOST_OP);
            synth_launch(&j.s, OTHER, back + 80, 5, SGEMM, back + 90, 2, STREAM);
        }
        synth_host(&j.s, MAIN, at + 4520, 470, "aten::add_", STK_KIND_HOST_OP);
    }
    summarize(&j);
    // What is left: 0.5 ms of waking up, 0.47 of the operation behind, two calls.
    CHECK(near(price(&j, "launch-graph").expected, 1100.0 / 5000, 0.03));
    end(&j);
}

static void check_pool(void)
{
    struct job j;
    pool_job(&j);
    struct stk_price p = price(&j, "input-free");
    CHECK(near(p.expected, 2500.0 / 6500, 0.02)); // the pool's silence doesn't delay the step
    CHECK_STR(refusal(&j, "launch-graph"), "graphs launch nearly all kernels already");
    CHECK_STR(refusal(&j, "launch-thread"), // the length of a graph's call means nothing
              "launch calls take no longer than on an uncontended core");
    end(&j);
}

// 5 ms of work, 1 ms of checks, a value read back, then 2 ms of the host that only the wait keeps
// from running beside the device.
static void scaling_job(struct job *j, const char *check)
{
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 8100;
        synth_step(&j->s, MAIN, at, 8099, k);
        synth_launch(&j->s, MAIN, at + 10, 5, SGEMM, at + 20, 5000, STREAM);
        synth_launch(&j->s, MAIN, at + 20, 5, check, at + 5021, 1000, STREAM);
        synth_launch_as(&j->s, MAIN, at + 30, 5, "cudaMemcpyAsync", "Memcpy DtoH", at + 6022, 2,
                        STREAM, STK_KIND_MEMCPY, STK_DIR_D2H, STK_MEM_PAGEABLE);
        synth_host(&j->s, MAIN, at + 40, 5990, "cudaStreamSynchronize", STK_KIND_RUNTIME);
        synth_host(&j->s, MAIN, at + 6040, 2000, "aten::copy_", STK_KIND_HOST_OP);
    }
    summarize(j);
}

static void check_loss_scale_static(void)
{
    struct job j;
    scaling_job(&j, SCALE);
    struct stk_price p = price(&j, "loss-scale-static");
    CHECK(near(p.expected, 5000.0 / 8100, 0.03)); // the device alone
    CHECK(p.high > 0.72 && p.high < 0.85);        // with the checks, 6 ms
    end(&j);
    scaling_job(&j, "void at::native::reduce_kernel<512>");
    CHECK_STR(refusal(&j, "loss-scale-static"),
              "no kernel is known to check gradients for NaN or infinity");
    end(&j);
}

static void add_copy(struct synth *s, double at, double call_us, double start, double us,
                     uint8_t dir)
{
    struct stk_track_key host = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = MAIN};
    struct stk_track_key stream = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = 0, .id = STREAM};
    struct stk_row_ext ext = {.has_corr = true, .corr = ++s->corr};
    bool back = dir == STK_DIR_D2H;
    synth_row(s, &host, at, call_us, "cudaMemcpyAsync", STK_KIND_RUNTIME, &ext);
    ext.dir = dir;
    ext.src_mem = back ? STK_MEM_DEVICE : STK_MEM_PAGEABLE;
    ext.dst_mem = back ? STK_MEM_PAGEABLE : STK_MEM_DEVICE;
    ext.flags = STK_EXT_VALUE;
    ext.value = 1 << 20;
    synth_row(s, &stream, start, us, back ? "Memcpy DtoH" : "Memcpy HtoD", STK_KIND_MEMCPY, &ext);
}

// A kernel of 1 ms, 300 us to the host, an operation of 2 ms there, 300 us back, a kernel of 1 ms.
static void host_op_job(struct job *j)
{
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 4800;
        synth_step(&j->s, MAIN, at, 4799, k);
        synth_launch(&j->s, MAIN, at + 10, 5, SGEMM, at + 20, 1000, STREAM);
        synth_host(&j->s, MAIN, at + 30, 3650, "aten::unique_dim", STK_KIND_HOST_OP);
        add_copy(&j->s, at + 40, 1285, at + 1021, 300, STK_DIR_D2H);
        add_copy(&j->s, at + 3330, 320, at + 3340, 300, STK_DIR_H2D);
        synth_launch(&j->s, MAIN, at + 3700, 5, SGEMM, at + 3710, 1000, STREAM);
        synth_host(&j->s, MAIN, at + 3710, 1005, "cudaStreamSynchronize", STK_KIND_RUNTIME);
    }
    summarize(j);
}

static void check_place(void)
{
    struct job j;
    host_op_job(&j);
    CHECK_EQ(j.graph->host_op_count, STEPS);
    CHECK_STR(j.graph->host_ops[0].name, "aten::unique_dim");
    struct stk_price any = price(&j, "place=op:device"), named = price(&j, "place=unique:device");
    CHECK(near(any.expected, 2150.0 / 4800, 0.04)); // two kernels, and 50 us instead of 2 ms
    CHECK(near(named.expected, any.expected, 1e-9));
    CHECK_STR(refusal(&j, "place=aten::sort:device"),
              "no operation of that name runs on the CPU between two copies");
    struct stk_price host = price(&j, "place=all:host"); // 25 times 2 ms, and the operation's 2 ms
    CHECK(near(host.expected, 52000.0 / 4800, 1));
    CHECK(host.low > 1.5 && host.low < 4 && host.high > 30);
    end(&j);
}

static void check_batch(void)
{
    struct job j;
    launching_job(&j, 6, 60, 3, 100); // the host is the limit: kernels of twice 3 us fit in
    struct stk_price p = price(&j, "batch=2");
    CHECK(near(p.expected, 1, 0.02));
    CHECK(near(p.work, 2, 1e-9));
    end(&j);
    launching_job(&j, 6, 1020, 1000, 20); // the device is
    p = price(&j, "batch=2");
    CHECK(p.expected > 1.7 && p.expected < 1.95);
    CHECK(p.high > 1.95);
    CHECK(strstr(refusal(&j, "batch=100"), "64 times") != NULL);
    j.graph->batch_most = 1.5;
    CHECK(strstr(refusal(&j, "batch=2"), "memory can't hold") != NULL);
    CHECK_STR(refusal(&j, "batch=1.2"), "");
    end(&j);
}

// Recording adds to a host that is the limit: 800 ns a call and 400 an operation, of 60 us; and
// nothing to a step that waits for the device.
static void check_profiler(void)
{
    struct job j;
    launching_job(&j, 6, 60, 3, 100);
    CHECK(near(j.pricing.gate.profiler, 1.2 / 60, 0.003));
    CHECK(near(price(&j, "none").expected, 1, 1e-9));
    end(&j);
    host_op_job(&j);
    CHECK(j.pricing.gate.profiler < 0.002);
    end(&j);
}

// A step of 40 launches, 100 us apart, of kernels of 10 us. Between any two there is a call that
// launches nothing and one that sets memory; or a copy of a batch to the device.
static void launches_job(struct job *j, bool has_calls, bool has_copies)
{
    enum { LAUNCHES = 40 };
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        synth_step(&j->s, MAIN, (double)k * 5000, 4900, k);
        for (int64_t i = 0; i < LAUNCHES; i++) {
            double at = (double)k * 5000 + (double)i * 100;
            synth_launch(&j->s, MAIN, at, 6, SGEMM, at + 8, 10, STREAM);
            if (has_calls) {
                synth_host(&j->s, MAIN, at + 30, 1, "cudaFuncSetAttribute", STK_KIND_RUNTIME);
                synth_launch_as(&j->s, MAIN, at + 50, 2, "cudaMemsetAsync", "Memset (Device)",
                                at + 55, 1, STREAM, STK_KIND_MEMSET, STK_DIR_UNKNOWN,
                                STK_MEM_UNKNOWN);
            }
            if (has_copies) {
                synth_launch_as(&j->s, MAIN, at + 50, 2, "cudaMemcpyAsync",
                                "Memcpy HtoD (Pinned -> Device)", at + 55, 1, STREAM,
                                STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
            }
        }
        synth_host(&j->s, MAIN, (double)k * 5000 + 4000, 100, "cudaDeviceSynchronize",
                   STK_KIND_RUNTIME);
    }
    summarize(j);
}

// What a graph holds does not end where an attribute is set or memory is; it does at a copy.
static void check_launch_graph(void)
{
    struct job j;
    launches_job(&j, false, false);
    double alone = price(&j, "launch-graph").expected;
    end(&j);
    launches_job(&j, true, false);
    double among_calls = price(&j, "launch-graph").expected;
    end(&j);
    launches_job(&j, false, true);
    double among_copies = price(&j, "launch-graph").expected;
    end(&j);
    CHECK(alone < 0.5);
    CHECK(near(among_calls, alone, 0.05));
    CHECK(among_copies > 0.9);
}

static void check_what_is_typed(void)
{
    struct stk_price_asked set;
    struct stoker_err err;
    static const char *const wrong[] = {"place=MatMul", "place=:device", "place=all:gpu",
                                        "batch=0",      "batch=two",     "launch-thread=2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        stk_err_init(&err);
        CHECK_EQ(stk_price_parse(wrong[i], &set, &err), STOKER_EUSAGE);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_launch_thread);
    CHECK_RUN(check_late_thread);
    CHECK_RUN(check_pool);
    CHECK_RUN(check_read_back);
    CHECK_RUN(check_graph_recording);
    CHECK_RUN(check_loss_scale_static);
    CHECK_RUN(check_place);
    CHECK_RUN(check_launch_graph);
    CHECK_RUN(check_batch);
    CHECK_RUN(check_profiler);
    CHECK_RUN(check_what_is_typed);
    return check_done("unit.whatif_fixes");
}
