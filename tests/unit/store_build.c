// SPDX-License-Identifier: Apache-2.0
// Building a trace: the resulting columns, tracks, links and issues for small inputs.
#include "base/alloc.h"
#include "check.h"
#include "profile/store/build_impl.h"

#define US 1000ll

// A small builder with one shard, one host thread and two streams.
struct rig {
    struct stk_build *b;
    struct stk_shard *s;
    uint32_t thread, stream, stream2;
    struct stk_trace *t;
    struct stoker_err err;
};

static const struct stk_track_key thread_key = {STK_TRACK_THREAD, 10, -1, 77, {"", 0}};
static const struct stk_track_key stream_key = {STK_TRACK_STREAM, 10, 0, 7, {"", 0}};
static const struct stk_track_key stream2_key = {STK_TRACK_STREAM, 10, 0, 20, {"", 0}};

static struct rig rig_open(void)
{
    struct rig r = {0};
    stk_err_init(&r.err);
    if (stk_build_new(&r.b, &r.err) != STOKER_OK || !(r.s = stk_build_shard(r.b))) {
        abort();
    }
    r.thread = stk_shard_track(r.s, &thread_key);
    r.stream = stk_shard_track(r.s, &stream_key);
    r.stream2 = stk_shard_track(r.s, &stream2_key);
    return r;
}

static void add(struct rig *r, uint32_t track, const char *name, int64_t start, int64_t dur,
                uint8_t kind)
{
    static uint64_t pos;
    struct stk_row row = {.start_ns = start,
                          .dur_ns = dur,
                          .pos = pos++,
                          .track = track,
                          .name = stk_shard_intern(r->s, name, strlen(name)),
                          .kind = kind};
    stk_shard_add(r->s, &row, NULL);
}

static void add_corr(struct rig *r, uint32_t track, const char *name, int64_t start, int64_t dur,
                     uint8_t kind, int64_t corr)
{
    struct stk_row row = {.start_ns = start,
                          .dur_ns = dur,
                          .track = track,
                          .name = stk_shard_intern(r->s, name, strlen(name)),
                          .kind = kind};
    struct stk_row_ext ext = {.has_corr = true, .corr = corr};
    stk_shard_add(r->s, &row, &ext);
}

static void rig_finish(struct rig *r)
{
    CHECK_EQ(stk_build_finish(r->b, 2, &r->t, &r->err), STOKER_OK);
    if (!r->t) {
        abort();
    }
}

static void rig_close(struct rig *r)
{
    stk_trace_free(r->t);
    stk_build_free(r->b);
}

static const char *name_of(const struct stk_trace *t, uint32_t event)
{
    return stk_name_of(t, event).p;
}

// Event of that name; the test's names are unique where it asks.
static uint32_t find(const struct stk_trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (strcmp(name_of(t, i), name) == 0) {
            return i;
        }
    }
    return STK_NONE;
}

static void test_empty(void)
{
    struct rig r = rig_open();
    rig_finish(&r);
    CHECK_EQ(r.t->count, 0);
    CHECK_EQ(r.t->track_count, 0);
    CHECK_EQ(r.t->process_count, 0);
    CHECK_EQ(r.t->device_count, 0);
    CHECK_EQ(stk_track_of(r.t, 0), STK_NONE);
    rig_close(&r);
}

static void test_no_shards(void)
{
    struct stk_build *b;
    struct stk_trace *t;
    CHECK_EQ(stk_build_new(&b, NULL), STOKER_OK);
    CHECK_EQ(stk_build_finish(b, 1, &t, NULL), STOKER_OK);
    CHECK(t && t->count == 0);
    stk_trace_free(t);
    stk_build_free(b);
}

