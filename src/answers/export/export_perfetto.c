// SPDX-License-Identifier: Apache-2.0
// Perfetto: the native trace format of https://ui.perfetto.dev, a stream of TracePacket messages
// (protos/perfetto/trace in google/perfetto).
//
// Each track of the profile and each of its sub-rows becomes a separate track, so that nothing
// overlaps and nothing is dropped on import. A slice is a BEGIN and an END packet, or an INSTANT if
// it has no length; within a track they are in order of nesting, and the importer sorts all tracks
// by time. Slices nested deeper than the importer's stack go to a track below the first. Flows,
// numbered by the device operation, link launch calls with device work. Names are interned per
// file: its packets share one sequence. Facts without a place in the format become annotations
// (profile/store/perfetto_facts.def) and rows of facts (export_perfetto_facts.c), so that stoker
// can read back what it wrote.
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "answers/export/export_perfetto_facts.h"
#include "profile/store/words.h"

// Fields, by message.
#define TRACE_PACKET 1
#define PACKET_TIMESTAMP 8
#define PACKET_SEQUENCE_ID 10
#define PACKET_TRACK_EVENT 11
#define PACKET_INTERNED 12
#define PACKET_SEQUENCE_FLAGS 13
#define PACKET_TRACK_DESCRIPTOR 60
#define EVENT_CATEGORY_IID 3
#define EVENT_ANNOTATION 4
#define EVENT_TYPE 9
#define EVENT_NAME_IID 10
#define EVENT_TRACK 11
#define EVENT_NAME 23
#define EVENT_COUNTER_VALUE 30
#define EVENT_DOUBLE_VALUE 44
#define EVENT_FLOW 47
#define ANNOTATION_NAME_IID 1
#define ANNOTATION_INT 4
#define ANNOTATION_DOUBLE 5
#define ANNOTATION_STRING 6
#define ANNOTATION_NAME 10
#define INTERNED_CATEGORIES 1
#define INTERNED_NAMES 2
#define INTERNED_ANNOTATION_NAMES 3
#define INTERNED_IID 1
#define INTERNED_NAME 2
#define TRACK_UUID 1
#define TRACK_NAME 2
#define TRACK_PROCESS 3
#define TRACK_THREAD 4
#define TRACK_PARENT 5
#define TRACK_COUNTER 8
#define TRACK_CHILD_ORDER 11
#define TRACK_RANK 12
#define PROCESS_PID 1
#define PROCESS_NAME 6
#define THREAD_PID 1
#define THREAD_TID 2
#define THREAD_NAME 5

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { ORDER_EXPLICIT = 3 };

// The importer keeps at most 255 slices open.
#define DEPTH_PER_TRACK 200
#define LEVELS 16

struct perfetto {
    struct stk_export *x;
    struct stk_export_out *out;
    struct stk_vec ends; // int64_t: ends of the open slices
    uint64_t next_uuid;
    // Of the file being written:
    uint32_t file;
    uint8_t *named;         // per string id: its name was interned
    uint64_t *process_uuid; // per process, 0: not yet
    uint64_t *device_uuid;  // per device
    uint64_t track_uuid;    // of the track being written; deeper levels follow it
    uint32_t levels_described;
    struct stk_map counters; // (track, name, series, device) -> uuid
    int64_t offset_ns;       // from the trace's time to the output's
    struct stk_perfetto_facts facts;
};

static struct stk_export_file *file_of(const struct perfetto *w)
{
    return &w->x->files[w->file];
}

// ---- packets ----

static size_t packet_begin(struct perfetto *w, uint64_t flags)
{
    size_t packet = stk_pbw_begin(w->out, TRACE_PACKET);
    stk_pbw_u64(w->out, PACKET_SEQUENCE_ID, w->file + 1u);
    stk_pbw_u64(w->out, PACKET_SEQUENCE_FLAGS, flags);
    return packet;
}

static void packet_end(struct perfetto *w, size_t packet)
{
    stk_pbw_end(w->out, packet);
    stk_ex_record(w->out);
}

