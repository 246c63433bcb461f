// SPDX-License-Identifier: Apache-2.0
// XSpace, the profile of XLA, TensorFlow and JAX (tsl/profiler/protobuf/xplane.proto in
// openxla/xla), for TensorBoard's profile plugin and XProf: a plane per device with a line per
// stream, a plane for the host with a line per thread, a plane for stoker's own rows.
//
// A plane's length comes before it, so everything is written twice by the same code: first only to
// count, so that memory use stays small. Events of sub-rows are on the line of their track, merged
// in order of time. Launch calls and device work share a correlation_id; a step is a root event
// (_r) with its step_num, by which XProf groups. The kind of an event is a stat of its name's entry
// (stoker_kind), for stoker to read back.
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/map.h"
#include "answers/export/export.h"
#include "profile/store/words.h"

#define SPACE_PLANES 1
#define SPACE_HOSTNAMES 4
#define PLANE_ID 1
#define PLANE_NAME 2
#define PLANE_LINES 3
#define PLANE_EVENT_METADATA 4
#define PLANE_STAT_METADATA 5
#define PLANE_STATS 6
#define LINE_ID 1
#define LINE_NAME 2
#define LINE_TIMESTAMP_NS 3
#define LINE_EVENTS 4
#define LINE_DISPLAY_NAME 11
#define EVENT_META 1
#define EVENT_OFFSET_PS 2
#define EVENT_DURATION_PS 3
#define EVENT_STATS 4
#define META_ID 1
#define META_NAME 2
#define META_DISPLAY_NAME 4
#define META_STATS 5
#define STAT_META 1
#define STAT_DOUBLE 2
#define STAT_UINT64 3
#define STAT_INT64 4
#define STAT_STR 5
#define STAT_REF 7
#define ENTRY_KEY 1
#define ENTRY_VALUE 2

// Stats by their ids, the same in all planes; then the kinds, for references.
#define STATS(S)                                                                                   \
    S(CORRELATION, "correlation_id")                                                               \
    S(KERNEL, "kernel_details")                                                                    \
    S(STEP_NUM, "step_num")                                                                        \
    S(ROOT, "_r")                                                                                  \
    S(MEMCPY, "memcpy_details")                                                                    \
    S(MEMSET, "memset_details")                                                                    \
    S(BYTES, "allocation_bytes")                                                                   \
    S(GRAPH, "cuda_graph_id")                                                                      \
    S(KIND, STK_XSPACE_OWN_KIND)                                                                   \
    S(DEVICE_NAME, "gpu_device_name")                                                              \
    S(DEVICE_TYPE, "device_type_string")                                                           \
    S(DEVICE_VENDOR, "device_vendor")                                                              \
    S(CORE_COUNT, "core_count")                                                                    \
    S(CC_MAJOR, "compute_cap_major")                                                               \
    S(CC_MINOR, "compute_cap_minor")                                                               \
    S(MEMORY_SIZE, "memory_size")                                                                  \
    S(PROFILE_START, "profile_start_time")                                                         \
    S(PROFILE_STOP, "profile_stop_time")                                                           \
    S(VALUE, "value")                                                                              \
    S(SERIES, "series")                                                                            \
    S(ADDRESS, "addr")                                                                             \
    S(DEVICE, "device_ordinal")                                                                    \
    S(TOTAL, "bytes_allocated")                                                                    \
    S(AVAILABLE, "bytes_available")                                                                \
    S(STACK, "bytes_reserved")                                                                     \
    S(PEAK, "peak_bytes_in_use")                                                                   \
    S(FRAGMENTATION, "fragmentation")                                                              \
    S(ALLOCATOR, "allocator_name")                                                                 \
    S(OP, "tf_op")                                                                                 \
    S(BUFFERED, "buffered_elements")                                                               \
    S(FUNCTION, "id")                                                                              \
    S(NOTE, "note")                                                                                \
    S(SELECTION, "selection")                                                                      \
    S(WRITER, "written_by")
enum {
    STAT_NONE,
#define S(id, name) STAT_##id,
    STATS(S)
#undef S
        STAT_COUNT
};
static const char *const stat_names[STAT_COUNT] = {"",
#define S(id, name) name,
                                                   STATS(S)
#undef S
};

