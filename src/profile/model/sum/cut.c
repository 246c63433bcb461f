// SPDX-License-Identifier: Apache-2.0
// Until when a rank's rows are complete, if the input ends early. Steps that end later aren't used
// (steps/exclude.c): profilers write device rows last, so missing rows would look like an idle
// device.
//
// Some readers know that time. Otherwise it follows from the records' positions, in one of two
// ways; the later time counts.
//
// Files in time order, from tracers that write as they go: let D be the most that a record's time
// trails the latest one before it in the file. Rows earlier than the last one of each class (host,
// runtime call, device), less D, are complete.
//
// Host before device (Kineto): all rows of the host were read before the first call of the runtime.
// Then a thread that runs operators is complete up to its last call that started work, less the D
// of its calls, or up to a gap in them (lost_calls.c). Calls may be written thread by thread, and
// in pieces in any order.
//
// In both cases the complete part ends at a call without its work, at a graph whose work may
// continue after the end, and at the last work of a device: what a step waits for at its end only
// shows with the work after it.
//
// Limits: a thread that launches work without recorded operators isn't noticed if none of its calls
// was read. Calls that never have work (captured into a graph) end the complete part too early.
#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/analysis.h"
#include "profile/model/device/stream_heads.h"
#include "profile/model/sum/lost_calls.h"

enum row_class { HOST, CALL, DEVICE, CLASSES };

struct placed {
    uint64_t pos;
    int64_t start_ns, end_ns;
    uint32_t thread; // of a call; else STK_NONE
};

// What is known from the calls and operators of one thread, over all its rows.
struct thread_seen {
    bool has_operators;
    int64_t last_launch_ns;     // with work; INT64_MIN without any
    int64_t first_orphan_ns;    // without; INT64_MAX without any
    int64_t newest_ns, back_ns; // of its calls, in file order: the latest, and D
};

