// SPDX-License-Identifier: Apache-2.0
// The replay (replay.h).
#include "answers/replay/replay.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"

#define NOT_YET INT64_MIN
#define HASHED 64u // nodes that are compared and hashed together

struct stk_graph_size stk_graph_size_of(const struct stk_graph *g)
{
    return (struct stk_graph_size){g->node_count, g->batch_count};
}

bool stk_scene_alloc(struct stk_scene *s, struct stk_graph_size size)
{
    *s = (struct stk_scene){.nodes = stk_alloc_large(size.nodes + 1, sizeof *s->nodes),
                            .ready_ns = stk_alloc_array(size.batches + 1, sizeof *s->ready_ns)};
    if (s->nodes && s->ready_ns) {
        return true;
    }
    stk_scene_deinit(s);
    return false;
}

void stk_scene_reset_to(struct stk_scene *s, const struct stk_graph *g,
                        const struct stk_node *nodes)
{
    STK_ASSERT(s->nodes && s->ready_ns);
    *s = (struct stk_scene){
        .g = g, .nodes = s->nodes, .ready_ns = s->ready_ns, .floor_ns = g->pace_ns};
    memcpy(s->nodes, nodes, g->node_count * sizeof *s->nodes);
    if (g->batch_count) {
        memcpy(s->ready_ns, g->ready_ns, g->batch_count * sizeof *s->ready_ns);
    }
}

void stk_scene_reset(struct stk_scene *s, const struct stk_graph *g)
{
    stk_scene_reset_to(s, g, g->nodes);
}

bool stk_scene_init(struct stk_scene *s, const struct stk_graph *g)
{
    if (!stk_scene_alloc(s, stk_graph_size_of(g))) {
        return false;
    }
    stk_scene_reset(s, g);
    return true;
}

// Of the nodes, or of those that aren't as in `like`. Comparing is many times cheaper than hashing.
static uint64_t hash_nodes(const struct stk_scene *s)
{
    uint32_t count = s->g->node_count;
    if (!s->like) {
        return stk_hash_table_bytes(s->nodes, count * sizeof *s->nodes);
    }
    uint64_t h = 0;
    for (uint32_t i = 0, n; i < count; i += n) {
        n = count - i < HASHED ? count - i : HASHED;
        if (memcmp(&s->nodes[i], &s->like[i], n * sizeof *s->nodes) != 0) {
            uint64_t some = stk_hash_table_bytes(&s->nodes[i], n * sizeof *s->nodes);
            h = stk_hash_table_pair(h, stk_hash_table_pair(some, i));
        }
    }
    return h;
}

uint64_t stk_scene_hash(const struct stk_scene *s)
{
    const double ns[] = {s->extra_ns, s->floor_ns};
    uint64_t flags = (uint64_t)s->is_even << 1 | s->needs_no_batches;
    uint64_t h = stk_hash_table_pair(
        hash_nodes(s), stk_hash_table_bytes(s->ready_ns, s->g->batch_count * sizeof *s->ready_ns));
    return stk_hash_table_pair(h, stk_hash_table_pair(stk_hash_table_bytes(ns, sizeof ns), flags));
}

void stk_scene_deinit(struct stk_scene *s)
{
    stk_free(s->nodes);
    stk_free(s->ready_ns);
    *s = (struct stk_scene){0};
}

void stk_scene_unprofile(struct stk_scene *s)
{
    for (uint32_t i = 0; i < s->g->node_count && s->g->has_device; i++) {
        struct stk_node *n = &s->nodes[i];
        bool works = n->kind == STK_NODE_WORK && n->wait == STK_NONE;
        if (works || n->kind == STK_NODE_CALL) { // which may also wait for room in a queue
            n->dur_ns -= n->rest_ns < n->dur_ns / 2 ? n->rest_ns : n->dur_ns / 2;
        }
    }
    int64_t latency_ns = s->g->calibration.latency_ns;
    for (uint32_t i = 0; i < s->g->node_count; i++) { // a graph begins when its call has ended
        struct stk_node *n = &s->nodes[i];
        if (stk_node_is_device(n) && n->launch != STK_NONE && n->lag_ns > latency_ns) {
            int64_t less = s->g->nodes[n->launch].dur_ns - s->nodes[n->launch].dur_ns;
            int64_t lag = n->lag_ns - less;
            n->lag_ns = (int32_t)(lag > latency_ns ? lag : latency_ns);
        }
    }
}

