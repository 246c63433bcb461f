// SPDX-License-Identifier: Apache-2.0
// The Nsight Systems reader on databases made here: old and new schemas, several processes, damage,
// hostile content. Each case writes SQL, reads the file and looks at the trace.
#include <sqlite3.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "read_args.h"
#include "profile/readers/nsys/nsys.h"
#include "profile/readers/reader.h"
#include "profile/store/names.h"

static char path[300];
static sqlite3 *db;
static struct stk_trace *t;
static struct stoker_err err;

static void begin(void)
{
    snprintf(path, sizeof path, "%s/stoker-nsys-%ld.sqlite",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    remove(path);
    CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
}
static void sql(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void sql(const char *fmt, ...)
{
    va_list args;
    char *message = NULL;
    va_start(args, fmt);
    char *text = sqlite3_vmprintf(fmt, args);
    va_end(args);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", text, message);
    }
    CHECK(message == NULL);
    sqlite3_free(message);
    sqlite3_free(text);
}
static enum stoker_status read_it(int threads)
{
    struct stk_read_ctx ctx = {.path = path, .threads = threads};
    sqlite3_close(db);
    db = NULL;
    stk_err_init(&err);
    t = NULL;
    return stk_reader_nsys.read(&ctx, &t, &err);
}
static void end(void)
{
    stk_trace_free(t);
    t = NULL;
    remove(path);
}
static void read_well(void)
{
    enum stoker_status status = read_it(2);
    if (status != STOKER_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    CHECK_EQ(status, STOKER_OK);
    if (!t) {
        exit(check_done("unit.reader_nsys"));
    }
}

static uint32_t find_event(const char *name, int nth)
{
    for (uint32_t e = 0; e < t->count; e++) {
        if (stk_str_eq(stk_name_of(t, e), stk_str_from(name)) && nth-- == 0) {
            return e;
        }
    }
    return STK_NONE;
}
static uint32_t count_kind(enum stk_kind kind)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < t->count; e++) {
        n += t->kind[e] == kind;
    }
    return n;
}
static const char *text(uint32_t id)
{
    return stk_strpool_get(&t->strings, id).p;
}
static int64_t file_time(uint32_t e)
{
    return t->start_ns[e] + t->base_ns;
}

#define TID(pid, tid) ((INT64_C(1) << 48) | (INT64_C(pid) << 24) | (tid))
#define PID(pid) TID(pid, 0)

static void make_strings(void)
{
    sql("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
        "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'void gemm<float>(int)'),"
        "(3, 'gemm'), (4, 'poll'), (5, 'MPI_Allreduce'), (6, 'python3'),"
        "(7, 'cudaStreamGetCaptureInfo_v2_v11030'), (8, 'Command Buffer Full'),"
        "(9, 'aten::mm, seq = 4, sizes = [[2, 3], [3, 2]]'), (5000000, 'far_kernel')");
}
static void make_kernels(const char *more)
{
    sql("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
        "globalPid INTEGER, demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER%s)",
        more);
}
static void make_runtime(void)
{
    sql("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER)");
}

static void test_names(void)
{
    static const char *const versions[][2] = {{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
                                              {"cuMemAlloc_v2", "cuMemAlloc_v2"},
                                              {"cudaX_v2_v11030", "cudaX_v2"},
                                              {"cudaFree", "cudaFree"},
                                              {"_v7000", "_v7000"},
                                              {"x_v7000", "x"},
                                              {"1234", "1234"},
                                              {"", ""}};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        struct stk_str s = stk_nsys_strip_version(stk_str_from(versions[i][0]));
        CHECK(stk_str_eq(s, stk_str_from(versions[i][1])));
    }
    static const char *const ranges[][2] = {
        {"aten::copy_, op_id = 991065", "aten::copy_"},
        {"aten::mm, seq = 12, op_id = 4, sizes = [[1]]", "aten::mm"},
        {"a, b, sizes = [3]", "a, b"},
        {"load, then step", "load, then step"},
        {"", ""}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        bool torch = false;
        struct stk_str s = stk_nsys_strip_nvtx(stk_str_from(ranges[i][0]), &torch);
        CHECK(stk_str_eq(s, stk_str_from(ranges[i][1])));
        CHECK_EQ(torch, i < 3);
    }
    static const struct {
        const char *name;
        bool is;
        int64_t number;
    } steps[] = {{"step 12", true, 12},
                 {"iteration_3", true, 3},
                 {"ProfilerStep#7", true, 7},
                 {"Body of iteration 4", true, 4},
                 {"train_batch[5]", true, 5},
                 {"step 3/100", true, 3},
                 {"epoch 1 step 9", true, 9},
                 {"train_step", true, -1},
                 {"Training Step", true, -1},
                 {"eval step 4", false, 0},
                 {"warmup_iter 1", false, 0},
                 {"Optimizer.step#Adam.step", false, 0},
                 {"microbatch 1", false, 0},
                 {"timestep 30", false, 0},
                 {"layer 12", false, 0},
                 {"epoch 3", false, 0},
                 {"12", false, 0},
                 {"aten::mm", false, 0},
                 {"step 99999999999999999999", false, 0}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint64_t family;
        int64_t number;
        bool is = stk_nsys_step_parse(stk_str_from(steps[i].name), &family, &number);
        if (is != steps[i].is || (is && number != steps[i].number)) {
            fprintf(stderr, "%s\n", steps[i].name);
        }
        CHECK_EQ(is, steps[i].is);
        CHECK(!is || number == steps[i].number);
    }
}