static void test_order_and_depth(void)
{
    struct rig r = rig_open();
    add(&r, r.thread, "late", 1000900, 5, STK_KIND_HOST_OP);
    add(&r, r.thread, "child", 1000100, 50, STK_KIND_HOST_OP);
    add(&r, r.thread, "grandchild", 1000110, 40, STK_KIND_HOST_OP);
    add(&r, r.thread, "parent", 1000100, 500, STK_KIND_HOST_OP);
    add(&r, r.thread, "instant", 1000150, 0, STK_KIND_OTHER); // where grandchild and child end
    add(&r, r.thread, "follower", 1000150, 20, STK_KIND_HOST_OP);
    rig_finish(&r);
    static const char *const names[] = {"parent",   "child",   "grandchild",
                                        "follower", "instant", "late"};
    static const int depths[] = {0, 1, 2, 1, 2, 0};
    CHECK_EQ(r.t->count, 6);
    for (uint32_t i = 0; i < r.t->count && i < 6; i++) {
        CHECK_STR(name_of(r.t, i), names[i]);
        CHECK_EQ(r.t->depth[i], depths[i]);
    }
    CHECK_EQ(r.t->base_ns, 1000100);
    CHECK_EQ(r.t->start_ns[0], 0);
    CHECK_EQ(r.t->start_ns[5], 800);
    CHECK_EQ(stk_end_ns(r.t, 0), 500);
    CHECK_EQ(r.t->track_count, 1);
    CHECK_EQ(r.t->issues[STK_ISSUE_OVERLAP_SUBROW].count, 0);
    CHECK_EQ(r.t->read, 6);
    CHECK_EQ(r.t->by_kind[STK_KIND_HOST_OP], 5);
    CHECK_EQ(r.t->by_kind[STK_KIND_OTHER], 1);
    rig_close(&r);
}

static void test_equal_times_keep_file_order(void)
{
    struct rig r = rig_open();
    add(&r, r.thread, "b", 100, 10, STK_KIND_HOST_OP);
    add(&r, r.thread, "a", 100, 10, STK_KIND_HOST_OP);
    add(&r, r.thread, "first", 50, 10, STK_KIND_HOST_OP); // makes it unsorted
    rig_finish(&r);
    CHECK_STR(name_of(r.t, 0), "first");
    CHECK_STR(name_of(r.t, 1), "b");
    CHECK_STR(name_of(r.t, 2), "a");
    CHECK_EQ(r.t->depth[1], 0);
    CHECK_EQ(r.t->depth[2], 1);
    rig_close(&r);
}

static void test_sub_rows(void)
{
    struct rig r = rig_open();
    add(&r, r.thread, "a", 0, 100, STK_KIND_HOST_OP);
    add(&r, r.thread, "b", 50, 100, STK_KIND_HOST_OP);  // leaves a: sub-row 1
    add(&r, r.thread, "c", 60, 100, STK_KIND_HOST_OP);  // leaves b too: sub-row 2
    add(&r, r.thread, "d", 70, 10, STK_KIND_HOST_OP);   // inside a
    add(&r, r.thread, "e", 120, 100, STK_KIND_HOST_OP); // a has ended
    rig_finish(&r);
    const struct stk_trace *t = r.t;
    CHECK_EQ(t->track_count, 3);
    CHECK_EQ(t->issues[STK_ISSUE_OVERLAP_SUBROW].count, 2);
    CHECK_EQ(t->issues[STK_ISSUE_OVERLAP_SUBROW].events_lost, 0);
    CHECK_EQ(t->tracks[0].count, 3);
    CHECK_EQ(t->tracks[0].parent, STK_NONE);
    for (uint32_t i = 1; i < 3; i++) {
        CHECK_EQ(t->tracks[i].parent, 0);
        CHECK_EQ(t->tracks[i].count, 1);
        CHECK_EQ(t->tracks[i].id, 77);
    }
    CHECK_EQ(stk_track_of(t, find(t, "b")), 1);
    CHECK_EQ(stk_track_of(t, find(t, "c")), 2);
    CHECK_EQ(stk_track_of(t, find(t, "d")), 0);
    CHECK_EQ(t->depth[find(t, "d")], 1);
    CHECK_EQ(t->depth[find(t, "b")], 0);
    CHECK_EQ(t->dropped, 0);
    rig_close(&r);
}

// A staircase in which everything overlaps everything: more sub-rows than keep a stack.
static void test_many_sub_rows(void)
{
    struct rig r = rig_open();
    int n = 500;
    for (int i = 0; i < n; i++) {
        add(&r, r.thread, "step", i, 1000, STK_KIND_HOST_OP);
    }
    add(&r, r.thread, "after", 5000, 10, STK_KIND_HOST_OP);
    rig_finish(&r);
    CHECK_EQ(r.t->count, n + 1);
    CHECK_EQ(r.t->track_count, n);
    CHECK_EQ(r.t->issues[STK_ISSUE_OVERLAP_SUBROW].count, n - 1);
    CHECK_EQ(stk_track_of(r.t, find(r.t, "after")), 0);
    rig_close(&r);
}

