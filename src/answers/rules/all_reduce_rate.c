// SPDX-License-Identifier: Apache-2.0
// The rate of all-reduces (all_reduce_rate.h).
//
// Method: all-reduces of one size in one size of group are a class. A class's time is the lower
// quartile, minus the waiting for other ranks if it is recorded, so late ranks don't count against
// the link. The link's rate is that of the best class of 1 MB or more. If all devices of the group
// are in one host and their links are known, it is at least three quarters of the links' rate. A
// collective loses its time beyond its bytes at that rate, unless compute overlaps it. One pass
// counts the classes, one stores their times, one sums the losses: nothing is sorted. Limits: if
// all messages have one size and the links aren't known, they are their own bound. The algorithm is
// assumed to be one whose slowest link carries 2 (n - 1) / n of the bytes.
#include "answers/rules/all_reduce_rate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "profile/model/collectives/collective_sizes.h"
#include "profile/model/device/device_rates.h"
#include "profile/model/median.h"
#include "evidence_says.h"

#define HOST_DEVICES 8 // largest group within a host
#define KNOWN 0.5      // at least this share of all-reduces must have a size
#define GROUPS_MAX ((size_t)1 << 24)
#define FLAT 0.8 // of the link's rate: a startup cost shows at half the size

// All-reduces of one size and number of ranks.
struct group {
    int64_t bytes, group_size;
    uint32_t count;
    int64_t *ns;      // each one's time without waiting
    int64_t above_ns; // most that one of them loses
    int64_t lost_ns;  // the loss of all of them
};

// A pass over the collectives of all ranks.
struct walk {
    const struct stk_run_sum *run;
    struct stk_map ids;    // (bytes, group_size) -> index in `groups`
    struct stk_vec groups; // struct group, in the order of first occurrence
    struct stk_vec of;     // uint32_t, scratch: by class of a rank, the group; STK_NONE
    uint32_t all_reduces;
    void (*see)(struct group *g, int64_t ns, int64_t exposed_ns);
};

static bool is_used(const struct stk_rank_sum *rank, const struct stk_collective *c)
{
    STK_ASSERT(c->step == STK_NONE || rank->step_count == 0 || c->step < rank->step_count);
    return rank->step_count == 0 || (c->step != STK_NONE && !rank->steps[c->step].excluded);
}

STK_ORDER(by_size, struct group, STK_UP(bytes) STK_UP(group_size))

STK_ORDER(compare_classes, struct stk_all_reduce_class, STK_DOWN(lost_ns))

static bool find_group(struct walk *w, const struct stk_collective_class *class, uint32_t *id)
{
    int created = 0;
    bool is_sized =
        class->kind == STK_COLLECTIVE_ALL_REDUCE && class->bytes > 0 && class->group_size > 1;
    uint32_t *at = is_sized
                       ? stk_map_put(&w->ids, (uint64_t)class->bytes, (uint64_t)class->group_size,
                                     (uint32_t)w->groups.count, &created)
                       : NULL;
    struct group *g = created ? stk_vec_push(&w->groups) : NULL;
    if (g) {
        *g = (struct group){.bytes = class->bytes, .group_size = class->group_size};
    }
    *id = at ? *at : STK_NONE;
    return !is_sized || (at && (g || !created));
}

static bool find_groups(struct walk *w, const struct stk_rank_sum *rank)
{
    bool ok = true;
    w->of.count = 0;
    for (uint32_t k = 0; ok && k < rank->collective_class_count; k++) {
        uint32_t *id = stk_vec_push(&w->of);
        ok = id && find_group(w, &rank->collective_classes[k], id);
    }
    return ok;
}

static void walk_rank(struct walk *w, const struct stk_rank_sum *rank)
{
    const uint32_t *of = w->of.items;
    struct group *groups = w->groups.items;
    for (uint32_t i = 0; i < rank->collective_count; i++) {
        const struct stk_collective *c = &rank->collectives[i];
        uint32_t class = stk_collective_class_index(c);
        if (rank->collective_classes[class].kind != STK_COLLECTIVE_ALL_REDUCE ||
            !is_used(rank, c)) {
            continue;
        }
        w->all_reduces++;
        int64_t wait_ns = stk_collective_wait_ns(rank, c), exposed_ns = c->exposed_ns - wait_ns;
        if (of[class] != STK_NONE && c->dur_ns > wait_ns) {
            w->see(&groups[of[class]], c->dur_ns - wait_ns, exposed_ns > 0 ? exposed_ns : 0);
        }
    }
}