// No StringIds, no process columns, no metadata: as the oldest and home-made files are.
static void test_bare_schema(void)
{
    begin();
    sql("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
        "streamId INTEGER, correlationId INTEGER, demangledName INTEGER);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, "
        "correlationId INTEGER, globalTid INTEGER, nameId INTEGER);"
        "CREATE TABLE StringIds (id INTEGER, value TEXT);" // not the rowid
        "INSERT INTO StringIds VALUES (70, 'k'), (3, 'cudaLaunchKernel');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 7, 5, 70),"
        "(3000, 3500, 0, 7, 6, 99);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-500, -100, 5, 1, 3)");
    read_well();
    CHECK_EQ(t->count, 3);
    CHECK_EQ(t->base_ns, -500);
    CHECK_EQ(t->device_count, 1);
    CHECK_STR(text(t->devices[0].source_id), "0");
    uint32_t k = find_event("k", 0), call = find_event("cudaLaunchKernel", 0);
    CHECK(k != STK_NONE && call != STK_NONE);
    if (k != STK_NONE) {
        CHECK_EQ(stk_link_of(t, k), call);
        CHECK_EQ(file_time(k), 1000);
        CHECK_EQ(stk_dur_ns(t, k), 1000);
    }
    CHECK(t->issues[STK_ISSUE_COLUMN_MISSING].count > 0);
    CHECK_EQ(t->issues[STK_ISSUE_FIELD_INVALID].count, 1); // name 99
    CHECK_STR(t->format, "nsys");
    end();
}

static void test_processes(void)
{
    begin();
    make_strings();
    make_kernels(", someNewColumn TEXT, another REAL");
    make_runtime();
    // Equal correlation ids in two processes, on devices that both number 0.
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
        "(1000, 1500, 0, 1, 7, 42, %lld, 2, 3, NULL, 'x', 0.5),"
        "(2000, 2500, 0, 1, 7, 42, %lld, 2, 3, 9, 'x', 0.5),"
        "(2600, 2700, 0, 1, 7, 43, %lld, 5000000, 3, NULL, 'x', 0.5);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
        "(100, 200, 0, %lld, 42, 1), (90, 210, 67, %lld, 42, 1),"
        "(300, 400, 0, %lld, 42, 1), (500, 600, 1, %lld, 77, 7);"
        "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
        "INSERT INTO PROCESSES VALUES (%lld, 11, 'train'), (%lld, 12, 'train'), (%lld, 9, 'init');"
        "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);"
        "INSERT INTO MPI_RANKS VALUES (%lld, 4), (%lld, 5);"
        "CREATE TABLE TARGET_INFO_GPU (id INTEGER, cuDevice INTEGER, name TEXT, smCount INTEGER,"
        "computeMajor INTEGER, computeMinor INTEGER, totalMemory INTEGER);"
        "INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'first', 10, 7, 0, 1), (1, 0, 'second', 20, 9, "
        "0, 2);"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 12);"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
        "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1.210');"
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
        "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('DeviceEnvironment', 'TOKEN=secret'),"
        "('Hostname', 'node7');"
        "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
        "INSERT INTO ThreadNames VALUES (6, 20, %lld)",
        (long long)PID(11), (long long)PID(12), (long long)PID(12), (long long)TID(11, 21),
        (long long)TID(11, 21), (long long)TID(12, 22), (long long)TID(12, 22), (long long)PID(11),
        (long long)PID(12), (long long)PID(9), (long long)TID(11, 21), (long long)TID(12, 22),
        (long long)TID(11, 21));
    read_well();
    CHECK_EQ(t->count, 6);
    CHECK_EQ(t->process_count, 2);
    CHECK_EQ(t->device_count, 2);
    uint32_t a = find_event("void gemm<float>(int)", 0), b = find_event("void gemm<float>(int)", 1);
    CHECK(a != STK_NONE && b != STK_NONE);
    if (a != STK_NONE && b != STK_NONE) {
        if (t->start_ns[a] > t->start_ns[b]) {
            uint32_t swap = a;
            a = b;
            b = swap;
        }
        uint32_t la = stk_link_of(t, a), lb = stk_link_of(t, b);
        CHECK(la != STK_NONE && lb != STK_NONE);
        CHECK(la != STK_NONE && t->tracks[stk_track_of(t, la)].id == 21);
        CHECK(lb != STK_NONE && t->tracks[stk_track_of(t, lb)].id == 22);
        CHECK(stk_ext_of(t, b)->flags & STK_EXT_GRAPH);
        CHECK(!(stk_ext_of(t, a)->flags & STK_EXT_GRAPH));
    }
    CHECK(find_event("far_kernel", 0) != STK_NONE);
    CHECK(find_event("cudaStreamGetCaptureInfo_v2", 0) != STK_NONE);
    CHECK_EQ(count_kind(STK_KIND_RUNTIME), 3); // the class 67 row repeats another
    for (uint32_t i = 0; i < t->process_count; i++) {
        CHECK_EQ(t->processes[i].rank, t->processes[i].pid - 7);
        CHECK_STR(text(t->processes[i].name), "train");
        CHECK_STR(text(t->processes[i].host), "node7");
    }
    for (uint32_t i = 0; i < t->device_count; i++) {
        bool is_12 = t->processes[t->devices[i].process].pid == 12;
        CHECK_STR(text(t->devices[i].name), is_12 ? "first" : "second");
        CHECK_STR(text(t->devices[i].source_id), is_12 ? "12/0" : "11/0");
    }
    for (uint32_t i = 0; i < t->track_count; i++) {
        if (t->tracks[i].kind == STK_TRACK_THREAD && t->tracks[i].id == 21) {
            CHECK_STR(text(t->tracks[i].name), "python3");
        }
    }
    CHECK_STR(text(t->producer), "Nsight Systems 2026.2.1.210");
    CHECK_EQ(t->rank, -1); // two of them
    CHECK_EQ(t->base_ns, INT64_C(1700000000000000100));
    for (uint32_t i = 0; i < t->strings.count; i++) {
        CHECK(!strstr(text(i), "secret"));
    }
    end();
}

