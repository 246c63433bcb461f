// SPDX-License-Identifier: Apache-2.0
// Operations that run for a fetch (fetch_work.h). On the fetching thread, these are all of the
// framework's operations inside the fetch. On other threads, if the framework computes there (JAX),
// these are the operations that begin in the fetch, if no such thread computes between the fetch's
// beginning and its first call of compiled code. Otherwise the step's work may still be running
// there.
//
// Fetches are disjoint and in order. O((f + n) log f) in fetches and events.
#include "profile/model/steps/fetch_work.h"

#include "profile/model/threads/thread_events.h"

static size_t fetch_behind(const struct stk_marks *m, int64_t t_ns)
{
    size_t low = 0, high = m->count;
    while (low < high) { // first that ends after t
        size_t mid = low + (high - low) / 2;
        if (m->v[mid].end_ns <= t_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

// The fetch's own first call of compiled code on its thread; INT64_MAX: none. False: no memory.
static bool find_first_calls(const struct stk_analysis *a, int64_t *first_ns)
{
    struct stk_thread_events events;
    stk_thread_events_init(&events, a);
    bool ok = stk_thread_events_begin(&events, a->threads[a->driver].root, NULL);
    for (uint32_t e; ok && (e = stk_thread_events_next(&events)) != STK_NONE;) {
        if (!(stk_class_of(a, e) & STK_NAME_PJIT)) {
            continue;
        }
        int64_t start_ns = a->t->start_ns[e];
        size_t i = fetch_behind(&a->fetches, start_ns);
        if (i < a->fetches.count && a->fetches.v[i].start_ns <= start_ns) {
            first_ns[i] = start_ns < first_ns[i] ? start_ns : first_ns[i];
        }
    }
    stk_thread_events_deinit(&events);
    return ok;
}

// First fetch that begins at t or later.
static size_t fetch_from(const struct stk_marks *m, int64_t t_ns)
{
    size_t i = fetch_behind(m, t_ns);
    return i < m->count && m->v[i].start_ns < t_ns ? i + 1 : i;
}

// Counts the operations of a row that run between a fetch's beginning and its first call, as
// differences from fetch to fetch.
static void count_running(const struct stk_analysis *a, uint32_t row, const int64_t *first_ns,
                          int64_t *running)
{
    const struct stk_track *k = &a->t->tracks[row];
    const struct stk_marks *m = &a->fetches;
    for (uint32_t e = k->first; e < k->first + k->count; e++) {
        if (!(stk_class_of(a, e) & STK_NAME_MODEL_OP)) {
            continue;
        }
        int64_t start_ns = a->t->start_ns[e];
        size_t from = fetch_behind(m, start_ns), to = fetch_from(m, stk_end_ns(a->t, e));
        if (from < to && m->v[from].start_ns < start_ns && first_ns[from] <= start_ns) {
            from++; // begins after its first call
        }
        if (from < to) {
            running[from]++;
            running[to]--;
        }
    }
}

// Only a fetch with a call of compiled code can show that the step's work has ended.
static bool calls_compiled(const struct stk_analysis *a)
{
    for (uint32_t id = 0; id < a->t->strings.count; id++) {
        if (a->classes[id] & STK_NAME_PJIT) {
            return true;
        }
    }
    return false;
}

bool stk_fetch_work_open(struct stk_fetch_work *w, struct stk_analysis *a)
{
    size_t n = a->fetches.count + 1;
    *w = (struct stk_fetch_work){.a = a};
    w->idle = stk_arena_array(&a->scratch, n, sizeof *w->idle);
    int64_t *first_ns = stk_arena_array(&a->scratch, n, sizeof *first_ns);
    int64_t *running = stk_arena_array(&a->scratch, n, sizeof *running);
    if (!w->idle || !first_ns || !running) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        w->idle[i] = false;
        first_ns[i] = INT64_MAX;
        running[i] = 0;
    }
    if (a->driver == STK_NONE || n == 1 || !calls_compiled(a)) {
        return true;
    }
    if (!find_first_calls(a, first_ns)) {
        return false;
    }
    uint32_t driver = a->threads[a->driver].root;
    for (uint32_t k = 0; k < a->t->track_count; k++) {
        const struct stk_thread_info *th = &a->threads[k];
        if (th->in_rank && th->root != driver && !a->threads[th->root].is_loader) {
            count_running(a, k, first_ns, running);
        }
    }
    int64_t sum = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        sum += running[i];
        w->idle[i] = first_ns[i] != INT64_MAX && sum == 0;
    }
    return true;
}

// The same as fetch_behind, starting at the last answer.
static size_t fetch_behind_near(struct stk_fetch_work *w, int64_t t_ns)
{
    const struct stk_marks *m = &w->a->fetches;
    size_t i = w->near;
    bool is_it = (i == m->count || m->v[i].end_ns > t_ns) && (!i || m->v[i - 1].end_ns <= t_ns);
    if (!is_it) {
        w->near = fetch_behind(m, t_ns);
    }
    return w->near;
}

int64_t stk_fetch_work_until(struct stk_fetch_work *w, uint32_t event, int64_t t_ns)
{
    const struct stk_analysis *a = w->a;
    size_t i = fetch_behind_near(w, t_ns);
    if (i == a->fetches.count || a->fetches.v[i].start_ns > a->t->start_ns[event]) {
        return t_ns; // it began before the fetch, or no fetch follows
    }
    bool is_its = stk_thread_of(a, event) == stk_thread_of(a, a->fetches.v[i].event) || w->idle[i];
    return is_its ? a->fetches.v[i].end_ns : t_ns;
}
