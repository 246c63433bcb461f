// SPDX-License-Identifier: Apache-2.0
// Evidence per part: see causes.h.
//
// Method: nanoseconds and counts per part and name in a table by string id, per (part, name, name
// around) in a hash map; the longest intervals by insertion into a list of STK_CAUSE_EXAMPLES. An
// interval is named after the event that fills most of it. Only used steps count.

#include "profile/model/idle/causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/idle/owners.h"
#include "profile/model/threads/python_frame.h"

#define THREAD_ID_MAX (1 << 22) // Linux's limit; TensorFlow and JAX write hashes

struct aggregate {
    int64_t ns;
    uint32_t count;
    uint32_t name, around;            // string ids; around 0: none
    uint32_t first_event, last_event; // of its pieces: consecutive pieces of one event count once
    uint8_t part;
    bool has_around;
};

// Neighboring pieces of one part in one window.
struct interval {
    int64_t start_ns, end_ns;
    int64_t longest_ns;     // of its pieces
    uint32_t event, around; // of that piece
    int part;               // -1: none is open
};

struct example {
    int64_t start_ns, dur_ns;
    uint32_t event, around; // of the piece that fills most of it
    uint32_t step;          // host step, STK_NONE
};

struct stk_causes {
    struct stk_analysis *a;
    const struct stk_window *windows;
    uint32_t window_count, at;
    int64_t *parts; // per window, STK_PART_COUNT each
    struct interval interval;
    uint32_t *plain[STK_PART_COUNT]; // per part and name, without a name around: tally + 1
    struct stk_map index;            // (part and around, name) -> tally
    struct stk_vec tallies;
    struct stk_vec code; // struct stk_code_piece
    struct example examples[STK_PART_COUNT][STK_CAUSE_EXAMPLES];
    int example_count[STK_PART_COUNT];
    int64_t ns[STK_PART_COUNT];
    uint32_t intervals[STK_PART_COUNT];
};

