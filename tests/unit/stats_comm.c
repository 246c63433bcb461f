// SPDX-License-Identifier: Apache-2.0
// stoker stats comm: what collectives move, among whom, and who waits in a group.
#include "answer_files.h"

static void add(struct answer *a, double start_us, double dur_us, const char *name,
                const struct stk_detail *details, size_t count)
{
    struct stk_track_key key = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = a->s.device, .id = S0};
    struct stk_row row = {.start_ns = (int64_t)(start_us * 1000),
                          .dur_ns = (int64_t)(dur_us * 1000),
                          .name = stk_shard_intern(a->s.shard, name, strlen(name)),
                          .track = stk_shard_track(a->s.shard, &key),
                          .kind = STK_KIND_COLLECTIVE};
    stk_shard_add_detailed(a->s.shard, &row, NULL, details, count);
}

static struct stk_detail text_detail(struct answer *a, enum stk_detail_key key, const char *text)
{
    return (struct stk_detail){.key = key,
                               .text = stk_shard_intern(a->s.shard, text, strlen(text))};
}

// 1 MB among the two ranks of a group.
static void add_in_group(struct answer *a, double start_us, double dur_us, const char *members)
{
    struct stk_detail details[] = {text_detail(a, STK_DETAIL_GROUP, "tp"),
                                   text_detail(a, STK_DETAIL_GROUP_RANKS, members),
                                   {.key = STK_DETAIL_GROUP_SIZE, .number = 2},
                                   {.key = STK_DETAIL_ELEMENT_BYTES, .number = 4},
                                   {.key = STK_DETAIL_IN_ELEMENTS, .number = 250000},
                                   {.key = STK_DETAIL_OUT_ELEMENTS, .number = 250000}};
    add(a, start_us, dur_us, "ncclDevKernel_AllReduce", details, 6);
}

// The answer is the first one's.
static void describe_ranks(struct answer *others, int count)
{
    struct stk_rank_sum *ranks[8] = {NULL};
    for (int i = 0; i < count; i++) {
        answer_see(&others[i], &stk_stats_comm);
        ranks[i] = others[i].s.ranks[0];
        ranks[i]->rank = i;
    }
    answer_describe(&others[0], &stk_stats_comm, ranks, (uint32_t)count);
}

// Ranks 0 and 1 wait for each other, 2 and 3 too, but not one pair for the other.
static void test_groups(void)
{
    static const double starts[] = {0, 60, 500, 530}, ends[] = {102, 100, 550, 553};
    struct answer ranks[4];
    for (int i = 0; i < 4; i++) {
        answer_begin(&ranks[i]);
        add_in_group(&ranks[i], starts[i], ends[i] - starts[i], i < 2 ? "[0, 1]" : "[2, 3]");
    }
    describe_ranks(ranks, 4);
    CHECK_EQ(ranks[0].doc.tables[0].row_count, 4);
    CHECK_EQ(NUMBER(&ranks[0], 0, "rank"), 0);
    CHECK_EQ(NUMBER(&ranks[0], 0, "bytes"), 1000000);
    CHECK_EQ(NUMBER(&ranks[0], 0, "wait_ns"), 62 * US);
    CHECK_EQ(NUMBER(&ranks[0], 0, "last_rank"), 1);
    CHECK_EQ(NUMBER(&ranks[0], 1, "rank"), 2);
    CHECK_EQ(NUMBER(&ranks[0], 1, "wait_ns"), 27 * US);
    CHECK_EQ(NUMBER(&ranks[0], 1, "last_rank"), 3);
    CHECK_EQ(NUMBER(&ranks[0], 2, "wait_ns"), 0);
    CHECK_EQ(answer_figure(&ranks[0], "wait_ns")->number, 89 * US);
    CHECK_EQ(answer_figure(&ranks[0], "clock_residual_ns")->number, 2 * US); // of 2 and 3
    CHECK_STR(answer_cell(&ranks[0], 0, "group")->text, "tp");
    // 1 MB in 40 us; among two, the bus carries as much.
    CHECK_EQ((int64_t)(answer_cell(&ranks[0], 0, "algorithm_bytes_per_s")->ratio / 1e9), 25);
    CHECK_EQ((int64_t)(answer_cell(&ranks[0], 0, "bus_bytes_per_s")->ratio / 1e9), 25);
    CHECK_EQ(ranks[0].doc.tables[1].row_count, 1);
    CHECK_EQ(answer_cell_in(&ranks[0], 1, 0, "count")->number, 4);
    CHECK_EQ(ranks[0].doc.missing_count, 1);
    CHECK_STR(ranks[0].doc.missing[0].what, "bytes of the gradients");
    // The breakdown's waiting is that of the groups, too.
    CHECK_EQ(ranks[0].run->straggler.matched, 2);
    CHECK_EQ(ranks[0].run->rank_events_unequal, 0);
    CHECK_EQ(ranks[0].run->parts[STK_PART_COLLECTIVE_WAIT], 89 * US);
    for (int i = 0; i < 4; i++) {
        answer_end(&ranks[i]);
    }
}

