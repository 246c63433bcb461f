// SPDX-License-Identifier: Apache-2.0
// Facts about the selected time of one rank that health checks and rules ask for: counts of device
// work, launch delays, blocking calls inside used steps, start-up and first use. The host's counts
// come from the scan of its threads (host_scan.c).
#include <string.h>

#include "base/alloc.h"
#include "profile/model/calls_seen.h"
#include "profile/model/analysis.h"
#include "profile/model/device/stagger.h"
#include "profile/model/median.h"
#include "profile/model/thresholds.h"
#include "wire/wire.h"

static void count_copy(struct stk_facts *f, const struct stk_trace *t,
                       const struct stk_device_op *op)
{
    const struct stk_ext *x = stk_ext_of(t, op->event);
    f->copies++;
    f->copy_ns = stk_add_ns(f->copy_ns, op->end_ns - op->start_ns);
    f->pinned_copies += x && (x->src_mem == STK_MEM_PINNED || x->dst_mem == STK_MEM_PINNED);
    if (!x || (x->src_mem != STK_MEM_PAGEABLE && x->dst_mem != STK_MEM_PAGEABLE)) {
        return;
    }
    f->pageable_copies++;
    f->pageable_copy_ns = stk_add_ns(f->pageable_copy_ns, op->end_ns - op->start_ns);
    if ((x->flags & STK_EXT_VALUE) && x->value > 0) {
        f->pageable_bytes += (uint64_t)x->value;
    }
}

// Delays from the start of the launch call to the start of the device work, kernels only.
static bool measure_line(struct stk_analysis *a, const struct stk_device_line *line,
                         struct stk_vec *delays)
{
    const struct stk_trace *t = a->t;
    struct stk_facts *f = &a->sum->facts;
    f->device_ops += line->op_count;
    f->unlinked_ops += line->op_count - line->linked;
    f->queued_ops += line->queued;
    for (uint32_t i = 0; i < line->op_count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        uint8_t kind = t->kind[op->event];
        if (kind == STK_KIND_MEMCPY) {
            count_copy(f, t, op);
        }
        uint32_t launch = stk_launch_of(a, op->event);
        if (launch == STK_NONE || (kind != STK_KIND_KERNEL && kind != STK_KIND_COLLECTIVE)) {
            continue;
        }
        int64_t delay = t->start_ns[op->event] - t->start_ns[launch];
        if (delay < 0) {
            f->negative_delays++;
            f->worst_negative_ns = -delay > f->worst_negative_ns ? -delay : f->worst_negative_ns;
        }
        int64_t *slot = stk_vec_push(delays);
        if (!slot) {
            return false;
        }
        *slot = delay;
    }
    return true;
}

static void find_extent(struct stk_analysis *a)
{
    const struct stk_trace *t = a->t;
    struct stk_facts *f = &a->sum->facts;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        bool counted = a->in_rank[track->process] &&
                       (track->kind == STK_TRACK_THREAD || track->kind == STK_TRACK_STREAM);
        if (!counted || track->count == 0) {
            continue;
        }
        f->events += track->count;
        first = a->threads[k].first_ns < first ? a->threads[k].first_ns : first;
        last = a->threads[k].last_ns > last ? a->threads[k].last_ns : last;
    }
    first = first > a->from_ns ? first : a->from_ns;
    last = last < a->to_ns ? last : a->to_ns;
    f->first_ns = first < last ? first : 0;
    f->last_ns = first < last ? last : 0;
}

static int64_t first_device_ns(const struct stk_analysis *a)
{
    int64_t first = INT64_MAX;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        if (a->lines[d].op_count && a->lines[d].ops[0].start_ns < first) {
            first = a->lines[d].ops[0].start_ns;
        }
    }
    return first;
}

static void count_blocking(struct stk_analysis *a)
{
    struct stk_facts *f = &a->sum->facts;
    for (uint32_t i = 0; i < a->call_count; i++) {
        const struct stk_blocking_call *c = &a->calls[i];
        uint32_t low = 0, high = a->step_count;
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            if (a->steps[mid].start_ns <= c->start_ns) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        bool inside = a->step_count == 0 || (low > 0 && !a->steps[low - 1].excluded &&
                                             c->start_ns < a->steps[low - 1].end_ns);
        f->sync_calls += inside;
        f->sync_call_ns = stk_add_ns(f->sync_call_ns, inside ? c->end_ns - c->start_ns : 0);
    }
}