static void test_long_durations(void)
{
    struct rig r = rig_open();
    int64_t hour = 3600ll * 1000000000ll;
    add(&r, r.thread, "inner", 10, hour, STK_KIND_HOST_OP);
    add(&r, r.thread, "inner2", 10 + hour, 7, STK_KIND_HOST_OP);
    add(&r, r.thread, "outer", 10, 2 * hour, STK_KIND_HOST_OP); // unsorted: must lead
    add(&r, r.thread, "limit", 20 + hour, UINT32_MAX, STK_KIND_HOST_OP);
    add(&r, r.thread, "below", 20 + hour, UINT32_MAX - 1ll, STK_KIND_HOST_OP);
    add(&r, r.stream, "kernel", 500, hour, STK_KIND_KERNEL);
    rig_finish(&r);
    CHECK_EQ(find(r.t, "outer"), 0);
    CHECK_EQ(stk_dur_ns(r.t, find(r.t, "outer")), 2 * hour);
    CHECK_EQ(stk_dur_ns(r.t, find(r.t, "inner")), hour);
    CHECK_EQ(stk_dur_ns(r.t, find(r.t, "inner2")), 7);
    CHECK_EQ(stk_dur_ns(r.t, find(r.t, "limit")), UINT32_MAX);
    CHECK_EQ(stk_dur_ns(r.t, find(r.t, "below")), UINT32_MAX - 1ll);
    CHECK_EQ(stk_dur_ns(r.t, find(r.t, "kernel")), hour);
    CHECK_EQ(r.t->long_dur_count, 4);
    CHECK_EQ(r.t->depth[find(r.t, "below")], 2);
    rig_close(&r);
}

static void test_links(void)
{
    struct rig r = rig_open();
    add_corr(&r, r.thread, "cudaLaunchKernel", 1000, 10, STK_KIND_RUNTIME, 5);
    add_corr(&r, r.thread, "cudaGraphLaunch", 2000, 10, STK_KIND_RUNTIME, 6);
    add_corr(&r, r.thread, "cudaMemcpyAsync", 3000, 10, STK_KIND_RUNTIME, 99);
    add_corr(&r, r.thread, "cudaEventRecord", 3100, 10, STK_KIND_RUNTIME, 98);
    add_corr(&r, r.stream, "kernel5", 1500, 10, STK_KIND_KERNEL, 5);
    add_corr(&r, r.stream, "graph1", 2500, 10, STK_KIND_KERNEL, 6);
    add_corr(&r, r.stream, "graph3", 2700, 10, STK_KIND_KERNEL, 6);
    add_corr(&r, r.stream2, "graph0", 2400, 10, STK_KIND_KERNEL, 6);
    add_corr(&r, r.stream2, "graph2", 2600, 10, STK_KIND_MEMSET, 6);
    add_corr(&r, r.stream2, "orphan", 2900, 10, STK_KIND_KERNEL, 7);
    add(&r, r.stream2, "unnumbered", 2950, 10, STK_KIND_KERNEL);
    add_corr(&r, r.stream2, "marker", 2960, 10, STK_KIND_SYNC, 5);
    rig_finish(&r);
    const struct stk_trace *t = r.t;
    uint32_t launch = find(t, "cudaLaunchKernel"), graph = find(t, "cudaGraphLaunch");
    CHECK_EQ(stk_link_of(t, launch), find(t, "kernel5"));
    CHECK_EQ(stk_link_of(t, find(t, "kernel5")), launch);
    static const char *const chain[] = {"graph0", "graph1", "graph2", "graph3"};
    uint32_t op = stk_link_of(t, graph);
    for (int i = 0; i < 4; i++) {
        CHECK(op != STK_NONE);
        if (op == STK_NONE) {
            break;
        }
        CHECK_STR(name_of(t, op), chain[i]);
        CHECK_EQ(stk_link_of(t, op), graph);
        op = stk_ext_of(t, op)->next;
    }
    CHECK_EQ(op, STK_NONE);
    CHECK_EQ(stk_link_of(t, find(t, "orphan")), STK_NONE);
    CHECK_EQ(stk_link_of(t, find(t, "unnumbered")), STK_NONE);
    CHECK(stk_ext_of(t, launch) == NULL);
    CHECK_EQ(stk_ext_of(t, find(t, "orphan"))->flags, 0);
    CHECK_EQ(t->issues[STK_ISSUE_NO_LAUNCH_ROW].count, 2);
    CHECK_EQ(t->issues[STK_ISSUE_LAUNCH_WITHOUT_WORK].count, 1);
    CHECK_EQ(t->issues[STK_ISSUE_CLOCK_SKEW].count, 0);
    rig_close(&r);
}