// Details with XLA's names; those without one come after the kinds, under their own names.
static uint32_t detail_stat(enum stk_detail_key key)
{
    static const uint8_t stats[STK_DETAIL_COUNT] = {[STK_DETAIL_ADDRESS] = STAT_ADDRESS,
                                                    [STK_DETAIL_DEVICE] = STAT_DEVICE,
                                                    [STK_DETAIL_TOTAL] = STAT_TOTAL,
                                                    [STK_DETAIL_AVAILABLE] = STAT_AVAILABLE,
                                                    [STK_DETAIL_STACK] = STAT_STACK,
                                                    [STK_DETAIL_PEAK] = STAT_PEAK,
                                                    [STK_DETAIL_OP] = STAT_OP,
                                                    [STK_DETAIL_FRAGMENTATION] = STAT_FRAGMENTATION,
                                                    [STK_DETAIL_ALLOCATOR] = STAT_ALLOCATOR,
                                                    [STK_DETAIL_SERIES] = STAT_SERIES,
                                                    [STK_DETAIL_VALUE] = STAT_VALUE,
                                                    [STK_DETAIL_BUFFERED] = STAT_BUFFERED,
                                                    [STK_DETAIL_FUNCTION] = STAT_FUNCTION};
    return stats[key] ? stats[key] : (uint32_t)(STAT_COUNT + STK_KIND_COUNT) + key;
}

// Entries of a plane's event metadata: a name with the kind of its events.
struct names {
    uint32_t *first_id; // per string id: of the kind below; 0 none
    uint8_t *first_kind;
    struct stk_map others; // (string, kind) -> id
    struct name {
        uint32_t string;
        uint8_t kind;
    } *list; // id - 1 ->
    uint32_t count, capacity;
};

struct xspace {
    struct stk_export *x;
    struct stk_export_out *out;
    const struct stk_export_file *f;
    struct names names;
    uint64_t *line_bytes;         // per track: payload of its line
    struct stk_strpool arg_names; // of recorded arguments: stats after the others
    bool has_details;             // the current event
    bool has_launch;              // the current event has its launch as a recorded argument
    struct stoker_err *err;
    enum stoker_status status;
    bool counting;  // only sizes are computed: don't change the counts
    int64_t end_ns; // of the last event, common time
};

static bool failed(const struct xspace *w)
{
    return w->status != STOKER_OK || w->out->failed;
}

static void no_memory(struct xspace *w)
{
    w->status = stk_err_nomem(w->err);
}

// ---- names ----

static uint32_t xspace_add_name(struct xspace *w, uint32_t string, uint8_t kind)
{
    struct names *n = &w->names;
    if (n->count == n->capacity) {
        uint32_t capacity = n->capacity ? n->capacity * 2 : 1024;
        struct name *list = stk_realloc_array(n->list, capacity, sizeof *list);
        if (!list) {
            no_memory(w);
            return 1;
        }
        n->list = list;
        n->capacity = capacity;
    }
    n->list[n->count++] = (struct name){string, kind};
    return n->count;
}

static uint32_t name_id(struct xspace *w, uint32_t string, uint8_t kind)
{
    struct names *n = &w->names;
    if (n->first_id[string] && n->first_kind[string] == kind) {
        return n->first_id[string];
    }
    if (!n->first_id[string]) {
        n->first_kind[string] = kind;
        return n->first_id[string] = xspace_add_name(w, string, kind);
    }
    uint32_t *id = stk_map_put(&n->others, string, kind, 0, NULL);
    if (!id) {
        no_memory(w);
        return 1;
    }
    if (*id == 0) {
        *id = xspace_add_name(w, string, kind);
    }
    return *id;
}

static bool names_begin(struct xspace *w)
{
    size_t strings = (size_t)w->f->t->strings.count + 1;
    w->names = (struct names){0};
    stk_map_init(&w->names.others, SIZE_MAX);
    w->names.first_id = stk_alloc_zero(strings, sizeof *w->names.first_id);
    w->names.first_kind = stk_alloc_zero(strings, 1);
    if (w->names.first_id && w->names.first_kind) {
        return true;
    }
    no_memory(w);
    return false;
}

static void names_end(struct xspace *w)
{
    stk_free(w->names.first_id);
    stk_free(w->names.first_kind);
    stk_free(w->names.list);
    stk_map_deinit(&w->names.others);
}

// ---- stats ----

static void put_int(struct stk_export_out *o, uint32_t field, uint32_t stat, uint32_t type,
                    int64_t value)
{
    size_t at = stk_pbw_begin(o, field);
    stk_pbw_u64(o, STAT_META, stat);
    stk_pbw_u64(o, type, (uint64_t)value);
    stk_pbw_end(o, at);
}

