// SPDX-License-Identifier: Apache-2.0
// One tile: in each row of the track, bucket by bucket, the events that start there are found by
// search; the last one stands for itself where it is no shorter than the bucket, the others are
// merged.
#include <string.h>

#include "timeline/timeline.h"
#include "stoker/timeline.h"

struct item {
    uint32_t event, count;
    uint16_t row;
    uint8_t flags;
};

struct tile {
    const struct stk_tl_trace *x;
    bool counter;
    int64_t from_ns, to_ns;
    int level;
    struct stk_vec items; // struct item
    uint64_t merged, events;
};

static bool put(struct tile *t, uint32_t at, uint32_t count, uint32_t row, uint8_t flags)
{
    const struct stk_trace *trace = t->x->t;
    uint32_t event = t->x->list[at];
    struct item *item = stk_vec_push(&t->items);
    if (!item) {
        return false;
    }
    if (stk_dur_ns(trace, event) > t->x->outliers[trace->name[event]]) {
        flags |= STOKER_TILE_OUTLIER;
    }
    *item = (struct item){.event = event, .count = count, .row = (uint16_t)row, .flags = flags};
    if (!(flags & STOKER_TILE_BEFORE)) {
        t->events += count;
        t->merged += count > 1 ? count : 0;
    }
    return true;
}

// The end of the bucket with a time of the tile.
static int64_t bucket_end(const struct tile *t, int64_t t_ns)
{
    int64_t bucket = t_ns > t->from_ns ? (t_ns - t->from_ns) >> t->level : 0, end;
    if (bucket >= STK_TL_BUCKETS - 1) {
        return t->to_ns;
    }
    return __builtin_add_overflow(t->from_ns, (bucket + 1) << t->level, &end) ? INT64_MAX : end;
}

static bool fill_row(struct tile *t, const struct stk_tl_row *row, uint32_t number)
{
    const struct stk_tl_trace *x = t->x;
    uint32_t at = row->first;
    if (t->from_ns > 0) {
        at = stk_tl_lower(x, at, row->end, t->from_ns);
        if (at > row->first && stk_tl_end(x, x->list[at - 1]) > t->from_ns &&
            !put(t, at - 1, 1, number, STOKER_TILE_BEFORE)) {
            return false;
        }
    }
    while (at < row->end && stk_tl_start(x, x->list[at]) < t->to_ns) {
        uint32_t next =
            stk_tl_lower(x, at + 1, row->end, bucket_end(t, stk_tl_start(x, x->list[at])));
        bool alone = stk_dur_ns(x->t, x->list[next - 1]) >> t->level > 0;
        uint32_t merged = next - at - alone;
        if ((merged && !put(t, stk_tl_longest(x, at, at + merged), merged, number, 0)) ||
            (alone && !put(t, next - 1, 1, number, 0))) {
            return false;
        }
        at = next;
    }
    return true;
}

// What a counter's event says; its first series where there are several.
static double value_of(const struct stk_trace *t, uint32_t event)
{
    const struct stk_detail *d = stk_detail_find(t, event, STK_DETAIL_VALUE);
    const struct stk_ext *x = stk_ext_of(t, event);
    if (d) {
        return d->real;
    }
    return x && x->flags & STK_EXT_VALUE ? (double)x->value : 0;
}

static void put_u64(char **at, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        *(*at)++ = (char)(value >> 8 * i);
    }
}

static void put_u32(char **at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        *(*at)++ = (char)(value >> 8 * i);
    }
}

static void put_real(char **at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(at, bits);
}

static uint8_t kind_number(uint8_t kind)
{
    return kind == STK_KIND_OTHER ? 0 : (uint8_t)(kind + 1);
}

enum { HEADER = 16, BYTES_EACH = 8 + 8 + 8 + 4 + 4 + 2 + 1 + 1 };

static bool write_tile(const struct tile *t, struct stk_vec *out)
{
    const struct item *items = t->items.items;
    const struct stk_tl_trace *x = t->x;
    uint32_t n = (uint32_t)t->items.count;
    char *at = stk_vec_push_n(out, HEADER + (size_t)n * BYTES_EACH);
    if (!at) {
        return false;
    }
    put_u32(&at, 0x544b5453); // "STKT"
    put_u32(&at, n);
    put_u32(&at, (uint32_t)t->merged);
    put_u32(&at, (uint32_t)t->events);
    for (uint32_t i = 0; i < n; i++) {
        put_real(&at, (double)stk_tl_start(x, items[i].event));
    }
    for (uint32_t i = 0; i < n; i++) {
        put_real(&at, t->counter ? value_of(x->t, items[i].event)
                                 : (double)stk_dur_ns(x->t, items[i].event));
    }
    for (uint32_t i = 0; i < n; i++) {
        put_real(&at, (double)stk_query_id(x->index, items[i].event));
    }
    for (uint32_t i = 0; i < n; i++) {
        put_u32(&at, x->name_base + x->t->name[items[i].event]);
    }
    for (uint32_t i = 0; i < n; i++) {
        put_u32(&at, items[i].count);
    }
    for (uint32_t i = 0; i < n; i++) {
        *at++ = (char)(items[i].row & 255);
        *at++ = (char)(items[i].row >> 8);
    }
    for (uint32_t i = 0; i < n; i++) {
        *at++ = (char)kind_number(x->t->kind[items[i].event]);
    }
    for (uint32_t i = 0; i < n; i++) {
        *at++ = (char)items[i].flags;
    }
    return true;
}

// False: it begins after all there can be.
static bool span_of(struct tile *t, int64_t index)
{
    int64_t span = (int64_t)STK_TL_BUCKETS << t->level;
    if (__builtin_mul_overflow(index, span, &t->from_ns)) {
        return false;
    }
    if (__builtin_add_overflow(t->from_ns, span, &t->to_ns)) {
        t->to_ns = INT64_MAX;
    }
    return true;
}

enum stoker_status stk_tl_tile(const struct stk_timeline *timeline, int64_t track, int level,
                               int64_t index, struct stk_vec *out, struct stoker_err *err)
{
    struct tile t = {.level = level};
    uint32_t root;
    enum stoker_status status = stk_tl_track(timeline, track, &t.x, &root, err);
    if (status != STOKER_OK) {
        return status;
    }
    if (level < 0 || level > STK_TL_LEVEL_MAX) {
        return stk_err_set(err, STOKER_EUSAGE, "there is no level %d of tiles; they go to %d",
                           level, STK_TL_LEVEL_MAX);
    }
    if (index < 0) {
        return stk_err_set(err, STOKER_EUSAGE, "there is no tile %lld; they count from 0",
                           (long long)index);
    }
    stk_vec_init(&t.items, sizeof(struct item), SIZE_MAX / sizeof(struct item));
    const struct stk_tl_track *r = &t.x->tracks[root];
    t.counter = t.x->t->tracks[root].kind == STK_TRACK_COUNTER;
    bool ok = true;
    for (uint32_t i = 0; span_of(&t, index) && i < r->row_count && ok; i++) {
        ok = fill_row(&t, &t.x->rows[r->first_row + i], i);
    }
    ok = ok && write_tile(&t, out);
    stk_vec_deinit(&t.items);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
