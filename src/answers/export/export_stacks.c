// SPDX-License-Identifier: Apache-2.0
// The time of a run by call stack.
//
// A row is a host thread, the overlapping events of a thread (all its sub-rows), or a device's
// stream. Method: one pass over the events of each track, with a stack of open events: time goes to
// the innermost, so a track's times sum to the time covered by any of its events. Device work goes
// below the call that launched it, on that call's thread, or below its stream if no launch is
// recorded. Markers of the profiler (synchronisation records, derived lines, counters) have no own
// time. Time outside the selection is cut off.
//
// Limits: a call deeper than STK_STACK_DEPTH, or that would be stack number NODES_MAX, counts for
// the one around it. A text of all stacks grows with depth times number: if it would be longer than
// BYTES_MIN plus BYTES_PER_EVENT for each event, the stacks with the least time, including nested
// ones, are merged into those around them. No time is lost in either case.
#include "answers/export/export_stacks.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/model/intervals.h"
#include "profile/model/threads/python_frame.h"

#define NODES_MAX ((size_t)1 << 19)
#define NAME_BYTES 4096
#define BYTES_MIN ((uint64_t)64 << 20)
#define BYTES_PER_EVENT 256

struct node {
    uint32_t parent, frame; // parent: STK_NONE for a row
    uint32_t depth;
    int64_t host_ns, device_ns;
};

struct open_call {
    int64_t end_ns;
    uint32_t node;
};

struct sweep {
    struct stk_export *x;
    struct stk_stacks *out;
    struct stk_vec nodes;    // struct node; enclosing nodes come first
    struct stk_map children; // node and frame -> node
    bool failed;             // no memory
    // Of the file:
    const struct stk_export_file *f;
    uint32_t *frames;  // per string id: its frame + 1
    uint32_t *node_of; // per event of a thread: its node; STK_NONE
    // Of the track:
    const struct stk_track *track;
    uint32_t index, row; // row: its node, STK_NONE until it is needed
    bool on_device;
    struct open_call open[STK_STACK_DEPTH];
    uint32_t depth;
    int64_t at_ns; // time before it is already assigned
};

static struct node *node_at(const struct sweep *w, uint32_t node)
{
    return stk_vec_at(&w->nodes, node);
}

// ---- frames ----

// "ProfilerStep#12", "step 12": all steps share a frame.
static size_t without_number(const char *text, size_t n)
{
    size_t end = n;
    while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9') {
        end--;
    }
    while (end < n && end > 0 && strchr("# _", text[end - 1])) {
        end--;
    }
    return end > 0 ? end : n;
}

static uint32_t intern(struct sweep *w, const char *text, size_t n)
{
    uint32_t frame = n ? stk_strpool_intern(&w->out->frames, text, n)
                       : stk_strpool_intern(&w->out->frames, "[unknown]", 9);
    w->failed |= frame == STK_STRPOOL_FAILED;
    return frame;
}

static uint32_t frame_of(struct sweep *w, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    uint32_t *frame = &w->frames[t->name[event]];
    if (*frame) {
        return *frame - 1;
    }
    char text[NAME_BYTES];
    struct stk_str name = stk_name_of(t, event);
    size_t n = stk_python_frame_text(name, text, sizeof text);
    const struct stk_ext *e = stk_ext_of(t, event);
    if ((e && e->flags & STK_EXT_STEP) || stk_name_classify(name, t->kind[event]) & STK_NAME_STEP) {
        n = without_number(text, n);
    }
    *frame = intern(w, text, n) + 1;
    return *frame - 1;
}

// ---- nodes ----

// The node for a frame inside `parent` (STK_NONE: a row), or at the limits the parent itself.
static uint32_t child(struct sweep *w, uint32_t parent, uint32_t frame)
{
    uint32_t depth = parent == STK_NONE ? 0 : node_at(w, parent)->depth + 1;
    if (w->failed) {
        return parent;
    }
    uint32_t *known = stk_map_get(&w->children, parent, frame);
    if (known || depth == STK_STACK_DEPTH || (depth > 0 && w->nodes.count >= NODES_MAX)) {
        return known ? *known : parent;
    }
    uint32_t at = (uint32_t)w->nodes.count;
    struct node *node = stk_vec_push(&w->nodes);
    if (!node || !stk_map_put(&w->children, parent, frame, at, NULL)) {
        w->failed = true;
        return parent;
    }
    *node = (struct node){.parent = parent, .frame = frame, .depth = depth};
    return at;
}

