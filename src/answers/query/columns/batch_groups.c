// SPDX-License-Identifier: Apache-2.0
// Groups of events with equal keys, and their sums. Each thread has its own; they are merged in the
// order of the events, so first and last rows stay correct.
//
// Sums of whole numbers are made without testing each addition: at the end, the number of rows and
// the bits of the largest number show whether any order of adding could have overflowed. If so,
// SQLite answers.
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/vec.h"
#include "answers/query/columns/batch.h"

#define GROUPS_MAX ((size_t)1 << 26)
#define EXACT_MAX 9007199254740992.0 // whole numbers below it are exact as real numbers
#define FOR_ROWS for (uint32_t k = 0; k < n; k++)

// Distinct values of each group.
struct stk_batch_set {
    struct stk_vec entries; // struct entry
    uint32_t *slots;        // entry + 1
    size_t slot_count;
};
struct entry {
    int64_t value;
    uint32_t group;
};

static uint64_t hash_entry(int64_t value, uint32_t group)
{
    return stk_hash_table_pair((uint64_t)value, group);
}

static bool set_grow(struct stk_batch_set *s)
{
    size_t count = s->slot_count ? 2 * s->slot_count : 1024;
    uint32_t *slots = stk_alloc_zero(count, sizeof *slots);
    if (!slots) {
        return false;
    }
    for (size_t i = 0; i < s->entries.count; i++) {
        const struct entry *x = stk_vec_at(&s->entries, i);
        size_t at = hash_entry(x->value, x->group) & (count - 1);
        while (slots[at]) {
            at = (at + 1) & (count - 1);
        }
        slots[at] = (uint32_t)i + 1;
    }
    stk_free(s->slots);
    s->slots = slots;
    s->slot_count = count;
    return true;
}

static bool set_put(struct stk_batch_set *s, int64_t value, uint32_t group)
{
    if (2 * s->entries.count >= s->slot_count && !set_grow(s)) {
        return false;
    }
    size_t at = hash_entry(value, group) & (s->slot_count - 1);
    const struct entry *all = s->entries.items;
    for (; s->slots[at]; at = (at + 1) & (s->slot_count - 1)) {
        if (all[s->slots[at] - 1].value == value && all[s->slots[at] - 1].group == group) {
            return true;
        }
    }
    struct entry *x = stk_vec_push_raw(&s->entries);
    if (!x) {
        return false;
    }
    *x = (struct entry){value, group};
    s->slots[at] = (uint32_t)s->entries.count;
    return true;
}

bool stk_batch_groups_init(struct stk_batch_groups *g, const struct stk_batch_plan *plan)
{
    memset(g, 0, sizeof *g);
    g->plan = plan;
    for (uint32_t i = 0; i < plan->sum_count; i++) {
        if (!plan->sums[i].distinct) {
            continue;
        }
        g->sets[i] = stk_alloc_zero(1, sizeof *g->sets[i]);
        if (!g->sets[i]) {
            return false;
        }
        stk_vec_init(&g->sets[i]->entries, sizeof(struct entry), GROUPS_MAX);
    }
    return true;
}

void stk_batch_groups_deinit(struct stk_batch_groups *g)
{
    stk_free(g->keys);
    stk_free(g->nulls);
    stk_free(g->rows);
    stk_free(g->refs);
    stk_free(g->slots);
    stk_free(g->order);
    for (size_t i = 0; i < STK_BATCH_SUMS_MAX; i++) {
        stk_free(g->totals[i]);
        if (!g->sets[i]) {
            continue;
        }
        stk_vec_deinit(&g->sets[i]->entries);
        stk_free(g->sets[i]->slots);
        stk_free(g->sets[i]);
    }
    memset(g, 0, sizeof *g);
}

static bool resize(void *array, size_t count, size_t size)
{
    void **p = array, *grown = stk_realloc_array(*p, count, size);
    if (grown) {
        *p = grown;
    }
    return grown != NULL;
}