bool stk_times_alloc(struct stk_times *t, struct stk_graph_size size)
{
    size_t n = size.nodes + 1;
    t->begin_ns = stk_alloc_large(n, sizeof *t->begin_ns);
    t->end_ns = stk_alloc_large(n, sizeof *t->end_ns);
    t->bound = stk_alloc_zero(n, sizeof *t->bound);
    t->woken = stk_alloc_zero(n, sizeof *t->woken);
    if (t->begin_ns && t->end_ns && t->bound && t->woken) {
        return true;
    }
    stk_times_deinit(t);
    return false;
}

bool stk_times_init(struct stk_times *t, const struct stk_graph *g)
{
    return stk_times_alloc(t, stk_graph_size_of(g));
}

void stk_times_deinit(struct stk_times *t)
{
    stk_free(t->begin_ns);
    stk_free(t->end_ns);
    stk_free(t->bound);
    stk_free(t->woken);
    *t = (struct stk_times){0};
}

struct run {
    const struct stk_scene *s;
    struct stk_times *t;
    uint32_t *at;     // per lane: next node
    int64_t *free_ns; // per lane
    uint16_t *next;   // per lane: the next one that waits for the same node, + 1
    uint16_t *ready;  // lanes that can continue
    size_t ready_count;
};

static void wake(struct run *r, uint32_t node)
{
    uint16_t lane = r->t->woken[node];
    r->t->woken[node] = 0;
    while (lane) {
        r->ready[r->ready_count++] = (uint16_t)(lane - 1);
        uint16_t next = r->next[lane - 1];
        r->next[lane - 1] = 0;
        lane = next;
    }
}

static void park(struct run *r, uint32_t lane, uint32_t node)
{
    r->next[lane] = r->t->woken[node];
    r->t->woken[node] = (uint16_t)(lane + 1);
}

static inline void later(int64_t *t_ns, int64_t ns, uint8_t *bound, enum stk_bound why)
{
    if (ns > *t_ns) {
        *t_ns = ns;
        *bound = (uint8_t)why;
    }
}

// Runs the lane until it must wait for a node, or to its end. Nearly every node of a scene is
// replayed once for each fix: only what a node needs is loaded.
static void run_device(struct run *r, uint32_t lane)
{
    const struct stk_lane *l = &r->s->g->lanes[lane];
    const struct stk_node *restrict nodes = r->s->nodes;
    int64_t *restrict begins = r->t->begin_ns, *restrict ends = r->t->end_ns;
    int64_t free_ns = r->free_ns[lane];
    uint32_t i = r->at[lane];
    for (; i < l->first + l->count; i++) {
        const struct stk_node *n = &nodes[i];
        int64_t begin = free_ns != INT64_MIN ? free_ns + n->gap_ns : INT64_MIN;
        uint8_t bound = STK_BOUND_LANE;
        if (n->launch != STK_NONE) {
            if (begins[n->launch] == NOT_YET) {
                park(r, lane, n->launch);
                break;
            }
            later(&begin, begins[n->launch] + n->lag_ns, &bound, STK_BOUND_LAUNCH);
        }
        if (n->wait != STK_NONE) {
            if (ends[n->wait] == NOT_YET) {
                park(r, lane, n->wait);
                break;
            }
            later(&begin, ends[n->wait], &bound, STK_BOUND_WAIT);
        }
        begin = begin == INT64_MIN ? n->start_ns : begin + n->rest_ns;
        begins[i] = begin;
        ends[i] = free_ns = begin + n->dur_ns;
        r->t->bound[i] = bound;
        if (r->t->woken[i]) {
            wake(r, i);
        }
    }
    r->free_ns[lane] = free_ns;
    r->at[lane] = i;
}

static void run_host(struct run *r, uint32_t lane)
{
    const struct stk_lane *l = &r->s->g->lanes[lane];
    const struct stk_node *restrict nodes = r->s->nodes;
    int64_t *restrict begins = r->t->begin_ns, *restrict ends = r->t->end_ns;
    int64_t free_ns = r->free_ns[lane];
    uint32_t i = r->at[lane];
    for (; i < l->first + l->count; i++) {
        const struct stk_node *n = &nodes[i];
        if (begins[i] == NOT_YET) { // else it began before the lane waited
            begins[i] = free_ns;
            if (r->t->woken[i]) {
                wake(r, i);
            }
        }
        int64_t end = begins[i] + n->dur_ns;
        uint8_t bound = STK_BOUND_LANE;
        if (n->wait != STK_NONE && n->kind == STK_NODE_INPUT) {
            if (r->s->ready_ns[n->wait] != INT64_MIN) {
                later(&end, r->s->ready_ns[n->wait] + n->lag_ns, &bound, STK_BOUND_INPUT);
            }
        } else if (n->wait != STK_NONE) {
            if (ends[n->wait] == NOT_YET) {
                park(r, lane, n->wait);
                break;
            }
            later(&end, ends[n->wait] + n->lag_ns, &bound, STK_BOUND_WAIT);
        }
        ends[i] = free_ns = end;
        r->t->bound[i] = bound;
        if (r->t->woken[i]) {
            wake(r, i);
        }
    }
    r->free_ns[lane] = free_ns;
    r->at[lane] = i;
}

