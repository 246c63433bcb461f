// SPDX-License-Identifier: Apache-2.0
// Do the devices of a host have equal work, and do they work at the same time?
// For each device of a rank with several: busy time in the selected time, what of it no other
// device of the rank was busy beside, and how long after the first of them it began its step
// (median over the used steps). Beside it the rank as a whole: work of the busiest device over the
// mean (imbalance), and the share of the time with any work in which exactly one device works
// (working in turn, as under data-parallel loops that wait for each device). Method: set operations
// on the time lines, linear in their intervals for each device. Limits: devices of different
// processes are different ranks here, and are not compared: for them `stoker why` has the straggler
// and `stats comm` who arrives last.
#include "base/alloc.h"
#include "model/median.h"
#include "passes/stats/stats.h"

struct balance_device {
    int64_t busy_ns, alone_ns, lag_ns; // lag -1: no step to compare in
    uint64_t steps;
};
struct balance_partial {
    struct balance_device *devices; // parallel to the rank's devices
    int64_t any_ns, alone_ns;       // some device works; exactly one does
};

struct sets {
    struct stk_spans selected, once, twice, both, next;
};

static void sets_init(struct sets *s)
{
    stk_spans_init(&s->selected);
    stk_spans_init(&s->once);
    stk_spans_init(&s->twice);
    stk_spans_init(&s->both);
    stk_spans_init(&s->next);
}

static void sets_deinit(struct sets *s)
{
    stk_spans_deinit(&s->selected);
    stk_spans_deinit(&s->once);
    stk_spans_deinit(&s->twice);
    stk_spans_deinit(&s->both);
    stk_spans_deinit(&s->next);
}

static void swap_spans(struct stk_spans *a, struct stk_spans *b)
{
    struct stk_spans c = *a;
    *a = *b;
    *b = c;
}