static int64_t first_of(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static int64_t last_of(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t earlier(int64_t ns, int64_t by_ns)
{
    return ns < INT64_MIN + by_ns ? INT64_MIN : ns - by_ns;
}

STK_ORDER(by_position, struct placed, STK_UP(pos) STK_UP(start_ns))

// The class of an event of this rank that shows the file's order; CLASSES: it doesn't show it.
static enum row_class class_of(const struct stk_trace *t, const struct stk_track *k, uint32_t event)
{
    if (k->kind == STK_TRACK_STREAM) {
        return stk_kind_is_device_work(t->kind[event]) ? DEVICE : CLASSES;
    }
    return k->kind != STK_TRACK_THREAD ? CLASSES : t->kind[event] == STK_KIND_RUNTIME ? CALL : HOST;
}

// The rows of a class seen so far.
struct seen {
    uint64_t rows, first_pos, last_pos;
    int64_t last_start_ns, last_end_ns;
};

static void see_row(struct seen *s, const struct placed *p)
{
    bool is_first = s->rows++ == 0;
    s->first_pos = is_first || p->pos < s->first_pos ? p->pos : s->first_pos;
    s->last_pos = p->pos > s->last_pos ? p->pos : s->last_pos;
    s->last_start_ns = is_first ? p->start_ns : last_of(p->start_ns, s->last_start_ns);
    s->last_end_ns = is_first ? p->end_ns : last_of(p->end_ns, s->last_end_ns);
}

// Rows of the rank that show the order, as many as fit in `room`; NULL: count them.
static size_t list_rows(const struct stk_analysis *a, struct placed *room, struct seen *seen)
{
    const struct stk_trace *t = a->t;
    size_t n = 0;
    for (uint32_t i = 0; i < t->track_count; i++) {
        const struct stk_track *k = &t->tracks[i];
        if (!a->in_rank[k->process]) {
            continue;
        }
        for (uint32_t e = k->first; e < k->first + k->count; e++) {
            enum row_class class = class_of(t, k, e);
            if (class != CLASSES && room) {
                room[n] = (struct placed){stk_pos(t, e), t->start_ns[e], stk_end_ns(t, e),
                                          class == CALL ? a->threads[i].root : STK_NONE};
                see_row(&seen[class], &room[n]);
            }
            n += class != CLASSES;
        }
    }
    return n;
}

static void step_back(int64_t at_ns, int64_t *newest_ns, int64_t *back_ns)
{
    *newest_ns = last_of(at_ns, *newest_ns);
    *back_ns = last_of(*newest_ns - at_ns, *back_ns);
}

// From rows in file order; sets the threads' D. Some writers write a row when it begins, others
// when it ends.
static int64_t whole_by_order(const struct placed *row, size_t n, const struct seen *seen,
                              struct thread_seen *threads)
{
    int64_t start_ns = INT64_MIN, end_ns = INT64_MIN, start_back_ns = 0, end_back_ns = 0;
    for (size_t i = 0; i < n; i++) {
        step_back(row[i].start_ns, &start_ns, &start_back_ns);
        step_back(row[i].end_ns, &end_ns, &end_back_ns);
        if (row[i].thread != STK_NONE) {
            struct thread_seen *th = &threads[row[i].thread];
            step_back(row[i].start_ns, &th->newest_ns, &th->back_ns);
        }
    }
    for (int i = 0; i < CLASSES; i++) {
        if (seen[i].rows) {
            start_ns = first_of(seen[i].last_start_ns, start_ns);
            end_ns = first_of(seen[i].last_end_ns, end_ns);
        }
    }
    return last_of(earlier(start_ns, start_back_ns), earlier(end_ns, end_back_ns));
}

static bool starts_work(const struct stk_analysis *a, uint32_t call)
{
    return stk_class_of(a, call) & (STK_NAME_LAUNCH | STK_NAME_COPY_CALL | STK_NAME_GRAPH_LAUNCH);
}

static struct thread_seen see_thread(const struct stk_analysis *a, uint32_t thread)
{
    const struct stk_trace *t = a->t;
    struct thread_seen s = {
        .last_launch_ns = INT64_MIN, .first_orphan_ns = INT64_MAX, .newest_ns = INT64_MIN};
    for (uint32_t row = thread; row != STK_NONE; row = a->threads[row].next_row) {
        const struct stk_track *k = &t->tracks[row];
        for (uint32_t e = k->first; e < k->first + k->count; e++) {
            int64_t at_ns = t->start_ns[e];
            s.has_operators |= t->kind[e] == STK_KIND_HOST_OP;
            if (t->kind[e] != STK_KIND_RUNTIME) {
                continue;
            }
            if (t->ref[e] != STK_NONE) {
                s.last_launch_ns = last_of(at_ns, s.last_launch_ns);
            } else if (starts_work(a, e)) {
                s.first_orphan_ns = first_of(at_ns, s.first_orphan_ns);
            }
        }
    }
    return s;
}

static bool is_thread(const struct stk_analysis *a, uint32_t track)
{
    return a->threads[track].in_rank && a->threads[track].root == track;
}

// Until when every thread that runs operators has all its calls. False: no memory.
static bool whole_by_calls(const struct stk_analysis *a, const struct thread_seen *threads,
                           int64_t *until_ns)
{
    bool any = false;
    struct stk_operator_calls *names = stk_alloc_zero(a->t->strings.count, sizeof *names);
    *until_ns = INT64_MAX;
    for (uint32_t k = 0; k < a->t->track_count && names; k++) {
        if (!is_thread(a, k) || !threads[k].has_operators || a->threads[k].is_loader) {
            continue;
        }
        int64_t calls_ns = earlier(threads[k].last_launch_ns, threads[k].back_ns);
        *until_ns = first_of(calls_ns, first_of(stk_lost_calls_find(a, k, names), *until_ns));
        any = true;
    }
    *until_ns = any ? *until_ns : INT64_MIN;
    stk_free(names);
    return names != NULL;
}

// Launches of several operations (graphs) of which one ends after `until_ns`: others may be
// missing.
static int64_t before_open_graphs(const struct stk_analysis *a, int64_t until_ns)
{
    const struct stk_trace *t = a->t;
    int64_t whole_ns = until_ns;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        const struct stk_device_line *line = &a->lines[d];
        for (uint32_t i = 0; i < line->op_count; i++) {
            uint32_t launch = stk_launch_of(a, line->ops[i].event);
            if (line->ops[i].end_ns <= until_ns || launch == STK_NONE) {
                continue;
            }
            const struct stk_ext *first = stk_ext_of(t, t->ref[launch]);
            if (first && first->next != STK_NONE) {
                whole_ns = first_of(t->start_ns[launch], whole_ns);
            }
        }
    }
    return whole_ns;
}

// The start of each participating device's latest work, or of its call if calls are recorded.
static int64_t before_last_work(const struct stk_analysis *a, int64_t until_ns)
{
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        const struct stk_device_line *line = &a->lines[d];
        int64_t last_ns = INT64_MIN;
        for (uint32_t i = 0; i < line->op_count; i++) {
            const struct stk_device_op *op = &line->ops[i];
            uint32_t launch = stk_launch_of(a, op->event);
            bool counts = op->end_ns > op->start_ns && (launch != STK_NONE || line->linked == 0);
            int64_t at_ns = launch != STK_NONE ? a->t->start_ns[launch] : op->start_ns;
            last_ns = counts ? last_of(at_ns, last_ns) : last_ns;
        }
        until_ns = a->sum->devices[d].analysed ? first_of(last_ns, until_ns) : until_ns;
    }
    return until_ns;
}

