// SPDX-License-Identifier: Apache-2.0
// Launch calls and the device work they started: same process, same correlation. Per process, the
// correlations of its device work go into a table, then its runtime calls look theirs up. One
// call may start many operations (graphs): they are chained in time order. Of several calls with
// one correlation, one that launches or copies by its name wins, then the earliest.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sort.h"
#include "profile/store/build_impl.h"
#include "profile/store/names.h"

// Bits of name_class, in addition to those of build_scatter.c.
#define CLASS_CALL_KNOWN 16u
#define CLASS_STARTS_WORK 32u

// A table of all correlations from the smallest to the largest is used up to this size.
#define DENSE_SLOTS_PER_ROW 4u

// Slots are prefetched this many events ahead.
#define AHEAD 12u
#define RUN 16u // of a hash table: at most the least number of slots

struct slot {
    int64_t corr;  // of a hash table
    uint32_t head; // first device event, STK_NONE: free slot
    uint32_t call; // its launch, STK_NONE
};
struct join {
    struct stk_finish *f;
    uint32_t *kinds; // per track: bits 1 << enum stk_kind
    struct slot *slots;
    bool dense;        // slots are numbered from min_corr; else a hash table
    size_t slot_count; // hash table: a power of two
    int64_t min_corr;
    uint64_t seed; // so that no file can choose its collisions
};
// Numbered device work of one process.
struct work {
    uint64_t rows;
    int64_t min_corr, max_corr;
};

static bool starts_work(struct stk_finish *f, uint32_t name)
{
    uint8_t bits = atomic_load_explicit(&f->name_class[name], memory_order_relaxed);
    if (!(bits & CLASS_CALL_KNOWN)) {
        uint32_t found = stk_name_classify(stk_strpool_get(&f->t->strings, name), STK_KIND_RUNTIME);
        bits |= CLASS_CALL_KNOWN;
        if (found & (STK_NAME_LAUNCH | STK_NAME_COPY_CALL | STK_NAME_GRAPH_LAUNCH)) {
            bits |= CLASS_STARTS_WORK;
        }
        atomic_store_explicit(&f->name_class[name], bits, memory_order_relaxed);
    }
    return bits & CLASS_STARTS_WORK;
}

// Where the search for the correlation begins; STK_NONE: it can't be in the table.
static inline size_t first_slot(const struct join *j, int64_t corr)
{
    if (j->dense) {
        uint64_t i = (uint64_t)corr - (uint64_t)j->min_corr;
        return i < j->slot_count ? (size_t)i : STK_NONE;
    }
    // Neighboring correlations share a run of slots. They are mostly looked up together, so the
    // page is found once for all.
    uint64_t number = (uint64_t)corr;
    uint64_t hash = stk_hash_u64(number / RUN ^ j->seed) * RUN + number % RUN;
    return (size_t)hash & (j->slot_count - 1);
}

static inline void ask_for_slot(const struct join *j, int64_t corr)
{
    size_t i = first_slot(j, corr);
    if (i < j->slot_count) {
        __builtin_prefetch(&j->slots[i]);
    }
}

// The correlation's slot: it has it, or is the free one where it belongs; NULL: it can't be in the
// table.
static inline struct slot *find_slot(const struct join *j, int64_t corr)
{
    size_t i = first_slot(j, corr);
    if (j->dense) {
        return i < j->slot_count ? &j->slots[i] : NULL;
    }
    while (j->slots[i].head != STK_NONE && j->slots[i].corr != corr) {
        i = (i + 1) & (j->slot_count - 1);
    }
    return &j->slots[i];
}

static void forget(struct join *j)
{
    stk_free(j->slots);
    j->slots = NULL;
}

// An empty table. Profilers count correlations up, so a plain array usually works. It is faster,
// and the walk in time order is cache-friendly.
static bool prepare(struct join *j, const struct work *w)
{
    uint64_t range = (uint64_t)w->max_corr - (uint64_t)w->min_corr;
    size_t want = 64;
    j->dense = range < w->rows * DENSE_SLOTS_PER_ROW;
    while (want < w->rows + w->rows / 2) {
        want *= 2;
    }
    if (j->dense) {
        want = (size_t)range + 1;
    }
    if (want >= STK_NONE) { // slots are numbered with 32 bits
        return false;
    }
    forget(j);
    j->slots = stk_alloc_large(want, sizeof *j->slots);
    if (!j->slots) {
        return false;
    }
    j->slot_count = want;
    j->min_corr = w->min_corr;
    j->seed = stk_hash_table_pair((uint64_t)(uintptr_t)j->slots, want);
    memset(j->slots, 0xff, want * sizeof *j->slots); // STK_NONE
    return true;
}

static bool is_numbered_work(const struct stk_trace *t, uint32_t event)
{
    return stk_kind_is_device_work(t->kind[event]) && t->ref[event] != STK_NONE &&
           t->ext[t->ref[event]].flags & STK_EXT_HAS_CORR;
}

static int64_t held_corr(const struct stk_ext *e)
{
    return (int64_t)((uint64_t)e->link << 32 | e->next);
}

