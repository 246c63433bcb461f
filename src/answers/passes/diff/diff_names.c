// SPDX-License-Identifier: Apache-2.0
// Kernels and operations of both sides, matched by name: slower, faster, new and removed ones.
// Times are per step and device, those of host operations per step and rank.
// Method: one map of names; linear, then sorted.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "answers/passes/diff/diff_impl.h"

#define MAX_NAMES (1u << 22)

struct entry {
    const char *name;
    const char *placement; // of operations
    int64_t ns[2];
    uint64_t count[2];
};
struct names {
    struct stk_map map;
    struct stk_vec rows; // struct entry
};

static bool names_add(struct names *n, int side, const char *name, const char *placement,
                      int64_t ns, uint64_t count)
{
    uint64_t kind = !placement ? 0 : (uint64_t)(unsigned char)placement[0];
    int created = 0;
    uint32_t *at = stk_map_put(&n->map, stk_hash_table_bytes(name, strlen(name)), kind,
                               (uint32_t)n->rows.count, &created);
    if (!at) {
        return false;
    }
    struct entry *e = created ? stk_vec_push(&n->rows) : stk_vec_at(&n->rows, *at);
    if (!e) {
        return false;
    }
    if (created) {
        *e = (struct entry){.name = name, .placement = placement};
    }
    e->ns[side] += ns;
    e->count[side] += count;
    return true;
}

static bool add_side(struct names *kernels, struct names *ops, int side,
                     const struct stk_run_sum *run)
{
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_diff_partial *p = run->ranks[r]->partial;
        for (uint32_t i = 0; p && i < p->kernels->row_count; i++) {
            const struct stk_kernel_row *k = &p->kernels->rows[i];
            if (!names_add(kernels, side, k->name, NULL, k->total_ns, k->count)) {
                return false;
            }
        }
        for (size_t i = 0; p && i < p->ops->count; i++) {
            const struct stk_op_row *o = &p->ops->rows[i];
            if (!names_add(ops, side, o->name, o->on_device ? "device" : "host", o->self_ns,
                           o->count)) {
                return false;
            }
        }
    }
    return true;
}

static int64_t distance(const struct stk_diff_name *n)
{
    return n->change_ns < 0 ? -n->change_ns : n->change_ns;
}

static int by_change(const void *pa, const void *pb)
{
    const struct stk_diff_name *a = pa, *b = pb;
    if (distance(a) != distance(b)) {
        return distance(a) > distance(b) ? -1 : 1;
    }
    int order = strcmp(a->name, b->name);
    return order || !a->placement ? order : strcmp(a->placement, b->placement);
}

static void names_fill(struct stk_diff_work *w, const struct entry *e, struct stk_diff_name *out)
{
    int64_t ns[2];
    double count[2];
    for (int side = 0; side < 2; side++) {
        const struct stk_diff_steps *s = &w->steps[side];
        bool host = e->placement && strcmp(e->placement, "host") == 0;
        uint64_t n = host ? s->host_steps : s->windows;
        ns[side] = n ? e->ns[side] / (int64_t)n : 0;
        count[side] = n ? (double)e->count[side] / (double)n : 0;
    }
    double step = (double)w->steps[0].sample.median_ns;
    *out = (struct stk_diff_name){
        .name = e->name,
        .placement = e->placement,
        .in_a = e->count[0] > 0,
        .in_b = e->count[1] > 0,
        .a_ns = ns[0],
        .b_ns = ns[1],
        .change_ns = ns[1] - ns[0],
        .a_count = count[0],
        .b_count = count[1],
        .change_share = step > 0 ? (double)(ns[1] - ns[0]) / step : 0,
    };
    out->state = out->in_a && out->in_b ? "both" : out->in_b ? "new" : "gone";
}

static bool names_list(struct stk_diff_work *w, const struct names *n, struct stk_list *out)
{
    struct stk_diff_name *rows = stk_arena_array(w->arena, n->rows.count + 1, sizeof *rows);
    if (!rows) {
        return false;
    }
    for (size_t i = 0; i < n->rows.count; i++) {
        names_fill(w, stk_vec_at(&n->rows, i), &rows[i]);
    }
    stk_sort(rows, n->rows.count, sizeof *rows, by_change);
    size_t shown = w->limit && w->limit < n->rows.count ? (size_t)w->limit : n->rows.count;
    *out = (struct stk_list){.items = rows, .count = shown, .left_out = n->rows.count - shown};
    return true;
}

// The share of a side's time in names that the other side also has; of operations, only those on
// the host.
static double shared(const struct names *n, int side)
{
    double both = 0, all = 0;
    for (size_t i = 0; i < n->rows.count; i++) {
        const struct entry *e = stk_vec_at(&n->rows, i);
        if (e->placement && strcmp(e->placement, "host") != 0) {
            continue;
        }
        all += (double)e->ns[side];
        both += e->count[0] && e->count[1] ? (double)e->ns[side] : 0;
    }
    return all > 0 ? both / all : -1;
}

static void measure_overlap(struct stk_diff_work *w, const struct names *kernels,
                            const struct names *ops)
{
    double ka = shared(kernels, 0), kb = shared(kernels, 1);
    double oa = shared(ops, 0), ob = shared(ops, 1);
    w->overlap.kernels_least = ka < 0 || kb < 0 ? -1 : ka < kb ? ka : kb;
    w->overlap.kernels_most = ka < 0 || kb < 0 ? -1 : ka > kb ? ka : kb;
    w->overlap.ops_most = oa < 0 || ob < 0 ? -1 : oa > ob ? oa : ob;
}

static void names_init(struct names *n)
{
    stk_map_init(&n->map, MAX_NAMES);
    stk_vec_init(&n->rows, sizeof(struct entry), MAX_NAMES);
}

static void names_deinit(struct names *n)
{
    stk_map_deinit(&n->map);
    stk_vec_deinit(&n->rows);
}

bool stk_diff_names_make(struct stk_diff_work *w)
{
    struct names kernels, ops;
    bool ok = true;
    names_init(&kernels);
    names_init(&ops);
    for (int side = 0; side < 2 && ok; side++) {
        ok = add_side(&kernels, &ops, side, w->in[side]->pass->run);
    }
    ok = ok && names_list(w, &kernels, &w->out->kernels) && names_list(w, &ops, &w->out->ops);
    if (ok) {
        measure_overlap(w, &kernels, &ops);
    }
    names_deinit(&kernels);
    names_deinit(&ops);
    return ok;
}
