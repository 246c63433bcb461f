// SPDX-License-Identifier: Apache-2.0
// Runs over the events batch by batch. The events of all tracks that may pass are one sequence, cut
// into equal parts, one per thread; the threads' results are merged in that order. Only the calling
// thread checks for interruptions, since that may call back into the program.
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "base/vec.h"
#include "answers/query/columns/batch.h"
#include "answers/query/sql_impl.h"

#define EVENTS_PER_THREAD (1u << 17)
#define BATCHES_BETWEEN_CHECKS 64

struct range {
    struct stk_query_event at; // its first event
    uint64_t before;           // events in the ranges before it
    uint32_t count;
};

struct worker {
    struct stk_batch_eval eval;
    struct stk_batch_groups groups;
    struct stk_batch_top top;
    bool failed;
};

struct run {
    struct stk_batch_plan *plan;
    struct stk_query_scan scan; // the table's content
    struct stk_vec ranges;      // struct range
    uint64_t total;
    int threads;
    struct worker *workers;
    pthread_t asking;
    atomic_bool stopped;
};

static bool takes_track(struct stk_batch_eval *e, const struct stk_query_event *at)
{
    struct stk_batch b = {.at = *at, .first = at->event, .rows = 1};
    e->epoch++;
    for (uint32_t i = 0; i < e->plan->track_filter_count; i++) {
        const struct stk_batch_node *n = e->plan->track_filters[i];
        const struct stk_batch_vec *v = stk_batch_eval(e, n, &b);
        if ((v->has_null && v->null[0]) ||
            (n->type == STK_BATCH_REAL ? v->r[0] == 0 : v->i[0] == 0)) {
            return false;
        }
    }
    return true;
}

static bool find_ranges(struct run *r)
{
    struct stk_query_scan *s = &r->scan;
    struct stk_batch_eval e;
    bool ok = stk_batch_eval_init(&e, r->plan);
    stk_query_scan_init(s, r->plan->q);
    if (r->plan->table->kinds) {
        s->kinds = r->plan->table->kinds;
    }
    s->on_streams = r->plan->table->on_streams;
    s->launched = r->plan->table->launched;
    s->start_min_ns = r->plan->start_min_ns;
    s->start_max_ns = r->plan->start_max_ns;
    stk_query_scan_begin(s);
    while (ok && stk_query_scan_next_track(s)) {
        if (!takes_track(&e, &s->at)) {
            continue;
        }
        struct range *x = stk_vec_push(&r->ranges);
        ok = x != NULL;
        if (ok) {
            *x = (struct range){s->at, r->total, s->end - s->at.event};
            r->total += x->count;
        }
        if (r->plan->wants_parents && !stk_query_parents(s->at.x)) {
            ok = false;
        }
    }
    stk_batch_eval_deinit(&e);
    return ok;
}