static void intern(struct stk_export_out *o, uint32_t field, uint64_t iid, struct stk_str name)
{
    size_t at = stk_pbw_begin(o, field);
    stk_pbw_u64(o, INTERNED_IID, iid);
    stk_pbw_text(o, INTERNED_NAME, name);
    stk_pbw_end(o, at);
}

// The packet that opens a file's sequence: names of kinds and values.
static void start_sequence(struct perfetto *w)
{
    size_t packet = packet_begin(w, STATE_CLEARED);
    size_t interned = stk_pbw_begin(w->out, PACKET_INTERNED);
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        intern(w->out, INTERNED_CATEGORIES, (uint64_t)k + 1, stk_str_from(stk_kind_key(k)));
    }
    intern(w->out, INTERNED_CATEGORIES, STK_KIND_COUNT + 1, STK_STR("stoker"));
    intern(w->out, INTERNED_CATEGORIES, STK_KIND_COUNT + 2, STK_STR(STK_PERFETTO_FACTS));
    for (int n = 1; n < STK_PERFETTO_NOTES; n++) {
        intern(w->out, INTERNED_ANNOTATION_NAMES, (uint64_t)n,
               stk_str_from(stk_perfetto_note_name((enum stk_perfetto_note)n)));
    }
    for (int d = 0; d < STK_DETAIL_COUNT; d++) {
        char name[64];
        snprintf(name, sizeof name, STK_PERFETTO_DETAIL "%s",
                 stk_detail_key_text((enum stk_detail_key)d));
        intern(w->out, INTERNED_ANNOTATION_NAMES, STK_PERFETTO_NOTES + (uint64_t)d,
               stk_str_from(name));
    }
    stk_pbw_end(w->out, interned);
    packet_end(w, packet);
}

// ---- descriptors ----

struct descriptor {
    uint64_t uuid, parent;
    struct stk_str name;
    uint64_t order; // among its siblings
    bool orders_children, is_counter;
};