static void test_links_per_process(void)
{
    struct rig r = rig_open();
    struct stk_track_key thread_b = thread_key, stream_b = stream_key;
    thread_b.process = stream_b.process = 11;
    uint32_t other_thread = stk_shard_track(r.s, &thread_b);
    uint32_t other_stream = stk_shard_track(r.s, &stream_b);
    add_corr(&r, r.thread, "cudaLaunchKernel", 1000, 10, STK_KIND_RUNTIME, 5);
    add_corr(&r, other_thread, "cuLaunchKernel", 1100, 10, STK_KIND_RUNTIME, 5);
    add_corr(&r, r.stream, "mine", 1500, 10, STK_KIND_KERNEL, 5);
    add_corr(&r, other_stream, "theirs", 1090, 10, STK_KIND_KERNEL, 5);
    rig_finish(&r);
    const struct stk_trace *t = r.t;
    CHECK_EQ(stk_link_of(t, find(t, "cudaLaunchKernel")), find(t, "mine"));
    CHECK_EQ(stk_link_of(t, find(t, "theirs")), find(t, "cuLaunchKernel"));
    CHECK_EQ(t->issues[STK_ISSUE_CLOCK_SKEW].count, 1);
    CHECK_EQ(t->process_count, 2);
    CHECK_EQ(t->device_count, 2);
    CHECK_EQ(t->devices[1].process, 1);
    rig_close(&r);
}

static void test_duplicate_calls(void)
{
    struct rig r = rig_open();
    add_corr(&r, r.thread, "cudaStreamIsCapturing", 900, 10, STK_KIND_RUNTIME, 5);
    add_corr(&r, r.thread, "cudaLaunchKernel", 1000, 30, STK_KIND_RUNTIME, 5);
    add_corr(&r, r.thread, "cuLaunchKernel", 1010, 10, STK_KIND_RUNTIME, 5);
    add_corr(&r, r.stream, "kernel", 1500, 10, STK_KIND_KERNEL, 5);
    rig_finish(&r);
    CHECK_EQ(stk_link_of(r.t, find(r.t, "kernel")), find(r.t, "cudaLaunchKernel"));
    CHECK_EQ(stk_link_of(r.t, find(r.t, "cuLaunchKernel")), STK_NONE);
    CHECK_EQ(stk_link_of(r.t, find(r.t, "cudaStreamIsCapturing")), STK_NONE);
    CHECK_EQ(r.t->issues[STK_ISSUE_LAUNCH_WITHOUT_WORK].count, 0);
    rig_close(&r);
}

static void test_impossible_rows(void)
{
    struct rig r = rig_open();
    int64_t epoch = 1700000000000000000ll;
    add(&r, r.thread, "good", epoch, 10, STK_KIND_HOST_OP);
    add(&r, r.thread, "good", epoch + 100, 10, STK_KIND_HOST_OP);
    add(&r, r.thread, "good", epoch + 200, 10, STK_KIND_HOST_OP);
    add(&r, r.thread, "negative", epoch, -1, STK_KIND_HOST_OP);
    add(&r, r.thread, "overflow", INT64_MAX - 5, 10, STK_KIND_HOST_OP);
    add(&r, r.thread, "week", epoch, STK_DUR_MAX_NS + 1, STK_KIND_KERNEL);
    add(&r, r.thread, "Record Window End", 0, 0, STK_KIND_OTHER);
    add(&r, r.stream, "Memcpy at the end of time", INT64_MAX - 10, 5, STK_KIND_UNSET);
    rig_finish(&r);
    CHECK_EQ(r.t->count, 3);
    CHECK_EQ(r.t->base_ns, epoch);
    CHECK_EQ(r.t->read, 8);
    CHECK_EQ(r.t->dropped, 5);
    CHECK_EQ(r.t->issues[STK_ISSUE_TIME_INVALID].count, 4);
    CHECK_EQ(r.t->issues[STK_ISSUE_TIME_INVALID].events_lost, 4);
    CHECK_EQ(r.t->issues[STK_ISSUE_DURATION_ABSURD].count, 1);
    CHECK_EQ(r.t->by_kind[STK_KIND_MEMCPY], 1);
    CHECK_EQ(r.t->by_kind[STK_KIND_KERNEL], 1);
    CHECK_EQ(r.t->device_count, 0);
    uint64_t kinds = 0;
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        kinds += r.t->by_kind[k];
    }
    CHECK_EQ(kinds, r.t->read);
    rig_close(&r);
}

