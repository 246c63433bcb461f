// SPDX-License-Identifier: Apache-2.0
// Launch calls and the device work they started: same process, same correlation. Per process, the
// correlations of its device work go into a hash table, then its runtime calls look theirs up. One
// call may start many operations (graphs): they are chained in order of time. Of several calls with
// one correlation, one whose name launches or copies wins, then the earliest.
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "store/build_impl.h"
#include "store/names.h"

// Bits of name_class, beside those of build_scatter.c.
#define CLASS_CALL_KNOWN 16u
#define CLASS_STARTS_WORK 32u

struct slot {
    int64_t corr;
    uint32_t head; // first device event, STK_NONE: free slot
    uint32_t call; // its launch, STK_NONE
};
struct join {
    struct stk_finish *f;
    struct slot *slots;
    size_t slot_count;  // of this process, a power of two
    size_t capacity;    // allocated
    uint64_t seed;      // so that no file can choose its collisions
};

static bool starts_work(struct stk_finish *f, uint32_t name)
{
    uint8_t bits = atomic_load_explicit(&f->name_class[name], memory_order_relaxed);
    if (!(bits & CLASS_CALL_KNOWN)) {
        uint32_t found =
            stk_name_classify(stk_strpool_get(&f->t->strings, name), STK_KIND_RUNTIME);
        bits |= CLASS_CALL_KNOWN;
        if (found & (STK_NAME_LAUNCH | STK_NAME_COPY_CALL | STK_NAME_GRAPH_LAUNCH))
            bits |= CLASS_STARTS_WORK;
        atomic_store_explicit(&f->name_class[name], bits, memory_order_relaxed);
    }
    return bits & CLASS_STARTS_WORK;
}

static struct slot *find_slot(const struct join *j, int64_t corr)
{
    size_t mask = j->slot_count - 1;
    size_t i = (size_t)stk_hash_u64((uint64_t)corr ^ j->seed) & mask;
    while (j->slots[i].head != STK_NONE && j->slots[i].corr != corr)
        i = (i + 1) & mask;
    return &j->slots[i];
}

static bool prepare(struct join *j, uint64_t device_rows)
{
    size_t want = 64;
    while (want < device_rows + device_rows / 2)
        want *= 2;
    if (want > j->capacity) {
        stk_free(j->slots);
        j->slots = stk_alloc_array(want, sizeof *j->slots);
        j->capacity = j->slots ? want : 0;
        if (!j->slots)
            return false;
        j->seed = stk_hash_u64((uint64_t)(uintptr_t)j->slots);
    }
    j->slot_count = want;
    for (size_t i = 0; i < want; i++)
        j->slots[i].head = j->slots[i].call = STK_NONE;
    return true;
}

static struct stk_ext *work_ext(const struct stk_trace *t, uint32_t event)
{
    if (!stk_kind_is_device_work(t->kind[event]) || t->ref[event] == STK_NONE)
        return NULL;
    struct stk_ext *e = &t->ext[t->ref[event]];
    return e->flags & STK_EXT_HAS_CORR ? e : NULL;
}

static int64_t held_corr(const struct stk_ext *e)
{
    return (int64_t)((uint64_t)e->link << 32 | e->next);
}

// Chain the device work of one track. Backwards, since each goes to the front. The correlation is
// overwritten by the chain: from here on the slot alone knows it.
static void insert_work(struct join *j, const struct stk_track *track)
{
    struct stk_trace *t = j->f->t;
    for (uint32_t i = track->first + track->count; i-- > track->first;) {
        struct stk_ext *e = work_ext(t, i);
        if (!e)
            continue;
        int64_t corr = held_corr(e);
        struct slot *s = find_slot(j, corr);
        s->corr = corr;
        e->flags &= (uint8_t)~STK_EXT_HAS_CORR;
        e->link = STK_NONE;
        e->next = s->head;
        s->head = i;
    }
}

static bool better_call(struct stk_finish *f, uint32_t call, uint32_t than)
{
    const struct stk_trace *t = f->t;
    if (than == STK_NONE)
        return true;
    bool a = starts_work(f, t->name[call]), b = starts_work(f, t->name[than]);
    if (a != b)
        return a;
    return t->start_ns[call] != t->start_ns[than] ? t->start_ns[call] < t->start_ns[than]
                                                  : call < than;
}

// `has_work`: the table is filled.
static void look_up_calls(struct join *j, const struct stk_track *track, bool has_work)
{
    struct stk_trace *t = j->f->t;
    for (uint32_t i = track->first; i < track->first + track->count; i++) {
        if (t->kind[i] != STK_KIND_RUNTIME || t->ref[i] == STK_NONE)
            continue;
        int64_t corr = j->f->runtime_corr[t->ref[i]];
        t->ref[i] = STK_NONE;
        struct slot *s = has_work ? find_slot(j, corr) : NULL;
        if (s && s->head != STK_NONE) {
            if (better_call(j->f, i, s->call))
                s->call = i;
        } else if (starts_work(j->f, t->name[i])) {
            stk_issue_add(&t->issues[STK_ISSUE_LAUNCH_WITHOUT_WORK], 1, 0, (int64_t)stk_pos(t, i),
                          t->name[i]);
        }
    }
}

