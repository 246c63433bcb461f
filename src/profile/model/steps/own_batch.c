// SPDX-License-Identifier: Apache-2.0
// Batches that the loop makes itself, without a function for it: it reads, sorts and distorts with
// NumPy or plain Python, and then hands the result to the framework (torch.tensor(rows),
// torch.from_numpy(x), jnp.asarray(x)). Everything up to the end of the last such call is input;
// the call itself reads Python lists number by number. JAX takes NumPy arrays in the compiled call
// itself: then everything before the call is input. The same holds if many JAX operations run one
// by one before the call, not counting those that make random keys.
//
// Method: one pass over the row. Left out are the job's functions that are named after something
// else (log_row, check_quota), or that compute in plain Python values that the hand-over reads
// quickly (a rate, a curriculum). Blocking calls are left out too: the thread that ends them
// decides (block_end.c). Limits: a loop that computes a metric with NumPy in its own body, before
// it passes arrays to the step, looks like one that makes them.
#include "profile/model/steps/own_batch.h"

#include "base/alloc.h"
#include "profile/model/threads/feed_words.h"
#include "profile/model/threads/python_frame.h"

#define EAGER_LEAST 16 // JAX calls, one by one, before the work: fewer may only slice a row

enum { UNASKED, NO, YES, OTHERWISE };

bool stk_hands_open(struct stk_hands *h, const struct stk_trace *t)
{
    *h = (struct stk_hands){t, stk_alloc_zero((size_t)t->strings.count + 1, 1)};
    return h->by_name != NULL;
}

void stk_hands_close(struct stk_hands *h)
{
    stk_free(h->by_name);
    *h = (struct stk_hands){0};
}

// YES: hands data over; OTHERWISE: a function of the job's that is named after something else.
static uint8_t hands_kind(struct stk_hands *h, uint32_t event)
{
    if (h->t->kind[event] != STK_KIND_PYTHON) {
        return NO;
    }
    uint8_t *known = &h->by_name[h->t->name[event]];
    if (*known == UNASKED) {
        struct stk_str name = stk_name_of(h->t, event);
        bool is_other = stk_python_frame_is_users(name) &&
                        stk_feed_of(stk_python_frame_parse(name).function) == STK_FEED_OTHER;
        *known = stk_feed_hands_over(name) ? YES : is_other ? OTHERWISE : NO;
    }
    return *known;
}

bool stk_hands_over(struct stk_hands *h, uint32_t event)
{
    return hands_kind(h, event) == YES;
}

// handed_ns: the part of the step's hand-over calls that reads the data.
static bool is_otherwise(const struct stk_analysis *a, const struct stk_inside *inside,
                         int64_t handed_ns, uint32_t event)
{
    const struct stk_trace *t = a->t;
    if (stk_class_of(a, event) & STK_NAME_BLOCKED) {
        return true;
    }
    struct stk_str name = stk_name_of(t, event);
    if (t->kind[event] != STK_KIND_PYTHON || !stk_python_frame_is_users(name)) {
        return false;
    }
    struct stk_str function = stk_python_frame_parse(name).function;
    enum stk_feed feed = stk_feed_of(function);
    double least_ns = STK_DATA_LEAST * (double)stk_dur_ns(t, event);
    bool has_data = (double)stk_inside_of(inside, event).data_ns >= least_ns;
    bool is_silent = feed == STK_FEED_UNKNOWN;
    return feed == STK_FEED_OTHER || (is_silent && stk_feed_rules(function)) ||
           (is_silent && !has_data && (double)handed_ns < least_ns);
}

static bool push(struct stk_vec *marks, int64_t start_ns, int64_t end_ns, uint32_t event)
{
    struct stk_mark *m = start_ns < end_ns ? stk_vec_push(marks) : NULL;
    if (m) {
        *m = (struct stk_mark){start_ns, end_ns, event};
    }
    return m || start_ns >= end_ns;
}

// The hand-over of a step's data: the last call that does it, or the compiled call that takes the
// data.
struct handing {
    uint32_t last; // STK_NONE: none
    int64_t to_ns; // the preparation's end
    int64_t handing_ns, data_ns;
};

static struct handing last_hand_over(const struct stk_trace *t, uint32_t at, uint32_t end,
                                     struct stk_hands *hands, int64_t until_ns,
                                     const struct stk_inside *inside)
{
    struct handing h = {.last = STK_NONE, .to_ns = INT64_MIN};
    int64_t other_ns = INT64_MIN; // end of a function that does something else, with its own arrays
    for (; at < end && t->start_ns[at] < until_ns; at++) {
        uint8_t kind = hands_kind(hands, at);
        if (kind == OTHERWISE && stk_end_ns(t, at) <= until_ns && t->start_ns[at] >= other_ns) {
            other_ns = stk_end_ns(t, at);
        }
        if (kind == YES && t->start_ns[at] >= h.to_ns && t->start_ns[at] >= other_ns) {
            struct stk_inside_sum sum = stk_inside_of(inside, at);
            bool is_c = stk_str_starts(stk_name_of(t, at), STK_STR("<built-in"));
            h.handing_ns = stk_add_ns(h.handing_ns, stk_dur_ns(t, at));
            h.data_ns = stk_add_ns(h.data_ns, is_c ? stk_dur_ns(t, at) : sum.data_ns);
            h.to_ns = stk_end_ns(t, at);
            h.last = at;
        }
    }
    return h;
}