static void put_str(struct stk_export_out *o, uint32_t field, uint32_t stat, struct stk_str value)
{
    size_t at = stk_pbw_begin(o, field);
    stk_pbw_u64(o, STAT_META, stat);
    stk_pbw_text(o, STAT_STR, value);
    stk_pbw_end(o, at);
}

static void put_entry(struct stk_export_out *o, uint32_t field, uint64_t id, struct stk_str name,
                      struct stk_str display, int kind)
{
    size_t entry = stk_pbw_begin(o, field);
    stk_pbw_u64(o, ENTRY_KEY, id);
    size_t value = stk_pbw_begin(o, ENTRY_VALUE);
    stk_pbw_u64(o, META_ID, id);
    stk_pbw_text(o, META_NAME, name);
    if (display.n) {
        stk_pbw_text(o, META_DISPLAY_NAME, display);
    }
    if (kind >= 0) {
        put_int(o, META_STATS, STAT_KIND, STAT_REF, STAT_COUNT + kind);
    }
    stk_pbw_end(o, value);
    stk_pbw_end(o, entry);
}

static void put_stat_names(struct stk_export_out *o)
{
    for (uint32_t s = 1; s < STAT_COUNT; s++) {
        put_entry(o, PLANE_STAT_METADATA, s, stk_str_from(stat_names[s]), STK_STR(""), -1);
    }
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        put_entry(o, PLANE_STAT_METADATA, (uint64_t)(STAT_COUNT + k), stk_str_from(stk_kind_key(k)),
                  STK_STR(""), -1);
    }
    for (int d = 0; d < STK_DETAIL_COUNT; d++) {
        if (detail_stat(d) >= STAT_COUNT) {
            put_entry(o, PLANE_STAT_METADATA, detail_stat(d), stk_str_from(stk_detail_key_text(d)),
                      STK_STR(""), -1);
        }
    }
}

// ---- events ----

static void put_details(struct xspace *w, const struct stk_ext *e, uint32_t stat)
{
    char text[STK_EXPORT_DETAILS_MAX];
    size_t n = stk_export_details(e, true, text);
    put_str(w->out, EVENT_STATS, stat, (struct stk_str){text, n});
}

static void put_detail_stats(struct xspace *w, uint32_t event)
{
    uint32_t count;
    const struct stk_detail *d = stk_details_of(w->f->t, event, &count);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = stk_pbw_begin(w->out, EVENT_STATS);
        uint64_t bits;
        stk_pbw_u64(w->out, STAT_META, detail_stat(d[i].key));
        switch (stk_detail_type_of(d[i].key)) {
        case STK_DETAIL_INT:
            stk_pbw_u64(w->out,
                        d[i].key == STK_DETAIL_ADDRESS || d[i].key == STK_DETAIL_FUNCTION
                            ? STAT_UINT64
                            : STAT_INT64,
                        (uint64_t)d[i].number);
            break;
        case STK_DETAIL_REAL:
            memcpy(&bits, &d[i].real, sizeof bits);
            stk_pbw_fixed64(w->out, STAT_DOUBLE, bits);
            break;
        case STK_DETAIL_TEXT:
            stk_pbw_text(w->out, STAT_STR, stk_export_text(w->f, d[i].text));
        }
        stk_pbw_end(w->out, at);
    }
}

static void put_stats(struct xspace *w, const struct stk_track *track, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    const struct stk_ext *e = stk_ext_of(t, event);
    uint8_t kind = t->kind[event];
    if (kind == STK_KIND_RUNTIME) {
        if (t->ref[event] != STK_NONE) {
            put_int(w->out, EVENT_STATS, STAT_CORRELATION, STAT_UINT64, (int64_t)event + 1);
        }
        return;
    }
    if (!e) {
        return;
    }
    if (e->flags & STK_EXT_STEP && e->flags & STK_EXT_VALUE) {
        put_int(w->out, EVENT_STATS, STAT_STEP_NUM, STAT_INT64, e->value);
        put_int(w->out, EVENT_STATS, STAT_ROOT, STAT_INT64, 1);
        return;
    }
    if (stk_kind_is_device_work(kind) && e->link != STK_NONE) {
        put_int(w->out, EVENT_STATS, STAT_CORRELATION, STAT_UINT64, (int64_t)e->link + 1);
    }
    if (kind == STK_KIND_MEMCPY || (e->flags & STK_EXT_WAITS)) {
        put_details(w, e, STAT_MEMCPY);
    } else if (kind == STK_KIND_MEMSET) {
        put_details(w, e, STAT_MEMSET);
    } else if (e->flags & STK_EXT_VALUE) {
        put_int(w->out, EVENT_STATS, kind == STK_KIND_MEMORY ? STAT_BYTES : STAT_VALUE, STAT_INT64,
                e->value);
    }
    if (e->flags & STK_EXT_GRAPH && track->kind == STK_TRACK_STREAM) {
        put_int(w->out, EVENT_STATS, STAT_GRAPH, STAT_UINT64, 1);
    }
}

