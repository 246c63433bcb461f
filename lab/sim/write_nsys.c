// SPDX-License-Identifier: Apache-2.0
// Nsight Systems, as exported by `nsys export --type=sqlite`: a table for each kind of record,
// names in StringIds, nanoseconds. Columns are those of schema 3.23 for which data exist. Left out,
// like there: loader workers (other processes), the program's Python and the framework's
// operations, which have no NVTX ranges; what an event waits for. The profiler's overhead is a row.
#include <sqlite3.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "sim_names.h"
#include "sim_world.h"
#include "sim_writer.h"

enum table { KERNEL, MEMCPY, MEMSET, RUNTIME, SYNC, NVTX, OVERHEAD, STRINGS, TABLES };
static const struct {
    const char *create, *insert;
} tables[TABLES] = {
    [KERNEL] =
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "
         "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
         "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName "
         "INTEGER NOT NULL, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY "
         "INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT "
         "NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, "
         "dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
         "(?,?,?,1,?,?,?,?,?,64,216,1,1,256,1,1,0,0,?)"},
    [MEMCPY] =
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, "
         "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
         "correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT "
         "NULL, srcKind INTEGER, dstKind INTEGER)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?,?,?,1,?,?,?,?,?,?,?)"},
    [MEMSET] = {"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT "
                "NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT "
                "NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes "
                "INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER)",
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?,?,?,1,?,?,?,0,?,?,2)"},
    [RUNTIME] =
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT "
         "NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId "
         "INTEGER NOT NULL, returnValue INTEGER NOT NULL)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,0,?,?,?,0)"},
    [SYNC] =
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER "
         "NOT "
         "NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
         "correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT "
         "NULL)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?,?,?,1,?,?,?,?,0)"},
    [NVTX] = {"CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER "
              "NOT NULL, "
              "text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER)",
              "INSERT INTO NVTX_EVENTS VALUES (?,?,59,?,?,NULL,0)"},
    [OVERHEAD] =
        {"CREATE TABLE PROFILER_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid "
         "INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL)",
         "INSERT INTO PROFILER_OVERHEAD VALUES (?,?,?,?,0)"},
    [STRINGS] = {"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
                 "INSERT INTO StringIds VALUES (?,?)"},
};
enum { NAMES_MAX = 128 };

struct nsys {
    sqlite3 *db;
    sqlite3_stmt *insert[TABLES];
    struct sim_job job;
    uint32_t rank;
    const char *names[NAMES_MAX]; // constants of sim_names.c
    int name_count;
};

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        sim_die("profile", sqlite3_errmsg(db));
    }
}

static int64_t process_of(const struct nsys *n)
{
    return INT64_C(1) << 48 | (int64_t)sim_writer_pid(n->rank) << 24;
}

static int64_t thread_of(const struct nsys *n, uint32_t thread)
{
    return process_of(n) | sim_writer_tid(n->rank, thread);
}

static void put(struct nsys *n, enum table table, const int64_t *values, int count)
{
    sqlite3_stmt *st = n->insert[table];
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(st, i + 1, values[i]);
    }
    if (sqlite3_step(st) != SQLITE_DONE) {
        sim_die("profile", sqlite3_errmsg(n->db));
    }
    sqlite3_reset(st);
}

static int64_t id_of(struct nsys *n, const char *name)
{
    for (int i = 0; i < n->name_count; i++) {
        if (strcmp(n->names[i], name) == 0) {
            return i + 1;
        }
    }
    STK_ASSERT(n->name_count < NAMES_MAX);
    n->names[n->name_count++] = name;
    sqlite3_bind_text(n->insert[STRINGS], 2, name, -1, SQLITE_STATIC);
    put(n, STRINGS, (int64_t[]){n->name_count}, 1);
    return n->name_count;
}

static void describe(struct nsys *n)
{
    char sql[1200];
    int device = (int)(n->rank % (uint32_t)n->job.ranks_per_host);
    unsigned pid = sim_writer_pid(n->rank);
    snprintf(
        sql, sizeof sql,
        "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems'), "
        "('EXPORT_PRODUCT_VERSION', '2025.5.1.121'), ('EXPORT_SCHEMA_VERSION', '3.23.3');"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
        "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, cuDevice INTEGER, "
        "computeMajor INTEGER, computeMinor INTEGER);"
        "INSERT INTO TARGET_INFO_GPU VALUES (%d, '%s', 108, %d, 8, 0);"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER "
        "NOT NULL);"
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (%d, %d, %u);"
        "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
        "INSERT INTO PROCESSES VALUES (%lld, %u, 'train');",
        device, sim_name_of_gpu(&n->job), device, device, device, pid, (long long)process_of(n),
        pid);
    run(n->db, sql);
}

