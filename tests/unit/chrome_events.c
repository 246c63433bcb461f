// SPDX-License-Identifier: Apache-2.0
// How the Chrome reader interprets events: kinds, tracks, times, values, processes, devices.
#include "chrome_read.h"
#include "profile/store/names.h"

static struct stoker_err err;

static struct stk_trace *read_events(const char *events)
{
    static char text[65536];
    snprintf(text, sizeof text, "{\"schemaVersion\": 1, \"traceEvents\": [%s]}", events);
    struct stk_trace *t = chrome_read_text(text, &err);
    CHECK(t != NULL);
    return t;
}

// The event of this name, or STK_NONE.
static uint32_t find(const struct stk_trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (stk_str_eq(stk_name_of(t, i), stk_str_from(name))) {
            return i;
        }
    }
    return STK_NONE;
}

static int64_t file_start(const struct stk_trace *t, uint32_t i)
{
    return t->start_ns[i] + t->base_ns;
}

static const struct stk_track *track_of(const struct stk_trace *t, uint32_t i)
{
    return &t->tracks[stk_track_of(t, i)];
}

static void test_kinds(void)
{
    static const struct {
        const char *cat, *name;
        enum stk_kind kind;
        enum stk_track_kind track;
    } rows[] = {
        {"cpu_op", "aten::mm", STK_KIND_HOST_OP, STK_TRACK_THREAD},
        {"Operator", "aten::add", STK_KIND_HOST_OP, STK_TRACK_THREAD},
        {"OPERATOR", "ProfilerStep#7", STK_KIND_ANNOTATION, STK_TRACK_THREAD},
        {"Operator", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", STK_KIND_INPUT,
         STK_TRACK_THREAD},
        {"cpu_op", "Optimizer.step#SGD.step", STK_KIND_ANNOTATION, STK_TRACK_THREAD},
        {"user_annotation", "mine", STK_KIND_ANNOTATION, STK_TRACK_THREAD},
        {"Runtime", "cudaLaunchKernel", STK_KIND_RUNTIME, STK_TRACK_THREAD},
        {"cuda_driver", "cuLaunchKernel", STK_KIND_RUNTIME, STK_TRACK_THREAD},
        {"python_function", "train.py(1): f", STK_KIND_PYTHON, STK_TRACK_THREAD},
        {"Kernel", "sgemm", STK_KIND_KERNEL, STK_TRACK_STREAM},
        {"kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", STK_KIND_COLLECTIVE,
         STK_TRACK_STREAM},
        {"kernel", "Memset (Device) by kernel", STK_KIND_KERNEL, STK_TRACK_STREAM},
        {"gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", STK_KIND_MEMCPY, STK_TRACK_STREAM},
        {"Memset", "Memset (Device)", STK_KIND_MEMSET, STK_TRACK_STREAM},
        {"gpu_user_annotation", "mine on gpu", STK_KIND_OTHER, STK_TRACK_DERIVED},
        {"cuda_sync", "Stream Sync", STK_KIND_SYNC, STK_TRACK_OTHER},
        {"overhead", "Command Buffer Full", STK_KIND_OTHER, STK_TRACK_OTHER},
        {"", "no category", STK_KIND_HOST_OP, STK_TRACK_THREAD},
        {"never_heard_of", "something", STK_KIND_HOST_OP, STK_TRACK_THREAD},
    };
    static char text[16384];
    size_t n = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":3,\"tid\":4,"
                              "\"ts\":%zu,\"dur\":1}",
                              i ? "," : "", rows[i].cat, rows[i].name, i * 10);
    }
    struct stk_trace *t = read_events(text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t e = find(t, rows[i].name);
        CHECK(e != STK_NONE);
        if (e == STK_NONE) {
            continue;
        }
        CHECK_EQ(t->kind[e], rows[i].kind);
        CHECK_EQ(track_of(t, e)->kind, rows[i].track);
    }
    uint32_t step = find(t, "ProfilerStep#7");
    CHECK(stk_ext_of(t, step) != NULL);
    CHECK_EQ(stk_ext_of(t, step)->value, 7);
    CHECK_EQ(stk_ext_of(t, step)->flags, STK_EXT_STEP | STK_EXT_VALUE);
    CHECK_EQ(t->read, sizeof rows / sizeof *rows);
    stk_trace_free(t);
}