static void test_other_tables(void)
{
    begin();
    make_strings();
    sql("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "
        "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, "
        "copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10, 20, 0, 7, 1, %lld, 4096, 1, 0, 2),"
        "(30, 40, 0, 7, 2, %lld, 10, 2, 2, 1), (50, 60, 0, 7, 3, %lld, 10, 99, 77, NULL);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, "
        "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, memKind "
        "INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (70, 80, 0, 7, 4, %lld, 64, 2);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId "
        "INTEGER,"
        "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, "
        "graphExecId INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (100, 900, 0, 7, 5, %lld, 3, 4);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, "
        "deviceId INTEGER, streamId INTEGER, globalPid INTEGER, syncType INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 950, 3, 4294967295, %lld, 3);"
        "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);"
        "INSERT INTO OSRT_API VALUES (5, 15, %lld, 4);"
        "CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, "
        "textId INTEGER);"
        "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (25, 35, %lld, 5);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, "
        "nameId INTEGER, overheadType INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (45, 46, %lld, 8, 8), (47, 48, %lld, "
        "NULL, 3);"
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, "
        "deviceId INTEGER, bytes INTEGER, memoryOperationType INTEGER);"
        "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (2, %lld, 0, 512, 0), (3, %lld, 0, 512, "
        "1);"
        "CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text TEXT);"
        "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'all is well'), (4, 'chatter'),"
        "(2, 'CUPTI: 12 events were dropped'), (2, 'cannot sample' || char(10) || 'details'),"
        "(3, 'broken')",
        (long long)PID(8), (long long)PID(8), (long long)PID(8), (long long)PID(8),
        (long long)PID(8), (long long)PID(8), (long long)TID(8, 8), (long long)TID(8, 8),
        (long long)TID(8, 8), (long long)TID(8, 8), (long long)PID(8), (long long)PID(8));
    read_well();
    CHECK_EQ(count_kind(STK_KIND_MEMCPY), 3);
    CHECK_EQ(count_kind(STK_KIND_MEMSET), 1);
    CHECK_EQ(count_kind(STK_KIND_KERNEL), 1);
    CHECK_EQ(count_kind(STK_KIND_SYNC), 1);
    CHECK_EQ(count_kind(STK_KIND_MEMORY), 2);
    CHECK_EQ(count_kind(STK_KIND_OTHER), 2);
    CHECK_EQ(t->device_count, 1); // a synchronization record does not make a device
    const struct stk_ext *h2d = stk_ext_of(t, find_event("[CUDA memcpy HtoD]", 0));
    CHECK(h2d && h2d->dir == STK_DIR_H2D && h2d->value == 4096 && (h2d->flags & STK_EXT_VALUE));
    CHECK(h2d && h2d->src_mem == STK_MEM_PAGEABLE && h2d->dst_mem == STK_MEM_DEVICE);
    const struct stk_ext *d2h = stk_ext_of(t, find_event("[CUDA memcpy DtoH]", 0));
    CHECK(d2h && d2h->dir == STK_DIR_D2H && d2h->dst_mem == STK_MEM_PINNED);
    const struct stk_ext *odd = stk_ext_of(t, find_event("[CUDA memcpy]", 0));
    CHECK(odd && odd->dir == STK_DIR_UNKNOWN && odd->src_mem == STK_MEM_UNKNOWN);
    uint32_t graph = find_event("CUDA graph 3", 0);
    CHECK(graph != STK_NONE && (stk_ext_of(t, graph)->flags & STK_EXT_GRAPH));
    CHECK_EQ(t->issues[STK_ISSUE_GRAPH_TRACE].count, 1);
    uint32_t sync = find_event("Stream sync", 0);
    CHECK(sync != STK_NONE && t->tracks[stk_track_of(t, sync)].kind == STK_TRACK_OTHER);
    CHECK(find_event("MPI_Allreduce", 0) != STK_NONE);
    CHECK(find_event("poll", 0) != STK_NONE);
    CHECK(find_event("Command Buffer Full", 0) != STK_NONE);
    CHECK(find_event("Buffer Flush", 0) != STK_NONE);
    int64_t sum = 0;
    for (int i = 0; i < 2; i++) {
        const struct stk_ext *m = stk_ext_of(t, find_event("[memory]", i));
        CHECK(m && (m->value == 512 || m->value == -512));
        sum += m ? m->value : 1;
    }
    CHECK_EQ(sum, 0);
    CHECK_EQ(t->issues[STK_ISSUE_EVENTS_DROPPED].count, 1);
    CHECK_EQ(t->issues[STK_ISSUE_PROFILER_WARNING].count, 1);
    CHECK_STR(text(t->issues[STK_ISSUE_PROFILER_WARNING].note), "cannot sample");
    CHECK_EQ(t->issues[STK_ISSUE_PROFILER_ERROR].count, 1);
    end();
}

