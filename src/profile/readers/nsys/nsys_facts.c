// SPDX-License-Identifier: Apache-2.0
// Facts about the owners of rows (GPUs, processes, threads, ranks, host), and the profiler's
// messages about the recording. Of TARGET_INFO_SYSTEM_ENV only the row "Hostname" is read: the
// table also has the environment, which is private. META_DATA_CAPTURE (command line) isn't read at
// all.
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"

#define GPUS_MAX 256
#define CUDA_DEVICES_MAX 4096

struct gpu {
    int64_t id, cuda_id;
    char name[96];
    int32_t sm_count, cc_major, cc_minor;
    int64_t memory_bytes;
    struct stk_device_limits limits;
};

struct facts {
    struct stk_nsys_schema *schema;
    const struct stk_nsys_file *file;
    struct stk_build *build;
    struct stk_shard *shard;
    struct stk_map threads, devices, processes, ranks; // of all units
    struct stk_vec gpus;
    struct stk_map cuda_devices; // (pid, number in the process) -> id of the GPU
    char host[256];
    bool out_of_memory;
};

// Value slot of the key; NULL at the cap, or without memory, which fails the reading at the end.
static uint32_t *put(struct facts *f, struct stk_map *m, uint64_t a, uint64_t b, uint32_t initial)
{
    uint32_t *slot = stk_map_put(m, a, b, initial, NULL);
    f->out_of_memory |= !slot && m->count < m->max_count;
    return slot;
}

// The entries sorted by key, for the caller to free: the cap and the order must not depend on their
// places in the map.
static const struct stk_map_entry *sorted(struct facts *f, const struct stk_map *m)
{
    struct stk_map_entry *entries = stk_map_sorted(m);
    f->out_of_memory |= !entries;
    return entries;
}

static void *push(struct facts *f, struct stk_vec *v)
{
    void *slot = stk_vec_push(v);
    f->out_of_memory |= !slot && v->count < v->max_count;
    return slot;
}

static int32_t small(sqlite3_stmt *st, int col)
{
    STK_ASSERT(col >= 0 && col < sqlite3_column_count(st));
    int64_t v = sqlite3_column_int64(st, col);
    return v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
}

static void copy_text(char *out, size_t cap, sqlite3_stmt *st, int col)
{
    STK_ASSERT(cap > 0);
    STK_ASSERT(col >= 0 && col < sqlite3_column_count(st));
    const char *text = (const char *)sqlite3_column_text(st, col);
    snprintf(out, cap, "%s", text ? text : "");
}

static void read_gpus(struct facts *f)
{
    sqlite3_stmt *st =
        stk_nsys_select(f->schema, "TARGET_INFO_GPU",
                        "!id,cuDevice,name,smCount,computeMajor,computeMinor,totalMemory,"
                        "threadsPerWarp,maxWarpsPerSm,maxBlocksPerSm,maxRegistersPerSm,"
                        "maxShmemPerSm,memoryBandwidth",
                        "");
    struct gpu *g;
    while (st && sqlite3_step(st) == SQLITE_ROW && (g = push(f, &f->gpus))) {
        g->id = sqlite3_column_int64(st, 0);
        g->cuda_id =
            sqlite3_column_type(st, 1) == SQLITE_INTEGER ? sqlite3_column_int64(st, 1) : g->id;
        copy_text(g->name, sizeof g->name, st, 2);
        g->sm_count = small(st, 3);
        g->cc_major = small(st, 4);
        g->cc_minor = small(st, 5);
        int64_t bytes = sqlite3_column_int64(st, 6);
        g->memory_bytes = bytes > 0 ? bytes : 0;
        int64_t rate = sqlite3_column_int64(st, 12), warps = small(st, 8);
        g->limits = (struct stk_device_limits){.warp_threads = small(st, 7),
                                               .sm_blocks = small(st, 9),
                                               .sm_registers = small(st, 10),
                                               .sm_shared_bytes = small(st, 11),
                                               .memory_bytes_per_s = rate > 0 ? rate : 0};
        if (warps > 0 && warps <= INT32_MAX / 1024 && g->limits.warp_threads <= 1024) {
            g->limits.sm_threads = (int32_t)warps * g->limits.warp_threads;
        }
    }
    sqlite3_finalize(st);
    st = stk_nsys_select(f->schema, "TARGET_INFO_CUDA_DEVICE", "!gpuId,!cudaId,!pid", "");
    while (st && sqlite3_step(st) == SQLITE_ROW && f->cuda_devices.count < CUDA_DEVICES_MAX) {
        int64_t id = sqlite3_column_int64(st, 0);
        if (id >= 0 && id < UINT32_MAX) {
            put(f, &f->cuda_devices, (uint64_t)sqlite3_column_int64(st, 2),
                (uint64_t)sqlite3_column_int64(st, 1), (uint32_t)id);
        }
    }
    sqlite3_finalize(st);
}

