// SPDX-License-Identifier: Apache-2.0
// Why a device was idle. Every gap of the busy time gets its parts, exactly once per nanosecond.
//
// A gap is ended by the operation that starts at its end; that operation's launch call cuts it.
// Before the cut the host was late, and what it did decides, first match:
//   input_wait        a fetch of the next batch (or a function named after preparing one)
//   compile           compilation, first use; or 5 ms and more, ended by the first kernel of its
//                     name and spent inside one operator
//   memory_alloc      the launching thread in an allocation or free
//   host_sync         released late by a blocking call: without it, the host would have come
//                     earlier by as long as the call held it while the device worked; then the
//                     time inside a blocking call. A device-to-host copy of data that the
//                     enclosing operator works on doesn't count: that is the operator's time
//   collective_wait   inside a host collective
//   kernel_launch     inside another runtime call, or a piece under 200 us between calls
//   transfer_h2d      preparing the layout of host data for a copy, if the framework does (PjRt)
//   host_compute      longer pieces within the life of the thread
//   idle_unknown      no event of the thread
// After the cut: the running launch call is kernel_launch (5 ms and more: compile), staging of a
// copy is the transfer's, up to 50 us after the call is latency, and more is idle_unknown: the
// operation waited for something that isn't in the profile. So is a gap whose end has no launch
// row, unless the training thread is known to be fetching or compiling. Recorded profiler overhead
// is moved from kernel_launch, host_compute and idle_unknown to profiler_overhead.
//
// Method: gaps in time order; marks and threads are read through cursors that only go forward, so
// the whole is linear in gaps, marks and events of launching threads.
// Limits: waiting for another device of the process is idle_unknown.

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/analysis.h"
#include "profile/model/idle/causes.h"
#include "profile/model/threads/thread_segments.h"

#define SHORT_PIECE_NS (200 * STK_US) // between runtime calls: still launching
#define LATENCY_NS (50 * STK_US)      // launch call to start, under a profiler 5 to 20 us
#define STAGING_NS (50 * STK_US)      // a copy call that runs longer before its copy is staging it
#define FIRST_USE_NS (5 * STK_MS)     // a launch call that runs longer on an idle device
#define ONE_OFF_NS (5 * STK_MS)
#define ONE_OFF_PERCENT 80
#define RELEASE_NS (20 * STK_US) // a blocking call may end this long before the gap
#define HANDED_NS (2 * STK_MS)   // or this long, with only copies from and to the host in between
#define MAX_CALLS_BACK 16     // calls nest (runtime, driver), and several values may be read back
#define DATA_BYTES (64 << 10) // a larger device-to-host copy is data that the host works on

struct gaps {
    const struct stk_analysis *a;
    const struct stk_device_line *line;
    struct stk_gaps_out *out;
    struct stk_thread_segments segments;
    struct stk_thread_segments driver; // the same for the thread that drives the steps
    size_t fetch_at, compile_at, overhead_at;
    uint32_t op_at; // first operation that starts in the gap or after it; only goes forward
    uint32_t *first_of_name; // first kernel's event plus one per string id, 0 for none
    int64_t (*longest)[2];   // per string id: the two longest gaps that end with such a kernel
    bool failed;
};

static void add(struct gaps *g, int64_t start, int64_t end, enum stk_part part, uint32_t event,
                uint32_t around)
{
    if (start >= end) {
        return;
    }
    struct stk_spans *cold = &g->out->compile_idle;
    if (part == STK_PART_COMPILE) {
        if (stk_spans_reserve(cold, cold->count + 1)) {
            cold->v[cold->count++] = (struct stk_span){start, end};
        } else {
            g->failed = true;
        }
    }
    if (g->a->keeps_gaps) {
        struct stk_gap_piece *piece = stk_vec_push(&g->out->pieces);
        uint32_t line = (uint32_t)(g->line - g->a->lines);
        if (piece) {
            *piece = (struct stk_gap_piece){start, end, line, event, around, (uint8_t)part};
        }
        g->failed |= !piece;
    }
    if (!stk_causes_add(g->out->causes, start, end, part, event, around)) {
        g->failed = true;
    }
}

