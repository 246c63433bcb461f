// SPDX-License-Identifier: Apache-2.0
// TrackEvents: slices, instants and counters of tracks, as the events of Kineto's JSON of the same
// run. If an event has no category (PyTorch's first Perfetto traces), its annotations and its track
// decide: with a stream and a device it is device work, with a callback number a runtime call, with
// an external id an operator. Launches and device work are joined by the annotation "correlation",
// as in the JSON; without it, by the first flow of the event. Legacy phases B, E, X, i keep their
// meaning.
#include "profile/readers/perfetto/perfetto_run.h"

#define EVENT_NOTE 4
#define EVENT_LEGACY 6
#define EVENT_GPU_CORRELATION 3000

// Including devices and streams that events claim; the store's limit.
#define STAGED_TRACKS_MAX STK_TRACKS_MAX

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4, TYPE_COMPLETE = 100 };

static double real_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- the event's fields ----

static void read_legacy(struct stk_pf_event *e, const struct stk_pb_field *field)
{
    struct stk_pb_cursor c = {field->data, field->data + field->value};
    struct stk_pb_field f;
    uint64_t phase = 0;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.wire == STK_PB_VARINT && f.number == 1 && !e->name_iid) {
            e->name_iid = f.value;
        } else if (f.wire == STK_PB_VARINT && f.number == 2) {
            phase = f.value;
        } else if (f.wire == STK_PB_VARINT && f.number == 3) {
            e->legacy_dur_us = (int64_t)f.value;
        }
    }
    if (!e->type) {
        e->type = phase == 'B'                   ? TYPE_BEGIN
                  : phase == 'E'                 ? TYPE_END
                  : phase == 'X'                 ? TYPE_COMPLETE
                  : phase == 'i' || phase == 'I' ? TYPE_INSTANT
                                                 : 0;
    }
}

static void read_number(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pb_field *f,
                        struct stk_pf_event *e)
{
    switch (f->number) {
    case 3:
        if (!e->category) {
            e->category = stk_pf_text_of(in, s, STK_PF_CATEGORIES, f->value);
        }
        break;
    case 9:
        e->type = f->value < TYPE_COMPLETE ? f->value : 0;
        break;
    case 10:
        e->name_iid = f->value;
        break;
    case 11:
        e->track = f->value;
        e->has_track = true;
        break;
    case 16:
        if (!in->has_time && f->value < INT64_MAX / 1000) {
            in->has_time = true;
            in->now_ns = (int64_t)f->value * 1000;
        }
        break;
    case 30:
        e->has_value = true;
        e->value = (int64_t)f->value;
        break;
    case 36: // flows of old writers
    case 42:
        e->flow = e->has_flow ? e->flow : f->value;
        e->has_flow = true;
        break;
    default:
        break;
    }
}

static void read_bytes(struct stk_pf *in, const struct stk_pb_field *f, struct stk_pf_event *e)
{
    struct stk_str text = {(const char *)f->data, (size_t)f->value};
    switch (f->number) {
    case EVENT_LEGACY:
        read_legacy(e, f);
        break;
    case 22:
        if (!e->category && text.n <= 64) {
            e->category = stk_pf_put_text(in, text);
        }
        break;
    case 23:
        e->name = text;
        break;
    case EVENT_GPU_CORRELATION: {
        struct stk_pb_cursor c = {f->data, f->data + f->value};
        struct stk_pb_field inner;
        if (stk_pb_next(&c, &inner) == STK_PB_FIELD && inner.number == 1 &&
            inner.wire == STK_PB_VARINT) {
            e->launch = inner.value;
        }
        break;
    }
    default:
        break;
    }
}

static bool read_event(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c,
                       struct stk_pf_event *e)
{
    struct stk_pb_field f;
    enum stk_pb_step step;
    *e = (struct stk_pf_event){.name = {"", 0}, .bytes = c};
    while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
        if (f.wire == STK_PB_VARINT) {
            read_number(in, s, &f, e);
        } else if (f.wire == STK_PB_LEN && f.number != EVENT_NOTE) {
            read_bytes(in, &f, e);
        } else if (f.wire == STK_PB_FIXED64 && f.number == 44) {
            e->has_real = true;
            e->real = real_of(f.value);
        } else if (f.wire == STK_PB_FIXED64 && (f.number == 47 || f.number == 48) && !e->has_flow) {
            e->has_flow = true;
            e->flow = f.value;
        }
    }
    return step == STK_PB_END;
}

