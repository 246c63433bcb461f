// SPDX-License-Identifier: Apache-2.0
// XPlane profiles written here, field by field, and the traces that they must give.
#include <time.h>

#include "check.h"
#include "read_args.h"
#include "profile/store/names.h"
#include "xplane_writer.h"

static struct stk_trace *read_space(struct pb *space, int threads)
{
    struct stk_trace *t;
    struct stoker_err err;
    CHECK(read_xplane_bytes(space->p, space->n, threads, &t, &err) == STOKER_OK);
    if (!t) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    free(space->p);
    *space = (struct pb){0};
    return t;
}

static uint64_t issue(const struct stk_trace *t, enum stk_issue_id id)
{
    return t->issues[id].count;
}

// A GPU and its host as a recent TensorFlow or JAX writes them; ids far apart, one of them
// negative, and the maps behind the lines that use them.
static void put_gpu_and_host(struct pb *space)
{
    struct pb gpu = pb_plane("/device:GPU:3"), host = pb_plane("/host:CPU");
    struct pb line = pb_line(7, "Stream #7(Compute,MemcpyH2D)", 1000), e;
    e = pb_event(1, 5000, 2000);
    pb_stat_int(&e, 4, 1, 3, 41); // correlation id: uint64
    pb_stat_int(&e, 4, 5, 7, 6);  // kernel_details: reference
    pb_msg(&line, 4, &e);
    e = pb_event(-9, 10000, 3000);
    pb_stat_int(&e, 4, 1, 4, 42); // int64
    pb_stat_str(&e, 4, 1ll << 40, "kind_src:pageable kind_dst:device size:4096 dest:0 async:0");
    pb_msg(&line, 4, &e);
    e = pb_event(1ll << 50, 20000, 1000);
    pb_stat_str(&e, 4, 1, "43");         // text
    pb_stat_int(&e, 4, 1ll << 40, 7, 8); // details by reference, parted by newlines
    pb_msg(&line, 4, &e);
    e = pb_event(4, 30000, 1000);
    pb_stat_int(&e, 4, 1, 7, 9); // reference to a text that is a number
    pb_stat_str(&e, 4, 3, "kind:device num_bytes:64 async:1");
    pb_msg(&line, 4, &e);
    pb_msg(&gpu, 3, &line);
    pb_named(&gpu, 4, 1ll << 50, "MemcpyD2H");
    pb_named(&gpu, 4, 1, "gemm");
    pb_named(&gpu, 4, -9, "MemcpyH2D");
    pb_named(&gpu, 4, 4, "Memset 1");
    pb_named(&gpu, 5, 9, "44");
    pb_named(&gpu, 5, 1, "correlation_id");
    pb_named(&gpu, 5, 1ll << 40, "memcpy_details");
    pb_named(&gpu, 5, 3, "Memset_details");
    pb_named(&gpu, 5, 5, "kernel_details");
    pb_named(&gpu, 5, 6, "regs:38 grid:1,1,1");
    pb_named(&gpu, 5, 8, "kind_src:device\nkind_dst:pinned\nsize:128\ndest:0\nasync:1");
    pb_named(&gpu, 5, 11, "gpu_device_name");
    pb_named(&gpu, 5, 12, "core_count");
    pb_named(&gpu, 5, 13, "compute_cap_major");
    pb_named(&gpu, 5, 14, "memory_size");
    pb_stat_str(&gpu, 6, 11, "H100");
    pb_stat_int(&gpu, 6, 12, 4, 132);
    pb_stat_int(&gpu, 6, 13, 3, 9);
    pb_stat_int(&gpu, 6, 14, 3, 1ll << 36);

    line = pb_line(-6803497964841705189, "python", 1000);
    for (int i = 0; i < 4; i++) {
        e = pb_event(i == 1 ? 2 : 1, 1000 + i, 500);
        struct pb s = {0};
        if (i == 0) {
            pb_double(&s, 2, 41.0); // double, and in front of its id
            pb_int(&s, 1, 77);
            pb_msg(&e, 4, &s);
        } else {
            pb_stat_int(&e, 4, 77, 3, 41 + i);
        }
        pb_msg(&line, 4, &e);
    }
    pb_msg(&host, 3, &line);
    pb_named(&host, 4, 1, "cuLaunchKernel");
    pb_named(&host, 4, 2, "MemcpyH2D"); // on the host: the call
    pb_named(&host, 5, 77, "correlation_id");
    pb_msg(space, 1, &gpu);
    pb_msg(space, 1, &host);
    pb_str(space, 4, "worker-0");
}