static void perfetto_describe(struct perfetto *w, const struct descriptor *d)
{
    size_t packet = packet_begin(w, NEEDS_STATE);
    size_t at = stk_pbw_begin(w->out, PACKET_TRACK_DESCRIPTOR);
    stk_pbw_u64(w->out, TRACK_UUID, d->uuid);
    stk_pbw_text(w->out, TRACK_NAME, d->name);
    if (d->parent) {
        stk_pbw_u64(w->out, TRACK_PARENT, d->parent);
    }
    if (d->orders_children) {
        stk_pbw_u64(w->out, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
    }
    if (d->order) {
        stk_pbw_u64(w->out, TRACK_RANK, d->order);
    }
    if (d->is_counter) {
        stk_pbw_end(w->out, stk_pbw_begin(w->out, TRACK_COUNTER));
    }
    stk_pbw_end(w->out, at);
    packet_end(w, packet);
}

static void describe_process(struct perfetto *w, uint32_t process)
{
    struct stk_export_file *f = file_of(w);
    const struct stk_export_process *p = &f->processes[process];
    struct stk_str name = stk_export_text(f, f->t->processes[process].name);
    char text[320], rank[32] = "";
    if (p->rank >= 0 && w->x->rank_count > 1) {
        snprintf(rank, sizeof rank, "rank %" PRId32 " ", p->rank);
    }
    int shown = (int)(name.n < 200 ? name.n : 200);
    snprintf(text, sizeof text, "%s%.*s", rank, shown, name.n ? name.p : "");
    w->process_uuid[process] = w->next_uuid++;
    size_t packet = packet_begin(w, NEEDS_STATE);
    size_t at = stk_pbw_begin(w->out, PACKET_TRACK_DESCRIPTOR);
    stk_pbw_u64(w->out, TRACK_UUID, w->process_uuid[process]);
    size_t own = stk_pbw_begin(w->out, TRACK_PROCESS);
    stk_pbw_u64(w->out, PROCESS_PID, (uint64_t)p->pid);
    stk_pbw_text(w->out, PROCESS_NAME, text[0] ? stk_str_from(text) : STK_STR("process"));
    stk_pbw_end(w->out, own);
    stk_pbw_end(w->out, at);
    packet_end(w, packet);
}

static void describe_device(struct perfetto *w, uint32_t device)
{
    char label[300];
    size_t n = stk_export_device_label(w->x, file_of(w), device, label, sizeof label);
    w->device_uuid[device] = w->next_uuid++;
    perfetto_describe(w, &(struct descriptor){.uuid = w->device_uuid[device], .name = {label, n}});
}

// Host threads become threads of their process if their numbers fit; everything else becomes a
// track by its name.
static void describe_track(struct perfetto *w, uint32_t track, uint64_t uuid)
{
    struct stk_export_file *f = file_of(w);
    const struct stk_track *k = &f->t->tracks[track];
    char name[300];
    size_t n = stk_export_track_name(f, track, name, sizeof name);
    if (!w->process_uuid[k->process]) {
        describe_process(w, k->process);
    }
    if (k->device != STK_NONE && !w->device_uuid[k->device]) {
        describe_device(w, k->device);
    }
    uint64_t parent =
        k->device != STK_NONE ? w->device_uuid[k->device] : w->process_uuid[k->process];
    bool is_thread = k->kind == STK_TRACK_THREAD && k->parent == STK_NONE && k->id > 0 &&
                     k->id <= INT32_MAX && stk_export_text(f, k->name).n < sizeof name;
    if (!is_thread) {
        perfetto_describe(w,
                          &(struct descriptor){.uuid = uuid, .parent = parent, .name = {name, n}});
        return;
    }
    size_t packet = packet_begin(w, NEEDS_STATE);
    size_t at = stk_pbw_begin(w->out, PACKET_TRACK_DESCRIPTOR);
    stk_pbw_u64(w->out, TRACK_UUID, uuid);
    stk_pbw_u64(w->out, TRACK_PARENT, parent);
    size_t own = stk_pbw_begin(w->out, TRACK_THREAD);
    stk_pbw_u64(w->out, THREAD_PID, (uint64_t)f->processes[k->process].pid);
    stk_pbw_u64(w->out, THREAD_TID, (uint64_t)k->id);
    stk_pbw_text(w->out, THREAD_NAME,
                 k->name ? stk_export_text(f, k->name) : (struct stk_str){name, n});
    stk_pbw_end(w->out, own);
    stk_pbw_end(w->out, at);
    packet_end(w, packet);
}

// The track for slices nested in `depth` others.
static uint64_t level_uuid(struct perfetto *w, uint32_t track, size_t depth)
{
    uint32_t level =
        depth / DEPTH_PER_TRACK < LEVELS ? (uint32_t)(depth / DEPTH_PER_TRACK) : LEVELS - 1;
    if (level && !(w->levels_described >> level & 1)) {
        char name[340];
        size_t n = stk_export_track_name(file_of(w), track, name, 300);
        n += (size_t)snprintf(name + n, sizeof name - n, " (from depth %u)",
                              level * DEPTH_PER_TRACK);
        perfetto_describe(w, &(struct descriptor){.uuid = w->track_uuid + level,
                                                  .parent = w->track_uuid,
                                                  .name = {name, n}});
        w->levels_described |= 1u << level;
    }
    return w->track_uuid + level;
}

// ---- events ----

static size_t event_begin(struct perfetto *w, int64_t at_ns, uint64_t type, uint64_t uuid,
                          size_t *packet)
{
    *packet = packet_begin(w, NEEDS_STATE);
    stk_pbw_u64(w->out, PACKET_TIMESTAMP, (uint64_t)at_ns);
    size_t event = stk_pbw_begin(w->out, PACKET_TRACK_EVENT);
    stk_pbw_u64(w->out, EVENT_TYPE, type);
    stk_pbw_u64(w->out, EVENT_TRACK, uuid);
    return event;
}

static void put_end(struct perfetto *w, int64_t at_ns, uint64_t uuid)
{
    size_t packet, event = event_begin(w, at_ns, TYPE_END, uuid, &packet);
    stk_pbw_end(w->out, event);
    packet_end(w, packet);
}

static void perfetto_put_number(struct stk_export_out *o, uint64_t name, int64_t value)
{
    size_t at = stk_pbw_begin(o, EVENT_ANNOTATION);
    stk_pbw_u64(o, ANNOTATION_NAME_IID, name);
    stk_pbw_u64(o, ANNOTATION_INT, (uint64_t)value);
    stk_pbw_end(o, at);
}

static void put_word(struct stk_export_out *o, uint64_t name, const char *word)
{
    if (!word) {
        return;
    }
    size_t at = stk_pbw_begin(o, EVENT_ANNOTATION);
    stk_pbw_u64(o, ANNOTATION_NAME_IID, name);
    stk_pbw_str(o, ANNOTATION_STRING, stk_str_from(word));
    stk_pbw_end(o, at);
}

static void put_sizes(struct perfetto *w, uint64_t name, const uint32_t size[3])
{
    char text[40];
    snprintf(text, sizeof text, "%" PRIu32 " %" PRIu32 " %" PRIu32, size[0], size[1], size[2]);
    put_word(w->out, name, text);
}

static void put_known(struct perfetto *w, uint64_t name, int64_t value)
{
    if (value >= 0) {
        perfetto_put_number(w->out, name, value);
    }
}

static void put_config(struct perfetto *w, const struct stk_launch_config *c)
{
    put_sizes(w, STK_PERFETTO_GRID, c->grid);
    put_sizes(w, STK_PERFETTO_BLOCK, c->block);
    put_known(w, STK_PERFETTO_REGISTERS, c->registers);
    put_known(w, STK_PERFETTO_SHARED, c->shared_bytes);
    put_known(w, STK_PERFETTO_OCCUPANCY, c->occupancy_pct);
    put_known(w, STK_PERFETTO_OCCUPANCY_OF_GRID, c->occupancy_of_grid ? 1 : -1);
    put_known(w, STK_PERFETTO_FLOPS, c->flops);
    put_known(w, STK_PERFETTO_TRAFFIC, c->bytes);
}

static void put_flag(struct perfetto *w, const struct stk_ext *e, uint8_t flag, uint64_t name)
{
    if (e->flags & flag) {
        perfetto_put_number(w->out, name, 1);
    }
}

static void put_values(struct perfetto *w, const struct stk_ext *e, uint8_t kind)
{
    if (e->flags & STK_EXT_CONFIG) {
        put_config(w, &file_of(w)->t->configs[e->value]);
    }
    if (!(e->flags & STK_EXT_VALUE)) {
        put_flag(w, e, STK_EXT_STEP, STK_PERFETTO_STEP_MARK);
    }
    put_flag(w, e, STK_EXT_GRAPH, STK_PERFETTO_GRAPH);
    put_flag(w, e, STK_EXT_WAITS, STK_PERFETTO_WAITS);
    if (e->flags & STK_EXT_VALUE) {
        perfetto_put_number(w->out,
                            e->flags & STK_EXT_STEP ? STK_PERFETTO_STEP
                            : stk_kind_is_device_work(kind) || kind == STK_KIND_MEMORY
                                ? STK_PERFETTO_BYTES
                                : STK_PERFETTO_VALUE,
                            e->value);
    }
    put_word(w->out, STK_PERFETTO_DIR, stk_dir_key(e->dir));
    put_word(w->out, STK_PERFETTO_SRC, stk_mem_key(e->src_mem));
    put_word(w->out, STK_PERFETTO_DST, stk_mem_key(e->dst_mem));
    if (e->flags & (STK_EXT_ASYNC | STK_EXT_SYNCHRONOUS)) {
        perfetto_put_number(w->out, STK_PERFETTO_ASYNC, (e->flags & STK_EXT_ASYNC) != 0);
    }
}

static void put_real(struct stk_export_out *o, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    stk_pbw_fixed64(o, field, bits);
}

static void put_details(struct perfetto *w, uint32_t event)
{
    const struct stk_export_file *f = file_of(w);
    uint32_t count;
    const struct stk_detail *d = stk_details_of(f->t, event, &count);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = stk_pbw_begin(w->out, EVENT_ANNOTATION);
        stk_pbw_u64(w->out, ANNOTATION_NAME_IID, STK_PERFETTO_NOTES + (uint64_t)d[i].key);
        switch (stk_detail_type_of(d[i].key)) {
        case STK_DETAIL_INT:
            stk_pbw_u64(w->out, ANNOTATION_INT, (uint64_t)d[i].number);
            break;
        case STK_DETAIL_REAL:
            put_real(w->out, ANNOTATION_DOUBLE, d[i].real);
            break;
        case STK_DETAIL_TEXT:
            stk_pbw_text(w->out, ANNOTATION_STRING, stk_export_text(f, d[i].text));
        }
        stk_pbw_end(w->out, at);
    }
}

