// SPDX-License-Identifier: Apache-2.0
// Every gap between operations of a device, with the cause that has most of it (ids of the parts of
// a step, from the same attribution as the breakdown's: profile/model/device/idle_cause.c) and the
// host event that fills most of that cause. Of very many gaps only the longest are kept, so that
// memory does not grow with them; the sums count all. Method: one sweep over the gaps, the pieces
// that the attribution cut them into, and the steps. Limits: devices that took no part in the
// breakdown, and gaps outside every step, have no cause.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "answers/passes/host_stack.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_gaps.h"

#define GAPS_KEPT (1u << 16) // of a rank; up to twice as many during the search

struct found {
    struct stk_gap_row row;
    uint32_t event;  // the event that fills it, or STK_NONE
    uint32_t inside; // the operator around that; STK_NONE
    uint32_t after;  // if nothing fills it, the event that ended last, or STK_NONE
};

struct sweep {
    const struct stk_analysis *view;
    struct stk_gap_sums *out;
    struct stk_vec rows; // struct found
    struct stk_name_cache names;
    int64_t least_ns; // gaps that are shorter are not kept
    size_t piece;     // first piece that ends after the gap's start
    uint32_t step;    // first row of sum->steps that ends after it
};

static uint32_t host_event(const struct sweep *s, uint32_t event)
{
    bool is_host = event != STK_NONE && !stk_kind_is_device_work(s->view->t->kind[event]);
    return is_host ? event : STK_NONE;
}

// The cause with most of the gap, and its longest piece.
static void find_cause(struct sweep *s, struct found *gap)
{
    struct stk_gap_row *row = &gap->row;
    const struct stk_gap_piece *pieces = s->view->gaps.items, *longest = NULL;
    int64_t ns[STK_PART_COUNT] = {0}, longest_ns = 0, end_ns = row->start_ns + row->dur_ns;
    size_t n = s->view->gaps.count;
    while (s->piece < n &&
           (pieces[s->piece].line < row->line ||
            (pieces[s->piece].line == row->line && pieces[s->piece].end_ns <= row->start_ns))) {
        s->piece++;
    }
    size_t last = s->piece;
    for (; last < n && pieces[last].line == row->line && pieces[last].start_ns < end_ns; last++) {
        int64_t from = pieces[last].start_ns, to = pieces[last].end_ns;
        from = from > row->start_ns ? from : row->start_ns;
        to = to < end_ns ? to : end_ns;
        ns[pieces[last].part] += to > from ? to - from : 0;
    }
    row->part = -1;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        s->out->part_ns[p] += ns[p];
        s->out->part_gaps[p] += ns[p] > 0;
        if (ns[p] > 0 && (row->part < 0 || ns[p] > ns[row->part])) {
            row->part = (int8_t)p;
        }
    }
    for (size_t i = s->piece; i < last; i++) {
        if (pieces[i].part == row->part && pieces[i].end_ns - pieces[i].start_ns > longest_ns) {
            longest = &pieces[i];
            longest_ns = longest->end_ns - longest->start_ns;
        }
    }
    gap->event = longest ? host_event(s, longest->event) : STK_NONE;
    uint32_t around = longest ? host_event(s, longest->around) : STK_NONE;
    bool covers = around != STK_NONE && stk_end_ns(s->view->t, around) > longest->start_ns;
    gap->inside = covers ? around : STK_NONE;
    gap->after = covers ? STK_NONE : around;
}

static void find_step(struct sweep *s, struct stk_gap_row *row)
{
    const struct stk_rank_sum *sum = s->view->sum;
    while (s->step < sum->step_count &&
           (sum->steps[s->step].device != row->line ||
            sum->steps[s->step].start_ns + sum->steps[s->step].dur_ns <= row->start_ns)) {
        s->step++;
    }
    if (s->step == sum->step_count || sum->steps[s->step].start_ns > row->start_ns) {
        return;
    }
    row->has_step = true;
    row->step = sum->steps[s->step].number;
}