static bool groups_grow(struct stk_batch_groups *g)
{
    size_t capacity = g->capacity ? 2 * g->capacity : 64, keys = g->plan->key_count;
    bool ok = capacity <= GROUPS_MAX && resize(&g->keys, capacity * keys + 1, sizeof *g->keys) &&
              resize(&g->nulls, capacity * keys + 1, 1) &&
              resize(&g->rows, capacity, sizeof *g->rows) &&
              resize(&g->refs, capacity, sizeof *g->refs);
    for (uint32_t i = 0; ok && i < g->plan->sum_count; i++) {
        ok = resize(&g->totals[i], capacity, sizeof *g->totals[i]);
    }
    uint32_t *slots = ok ? stk_alloc_zero(4 * capacity, sizeof *slots) : NULL;
    if (!slots) {
        return false;
    }
    g->capacity = capacity;
    stk_free(g->slots);
    g->slots = slots;
    g->slot_count = 4 * capacity;
    return true;
}

static uint64_t hash_keys(const int64_t *keys, const uint8_t *nulls, uint32_t count)
{
    uint64_t h = 0;
    for (uint32_t i = 0; i < count; i++) {
        h = stk_hash_table_pair(h, (uint64_t)keys[i]) + nulls[i];
    }
    return h;
}

static void rehash(struct stk_batch_groups *g)
{
    uint32_t count = g->plan->key_count;
    for (size_t i = 0; i < g->count; i++) {
        size_t at =
            hash_keys(g->keys + i * count, g->nulls + i * count, count) & (g->slot_count - 1);
        while (g->slots[at]) {
            at = (at + 1) & (g->slot_count - 1);
        }
        g->slots[at] = (uint32_t)i + 1;
    }
}

static void begin_total(const struct stk_batch_sum *sum, struct stk_batch_total *t)
{
    *t = (struct stk_batch_total){.n = 0};
    bool real = sum->node && sum->node->type == STK_BATCH_REAL;
    if (sum->kind == STK_SUM_LEAST && real) {
        t->r = INFINITY;
    } else if (sum->kind == STK_SUM_GREATEST && real) {
        t->r = -INFINITY;
    } else if (sum->kind == STK_SUM_LEAST) {
        t->i = INT64_MAX;
    } else if (sum->kind == STK_SUM_GREATEST) {
        t->i = INT64_MIN;
    }
}

static uint32_t new_group(struct stk_batch_groups *g, const int64_t *keys, const uint8_t *nulls,
                          struct stk_batch_ref ref)
{
    if (g->count >= g->plan->groups_max) {
        return STK_NONE;
    }
    if (g->count == g->capacity) {
        if (!groups_grow(g)) {
            return STK_NONE;
        }
        rehash(g);
    }
    uint32_t group = (uint32_t)g->count++, count = g->plan->key_count;
    for (uint32_t i = 0; i < count; i++) {
        g->keys[(size_t)group * count + i] = keys[i];
        g->nulls[(size_t)group * count + i] = nulls[i];
    }
    g->rows[group] = 0;
    g->refs[group] = ref;
    for (uint32_t i = 0; i < g->plan->sum_count; i++) {
        begin_total(&g->plan->sums[i], &g->totals[i][group]);
    }
    size_t at = hash_keys(keys, nulls, count) & (g->slot_count - 1);
    while (g->slots[at]) {
        at = (at + 1) & (g->slot_count - 1);
    }
    g->slots[at] = group + 1;
    return group;
}

// The group of these keys; STK_NONE: no memory.
static uint32_t groups_find(struct stk_batch_groups *g, const int64_t *keys, const uint8_t *nulls,
                            struct stk_batch_ref ref)
{
    uint32_t count = g->plan->key_count;
    if (!g->slot_count) {
        return new_group(g, keys, nulls, ref);
    }
    size_t at = hash_keys(keys, nulls, count) & (g->slot_count - 1);
    for (; g->slots[at]; at = (at + 1) & (g->slot_count - 1)) {
        uint32_t group = g->slots[at] - 1, i = 0;
        const int64_t *have = g->keys + (size_t)group * count;
        const uint8_t *null = g->nulls + (size_t)group * count;
        while (i < count && have[i] == keys[i] && null[i] == nulls[i]) {
            i++;
        }
        if (i == count) {
            return group;
        }
    }
    return new_group(g, keys, nulls, ref);
}

static struct stk_batch_ref ref_of(const struct stk_batch *b, uint32_t k)
{
    return (struct stk_batch_ref){b->at.trace, b->at.track,
                                  b->events ? b->events[k] : b->first + k};
}