// Ids of stats for recorded arguments begin here.
#define ARGS_FIRST (STAT_COUNT + STK_KIND_COUNT + STK_DETAIL_COUNT)

// Whether stoker writes a stat of this name itself, or the record's own key.
static bool is_written(struct xspace *w, struct stk_str key)
{
    static const char *const own[] = {"ph", "cat", "name", "pid", "tid",
                                      "ts", "dur", "s",    "id",  "bp"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (stk_str_eq(key, stk_str_from(own[i]))) {
            return true;
        }
    }
    if (stk_str_eq(key,
                   stk_str_from(stat_names[STAT_KERNEL]))) { // it has more than a trace keeps
        w->has_launch = true;
        return false;
    }
    for (uint32_t s = 1; s < (w->has_details ? STAT_COUNT : STAT_DEVICE_NAME); s++) {
        if (stk_str_eq(key, stk_str_from(stat_names[s]))) {
            return true;
        }
    }
    return false;
}

static void xspace_put_arg(void *arg, struct stk_str key, struct stk_str value)
{
    struct xspace *w = arg;
    int64_t whole;
    double real;
    uint64_t bits;
    if (failed(w) || is_written(w, key)) {
        return;
    }
    uint32_t id = stk_strpool_intern(&w->arg_names, key.p, key.n);
    if (id == STK_STRPOOL_FAILED) {
        no_memory(w);
        return;
    }
    size_t at = stk_pbw_begin(w->out, EVENT_STATS);
    stk_pbw_u64(w->out, STAT_META, (uint64_t)ARGS_FIRST + id);
    switch (stk_export_number(value, &whole, &real)) {
    case STK_EXPORT_WHOLE:
        stk_pbw_u64(w->out, STAT_INT64, (uint64_t)whole);
        break;
    case STK_EXPORT_REAL:
        memcpy(&bits, &real, sizeof bits);
        stk_pbw_fixed64(w->out, STAT_DOUBLE, bits);
        break;
    default:
        stk_pbw_text(w->out, STAT_STR, value);
    }
    stk_pbw_end(w->out, at);
}

// As XLA writes it: "regs:32 shm:0 grid:160,1,1 block:256,1,1 occ_pct:50"; only the sum of the
// block's shared memory is known.
static void put_launch(struct xspace *w, const struct stk_launch_config *c)
{
    char text[192];
    int n = 0;
    const int size = (int)sizeof text;
    if (c->registers >= 0) {
        n += snprintf(text + n, (size_t)(size - n), " regs:%" PRId32, c->registers);
    }
    if (c->shared_bytes >= 0) {
        n += snprintf(text + n, (size_t)(size - n), " shm:%" PRId32, c->shared_bytes);
    }
    if (c->grid[0]) {
        n += snprintf(text + n, (size_t)(size - n), " grid:%" PRIu32 ",%" PRIu32 ",%" PRIu32,
                      c->grid[0], c->grid[1], c->grid[2]);
    }
    if (c->block[0]) {
        n += snprintf(text + n, (size_t)(size - n), " block:%" PRIu32 ",%" PRIu32 ",%" PRIu32,
                      c->block[0], c->block[1], c->block[2]);
    }
    if (c->occupancy_pct >= 0 && !c->occupancy_of_grid) {
        n += snprintf(text + n, (size_t)(size - n), " occ_pct:%" PRId32, c->occupancy_pct);
    }
    if (n > 0) {
        put_str(w->out, EVENT_STATS, STAT_KERNEL, (struct stk_str){text + 1, (size_t)n - 1});
    }
}

static void put_args(struct xspace *w, uint32_t event)
{
    uint32_t count;
    w->has_details = stk_details_of(w->f->t, event, &count) != NULL;
    if (w->x->with_args && w->status == STOKER_OK) {
        enum stoker_status status = w->x->args(w->x->args_arg, 0, event, xspace_put_arg, w, w->err);
        w->status = w->status == STOKER_OK ? status : w->status;
    }
}

