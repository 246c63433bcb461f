// SPDX-License-Identifier: Apache-2.0
// Which track an event belongs to: process and thread as recorded for host rows, device and stream
// for device rows.
#include "base/hash.h"
#include "profile/readers/trace_event/chrome_stage.h"

static struct stk_str keep(struct stk_chrome_stager *s, struct stk_str text)
{
    char *p = text.n ? stk_arena_strndup(&s->arena, text.p, text.n) : NULL;
    s->failed |= text.n && !p;
    return p ? (struct stk_str){p, text.n} : STK_STR("");
}

uint64_t stk_chrome_id_hash(const struct stk_chrome_id *id)
{
    return id->text.n ? stk_hash_table_bytes(id->text.p, id->text.n) | 1
                      : stk_hash_u64((uint64_t)id->number);
}

// Process id for a track: the number, or one made from the text.
static int64_t process_of(const struct stk_chrome_id *pid)
{
    if (pid->text.n == 0) {
        return pid->number > INT64_MIN / 2 ? pid->number : INT64_MIN / 2;
    }
    return (int64_t)(stk_hash_bytes(pid->text.p, pid->text.n) >> 2 | UINT64_C(1) << 61);
}

struct place {
    enum stk_track_kind kind;
    int64_t process, device, id;
    struct stk_str sid;
};

static uint32_t new_track(struct stk_chrome_stager *s, const struct place *p,
                          const struct stk_chrome_raw *r, uint64_t a, uint64_t b)
{
    struct stk_chrome_track *t = stk_vec_push(&s->tracks);
    if (!t) {
        s->failed = true;
        return STK_NONE;
    }
    *t = (struct stk_chrome_track){
        .key = {.kind = p->kind, .process = p->process, .device = p->device, .id = p->id},
        .sink_track = STK_NONE,
        .hash_a = a,
        .hash_b = b,
        .rank = -1,
        .open_begin = STK_NONE,
        .pid = {{"", 0}, r->pid.number},
        .tid = {{"", 0}, r->tid.number}};
    t->pid.text = keep(s, r->pid.text);
    t->tid.text = keep(s, r->tid.text);
    t->key.sid = keep(s, stk_chrome_stage_clean(s, p->sid));
    return (uint32_t)s->tracks.count - 1;
}

static uint32_t find_track(struct stk_chrome_stager *s, const struct place *p,
                           const struct stk_chrome_raw *r)
{
    uint64_t a =
        stk_hash_table_pair((uint64_t)p->process, 0) + (uint64_t)p->kind * 0x9e3779b97f4a7c15u;
    uint64_t b = (uint64_t)p->id * 31 + (uint64_t)p->device * 0xff51afd7ed558ccdu;
    if (p->sid.n) {
        b ^= stk_hash_table_bytes(p->sid.p, p->sid.n);
    }
    if (r->pid.text.n) {
        a ^= stk_hash_table_bytes(r->pid.text.p, r->pid.text.n);
    }
    size_t slot = (a ^ b ^ b >> 5 ^ a >> 7) % 16;
    if (s->recent[slot].a == a && s->recent[slot].b == b && s->tracks.count > 0 &&
        s->recent[slot].track < s->tracks.count) {
        return s->recent[slot].track;
    }
    int created;
    uint32_t *value = stk_map_put(&s->track_map, a, b, STK_NONE, &created);
    if (!value) {
        s->failed = true;
        return STK_NONE;
    }
    if (*value == STK_NONE) {
        *value = new_track(s, p, r, a, b);
    }
    s->recent[slot].a = a;
    s->recent[slot].b = b;
    s->recent[slot].track = *value;
    return *value;
}

uint32_t stk_chrome_track_host(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    struct place p = {STK_TRACK_THREAD, process_of(&r->pid), -1, r->tid.number, r->tid.text};
    return find_track(s, &p, r);
}

// Stream number: that of a tid "stream 7", or of args.
static int64_t stream_number(const struct stk_chrome_raw *r, struct stk_str *sid)
{
    struct stk_str text = r->tid.text;
    int64_t n;
    *sid = (struct stk_str){"", 0};
    if (text.n == 0) {
        return r->tid.number;
    }
    if (stk_str_starts_nocase(text, STK_STR("stream ")) &&
        stk_str_to_i64((struct stk_str){text.p + 7, text.n - 7}, &n)) {
        return n;
    }
    if (r->flags & STK_CHROME_HAS_STREAM) {
        return r->stream;
    }
    *sid = text;
    return 0;
}

uint32_t stk_chrome_track_device(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                                 enum stk_track_kind kind)
{
    struct place p = {.kind = kind,
                      .process = STK_CHROME_STAND_IN(stk_chrome_is_merged(r) ? r->rank : -1),
                      .device = r->flags & STK_CHROME_HAS_DEVICE ? r->device : r->pid.number};
    p.id = stream_number(r, &p.sid);
    if (p.device < 0) { // a host track has -1; lower numbers don't occur
        p.device = 0;
    }
    return find_track(s, &p, r);
}

uint32_t stk_chrome_track_other(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                                enum stk_track_kind kind, struct stk_str sid)
{
    struct place p = {kind, STK_CHROME_STAND_IN(-1), -1, r->tid.number, sid};
    if (kind == STK_TRACK_COUNTER) {
        p.process = process_of(&r->pid);
        p.id = 0;
    }
    return find_track(s, &p, r);
}

uint32_t stk_chrome_track_of_key(struct stk_chrome_stager *s, const struct stk_track_key *key)
{
    static const struct stk_chrome_raw none = {.pid.text = {"", 0}, .tid.text = {"", 0}};
    struct place p = {key->kind, key->process, key->device, key->id, key->sid};
    return find_track(s, &p, &none);
}