static void perfetto_put_arg(void *arg, struct stk_str key, struct stk_str value)
{
    struct stk_export_out *o = arg;
    int64_t whole;
    double real;
    size_t at = stk_pbw_begin(o, EVENT_ANNOTATION);
    stk_pbw_text(o, ANNOTATION_NAME, key);
    switch (stk_export_number(value, &whole, &real)) {
    case STK_EXPORT_WHOLE:
        stk_pbw_u64(o, ANNOTATION_INT, (uint64_t)whole);
        break;
    case STK_EXPORT_REAL:
        put_real(o, ANNOTATION_DOUBLE, real);
        break;
    case STK_EXPORT_NO_NUMBER:
        stk_pbw_text(o, ANNOTATION_STRING, value);
    }
    stk_pbw_end(o, at);
}

// A flow per device operation: its number links it with its launch call.
static void put_flows(struct perfetto *w, const struct stk_trace *t, uint32_t event)
{
    uint64_t base = (uint64_t)w->file << 32;
    if (t->kind[event] != STK_KIND_RUNTIME) {
        const struct stk_ext *e = stk_ext_of(t, event);
        if (e && e->link != STK_NONE && stk_kind_is_device_work(t->kind[event])) {
            perfetto_put_number(w->out, STK_PERFETTO_LAUNCH, (int64_t)e->link + 1);
            stk_pbw_fixed64(w->out, EVENT_FLOW, base + event + 1);
        }
        return;
    }
    if (t->ref[event] != STK_NONE) {
        perfetto_put_number(w->out, STK_PERFETTO_LAUNCH, (int64_t)event + 1);
    }
    for (uint32_t op = t->ref[event]; op != STK_NONE; op = stk_ext_of(t, op)->next) {
        stk_pbw_fixed64(w->out, EVENT_FLOW, base + op + 1);
    }
}

