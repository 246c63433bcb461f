// SPDX-License-Identifier: Apache-2.0
// Lanes of host threads: the steps' time as calls and the gaps between them, for each thread that
// launches device work and for the one that drives the steps. Method: the model's segments of a
// thread (thread_segments.h). Segments of one call are joined, and so are those between two calls,
// with cuts where a step begins or a batch is fetched. Time without events is a separate node from
// IDLE_NS on; shorter pieces belong to their neighbors.
#include <string.h>

#include "profile/model/threads/thread_segments.h"
#include "answers/replay/graph.h"

#define IDLE_NS (30 * STK_US)
#define MAX_LANES 1024
// The cost of recording an event, assumed to be at most half of its time: a runtime call (CUPTI:
// about a microsecond), a Python call, a framework operation. For each operation, nested ones too,
// PyTorch's profiler stores its inputs' shapes, its sequence number and a tree node. That takes 1.3
// to 1.7 us on an idle machine, 1.3 to 4.5 in jobs. An annotation of other recorders is a name and
// two times.
#define CALL_ADDS_NS 800
#define PYTHON_ADDS_NS 700
#define OP_ADDS_NS 400
#define TORCH_OP_ADDS_NS 2000

struct host {
    struct stk_graph_build *b;
    struct stk_thread_segments segments;
    uint16_t lane;
    bool drives;   // the lane is that of the driving thread
    bool is_torch; // its profiler recorded the operations
    uint32_t step;
    uint32_t event;       // that the next node contains, STK_NONE
    uint32_t newest;      // event of the lane that was recorded last, + 1
    size_t fetch;         // first fetch that may still matter
    int64_t call_end_ns;  // of the outermost call that is open
    const uint8_t *waits; // per string: name of a call that makes a stream wait
};

// Remembers the event of the node that was last made or extended. A node is named after its first
// event.
static bool hold(struct host *h, bool is_new)
{
    struct stk_vec *events = &h->b->events;
    if (!h->b->wants_events) {
        return true;
    }
    uint32_t *first = is_new ? stk_vec_push(events) : stk_vec_at(events, events->count - 1);
    if (first && (is_new || *first == STK_NONE)) {
        *first = h->event;
    }
    if (!first || h->event == STK_NONE || *first == h->event) {
        return first != NULL;
    }
    struct stk_graph_held *held = stk_vec_push(&h->b->held);
    if (held) {
        *held = (struct stk_graph_held){(uint32_t)events->count - 1, h->event};
    }
    return held != NULL;
}

// The profiler's cost of recording the event, once per event.
static int32_t added(struct host *h)
{
    const struct stk_trace *t = h->b->a->t;
    if (h->event == STK_NONE || h->event < h->newest) {
        return 0;
    }
    h->newest = h->event + 1;
    return t->kind[h->event] == STK_KIND_RUNTIME  ? CALL_ADDS_NS
           : t->kind[h->event] == STK_KIND_PYTHON ? PYTHON_ADDS_NS
           : h->is_torch                          ? TORCH_OP_ADDS_NS
                                                  : OP_ADDS_NS;
}

static bool push(struct host *h, int64_t start_ns, int64_t end_ns, enum stk_node_kind kind,
                 enum stk_node_what what)
{
    struct stk_vec *nodes = &h->b->nodes;
    struct stk_node *last = nodes->count ? stk_vec_at(nodes, nodes->count - 1) : NULL;
    bool between = kind == STK_NODE_WORK || kind == STK_NODE_INPUT;
    if (last && last->lane == h->lane && last->step == h->step && last->kind == kind && between &&
        last->what == what) {
        last->dur_ns = end_ns - last->start_ns;
        last->rest_ns = stk_graph_clamp((int64_t)last->rest_ns + added(h));
        return hold(h, false);
    }
    struct stk_node *n = stk_vec_push(nodes);
    if (n) {
        *n = (struct stk_node){.start_ns = start_ns,
                               .dur_ns = end_ns - start_ns,
                               .launch = STK_NONE,
                               .wait = STK_NONE,
                               .step = h->step,
                               .rest_ns = added(h),
                               .lane = h->lane,
                               .kind = (uint8_t)kind,
                               .what = (uint8_t)what};
    }
    return n && hold(h, true);
}