struct stk_causes *stk_causes_new(struct stk_analysis *a)
{
    struct stk_causes *c = stk_alloc_zero(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->a = a;
    c->interval.part = -1;
    stk_map_init(&c->index, UINT32_MAX - 1);
    stk_vec_init(&c->tallies, sizeof(struct aggregate), UINT32_MAX - 1);
    stk_vec_init(&c->code, sizeof(struct stk_code_piece), UINT32_MAX - 1);
    return c;
}

void stk_causes_free(struct stk_causes *c)
{
    if (!c) {
        return;
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        stk_free(c->plain[p]);
    }
    stk_free(c->parts);
    stk_map_deinit(&c->index);
    stk_vec_deinit(&c->tallies);
    stk_vec_deinit(&c->code);
    stk_free(c);
}

static void keep_example(struct stk_causes *c, int part, const struct example *x)
{
    struct example *list = c->examples[part];
    int n = c->example_count[part], at = n;
    while (at > 0 && list[at - 1].dur_ns < x->dur_ns) {
        at--;
    }
    if (at == STK_CAUSE_EXAMPLES) {
        return;
    }
    if (n < STK_CAUSE_EXAMPLES) {
        c->example_count[part] = ++n;
    }
    memmove(&list[at + 1], &list[at], (size_t)(n - 1 - at) * sizeof *list);
    list[at] = *x;
}

static void close_interval(struct stk_causes *c)
{
    struct interval *v = &c->interval;
    if (v->part < 0) {
        return;
    }
    c->intervals[v->part]++;
    uint32_t step = c->at < c->window_count ? c->windows[c->at].step : STK_NONE;
    struct example x = {v->start_ns, v->end_ns - v->start_ns, v->event, v->around, step};
    const struct example *list = c->examples[v->part];
    if (c->example_count[v->part] < STK_CAUSE_EXAMPLES ||
        list[STK_CAUSE_EXAMPLES - 1].dur_ns < x.dur_ns) {
        keep_example(c, v->part, &x);
    }
    v->part = -1;
}

static struct aggregate *new_aggregate(struct stk_causes *c, int part, uint32_t name,
                                       uint32_t around, bool has_around, uint32_t event)
{
    struct aggregate *new = stk_vec_push(&c->tallies);
    if (new) {
        *new = (struct aggregate){.name = name,
                                  .around = around,
                                  .first_event = event,
                                  .last_event = STK_NONE,
                                  .part = (uint8_t)part,
                                  .has_around = has_around};
    }
    return new;
}

// Tally of a part and names, created if missing, for a first piece that `event` explains.
static struct aggregate *aggregate_of(struct stk_causes *c, int part, uint32_t name,
                                      uint32_t around, bool has_around, uint32_t event)
{
    uint32_t next = (uint32_t)c->tallies.count;
    if (!has_around) {
        uint32_t **table = &c->plain[part];
        if (!*table) {
            *table = stk_alloc_zero((size_t)c->a->t->strings.count + 1, sizeof **table);
        }
        if (!*table) {
            return NULL;
        }
        if ((*table)[name]) {
            return stk_vec_at(&c->tallies, (*table)[name] - 1);
        }
        struct aggregate *first = new_aggregate(c, part, name, 0, false, event);
        (*table)[name] = first ? next + 1 : 0; // also set if memory ran out
        return first;
    }
    int created = 0;
    uint32_t *slot = stk_map_put(&c->index, (uint64_t)part << 32 | around, name, next, &created);
    if (!slot) {
        return NULL;
    }
    if (!created && *slot < next) {
        return stk_vec_at(&c->tallies, *slot);
    }
    *slot = next; // the slot stays empty if the tally couldn't be made
    return new_aggregate(c, part, name, around, true, event);
}

// Keeps the thread's time of a piece, to find out whose code it is.
static bool keep_code(struct stk_causes *c, int64_t start_ns, int64_t end_ns, int part,
                      uint32_t event)
{
    if (event == STK_NONE || !stk_part_has_owner((enum stk_part)part) || !c->a->has_users_code) {
        return true;
    }
    uint32_t thread = stk_thread_of(c->a, event);
    // A wait for input may be explained by other threads (owners.c).
    if (thread == STK_NONE || (part != STK_PART_INPUT && !c->a->threads[thread].has_users_code)) {
        return true;
    }
    struct stk_code_piece *last = c->code.count ? stk_vec_at(&c->code, c->code.count - 1) : NULL;
    if (last && last->end_ns == start_ns && last->thread == thread && last->part == part) {
        last->end_ns = end_ns;
        return true;
    }
    struct stk_code_piece *new = stk_vec_push(&c->code);
    if (new) {
        *new = (struct stk_code_piece){start_ns, end_ns, thread, (uint8_t)part};
    }
    return new != NULL;
}

// A piece inside one used window.
static bool count_used(struct stk_causes *c, int64_t start_ns, int64_t end_ns, int part,
                       uint32_t event, uint32_t around)
{
    const uint32_t *names = c->a->t->name;
    struct interval *v = &c->interval;
    int64_t ns = end_ns - start_ns;
    c->ns[part] += ns;
    if (v->end_ns == start_ns && v->part == part) {
        v->end_ns = end_ns;
        if (ns > v->longest_ns) {
            v->longest_ns = ns;
            v->event = event;
            v->around = around;
        }
    } else {
        close_interval(c);
        *v = (struct interval){start_ns, end_ns, ns, event, around, part};
    }
    uint32_t name = event == STK_NONE ? 0 : names[event];
    uint32_t outer = around == STK_NONE ? 0 : names[around];
    struct aggregate *aggregate = aggregate_of(c, part, name, outer, around != STK_NONE, event);
    if (!aggregate) {
        return false;
    }
    aggregate->ns += ns;
    aggregate->count += event == STK_NONE || event != aggregate->last_event;
    aggregate->last_event = event;
    return keep_code(c, start_ns, end_ns, part, event == STK_NONE ? around : event);
}

bool stk_causes_begin(struct stk_causes *c, const struct stk_window *windows, uint32_t count)
{
    STK_ASSERT(count == 0 || windows);
    c->windows = windows;
    c->window_count = count;
    c->at = 0;
    c->parts = stk_alloc_zero((size_t)count + 1, STK_PART_COUNT * sizeof *c->parts);
    return c->parts != NULL;
}

void stk_causes_rewind(struct stk_causes *c)
{
    close_interval(c);
    c->at = 0;
}

bool stk_causes_add(struct stk_causes *c, int64_t start_ns, int64_t end_ns, enum stk_part part,
                    uint32_t event, uint32_t around)
{
    STK_ASSERT((unsigned)part < STK_PART_COUNT);
    STK_ASSERT(event == STK_NONE || event < c->a->t->count);
    while (start_ns < end_ns) {
        while (c->at < c->window_count && c->windows[c->at].end_ns <= start_ns) {
            close_interval(c);
            c->at++;
        }
        if (c->at == c->window_count || c->windows[c->at].start_ns >= end_ns) {
            return true;
        }
        const struct stk_window *w = &c->windows[c->at];
        int64_t from = start_ns > w->start_ns ? start_ns : w->start_ns;
        int64_t to = end_ns < w->end_ns ? end_ns : w->end_ns;
        c->parts[(size_t)c->at * STK_PART_COUNT + part] += to - from;
        if (w->used && from < to && !count_used(c, from, to, part, event, around)) {
            return false;
        }
        start_ns = to;
    }
    return true;
}

void stk_causes_settle(struct stk_causes *c, int64_t *span_parts)
{
    close_interval(c);
    for (uint32_t i = 0; i < c->window_count; i++) {
        const struct stk_window *w = &c->windows[i];
        int64_t *into = w->row == STK_NONE ? span_parts : c->a->sum->steps[w->row].parts;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            into[p] += c->parts[(size_t)i * STK_PART_COUNT + (size_t)p];
        }
    }
}