static enum stoker_status perfetto_put_event(struct perfetto *w, uint32_t event, uint64_t type,
                                             uint64_t uuid, struct stoker_err *err)
{
    const struct stk_export_file *f = file_of(w);
    const struct stk_trace *t = f->t;
    const struct stk_ext *e = stk_ext_of(t, event);
    uint32_t name = t->name[event];
    size_t packet, at;
    at = event_begin(w, t->start_ns[event] + w->offset_ns, type, uuid, &packet);
    stk_pbw_u64(w->out, EVENT_CATEGORY_IID, t->kind[event] + 1u);
    stk_pbw_u64(w->out, EVENT_NAME_IID, name + 1u);
    if (e) {
        put_values(w, e, t->kind[event]);
    }
    put_details(w, event);
    put_flows(w, t, event);
    enum stoker_status status = STOKER_OK;
    if (w->x->with_args) {
        status = w->x->args(w->x->args_arg, w->file, event, perfetto_put_arg, w->out, err);
    }
    stk_pbw_end(w->out, at);
    if (!w->named[name]) {
        size_t interned = stk_pbw_begin(w->out, PACKET_INTERNED);
        intern(w->out, INTERNED_NAMES, name + 1u, stk_export_text(f, name));
        stk_pbw_end(w->out, interned);
        w->named[name] = 1;
    }
    packet_end(w, packet);
    return status;
}

