// SPDX-License-Identifier: Apache-2.0
// Order of one track: start ascending, duration descending, then as recorded. Exporters write most
// tracks in order, or as a few ordered runs. So a sorted track needs one pass, one with few runs
// gets a merge sort that skips ordered parts, and one with scattered starts a radix sort.
#include <string.h>

#include "base/assert.h"
#include "profile/store/build_order.h"

#define INSERTION_MAX 24u
#define RADIX_MIN 4096u
#define RADIX_DESCENTS_MIN 64u // fewer runs than this merge faster
#define RADIX_BITS 11

struct order_key {
    int64_t start_ns;
    uint32_t dur_low;
    uint32_t index; // within the track, before sorting
};
struct sort_scope {
    const struct stk_trace *t;
    const struct stk_order_scratch *x;
    uint32_t first;
};

static bool longer(const struct sort_scope *c, const struct order_key *a, const struct order_key *b)
{
    if (a->dur_low != UINT32_MAX || b->dur_low != UINT32_MAX) {
        return a->dur_low > b->dur_low;
    }
    return stk_order_dur(c->t, c->x, c->first + a->index) >
           stk_order_dur(c->t, c->x, c->first + b->index);
}

static bool before(const struct sort_scope *c, const struct order_key *a, const struct order_key *b)
{
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : longer(c, a, b);
}

static void sort_insertion(const struct sort_scope *c, struct order_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct order_key key = keys[i];
        size_t j = i;
        for (; j && before(c, &key, &keys[j - 1]); j--) {
            keys[j] = keys[j - 1];
        }
        keys[j] = key;
    }
}

// Stable; temp holds n / 2 keys.
static void sort_merge(const struct sort_scope *c, struct order_key *keys, size_t n,
                       struct order_key *temp)
{
    if (n <= INSERTION_MAX) {
        sort_insertion(c, keys, n);
        return;
    }
    size_t half = n / 2;
    sort_merge(c, keys, half, temp);
    sort_merge(c, keys + half, n - half, temp);
    if (!before(c, &keys[half], &keys[half - 1])) {
        return;
    }
    memcpy(temp, keys, half * sizeof *keys);
    size_t a = 0, b = half, out = 0;
    while (a < half && b < n) {
        keys[out++] = before(c, &keys[b], &temp[a]) ? keys[b++] : temp[a++];
    }
    memcpy(keys + out, temp + a, (half - a) * sizeof *keys);
}

static void radix_pass(const struct order_key *from, struct order_key *to, size_t n, int64_t min_ns,
                       int shift)
{
    uint32_t next[1u << RADIX_BITS] = {0};
    uint32_t mask = (1u << RADIX_BITS) - 1, sum = 0;
    for (size_t i = 0; i < n; i++) {
        next[((uint64_t)(from[i].start_ns - min_ns) >> shift) & mask]++;
    }
    for (uint32_t d = 0; d <= mask; d++) {
        uint32_t count = next[d];
        next[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        to[next[((uint64_t)(from[i].start_ns - min_ns) >> shift) & mask]++] = from[i];
    }
}

// Stable; temp holds n keys. The keys end up in `keys`.
static void sort_radix(const struct sort_scope *c, struct order_key *keys, size_t n,
                       struct order_key *temp)
{
    int64_t min_ns = keys[0].start_ns, max_ns = keys[0].start_ns;
    for (size_t i = 1; i < n; i++) {
        if (keys[i].start_ns < min_ns) {
            min_ns = keys[i].start_ns;
        }
        if (keys[i].start_ns > max_ns) {
            max_ns = keys[i].start_ns;
        }
    }
    struct order_key *from = keys, *to = temp;
    for (int shift = 0; shift < 64 && (uint64_t)(max_ns - min_ns) >> shift; shift += RADIX_BITS) {
        radix_pass(from, to, n, min_ns, shift);
        struct order_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) {
        memcpy(keys, from, n * sizeof *keys);
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && keys[end].start_ns == keys[i].start_ns; end++)
            ;
        if (end - i > 1) {
            sort_merge(c, keys + i, end - i, temp);
        }
    }
}

static size_t count_descents(const struct stk_trace *t, uint32_t first, uint32_t n,
                             const struct stk_order_scratch *x)
{
    size_t descents = 0;
    for (uint32_t i = first + 1; i < first + n; i++) {
        int64_t a = t->start_ns[i - 1], b = t->start_ns[i];
        if (a > b || (a == b && (t->dur_low[i - 1] < t->dur_low[i] ||
                                 (t->dur_low[i] == UINT32_MAX &&
                                  stk_order_dur(t, x, i - 1) < stk_order_dur(t, x, i))))) {
            descents++;
        }
    }
    return descents;
}

bool stk_track_sort(struct stk_trace *t, uint32_t first, uint32_t n, struct stk_order_scratch *x)
{
    STK_ASSERT(first <= t->count && n <= t->count - first);
    size_t descents = count_descents(t, first, n, x);
    if (descents == 0) {
        return true;
    }
    bool radix = n >= RADIX_MIN && descents >= RADIX_DESCENTS_MIN;
    struct order_key *keys = stk_order_buffer(x, 0, n, sizeof *keys);
    struct order_key *temp = stk_order_buffer(x, 1, radix ? n : n / 2 + 1, sizeof *temp);
    if (!keys || !temp) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = (struct order_key){t->start_ns[first + i], t->dur_low[first + i], i};
    }
    struct sort_scope scope = {t, x, first};
    if (radix) {
        sort_radix(&scope, keys, n, temp);
    } else {
        sort_merge(&scope, keys, n, temp);
    }
    // Reading is never behind writing, so the order can overwrite the keys.
    uint32_t *order = (uint32_t *)(void *)keys;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = keys[i].index;
    }
    return stk_track_permute(t, first, n, order, false, x);
}