// As add(), but recorded work of the profiler is profiler overhead.
static void add_less_overhead(struct gaps *g, int64_t start, int64_t end, enum stk_part part,
                              uint32_t event, uint32_t around)
{
    const struct stk_marks *m = &g->a->overheads;
    while (g->overhead_at < m->count && m->v[g->overhead_at].end_ns <= start) {
        g->overhead_at++;
    }
    for (size_t i = g->overhead_at; i < m->count && m->v[i].start_ns < end; i++) {
        int64_t from = m->v[i].start_ns > start ? m->v[i].start_ns : start;
        int64_t to = m->v[i].end_ns < end ? m->v[i].end_ns : end;
        add(g, start, from, part, event, around);
        add(g, from, to, STK_PART_OVERHEAD, m->v[i].event, STK_NONE);
        start = to;
    }
    add(g, start, end, part, event, around);
}

static size_t skip_ended(const struct stk_marks *m, size_t at, int64_t t_ns)
{
    while (at < m->count && m->v[at].end_ns <= t_ns) {
        at++;
    }
    return at;
}

// Time of [from, to) outside all marks of both lists. Does not move their cursors.
static int64_t free_time(const struct gaps *g, int64_t from, int64_t to)
{
    const struct stk_marks *f = &g->a->fetches, *c = &g->a->compiles;
    size_t i = skip_ended(f, g->fetch_at, from), j = skip_ended(c, g->compile_at, from);
    int64_t total = 0, at = from;
    while (at < to) {
        while (i < f->count && f->v[i].end_ns <= at) {
            i++;
        }
        while (j < c->count && c->v[j].end_ns <= at) {
            j++;
        }
        int64_t f_start = i < f->count ? f->v[i].start_ns : INT64_MAX;
        int64_t c_start = j < c->count ? c->v[j].start_ns : INT64_MAX;
        if (f_start <= at) {
            at = f->v[i].end_ns;
        } else if (c_start <= at) {
            at = c->v[j].end_ns;
        } else {
            int64_t next = f_start < c_start ? f_start : c_start;
            total += (next < to ? next : to) - at;
            at = next;
        }
    }
    return total;
}

// Fetch or compile mark that covers `at`: adds it up to `to` and returns its end. Otherwise returns
// `at`, and *next is where the next mark begins, at most `to`.
static int64_t add_mark(struct gaps *g, int64_t at, int64_t to, int64_t *next)
{
    const struct stk_marks *f = &g->a->fetches, *c = &g->a->compiles;
    g->fetch_at = skip_ended(f, g->fetch_at, at);
    g->compile_at = skip_ended(c, g->compile_at, at);
    const struct stk_mark *fetch = g->fetch_at < f->count ? &f->v[g->fetch_at] : NULL;
    const struct stk_mark *compile = g->compile_at < c->count ? &c->v[g->compile_at] : NULL;
    *next = fetch && fetch->start_ns < to ? fetch->start_ns : to;
    if (fetch && fetch->start_ns <= at) {
        int64_t end = fetch->end_ns < to ? fetch->end_ns : to;
        add(g, at, end, STK_PART_INPUT, fetch->event, STK_NONE);
        return end;
    }
    if (compile && compile->start_ns <= at) {
        int64_t end = compile->end_ns < *next ? compile->end_ns : *next;
        add(g, at, end, STK_PART_COMPILE, compile->event, STK_NONE);
        return end;
    }
    if (compile && compile->start_ns < *next) {
        *next = compile->start_ns;
    }
    return at;
}

// A gap without a launch row: only the training thread's fetching and compiling are known.
static void attribute_unlinked(struct gaps *g, int64_t from, int64_t to)
{
    for (int64_t at = from; at < to && !g->failed;) {
        int64_t next, end = add_mark(g, at, to, &next);
        if (end == at) {
            add_less_overhead(g, at, next, STK_PART_UNKNOWN, STK_NONE, STK_NONE);
            end = next;
        }
        at = end;
    }
}

