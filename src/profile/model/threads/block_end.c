// SPDX-License-Identifier: Apache-2.0
// Who ends the training thread's waits. Another thread fills the queue, releases the lock, or sets
// the future's result. If that thread prepares data, the wait is a fetch of the next batch. Any
// other wait stays host_wait, named after the blocking call.
//
// Method: a wait is ended by the last call of the right kind (names_block.def) on another thread
// before the wait is over. That thread is looked at in five moments of the wait: the innermost
// frame that is a fetch, or is named after preparing data or something else (feeds.def), decides.
// An element put into a queue is data unless a frame says otherwise. So is the result of a user's
// function on a pool's thread, if the step waits for it before its work. O((w + e) log e) in waits
// and ends.
// Limits: threads without recorded Python aren't seen, and neither are other processes: elements of
// a queue between processes, and results of a process pool, count as data.
#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/analysis.h"
#include "profile/model/intervals.h"
#include "profile/model/threads/frame_sense.h"
#include "profile/model/threads/thread_walk.h"
#include "profile/store/names_block.h"

#define LATE_NS STK_MS // an end may be recorded this much after the wait, because of Python's lock
#define MOMENTS 5
#define LOOKED_MAX 1024 // events of a step, before a wait, that are searched
#define SIBLINGS 64     // earlier calls that are searched for the frame around a call

struct ends {
    struct stk_analysis *a;
    struct stk_frame_senses senses;
    uint8_t *blocks, *lets_go;       // per string id: enum stk_block_end + 1, 0 not asked yet
    struct stk_thread_cursor **rows; // per track, made when first needed
    int64_t filler_ns;               // longest wait with a known filler
    uint32_t filler;                 // its frame
    bool failed;
};

// What ends the block of a thread in this event; as names_block.h, once per name.
static enum stk_block_end blocks_until(struct ends *x, uint32_t event)
{
    uint8_t *known = &x->blocks[x->a->t->name[event]];
    if (!*known) {
        *known = (uint8_t)(stk_name_blocks(stk_name_of(x->a->t, event)) + 1);
    }
    return (enum stk_block_end)(*known - 1);
}

// The kind of blocks that this event ends.
static enum stk_block_end lets_go_of(struct ends *x, uint32_t event)
{
    uint8_t *known = &x->lets_go[x->a->t->name[event]];
    if (!*known) {
        *known = (uint8_t)(stk_name_lets_go(stk_name_of(x->a->t, event)) + 1);
    }
    return (enum stk_block_end)(*known - 1);
}

static enum stk_feed frame_says(struct ends *x, const struct stk_open_event *frame)
{
    const uint32_t fetches = STK_NAME_FETCH | STK_NAME_PREP | STK_NAME_ITERATOR | STK_NAME_PY_NEXT;
    if (frame->classes & fetches) {
        return STK_FEED_DATA;
    }
    const struct stk_frame_sense *s = stk_frame_sense_of(&x->senses, frame->event);
    if (x->a->t->kind[frame->event] == STK_KIND_PYTHON && s->owner != STK_PYTHON_USER &&
        s->owner != STK_PYTHON_UNKNOWN) {
        return STK_FEED_UNKNOWN;
    }
    return (enum stk_feed)s->feed;
}

static bool is_users(struct ends *x, uint32_t event)
{
    return x->a->t->kind[event] == STK_KIND_PYTHON &&
           stk_frame_sense_of(&x->senses, event)->owner == STK_PYTHON_USER;
}

// A file without a folder may be the user's: it is named only if there is nothing better.
static bool may_be_users(struct ends *x, uint32_t event)
{
    return x->a->t->kind[event] == STK_KIND_PYTHON &&
           stk_frame_sense_of(&x->senses, event)->may_be_users;
}

// Is a frame a better answer than the previous one? The user knows their own function, and an
// expression in it (<listcomp>) has no name.
static bool tells_more(struct ends *x, uint32_t frame, uint32_t before)
{
    return before == STK_NONE || (!stk_frame_sense_of(&x->senses, frame)->is_expression &&
                                  (!is_users(x, before) || is_users(x, frame)));
}

// What the thread does at a moment, by its innermost frame that shows it. *frame: that frame, or
// the outermost of the user's inside of it, if it is a framework's or no frame shows anything.
static enum stk_feed thread_says(struct ends *x, uint32_t thread, int64_t t_ns, uint32_t *frame)
{
    for (uint32_t row = thread; row != STK_NONE; row = x->a->threads[row].next_row) {
        if (!x->rows[row]) {
            x->rows[row] = stk_cursor_new(x->a->t->tracks[row].count);
            if (!x->rows[row]) {
                x->failed = true;
                return STK_FEED_UNKNOWN;
            }
            stk_cursor_init(x->rows[row], x->a, row);
        }
        struct stk_thread_cursor *c = x->rows[row];
        stk_cursor_advance(c, t_ns);
        for (uint32_t i = c->depth; i-- > 0;) {
            enum stk_feed says = frame_says(x, &c->stack[i]);
            uint32_t event = c->stack[i].event;
            if ((says != STK_FEED_UNKNOWN || may_be_users(x, event)) &&
                tells_more(x, event, *frame)) {
                *frame = event;
            }
            if (says != STK_FEED_UNKNOWN) {
                return says;
            }
        }
    }
    return STK_FEED_UNKNOWN;
}