static void gpu_and_host(void)
{
    struct pb space = {0};
    put_gpu_and_host(&space);
    struct stk_trace *t = read_space(&space, 2);
    CHECK_EQ(t->read, 8);
    CHECK_EQ(t->count, 8);
    CHECK_EQ(t->dropped, 0);
    CHECK_EQ(t->by_kind[STK_KIND_RUNTIME], 4);
    CHECK_EQ(t->by_kind[STK_KIND_KERNEL], 1);
    CHECK_EQ(t->by_kind[STK_KIND_MEMCPY], 2);
    CHECK_EQ(t->by_kind[STK_KIND_MEMSET], 1);
    CHECK_STR(text_of(t, t->host), "worker-0");
    CHECK_EQ(t->device_count, 1);
    CHECK_EQ(t->devices[0].ordinal, 3);
    CHECK_EQ(t->devices[0].sm_count, 132);
    CHECK_EQ(t->devices[0].cc_major, 9);
    CHECK_EQ(t->devices[0].memory_bytes, 1ll << 36);
    CHECK_STR(text_of(t, t->devices[0].name), "H100");
    CHECK_STR(text_of(t, t->devices[0].source_id), "/device:GPU:3");
    uint32_t kernel = find_event(t, "gemm", 0), h2d = STK_NONE, d2h = find_event(t, "MemcpyD2H", 0);
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->kind[i] == STK_KIND_MEMCPY && i != d2h) {
            h2d = i;
        }
    }
    CHECK(kernel != STK_NONE && h2d != STK_NONE && d2h != STK_NONE);
    CHECK(track_with(t, kernel)->kind == STK_TRACK_STREAM);
    CHECK_STR(text_of(t, track_with(t, kernel)->name), "Stream #7(Compute,MemcpyH2D)");
    for (uint32_t i = 0; i < t->count; i++) { // all eight found their partner
        CHECK(stk_link_of(t, i) != STK_NONE);
    }
    const struct stk_ext *x = stk_ext_of(t, h2d);
    CHECK_EQ(x->value, 4096);
    CHECK_EQ(x->src_mem, STK_MEM_PAGEABLE);
    CHECK_EQ(x->dst_mem, STK_MEM_DEVICE);
    CHECK_EQ(x->dir, STK_DIR_H2D);
    CHECK_EQ(x->flags, STK_EXT_VALUE | STK_EXT_SYNCHRONOUS);
    x = stk_ext_of(t, d2h);
    CHECK_EQ(x->value, 128);
    CHECK_EQ(x->dst_mem, STK_MEM_PINNED);
    CHECK_EQ(x->dir, STK_DIR_D2H);
    CHECK(x->flags & STK_EXT_ASYNC);
    x = stk_ext_of(t, find_event(t, "Memset 1", 0));
    CHECK(x && x->value == 64);
    // The file's times: a line at 1000 ns, an event 5 ns later.
    CHECK_EQ(t->start_ns[kernel] + t->base_ns, 1005);
    CHECK_EQ(stk_dur_ns(t, kernel), 2);
    stk_trace_free(t);
}