// Does the call copy data to the host for the enclosing operator, which then works on it? Such an
// operator of the model wouldn't have run earlier without the wait.
static bool feeds_operator(const struct gaps *g, uint32_t call)
{
    const struct stk_trace *t = g->a->t;
    uint32_t op = stk_link_of(t, call), around;
    const struct stk_ext *x = op == STK_NONE ? NULL : stk_ext_of(t, op);
    if (!x || t->kind[op] != STK_KIND_MEMCPY || x->dir != STK_DIR_D2H ||
        !(x->flags & STK_EXT_VALUE) || x->value < DATA_BYTES) {
        return false;
    }
    around = stk_operator_around(g->a, call);
    return around != STK_NONE && stk_end_ns(t, around) - stk_end_ns(t, call) >= SHORT_PIECE_NS;
}

// Did the device do nothing but copies between a call's end and the gap? Then it had run out of
// work when the call returned: values read back, and the next batch copied meanwhile, aren't work
// that the host had queued ahead.
static bool only_copies_between(const struct gaps *g, int64_t end_ns)
{
    const struct stk_device_op *ops = g->line->ops;
    uint32_t at = g->op_at;
    for (; at > 0 && ops[at - 1].start_ns >= end_ns; at--) {
        if (ops[at - 1].part != STK_PART_H2D && ops[at - 1].part != STK_PART_D2H) {
            return false;
        }
    }
    return at > 0 && ops[at - 1].end_ns <= end_ns;
}

