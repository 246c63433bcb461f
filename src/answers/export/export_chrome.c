// SPDX-License-Identifier: Apache-2.0
// Chrome JSON in the dialect of PyTorch's Kineto, which most tools read: complete events with
// categories cpu_op, cuda_runtime, kernel, gpu_memcpy ..., device rows by device and stream, launch
// calls linked with device work by args.correlation and by flows (ac2g), deviceProperties,
// distributedInfo, baseTimeNanoseconds. Times are exact: microseconds with three decimals.
//
// Overlapping events in a sub-row are written to the row of its track, since the format has no
// other place for a stream's or thread's events. If Kineto has no category for an event, it gets
// one that begins with "stoker_", so that stoker can read it back; rows added by stoker have the
// category "stoker", which its reader skips. TPUs are written as for the trace viewer of TensorFlow
// and JAX, with names of process and thread.
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "answers/export/export.h"
#include "profile/store/names.h"
#include "profile/store/words.h"

#define PID_LANES 2000000000
#define TID_BESIDE 2000000000 // a device's rows other than streams, and others without a number

struct chrome {
    struct stk_export *x;
    struct stk_export_out *out;
    struct stoker_err *err;
    enum stoker_status status;
    uint32_t file;
    const struct stk_export_file *f;
    uint32_t *classes;    // per string id, see profile/store/names.h
    int64_t *device_pids; // per device of the file
    int64_t next_pid;     // of devices, if there are several ranks
    bool comma;
    // Of the track being written:
    const struct stk_track *track;
    int64_t pid, tid;
    const struct stk_export_process *process;
};

static void chrome_put(struct chrome *w, const char *text)
{
    stk_ex_bytes(w->out, text, strlen(text));
}

