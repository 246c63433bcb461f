// SPDX-License-Identifier: Apache-2.0
// TensorFlow's and JAX's profiler: XSpace (tsl/profiler/protobuf/xplane.proto), one plane for the
// host with a line for each thread, one for the device with a line for each stream, picoseconds
// from the line's start. Kept in memory until the end, because lines are messages. Left out, like
// there: events, waits of streams and of the device, the program's Python. The pipeline's threads
// are in the same process, and so included.
#include "base/alloc.h"
#include "base/assert.h"
#include "sim_names.h"
#include "sim_pb.h"
#include "sim_world.h"
#include "sim_writer.h"

#define BASE_NS UINT64_C(1700000000000000000)

enum {
    STAT_CORRELATION = 1,
    STAT_STEP,
    STAT_ROOT,
    STAT_KERNEL,
    STAT_MEMCPY,
    STAT_MEMSET,
    STAT_START,
    STATS
};
static const char *const stat_names[STATS] = {
    [STAT_CORRELATION] = "correlation_id",
    [STAT_STEP] = "step_num",
    [STAT_ROOT] = "_r",
    [STAT_KERNEL] = "kernel_details",
    [STAT_MEMCPY] = "memcpy_details",
    [STAT_MEMSET] = "memset_details",
    [STAT_START] = "profile_start_time",
};
enum { NAMES_MAX = 64 };

struct plane {
    const char *names[NAMES_MAX]; // constants of sim_names.c; id - 1
    int name_count;
    struct stk_vec lines[SIM_THREADS_MAX]; // events of a thread or stream
};

struct xplane {
    FILE *out;
    struct sim_job job;
    uint32_t rank;
    struct plane host, device;
};

static void *xplane_open(const char *path, const struct sim_job *job, uint32_t rank)
{
    struct xplane *x = stk_alloc_zero(1, sizeof *x);
    if (!x || !(x->out = fopen(path, "wb"))) {
        sim_die(path, "cannot be written");
    }
    x->job = *job;
    x->rank = rank;
    for (int i = 0; i < SIM_THREADS_MAX; i++) {
        sim_pb_begin(&x->host.lines[i]);
        sim_pb_begin(&x->device.lines[i]);
    }
    return x;
}

static uint64_t id_of(struct plane *p, const char *name)
{
    for (int i = 0; i < p->name_count; i++) {
        if (strcmp(p->names[i], name) == 0) {
            return (uint64_t)i + 1;
        }
    }
    STK_ASSERT(p->name_count < NAMES_MAX);
    p->names[p->name_count++] = name;
    return (uint64_t)p->name_count;
}

static void put_stat(struct stk_vec *e, unsigned field, int stat, uint64_t value)
{
    struct stk_vec s;
    sim_pb_begin(&s);
    sim_pb_int(&s, 1, (uint64_t)stat);
    sim_pb_int(&s, 4, value);
    sim_pb_message(e, field, &s);
}

static void put_stat_text(struct stk_vec *e, int stat, const char *text)
{
    struct stk_vec s;
    sim_pb_begin(&s);
    sim_pb_int(&s, 1, (uint64_t)stat);
    sim_pb_text(&s, 5, text);
    sim_pb_message(e, 4, &s);
}

static void put_details(struct stk_vec *e, const struct sim_row *row)
{
    char text[160];
    if (row->kind == SIM_COPY) {
        const char *host = row->pinned ? "pinned" : "pageable";
        bool back = row->dir == SIM_TO_HOST;
        snprintf(text, sizeof text, "kind_src:%s kind_dst:%s size:%lld dest:0 async:1",
                 back ? "device" : host, back ? host : "device", (long long)row->bytes);
        put_stat_text(e, STAT_MEMCPY, text);
    } else if (row->kind == SIM_MEMSET) {
        snprintf(text, sizeof text, "kind:device num_bytes:%lld async:1", (long long)row->bytes);
        put_stat_text(e, STAT_MEMSET, text);
    } else {
        put_stat_text(
            e, STAT_KERNEL,
            "regs:64 static_shared:0 dynamic_shared:0 grid:216,1,1 block:256,1,1 occ_pct:50");
    }
}