static void test_times(void)
{
    static const struct {
        const char *ts, *dur;
        int64_t start_ns, dur_ns;
    } rows[] = {
        {"1695835514481315", "15", 1695835514481315000, 15000},
        {"1712195495519689.047", "63.813", 1712195495519689047, 63813},
        {"4203669604595.4", "0.02", 4203669604595400, 20},
        {"\"123.5\"", "\"1\"", 123500, 1000},
        {"0.0004", "0.0002", 0, 1}, // start and end are rounded: 0.4 and 0.6 ns
        {"1.25e3", "1E1", 1250000, 10000},
        {"-2.5", "0", -2500, 0},
        {"10", "-3", 10000, 0},
        {"12.3456789", "0", 12346, 0},
    };
    char text[512];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text,
                 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":%s,"
                 "\"dur\":%s}",
                 rows[i].ts, rows[i].dur);
        struct stk_trace *t = read_events(text);
        CHECK_EQ(t->count, 1);
        if (t->count == 1) {
            CHECK_EQ(file_start(t, 0), rows[i].start_ns);
            CHECK_EQ(stk_dur_ns(t, 0), rows[i].dur_ns);
        }
        stk_trace_free(t);
    }
}

static void test_bad_times(void)
{
    static const struct {
        const char *times;
        enum stk_issue_id issue;
    } rows[] = {
        {"\"ts\":1", STK_ISSUE_TIME_INVALID},
        {"\"dur\":1", STK_ISSUE_TIME_INVALID},
        {"\"ts\":null,\"dur\":1", STK_ISSUE_TIME_INVALID},
        {"\"ts\":\"x\",\"dur\":1", STK_ISSUE_TIME_INVALID},
        {"\"ts\":[1],\"dur\":1", STK_ISSUE_TIME_INVALID},
        {"\"ts\":99999999999999999999999999,\"dur\":1", STK_ISSUE_TIME_INVALID},
        {"\"ts\":1e400,\"dur\":1", STK_ISSUE_TIME_INVALID},
        {"\"ts\":1,\"dur\":18446744073709551615", STK_ISSUE_DURATION_ABSURD},
        {"\"ts\":1,\"dur\":604800000001", STK_ISSUE_DURATION_ABSURD},
    };
    char text[512];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,%s}",
                 rows[i].times);
        struct stk_trace *t = read_events(text);
        CHECK_EQ(t->count, 0);
        CHECK_EQ(t->read, 1);
        CHECK_EQ(t->dropped, 1);
        CHECK_EQ(t->issues[rows[i].issue].count, 1);
        stk_trace_free(t);
    }
}

static void test_launch_and_copy(void)
{
    struct stk_trace *t = read_events(
        "{\"args\":{\"correlation\":\"8\",\"bytes\":\"77\",\"stream\":7,\"device\":2},\"dur\":5,"
        "\"ts\":30,\"tid\":\"stream 7\",\"pid\":9,\"name\":\"Memcpy DtoH (Device -> Pinned)\","
        "\"cat\":\"gpu_memcpy\",\"ph\":\"X\"},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMemcpyAsync\",\"pid\":555,\"tid\":1,"
        "\"ts\":20,\"dur\":3,\"args\":{\"cbid\":41,\"correlation\":8}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":7,\"ts\":40,\"dur\":1,"
        "\"args\":{\"device\":2,\"stream\":7,\"correlation\":0,\"graph id\":4}}");
    CHECK_EQ(t->count, 3);
    CHECK_EQ(t->process_count, 1);
    CHECK_EQ(t->processes[0].pid, 555);
    CHECK_EQ(t->device_count, 1);
    CHECK_EQ(t->devices[0].ordinal, 2);
    uint32_t copy = find(t, "Memcpy DtoH (Device -> Pinned)");
    const struct stk_ext *ext = stk_ext_of(t, copy);
    CHECK(ext && ext->value == 77 && ext->dir == STK_DIR_D2H && ext->src_mem == STK_MEM_DEVICE &&
          ext->dst_mem == STK_MEM_PINNED);
    CHECK_EQ(stk_link_of(t, copy), find(t, "cudaMemcpyAsync"));
    CHECK_EQ(stk_link_of(t, find(t, "cudaMemcpyAsync")), copy);
    uint32_t kernel = find(t, "k");
    CHECK_EQ(stk_link_of(t, kernel), STK_NONE);
    CHECK_EQ(stk_track_of(t, kernel), stk_track_of(t, copy));
    CHECK(stk_ext_of(t, kernel) && stk_ext_of(t, kernel)->flags & STK_EXT_GRAPH);
    stk_trace_free(t);
}