static void test_nvtx(void)
{
    begin();
    make_strings();
    sql("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
        "globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);"
        "INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, 'MPI', %lld, NULL, NULL, 1),"
        "(1, NULL, 39, 'MPI Rank 3', %lld, NULL, NULL, 0),"
        "(0, 10000, 59, 'epoch 1', %lld, NULL, NULL, 0),"
        "(60, 70, 59, NULL, %lld, NULL, 9, 0), (80, 90, 60, 'async', %lld, %lld, NULL, 0),"
        "(95, NULL, 34, 'mark', %lld, NULL, NULL, 0), (99, NULL, 59, 'open', %lld, NULL, NULL, 0)",
        (long long)TID(5, 5), (long long)TID(5, 5), (long long)TID(5, 5), (long long)TID(5, 5),
        (long long)TID(5, 5), (long long)TID(5, 6), (long long)TID(5, 5), (long long)TID(5, 5));
    for (int i = 0; i < 5; i++) { // out of order, with a nested family that covers less
        sql("INSERT INTO NVTX_EVENTS VALUES (%d, %d, 59, 'step %d', %lld, NULL, NULL, 0),"
            "(%d, %d, 59, 'batch %d', %lld, NULL, NULL, 0),"
            "(%d, %d, 59, 'train_step', %lld, NULL, NULL, 0)",
            100 + (4 - i) * 100, 190 + (4 - i) * 100, 12 - i, (long long)TID(5, 5),
            110 + (4 - i) * 100, 150 + (4 - i) * 100, 12 - i, (long long)TID(5, 5),
            100 + (4 - i) * 100, 199 + (4 - i) * 100, (long long)TID(5, 5));
    }
    read_well();
    CHECK_EQ(t->rank, 3);
    CHECK(find_event("aten::mm", 0) != STK_NONE);
    CHECK(t->framework_hint & 1u << STK_FW_PYTORCH);
    CHECK(find_event("mark", 0) != STK_NONE);
    uint32_t async = find_event("async", 0);
    CHECK(async != STK_NONE && t->tracks[stk_track_of(t, async)].id == 5);
    CHECK_EQ(find_event("open", 0), STK_NONE);
    CHECK_EQ(t->issues[STK_ISSUE_TIME_INVALID].count, 1);
    int steps = 0;
    for (uint32_t e = 0; e < t->count; e++) {
        const struct stk_ext *ext = stk_ext_of(t, e);
        if (!ext || !(ext->flags & STK_EXT_STEP)) {
            continue;
        }
        char name[32];
        snprintf(name, sizeof name, "step %d", (int)ext->value);
        CHECK(ext->flags & STK_EXT_VALUE);
        CHECK(stk_str_eq(stk_name_of(t, e), stk_str_from(name)));
        steps++;
    }
    CHECK_EQ(steps, 5);
    CHECK_EQ(count_kind(STK_KIND_ANNOTATION), 19);
    end();
}