static void xspace_put_event(struct xspace *w, const struct stk_track *track, uint32_t event,
                             int64_t line_ns)
{
    const struct stk_trace *t = w->f->t;
    uint32_t id = name_id(w, t->name[event], t->kind[event]);
    size_t at = stk_pbw_begin(w->out, LINE_EVENTS);
    stk_pbw_u64(w->out, EVENT_META, id);
    stk_pbw_u64(w->out, EVENT_OFFSET_PS, (uint64_t)(t->start_ns[event] - line_ns) * 1000);
    stk_pbw_u64(w->out, EVENT_DURATION_PS, (uint64_t)stk_dur_ns(t, event) * 1000);
    put_stats(w, track, event);
    put_detail_stats(w, event);
    w->has_launch = false;
    put_args(w, event);
    if (stk_kind_is_device_work(t->kind[event]) && !w->has_launch && stk_config_of(t, event)) {
        put_launch(w, stk_config_of(t, event));
    }
    stk_pbw_end(w->out, at);
    stk_ex_record(w->out);
}

static void count_event(struct xspace *w, bool takes, bool overlaps, uint32_t event)
{
    struct stk_export_counts *c = &w->x->counts;
    if (w->counting) {
        int64_t end_ns = stk_end_ns(w->f->t, event) + w->f->shift_ns;
        w->end_ns = takes && end_ns > w->end_ns ? end_ns : w->end_ns;
        return;
    }
    c->events += takes;
    c->unselected += !takes;
    c->overlaps += takes && overlaps;
}

// The payload of a track's line, including its sub-rows.
static void put_line(struct xspace *w, uint32_t track)
{
    const struct stk_trace *t = w->f->t;
    const struct stk_track *k = &t->tracks[track];
    const struct stk_export_process *p = &w->f->processes[k->process];
    struct stk_export_rows rows;
    char name[300];
    size_t n = stk_export_track_name(w->f, track, name, sizeof name);
    struct stk_str shown = {name, n}, recorded = stk_export_text(w->f, k->name);
    char stream[48];
    if (k->kind == STK_TRACK_STREAM && !stk_str_starts(recorded, STK_STR("Stream #")) &&
        t->devices[k->device].kind != STK_DEVICE_TPU) {
        n = (size_t)snprintf(stream, sizeof stream, "Stream #%" PRId64, k->id);
        shown = (struct stk_str){stream, n};
    } else if (k->kind == STK_TRACK_COUNTER && k->device == STK_NONE) {
        shown = STK_STR(STK_XSPACE_COUNTERS);
    } else if (recorded.n) {
        shown = recorded;
    }
    // The host's rows other than threads have no number.
    int64_t id = k->device == STK_NONE && k->kind != STK_TRACK_THREAD ? (int64_t)track : k->id;
    int64_t line_ns = t->start_ns[k->first] > 0 ? t->start_ns[k->first] : 0;
    stk_pbw_u64(w->out, LINE_ID, (uint64_t)id);
    stk_pbw_text(w->out, LINE_NAME, shown);
    stk_pbw_u64(w->out, LINE_TIMESTAMP_NS, (uint64_t)(line_ns + w->f->shift_ns));
    if (!stk_export_rows_begin(&rows, t, track)) {
        no_memory(w);
    }
    uint32_t e;
    while (!failed(w) && (e = stk_export_rows_next(&rows)) != STK_NONE) {
        bool takes = stk_export_takes(t, p, e);
        count_event(w, takes, e >= k->first + k->count, e);
        if (takes) {
            xspace_put_event(w, k, e, line_ns);
        }
    }
    stk_export_rows_end(&rows);
}

// ---- planes ----

#define HOST_PLANE STK_NONE

// A plane of a device, of the host, or of their rows that aren't streams or threads: readers take
// any line of a GPU's plane for a stream, except those with ids that XProf reserves for derived
// lines, and any line of a host for a thread.
struct plane {
    uint32_t device;
    bool is_beside;
};
#define DERIVED_ID_FIRST (-559038737) // 0xdeadbeef
#define DERIVED_ID_LAST (DERIVED_ID_FIRST + 1023)

static bool is_of_plane(const struct xspace *w, const struct stk_track *k, struct plane plane)
{
    if (k->parent != STK_NONE || k->device != plane.device ||
        !stk_export_takes_track(w->x, w->f, k)) {
        return false;
    }
    bool is_beside = k->kind != STK_TRACK_THREAD;
    if (plane.device != HOST_PLANE) {
        bool is_derived = k->id >= DERIVED_ID_FIRST && k->id <= DERIVED_ID_LAST;
        is_beside = k->kind != STK_TRACK_STREAM && !is_derived &&
                    w->f->t->devices[plane.device].kind != STK_DEVICE_TPU;
    }
    return is_beside == plane.is_beside;
}