static bool run_all(struct run *r)
{
    const struct stk_graph *g = r->s->g;
    for (uint32_t i = 0; i < g->node_count; i++) {
        r->t->begin_ns[i] = r->t->end_ns[i] = NOT_YET;
        r->t->woken[i] = 0;
    }
    for (uint32_t l = g->lane_count; l-- > 0;) {
        r->at[l] = g->lanes[l].first;
        r->free_ns[l] = g->lanes[l].free_ns;
        r->ready[r->ready_count++] = (uint16_t)l;
    }
    while (r->ready_count) {
        uint32_t lane = r->ready[--r->ready_count];
        if (g->lanes[lane].is_device) {
            run_device(r, lane);
        } else {
            run_host(r, lane);
        }
    }
    for (uint32_t l = 0; l < g->lane_count; l++) {
        if (r->at[l] < g->lanes[l].first + g->lanes[l].count) {
            return false;
        }
    }
    return true;
}

bool stk_replay_run(const struct stk_scene *s, struct stk_times *t)
{
    size_t lanes = (size_t)s->g->lane_count + 1;
    struct run r = {.s = s,
                    .t = t,
                    .at = stk_alloc_zero(lanes, sizeof *r.at),
                    .free_ns = stk_alloc_zero(lanes, sizeof *r.free_ns),
                    .next = stk_alloc_zero(lanes, sizeof *r.next),
                    .ready = stk_alloc_zero(lanes, sizeof *r.ready)};
    bool ok = r.at && r.free_ns && r.next && r.ready && run_all(&r);
    stk_free(r.at);
    stk_free(r.free_ns);
    stk_free(r.next);
    stk_free(r.ready);
    return ok;
}

void stk_replay_recorded(const struct stk_graph *g, struct stk_times *t)
{
    for (uint32_t l = 0; l < g->lane_count; l++) {
        const struct stk_lane *lane = &g->lanes[l];
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            bool last = i + 1 == lane->first + lane->count;
            t->begin_ns[i] = g->nodes[i].start_ns;
            t->end_ns[i] = lane->is_device ? stk_node_end(&g->nodes[i])
                           : last          ? g->end_ns
                                           : g->nodes[i + 1].start_ns;
        }
    }
}

void stk_replay_steps(const struct stk_graph *g, const struct stk_node *nodes,
                      const struct stk_times *t, int64_t *borders_ns)
{
    uint32_t n = g->step_count;
    const struct stk_lane *driver = &g->lanes[g->driver];
    for (uint32_t k = 0; k <= n; k++) {
        borders_ns[k] = INT64_MIN;
    }
    for (uint32_t i = 0; i < g->node_count; i++) { // the work of step k ends before step k + 1
        if (stk_node_is_device(&nodes[i]) && t->end_ns[i] > borders_ns[nodes[i].step + 1]) {
            borders_ns[nodes[i].step + 1] = t->end_ns[i];
        }
    }
    for (uint32_t l = 0; l < g->lane_count; l++) {
        if (g->lanes[l].is_device && g->lanes[l].free_ns > borders_ns[0]) {
            borders_ns[0] = g->lanes[l].free_ns;
        }
    }
    for (uint32_t k = 0; k <= n; k++) {
        int64_t host =
            k < n ? t->begin_ns[g->steps[k].node] : t->end_ns[driver->first + driver->count - 1];
        borders_ns[k] = host > borders_ns[k] ? host : borders_ns[k];
        borders_ns[k] = k && borders_ns[k - 1] > borders_ns[k] ? borders_ns[k - 1] : borders_ns[k];
    }
}

double stk_replay_mean(const struct stk_graph *g, const int64_t *borders_ns)
{
    STK_ASSERT(g->steps_used > 0);
    double sum = 0;
    for (uint32_t k = 0; k < g->step_count; k++) {
        sum += g->steps[k].used ? (double)(borders_ns[k + 1] - borders_ns[k]) : 0;
    }
    return sum / g->steps_used;
}

double stk_replay_inner_mean(const struct stk_graph *g, const int64_t *borders_ns)
{
    double sum = 0;
    uint32_t used = 0;
    for (uint32_t k = g->mean_from; k < g->mean_to; k++) {
        sum += g->steps[k].used ? (double)(borders_ns[k + 1] - borders_ns[k]) : 0;
        used += g->steps[k].used;
    }
    return used ? sum / used : stk_replay_mean(g, borders_ns);
}