// Ranges whose names qualify but whose rhythm does not.
static int count_steps(const char *names[], const int starts[], int n)
{
    int steps = 0;
    begin();
    sql("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
        "globalTid INTEGER)");
    for (int i = 0; i < n; i++) {
        sql("INSERT INTO NVTX_EVENTS VALUES (%d, %d, 59, '%s', %lld)", starts[i], starts[i] + 50,
            names[i], (long long)TID(5, 5));
    }
    read_well();
    for (uint32_t e = 0; e < t->count; e++) {
        const struct stk_ext *ext = stk_ext_of(t, e);
        steps += ext && ext->flags & STK_EXT_STEP;
    }
    CHECK_EQ(count_kind(STK_KIND_ANNOTATION), n);
    end();
    return steps;
}

static void test_steps(void)
{
    const int apart[] = {0, 100, 200, 300, 400, 500}, close[] = {0, 40, 80, 120, 160, 200};
    CHECK_EQ(count_steps((const char *[]){"step 1", "step 2"}, apart, 2), 0);
    CHECK_EQ(count_steps((const char *[]){"step 1", "step 2", "step 3"}, apart, 3), 3);
    CHECK_EQ(count_steps((const char *[]){"step 1", "step 2", "step 3"}, close, 3), 0);
    CHECK_EQ(count_steps((const char *[]){"step 3", "step 2", "step 1"}, apart, 3), 0);
    CHECK_EQ(count_steps((const char *[]){"step 1", "step 1", "step 1"}, apart, 3), 0);
    CHECK_EQ(
        count_steps((const char *[]){"step 0", "step 1", "step 2", "step 0", "step 1", "step 2"},
                    apart, 6),
        6);
    CHECK_EQ(count_steps((const char *[]){"train_step", "train_step", "train_step"}, apart, 3), 3);
    CHECK_EQ(count_steps((const char *[]){"layer 1", "layer 2", "layer 3"}, apart, 3), 0);
    CHECK_EQ(count_steps((const char *[]){"step 1", "batch 2", "iter 3"}, apart, 3), 0);
}

static void test_bad_values(void)
{
    begin();
    make_strings();
    sql("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, "
        "globalPid, demangledName);" // no types: text stays text
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
        "(100, 200, 0, 7, 1, %lld, 2), ('soon', 300, 0, 7, 1, %lld, 2), (400, NULL, 0, 7, 1, 0, 2),"
        "(600, 500, 0, 7, 1, 0, 2), (700, 800, 'zero', 7.5, x'00', %lld, 'inline name'),"
        "(9223372036854775807, -9223372036854775808, 0, 7, 1, 0, 2),"
        "(-9223372036854775808, 9223372036854775807, 0, 7, 1, 0, 2),"
        "(900, 950, -5, 9223372036854775807, -1, -1, -77)",
        (long long)PID(8), (long long)PID(8), (long long)PID(8));
    read_well();
    CHECK_EQ(count_kind(STK_KIND_KERNEL), 3);
    CHECK(find_event("inline name", 0) != STK_NONE);
    CHECK_EQ(t->issues[STK_ISSUE_TIME_INVALID].count, 5);
    CHECK_EQ(t->issues[STK_ISSUE_TIME_INVALID].events_lost, 5);
    CHECK(t->issues[STK_ISSUE_FIELD_INVALID].count >= 4);
    end();
}

static void test_hostile_schema(void)
{
    begin();
    make_strings();
    make_runtime();
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, %lld, 1, 1);"
        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL "
        "SELECT start + 1 FROM n) SELECT start, start AS end FROM n;"
        "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER "
        "GENERATED ALWAYS AS (length(zeroblob(100000000)) + abs(start)) VIRTUAL);"
        "INSERT INTO OSRT_API VALUES (1, 2, %lld);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (5);"
        "CREATE TABLE NVTX_EVENTS (start INTEGER PRIMARY KEY, end INTEGER, globalTid INTEGER) "
        "WITHOUT ROWID; INSERT INTO NVTX_EVENTS VALUES (1, 2, 3)",
        (long long)TID(5, 5), (long long)TID(5, 5));
    read_well();
    CHECK_EQ(count_kind(STK_KIND_RUNTIME), 1);
    CHECK_EQ(count_kind(STK_KIND_KERNEL), 0);
    CHECK_EQ(count_kind(STK_KIND_HOST_OP), 1); // without the generated column
    CHECK_EQ(t->issues[STK_ISSUE_TABLE_UNREADABLE].count, 3);
    end();

    begin();
    sql("CREATE TABLE users (id INTEGER)");
    CHECK_EQ(read_it(1), STOKER_EINPUT);
    CHECK(strstr(err.message, "has no tables of Nsight Systems"));
    end();
}

