// SPDX-License-Identifier: Apache-2.0
// stoker_bench_replay [EVENTS]: makes a trace in memory with about that many events (5 million),
// builds the graph of its steps and replays it, and prints one line of JSON: events, nodes, bytes
// per node, seconds for the graph, for one replay, for everything before the first estimate (the
// gate and the base: five replays) and for one what-if (three replays), peak resident memory.
//
// A step has KERNELS kernels, each with its launch call and the operator around it, a fetch, a copy
// on a separate stream that kernels wait for, and a value that is read back. These times don't
// include reading a file or the diagnosis: bench/run and bench/stats measure them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "profile/model/summary.h"
#include "answers/replay/price.h"
#include "profile/store/build.h"

#define KERNELS 1000
#define STEP_NS INT64_C(12000000)
#define KERNEL_NS 10000
#define EVENTS_OF_STEP (3 * KERNELS + 7)

struct make {
    struct stk_build *build;
    struct stk_shard *shard;
    uint32_t thread, compute, copy; // tracks
    int64_t corr;
};

static double graph_s; // of building the graph, within the summary

static void fail(const char *what)
{
    fprintf(stderr, "stoker_bench_replay: %s\n", what);
    exit(1);
}

static double now(void)
{
    return stk_clock_seconds(CLOCK_MONOTONIC);
}

static void add(struct make *m, uint32_t track, int64_t start_ns, int64_t dur_ns, const char *name,
                enum stk_kind kind, const struct stk_row_ext *ext)
{
    struct stk_row row = {.start_ns = start_ns,
                          .dur_ns = dur_ns,
                          .track = track,
                          .kind = (uint8_t)kind,
                          .name = stk_shard_intern(m->shard, name, strlen(name))};
    stk_shard_add(m->shard, &row, ext);
}

static void launch(struct make *m, int64_t call_ns, const char *call, uint32_t stream,
                   int64_t start_ns, int64_t dur_ns, const char *op, enum stk_kind kind,
                   uint8_t dir)
{
    struct stk_row_ext ext = {.has_corr = true, .corr = ++m->corr};
    add(m, m->thread, call_ns, 4000, call, STK_KIND_RUNTIME, &ext);
    ext.dir = dir;
    ext.src_mem = dir == STK_DIR_D2H ? STK_MEM_DEVICE : STK_MEM_PINNED;
    ext.dst_mem = dir == STK_DIR_D2H ? STK_MEM_PINNED : STK_MEM_DEVICE;
    add(m, stream, start_ns, dur_ns, op, kind, &ext);
}

static void add_step(struct make *m, int64_t number)
{
    static const char *const kernels[] = {"ampere_sgemm_128x64_nn", "vectorized_elementwise_kernel",
                                          "ampere_bf16_s16816gemm", "cunn_SoftMaxForward"};
    struct stk_row_ext mark = {.value = number, .flags = STK_EXT_STEP | STK_EXT_VALUE};
    int64_t at = number * STEP_NS;
    char name[40];
    snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)number);
    add(m, m->thread, at, STEP_NS - 1000, name, STK_KIND_ANNOTATION, &mark);
    add(m, m->thread, at + 2000, 60000,
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", STK_KIND_HOST_OP, NULL);
    launch(m, at + 70000, "cudaMemcpyAsync", m->copy, at + 80000, 90000,
           "Memcpy HtoD (Pinned -> Device)", STK_KIND_MEMCPY, STK_DIR_H2D);
    for (int i = 0; i < KERNELS; i++) {
        int64_t call = at + 100000 + (int64_t)i * 11000, start = at + 180000 + (int64_t)i * 11000;
        add(m, m->thread, call - 3000, 8000, "aten::op", STK_KIND_HOST_OP, NULL);
        launch(m, call, "cudaLaunchKernel", m->compute, start, KERNEL_NS, kernels[i & 3],
               STK_KIND_KERNEL, STK_DIR_UNKNOWN);
    }
    int64_t end = at + 180000 + KERNELS * INT64_C(11000);
    launch(m, end - 60000, "cudaMemcpyAsync", m->compute, end + 1000, 2000,
           "Memcpy DtoH (Device -> Pinned)", STK_KIND_MEMCPY, STK_DIR_D2H);
    add(m, m->thread, end - 50000, 58000, "cudaStreamSynchronize", STK_KIND_RUNTIME, NULL);
}

