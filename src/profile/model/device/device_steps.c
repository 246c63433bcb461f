// SPDX-License-Identifier: Apache-2.0
// The time of every analyzed device, step by step: windows of the steps, busy time to parts (here),
// gaps to parts (idle_cause.c), and the rows of the steps.
// Method: devices are processed in parallel, and so are the busy time and the gaps of one; many
// gaps are cut into shares. Each task writes its own results, which are joined in the order of
// devices and time. So the result doesn't depend on the number of threads.
#include "base/alloc.h"
#include "base/assert.h"
#include "base/thread.h"
#include "profile/model/analysis.h"
#include "profile/model/idle/causes.h"
#include "profile/model/model_check.h"

#define SHARES_MAX 8
#define SHARE_MIN_SPANS 10000 // busy pieces: fewer aren't worth another share

struct device_work {
    uint32_t device; // index into lines and sum->devices
    struct stk_window *windows;
    uint32_t window_count;
    uint32_t first_row, end_row; // of sum->steps
    struct stk_causes *busy;
    struct stk_gaps_out gaps[SHARES_MAX];
    bool no_memory_gaps[SHARES_MAX];
    bool no_memory_busy;
};
struct devices {
    struct stk_analysis *a;
    struct device_work *work;
    uint32_t count, shares;
};

// Each moment of a part counts for the operation that began first.
static bool add_busy_part(const struct stk_device_line *line, int part, struct stk_causes *causes)
{
    const struct stk_spans *set = &line->exposed[part];
    int64_t at = INT64_MIN;
    size_t k = 0;
    for (uint32_t i = 0; i < line->op_count && set->count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        int64_t start = op->start_ns > at ? op->start_ns : at;
        if (op->part != part || start >= op->end_ns) {
            continue;
        }
        at = op->end_ns;
        while (k < set->count && set->v[k].end_ns <= start) {
            k++;
        }
        for (size_t j = k; j < set->count && set->v[j].start_ns < op->end_ns; j++) {
            int64_t from = set->v[j].start_ns > start ? set->v[j].start_ns : start;
            int64_t to = set->v[j].end_ns < op->end_ns ? set->v[j].end_ns : op->end_ns;
            if (!stk_causes_add(causes, from, to, (enum stk_part)part, op->event, STK_NONE)) {
                return false;
            }
        }
    }
    stk_causes_rewind(causes);
    return true;
}

void stk_step_rows_make(struct stk_analysis *a, uint32_t device, struct stk_window *w,
                        uint32_t count)
{
    STK_ASSERT(device == STK_NONE || device < a->sum->device_count);
    struct stk_span hole = device == STK_NONE ? (struct stk_span){0, 0} : a->lines[device].hole;
    for (uint32_t i = 0; i < count && w[i].step != STK_NONE; i++) {
        const struct stk_host_step *s = &a->steps[w[i].step];
        int64_t from = hole.start_ns > w[i].start_ns ? hole.start_ns : w[i].start_ns;
        int64_t to = hole.end_ns < w[i].end_ns ? hole.end_ns : w[i].end_ns;
        int64_t dur = w[i].end_ns - w[i].start_ns - (to > from ? to - from : 0);
        w[i].row = a->sum->step_count;
        a->sum->steps[a->sum->step_count++] =
            (struct stk_step){.number = s->number,
                              .rank = a->sum->rank,
                              .device = device,
                              .start_ns = w[i].end_ns - dur,
                              .dur_ns = dur,
                              .host_start_ns = a->steps_on_device ? -1 : s->start_ns,
                              .host_dur_ns = a->steps_on_device ? -1 : s->end_ns - s->start_ns,
                              .excluded = s->excluded,
                              .is_warm_up = s->is_warm_up,
                              .long_why = s->long_why};
    }
}

static int64_t sum_parts(const int64_t *parts)
{
    int64_t sum = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        sum += parts[p];
    }
    return sum;
}

enum stoker_status stk_step_rows_check(const struct stk_analysis *a, uint32_t first, uint32_t end,
                                       struct stoker_err *err)
{
    STK_ASSERT(first <= end && end <= a->sum->step_count);
    for (uint32_t i = first; i < end; i++) {
        const struct stk_step *s = &a->sum->steps[i];
        if (sum_parts(s->parts) != s->dur_ns) {
            return stk_err_set(err, STOKER_EBUG,
                               "the parts of step %lld sum to %lld ns and not to its %lld ns: "
                               "please report this",
                               (long long)s->number, (long long)sum_parts(s->parts),
                               (long long)s->dur_ns);
        }
    }
    return STOKER_OK;
}