static void begin_event(struct chrome *w, const char *ph)
{
    chrome_put(w, w->comma ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    chrome_put(w, ph);
    chrome_put(w, "\"");
    w->comma = true;
}

static void end_event(struct chrome *w)
{
    chrome_put(w, "}");
    stk_ex_record(w->out);
}

static void chrome_put_number(struct chrome *w, const char *key, int64_t value)
{
    chrome_put(w, key);
    stk_ex_i64(w->out, value);
}

static void put_time(struct chrome *w, const char *key, int64_t ns)
{
    chrome_put(w, key);
    stk_ex_us(w->out, ns);
}

static void put_place(struct chrome *w, int64_t pid, int64_t tid)
{
    chrome_put_number(w, ",\"pid\":", pid);
    chrome_put_number(w, ",\"tid\":", tid);
}

static void put_meta(struct chrome *w, const char *name, int64_t pid, int64_t tid,
                     struct stk_str text)
{
    begin_event(w, "M");
    chrome_put(w, ",\"name\":\"");
    chrome_put(w, name);
    chrome_put(w, "\"");
    put_place(w, pid, tid);
    chrome_put(w, ",\"ts\":0,\"args\":{\"name\":");
    stk_ex_json(w->out, text);
    chrome_put(w, "}");
    end_event(w);
}

static void put_sort(struct chrome *w, int64_t pid, int64_t index)
{
    begin_event(w, "M");
    chrome_put(w, ",\"name\":\"process_sort_index\"");
    put_place(w, pid, 0);
    chrome_put_number(w, ",\"ts\":0,\"args\":{\"sort_index\":", index);
    chrome_put(w, "}");
    end_event(w);
}

// ---- categories ----

static bool is_tpu(const struct chrome *w)
{
    return w->track->device != STK_NONE &&
           w->f->t->devices[w->track->device].kind == STK_DEVICE_TPU;
}

static const char *host_cat(const struct chrome *w, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    const struct stk_ext *e = stk_ext_of(t, event);
    if (e && e->flags & STK_EXT_STEP) {
        return "user_annotation";
    }
    switch ((enum stk_kind)t->kind[event]) {
    case STK_KIND_HOST_OP:
        return "cpu_op";
    case STK_KIND_RUNTIME:
        return "cuda_runtime";
    case STK_KIND_ANNOTATION:
        return "user_annotation";
    case STK_KIND_PYTHON:
        return "python_function";
    case STK_KIND_INPUT:
        return w->classes[t->name[event]] & STK_NAME_FETCH
                   ? "user_annotation"
                   : stk_chrome_own_cat(STK_CHROME_OWN_INPUT);
    case STK_KIND_MEMORY:
        return stk_chrome_own_cat(STK_CHROME_OWN_MEMORY);
    default:
        return stk_chrome_own_cat(STK_CHROME_OWN_OTHER);
    }
}

// NULL: none.
static const char *cat_of(const struct chrome *w, uint32_t event)
{
    uint8_t kind = w->f->t->kind[event];
    if (is_tpu(w)) {
        return NULL;
    }
    switch (w->track->kind) {
    case STK_TRACK_THREAD:
        return host_cat(w, event);
    case STK_TRACK_STREAM:
        return kind == STK_KIND_MEMCPY   ? "gpu_memcpy"
               : kind == STK_KIND_MEMSET ? "gpu_memset"
                                         : "kernel";
    case STK_TRACK_DERIVED:
        return w->track->device == STK_NONE ? stk_chrome_own_cat(STK_CHROME_OWN_ROW)
                                            : "gpu_user_annotation";
    default:
        if (w->track->device != STK_NONE) {
            return kind == STK_KIND_SYNC ? "cuda_sync" : "cuda_event";
        }
        return stk_str_contains_nocase(stk_export_text(w->f, w->track->name), STK_STR("overhead"))
                   ? "overhead"
                   : stk_chrome_own_cat(STK_CHROME_OWN_ROW);
    }
}

// ---- events ----

struct args {
    struct chrome *w;
    bool open;
    uint32_t recorded; // 1u << LAUNCH_...: these are written as recorded
};

// The keys of a kernel's launch configuration, with PyTorch's names.
enum { LAUNCH_GRID, LAUNCH_BLOCK, LAUNCH_REGISTERS, LAUNCH_SHARED, LAUNCH_OCCUPANCY, LAUNCH_KEYS };
static const char *const launch_keys[] = {"grid", "block", "registers per thread", "shared memory",
                                          "est. achieved occupancy %"};

static void put_key(struct args *a, const char *key)
{
    chrome_put(a->w, a->open ? ",\"" : ",\"args\":{\"");
    chrome_put(a->w, key);
    chrome_put(a->w, "\":");
    a->open = true;
}

static void chrome_put_arg(struct args *a, const char *key, int64_t value)
{
    put_key(a, key);
    stk_ex_i64(a->w->out, value);
}

static void put_details(struct args *a, const struct stk_ext *e)
{
    char text[STK_EXPORT_DETAILS_MAX];
    size_t n = stk_export_details(e, true, text);
    put_key(a, "memcpy_details");
    stk_ex_json(a->w->out, (struct stk_str){text, n});
}

// PyTorch's keys; others keep their own name.
static const char *detail_key(enum stk_detail_key key)
{
    switch (key) {
    case STK_DETAIL_ADDRESS:
        return "Addr";
    case STK_DETAIL_DEVICE:
        return "Device Id";
    case STK_DETAIL_TOTAL:
        return "Total Allocated";
    case STK_DETAIL_RESERVED:
        return "Total Reserved";
    case STK_DETAIL_COLLECTIVE:
        return "Collective name";
    case STK_DETAIL_IN_ELEMENTS:
        return "In msg nelems";
    case STK_DETAIL_OUT_ELEMENTS:
        return "Out msg nelems";
    case STK_DETAIL_GROUP_SIZE:
        return "Group size";
    case STK_DETAIL_GROUP:
        return "Process Group Name";
    case STK_DETAIL_GROUP_RANKS:
        return "Process Group Ranks";
    default:
        return stk_detail_key_text(key);
    }
}

static void put_detail_args(struct args *a, uint32_t event)
{
    const struct stk_export_file *f = a->w->f;
    uint32_t count;
    const struct stk_detail *d = stk_details_of(f->t, event, &count);
    for (uint32_t i = 0; i < count; i++) {
        put_key(a, detail_key(d[i].key));
        switch (stk_detail_type_of(d[i].key)) {
        case STK_DETAIL_INT:
            stk_ex_i64(a->w->out, d[i].number);
            break;
        case STK_DETAIL_REAL:
            stk_ex_real(a->w->out, d[i].real);
            break;
        case STK_DETAIL_TEXT:
            stk_ex_json(a->w->out, stk_export_text(f, d[i].text));
        }
    }
}

static void put_sizes(struct args *a, int key, const uint32_t *sizes)
{
    if (sizes[0] && !(a->recorded & (1u << key))) {
        put_key(a, launch_keys[key]);
        for (int i = 0; i < 3; i++) {
            chrome_put(a->w, i ? ", " : "[");
            stk_ex_i64(a->w->out, sizes[i]);
        }
        chrome_put(a->w, "]");
    }
}

static void put_known(struct args *a, int key, int32_t value)
{
    if (value >= 0 && !(a->recorded & (1u << key))) {
        chrome_put_arg(a, launch_keys[key], value);
    }
}

// PyTorch's occupancy counts at most the blocks of the grid; it has no key for another one.
static void put_launch(struct args *a, const struct stk_launch_config *c)
{
    put_sizes(a, LAUNCH_GRID, c->grid);
    put_sizes(a, LAUNCH_BLOCK, c->block);
    put_known(a, LAUNCH_REGISTERS, c->registers);
    put_known(a, LAUNCH_SHARED, c->shared_bytes);
    put_known(a, LAUNCH_OCCUPANCY, c->occupancy_of_grid ? c->occupancy_pct : -1);
}

// Writes recorded arguments, except those already written and those made again.
static void put_recorded(void *arg, struct stk_str key, struct stk_str value)
{
    static const char *const written[] = {"ph",
                                          "cat",
                                          "name",
                                          "pid",
                                          "tid",
                                          "ts",
                                          "dur",
                                          "s",
                                          "id",
                                          "bp",
                                          "rank",
                                          "pid_raw",
                                          "bytes",
                                          "Bytes",
                                          "device",
                                          "stream",
                                          "correlation",
                                          "correlation_id",
                                          "Addr",
                                          "Device Id",
                                          "Device Type",
                                          "graph id",
                                          "step_num",
                                          "memcpy_details",
                                          "op",
                                          "allocator",
                                          "fragmentation",
                                          "peak_bytes",
                                          "stack_bytes",
                                          "parallelism",
                                          "autotune",
                                          "buffer_limit",
                                          "Total Reserved",
                                          "Total Allocated",
                                          "Group size",
                                          "In msg nelems",
                                          "Out msg nelems",
                                          "Collective name",
                                          "Process Group Name",
                                          "Process Group Ranks"};
    struct args *a = arg;
    int64_t whole;
    double real;
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        if (stk_str_eq(key, stk_str_from(written[i]))) {
            return;
        }
    }
    for (int i = 0; i < LAUNCH_KEYS; i++) {
        a->recorded |= stk_str_eq(key, stk_str_from(launch_keys[i])) ? 1u << i : 0;
    }
    chrome_put(a->w, a->open ? "," : ",\"args\":{");
    a->open = true;
    stk_ex_json(a->w->out, key);
    chrome_put(a->w, ":");
    if (stk_export_number(value, &whole, &real) != STK_EXPORT_NO_NUMBER) {
        stk_ex_str(a->w->out, value);
    } else {
        stk_ex_json(a->w->out, value);
    }
}