static void poke(long offset, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "r+b");
    CHECK(f && fseek(f, offset, SEEK_SET) == 0 && fwrite(bytes, 1, n, f) == n);
    if (f) {
        fclose(f);
    }
}
static void fill_kernels(int n)
{
    make_strings();
    make_kernels("");
    make_runtime();
    sql("BEGIN");
    sql("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100 + 50, i * 100 + 90, i %% 3, 1, "
        "7 + i %% 2, i, %lld, 2, 3, NULL FROM n",
        n - 1, (long long)PID(8));
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start - 50, start - 20, 0, %lld, "
        "correlationId, 1 FROM CUPTI_ACTIVITY_KIND_KERNEL",
        (long long)TID(8, 9));
    sql("COMMIT");
}

// Kernels come every 100 ns: before the time that the reader gives all are there.
static void check_whole_kernels(void)
{
    int64_t first_ns = INT64_MAX, n = 0;
    for (uint32_t e = 0; e < t->count; e++) {
        bool is_before = t->kind[e] == STK_KIND_KERNEL && t->start_ns[e] < t->whole_until_ns;
        first_ns = is_before && t->start_ns[e] < first_ns ? t->start_ns[e] : first_ns;
        n += is_before;
    }
    CHECK_EQ(t->cut, STK_CUT_AT);
    CHECK(n > 0 && t->whole_until_ns != INT64_MAX);
    CHECK_EQ(n * 100, t->whole_until_ns - first_ns);
}

static void test_damage(void)
{
    enum { ROWS = 20000 };
    uint8_t junk[4096];
    memset(junk, 0xa5, sizeof junk);
    begin();
    fill_kernels(ROWS);
    sqlite3_close(db);
    db = NULL;
    poke(4096L * 100, junk, sizeof junk); // pages of the kernel table
    poke(4096L * 150, junk, sizeof junk);
    read_well();
    CHECK(count_kind(STK_KIND_KERNEL) > ROWS - 4 * 4096 / 20);
    CHECK(count_kind(STK_KIND_KERNEL) < ROWS);
    CHECK_EQ(count_kind(STK_KIND_RUNTIME), ROWS);
    CHECK(t->issues[STK_ISSUE_TABLE_UNREADABLE].count >= 1);
    CHECK_EQ(t->issues[STK_ISSUE_TABLE_UNREADABLE].events_lost, ROWS - count_kind(STK_KIND_KERNEL));
    check_whole_kernels();
    end();

    begin();
    fill_kernels(ROWS);
    sqlite3_close(db);
    db = NULL;
    CHECK_EQ(truncate(path, 4096L * 150), 0);
    read_well();
    CHECK(count_kind(STK_KIND_KERNEL) > 0 && count_kind(STK_KIND_KERNEL) < ROWS);
    CHECK_EQ(t->issues[STK_ISSUE_TRUNCATED].count, 1);
    CHECK(t->issues[STK_ISSUE_TABLE_UNREADABLE].count >= 1);
    CHECK_EQ(t->cut, STK_CUT_AT); // the calls were written behind the kernels
    CHECK_EQ(t->whole_until_ns, INT64_MIN);
    end();

    // A partial page, which SQLite would fill up with zeros.
    begin();
    fill_kernels(ROWS);
    sqlite3_close(db);
    db = NULL;
    CHECK_EQ(truncate(path, 4096L * 150 + 100), 0);
    read_well();
    CHECK_EQ(t->issues[STK_ISSUE_TIME_INVALID].count, 0);
    CHECK_EQ(t->issues[STK_ISSUE_FIELD_INVALID].count, 0);
    CHECK_EQ(t->cut, STK_CUT_AT);
    end();

    begin();
    fill_kernels(100);
    sqlite3_close(db);
    db = NULL;
    poke(100, junk, 2000); // the schema's page
    CHECK_EQ(read_it(1), STOKER_EINPUT);
    CHECK(strstr(err.message, "damaged"));
    end();

    // Many cuts of a small file: an error with a text, or a trace.
    begin();
    fill_kernels(300);
    sqlite3_close(db);
    db = NULL;
    FILE *f = fopen(path, "rb");
    CHECK(f && fseek(f, 0, SEEK_END) == 0);
    long size = f ? ftell(f) : 0;
    if (f) {
        fclose(f);
    }
    for (long cut = size - 200; cut >= 0; cut -= 200) {
        CHECK_EQ(truncate(path, cut), 0);
        enum stoker_status status = read_it(1);
        CHECK((status == STOKER_OK) == (t != NULL));
        CHECK(status == STOKER_OK || (status == STOKER_EINPUT && err.message[0]));
        stk_trace_free(t);
        t = NULL;
    }
    end();
}

