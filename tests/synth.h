// SPDX-License-Identifier: Apache-2.0
// Small traces for tests, written in microseconds:
//   struct synth s; synth_begin(&s);
//   synth_launch(&s, MAIN, 10, 2, "cudaLaunchKernel", "gemm", 15, 100, STREAM);
//   struct stk_rank_sum *r = synth_summarize(&s);  ...  synth_end(&s);
// Process 1 has threads; device 0 has streams. Kinds are given, names are those of the runtimes.
#ifndef STK_TESTS_SYNTH_H
#define STK_TESTS_SYNTH_H

#include "check.h"

#include "profile/model/summary.h"
#include "profile/store/build.h"

#define US INT64_C(1000)

struct synth {
    struct stk_build *build;
    struct stk_shard *shard;
    struct stk_trace *trace;
    struct stk_arena arena;
    struct stk_select select;
    int64_t corr, device;
    uint64_t pos; // of the next row in the file, which a test may set
    struct stk_rank_sum **ranks;
    uint32_t rank_count;
    struct stoker_err err;
};

static inline void synth_begin(struct synth *s)
{
    memset(s, 0, sizeof *s);
    stk_err_init(&s->err);
    stk_arena_init(&s->arena, 0);
    if (stk_build_new(&s->build, &s->err) != STOKER_OK) {
        exit(2);
    }
    s->shard = stk_build_shard(s->build);
    struct stk_device_facts facts = {.source_id = STK_STR("0"), .name = STK_STR("Test GPU")};
    stk_build_device(s->build, 1, 0, &facts);
}

static inline void synth_row(struct synth *s, const struct stk_track_key *key, double start_us,
                             double dur_us, const char *name, enum stk_kind kind,
                             const struct stk_row_ext *ext)
{
    struct stk_row row = {.start_ns = (int64_t)(start_us * 1000),
                          .dur_ns = (int64_t)(dur_us * 1000),
                          .pos = s->pos++,
                          .kind = (uint8_t)kind};
    row.name = stk_shard_intern(s->shard, name, strlen(name));
    row.track = stk_shard_track(s->shard, key);
    stk_shard_add(s->shard, &row, ext);
}

// An event of a host thread.
static inline void synth_host(struct synth *s, int64_t thread, double start_us, double dur_us,
                              const char *name, enum stk_kind kind)
{
    struct stk_track_key key = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = thread};
    synth_row(s, &key, start_us, dur_us, name, kind, NULL);
}

// A step marker.
static inline void synth_step(struct synth *s, int64_t thread, double start_us, double dur_us,
                              int64_t number)
{
    struct stk_track_key key = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = thread};
    struct stk_row_ext ext = {.value = number, .flags = STK_EXT_STEP | STK_EXT_VALUE};
    char name[40];
    snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)number);
    synth_row(s, &key, start_us, dur_us, name, STK_KIND_ANNOTATION, &ext);
}

// Device work without a launch row.
static inline void synth_device(struct synth *s, int64_t stream, double start_us, double dur_us,
                                const char *name, enum stk_kind kind, uint8_t dir, uint8_t host_mem)
{
    struct stk_track_key key = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = s->device, .id = stream};
    struct stk_row_ext ext = {.dir = dir, .src_mem = host_mem, .dst_mem = STK_MEM_DEVICE};
    synth_row(s, &key, start_us, dur_us, name, kind, kind == STK_KIND_MEMCPY ? &ext : NULL);
}

// A runtime call and the device work it starts.
static inline void synth_launch_as(struct synth *s, int64_t thread, double call_us,
                                   double call_dur_us, const char *call, const char *op,
                                   double start_us, double dur_us, int64_t stream,
                                   enum stk_kind kind, uint8_t dir, uint8_t host_mem)
{
    struct stk_track_key host = {
        .kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = thread};
    struct stk_track_key dev = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = s->device, .id = stream};
    struct stk_row_ext ext = {.has_corr = true, .corr = ++s->corr};
    synth_row(s, &host, call_us, call_dur_us, call, STK_KIND_RUNTIME, &ext);
    ext.dir = dir;
    ext.src_mem = dir == STK_DIR_D2H ? STK_MEM_DEVICE : host_mem;
    ext.dst_mem = dir == STK_DIR_D2H ? host_mem : STK_MEM_DEVICE;
    synth_row(s, &dev, start_us, dur_us, op, kind, &ext);
}

static inline void synth_launch(struct synth *s, int64_t thread, double call_us, double call_dur_us,
                                const char *kernel, double start_us, double dur_us, int64_t stream)
{
    synth_launch_as(s, thread, call_us, call_dur_us, "cudaLaunchKernel", kernel, start_us, dur_us,
                    stream, STK_KIND_KERNEL, STK_DIR_UNKNOWN, STK_MEM_UNKNOWN);
}

// A further operation of the call that was recorded last: that of a graph.
static inline void synth_of_graph(struct synth *s, const char *kernel, double start_us,
                                  double dur_us, int64_t stream)
{
    struct stk_track_key dev = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = s->device, .id = stream};
    struct stk_row_ext ext = {.has_corr = true, .corr = s->corr};
    synth_row(s, &dev, start_us, dur_us, kernel, STK_KIND_KERNEL, &ext);
}

// Build and summarize; the only rank, or NULL (checked).
static inline struct stk_rank_sum *synth_summarize(struct synth *s)
{
    CHECK_EQ(stk_build_finish(s->build, 1, &s->trace, &s->err), STOKER_OK);
    CHECK_EQ(
        stk_model_summarize(s->trace, &s->select, &s->arena, &s->ranks, &s->rank_count, &s->err),
        STOKER_OK);
    if (s->err.code != STOKER_OK) {
        fprintf(stderr, "%s\n", s->err.message);
    }
    CHECK(s->rank_count > 0);
    return s->rank_count ? s->ranks[0] : NULL;
}

static inline void synth_end(struct synth *s)
{
    stk_trace_free(s->trace);
    stk_build_free(s->build);
    stk_arena_deinit(&s->arena);
}

#endif