bool stk_causes_merge(struct stk_causes *into, const struct stk_causes *from)
{
    for (size_t i = 0; i < from->tallies.count; i++) {
        const struct aggregate *x = stk_vec_at(&from->tallies, i);
        struct aggregate *y =
            aggregate_of(into, x->part, x->name, x->around, x->has_around, x->first_event);
        if (!y) {
            return false;
        }
        y->ns += x->ns;
        y->count += x->count - (x->first_event != STK_NONE && x->first_event == y->last_event);
        y->last_event = x->last_event;
    }
    for (size_t i = 0; i < from->code.count; i++) {
        const struct stk_code_piece *x = stk_vec_at(&from->code, i);
        struct stk_code_piece *new = stk_vec_push(&into->code);
        if (!new) {
            return false;
        }
        *new = *x;
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        for (int i = 0; i < from->example_count[p]; i++) {
            keep_example(into, p, &from->examples[p][i]);
        }
        into->ns[p] += from->ns[p];
        into->intervals[p] += from->intervals[p];
    }
    return true;
}

static const char *thread_label(struct stk_causes *c, uint32_t track)
{
    const struct stk_trace *t = c->a->t;
    const struct stk_track *k = &t->tracks[track];
    struct stk_str name = stk_strpool_get(&t->strings, k->name);
    if (k->kind == STK_TRACK_STREAM && k->device != STK_NONE) {
        return stk_arena_printf(c->a->out, "%s %lld stream %lld",
                                t->devices[k->device].kind == STK_DEVICE_TPU ? "TPU" : "GPU",
                                (long long)t->devices[k->device].ordinal, (long long)k->id);
    }
    int n = name.n < 80 ? (int)name.n : 80;
    if (stk_str_starts(name, STK_STR("thread "))) {
        return stk_arena_printf(c->a->out, "%.*s", n, name.p);
    }
    if (n > 0 && (k->id < 0 || k->id > THREAD_ID_MAX)) { // made up by the profiler
        return stk_arena_printf(c->a->out, "thread %.*s", n, name.p);
    }
    if (n > 0) {
        return stk_arena_printf(c->a->out, "thread %lld (%.*s)", (long long)k->id, n, name.p);
    }
    return stk_arena_printf(c->a->out, "thread %lld", (long long)k->id);
}

// Is it unexplained idle time that a device operation ends? Its text says "before".
static bool lies_before(const struct stk_causes *c, int part, uint32_t event)
{
    return part == STK_PART_UNKNOWN && event != STK_NONE &&
           stk_kind_is_device_work(c->a->t->kind[event]);
}

// "cudaStreamSynchronize in aten::item", "unrecorded time after aten::add", in the results' arena.
static const char *name_text(struct stk_causes *c, uint32_t name, uint32_t around, bool before)
{
    const struct stk_strpool *pool = &c->a->t->strings;
    struct stk_str n = stk_strpool_get(pool, name), o = stk_strpool_get(pool, around);
    o.n = stk_python_frame_is_hooks(o) ? 0 : o.n; // code that ran for the recording isn't the job's
    if (n.n == 0 && o.n == 0) {
        return "";
    }
    if (before) {
        return stk_arena_printf(c->a->out, "before %.*s", (int)(n.n < 400 ? n.n : 400), n.p);
    }
    if (n.n == 0) {
        return stk_arena_printf(c->a->out, "unrecorded time after %.*s",
                                (int)(o.n < 400 ? o.n : 400), o.p);
    }
    if (o.n == 0 || around == name) {
        return stk_arena_strndup(c->a->out, n.p, n.n);
    }
    return stk_arena_printf(c->a->out, "%.*s in %.*s", (int)(n.n < 400 ? n.n : 400), n.p,
                            (int)(o.n < 400 ? o.n : 400), o.p);
}

