// SPDX-License-Identifier: Apache-2.0
// Runtime and driver calls by name: how long they take, how many take more than SLOW_TIMES their
// median, and whether devices were busy meanwhile. Nested calls of one thread (a driver call inside
// a runtime call) both count, each under its own name. "Command Buffer Full" is what CUPTI calls
// the time that a launch waits for room (Kineto: overhead rows; Nsight Systems:
// CUPTI_ACTIVITY_KIND_OVERHEAD).
// Method: durations are grouped by name; counting them first keeps the cost linear.
#include <string.h>

#include "base/alloc.h"
#include "profile/model/median.h"
#include "profile/model/idle/span_layers.h"
#include "answers/passes/stats/stats_launches.h"

#define SLOW_TIMES 10

struct sweep {
    const struct stk_analysis *view;
    uint32_t *first; // per string id: where its durations begin, then where the next goes
    int64_t *durs;   // by name
    int64_t *limit;  // per string id: above it a call is slow
    struct stk_call_row **rows; // per string id; NULL: no call has the name
    struct stk_spans host;
    const struct stk_spans *busy; // of any device
    const int64_t *busy_sums;
    struct stk_spans all_busy; // where there are several
    int64_t *all_sums;
};

static bool is_host_track(const struct stk_analysis *v, uint32_t track)
{
    return v->t->tracks[track].kind == STK_TRACK_THREAD && v->in_rank[v->t->tracks[track].process];
}

// Calls fn for each selected runtime call.
static void each_call(struct sweep *s, void (*fn)(struct sweep *s, uint32_t event))
{
    const struct stk_trace *t = s->view->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        struct stk_view_cursor cursor = {&s->host, 0};
        if (!is_host_track(s->view, k)) {
            continue;
        }
        for (uint32_t e = t->tracks[k].first; e < t->tracks[k].first + t->tracks[k].count; e++) {
            if (t->kind[e] == STK_KIND_RUNTIME && stk_view_in(&cursor, t->start_ns[e])) {
                fn(s, e);
            }
        }
    }
}

static void count_call(struct sweep *s, uint32_t event)
{
    s->first[s->view->t->name[event] + 1]++;
}

static void put_call(struct sweep *s, uint32_t event)
{
    s->durs[s->first[s->view->t->name[event]]++] = stk_dur_ns(s->view->t, event);
}

static void add_slow(struct sweep *s, uint32_t event)
{
    const struct stk_trace *t = s->view->t;
    int64_t dur_ns = stk_dur_ns(t, event);
    if (dur_ns <= s->limit[t->name[event]]) {
        return;
    }
    struct stk_call_row *row = s->rows[t->name[event]];
    row->slow_count++;
    row->slow_ns += dur_ns;
    row->slow_busy_ns +=
        stk_spans_measure(s->busy, s->busy_sums, t->start_ns[event], stk_end_ns(t, event));
}

static void slow_calls_measure(struct stk_call_row *row, int64_t *durs, size_t n)
{
    row->count = n;
    for (size_t i = 0; i < n; i++) {
        row->total_ns += durs[i];
        row->max_ns = durs[i] > row->max_ns ? durs[i] : row->max_ns;
    }
    row->median_ns = stk_median_low(durs, n);
    row->p95_ns = stk_nth_value(durs, n, (n * 95 + 99) / 100 - 1);
}

static bool find_busy(struct sweep *s)
{
    const struct stk_device_line *lines = s->view->lines;
    struct stk_layers layers;
    struct stk_layer all = {{0}, {0}};
    struct stk_spans copy;
    bool ok = true;
    if (s->view->sum->device_count == 1) {
        s->busy = &lines[0].busy;
        s->busy_sums = lines[0].busy_sums;
        return true;
    }
    stk_layers_init(&layers, false);
    stk_spans_init(&copy);
    for (uint32_t d = 0; d < s->view->sum->device_count && ok; d++) {
        ok = stk_spans_clip(&lines[d].busy, INT64_MIN, INT64_MAX, &copy) &&
             stk_layers_add(&layers, &copy);
    }
    ok = ok && stk_layers_end(&layers, &all);
    s->all_busy = all.once;
    stk_layers_deinit(&layers);
    stk_spans_deinit(&copy);
    s->busy = &s->all_busy;
    s->busy_sums = s->all_sums = ok ? stk_spans_sums(s->busy) : NULL;
    return s->busy_sums != NULL;
}

