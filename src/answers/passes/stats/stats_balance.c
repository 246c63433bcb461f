// SPDX-License-Identifier: Apache-2.0
// Do the devices of a host have equal work, and do they work at the same time?
// For each device of a rank with several: busy time in the selected time, the part of it in which
// no other device of the rank was busy, and how long after the first device it began its step
// (median over the used steps). For the rank as a whole: work of the busiest device over the mean
// (imbalance), and the share of busy time in which exactly one device works (as in data-parallel
// loops that wait for each device).
// Method: set operations on the time lines, joined pairwise: O(intervals log devices).
// Limits: devices of different processes are different ranks here and aren't compared. For those,
// `stoker why` names the straggler and `stats comm` the rank that arrives last.
#include "base/alloc.h"
#include "profile/model/median.h"
#include "profile/model/idle/span_layers.h"
#include "answers/passes/stats/stats.h"

struct balance_device {
    int64_t busy_ns, alone_ns, lag_ns; // lag -1: no step to compare in
    uint64_t steps;
};
struct balance_partial {
    struct balance_device *devices; // parallel to the rank's devices
    int64_t any_ns, alone_ns;       // some device works; exactly one does
};

struct sets {
    struct stk_spans selected, own;
    struct stk_layer all; // over all devices
};

static void sets_init(struct sets *s)
{
    *s = (struct sets){0}; // empty sets
}

static void sets_deinit(struct sets *s)
{
    stk_spans_deinit(&s->selected);
    stk_spans_deinit(&s->own);
    stk_layer_deinit(&s->all);
}

static bool count_devices(const struct stk_analysis *view, struct sets *s)
{
    struct stk_layers layers;
    bool ok = true;
    stk_layers_init(&layers, true);
    for (uint32_t d = 0; ok && d < view->sum->device_count; d++) {
        ok = !stk_view_has_device(view, d) ||
             (stk_view_selected(view, d, &s->selected) &&
              stk_spans_intersect(&view->lines[d].busy, &s->selected, &s->own) &&
              stk_layers_add(&layers, &s->own));
    }
    ok = ok && stk_layers_end(&layers, &s->all);
    stk_layers_deinit(&layers);
    return ok;
}

// Start of the device's first work in the step; INT64_MAX: none.
static int64_t first_work(const struct stk_spans *busy, const struct stk_step *s)
{
    size_t i = stk_spans_find(busy, s->start_ns);
    if (i == busy->count || busy->v[i].start_ns >= s->start_ns + s->dur_ns) {
        return INT64_MAX;
    }
    return busy->v[i].start_ns > s->start_ns ? busy->v[i].start_ns : s->start_ns;
}

#define LAG_STEPS_MAX 64 // used steps to compare: a median needs no more

// A step over the devices.
struct shared_step {
    int64_t earliest_ns; // of the devices' first works
    uint32_t working;    // devices that work in it
    uint32_t device;     // seen last: of several steps with one number the first counts
};
struct lags {
    int64_t *first_work;  // per row of the steps
    struct stk_vec steps; // struct shared_step
    struct stk_map of_number;
};

static bool collect_step(const struct stk_analysis *view, uint32_t row, struct lags *l)
{
    const struct stk_step *s = &view->sum->steps[row];
    int created;
    uint32_t *at =
        stk_map_put(&l->of_number, (uint64_t)s->number, 0, (uint32_t)l->steps.count, &created);
    struct shared_step *step = !at       ? NULL
                               : created ? stk_vec_push(&l->steps)
                                         : stk_vec_at(&l->steps, *at);
    if (!step) {
        return false;
    }
    if (created) {
        *step = (struct shared_step){.earliest_ns = INT64_MAX, .device = STK_NONE};
    }
    int64_t first = l->first_work[row] = first_work(&view->lines[s->device].busy, s);
    if (step->device != s->device) {
        step->earliest_ns = first < step->earliest_ns ? first : step->earliest_ns;
        step->working += first != INT64_MAX;
        step->device = s->device;
    }
    return true;
}

// How late the device of the rows from `row` on is; returns the row after them.
static uint32_t find_lag(const struct stk_analysis *view, uint32_t row, const struct lags *l,
                         struct balance_device *out)
{
    const struct stk_step *s = view->sum->steps;
    int64_t lags[LAG_STEPS_MAX];
    size_t count = 0;
    uint32_t device = s[row].device;
    for (; row < view->sum->step_count && s[row].device == device; row++) {
        const struct shared_step *step =
            stk_vec_at(&l->steps, *stk_map_get(&l->of_number, (uint64_t)s[row].number, 0));
        if (!s[row].excluded && l->first_work[row] != INT64_MAX && step->working > 1 &&
            count < LAG_STEPS_MAX) {
            lags[count++] = l->first_work[row] - step->earliest_ns;
        }
    }
    out->steps = count;
    out->lag_ns = count ? stk_median_low(lags, count) : -1;
    return row;
}

