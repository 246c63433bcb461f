// SPDX-License-Identifier: Apache-2.0
// A stable merge sort that starts from existing runs (sort.h).
//
// Method: finds ordered runs in one pass, then merges neighbors until one is left: n comparisons if
// everything is in order, n log r for r runs. Most lists are gathered thread by thread, so they are
// a few runs. Limits: takes as much memory again; without it, qsort sorts in place.
#include "base/sort.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

struct sorting {
    char *items, *other; // merges from the one into the other, and back
    size_t size;
    int (*compare)(const void *, const void *);
};

static inline void copy(char *to, const char *from, size_t size)
{
    switch (size) { // most items, without a call
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    case 24:
        memcpy(to, from, 24);
        break;
    default:
        memcpy(to, from, size);
    }
}

// Merges [from, middle) and [middle, end), in items, into other.
static void merge(const struct sorting *s, size_t from, size_t middle, size_t end)
{
    const char *a = s->items + from * s->size, *a_end = s->items + middle * s->size;
    const char *b = a_end, *b_end = s->items + end * s->size;
    char *to = s->other + from * s->size;
    while (a < a_end && b < b_end) {
        const char **least = s->compare(a, b) <= 0 ? &a : &b;
        copy(to, *least, s->size);
        *least += s->size;
        to += s->size;
    }
    memcpy(to, a, (size_t)(a_end - a));
    memcpy(to + (a_end - a), b, (size_t)(b_end - b));
}

// The start of each run, then n; NULL: no memory. *runs: their count, 1 if everything is already
// sorted (then nothing is allocated).
static size_t *find_runs(const struct sorting *s, size_t n, size_t *runs)
{
    size_t *starts = NULL, count = 1, room = 0;
    for (size_t i = 1; i < n; i++) {
        if (s->compare(s->items + (i - 1) * s->size, s->items + i * s->size) <= 0) {
            continue;
        }
        if (count + 2 > room) {
            room = room ? 2 * room : 64;
            size_t *grown = stk_realloc_array(starts, room, sizeof *starts);
            if (!grown) {
                stk_free(starts);
                *runs = 2;
                return NULL;
            }
            starts = grown;
            starts[0] = 0;
        }
        starts[count++] = i;
    }
    if (starts) {
        starts[count] = n;
    }
    *runs = count;
    return starts;
}

// One round: merges pairs of neighboring runs. Returns how many are left.
static size_t merge_round(struct sorting *s, size_t *starts, size_t runs, size_t n)
{
    size_t left = 0;
    for (size_t r = 0; r < runs; r += 2) {
        size_t from = starts[r], middle = r + 1 < runs ? starts[r + 1] : n;
        size_t end = r + 2 < runs ? starts[r + 2] : n;
        merge(s, from, middle, end);
        starts[left++] = from;
    }
    char *items = s->items;
    s->items = s->other;
    s->other = items;
    return left;
}

void stk_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n < 2) {
        return;
    }
    STK_ASSERT(items && size > 0);
    struct sorting s = {.items = items, .size = size, .compare = compare};
    size_t runs, *starts = find_runs(&s, n, &runs);
    if (runs == 1) {
        return;
    }
    char *scratch = starts ? stk_alloc_array(n, size) : NULL;
    if (!scratch) {
        stk_free(starts);
        qsort(items, n, size, compare);
        return;
    }
    s.other = scratch;
    while (runs > 1) {
        runs = merge_round(&s, starts, runs, n);
    }
    if (s.items == scratch) {
        memcpy(items, scratch, n * size);
    }
    stk_free(scratch);
    stk_free(starts);
}