static void put_args(struct chrome *w, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    const struct stk_ext *e = stk_ext_of(t, event);
    struct args a = {.w = w};
    uint8_t kind = t->kind[event];
    if (w->x->rank_count > 1) { // as in files merged from several ranks
        chrome_put_arg(&a, "rank", w->process->rank);
        chrome_put_arg(&a, "pid_raw", t->processes[w->track->process].pid);
    }
    if (w->track->device != STK_NONE) {
        chrome_put_arg(&a, "device", t->devices[w->track->device].ordinal);
        chrome_put_arg(&a, "stream", w->track->id);
    }
    if (kind == STK_KIND_RUNTIME && t->ref[event] != STK_NONE) {
        chrome_put_arg(&a, "correlation", (int64_t)event + 1);
    }
    if (e && stk_kind_is_device_work(kind) && e->link != STK_NONE) {
        chrome_put_arg(&a, "correlation", (int64_t)e->link + 1);
    }
    if (e && e->flags & STK_EXT_VALUE) {
        if (e->flags & STK_EXT_STEP) {
            chrome_put_arg(&a, "step_num", e->value);
        } else {
            chrome_put_arg(&a, kind == STK_KIND_MEMORY ? "Bytes" : "bytes", e->value);
        }
    }
    if (e && e->flags & STK_EXT_GRAPH) {
        chrome_put_arg(&a, "graph id", 1);
    }
    if (e && (kind == STK_KIND_MEMCPY || e->flags & STK_EXT_WAITS)) {
        put_details(&a, e);
    }
    if (e && kind == STK_KIND_MEMORY && e->dst_mem) {
        chrome_put_arg(&a, "Device Type", e->dst_mem == STK_MEM_DEVICE);
    }
    put_detail_args(&a, event);
    if (w->x->with_args && w->status == STOKER_OK) {
        w->status = w->x->args(w->x->args_arg, w->file, event, put_recorded, &a, w->err);
    }
    if (stk_kind_is_device_work(kind) && stk_config_of(t, event)) {
        put_launch(&a, stk_config_of(t, event));
    }
    if (a.open) {
        chrome_put(w, "}");
    }
}

