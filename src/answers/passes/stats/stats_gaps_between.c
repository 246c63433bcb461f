// SPDX-License-Identifier: Apache-2.0
// What runs between the steps of the thread that drives them: callbacks, metrics, checkpoints.
// From the end of a step's own mark to the start of the next. Where marks follow each other without
// a break (a profiler's step() called once an iteration), from the end of the step's last optimizer
// step instead, if that is in the second half of the step. Times under a microsecond are left out.
// what: the longest event of the thread entirely inside, except fetches of the next batch; every:
// the distance in steps between occurrences of the same longest event, if four of five are equal.
// Method: one pass over the marks of the steps, one over the rows of the driving thread.
// Limits: steps without marks of their own (inferred ones) have nothing between them; work that the
// marked step itself does after its optimizer step counts as between steps, too.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "answers/passes/host_stack.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_gaps.h"

#define LEAST_NS 1000
#define ROWS_MAX (1u << 18)

struct between {
    struct stk_between_row row;
    int64_t end_ns, what_ns;
    uint32_t event; // that takes longest, STK_NONE
    uint32_t name;  // of it
    uint32_t index; // of the step before
};

struct sweep {
    const struct stk_analysis *view;
    struct stk_gap_sums *out;
    struct stk_vec rows; // struct between, by time
    size_t fetch, mark;  // cursors
};

static bool is_unselected(const struct stk_host_step *s)
{
    return s->excluded && strcmp(s->excluded, STK_EXCLUDED_UNSELECTED) == 0;
}

// End of the last optimizer step that ends in the step, or else the step's start.
static int64_t optimizer_end(struct sweep *s, const struct stk_host_step *step)
{
    const struct stk_analysis *v = s->view;
    const struct stk_marks *marks = &v->step_events;
    int64_t end_ns = step->start_ns;
    for (; s->mark < marks->count; s->mark++) {
        const struct stk_mark *m = &marks->v[s->mark];
        uint32_t thread = stk_thread_of(v, m->event);
        if (thread < v->driver) {
            continue;
        }
        if (thread > v->driver || m->start_ns >= step->end_ns) {
            break;
        }
        if (m->start_ns >= step->start_ns && m->end_ns <= step->end_ns &&
            (stk_class_of(v, m->event) & STK_NAME_OPTIMIZER) && m->end_ns > end_ns) {
            end_ns = m->end_ns;
        }
    }
    return end_ns;
}

static int64_t fetch_time(struct sweep *s, int64_t from_ns, int64_t to_ns)
{
    const struct stk_marks *f = &s->view->fetches;
    int64_t sum_ns = 0;
    while (s->fetch < f->count && f->v[s->fetch].end_ns <= from_ns) {
        s->fetch++;
    }
    for (size_t i = s->fetch; i < f->count && f->v[i].start_ns < to_ns; i++) {
        int64_t start_ns = f->v[i].start_ns > from_ns ? f->v[i].start_ns : from_ns;
        int64_t end_ns = f->v[i].end_ns < to_ns ? f->v[i].end_ns : to_ns;
        sum_ns += end_ns > start_ns ? end_ns - start_ns : 0;
    }
    return sum_ns;
}

static int64_t idle_time(const struct stk_analysis *view, int64_t from_ns, int64_t to_ns)
{
    for (uint32_t d = 0; d < view->sum->device_count; d++) {
        const struct stk_device_line *l = &view->lines[d];
        if (view->sum->devices[d].analysed && l->busy_sums) {
            return to_ns - from_ns - stk_spans_measure(&l->busy, l->busy_sums, from_ns, to_ns);
        }
    }
    return -1;
}

static bool find_times(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    for (uint32_t i = 0; i + 1 < v->step_count && s->rows.count < ROWS_MAX; i++) {
        const struct stk_host_step *step = &v->steps[i], *next = step + 1;
        if (step->mark == STK_NONE || is_unselected(step) || is_unselected(next)) {
            continue;
        }
        int64_t length_ns = next->start_ns - step->start_ns;
        int64_t from_ns = stk_end_ns(v->t, step->mark), work_ns = optimizer_end(s, step);
        if (next->start_ns - from_ns < length_ns / 100 &&
            work_ns - step->start_ns > length_ns / 2) {
            from_ns = work_ns;
        }
        s->out->steps_ns = stk_add_ns(s->out->steps_ns, length_ns);
        if (next->start_ns - from_ns < LEAST_NS) {
            continue;
        }
        struct between *b = stk_vec_push(&s->rows);
        if (!b) {
            return false;
        }
        *b = (struct between){.row = {.step = step->number, .start_ns = from_ns},
                              .end_ns = next->start_ns,
                              .event = STK_NONE,
                              .index = i};
        b->row.dur_ns = b->end_ns - from_ns;
        b->row.fetch_ns = fetch_time(s, from_ns, b->end_ns);
        b->row.idle_ns = idle_time(v, from_ns, b->end_ns);
        s->out->between_ns = stk_add_ns(s->out->between_ns, b->row.dur_ns - b->row.fetch_ns);
    }
    return true;
}

