// SPDX-License-Identifier: Apache-2.0
// One packet of a trace: first the state of its sequence (cleared state, lost packets, interned
// texts, defaults, clocks), then its payload. Packets of other kinds are counted.
//
// Like the format's own reader, this drops packets that need a lost state until the writer clears
// it. Without a recorded loss, no state is required.
#include "profile/readers/perfetto/perfetto_run.h"

#include "base/alloc.h"
#include "profile/store/words.h"

#define FLAG_CLEARED 1u
#define FLAG_NEEDS 2u

// Packed packets: room for one, and how much they may hold in all, as for packed files.
#define ROOM_BYTES ((size_t)64 << 10)
#define ROOM_MAX ((size_t)64 << 20)

bool stk_pf_init(struct stk_pf *in, const struct stk_read_ctx *ctx, struct stk_build *b)
{
    *in = (struct stk_pf){.ctx = ctx, .primary_clock = STK_PF_BOOTTIME};
    stk_map_init(&in->interned, STK_PF_INTERNED_MAX);
    stk_map_init(&in->seq_at, STK_PF_SEQS_MAX);
    stk_map_init(&in->track_at, STK_PF_TRACKS_MAX);
    stk_map_init(&in->clock_at, STK_PF_CLOCKS_MAX);
    stk_vec_init(&in->seqs, sizeof(struct stk_pf_seq), STK_PF_SEQS_MAX);
    stk_vec_init(&in->tracks, sizeof(struct stk_pf_track), STK_PF_TRACKS_MAX);
    stk_vec_init(&in->clocks, sizeof(struct stk_pf_clock), STK_PF_CLOCKS_MAX);
    stk_vec_init(&in->halves, sizeof(struct stk_pf_half), STK_PF_NO_ROW - 1);
    bool ok = stk_chrome_stager_init(&in->stager);
    ok = (!b || stk_chrome_sink_init(&in->sink, b)) && ok;
    in->stager.wants = ctx ? ctx->wants : 0;
    in->wants_json = !ctx || ctx->wants;
    return stk_strpool_init(&in->texts, 0) == 0 && ok;
}

void stk_pf_deinit(struct stk_pf *in)
{
    stk_map_deinit(&in->interned);
    stk_map_deinit(&in->seq_at);
    stk_map_deinit(&in->track_at);
    stk_map_deinit(&in->clock_at);
    stk_vec_deinit(&in->seqs);
    stk_vec_deinit(&in->tracks);
    stk_vec_deinit(&in->clocks);
    stk_vec_deinit(&in->halves);
    stk_chrome_stager_deinit(&in->stager);
    stk_chrome_sink_deinit(&in->sink);
    stk_strpool_deinit(&in->texts);
    stk_pf_own_free(in->own);
    stk_free(in->json);
    stk_free(in->memo);
    stk_free(in->clean);
}

struct packet {
    uint64_t time, seq, flags, dropped;
    uint32_t clock;
    bool has_time, is_cleared, is_first;
    struct stk_pb_field interned, defaults, carried;
};

static void read_field(const struct stk_pb_field *f, struct packet *k)
{
    switch (f->number) {
    case 8:
        k->time = f->value;
        k->has_time = f->wire == STK_PB_VARINT;
        break;
    case 10:
        k->seq = f->value;
        break;
    case 13:
        k->flags = f->value;
        break;
    case 41:
        k->is_cleared = f->value != 0;
        break;
    case 42:
        k->dropped = f->value;
        break;
    case 58:
        k->clock = f->value <= UINT32_MAX ? (uint32_t)f->value : 0;
        break;
    case 87:
        k->is_first = f->value != 0;
        break;
    default:
        break;
    }
}

static bool read_packet(struct stk_pb_cursor c, struct packet *k)
{
    struct stk_pb_field f;
    enum stk_pb_step step;
    *k = (struct packet){0};
    while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
        if (f.wire == STK_PB_VARINT) {
            read_field(&f, k);
        } else if (f.wire == STK_PB_LEN && f.number == 12) {
            k->interned = f;
        } else if (f.wire == STK_PB_LEN && f.number == 59) {
            k->defaults = f;
        } else if (f.wire == STK_PB_LEN) {
            k->carried = f;
        }
    }
    k->flags |= k->is_cleared ? FLAG_CLEARED : 0;
    return step == STK_PB_END;
}