// "rank 1: thread 7 (main)", "GPU 0 (NVIDIA H100): stream 13". A thread's sub-rows share a row, so
// that its own times don't sum to more than its time; a stream's don't, since parallel work on a
// device counts twice anyway.
static size_t row_name(const struct sweep *w, char *text, size_t size)
{
    const struct stk_track *k = w->track;
    bool is_sub_row = k->parent != STK_NONE;
    size_t n = 0;
    if (w->on_device) {
        n = stk_export_device_label(w->x, w->f, k->device, text, size);
        n += (size_t)snprintf(text + n, size - n, ": ");
    } else if (w->x->rank_count > 1) {
        const struct stk_export_process *p = &w->f->processes[k->process];
        n = p->rank >= 0 ? (size_t)snprintf(text, size, "rank %" PRId32 ": ", p->rank)
                         : (size_t)snprintf(text, size, "process %" PRId64 ": ", p->pid);
    }
    n += stk_export_track_name(w->f, is_sub_row ? k->parent : w->index, text + n, size - n);
    if (is_sub_row && !w->on_device) {
        n += (size_t)snprintf(text + n, size - n, " (overlapping)");
    }
    return n;
}

static uint32_t row_of(struct sweep *w)
{
    char text[STK_STACK_ROW_BYTES]; // device and track each need less than half of it
    if (w->row == STK_NONE) {
        size_t n = row_name(w, text, sizeof text);
        w->row = child(w, STK_NONE, intern(w, text, n));
    }
    return w->row;
}

// ---- events ----

static void give_until(struct sweep *w, int64_t to_ns)
{
    if (w->depth) {
        struct node *n = node_at(w, w->open[w->depth - 1].node);
        int64_t *sum = w->on_device ? &n->device_ns : &n->host_ns;
        *sum = stk_add_ns(*sum, to_ns - w->at_ns);
    }
    w->at_ns = to_ns;
}

static void close_until(struct sweep *w, int64_t to_ns)
{
    while (w->depth && w->open[w->depth - 1].end_ns <= to_ns) {
        give_until(w, w->open[w->depth - 1].end_ns);
        w->depth--;
    }
}

// The node around an event: the innermost open event, or the call that launched it.
static uint32_t around(struct sweep *w, uint32_t event)
{
    const struct stk_ext *e = w->on_device ? stk_ext_of(w->f->t, event) : NULL;
    if (e && e->link != STK_NONE && w->node_of[e->link] != STK_NONE) {
        return w->node_of[e->link];
    }
    return w->depth ? w->open[w->depth - 1].node : row_of(w);
}

static void open_event(struct sweep *w, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    const struct stk_export_process *p = &w->f->processes[w->track->process];
    int64_t start_ns = t->start_ns[event], end_ns = stk_end_ns(t, event);
    start_ns = start_ns > p->from_ns ? start_ns : p->from_ns;
    end_ns = end_ns < p->to_ns ? end_ns : p->to_ns;
    bool is_call =
        t->kind[event] == STK_KIND_RUNTIME; // may have launched work even without duration
    if (end_ns <= start_ns && !is_call) {
        return;
    }
    close_until(w, start_ns);
    uint32_t outer = around(w, event), node = child(w, outer, frame_of(w, event));
    if (!w->on_device) {
        w->node_of[event] = node;
    }
    if (end_ns > start_ns && w->depth < STK_STACK_DEPTH && !w->failed) {
        give_until(w, start_ns);
        w->open[w->depth++] = (struct open_call){end_ns, node};
    }
    struct stk_stacks *s = w->out;
    start_ns += w->f->shift_ns;
    end_ns += w->f->shift_ns;
    s->first_ns = start_ns < s->first_ns ? start_ns : s->first_ns;
    s->last_ns = end_ns > s->last_ns ? end_ns : s->last_ns;
}