static void *nsys_open(const char *path, const struct sim_job *job, uint32_t rank)
{
    struct nsys *n = stk_alloc_zero(1, sizeof *n);
    remove(path);
    if (!n || sqlite3_open(path, &n->db) != SQLITE_OK) {
        sim_die(path, "cannot be written");
    }
    n->job = *job;
    n->rank = rank;
    run(n->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    for (int i = 0; i < TABLES; i++) {
        run(n->db, tables[i].create);
        if (sqlite3_prepare_v2(n->db, tables[i].insert, -1, &n->insert[i], NULL) != SQLITE_OK) {
            sim_die("profile", sqlite3_errmsg(n->db));
        }
    }
    describe(n);
    return n;
}

static void put_device(struct nsys *n, const struct sim_row *row, const char *name)
{
    int64_t device = n->rank % (uint32_t)n->job.ranks_per_host;
    int64_t stream = sim_writer_streams[row->stream], corr = (int64_t)row->corr;
    if (row->kind == SIM_COPY) {
        enum { TO_DEVICE = 1, TO_HOST = 2, PAGEABLE = 0, PINNED = 1, ON_DEVICE = 2 };
        bool back = row->dir == SIM_TO_HOST;
        int64_t host = row->pinned ? PINNED : PAGEABLE;
        int64_t values[] = {row->start_ns,
                            row->end_ns,
                            device,
                            stream,
                            corr,
                            process_of(n),
                            row->bytes,
                            back ? TO_HOST : TO_DEVICE,
                            back ? ON_DEVICE : host,
                            back ? host : ON_DEVICE};
        put(n, MEMCPY, values, 10);
        return;
    }
    int64_t graph_node = 1 + (int64_t)row->step;
    if (row->kind == SIM_MEMSET) {
        int64_t values[] = {row->start_ns, row->end_ns,   device,     stream,
                            corr,          process_of(n), row->bytes, graph_node};
        sqlite3_bind_null(n->insert[MEMSET], 8);
        put(n, MEMSET, values, row->is_graph ? 8 : 7);
        return;
    }
    int64_t id = id_of(n, name);
    int64_t values[] = {row->start_ns, row->end_ns, device, stream,    corr,
                        process_of(n), id,          id,     graph_node};
    if (!row->is_graph) {
        sqlite3_bind_null(n->insert[KERNEL], 9);
    }
    put(n, KERNEL, values, row->is_graph ? 9 : 8);
}

static void nsys_see(void *writer, const struct sim_row *row)
{
    struct nsys *n = writer;
    char own[SIM_NAME_SIZE];
    const char *name = sim_name(&n->job, row, SIM_NSYS, own);
    int64_t thread = thread_of(n, row->thread);
    if (!*name) {
        return;
    }
    if (row->kind >= SIM_KERNEL) {
        put_device(n, row, name);
    } else if (row->kind == SIM_RUNTIME) {
        put(n, RUNTIME,
            (int64_t[]){row->start_ns, row->end_ns, thread, (int64_t)row->corr, id_of(n, name)}, 5);
    } else if (row->kind == SIM_OVERHEAD) {
        put(n, OVERHEAD, (int64_t[]){row->start_ns, row->end_ns, thread, id_of(n, name)}, 4);
    } else {
        sqlite3_bind_text(n->insert[NVTX], 3, name, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(n->insert[NVTX], 4, thread);
        put(n, NVTX, (int64_t[]){row->start_ns, row->end_ns}, 2);
    }
    if (row->role == SIM_ROLE_SYNC || row->role == SIM_ROLE_SYNC_ALL) {
        enum { STREAM_SYNC = 3, CONTEXT_SYNC = 4 };
        bool all = row->role == SIM_ROLE_SYNC_ALL;
        int64_t device = n->rank % (uint32_t)n->job.ranks_per_host;
        int64_t values[] = {row->start_ns,
                            row->end_ns,
                            device,
                            all ? 0 : sim_writer_streams[row->stream],
                            (int64_t)row->corr,
                            process_of(n),
                            all ? CONTEXT_SYNC : STREAM_SYNC};
        put(n, SYNC, values, 7);
    }
}

static void nsys_close(void *writer)
{
    struct nsys *n = writer;
    for (int i = 0; i < TABLES; i++) {
        sqlite3_finalize(n->insert[i]);
    }
    run(n->db, "COMMIT");
    sqlite3_close(n->db);
    stk_free(n);
}

const struct sim_writer sim_writer_nsys = {
    "nsys", ".sqlite", "Nsight Systems, exported", SIM_PROFILED, nsys_open, nsys_see, nsys_close};
