// SPDX-License-Identifier: Apache-2.0
// Does the device wait for launches?
// Delay of each kernel against the call that launched it: from the call's start (never after the
// kernel's, but for clock error) and from its end (negative while the call still runs). A kernel is
// launch-bound if its call began after the device had nothing left to do. A launch call of more
// than ten times the median that ran while the device was busy waited for room in the queue.
// Copies are left out: their calls wait for other reasons. A graph's kernels share its launch call.
// Limits: kernels without a launch row are left out and counted (linked_share).
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/median.h"
#include "passes/stats.h"

#define QUEUE_FULL_TIMES 10

struct launch_row {
    uint64_t kernels, linked, late; // late: launched after the device went idle
    int64_t median_ns, p95_ns, max_ns, after_call_median_ns, queue_full_ns;
};
struct launch_partial {
    struct launch_row *rows; // parallel to the rank's devices
};

struct sweep {
    const struct stk_analysis *view;
    int64_t *delays, *after; // room for the operations of the largest device
    uint32_t *calls;         // launch calls, each once
    size_t call_count, count;
    struct stk_spans selected;
};

static bool is_kernel(uint8_t kind)
{
    return kind == STK_KIND_KERNEL || kind == STK_KIND_COLLECTIVE;
}

static int64_t minus(int64_t a, int64_t b)
{
    int64_t out;
    return __builtin_sub_overflow(a, b, &out) ? (a < b ? INT64_MIN : INT64_MAX) : out;
}

static void add_kernel(struct sweep *s, const struct stk_device_op *op, int64_t busy_until_ns,
                       struct launch_row *row)
{
    const struct stk_trace *t = s->view->t;
    uint32_t call = stk_launch_of(s->view, op->event);
    row->kernels++;
    if (call == STK_NONE)
        return;
    row->linked++;
    // Clipping to a selection may have moved the operation's start.
    int64_t start = t->start_ns[op->event];
    s->delays[s->count] = minus(start, t->start_ns[call]);
    s->after[s->count++] = minus(start, stk_end_ns(t, call));
    if (busy_until_ns != INT64_MIN && busy_until_ns < start && t->start_ns[call] >= busy_until_ns)
        row->late++;
    if (t->ref[call] == op->event)
        s->calls[s->call_count++] = call;
}

static int by_number(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return (a > b) - (a < b);
}

// Time in overlong launch calls while the device was busy.
static int64_t queue_full(struct sweep *s, const struct stk_device_line *line)
{
    const struct stk_trace *t = s->view->t;
    int64_t sum_ns = 0;
    if (s->call_count == 0)
        return 0;
    qsort(s->calls, s->call_count, sizeof *s->calls, by_number);
    for (size_t i = 0; i < s->call_count; i++)
        s->delays[i] = stk_dur_ns(t, s->calls[i]); // no longer needed for the delays
    int64_t median = stk_median_low(s->delays, s->call_count);
    for (size_t i = 0; i < s->call_count; i++) {
        uint32_t call = s->calls[i];
        if (stk_dur_ns(t, call) / QUEUE_FULL_TIMES > median)
            sum_ns += stk_spans_measure(&line->busy, line->busy_sums, t->start_ns[call],
                                        stk_end_ns(t, call));
    }
    return sum_ns;
}

static bool sweep_device(struct sweep *s, uint32_t index, struct launch_row *row)
{
    const struct stk_device_line *line = &s->view->lines[index];
    struct stk_view_cursor cursor = {&s->selected, 0};
    int64_t busy_until = INT64_MIN;
    s->count = s->call_count = 0;
    if (!stk_view_selected(s->view, index, &s->selected))
        return false;
    for (uint32_t i = 0; i < line->op_count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        if (is_kernel(s->view->t->kind[op->event]) && stk_view_in(&cursor, op->start_ns))
            add_kernel(s, op, busy_until, row);
        busy_until = op->end_ns > busy_until ? op->end_ns : busy_until;
    }
    if (s->count == 0)
        return true;
    size_t p95 = (s->count * 95 + 99) / 100 - 1;
    row->median_ns = stk_median_low(s->delays, s->count);
    row->p95_ns = stk_nth_value(s->delays, s->count, p95);
    row->max_ns = stk_nth_value(s->delays, s->count, s->count - 1);
    row->after_call_median_ns = stk_median_low(s->after, s->count);
    row->queue_full_ns = queue_full(s, line);
    return true;
}