// As keys are compared: nulls are equal, and so are both zeros.
static int64_t key_at(const struct stk_batch_node *node, const struct stk_batch_vec *v, uint32_t k,
                      uint8_t *null)
{
    *null = v->has_null && v->null[k];
    return *null || (node->type == STK_BATCH_REAL && v->r[k] == 0) ? 0 : v->i[k];
}

static bool find_by_one(struct stk_batch_groups *g, const struct stk_batch *b,
                        const struct stk_batch_node *node, const struct stk_batch_vec *v)
{
    uint32_t n = b->rows, group = STK_NONE;
    int64_t last = 0;
    uint8_t last_null = 0;
    FOR_ROWS
    {
        uint8_t null;
        int64_t key = key_at(node, v, k, &null);
        if (group == STK_NONE || key != last || null != last_null) {
            group = groups_find(g, &key, &null, ref_of(b, k));
        }
        if (group == STK_NONE) {
            return false;
        }
        last = key;
        last_null = null;
        g->group_of[k] = group;
    }
    return true;
}

// group_of for all rows. *uniform: one group holds them all.
static bool find_groups(struct stk_batch_groups *g, struct stk_batch_eval *e,
                        const struct stk_batch *b, bool *uniform)
{
    const struct stk_batch_plan *p = g->plan;
    const struct stk_batch_vec *vecs[STK_BATCH_KEYS_MAX];
    int64_t keys[STK_BATCH_KEYS_MAX];
    uint8_t nulls[STK_BATCH_KEYS_MAX];
    uint32_t n = b->rows;
    *uniform = true;
    for (uint32_t i = 0; i < p->key_count; i++) {
        vecs[i] = stk_batch_eval(e, p->keys[i], b);
        *uniform &= vecs[i]->uniform;
    }
    if (!*uniform && p->key_count == 1) {
        return find_by_one(g, b, p->keys[0], vecs[0]);
    }
    n = *uniform ? 1 : n;
    FOR_ROWS
    {
        bool same = k > 0;
        for (uint32_t i = 0; i < p->key_count; i++) {
            uint8_t null;
            int64_t key = key_at(p->keys[i], vecs[i], k, &null);
            same = same && keys[i] == key && nulls[i] == null;
            keys[i] = key;
            nulls[i] = null;
        }
        g->group_of[k] = same ? g->group_of[k - 1] : groups_find(g, keys, nulls, ref_of(b, k));
        if (g->group_of[k] == STK_NONE) {
            return false;
        }
    }
    return true;
}

static void add_real(struct stk_batch_total *t, double x)
{
    double sum = t->r + x;
    t->low += fabs(t->r) >= fabs(x) ? (t->r - sum) + x : (x - sum) + t->r;
    t->r = sum;
}

static bool is_better(const struct stk_batch_sum *sum, const struct stk_batch_total *t,
                      const struct stk_batch_total *than)
{
    bool least = sum->kind == STK_SUM_LEAST;
    if (than->n == 0) {
        return true;
    }
    if (sum->node->type == STK_BATCH_REAL) {
        return least ? t->r < than->r : t->r > than->r;
    }
    return least ? t->i < than->i : t->i > than->i;
}

// Adds one value, in all cases; loops for frequent cases are below.
static void add_one(struct stk_batch_groups *g, uint32_t which, uint32_t group, int64_t bits,
                    struct stk_batch_ref ref)
{
    const struct stk_batch_sum *sum = &g->plan->sums[which];
    struct stk_batch_total *t = &g->totals[which][group], one = {.n = 1, .i = bits};
    if (sum->kind == STK_SUM_LEAST || sum->kind == STK_SUM_GREATEST) {
        if (is_better(sum, &one, t)) {
            t->i = bits;
            if (g->plan->row_of_sum == (int)which) {
                g->refs[group] = ref;
            }
        }
    } else if (sum->kind != STK_SUM_COUNT) {
        if (sum->node->type == STK_BATCH_REAL) {
            add_real(t, one.r);
        } else {
            t->i = (int64_t)((uint64_t)t->i + (uint64_t)bits);
        }
    }
    t->n++;
}

static int bits_of(const struct stk_batch_vec *v, uint32_t n)
{
    uint64_t all = 0;
    FOR_ROWS all |= (uint64_t)(v->i[k] ^ (v->i[k] >> 63));
    return all ? 64 - __builtin_clzll(all) : 0;
}