// The compiled call that begins the step's work, if it takes host arrays, or arrays that operations
// before it make one by one. No call between `at` and it may read results back: those aren't the
// next step's data.
static struct handing compiled_hand_over(const struct stk_analysis *a, uint32_t at, uint32_t end,
                                         int64_t work_ns, const struct stk_inside *inside)
{
    const struct stk_trace *t = a->t;
    struct handing h = {.last = STK_NONE, .to_ns = work_ns};
    uint32_t first = at;
    while (at < end && (t->start_ns[at] < work_ns || !(stk_class_of(a, at) & STK_NAME_PJIT))) {
        at++;
    }
    if (at == end || t->start_ns[at] != work_ns ||
        stk_inside_between(inside, first, at).takes > 0) {
        return h;
    }
    int64_t end_ns = stk_end_ns(t, at);
    if (stk_inside_between(inside, first, at).calls >= EAGER_LEAST) {
        h.last = at;
    }
    for (uint32_t e = at; e < end && t->start_ns[e] < end_ns && h.last == STK_NONE; e++) {
        if (t->kind[e] != STK_KIND_PYTHON && stk_feed_puts(stk_name_of(t, e))) {
            h.last = at;
        }
    }
    return h;
}

// The job's function around an event; the event itself if none is recorded.
static uint32_t function_around(struct stk_thread_cursor *c, uint32_t event)
{
    const struct stk_trace *t = c->a->t;
    stk_cursor_advance(c, t->start_ns[event]);
    for (uint32_t i = c->depth; i-- > 0;) {
        uint32_t frame = c->stack[i].event;
        if (t->kind[frame] == STK_KIND_PYTHON && stk_python_frame_is_users(stk_name_of(t, frame))) {
            return frame;
        }
    }
    return event;
}

// One step's marks: everything up to the end of the hand-over, without functions that do something
// else. If no function is known around it, library calls get their own marks.
static bool mark_step(const struct stk_analysis *a, uint32_t at, int64_t start_ns,
                      const struct handing *h, struct stk_hands *hands, uint32_t function,
                      struct stk_own_batches *out)
{
    const struct stk_trace *t = a->t;
    int64_t from_ns = start_ns,
            called_ns = start_ns; // end of a library call or hand-over
    uint32_t end = h->last + (h->to_ns > t->start_ns[h->last]);
    int64_t data_ns = stk_inside_between(out->inside, at, end).data_ns;
    for (; at < h->last; at++) {
        if (t->start_ns[at] < called_ns || stk_end_ns(t, at) > h->to_ns) {
            continue;
        }
        bool otherwise = is_otherwise(a, out->inside, h->data_ns, at);
        bool is_data = stk_inside_is_data(out->inside, at);
        if (otherwise || is_data || stk_hands_over(hands, at)) {
            called_ns = stk_end_ns(t, at);
        }
        if (otherwise || (is_data && function == h->last)) {
            if (!push(out->marks, from_ns, t->start_ns[at], function) ||
                !(otherwise || push(out->marks, t->start_ns[at], called_ns, at))) {
                return false;
            }
            from_ns = called_ns;
            data_ns -= otherwise ? stk_inside_of(out->inside, at).data_ns : 0;
        }
    }
    out->data_ns = stk_add_ns(out->data_ns, data_ns);
    return push(out->marks, from_ns, h->to_ns, function);
}

bool stk_own_batches_find(const struct stk_analysis *a, uint32_t row, struct stk_hands *hands,
                          const struct stk_own_step *of_step, struct stk_thread_cursor *cursor,
                          struct stk_own_batches *out)
{
    const struct stk_trace *t = a->t;
    uint32_t at = t->tracks[row].first, end = at + t->tracks[row].count;
    out->steps = 0;
    out->handing_ns = 0;
    out->data_ns = 0;
    stk_cursor_init(cursor, a, row);
    for (uint32_t k = 0; k < a->step_count; k++) {
        const struct stk_own_step *s = &of_step[k];
        while (at < end && t->start_ns[at] < s->start_ns) {
            at++;
        }
        if (s->work_ns == INT64_MAX) {
            continue;
        }
        struct handing h = last_hand_over(t, at, end, hands, s->work_ns, out->inside);
        if (h.last == STK_NONE) {
            h = compiled_hand_over(a, at, end, s->work_ns, out->inside);
        }
        if (h.last == STK_NONE) {
            continue;
        }
        out->handing_ns = stk_add_ns(out->handing_ns, h.handing_ns);
        uint32_t function = function_around(cursor, h.last);
        if (!mark_step(a, at, s->start_ns, &h, hands, function, out)) {
            return false;
        }
        out->steps++;
    }
    return true;
}