// The steps of a device are adjacent, in order.
static bool find_lags(const struct stk_analysis *view, struct balance_partial *out)
{
    uint32_t rows = view->sum->step_count;
    struct lags l = {.first_work = stk_alloc_array((size_t)rows + 1, sizeof *l.first_work)};
    stk_vec_init(&l.steps, sizeof(struct shared_step), UINT32_MAX);
    stk_map_init(&l.of_number, UINT32_MAX);
    bool ok = l.first_work != NULL, of_devices = rows && view->sum->steps[0].device != STK_NONE;
    for (uint32_t i = 0; i < rows && of_devices && ok; i++) {
        ok = collect_step(view, i, &l);
    }
    for (uint32_t i = 0; i < rows && of_devices && ok;) {
        uint32_t device = view->sum->steps[i].device;
        struct balance_device unselected;
        i = find_lag(view, i, &l,
                     stk_view_has_device(view, device) ? &out->devices[device] : &unselected);
    }
    stk_free(l.first_work);
    stk_vec_deinit(&l.steps);
    stk_map_deinit(&l.of_number);
    return ok;
}

#define HOPS 16 // intervals to skip one by one before searching

// The time in both sets. Not linear in the second one, with which all devices of a rank are
// compared.
static int64_t shared_time(const struct stk_spans *own, const struct stk_spans *of_all)
{
    int64_t total_ns = 0;
    size_t at = 0;
    for (size_t i = 0; i < own->count; i++) {
        const struct stk_span *v = &own->v[i];
        for (int hops = 0; at < of_all->count && of_all->v[at].end_ns <= v->start_ns; at++) {
            if (++hops == HOPS) {
                at = stk_spans_find(of_all, v->start_ns);
                break;
            }
        }
        for (size_t k = at; k < of_all->count && of_all->v[k].start_ns < v->end_ns; k++) {
            const struct stk_span *o = &of_all->v[k];
            total_ns += (o->end_ns < v->end_ns ? o->end_ns : v->end_ns) -
                        (o->start_ns > v->start_ns ? o->start_ns : v->start_ns);
        }
    }
    return total_ns;
}

static bool fill_devices(const struct stk_analysis *view, struct sets *s,
                         struct balance_partial *out)
{
    if (!count_devices(view, s)) {
        return false;
    }
    for (uint32_t d = 0; d < view->sum->device_count; d++) {
        struct balance_device *o = &out->devices[d];
        *o = (struct balance_device){.lag_ns = -1};
        if (!stk_view_has_device(view, d)) {
            continue;
        }
        if (!stk_view_selected(view, d, &s->selected) ||
            !stk_spans_intersect(&view->lines[d].busy, &s->selected, &s->own)) {
            return false;
        }
        o->busy_ns = stk_spans_total(&s->own);
        o->alone_ns = o->busy_ns - shared_time(&s->own, &s->all.twice);
    }
    out->any_ns = stk_spans_total(&s->all.once);
    out->alone_ns = out->any_ns - stk_spans_total(&s->all.twice);
    return find_lags(view, out);
}