static enum stk_status see(const struct stk_analysis *view, struct stk_arena *arena, void **partial,
                           struct stk_err *err)
{
    struct sweep s = {.view = view};
    uint32_t most = 0;
    for (uint32_t d = 0; d < view->sum->device_count; d++)
        most = view->lines[d].op_count > most ? view->lines[d].op_count : most;
    struct launch_partial *out = stk_arena_alloc(arena, sizeof *out);
    if (out)
        out->rows = stk_arena_array(arena, (size_t)view->sum->device_count + 1, sizeof *out->rows);
    s.delays = stk_alloc_array((size_t)most + 1, sizeof *s.delays);
    s.after = stk_alloc_array((size_t)most + 1, sizeof *s.after);
    s.calls = stk_alloc_array((size_t)most + 1, sizeof *s.calls);
    stk_spans_init(&s.selected);
    bool ok = out && out->rows && s.delays && s.after && s.calls;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++)
        ok = sweep_device(&s, d, &out->rows[d]);
    *partial = out;
    stk_spans_deinit(&s.selected);
    stk_free(s.delays);
    stk_free(s.after);
    stk_free(s.calls);
    return ok ? STK_OK : stk_err_nomem(err);
}

static const struct stk_column columns[] = {
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "median_ns", .type = STK_CELL_NS},
    {.id = "p95_ns", .type = STK_CELL_NS},
    {.id = "max_ns", .type = STK_CELL_NS},
    {.id = "after_call_median_ns", .type = STK_CELL_NS},
    {.id = "launch_bound_share", .type = STK_CELL_SHARE},
    {.id = "queue_full_ns", .type = STK_CELL_NS, .is_detail = true},
};

static bool fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                      struct launch_row *all)
{
    const struct launch_partial *p = rank->partial;
    for (uint32_t d = 0; p && d < rank->device_count; d++) {
        const struct launch_row *l = &p->rows[d];
        all->kernels += l->kernels;
        all->linked += l->linked;
        all->late += l->late;
        all->queue_full_ns += l->queue_full_ns;
        if (l->linked == 0)
            continue;
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
        row[0] = stk_cell_text(rank->devices[d].id);
        row[1] = stk_cell_number((int64_t)l->linked);
        row[2] = stk_cell_number(l->median_ns);
        row[3] = stk_cell_number(l->p95_ns);
        row[4] = stk_cell_number(l->max_ns);
        row[5] = stk_cell_number(l->after_call_median_ns);
        row[6] = stk_cell_share_of((int64_t)l->late, (int64_t)l->linked);
        row[7] = stk_cell_number(l->queue_full_ns);
    }
    return true;
}

static enum stk_status describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                struct stk_err *err)
{
    struct stk_table *table = stk_table_add(doc, "launches", "From launch call to kernel", columns,
                                            sizeof columns / sizeof columns[0]);
    struct launch_row all = {.kernels = 0};
    if (stk_stats_lacks_device(ctx, doc))
        return STK_OK;
    for (uint32_t r = 0; r < ctx->run->rank_count; r++)
        if (!fill_rank(table, ctx->run->ranks[r], &all))
            return stk_err_nomem(err);
    if (!stk_table_sort(table, "count"))
        return stk_err_nomem(err);
    if (all.linked == 0 && all.kernels > 0) {
        stk_table_lacks(doc, "launch calls of kernels",
                        "no kernel is linked to the runtime call that launched it",
                        "record the host too: ProfilerActivity.CPU beside CUDA in torch.profiler, "
                        "--trace=cuda in nsys profile, host_tracer_level 2 in TensorFlow and JAX");
        doc->inconclusive = true;
        return STK_OK;
    }
    stk_table_figure(doc, "launch_bound_share", STK_CELL_SHARE,
                     stk_cell_share_of((int64_t)all.late, (int64_t)all.linked));
    stk_table_figure(doc, "queue_full_ns", STK_CELL_NS,
                     all.linked ? stk_cell_number(all.queue_full_ns) : stk_cell_unknown());
    stk_table_figure(doc, "linked_share", STK_CELL_SHARE,
                     stk_cell_share_of((int64_t)all.linked, (int64_t)all.kernels));
    return STK_OK;
}

const struct stk_stats stk_stats_launches = {
    .name = "launches",
    .question = "Does the device wait for launches?",
    .needs = "kernels, and the runtime calls that launched them",
    .hook = {.see = see},
    .describe = describe,
};