struct timed {
    int64_t start_ns;
    uint32_t event;
};

static int compare_timed(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

// Put a chain of n operations in order of time; returns its new head, STK_NONE without memory.
static uint32_t sort_chain(struct stk_trace *t, uint32_t head, size_t n)
{
    struct timed *ops = stk_alloc_array(n, sizeof *ops);
    size_t k = 0;
    if (!ops)
        return STK_NONE;
    for (uint32_t i = head; i != STK_NONE && k < n; i = t->ext[t->ref[i]].next)
        ops[k++] = (struct timed){t->start_ns[i], i};
    qsort(ops, n, sizeof *ops, compare_timed);
    for (k = 0; k < n; k++)
        t->ext[t->ref[ops[k].event]].next = k + 1 < n ? ops[k + 1].event : STK_NONE;
    head = ops[0].event;
    stk_free(ops);
    return head;
}

// The launch into every operation of the chain; false without memory.
static bool settle_slot(struct join *j, const struct slot *s)
{
    struct stk_trace *t = j->f->t;
    uint32_t head = s->head;
    bool ordered = true;
    size_t n = 0;
    int64_t last_ns = INT64_MIN;
    for (uint32_t i = head; i != STK_NONE; i = t->ext[t->ref[i]].next, n++) {
        t->ext[t->ref[i]].link = s->call;
        ordered = ordered && last_ns <= t->start_ns[i];
        last_ns = t->start_ns[i];
    }
    if (!ordered)
        head = sort_chain(t, head, n);
    if (s->call != STK_NONE)
        t->ref[s->call] = head;
    return head != STK_NONE;
}

// All tracks of one process: order[from .. to).
static bool link_process(struct join *j, const uint32_t *order, uint32_t from, uint32_t to)
{
    const struct stk_trace *t = j->f->t;
    uint64_t rows = 0;
    for (uint32_t k = from; k < to; k++)
        for (uint32_t i = 0, n = t->tracks[order[k]].count; i < n; i++)
            rows += work_ext(t, t->tracks[order[k]].first + i) != NULL;
    if (rows && !prepare(j, rows))
        return false;
    for (uint32_t k = to; rows && k-- > from;)
        insert_work(j, &t->tracks[order[k]]);
    for (uint32_t k = from; k < to; k++)
        look_up_calls(j, &t->tracks[order[k]], rows > 0);
    for (size_t i = 0; rows && i < j->slot_count; i++)
        if (j->slots[i].head != STK_NONE && !settle_slot(j, &j->slots[i]))
            return false;
    return true;
}

// Tracks grouped by process, each group in order. first has one entry more than processes.
static void group_tracks(const struct stk_trace *t, uint32_t *order, uint32_t *first)
{
    for (uint32_t i = 0; i < t->track_count; i++)
        first[t->tracks[i].process + 1]++;
    for (uint32_t p = 0; p < t->process_count; p++)
        first[p + 1] += first[p];
    for (uint32_t i = 0; i < t->track_count; i++)
        order[first[t->tracks[i].process]++] = i;
    for (uint32_t p = t->process_count; p; p--)
        first[p] = first[p - 1];
    first[0] = 0;
}

static void count_issues(struct stk_trace *t)
{
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        // Launches on a TPU leave no correlation: nothing is missing there.
        bool expected = track->device != STK_NONE &&
                        t->devices[track->device].kind == STK_DEVICE_GPU &&
                        track->kind == STK_TRACK_STREAM;
        for (uint32_t i = track->first; i < track->first + track->count; i++) {
            if (!stk_kind_is_device_work(t->kind[i]))
                continue;
            uint32_t call = stk_link_of(t, i);
            if (call == STK_NONE ? expected : t->start_ns[i] < t->start_ns[call])
                stk_issue_add(&t->issues[call == STK_NONE ? STK_ISSUE_NO_LAUNCH_ROW
                                                          : STK_ISSUE_CLOCK_SKEW],
                              1, 0, (int64_t)stk_pos(t, i), t->name[i]);
        }
    }
}

enum stk_status stk_build_link(struct stk_finish *f, struct stk_err *err)
{
    struct stk_trace *t = f->t;
    struct join j = {.f = f};
    uint32_t *order = stk_alloc_array((size_t)t->track_count + 1, sizeof *order);
    uint32_t *first = stk_alloc_zero((size_t)t->process_count + 1, sizeof *first);
    bool ok = order && first;
    if (ok) {
        group_tracks(t, order, first);
        for (uint32_t p = 0; p < t->process_count && ok; p++)
            ok = link_process(&j, order, first[p], first[p + 1]);
        count_issues(t);
    }
    stk_free(order);
    stk_free(first);
    stk_free(j.slots);
    return ok ? STK_OK : stk_err_nomem(err);
}