static void sweep_track(struct sweep *w, uint32_t index)
{
    const struct stk_trace *t = w->f->t;
    struct stk_export_counts *c = &w->x->counts;
    w->index = index;
    w->track = &t->tracks[index];
    w->on_device = w->track->kind == STK_TRACK_STREAM;
    w->row = STK_NONE;
    w->depth = 0;
    const struct stk_export_process *p = &w->f->processes[w->track->process];
    uint32_t end = w->track->first + w->track->count;
    for (uint32_t e = w->track->first; e < end && !w->failed; e++) {
        if (!stk_export_takes(t, p, e)) {
            c->unselected++;
        } else if (!w->on_device || stk_kind_is_device_work(t->kind[e])) {
            c->events++;
            c->overlaps += w->track->parent != STK_NONE;
            open_event(w, e);
        }
    }
    close_until(w, INT64_MAX);
}

// Threads first: device work goes under their calls.
static void sweep_file(struct sweep *w)
{
    const struct stk_trace *t = w->f->t;
    w->frames = stk_alloc_zero((size_t)t->strings.count + 1, sizeof *w->frames);
    w->node_of = stk_alloc_array((size_t)t->count + 1, sizeof *w->node_of);
    w->failed |= !w->frames || !w->node_of;
    if (!w->failed) {
        memset(w->node_of, 0xff, t->count * sizeof *w->node_of);
    }
    for (int on_device = 0; on_device < 2; on_device++) {
        enum stk_track_kind kind = on_device ? STK_TRACK_STREAM : STK_TRACK_THREAD;
        for (uint32_t k = 0; k < t->track_count && !w->failed; k++) {
            if (t->tracks[k].kind != kind) {
                continue;
            }
            if (stk_export_takes_track(w->x, w->f, &t->tracks[k])) {
                sweep_track(w, k);
            } else {
                w->x->counts.unselected += t->tracks[k].count;
            }
        }
    }
    stk_free(w->frames);
    stk_free(w->node_of);
}

// ---- from the tree to a list ----

static unsigned log2_of(int64_t ns)
{
    return ns > 0 ? 64u - (unsigned)__builtin_clzll((uint64_t)ns) : 0;
}

// If the text of all stacks would be too long, merges those with the least time into the ones
// around them: those below the smallest power of two that makes the text short enough.
static bool fold(struct sweep *w)
{
    size_t n = w->nodes.count;
    int64_t *whole_ns = stk_alloc_zero(n + 1, sizeof *whole_ns);       // including nested ones
    uint64_t *text_bytes = stk_alloc_array(n + 1, sizeof *text_bytes); // of the stack
    uint64_t bytes_by[65] = {0}, bytes = 0, max = BYTES_MIN + BYTES_PER_EVENT * w->x->counts.events;
    unsigned least = 65;
    for (size_t i = n; whole_ns && i-- > 0;) {
        const struct node *node = node_at(w, (uint32_t)i);
        whole_ns[i] = stk_add_ns(whole_ns[i], stk_add_ns(node->host_ns, node->device_ns));
        if (node->parent != STK_NONE) {
            whole_ns[node->parent] = stk_add_ns(whole_ns[node->parent], whole_ns[i]);
        }
    }
    for (size_t i = 0; whole_ns && text_bytes && i < n; i++) {
        const struct node *node = node_at(w, (uint32_t)i);
        uint64_t around = node->parent == STK_NONE ? 0 : text_bytes[node->parent] + 1;
        text_bytes[i] = around + w->out->frames.lengths[node->frame];
        bytes_by[log2_of(whole_ns[i])] += text_bytes[i];
    }
    while (least > 0 && bytes + bytes_by[least - 1] <= max) {
        bytes += bytes_by[--least];
    }
    for (size_t i = n; whole_ns && i-- > 0;) {
        struct node *node = node_at(w, (uint32_t)i);
        if (node->parent != STK_NONE && log2_of(whole_ns[i]) < least) {
            struct node *to = node_at(w, node->parent);
            to->host_ns = stk_add_ns(to->host_ns, node->host_ns);
            to->device_ns = stk_add_ns(to->device_ns, node->device_ns);
            node->frame = STK_NONE; // removed, after all nodes inside it
            w->x->counts.folded++;
        }
    }
    bool ok = whole_ns && text_bytes;
    stk_free(whole_ns);
    stk_free(text_bytes);
    return ok;
}

