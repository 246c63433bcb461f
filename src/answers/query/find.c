// SPDX-License-Identifier: Apache-2.0
// Events by name: matches the pattern once per distinct string, then checks the bit of each event's
// string. If there are more rows than requested, a heap keeps the best, so that even a search for
// everything needs little memory.
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "base/sort.h"
#include "base/vec.h"
#include "answers/query/sql_impl.h"

struct hit {
    struct stk_query_event at;
    int64_t key; // smallest first
};
struct search {
    struct stk_query *q;
    const struct stk_find *find;
    struct stk_query_scan scan;
    struct stk_scan_names *names; // per trace
    uint8_t **takes;
    uint8_t **tracks;    // per trace and track: name of the track fits; NULL: all do
    uint8_t **on_path;   // per trace, a bit per event: on the critical path; NULL: not needed
    struct stk_vec hits; // struct hit; with a limit, a heap with the worst on top
    struct stk_found *found;
};

static bool is_regex(struct stk_str p)
{
    return p.n >= 2 && p.p[0] == '/' && p.p[p.n - 1] == '/';
}

static enum stoker_status compile(struct stk_str p, struct stk_regex **out, struct stoker_err *err)
{
    char why[STK_REGEX_WHY];
    struct stk_str text = {p.p + 1, p.n - 2};
    size_t at;
    *out = stk_regex_make(text, NULL, &at, why);
    if (*out) {
        return STOKER_OK;
    }
    return at == 0 ? stk_err_nomem(err)
                   : stk_err_set(err, STOKER_EUSAGE,
                                 "the pattern %.*s is not a regular expression: %s, at character "
                                 "%zu",
                                 text.n < 200 ? (int)text.n : 200, text.p, why, at);
}

// Whether a string fits; false with *status set: the search was given up.
static bool name_fits(struct search *s, struct stk_regex *regex, struct stk_str text,
                      enum stoker_status *status, struct stoker_err *err)
{
    char why[STK_REGEX_WHY];
    struct stk_str p = s->find->pattern;
    if (!regex) {
        return p.n == 0 || stk_str_contains_nocase(text, p);
    }
    int found = stk_regex_find(regex, text, 0, stk_sql_should_stop, s->q, why);
    if (found == -2) {
        *status = stk_err_nomem(err);
    } else if (found < 0) {
        *status = *why ? stk_err_set(err, STOKER_EUSAGE, "the pattern %.*s can't be searched: %s",
                                     p.n < 200 ? (int)p.n : 200, p.p, why)
                       : stk_err_set(err, STOKER_EINTR, "interrupted");
    }
    return found > 0;
}

static enum stoker_status match_names(struct search *s, struct stoker_err *err)
{
    struct stk_regex *regex = NULL;
    size_t n = (size_t)s->q->trace_count + 1;
    enum stoker_status status =
        is_regex(s->find->pattern) ? compile(s->find->pattern, &regex, err) : STOKER_OK;
    if (status != STOKER_OK) {
        return status;
    }
    s->names = stk_alloc_zero(n, sizeof *s->names);
    s->takes = stk_alloc_zero(n, sizeof *s->takes);
    bool ok = s->names && s->takes;
    for (uint32_t i = 0; i < s->q->trace_count && ok && status == STOKER_OK; i++) {
        const struct stk_strpool *pool = &s->q->traces[i].t->strings;
        s->takes[i] = stk_alloc_array((size_t)pool->count + 1, 1);
        ok = s->takes[i] != NULL;
        for (uint32_t id = 0; ok && id < pool->count && status == STOKER_OK; id++) {
            s->takes[i][id] = name_fits(s, regex, stk_strpool_get(pool, id), &status, err);
        }
        s->names[i].takes = s->takes[i];
    }
    stk_regex_free(regex);
    return ok ? status : stk_err_nomem(err);
}

// Whether the name of a track, or of its parent for a sub-row, fits; "thread 7" is also accepted.
static bool track_fits(const struct stk_trace *t, uint32_t k, struct stk_str wanted)
{
    char text[64];
    if (t->tracks[k].parent != STK_NONE && t->tracks[k].parent < t->track_count) {
        k = t->tracks[k].parent;
    }
    const struct stk_track *track = &t->tracks[k];
    if (track->name && stk_str_contains_nocase(stk_strpool_get(&t->strings, track->name), wanted)) {
        return true;
    }
    snprintf(text, sizeof text, "%s %lld", track->kind == STK_TRACK_STREAM ? "stream" : "thread",
             (long long)track->id);
    return stk_str_eq_nocase(stk_str_from(text), wanted);
}