static int longest_first(const void *pa, const void *pb)
{
    const struct stk_gap_row *a = &((const struct found *)pa)->row;
    const struct stk_gap_row *b = &((const struct found *)pb)->row;
    if (a->dur_ns != b->dur_ns) {
        return a->dur_ns > b->dur_ns ? -1 : 1;
    }
    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool keep_gap(struct sweep *s, const struct found *gap)
{
    if (gap->row.dur_ns < s->least_ns) {
        s->out->dropped++;
        return true;
    }
    struct found *place = stk_vec_push(&s->rows);
    if (!place) {
        return false;
    }
    *place = *gap;
    if (s->rows.count == 2 * (size_t)GAPS_KEPT) {
        stk_sort(s->rows.items, s->rows.count, sizeof *gap, longest_first);
        s->out->dropped += s->rows.count - GAPS_KEPT;
        s->rows.count = GAPS_KEPT;
        s->least_ns = ((struct found *)stk_vec_at(&s->rows, GAPS_KEPT - 1))->row.dur_ns;
    }
    return true;
}

static bool gaps_sweep_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_spans *busy = &s->view->lines[line].busy;
    struct stk_view_cursor cursor = {selected, 0};
    if (!stk_view_selected(s->view, line, selected)) {
        return false;
    }
    s->step = 0;
    for (size_t i = 1; i < busy->count; i++) {
        struct found gap = {.row = {.start_ns = busy->v[i - 1].end_ns, .line = line}};
        gap.row.dur_ns = busy->v[i].start_ns - gap.row.start_ns;
        if (!stk_view_in(&cursor, gap.row.start_ns)) {
            continue;
        }
        find_cause(s, &gap);
        find_step(s, &gap.row);
        s->out->idle_ns += gap.row.dur_ns;
        s->out->gaps++;
        if (!keep_gap(s, &gap)) {
            return false;
        }
    }
    return true;
}

static bool name_event(struct sweep *s, uint32_t event, const char **name)
{
    if (event != STK_NONE) {
        *name = stk_name_cache_get(&s->names, s->view->t->name[event]);
    }
    return event == STK_NONE || *name;
}

static bool name_gap(struct sweep *s, struct found *gap, bool with_stack, struct stk_arena *arena)
{
    uint32_t innermost = gap->event != STK_NONE ? gap->event : gap->inside;
    if (with_stack && innermost != STK_NONE &&
        !(gap->row.stack = stk_host_stack_text(s->view, innermost, arena))) {
        return false;
    }
    return name_event(s, gap->event, &gap->row.what) &&
           name_event(s, gap->inside, &gap->row.inside) &&
           name_event(s, gap->after, &gap->row.after);
}

static bool take_rows(struct sweep *s, struct stk_arena *arena)
{
    struct found *gaps = s->rows.items;
    size_t n = s->rows.count, kept = n < GAPS_KEPT ? n : GAPS_KEPT;
    stk_sort(gaps, n, sizeof *gaps, longest_first);
    s->out->dropped += n - kept;
    for (size_t i = 0; i < kept; i++) {
        if (!name_gap(s, &gaps[i], i < STK_HOST_STACKS, arena)) {
            return false;
        }
    }
    s->out->rows = stk_arena_array(arena, kept + 1, sizeof *s->out->rows);
    for (size_t i = 0; s->out->rows && i < kept; i++) {
        s->out->rows[i] = gaps[i].row;
    }
    s->out->count = kept;
    return s->out->rows != NULL;
}

bool stk_gaps_find(const struct stk_analysis *view, struct stk_arena *arena,
                   struct stk_gap_sums *out)
{
    struct sweep s = {.view = view, .out = out};
    struct stk_spans selected;
    stk_spans_init(&selected);
    stk_vec_init(&s.rows, sizeof(struct found), 2 * (size_t)GAPS_KEPT);
    bool ok = stk_name_cache_init(&s.names, view->t, arena);
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        ok = gaps_sweep_device(&s, d, &selected);
    }
    ok = ok && take_rows(&s, arena);
    stk_name_cache_deinit(&s.names);
    stk_vec_deinit(&s.rows);
    stk_spans_deinit(&selected);
    return ok;
}