// Start of the third step: later compilation isn't warm-up.
static int64_t settled_ns(const struct stk_analysis *a)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        bool is_selected = !a->steps[i].excluded || a->steps[i].is_warm_up;
        if (is_selected && ++seen == 3) {
            return a->steps[i].start_ns;
        }
    }
    return INT64_MAX;
}

// The longest first use or compilation, by name. Marks are pieces where calls nest: the call
// counts.
static bool name_first_use(struct stk_analysis *a)
{
    struct stk_example *e = &a->sum->facts.first_use;
    uint32_t event = STK_NONE;
    for (size_t i = 0; i < a->compiles.count; i++) {
        uint32_t call = a->compiles.v[i].event;
        int64_t dur_ns = stk_dur_ns(a->t, call);
        if (dur_ns <= e->dur_ns) {
            continue;
        }
        *e = (struct stk_example){.start_ns = a->t->start_ns[call], .dur_ns = dur_ns, .step = -1};
        event = call;
    }
    if (event == STK_NONE) {
        return true;
    }
    struct stk_str name = stk_name_of(a->t, event);
    e->name = stk_arena_strndup(a->out, name.p, name.n);
    return e->name != NULL;
}

// First use and compilation in the whole profile, and the part of it that held up the device (or
// the host, without one) during warm-up.
static bool measure_cold(struct stk_analysis *a)
{
    const struct stk_device_line *busiest = NULL;
    int64_t most_ns = -1;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        if (a->sum->devices[d].analysed && a->sum->devices[d].busy_ns > most_ns) {
            busiest = &a->lines[d];
            most_ns = a->sum->devices[d].busy_ns;
        }
    }
    struct stk_spans all = a->compile_idle, cut, early;
    stk_spans_init(&a->compile_idle);
    stk_spans_init(&cut);
    stk_spans_init(&early);
    bool ok = stk_spans_reserve(&all, all.count + a->compiles.count);
    for (size_t i = 0; i < a->compiles.count && ok; i++) {
        all.v[all.count++] = (struct stk_span){a->compiles.v[i].start_ns, a->compiles.v[i].end_ns};
    }
    if (ok) {
        stk_spans_normalize(&all);
        int64_t to = settled_ns(a) < a->to_ns ? settled_ns(a) : a->to_ns;
        to = a->whole_until_ns < to ? a->whole_until_ns : to;
        ok = stk_spans_clip(&all, a->from_ns, to, &early) &&
             (!busiest || stk_spans_subtract(&early, &busiest->busy, &cut));
        a->sum->facts.first_use_ns = stk_spans_total(&all);
        a->sum->cold_ns = stk_spans_total(busiest ? &cut : &early);
    }
    stk_spans_deinit(&all);
    stk_spans_deinit(&cut);
    stk_spans_deinit(&early);
    return ok;
}

// Compilation in used steps after the first two, over all devices.
static void measure_recurring(struct stk_analysis *a)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < a->sum->step_count; i++) {
        const struct stk_step *s = &a->sum->steps[i];
        if (i == 0 || s->device != a->sum->steps[i - 1].device) {
            seen = 0;
        }
        seen += !s->excluded || s->is_warm_up;
        if (!s->excluded && seen > 2) {
            a->sum->facts.compile_recurring_ns += s->parts[STK_PART_COMPILE];
        }
    }
}

// The limit that stoker.data recorded; of several runs, that of the one whose consumer waited
// longest.
#define LIMIT_DIGITS 20
static bool name_input_limit(struct stk_analysis *a)
{
    const struct stk_trace *t = a->t;
    struct stk_str most = {0};
    if (!t->format || strcmp(t->format, "stk") != 0) {
        return true;
    }
    for (uint32_t i = 0; i < t->strings.count; i++) {
        struct stk_str s = stk_strpool_get(&t->strings, i);
        if (!stk_str_starts(s, STK_STR(STK_WIRE_LIMIT)) ||
            s.n < sizeof STK_WIRE_LIMIT + LIMIT_DIGITS) {
            continue;
        }
        if (!most.n || memcmp(s.p, most.p, sizeof STK_WIRE_LIMIT - 1 + LIMIT_DIGITS) > 0) {
            most = s;
        }
    }
    size_t skip = sizeof STK_WIRE_LIMIT + LIMIT_DIGITS; // and the bar
    if (most.n > skip) {
        a->sum->facts.input_limit = stk_arena_strndup(a->out, most.p + skip, most.n - skip);
    }
    return most.n <= skip || a->sum->facts.input_limit;
}