// A damaged tree may have its least row last: the first rowid of the page is set to 127, of 10.
static void test_rows_out_of_order(void)
{
    enum { PAGE = 4096, CELLS = 8 };
    uint8_t page[PAGE], rowid = 127;
    sqlite3_stmt *st = NULL;
    begin();
    fill_kernels(10);
    CHECK_EQ(sqlite3_prepare_v2(db,
                                "SELECT rootpage FROM sqlite_schema WHERE name = "
                                "'CUPTI_ACTIVITY_KIND_KERNEL'",
                                -1, &st, NULL),
             SQLITE_OK);
    CHECK_EQ(sqlite3_step(st), SQLITE_ROW);
    long at = (sqlite3_column_int64(st, 0) - 1) * PAGE;
    sqlite3_finalize(st);
    sqlite3_close(db);
    db = NULL;
    FILE *f = fopen(path, "rb");
    CHECK(f && fseek(f, at, SEEK_SET) == 0 && fread(page, 1, PAGE, f) == PAGE);
    if (f) {
        fclose(f);
    }
    long cell = (long)page[CELLS] << 8 | page[CELLS + 1];
    CHECK(cell > CELLS && cell < PAGE - 2 && page[cell] < 128 && page[cell + 1] == 1);
    poke(at + cell + 1, &rowid, 1);
    read_well();
    CHECK_EQ(count_kind(STK_KIND_RUNTIME), 10);
    CHECK(count_kind(STK_KIND_KERNEL) <= 10);
    CHECK(t->issues[STK_ISSUE_TABLE_UNREADABLE].count >= 1);
    end();
}

static void test_sniff_and_companions(void)
{
    uint8_t zeros[4096] = {0};
    const char *why = NULL;
    CHECK_EQ(stk_reader_nsys.sniff((const uint8_t *)"SQLite format 3", 16, &why), 2);
    CHECK(!why);
    CHECK_EQ(stk_reader_nsys.sniff((const uint8_t *)"{\"traceEvents\"", 14, &why), 0);
    CHECK(!why);
    CHECK_EQ(stk_reader_nsys.sniff(zeros, sizeof zeros, &why), 0);
    CHECK(why && strstr(why, "interrupted export"));
    char beside[320];
    begin();
    fill_kernels(10);
    snprintf(beside, sizeof beside, "%s-wal", path);
    FILE *f = fopen(beside, "wb");
    CHECK(f && fputs("frames", f) >= 0);
    if (f) {
        fclose(f);
    }
    sqlite3_close(db); // may take the file away
    f = fopen(beside, "wb");
    CHECK(f && fputs("frames", f) >= 0);
    if (f) {
        fclose(f);
    }
    db = NULL;
    read_well();
    CHECK_EQ(t->issues[STK_ISSUE_TRUNCATED].count, 1);
    CHECK_EQ(t->cut, STK_CUT_AT); // what the log holds may belong anywhere
    CHECK_EQ(t->whole_until_ns, INT64_MIN);
    CHECK_EQ(count_kind(STK_KIND_KERNEL), 10);
    remove(beside);
    end();

    begin();
    sqlite3_close(db);
    db = NULL;
    zeros[0] = 0x1f;
    zeros[1] = 0x8b;
    f = fopen(path, "wb");
    CHECK(f && fwrite(zeros, 1, 200, f) == 200);
    if (f) {
        fclose(f);
    }
    CHECK_EQ(read_it(1), STOKER_EINPUT);
    CHECK(strstr(err.message, "unpack it first"));
    end();
}

static char args_text[4096];
static void collect(void *arg, struct stk_str key, struct stk_str value)
{
    size_t at = strlen(args_text);
    (void)arg;
    snprintf(args_text + at, sizeof args_text - at, "%.*s=%.*s;", (int)key.n, key.p, (int)value.n,
             value.p);
}