static int64_t common_ns(const struct chrome *w, uint32_t event)
{
    return w->f->t->start_ns[event] + w->f->shift_ns;
}

static void put_complete(struct chrome *w, uint32_t event)
{
    const char *cat = cat_of(w, event);
    begin_event(w, "X");
    if (cat) {
        chrome_put(w, ",\"cat\":\"");
        chrome_put(w, cat);
        chrome_put(w, "\"");
    }
    chrome_put(w, ",\"name\":");
    stk_ex_json(w->out, stk_export_text(w->f, w->f->t->name[event]));
    put_place(w, w->pid, w->tid);
    put_time(w, ",\"ts\":", common_ns(w, event));
    put_time(w, ",\"dur\":", stk_dur_ns(w->f->t, event));
    put_args(w, event);
    end_event(w);
}

// The arguments that PyTorch writes for each allocation.
static void put_memory(struct chrome *w, uint32_t event)
{
    begin_event(w, "i");
    chrome_put(w, ",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\"");
    put_place(w, w->pid, w->tid);
    put_time(w, ",\"ts\":", common_ns(w, event));
    put_args(w, event);
    end_event(w);
}

// All values of an event, by series, which separates devices that share a counter's name.
static void put_counter(struct chrome *w, uint32_t event)
{
    const struct stk_export_file *f = w->f;
    const struct stk_ext *e = stk_ext_of(f->t, event);
    struct stk_export_sample sample;
    uint32_t count, at = 0;
    const struct stk_detail *d = stk_details_of(f->t, event, &count);
    struct stk_str name = stk_export_text(f, f->t->name[event]);
    char text[400];
    bool more = stk_export_next_sample(d, count, &at, &sample), first = true;
    if (more && sample.device >= 0 && w->track->device == STK_NONE) {
        int n = snprintf(text, sizeof text, "%.*s (device %" PRId64 ")",
                         (int)(name.n < 300 ? name.n : 300), name.p, sample.device);
        name = (struct stk_str){text, (size_t)n};
    }
    begin_event(w, "C");
    chrome_put(w, ",\"name\":");
    stk_ex_json(w->out, name);
    put_place(w, w->pid, 0);
    put_time(w, ",\"ts\":", common_ns(w, event));
    chrome_put(w, ",\"args\":{");
    if (!more && e && e->flags & STK_EXT_VALUE) {
        chrome_put_number(w, "\"value\":", e->value);
    }
    for (; more; first = false) {
        chrome_put(w, first ? "" : ",");
        stk_ex_json(w->out, sample.series ? stk_export_text(f, sample.series) : STK_STR("value"));
        chrome_put(w, ":");
        stk_ex_real(w->out, sample.value);
        more = stk_export_next_sample(d, count, &at, &sample);
    }
    chrome_put(w, "}");
    end_event(w);
}

