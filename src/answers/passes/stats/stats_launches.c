// SPDX-License-Identifier: Apache-2.0
// Does the device wait for launches?
// Delay of each kernel against the call that launched it: from the call's start (never after the
// kernel's, but for clock error) and from its end (negative while the call still runs). A kernel is
// launch-bound if its call began after the device had nothing left to do. A launch call of more
// than ten times the median that ran while the device was busy waited for room in the queue.
// Copies are left out: their calls wait for other reasons. A graph's kernels share its launch call.
// Further tables: the queue of launched work over time (stats_queue.c), regions in which the device
// runs dry again and again (stats_launch_regions.c), runtime calls by name and how many of them are
// slow (stats_slow_calls.c).
// Limits: kernels without a launch row are left out and counted (linked_share).
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/median.h"
#include "answers/passes/stats/stats_launches.h"

#define QUEUE_FULL_TIMES 10
#define QUEUE_BINS 20 // of each device

struct launch_row {
    uint64_t kernels, linked, late; // late: launched after the device went idle
    int64_t median_ns, p95_ns, max_ns, after_call_median_ns, queue_full_ns;
};
struct launch_partial {
    struct launch_row *rows; // parallel to the rank's devices
    struct stk_queue_bin (*bins)[QUEUE_BINS];
    size_t *bin_counts;
    struct stk_launch_regions regions;
    struct stk_calls calls;
    int64_t base_ns; // of the trace, when this was made
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
    if (call == STK_NONE) {
        return;
    }
    row->linked++;
    // Clipping to a selection may have moved the operation's start.
    int64_t start = t->start_ns[op->event];
    s->delays[s->count] = minus(start, t->start_ns[call]);
    s->after[s->count++] = minus(start, stk_end_ns(t, call));
    if (busy_until_ns != INT64_MIN && busy_until_ns < start && t->start_ns[call] >= busy_until_ns) {
        row->late++;
    }
    if (t->ref[call] == op->event) {
        s->calls[s->call_count++] = call;
    }
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
    if (s->call_count == 0) {
        return 0;
    }
    stk_sort(s->calls, s->call_count, sizeof *s->calls, by_number);
    for (size_t i = 0; i < s->call_count; i++) {
        s->delays[i] = stk_dur_ns(t, s->calls[i]); // no longer needed for the delays
    }
    int64_t median = stk_median_low(s->delays, s->call_count);
    for (size_t i = 0; i < s->call_count; i++) {
        uint32_t call = s->calls[i];
        if (stk_dur_ns(t, call) / QUEUE_FULL_TIMES > median) {
            sum_ns += stk_spans_measure(&line->busy, line->busy_sums, t->start_ns[call],
                                        stk_end_ns(t, call));
        }
    }
    return sum_ns;
}

static bool launches_sweep_device(struct sweep *s, uint32_t index, struct launch_row *row)
{
    const struct stk_device_line *line = &s->view->lines[index];
    struct stk_view_cursor cursor = {&s->selected, 0};
    int64_t busy_until = INT64_MIN;
    s->count = s->call_count = 0;
    if (!stk_view_selected(s->view, index, &s->selected)) {
        return false;
    }
    for (uint32_t i = 0; i < line->op_count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        if (is_kernel(s->view->t->kind[op->event]) && stk_view_in(&cursor, op->start_ns)) {
            add_kernel(s, op, busy_until, row);
        }
        busy_until = op->end_ns > busy_until ? op->end_ns : busy_until;
    }
    if (s->count == 0) {
        return true;
    }
    size_t p95 = (s->count * 95 + 99) / 100 - 1;
    row->median_ns = stk_median_low(s->delays, s->count);
    row->p95_ns = stk_nth_value(s->delays, s->count, p95);
    row->max_ns = stk_nth_value(s->delays, s->count, s->count - 1);
    row->after_call_median_ns = stk_median_low(s->after, s->count);
    row->queue_full_ns = queue_full(s, line);
    return true;
}

static bool sweep_delays(const struct stk_analysis *view, struct launch_partial *out)
{
    struct sweep s = {.view = view};
    uint32_t most = 0;
    for (uint32_t d = 0; d < view->sum->device_count; d++) {
        most = view->lines[d].op_count > most ? view->lines[d].op_count : most;
    }
    s.delays = stk_alloc_array((size_t)most + 1, sizeof *s.delays);
    s.after = stk_alloc_array((size_t)most + 1, sizeof *s.after);
    s.calls = stk_alloc_array((size_t)most + 1, sizeof *s.calls);
    stk_spans_init(&s.selected);
    bool ok = s.delays && s.after && s.calls;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        ok = launches_sweep_device(&s, d, &out->rows[d]);
    }
    stk_spans_deinit(&s.selected);
    stk_free(s.delays);
    stk_free(s.after);
    stk_free(s.calls);
    return ok;
}