// Where one device works at least (once), and where two do (twice).
static bool count_device(const struct stk_spans *busy, struct sets *s)
{
    if (!stk_spans_intersect(&s->once, busy, &s->both) ||
        !stk_spans_union(&s->twice, &s->both, &s->next)) {
        return false;
    }
    swap_spans(&s->twice, &s->next);
    if (!stk_spans_union(&s->once, busy, &s->next)) {
        return false;
    }
    swap_spans(&s->once, &s->next);
    return true;
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

// The device's step of that number; steps of a device stand together, in order.
static const struct stk_step *step_of(const struct stk_rank_sum *sum, uint32_t device,
                                      int64_t number)
{
    for (uint32_t i = 0; i < sum->step_count; i++) {
        if (sum->steps[i].device == device && sum->steps[i].number == number) {
            return &sum->steps[i];
        }
    }
    return NULL;
}

static int64_t earliest_of_step(const struct stk_analysis *view, int64_t number, uint32_t *working)
{
    int64_t earliest = INT64_MAX;
    *working = 0;
    for (uint32_t d = 0; d < view->sum->device_count; d++) {
        const struct stk_step *s = step_of(view->sum, d, number);
        int64_t at = s ? first_work(&view->lines[d].busy, s) : INT64_MAX;
        earliest = at < earliest ? at : earliest;
        *working += at != INT64_MAX;
    }
    return earliest;
}

#define LAG_STEPS_MAX 64 // used steps that are compared: a median needs no more

static void find_lag(const struct stk_analysis *view, uint32_t device, struct balance_device *out)
{
    int64_t lags[LAG_STEPS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < view->sum->step_count && count < LAG_STEPS_MAX; i++) {
        const struct stk_step *s = &view->sum->steps[i];
        uint32_t working;
        if (s->device != device || s->excluded) {
            continue;
        }
        int64_t own = first_work(&view->lines[device].busy, s);
        int64_t first = earliest_of_step(view, s->number, &working);
        if (own != INT64_MAX && working > 1) {
            lags[count++] = own - first;
        }
    }
    out->steps = count;
    out->lag_ns = count ? stk_median_low(lags, count) : -1;
}

static bool fill_devices(const struct stk_analysis *view, struct sets *s,
                         struct balance_partial *out)
{
    uint32_t devices = view->sum->device_count;
    struct stk_spans own;
    stk_spans_init(&own);
    bool ok = true;
    for (uint32_t d = 0; ok && d < devices; d++) {
        ok = !stk_view_has_device(view, d) ||
             (stk_view_selected(view, d, &s->selected) &&
              stk_spans_intersect(&view->lines[d].busy, &s->selected, &own) &&
              count_device(&own, s));
    }
    stk_spans_deinit(&own);
    if (!ok) {
        return false;
    }
    for (uint32_t d = 0; d < devices; d++) {
        struct balance_device *o = &out->devices[d];
        *o = (struct balance_device){.lag_ns = -1};
        if (!stk_view_has_device(view, d)) {
            continue;
        }
        if (!stk_view_selected(view, d, &s->selected) ||
            !stk_spans_intersect(&view->lines[d].busy, &s->selected, &s->both) ||
            !stk_spans_subtract(&s->both, &s->twice, &s->next)) {
            return false;
        }
        o->busy_ns = stk_spans_total(&s->both);
        o->alone_ns = stk_spans_total(&s->next);
        find_lag(view, d, o);
    }
    out->any_ns = stk_spans_total(&s->once);
    out->alone_ns = out->any_ns - stk_spans_total(&s->twice);
    return true;
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

struct balance_row {
    struct stk_cell device, rank, busy_ns, work_share, alone_ns, alone_share, start_lag_ns, steps;
};
static const struct stk_column balance_columns[] = {
    STK_COLUMN(balance_row, device, TEXT, STK_DOC_DEVICE),
    STK_COLUMN(balance_row, rank, COUNT, STK_DOC_RANK, .is_detail = true),
    STK_COLUMN(balance_row, busy_ns, NS, "union of the device's operations in the selected time"),
    STK_COLUMN(balance_row, work_share, SHARE,
               "share of the busy time of all devices of the rank, summed"),
    STK_COLUMN(balance_row, alone_ns, NS,
               "part of `busy_ns` in which no other device of the rank is busy"),
    STK_COLUMN(balance_row, alone_share, SHARE, "`alone_ns` as a share of `busy_ns`"),
    STK_COLUMN(balance_row, start_lag_ns, NS,
               "time from the first work of any device of the rank in a step to the first work of "
               "this one: lower median over the used steps, 64 at most"),
    STK_COLUMN(balance_row, steps, COUNT, "steps that `start_lag_ns` is the median of",
               .is_detail = true),
};
static const struct stk_table_info balance_table =
    STK_TABLE_INFO("balance", "Devices by work", balance_row, balance_columns);

struct balance_totals {
    int64_t any_ns, alone_ns, busy_ns, most_ns, lag_ns;
    uint64_t devices;
    const char *busiest;
};

static bool balance_fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
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
        if (!stk_table_put(table, &row)) {
            return false;
        }
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
    return true;
}

struct balance_summary {
    struct stk_cell devices, busiest_device, imbalance_share, one_at_a_time_share, start_lag_ns;
};
static const struct stk_column balance_figures[] = {
    STK_COLUMN(balance_summary, devices, COUNT, "devices that work, of ranks with several"),
    STK_COLUMN(balance_summary, busiest_device, TEXT, "device with the largest `busy_ns`"),
    STK_COLUMN(balance_summary, imbalance_share, SHARE,
               "busy time of the busiest device above the mean, as a share of its own"),
    STK_COLUMN(
        balance_summary, one_at_a_time_share, SHARE,
        "of the time in which any device of a rank works, the share in which exactly one does"),
    STK_COLUMN(balance_summary, start_lag_ns, NS, "largest `start_lag_ns` of a device"),
};
static const struct stk_summary_info balance_summary_info =
    STK_SUMMARY_INFO(balance_summary, balance_figures);

static const struct stk_missing no_several = {
    "several devices of one process", "no rank of the profile uses more",
    "none needed: ranks are compared by `stoker why` and `stats comm`"};

static enum stoker_status balance_describe(const struct stk_pass_ctx *ctx,
                                           struct stk_table_doc *doc, struct stoker_err *err)
{
    struct stk_table *table = stk_table_add(doc, &balance_table);
    struct balance_totals t = {.lag_ns = -1};
    if (stk_stats_lacks_device(ctx, doc)) {
        return STOKER_OK;
    }
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        if (!balance_fill_rank(table, ctx->run->ranks[r], &t)) {
            return stk_err_nomem(err);
        }
    }
    if (!stk_table_sort(table, "busy_ns")) {
        return stk_err_nomem(err);
    }
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
    return STOKER_OK;
}

const struct stk_stats stk_stats_balance = {
    .name = "balance",
    .question = "Do the devices of a host have equal work, and at the same time?",
    .needs = "operations of several devices of one process",
    .tables = {&balance_table},
    .summary = &balance_summary_info,
    .missing = {&stk_missing_device, &no_several},
    .hook = {.see = balance_see},
    .describe = balance_describe,
};