static bool name_accelerator(struct stk_analysis *a)
{
    const struct stk_issue *issue = &a->t->issues[STK_ISSUE_UNKNOWN_ACCELERATOR];
    a->sum->facts.unknown_accelerator = issue->count > 0;
    struct stk_str note = stk_strpool_get(&a->t->strings, issue->note);
    if (issue->count == 0 || note.n == 0) {
        return true;
    }
    a->sum->facts.accelerator = stk_arena_strndup(a->out, note.p, note.n);
    return a->sum->facts.accelerator != NULL;
}

// What a run's hooks recorded about the program.
static bool take_told(struct stk_analysis *a)
{
    struct stk_facts *f = &a->sum->facts;
    const struct stk_told *told = &a->t->told;
    for (int i = 0; i < STK_TOLD_PLACES; i++) {
        struct stk_str text = stk_strpool_get(&a->t->strings, told->places[i]);
        f->told[i] = text.n ? stk_arena_strndup(a->out, text.p, text.n) : NULL;
        f->told_permille[i] = told->permille[i];
        if (text.n && !f->told[i]) {
            return false;
        }
    }
    memcpy(f->told_numbers, told->numbers, sizeof f->told_numbers);
    return true;
}

enum stoker_status stk_facts_collect(struct stk_analysis *a, struct stoker_err *err)
{
    struct stk_facts *f = &a->sum->facts;
    struct stk_vec delays;
    stk_vec_init(&delays, sizeof(int64_t), UINT32_MAX);
    bool ok = true;
    for (uint32_t d = 0; d < a->sum->device_count && ok; d++) {
        ok = measure_line(a, &a->lines[d], &delays);
    }
    f->delay_median_ns = delays.count ? stk_median_low(delays.items, delays.count) : -1;
    stk_vec_deinit(&delays);
    find_extent(a);
    count_blocking(a);
    int64_t begin =
        a->step_count && !a->steps_on_device ? a->steps[0].start_ns : first_device_ns(a);
    f->startup_ns = begin != INT64_MAX && begin > f->first_ns ? begin - f->first_ns : 0;
    measure_recurring(a);
    for (size_t i = 0; i < a->overheads.count; i++) {
        f->profiler_overhead_ns += a->overheads.v[i].end_ns - a->overheads.v[i].start_ns;
    }
    for (uint32_t k = 0; k < a->t->track_count; k++) {
        f->loader_workers_seen += a->threads[k].in_rank && a->threads[k].is_loader &&
                                  a->threads[k].root == k && a->t->tracks[k].count > 0;
    }
    f->frameworks = a->t->framework_hint;
    f->calls_seen = stk_calls_seen(a->t);
    stk_training_find(a);
    f->has_python = f->python_events > 0;
    f->has_runtime = f->runtime_calls > 0;
    f->has_device_rows = f->device_ops > 0;
    f->is_cut = a->t->cut != STK_CUT_NOT;
    f->whole_until_ns = a->whole_until_ns;
    f->has_host_rows = f->host_events > 0;
    f->has_launch_rows = f->launches > 0 || f->unlinked_ops < f->device_ops;
    f->host_steps = a->steps_on_device ? 0 : a->step_count;
    f->has_fetches = f->loader_fetches > 0 &&
                     (double)f->loader_fetches >=
                         stk_threshold_value(STK_T_HOST_FETCHES) * (double)a->step_count;
    ok = ok && stk_recompiled_find(a, settled_ns(a)) && measure_cold(a) && name_first_use(a) &&
         name_accelerator(a) && name_input_limit(a) && take_told(a) && stk_kernel_work_find(a) &&
         stk_stagger_find(a);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