// All rows belong to one group, none is null, and no row is needed.
static void add_uniform(struct stk_batch_total *t, const struct stk_batch_sum *sum, uint32_t n,
                        const struct stk_batch_vec *v)
{
    bool real = sum->node->type == STK_BATCH_REAL;
    t->n += n;
    if (sum->kind == STK_SUM_COUNT) {
        return;
    }
    if (sum->kind == STK_SUM_LEAST && real) {
        FOR_ROWS t->r = v->r[k] < t->r ? v->r[k] : t->r;
    } else if (sum->kind == STK_SUM_LEAST) {
        FOR_ROWS t->i = v->i[k] < t->i ? v->i[k] : t->i;
    } else if (sum->kind == STK_SUM_GREATEST && real) {
        FOR_ROWS t->r = v->r[k] > t->r ? v->r[k] : t->r;
    } else if (sum->kind == STK_SUM_GREATEST) {
        FOR_ROWS t->i = v->i[k] > t->i ? v->i[k] : t->i;
    } else if (real) {
        double sums[8] = {0}; // the rounding of 128 additions each is left
        FOR_ROWS sums[k % 8] += v->r[k];
        for (int i = 0; i < 8; i++) {
            add_real(t, sums[i]);
        }
    } else {
        uint64_t all = 0;
        FOR_ROWS all += (uint64_t)v->i[k];
        t->i = (int64_t)((uint64_t)t->i + all);
    }
}

static void add_whole(struct stk_batch_total *totals, const uint32_t *group_of, uint32_t n,
                      const struct stk_batch_vec *v)
{
    FOR_ROWS
    {
        struct stk_batch_total *t = &totals[group_of[k]];
        t->n++;
        t->i = (int64_t)((uint64_t)t->i + (uint64_t)v->i[k]);
    }
}

static bool add_distinct(struct stk_batch_groups *g, uint32_t which, bool uniform, uint32_t n,
                         const struct stk_batch_vec *v)
{
    const struct stk_batch_node *node = g->plan->sums[which].node;
    FOR_ROWS
    {
        uint8_t null;
        int64_t value = key_at(node, v, k, &null);
        if (!null && !set_put(g->sets[which], value, g->group_of[uniform ? 0 : k])) {
            return false;
        }
    }
    return true;
}

static bool add_sum(struct stk_batch_groups *g, struct stk_batch_eval *e, uint32_t which,
                    const struct stk_batch *b, bool uniform)
{
    const struct stk_batch_sum *sum = &g->plan->sums[which];
    uint32_t n = b->rows;
    if (sum->kind == STK_SUM_ROWS) {
        return true;
    }
    const struct stk_batch_vec *v = stk_batch_eval(e, sum->node, b);
    bool adds =
        sum->kind == STK_SUM_SUM || sum->kind == STK_SUM_TOTAL || sum->kind == STK_SUM_AVERAGE;
    bool whole = sum->node->type != STK_BATCH_REAL;
    if (adds && whole) {
        int bits = bits_of(v, n);
        g->bits[which] = bits > g->bits[which] ? bits : g->bits[which];
    }
    if (sum->distinct) {
        return add_distinct(g, which, uniform, n, v);
    }
    if (!v->has_null && uniform && g->plan->row_of_sum != (int)which) {
        add_uniform(&g->totals[which][g->group_of[0]], sum, n, v);
    } else if (!v->has_null && adds && whole) {
        add_whole(g->totals[which], g->group_of, n, v);
    } else {
        FOR_ROWS
        {
            if (!v->has_null || !v->null[k]) {
                add_one(g, which, g->group_of[uniform ? 0 : k], v->i[k], ref_of(b, k));
            }
        }
    }
    return true;
}

bool stk_batch_groups_add(struct stk_batch_groups *g, struct stk_batch_eval *e,
                          const struct stk_batch *b)
{
    bool uniform;
    uint32_t n = b->rows;
    if (!find_groups(g, e, b, &uniform)) {
        return false;
    }
    if (uniform) {
        g->rows[g->group_of[0]] += n;
    } else {
        FOR_ROWS g->rows[g->group_of[k]]++;
    }
    if (g->plan->last_row && uniform) {
        g->refs[g->group_of[0]] = ref_of(b, n - 1);
    } else if (g->plan->last_row) {
        FOR_ROWS g->refs[g->group_of[k]] = ref_of(b, k);
    }
    for (uint32_t i = 0; i < g->plan->sum_count; i++) {
        if (!add_sum(g, e, i, b, uniform)) {
            return false;
        }
    }
    return true;
}