// False: no memory.
static bool whole_by_position(const struct stk_analysis *a, struct thread_seen *threads,
                              int64_t *until_ns)
{
    bool ok = true;
    struct seen seen[CLASSES] = {0};
    size_t n = list_rows(a, NULL, seen);
    struct placed *row = stk_alloc_array(n + 1, sizeof *row);
    if (!row) {
        return false;
    }
    (void)list_rows(a, row, seen);
    stk_sort(row, n, sizeof *row, by_position);
    *until_ns = INT64_MIN;
    if (seen[HOST].rows && seen[DEVICE].rows) {
        int64_t by_order_ns = whole_by_order(row, n, seen, threads);
        by_order_ns = before_open_graphs(a, by_order_ns);
        bool is_host_first = seen[CALL].rows && seen[HOST].last_pos < seen[CALL].first_pos &&
                             seen[HOST].last_pos < seen[DEVICE].first_pos;
        int64_t by_calls_ns = INT64_MIN;
        ok = !is_host_first || whole_by_calls(a, threads, &by_calls_ns);
        *until_ns = last_of(by_order_ns, by_calls_ns);
    }
    stk_free(row);
    return ok;
}

// Finds again the work that was queued before the recording, now that missing calls are known.
static bool find_queued_again(struct stk_analysis *a)
{
    struct stk_stream_head *heads =
        stk_arena_array(&a->scratch, (size_t)a->t->track_count + 1, sizeof *heads);
    for (uint32_t d = 0; d < a->sum->device_count && heads; d++) {
        stk_line_find_queued(a, &a->lines[d], heads);
    }
    return heads;
}

bool stk_cut_find(struct stk_analysis *a)
{
    if (!stk_trace_lacks_rows(a->t)) {
        return true;
    }
    struct thread_seen *threads =
        stk_arena_array(&a->scratch, (size_t)a->t->track_count + 1, sizeof *threads);
    if (!threads) {
        return false;
    }
    int64_t orphan_ns = INT64_MAX;
    for (uint32_t k = 0; k < a->t->track_count; k++) {
        if (is_thread(a, k)) {
            threads[k] = see_thread(a, k);
            orphan_ns = first_of(threads[k].first_orphan_ns, orphan_ns);
        }
    }
    if (a->t->cut == STK_CUT_AT) {
        a->whole_until_ns = before_open_graphs(a, a->t->whole_until_ns);
    } else if (!whole_by_position(a, threads, &a->whole_until_ns)) {
        return false;
    }
    int64_t known_ns = first_of(a->t->whole_until_ns, a->whole_until_ns);
    a->whole_until_ns = before_last_work(a, first_of(orphan_ns, known_ns));
    return find_queued_again(a);
}
