// SPDX-License-Identifier: Apache-2.0
// When does the device stand idle, and what is the host doing then?
// Every gap between operations of a device, with the cause that has most of it (ids of the parts of
// a step, from the same attribution as the breakdown's: model/idle_cause.c) and the host event that
// fills most of that cause. A second table sums the causes exactly: a gap may have several.
// Time before a device's first operation and after its last is no gap here.
// Limits: devices that took no part in the breakdown, and gaps outside every step, have no cause.
#include "base/alloc.h"
#include "passes/stats.h"

struct gap_row {
    int64_t start_ns, dur_ns, step;
    const char *what, *inside; // NULL: not known
    uint32_t line;
    int8_t part; // enum stk_part, -1 not known
    bool has_step;
};
struct gap_partial {
    struct gap_row *rows;
    size_t count;
    int64_t base_ns; // of the trace, when the rows were made
    int64_t idle_ns, part_ns[STK_PART_COUNT];
    uint64_t part_gaps[STK_PART_COUNT];
};

struct sweep {
    const struct stk_analysis *view;
    struct gap_partial *out;
    struct stk_vec rows; // struct gap_row
    struct stk_name_cache names;
    size_t piece;  // first piece that ends after the gap's start
    uint32_t step; // first row of sum->steps that ends after it
};

static const char *host_name(struct sweep *s, uint32_t event, bool *failed)
{
    const struct stk_trace *t = s->view->t;
    if (event == STK_NONE || stk_kind_is_device_work(t->kind[event]))
        return NULL;
    const char *name = stk_name_cache_get(&s->names, t->name[event]);
    *failed |= name == NULL;
    return name;
}

// The cause with most of the gap, and its longest piece. False: no memory.
static bool find_cause(struct sweep *s, struct gap_row *row)
{
    const struct stk_gap_piece *pieces = s->view->gaps.items, *longest = NULL;
    int64_t ns[STK_PART_COUNT] = {0}, longest_ns = 0, end_ns = row->start_ns + row->dur_ns;
    size_t n = s->view->gaps.count;
    bool failed = false;
    while (s->piece < n &&
           (pieces[s->piece].line < row->line ||
            (pieces[s->piece].line == row->line && pieces[s->piece].end_ns <= row->start_ns)))
        s->piece++;
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
        if (ns[p] > 0 && (row->part < 0 || ns[p] > ns[row->part]))
            row->part = (int8_t)p;
    }
    for (size_t i = s->piece; i < last; i++)
        if (pieces[i].part == row->part && pieces[i].end_ns - pieces[i].start_ns > longest_ns) {
            longest = &pieces[i];
            longest_ns = longest->end_ns - longest->start_ns;
        }
    if (longest) {
        row->what = host_name(s, longest->event, &failed);
        row->inside = host_name(s, longest->around, &failed);
    }
    return !failed;
}

static void find_step(struct sweep *s, struct gap_row *row)
{
    const struct stk_rank_sum *sum = s->view->sum;
    while (s->step < sum->step_count &&
           (sum->steps[s->step].device != row->line ||
            sum->steps[s->step].start_ns + sum->steps[s->step].dur_ns <= row->start_ns))
        s->step++;
    if (s->step == sum->step_count || sum->steps[s->step].start_ns > row->start_ns)
        return;
    row->has_step = true;
    row->step = sum->steps[s->step].number;
}

static bool sweep_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_spans *busy = &s->view->lines[line].busy;
    struct stk_view_cursor cursor = {selected, 0};
    if (!stk_view_selected(s->view, line, selected))
        return false;
    s->step = 0;
    for (size_t i = 1; i < busy->count; i++) {
        struct gap_row row = {.start_ns = busy->v[i - 1].end_ns, .line = line};
        row.dur_ns = busy->v[i].start_ns - row.start_ns;
        if (!stk_view_in(&cursor, row.start_ns))
            continue;
        if (!find_cause(s, &row))
            return false;
        find_step(s, &row);
        struct gap_row *place = stk_vec_push(&s->rows);
        if (!place)
            return false;
        *place = row;
        s->out->idle_ns += row.dur_ns;
    }
    return true;
}

