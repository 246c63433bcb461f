// SPDX-License-Identifier: Apache-2.0
// The critical path of the recorded steps as tables: its time by kind and by name; what runs in
// parallel, with the smallest slack; the path of a usual step, event by event; and the trace's
// events on any step's path. Built while the trace exists, since a graph has no names.
// It isn't a table of `stoker stats` because it needs a replay, and passes over summaries may not
// run one.
#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "answers/replay/critical.h"
#include "results/whatif.h"

#define MAX_ROWS 20
#define MAX_EVENTS 2000

// Time of a name on the path, or off it.
struct piece {
    uint32_t node, name;
    uint8_t class;
    int64_t from_ns, to_ns;
};

struct tables {
    struct stk_graph_build *b;
    struct stk_scene scene;
    struct stk_times times;
    struct stk_vec path;   // struct piece, of used steps, from the end on
    struct stk_vec beside; // struct piece, of nodes that aren't on it
    const int64_t *slack;
    struct stk_whatif_critical *out;
    bool failed;
};

static uint32_t event_at(const struct tables *x, uint32_t node)
{
    const struct stk_vec *events = &x->b->events;
    return node < events->count ? *(const uint32_t *)stk_vec_at(events, node) : STK_NONE;
}

static uint32_t name_at(const struct tables *x, uint32_t node)
{
    uint32_t event = event_at(x, node);
    return event == STK_NONE ? STK_NONE : x->b->a->t->name[event];
}

static const char *text_of(struct tables *x, uint32_t id)
{
    if (id == STK_NONE) {
        return "";
    }
    struct stk_str name = stk_strpool_get(&x->b->a->t->strings, id);
    const char *text = stk_arena_strndup(x->b->arena, name.p, name.n);
    x->failed |= !text;
    return text ? text : "";
}

static void see(void *arg, uint32_t node, enum stk_critical class, int64_t from_ns, int64_t to_ns)
{
    STK_ASSERT(node < ((struct tables *)arg)->b->g->node_count);
    struct tables *x = arg;
    if (!x->b->g->steps[x->scene.nodes[node].step].used) {
        return;
    }
    struct piece *p = stk_vec_push(&x->path);
    x->failed |= !p;
    if (p) {
        *p = (struct piece){node, name_at(x, node), (uint8_t)class, from_ns, to_ns};
    }
}

STK_ORDER(compare_names, struct piece, STK_UP(class) STK_UP(name))

STK_ORDER(compare_rows, struct stk_whatif_path_row, STK_DOWN(ns))

static struct stk_list list_of(struct tables *x, const struct stk_vec *v, size_t most)
{
    struct stk_list list = {0};
    if (v->count) {
        list.items = stk_arena_items(x->b->arena, v);
        list.count = list.items ? (v->count < most ? v->count : most) : 0;
        x->failed |= !list.items;
    }
    return list;
}

// Rows by class and name (or class alone) of pieces, per step; `pieces` is sorted.
static struct stk_list rows_of(struct tables *x, struct stk_vec *pieces, bool by_name)
{
    struct stk_vec rows;
    struct stk_list list;
    const struct piece *last = NULL;
    struct stk_whatif_path_row *row = NULL;
    double steps = x->b->g->steps_used, all_ns = 0;
    stk_vec_init(&rows, sizeof *row, UINT32_MAX);
    stk_sort(pieces->items, pieces->count, sizeof *last, compare_names);
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *p = stk_vec_at(pieces, i);
        bool is_new = !last || last->class != p->class || (by_name && last->name != p->name);
        if (is_new) {
            row = stk_vec_push(&rows);
            if (!row) {
                x->failed = true;
                break;
            }
            *row = (struct stk_whatif_path_row){.kind = stk_critical_key(p->class),
                                                .slack_ns = INT64_MAX};
            row->name = by_name ? text_of(x, p->name) : "";
        }
        int64_t slack = x->slack[p->node];
        row->ns += p->to_ns - p->from_ns;
        row->count++;
        row->slack_ns = slack < row->slack_ns ? slack : row->slack_ns;
        all_ns += (double)(p->to_ns - p->from_ns);
        last = p;
    }
    for (size_t i = 0; i < rows.count; i++) {
        row = stk_vec_at(&rows, i);
        row->share = all_ns > 0 ? (double)row->ns / all_ns : 0;
        row->ns = (int64_t)((double)row->ns / steps);
        row->count /= steps;
    }
    stk_sort(rows.items, rows.count, sizeof *row, compare_rows);
    list = list_of(x, &rows, MAX_ROWS);
    stk_vec_deinit(&rows);
    return list;
}

// Nodes of used steps that aren't on any path.
static void find_beside(struct tables *x)
{
    const struct stk_graph *g = x->b->g;
    for (uint32_t i = 0; i < g->node_count && !x->failed; i++) {
        const struct stk_node *n = &g->nodes[i];
        if (x->slack[i] <= 0 || n->dur_ns <= 0 || !g->steps[n->step].used) {
            continue;
        }
        struct piece *p = stk_vec_push(&x->beside);
        x->failed |= !p;
        if (p) {
            *p = (struct piece){i, name_at(x, i), (uint8_t)stk_critical_class(g, n), 0, n->dur_ns};
        }
    }
}