static void test_counted_not_stored(void)
{
    struct stk_trace *t = read_events(
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":\"2\",\"args\":{\"name\":\"old\"}"
        "},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"main "
        "\\u00e9\"}},"
        "{\"ph\":\"s\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"},"
        "{\"ph\":\"f\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"},"
        "{\"ph\":\"X\",\"cat\":\"Trace\",\"ts\":0,\"dur\":99,\"pid\":\"Spans\",\"tid\":\"x\","
        "\"name\":\"PyTorch Profiler (0)\"},"
        "{\"name\":\"Record Window "
        "End\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"\",\"tid\":\"\",\"ts\":9e15},"
        "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,\"ts\":5,"
        "\"args\":{\"Device Type\":1,\"Device Id\":0,\"Bytes\":-4096}},"
        "{\"ph\":\"C\",\"name\":\"power\",\"pid\":1,\"ts\":6,\"args\":{\"W\":250.5}},"
        "{}");
    CHECK_EQ(t->read, 10);
    CHECK_EQ(t->count, 2);
    CHECK_EQ(t->by_kind[STK_KIND_MEMORY], 1);
    CHECK_EQ(t->by_kind[STK_KIND_OTHER], 9);
    CHECK_EQ(t->dropped, 0);
    const struct stk_ext *ext = stk_ext_of(t, find(t, "[memory]"));
    CHECK(ext && ext->value == -4096 && ext->dst_mem == STK_MEM_DEVICE);
    ext = stk_ext_of(t, find(t, "power"));
    CHECK(ext && ext->value == 250);
    CHECK_EQ(track_of(t, find(t, "power"))->kind, STK_TRACK_COUNTER);
    CHECK_STR(stk_strpool_get(&t->strings, t->processes[0].name).p, "python");
    uint32_t name = track_of(t, find(t, "[memory]"))->name;
    CHECK_STR(stk_strpool_get(&t->strings, name).p, "main \xc3\xa9");
    stk_trace_free(t);
}

static void test_pairs(void)
{
    static const char events[] =
        "{\"ph\":\"B\",\"name\":\"outer\",\"pid\":1,\"tid\":1,\"ts\":10},"
        "{\"ph\":\"B\",\"name\":\"inner\",\"pid\":1,\"tid\":1,\"ts\":12},"
        "{\"ph\":\"B\",\"name\":\"other thread\",\"pid\":1,\"tid\":2,\"ts\":13},"
        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":15},"
        "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":16},"
        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":20},"
        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":21},"
        "{\"ph\":\"B\",\"name\":\"open\",\"pid\":1,\"tid\":1,\"ts\":30}";
    static const size_t blocks[] = {1u << 20, 100, 40};
    for (int i = 0; i < 3; i++) {
        stk_chrome_use_blocks(blocks[i]);
        struct stk_trace *t = read_events(events);
        CHECK_EQ(t->count, 3);
        CHECK_EQ(t->read, 8);
        CHECK_EQ(t->issues[STK_ISSUE_TIME_INVALID].events_lost, 2);
        CHECK_EQ(stk_dur_ns(t, find(t, "outer")), 10000);
        CHECK_EQ(stk_dur_ns(t, find(t, "inner")), 3000);
        CHECK_EQ(stk_dur_ns(t, find(t, "other thread")), 3000);
        CHECK_EQ(t->depth[find(t, "inner")], 1);
        stk_trace_free(t);
    }
    stk_chrome_use_blocks(0);
}

static void test_merged_ranks(void)
{
    struct stk_trace *t = read_events(
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\",\"pid\":10,\"tid\":1,"
        "\"ts\":1,\"dur\":1,\"args\":{\"correlation\":5,\"rank\":0,\"pid_raw\":10}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k0\",\"pid\":2,\"tid\":4,\"ts\":3,\"dur\":1,"
        "\"args\":{\"device\":2,\"stream\":4,\"correlation\":5,\"rank\":0,\"pid_raw\":2}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\",\"pid\":100000010,"
        "\"tid\":1,\"ts\":2,\"dur\":1,\"args\":{\"correlation\":5,\"rank\":1,\"pid_raw\":10}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k1\",\"pid\":100000002,\"tid\":4,\"ts\":4,"
        "\"dur\":1,\"args\":{\"device\":2,\"stream\":4,\"correlation\":5,\"rank\":1,\"pid_raw\":2}"
        "}");
    CHECK_EQ(t->process_count, 2);
    CHECK_EQ(t->device_count, 2);
    CHECK_STR(t->format, "chrome");
    uint32_t k0 = find(t, "k0"), k1 = find(t, "k1");
    CHECK_EQ(t->processes[track_of(t, k0)->process].rank, 0);
    CHECK_EQ(t->processes[track_of(t, k1)->process].rank, 1);
    CHECK_EQ(t->processes[track_of(t, k1)->process].pid, 100000010);
    CHECK(stk_link_of(t, k0) != STK_NONE && stk_link_of(t, k1) != STK_NONE);
    CHECK(stk_link_of(t, k0) != stk_link_of(t, k1));
    stk_trace_free(t);
}