// Start and end are rounded half up, each by itself; what 64 bits cannot hold is dropped.
static void times(void)
{
    static const struct {
        int64_t base_ns, offset_ps, dur_ps, start_ns, dur_ns;
    } cases[] = {
        {10, 0, 0, 10, 0},
        {10, 499, 1, 10, 1},
        {10, 500, 499, 11, 0},
        {10, 1499, 1002, 11, 2},
        {10, -1, 0, 10, 0},
        {10, -500, 0, 10, 0},
        {10, -501, 1001, 9, 2},
        {0, 1500, 1000, 2, 1},
        {1700000000000000000, 98600000000500, 1, 1700000098600000001, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pb space = {0}, host = pb_plane("/host:CPU"),
                  line = pb_line(1, "t", cases[i].base_ns);
        struct pb e = pb_event(1, cases[i].offset_ps, cases[i].dur_ps);
        pb_msg(&line, 4, &e);
        pb_msg(&host, 3, &line);
        pb_msg(&space, 1, &host);
        struct stk_trace *t = read_space(&space, 1);
        CHECK_EQ(t->start_ns[0] + t->base_ns, cases[i].start_ns);
        CHECK_EQ(stk_dur_ns(t, 0), cases[i].dur_ns);
        stk_trace_free(t);
    }
    static const int64_t bad[][3] = {
        {INT64_MAX, 1000000, 0}, {0, INT64_MAX, 1}, {5, 0, -1}, {INT64_MIN, -1000000, 5}};
    struct pb space = {0}, host = pb_plane("/host:CPU"), e;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pb line = pb_line(1, "t", bad[i][0]);
        e = pb_event(1, bad[i][1], bad[i][2]);
        pb_msg(&line, 4, &e);
        pb_msg(&host, 3, &line);
    }
    struct pb line = pb_line(1, "t", 50);
    e = pb_event(1, 0, 1000);
    pb_msg(&line, 4, &e);
    pb_msg(&host, 3, &line);
    pb_msg(&space, 1, &host);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->read, 5);
    CHECK_EQ(t->count, 1);
    CHECK_EQ(t->dropped, 4);
    CHECK_EQ(issue(t, STK_ISSUE_TIME_INVALID) + issue(t, STK_ISSUE_DURATION_ABSURD), 4);
    CHECK_STR(text_of(t, t->name[0]), ""); // no metadata: no name, not an error
    stk_trace_free(t);
}

// What a thread's events are: steps, Python, allocator, markers, calls without a correlation id.
static void host_events(void)
{
    struct pb space = {0}, host = pb_plane("/host:CPU"), line = pb_line(5, "main", 100), e;
    e = pb_event(1, 0, 900000);
    pb_stat_int(&e, 4, 1, 3, 1);
    pb_stat_int(&e, 4, 2, 4, 17);
    pb_msg(&line, 4, &e);
    e = pb_event(2, 1000, 1000);
    pb_msg(&line, 4, &e);
    e = pb_event(3, 3000, 0);
    pb_stat_int(&e, 4, 4, 4, 100); // requested first, allocated counts
    pb_stat_int(&e, 4, 3, 4, 256);
    pb_msg(&line, 4, &e);
    for (int id = 4; id <= 7; id++) {
        e = pb_event(id, id * 1000, 100);
        if (id == 7) {
            pb_stat_int(&e, 4, 5, 4, 3);
        }
        pb_msg(&line, 4, &e);
    }
    struct pb many = {0}; // aggregated: counted, has no place
    pb_int(&many, 1, 2);
    pb_int(&many, 5, 12);
    pb_msg(&line, 4, &many);
    pb_msg(&host, 3, &line);
    line = pb_line(5, "main/NVTX", 100);
    e = pb_event(8, 500, 5000);
    pb_stat_int(&e, 4, 6, 3, 0); // a correlation id of 0 doesn't count
    pb_msg(&line, 4, &e);
    pb_msg(&host, 3, &line);
    static const char *const names[] = {"train",
                                        "$model.py:12 forward",
                                        "MemoryAllocation",
                                        "cuStreamSynchronize",
                                        "dense/MatMul:MatMul",
                                        "ThreadpoolListener::StartRegion",
                                        "stage",
                                        "my range"};
    for (int i = 0; i < 8; i++) {
        pb_named(&host, 4, i + 1, names[i]);
    }
    static const char *const stats[] = {
        "_r", "step_num", "allocation_bytes", "requested_bytes", "_ipl_stage_id", "correlation_id"};
    for (int i = 0; i < 6; i++) {
        pb_named(&host, 5, i + 1, stats[i]);
    }
    pb_msg(&space, 1, &host);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->read, 9);
    CHECK_EQ(t->count, 8);
    static const uint8_t kinds[] = {STK_KIND_ANNOTATION, STK_KIND_PYTHON,    STK_KIND_MEMORY,
                                    STK_KIND_RUNTIME,    STK_KIND_HOST_OP,   STK_KIND_OTHER,
                                    STK_KIND_INPUT,      STK_KIND_ANNOTATION};
    for (int i = 0; i < 8; i++) {
        uint32_t at = find_event(t, names[i], 0);
        CHECK(at != STK_NONE);
        CHECK_EQ(t->kind[at], kinds[i]);
    }
    const struct stk_ext *x = stk_ext_of(t, find_event(t, "train", 0));
    CHECK(x && x->flags == (STK_EXT_STEP | STK_EXT_VALUE) && x->value == 17);
    x = stk_ext_of(t, find_event(t, "MemoryAllocation", 0));
    CHECK(x && x->flags == STK_EXT_VALUE && x->value == 256);
    CHECK_EQ(t->track_count, 2); // ranges beside the thread they are named after
    stk_trace_free(t);
}