// ---- counters: a track for each of their series ----

static uint64_t counter_uuid(struct perfetto *w, uint32_t track, uint32_t name,
                             const struct stk_export_sample *sample)
{
    struct stk_export_file *f = file_of(w);
    const struct stk_track *k = &f->t->tracks[track];
    char text[400], on[40] = "";
    int created;
    uint32_t *at = stk_map_put(&w->counters, (uint64_t)track << 32 | name,
                               (uint64_t)sample->series << 32 | (uint32_t)sample->device,
                               (uint32_t)w->next_uuid, &created);
    if (!at) {
        w->out->failed = w->out->failed ? w->out->failed : STOKER_ENOMEM;
        return 1;
    }
    if (!created) {
        return *at;
    }
    struct stk_str of = stk_export_text(f, name), series = stk_export_text(f, sample->series);
    if (sample->device >= 0) {
        snprintf(on, sizeof on, " (device %" PRId64 ")", sample->device);
    }
    int n =
        snprintf(text, sizeof text, "%.*s%s%.*s%s", (int)(of.n < 150 ? of.n : 150), of.p,
                 series.n && !stk_str_eq(series, of) ? ": " : "",
                 stk_str_eq(series, of) ? 0 : (int)(series.n < 150 ? series.n : 150), series.p, on);
    uint64_t parent =
        k->device != STK_NONE ? w->device_uuid[k->device] : w->process_uuid[k->process];
    perfetto_describe(w, &(struct descriptor){.uuid = w->next_uuid++,
                                              .parent = parent,
                                              .name = {text, (size_t)n},
                                              .is_counter = true});
    stk_perfetto_counter_fact(&w->facts, *at, w->track_uuid, of, series, sample->device);
    return *at;
}

static void put_sample(struct perfetto *w, uint32_t track, uint32_t event,
                       const struct stk_export_sample *sample, const int64_t *whole)
{
    const struct stk_trace *t = file_of(w)->t;
    uint64_t uuid = counter_uuid(w, track, t->name[event], sample);
    size_t packet, at;
    at = event_begin(w, t->start_ns[event] + w->offset_ns, TYPE_COUNTER, uuid, &packet);
    if (whole) {
        stk_pbw_u64(w->out, EVENT_COUNTER_VALUE, (uint64_t)*whole);
    } else {
        put_real(w->out, EVENT_DOUBLE_VALUE, sample->value);
        perfetto_put_number(w->out, STK_PERFETTO_SAMPLE, (int64_t)event + 1);
        const struct stk_ext *e = stk_ext_of(t, event);
        if (e && e->flags & STK_EXT_VALUE) {
            perfetto_put_number(w->out, STK_PERFETTO_VALUE, e->value);
        }
    }
    stk_pbw_end(w->out, at);
    packet_end(w, packet);
}

// A sample without values in the profile becomes a mark on the counter's own track.
static enum stoker_status put_counter(struct perfetto *w, uint32_t track, uint32_t event,
                                      struct stoker_err *err)
{
    const struct stk_trace *t = file_of(w)->t;
    const struct stk_ext *e = stk_ext_of(t, event);
    struct stk_export_sample sample = {.device = -1};
    uint32_t count, at = 0;
    const struct stk_detail *d = stk_details_of(t, event, &count);
    bool any = false;
    while (stk_export_next_sample(d, count, &at, &sample)) {
        put_sample(w, track, event, &sample, NULL);
        any = true;
    }
    if (!any && e && e->flags & STK_EXT_VALUE) {
        put_sample(w, track, event, &(struct stk_export_sample){.device = -1}, &e->value);
    } else if (!any) {
        return perfetto_put_event(w, event, TYPE_INSTANT, w->track_uuid, err);
    }
    return STOKER_OK;
}