// ---- its category ----

static bool has_note(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c,
                     struct stk_str name)
{
    struct stk_pb_field f;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        struct stk_pf_note note;
        if (f.number == EVENT_NOTE && f.wire == STK_PB_LEN) {
            stk_pf_note_read(in, s, f.data, (size_t)f.value, &note);
            if (stk_str_eq(note.name, name)) {
                return true;
            }
        }
    }
    return false;
}

static enum stk_chrome_cat device_cat(struct stk_str name)
{
    return stk_str_starts(name, STK_STR("Memcpy"))   ? STK_CHROME_CAT_MEMCPY
           : stk_str_starts(name, STK_STR("Memset")) ? STK_CHROME_CAT_MEMSET
           : stk_str_ends(name, STK_STR(" Sync")) || stk_str_eq(name, STK_STR("Stream Wait Event"))
               ? STK_CHROME_CAT_SYNC
               : STK_CHROME_CAT_KERNEL;
}

static void put_category(struct stk_pf *in, const struct stk_pf_seq *s,
                         const struct stk_pf_event *e, const struct stk_pf_track *t,
                         struct stk_chrome_raw *r)
{
    const uint32_t place = STK_CHROME_HAS_DEVICE | STK_CHROME_HAS_STREAM;
    r->cat_text = stk_pf_text(in, e->category);
    r->cat = (uint8_t)stk_chrome_cat_find(r->cat_text.p, r->cat_text.n);
    if (r->cat != STK_CHROME_CAT_NONE && r->cat != STK_CHROME_CAT_UNKNOWN) {
        return;
    }
    if ((r->flags & place) == place || t->device >= 0) {
        r->cat = (uint8_t)device_cat(r->name);
        if (!(r->flags & STK_CHROME_HAS_DEVICE)) {
            r->flags |= STK_CHROME_HAS_DEVICE;
            r->device = t->device;
        }
    } else if (r->cat == STK_CHROME_CAT_NONE && e->bytes.p != e->bytes.end) {
        r->cat = has_note(in, s, e->bytes, STK_STR("cbid"))          ? STK_CHROME_CAT_RUNTIME
                 : has_note(in, s, e->bytes, STK_STR("External id")) ? STK_CHROME_CAT_OP
                                                                     : STK_CHROME_CAT_NONE;
    }
}

static bool is_joined(uint8_t cat)
{
    return cat == STK_CHROME_CAT_RUNTIME || cat == STK_CHROME_CAT_KERNEL ||
           cat == STK_CHROME_CAT_MEMCPY || cat == STK_CHROME_CAT_MEMSET;
}

static void put_name(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_event *e,
                     struct stk_chrome_raw *r)
{
    uint32_t id = e->name.n || !e->name_iid ? 0 : stk_pf_text_of(in, s, STK_PF_NAMES, e->name_iid);
    stk_pf_set_name(in, id, e->name, r);
    if (e->name_iid && !id && !e->name.n) {
        stk_pf_issue(in, STK_ISSUE_FIELD_INVALID, 0, STK_STR("a name that was never interned"));
        r->name = STK_STR("?");
    }
}

static void put_times(const struct stk_pf *in, struct stk_chrome_raw *r, int64_t dur_ns)
{
    r->pos = in->pos;
    r->flags |= in->has_time ? STK_CHROME_HAS_TS | STK_CHROME_HAS_DUR : STK_CHROME_HAS_DUR;
    r->ts = (struct stk_chrome_time){in->now_ns, 0};
    r->dur = (struct stk_chrome_time){dur_ns, 0};
}

void stk_pf_set_name(struct stk_pf *in, uint32_t id, struct stk_str name, struct stk_chrome_raw *r)
{
    if (!id &&
        !stk_pf_is_plain(name)) { // notes of issues keep names for a while, so no scratch memory
        id = stk_pf_put_text(in, name);
    }
    r->name = id ? stk_pf_text(in, id) : name;
    r->name_memo = id ? stk_pf_memo(in, id) : NULL;
}

uint32_t stk_pf_stage(struct stk_pf *in, const struct stk_chrome_raw *r)
{
    size_t before = in->stager.rows.count;
    if (in->stager.tracks.count >= STAGED_TRACKS_MAX) {
        stk_pf_issue(in, STK_ISSUE_TRACKS_LEFT_OUT, 1, STK_STR(""));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return STK_PF_NO_ROW;
    }
    stk_chrome_stage_event(&in->stager, r);
    in->events++;
    return in->stager.rows.count > before ? (uint32_t)before : STK_PF_NO_ROW;
}