static void xplane_see(void *writer, const struct sim_row *row)
{
    struct xplane *x = writer;
    char own[SIM_NAME_SIZE];
    const char *name = sim_name(&x->job, row, SIM_XPLANE, own);
    struct plane *p = row->kind >= SIM_KERNEL ? &x->device : &x->host;
    struct stk_vec e;
    if (!*name) {
        return;
    }
    sim_pb_begin(&e);
    sim_pb_int(&e, 1, id_of(p, name));
    sim_pb_int(&e, 2, (uint64_t)row->start_ns * 1000);
    sim_pb_int(&e, 3, (uint64_t)(row->end_ns - row->start_ns) * 1000);
    if (row->corr) {
        put_stat(&e, 4, STAT_CORRELATION, row->corr);
    }
    if (row->kind == SIM_STEP) {
        put_stat(&e, 4, STAT_STEP, row->ordinal);
        put_stat(&e, 4, STAT_ROOT, 1);
    }
    if (row->kind >= SIM_KERNEL) {
        put_details(&e, row);
    }
    sim_pb_message(&p->lines[row->kind >= SIM_KERNEL ? row->stream : row->thread], 4, &e);
}

static void put_names(struct stk_vec *plane, unsigned field, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        struct stk_vec entry, meta;
        sim_pb_begin(&entry);
        sim_pb_begin(&meta);
        sim_pb_int(&entry, 1, (uint64_t)i + 1);
        sim_pb_int(&meta, 1, (uint64_t)i + 1);
        sim_pb_text(&meta, 2, names[i]);
        sim_pb_message(&entry, 2, &meta);
        sim_pb_message(plane, field, &entry);
    }
}

static void write_plane(struct xplane *x, struct stk_vec *plane)
{
    struct stk_vec space;
    sim_pb_begin(&space);
    sim_pb_message(&space, 1, plane);
    if (fwrite(space.items, 1, space.count, x->out) != space.count) {
        sim_die("profile", "cannot be written");
    }
    stk_vec_deinit(&space);
}

static void name_line(bool is_device, uint32_t i, char *to, size_t size)
{
    static const char *const streams[] = {"Compute", "MemcpyH2D", "Compute"};
    if (is_device) {
        snprintf(to, size, "Stream #%u(%s)", sim_writer_streams[i], streams[i]);
    } else if (i < 2) {
        snprintf(to, size, i ? "tf_Compute/1" : "python");
    } else {
        snprintf(to, size, "tf_data_private_threadpool/%u", i - 2);
    }
}

static void put_plane(struct xplane *x, struct plane *p, const char *name, bool is_device)
{
    struct stk_vec plane;
    char text[64];
    sim_pb_begin(&plane);
    sim_pb_int(&plane, 1, is_device);
    sim_pb_text(&plane, 2, name);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        struct stk_vec line;
        if (!p->lines[i].count) {
            continue;
        }
        sim_pb_begin(&line);
        sim_pb_int(&line, 1, is_device ? sim_writer_streams[i] : sim_writer_tid(x->rank, i));
        name_line(is_device, i, text, sizeof text);
        sim_pb_text(&line, 2, text);
        sim_pb_int(&line, 3, 0);
        sim_pb_raw(&line, p->lines[i].items, p->lines[i].count);
        stk_vec_deinit(&p->lines[i]);
        sim_pb_message(&plane, 3, &line);
    }
    put_names(&plane, 4, p->names, p->name_count);
    put_names(&plane, 5, stat_names + 1, STATS - 1);
    write_plane(x, &plane);
}

// The start of the profile, as Unix time.
static void put_environment(struct xplane *x)
{
    struct stk_vec plane, s;
    sim_pb_begin(&plane);
    sim_pb_begin(&s);
    sim_pb_int(&plane, 1, 2);
    sim_pb_text(&plane, 2, "Task Environment");
    put_names(&plane, 5, stat_names + 1, STATS - 1);
    sim_pb_int(&s, 1, STAT_START);
    sim_pb_int(&s, 3, BASE_NS);
    sim_pb_message(&plane, 6, &s);
    write_plane(x, &plane);
}

static void xplane_close(void *writer)
{
    struct xplane *x = writer;
    struct stk_vec host;
    char name[32];
    put_plane(x, &x->host, "/host:CPU", false);
    if (!x->job.all_host) {
        put_plane(x, &x->device, "/device:GPU:0", true);
    }
    put_environment(x);
    snprintf(name, sizeof name, "host%u", x->rank);
    sim_pb_begin(&host);
    sim_pb_text(&host, 4, name);
    bool failed = fwrite(host.items, 1, host.count, x->out) != host.count;
    stk_vec_deinit(&host);
    if (fclose(x->out) != 0 || failed) {
        sim_die("profile", "cannot be written");
    }
    stk_free(x);
}

const struct sim_writer sim_writer_xplane = {"xplane",          ".xplane.pb", "TensorFlow and JAX",
                                             SIM_PROFILED_WORK, xplane_open,  xplane_see,
                                             xplane_close};