static bool sweep_queues(const struct stk_analysis *view, struct launch_partial *out)
{
    struct stk_spans selected;
    bool ok = true;
    stk_spans_init(&selected);
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        struct stk_queue queue;
        ok = stk_queue_collect(view, d, &selected, &queue);
        if (ok) {
            out->bin_counts[d] = stk_queue_bins(&queue, out->bins[d], QUEUE_BINS);
        }
        stk_queue_deinit(&queue);
    }
    stk_spans_deinit(&selected);
    return ok;
}

static enum stoker_status launches_see(const struct stk_analysis *view, struct stk_arena *arena,
                                       void **partial, struct stoker_err *err)
{
    size_t devices = (size_t)view->sum->device_count + 1;
    struct launch_partial *out = stk_arena_alloc(arena, sizeof *out);
    struct stk_name_cache names;
    if (!out) {
        return stk_err_nomem(err);
    }
    out->rows = stk_arena_array(arena, devices, sizeof *out->rows);
    out->bins = stk_arena_array(arena, devices, sizeof *out->bins);
    out->bin_counts = stk_arena_array(arena, devices, sizeof *out->bin_counts);
    if (!out->rows || !out->bins || !out->bin_counts || !sweep_delays(view, out) ||
        !sweep_queues(view, out) || !stk_name_cache_init(&names, view->t, arena)) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = stk_launch_regions_find(view, &names, arena, &out->regions, err);
    if (status == STOKER_OK) {
        status = stk_calls_sum(view, &names, arena, &out->calls, err);
    }
    stk_name_cache_deinit(&names);
    out->base_ns = view->sum->base_ns;
    *partial = status == STOKER_OK ? out : NULL;
    return status;
}

#define LAUNCHES_COLUMNS(C, R)                                                                     \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, count, COUNT,                                                                             \
      "kernels with a recorded launch call, including collectives; the other columns "             \
      "cover these")                                                                               \
    C(R, median_ns, NS,                                                                            \
      "delay from the start of the launch call to the start of its kernel: lower median")          \
    C(R, p95_ns, NS, "95th percentile of this delay, nearest rank")                                \
    C(R, max_ns, NS, "longest of these delays")                                                    \
    C(R, after_call_median_ns, NS,                                                                 \
      "lower median from the end of the launch call to the start of its kernel; negative "         \
      "if the kernel starts while the call still runs")                                            \
    C(R, launch_bound_share, SHARE,                                                                \
      "share of these kernels whose launch call started after the device had run dry")             \
    C(R, queue_full_ns, NS,                                                                        \
      "time in launch calls over 10 times the median while the device was busy: they "             \
      "waited for room in the queue",                                                              \
      .is_detail = true)
STK_TABLE(launches, "From launch call to kernel", LAUNCHES_COLUMNS)

#define QUEUE_COLUMNS(C, R)                                                                        \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, start_ns, NS, "start of this interval: each device's queue is cut into 20 equal ones")    \
    C(R, dur_ns, NS, "length of this interval")                                                    \
    C(R, mean_depth, REAL,                                                                         \
      "operations launched but not yet started: mean over this interval, from the start "          \
      "of the launch call to the start of the operation")                                          \
    C(R, max_depth, COUNT, "most operations in the queue at once")
STK_TABLE(queue, "Work launched but not yet started, over time", QUEUE_COLUMNS)

#define REGIONS_COLUMNS(C, R)                                                                      \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, start_ns, NS,                                                                             \
      "when the device went idle before the first late operation; a region is 8 or more "          \
      "late operations with at most 3 others in between")                                          \
    C(R, dur_ns, NS, "length up to the end of the last late operation")                            \
    C(R, idle_ns, NS, "idle time right before the late operations, summed")                        \
    C(R, busy_share, SHARE,                                                                        \
      "share of the region in which the device is busy (union of its operations)")                 \
    C(R, kernels, COUNT, "kernels in the region, collectives included")                            \
    C(R, late, COUNT,                                                                              \
      "operations (kernels, copies, memsets) whose launch call started after the device "          \
      "had run dry, before a gap of at most 1 ms")                                                 \
    C(R, thread, TEXT, "host thread that launched the first of them", .is_name = true)             \
    C(R, step, COUNT, "step of the device in which the region starts")
STK_TABLE(regions, "Where the device runs dry waiting for launches", REGIONS_COLUMNS)