// How long a blocking call that ended just before the gap, or in it, held the host while the device
// worked. Without the call, the host would have come that much earlier.
static int64_t sync_credit(const struct gaps *g, uint32_t thread, int64_t gap_start, uint32_t *call)
{
    const struct stk_thread_info *th = &g->a->threads[thread];
    if (th->call_count == 0) { // then there may be no array
        return 0;
    }
    const struct stk_blocking_call *calls = g->a->calls + th->first_call;
    uint32_t low = 0, high = th->call_count;
    while (low < high) { // first call that starts in the gap
        uint32_t mid = low + (high - low) / 2;
        if (calls[mid].start_ns < gap_start) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    int64_t best = 0;
    for (uint32_t i = low; i-- > 0 && low - i <= MAX_CALLS_BACK;) {
        if (calls[i].reach_ns < gap_start - HANDED_NS) {
            break; // neither this call nor any before it can have released the host
        }
        int64_t end = calls[i].end_ns < gap_start ? calls[i].end_ns : gap_start;
        bool is_apart = end < gap_start - RELEASE_NS;
        if ((is_apart && (end < gap_start - HANDED_NS || !only_copies_between(g, end))) ||
            feeds_operator(g, calls[i].event)) {
            continue;
        }
        int64_t held =
            stk_spans_measure(&g->line->busy, g->line->busy_sums, calls[i].start_ns, end);
        held -= is_apart ? gap_start - end : 0; // used up by earlier gaps
        if (held > best) {
            best = held;
            *call = calls[i].event;
        }
    }
    return best;
}

// A pool thread sleeps while the thread that drives the steps gives it no work. That thread's
// events then show what the host did.
static void add_asleep(struct gaps *g, uint32_t thread, const struct stk_segment *asleep,
                       enum stk_part part)
{
    uint32_t driver = g->a->driver;
    int64_t from = asleep->start_ns, to = asleep->end_ns;
    if (driver == STK_NONE || driver == thread || to - from < SHORT_PIECE_NS) {
        add_less_overhead(g, from, to, part, STK_NONE, asleep->around);
        return;
    }
    if (!stk_segments_collect(&g->driver, driver, from, to)) {
        g->failed = true;
        return;
    }
    const struct stk_segment *s = g->driver.list.items;
    for (size_t i = 0; i < g->driver.list.count; i++) {
        bool waits = s[i].doing == STK_DOING_WAITING;
        bool works = waits || s[i].doing == STK_DOING_OTHER || s[i].doing == STK_DOING_RUNTIME;
        add_less_overhead(g, s[i].start_ns, s[i].end_ns,
                          waits   ? STK_PART_WAIT
                          : works ? STK_PART_HOST
                                  : part,
                          works ? s[i].event : STK_NONE,
                          waits   ? s[i].around
                          : works ? STK_NONE
                                  : asleep->around);
    }
}

static bool stages(const struct stk_analysis *a, uint32_t event)
{
    return (stk_class_of(a, event) & STK_NAME_STAGES) == STK_NAME_STAGES;
}

// "Other" segments [first, last) with no runtime call in between. Short ones count as launching.
static void add_other_run(struct gaps *g, uint32_t thread, size_t first, size_t last)
{
    const struct stk_segment *s = g->segments.list.items;
    const struct stk_thread_info *th = &g->a->threads[thread];
    if (first == last) {
        return;
    }
    bool is_short = s[last - 1].end_ns - s[first].start_ns < SHORT_PIECE_NS;
    for (size_t i = first; i < last; i++) {
        bool alive = s[i].start_ns < th->last_ns && s[i].end_ns > th->first_ns;
        enum stk_part part = !alive ? STK_PART_UNKNOWN : is_short ? STK_PART_LAUNCH : STK_PART_HOST;
        if (s[i].doing == STK_DOING_OTHER && stages(g->a, s[i].event)) {
            add_less_overhead(g, s[i].start_ns, s[i].end_ns, STK_PART_H2D, s[i].event, STK_NONE);
        } else if (s[i].doing == STK_DOING_NOTHING) {
            add_asleep(g, thread, &s[i], part);
        } else if (s[i].doing == STK_DOING_WAITING && part == STK_PART_HOST) {
            add_less_overhead(g, s[i].start_ns, s[i].end_ns, STK_PART_WAIT, s[i].event,
                              s[i].around);
        } else {
            add_less_overhead(g, s[i].start_ns, s[i].end_ns, part, s[i].event, STK_NONE);
        }
    }
}

static enum stk_part part_of_doing(enum stk_doing doing)
{
    return doing == STK_DOING_ALLOC        ? STK_PART_ALLOC
           : doing == STK_DOING_BLOCKED    ? STK_PART_SYNC
           : doing == STK_DOING_COLLECTIVE ? STK_PART_COLLECTIVE_WAIT
                                           : STK_PART_LAUNCH;
}

// Take `credit` from the segments' beginning for the blocking call that released the host late.
static void spend_credit(struct gaps *g, struct stk_segment *s, uint32_t call, uint32_t around,
                         int64_t *credit)
{
    if (*credit <= 0 || s->doing == STK_DOING_ALLOC || s->doing == STK_DOING_BLOCKED) {
        return;
    }
    int64_t end = s->end_ns - s->start_ns < *credit ? s->end_ns : s->start_ns + *credit;
    add(g, s->start_ns, end, STK_PART_SYNC, call, around);
    *credit -= end - s->start_ns;
    s->start_ns = end;
}

// What the launching thread did in [from, to), where no fetch or compilation ran.
static void attribute_thread(struct gaps *g, uint32_t thread, int64_t from, int64_t to,
                             uint32_t call, int64_t *credit)
{
    if (!stk_segments_collect(&g->segments, thread, from, to)) {
        g->failed = true;
        return;
    }
    struct stk_segment *s = g->segments.list.items;
    size_t run = 0, n = g->segments.list.count;
    uint32_t around = *credit > 0 ? stk_operator_around(g->a, call) : STK_NONE;
    for (size_t i = 0; i < n && !g->failed; i++) {
        spend_credit(g, &s[i], call, around, credit);
        if (s[i].start_ns == s[i].end_ns && run == i) {
            run = i + 1; // the credit used all of it
            continue;
        }
        if (s[i].doing >= STK_DOING_WAITING) {
            continue;
        }
        add_other_run(g, thread, run, i);
        run = i + 1;
        if (s[i].doing == STK_DOING_RUNTIME) {
            add_less_overhead(g, s[i].start_ns, s[i].end_ns, STK_PART_LAUNCH, s[i].event, STK_NONE);
        } else {
            add(g, s[i].start_ns, s[i].end_ns, part_of_doing(s[i].doing), s[i].event, s[i].around);
        }
    }
    add_other_run(g, thread, run, n);
}

// A kernel's first launch may include a compilation without an event. If the device waits at least
// half as long for another kernel of that name, the host is slow there and nothing was compiled.
static uint32_t one_off_operator(struct gaps *g, uint32_t thread, int64_t from, int64_t to,
                                 uint32_t ender)
{
    const struct stk_trace *t = g->a->t;
    if (to - from < ONE_OFF_NS || t->kind[ender] != STK_KIND_KERNEL ||
        g->first_of_name[t->name[ender]] != ender + 1 ||
        g->longest[t->name[ender]][1] * 2 > to - from || free_time(g, from, to) < ONE_OFF_NS) {
        return STK_NONE;
    }
    return stk_segments_operator(&g->segments, thread, from, to, ONE_OFF_PERCENT);
}

// The host was late.
static void attribute_before(struct gaps *g, int64_t gap_start, int64_t cut, uint32_t launch,
                             uint32_t ender)
{
    uint32_t thread = stk_thread_of(g->a, launch), call = STK_NONE;
    uint32_t one_off = one_off_operator(g, thread, gap_start, cut, ender);
    g->failed |= g->segments.failed;
    int64_t credit = one_off == STK_NONE ? sync_credit(g, thread, gap_start, &call) : 0;
    for (int64_t at = gap_start; at < cut && !g->failed;) {
        int64_t next, end = add_mark(g, at, cut, &next);
        if (end == at) {
            if (one_off != STK_NONE) {
                add(g, at, next, STK_PART_COMPILE, one_off, STK_NONE);
            } else {
                attribute_thread(g, thread, at, next, call, &credit);
            }
            end = next;
        }
        at = end;
    }
}

// The launch call was over, or running.
static void attribute_after(struct gaps *g, int64_t cut, int64_t gap_end, uint32_t launch,
                            const struct stk_device_op *ender)
{
    const struct stk_analysis *a = g->a;
    int64_t returned = stk_end_ns(a->t, launch);
    int64_t run_end = returned < cut ? cut : returned < gap_end ? returned : gap_end;
    uint32_t class = stk_class_of(a, launch);
    bool copies = (class & (STK_NAME_COPY_CALL | STK_NAME_BLOCKING_COPY)) != 0;
    const struct stk_ext *x = stk_ext_of(a->t, ender->event);
    bool pinned = x && (x->src_mem == STK_MEM_PINNED || x->dst_mem == STK_MEM_PINNED);
    bool is_copy = a->t->kind[ender->event] == STK_KIND_MEMCPY;
    if (is_copy && !pinned && run_end - cut > STAGING_NS) {
        add(g, cut, run_end, (enum stk_part)ender->part, launch, STK_NONE);
    } else if (run_end - cut >= FIRST_USE_NS && !copies && !(class & STK_NAME_SYNC)) {
        add(g, cut, run_end, STK_PART_COMPILE, launch, STK_NONE);
    } else {
        add_less_overhead(g, cut, run_end, STK_PART_LAUNCH, launch, STK_NONE);
    }
    if (gap_end - run_end <= LATENCY_NS) {
        add_less_overhead(g, run_end, gap_end, STK_PART_LAUNCH, launch, STK_NONE);
    } else if (run_end < g->line->hole.start_ns || g->line->hole.end_ns <= run_end) {
        add_less_overhead(g, run_end, gap_end, STK_PART_UNKNOWN, ender->event, STK_NONE);
    }
}

static void attribute_gap(struct gaps *g, int64_t from, int64_t to,
                          const struct stk_device_op *ender)
{
    uint32_t launch = ender ? stk_launch_of(g->a, ender->event) : STK_NONE;
    while (g->op_at < g->line->op_count && g->line->ops[g->op_at].start_ns < from) {
        g->op_at++;
    }
    if (launch == STK_NONE) {
        bool is_hole = g->line->hole.end_ns == to && g->line->hole.start_ns == from;
        if (!is_hole) {
            attribute_unlinked(g, from, to);
        }
        return;
    }
    int64_t cut = g->a->t->start_ns[launch];
    cut = cut < from ? from : cut < to ? cut : to;
    attribute_before(g, from, cut, launch, ender->event);
    attribute_after(g, cut, to, launch, ender);
}

static bool find_first_kernels(struct gaps *g)
{
    size_t n = g->a->t->strings.count;
    const uint32_t *names = g->a->t->name;
    const struct stk_spans *busy = &g->line->busy;
    // Zeroed by the system: pages of names that do not run on this device are never touched.
    g->first_of_name = stk_alloc_zero(n + 1, sizeof *g->first_of_name);
    g->longest = stk_alloc_zero(n + 1, sizeof *g->longest);
    if (!g->first_of_name || !g->longest) {
        return false;
    }
    for (uint32_t i = g->line->op_count; i-- > 0;) {
        g->first_of_name[names[g->line->ops[i].event]] = g->line->ops[i].event + 1;
    }
    uint32_t at = 0;
    for (size_t i = 1; i < busy->count; i++) {
        int64_t gap_ns = busy->v[i].start_ns - busy->v[i - 1].end_ns;
        if (gap_ns < ONE_OFF_NS) {
            continue;
        }
        const struct stk_device_op *op = stk_line_op_at(g->a, g->line, &at, busy->v[i].start_ns);
        int64_t *longest = op ? g->longest[names[op->event]] : NULL;
        if (longest && gap_ns > longest[0]) {
            longest[1] = longest[0];
            longest[0] = gap_ns;
        } else if (longest && gap_ns > longest[1]) {
            longest[1] = gap_ns;
        }
    }
    return true;
}

bool stk_gaps_attribute(const struct stk_analysis *a, uint32_t index, int64_t from_ns,
                        int64_t to_ns, uint32_t share, uint32_t shares, struct stk_gaps_out *out)
{
    STK_ASSERT(index < a->sum->device_count && share < shares && from_ns <= to_ns);
    struct gaps g = {.a = a, .line = &a->lines[index], .out = out};
    const struct stk_spans *busy = &g.line->busy;
    g.failed = !stk_segments_init(&g.segments, a);
    g.failed |= !stk_segments_init(&g.driver, a) || !find_first_kernels(&g);
    uint32_t op_index = 0;
    // A gap that only begins or ends in the windows is judged as a whole, then cut at the windows.
    size_t first = stk_spans_find(busy, from_ns), count = busy->count - first;
    size_t i = first + count / shares * share;
    size_t stop = share + 1 < shares ? first + count / shares * (share + 1) : SIZE_MAX;
    int64_t at = i > 0 ? busy->v[i - 1].end_ns : from_ns;
    for (; at < to_ns && i < stop && !g.failed; i++) {
        bool last = i == busy->count;
        int64_t end = last ? to_ns : busy->v[i].start_ns;
        const struct stk_device_op *ender = last ? NULL : stk_line_op_at(a, g.line, &op_index, end);
        if (at < end) {
            attribute_gap(&g, at, end, ender);
        }
        if (last) {
            break;
        }
        at = busy->v[i].end_ns;
    }
    stk_segments_deinit(&g.segments);
    stk_segments_deinit(&g.driver);
    stk_free(g.first_of_name);
    stk_free(g.longest);
    return !g.failed;
}