// Rows that are not work: by name, by id, old names and new, on an otherwise busy device.
static void derived_lines(void)
{
    static const struct {
        int64_t id;
        const char *name;
        enum stk_track_kind kind;
    } lines[] = {
        {-559038737, "Steps", STK_TRACK_DERIVED},
        {-559038734, "TensorFlow Ops", STK_TRACK_DERIVED},
        {-559038735, "Framework Name Scope", STK_TRACK_DERIVED},
        {-559038737 + 290, "MemcpyH2D", STK_TRACK_DERIVED},
        {77, "Framework Ops", STK_TRACK_DERIVED},
        {78, "XLA Ops", STK_TRACK_DERIVED}, // on a GPU it is derived
        {79, "Launch Stats", STK_TRACK_DERIVED},
        {80, "_counters_", STK_TRACK_COUNTER},
        {-559038737 + 6, "CUPTI overhead", STK_TRACK_OTHER},
        {82, "Stream #82(Compute,Overhead)", STK_TRACK_STREAM},
    };
    struct pb space = {0}, gpu = pb_plane("/device:GPU:0");
    size_t n = sizeof lines / sizeof lines[0];
    for (size_t i = 0; i < n; i++) {
        struct pb line = pb_line(lines[i].id, lines[i].name, 1), e = pb_event(1, 1000, 1000);
        pb_msg(&line, 4, &e);
        pb_msg(&gpu, 3, &line);
    }
    pb_named(&gpu, 4, 1, "op");
    pb_msg(&space, 1, &gpu);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->track_count, n);
    CHECK_EQ(t->by_kind[STK_KIND_KERNEL], 1);
    CHECK_EQ(t->by_kind[STK_KIND_OTHER], n - 1);
    CHECK_EQ(issue(t, STK_ISSUE_DERIVED_IGNORED), 7);
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < t->track_count; k++) {
            if (t->tracks[k].id == lines[i].id) {
                found = true;
                CHECK_EQ(t->tracks[k].kind, lines[i].kind);
            }
        }
        CHECK(found);
    }
    stk_trace_free(t);
}

// Waits recorded on a stream go to a row of their own; graphs are work.
static void streams(void)
{
    struct pb space = {0}, gpu = pb_plane("/device:GPU:0"), line = pb_line(7, "CUPTI overhead", 1),
              e; // what became of the stream's own name
    for (int id = 1; id <= 8; id++) {
        e = pb_event(id, id * 10000, 5000);
        if (id == 4) {
            pb_stat_int(&e, 4, 1, 4, 99); // a kernel inside a graph
        }
        pb_msg(&line, 4, &e);
    }
    pb_msg(&gpu, 3, &line);
    static const char *const names[] = {"cuStreamWaitEvent",
                                        "CudaGraphExec:12",
                                        "UM_GPU_PAGE_FAULT",
                                        "gemm",
                                        "ncclDevKernel_AllReduce_Sum_f32",
                                        "MemcpyP2P",
                                        "BUFFER_FLUSH",
                                        "Memory device"};
    for (int i = 0; i < 8; i++) {
        pb_named(&gpu, 4, i + 1, names[i]);
    }
    pb_named(&gpu, 5, 1, "cuda_graph_id");
    pb_msg(&space, 1, &gpu);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->count, 8);
    uint32_t flush = find_event(t, names[6], 0), lives = find_event(t, names[7], 0);
    CHECK_EQ(t->kind[flush], STK_KIND_OTHER);
    CHECK_STR(text_of(t, track_with(t, flush)->name), "CUPTI overhead");
    CHECK_EQ(track_with(t, flush)->kind, STK_TRACK_OTHER);
    CHECK_EQ(t->kind[lives], STK_KIND_MEMORY);
    CHECK_EQ(track_with(t, lives)->kind, STK_TRACK_OTHER);
    uint32_t sync = find_event(t, names[0], 0), graph = find_event(t, names[1], 0),
             um = find_event(t, names[2], 0);
    CHECK_EQ(t->kind[sync], STK_KIND_SYNC);
    CHECK_EQ(track_with(t, sync)->kind, STK_TRACK_OTHER);
    CHECK_EQ(t->kind[graph], STK_KIND_KERNEL);
    CHECK_EQ(track_with(t, graph)->kind, STK_TRACK_STREAM);
    CHECK(stk_ext_of(t, graph) && stk_ext_of(t, graph)->flags & STK_EXT_GRAPH);
    CHECK_EQ(t->kind[um], STK_KIND_OTHER);
    uint32_t inside = find_event(t, names[3], 0);
    CHECK(stk_ext_of(t, inside) && stk_ext_of(t, inside)->flags & STK_EXT_GRAPH);
    CHECK_EQ(t->kind[find_event(t, names[4], 0)], STK_KIND_COLLECTIVE);
    CHECK_EQ(t->kind[find_event(t, names[5], 0)], STK_KIND_MEMCPY);
    stk_trace_free(t);
}

