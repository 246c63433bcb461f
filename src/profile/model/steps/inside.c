// SPDX-License-Identifier: Apache-2.0
// Totals of the events inside a function of one row, as differences of prefix sums over the row.
// Functions nest by the dozen, and in hostile profiles by the ten thousand: visiting the content of
// each would take quadratic time.
// Method: one pass over the row's notable events when opened, two binary searches a function. Sums
// are kept where they change: 40 bytes for each event that counts, which few do.
#include "profile/model/steps/inside.h"

#include "profile/model/steps/notable.h"
#include "profile/model/threads/feed_words.h"
#include "profile/model/threads/python_frame.h"

#define LOOKED_AT 64 // events in a function, to find the row that shows that it is JAX's

// Sums over the events of the row up to and including one that counts.
struct total {
    uint32_t event; // in the row
    struct stk_inside_sum sum;
};

// Does an event show that data is processed? For a framework's Python function that makes arrays,
// only its calls show it: JAX takes long even for three numbers.
static bool is_data(const struct stk_analysis *a, const struct stk_note *x)
{
    bool brings = (x->is & STK_NOTE_BRINGS) &&
                  (stk_python_frame_owner(stk_name_of(a->t, x->event)) != STK_PYTHON_FRAMEWORK);
    return brings || (x->is & (STK_NOTE_DATA | STK_NOTE_WORK | STK_NOTE_BLOCKED));
}

// JAX's tracer records no folder, and a job may have its own core.py with a split(). JAX's
// functions work on keys, whose type is in prng.py; a job's function that calls JAX's has those
// inside.
static bool makes_keys(const struct stk_analysis *a, uint32_t event, uint32_t end)
{
    const struct stk_trace *t = a->t;
    bool is_python = t->kind[event] == STK_KIND_PYTHON;
    if (!is_python || stk_python_frame_parse(stk_name_of(t, event)).has_folder) {
        return true;
    }
    int64_t end_ns = stk_end_ns(t, event);
    uint32_t last = end - event > LOOKED_AT ? event + LOOKED_AT : end;
    for (uint32_t e = event + 1; e < last && t->start_ns[e] < end_ns; e++) {
        struct stk_str name = stk_name_of(t, e);
        if (t->kind[e] != STK_KIND_PYTHON) {
            continue;
        }
        if (stk_str_eq(stk_python_frame_parse(name).file, STK_STR("prng.py"))) {
            return true;
        }
        if (stk_feed_makes_keys(name)) {
            return false;
        }
    }
    return false;
}

// The pass over a row: what it has counted, and until when an outer event hides those inside.
struct counting {
    const struct stk_analysis *a;
    uint32_t end;
    int64_t busy_ns, data_ns, keys_ns;
    struct total now;
};

// Adds what an event counts to the totals. False: nothing.
static bool add(struct counting *c, const struct stk_note *x)
{
    const struct stk_trace *t = c->a->t;
    uint32_t e = x->event;
    int64_t start_ns = t->start_ns[e];
    bool is_work = x->is & STK_NOTE_WORK, takes = x->is & STK_NOTE_TAKES;
    if ((x->is & STK_NOTE_KEYS) && start_ns >= c->keys_ns && makes_keys(c->a, e, c->end)) {
        c->keys_ns = stk_end_ns(t, e);
    }
    bool shows = start_ns >= c->keys_ns; // calls that make keys don't show data
    bool is_call =
        shows && t->kind[e] != STK_KIND_PYTHON && (stk_class_of(c->a, e) & STK_NAME_PJIT);
    bool brings = (x->is & STK_NOTE_BRINGS) && shows;
    c->now.sum.works += is_work;
    c->now.sum.brings += brings;
    c->now.sum.takes += takes;
    c->now.sum.calls += is_call;
    if (is_work && start_ns >= c->busy_ns) {
        c->now.sum.work_ns = stk_add_ns(c->now.sum.work_ns, stk_dur_ns(t, e));
        c->busy_ns = stk_end_ns(t, e);
    }
    bool shows_data = shows && start_ns >= c->data_ns && is_data(c->a, x);
    if (shows_data) {
        c->now.sum.data_ns = stk_add_ns(c->now.sum.data_ns, stk_dur_ns(t, e));
        c->data_ns = stk_end_ns(t, e);
    }
    return is_work || is_call || brings || takes || shows_data;
}

bool stk_inside_open(struct stk_inside *in, const struct stk_analysis *a, uint32_t row,
                     const struct stk_vec *notes)
{
    const struct stk_track *track = &a->t->tracks[row];
    *in = (struct stk_inside){.t = a->t, .first = track->first, .count = track->count};
    stk_vec_init(&in->totals, sizeof(struct total), track->count);
    struct counting c = {.a = a,
                         .end = track->first + track->count,
                         .busy_ns = INT64_MIN,
                         .data_ns = INT64_MIN,
                         .keys_ns = INT64_MIN};
    for (size_t i = 0; i < notes->count; i++) {
        const struct stk_note *x = stk_vec_at(notes, i);
        if (!add(&c, x)) {
            continue;
        }
        struct total *total = stk_vec_push_raw(&in->totals);
        if (!total) {
            stk_inside_close(in);
            return false;
        }
        *total = c.now;
        total->event = x->event - in->first;
    }
    return true;
}

void stk_inside_close(struct stk_inside *in)
{
    stk_vec_deinit(&in->totals);
    *in = (struct stk_inside){0};
}

// Sums over the events of the row before its `n`th.
static struct stk_inside_sum before(const struct stk_inside *in, uint32_t n)
{
    const struct total *totals = in->totals.items;
    size_t low = 0, high = in->totals.count;
    while (low < high) { // first of an event from n on
        size_t mid = low + (high - low) / 2;
        if (totals[mid].event < n) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low ? totals[low - 1].sum : (struct stk_inside_sum){0};
}

struct stk_inside_sum stk_inside_between(const struct stk_inside *in, uint32_t first, uint32_t end)
{
    struct stk_inside_sum sum = before(in, end - in->first), begin = before(in, first - in->first);
    sum.works -= begin.works;
    sum.brings -= begin.brings;
    sum.takes -= begin.takes;
    sum.calls -= begin.calls;
    sum.work_ns -= begin.work_ns;
    sum.data_ns -= begin.data_ns;
    return sum;
}

struct stk_inside_sum stk_inside_of(const struct stk_inside *in, uint32_t function)
{
    int64_t end_ns = stk_end_ns(in->t, function);
    uint32_t low = function + 1, high = in->first + in->count;
    while (low < high) { // first that begins after it
        uint32_t mid = low + (high - low) / 2;
        if (in->t->start_ns[mid] < end_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return stk_inside_between(in, function + 1, low);
}

bool stk_inside_is_data(const struct stk_inside *in, uint32_t event)
{
    return stk_inside_between(in, event, event + 1).data_ns > 0;
}