// Events of the table among [first, first + n), or all of them (false).
static bool select_kinds(const struct stk_query_scan *s, const struct stk_batch *b,
                         uint32_t list[STK_BATCH_ROWS], uint32_t *count)
{
    const struct stk_trace *t = b->at.x->t;
    const uint8_t *kind = t->kind + b->first;
    uint32_t n = b->rows, m = 0, last = 0;
    if (s->kinds == UINT32_MAX && !s->launched) {
        return false;
    }
    if (!s->launched && s->kinds >> kind[0] & 1) { // most are all of one kind
        while (last < n && kind[last] == kind[0]) {
            last++;
        }
        if (last == n) {
            return false;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t event = b->first + k;
        bool passes = s->kinds >> (kind[k] & 31) & 1;
        if (s->launched) {
            passes =
                passes && stk_kind_is_device_work(kind[k]) && stk_link_of(t, event) != STK_NONE;
        }
        list[m] = event;
        m += passes;
    }
    *count = m;
    return m != n;
}

static void filter(struct worker *w, const struct stk_batch_node *node, struct stk_batch *b,
                   uint32_t list[STK_BATCH_ROWS])
{
    const struct stk_batch_vec *v = stk_batch_eval(&w->eval, node, b);
    uint32_t m = 0;
    bool real = node->type == STK_BATCH_REAL;
    if (v->has_null || real) {
        for (uint32_t k = 0; k < b->rows; k++) {
            list[m] = b->events ? b->events[k] : b->first + k;
            m += !(v->has_null && v->null[k]) && (real ? v->r[k] != 0 : v->i[k] != 0);
        }
    } else if (b->events) {
        for (uint32_t k = 0; k < b->rows; k++) {
            list[m] = b->events[k];
            m += v->i[k] != 0;
        }
    } else {
        for (uint32_t k = 0; k < b->rows; k++) {
            list[m] = b->first + k;
            m += v->i[k] != 0;
        }
    }
    if (m < b->rows) { // the values read belong to other rows
        b->events = list;
        b->rows = m;
        w->eval.epoch++;
    }
}

static bool do_batch(struct run *r, struct worker *w, struct stk_batch *b,
                     uint32_t list[STK_BATCH_ROWS])
{
    uint32_t count = 0;
    w->eval.epoch++;
    if (select_kinds(&r->scan, b, list, &count)) {
        b->events = list;
        b->rows = count;
    }
    for (uint32_t i = 0; i < r->plan->filter_count && b->rows; i++) {
        filter(w, r->plan->filters[i], b, list);
    }
    if (b->rows == 0) {
        return !w->eval.overflow;
    }
    return (r->plan->top ? stk_batch_top_add(&w->top, &w->eval, b)
                         : stk_batch_groups_add(&w->groups, &w->eval, b)) &&
           !w->eval.overflow;
}

static void run_part(void *arg, int index)
{
    struct run *r = arg;
    struct worker *w = &r->workers[index];
    uint32_t list[STK_BATCH_ROWS], batches = 0;
    uint64_t from = r->total * (uint64_t)index / (uint64_t)r->threads;
    uint64_t to = r->total * ((uint64_t)index + 1) / (uint64_t)r->threads;
    bool asking = pthread_equal(pthread_self(), r->asking);
    const struct range *all = r->ranges.items;
    for (size_t i = 0; i < r->ranges.count && !w->failed; i++) {
        const struct range *x = &all[i];
        uint64_t low = x->before > from ? x->before : from;
        uint64_t high = x->before + x->count < to ? x->before + x->count : to;
        for (; low < high && !w->failed; low += STK_BATCH_ROWS) {
            struct stk_batch b = {.at = x->at};
            b.first = x->at.event + (uint32_t)(low - x->before);
            b.at.event = b.first;
            b.rows = high - low < STK_BATCH_ROWS ? (uint32_t)(high - low) : STK_BATCH_ROWS;
            if (++batches % BATCHES_BETWEEN_CHECKS == 0) {
                if (asking && stk_sql_should_stop(r->plan->q)) {
                    atomic_store(&r->stopped, true);
                }
                if (atomic_load(&r->stopped)) {
                    return;
                }
            }
            w->failed = !do_batch(r, w, &b, list);
        }
    }
    if (w->failed) {
        atomic_store(&r->stopped, true);
    }
}

static bool begin_workers(struct run *r)
{
    uint32_t wished = r->plan->q->db->events_per_thread;
    uint64_t useful = r->total / (wished ? wished : EVENTS_PER_THREAD) + 1;
    int threads = stk_thread_count();
    r->threads = useful < (uint64_t)threads ? (int)useful : threads;
    r->workers = stk_alloc_zero((size_t)r->threads, sizeof *r->workers);
    if (!r->workers) {
        return false;
    }
    for (int i = 0; i < r->threads; i++) {
        if (!stk_batch_eval_init(&r->workers[i].eval, r->plan) ||
            !stk_batch_groups_init(&r->workers[i].groups, r->plan) ||
            !stk_batch_top_init(&r->workers[i].top, r->plan)) {
            return false;
        }
    }
    return true;
}

static bool merge_workers(struct run *r)
{
    bool failed = r->plan->q->failed;
    for (int i = 0; i < r->threads; i++) {
        failed |= r->workers[i].failed;
    }
    r->plan->interrupted = !failed && atomic_load(&r->stopped);
    if (failed || r->plan->interrupted) {
        return false;
    }
    for (int i = 1; i < r->threads; i++) {
        if (r->plan->top ? !stk_batch_top_merge(&r->workers[0].top, &r->workers[i].top)
                         : !stk_batch_groups_merge(&r->workers[0].groups, &r->workers[i].groups)) {
            return false;
        }
    }
    if (r->plan->top) {
        stk_batch_top_finish(&r->workers[0].top);
    } else {
        return stk_batch_groups_finish(&r->workers[0].groups);
    }
    return true;
}

bool stk_batch_run(struct stk_batch_plan *p, struct stk_batch_groups *groups,
                   struct stk_batch_top *top)
{
    struct run r = {.plan = p, .asking = pthread_self()};
    atomic_init(&r.stopped, false);
    stk_vec_init(&r.ranges, sizeof(struct range), UINT32_MAX);
    bool ok = find_ranges(&r) && begin_workers(&r);
    if (ok) {
        stk_thread_run(r.threads, run_part, &r);
        ok = merge_workers(&r);
    }
    if (ok) {
        *groups = r.workers[0].groups;
        *top = r.workers[0].top;
    }
    for (int i = 0; r.workers && i < r.threads; i++) {
        stk_batch_eval_deinit(&r.workers[i].eval);
        if (ok && i == 0) {
            continue;
        }
        stk_batch_groups_deinit(&r.workers[i].groups);
        stk_batch_top_deinit(&r.workers[i].top);
    }
    stk_free(r.workers);
    stk_vec_deinit(&r.ranges);
    return ok;
}