static bool match_tracks(struct search *s)
{
    struct stk_str wanted = s->find->track_name;
    if (s->find->has_track || wanted.n == 0) {
        return true;
    }
    s->tracks = stk_alloc_zero((size_t)s->q->trace_count + 1, sizeof *s->tracks);
    for (uint32_t i = 0; s->tracks && i < s->q->trace_count; i++) {
        const struct stk_trace *t = s->q->traces[i].t;
        s->tracks[i] = stk_alloc_zero((size_t)t->track_count + 1, 1);
        if (!s->tracks[i]) {
            return false;
        }
        for (uint32_t k = 0; k < t->track_count; k++) {
            s->tracks[i][k] = track_fits(t, k, wanted);
        }
    }
    return s->tracks != NULL;
}

// The events on the paths of all ranks of each trace.
static bool match_path(struct search *s)
{
    const struct stk_query_source *source = &s->q->source;
    if (!s->find->on_path) {
        return true;
    }
    s->on_path = stk_alloc_zero((size_t)s->q->trace_count + 1, sizeof *s->on_path);
    for (uint32_t i = 0; s->on_path && i < s->q->trace_count; i++) {
        const struct stk_trace *t = s->q->traces[i].t;
        uint8_t *bits = s->on_path[i] = stk_alloc_zero((size_t)t->count / 8 + 1, 1);
        if (!bits) {
            return false;
        }
        for (uint32_t r = 0; r < source->rank_count; r++) {
            const struct stk_path_pieces *path = &source->ranks[r].path;
            for (size_t k = 0; source->ranks[r].trace == t && k < path->event_count; k++) {
                bits[path->events[k] / 8] |= (uint8_t)(1u << path->events[k] % 8);
            }
        }
    }
    return s->on_path != NULL;
}

static bool path_fits(const struct search *s, const struct stk_query_event *v)
{
    return !s->on_path || s->on_path[v->trace][v->event / 8] >> v->event % 8 & 1;
}

static void set_filters(struct search *s)
{
    const struct stk_find *f = s->find;
    stk_query_scan_init(&s->scan, s->q);
    s->scan.names = s->names;
    s->scan.stop = stk_sql_should_stop;
    s->scan.stop_arg = s->q;
    if (f->kind >= 0) {
        s->scan.kinds = 1u << f->kind;
    }
    // Never more than fit.
    bool ok = true;
    if (f->has_from) {
        ok &= stk_query_scan_add(&s->scan, STK_FIELD_START, STK_OP_GE, f->from_ns);
    }
    if (f->has_to) {
        ok &= stk_query_scan_add(&s->scan, STK_FIELD_START, STK_OP_LT, f->to_ns);
    }
    if (f->min_dur_ns > 0) {
        ok &= stk_query_scan_add(&s->scan, STK_FIELD_DUR, STK_OP_GE, f->min_dur_ns);
    }
    if (f->max_dur_ns < INT64_MAX) {
        ok &= stk_query_scan_add(&s->scan, STK_FIELD_DUR, STK_OP_LE, f->max_dur_ns);
    }
    if (f->has_steps) {
        ok &= stk_query_scan_add(&s->scan, STK_FIELD_STEP, STK_OP_GE, f->step_first);
        ok &= stk_query_scan_add(&s->scan, STK_FIELD_STEP, STK_OP_LE, f->step_last);
    }
    if (f->has_track) {
        ok &= stk_query_scan_add(&s->scan, STK_FIELD_TRACK, STK_OP_EQ, f->track);
    }
    (void)ok;
}

static bool worse(const struct hit *a, const struct hit *b)
{
    if (a->key != b->key) {
        return a->key > b->key;
    }
    if (a->at.trace != b->at.trace) {
        return a->at.trace > b->at.trace;
    }
    return a->at.event > b->at.event;
}

static void sink_down(struct hit *heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && worse(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!worse(&heap[child], &heap[i])) {
            return;
        }
        struct hit held = heap[i];
        heap[i] = heap[child];
        heap[child] = held;
    }
}

static bool find_keep(struct search *s, const struct hit *hit)
{
    struct hit *heap = s->hits.items;
    uint64_t limit = s->find->limit;
    if (limit && s->hits.count >= limit) {
        if (worse(hit, &heap[0])) {
            return true;
        }
        heap[0] = *hit;
        sink_down(heap, s->hits.count, 0);
        return true;
    }
    struct hit *place = stk_vec_push(&s->hits);
    if (!place) {
        return false;
    }
    *place = *hit;
    if (limit && s->hits.count == limit) {
        for (size_t i = s->hits.count / 2; i-- > 0;) {
            sink_down(s->hits.items, s->hits.count, i);
        }
    }
    return true;
}