#define SLOW_CALLS_COLUMNS(C, R)                                                                   \
    C(R, call, TEXT, "name of the runtime or driver call", .is_name = true)                        \
    C(R, rank, COUNT, STK_DOC_RANK)                                                                \
    C(R, count, COUNT, "calls of the name")                                                        \
    C(R, total_ns, NS, "their durations, summed; a call inside another one counts in both rows")   \
    C(R, median_ns, NS, "lower median of the durations")                                           \
    C(R, p95_ns, NS, "95th percentile of the durations, nearest rank", .is_detail = true)          \
    C(R, max_ns, NS, "longest duration")                                                           \
    C(R, slow_share, SHARE, "share of the calls over 10 times the median")                         \
    C(R, slow_ns, NS, "durations of these slow calls, summed")                                     \
    C(R, device_busy_share, SHARE, "share of `slow_ns` in which a device of the rank was busy",    \
      .is_detail = true)
STK_TABLE(slow_calls, "Runtime calls, and those over 10× their median", SLOW_CALLS_COLUMNS)

static void launches_fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                               struct launch_row *all)
{
    const struct launch_partial *p = rank->partial;
    for (uint32_t d = 0; p && d < rank->device_count; d++) {
        const struct launch_row *l = &p->rows[d];
        all->kernels += l->kernels;
        all->linked += l->linked;
        all->late += l->late;
        all->queue_full_ns += l->queue_full_ns;
        if (l->linked == 0) {
            continue;
        }
        const struct launches_row row = {
            .device = stk_cell_text(rank->devices[d].id),
            .count = stk_cell_number((int64_t)l->linked),
            .median_ns = stk_cell_number(l->median_ns),
            .p95_ns = stk_cell_number(l->p95_ns),
            .max_ns = stk_cell_number(l->max_ns),
            .after_call_median_ns = stk_cell_number(l->after_call_median_ns),
            .launch_bound_share = stk_cell_share_of((int64_t)l->late, (int64_t)l->linked),
            .queue_full_ns = stk_cell_number(l->queue_full_ns),
        };
        stk_table_put(table, &row);
    }
}

// Depths to a hundredth: more says nothing.
static double rounded(double depth)
{
    return depth < 1e12 ? (double)(int64_t)(depth * 100 + 0.5) / 100 : depth;
}

static void fill_queue(struct stk_table *table, const struct stk_rank_sum *rank)
{
    const struct launch_partial *p = rank->partial;
    for (uint32_t d = 0; p && d < rank->device_count; d++) {
        for (size_t i = 0; i < p->bin_counts[d]; i++) {
            const struct stk_queue_bin *b = &p->bins[d][i];
            const struct queue_row row = {
                .device = stk_cell_text(rank->devices[d].id),
                .start_ns = stk_cell_number(b->start_ns + p->base_ns - rank->base_ns),
                .dur_ns = stk_cell_number(b->dur_ns),
                .mean_depth = stk_cell_ratio(rounded(b->mean)),
                .max_depth = stk_cell_number(b->most),
            };
            stk_table_put(table, &row);
        }
    }
}

static void fill_regions(struct stk_table *table, const struct stk_rank_sum *rank)
{
    const struct launch_partial *p = rank->partial;
    for (size_t i = 0; p && i < p->regions.count; i++) {
        const struct stk_launch_region *r = &p->regions.v[i];
        const struct regions_row row = {
            .device = stk_cell_text(rank->devices[r->line].id),
            .start_ns = stk_cell_number(r->start_ns + p->base_ns - rank->base_ns),
            .dur_ns = stk_cell_number(r->dur_ns),
            .idle_ns = stk_cell_number(r->idle_ns),
            .busy_share = stk_cell_share_of(r->busy_ns, r->dur_ns),
            .kernels = stk_cell_number((int64_t)r->kernels),
            .late = stk_cell_number((int64_t)r->late),
            .thread = *r->thread ? stk_cell_text(r->thread) : stk_cell_unknown(),
            .step = r->has_step ? stk_cell_number(r->step) : stk_cell_unknown(),
        };
        stk_table_put(table, &row);
    }
    table->rows_left_out += p ? p->regions.left_out : 0;
}

static void fill_calls(struct stk_table *table, const struct stk_rank_sum *rank)
{
    const struct launch_partial *p = rank->partial;
    for (size_t i = 0; p && i < p->calls.count; i++) {
        const struct stk_call_row *c = &p->calls.v[i];
        const struct slow_calls_row row = {
            .call = stk_cell_text(c->name),
            .rank = rank->rank >= 0 ? stk_cell_number(rank->rank) : stk_cell_unknown(),
            .count = stk_cell_number((int64_t)c->count),
            .total_ns = stk_cell_number(c->total_ns),
            .median_ns = stk_cell_number(c->median_ns),
            .p95_ns = stk_cell_number(c->p95_ns),
            .max_ns = stk_cell_number(c->max_ns),
            .slow_share = stk_cell_share_of((int64_t)c->slow_count, (int64_t)c->count),
            .slow_ns = stk_cell_number(c->slow_ns),
            .device_busy_share = stk_cell_share_of(c->slow_busy_ns, c->slow_ns),
        };
        stk_table_put(table, &row);
    }
}