static void total_device(struct stk_analysis *a, const struct device_work *w)
{
    struct stk_device_sum *d = &a->sum->devices[w->device];
    for (uint32_t i = w->first_row; i < w->end_row; i++) {
        const struct stk_step *s = &a->sum->steps[i];
        for (int p = 0; p < STK_PART_COUNT && !s->excluded; p++) {
            d->parts[p] += s->parts[p];
        }
        d->wall_ns += s->excluded ? 0 : s->dur_ns;
    }
    if (a->step_count == 0) {
        d->wall_ns = sum_parts(d->parts);
    }
}

static void place_collectives(struct stk_analysis *a, uint32_t device, const struct stk_window *w,
                              uint32_t count)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < a->sum->collective_count; i++) {
        struct stk_collective *c = &a->sum->collectives[i];
        if (stk_collective_class_of(a->sum, c)->device != device) {
            continue;
        }
        int64_t start = c->start_ns - a->t->base_ns;
        while (at < count && w[at].end_ns <= start) {
            at++;
        }
        if (at < count && w[at].start_ns <= start) {
            c->step = w[at].row;
        }
    }
}

static void place_windows(void *arg, size_t task)
{
    const struct devices *all = arg;
    struct device_work *w = &all->work[task];
    w->no_memory_busy = !stk_windows_place(all->a, w->device, w->windows, &w->window_count);
}

static bool attribute_busy(const struct stk_analysis *a, struct device_work *w)
{
    if (!w->busy || !stk_causes_begin(w->busy, w->windows, w->window_count)) {
        return false;
    }
    for (int p = 0; p < STK_BUSY_PARTS; p++) {
        if (!add_busy_part(&a->lines[w->device], p, w->busy)) {
            return false;
        }
    }
    return true;
}

static bool attribute_gaps(const struct stk_analysis *a, struct device_work *w, uint32_t share,
                           uint32_t shares)
{
    const struct stk_device_sum *d = &a->sum->devices[w->device];
    if (!stk_causes_begin(w->gaps[share].causes, w->windows, w->window_count)) {
        return false;
    }
    // Gaps outside the windows count too: first use before the first step is part of the warm-up.
    int64_t from = d->first_ns, to = d->first_ns + d->span_ns;
    if (w->window_count) {
        const struct stk_window *first = w->windows, *last = &w->windows[w->window_count - 1];
        from = from < first->start_ns ? from : first->start_ns;
        to = to > last->end_ns ? to : last->end_ns;
    }
    return stk_gaps_attribute(a, w->device, from, to, share, shares, &w->gaps[share]);
}

// Gaps take longer, so they come first: tasks [0, count * shares) are gaps, the rest busy time.
static void attribute(void *arg, size_t task)
{
    const struct devices *all = arg;
    size_t gaps = (size_t)all->count * all->shares;
    if (task < gaps) {
        struct device_work *w = &all->work[task / all->shares];
        uint32_t share = (uint32_t)(task % all->shares);
        w->no_memory_gaps[share] = !attribute_gaps(all->a, w, share, all->shares);
    } else {
        struct device_work *w = &all->work[task - gaps];
        w->no_memory_busy = !attribute_busy(all->a, w);
    }
}

static bool take_gaps(struct stk_analysis *a, struct stk_gaps_out *gaps)
{
    struct stk_spans *idle = &a->compile_idle;
    size_t n = gaps->pieces.count;
    if (!stk_spans_reserve(idle, idle->count + gaps->compile_idle.count)) {
        return false;
    }
    for (size_t i = 0; i < gaps->compile_idle.count; i++) {
        idle->v[idle->count++] = gaps->compile_idle.v[i];
    }
    struct stk_gap_piece *capacity = n ? stk_vec_push_n(&a->gaps, n) : NULL;
    if (n && !capacity) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        capacity[i] = *(const struct stk_gap_piece *)stk_vec_at(&gaps->pieces, i);
    }
    return true;
}