static void merge_total(struct stk_batch_groups *g, uint32_t which, uint32_t group,
                        const struct stk_batch_total *from, struct stk_batch_ref ref)
{
    const struct stk_batch_sum *sum = &g->plan->sums[which];
    struct stk_batch_total *t = &g->totals[which][group];
    if (from->n == 0) {
        return;
    }
    if (sum->kind == STK_SUM_LEAST || sum->kind == STK_SUM_GREATEST) {
        if (is_better(sum, from, t)) {
            t->i = from->i;
            if (g->plan->row_of_sum == (int)which) {
                g->refs[group] = ref;
            }
        }
    } else if (sum->kind != STK_SUM_COUNT && sum->kind != STK_SUM_ROWS) {
        if (sum->node->type == STK_BATCH_REAL) {
            add_real(t, from->r);
            t->low += from->low;
        } else {
            t->i = (int64_t)((uint64_t)t->i + (uint64_t)from->i);
        }
    }
    t->n += from->n;
}

bool stk_batch_groups_merge(struct stk_batch_groups *g, const struct stk_batch_groups *from)
{
    uint32_t keys = g->plan->key_count;
    uint32_t *group_of = stk_alloc_array(from->count + 1, sizeof *group_of);
    bool ok = group_of != NULL;
    for (size_t i = 0; ok && i < from->count; i++) {
        uint32_t group =
            groups_find(g, from->keys + i * keys, from->nulls + i * keys, from->refs[i]);
        ok = group != STK_NONE;
        if (!ok) {
            break;
        }
        group_of[i] = group;
        g->rows[group] += from->rows[i];
        if (g->plan->last_row) {
            g->refs[group] = from->refs[i];
        }
        for (uint32_t s = 0; s < g->plan->sum_count; s++) {
            merge_total(g, s, group, &from->totals[s][i], from->refs[i]);
        }
    }
    for (uint32_t s = 0; ok && s < g->plan->sum_count; s++) {
        g->bits[s] = from->bits[s] > g->bits[s] ? from->bits[s] : g->bits[s];
        for (size_t i = 0; ok && from->sets[s] && i < from->sets[s]->entries.count; i++) {
            const struct entry *x = stk_vec_at(&from->sets[s]->entries, i);
            ok = set_put(g->sets[s], x->value, group_of[x->group]);
        }
    }
    stk_free(group_of);
    return ok;
}

static int order_of(const struct stk_batch_groups *g, uint32_t x, uint32_t y)
{
    uint32_t count = g->plan->key_count;
    for (uint32_t i = 0; i < count; i++) {
        size_t a = (size_t)x * count + i, b = (size_t)y * count + i;
        if (g->nulls[a] != g->nulls[b]) {
            return g->nulls[b] - g->nulls[a];
        }
        if (g->keys[a] == g->keys[b]) {
            continue;
        }
        enum stk_batch_type type = g->plan->keys[i]->type;
        if (type == STK_BATCH_TEXT) {
            struct stk_str s = stk_batch_text(g->plan, g->keys[a]);
            struct stk_str t = stk_batch_text(g->plan, g->keys[b]);
            int order = memcmp(s.p, t.p, s.n < t.n ? s.n : t.n);
            return order ? order : s.n < t.n ? -1 : 1;
        }
        double real[2];
        memcpy(&real[0], &g->keys[a], sizeof real[0]);
        memcpy(&real[1], &g->keys[b], sizeof real[1]);
        if (type == STK_BATCH_REAL ? real[0] < real[1] : g->keys[a] < g->keys[b]) {
            return -1;
        }
        return 1;
    }
    return 0;
}

// Merge sort, from runs of one up.
static bool sort_groups(struct stk_batch_groups *g)
{
    uint32_t *from = g->order, *to = stk_alloc_array(g->count + 1, sizeof *to), *other = to;
    size_t n = g->count;
    if (!to) {
        return false;
    }
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t mid = low + width < n ? low + width : n;
            size_t end = mid + width < n ? mid + width : n, a = low, b = mid;
            for (size_t k = low; k < end; k++) {
                to[k] = b == end || (a < mid && order_of(g, from[a], from[b]) <= 0) ? from[a++]
                                                                                    : from[b++];
            }
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != g->order) {
        memcpy(g->order, from, n * sizeof *from);
    }
    stk_free(other);
    return true;
}