static bool make_rows(struct sweep *s, struct stk_name_cache *names, struct stk_arena *arena,
                      struct stk_calls *out)
{
    uint32_t ids = s->view->t->strings.count, begin = 0;
    for (uint32_t id = 0; id < ids; id++) { // after put_call: where the durations of the name end
        out->count += s->first[id] > begin;
        begin = s->first[id];
    }
    out->v = stk_arena_array(arena, out->count + 1, sizeof *out->v);
    if (!out->v) {
        return false;
    }
    struct stk_call_row *row = out->v;
    begin = 0;
    for (uint32_t id = 0; id < ids; id++) {
        uint32_t end = s->first[id];
        if (end > begin) {
            row->name = stk_name_cache_get(names, id);
            if (!row->name) {
                return false;
            }
            slow_calls_measure(row, s->durs + begin, end - begin);
            if (__builtin_mul_overflow(row->median_ns, SLOW_TIMES, &s->limit[id])) {
                s->limit[id] = INT64_MAX;
            }
            s->rows[id] = row++;
        }
        begin = end;
    }
    return true;
}

static int64_t buffer_full_ns(struct sweep *s)
{
    const struct stk_trace *t = s->view->t;
    uint32_t name = stk_strpool_find(&t->strings, "Command Buffer Full", 19);
    int64_t sum_ns = 0;
    if (name == STK_STRPOOL_FAILED || name >= t->strings.count) {
        return -1;
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        struct stk_running_union all = STK_RUNNING_UNION;
        struct stk_view_cursor cursor = {&s->host, 0};
        if (t->tracks[k].kind == STK_TRACK_COUNTER || !s->view->in_rank[t->tracks[k].process]) {
            continue;
        }
        for (uint32_t e = t->tracks[k].first; e < t->tracks[k].first + t->tracks[k].count; e++) {
            if (t->name[e] == name && stk_view_in(&cursor, t->start_ns[e])) {
                stk_running_union_add(&all, t->start_ns[e], stk_end_ns(t, e));
            }
        }
        sum_ns += all.total_ns;
    }
    return sum_ns;
}

static bool slow_calls_sweep_all(struct sweep *s, struct stk_name_cache *names,
                                 struct stk_arena *arena, struct stk_calls *out)
{
    size_t ids = s->view->t->strings.count;
    if (!stk_view_selected_host(s->view, &s->host)) {
        return false;
    }
    s->first = stk_alloc_zero(ids + 2, sizeof *s->first);
    s->limit = stk_alloc_zero(ids + 1, sizeof *s->limit);
    s->rows = stk_alloc_zero(ids + 1, sizeof *s->rows);
    if (!s->first || !s->limit || !s->rows || !find_busy(s)) {
        return false;
    }
    each_call(s, count_call);
    for (size_t id = 1; id <= ids; id++) {
        s->first[id] += s->first[id - 1];
    }
    s->durs = stk_alloc_array((size_t)s->first[ids] + 1, sizeof *s->durs);
    if (!s->durs) {
        return false;
    }
    each_call(s, put_call);
    if (!make_rows(s, names, arena, out)) {
        return false;
    }
    each_call(s, add_slow);
    out->buffer_full_ns = buffer_full_ns(s);
    return true;
}

enum stoker_status stk_calls_sum(const struct stk_analysis *view, struct stk_name_cache *names,
                                 struct stk_arena *arena, struct stk_calls *out,
                                 struct stoker_err *err)
{
    struct sweep s = {.view = view};
    *out = (struct stk_calls){.buffer_full_ns = -1};
    stk_spans_init(&s.host);
    stk_spans_init(&s.all_busy);
    bool ok = slow_calls_sweep_all(&s, names, arena, out);
    stk_spans_deinit(&s.host);
    stk_spans_deinit(&s.all_busy);
    stk_free(s.first);
    stk_free(s.limit);
    stk_free(s.rows);
    stk_free(s.durs);
    stk_free(s.all_sums);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