static void named_op(struct pb *plane, int64_t id, const char *display, const char *text,
                     const char *category)
{
    struct pb entry = {0}, meta = {0};
    pb_int(&meta, 1, id);
    pb_str(&meta, 2, text);
    pb_str(&meta, 4, display);
    if (category) {
        pb_stat_str(&meta, 5, 1, category);
    }
    pb_stat_int(&meta, 5, 2, 4, 1000 + id);
    pb_int(&entry, 1, id);
    pb_msg(&entry, 2, &meta);
    pb_msg(plane, 4, &entry);
}

static void tpu(void)
{
    static const struct {
        const char *display, *text, *category;
        uint8_t kind, waits, dir;
    } ops[] = {
        {"fusion.3", "%fusion.3 = f32[8] fusion(f32[8] %p)", "loop fusion", STK_KIND_KERNEL, 0, 0},
        {"copy-done",
         "%copy-done = f32[8]{0:T(8)} copy-done((f32[8]{0:T(8)}, f32[8]{0:T(8)S(5)}, u32[]{:S(2)}) "
         "%copy-start)",
         "copy-done", STK_KIND_KERNEL, 1, STK_DIR_H2D},
        {"copy-done.1",
         "%copy-done.1 = f32[8]{0:S(5)} copy-done((f32[8]{0:S(5)}, f32[8]{0}, u32[]{:S(2)}) "
         "%copy-start.1)",
         NULL, STK_KIND_KERNEL, 1, STK_DIR_D2H},
        {"copy-done.2",
         "%copy-done.2 = f32[8]{0:S(1)} copy-done((f32[8]{0:S(1)}, f32[8]{0}, u32[]{:S(2)}) "
         "%copy-start.2)",
         NULL, STK_KIND_KERNEL, 1, STK_DIR_D2D},
        {"infeed.7", "%infeed.7 = infeed()", NULL, STK_KIND_KERNEL, 1, STK_DIR_H2D},
        {"outfeed.1", "%outfeed.1 = outfeed()", "outfeed", STK_KIND_KERNEL, 1, STK_DIR_D2H},
        {"recv-done.4", "%recv-done.4 = recv-done(), is_host_transfer=true", NULL, STK_KIND_KERNEL,
         1, STK_DIR_H2D},
        {"send-done.4", "%send-done.4 = send-done()", NULL, STK_KIND_KERNEL, 1, STK_DIR_P2P},
        {"while.2", "%while.2 = while()", "while", STK_KIND_OTHER, 0, 0},
        {"copy-start.1", "%copy-start.1 = copy-start()", "copy-start", STK_KIND_KERNEL, 0, 0},
    };
    size_t n = sizeof ops / sizeof ops[0];
    struct pb space = {0}, plane = pb_plane("/device:TPU:2"), e;
    static const char *const lines[] = {"XLA Ops", "XLA Modules", "Async XLA Ops", "XLA TraceMe",
                                        "Steps"};
    for (int l = 0; l < 5; l++) {
        struct pb line = {0}; // device lines have no time base
        pb_int(&line, 1, 3 + l);
        pb_str(&line, 2, lines[l]);
        for (size_t i = 0; i < (l == 0 ? n : 1); i++) {
            e = pb_event((int64_t)i + 1, (int64_t)i * 10000, 10000);
            pb_msg(&line, 4, &e);
        }
        pb_msg(&plane, 3, &line);
    }
    for (size_t i = 0; i < n; i++) {
        named_op(&plane, (int64_t)i + 1, ops[i].display, ops[i].text, ops[i].category);
    }
    pb_named(&plane, 5, 1, "hlo_category");
    pb_named(&plane, 5, 2, "raw_bytes_accessed");
    pb_named(&plane, 5, 3, "device_type_string");
    pb_stat_str(&plane, 6, 3, "TPU v6 Lite");
    pb_msg(&space, 1, &plane);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->read, n + 4);
    CHECK_EQ(t->device_count, 1);
    CHECK_EQ(t->devices[0].kind, STK_DEVICE_TPU);
    CHECK_STR(text_of(t, t->devices[0].name), "TPU v6 Lite");
    for (uint32_t k = 0; k < t->track_count; k++) {
        CHECK((t->tracks[k].kind == STK_TRACK_STREAM) ==
              (strcmp(text_of(t, t->tracks[k].name), "XLA Ops") == 0));
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t at = STK_NONE;
        for (uint32_t k = 0; k < t->count; k++) {
            if (track_with(t, k)->kind == STK_TRACK_STREAM &&
                strcmp(text_of(t, t->name[k]), ops[i].display) == 0) {
                at = k;
            }
        }
        CHECK(at != STK_NONE);
        CHECK_EQ(t->kind[at], ops[i].kind);
        const struct stk_ext *x = stk_ext_of(t, at);
        CHECK_EQ(x && x->flags & STK_EXT_WAITS, ops[i].waits);
        if (x) {
            CHECK_EQ(x->dir, ops[i].dir);
            CHECK_EQ(x->value, 1001 + (int64_t)i);
        }
    }
    stk_trace_free(t);
}