// A fetch of the driving thread doesn't by itself delay other threads: they wait for its next
// action. A fetch on another thread (TensorFlow's) delays the thread that records nothing during
// it.
static bool concerns(const struct host *h, const struct stk_mark *fetch)
{
    const struct stk_analysis *a = h->b->a;
    uint32_t thread = stk_thread_of(a, fetch->event);
    return h->drives || thread == STK_NONE || !a->threads[thread].is_driver;
}

// Adds work of the driving thread, cut at the end of the step's work.
static bool push_work(struct host *h, int64_t from_ns, int64_t to_ns, enum stk_node_what what)
{
    const int64_t *ends = h->drives ? h->b->work_ends_ns : NULL;
    int64_t cut = ends ? ends[h->step] : INT64_MAX;
    if (cut < to_ns && from_ns < cut) {
        return push(h, from_ns, cut, STK_NODE_WORK, what) &&
               push(h, cut, to_ns, STK_NODE_WORK, STK_WHAT_CALLBACK);
    }
    return push(h, from_ns, to_ns, STK_NODE_WORK, cut < to_ns ? STK_WHAT_CALLBACK : what);
}

// Adds the time between two calls, cut at the fetches.
static bool push_between(struct host *h, int64_t from_ns, int64_t to_ns, enum stk_node_what what)
{
    const struct stk_marks *f = &h->b->a->fetches;
    while (h->fetch < f->count && f->v[h->fetch].end_ns <= from_ns) {
        h->fetch++;
    }
    for (size_t i = h->fetch; i < f->count && f->v[i].start_ns < to_ns; i++) {
        if (!concerns(h, &f->v[i])) {
            continue;
        }
        int64_t start = f->v[i].start_ns > from_ns ? f->v[i].start_ns : from_ns;
        int64_t end = f->v[i].end_ns < to_ns ? f->v[i].end_ns : to_ns;
        if (start > from_ns && !push_work(h, from_ns, start, what)) {
            return false;
        }
        uint32_t around = h->event;
        h->event = f->v[i].event;
        if (end > start && !push(h, start, end, STK_NODE_INPUT, STK_WHAT_OTHER)) {
            return false;
        }
        h->event = around;
        from_ns = end > from_ns ? end : from_ns;
    }
    return from_ns >= to_ns || push_work(h, from_ns, to_ns, what);
}

// Adds a piece of a call, or extends the previous one if that is its outer call.
static bool push_call(struct host *h, const struct stk_segment *s)
{
    const struct stk_trace *t = h->b->a->t;
    struct stk_vec *nodes = &h->b->nodes;
    struct stk_node *last = nodes->count ? stk_vec_at(nodes, nodes->count - 1) : NULL;
    bool waits = s->doing == STK_DOING_BLOCKED || s->doing == STK_DOING_ALLOC;
    if (last && last->lane == h->lane && s->start_ns < h->call_end_ns &&
        (last->kind == STK_NODE_CALL || last->kind == STK_NODE_WAIT)) {
        last->dur_ns = s->end_ns - last->start_ns;
        last->kind = waits ? STK_NODE_WAIT : last->kind;
        return true;
    }
    h->call_end_ns = s->event == STK_NONE ? s->end_ns : stk_end_ns(t, s->event);
    bool is_wait_event = s->event != STK_NONE && h->waits[t->name[s->event]];
    return push(h, s->start_ns, s->end_ns, waits ? STK_NODE_WAIT : STK_NODE_CALL,
                s->doing == STK_DOING_BLOCKED ? STK_WHAT_SYNC
                : is_wait_event               ? STK_WHAT_STREAM_WAIT
                                              : STK_WHAT_OTHER);
}

static bool push_segments(struct host *h)
{
    const struct stk_segment *s = h->segments.list.items;
    for (size_t i = 0; i < h->segments.list.count; i++) {
        h->event = s[i].event;
        bool is_call = s[i].doing == STK_DOING_ALLOC || s[i].doing == STK_DOING_RUNTIME ||
                       s[i].doing == STK_DOING_BLOCKED;
        bool is_idle = (s[i].doing == STK_DOING_NOTHING || s[i].doing == STK_DOING_WAITING) &&
                       s[i].end_ns - s[i].start_ns >= IDLE_NS;
        if (is_call ? !push_call(h, &s[i])
                    : !push_between(h, s[i].start_ns, s[i].end_ns,
                                    is_idle ? STK_WHAT_IDLE : STK_WHAT_OTHER)) {
            return false;
        }
    }
    return true;
}