// False: no memory.
static bool walk_all(struct walk *w, void (*see)(struct group *, int64_t, int64_t))
{
    bool ok = true;
    w->see = see;
    w->all_reduces = 0;
    for (uint32_t r = 0; ok && r < w->run->rank_count; r++) {
        ok = find_groups(w, w->run->ranks[r]);
        if (ok) {
            walk_rank(w, w->run->ranks[r]);
        }
    }
    return ok;
}

static void count_one(struct group *g, int64_t ns, int64_t exposed_ns)
{
    (void)ns;
    (void)exposed_ns;
    g->count++;
}

static void keep_one(struct group *g, int64_t ns, int64_t exposed_ns)
{
    (void)exposed_ns;
    g->ns[g->count++] = ns;
}

static void lose_one(struct group *g, int64_t ns, int64_t exposed_ns)
{
    (void)ns;
    g->lost_ns = stk_add_ns(g->lost_ns, exposed_ns < g->above_ns ? exposed_ns : g->above_ns);
}

// Are all devices that communicate with each other in one host?
static bool is_one_host(const struct stk_run_sum *run, int64_t group_size)
{
    if (group_size > HOST_DEVICES) {
        return false;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        uint32_t devices = 0;
        for (uint32_t d = 0; d < run->ranks[r]->device_count; d++) {
            devices += run->ranks[r]->devices[d].communication_ns > 0;
        }
        const char *host = run->ranks[r]->host, *first = run->ranks[0]->host;
        bool beside = host && first && *host && strcmp(host, first) == 0;
        if ((int64_t)devices < group_size &&
            !(beside && run->rank_count > 1 && (int64_t)run->rank_count >= group_size)) {
            return false;
        }
    }
    return true;
}

static double peer_link(const struct stk_run_sum *run)
{
    const struct stk_device_limits none = {0};
    double least = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        const char *name = run->devices[d].name;
        struct stk_device_rates r = stk_device_rates_of(stk_str_from(name ? name : ""), &none);
        if (run->devices[d].communication_ns > 0 && (least <= 0 || r.peer_link < least)) {
            least = r.peer_link;
        }
    }
    return STK_LINK_REACHED * least;
}

static double bus_bytes(int64_t bytes, int64_t group_size)
{
    return (double)bytes * stk_collective_bus_factor(STK_COLLECTIVE_ALL_REDUCE, group_size);
}

// The best class of large messages sets the link's rate.
static void add_class(struct stk_all_reduce_rate *out, const struct group *g)
{
    STK_ASSERT(g->count > 0 && out->class_count <= STK_ALL_REDUCE_CLASSES);
    if (out->class_count == STK_ALL_REDUCE_CLASSES) {
        out->left_out += g->count;
        return;
    }
    struct stk_all_reduce_class *c = &out->classes[out->class_count++];
    *c = (struct stk_all_reduce_class){.bytes = g->bytes,
                                       .group_size = g->group_size,
                                       .count = g->count,
                                       .each_ns = stk_nth_value(g->ns, g->count, g->count / 4)};
    c->bus_rate = bus_bytes(c->bytes, c->group_size) * 1e9 / (double)c->each_ns;
    if (c->bytes >= STK_COLLECTIVE_LARGE_BYTES && c->bus_rate > out->link) {
        out->link = c->bus_rate;
        out->link_bytes = c->bytes;
    }
}

static struct group *group_of(struct walk *w, const struct stk_all_reduce_class *c)
{
    const uint32_t *at = stk_map_get(&w->ids, (uint64_t)c->bytes, (uint64_t)c->group_size);
    STK_ASSERT(at);
    return stk_vec_at(&w->groups, *at);
}

// Makes room for the times of all groups, and stores them. False: no memory.
static bool keep_times(struct walk *w, int64_t **ns, uint32_t sized)
{
    int64_t *at = *ns = stk_alloc_array((size_t)sized + 1, sizeof **ns);
    for (size_t i = 0; at && i < w->groups.count; i++) {
        struct group *g = stk_vec_at(&w->groups, i);
        g->ns = at;
        at += g->count;
        g->count = 0;
    }
    return *ns && walk_all(w, keep_one);
}

// Computes each class's loss against the link. False: no memory.
static bool lose(struct walk *w, struct stk_all_reduce_rate *out)
{
    for (uint32_t k = 0; k < out->class_count; k++) {
        struct stk_all_reduce_class *c = &out->classes[k];
        double ideal_ns = bus_bytes(c->bytes, c->group_size) * 1e9 / out->link;
        int64_t above_ns = c->each_ns - (int64_t)ideal_ns;
        struct group *g = group_of(w, c);
        g->above_ns = above_ns > 0 ? above_ns : 0;
    }
    bool ok = walk_all(w, lose_one);
    for (uint32_t k = 0; ok && k < out->class_count; k++) {
        struct stk_all_reduce_class *c = &out->classes[k];
        c->lost_ns = group_of(w, c)->lost_ns;
        out->lost_ns = stk_add_ns(out->lost_ns, c->lost_ns);
        bool is_small = c->bytes < STK_COLLECTIVE_LARGE_BYTES;
        out->small_ns = stk_add_ns(out->small_ns, is_small ? c->lost_ns : 0);
    }
    return ok;
}