static enum stoker_status balance_see(const struct stk_analysis *view, struct stk_arena *arena,
                                      void **partial, struct stoker_err *err)
{
    struct sets sets;
    struct balance_partial *out = stk_arena_alloc(arena, sizeof *out);
    sets_init(&sets);
    if (out) {
        out->devices =
            stk_arena_array(arena, (size_t)view->sum->device_count + 1, sizeof *out->devices);
    }
    bool ok = out && out->devices && fill_devices(view, &sets, out);
    *partial = out;
    sets_deinit(&sets);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

#define BALANCE_COLUMNS(C, R)                                                                      \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)                                             \
    C(R, busy_ns, NS, "union of the device's operations in the selected time")                     \
    C(R, work_share, SHARE, "share of the busy time of all devices of the rank, summed")           \
    C(R, alone_ns, NS, "part of `busy_ns` in which no other device of the rank is busy")           \
    C(R, alone_share, SHARE, "`alone_ns` as a share of `busy_ns`")                                 \
    C(R, start_lag_ns, NS,                                                                         \
      "delay of this device's first work in a step after the rank's first: lower median "          \
      "over at most 64 used steps")                                                                \
    C(R, steps, COUNT, "steps that `start_lag_ns` is the median of", .is_detail = true)
STK_TABLE(balance, "Devices by work", BALANCE_COLUMNS)

struct balance_totals {
    int64_t any_ns, alone_ns, busy_ns, most_ns, lag_ns;
    uint64_t devices;
    const char *busiest;
};

static void balance_fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                              struct balance_totals *t)
{
    const struct balance_partial *p = rank->partial;
    int64_t sum_ns = 0;
    uint64_t working = 0;
    for (uint32_t d = 0; p && d < rank->device_count; d++) {
        sum_ns += p->devices[d].busy_ns;
        working += p->devices[d].busy_ns > 0;
    }
    for (uint32_t d = 0; working > 1 && d < rank->device_count; d++) {
        const struct balance_device *b = &p->devices[d];
        if (b->busy_ns <= 0) {
            continue;
        }
        const struct balance_row row = {
            .device = stk_cell_text(rank->devices[d].id),
            .rank = stk_cell_number(rank->rank),
            .busy_ns = stk_cell_number(b->busy_ns),
            .work_share = stk_cell_share_of(b->busy_ns, sum_ns),
            .alone_ns = stk_cell_number(b->alone_ns),
            .alone_share = stk_cell_share_of(b->alone_ns, b->busy_ns),
            .start_lag_ns = stk_cell_from_zero(b->lag_ns),
            .steps = stk_cell_number((int64_t)b->steps),
        };
        stk_table_put(table, &row);
        t->lag_ns = b->lag_ns > t->lag_ns ? b->lag_ns : t->lag_ns;
        if (b->busy_ns > t->most_ns) {
            t->most_ns = b->busy_ns;
            t->busiest = rank->devices[d].id;
        }
    }
    if (working > 1) {
        t->any_ns += p->any_ns;
        t->alone_ns += p->alone_ns;
        t->busy_ns += sum_ns;
        t->devices += working;
    }
}

#define BALANCE_FIGURES(C, R)                                                                      \
    C(R, devices, COUNT, "working devices, on ranks with several")                                 \
    C(R, busiest_device, TEXT, "device with the largest `busy_ns`", .label = "busiest device")     \
    C(R, imbalance_share, SHARE,                                                                   \
      "how far the busiest device's busy time is above the mean, as a share of its own",           \
      .label = "imbalance")                                                                        \
    C(R, one_at_a_time_share, SHARE,                                                               \
      "share of the busy time in which exactly one device of the rank works")                      \
    C(R, start_lag_ns, NS, "largest `start_lag_ns` of a device", .label = "start lag")
STK_SUMMARY(balance, BALANCE_FIGURES)

static const struct stk_missing no_several = {
    "several devices of one process", "no rank uses more",
    "nothing: `stoker why` and `stats comm` compare ranks"};

static void balance_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &balance_table);
    struct balance_totals t = {.lag_ns = -1};
    if (stk_stats_lacks_device(ctx, doc)) {
        return;
    }
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        balance_fill_rank(table, ctx->run->ranks[r], &t);
    }
    stk_table_sort(table, "busy_ns");
    int64_t mean_ns = t.devices ? t.busy_ns / (int64_t)t.devices : 0;
    const struct balance_summary summary = {
        .devices = t.devices ? stk_cell_number((int64_t)t.devices) : stk_cell_unknown(),
        .busiest_device = t.busiest ? stk_cell_text(t.busiest) : stk_cell_unknown(),
        .imbalance_share =
            mean_ns > 0 ? stk_cell_share_of(t.most_ns - mean_ns, t.most_ns) : stk_cell_unknown(),
        .one_at_a_time_share = stk_cell_share_of(t.alone_ns, t.any_ns),
        .start_lag_ns = t.lag_ns >= 0 ? stk_cell_number(t.lag_ns) : stk_cell_unknown(),
    };
    stk_table_summarize(doc, &balance_summary_info, &summary);
    if (t.devices == 0) {
        stk_table_lacks(doc, &no_several);
        doc->inconclusive = true;
    }
}

const struct stk_stats stk_stats_balance = {
    .name = "balance",
    .question = "Do a host's devices share the work equally, and at the same time?",
    .needs = "operations of several devices of one process",
    .tables = {&balance_table},
    .summary = &balance_summary_info,
    .missing = {&stk_missing_device, &no_several},
    .hook = {.see = balance_see},
    .describe = balance_describe,
};
