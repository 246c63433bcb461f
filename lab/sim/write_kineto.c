// SPDX-License-Identifier: Apache-2.0
// PyTorch's profiler (Kineto): JSON in the Trace Event Format, times in microseconds. Two rows:
// `kineto` like newer versions, with nanoseconds as decimals; `kineto_us` like those before 2.3,
// rounded to whole microseconds. Left out, like there: loader workers (other processes), the
// program's Python, event records. Flows (ac2g) connect launches and their work.
#include "base/alloc.h"
#include "base/text.h"
#include "sim_names.h"
#include "sim_world.h"
#include "sim_writer.h"

#define GROUP_SHOWN 30 // PyTorch truncates longer lists of ranks
#define BASE_NS INT64_C(1700000000000000000)

struct kineto {
    FILE *out;
    struct sim_job job;
    uint32_t rank, device;
    bool is_coarse;
    int64_t end_ns; // of all so far
};

static void put_times(struct kineto *k, const struct sim_row *row, bool has_dur)
{
    char ts[STK_TEXT_NUMBER_MAX], dur[STK_TEXT_NUMBER_MAX];
    int64_t start = row->start_ns, end = row->end_ns;
    if (k->is_coarse) {
        start = (start + 500) / 1000 * 1000;
        end = (end + 500) / 1000 * 1000;
    }
    stk_text_put_us(ts, start);
    stk_text_put_us(dur, end - start);
    fprintf(k->out, "\"ts\": %s", ts);
    if (has_dur) {
        fprintf(k->out, ", \"dur\": %s", dur);
    }
}

static void put_name_of(struct kineto *k, uint32_t pid, uint32_t tid, const char *what,
                        const char *name)
{
    fprintf(k->out,
            "{\"name\": \"%s\", \"ph\": \"M\", \"ts\": 0, \"pid\": %u, \"tid\": %u, "
            "\"args\": {\"name\": \"%s\"}},\n",
            what, pid, tid, name);
}

static void *kineto_begin(const char *path, const struct sim_job *job, uint32_t rank,
                          bool is_coarse)
{
    struct kineto *k = stk_alloc_zero(1, sizeof *k);
    uint32_t pid = sim_writer_pid(rank);
    if (!k || !(k->out = fopen(path, "w"))) {
        sim_die(path, "cannot be written");
    }
    k->job = *job;
    k->rank = rank;
    k->device = rank % (uint32_t)job->ranks_per_host;
    k->is_coarse = is_coarse;
    fprintf(k->out,
            "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{\"id\": %u, \"name\": \"%s\", "
            "\"totalGlobalMem\": 42505273344, \"computeMajor\": 8, \"computeMinor\": 0, "
            "\"numSms\": 108}],\n\"cuda_runtime_version\": 12010,\n",
            k->device, sim_name_of_gpu(job));
    if (job->ranks > 1) {
        fprintf(k->out, "\"host_name\": \"node%u\",\n", rank / (uint32_t)job->ranks_per_host);
        fprintf(
            k->out,
            "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %u, \"world_size\": %.0f},\n",
            rank, job->ranks);
    }
    fprintf(k->out,
            "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": %lld,\n\"traceEvents\": [\n",
            (long long)(BASE_NS + sim_writer_clock_ns(job, rank)));
    put_name_of(k, pid, 0, "process_name", "python");
    put_name_of(k, pid, pid, "thread_name", "thread (python)");
    put_name_of(k, k->device, 0, "process_name", "python");
    return k;
}

static void *kineto_open(const char *path, const struct sim_job *job, uint32_t rank)
{
    return kineto_begin(path, job, rank, false);
}

static void *kineto_us_open(const char *path, const struct sim_job *job, uint32_t rank)
{
    return kineto_begin(path, job, rank, true);
}

static const char *category_of(const struct sim_row *row)
{
    switch ((enum sim_kind)row->kind) {
    case SIM_RUNTIME:
        return "cuda_runtime";
    case SIM_OVERHEAD:
        return "overhead";
    case SIM_KERNEL:
    case SIM_COLLECTIVE:
        return "kernel";
    case SIM_COPY:
        return "gpu_memcpy";
    case SIM_MEMSET:
        return "gpu_memset";
    default:
        break;
    }
    bool is_user = row->kind == SIM_STEP || row->role == SIM_ROLE_FETCH ||
                   row->role == SIM_ROLE_FETCH_OWN || row->role == SIM_ROLE_OPTIMIZER ||
                   row->role == SIM_ROLE_FORWARD;
    return is_user ? "user_annotation" : "cpu_op";
}

static void put_ranks(struct kineto *k)
{
    uint32_t ranks = (uint32_t)k->job.ranks, shown = ranks > GROUP_SHOWN ? GROUP_SHOWN - 1 : ranks;
    fprintf(k->out, "\"[");
    for (uint32_t i = 0; i < shown; i++) {
        fprintf(k->out, "%s%u", i ? ", " : "", i);
    }
    if (shown < ranks) {
        fprintf(k->out, ", ..., %u", ranks - 1);
    }
    fprintf(k->out, "]\"");
}

