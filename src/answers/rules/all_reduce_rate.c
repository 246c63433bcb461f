// SPDX-License-Identifier: Apache-2.0
// The rate of all-reduces (all_reduce_rate.h).
//
// Method: those of one size in one size of group are a class. What one takes is the lower quartile
// of its class, less the waiting for other ranks where these are recorded, so that late ranks do
// not count against the link. The link's rate is that of the best class of 1 MB or more; if all
// devices of the group are in one host and their links are known, at least three quarters of these.
// A collective loses the time above its bytes at that rate, unless compute overlaps it.
// Limits: if all messages have one size and the links aren't known, they are their own bound. The
// algorithm is assumed to be one whose slowest link carries 2 (n - 1) / n of the bytes.
#include "answers/rules/all_reduce_rate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/collectives/collective_sizes.h"
#include "profile/model/device/device_rates.h"
#include "evidence_says.h"

#define HOST_DEVICES 8 // of a group within a host, at most
#define KNOWN 0.5      // of all-reduces, at least so many must have a size
#define FLAT 0.8       // of the link's rate: a start that costs shows in half the size

struct sample {
    int64_t bytes, group_size, ns, exposed_ns;
};

static bool is_used(const struct stk_rank_sum *rank, const struct stk_collective *c)
{
    STK_ASSERT(c->step == STK_NONE || rank->step_count == 0 || c->step < rank->step_count);
    return rank->step_count == 0 || (c->step != STK_NONE && !rank->steps[c->step].excluded);
}

STK_ORDER(compare_samples, struct sample, STK_UP(bytes) STK_UP(group_size) STK_UP(ns))

STK_ORDER(compare_classes, struct stk_all_reduce_class, STK_DOWN(lost_ns))

static size_t collect(const struct stk_run_sum *run, struct stk_all_reduce_rate *out,
                      struct sample *v)
{
    size_t n = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        for (uint32_t i = 0; i < rank->collective_count; i++) {
            const struct stk_collective *c = &rank->collectives[i];
            const struct stk_collective_class *class = stk_collective_class_of(rank, c);
            int64_t wait_ns = stk_collective_wait_ns(rank, c);
            if (class->kind != STK_COLLECTIVE_ALL_REDUCE || !is_used(rank, c)) {
                continue;
            }
            out->count++;
            if (class->bytes > 0 && class->group_size > 1 && c->dur_ns > wait_ns) {
                int64_t exposed_ns = c->exposed_ns - wait_ns;
                v[n++] = (struct sample){class->bytes, class->group_size, c->dur_ns - wait_ns,
                                         exposed_ns > 0 ? exposed_ns : 0};
            }
        }
    }
    return n;
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

// A class of samples [0, n): the best one of large messages sets the link's rate.
static void add_class(struct stk_all_reduce_rate *out, const struct sample *v, size_t n)
{
    STK_ASSERT(n > 0 && out->class_count <= STK_ALL_REDUCE_CLASSES);
    if (out->class_count == STK_ALL_REDUCE_CLASSES) {
        out->left_out += (uint32_t)n;
        return;
    }
    struct stk_all_reduce_class *c = &out->classes[out->class_count++];
    *c = (struct stk_all_reduce_class){.bytes = v->bytes,
                                       .group_size = v->group_size,
                                       .count = (uint32_t)n,
                                       .each_ns = v[n / 4].ns};
    c->bus_rate = bus_bytes(c->bytes, c->group_size) * 1e9 / (double)c->each_ns;
    if (c->bytes >= STK_COLLECTIVE_LARGE_BYTES && c->bus_rate > out->link) {
        out->link = c->bus_rate;
        out->link_bytes = c->bytes;
    }
}

// What the samples of a class lose against the link.
static void lose(struct stk_all_reduce_rate *out, struct stk_all_reduce_class *c,
                 const struct sample *v)
{
    STK_ASSERT(out->link > 0);
    double ideal_ns = bus_bytes(c->bytes, c->group_size) * 1e9 / out->link;
    int64_t above_ns = c->each_ns - (int64_t)ideal_ns;
    for (uint32_t i = 0; i < c->count && above_ns > 0; i++) {
        c->lost_ns =
            stk_add_ns(c->lost_ns, v[i].exposed_ns < above_ns ? v[i].exposed_ns : above_ns);
    }
    out->lost_ns = stk_add_ns(out->lost_ns, c->lost_ns);
    if (c->bytes < STK_COLLECTIVE_LARGE_BYTES) {
        out->small_ns = stk_add_ns(out->small_ns, c->lost_ns);
    }
}

static void compare(const struct stk_run_sum *run, struct stk_all_reduce_rate *out,
                    const struct sample *v, size_t n)
{
    int64_t most_ranks = 0;
    double bytes = 0, ns = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1;
             end < n && v[end].bytes == v[i].bytes && v[end].group_size == v[i].group_size; end++) {
        }
        add_class(out, v + i, end - i);
        most_ranks = v[i].group_size > most_ranks ? v[i].group_size : most_ranks;
    }
    out->peer_link = peer_link(run);
    if (is_one_host(run, most_ranks) && out->peer_link > out->link) {
        out->link = out->peer_link;
        out->link_bytes = 0;
    }
    if (out->link <= 0) {
        out->why_not = "no all-reduce is large enough to show the link's rate";
        return;
    }
    for (uint32_t k = 0; k < out->class_count; k++) {
        struct stk_all_reduce_class *c = &out->classes[k];
        out->is_flat |= 2 * c->bytes <= out->link_bytes && c->bytes >= STK_COLLECTIVE_LARGE_BYTES &&
                        c->bus_rate >= FLAT * out->link;
        lose(out, c, v);
        v += c->count;
        bytes += (double)c->count * bus_bytes(c->bytes, c->group_size);
        ns += (double)c->count * (double)c->each_ns;
    }
    out->rate = bytes * 1e9 / ns;
    stk_sort(out->classes, out->class_count, sizeof *out->classes, compare_classes);
}

void stk_all_reduce_rate_find(const struct stk_rule_ctx *ctx, struct stk_all_reduce_rate *out)
{
    const struct stk_run_sum *run = ctx->pass.run;
    size_t most = 0;
    *out = (struct stk_all_reduce_rate){0};
    for (uint32_t r = 0; r < run->rank_count; r++) {
        most += run->ranks[r]->collective_count;
    }
    struct sample *v = stk_alloc_array(most + 1, sizeof *v);
    if (!v) {
        out->why_not = "out of memory";
        return;
    }
    size_t n = collect(run, out, v);
    out->sized = (uint32_t)n;
    if (out->count == 0) {
        out->why_not = "no all-reduce runs on a GPU in the used steps";
    } else if ((double)n < KNOWN * out->count) {
        out->why_not =
            "the profile doesn't say how many bytes its all-reduces move, or among how many ranks";
    } else {
        stk_sort(v, n, sizeof *v, compare_samples);
        compare(run, out, v, n);
    }
    stk_free(v);
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