// ---- slices and instants ----

static void take_slice(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_event *e,
                       struct stk_pf_track *t)
{
    static const struct stk_str none = {"", 0};
    struct stk_chrome_raw r = {
        .name = none, .cat_text = none, .label = none, .details = none, .args = none};
    int64_t dur_ns = 0;
    bool is_slice = e->type == TYPE_BEGIN || e->type == TYPE_COMPLETE;
    if (e->type == TYPE_COMPLETE && e->legacy_dur_us >= 0 && e->legacy_dur_us < INT64_MAX / 4000) {
        dur_ns = e->legacy_dur_us * 1000;
    }
    r.ph = is_slice ? 'X' : 'i';
    r.pid = t->event_pid;
    r.tid = t->event_tid;
    put_name(in, s, e, &r);
    put_times(in, &r, dur_ns);
    stk_pf_notes(in, s, e->bytes, &r);
    put_category(in, s, e, t, &r);
    if (is_joined(r.cat) && !(r.flags & STK_CHROME_HAS_CORR)) {
        uint64_t corr = e->launch ? e->launch : e->has_flow ? e->flow : 0;
        r.flags |= corr ? STK_CHROME_HAS_CORR : 0;
        r.corr = (int64_t)corr;
    }
    uint32_t row = stk_pf_stage(in, &r);
    if (e->type == TYPE_BEGIN) {
        stk_pf_half(in, t, row);
    }
}

// ---- counters ----

static void take_counter(struct stk_pf *in, const struct stk_pf_event *e, struct stk_pf_track *t)
{
    struct stk_str name = stk_pf_text(in, t->name);
    struct stk_chrome_raw r = {.ph = 'C',
                               .name = name.n ? name : STK_STR("counter"),
                               .cat_text = {"", 0},
                               .label = {"", 0},
                               .details = {"", 0},
                               .args = {"", 0},
                               .pid = t->event_pid};
    struct stk_pf_note note = {.name = {"value", 5}, .text = {"", 0}, .type = STK_PF_REAL};
    int64_t value = e->value;
    put_times(in, &r, 0);
    if (!e->has_value && !e->has_real) {
        r.flags |= STK_CHROME_BAD_FIELD;
    } else if (e->has_real) {
        note.real = e->real * (double)t->unit;
    } else if (!__builtin_mul_overflow(value, t->unit, &value) &&
               (!t->adds_up || !__builtin_add_overflow(value, t->counter, &value))) {
        t->counter = value;
        r.value = note.number = value;
        note.type = STK_PF_INT;
        r.flags |= STK_CHROME_HAS_VALUE;
    }
    if (in->ctx->wants & STK_WANT_COUNTERS) {
        stk_pf_json_begin(in, 0);
        stk_pf_json_note(in, NULL, note.name, &note);
        stk_pf_json_end(in, &r);
    }
    stk_pf_stage(in, &r);
}

void stk_pf_track_event(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c)
{
    struct stk_pf_event e;
    if (!read_event(in, s, c, &e)) {
        stk_pf_issue(in, STK_ISSUE_MESSAGE_INVALID, 1, STK_STR("a track event"));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return;
    }
    if (!e.has_track && s->has_default_track) {
        e.track = s->default_track;
    }
    if (in->own) {
        stk_pf_own_event(in, s, &e);
        return;
    }
    struct stk_pf_track *t = stk_pf_track_of(in, e.track);
    if (!t) {
        stk_pf_issue(in, STK_ISSUE_TRACKS_LEFT_OUT, 1, STK_STR(""));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return;
    }
    if (!t->is_resolved) {
        stk_pf_resolve(in, t);
    }
    switch (e.type) {
    case TYPE_BEGIN:
    case TYPE_INSTANT:
    case TYPE_COMPLETE:
        take_slice(in, s, &e, t);
        break;
    case TYPE_END:
        stk_pf_half(in, t, STK_PF_END);
        break;
    case TYPE_COUNTER:
        take_counter(in, &e, t);
        break;
    default:
        in->stager.counts.by_kind[STK_KIND_OTHER]++; // asynchronous and flow phases
        break;
    }
}