// Two steps of 100 + 20 gradients of 4 bytes; an all_reduce of 120 in each, and 40 of something
// else.
static void test_gradients(void)
{
    char text[8192], *p = text, *end = text + sizeof text;
    p += snprintf(p, (size_t)(end - p), "{\"schemaVersion\":1,\"traceEvents\":[");
    for (int step = 0; step < 3; step++) {
        int t = step * 1000;
        p += snprintf(p, (size_t)(end - p),
                      "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\","
                      "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1000},",
                      step, t);
        for (int i = 0; i < 2; i++) {
            p += snprintf(p, (size_t)(end - p),
                          "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
                          "\"torch::autograd::AccumulateGrad\",\"pid\":1,\"tid\":2,\"ts\":%d,"
                          "\"dur\":10,\"args\":{\"Input Dims\":[[%s]],"
                          "\"Input type\":[\"float\"]}},",
                          t + 100 + 50 * i, i ? "10, 10" : "20");
        }
        for (int i = 0; i < 2; i++) {
            p += snprintf(p, (size_t)(end - p),
                          "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\","
                          "\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":50,\"args\":{\"device\":0,"
                          "\"stream\":7,\"Collective name\":\"allreduce\",\"In msg nelems\":%d,"
                          "\"Out msg nelems\":%d,\"Group size\":2,\"dtype\":\"Float\"}},",
                          t + 300 + 100 * i, i ? 40 : 120, i ? 40 : 120);
        }
    }
    snprintf(p - 1, (size_t)(end - p + 1), "]}");
    struct answer a;
    answer_begin(&a);
    answer_read_text(&a, &stk_stats_comm, text);
    answer_analyse(&a, &stk_stats_comm);
    CHECK_EQ(answer_figure(&a, "gradients_per_step")->number, 120);
    CHECK_EQ(answer_figure(&a, "gradient_bytes_per_step")->number, 480);
    CHECK_EQ(answer_figure(&a, "bytes_per_step")->number, 640);
    CHECK_EQ(PERCENT(answer_figure(&a, "gradient_share")), 75);
    answer_end(&a);
}

// Half of a group is not there: nothing is known of waiting.
static void test_half_a_group(void)
{
    struct answer ranks[2];
    for (int i = 0; i < 2; i++) {
        answer_begin(&ranks[i]);
        add_in_group(&ranks[i], i * 10, 100, i == 0 ? "[0, 1]" : "[2, 3]");
    }
    describe_ranks(ranks, 2);
    CHECK(!answer_cell(&ranks[0], 0, "wait_ns")->known);
    CHECK(!answer_figure(&ranks[0], "wait_ns")->known);
    CHECK_EQ(ranks[0].doc.missing_count, 2);
    for (int i = 0; i < 2; i++) {
        answer_end(&ranks[i]);
    }
}