// Planes of no known device, facts, the profiler's own words, fields from the future.
static void other_planes(void)
{
    static const char *const names[] = {"/device:CUSTOM:xpu:1", "/device:CUSTOM:MOSAIC:0",
                                        "#Chip 0 TPU Non-Core", "Syscalls",
                                        "/device:NPU:0",        "/device:NPU:x"};
    struct pb space = {0}, plane, line, e;
    for (int i = 0; i < 6; i++) {
        plane = pb_plane(names[i]);
        line = pb_line(1, "row", 1000);
        e = pb_event(1, 0, 1000);
        pb_int(&e, 77, 5); // unknown fields everywhere
        pb_msg(&line, 4, &e);
        pb_str(&line, 33, "?");
        pb_msg(&plane, 3, &line);
        pb_double(&plane, 99, 1);
        pb_msg(&space, 1, &plane);
    }
    plane = pb_plane("Task Environment");
    pb_named(&plane, 5, 1, "profile_start_time");
    pb_stat_int(&plane, 6, 1, 3, 1771595660705918620);
    pb_msg(&space, 1, &plane);
    plane = pb_plane("/host:metadata");
    pb_named(&plane, 5, 4, "jax_version");
    pb_stat_str(&plane, 6, 4, "0.10.2");
    pb_msg(&space, 1, &plane);
    pb_str(&space, 2, "no devices");
    pb_str(&space, 3, "3 GPU events were dropped on the host");
    pb_str(&space, 3, "something else");
    pb_int(&space, 50, 3);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->read, 6);
    CHECK_EQ(t->count, 6);
    CHECK_EQ(t->by_kind[STK_KIND_OTHER], 6);
    CHECK_EQ(t->device_count, 3);
    for (uint32_t i = 0; i < t->device_count; i++) {
        CHECK_EQ(t->devices[i].kind, STK_DEVICE_OTHER);
    }
    CHECK_EQ(t->track_count, 6);
    CHECK_EQ(issue(t, STK_ISSUE_UNKNOWN_ACCELERATOR), 3);
    CHECK_EQ(issue(t, STK_ISSUE_PROFILER_ERROR), 1);
    CHECK_EQ(issue(t, STK_ISSUE_PROFILER_WARNING), 2);
    CHECK_EQ(issue(t, STK_ISSUE_EVENTS_DROPPED), 1);
    CHECK_STR(text_of(t, t->issues[STK_ISSUE_EVENTS_DROPPED].note),
              "3 GPU events were dropped on the host");
    CHECK_STR(text_of(t, t->producer), "JAX 0.10.2");
    CHECK(t->framework_hint & 1u << STK_FW_JAX);
    CHECK_EQ(t->base_ns, 1771595660705918620 + 1000);
    stk_trace_free(t);
}