static void put_device_stats(struct xspace *w, uint32_t device)
{
    const struct stk_device *d = &w->f->t->devices[device];
    struct stk_export_out *o = w->out;
    struct stk_str name = stk_export_text(w->f, d->name);
    if (name.n) {
        put_str(o, PLANE_STATS, d->kind == STK_DEVICE_TPU ? STAT_DEVICE_TYPE : STAT_DEVICE_NAME,
                name);
    }
    if (d->kind == STK_DEVICE_GPU && name.n) {
        put_str(o, PLANE_STATS, STAT_DEVICE_VENDOR,
                stk_str_contains_nocase(name, STK_STR("AMD")) ? STK_STR("AMD") : STK_STR("Nvidia"));
    }
    if (d->sm_count) {
        put_int(o, PLANE_STATS, STAT_CORE_COUNT, STAT_INT64, d->sm_count);
    }
    if (d->cc_major) {
        put_int(o, PLANE_STATS, STAT_CC_MAJOR, STAT_INT64, d->cc_major);
        put_int(o, PLANE_STATS, STAT_CC_MINOR, STAT_INT64, d->cc_minor);
    }
    if (d->memory_bytes) {
        put_int(o, PLANE_STATS, STAT_MEMORY_SIZE, STAT_INT64, d->memory_bytes);
    }
}

static void put_plane_head(struct xspace *w, struct plane plane)
{
    uint32_t device = plane.device;
    char text[64];
    static const char *const prefixes[] = {[STK_DEVICE_GPU] = "/device:GPU:",
                                           [STK_DEVICE_TPU] = "/device:TPU:",
                                           [STK_DEVICE_OTHER] = "/device:OTHER:"};
    if (device == HOST_PLANE) {
        snprintf(text, sizeof text, "%s", plane.is_beside ? STK_XSPACE_BESIDE "host" : "/host:CPU");
    } else {
        snprintf(text, sizeof text, "%s%s%" PRId64, plane.is_beside ? STK_XSPACE_BESIDE : "",
                 prefixes[w->f->t->devices[device].kind] + plane.is_beside,
                 w->f->t->devices[device].ordinal);
    }
    stk_pbw_u64(w->out, PLANE_ID,
                device == HOST_PLANE ? !plane.is_beside : 2 * (device + 1u) + plane.is_beside);
    stk_pbw_text(w->out, PLANE_NAME, stk_str_from(text));
    put_stat_names(w->out);
    if (device != HOST_PLANE && !plane.is_beside) {
        put_device_stats(w, device);
    }
}

static void put_names(struct xspace *w)
{
    for (uint32_t i = 0; i < w->names.count; i++) {
        const struct name *n = &w->names.list[i];
        put_entry(w->out, PLANE_EVENT_METADATA, i + 1u, stk_export_text(w->f, n->string),
                  STK_STR(""), n->kind);
        stk_ex_record(w->out);
    }
    for (uint32_t i = 0; w->x->with_args && i < w->arg_names.count; i++) {
        put_entry(w->out, PLANE_STAT_METADATA, (uint64_t)ARGS_FIRST + i,
                  stk_strpool_get(&w->arg_names, i), STK_STR(""), -1);
    }
}

// The number of bytes that `put` writes, found by writing without output.
struct sizing {
    struct stk_export_out *real, counter;
};
static void count_begin(struct xspace *w, struct sizing *s)
{
    s->real = w->out;
    stk_ex_init(&s->counter, NULL, NULL);
    s->counter.counts_only = true;
    w->out = &s->counter;
    w->counting = true;
}
static uint64_t count_end(struct xspace *w, struct sizing *s)
{
    stk_ex_flush(&s->counter);
    if (s->counter.failed && w->status == STOKER_OK) {
        no_memory(w);
    }
    uint64_t n = s->counter.total;
    stk_ex_deinit(&s->counter);
    w->out = s->real;
    w->counting = false;
    return n;
}