static void test_tensorflow(void)
{
    struct stk_trace *t = chrome_read_text(
        "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":["
        "{\"ph\":\"X\",\"pid\":1,\"tid\":13,\"ts\":10.5,\"dur\":2.25,\"name\":\"volta_sgemm\","
        "\"args\":{\"correlation_id\":\"77\"}},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":14,\"ts\":14.5,\"dur\":1,\"name\":\"MemcpyH2D\",\"args\":"
        "{\"memcpy_details\":\"kind_src:pageable kind_dst:device size:4096 dest:0 async:1\"}},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":90,\"ts\":10,\"dur\":9,\"name\":\"12\",\"args\":{}},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":5,\"ts\":9,\"dur\":1,\"name\":\"cuLaunchKernel\","
        "\"args\":{\"correlation_id\":\"77\"}},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":5,\"ts\":8,\"dur\":4,\"name\":\"MatMul:MatMul\"},"
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0 "
        "V100\"}},"
        "{\"ph\":\"M\",\"pid\":701,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":13,\"name\":\"thread_name\",\"args\":"
        "{\"name\":\"Stream #13(Compute)\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":14,\"name\":\"thread_name\",\"args\":"
        "{\"name\":\"Stream #14(MemcpyH2D)\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":90,\"name\":\"thread_name\",\"args\":{\"name\":\"Steps\"}}"
        ","
        "{}]}",
        &err);
    CHECK(t != NULL);
    if (!t) {
        return;
    }
    CHECK_STR(t->format, "chrome");
    CHECK_EQ(t->device_count, 1);
    CHECK_STR(stk_strpool_get(&t->strings, t->devices[0].name).p, "V100");
    uint32_t kernel = find(t, "volta_sgemm"), copy = find(t, "MemcpyH2D");
    CHECK_EQ(t->kind[kernel], STK_KIND_KERNEL);
    CHECK_EQ(t->kind[copy], STK_KIND_MEMCPY);
    CHECK_EQ(track_of(t, kernel)->kind, STK_TRACK_STREAM);
    CHECK_EQ(track_of(t, find(t, "12"))->kind, STK_TRACK_DERIVED);
    CHECK_EQ(t->kind[find(t, "cuLaunchKernel")], STK_KIND_RUNTIME);
    CHECK_EQ(t->kind[find(t, "MatMul:MatMul")], STK_KIND_HOST_OP);
    CHECK_EQ(stk_link_of(t, kernel), find(t, "cuLaunchKernel"));
    const struct stk_ext *ext = stk_ext_of(t, copy);
    CHECK(ext && ext->value == 4096 && ext->src_mem == STK_MEM_PAGEABLE && ext->dir == STK_DIR_H2D);
    stk_trace_free(t);
}

static void test_facts(void)
{
    struct stk_trace *t = chrome_read_text(
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":7,"
        "\"ts\":1,\"dur\":1}],\"deviceProperties\":[{\"id\":0,\"name\":\"A\",\"numSms\":1},"
        "{\"id\":1,\"name\":\"NVIDIA H100\",\"numSms\":132,\"computeMajor\":9,\"computeMinor\":0,"
        "\"totalGlobalMem\":85899345920}],\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,"
        "\"world_size\":8},\"baseTimeNanoseconds\":1751410836000000000,\"host_name\":\"node7\","
        "\"WARNING\":[\"w1\",\"w2\"]}",
        &err);
    CHECK(t != NULL);
    if (!t) {
        return;
    }
    CHECK_STR(t->format, "kineto");
    CHECK_EQ(t->rank, 3);
    CHECK_EQ(t->world_size, 8);
    CHECK_EQ(t->devices[0].sm_count, 132);
    CHECK_EQ(t->devices[0].cc_major, 9);
    CHECK_EQ(t->devices[0].memory_bytes, 85899345920);
    CHECK_STR(stk_strpool_get(&t->strings, t->devices[0].name).p, "NVIDIA H100");
    CHECK_STR(stk_strpool_get(&t->strings, t->host).p, "node7");
    CHECK_EQ(t->issues[STK_ISSUE_PROFILER_WARNING].count, 2);
    stk_trace_free(t);
}

static void test_accelerators(void)
{
    struct stk_trace *t = read_events(
        "{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"dma\",\"pid\":9,\"tid\":801,\"ts\":1,"
        "\"dur\":1},{\"ph\":\"X\",\"cat\":\"mtia_runtime\",\"name\":\"run\",\"pid\":5,\"tid\":5,"
        "\"ts\":1,\"dur\":1}");
    CHECK_EQ(t->issues[STK_ISSUE_UNKNOWN_ACCELERATOR].count, 2);
    CHECK_STR(stk_strpool_get(&t->strings, t->issues[STK_ISSUE_UNKNOWN_ACCELERATOR].note).p,
              "mtia_ccp_events");
    CHECK_EQ(t->device_count, 0);
    CHECK_EQ(t->by_kind[STK_KIND_RUNTIME], 0);
    stk_trace_free(t);
    t = chrome_read_text(
        "{\"hip_runtime_version\":7,\"deviceProperties\":[{\"id\":0,\"name\":\"\","
        "\"computeMajor\":9,\"numSms\":304}],\"traceEvents\":[{\"ph\":\"X\","
        "\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":0,\"ts\":1,\"dur\":1}]}",
        &err);
    CHECK(t != NULL);
    if (!t) {
        return;
    }
    CHECK_STR(stk_strpool_get(&t->strings, t->devices[0].name).p, "AMD GPU");
    CHECK_EQ(t->devices[0].cc_major, 0);
    CHECK_EQ(t->devices[0].sm_count, 304);
    stk_trace_free(t);
}

struct seen {
    char text[2048];
};

static void note_arg(void *arg, struct stk_str key, struct stk_str value)
{
    struct seen *s = arg;
    size_t n = strlen(s->text);
    snprintf(s->text + n, sizeof s->text - n, "%.*s=%.*s;", (int)key.n, key.p, (int)value.n,
             value.p);
}

static void test_args(void)
{
    static const char text[] =
        "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},\n"
        " {\"ph\":\"X\",\"name\":\"b\\n\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1,\"args\":"
        "{\"x\":[1,[2]],\"occupancy\":{\"w\":3,\"l\":\"q\\\"\"},\"e\":{}}}]";
    FILE *f = fopen(chrome_text_path(), "wb");
    fputs(text, f);
    fclose(f);
    struct stk_trace *t = chrome_read_file(chrome_text_path(), 1, &err);
    struct stk_stream *stream = NULL;
    struct stk_stream_opts opts = {.seekable = 1};
    struct seen seen = {""};
    CHECK(t && stk_stream_open(&stream, chrome_text_path(), &opts, &err) == STOKER_OK);
    if (t && stream) {
        CHECK_EQ(stk_reader_chrome.args(stream, chrome_text_path(), t, find(t, "b\n"), note_arg,
                                        &seen, &err),
                 STOKER_OK);
        CHECK_STR(seen.text, "ph=X;name=b\n;pid=1;tid=1;ts=5;dur=1;x=[1,[2]];occupancy.w=3;"
                             "occupancy.l=q\";");
        CHECK_EQ(stk_reader_chrome.args(stream, chrome_text_path(), t, 99, note_arg, &seen, &err),
                 STOKER_EINVAL);
    }
    stk_stream_close(stream);
    stk_trace_free(t);
    unlink(chrome_text_path());
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_kinds);
    CHECK_RUN(test_times);
    CHECK_RUN(test_bad_times);
    CHECK_RUN(test_launch_and_copy);
    CHECK_RUN(test_counted_not_stored);
    CHECK_RUN(test_pairs);
    CHECK_RUN(test_merged_ranks);
    CHECK_RUN(test_tensorflow);
    CHECK_RUN(test_facts);
    CHECK_RUN(test_accelerators);
    CHECK_RUN(test_args);
    return check_done("unit.chrome_events");
}