// One record months away from a thousand others goes; hosts that disagree by days stay.
static void test_isolated_rows(void)
{
    struct rig r = rig_open();
    for (int i = 0; i < 1000; i++) {
        add(&r, r.thread, "good", 80 * STK_DAY_NS + i * US, 1, STK_KIND_HOST_OP);
    }
    add(&r, r.thread, "cudaEvent", 0, 1, STK_KIND_OTHER);
    rig_finish(&r);
    CHECK_EQ(r.t->count, 1000);
    CHECK_EQ(r.t->base_ns, 80 * STK_DAY_NS);
    rig_close(&r);

    r = rig_open();
    for (int i = 0; i < 1000; i++) {
        add(&r, i % 2 ? r.thread : r.stream, "good", i % 2 * 80 * STK_DAY_NS + i, 1,
            STK_KIND_HOST_OP);
    }
    rig_finish(&r);
    CHECK_EQ(r.t->count, 1000);
    CHECK_EQ(r.t->dropped, 0);
    rig_close(&r);
}

static void test_base_ignores_derived_rows(void)
{
    struct rig r = rig_open();
    struct stk_track_key derived = {STK_TRACK_DERIVED, 10, 0, 1, {"", 0}};
    struct stk_build_facts facts = {.format = "test",
                                    .rank = 3,
                                    .world_size = 8,
                                    .producer = STK_STR("maker"),
                                    .clock_base_ns = 1000000};
    stk_build_facts(r.b, &facts);
    add(&r, stk_shard_track(r.s, &derived), "Step", 400, 100, STK_KIND_UNSET);
    add(&r, r.thread, "op", 500, 100, STK_KIND_UNSET);
    rig_finish(&r);
    CHECK_EQ(r.t->base_ns, 1000500);
    CHECK_EQ(r.t->start_ns[find(r.t, "Step")], -100);
    CHECK_EQ(r.t->kind[find(r.t, "Step")], STK_KIND_OTHER);
    CHECK_EQ(r.t->kind[find(r.t, "op")], STK_KIND_HOST_OP);
    CHECK_EQ(r.t->rank, 3);
    CHECK_EQ(r.t->world_size, 8);
    CHECK_STR(stk_strpool_get(&r.t->strings, r.t->producer).p, "maker");
    rig_close(&r);
}

static void test_kinds(void)
{
    struct rig r = rig_open();
    add(&r, r.stream, "Memcpy HtoD (Pageable -> Device)", 0, 1, STK_KIND_UNSET);
    add(&r, r.stream, "Memset (Device)", 10, 1, STK_KIND_UNSET);
    add(&r, r.stream, "gemm", 20, 1, STK_KIND_UNSET);
    add(&r, r.stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30, 1, STK_KIND_KERNEL);
    add(&r, r.stream, "ncclDevKernel_Generic_1", 40, 1, STK_KIND_UNSET);
    add(&r, r.stream, "Memcpy DtoH (Device -> Pinned)", 50, 1, STK_KIND_MEMCPY);
    add(&r, r.thread, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 60, 1, STK_KIND_HOST_OP);
    rig_finish(&r);
    static const uint8_t kinds[] = {STK_KIND_HOST_OP, STK_KIND_MEMCPY,     STK_KIND_MEMSET,
                                    STK_KIND_KERNEL,  STK_KIND_COLLECTIVE, STK_KIND_COLLECTIVE,
                                    STK_KIND_MEMCPY};
    for (uint32_t i = 0; i < r.t->count && i < 7; i++) {
        CHECK_EQ(r.t->kind[i], kinds[i]);
    }
    CHECK_EQ(r.t->by_kind[STK_KIND_COLLECTIVE], 2);
    CHECK_EQ(r.t->by_kind[STK_KIND_KERNEL], 1);
    rig_close(&r);
}