// The GPU that has this ordinal in a process; NULL: unknown.
static const struct gpu *gpu_of(const struct facts *f, int64_t pid, int64_t ordinal)
{
    const struct gpu *by_ordinal = NULL;
    const uint32_t *known = stk_map_get(&f->cuda_devices, (uint64_t)pid, (uint64_t)ordinal);
    int64_t gpu_id = known ? (int64_t)*known : -1;
    for (size_t i = 0; i < f->gpus.count; i++) {
        const struct gpu *g = stk_vec_at(&f->gpus, i);
        if (gpu_id >= 0 ? g->id == gpu_id : g->cuda_id == ordinal) {
            return g;
        }
        if (g->id == ordinal) {
            by_ordinal = g;
        }
    }
    return gpu_id < 0 ? by_ordinal : NULL;
}

static void add_devices(struct facts *f)
{
    const struct stk_map_entry *devices = sorted(f, &f->devices);
    for (size_t i = 0; devices && i < f->devices.count; i++) {
        const struct stk_map_entry *e = &devices[i];
        int64_t process = (int64_t)e->a, ordinal = (int64_t)e->b;
        char source[64];
        int n = e->value ? snprintf(source, sizeof source, "%" PRId64 "/%" PRId64,
                                    process & 0xffffff, ordinal)
                         : snprintf(source, sizeof source, "%" PRId64, ordinal);
        struct stk_device_facts facts = {
            .source_id = {source, (size_t)n}, .name = STK_STR(""), .kind = STK_DEVICE_GPU};
        const struct gpu *g = gpu_of(f, process & 0xffffff, ordinal);
        if (g) {
            facts.name = stk_str_from(g->name);
            facts.sm_count = g->sm_count;
            facts.cc_major = g->cc_major;
            facts.cc_minor = g->cc_minor;
            facts.memory_bytes = g->memory_bytes;
            facts.limits = g->limits;
        }
        stk_build_device(f->build, process, ordinal, &facts);
    }
    stk_free((void *)devices);
}

static void read_ranks(struct facts *f)
{
    sqlite3_stmt *st = stk_nsys_select(f->schema, "MPI_RANKS", "!globalTid|globalPid,!rank", "");
    while (st && sqlite3_step(st) == SQLITE_ROW) {
        int64_t rank = sqlite3_column_int64(st, 1);
        int64_t process = stk_nsys_process_of(f->file, sqlite3_column_int64(st, 0));
        uint32_t *slot =
            rank >= 0 && rank < INT32_MAX ? put(f, &f->ranks, (uint64_t)process, 0, 0) : NULL;
        if (slot) {
            *slot = (uint32_t)rank;
        }
    }
    sqlite3_finalize(st);
}

// Names of the processes that have rows; every other process of the machine is listed there too.
static void add_processes(struct facts *f)
{
    struct stk_str host = stk_str_from(f->host);
    const struct stk_map_entry *processes = sorted(f, &f->processes);
    for (size_t i = 0; processes && i < f->processes.count; i++) {
        const uint32_t *rank = stk_map_get(&f->ranks, processes[i].a, 0);
        stk_build_process(f->build, (int64_t)processes[i].a, rank ? (int32_t)*rank : -1,
                          STK_STR(""), host);
    }
    stk_free((void *)processes);
    sqlite3_stmt *st = stk_nsys_select(f->schema, "PROCESSES", "!globalPid,!name", "");
    while (st && sqlite3_step(st) == SQLITE_ROW) {
        int64_t process = stk_nsys_process_of(f->file, sqlite3_column_int64(st, 0));
        const char *name = (const char *)sqlite3_column_text(st, 1);
        if (name && stk_map_get(&f->processes, (uint64_t)process, 0)) {
            stk_build_process(f->build, process, -1, stk_str_from(name), STK_STR(""));
        }
    }
    sqlite3_finalize(st);
}