// Closes the slices that end by `at_ns`, innermost first.
static void perfetto_close_ended(struct perfetto *w, uint32_t track, int64_t at_ns)
{
    int64_t *ends = w->ends.items;
    while (w->ends.count && ends[w->ends.count - 1] <= at_ns) {
        w->ends.count--;
        put_end(w, ends[w->ends.count] + w->offset_ns, level_uuid(w, track, w->ends.count));
    }
}

static enum stoker_status put_slice(struct perfetto *w, uint32_t track, uint32_t event,
                                    struct stoker_err *err)
{
    const struct stk_trace *t = file_of(w)->t;
    int64_t start_ns = t->start_ns[event], dur_ns = stk_dur_ns(t, event);
    perfetto_close_ended(w, track, start_ns);
    uint64_t uuid = level_uuid(w, track, w->ends.count);
    if (dur_ns == 0) {
        return perfetto_put_event(w, event, TYPE_INSTANT, uuid, err);
    }
    int64_t *end = stk_vec_push_n(&w->ends, 1);
    if (!end) {
        return stk_err_nomem(err);
    }
    *end = start_ns + dur_ns;
    return perfetto_put_event(w, event, TYPE_BEGIN, uuid, err);
}

static enum stoker_status put_track(struct perfetto *w, uint32_t track, struct stoker_err *err)
{
    struct stk_export_file *f = file_of(w);
    const struct stk_track *k = &f->t->tracks[track];
    const struct stk_export_process *p = &f->processes[k->process];
    enum stoker_status status = STOKER_OK;
    w->track_uuid = w->next_uuid;
    w->next_uuid += LEVELS;
    w->levels_described = 0;
    w->ends.count = 0;
    describe_track(w, track, w->track_uuid);
    stk_perfetto_track_fact(&w->facts, track, w->track_uuid);
    for (uint32_t e = k->first; e < k->first + k->count && status == STOKER_OK; e++) {
        if (!stk_export_takes(f->t, p, e)) {
            w->x->counts.unselected++;
            continue;
        }
        w->x->counts.events++;
        w->x->counts.overlaps += k->parent != STK_NONE;
        status = k->kind == STK_TRACK_COUNTER ? put_counter(w, track, e, err)
                                              : put_slice(w, track, e, err);
        if (w->out->failed) {
            break;
        }
    }
    perfetto_close_ended(w, track, INT64_MAX);
    return status;
}

// ---- files and lanes ----

static enum stoker_status put_file(struct perfetto *w, struct stoker_err *err)
{
    struct stk_export_file *f = file_of(w);
    const struct stk_trace *t = f->t;
    enum stoker_status status = STOKER_OK;
    stk_map_init(&w->counters, SIZE_MAX);
    w->named = stk_alloc_zero((size_t)t->strings.count + 1, 1);
    w->process_uuid = stk_alloc_zero((size_t)t->process_count + 1, sizeof *w->process_uuid);
    w->device_uuid = stk_alloc_zero((size_t)t->device_count + 1, sizeof *w->device_uuid);
    if (!w->named || !w->process_uuid || !w->device_uuid) {
        status = stk_err_nomem(err);
    }
    for (uint32_t k = 0; k < t->track_count && status == STOKER_OK && !w->out->failed; k++) {
        if (stk_export_takes_track(w->x, f, &t->tracks[k])) {
            status = put_track(w, k, err);
        } else {
            w->x->counts.unselected += t->tracks[k].count;
        }
    }
    stk_map_deinit(&w->counters);
    stk_free(w->named);
    stk_free(w->process_uuid);
    stk_free(w->device_uuid);
    return status;
}