static void put_plane(struct xspace *w, struct plane plane)
{
    const struct stk_trace *t = w->f->t;
    struct sizing sizing;
    uint64_t total = 0;
    if (!names_begin(w)) {
        names_end(w);
        return;
    }
    for (uint32_t k = 0; k < t->track_count && !failed(w); k++) {
        if (!is_of_plane(w, &t->tracks[k], plane)) {
            continue;
        }
        count_begin(w, &sizing);
        put_line(w, k);
        w->line_bytes[k] = count_end(w, &sizing);
        total += 1 + stk_varint_size(w->line_bytes[k]) + w->line_bytes[k];
    }
    count_begin(w, &sizing);
    put_plane_head(w, plane);
    put_names(w);
    total += count_end(w, &sizing);
    if (!failed(w)) {
        stk_pbw_tag_len(w->out, SPACE_PLANES, total);
        put_plane_head(w, plane);
        for (uint32_t k = 0; k < t->track_count && !failed(w); k++) {
            if (!is_of_plane(w, &t->tracks[k], plane)) {
                continue;
            }
            stk_pbw_tag_len(w->out, PLANE_LINES, w->line_bytes[k]);
            put_line(w, k);
        }
        put_names(w);
    }
    names_end(w);
}

static bool has_lines(const struct xspace *w, struct plane plane)
{
    for (uint32_t k = 0; k < w->f->t->track_count; k++) {
        if (is_of_plane(w, &w->f->t->tracks[k], plane)) {
            return true;
        }
    }
    return false;
}

static void put_planes(struct xspace *w)
{
    for (uint32_t d = 0; d < w->f->t->device_count; d++) {
        for (int beside = 0; beside < 2 && !failed(w); beside++) {
            if (has_lines(w, (struct plane){d, beside})) {
                put_plane(w, (struct plane){d, beside});
            }
        }
    }
    if (!failed(w)) {
        put_plane(w, (struct plane){HOST_PLANE, false});
    }
    if (!failed(w) && has_lines(w, (struct plane){HOST_PLANE, true})) {
        put_plane(w, (struct plane){HOST_PLANE, true});
    }
}

// ---- stoker's own rows ----

static void put_lane(struct xspace *w, uint32_t index, uint64_t *next_name)
{
    const struct stk_export_lane *lane = &w->x->lanes[index];
    stk_pbw_u64(w->out, LINE_ID, index + 1u);
    stk_pbw_text(w->out, LINE_NAME, stk_str_from(lane->name));
    for (size_t i = 0; i < lane->count && !failed(w); i++) {
        struct stk_export_lane_capacity capacity;
        struct stk_export_slice s;
        stk_export_lane_at(w->x, lane, i, &capacity, &s);
        size_t at = stk_pbw_begin(w->out, LINE_EVENTS);
        // A part's name already has an entry; any other slice gets its own.
        stk_pbw_u64(w->out, EVENT_META,
                    lane->slices ? (*next_name)++
                                 : w->x->ranks[lane->rank].pieces[lane->first + i].part + 1u);
        stk_pbw_u64(w->out, EVENT_OFFSET_PS, (uint64_t)s.start_ns * 1000);
        stk_pbw_u64(w->out, EVENT_DURATION_PS, (uint64_t)s.dur_ns * 1000);
        for (size_t n = 0; n < s.note_count; n++) {
            char text[600];
            int length = s.notes[n].text ? snprintf(text, sizeof text, "%s: %s", s.notes[n].key,
                                                    s.notes[n].text)
                                         : snprintf(text, sizeof text, "%s: %" PRId64,
                                                    s.notes[n].key, s.notes[n].number);
            size_t shown = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
            put_str(w->out, EVENT_STATS, STAT_NOTE, (struct stk_str){text, shown});
        }
        stk_pbw_end(w->out, at);
        stk_ex_record(w->out);
        w->x->counts.lane_rows += !w->counting;
    }
}

static void put_lane_names(struct xspace *w)
{
    uint64_t next = STK_PART_COUNT + 1;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        put_entry(w->out, PLANE_EVENT_METADATA, (uint64_t)p + 1,
                  stk_str_from(stk_part_info(p)->label), STK_STR(""), -1);
    }
    for (uint32_t i = 0; i < w->x->lane_count; i++) {
        const struct stk_export_lane *lane = &w->x->lanes[i];
        for (size_t s = 0; lane->slices && s < lane->count; s++) {
            put_entry(w->out, PLANE_EVENT_METADATA, next++, stk_str_from(lane->slices[s].name),
                      STK_STR(""), -1);
            stk_ex_record(w->out);
        }
    }
}

