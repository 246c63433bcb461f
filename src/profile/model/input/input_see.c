// SPDX-License-Identifier: Apache-2.0
// Stages of the input pipeline: see input_stages.h. This finishes the sums of input_walk.c: the
// work of workers that the profile doesn't show, how many threads shared it, where it ran, and the
// fetches that hold up the training.
#include "base/assert.h"
#include "profile/model/input/input_walk.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/median.h"

// For each stage, the work of the stages that feed it, up to the next one with workers of its own,
// plus the time that its workers wait for that one. Callers come first in the list.
static int64_t *sum_before(struct stk_input_walk *w)
{
    int64_t *before_ns = stk_alloc_zero(w->stages.count + 1, sizeof *before_ns);
    for (uint32_t i = 0; i < w->stages.count && before_ns; i++) {
        struct stk_input_stage *s = &stk_input_stage_at(w, i)->sum;
        uint32_t above = s->parent;
        s->section = above == STK_NONE ? STK_NONE
                     : stk_input_stage_at(w, above)->sum.is_async
                         ? above
                         : stk_input_stage_at(w, above)->sum.section;
        if (s->section != STK_NONE) {
            int64_t ns = s->is_async ? s->wait_ns : s->self_ns;
            before_ns[s->section] = stk_add_ns(before_ns[s->section], ns);
        }
    }
    w->failed |= !before_ns;
    return before_ns;
}

// A stage whose workers aren't in the profile: its caller's waiting counts as its work.
static void settle_async(struct stk_input_walk *w, struct stk_input_growing *g, int64_t before_ns)
{
    if (g->has_functions || !g->sum.calls || !g->sum.is_async) {
        return;
    }
    if (g->has_children && g->sum.kind != STK_INPUT_PREPROCESS && g->sum.kind != STK_INPUT_DECODE) {
        return; // the stages that feed it do the work
    }
    int64_t work_ns = g->sum.wait_ns > before_ns ? g->sum.wait_ns - before_ns : 0;
    g->sum.self_ns = stk_add_ns(g->sum.self_ns, work_ns);
    g->sum.wait_ns -= work_ns;
    stk_input_add_kind(w, g->sum.kind, work_ns, 0);
}

// Mean threads at work while at least one was, rounded up: 1.3 means that two were needed now and
// then.
static int64_t parallelism_of(struct stk_input_growing *g)
{
    if (g->spans.count == 0) {
        return g->sum.self_ns > 0 ? 1 : 0;
    }
    stk_spans_normalize(&g->spans);
    int64_t active_ns = stk_spans_total(&g->spans);
    double mean = active_ns > 0 ? (double)g->spans_ns / (double)active_ns : 1;
    int64_t whole = (int64_t)(mean + 0.95);
    return whole > 1 ? whole : 1;
}

static bool is_before(const struct stk_analysis *v, uint32_t a, uint32_t b)
{
    return b == STK_NONE || v->t->tracks[a].id < v->t->tracks[b].id;
}

// "tf_data_iterator_resource/-30389062973" is one of many; its name says enough.
static const char *thread_text(struct stk_input_walk *w, uint32_t track)
{
    const struct stk_track *k = &w->view->t->tracks[track];
    struct stk_str name = stk_strpool_get(&w->view->t->strings, k->name);
    const char *slash = name.n ? memchr(name.p, '/', name.n) : NULL;
    if (slash && stk_str_starts(name, STK_STR("tf_"))) {
        name.n = (size_t)(slash - name.p);
    }
    return name.n ? stk_arena_strndup(w->arena, name.p, name.n)
                  : stk_arena_printf(w->arena, "thread %lld", (long long)k->id);
}

