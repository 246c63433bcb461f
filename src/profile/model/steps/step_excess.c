// SPDX-License-Identifier: Apache-2.0
// What makes a step long: the longest event that is wholly inside it, takes a third of it, and
// whose name takes less than half as long in every usual step. The job's own functions come before
// those around and inside of them. It is done for the first step if it is excluded as warm-up, and
// for the longest step that is used. A long DataLoader fetch means starting workers, if it is the
// first of an iteration: starting them takes at least a millisecond right before it and leaves no
// event. The profile doesn't show why any other fetch is slow.
//
// Method: the events that begin in one step, on the driving thread; then one pass over that thread
// for the rivals of the few candidates. All threads are searched for a shuffle buffer that fills.
// Limit: work without its own event can't be named.
#include "base/alloc.h"
#include "profile/model/analysis.h"
#include "profile/model/threads/python_frame.h"

#define PART_OF_STEP 3         // an event that takes a third of the step explains it
#define RIVAL 2                // elsewhere it takes less than half as long
#define ASKED_MAX 32           // candidates: each is a pass over the thread
#define MAKING_NS (1 * STK_MS) // starting a process takes as long

// First event of a row that begins at or after a time.
static uint32_t first_from(const struct stk_trace *t, const struct stk_track *row, int64_t t_ns)
{
    uint32_t low = row->first, high = row->first + row->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->start_ns[mid] < t_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

// Events that contain a step's work don't explain why it was long.
#define HOLDS_WORK                                                                                 \
    (STK_NAME_FW_STEP | STK_NAME_PJIT | STK_NAME_FUNCTION | STK_NAME_OPTIMIZER | STK_NAME_INTERNAL)

static bool explains(const struct stk_analysis *a, const struct stk_host_step *s, uint32_t event)
{
    return !(stk_class_of(a, event) & HOLDS_WORK) && stk_end_ns(a->t, event) <= s->end_ns &&
           !stk_is_step_mark(a, event) &&
           stk_dur_ns(a->t, event) >= (s->end_ns - s->start_ns) / PART_OF_STEP;
}

// Is the time in a step that isn't long?
static bool in_usual_step(const struct stk_analysis *a, int64_t t_ns)
{
    uint32_t low = 0, high = a->step_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (a->steps[mid].start_ns <= t_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low > 0 && !a->steps[low - 1].long_why && !a->steps[low - 1].is_warm_up;
}

// Does an event of that name take that long in a usual step?
static bool has_like(const struct stk_analysis *a, uint32_t event, int64_t least_ns)
{
    const struct stk_trace *t = a->t;
    for (uint32_t row = a->driver; row != STK_NONE; row = a->threads[row].next_row) {
        const struct stk_track *k = &t->tracks[row];
        for (uint32_t e = k->first; e < k->first + k->count; e++) {
            if (t->name[e] == t->name[event] && stk_dur_ns(t, e) >= least_ns &&
                in_usual_step(a, t->start_ns[e])) {
                return true;
            }
        }
    }
    return false;
}

static uint32_t find_on_driver(const struct stk_analysis *a, const struct stk_host_step *s)
{
    const struct stk_trace *t = a->t;
    uint32_t best[2] = {STK_NONE, STK_NONE}, asked[2] = {0}; // of any code, of the job's
    for (uint32_t row = a->driver; row != STK_NONE; row = a->threads[row].next_row) {
        const struct stk_track *k = &t->tracks[row];
        uint32_t end = k->first + k->count;
        for (uint32_t e = first_from(t, k, s->start_ns); e < end && t->start_ns[e] < s->end_ns;
             e++) {
            bool own =
                t->kind[e] == STK_KIND_PYTHON && stk_python_frame_is_users(stk_name_of(t, e));
            uint32_t *held = &best[own];
            bool longer = *held == STK_NONE || stk_dur_ns(t, e) > stk_dur_ns(t, *held);
            if (longer && explains(a, s, e) && asked[own]++ < ASKED_MAX &&
                !has_like(a, e, stk_dur_ns(t, e) / RIVAL)) {
                *held = e;
            }
        }
    }
    return best[1] != STK_NONE ? best[1] : best[0];
}

static bool fills_shuffle(const struct stk_analysis *a, const struct stk_host_step *s)
{
    const struct stk_trace *t = a->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *row = &t->tracks[k];
        uint32_t end = row->first + row->count;
        if (!a->threads[k].in_rank) {
            continue;
        }
        for (uint32_t e = first_from(t, row, s->start_ns); e < end && t->start_ns[e] < s->end_ns;
             e++) {
            if ((stk_class_of(a, e) & STK_NAME_ITERATOR) && explains(a, s, e) &&
                stk_str_contains_nocase(stk_name_of(t, e), STK_STR("shuffle"))) {
                return true;
            }
        }
    }
    return false;
}

// Is a fetch the first of an iteration? Nothing is recorded for long before it, as when processes
// start.
static bool begins_iteration(const struct stk_analysis *a, const struct stk_host_step *s,
                             uint32_t fetch)
{
    const struct stk_trace *t = a->t;
    int64_t before_ns = s->start_ns;
    for (uint32_t row = a->driver; row != STK_NONE; row = a->threads[row].next_row) {
        const struct stk_track *k = &t->tracks[row];
        for (uint32_t e = first_from(t, k, s->start_ns);
             e < k->first + k->count && t->start_ns[e] < t->start_ns[fetch]; e++) {
            int64_t end_ns = stk_end_ns(t, e);
            bool is_over = end_ns <= t->start_ns[fetch];
            before_ns = is_over && end_ns > before_ns ? end_ns : before_ns;
        }
    }
    return t->start_ns[fetch] - before_ns >= MAKING_NS;
}

// False: no memory. *what is NULL if no event explains it.
static bool name_step(const struct stk_analysis *a, const struct stk_host_step *s,
                      const char **what, bool *is_usual)
{
    *what = NULL;
    uint32_t event = find_on_driver(a, s);
    struct stk_str name = event == STK_NONE ? STK_STR("") : stk_name_of(a->t, event);
    *is_usual = false;
    if (fills_shuffle(a, s)) {
        *what = STK_WHAT_SHUFFLE;
    } else if (stk_str_contains(name, STK_STR("MultiProcessingDataLoaderIter"))) {
        *what = begins_iteration(a, s, event) ? "workers that start" : NULL;
    } else if (event != STK_NONE && (stk_class_of(a, event) & STK_NAME_COMPILE)) {
        *what = "tracing and compilation";
    } else if (name.n) {
        *is_usual = has_like(a, event, 0);
        *what = stk_arena_strndup(a->out, name.p, name.n);
        return *what != NULL;
    }
    return true;
}

bool stk_long_steps_name(struct stk_analysis *a)
{
    const struct stk_host_step *start = NULL, *longest = NULL;
    if (a->driver == STK_NONE || a->steps_on_device || a->steps_per_device) {
        return true;
    }
    for (uint32_t i = 0; i < a->step_count; i++) {
        const struct stk_host_step *s = &a->steps[i];
        int64_t dur_ns = s->end_ns - s->start_ns;
        if (s->is_warm_up && (!start || dur_ns > start->end_ns - start->start_ns)) {
            start = s;
        }
        if (s->long_why && (!longest || dur_ns > longest->end_ns - longest->start_ns)) {
            longest = s;
        }
    }
    struct stk_facts *f = &a->sum->facts;
    bool start_is_usual; // nothing more is reported about a start
    return (!start || name_step(a, start, &f->warm_up_what, &start_is_usual)) &&
           (!longest || name_step(a, longest, &f->long_what, &f->long_what_is_usual));
}
