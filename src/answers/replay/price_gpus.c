// SPDX-License-Identifier: Apache-2.0
// The same step on another number of GPUs, with the same batch for each.
//
// Method: a reduction over n ranks moves 2 (n - 1) / n of its bytes through each. Beyond the eight
// GPUs of one host, the network is slower than the links within a host, by a factor per level. The
// fixed part grows by the added hops: 2 (n - 1) within a host, 2 log2 of the hosts between them,
// each some microseconds, as collective libraries estimate. A step then waits for the slowest of n:
// the expected maximum of n values with the deviation of this profile's steps.
//
// Limits: with one GPU there is no reduction, so its time is unknown; input, host and storage are
// assumed to grow with the GPUs; the actual links are unknown.
#include <math.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "answers/replay/price_messages.h"

#define HOST_GPUS 8
#define MOST 65536

static const double slower_net[STK_PRICE_LEVELS] = {1, 2, 6};
static const double hop_ns[STK_PRICE_LEVELS] = {600, 3000, 5700};
static const double net_hop_ns[STK_PRICE_LEVELS] = {5000, 9000, 20000};
static const double waits[STK_PRICE_LEVELS] = {0, 0.5,
                                               1}; // of the steps' deviation: caused by work

static const char *gpus_refuse(const struct stk_graph *g)
{
    const char *why = stk_message_refuse(g);
    return why                 ? why
           : g->group_size < 2 ? "the profile doesn't say how many ranks its collectives join"
                               : NULL;
}

static const char *gpus_refuse_value(const struct stk_graph *g, const struct stk_price_how *how)
{
    (void)g;
    return how->value < 1 || how->value != floor(how->value) || how->value > MOST
               ? "the number of GPUs is a whole number from 1 to 65536"
               : NULL;
}

// Expected maximum of n normal deviates.
static double greatest(double n)
{
    if (n < 3) {
        return n < 2 ? 0 : 0.56;
    }
    double l = log(n), root = sqrt(2 * l);
    return root - (log(l) + log(12.566)) / (2 * root) + 0.577 / root;
}

static double hops(double n, enum stk_price_level level)
{
    STK_ASSERT(n >= 1 && (unsigned)level < STK_PRICE_LEVELS);
    double within = n < HOST_GPUS ? n : HOST_GPUS, hosts = ceil(n / HOST_GPUS);
    return 2 * (within - 1) * hop_ns[level] + 2 * ceil(log2(hosts)) * net_hop_ns[level];
}

static int compare(const void *x, const void *y)
{
    const double *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

// Deviation of the steps by their quartiles, so that a rare long one doesn't count. Uses steps on
// the device: a host that runs ahead begins them as the queue lets it. False: no memory.
static bool deviation(const struct stk_graph *g, double *out)
{
    struct stk_times t;
    double *ns = stk_alloc_array((size_t)g->step_count + 1, sizeof *ns);
    int64_t *borders = stk_alloc_array((size_t)g->step_count + 1, sizeof *borders);
    bool ok = ns && borders && stk_times_init(&t, g);
    uint32_t n = 0;
    *out = 0;
    if (ok) {
        stk_replay_recorded(g, &t);
        stk_replay_steps(g, g->nodes, &t, borders);
        for (uint32_t k = 0; k < g->step_count; k++) {
            if (g->steps[k].used) {
                ns[n++] = (double)(borders[k + 1] - borders[k]);
            }
        }
        stk_times_deinit(&t);
    }
    if (n >= 4) {
        stk_sort(ns, n, sizeof *ns, compare);
        *out = (ns[n - 1 - n / 4] - ns[n / 4]) / 1.349;
    }
    stk_free(borders);
    stk_free(ns);
    return ok;
}

static bool gpus_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const struct stk_graph *g = s->g;
    double n = (double)g->group_size, to = how->value;
    struct stk_message_fit f = stk_message_fit(g, STK_PRICE_EXPECTED);
    double hops_ns = hops(to, how->level) - hops(n, how->level);
    double fixed_ns = f.fixed_ns + hops_ns > 0 ? f.fixed_ns + hops_ns : 0;
    bool leaves_host = to > HOST_GPUS && n <= HOST_GPUS;
    double moved = (to - 1) / to / ((n - 1) / n) * (leaves_host ? slower_net[how->level] : 1);
    for (uint32_t i = 0; i < g->message_count; i++) {
        struct stk_node *c = &s->nodes[g->messages[i].node];
        double bytes = (double)g->messages[i].bytes, was = stk_message_ns(&f, bytes);
        double will = to < 2 ? 0 : fixed_ns + f.byte_ns * bytes * moved;
        c->dur_ns = was > 0 ? stk_price_scaled(c->dur_ns, will / was) : c->dur_ns;
    }
    double more = greatest(to) - greatest(n);
    if (how->level == STK_PRICE_HIGH && to > n &&
        to <= HOST_GPUS) { // they share a host's processors
        s->floor_ns = stk_price_drop_pace(s) * to / n;
    }
    double step_ns;
    bool ok = deviation(g, &step_ns);
    s->extra_ns += waits[how->level] * step_ns * more;
    return ok;
}

const struct stk_price_row stk_price_gpus = {
    .id = "gpus=",
    .value = "8",
    .what = "use this many GPUs, with the same batch for each",
    .assumes = "hosts have eight GPUs; input and CPUs grow with them",
    .is_priced_alone = false,
    .may_slow = true,
    .refuse = gpus_refuse,
    .refuse_value = gpus_refuse_value,
    .apply = gpus_apply,
};