static void settle_threads(struct stk_input_walk *w)
{
    size_t n = w->stages.count;
    uint32_t *best = stk_alloc_array(n ? n : 1, sizeof *best);
    int64_t *most = stk_alloc_array(n ? n : 1, sizeof *most);
    w->failed |= !best || !most;
    for (size_t i = 0; i < n && !w->failed; i++) {
        best[i] = STK_NONE;
        most[i] = INT64_MIN;
    }
    for (size_t i = 0; i < w->wheres.count && !w->failed; i++) {
        const struct stk_input_where *at = stk_vec_at(&w->wheres, i);
        if (at->ns < most[at->stage] ||
            (at->ns == most[at->stage] && !is_before(w->view, at->thread, best[at->stage]))) {
            continue;
        }
        most[at->stage] = at->ns;
        best[at->stage] = at->thread;
    }
    for (size_t i = 0; i < n && !w->failed; i++) {
        struct stk_input_growing *g = stk_input_stage_at(w, (uint32_t)i);
        if (best[i] == STK_NONE) {
            continue;
        }
        const struct stk_thread_info *th = &w->view->threads[best[i]];
        g->sum.is_on_consumer =
            th->is_driver || th->launches || (g->sum.kind == STK_INPUT_FETCH && !th->is_loader);
        g->sum.thread = thread_text(w, best[i]);
        w->failed |= !g->sum.thread;
    }
    stk_free(best);
    stk_free(most);
}

// Fetches without nested calls, if the stages that work for them are recorded: their time is
// waiting, not work.
static void settle_fetches(struct stk_input_walk *w)
{
    struct stk_input_workers workers = stk_input_workers_of(w->out);
    for (uint32_t i = 0; i < w->out->stage_count; i++) {
        struct stk_input_stage *s = &w->out->stages[i];
        if (stk_input_stage_at(w, i)->has_nested || !stk_input_fetch_waits(s, &workers)) {
            continue;
        }
        workers.wall_ns -= stk_input_worker_time(s); // it no longer counts as work
        stk_input_add_kind(w, s->kind, -s->self_ns, 0);
        s->wait_ns = stk_add_ns(s->wait_ns, s->self_ns);
        s->self_ns = s->parallelism = 0;
    }
}

static void settle(struct stk_input_walk *w)
{
    size_t n = w->stages.count;
    int64_t *before_ns = sum_before(w);
    for (uint32_t i = 0; i < n && before_ns; i++) {
        settle_async(w, stk_input_stage_at(w, i), before_ns[i]);
    }
    stk_free(before_ns);
    settle_threads(w);
    w->out->stages = stk_arena_array(w->arena, n + 1, sizeof *w->out->stages);
    w->failed |= !w->out->stages;
    for (uint32_t i = 0; i < n && !w->failed; i++) {
        struct stk_input_growing *g = stk_input_stage_at(w, i);
        g->sum.parallelism = parallelism_of(g);
        g->sum.buffer_fill = g->fill_count ? g->fill_sum / (double)g->fill_count : -1;
        w->out->stages[w->out->stage_count++] = g->sum;
    }
    if (!w->failed) {
        settle_fetches(w);
    }
    for (int k = 0; k < STK_INPUT_KINDS; k++) {
        w->out->kind_ns[k] = w->out->kind_ns[k] > 0 ? w->out->kind_ns[k] : 0;
    }
}

struct fetch_row {
    uint32_t name;
    uint32_t event;
    int64_t dur_ns;
};

STK_ORDER(by_name, struct fetch_row, STK_UP(name) STK_UP(event))

static bool keep_fetch(struct stk_input_walk *w, const struct fetch_row *rows, size_t n,
                       int64_t *durs)
{
    struct stk_str name = stk_strpool_get(&w->view->t->strings, rows->name);
    struct stk_input_fetch *f = &w->out->fetches[w->out->fetch_count++];
    uint32_t thread = stk_thread_of(w->view, rows->event);
    *f = (struct stk_input_fetch){.calls = n, .name = stk_arena_strndup(w->arena, name.p, name.n)};
    if (thread != STK_NONE) {
        f->thread = thread_text(w, thread);
    }
    for (size_t i = 0; i < n; i++) {
        durs[i] = rows[i].dur_ns;
        f->total_ns = stk_add_ns(f->total_ns, durs[i]);
        f->max_ns = durs[i] > f->max_ns ? durs[i] : f->max_ns;
    }
    f->mean_ns = f->total_ns / (int64_t)n;
    f->median_ns = stk_median_low(durs, n);
    f->p95_ns = stk_nth_value(durs, n, (95 * n + 99) / 100 - 1);
    return f->name && f->thread;
}