static struct stk_pb_cursor bytes_of(const struct stk_pb_field *f)
{
    return (struct stk_pb_cursor){f->data, f->data + f->value};
}

// ---- state of the sequence ----

static void intern_entry(struct stk_pf *in, const struct stk_pf_seq *s, enum stk_pf_table table,
                         struct stk_pb_cursor c)
{
    struct stk_pb_field f;
    struct stk_str text = {"", 0};
    uint64_t iid = 0;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number == 1 && f.wire == STK_PB_VARINT) {
            iid = f.value;
        } else if (f.wire == STK_PB_LEN &&
                   (f.number == 2 || (f.number == 3 && table == STK_PF_KERNELS))) {
            text = (struct stk_str){(const char *)f.data, (size_t)f.value};
        }
    }
    stk_pf_intern(in, s, table, iid, text);
    if (table == STK_PF_CATEGORIES && !in->own && in->events == 0 &&
        stk_str_eq(text, STK_STR(STK_PERFETTO_FACTS))) {
        stk_pf_own_begin(in);
    }
}

static void take_interned(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c)
{
    struct stk_pb_field f;
    enum stk_pb_step step;
    while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
        if (f.wire != STK_PB_LEN) {
            continue;
        }
        switch (f.number) {
        case STK_PF_CATEGORIES:
        case STK_PF_NAMES:
        case STK_PF_NOTE_NAMES:
        case STK_PF_STAGES:
        case STK_PF_NOTE_TEXTS:
            intern_entry(in, s, (enum stk_pf_table)f.number, bytes_of(&f));
            break;
        case 1000:
            intern_entry(in, s, STK_PF_KERNELS, bytes_of(&f));
            break;
        case 1001:
            intern_entry(in, s, STK_PF_KERNEL_ARGS, bytes_of(&f));
            break;
        default:
            break;
        }
    }
    if (step != STK_PB_END) {
        stk_pf_issue(in, STK_ISSUE_MESSAGE_INVALID, 0, STK_STR("interned data"));
    }
}

static void take_defaults(struct stk_pf_seq *s, struct stk_pb_cursor c)
{
    struct stk_pb_field f, inner;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number == 58 && f.wire == STK_PB_VARINT && f.value <= UINT32_MAX) {
            s->clock = (uint32_t)f.value;
        } else if (f.number == 11 && f.wire == STK_PB_LEN) {
            struct stk_pb_cursor event = bytes_of(&f);
            while (stk_pb_next(&event, &inner) == STK_PB_FIELD) {
                if (inner.number == 11 && inner.wire == STK_PB_VARINT) {
                    s->default_track = inner.value;
                    s->has_default_track = true;
                }
            }
        }
    }
}

static void take_state(struct stk_pf *in, struct stk_pf_seq *s, const struct packet *k)
{
    if (k->dropped && !k->is_first) {
        if (!s->is_new) {
            stk_pf_issue(in, STK_ISSUE_EVENTS_DROPPED, 0, STK_STR("packets of a sequence"));
        }
        s->is_lost = true;
    }
    s->is_new = false;
    if (k->flags & FLAG_CLEARED) {
        s->generation++;
        s->is_lost = s->has_default_track = false;
        s->clock = 0;
    }
    if (k->interned.number) {
        take_interned(in, s, bytes_of(&k->interned));
    }
    if (k->defaults.number) {
        take_defaults(s, bytes_of(&k->defaults));
    }
}

// ---- descriptors ----

static void describe_owner(struct stk_pf *in, struct stk_pf_track *t, bool is_thread,
                           struct stk_pb_cursor c)
{
    struct stk_pb_field f;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number == 1 && f.wire == STK_PB_VARINT) {
            t->pid = (int32_t)f.value;
        } else if (f.number == 2 && f.wire == STK_PB_VARINT && is_thread) {
            t->tid = (int64_t)f.value;
        } else if (f.number == (is_thread ? 5u : 6u) && f.wire == STK_PB_LEN && f.value) {
            t->name = stk_pf_put_text(
                in, (struct stk_str){(const char *)f.data, f.value < 4096 ? f.value : 4096});
        }
    }
    t->is_thread |= is_thread;
    t->is_process |= !is_thread;
}