static enum stoker_status collect_device(struct stk_analysis *a, struct device_work *w,
                                         uint32_t shares, struct stoker_err *err)
{
    struct stk_device_sum *d = &a->sum->devices[w->device];
    if (w->no_memory_busy) {
        return stk_err_nomem(err);
    }
    stk_causes_settle(w->busy, d->parts);
    if (!stk_causes_merge(a->evidence, w->busy)) {
        return stk_err_nomem(err);
    }
    for (uint32_t i = 0; i < shares; i++) {
        if (w->no_memory_gaps[i]) {
            return stk_err_nomem(err);
        }
        stk_causes_settle(w->gaps[i].causes, d->parts);
        if (!stk_causes_merge(a->evidence, w->gaps[i].causes) || !take_gaps(a, &w->gaps[i])) {
            return stk_err_nomem(err);
        }
    }
    enum stoker_status status = stk_step_rows_check(a, w->first_row, w->end_row, err);
    total_device(a, w);
    place_collectives(a, w->device, w->windows, w->window_count);
    if (status == STOKER_OK && a->step_count == 0 && d->wall_ns != d->span_ns) {
        status = stk_err_set(err, STOKER_EBUG,
                             "the parts of a device do not sum to its span: "
                             "please report this");
    }
    return status;
}

// As many shares as keep all workers busy, if the devices have enough to do.
static uint32_t count_shares(const struct devices *all)
{
    const struct stk_analysis *a = all->a;
    size_t most = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        size_t spans = a->lines[all->work[i].device].busy.count;
        most = spans > most ? spans : most;
    }
    size_t workers = a->worker_count > 1 ? (size_t)a->worker_count : 1;
    size_t shares = all->count ? (workers + all->count - 1) / all->count : 1;
    shares = shares < most / SHARE_MIN_SPANS ? shares : most / SHARE_MIN_SPANS;
    return shares < 1 ? 1 : shares > SHARES_MAX ? SHARES_MAX : (uint32_t)shares;
}

// Room for the results of each analyzed device.
static bool prepare(struct devices *all)
{
    struct stk_analysis *a = all->a;
    all->work = stk_arena_array(&a->scratch, (size_t)a->sum->device_count + 1, sizeof *all->work);
    if (!all->work) {
        return false;
    }
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        if (!a->sum->devices[d].analysed) {
            continue;
        }
        struct device_work *w = &all->work[all->count++];
        w->device = d;
        w->windows = stk_arena_array(&a->scratch, (size_t)a->step_count + 1, sizeof *w->windows);
        w->busy = stk_causes_new(a);
        if (!w->windows || !w->busy) {
            return false;
        }
    }
    all->shares = count_shares(all);
    for (uint32_t i = 0; i < all->count * all->shares; i++) {
        struct stk_gaps_out *gaps = &all->work[i / all->shares].gaps[i % all->shares];
        stk_spans_init(&gaps->compile_idle);
        stk_vec_init(&gaps->pieces, sizeof(struct stk_gap_piece), UINT32_MAX);
        if (!(gaps->causes = stk_causes_new(a))) {
            return false;
        }
    }
    return true;
}

static void free_work(struct devices *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        stk_causes_free(all->work[i].busy);
        for (uint32_t k = 0; k < all->shares; k++) {
            stk_causes_free(all->work[i].gaps[k].causes);
            stk_spans_deinit(&all->work[i].gaps[k].compile_idle);
            stk_vec_deinit(&all->work[i].gaps[k].pieces);
        }
    }
}

enum stoker_status stk_devices_attribute(struct stk_analysis *a, struct stoker_err *err)
{
    struct devices all = {.a = a};
    enum stoker_status status = prepare(&all) ? STOKER_OK : stk_err_nomem(err);
    if (status == STOKER_OK) {
        stk_thread_each(a->worker_count, all.count, place_windows, &all);
    }
    for (uint32_t i = 0; i < all.count && status == STOKER_OK; i++) {
        struct device_work *w = &all.work[i];
        w->first_row = a->sum->step_count;
        if (w->no_memory_busy) {
            status = stk_err_nomem(err);
        } else {
            STK_ASSERT_SOUND(stk_windows_check(w->windows, w->window_count));
            stk_step_rows_make(a, w->device, w->windows, w->window_count);
        }
        w->end_row = a->sum->step_count;
    }
    if (status == STOKER_OK) {
        stk_thread_each(a->worker_count, (size_t)all.count * (all.shares + 1), attribute, &all);
    }
    for (uint32_t i = 0; i < all.count && status == STOKER_OK; i++) {
        status = collect_device(a, &all.work[i], all.shares, err);
    }
    free_work(&all);
    return status;
}
