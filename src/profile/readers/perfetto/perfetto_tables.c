// SPDX-License-Identifier: Apache-2.0
// The things that packets refer to: sequences, interned texts, tracks, clocks. All of them are in
// capped tables with seeded hashes. Entries beyond the caps are ignored.
#include "base/assert.h"
#include "profile/readers/perfetto/perfetto_run.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/utf8.h"

// Bytes of an interned text: any number of events may refer to it. Each name is examined once.
#define TEXT_MAX 4096
#define NAME_MAX_BYTES 16384
#define PARENTS_MAX 64 // parent tracks that are examined

#define CLOCK_REALTIME_ID 1
#define SNAPSHOT_MAX 64

void stk_pf_issue(struct stk_pf *in, enum stk_issue_id id, uint64_t lost, struct stk_str note)
{
    STK_ASSERT((unsigned)id < STK_ISSUE_COUNT);
    stk_chrome_stage_issue(&in->stager, id, lost, in->pos, note);
}

// ---- texts ----

bool stk_pf_is_plain(struct stk_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] >= 0x80 || s.p[i] == 0) {
            return false;
        }
    }
    return true;
}

struct stk_str stk_pf_clean(struct stk_pf *in, struct stk_str text)
{
    if (stk_pf_is_plain(text)) {
        return text;
    }
    if (in->clean_size < text.n * 3) {
        char *grown = stk_realloc_array(in->clean, text.n, 3);
        if (!grown) {
            in->failed = true;
            return STK_STR("");
        }
        in->clean = grown;
        in->clean_size = text.n * 3;
    }
    size_t to = 0;
    for (size_t i = 0, length; i < text.n; i += length) {
        uint32_t code = stk_utf8_next_of(text.p + i, text.n - i, &length);
        if (code == STK_UTF8_INVALID || code == 0) {
            memcpy(in->clean + to, "\xef\xbf\xbd", 3);
            to += 3;
            length = 1;
        } else {
            memcpy(in->clean + to, text.p + i, length);
            to += length;
        }
    }
    return (struct stk_str){in->clean, to};
}

uint32_t stk_pf_put_text(struct stk_pf *in, struct stk_str text)
{
    STK_ASSERT(text.p || text.n == 0);
    text = stk_pf_clean(in, text);
    uint32_t id = stk_strpool_intern(&in->texts, text.p, text.n);
    in->failed |= id == STK_STRPOOL_FAILED;
    return id == STK_STRPOOL_FAILED ? 0 : id;
}

uint32_t *stk_pf_memo(struct stk_pf *in, uint32_t id)
{
    if (id >= in->memo_size) {
        size_t size = (size_t)id * 2 + 256;
        uint32_t *grown = stk_realloc_array(in->memo, size, sizeof *grown);
        if (!grown) {
            in->failed = true;
            return NULL;
        }
        memset(grown + in->memo_size, 0xff, (size - in->memo_size) * sizeof *grown);
        in->memo = grown;
        in->memo_size = size;
    }
    return &in->memo[id];
}

static uint64_t table_key(const struct stk_pf_seq *s, enum stk_pf_table table)
{
    return (uint64_t)s->index << 40 | (uint64_t)s->generation << 8 | (uint64_t)table;
}

void stk_pf_intern(struct stk_pf *in, const struct stk_pf_seq *s, enum stk_pf_table table,
                   uint64_t iid, struct stk_str text)
{
    if (iid == 0 || text.n == 0) {
        return;
    }
    size_t most = table == STK_PF_NAMES || table == STK_PF_KERNELS ? NAME_MAX_BYTES : TEXT_MAX;
    text.n = text.n < most ? text.n : most;
    uint32_t id = stk_pf_put_text(in, text);
    uint32_t *at = stk_map_put(&in->interned, iid, table_key(s, table), id, NULL);
    if (at) {
        *at = id;
    } else {
        in->failed |= in->interned.count < STK_PF_INTERNED_MAX;
    }
}

uint32_t stk_pf_text_of(const struct stk_pf *in, const struct stk_pf_seq *s,
                        enum stk_pf_table table, uint64_t iid)
{
    const uint32_t *at = stk_map_get(&in->interned, iid, table_key(s, table));
    return at ? *at : 0;
}