// Whether a sum of n numbers of this many bits stays within 63.
static bool groups_fits(int64_t n, int bits)
{
    return bits + (64 - __builtin_clzll((uint64_t)n | 1)) <= 63;
}

bool stk_batch_groups_finish(struct stk_batch_groups *g)
{
    static const struct stk_batch_ref none = {0, 0, STK_NONE};
    int64_t key = 0;
    uint8_t null = 0;
    if (!g->plan->grouped && g->count == 0 && new_group(g, &key, &null, none) == STK_NONE) {
        return false;
    }
    for (uint32_t s = 0; s < g->plan->sum_count; s++) {
        for (size_t i = 0; g->sets[s] && i < g->sets[s]->entries.count; i++) {
            const struct entry *x = stk_vec_at(&g->sets[s]->entries, i);
            add_one(g, s, x->group, x->value, none);
        }
        for (size_t i = 0; i < g->count; i++) {
            if (!groups_fits(g->totals[s][i].n, g->bits[s]) ||
                (g->plan->sums[s].may_be_whole && g->totals[s + 1][i].n == 0 &&
                 !(fabs(g->totals[s][i].r) < EXACT_MAX))) {
                return false;
            }
        }
    }
    g->order = stk_alloc_array(g->count + 1, sizeof *g->order);
    for (size_t i = 0; g->order && i < g->count; i++) {
        g->order[i] = (uint32_t)i;
    }
    return g->order && (!g->plan->sorted || sort_groups(g));
}

static void groups_put(const struct stk_batch_groups *g, enum stk_batch_type type, int64_t bits,
                       struct stk_query_value *out)
{
    if (type == STK_BATCH_TEXT) {
        out->kind = STK_VALUE_TEXT;
        out->text = stk_batch_text(g->plan, bits);
    } else if (type == STK_BATCH_REAL) {
        out->kind = STK_VALUE_REAL;
        memcpy(&out->real, &bits, sizeof bits);
    } else {
        out->kind = STK_VALUE_INT;
        out->number = bits;
    }
}

void stk_batch_groups_key(const struct stk_batch_groups *g, size_t group, uint32_t key,
                          struct stk_query_value *out)
{
    STK_ASSERT(group < g->count);
    size_t at = group * g->plan->key_count + key;
    out->kind = STK_VALUE_NULL;
    if (!g->nulls[at]) {
        groups_put(g, g->plan->keys[key]->type, g->keys[at], out);
    }
}

void stk_batch_groups_sum(const struct stk_batch_groups *g, size_t group, uint32_t which,
                          struct stk_query_value *out)
{
    STK_ASSERT(group < g->count);
    const struct stk_batch_sum *sum = &g->plan->sums[which];
    const struct stk_batch_total *t = &g->totals[which][group];
    *out = (struct stk_query_value){.kind = STK_VALUE_NULL};
    if (sum->kind == STK_SUM_ROWS || sum->kind == STK_SUM_COUNT) {
        *out = (struct stk_query_value){STK_VALUE_INT,
                                        {sum->kind == STK_SUM_ROWS ? g->rows[group] : t->n}};
        return;
    }
    if (t->n == 0 && sum->kind != STK_SUM_TOTAL) {
        return;
    }
    if (sum->kind == STK_SUM_LEAST || sum->kind == STK_SUM_GREATEST) {
        groups_put(g, sum->node->type, t->i, out);
        return;
    }
    bool real = sum->node->type == STK_BATCH_REAL;
    if (sum->kind == STK_SUM_SUM && !real) {
        groups_put(g, STK_BATCH_INT, t->i, out);
        return;
    }
    if (sum->may_be_whole && g->totals[which + 1][group].n == 0) {
        groups_put(g, STK_BATCH_INT, (int64_t)(t->r + t->low), out);
        return;
    }
    double all = !real ? (double)t->i : isfinite(t->low) ? t->r + t->low : t->r;
    out->kind = STK_VALUE_REAL;
    out->real = t->n == 0 ? 0 : sum->kind == STK_SUM_AVERAGE ? all / (double)t->n : all;
    if (out->real != out->real) {
        out->kind = STK_VALUE_NULL;
    }
}