static bool device_fits(const struct search *s, const struct stk_query_event *v)
{
    const struct stk_trace *t = v->x->t;
    uint32_t device = t->tracks[v->track].device;
    return !s->find->has_device ||
           (device != STK_NONE && t->devices[device].ordinal == s->find->device);
}

static enum stoker_status find_collect(struct search *s, struct stoker_err *err)
{
    stk_query_scan_begin(&s->scan);
    while (stk_query_scan_next(&s->scan)) {
        struct hit hit = {.at = s->scan.at};
        int64_t dur = stk_dur_ns(hit.at.x->t, hit.at.event);
        if (!device_fits(s, &hit.at) || !path_fits(s, &hit.at) ||
            (s->tracks && !s->tracks[hit.at.trace][hit.at.track])) {
            continue;
        }
        s->found->count++;
        if (__builtin_add_overflow(s->found->total_ns, dur, &s->found->total_ns)) {
            s->found->total_ns = INT64_MAX;
        }
        uint8_t *seen = &s->takes[hit.at.trace][hit.at.x->t->name[hit.at.event]];
        s->found->names += *seen == 1;
        *seen = 2;
        hit.key =
            s->find->by_time ? hit.at.x->t->start_ns[hit.at.event] + hit.at.x->shift_ns : -dur;
        if (!find_keep(s, &hit)) {
            return stk_err_nomem(err);
        }
    }
    return s->scan.stopped ? stk_err_set(err, STOKER_EINTR, "interrupted") : STOKER_OK;
}

static int compare_hits(const void *pa, const void *pb)
{
    const struct hit *a = pa, *b = pb;
    return worse(a, b) - worse(b, a);
}

static enum stoker_status find_emit(struct search *s, const struct stk_query_sink *sink,
                                    struct stoker_err *err)
{
    static const enum stk_query_field fields[] = {STK_FIELD_RANK, STK_FIELD_DEVICE, STK_FIELD_TRACK,
                                                  STK_FIELD_KIND, STK_FIELD_NAME,   STK_FIELD_START,
                                                  STK_FIELD_DUR,  STK_FIELD_STEP,   STK_FIELD_ID};
    enum { COUNT = sizeof fields / sizeof fields[0] };
    struct stk_query_column columns[COUNT];
    struct stk_query_value values[COUNT];
    for (int i = 0; i < COUNT; i++) {
        columns[i] = (struct stk_query_column){.name = stk_query_fields[fields[i]].column,
                                               .type = stk_query_fields[fields[i]].type};
    }
    stk_sort(s->hits.items, s->hits.count, sizeof(struct hit), compare_hits);
    enum stoker_status status = sink->begin(sink->arg, columns, COUNT, err);
    for (size_t h = 0; h < s->hits.count && status == STOKER_OK; h++) {
        const struct hit *hit = stk_vec_at(&s->hits, h);
        for (int i = 0; i < COUNT; i++) {
            stk_query_value_of(&hit->at, fields[i], &values[i]);
        }
        status = sink->row(sink->arg, values, err);
    }
    return status;
}

enum stoker_status stk_query_find(struct stk_query *q, const struct stk_find *find,
                                  const struct stk_query_sink *sink, struct stk_found *found,
                                  struct stoker_err *err)
{
    struct search s = {.q = q, .find = find, .found = found};
    *found = (struct stk_found){.count = 0};
    q->db->timed_out = q->db->interrupted = false;
    q->db->deadline_ns = 0;
    stk_vec_init(&s.hits, sizeof(struct hit), UINT32_MAX);
    enum stoker_status status = match_names(&s, err);
    if (status == STOKER_OK && !(match_tracks(&s) && match_path(&s))) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        set_filters(&s);
        status = find_collect(&s, err);
    }
    if (status == STOKER_OK) {
        status = find_emit(&s, sink, err);
    }
    for (uint32_t i = 0; i < q->trace_count; i++) {
        if (s.takes) {
            stk_free(s.takes[i]);
        }
        if (s.tracks) {
            stk_free(s.tracks[i]);
        }
        if (s.on_path) {
            stk_free(s.on_path[i]);
        }
    }
    stk_free(s.on_path);
    stk_free(s.takes);
    stk_free(s.tracks);
    stk_free(s.names);
    stk_vec_deinit(&s.hits);
    return status;
}