static void test_devices_and_processes(void)
{
    struct rig r = rig_open();
    struct stk_device_facts facts = {.name = STK_STR("A100"),
                                     .kind = STK_DEVICE_GPU,
                                     .sm_count = 108,
                                     .memory_bytes = 40ll << 30};
    for (int64_t d = 0; d < 16; d++) {
        stk_build_device(r.b, 10, d, &facts);
    }
    stk_build_process(r.b, 10, 5, STK_STR("python"), STK_STR("node1"));
    stk_build_process(r.b, 10, -1, STK_STR(""), STK_STR(""));
    stk_build_process(r.b, 4711, 1, STK_STR("unused"), STK_STR(""));
    stk_build_track_name(r.b, &thread_key, STK_STR("main"));
    add(&r, r.thread, "op", 0, 1, STK_KIND_HOST_OP);
    add(&r, r.stream, "kernel", 5, 1, STK_KIND_KERNEL);
    rig_finish(&r);
    const struct stk_trace *t = r.t;
    CHECK_EQ(t->device_count, 1);
    CHECK_STR(stk_strpool_get(&t->strings, t->devices[0].name).p, "A100");
    CHECK_STR(stk_strpool_get(&t->strings, t->devices[0].source_id).p, "0");
    CHECK_EQ(t->devices[0].sm_count, 108);
    CHECK_EQ(t->process_count, 1);
    CHECK_EQ(t->processes[0].rank, 5);
    CHECK_STR(stk_strpool_get(&t->strings, t->processes[0].host).p, "node1");
    CHECK_EQ(t->tracks[0].device, STK_NONE);
    CHECK_STR(stk_strpool_get(&t->strings, t->tracks[0].name).p, "main");
    CHECK_EQ(t->tracks[1].device, 0);
    CHECK_EQ(t->track_count, 2); // stream 20 has no events
    rig_close(&r);
}

static void test_track_becomes(void)
{
    struct rig r = rig_open();
    struct stk_track_key was = {STK_TRACK_THREAD, 10, -1, 7, {"", 0}};
    uint32_t track = stk_shard_track(r.s, &was);
    stk_build_track_name(r.b, &was, STK_STR("stream 7"));
    stk_build_track_becomes(r.b, &was, STK_TRACK_STREAM, 0);
    add(&r, track, "gemm", 10, 1, STK_KIND_UNSET);
    add(&r, r.stream, "conv", 20, 1, STK_KIND_UNSET); // the same stream by its own name
    rig_finish(&r);
    CHECK_EQ(r.t->track_count, 1);
    CHECK_EQ(r.t->tracks[0].kind, STK_TRACK_STREAM);
    CHECK_EQ(r.t->tracks[0].device, 0);
    CHECK_EQ(r.t->tracks[0].count, 2);
    CHECK_EQ(r.t->kind[0], STK_KIND_KERNEL);
    CHECK_STR(stk_strpool_get(&r.t->strings, r.t->tracks[0].name).p, "stream 7");
    rig_close(&r);
}

static void test_string_tracks(void)
{
    struct rig r = rig_open();
    struct stk_track_key a = {STK_TRACK_STREAM, 10, 0, 0, STK_STR("stream 7")}, b = a;
    b.sid = STK_STR("stream 8");
    CHECK(stk_shard_track(r.s, &a) != stk_shard_track(r.s, &b));
    CHECK_EQ(stk_shard_track(r.s, &a), stk_shard_track(r.s, &a));
    add(&r, stk_shard_track(r.s, &b), "k", 0, 1, STK_KIND_KERNEL);
    rig_finish(&r);
    CHECK_STR(stk_strpool_get(&r.t->strings, r.t->tracks[0].name).p, "stream 8");
    rig_close(&r);
}

static void test_values_and_positions(void)
{
    struct rig r = rig_open();
    uint64_t far = (1ull << 40) - 2;
    struct stk_row row = {.start_ns = 5,
                          .dur_ns = 5,
                          .pos = far,
                          .track = r.thread,
                          .name = stk_shard_intern(r.s, "ProfilerStep#3", 14),
                          .kind = STK_KIND_ANNOTATION};
    struct stk_row_ext ext = {.value = 3, .flags = STK_EXT_STEP | STK_EXT_VALUE};
    stk_shard_add(r.s, &row, &ext);
    row.kind = STK_KIND_RUNTIME; // a call keeps none
    stk_shard_add(r.s, &row, &ext);
    stk_shard_count(r.s, STK_KIND_OTHER, 12);
    stk_shard_issue(r.s, STK_ISSUE_JSON_SKIPPED, 2, 1, 100, STK_STR("{broken"));
    stk_shard_issue(r.s, STK_ISSUE_JSON_SKIPPED, 1, 0, 200, STK_STR("later"));
    rig_finish(&r);
    const struct stk_ext *e = stk_ext_of(r.t, 0);
    CHECK(e && e->value == 3 && e->flags == (STK_EXT_STEP | STK_EXT_VALUE));
    CHECK_EQ(stk_pos(r.t, 0), far);
    CHECK(stk_ext_of(r.t, 1) == NULL);
    CHECK_EQ(r.t->read, 14);
    CHECK_EQ(r.t->by_kind[STK_KIND_OTHER], 12);
    const struct stk_issue *issue = &r.t->issues[STK_ISSUE_JSON_SKIPPED];
    CHECK_EQ(issue->count, 3);
    CHECK_EQ(issue->first_offset, 100);
    CHECK_EQ(r.t->dropped, 1);
    CHECK_STR(stk_strpool_get(&r.t->strings, issue->note).p, "{broken");
    rig_close(&r);
}