// For products and convolutions (record_shapes=True).
static void put_shapes(struct kineto *k, const struct sim_row *row)
{
    int of = k->job.unaligned > 0 ? 1021 : 1024, channels = k->job.unaligned > 0 ? 253 : 256;
    if (row->role == SIM_ROLE_OP_MATRIX) {
        fprintf(k->out, ", \"Input Dims\": [[512, %d], [%d, %d]]", of, of, of);
    } else if (row->role == SIM_ROLE_OP_CONV) {
        fprintf(k->out, ", \"Input Dims\": [[32, %d, 28, 28], [%d, %d, 3, 3]]", channels, channels,
                channels);
    }
}

static void put_args(struct kineto *k, const struct sim_row *row)
{
    fprintf(k->out, ", \"args\": {");
    if (row->kind >= SIM_KERNEL) {
        fprintf(k->out, "\"device\": %u, \"context\": 1, \"stream\": %u, \"correlation\": %llu",
                k->device, sim_writer_streams[row->stream], (unsigned long long)row->corr);
    } else if (row->kind == SIM_RUNTIME) {
        fprintf(k->out, "\"cbid\": 211, \"correlation\": %llu", (unsigned long long)row->corr);
    } else {
        fprintf(k->out, "\"Record function id\": 0");
        put_shapes(k, row);
    }
    if (row->kind == SIM_COPY || row->kind == SIM_MEMSET) {
        fprintf(k->out, ", \"bytes\": %lld", (long long)row->bytes);
    } else if (row->kind >= SIM_KERNEL) {
        fprintf(k->out,
                ", \"registers per thread\": 64, \"shared memory\": 0, \"grid\": [216, 1, 1], "
                "\"block\": [256, 1, 1]%s",
                row->is_graph ? ", \"graph node id\": 1" : "");
    }
    if (row->kind == SIM_COLLECTIVE) {
        fprintf(
            k->out,
            ", \"Collective name\": \"allreduce\", \"In msg nelems\": %lld, \"Out msg nelems\": "
            "%lld, \"Group size\": %.0f, \"dtype\": \"Float\", \"Process Group Name\": \"0\", "
            "\"Process Group Ranks\": ",
            (long long)row->bytes / 4, (long long)row->bytes / 4, k->job.ranks);
        put_ranks(k);
    }
    fprintf(k->out, "}");
}

static void kineto_see(void *writer, const struct sim_row *row)
{
    struct kineto *k = writer;
    char own[SIM_NAME_SIZE];
    const char *name = sim_name(&k->job, row, SIM_KINETO, own);
    if (!*name) {
        return;
    }
    k->end_ns = row->end_ns > k->end_ns ? row->end_ns : k->end_ns;
    bool on_device = row->kind >= SIM_KERNEL, is_overhead = row->kind == SIM_OVERHEAD;
    uint32_t pid = on_device ? k->device : sim_writer_pid(k->rank);
    uint32_t tid =
        on_device ? sim_writer_streams[row->stream] : sim_writer_tid(k->rank, row->thread);
    if (is_overhead) { // like libkineto
        tid = 0;
    }
    fprintf(k->out, "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %u, \"tid\": %u, ",
            category_of(row), name, pid, tid);
    put_times(k, row, true);
    put_args(k, row);
    fprintf(k->out, "},\n");
    if (row->corr && (on_device || row->role == SIM_ROLE_LAUNCH || row->role == SIM_ROLE_MEMCPY ||
                      row->role == SIM_ROLE_MEMCPY_BACK || row->role == SIM_ROLE_MEMSET ||
                      row->role == SIM_ROLE_GRAPH_LAUNCH)) {
        fprintf(k->out, "{\"ph\": \"%s\", \"id\": %llu, \"pid\": %u, \"tid\": %u, ",
                on_device ? "f" : "s", (unsigned long long)row->corr, pid, tid);
        put_times(k, row, false);
        fprintf(k->out, ", \"cat\": \"ac2g\", \"name\": \"ac2g\"%s},\n",
                on_device ? ", \"bp\": \"e\"" : "");
    }
}

static void kineto_close(void *writer)
{
    struct kineto *k = writer;
    fprintf(k->out, "{\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\", \"pid\": \"\", "
                    "\"tid\": \"\", ");
    put_times(k, &(struct sim_row){.start_ns = k->end_ns, .end_ns = k->end_ns}, false);
    fprintf(k->out, "}\n],\n\"traceName\": \"trace.json\"\n}\n");
    bool failed = ferror(k->out) != 0;
    if (fclose(k->out) != 0 || failed) {
        sim_die("profile", "cannot be written");
    }
    stk_free(k);
}

const struct sim_writer sim_writer_kineto = {
    "kineto",   ".pt.trace.json", "PyTorch's profiler, nanoseconds", SIM_PROFILED, kineto_open,
    kineto_see, kineto_close};
const struct sim_writer sim_writer_kineto_us = {
    "kineto_us",  ".pt.trace.json", "PyTorch's profiler, whole microseconds",
    SIM_PROFILED, kineto_us_open,   kineto_see,
    kineto_close};
