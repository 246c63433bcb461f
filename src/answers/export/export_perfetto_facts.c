// SPDX-License-Identifier: Apache-2.0
// Instants of the category STK_PERFETTO_FACTS on a separate track, named after their subject, with
// annotations whose names aren't interned. Numbers of processes, devices and tracks are those of
// the trace; unknown values are left out.
#include "answers/export/export_perfetto_facts.h"

#include <stdio.h>

#include "profile/store/words.h"

#define TRACE_PACKET 1
#define PACKET_TIMESTAMP 8
#define PACKET_SEQUENCE_ID 10
#define PACKET_TRACK_EVENT 11
#define PACKET_SEQUENCE_FLAGS 13
#define PACKET_TRACK_DESCRIPTOR 60
#define EVENT_CATEGORY_IID 3
#define EVENT_ANNOTATION 4
#define EVENT_TYPE 9
#define EVENT_TRACK 11
#define EVENT_NAME 23
#define ANNOTATION_INT 4
#define ANNOTATION_STRING 6
#define ANNOTATION_NAME 10
#define TRACK_UUID 1
#define TRACK_NAME 2

enum { TYPE_INSTANT = 3, NEEDS_STATE = 2 };

struct fact {
    size_t packet, event;
};

static const struct stk_export_file *file_of(const struct stk_perfetto_facts *w)
{
    return &w->x->files[w->file];
}

static size_t begin_packet(const struct stk_perfetto_facts *w)
{
    size_t packet = stk_pbw_begin(w->out, TRACE_PACKET);
    stk_pbw_u64(w->out, PACKET_SEQUENCE_ID, w->sequence);
    stk_pbw_u64(w->out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
    return packet;
}

static struct fact begin_fact(const struct stk_perfetto_facts *w, const char *what)
{
    struct fact f = {.packet = begin_packet(w)};
    stk_pbw_u64(w->out, PACKET_TIMESTAMP, (uint64_t)w->at_ns);
    f.event = stk_pbw_begin(w->out, PACKET_TRACK_EVENT);
    stk_pbw_u64(w->out, EVENT_TYPE, TYPE_INSTANT);
    stk_pbw_u64(w->out, EVENT_TRACK, w->track);
    stk_pbw_u64(w->out, EVENT_CATEGORY_IID, STK_KIND_COUNT + 2);
    stk_pbw_str(w->out, EVENT_NAME, stk_str_from(what));
    return f;
}

static void end_fact(const struct stk_perfetto_facts *w, const struct fact *f)
{
    stk_pbw_end(w->out, f->event);
    stk_pbw_end(w->out, f->packet);
    stk_ex_record(w->out);
}

static void put_number(const struct stk_perfetto_facts *w, const char *key, int64_t value)
{
    size_t at = stk_pbw_begin(w->out, EVENT_ANNOTATION);
    stk_pbw_str(w->out, ANNOTATION_NAME, stk_str_from(key));
    stk_pbw_u64(w->out, ANNOTATION_INT, (uint64_t)value);
    stk_pbw_end(w->out, at);
}

static void put_text(const struct stk_perfetto_facts *w, const char *key, struct stk_str text)
{
    if (text.n == 0) {
        return;
    }
    size_t at = stk_pbw_begin(w->out, EVENT_ANNOTATION);
    stk_pbw_str(w->out, ANNOTATION_NAME, stk_str_from(key));
    stk_pbw_text(w->out, ANNOTATION_STRING, text);
    stk_pbw_end(w->out, at);
}

// Writes a number, unless it is 0, which means unknown.
static void put_known(const struct stk_perfetto_facts *w, const char *key, int64_t value)
{
    if (value) {
        put_number(w, key, value);
    }
}

// ---- the trace ----

// Whether a reader finds this issue again in the rows themselves.
static bool is_found_again(int issue)
{
    return issue == STK_ISSUE_OVERLAP_SUBROW || issue == STK_ISSUE_NO_LAUNCH_ROW ||
           issue == STK_ISSUE_CLOCK_SKEW;
}

static void put_issues(const struct stk_perfetto_facts *w)
{
    const struct stk_export_file *f = file_of(w);
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        const struct stk_issue *issue = &f->t->issues[i];
        if (issue->count == 0 || is_found_again(i)) {
            continue;
        }
        struct fact fact = begin_fact(w, "issue");
        put_text(w, "issue", stk_str_from(stk_issue_info((enum stk_issue_id)i)->key));
        put_number(w, "count", (int64_t)issue->count);
        put_number(w, "events lost", (int64_t)issue->events_lost);
        put_text(w, "note", stk_export_text(f, issue->note));
        end_fact(w, &fact);
    }
}

// Records that aren't events in the store, by kind: metadata, flows, dropped ones.
static void put_unstored(const struct stk_perfetto_facts *w)
{
    const struct stk_trace *t = file_of(w)->t;
    uint64_t stored[STK_KIND_COUNT] = {0};
    for (uint32_t e = 0; e < t->count; e++) {
        stored[t->kind[e]]++;
    }
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        if (t->by_kind[k] > stored[k]) {
            char key[64];
            snprintf(key, sizeof key, STK_PERFETTO_UNSTORED "%s", stk_kind_key((enum stk_kind)k));
            put_number(w, key, (int64_t)(t->by_kind[k] - stored[k]));
        }
    }
}