static void describe_counter(struct stk_pf_track *t, struct stk_pb_cursor c)
{
    struct stk_pb_field f;
    t->is_counter = true;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number == 4 && f.wire == STK_PB_VARINT && f.value) {
            t->unit = (int64_t)f.value;
        } else if (f.number == 5 && f.wire == STK_PB_VARINT) {
            t->adds_up = f.value != 0;
        }
    }
}

static void take_descriptor(struct stk_pf *in, struct stk_pb_cursor c)
{
    struct stk_pb_cursor all = c;
    struct stk_pb_field f;
    uint64_t uuid = 0, parent = 0;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.wire == STK_PB_VARINT && f.number == 1) {
            uuid = f.value;
        } else if (f.wire == STK_PB_VARINT && f.number == 5) {
            parent = f.value;
        }
    }
    struct stk_pf_track *t = stk_pf_track_of(in, uuid);
    if (!t) {
        stk_pf_issue(in, STK_ISSUE_TRACKS_LEFT_OUT, 0, STK_STR(""));
        return;
    }
    t->parent = parent ? parent : t->parent;
    t->is_resolved = false;
    while (stk_pb_next(&all, &f) == STK_PB_FIELD) {
        if (f.wire != STK_PB_LEN) {
            continue;
        }
        if ((f.number == 2 || f.number == 10 || f.number == 13) && f.value && !t->name) {
            t->name = stk_pf_put_text(
                in, (struct stk_str){(const char *)f.data, f.value < 4096 ? f.value : 4096});
        } else if (f.number == 3 || f.number == 4) {
            describe_owner(in, t, f.number == 4, bytes_of(&f));
        } else if (f.number == 8) {
            describe_counter(t, bytes_of(&f));
        }
    }
}

// ---- packed packets ----

// Complete packets in the buffer's first n bytes; returns how many bytes they took.
static size_t take_packed(struct stk_pf *in, const uint8_t *p, size_t n, bool *bad)
{
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    const uint8_t *done = p;
    enum stk_pb_step step;
    while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
        if (f.number == 1 && f.wire == STK_PB_LEN) {
            stk_pf_packet(in, f.data, (size_t)f.value);
        }
        done = c.p;
    }
    *bad = step == STK_PB_BAD;
    return (size_t)(done - p);
}

struct room {
    uint8_t *p;
    size_t used, size;
};

static bool widen(struct room *room)
{
    size_t size = room->size ? room->size * 2 : ROOM_BYTES;
    uint8_t *grown = size <= ROOM_MAX ? stk_realloc_array(room->p, size + STK_PF_PAD, 1) : NULL;
    if (!grown) {
        return false;
    }
    room->p = grown;
    room->size = size;
    return true;
}

static bool within_ratio(struct stk_pf *in)
{
    return in->inflated <= STK_STREAM_FREE_BYTES ||
           in->inflated / STK_STREAM_RATIO_MAX <= in->deflated;
}

// False: the data is damaged, or exceeds the limit.
static bool inflate_all(struct stk_pf *in, void *engine, struct stk_inflate_io *io,
                        struct room *room)
{
    enum stk_inflate_result result = STK_INFLATE_MORE;
    while (result == STK_INFLATE_MORE) {
        if (room->used == room->size && !widen(room)) {
            return false;
        }
        io->out = room->p + room->used;
        io->out_len = room->size - room->used;
        size_t before = io->out_len, left = io->in_len;
        result = STK_INFLATE_DEFAULT->run(engine, io);
        size_t made = before - io->out_len;
        room->used += made;
        in->inflated += made;
        if (result == STK_INFLATE_NOMEM) {
            in->failed = true;
        }
        if (!within_ratio(in) || (!made && left == io->in_len)) {
            return false;
        }
        memset(room->p + room->used, 0, STK_PF_PAD);
        bool bad;
        size_t done = take_packed(in, room->p, room->used, &bad);
        memmove(room->p, room->p + done, room->used - done);
        room->used -= done;
        if (bad) {
            return false;
        }
    }
    return result == STK_INFLATE_END && room->used == 0;
}