// The classes by size; the link. False: no memory.
static bool find_classes(struct walk *w, struct stk_all_reduce_rate *out)
{
    int64_t most_ranks = 0;
    size_t n = w->groups.count;
    struct group *sorted = stk_alloc_array(n + 1, sizeof *sorted);
    if (!sorted) {
        return false;
    }
    memcpy(sorted, w->groups.items, n * sizeof *sorted);
    stk_sort(sorted, n, sizeof *sorted, by_size);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i].count > 0) {
            add_class(out, &sorted[i]);
            most_ranks = sorted[i].group_size > most_ranks ? sorted[i].group_size : most_ranks;
        }
    }
    stk_free(sorted);
    out->peer_link = peer_link(w->run);
    if (is_one_host(w->run, most_ranks) && out->peer_link > out->link) {
        out->link = out->peer_link;
        out->link_bytes = 0;
    }
    return true;
}

// False: no memory.
static bool compare(struct walk *w, struct stk_all_reduce_rate *out)
{
    double bytes = 0, ns = 0;
    if (!find_classes(w, out)) {
        return false;
    }
    if (out->link <= 0) {
        out->why_not = "no all-reduce is large enough to show the link's rate";
        return true;
    }
    for (uint32_t k = 0; k < out->class_count; k++) {
        const struct stk_all_reduce_class *c = &out->classes[k];
        out->is_flat |= 2 * c->bytes <= out->link_bytes && c->bytes >= STK_COLLECTIVE_LARGE_BYTES &&
                        c->bus_rate >= FLAT * out->link;
        bytes += (double)c->count * bus_bytes(c->bytes, c->group_size);
        ns += (double)c->count * (double)c->each_ns;
    }
    out->rate = bytes * 1e9 / ns;
    bool ok = lose(w, out);
    stk_sort(out->classes, out->class_count, sizeof *out->classes, compare_classes);
    return ok;
}

static bool find(struct walk *w, struct stk_all_reduce_rate *out, int64_t **ns)
{
    if (!walk_all(w, count_one)) {
        return false;
    }
    out->count = w->all_reduces;
    for (size_t i = 0; i < w->groups.count; i++) {
        out->sized += ((const struct group *)stk_vec_at(&w->groups, i))->count;
    }
    if (out->count == 0) {
        out->why_not = "no all-reduce runs on a GPU in the used steps";
    } else if ((double)out->sized < KNOWN * out->count) {
        out->why_not =
            "the profile doesn't say how many bytes its all-reduces move, or among how many ranks";
    }
    return out->why_not || (keep_times(w, ns, out->sized) && compare(w, out));
}

void stk_all_reduce_rate_find(const struct stk_rule_ctx *ctx, struct stk_all_reduce_rate *out)
{
    struct walk w = {.run = ctx->pass.run};
    int64_t *ns = NULL;
    *out = (struct stk_all_reduce_rate){0};
    stk_map_init(&w.ids, GROUPS_MAX);
    stk_vec_init(&w.groups, sizeof(struct group), GROUPS_MAX);
    stk_vec_init(&w.of, sizeof(uint32_t), GROUPS_MAX);
    if (!find(&w, out, &ns)) {
        *out = (struct stk_all_reduce_rate){.why_not = "out of memory"};
    }
    stk_free(ns);
    stk_map_deinit(&w.ids);
    stk_vec_deinit(&w.groups);
    stk_vec_deinit(&w.of);
}

bool stk_all_reduce_is_slow(const struct stk_rule_ctx *ctx, const struct stk_all_reduce_rate *r)
{
    return !r->why_not && r->rate < STK_ALL_REDUCE_NEAR * r->link &&
           stk_all_reduce_lost_share(ctx, r) >= STK_ALL_REDUCE_LOST;
}

bool stk_all_reduce_is_at_bound(const struct stk_all_reduce_rate *r)
{
    return !r->why_not && r->rate >= STK_ALL_REDUCE_NEAR * r->link &&
           (r->is_flat || r->link_bytes == 0);
}

bool stk_all_reduce_say_way(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                            const struct stk_all_reduce_rate *r)
{
    if (r->why_not || r->link_bytes == 0 || r->link >= r->peer_link / 2) {
        return false;
    }
    stk_say_all_reduce_other_way(ctx, f, r->peer_link);
    return true;
}