static enum stk_status see(const struct stk_analysis *view, struct stk_arena *arena, void **partial,
                           struct stk_err *err)
{
    struct sweep s = {.view = view};
    struct stk_spans selected;
    stk_spans_init(&selected);
    stk_vec_init(&s.rows, sizeof(struct gap_row), UINT32_MAX);
    s.out = stk_arena_alloc(arena, sizeof *s.out);
    bool ok = stk_name_cache_init(&s.names, view->t, arena) && s.out;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++)
        ok = sweep_device(&s, d, &selected);
    if (ok) {
        s.out->rows = stk_arena_array(arena, s.rows.count + 1, sizeof *s.out->rows);
        ok = s.out->rows != NULL;
    }
    if (ok) {
        for (size_t i = 0; i < s.rows.count; i++)
            s.out->rows[i] = *(struct gap_row *)stk_vec_at(&s.rows, i);
        s.out->count = s.rows.count;
        s.out->base_ns = view->sum->base_ns;
        *partial = s.out;
    }
    stk_name_cache_deinit(&s.names);
    stk_vec_deinit(&s.rows);
    stk_spans_deinit(&selected);
    return ok ? STK_OK : stk_err_nomem(err);
}

static const struct stk_column gap_columns[] = {
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "start_ns", .type = STK_CELL_NS},
    {.id = "dur_ns", .type = STK_CELL_NS},
    {.id = "cause", .type = STK_CELL_TEXT},
    {.id = "what", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "inside", .type = STK_CELL_TEXT, .is_name = true, .is_detail = true},
    {.id = "step", .type = STK_CELL_COUNT},
};
static const struct stk_column cause_columns[] = {
    {.id = "cause", .type = STK_CELL_TEXT},
    {.id = "gaps", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "idle_share", .type = STK_CELL_SHARE},
};

static bool fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                      struct gap_partial *all)
{
    const struct gap_partial *p = rank->partial;
    int64_t shift_ns = p ? p->base_ns - rank->base_ns : 0; // onto the clock of all ranks
    for (size_t i = 0; p && i < p->count; i++) {
        const struct gap_row *g = &p->rows[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
        row[0] = stk_cell_text(rank->devices[g->line].id);
        row[1] = stk_cell_number(g->start_ns + shift_ns);
        row[2] = stk_cell_number(g->dur_ns);
        row[3] = stk_cell_text(g->part < 0 ? NULL : stk_part_info((enum stk_part)g->part)->key);
        row[4] = stk_cell_text(g->what);
        row[5] = stk_cell_text(g->inside);
        row[6] = g->has_step ? stk_cell_number(g->step) : stk_cell_unknown();
    }
    all->idle_ns += p ? p->idle_ns : 0;
    all->count += p ? p->count : 0;
    for (int i = 0; p && i < STK_PART_COUNT; i++) {
        all->part_ns[i] += p->part_ns[i];
        all->part_gaps[i] += p->part_gaps[i];
    }
    return true;
}

static bool fill_causes(struct stk_table *table, const struct gap_partial *all)
{
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (all->part_ns[p] == 0)
            continue;
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
        row[0] = stk_cell_text(stk_part_info((enum stk_part)p)->key);
        row[1] = stk_cell_number((int64_t)all->part_gaps[p]);
        row[2] = stk_cell_number(all->part_ns[p]);
        row[3] = stk_cell_share_of(all->part_ns[p], all->idle_ns);
    }
    return true;
}

static enum stk_status describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                struct stk_err *err)
{
    struct stk_table *gaps = stk_table_add(doc, "gaps", "Longest gaps", gap_columns,
                                           sizeof gap_columns / sizeof gap_columns[0]);
    struct stk_table *causes = stk_table_add(doc, "causes", "Causes of all gaps", cause_columns,
                                             sizeof cause_columns / sizeof cause_columns[0]);
    struct gap_partial all = {.count = 0};
    int64_t known_ns = 0;
    if (stk_stats_lacks_device(ctx, doc))
        return STK_OK;
    stk_table_keep(gaps, "dur_ns", ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++)
        if (!fill_rank(gaps, ctx->run->ranks[r], &all))
            return stk_err_nomem(err);
    if (!fill_causes(causes, &all) || !stk_table_sort(gaps, "dur_ns") ||
        !stk_table_sort(causes, "total_ns"))
        return stk_err_nomem(err);
    for (int p = 0; p < STK_PART_COUNT; p++)
        known_ns += p == STK_PART_UNKNOWN ? 0 : all.part_ns[p];
    stk_table_figure(doc, "gaps", STK_CELL_COUNT, stk_cell_number((int64_t)all.count));
    stk_table_figure(doc, "idle_ns", STK_CELL_NS, stk_cell_number(all.idle_ns));
    stk_table_figure(doc, "explained_share", STK_CELL_SHARE,
                     stk_cell_share_of(known_ns, all.idle_ns));
    return STK_OK;
}

const struct stk_stats stk_stats_gaps = {
    .name = "gaps",
    .question = "When does the device stand idle, and what is the host doing then?",
    .needs = "operations of a device; host events for the causes",
    .hook = {.see = see, .wants_gaps = true},
    .describe = describe,
};