// Chain the device work of one track, backwards, since each goes to the front. From here on `link`
// has the slot's number, until settle_track() replaces it by the launch.
static void insert_work(struct join *j, const struct stk_track *track)
{
    struct stk_trace *t = j->f->t;
    for (uint32_t i = track->first + track->count; i-- > track->first;) {
        if (i - track->first >= AHEAD && is_numbered_work(t, i - AHEAD)) {
            ask_for_slot(j, held_corr(&t->ext[t->ref[i - AHEAD]]));
        }
        if (!is_numbered_work(t, i)) {
            continue;
        }
        struct stk_ext *e = &t->ext[t->ref[i]];
        int64_t corr = held_corr(e);
        struct slot *s = find_slot(j, corr);
        s->corr = corr;
        e->link = (uint32_t)(s - j->slots);
        e->next = s->head;
        s->head = i;
    }
}

static bool better_call(struct stk_finish *f, uint32_t call, uint32_t than)
{
    const struct stk_trace *t = f->t;
    if (than == STK_NONE) {
        return true;
    }
    bool a = starts_work(f, t->name[call]), b = starts_work(f, t->name[than]);
    if (a != b) {
        return a;
    }
    return t->start_ns[call] != t->start_ns[than] ? t->start_ns[call] < t->start_ns[than]
                                                  : call < than;
}

static void look_up_call(struct join *j, uint32_t event, bool has_work)
{
    struct stk_trace *t = j->f->t;
    int64_t corr = j->f->call_corr[t->ref[event]];
    t->ref[event] = STK_NONE;
    struct slot *s = has_work ? find_slot(j, corr) : NULL;
    if (s && s->head != STK_NONE) {
        if (better_call(j->f, event, s->call)) {
            s->call = event;
        }
    } else if (starts_work(j->f, t->name[event])) {
        stk_issue_add(&t->issues[STK_ISSUE_LAUNCH_WITHOUT_WORK], 1, 0, (int64_t)stk_pos(t, event),
                      t->name[event]);
    }
}

// `has_work`: the table is filled. Calls of a track are adjacent in call_corr if
// its events were recorded in order.
static void look_up_calls(struct join *j, const struct stk_track *track, bool has_work)
{
    struct stk_trace *t = j->f->t;
    uint32_t end = track->first + track->count;
    for (uint32_t i = track->first; i < end; i++) {
        const uint8_t *found = memchr(t->kind + i, STK_KIND_RUNTIME, end - i);
        if (!found) {
            return;
        }
        i = (uint32_t)(found - t->kind);
        uint32_t call = t->ref[i];
        if (call == STK_NONE) {
            continue;
        }
        if (has_work && j->f->call_count - call > AHEAD) {
            ask_for_slot(j, j->f->call_corr[call + AHEAD]);
        }
        look_up_call(j, i, has_work);
    }
}

struct timed {
    int64_t start_ns;
    uint32_t event;
};

STK_ORDER(compare_timed, struct timed, STK_UP(start_ns) STK_UP(event))

// Sort a chain of n operations by time; returns its new head, STK_NONE: no memory.
static uint32_t sort_chain(struct stk_trace *t, uint32_t head, size_t n)
{
    struct timed few[16], *ops = n <= 16 ? few : stk_alloc_array(n, sizeof *ops);
    size_t k = 0;
    if (!ops) {
        return STK_NONE;
    }
    for (uint32_t i = head; i != STK_NONE && k < n; i = t->ext[t->ref[i]].next) {
        ops[k++] = (struct timed){t->start_ns[i], i};
    }
    stk_sort(ops, n, sizeof *ops, compare_timed);
    for (k = 0; k < n; k++) {
        t->ext[t->ref[ops[k].event]].next = k + 1 < n ? ops[k + 1].event : STK_NONE;
    }
    head = ops[0].event;
    if (ops != few) {
        stk_free(ops);
    }
    return head;
}

// Set the launch of every operation of the chain; false: no memory.
static bool settle_chain(struct stk_trace *t, uint32_t head, uint32_t call)
{
    bool ordered = true;
    size_t n = 0;
    int64_t last_ns = INT64_MIN;
    for (uint32_t i = head; i != STK_NONE; n++) {
        struct stk_ext *e = &t->ext[t->ref[i]];
        e->link = call;
        e->flags &= (uint8_t)~STK_EXT_HAS_CORR;
        ordered = ordered && last_ns <= t->start_ns[i];
        last_ns = t->start_ns[i];
        i = e->next;
    }
    if (!ordered) {
        head = sort_chain(t, head, n);
    }
    if (call != STK_NONE) {
        t->ref[call] = head;
    }
    return head != STK_NONE;
}

// A chain begins with its first event, so the whole chain is settled there.
static bool settle_track(struct join *j, const struct stk_track *track)
{
    struct stk_trace *t = j->f->t;
    uint32_t end = track->first + track->count;
    for (uint32_t i = track->first; i < end; i++) {
        if (end - i > AHEAD && is_numbered_work(t, i + AHEAD)) {
            __builtin_prefetch(&j->slots[t->ext[t->ref[i + AHEAD]].link]);
        }
        if (is_numbered_work(t, i) && !settle_chain(t, i, j->slots[t->ext[t->ref[i]].link].call)) {
            return false;
        }
    }
    return true;
}