// Lists nodes by walking from the rows inwards; siblings are in the order first seen.
static bool list(struct sweep *w)
{
    size_t n = w->nodes.count;
    uint32_t *inner = stk_alloc_array(n + 1, sizeof *inner); // first node inside; [n]: first row
    uint32_t *next = stk_alloc_array(n + 1, sizeof *next);   // next sibling
    struct stk_stacks *s = w->out;
    s->stacks = stk_alloc_array(n + 1, sizeof *s->stacks);
    bool ok = inner && next && s->stacks;
    if (ok) {
        memset(inner, 0xff, (n + 1) * sizeof *inner);
    }
    for (size_t i = n; ok && i-- > 0;) {
        const struct node *node = node_at(w, (uint32_t)i);
        size_t parent = node->parent == STK_NONE ? n : node->parent;
        if (node->frame != STK_NONE) {
            next[i] = inner[parent];
            inner[parent] = (uint32_t)i;
        }
    }
    for (uint32_t i = ok ? inner[n] : STK_NONE; i != STK_NONE;) {
        const struct node *node = node_at(w, i);
        s->stacks[s->count++] =
            (struct stk_stack){node->frame, node->depth, node->host_ns, node->device_ns};
        s->host_ns = stk_add_ns(s->host_ns, node->host_ns);
        s->device_ns = stk_add_ns(s->device_ns, node->device_ns);
        w->x->counts.stacks += node->host_ns > 0 || node->device_ns > 0;
        uint32_t inside = inner[i];
        while (inside == STK_NONE && i != STK_NONE && next[i] == STK_NONE) {
            i = node_at(w, i)->parent;
        }
        i = inside != STK_NONE ? inside : i != STK_NONE ? next[i] : STK_NONE;
    }
    stk_free(inner);
    stk_free(next);
    return ok;
}

enum stoker_status stk_stacks_make(struct stk_export *x, struct stk_stacks *s,
                                   struct stoker_err *err)
{
    struct sweep *w = stk_alloc_zero(1, sizeof *w);
    *s = (struct stk_stacks){.first_ns = INT64_MAX, .last_ns = INT64_MIN};
    if (!w || stk_strpool_init(&s->frames, 0) != 0) {
        stk_free(w);
        return stk_err_nomem(err);
    }
    w->x = x;
    w->out = s;
    stk_vec_init(&w->nodes, sizeof(struct node), STK_NONE - 1);
    stk_map_init(&w->children, STK_NONE - 1);
    for (uint32_t i = 0; i < x->file_count && !w->failed; i++) {
        w->f = &x->files[i];
        sweep_file(w);
    }
    stk_map_deinit(&w->children);
    bool ok = !w->failed && fold(w) && list(w);
    stk_vec_deinit(&w->nodes);
    stk_free(w);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

void stk_stacks_deinit(struct stk_stacks *s)
{
    stk_strpool_deinit(&s->frames);
    stk_free(s->stacks);
    s->stacks = NULL;
    s->count = 0;
}

// ---- for writers ----

uint32_t stk_stack_path_next(struct stk_stack_path *path, const struct stk_stacks *s, uint32_t i,
                             const uint32_t **first)
{
    uint32_t depth = s->stacks[i].depth;
    path->at[depth] = i;
    *first = path->at + (depth > 0);
    return depth > 0 ? depth : 1;
}

struct stk_stack_source stk_stack_source_of(const struct stk_stacks *s, uint32_t frame)
{
    struct stk_str text = stk_strpool_get(&s->frames, frame);
    struct stk_python_frame f = stk_python_frame_parse(text);
    if (!f.line) {
        return (struct stk_stack_source){.name = text};
    }
    return (struct stk_stack_source){f.function, f.file, f.line};
}
