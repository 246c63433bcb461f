// SPDX-License-Identifier: Apache-2.0
// The fit (price_messages.h). For each size of collectives, takes the lower quartile, since a
// collective's time includes waiting for late ranks. Then fits a line through these classes by
// least squares, weighted by their counts, with neither part below zero.
//
// Limits: with one class, or classes of nearly equal size, the fixed part follows from the rate
// that links between a host's devices reach, or is a prior. Sizes beyond MOST_CLASSES are left out.
#include "answers/replay/price_messages.h"

#include <math.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/collectives/collective_sizes.h"
#include "profile/model/median.h"

#define MOST_CLASSES 64
#define HOPS_NS 40e3 // least fixed part of a collective, if the profile doesn't show it
#define MOST_FIXED_NS 400e3
#define HOST_GPUS 8
#define FEW 20    // one in so many collectives is assumed not to have waited
#define APART 1.3 // ratio of sizes from which the fixed part can be derived

// If there is only one size: share of its time, and at most so much.
static const struct {
    double share, most_ns;
} prior[STK_PRICE_LEVELS] = {{0.6, 500e3}, {0.3, 40e3}, {0.1, 10e3}};
static const double doubt[STK_PRICE_LEVELS] = {1.25, 1, 0.75}; // of a fitted fixed part

struct sample {
    int64_t bytes, ns;
};

STK_ORDER(compare, struct sample, STK_UP(bytes) STK_UP(ns))

const char *stk_message_refuse(const struct stk_graph *g)
{
    uint32_t collectives = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        collectives += g->nodes[i].kind == STK_NODE_COLLECTIVE;
    }
    return collectives == 0 ? "no collectives were recorded"
           : g->message_count * 2 < collectives
               ? "the profile doesn't say how many bytes its collectives reduce"
               : NULL;
}

// Sums of a line's normal equations.
struct sums {
    double n, x, y, xx, xy, least, most;
};

static void add_class(struct sums *s, const struct sample *v, size_t count)
{
    STK_ASSERT(count > 0);
    double w = (double)count, x = (double)v->bytes, y = (double)v[(count - 1) / 4].ns;
    s->least = s->n > 0 && s->least < x ? s->least : x;
    s->most = s->n > 0 && s->most > x ? s->most : x;
    s->n += w;
    s->x += w * x;
    s->y += w * y;
    s->xx += w * x * x;
    s->xy += w * x * y;
}

// The fixed part if there is only one size. Within a host, the links' rate is between the rate
// reached, as if nothing were fixed, and their best rate; the geometric mean is expected. Beyond a
// host the links aren't known: a share.
static double fixed_of_one_size(const struct stk_graph *g, double ns, double bytes,
                                enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS);
    double n = (double)g->group_size, share = prior[level].share * ns;
    double link = g->rates.peer_link > 0 ? g->rates.peer_link : g->rates.host_link;
    double factor = stk_collective_bus_factor(STK_COLLECTIVE_ALL_REDUCE, g->group_size);
    double seen = factor * bytes * 1e9 / ns, best = STK_LINK_REACHED * link;
    if (level == STK_PRICE_HIGH || n < 2 || n > HOST_GPUS || seen <= 0 || seen >= best) {
        return share < prior[level].most_ns ? share : prior[level].most_ns;
    }
    double rate = level == STK_PRICE_LOW ? best : sqrt(seen * best);
    double fixed = ns * (1 - seen / rate);
    return fixed < MOST_FIXED_NS ? fixed : MOST_FIXED_NS;
}

static struct stk_message_fit solve(const struct stk_graph *g, const struct sums *s,
                                    enum stk_price_level level)
{
    STK_ASSERT(s->n > 0);
    double mean_ns = s->y / s->n, mean_bytes = s->x / s->n;
    double spread = s->xx - s->x * mean_bytes, fixed;
    if (s->most > APART * s->least && spread > 0) {
        double slope = (s->xy - s->y * mean_bytes) / spread;
        fixed = (mean_ns - (slope > 0 ? slope : 0) * mean_bytes) * doubt[level];
    } else {
        fixed = fixed_of_one_size(g, mean_ns, mean_bytes, level);
    }
    fixed = fixed < 0 ? 0 : fixed > mean_ns ? mean_ns : fixed;
    return (struct stk_message_fit){fixed, (mean_ns - fixed) / mean_bytes};
}

struct stk_message_fit stk_message_fit(const struct stk_graph *g, enum stk_price_level level)
{
    struct stk_message_fit flat = {0, 1};
    size_t n = g->message_count, classes = 0;
    struct sums sums = {0};
    struct sample *v = stk_alloc_array(n + 1, sizeof *v);
    for (size_t i = 0; v && i < n; i++) {
        const struct stk_node *c = &g->nodes[g->messages[i].node];
        int64_t wait_ns = g->has_peers ? (int64_t)c->size * STK_US : 0;
        v[i] = (struct sample){g->messages[i].bytes, c->dur_ns - wait_ns};
    }
    if (v) {
        stk_sort(v, n, sizeof *v, compare);
    }
    for (size_t i = 0, end; v && i < n && classes < MOST_CLASSES; i = end, classes++) {
        for (end = i + 1; end < n && v[end].bytes == v[i].bytes; end++) {
        }
        add_class(&sums, &v[i], end - i);
    }
    stk_free(v);
    return sums.n > 0 && sums.x > 0 ? solve(g, &sums, level) : flat;
}

// The shortest collectives, by a lower percentile, without their waiting for others.
static double shortest(const struct stk_graph *g)
{
    int64_t *ns = stk_alloc_array((size_t)g->node_count + 1, sizeof *ns);
    double found = MOST_FIXED_NS;
    size_t n = 0;
    for (uint32_t i = 0; ns && i < g->node_count; i++) {
        const struct stk_node *c = &g->nodes[i];
        if (c->kind == STK_NODE_COLLECTIVE) {
            ns[n++] = c->dur_ns - (g->has_peers ? (int64_t)c->size * STK_US : 0);
        }
    }
    if (n > 0) {
        found = (double)stk_nth_value(ns, n, n / FEW);
    }
    stk_free(ns);
    return found > 0 ? found : 0;
}

struct stk_message_floor stk_message_floor(const struct stk_graph *g, enum stk_price_level level)
{
    struct stk_message_floor f = {.is_told = stk_message_refuse(g) == NULL};
    if (f.is_told) { // the fit's ends are reversed: a short fixed part is optimistic
        f.fixed_ns = stk_message_fit(g, (enum stk_price_level)(STK_PRICE_HIGH - level)).fixed_ns;
    } else {
        f.shortest_ns = shortest(g);
    }
    return f;
}

int64_t stk_message_fixed(const struct stk_message_floor *f, int64_t dur_ns,
                          enum stk_price_level level)
{
    double ns = (double)dur_ns, most = ns < f->shortest_ns ? ns : f->shortest_ns;
    bool binds = most < MOST_FIXED_NS; // otherwise their durations don't show it
    most = binds ? most : MOST_FIXED_NS;
    double least = most < HOPS_NS ? most : HOPS_NS;
    double fixed = f->is_told                    ? f->fixed_ns
                   : level == STK_PRICE_LOW      ? least
                   : level == STK_PRICE_EXPECTED ? binds ? (least + most) / 2 : sqrt(least * most)
                                                 : most;
    return (int64_t)(fixed < ns ? fixed : ns);
}
