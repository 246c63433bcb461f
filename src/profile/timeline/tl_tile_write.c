// SPDX-License-Identifier: Apache-2.0
// The bytes of a tile in the format of include/stoker/timeline.h: little-endian, like the machines
// that stoker runs on. Times are 32 bits from the tile's begin on; larger values are stored as two
// numbers after the columns. Items of a coarse tile are far apart in memory, so the next ones are
// prefetched.
#include <string.h>

#include "profile/timeline/tile_items.h"
#include "stoker/timeline.h"

enum { HEADER = 40, BYTES_EACH = 4 + 4 + 4 + 4 + 4 + 2 + 1 + 1, BYTES_FAR = 16, AHEAD = 24 };

// A unit of starts is 2^this ns: 2^32 of them are a tile.
static int unit_bits(const struct stk_tile *t)
{
    return t->level > 22 ? t->level - 22 : 0;
}

// Before the tile (or before time 0, of the first one), lasting 4.3 s and longer, or a value.
static bool is_far(const struct stk_tile *t, uint32_t event)
{
    return t->is_counter || t->x->t->dur_low[event] == UINT32_MAX ||
           stk_tl_start(t->x, event) < t->from_ns;
}

static void fetch(const struct stk_trace *t, uint32_t event)
{
    __builtin_prefetch(&t->start_ns[event]);
    __builtin_prefetch(&t->dur_low[event]);
    __builtin_prefetch(&t->name[event]);
    __builtin_prefetch(&t->kind[event]);
}

void stk_tile_measure(struct stk_tile *t)
{
    struct stk_tile_item *items = t->items.items;
    size_t n = t->items.count, far = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            fetch(t->x->t, items[i + AHEAD].event);
        }
        if (is_far(t, items[i].event)) {
            items[i].flags |= STOKER_TILE_FAR;
            far++;
        }
    }
    t->bytes = HEADER + n * BYTES_EACH + far * BYTES_FAR;
}

// The value of a counter's event; with several series, of the first.
static double value_of(const struct stk_trace *t, uint32_t event)
{
    const struct stk_detail *d = stk_detail_find(t, event, STK_DETAIL_VALUE);
    const struct stk_ext *x = stk_ext_of(t, event);
    if (d) {
        return d->real;
    }
    return x && x->flags & STK_EXT_VALUE ? (double)x->value : 0;
}

static void put_header(const struct stk_tile *t, uint32_t n, uint32_t far, char *out)
{
    const uint32_t words[] = {STOKER_TILE_MAGIC, n, (uint32_t)t->merged, (uint32_t)t->events};
    const double times[] = {(double)t->from_ns, (double)((int64_t)1 << unit_bits(t))};
    const uint32_t more[] = {t->x->index, far};
    memcpy(out, words, sizeof words);
    memcpy(out + 16, times, sizeof times);
    memcpy(out + 32, more, sizeof more);
}

static uint8_t kind_number(uint8_t kind)
{
    return kind == STK_KIND_OTHER ? 0 : (uint8_t)(kind + 1);
}

static uint8_t flags_of(const struct stk_tile *t, const struct stk_tile_item *item)
{
    const struct stk_trace *x = t->x->t;
    bool stands_out = stk_dur_ns(x, item->event) > t->x->outliers[x->name[item->event]];
    return stands_out ? item->flags | STOKER_TILE_OUTLIER : item->flags;
}

void stk_tile_write(const struct stk_tile *t, char *out)
{
    const struct stk_tile_item *items = t->items.items;
    const struct stk_trace *x = t->x->t;
    size_t n = t->items.count, far = 0;
    int unit = unit_bits(t);
    uint32_t *starts = (uint32_t *)(void *)(out + HEADER), *durs = starts + n, *events = durs + n,
             *names = events + n, *counts = names + n;
    uint16_t *rows = (uint16_t *)(void *)(counts + n);
    uint8_t *kinds = (uint8_t *)(rows + n), *flags = kinds + n;
    double *fars = (double *)(void *)(out + HEADER + n * BYTES_EACH);
    for (size_t i = 0; i < n; i++) {
        uint32_t e = items[i].event;
        if (i + AHEAD < n) {
            fetch(x, items[i + AHEAD].event);
        }
        if (items[i].flags & STOKER_TILE_FAR) {
            fars[2 * far] = (double)stk_tl_start(t->x, e);
            fars[2 * far + 1] = t->is_counter ? value_of(x, e) : (double)stk_dur_ns(x, e);
            starts[i] = durs[i] = (uint32_t)far++;
        } else {
            starts[i] = (uint32_t)((uint64_t)(stk_tl_start(t->x, e) - t->from_ns) >> unit);
            durs[i] = x->dur_low[e];
        }
        events[i] = e;
        names[i] = t->x->name_base + x->name[e];
        counts[i] = items[i].count;
        rows[i] = items[i].row;
        kinds[i] = kind_number(x->kind[e]);
        flags[i] = flags_of(t, &items[i]);
    }
    put_header(t, (uint32_t)n, (uint32_t)far, out);
}