static void test_reset(void)
{
    struct rig r = rig_open();
    add(&r, r.thread, "speculation", 0, 1, STK_KIND_HOST_OP);
    stk_shard_count(r.s, STK_KIND_OTHER, 5);
    stk_shard_reset(r.s);
    r.thread = stk_shard_track(r.s, &thread_key);
    add(&r, r.thread, "truth", 7, 1, STK_KIND_HOST_OP);
    rig_finish(&r);
    CHECK_EQ(r.t->count, 1);
    CHECK_EQ(r.t->read, 1);
    CHECK_STR(name_of(r.t, 0), "truth");
    rig_close(&r);
}

static void test_row_limit(void)
{
    struct rig r = rig_open();
    for (int i = 0; i < 10; i++) {
        add(&r, r.thread, "op", i * 10, 1, STK_KIND_HOST_OP);
    }
    r.b->max_rows = 6;
    rig_finish(&r);
    CHECK_EQ(r.t->count, 6);
    CHECK_EQ(r.t->dropped, 4);
    CHECK_EQ(r.t->read, 10);
    CHECK_EQ(r.t->issues[STK_ISSUE_LIMIT_REACHED].events_lost, 4);
    CHECK_EQ(stk_end_ns(r.t, 5), 51);
    rig_close(&r);

    r = rig_open();
    r.s->max_rows = 3;
    for (int i = 0; i < 5; i++) {
        add(&r, r.thread, "op", i * 10, 1, STK_KIND_HOST_OP);
    }
    CHECK(stk_shard_failed(r.s));
    rig_finish(&r);
    CHECK_EQ(r.t->count, 3);
    CHECK_EQ(r.t->issues[STK_ISSUE_LIMIT_REACHED].count, 2);
    rig_close(&r);
}

// Many rows on interleaved tracks: some longer than the column holds, some years away.
static void test_many_rows(void)
{
    struct rig r = rig_open();
    struct stk_track_key other_key = thread_key;
    other_key.id++;
    uint32_t other = stk_shard_track(r.s, &other_key);
    int64_t second = 1000000000, year = 366 * 86400 * second, at = 0;
    enum { ROWS = 50000 };
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t dur = i % 1000 == 7 ? 5 * second + i : 1 + i % 50;
        add(&r, i % 3 ? r.thread : other, "op", at, dur, STK_KIND_HOST_OP);
        if (i % 500 == 250) { // between the others, to be dropped
            add(&r, i % 3 ? r.thread : other, "far", 2 * year + at, i, STK_KIND_HOST_OP);
        }
        at += dur + 1;
    }
    rig_finish(&r);
    CHECK_EQ(r.t->count, ROWS);
    CHECK_EQ(r.t->dropped, ROWS / 500);
    CHECK_EQ(r.t->track_count, 2);
    CHECK_EQ(r.t->tracks[0].count, ROWS - (ROWS + 2) / 3);
    CHECK_EQ(r.t->long_dur_count, ROWS / 1000);
    uint32_t next[2] = {r.t->tracks[0].first, r.t->tracks[1].first}, wrong = 0;
    at = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t dur = i % 1000 == 7 ? 5 * second + i : 1 + i % 50;
        uint32_t e = next[i % 3 ? 0 : 1]++;
        wrong += r.t->start_ns[e] != at || stk_dur_ns(r.t, e) != dur || r.t->depth[e] != 0;
        at += dur + 1;
    }
    CHECK_EQ(wrong, 0);
    rig_close(&r);
}

static void test_bad_ids(void)
{
    struct rig r = rig_open();
    struct stk_row row = {
        .start_ns = 1, .dur_ns = 1, .name = 12345, .track = r.thread, .kind = 200};
    stk_shard_add(r.s, &row, NULL); // name and kind unknown: kept as what they cannot be
    row.track = 999;
    stk_shard_add(r.s, &row, NULL); // no such track: lost, and said
    rig_finish(&r);
    CHECK_EQ(r.t->count, 1);
    CHECK_EQ(r.t->kind[0], STK_KIND_OTHER);
    CHECK_STR(name_of(r.t, 0), "");
    CHECK_EQ(r.t->dropped, 1);
    rig_close(&r);
}