// The unrecorded time before the end of a step: callbacks, logging, the loop itself.
static void mark_callbacks(struct stk_graph_build *b, uint32_t first)
{
    struct stk_node *nodes = b->nodes.items;
    for (size_t i = first; i < b->nodes.count; i++) {
        bool ends_step = i + 1 == b->nodes.count || nodes[i + 1].step != nodes[i].step ||
                         nodes[i + 1].kind == STK_NODE_INPUT;
        if (ends_step && nodes[i].kind == STK_NODE_WORK && nodes[i].what == STK_WHAT_IDLE) {
            nodes[i].what = STK_WHAT_CALLBACK;
        }
    }
}

static bool add_lane(struct host *h, uint32_t track)
{
    struct stk_graph_build *b = h->b;
    const struct stk_analysis *a = b->a;
    struct stk_lane *lane = stk_vec_push(&b->lanes);
    if (!lane) {
        return false;
    }
    *lane =
        (struct stk_lane){.first = (uint32_t)b->nodes.count, .track = track, .free_ns = b->from_ns};
    h->lane = (uint16_t)(b->lanes.count - 1);
    h->fetch = 0;
    h->call_end_ns = INT64_MIN;
    h->newest = 0;
    b->lane_of[track] = (uint16_t)(h->lane + 1);
    h->drives = a->threads[track].is_driver;
    if (h->drives) {
        b->g->driver = h->lane;
    }
    for (uint32_t k = 0; k < b->g->step_count; k++) {
        h->step = k;
        if (!stk_segments_collect(&h->segments, track, b->starts_ns[k], b->starts_ns[k + 1]) ||
            !push_segments(h)) {
            return false;
        }
    }
    lane = stk_vec_at(&b->lanes, h->lane);
    lane->count = (uint32_t)b->nodes.count - lane->first;
    if (h->drives) {
        mark_callbacks(b, lane->first);
    }
    return true;
}

static bool is_wanted(const struct stk_analysis *a, uint32_t track)
{
    const struct stk_thread_info *x = &a->threads[track];
    return x->in_rank && x->root == track && !x->is_loader && (x->launches || x->is_driver);
}

static uint8_t *find_stream_waits(const struct stk_graph_build *b)
{
    const struct stk_strpool *strings = &b->a->t->strings;
    uint8_t *waits = stk_arena_array(b->arena, (size_t)strings->count + 1, sizeof *waits);
    for (uint32_t id = 0; waits && id < strings->count; id++) {
        waits[id] = stk_str_contains(stk_strpool_get(strings, id), STK_STR("StreamWaitEvent"));
    }
    return waits;
}

// In a profile of Nsight Systems its ranges come from NVTX; stoker's own capture doesn't record its
// operations.
static bool is_by_torch(const struct stk_trace *t)
{
    return t->framework_hint & 1u << STK_FW_PYTORCH &&
           !(t->format && (strcmp(t->format, "nsys") == 0 || strcmp(t->format, "stk") == 0));
}

bool stk_graph_hosts(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    struct host h = {.b = b, .is_torch = is_by_torch(a->t), .waits = find_stream_waits(b)};
    bool ok = h.waits && stk_segments_init(&h.segments, a);
    b->g->is_by_torch = h.is_torch;
    b->g->driver = STK_NONE;
    for (uint32_t i = 0; ok && i < a->t->track_count && b->lanes.count < MAX_LANES; i++) {
        ok = !is_wanted(a, i) || add_lane(&h, i);
    }
    if (h.waits && h.segments.rows) {
        stk_segments_deinit(&h.segments);
    }
    return ok;
}

uint32_t stk_graph_node_at(const struct stk_graph_build *b, uint16_t lane, int64_t t_ns)
{
    const struct stk_lane *l = stk_vec_at(&b->lanes, lane);
    const struct stk_node *nodes = b->nodes.items;
    uint32_t low = l->first, high = l->first + l->count;
    if (low == high || t_ns < nodes[low].start_ns || t_ns >= stk_node_end(&nodes[high - 1])) {
        return STK_NONE;
    }
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (nodes[mid].start_ns <= t_ns) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return low;
}