STK_ORDER(by_ns, struct aggregate, STK_UP(part) STK_DOWN(ns) STK_UP(name) STK_UP(around))

static bool is_of_hooks(const struct stk_causes *c, const struct aggregate *x)
{
    const struct stk_strpool *pool = &c->a->t->strings;
    return stk_python_frame_is_hooks(stk_strpool_get(pool, x->name)) ||
           stk_python_frame_is_hooks(stk_strpool_get(pool, x->around));
}

static bool fill_names(struct stk_causes *c)
{
    struct aggregate *list = c->tallies.items;
    stk_sort(list, c->tallies.count, sizeof *list, by_ns);
    for (size_t i = 0; i < c->tallies.count; i++) {
        struct stk_cause *cause = &c->a->sum->causes[list[i].part];
        bool has_name = (list[i].name != 0 || list[i].around != 0) && !is_of_hooks(c, &list[i]);
        if (!has_name || cause->name_count == STK_CAUSE_NAMES) {
            continue;
        }
        const char *text = name_text(c, list[i].name, list[i].around,
                                     lies_before(c, list[i].part, list[i].first_event));
        if (!text) {
            return false;
        }
        cause->names[cause->name_count++] =
            (struct stk_cause_name){text, list[i].ns, list[i].count};
    }
    return true;
}

static bool fill_examples(struct stk_causes *c, int part)
{
    const struct stk_trace *t = c->a->t;
    struct stk_cause *cause = &c->a->sum->causes[part];
    for (int i = 0; i < c->example_count[part]; i++) {
        const struct example *x = &c->examples[part][i];
        struct stk_example *e = &cause->examples[cause->example_count++];
        *e = (struct stk_example){x->start_ns, x->dur_ns, "", "", -1};
        if (x->step != STK_NONE) {
            e->step = c->a->steps[x->step].number;
        }
        uint32_t seen = x->event != STK_NONE ? x->event : x->around;
        if (seen == STK_NONE) {
            continue;
        }
        uint32_t around = x->around == STK_NONE ? 0 : t->name[x->around];
        e->name = name_text(c, x->event == STK_NONE ? 0 : t->name[x->event], around,
                            lies_before(c, part, x->event));
        e->track = thread_label(c, stk_thread_of(c->a, seen));
        if (!e->name || !e->track) {
            return false;
        }
    }
    return true;
}

// Steps in which the part is 1% or more, on any device.
static bool count_affected(struct stk_causes *c)
{
    const struct stk_rank_sum *sum = c->a->sum;
    uint8_t *seen = stk_alloc_zero((size_t)c->a->step_count + 1, STK_PART_COUNT);
    if (!seen) {
        return false;
    }
    uint32_t per_device = c->a->step_count;
    for (uint32_t i = 0; i < sum->step_count && per_device; i++) {
        const struct stk_step *s = &sum->steps[i];
        for (int p = 0; p < STK_PART_COUNT && !s->excluded; p++) {
            if (s->parts[p] > 0 && s->parts[p] >= s->dur_ns / 100) {
                seen[(i % per_device) * STK_PART_COUNT + (size_t)p] = 1;
            }
        }
    }
    for (uint32_t i = 0; i < per_device; i++) {
        for (int p = 0; p < STK_PART_COUNT; p++) {
            c->a->sum->causes[p].steps_affected += seen[i * STK_PART_COUNT + (size_t)p];
        }
    }
    stk_free(seen);
    return true;
}

bool stk_causes_finish(struct stk_causes *c)
{
    bool ok =
        fill_names(c) && count_affected(c) && stk_owners_fill(c->a, c->code.items, c->code.count);
    for (int p = 0; p < STK_PART_COUNT && ok; p++) {
        c->a->sum->causes[p].ns = c->ns[p];
        c->a->sum->causes[p].intervals = c->intervals[p];
        ok = fill_examples(c, p);
    }
    return ok;
}