static void sweep_row(struct sweep *s, const struct stk_track *track)
{
    const struct stk_trace *t = s->view->t;
    struct between *all = s->rows.items;
    size_t at = 0, n = s->rows.count;
    int64_t fetched_ns = INT64_MIN;
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        int64_t start_ns = t->start_ns[e];
        while (at < n && all[at].end_ns <= start_ns) {
            at++;
        }
        if (at == n) {
            return;
        }
        if (start_ns < all[at].row.start_ns || start_ns < fetched_ns) {
            continue;
        }
        int64_t end_ns = stk_end_ns(t, e);
        if (t->kind[e] == STK_KIND_INPUT ||
            (stk_class_of(s->view, e) & (STK_NAME_FETCH | STK_NAME_PREP))) {
            fetched_ns = end_ns;
        } else if (end_ns <= all[at].end_ns && end_ns - start_ns > all[at].what_ns) {
            all[at].what_ns = end_ns - start_ns;
            all[at].event = e;
        }
    }
}

static int by_what(const void *pa, const void *pb)
{
    const struct between *a = *(struct between *const *)pa, *b = *(struct between *const *)pb;
    if (a->name != b->name) {
        return a->name < b->name ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

// The distance of n rows with the same event; 0: irregular.
static int64_t period_of(struct between *const *rows, size_t n)
{
    size_t best_count = 0;
    uint32_t best = 0;
    for (size_t i = 1; i < n && i < 4; i++) { // a regular distance shows soon
        uint32_t distance = rows[i]->index - rows[i - 1]->index;
        size_t count = 0;
        for (size_t k = 1; k < n; k++) {
            count += rows[k]->index - rows[k - 1]->index == distance;
        }
        if (count > best_count) {
            best_count = count;
            best = distance;
        }
    }
    return n >= 3 && 5 * best_count >= 4 * (n - 1) ? best : 0;
}

static bool find_periods(struct sweep *s)
{
    size_t n = 0;
    struct between **named = stk_alloc_array(s->rows.count + 1, sizeof(struct between *));
    if (!named) {
        return false;
    }
    for (size_t i = 0; i < s->rows.count; i++) {
        struct between *b = stk_vec_at(&s->rows, i);
        if (b->event == STK_NONE) {
            continue;
        }
        b->name = s->view->t->name[b->event];
        named[n++] = b;
    }
    stk_sort(named, n, sizeof(struct between *), by_what);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && named[end]->name == named[i]->name; end++) {
        }
        int64_t every = period_of(named + i, end - i);
        for (size_t k = i; k < end; k++) {
            named[k]->row.every = every;
        }
    }
    stk_free(named);
    return true;
}

STK_ORDER(longest_first, struct between, STK_DOWN(row.dur_ns) STK_UP(index))

static bool take_rows(struct sweep *s, struct stk_arena *arena)
{
    struct between *rows = s->rows.items;
    struct stk_name_cache names;
    bool ok = stk_name_cache_init(&names, s->view->t, arena);
    s->out->between = stk_arena_array(arena, s->rows.count + 1, sizeof *s->out->between);
    ok = ok && s->out->between;
    stk_sort(rows, s->rows.count, sizeof *rows, longest_first);
    for (size_t i = 0; i < s->rows.count && ok; i++) {
        if (rows[i].event != STK_NONE) {
            rows[i].row.what = stk_name_cache_get(&names, rows[i].name);
            if (i < STK_HOST_STACKS) {
                rows[i].row.stack = stk_host_stack_text(s->view, rows[i].event, arena);
            }
            ok = rows[i].row.what && (i >= STK_HOST_STACKS || rows[i].row.stack);
        }
        s->out->between[i] = rows[i].row;
    }
    s->out->between_count = ok ? s->rows.count : 0;
    stk_name_cache_deinit(&names);
    return ok;
}

bool stk_gaps_between_steps(const struct stk_analysis *view, struct stk_arena *arena,
                            struct stk_gap_sums *out)
{
    struct sweep s = {.view = view, .out = out};
    if (view->driver == STK_NONE || view->steps_on_device) {
        return true;
    }
    stk_vec_init(&s.rows, sizeof(struct between), ROWS_MAX);
    bool ok = find_times(&s);
    for (uint32_t row = view->driver; ok && row != STK_NONE && s.rows.count;
         row = view->threads[row].next_row) {
        sweep_row(&s, &view->t->tracks[row]);
    }
    ok = ok && find_periods(&s) && take_rows(&s, arena);
    stk_vec_deinit(&s.rows);
    return ok;
}