static struct stk_trace *make_trace(uint64_t events, struct stoker_err *err)
{
    struct make m = {0};
    struct stk_trace *trace = NULL;
    struct stk_device_facts facts = {.source_id = STK_STR("0"), .name = STK_STR("NVIDIA A100")};
    if (stk_build_new(&m.build, err) != STOKER_OK || !(m.shard = stk_build_shard(m.build))) {
        fail("no memory");
    }
    stk_build_device(m.build, 1, 0, &facts);
    const struct stk_track_key thread = {STK_TRACK_THREAD, 1, -1, 1, {0}},
                               compute = {STK_TRACK_STREAM, 1, 0, 7, {0}},
                               copy = {STK_TRACK_STREAM, 1, 0, 13, {0}};
    m.thread = stk_shard_track(m.shard, &thread);
    m.compute = stk_shard_track(m.shard, &compute);
    m.copy = stk_shard_track(m.shard, &copy);
    for (int64_t k = 0; (uint64_t)k * EVENTS_OF_STEP < events; k++) {
        add_step(&m, k);
    }
    if (stk_build_finish(m.build, 2, &trace, err) != STOKER_OK) {
        fail(err->message);
    }
    stk_build_free(m.build);
    return trace;
}

static enum stoker_status see(const struct stk_analysis *a, struct stk_arena *arena, void **partial,
                              struct stoker_err *err)
{
    double start = now();
    enum stoker_status status = stk_replay_hook.see(a, arena, partial, err);
    graph_s += now() - start;
    return status;
}

static double replay_once(const struct stk_graph *g)
{
    struct stk_scene scene;
    struct stk_times times;
    double start = now();
    if (!stk_scene_init(&scene, g) || !stk_times_init(&times, g) ||
        !stk_replay_run(&scene, &times)) {
        fail("the replay");
    }
    stk_times_deinit(&times);
    stk_scene_deinit(&scene);
    return now() - start;
}

int main(int argc, char **argv)
{
    struct stoker_err err;
    struct stk_arena arena;
    struct stk_select select = {.has_steps = false};
    struct stk_view_hook hook = stk_replay_hook;
    struct stk_rank_sum **ranks = NULL;
    struct stk_run_sum *run = NULL;
    struct stk_pricing pricing;
    struct stk_price price;
    struct stk_price_asked fix;
    struct rusage usage;
    uint32_t rank_count = 0;
    stk_err_init(&err);
    stk_arena_init(&arena, 0);
    struct stk_trace *trace = make_trace(argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000, &err);
    hook.see = see;
    if (stk_model_summarize_with(trace, &select, &hook, 2, &arena, &ranks, &rank_count, &err) !=
            STOKER_OK ||
        stk_model_merge(ranks, rank_count, &arena, &run, &err) != STOKER_OK) {
        fail(err.message);
    }
    const struct stk_graph *g = ranks[0]->partial;
    double replay_s = replay_once(g), start = now();
    if (!stk_pricing_init(&pricing, run, &(struct stk_verdict){.kind = STK_VERDICT_HOST}, true,
                          &arena) ||
        !pricing.gate.ok) {
        fail("the gate");
    }
    double gate_s = now() - start;
    start = now();
    if (stk_price_parse("kernel-faster=2", &fix, &err) != STOKER_OK ||
        !stk_price_set(&pricing, &fix, 1, &price)) {
        fail("the price");
    }
    double price_s = now() - start;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"events\": %u, \"nodes\": %u, \"node_bytes\": %zu, \"steps\": %u, \"graph_s\": %.3f, "
           "\"replay_s\": %.3f, \"gate_s\": %.3f, \"price_s\": %.3f, \"peak_mb\": %.0f}\n",
           trace->count, g->node_count, sizeof *g->nodes, g->step_count, graph_s, replay_s, gate_s,
           price_s, (double)usage.ru_maxrss / 1000);
    stk_trace_free(trace);
    stk_arena_deinit(&arena);
    return 0;
}