// The used step whose length is nearest to the mean.
static uint32_t usual_step(const struct tables *x, const int64_t *borders)
{
    const struct stk_graph *g = x->b->g;
    double mean = stk_replay_mean(g, borders), nearest = -1;
    uint32_t best = 0;
    for (uint32_t k = 0; k < g->step_count; k++) {
        double apart = (double)(borders[k + 1] - borders[k]) - mean;
        apart = apart < 0 ? -apart : apart;
        if (g->steps[k].used && (nearest < 0 || apart < nearest)) {
            nearest = apart;
            best = k;
        }
    }
    return best;
}

static const char *place_of(struct tables *x, uint32_t node)
{
    STK_ASSERT(node < x->b->g->node_count);
    const struct stk_lane *lane = &x->b->g->lanes[x->scene.nodes[node].lane];
    const struct stk_track *track = &x->b->a->t->tracks[lane->track];
    const char *text = stk_arena_printf(
        x->b->arena, "%s %lld", lane->is_device ? "stream" : "thread", (long long)track->id);
    x->failed |= !text;
    return text ? text : "";
}

// The path, reversed, since it is found from its end.
static void list_events(struct tables *x, uint32_t step)
{
    STK_ASSERT(step < x->b->g->step_count);
    struct stk_vec events;
    stk_vec_init(&events, sizeof(struct stk_whatif_path_event), MAX_EVENTS);
    for (size_t i = x->path.count; i-- > 0 && !x->failed;) {
        const struct piece *p = stk_vec_at(&x->path, i);
        if (x->scene.nodes[p->node].step != step) {
            continue;
        }
        struct stk_whatif_path_event *e = events.count < MAX_EVENTS ? stk_vec_push(&events) : NULL;
        x->out->left_out += !e;
        if (e) {
            *e = (struct stk_whatif_path_event){
                p->from_ns + x->b->g->base_ns, p->to_ns - p->from_ns, stk_critical_key(p->class),
                text_of(x, p->name),           place_of(x, p->node),  event_at(x, p->node)};
        }
    }
    x->out->step = step;
    x->out->events = list_of(x, &events, MAX_EVENTS);
    stk_vec_deinit(&events);
}

static int compare_events(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

// First event that this node or a later one contains.
static size_t held_from(const struct stk_vec *held, uint32_t node)
{
    size_t low = 0, high = held->count;
    STK_BISECT(low, high, mid, ((const struct stk_graph_held *)stk_vec_at(held, mid))->node < node);
    return low;
}

static void push_event(struct tables *x, struct stk_vec *events, uint32_t event)
{
    uint32_t *slot = event != STK_NONE ? stk_vec_push(events) : NULL;
    x->failed |= event != STK_NONE && !slot;
    if (slot) {
        *slot = event;
    }
}

// All events of the nodes on the path, each once.
static void keep_events(struct tables *x)
{
    struct stk_vec events;
    const struct stk_vec *held = &x->b->held;
    stk_vec_init(&events, sizeof(uint32_t), UINT32_MAX);
    for (size_t i = 0; i < x->path.count && !x->failed; i++) {
        const struct piece *p = stk_vec_at(&x->path, i);
        push_event(x, &events, event_at(x, p->node));
        for (size_t k = held_from(held, p->node); k < held->count && !x->failed; k++) {
            const struct stk_graph_held *h = stk_vec_at(held, k);
            if (h->node != p->node) {
                break;
            }
            push_event(x, &events, h->event);
        }
    }
    stk_sort(events.items, events.count, sizeof(uint32_t), compare_events);
    uint32_t *v = stk_arena_array(x->b->arena, events.count + 1, sizeof *v), count = 0;
    x->failed |= !v;
    for (size_t i = 0; i < events.count && !x->failed; i++) {
        uint32_t event = *(const uint32_t *)stk_vec_at(&events, i);
        if (count == 0 || v[count - 1] != event) {
            v[count++] = event;
        }
    }
    x->b->g->on_path = v;
    x->b->g->on_path_count = count;
    stk_vec_deinit(&events);
}

static void fill(struct tables *x, int64_t *borders)
{
    const struct stk_graph *g = x->b->g;
    stk_replay_steps(g, x->scene.nodes, &x->times, borders);
    stk_critical_walk(&x->scene, &x->times, see, x);
    x->out->step_ns = (int64_t)stk_replay_mean(g, borders);
    list_events(x, usual_step(x, borders)); // before the path is sorted
    keep_events(x);
    find_beside(x);
    x->out->kinds = rows_of(x, &x->path, false);
    x->out->names = rows_of(x, &x->path, true);
    x->out->beside = rows_of(x, &x->beside, true);
}

bool stk_critical_tables(struct stk_graph_build *b)
{
    struct tables x = {.b = b};
    x.out = stk_arena_array(b->arena, 1, sizeof *x.out);
    int64_t *borders = stk_alloc_array((size_t)b->g->step_count + 1, sizeof *borders),
            *slack = NULL;
    stk_vec_init(&x.path, sizeof(struct piece), UINT32_MAX);
    stk_vec_init(&x.beside, sizeof(struct piece), UINT32_MAX);
    bool ok = x.out && borders && stk_scene_init(&x.scene, b->g);
    ok = ok && stk_times_init(&x.times, b->g);
    if (ok && stk_replay_run(&x.scene, &x.times)) {
        x.slack = slack = stk_critical_slack(&x.scene, &x.times);
        ok = slack != NULL;
        if (ok) {
            fill(&x, borders);
            b->g->critical = x.out;
        }
    }
    stk_free(slack);
    stk_free(borders);
    stk_times_deinit(&x.times);
    stk_scene_deinit(&x.scene);
    stk_vec_deinit(&x.path);
    stk_vec_deinit(&x.beside);
    return ok && !x.failed;
}
