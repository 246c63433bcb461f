// SPDX-License-Identifier: Apache-2.0
// Batches that the loop makes itself, in no function of its own: it reads, sorts and distorts with
// NumPy or plain Python, and then hands the result to the framework (torch.tensor(rows),
// torch.from_numpy(x), jnp.asarray(x)). What comes before the last such call, and the call itself,
// which reads lists of Python's number by number, is the input.
//
// Method: one pass over the row. Left out are functions of the job's own that lie there and are
// named after something else (log_row, check_quota), and what blocks: who ends it decides what that
// is (block_end.c). Limits: what is handed over within the
// step's first call (JAX takes arrays of NumPy as they are) is not seen, nor is what a loop without
// such names does besides.
#include "model/steps/own_batch.h"

#include "base/alloc.h"
#include "model/threads/feed_words.h"
#include "model/threads/python_frame.h"

enum { UNASKED, NO, YES };

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

bool stk_hands_over(struct stk_hands *h, uint32_t event)
{
    if (h->t->kind[event] != STK_KIND_PYTHON) {
        return false;
    }
    uint8_t *known = &h->by_name[h->t->name[event]];
    if (*known == UNASKED) {
        *known = stk_feed_hands_over(stk_name_of(h->t, event)) ? YES : NO;
    }
    return *known == YES;
}

static bool is_otherwise(const struct stk_analysis *a, uint32_t event)
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
    return feed == STK_FEED_OTHER || (feed == STK_FEED_UNKNOWN && stk_feed_rules(function));
}

static bool push(struct stk_vec *marks, int64_t start_ns, int64_t end_ns, uint32_t event)
{
    struct stk_mark *m = start_ns < end_ns ? stk_vec_push(marks) : NULL;
    if (m) {
        *m = (struct stk_mark){start_ns, end_ns, event};
    }
    return m || start_ns >= end_ns;
}

// The last call before `until_ns` that hands data over, of the events from `at` on, with the time
// of all of them; STK_NONE: none.
static uint32_t last_hand_over(const struct stk_trace *t, uint32_t at, uint32_t end,
                               struct stk_hands *hands, int64_t until_ns, int64_t *handing_ns)
{
    uint32_t last = STK_NONE;
    int64_t end_ns = INT64_MIN;
    for (; at < end && t->start_ns[at] < until_ns; at++) {
        if (t->start_ns[at] >= end_ns && stk_hands_over(hands, at)) {
            *handing_ns = stk_add_ns(*handing_ns, stk_dur_ns(t, at));
            end_ns = stk_end_ns(t, at);
            last = at;
        }
    }
    return last;
}

// The job's own function around an event; the event itself where none is recorded.
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

// One step's marks: what comes before `last` ends, without functions that are named otherwise.
static bool mark_step(const struct stk_analysis *a, uint32_t at, int64_t start_ns, uint32_t last,
                      uint32_t function, struct stk_vec *marks)
{
    const struct stk_trace *t = a->t;
    int64_t from_ns = start_ns, to_ns = stk_end_ns(t, last);
    for (; at < last; at++) {
        if (t->start_ns[at] >= from_ns && stk_end_ns(t, at) <= to_ns && is_otherwise(a, at)) {
            if (!push(marks, from_ns, t->start_ns[at], function)) {
                return false;
            }
            from_ns = stk_end_ns(t, at);
        }
    }
    return push(marks, from_ns, to_ns, function);
}

bool stk_own_batches_find(const struct stk_analysis *a, uint32_t row, struct stk_hands *hands,
                          const struct stk_own_step *of_step, struct stk_thread_cursor *cursor,
                          struct stk_own_batches *out)
{
    const struct stk_trace *t = a->t;
    uint32_t at = t->tracks[row].first, end = at + t->tracks[row].count;
    out->steps = 0;
    out->handing_ns = 0;
    stk_cursor_init(cursor, a, row);
    for (uint32_t k = 0; k < a->step_count; k++) {
        const struct stk_own_step *s = &of_step[k];
        while (at < end && t->start_ns[at] < s->start_ns) {
            at++;
        }
        if (s->work_ns == INT64_MAX) {
            continue;
        }
        uint32_t last = last_hand_over(t, at, end, hands, s->work_ns, &out->handing_ns);
        if (last == STK_NONE) {
            continue;
        }
        uint32_t function = function_around(cursor, last);
        if (!mark_step(a, at, s->start_ns, last, function, out->marks)) {
            return false;
        }
        out->steps++;
    }
    return true;
}