#define LAUNCHES_FIGURES(C, R)                                                                     \
    C(R, launch_bound_share, SHARE,                                                                \
      "share of linked kernels whose call started after their device had run dry",                 \
      .label = "kernels launched too late")                                                        \
    C(R, queue_full_ns, NS, "`queue_full_ns` of all devices, summed",                              \
      .label = "waiting for a full queue")                                                         \
    C(R, command_buffer_full_ns, NS,                                                               \
      "time recorded as `Command Buffer Full`, when launches wait for room: union per "            \
      "track, summed over the tracks",                                                             \
      .label = "command buffer full")                                                              \
    C(R, linked_share, SHARE, "share of all kernels whose launch call is recorded",                \
      .label = "kernels with a recorded launch")                                                   \
    C(R, regions, COUNT, "regions in which a device runs dry, including those not listed",         \
      .label = "launch-bound regions")                                                             \
    C(R, region_idle_ns, NS, "idle time before the late operations of all these regions, summed",  \
      .label = "idle in these regions")
STK_SUMMARY(launches, LAUNCHES_FIGURES)

static void launches_say_figures(struct stk_table_doc *doc, const struct stk_run_sum *run,
                                 const struct launch_row *all)
{
    uint64_t regions = 0;
    int64_t idle_ns = 0, full_ns = -1;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct launch_partial *p = run->ranks[r]->partial;
        if (!p) {
            continue;
        }
        regions += p->regions.count + p->regions.left_out;
        idle_ns += p->regions.idle_ns;
        if (p->calls.buffer_full_ns >= 0) {
            full_ns = (full_ns < 0 ? 0 : full_ns) + p->calls.buffer_full_ns;
        }
    }
    const struct launches_summary summary = {
        .launch_bound_share = stk_cell_share_of((int64_t)all->late, (int64_t)all->linked),
        .queue_full_ns = all->linked ? stk_cell_number(all->queue_full_ns) : stk_cell_unknown(),
        .command_buffer_full_ns = full_ns >= 0 ? stk_cell_number(full_ns) : stk_cell_unknown(),
        .linked_share = stk_cell_share_of((int64_t)all->linked, (int64_t)all->kernels),
        .regions = all->linked ? stk_cell_number((int64_t)regions) : stk_cell_unknown(),
        .region_idle_ns = all->linked ? stk_cell_number(idle_ns) : stk_cell_unknown(),
    };
    stk_table_summarize(doc, &launches_summary_info, &summary);
}

static const struct stk_missing no_launch_calls = {
    "launch calls of kernels", "no kernel is linked to the runtime call that launched it",
    "record the CPU too: ProfilerActivity.CPU with CUDA in torch.profiler, --trace=cuda in nsys "
    "profile, host_tracer_level 2 in TensorFlow and JAX"};

static void launches_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &launches_table);
    struct stk_table *queue = stk_table_add(doc, &queue_table);
    struct stk_table *regions = stk_table_add(doc, &regions_table);
    struct stk_table *calls = stk_table_add(doc, &slow_calls_table);
    struct launch_row all = {.kernels = 0};
    if (stk_stats_lacks_device(ctx, doc)) {
        return;
    }
    stk_table_keep(calls, "total_ns", ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        launches_fill_rank(table, ctx->run->ranks[r], &all);
        fill_queue(queue, ctx->run->ranks[r]);
        fill_regions(regions, ctx->run->ranks[r]);
        fill_calls(calls, ctx->run->ranks[r]);
    }
    stk_table_sort(table, "count");
    stk_table_sort(regions, "idle_ns");
    stk_table_sort(calls, "total_ns");
    if (all.linked == 0 && all.kernels > 0) {
        stk_table_lacks(doc, &no_launch_calls);
        doc->inconclusive = true;
        return;
    }
    launches_say_figures(doc, ctx->run, &all);
}

const struct stk_stats stk_stats_launches = {
    .name = "launches",
    .question = "Does the device wait for launches?",
    .needs = "kernels, and the runtime calls that launched them",
    .tables = {&launches_table, &queue_table, &regions_table, &slow_calls_table},
    .summary = &launches_summary_info,
    .missing = {&stk_missing_device, &no_launch_calls},
    .hook = {.see = launches_see},
    .describe = launches_describe,
};