// A writer that puts a line's name, id and time base after its events.
static void late_header(void)
{
    struct pb space = {0}, plane = pb_plane("/device:GPU:0"), line = {0};
    struct pb e = pb_event(1, 2000, 3000);
    pb_msg(&line, 4, &e);
    pb_int(&line, 3, 700);
    pb_str(&line, 2, "Stream #5(Compute)");
    pb_int(&line, 1, 5);
    pb_msg(&plane, 3, &line);
    pb_named(&plane, 4, 1, "k");
    pb_msg(&space, 1, &plane);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->count, 1);
    CHECK_EQ(t->start_ns[0] + t->base_ns, 702);
    CHECK_EQ(t->tracks[0].id, 5);
    CHECK_STR(text_of(t, t->tracks[0].name), "Stream #5(Compute)");
    stk_trace_free(t);
}

// Stats of the metadata hold for every event, those of the event win.
static void metadata_defaults(void)
{
    struct pb space = {0}, plane = pb_plane("/host:CPU"), line = pb_line(1, "t", 0), entry = {0},
              meta = {0};
    struct pb e = pb_event(1, 0, 1000);
    pb_msg(&line, 4, &e);
    e = pb_event(1, 5000, 1000);
    pb_stat_int(&e, 4, 1, 4, 9);
    pb_msg(&line, 4, &e);
    pb_msg(&plane, 3, &line);
    pb_str(&meta, 2, "train");
    pb_stat_int(&meta, 5, 1, 4, 8);
    pb_int(&entry, 1, 1);
    pb_msg(&entry, 2, &meta);
    pb_msg(&plane, 4, &entry);
    pb_named(&plane, 5, 1, "step_num");
    pb_msg(&space, 1, &plane);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->count, 2);
    CHECK(stk_ext_of(t, 0) && stk_ext_of(t, 0)->value == 8);
    CHECK(stk_ext_of(t, 1) && stk_ext_of(t, 1)->value == 9);
    stk_trace_free(t);
}

struct said {
    char text[600];
    int count;
};
static void note_arg(void *arg, struct stk_str key, struct stk_str value)
{
    struct said *s = arg;
    size_t n = strlen(s->text);
    s->count++;
    snprintf(s->text + n, sizeof s->text - n, "%.*s=%.*s;", (int)key.n, key.p, (int)value.n,
             value.p);
}

static void arguments(void)
{
    struct pb space = {0}, first = pb_plane("/host:CPU"), plane = pb_plane("/device:GPU:0");
    struct pb line = pb_line(1, "Stream #1(Compute)", 5), e = pb_event(1, 0, 10), s = {0};
    pb_named(&first, 5, 1, "wrong plane");
    pb_msg(&space, 1, &first);
    pb_stat_int(&e, 4, 1, 3, -1);
    pb_stat_int(&e, 4, 2, 4, -5);
    pb_int(&s, 1, 3);
    pb_double(&s, 2, 0.25);
    pb_msg(&e, 4, &s);
    pb_stat_int(&e, 4, 4, 7, 5);
    pb_stat_str(&e, 4, 6, "b c");
    pb_msg(&line, 4, &e);
    pb_msg(&plane, 3, &line);
    static const char *const names[] = {"u", "i", "d", "r", "interned", "s"};
    for (int i = 0; i < 6; i++) {
        pb_named(&plane, 5, i + 1, names[i]);
    }
    pb_named(&plane, 4, 1, "kernel");
    pb_msg(&space, 1, &plane);
    const char *path = file_of(space.p, space.n);
    struct stk_trace *t;
    struct stoker_err err;
    struct stk_stream *stream = NULL;
    struct said said = {0};
    CHECK(read_xplane_file(path, 1, &t, &err) == STOKER_OK);
    CHECK(stk_stream_open(&stream, path, &(struct stk_stream_opts){.seekable = 1}, &err) ==
          STOKER_OK);
    CHECK(read_args(&stk_reader_xplane, stream, path, t, 0, note_arg, &said, &err) == STOKER_OK);
    CHECK_STR(said.text, "u=18446744073709551615;i=-5;d=0.25;r=interned;s=b c;");
    stk_stream_close(stream);
    stk_trace_free(t);
    unlink(path);
    // The same from compressed input.
    struct pb z = pb_gzip(space.p, space.n);
    path = file_of(z.p, z.n);
    said = (struct said){0};
    CHECK(read_xplane_file(path, 1, &t, &err) == STOKER_OK);
    CHECK(stk_stream_open(&stream, path, &(struct stk_stream_opts){.seekable = 1}, &err) ==
          STOKER_OK);
    CHECK(read_args(&stk_reader_xplane, stream, path, t, 0, note_arg, &said, &err) == STOKER_OK);
    CHECK_EQ(said.count, 5);
    stk_stream_close(stream);
    stk_trace_free(t);
    unlink(path);
    free(z.p);
    free(space.p);
}