// ---- sequences ----

struct stk_pf_seq *stk_pf_seq_of(struct stk_pf *in, uint64_t id)
{
    int created;
    uint32_t *at = stk_map_put(&in->seq_at, id, 0, (uint32_t)in->seqs.count, &created);
    struct stk_pf_seq *s = !at                    ? NULL
                           : created              ? stk_vec_push(&in->seqs)
                           : *at < in->seqs.count ? stk_vec_at(&in->seqs, *at)
                                                  : NULL;
    if (!s) {
        in->failed |= in->seqs.count < STK_PF_SEQS_MAX;
        return NULL;
    }
    if (created) {
        *s = (struct stk_pf_seq){.index = *at, .is_new = true};
    }
    return s;
}

// ---- tracks ----

struct stk_pf_track *stk_pf_track_known(const struct stk_pf *in, uint64_t uuid)
{
    const uint32_t *at = stk_map_get(&in->track_at, uuid, 0);
    return at && *at < in->tracks.count ? stk_vec_at(&in->tracks, *at) : NULL;
}

struct stk_pf_track *stk_pf_track_of(struct stk_pf *in, uint64_t uuid)
{
    int created;
    uint32_t *at = stk_map_put(&in->track_at, uuid, 0, (uint32_t)in->tracks.count, &created);
    struct stk_pf_track *t = !at                      ? NULL
                             : created                ? stk_vec_push(&in->tracks)
                             : *at < in->tracks.count ? stk_vec_at(&in->tracks, *at)
                                                      : NULL;
    if (!t) {
        in->failed |= in->tracks.count < STK_PF_TRACKS_MAX;
        return NULL;
    }
    if (created) {
        *t = (struct stk_pf_track){.uuid = uuid,
                                   .unit = 1,
                                   .device = -1,
                                   .own = STK_NONE,
                                   .own_device = -1,
                                   .last_ns = INT64_MIN};
    }
    return t;
}

// "GPU 3", "GPU 3 (NVIDIA H100)": the number, or -1.
static int64_t device_of_name(struct stk_str name)
{
    int64_t n = 0;
    size_t i = 4;
    if (!stk_str_starts_nocase(name, STK_STR("GPU "))) {
        return -1;
    }
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && n < 100000; i++) {
        n = n * 10 + (name.p[i] - '0');
    }
    return i > 4 && (i == name.n || name.p[i] == ' ') ? n : -1;
}

// Process, thread and device of a track's events: its own, or those of the nearest track above it.
void stk_pf_resolve(struct stk_pf *in, struct stk_pf_track *t)
{
    const struct stk_pf_track *up = t;
    t->is_resolved = true;
    for (int i = 0; up && i < PARENTS_MAX; i++) { // parents may form a ring
        if (t->device < 0) {
            t->device = device_of_name(stk_pf_text(in, up->name));
        }
        if (up->is_thread || up->is_process) {
            break;
        }
        up = up->parent ? stk_pf_track_known(in, up->parent) : NULL;
    }
    t->event_pid = (struct stk_chrome_id){{"", 0}, up ? up->pid : 0};
    t->event_tid = (struct stk_chrome_id){{"", 0}, t->is_thread ? t->tid : (int64_t)t->uuid};
    if (!t->is_thread && t->name && !t->is_process) {
        t->event_tid = (struct stk_chrome_id){stk_pf_text(in, t->name), 0};
    } else if (t->is_process) {
        t->event_tid = (struct stk_chrome_id){STK_STR("process"), 0};
    }
}

// ---- clocks ----

static struct stk_pf_clock *find_clock(const struct stk_pf *in, const struct stk_pf_seq *s,
                                       uint32_t id)
{
    uint64_t scope = id >= 64 && id < 128 ? (uint64_t)s->index + 1 : 0;
    const uint32_t *at = stk_map_get(&in->clock_at, id, scope);
    return at && *at < in->clocks.count ? stk_vec_at(&in->clocks, *at) : NULL;
}