static void put_own_plane_body(struct xspace *w, uint64_t *line_bytes)
{
    struct sizing sizing;
    uint64_t name = STK_PART_COUNT + 1;
    bool outer = w->counting;
    stk_pbw_text(w->out, PLANE_NAME, STK_STR(STK_XSPACE_OWN_PLANE));
    put_stat_names(w->out);
    put_str(w->out, PLANE_STATS, STAT_WRITER, STK_STR("stoker"));
    for (size_t i = 0; i < w->x->selection_count; i++) {
        put_str(w->out, PLANE_STATS, STAT_SELECTION, stk_str_from(w->x->selection[i]));
    }
    for (uint32_t i = 0; i < w->x->lane_count && !failed(w); i++) {
        if (outer) {
            uint64_t again = name;
            count_begin(w, &sizing);
            put_lane(w, i, &again);
            line_bytes[i] = count_end(w, &sizing);
            w->counting = outer;
        }
        stk_pbw_tag_len(w->out, PLANE_LINES, line_bytes[i]);
        put_lane(w, i, &name);
    }
    put_lane_names(w);
}

static void put_own_plane(struct xspace *w)
{
    uint64_t *line_bytes = stk_alloc_zero((size_t)w->x->lane_count + 1, sizeof *line_bytes);
    struct sizing sizing;
    if (!line_bytes) {
        no_memory(w);
        return;
    }
    count_begin(w, &sizing);
    put_own_plane_body(w, line_bytes);
    uint64_t total = count_end(w, &sizing);
    stk_pbw_tag_len(w->out, SPACE_PLANES, total);
    put_own_plane_body(w, line_bytes);
    stk_free(line_bytes);
}

// The start of the session, from which times in the other planes count.
static void put_session(struct xspace *w)
{
    int64_t base_ns = w->x->base_ns;
    size_t plane = stk_pbw_begin(w->out, SPACE_PLANES);
    stk_pbw_text(w->out, PLANE_NAME, STK_STR("Task Environment"));
    put_stat_names(w->out);
    if (base_ns > 0) {
        put_int(w->out, PLANE_STATS, STAT_PROFILE_START, STAT_UINT64, base_ns);
        put_int(w->out, PLANE_STATS, STAT_PROFILE_STOP, STAT_UINT64, base_ns + w->end_ns);
    }
    stk_pbw_end(w->out, plane);
}

static enum stoker_status write_xspace(struct stk_export *x, struct stk_export_out *out,
                                       struct stoker_err *err)
{
    struct xspace w = {.x = x, .out = out, .err = err};
    if (x->file_count == 0) {
        return STOKER_OK;
    }
    w.f = &x->files[0];
    const struct stk_trace *t = w.f->t;
    w.line_bytes = stk_alloc_zero((size_t)t->track_count + 1, sizeof *w.line_bytes);
    if (!w.line_bytes || stk_strpool_init(&w.arg_names, 0) != 0) {
        stk_free(w.line_bytes);
        return stk_err_nomem(err);
    }
    put_planes(&w);
    if (!failed(&w)) {
        put_own_plane(&w);
    }
    if (!failed(&w)) {
        put_session(&w);
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (!stk_export_takes_track(x, w.f, &t->tracks[k])) {
            x->counts.unselected += t->tracks[k].count;
        }
    }
    if (t->host) {
        stk_pbw_text(out, SPACE_HOSTNAMES, stk_export_text(w.f, t->host));
    }
    stk_strpool_deinit(&w.arg_names);
    stk_free(w.line_bytes);
    return w.status;
}

const struct stk_exporter stk_exporter_xspace = {
    .name = "xspace",
    .extension = ".xplane.pb",
    .summary = "XSpace protobuf, for TensorBoard's profile plugin and XProf",
    .opens_with = "TensorBoard (put it as plugins/profile/RUN/HOST.xplane.pb under the log "
                  "directory), xprof, stoker",
    .keeps = "every event with its times to the nanosecond, kind (in a stat of its name's entry) "
             "and bytes; direction and memory of copies; step numbers (as root events, by which "
             "XProf groups); how kernels were launched; which call launched which device operation "
             "(as correlation_id); names of threads; devices with their properties; the host's "
             "name",
    .drops = "process numbers (the format has one process per file), and the rank; the recorded "
             "correlation numbers (new ones stand for the same links); the rows that keep "
             "overlapping events apart. The host's counters, and its rows that aren't threads, are "
             "in a plane next to the host's. XProf's kernel tables stay empty without --args, its "
             "HLO tables always. Protobuf readers other than stoker refuse files above 2 GiB: "
             "select steps then",
    .one_rank = true,
    .takes_args = true,
    .write = write_xspace,
};