// More tracks than a trace holds: in one shard, and in two that are both below the limit.
static void test_track_limit(void)
{
    enum { MORE = 10 };
    for (int shards = 1; shards <= 2; shards++) {
        struct rig r = rig_open();
        struct stk_shard *first = r.s, *second = shards == 2 ? stk_build_shard(r.b) : NULL;
        struct stk_track_key key = thread_key;
        for (int64_t i = 0; i < (int64_t)STK_TRACKS_MAX - 3 + MORE; i++) { // 3 are the rig's
            r.s = second && i % 2 ? second : first;
            key.id = 1000 + i;
            add(&r, stk_shard_track(r.s, &key), "op", i, 1, STK_KIND_HOST_OP);
        }
        r.s = first;
        add(&r, r.thread, "known", 5, 1, STK_KIND_HOST_OP);
        CHECK(!stk_shard_failed(first));
        rig_finish(&r);
        const struct stk_issue *issue = &r.t->issues[STK_ISSUE_TRACKS_LEFT_OUT];
        CHECK_EQ(issue->events_lost, MORE);
        CHECK_EQ(r.t->dropped, MORE);
        CHECK_EQ(r.t->read, STK_TRACKS_MAX - 3 + MORE + 1);
        CHECK_EQ(r.t->count, STK_TRACKS_MAX - 3 + 1);
        CHECK(find(r.t, "known") != STK_NONE);
        rig_close(&r);
    }
}

static void test_device_limit(void)
{
    enum { MORE = 10 };
    struct rig r = rig_open();
    struct stk_track_key key = stream_key;
    for (int64_t i = 0; i < (int64_t)STK_DEVICES_MAX + MORE; i++) {
        key.device = i;
        add(&r, stk_shard_track(r.s, &key), "gemm", i, 1, STK_KIND_KERNEL);
    }
    rig_finish(&r);
    CHECK_EQ(r.t->device_count, STK_DEVICES_MAX);
    CHECK_EQ(r.t->count, STK_DEVICES_MAX + MORE);
    CHECK_EQ(r.t->issues[STK_ISSUE_DEVICES_LEFT_OUT].count, MORE);
    uint32_t others = 0;
    for (uint32_t k = 0; k < r.t->track_count; k++) {
        others += r.t->tracks[k].kind == STK_TRACK_OTHER && r.t->tracks[k].device == STK_NONE;
    }
    CHECK_EQ(others, MORE);
    rig_close(&r);
}

static void test_tables(void)
{
    CHECK_STR(stk_kind_key(STK_KIND_HOST_OP), "host_op");
    CHECK_STR(stk_kind_key(STK_KIND_OTHER), "other");
    CHECK_STR(stk_kind_key(STK_KIND_UNSET), "unset");
    CHECK_STR(stk_issue_info(STK_ISSUE_TRUNCATED)->key, "truncated");
    CHECK_EQ(stk_issue_info(STK_ISSUE_TRUNCATED)->severity, STK_SEVERITY_LOSS);
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        CHECK(stk_issue_info((enum stk_issue_id)i)->remedy[0]);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_empty);
    CHECK_RUN(test_no_shards);
    CHECK_RUN(test_order_and_depth);
    CHECK_RUN(test_equal_times_keep_file_order);
    CHECK_RUN(test_sub_rows);
    CHECK_RUN(test_many_sub_rows);
    CHECK_RUN(test_long_durations);
    CHECK_RUN(test_links);
    CHECK_RUN(test_links_per_process);
    CHECK_RUN(test_duplicate_calls);
    CHECK_RUN(test_impossible_rows);
    CHECK_RUN(test_isolated_rows);
    CHECK_RUN(test_base_ignores_derived_rows);
    CHECK_RUN(test_kinds);
    CHECK_RUN(test_devices_and_processes);
    CHECK_RUN(test_track_becomes);
    CHECK_RUN(test_string_tracks);
    CHECK_RUN(test_values_and_positions);
    CHECK_RUN(test_reset);
    CHECK_RUN(test_row_limit);
    CHECK_RUN(test_many_rows);
    CHECK_RUN(test_bad_ids);
    CHECK_RUN(test_track_limit);
    CHECK_RUN(test_device_limit);
    CHECK_RUN(test_tables);
    return check_done("unit.store_build");
}