static void put_process(const struct stk_perfetto_facts *w, uint32_t process)
{
    const struct stk_export_file *f = file_of(w);
    const struct stk_process *p = &f->t->processes[process];
    bool alone = w->x->file_count == 1;
    struct fact fact = begin_fact(w, "process");
    put_number(w, "number", process);
    put_number(w, "pid", alone ? p->pid : f->processes[process].pid);
    put_number(w, "rank", p->rank >= 0 && alone ? p->rank : f->processes[process].rank);
    put_text(w, "name", stk_export_text(f, p->name));
    put_text(w, "host", stk_export_text(f, p->host));
    end_fact(w, &fact);
}

static void put_device(const struct stk_perfetto_facts *w, uint32_t device)
{
    const struct stk_export_file *f = file_of(w);
    const struct stk_device *d = &f->t->devices[device];
    struct fact fact = begin_fact(w, "device");
    put_number(w, "number", device);
    put_number(w, "process", d->process);
    put_number(w, "ordinal", d->ordinal);
    put_number(w, "kind", d->kind);
    put_text(w, "source", stk_export_text(f, d->source_id));
    put_text(w, "name", stk_export_text(f, d->name));
    put_known(w, "multiprocessors", d->sm_count);
    put_known(w, "compute major", d->cc_major);
    put_known(w, "compute minor", d->cc_minor);
    put_known(w, "memory bytes", d->memory_bytes);
    put_known(w, "threads of a multiprocessor", d->limits.sm_threads);
    put_known(w, "blocks of a multiprocessor", d->limits.sm_blocks);
    put_known(w, "registers of a multiprocessor", d->limits.sm_registers);
    put_known(w, "shared memory of a multiprocessor", d->limits.sm_shared_bytes);
    put_known(w, "threads of a warp", d->limits.warp_threads);
    put_known(w, "memory bytes per second", d->limits.memory_bytes_per_s);
    put_known(w, "operations per second", d->limits.flops_per_s);
    end_fact(w, &fact);
}

void stk_perfetto_trace_facts(const struct stk_perfetto_facts *w)
{
    const struct stk_export_file *f = file_of(w);
    const struct stk_trace *t = f->t;
    size_t packet = begin_packet(w), at = stk_pbw_begin(w->out, PACKET_TRACK_DESCRIPTOR);
    stk_pbw_u64(w->out, TRACK_UUID, w->track);
    stk_pbw_str(w->out, TRACK_NAME, STK_STR("stoker: the profile's properties"));
    stk_pbw_end(w->out, at);
    stk_pbw_end(w->out, packet);
    struct fact fact = begin_fact(w, "trace");
    put_text(w, "producer", stk_export_text(f, t->producer));
    put_text(w, "format", stk_str_from(t->format));
    put_text(w, "host", stk_export_text(f, t->host));
    put_number(w, "rank", t->rank);
    put_known(w, "clock before zero", w->x->base_ns < 0 ? w->x->base_ns : 0);
    put_number(w, "world size", t->world_size);
    put_known(w, "framework", t->framework_hint);
    put_unstored(w);
    end_fact(w, &fact);
    put_issues(w);
    for (uint32_t p = 0; p < t->process_count && !w->out->failed; p++) {
        put_process(w, p);
    }
    for (uint32_t d = 0; d < t->device_count && !w->out->failed; d++) {
        put_device(w, d);
    }
}

// ---- tracks ----

void stk_perfetto_track_fact(const struct stk_perfetto_facts *w, uint32_t track, uint64_t uuid)
{
    const struct stk_export_file *f = file_of(w);
    const struct stk_track *k = &f->t->tracks[track];
    uint32_t root = k->parent != STK_NONE ? k->parent : track; // the reader makes sub-rows again
    struct fact fact = begin_fact(w, "track");
    put_number(w, "track", (int64_t)uuid);
    put_number(w, "number", root);
    put_number(w, "kind", k->kind);
    put_number(w, "process", k->process);
    put_number(w, "device", k->device == STK_NONE ? -1 : (int64_t)k->device);
    put_number(w, "id", k->id);
    put_text(w, "name", stk_export_text(f, f->t->tracks[root].name));
    end_fact(w, &fact);
}

void stk_perfetto_counter_fact(const struct stk_perfetto_facts *w, uint64_t uuid, uint64_t of,
                               struct stk_str name, struct stk_str series, int64_t device)
{
    struct fact fact = begin_fact(w, "counter");
    put_number(w, "track", (int64_t)uuid);
    put_number(w, "of track", (int64_t)of);
    put_text(w, "name", name);
    put_text(w, "series", series);
    put_number(w, "device", device);
    end_fact(w, &fact);
}