// Priority 0 was set by the program itself, then come the profiler's and the system's: the last
// wins.
static void add_thread_names(struct facts *f)
{
    sqlite3_stmt *st =
        stk_nsys_select(f->schema, "ThreadNames", "!nameId,!globalTid,priority", "ORDER BY 3 DESC");
    sqlite3_stmt *find = stk_nsys_names_prepare(f->schema->db, f->file);
    while (st && find && sqlite3_step(st) == SQLITE_ROW) {
        int64_t global_tid = sqlite3_column_int64(st, 1);
        if (!stk_map_get(&f->threads, (uint64_t)global_tid, 0)) {
            continue;
        }
        struct stk_track_key key = {.kind = STK_TRACK_THREAD,
                                    .process = stk_nsys_process_of(f->file, global_tid),
                                    .device = -1,
                                    .id = global_tid & 0xffffff,
                                    .sid = STK_STR("")};
        sqlite3_bind_int64(find, 1, sqlite3_column_int64(st, 0));
        const char *name =
            sqlite3_step(find) == SQLITE_ROW ? (const char *)sqlite3_column_text(find, 0) : NULL;
        if (name && *name) {
            stk_build_track_name(f->build, &key, stk_str_from(name));
        }
        sqlite3_reset(find);
    }
    sqlite3_finalize(find);
    sqlite3_finalize(st);
}

static void read_host(struct facts *f)
{
    sqlite3_stmt *st = stk_nsys_select(f->schema, "TARGET_INFO_SYSTEM_ENV", "!value,!name",
                                       "WHERE name = 'Hostname' LIMIT 1");
    if (st && sqlite3_step(st) == SQLITE_ROW) {
        copy_text(f->host, sizeof f->host, st, 0);
    }
    sqlite3_finalize(st);
}

static void add_diagnostics(struct facts *f)
{
    enum { WARNING = 2, ERROR = 3 };
    sqlite3_stmt *st = stk_nsys_select(f->schema, "DIAGNOSTIC_EVENT", "!severity,!text", "");
    while (st && sqlite3_step(st) == SQLITE_ROW) {
        int64_t severity = sqlite3_column_int64(st, 0);
        const char *p = (const char *)sqlite3_column_text(st, 1);
        if (!p || (severity != WARNING && severity != ERROR)) {
            continue;
        }
        struct stk_str text = stk_str_from(p);
        bool dropped = stk_str_contains_nocase(text, STK_STR("dropped")) ||
                       stk_str_contains_nocase(text, STK_STR("discarded")) ||
                       stk_str_contains_nocase(text, STK_STR("events lost")) ||
                       stk_str_contains_nocase(text, STK_STR("lost events"));
        const char *line = strchr(p, '\n');
        if (line) {
            text.n = (size_t)(line - p);
        }
        while (text.n && text.p[text.n - 1] == ' ') {
            text.n--;
        }
        stk_shard_issue(f->shard,
                        dropped             ? STK_ISSUE_EVENTS_DROPPED
                        : severity == ERROR ? STK_ISSUE_PROFILER_ERROR
                                            : STK_ISSUE_PROFILER_WARNING,
                        1, 0, -1, text);
    }
    sqlite3_finalize(st);
}

static void read_producer(struct facts *f, char *out, size_t cap)
{
    snprintf(out, cap, "Nsight Systems");
    static const char *const tables[] = {"META_DATA_EXPORT", "EXPORT_META_DATA"}; // new, old
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *st = stk_nsys_select(f->schema, tables[i], "!value,!name",
                                           "WHERE name = 'EXPORT_PRODUCT_VERSION' LIMIT 1");
        const char *version =
            st && sqlite3_step(st) == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
        if (version) {
            snprintf(out, cap, "Nsight Systems %.40s", version);
        }
        sqlite3_finalize(st);
    }
}

// Unix time of the session's start; 0 if the file doesn't have it.
static int64_t session_start_ns(struct facts *f)
{
    int64_t epoch_ns = 0;
    sqlite3_stmt *st =
        stk_nsys_select(f->schema, "TARGET_INFO_SESSION_START_TIME", "!utcEpochNs", "LIMIT 1");
    if (st && sqlite3_step(st) == SQLITE_ROW) {
        epoch_ns = sqlite3_column_int64(st, 0);
    }
    sqlite3_finalize(st);
    return epoch_ns > 0 && epoch_ns < INT64_MAX / 4 ? epoch_ns : 0;
}