// Two devices of one process: the second enters 40 us late.
static void test_devices(void)
{
    struct answer a;
    answer_begin(&a);
    struct stk_device_facts facts = {.source_id = STK_STR("1"), .name = STK_STR("Test GPU")};
    stk_build_device(a.s.build, 1, 1, &facts);
    for (a.s.device = 0; a.s.device < 2; a.s.device++) {
        add(&a, (double)a.s.device * 40, 100 - (double)a.s.device * 40, "ncclAllReduceRing", NULL,
            0);
    }
    answer_analyse(&a, &stk_stats_comm);
    CHECK_EQ(a.doc.tables[0].row_count, 2);
    CHECK_EQ(NUMBER(&a, 0, "wait_ns"), 40 * US);
    CHECK(strstr(answer_cell(&a, 0, "last_device")->text, "/1") != NULL);
    CHECK_EQ(NUMBER(&a, 1, "wait_ns"), 0);
    CHECK(!answer_cell(&a, 0, "bytes")->known);
    CHECK(!answer_cell(&a, 0, "bus_bytes_per_s")->known);
    answer_end(&a);
}

// Sizes from the rows around the launch, and collectives of the host.
static void test_host_rows(void)
{
    static const char text[] =
        "{\"traceEvents\": ["
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c10d::alltoall_base_\",\"pid\":1,\"tid\":1,"
        "\"ts\":0,\"dur\":90,\"args\":{\"Input Dims\":[[9],[9],[]]}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"nccl:all_to_all\",\"pid\":1,\"tid\":1,"
        "\"ts\":10,\"dur\":50,\"args\":{\"Input type\":[\"c10::Half\",\"\"],"
        "\"Input Dims\":[[100,20],[[5],[5]],[]]}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
        "\"tid\":1,\"ts\":20,\"dur\":5,\"args\":{\"correlation\":7}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_SendRecv\",\"pid\":0,\"tid\":7,"
        "\"ts\":30,\"dur\":100,\"args\":{\"device\":0,\"stream\":7,\"correlation\":7}},"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"gloo:all_gather\",\"pid\":1,"
        "\"tid\":2,\"ts\":20,\"dur\":500,\"args\":{\"Input type\":[\"float\"],"
        "\"Input Dims\":[[10]]}},"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"gloo:all_reduce\",\"pid\":1,"
        "\"tid\":2,\"ts\":600,\"dur\":500,\"args\":{\"Input type\":[\"float\"],"
        "\"Input Dims\":[[10]]}}]}";
    struct answer a;
    answer_begin(&a);
    answer_read_text(&a, &stk_stats_comm, text);
    answer_analyse(&a, &stk_stats_comm);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK_STR(answer_cell(&a, 0, "kind")->text, "all_to_all");
    CHECK_EQ(NUMBER(&a, 0, "bytes"), 2010 * 2);
    CHECK_EQ(a.doc.tables[2].row_count, 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(answer_cell_in(&a, 2, i, "count")->number, 1);
        CHECK_EQ(answer_cell_in(&a, 2, i, "total_ns")->number, 500 * US);
        bool gathers = strstr(answer_cell_in(&a, 2, i, "name")->text, "gather") != NULL;
        const struct stk_cell *bytes = answer_cell_in(&a, 2, i, "bytes");
        CHECK(gathers ? !bytes->known : bytes->number == 40); // how many gather is unknown
    }
    CHECK_EQ(answer_figure(&a, "host_collectives")->number, 2);
    answer_end(&a);
}