static void measure_work(const struct stk_trace *t, const struct stk_track *track, struct work *w)
{
    for (uint32_t i = track->first; i < track->first + track->count; i++) {
        if (!is_numbered_work(t, i)) {
            continue;
        }
        int64_t corr = held_corr(&t->ext[t->ref[i]]);
        if (w->rows == 0 || corr < w->min_corr) {
            w->min_corr = corr;
        }
        if (w->rows == 0 || corr > w->max_corr) {
            w->max_corr = corr;
        }
        w->rows++;
    }
}

#define WORK_KINDS                                                                                 \
    (1u << STK_KIND_KERNEL | 1u << STK_KIND_MEMCPY | 1u << STK_KIND_MEMSET |                       \
     1u << STK_KIND_COLLECTIVE)

// All tracks of one process: order[from .. to).
static bool link_process(struct join *j, const uint32_t *order, uint32_t from, uint32_t to)
{
    const struct stk_track *tracks = j->f->t->tracks;
    const uint32_t *kinds = j->kinds;
    struct work w = {0, 0, 0};
    for (uint32_t k = from; k < to; k++) {
        if (kinds[order[k]] & WORK_KINDS) {
            measure_work(j->f->t, &tracks[order[k]], &w);
        }
    }
    if (w.rows && !prepare(j, &w)) {
        return false;
    }
    for (uint32_t k = to; w.rows && k-- > from;) {
        if (kinds[order[k]] & WORK_KINDS) {
            insert_work(j, &tracks[order[k]]);
        }
    }
    for (uint32_t k = from; k < to; k++) {
        if (kinds[order[k]] & 1u << STK_KIND_RUNTIME) {
            look_up_calls(j, &tracks[order[k]], w.rows > 0);
        }
    }
    for (uint32_t k = from; w.rows && k < to; k++) {
        if (kinds[order[k]] & WORK_KINDS && !settle_track(j, &tracks[order[k]])) {
            return false;
        }
    }
    return true;
}

// Which kinds of events each track may hold: sub-rows like their parents, which they follow
// directly.
static uint32_t *kinds_of_tracks(const struct stk_finish *f)
{
    const struct stk_trace *t = f->t;
    uint32_t *kinds = stk_alloc_array((size_t)t->track_count + 1, sizeof *kinds), at = 0;
    for (uint32_t k = 0; kinds && k < t->track_count; k++) {
        at += k > 0 && t->tracks[k].parent == STK_NONE;
        kinds[k] = atomic_load_explicit(&f->track_kinds[at], memory_order_relaxed);
    }
    return kinds;
}

// Tracks grouped by process, each group in order. first has one entry more than processes.
static void group_tracks(const struct stk_trace *t, uint32_t *order, uint32_t *first)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        first[t->tracks[i].process + 1]++;
    }
    for (uint32_t p = 0; p < t->process_count; p++) {
        first[p + 1] += first[p];
    }
    for (uint32_t i = 0; i < t->track_count; i++) {
        order[first[t->tracks[i].process]++] = i;
    }
    for (uint32_t p = t->process_count; p; p--) {
        first[p] = first[p - 1];
    }
    first[0] = 0;
}

static void count_issues(struct stk_trace *t, const uint32_t *kinds)
{
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        if (!(kinds[k] & WORK_KINDS)) {
            continue;
        }
        // Launches on a TPU have no correlation, so nothing is missing there.
        bool expected = track->device != STK_NONE &&
                        t->devices[track->device].kind == STK_DEVICE_GPU &&
                        track->kind == STK_TRACK_STREAM;
        for (uint32_t i = track->first; i < track->first + track->count; i++) {
            if (!stk_kind_is_device_work(t->kind[i])) {
                continue;
            }
            uint32_t call = stk_link_of(t, i);
            if (call == STK_NONE ? expected : t->start_ns[i] < t->start_ns[call]) {
                stk_issue_add(
                    &t->issues[call == STK_NONE ? STK_ISSUE_NO_LAUNCH_ROW : STK_ISSUE_CLOCK_SKEW],
                    1, 0, (int64_t)stk_pos(t, i), t->name[i]);
            }
        }
    }
}

enum stoker_status stk_build_link(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_trace *t = f->t;
    struct join j = {.f = f};
    uint32_t *order = stk_alloc_array((size_t)t->track_count + 1, sizeof *order);
    uint32_t *first = stk_alloc_zero((size_t)t->process_count + 1, sizeof *first);
    uint32_t *kinds = j.kinds = kinds_of_tracks(f);
    bool ok = order && first && kinds;
    if (ok) {
        group_tracks(t, order, first);
        for (uint32_t p = 0; p < t->process_count && ok; p++) {
            ok = link_process(&j, order, first[p], first[p + 1]);
        }
        if (ok) {
            count_issues(t, kinds);
        }
    }
    stk_free(order);
    stk_free(first);
    stk_free(kinds);
    forget(&j);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