static void copy_map(struct facts *f, struct stk_map *into, const struct stk_map *from)
{
    const struct stk_map_entry *entries = sorted(f, from);
    for (size_t i = 0; entries && i < from->count; i++) {
        const struct stk_map_entry *e = &entries[i];
        uint32_t *value = put(f, into, e->a, e->b, e->value);
        if (value) {
            *value |= e->value;
        }
    }
    stk_free((void *)entries);
}

static void gather(struct facts *f, const struct stk_nsys_unit *units, uint32_t count)
{
    STK_ASSERT(units || count == 0);
    for (uint32_t i = 0; i < count; i++) {
        copy_map(f, &f->threads, &units[i].threads);
        copy_map(f, &f->devices, &units[i].devices);
        const struct stk_map_entry *ranks = sorted(f, &units[i].ranks);
        for (size_t k = 0; ranks && k < units[i].ranks.count; k++) {
            put(f, &f->ranks, (uint64_t)stk_nsys_process_of(f->file, (int64_t)ranks[k].a), 0,
                ranks[k].value);
        }
        stk_free((void *)ranks);
    }
    const struct stk_map_entry *threads = sorted(f, &f->threads);
    for (size_t i = 0; threads && i < f->threads.count; i++) {
        put(f, &f->processes, (uint64_t)stk_nsys_process_of(f->file, (int64_t)threads[i].a), 0, 0);
    }
    stk_free((void *)threads);
    const struct stk_map_entry *devices = sorted(f, &f->devices);
    for (size_t i = 0; devices && i < f->devices.count; i++) {
        put(f, &f->processes, devices[i].a, 0, 0);
    }
    stk_free((void *)devices);
}

// The rank of the file: that of the only process that has one.
static int32_t file_rank(const struct facts *f)
{
    int64_t rank = -1;
    for (size_t i = 0; i < f->ranks.capacity; i++) {
        const struct stk_map_entry *e = &f->ranks.entries[i];
        if (e->full && stk_map_get(&f->processes, e->a, 0)) {
            rank = rank == -1 || rank == e->value ? (int64_t)e->value : -2;
        }
    }
    return rank >= 0 ? (int32_t)rank : -1;
}

enum stoker_status stk_nsys_facts_add(struct stk_nsys_schema *schema,
                                      const struct stk_nsys_file *file,
                                      const struct stk_nsys_unit *units, uint32_t count,
                                      struct stk_build *b, struct stk_shard *shard,
                                      struct stoker_err *err)
{
    struct facts f = {.schema = schema, .file = file, .build = b, .shard = shard};
    struct stk_map *const maps[] = {&f.threads, &f.devices, &f.processes, &f.ranks};
    char producer[64];
    bool torch = false;
    for (size_t i = 0; i < 4; i++) {
        stk_map_init(maps[i], STK_TRACKS_MAX);
    }
    stk_vec_init(&f.gpus, sizeof(struct gpu), GPUS_MAX);
    stk_map_init(&f.cuda_devices, CUDA_DEVICES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        torch |= units[i].saw_torch;
    }
    gather(&f, units, count);
    read_gpus(&f);
    read_ranks(&f);
    read_host(&f);
    read_producer(&f, producer, sizeof producer);
    add_devices(&f);
    add_processes(&f);
    add_thread_names(&f);
    add_diagnostics(&f);
    struct stk_build_facts facts = {.format = "nsys",
                                    .producer = stk_str_from(producer),
                                    .host = stk_str_from(f.host),
                                    .rank = file_rank(&f),
                                    .world_size = -1,
                                    .framework_hint = torch ? 1u << STK_FW_PYTORCH : 0,
                                    .clock_base_ns = session_start_ns(&f)};
    stk_build_facts(b, &facts);
    for (size_t i = 0; i < 4; i++) {
        stk_map_deinit(maps[i]);
    }
    stk_vec_deinit(&f.gpus);
    stk_map_deinit(&f.cuda_devices);
    bool failed = f.out_of_memory || !stk_nsys_schema_is_whole(schema);
    return failed ? stk_err_nomem(err) : STOKER_OK;
}