// Half of an arrow from launch call to device work, numbered by the device operation.
static void put_flow(struct chrome *w, const char *ph, uint32_t op, uint32_t at)
{
    begin_event(w, ph);
    chrome_put_number(w, ",\"id\":", (int64_t)((uint64_t)w->file << 32) + op + 1);
    put_place(w, w->pid, w->tid);
    put_time(w, ",\"ts\":", common_ns(w, at));
    chrome_put(w, *ph == 'f' ? ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\""
                             : ",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
    end_event(w);
}

static void put_flows(struct chrome *w, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    if (t->kind[event] == STK_KIND_RUNTIME) {
        for (uint32_t op = t->ref[event]; op != STK_NONE; op = stk_ext_of(t, op)->next) {
            put_flow(w, "s", op, event);
        }
        return;
    }
    const struct stk_ext *e = stk_ext_of(t, event);
    if (e && e->link != STK_NONE && stk_kind_is_device_work(t->kind[event])) {
        put_flow(w, "f", event, event);
    }
}

static void chrome_put_event(struct chrome *w, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    bool is_memory = t->kind[event] == STK_KIND_MEMORY && w->track->kind == STK_TRACK_THREAD &&
                     stk_str_eq(stk_name_of(t, event), STK_STR("[memory]")) &&
                     stk_dur_ns(t, event) == 0;
    if (w->track->kind == STK_TRACK_COUNTER) {
        put_counter(w, event);
    } else if (is_memory) {
        put_memory(w, event);
    } else {
        put_complete(w, event);
    }
    put_flows(w, event);
}

// ---- tracks ----

static void place_track(struct chrome *w, uint32_t track)
{
    const struct stk_track *k = w->track;
    w->pid = k->device != STK_NONE ? w->device_pids[k->device] : w->process->pid;
    w->tid = k->id;
    if (k->kind == STK_TRACK_OTHER || (k->kind == STK_TRACK_DERIVED && k->device == STK_NONE)) {
        w->tid = TID_BESIDE + (int64_t)track;
    }
}

static void put_track(struct chrome *w, uint32_t track)
{
    const struct stk_trace *t = w->f->t;
    uint32_t root = t->tracks[track].parent == STK_NONE ? track : t->tracks[track].parent;
    w->track = &t->tracks[track];
    w->process = &w->f->processes[w->track->process];
    place_track(w, root);
    if (root == track && w->track->kind != STK_TRACK_COUNTER) {
        char name[300];
        // TPU lines are identified by their own name.
        bool own = is_tpu(w) || w->track->kind != STK_TRACK_STREAM;
        struct stk_str recorded = stk_export_text(w->f, w->track->name);
        size_t n = stk_export_track_name(w->f, track, name, sizeof name);
        put_meta(w, "thread_name", w->pid, w->tid,
                 own && recorded.n ? recorded : (struct stk_str){name, n});
    }
    uint32_t end = w->track->first + w->track->count;
    for (uint32_t e = w->track->first; e < end && !w->out->failed && w->status == STOKER_OK; e++) {
        if (!stk_export_takes(t, w->process, e)) {
            w->x->counts.unselected++;
            continue;
        }
        w->x->counts.events++;
        w->x->counts.overlaps += root != track;
        chrome_put_event(w, e);
    }
}

static void name_processes(struct chrome *w)
{
    const struct stk_trace *t = w->f->t;
    for (uint32_t p = 0; p < t->process_count; p++) {
        const struct stk_export_process *process = &w->f->processes[p];
        if (!process->taken) {
            continue;
        }
        struct stk_str name = stk_export_text(w->f, t->processes[p].name);
        if (name.n) {
            put_meta(w, "process_name", process->pid, 0, name);
        }
        put_sort(w, process->pid, process->pid);
    }
    for (uint32_t d = 0; d < t->device_count; d++) {
        char label[320];
        const struct stk_device *device = &t->devices[d];
        const struct stk_export_process *process = &w->f->processes[device->process];
        w->device_pids[d] = w->x->rank_count > 1 ? w->next_pid++ : device->ordinal;
        if (!process->taken || (w->x->has_device && device->ordinal != w->x->device)) {
            continue;
        }
        if (device->kind == STK_DEVICE_TPU) {
            snprintf(label, sizeof label, "/device:TPU:%" PRId64 " %.200s", device->ordinal,
                     stk_export_text(w->f, device->name).p);
        } else {
            stk_export_device_label(w->x, w->f, d, label, sizeof label);
        }
        put_meta(w, "process_name", w->device_pids[d], 0, stk_str_from(label));
        put_sort(w, w->device_pids[d], PID_LANES + w->device_pids[d]);
    }
}

static enum stoker_status put_file(struct chrome *w, struct stoker_err *err)
{
    const struct stk_trace *t = w->f->t;
    enum stoker_status status = STOKER_OK;
    w->classes = stk_names_classify(t);
    w->device_pids = stk_alloc_zero((size_t)t->device_count + 1, sizeof *w->device_pids);
    if (w->classes && w->device_pids) {
        name_processes(w);
        for (uint32_t k = 0; k < t->track_count && !w->out->failed; k++) {
            if (stk_export_takes_track(w->x, w->f, &t->tracks[k])) {
                put_track(w, k);
            } else {
                w->x->counts.unselected += t->tracks[k].count;
            }
        }
    } else {
        status = stk_err_nomem(err);
    }
    stk_free(w->classes);
    stk_free(w->device_pids);
    return status == STOKER_OK ? w->status : status;
}

static void put_lanes(struct chrome *w)
{
    put_meta(w, "process_name", PID_LANES, 0, STK_STR("stoker"));
    put_sort(w, PID_LANES, -1);
    for (uint32_t i = 0; i < w->x->lane_count; i++) {
        const struct stk_export_lane *lane = &w->x->lanes[i];
        put_meta(w, "thread_name", PID_LANES, i + 1, stk_str_from(lane->name));
        for (size_t s = 0; s < lane->count && !w->out->failed; s++) {
            struct stk_export_lane_capacity capacity;
            struct stk_export_slice slice;
            struct args a = {.w = w};
            stk_export_lane_at(w->x, lane, s, &capacity, &slice);
            begin_event(w, "X");
            chrome_put(w, ",\"cat\":\"");
            chrome_put(w, stk_chrome_own_cat(STK_CHROME_OWN_STOKER));
            chrome_put(w, "\",\"name\":");
            stk_ex_json(w->out, stk_str_from(slice.name));
            put_place(w, PID_LANES, i + 1);
            put_time(w, ",\"ts\":", slice.start_ns);
            put_time(w, ",\"dur\":", slice.dur_ns);
            for (size_t n = 0; n < slice.note_count; n++) {
                put_key(&a, slice.notes[n].key);
                if (slice.notes[n].text) {
                    stk_ex_json(w->out, stk_str_from(slice.notes[n].text));
                } else {
                    stk_ex_i64(w->out, slice.notes[n].number);
                }
            }
            chrome_put(w, a.open ? "}" : "");
            end_event(w);
            w->x->counts.lane_rows++;
        }
    }
}

// ---- top level ----

static void put_properties(struct chrome *w, const struct stk_device *d, struct stk_str name,
                           bool first)
{
    chrome_put(w, first ? "\n  " : ",\n  ");
    chrome_put_number(w, "{\"id\":", d->ordinal);
    chrome_put(w, ",\"name\":");
    stk_ex_json(w->out, name);
    if (d->memory_bytes) {
        chrome_put_number(w, ",\"totalGlobalMem\":", d->memory_bytes);
    }
    if (d->cc_major) {
        chrome_put_number(w, ",\"computeMajor\":", d->cc_major);
    }
    if (d->cc_major) {
        chrome_put_number(w, ",\"computeMinor\":", d->cc_minor);
    }
    if (d->sm_count) {
        chrome_put_number(w, ",\"numSms\":", d->sm_count);
    }
    chrome_put(w, "}");
}

static void put_devices(struct chrome *w)
{
    bool first = true;
    chrome_put(w, "\"deviceProperties\":[");
    for (uint32_t i = 0; i < w->x->file_count; i++) {
        const struct stk_export_file *f = &w->x->files[i];
        for (uint32_t d = 0; d < f->t->device_count; d++) {
            const struct stk_device *device = &f->t->devices[d];
            if (device->kind == STK_DEVICE_TPU || !f->processes[device->process].taken ||
                (w->x->has_device && device->ordinal != w->x->device)) {
                continue;
            }
            put_properties(w, device, stk_export_text(f, device->name), first);
            first = false;
        }
    }
    chrome_put(w, "],\n");
}

static void put_head(struct chrome *w)
{
    const struct stk_export *x = w->x;
    const struct stk_trace *t = x->file_count ? x->files[0].t : NULL;
    chrome_put(w, "{\"schemaVersion\":1,\n");
    if (t && t->device_count) {
        put_devices(w);
    }
    if (x->rank_count == 1 && (t->rank >= 0 || t->world_size > 0 || x->ranks[0].sum->rank > 0)) {
        chrome_put_number(w, "\"distributedInfo\":{\"rank\":", x->ranks[0].sum->rank);
        if (t->world_size > 0) {
            chrome_put_number(w, ",\"world_size\":", t->world_size);
        }
        chrome_put(w, "},\n");
    }
    if (t && t->host) {
        chrome_put(w, "\"host_name\":");
        stk_ex_json(w->out, stk_export_text(&x->files[0], t->host));
        chrome_put(w, ",\n");
    }
    chrome_put_number(w, "\"baseTimeNanoseconds\":", x->base_ns > 0 ? x->base_ns : 0);
    chrome_put(w, ",\n\"displayTimeUnit\":\"ms\",\n\"stoker\":{\"version\":");
    stk_ex_json(w->out, stk_str_from(x->version));
    chrome_put(w, ",\"selection\":[");
    for (size_t i = 0; i < x->selection_count; i++) {
        chrome_put(w, i ? "," : "");
        stk_ex_json(w->out, stk_str_from(x->selection[i]));
    }
    chrome_put(w, "]},\n\"traceEvents\":[");
}

static enum stoker_status write_chrome(struct stk_export *x, struct stk_export_out *out,
                                       struct stoker_err *err)
{
    struct chrome w = {.x = x, .out = out, .err = err};
    enum stoker_status status = STOKER_OK;
    put_head(&w);
    put_lanes(&w);
    for (w.file = 0; w.file < x->file_count && status == STOKER_OK && !out->failed; w.file++) {
        w.f = &x->files[w.file];
        status = put_file(&w, err);
    }
    chrome_put(&w, "\n]");
    if (x->tail) {
        x->tail(x->tail_arg, out);
    }
    chrome_put(&w, "}\n");
    return status;
}

const struct stk_exporter stk_exporter_chrome = {
    .name = "chrome",
    .extension = ".json",
    .summary = "Chrome JSON as PyTorch writes it, for tools that read Kineto traces",
    .opens_with = "chrome://tracing, ui.perfetto.dev, HTA, stoker",
    .keeps = "every event with its times to the nanosecond, kind (as Kineto's categories, or one "
             "that begins with stoker_), bytes, memory of copies, step numbers; how kernels were "
             "launched; counters; which call launched which device operation (as args.correlation "
             "and as flows); names of "
             "processes and threads; devices with their properties; rank and host",
    .drops = "the recorded correlation numbers (new ones stand for the same links), and the rows "
             "that keep overlapping events apart: they share one row, and some viewers don't draw "
             "all of them there (perfetto has a track for each)",
    .is_text = true,
    .takes_args = true,
    .write = write_chrome,
};