static void test_args(void)
{
    begin();
    fill_kernels(3);
    read_well();
    for (uint32_t e = 0; e < t->count; e++) {
        args_text[0] = 0;
        CHECK_EQ(read_args(&stk_reader_nsys, NULL, path, t, e, collect, NULL, &err), STOKER_OK);
        char start[40];
        snprintf(start, sizeof start, "start=%" PRId64 ";", file_time(e));
        CHECK(strstr(args_text, start));
        CHECK(strstr(args_text, t->kind[e] == STK_KIND_KERNEL
                                    ? "demangledName=void gemm<float>(int);"
                                    : "nameId=cudaLaunchKernel_v7000;"));
        CHECK(!strstr(args_text, "graphNodeId"));
    }
    end();
}

// Workers must not change the result.
static void test_threads(void)
{
    begin();
    fill_kernels(300000); // more than one unit of a table
    CHECK_EQ(read_it(1), STOKER_OK);
    struct stk_trace *one = t;
    CHECK_EQ(read_it(4), STOKER_OK);
    CHECK(one && t && one->count == t->count && t->count == 600000);
    if (one && t && one->count == t->count) {
        CHECK(memcmp(one->start_ns, t->start_ns, sizeof(int64_t) * t->count) == 0);
        CHECK(memcmp(one->pos_low, t->pos_low, sizeof(uint32_t) * t->count) == 0);
        CHECK(memcmp(one->name, t->name, sizeof(uint32_t) * t->count) == 0);
    }
    uint32_t linked = 0;
    for (uint32_t e = 0; t && e < t->count; e++) {
        linked += t->kind[e] == STK_KIND_KERNEL && stk_link_of(t, e) != STK_NONE;
    }
    CHECK_EQ(linked, 300000);
    stk_trace_free(one);
    end();
}

static int interrupt(void *arg, uint64_t done, uint64_t total)
{
    uint64_t *calls = arg;
    CHECK(done <= total);
    return ++*calls >= 2;
}

static void test_interrupt_and_memory(void)
{
    uint64_t calls = 0;
    begin();
    fill_kernels(20000);
    sqlite3_close(db);
    db = NULL;
    struct stk_progress progress = {interrupt, &calls};
    struct stk_read_ctx ctx = {.path = path, .threads = 1, .progress = &progress};
    CHECK_EQ(stk_reader_nsys.read(&ctx, &t, &err), STOKER_EINTR);
    CHECK_EQ(calls, 2);
    CHECK(t == NULL);
    end();

    // A failing allocation fails the reading, or changes nothing.
    begin();
    fill_kernels(20);
    sql("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, globalTid INTEGER);"
        "INSERT INTO NVTX_EVENTS VALUES (1, 5, 'step 1', %lld), (6, 9, 'step 2', %lld),"
        "(10, 15, 'step 3', %lld); CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);"
        "INSERT INTO TARGET_INFO_GPU VALUES (0, 'gpu')",
        (long long)TID(8, 9), (long long)TID(8, 9), (long long)TID(8, 9));
    sqlite3_close(db);
    db = NULL;
    ctx.progress = NULL;
    for (int sticky = 0; sticky < 2; sticky++) {
        uint64_t before = stk_alloc_count();
        CHECK_EQ(stk_reader_nsys.read(&ctx, &t, &err), STOKER_OK);
        uint64_t allocations = stk_alloc_count() - before;
        stk_trace_free(t);
        for (uint64_t n = 1; n <= allocations; n += CHECK_STRIDE(20)) {
            stk_alloc_fail_at(n, sticky);
            enum stoker_status status = stk_reader_nsys.read(&ctx, &t, &err);
            stk_alloc_fail_at(0, 0);
            CHECK((status == STOKER_OK) == (t != NULL));
            CHECK(status == STOKER_OK || status == STOKER_ENOMEM);
            if (t) {
                const struct stk_ext *step = stk_ext_of(t, find_event("step 2", 0));
                CHECK(t->count == 43 && t->device_count == 3);
                CHECK(step && step->flags & STK_EXT_STEP);
                CHECK(find_event("void gemm<float>(int)", 19) != STK_NONE);
                CHECK_EQ(stk_link_of(t, find_event("void gemm<float>(int)", 0)) != STK_NONE, 1);
            }
            stk_trace_free(t);
            t = NULL;
        }
    }
    end();
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_names);
    CHECK_RUN(test_bare_schema);
    CHECK_RUN(test_processes);
    CHECK_RUN(test_other_tables);
    CHECK_RUN(test_nvtx);
    CHECK_RUN(test_steps);
    CHECK_RUN(test_bad_values);
    CHECK_RUN(test_hostile_schema);
    CHECK_RUN(test_damage);
    CHECK_RUN(test_rows_out_of_order);
    CHECK_RUN(test_sniff_and_companions);
    CHECK_RUN(test_args);
    CHECK_RUN(test_threads);
    CHECK_RUN(test_interrupt_and_memory);
    return check_done("unit.reader_nsys");
}