static void take_compressed(struct stk_pf *in, const struct stk_pb_field *f)
{
    // zlib's frame (RFC 1950): two bytes before the deflate stream.
    struct stk_inflate_io io = {.in = f->data + 2, .in_len = (size_t)f->value - 2};
    struct room room = {0};
    bool whole = false;
    if (in->is_nested || f->value < 6 || (f->data[0] & 15) != 8) {
        stk_pf_issue(in, STK_ISSUE_COMPRESSION_DAMAGED, 1, STK_STR("compressed packets"));
        return;
    }
    in->deflated += f->value;
    void *engine = STK_INFLATE_DEFAULT->open();
    if (engine) {
        in->is_nested = true;
        whole = inflate_all(in, engine, &io, &room);
        in->is_nested = false;
        STK_INFLATE_DEFAULT->close(engine);
    } else {
        in->failed = true;
    }
    if (!whole && !within_ratio(in)) {
        stk_pf_issue(in, STK_ISSUE_LIMIT_REACHED, 1,
                     STK_STR("compressed packets inflate far too much"));
    } else if (!whole) {
        stk_pf_issue(in, STK_ISSUE_COMPRESSION_DAMAGED, 1, STK_STR("compressed packets"));
    }
    stk_chrome_sink_take_counts(&in->sink, &in->stager); // issues quote the room
    stk_free(room.p);
}

// ---- its payload ----

static void set_time(struct stk_pf *in, const struct stk_pf_seq *s, const struct packet *k)
{
    in->has_time = k->has_time && stk_pf_time(in, s, k->clock, k->time, &in->now_ns);
}

static void take_carried(struct stk_pf *in, const struct stk_pf_seq *s, const struct packet *k)
{
    const struct stk_pb_field *f = &k->carried;
    switch (f->number) {
    case 11:
        set_time(in, s, k);
        stk_pf_track_event(in, s, bytes_of(f));
        return;
    case 53:
        set_time(in, s, k);
        stk_pf_render_stage(in, s, bytes_of(f));
        return;
    case 50:
        take_compressed(in, f);
        return;
    case 60:
        take_descriptor(in, bytes_of(f));
        break;
    case 6:
        stk_pf_clocks(in, s, bytes_of(f));
        break;
    case 36: // a mark every few seconds
        break;
    default:
        if (f->number) {
            stk_pf_issue(in, STK_ISSUE_PACKETS_PASSED, 0, STK_STR(""));
        }
        break;
    }
    in->stager.counts.by_kind[STK_KIND_OTHER] += !in->own;
}

void stk_pf_packet(struct stk_pf *in, const uint8_t *p, size_t n)
{
    struct packet k;
    in->packets++;
    if (!read_packet((struct stk_pb_cursor){p, p + n}, &k)) {
        stk_pf_issue(in, STK_ISSUE_MESSAGE_INVALID, 1, STK_STR("a packet"));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return;
    }
    struct stk_pf_seq *s = stk_pf_seq_of(in, k.seq);
    if (!s) {
        stk_pf_issue(in, STK_ISSUE_LIMIT_REACHED, 1, STK_STR("sequences of packets"));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return;
    }
    take_state(in, s, &k);
    if (s->is_lost && k.flags & FLAG_NEEDS) {
        stk_pf_issue(in, STK_ISSUE_EVENTS_DROPPED, 1,
                     STK_STR("packets that refer to lost data of their sequence"));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return;
    }
    take_carried(in, s, &k);
}

bool stk_pf_scan(struct stk_pf *in, const uint8_t *p, size_t n)
{
    struct packet k;
    struct stk_pf_seq *s = NULL;
    if (read_packet((struct stk_pb_cursor){p, p + n}, &k)) {
        s = stk_pf_seq_of(in, k.seq);
    }
    if (s) {
        take_state(in, s, &k);
    }
    return s && k.flags & FLAG_CLEARED;
}

bool stk_pf_packet_args(struct stk_pf *in, const uint8_t *p, size_t n, struct stk_str *json)
{
    struct packet k;
    struct stk_chrome_raw r = {.args = {"", 0}};
    struct stk_pf_seq *s = NULL;
    if (read_packet((struct stk_pb_cursor){p, p + n}, &k)) {
        s = stk_pf_seq_of(in, k.seq);
    }
    if (!s || (k.carried.number != 11 && k.carried.number != 53)) {
        return false;
    }
    if (k.carried.number == 11) {
        stk_pf_notes(in, s, bytes_of(&k.carried), &r);
    } else {
        stk_pf_stage_notes(in, s, bytes_of(&k.carried), &r);
    }
    *json = r.args;
    return true;
}