static void test_hlo(void)
{
    static const struct {
        const char *text;
        int64_t bytes, group;
        const char *kind;
    } ops[] = {
        {"%all-reduce.1 = f32[8,4]{1,0:T(8,128)} all-reduce(f32[8,4]{1,0} %x), "
         "replica_groups={{0,1,2,3}}",
         128, 4, "all_reduce"},
        {"%reduce-scatter.3 = bf16[10]{0} reduce-scatter(bf16[40]{0} %x), "
         "replica_groups=[2,4]<=[8]",
         80, 4, "reduce_scatter"},
        {"%all-gather-start.2 = (f32[10], f32[20]{0}) all-gather-start(f32[10]{0} %x), "
         "replica_groups={{0,1}}",
         80, 2, "all_gather"},
        {"%all-to-all.4 = (f8e4m3fn[16], pred[8]) all-to-all(f32[1] %x)", 24, 0, "all_to_all"},
    };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct pb space = {0}, tpu = pb_plane("/device:TPU:0"), line = pb_line(2, "XLA Ops", 1000);
        pb_named(&tpu, 4, 1, ops[i].text);
        struct pb e = pb_event(1, 1000000, 5000000);
        pb_msg(&line, 4, &e);
        pb_msg(&tpu, 3, &line);
        pb_msg(&space, 1, &tpu);
        struct answer a;
        answer_begin(&a);
        answer_read_space(&a, &stk_stats_comm, &space);
        answer_analyse(&a, &stk_stats_comm);
        CHECK_EQ(a.doc.tables[0].row_count, 1);
        CHECK_EQ(NUMBER(&a, 0, "bytes"), ops[i].bytes);
        CHECK_STR(answer_cell(&a, 0, "kind")->text, ops[i].kind);
        const struct stk_cell *group = answer_cell(&a, 0, "group_size");
        CHECK_EQ(group->known ? group->number : 0, ops[i].group);
        answer_end(&a);
    }
}

// TensorFlow's gradients, as the kernels that apply them say: two variables, in each of three
// steps.
static void test_tensorflow_gradients(void)
{
    enum { OP = 1, SHAPE, STEP };
    static const struct {
        int64_t meta, at_us;
        const char *op, *shapes;
    } work[] = {{1, 10, "d/MatMul:MatMul", "(float[9,9];float[9,9])"},
                {2, 30, "allreduce/NcclAllReduce:NcclAllReduce", "(float[120])"},
                {3, 50, "a/ResourceApplyAdam:ResourceApplyAdam", "(resource[];float[];float[100])"},
                {3, 70, "b/ResourceApplyAdam:ResourceApplyAdam", "(resource[];float[];float[20])"}};
    struct pb space = {0}, gpu = pb_plane("/device:GPU:0"), host = pb_plane("/host:CPU");
    struct pb stream = pb_line(1, "Stream #1", 0), thread = pb_line(2, "main", 0);
    pb_named(&gpu, 5, OP, "tf_op");
    pb_named(&gpu, 5, SHAPE, "shape");
    pb_named(&gpu, 4, 1, "sgemm");
    pb_named(&gpu, 4, 2, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclColl)");
    pb_named(&gpu, 4, 3, "ApplyAdamKernel<float>");
    pb_named(&host, 5, STEP, "step_num");
    pb_named(&host, 4, 1, "train");
    for (int64_t s = 0; s < 3; s++) {
        struct pb step = pb_event(1, s * 100000000, 100000000);
        pb_stat_int(&step, 4, STEP, 4, s);
        pb_msg(&thread, 4, &step);
        for (size_t i = 0; i < sizeof work / sizeof work[0]; i++) {
            struct pb e = pb_event(work[i].meta, (s * 100 + work[i].at_us) * 1000000, 10 * 1000000);
            pb_stat_str(&e, 4, OP, work[i].op);
            pb_stat_str(&e, 4, SHAPE, work[i].shapes);
            pb_msg(&stream, 4, &e);
        }
    }
    pb_msg(&gpu, 3, &stream);
    pb_msg(&host, 3, &thread);
    pb_msg(&space, 1, &gpu);
    pb_msg(&space, 1, &host);
    const char *path = file_of(space.p, space.n);
    struct answer a;
    answer_begin(&a);
    answer_read(&a, &stk_stats_comm, path);
    answer_analyse(&a, &stk_stats_comm);
    CHECK_EQ(answer_figure(&a, "gradients_per_step")->number, 120);
    CHECK_EQ(answer_figure(&a, "gradient_bytes_per_step")->number, 480);
    answer_end(&a);
    unlink(path);
    free(space.p);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_groups);
    CHECK_RUN(test_gradients);
    CHECK_RUN(test_tensorflow_gradients);
    CHECK_RUN(test_half_a_group);
    CHECK_RUN(test_devices);
    CHECK_RUN(test_host_rows);
    CHECK_RUN(test_hlo);
    return check_done("unit.stats_comm");
}