static struct stk_pf_clock *put_clock(struct stk_pf *in, const struct stk_pf_seq *s, uint32_t id)
{
    uint64_t scope = id >= 64 && id < 128 ? (uint64_t)s->index + 1 : 0;
    int created;
    uint32_t *at = stk_map_put(&in->clock_at, id, scope, (uint32_t)in->clocks.count, &created);
    if (!at || (!created && *at >= in->clocks.count)) {
        return NULL;
    }
    return created ? stk_vec_push(&in->clocks) : stk_vec_at(&in->clocks, *at);
}

struct reading {
    uint64_t id, time, unit, incremental;
};

static void read_clock(struct stk_pb_cursor c, struct reading *r)
{
    struct stk_pb_field f;
    *r = (struct reading){.unit = 1};
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.wire != STK_PB_VARINT) {
            continue;
        }
        switch (f.number) {
        case 1:
            r->id = f.value;
            break;
        case 2:
            r->time = f.value;
            break;
        case 3:
            r->incremental = f.value;
            break;
        case 4:
            r->unit = f.value ? f.value : 1;
            break;
        default:
            break;
        }
    }
}

// In nanoseconds; false: out of range.
static bool scale(uint64_t time, int64_t unit_ns, int64_t *ns)
{
    return time <= INT64_MAX && !__builtin_mul_overflow((int64_t)time, unit_ns, ns) &&
           *ns <= STK_CHROME_TIME_MAX_NS;
}

// The trace's time at which a snapshot was taken: by its primary clock, or by one that is known.
static bool snapshot_time(const struct stk_pf *in, const struct stk_pf_seq *s,
                          const struct reading *r, size_t n, int64_t *ns)
{
    STK_ASSERT(n <= SNAPSHOT_MAX);
    for (size_t i = 0; i < n; i++) {
        if (r[i].id == in->primary_clock && scale(r[i].time, 1, ns)) {
            return true;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct stk_pf_clock *c = find_clock(in, s, (uint32_t)r[i].id);
        if (c && !c->is_incremental && scale(r[i].time, c->unit_ns, ns)) {
            *ns += c->offset_ns;
            return true;
        }
    }
    return n > 0 && scale(r[0].time, (int64_t)r[0].unit, ns); // the first one becomes the trace's
}

void stk_pf_clocks(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c)
{
    struct reading r[SNAPSHOT_MAX];
    struct stk_pb_field f;
    size_t n = 0;
    int64_t at_ns, ns;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number == 1 && f.wire == STK_PB_LEN && n < SNAPSHOT_MAX) {
            read_clock((struct stk_pb_cursor){f.data, f.data + f.value}, &r[n]);
            n += r[n].id > 0 && r[n].id <= UINT32_MAX && r[n].unit <= 1000000000;
        } else if (f.number == 2 && f.wire == STK_PB_VARINT && f.value && f.value < 64) {
            in->primary_clock = (uint32_t)f.value;
        }
    }
    if (!snapshot_time(in, s, r, n, &at_ns)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct stk_pf_clock *k = put_clock(in, s, (uint32_t)r[i].id);
        if (!k || !scale(r[i].time, (int64_t)r[i].unit, &ns)) {
            continue;
        }
        *k = (struct stk_pf_clock){.offset_ns = at_ns - ns,
                                   .now = (int64_t)r[i].time,
                                   .unit_ns = (int64_t)r[i].unit,
                                   .is_incremental = r[i].incremental != 0};
        if (r[i].id == CLOCK_REALTIME_ID && !in->has_wall_clock) {
            in->has_wall_clock = true;
            in->wall_ns = ns - at_ns;
        }
    }
}

bool stk_pf_time(struct stk_pf *in, const struct stk_pf_seq *s, uint32_t clock, uint64_t time,
                 int64_t *ns)
{
    clock = clock ? clock : s->clock;
    struct stk_pf_clock *k = clock && clock != in->primary_clock ? find_clock(in, s, clock) : NULL;
    if (!k) {
        return scale(time, 1, ns);
    }
    if (k->is_incremental) {
        if (time > INT64_MAX || __builtin_add_overflow(k->now, (int64_t)time, &k->now)) {
            return false;
        }
        time = (uint64_t)k->now;
    }
    return scale(time, k->unit_ns, ns) && !__builtin_add_overflow(*ns, k->offset_ns, ns) &&
           *ns <= STK_CHROME_TIME_MAX_NS && *ns >= -STK_CHROME_TIME_MAX_NS;
}