STK_ORDER(by_start, struct stk_mark, STK_UP(start_ns) STK_UP(event))

// The call on another thread that ended the wait; STK_NONE: not recorded.
static uint32_t ender_of(struct ends *x, const struct stk_mark *wait, enum stk_block_end by)
{
    const struct stk_analysis *a = x->a;
    const struct stk_marks *m = &a->lets_go;
    uint32_t waiter = stk_thread_of(a, wait->event);
    size_t low = 0, high = m->count;
    while (low < high) { // first that begins too late to have ended the wait
        size_t mid = low + (high - low) / 2;
        if (m->v[mid].start_ns <= wait->end_ns + LATE_NS) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    while (low-- > 0 && m->v[low].start_ns >= wait->start_ns) {
        uint32_t thread = stk_thread_of(a, m->v[low].event);
        if (thread != waiter && lets_go_of(x, m->v[low].event) == by) {
            return m->v[low].event;
        }
    }
    return STK_NONE;
}

// Is it the thread of a pool that delivers another process's results? The frame around the call
// shows it.
static bool is_from_process(const struct stk_trace *t, uint32_t call)
{
    uint32_t from = call > SIBLINGS ? call - SIBLINGS : 0;
    for (uint32_t e = call; t->depth[call] > 0 && e-- > from;) {
        if (t->depth[e] < t->depth[call]) {
            return stk_str_eq(stk_python_frame_parse(stk_name_of(t, e)).function,
                              STK_STR("process_result_item"));
        }
    }
    return false;
}

// multiprocessing.Queue: another process sends what the thread waits for.
static bool is_between_processes(const struct stk_analysis *a, uint32_t event)
{
    return stk_str_ends(stk_python_frame_parse(stk_name_of(a->t, event)).file,
                        STK_STR("queues.py"));
}

// Does the wait come before the step's work?
static bool leads_step(const struct stk_analysis *a, const struct stk_mark *wait)
{
    const uint32_t work = STK_NAME_MODEL_OP | STK_NAME_PJIT | STK_NAME_FUNCTION | STK_NAME_LAUNCH;
    const struct stk_trace *t = a->t;
    uint32_t step = 0, high = a->step_count;
    while (step < high) { // first that ends after the wait's start
        uint32_t mid = step + (high - step) / 2;
        if (a->steps[mid].end_ns <= wait->start_ns) {
            step = mid + 1;
        } else {
            high = mid;
        }
    }
    if (step == a->step_count || a->steps[step].start_ns > wait->start_ns) {
        return false;
    }
    uint32_t first = t->tracks[stk_track_of(t, wait->event)].first, looked = 0;
    for (uint32_t e = wait->event; e-- > first && t->start_ns[e] >= a->steps[step].start_ns;) {
        if ((stk_class_of(a, e) & work) || ++looked > LOOKED_MAX) {
            return false;
        }
    }
    return true;
}

static bool ends_with_data(struct ends *x, const struct stk_mark *wait)
{
    enum stk_block_end by = blocks_until(x, wait->event);
    bool can = by == STK_ENDED_BY_PUT || by == STK_ENDED_BY_LOCK || by == STK_ENDED_BY_RESULT;
    uint32_t call = can ? ender_of(x, wait, by) : STK_NONE, frame = STK_NONE;
    int feeds = 0, serves = 0, users = 0;
    if (call == STK_NONE) {
        return by == STK_ENDED_BY_PUT && is_between_processes(x->a, wait->event);
    }
    if (by == STK_ENDED_BY_RESULT && is_from_process(x->a->t, call)) {
        return true;
    }
    uint32_t thread = stk_thread_of(x->a, call);
    for (int i = 0; i < MOMENTS; i++) {
        int64_t at = wait->start_ns + (wait->end_ns - wait->start_ns) / MOMENTS * i;
        uint32_t seen = STK_NONE;
        enum stk_feed says = thread_says(x, thread, at, &seen);
        feeds += says == STK_FEED_DATA;
        serves += says == STK_FEED_OTHER;
        users += says == STK_FEED_UNKNOWN && seen != STK_NONE && is_users(x, seen);
        if (says != STK_FEED_OTHER && seen != STK_NONE && tells_more(x, seen, frame)) {
            frame = seen;
        }
    }
    bool is_answer = by == STK_ENDED_BY_RESULT && users > 0 && leads_step(x->a, wait);
    if (feeds <= serves && ((by != STK_ENDED_BY_PUT && !is_answer) || serves > 0)) {
        return false;
    }
    x->a->threads[thread].is_loader = true; // its work isn't the model's
    if (frame != STK_NONE && wait->end_ns - wait->start_ns > x->filler_ns) {
        x->filler_ns = wait->end_ns - wait->start_ns;
        x->filler = frame;
    }
    return true;
}

// Is the wait inside one of the first `count` fetches? They are in time order and disjoint.
static bool lies_in_fetch(const struct stk_analysis *a, size_t count, const struct stk_mark *wait)
{
    size_t low = 0, high = count;
    while (low < high) { // first that ends after the wait begins
        size_t mid = low + (high - low) / 2;
        if (a->fetches.v[mid].end_ns <= wait->start_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < count && a->fetches.v[low].start_ns <= wait->start_ns;
}

// In time order over all threads: the cursors only go forward.
static bool judge_waits(struct ends *x)
{
    struct stk_analysis *a = x->a;
    size_t known = a->fetches.count;
    size_t most = a->fetches.count + a->waits.count;
    struct stk_mark *fetches = stk_realloc_array(a->fetches.v, most, sizeof *fetches);
    bool any = false;
    if (!fetches) {
        return false;
    }
    a->fetches.v = fetches;
    stk_sort(a->waits.v, a->waits.count, sizeof *a->waits.v, by_start);
    stk_sort(a->lets_go.v, a->lets_go.count, sizeof *a->lets_go.v, by_start);
    for (size_t i = 0; i < a->waits.count && !x->failed; i++) {
        const struct stk_mark *wait = &a->waits.v[i];
        const struct stk_thread_info *th = &a->threads[stk_thread_of(a, wait->event)];
        if ((th->is_driver || th->launches) && ends_with_data(x, wait)) {
            a->fetches.v[a->fetches.count++] = *wait;
            any = true;
            if (!lies_in_fetch(a, known, wait)) { // else its fetch is already counted
                a->sum->facts.loader_fetches++;
                a->sum->facts.loader_fetch_ns += wait->end_ns - wait->start_ns;
            }
        }
    }
    if (any) {
        stk_marks_flatten(&a->fetches);
    }
    return !x->failed;
}

// How long, within fetches, a thread that prepares data waits for a clock, a socket or another
// program. False: no memory.
static bool measure_asleep(struct ends *x)
{
    struct stk_analysis *a = x->a;
    struct stk_spans fetches, asleep, both;
    stk_spans_init(&fetches);
    stk_spans_init(&asleep);
    stk_spans_init(&both);
    bool ok = stk_spans_reserve(&fetches, a->fetches.count + 1) &&
              stk_spans_reserve(&asleep, a->waits.count + 1);
    for (size_t i = 0; ok && i < a->fetches.count; i++) {
        const struct stk_mark *m = &a->fetches.v[i];
        fetches.v[fetches.count++] = (struct stk_span){m->start_ns, m->end_ns};
    }
    for (size_t i = 0; ok && i < a->waits.count; i++) {
        const struct stk_mark *m = &a->waits.v[i];
        const struct stk_thread_info *th = &a->threads[stk_thread_of(a, m->event)];
        enum stk_block_end by = blocks_until(x, m->event);
        if ((by == STK_ENDED_BY_CLOCK || by == STK_ENDED_BY_OUTSIDE) &&
            (th->is_driver || th->launches || th->is_loader)) {
            asleep.v[asleep.count++] = (struct stk_span){m->start_ns, m->end_ns};
        }
    }
    if (ok) {
        stk_spans_normalize(&fetches);
        stk_spans_normalize(&asleep);
        ok = stk_spans_intersect(&fetches, &asleep, &both);
        a->sum->facts.input_asleep_ns = stk_spans_total(&both);
    }
    stk_spans_deinit(&fetches);
    stk_spans_deinit(&asleep);
    stk_spans_deinit(&both);
    return ok;
}

bool stk_block_ends_find(struct stk_analysis *a)
{
    if (a->waits.count == 0) {
        return true;
    }
    struct ends x = {.a = a, .filler = STK_NONE};
    x.rows = stk_alloc_zero((size_t)a->t->track_count + 1, sizeof *x.rows);
    x.blocks = stk_alloc_zero(2 * ((size_t)a->t->strings.count + 1), 1);
    x.lets_go = x.blocks ? x.blocks + a->t->strings.count + 1 : NULL;
    bool has_senses = stk_frame_senses_open(&x.senses, a->t);
    bool ok = x.rows && x.blocks && has_senses && judge_waits(&x) && measure_asleep(&x);
    if (ok && x.filler != STK_NONE) {
        struct stk_str name = stk_name_of(a->t, x.filler);
        a->sum->facts.input_filler = stk_arena_strndup(a->out, name.p, name.n);
        ok = a->sum->facts.input_filler != NULL;
    }
    for (uint32_t k = 0; x.rows && k < a->t->track_count; k++) {
        stk_free(x.rows[k]);
    }
    stk_free(x.rows);
    stk_free(x.blocks);
    stk_frame_senses_close(&x.senses);
    return ok;
}