// Fetches of the training thread: the same events as in the breakdown's input wait.
static void sum_fetches(struct stk_input_walk *w)
{
    const struct stk_marks *m = &w->view->fetches;
    struct fetch_row *rows = stk_alloc_array(m->count ? m->count : 1, sizeof *rows);
    int64_t *durs = stk_alloc_array(m->count ? m->count : 1, sizeof *durs);
    struct stk_view_cursor cursor = {&w->selected, 0};
    size_t n = 0, names = 0;
    for (size_t i = 0; i < m->count && rows; i++) {
        if (stk_view_in(&cursor, m->v[i].start_ns)) {
            rows[n++] = (struct fetch_row){w->view->t->name[m->v[i].event], m->v[i].event,
                                           m->v[i].end_ns - m->v[i].start_ns};
        }
    }
    stk_sort(rows, n, sizeof *rows, by_name);
    for (size_t i = 0; i < n; i++) {
        names += i == 0 || rows[i].name != rows[i - 1].name;
    }
    w->out->fetches = stk_arena_array(w->arena, names + 1, sizeof *w->out->fetches);
    w->failed |= !rows || !durs || !w->out->fetches;
    for (size_t i = 0, end; i < n && !w->failed; i = end) {
        for (end = i; end < n && rows[end].name == rows[i].name; end++)
            ;
        w->failed |= !keep_fetch(w, &rows[i], end - i, durs);
    }
    stk_free(rows);
    stk_free(durs);
}

enum stoker_status stk_input_stages_see(const struct stk_analysis *view, struct stk_arena *arena,
                                        void **partial, struct stoker_err *err)
{
    STK_ASSERT(view->t && partial);
    size_t strings = (size_t)view->t->strings.count + 1;
    struct stk_input_walk *w = stk_alloc_zero(1, sizeof *w);
    if (!w) {
        return stk_err_nomem(err);
    }
    w->view = view;
    w->arena = arena;
    stk_vec_init(&w->stages, sizeof(struct stk_input_growing), STK_INPUT_RUNS_HERE - 1);
    stk_vec_init(&w->wheres, sizeof(struct stk_input_where), UINT32_MAX - 1);
    stk_map_init(&w->where_index, UINT32_MAX - 1);
    stk_map_init(&w->texts, UINT32_MAX - 1);
    stk_map_init(&w->functions, UINT32_MAX - 1);
    stk_map_init(&w->nexts, UINT32_MAX - 1);
    stk_spans_init(&w->selected);
    stk_thread_events_init(&w->events, view);
    w->names = stk_alloc_zero(strings, sizeof *w->names);
    w->stage_of = stk_alloc_zero(strings, sizeof *w->stage_of);
    w->asked = stk_alloc_zero(strings, 1);
    w->rows = stk_alloc_zero((size_t)view->t->track_count + 1, 1);
    *partial = w->out = stk_arena_alloc(arena, sizeof *w->out);
    w->failed = !w->names || !w->stage_of || !w->asked || !w->rows || !w->out ||
                !stk_view_selected_host(view, &w->selected);
    if (!w->failed) {
        *w->out = (struct stk_input_sums){0};
        stk_input_walk_all(w);
    }
    if (!w->failed) {
        settle(w);
    }
    if (!w->failed) {
        sum_fetches(w);
    }
    bool failed = w->failed;
    for (size_t i = 0; i < w->stages.count; i++) {
        stk_spans_deinit(&stk_input_stage_at(w, (uint32_t)i)->spans);
    }
    stk_vec_deinit(&w->stages);
    stk_vec_deinit(&w->wheres);
    stk_map_deinit(&w->where_index);
    stk_map_deinit(&w->texts);
    stk_map_deinit(&w->functions);
    stk_map_deinit(&w->nexts);
    stk_spans_deinit(&w->selected);
    stk_thread_events_deinit(&w->events);
    stk_free(w->names);
    stk_free(w->stage_of);
    stk_free(w->asked);
    stk_free(w->rows);
    stk_free(w);
    return failed ? stk_err_nomem(err) : STOKER_OK;
}