// Threads of one number in two planes are one track, whose events come from both in turn. The maps
// of each are read once: 40 000 times would take half a minute.
static void args_of_planes_in_turn(void)
{
    enum { NAMES = 10000, EVENTS = 20000 };
    struct pb space = {0};
    for (int k = 0; k < 2; k++) {
        struct pb plane = pb_plane("/host:CPU"), line = pb_line(1, "main", 5);
        char name[32];
        for (int i = 0; i < NAMES; i++) {
            snprintf(name, sizeof name, "%s %d", k ? "odd" : "even", i);
            pb_named(&plane, 5, i + 1, name);
        }
        pb_named(&plane, 4, 1, "op");
        for (int i = 0; i < EVENTS; i++) {
            struct pb e = pb_event(1, (2 * i + k) * INT64_C(1000000), 1000);
            pb_stat_int(&e, 4, 1 + i % NAMES, 4, i);
            pb_msg(&line, 4, &e);
        }
        pb_msg(&plane, 3, &line);
        pb_msg(&space, 1, &plane);
    }
    const char *path = file_of(space.p, space.n);
    struct stk_trace *t;
    struct stoker_err err;
    struct stk_stream *stream = NULL;
    void *state = NULL;
    CHECK(read_xplane_file(path, 1, &t, &err) == STOKER_OK);
    CHECK(t->count == 2 * EVENTS && t->track_count == 1);
    CHECK(stk_stream_open(&stream, path, &(struct stk_stream_opts){.seekable = 1}, &err) ==
          STOKER_OK);
    CHECK(stk_reader_xplane.args_open(stream, path, &state, &err) == STOKER_OK);
    clock_t begin = clock();
    uint32_t good = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        struct said said = {0};
        char text[64];
        snprintf(text, sizeof text, "%s %u=%u;", i % 2 ? "odd" : "even", i / 2 % NAMES, i / 2);
        good += stk_reader_xplane.args_next(state, t, i, note_arg, &said, &err) == STOKER_OK &&
                strcmp(said.text, text) == 0;
    }
    CHECK_EQ(good, t->count);
    CHECK(clock() - begin < 10 * CLOCKS_PER_SEC);
    stk_reader_xplane.args_close(state);
    stk_stream_close(stream);
    stk_trace_free(t);
    unlink(path);
    free(space.p);
}

// Nothing recorded is a profile too.
static void empty_space(void)
{
    struct pb space = {0}, plane = pb_plane("/host:CPU");
    pb_msg(&space, 1, &plane);
    struct stk_trace *t = read_space(&space, 1);
    CHECK_EQ(t->read, 0);
    stk_trace_free(t);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(gpu_and_host);
    CHECK_RUN(times);
    CHECK_RUN(host_events);
    CHECK_RUN(derived_lines);
    CHECK_RUN(streams);
    CHECK_RUN(tpu);
    CHECK_RUN(other_planes);
    CHECK_RUN(late_header);
    CHECK_RUN(metadata_defaults);
    CHECK_RUN(arguments);
    CHECK_RUN(args_of_planes_in_turn);
    CHECK_RUN(empty_space);
    return check_done("unit.xplane_read");
}