static void put_lane_slice(struct perfetto *w, const struct stk_export_slice *s, int64_t base_ns,
                           uint64_t uuid)
{
    size_t packet, at;
    at = event_begin(w, s->start_ns + base_ns, s->dur_ns > 0 ? TYPE_BEGIN : TYPE_INSTANT, uuid,
                     &packet);
    stk_pbw_u64(w->out, EVENT_CATEGORY_IID, STK_KIND_COUNT + 1);
    stk_pbw_text(w->out, EVENT_NAME, stk_str_from(s->name));
    for (size_t i = 0; i < s->note_count; i++) {
        const struct stk_export_note *n = &s->notes[i];
        size_t note = stk_pbw_begin(w->out, EVENT_ANNOTATION);
        stk_pbw_str(w->out, ANNOTATION_NAME, stk_str_from(n->key));
        if (n->text) {
            stk_pbw_text(w->out, ANNOTATION_STRING, stk_str_from(n->text));
        } else {
            stk_pbw_u64(w->out, ANNOTATION_INT, (uint64_t)n->number);
        }
        stk_pbw_end(w->out, note);
    }
    stk_pbw_end(w->out, at);
    packet_end(w, packet);
    if (s->dur_ns > 0) {
        put_end(w, s->start_ns + s->dur_ns + base_ns, uuid);
    }
}

static void put_lanes(struct perfetto *w, int64_t base_ns)
{
    uint64_t top = w->next_uuid++;
    perfetto_describe(
        w, &(struct descriptor){.uuid = top, .name = STK_STR("stoker"), .orders_children = true});
    for (uint32_t i = 0; i < w->x->lane_count && !w->out->failed; i++) {
        const struct stk_export_lane *lane = &w->x->lanes[i];
        uint64_t uuid = w->next_uuid++;
        perfetto_describe(
            w, &(struct descriptor){
                   .uuid = uuid, .parent = top, .name = stk_str_from(lane->name), .order = i + 1u});
        for (size_t s = 0; s < lane->count && !w->out->failed; s++) {
            struct stk_export_lane_capacity capacity;
            struct stk_export_slice slice;
            stk_export_lane_at(w->x, lane, s, &capacity, &slice);
            put_lane_slice(w, &slice, base_ns, uuid);
            w->x->counts.lane_rows++;
        }
    }
}

static enum stoker_status write_perfetto(struct stk_export *x, struct stk_export_out *out,
                                         struct stoker_err *err)
{
    struct perfetto w = {.x = x, .out = out, .next_uuid = 1};
    enum stoker_status status = STOKER_OK;
    // Timestamps are unsigned; a negative clock starts at zero.
    int64_t base_ns = x->base_ns > 0 ? x->base_ns : 0;
    stk_vec_init(&w.ends, sizeof(int64_t), UINT32_MAX);
    for (w.file = 0; w.file < x->file_count && status == STOKER_OK && !out->failed; w.file++) {
        start_sequence(&w);
        w.offset_ns = x->files[w.file].shift_ns + base_ns;
        w.facts = (struct stk_perfetto_facts){.x = x,
                                              .out = out,
                                              .file = w.file,
                                              .at_ns = w.offset_ns > 0 ? w.offset_ns : 0,
                                              .track = w.next_uuid++,
                                              .sequence = w.file + 1u};
        stk_perfetto_trace_facts(&w.facts);
        if (w.file == 0) {
            put_lanes(&w, base_ns);
        }
        status = put_file(&w, err);
    }
    stk_vec_deinit(&w.ends);
    return status;
}

const struct stk_exporter stk_exporter_perfetto = {
    .name = "perfetto",
    .extension = ".pftrace",
    .summary = "Perfetto's native trace, for ui.perfetto.dev and its trace_processor",
    .opens_with = "https://ui.perfetto.dev (the file stays in your browser), trace_processor",
    .keeps = "every event with its times to the nanosecond, kind (as category), nesting, bytes, "
             "direction and memory of copies, step numbers; counters; which call launched "
             "which device operation (as flows); processes, threads, devices, streams; a track for "
             "each sub-row of events that overlap",
    .drops = "positions in the profile's file; arguments, unless they are asked for (--args)",
    .takes_args = true,
    .write = write_perfetto,
};
