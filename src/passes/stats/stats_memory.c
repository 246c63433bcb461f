// SPDX-License-Identifier: Apache-2.0
// What fills the memory, and when?
// Per device and allocator: the memory in use over time, its peak in the selected time, and what
// was live there by the operation that asked for it; per used step what was allocated and freed. A
// framework's allocator keeps freed memory for itself: what it holds (reserved) may be far above
// what is in use. fragmentation_share is 1 - largest free block / free memory at the peak, as the
// BFC allocator of TensorFlow and JAX records it; PyTorch's profiler does not.
// Limits: the time line keeps the largest value of each of 500 equal parts of the time; peaks are
// those of one allocator each, the summary's that of the device allocator with the largest.
#include "passes/stats/stats_memory.h"

#include "model/median.h"
#include "passes/stats/stats.h"

static const struct stk_column peak_columns[] = {
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "allocator", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "op", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "peak_share", .type = STK_CELL_SHARE},
    {.id = "blocks", .type = STK_CELL_COUNT},
};
static const struct stk_column step_columns[] = {
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "step", .type = STK_CELL_COUNT},
    {.id = "allocations", .type = STK_CELL_COUNT},
    {.id = "allocated_bytes", .type = STK_CELL_BYTES},
    {.id = "freed_bytes", .type = STK_CELL_BYTES},
    {.id = "peak_bytes", .type = STK_CELL_BYTES},
    {.id = "end_bytes", .type = STK_CELL_BYTES},
};
static const struct stk_column timeline_columns[] = {
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "t_ns", .type = STK_CELL_NS},
    {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "reserved_bytes", .type = STK_CELL_BYTES},
    {.id = "allocator", .type = STK_CELL_TEXT, .is_detail = true},
};

struct memory_totals {
    const struct stk_memory_pool *top; // the device pool with the largest peak, else of the host
    const struct stk_rank_sum *top_rank;
    int64_t top_ns; // of its peak, on the clock of all ranks
    uint64_t allocations, step_allocations;
    uint32_t steps;
    int64_t growth_bytes; // from one step to the next, of the rank where it is largest; -1 unknown
    bool any, relative, unmatched, on_host;
};

// Id of the pool's device in the report; host memory has none there. NULL: no memory.
static const char *device_id(const struct stk_pass_ctx *ctx, const struct stk_rank_sum *rank,
                             int64_t device)
{
    int number = rank->rank < 0 ? 0 : (int)rank->rank;
    for (uint32_t d = 0; d < rank->device_count; d++) {
        if (rank->devices[d].ordinal == device) {
            return rank->devices[d].id;
        }
    }
    return device < 0 ? stk_arena_printf(ctx->arena, "%d/host", number)
                      : stk_arena_printf(ctx->arena, "%d/%lld", number, (long long)device);
}

static bool fill_peak(struct stk_table *table, const struct stk_memory_pool *pool, const char *id)
{
    for (uint32_t i = 0; i < pool->live_count; i++) {
        const struct stk_memory_live *live = &pool->live[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(id);
        row[1] = stk_cell_text(pool->allocator);
        row[2] = stk_cell_text(live->origin == STK_MEMORY_OLDER     ? "(before the profile)"
                               : live->origin == STK_MEMORY_PROGRAM ? "(held by the program)"
                                                                    : live->op);
        row[3] = stk_cell_number(live->bytes);
        row[4] = stk_cell_share_of(live->bytes < pool->peak_bytes ? live->bytes : pool->peak_bytes,
                                   pool->peak_bytes);
        row[5] = live->blocks ? stk_cell_number((int64_t)live->blocks) : stk_cell_unknown();
    }
    return true;
}

static bool fill_timeline(struct stk_table *table, const struct stk_memory_pool *pool,
                          const char *id, int64_t shift_ns)
{
    for (uint32_t i = 0; i < pool->point_count; i++) {
        const struct stk_memory_point *p = &pool->points[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(id);
        row[1] = stk_cell_number(p->t_ns + shift_ns);
        row[2] = stk_cell_number(p->bytes);
        row[3] =
            p->reserved_bytes >= p->bytes ? stk_cell_number(p->reserved_bytes) : stk_cell_unknown();
        row[4] = stk_cell_text(pool->allocator);
    }
    return true;
}

// The usual change from the end of a step to the end of the next: one that leaks grows every time.
static bool add_growth(const struct stk_pass_ctx *ctx, const struct stk_memory_sums *m,
                       struct memory_totals *all)
{
    if (m->step_count < 3) {
        return true;
    }
    int64_t *changes = stk_arena_array(ctx->arena, m->step_count, sizeof *changes);
    if (!changes) {
        return false;
    }
    for (uint32_t i = 1; i < m->step_count; i++) {
        changes[i - 1] = m->steps[i].end_bytes - m->steps[i - 1].end_bytes;
    }
    int64_t median = stk_median_low(changes, m->step_count - 1);
    median = median > 0 ? median : 0;
    all->growth_bytes = median > all->growth_bytes ? median : all->growth_bytes;
    return true;
}

static bool fill_steps(const struct stk_pass_ctx *ctx, struct stk_table *table,
                       const struct stk_rank_sum *rank, const struct stk_memory_sums *m,
                       struct memory_totals *all)
{
    for (uint32_t i = 0; i < m->step_count; i++) {
        const struct stk_memory_step *s = &m->steps[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_number(rank->rank < 0 ? 0 : rank->rank);
        row[1] = stk_cell_number(s->number);
        row[2] = stk_cell_number((int64_t)s->allocations);
        row[3] = stk_cell_number(s->allocated_bytes);
        row[4] = stk_cell_number(s->freed_bytes);
        row[5] = stk_cell_number(s->peak_bytes);
        row[6] = stk_cell_number(s->end_bytes);
        all->step_allocations += s->allocations;
    }
    all->steps += m->step_count;
    return add_growth(ctx, m, all);
}

static void add_pool(struct memory_totals *all, const struct stk_rank_sum *rank,
                     const struct stk_memory_pool *pool, int64_t shift_ns)
{
    all->any |= pool->peak_bytes >= 0;
    all->allocations += pool->allocations;
    all->relative |= !pool->is_absolute;
    all->unmatched |= !pool->has_addresses;
    if (pool->peak_bytes < 0) {
        return;
    }
    bool on_device = pool->device >= 0, held = all->top && all->top->device >= 0;
    if (!all->top || (on_device && !held) ||
        (on_device == held && pool->peak_bytes > all->top->peak_bytes)) {
        all->top = pool;
        all->top_rank = rank;
        all->top_ns = pool->peak_ns + shift_ns;
    }
}

static bool fill_rank(const struct stk_pass_ctx *ctx, const struct stk_rank_sum *rank,
                      struct stk_table *tables[3], struct memory_totals *all)
{
    const struct stk_memory_sums *m = rank->partial;
    if (!m) {
        return true;
    }
    int64_t shift_ns = m->base_ns - rank->base_ns; // onto the clock of all ranks
    for (uint32_t i = 0; i < m->pool_count; i++) {
        const struct stk_memory_pool *pool = &m->pools[i];
        const struct stk_select *select = ctx->select;
        if (select->has_device && pool->device != select->device) {
            continue;
        }
        const char *id = device_id(ctx, rank, pool->device);
        add_pool(all, rank, pool, shift_ns);
        if (!id || !fill_peak(tables[0], pool, id) ||
            !fill_timeline(tables[2], pool, id, shift_ns)) {
            return false;
        }
    }
    all->on_host |= m->steps_on_host;
    return fill_steps(ctx, tables[1], rank, m, all);
}

static void say_figures(const struct stk_pass_ctx *ctx, const struct memory_totals *all,
                        struct stk_table_doc *doc)
{
    const struct stk_memory_pool *top = all->top;
    const struct stk_facts *facts = &ctx->run->facts;
    struct stk_cell unknown = stk_cell_unknown();
    stk_table_figure(doc, "peak_device", STK_CELL_TEXT,
                     stk_cell_text(device_id(ctx, all->top_rank, top->device)));
    stk_table_figure(doc, "peak_bytes", STK_CELL_BYTES, stk_cell_number(top->peak_bytes));
    stk_table_figure(doc, "peak_t_ns", STK_CELL_NS, stk_cell_number(all->top_ns));
    stk_table_figure(doc, "capacity_share", STK_CELL_SHARE,
                     top->capacity_bytes >= top->peak_bytes
                         ? stk_cell_share_of(top->peak_bytes, top->capacity_bytes)
                         : unknown);
    stk_table_figure(doc, "reserved_bytes", STK_CELL_BYTES,
                     top->reserved_bytes >= 0 ? stk_cell_number(top->reserved_bytes) : unknown);
    stk_table_figure(doc, "fragmentation_share", STK_CELL_SHARE,
                     top->fragmentation_share >= 0 ? stk_cell_ratio(top->fragmentation_share)
                                                   : unknown);
    stk_table_figure(doc, "allocations", STK_CELL_COUNT,
                     stk_cell_number((int64_t)all->allocations));
    stk_table_figure(doc, "allocations_per_step", STK_CELL_COUNT,
                     all->steps ? stk_cell_number((int64_t)(all->step_allocations / all->steps))
                                : unknown);
    stk_table_figure(doc, "growth_per_step_bytes", STK_CELL_BYTES,
                     all->growth_bytes >= 0 ? stk_cell_number(all->growth_bytes) : unknown);
    stk_table_figure(doc, "device_malloc_calls", STK_CELL_COUNT,
                     facts->has_runtime ? stk_cell_number((int64_t)facts->alloc_calls) : unknown);
}

static bool ran_on_device(const struct stk_pass_ctx *ctx)
{
    for (uint32_t d = 0; d < ctx->run->device_count; d++) {
        if (ctx->run->devices[d].ops > 0) {
            return true;
        }
    }
    return false;
}

static void say_missing(const struct stk_pass_ctx *ctx, const struct memory_totals *all,
                        struct stk_table_doc *doc)
{
    if (!all->any) {
        stk_table_lacks(doc, "allocator events", "none in the selected part of the profile",
                        "profile_memory=True in torch.profiler; "
                        "nsys profile --cuda-memory-usage=true; TensorFlow and JAX record them "
                        "with their BFC allocator at host_tracer_level 2");
        doc->inconclusive = true;
        return;
    }
    if (all->top->device < 0 && ran_on_device(ctx)) {
        stk_table_lacks(doc, "memory of the device",
                        "its allocator reported nothing: another one may be in its place",
                        "record with the framework's caching allocator, or with "
                        "nsys profile --cuda-memory-usage=true");
    } else if (all->top->device < 0) {
        stk_table_lacks(doc, "memory of a device", "the profile holds no device",
                        "profile a part that runs on one, with profile_memory=True");
    }
    if (all->relative) {
        stk_table_lacks(doc, "what was allocated before the profile began",
                        "only changes are recorded: all sizes are at least what is shown",
                        "start the profiler before the model is built; newer versions of PyTorch "
                        "record the whole size");
    }
    if (all->unmatched) {
        stk_table_lacks(doc, "what was live at the peak",
                        "the events hold no address, so frees cannot be matched",
                        "record with PyTorch 1.13 or newer");
    }
    if (all->top->fragmentation_share < 0) {
        stk_table_lacks(doc, "fragmentation", "the profile does not say how large free blocks are",
                        "torch.cuda.memory_snapshot() shows the blocks of PyTorch's allocator");
    }
}

static enum stk_status memory_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                       struct stk_err *err)
{
    struct stk_table *tables[] = {
        stk_table_add(doc, "peak", "In use at the peak, by operation", peak_columns,
                      sizeof peak_columns / sizeof peak_columns[0]),
        stk_table_add(doc, "steps", "Used steps", step_columns,
                      sizeof step_columns / sizeof step_columns[0]),
        stk_table_add(doc, "timeline", "In use over time", timeline_columns,
                      sizeof timeline_columns / sizeof timeline_columns[0])};
    struct memory_totals all = {.growth_bytes = -1};
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        if (!fill_rank(ctx, ctx->run->ranks[r], tables, &all)) {
            return stk_err_nomem(err);
        }
    }
    if (!stk_table_sort(tables[0], "bytes")) {
        return stk_err_nomem(err);
    }
    if (all.any) {
        say_figures(ctx, &all, doc);
    }
    say_missing(ctx, &all, doc);
    return STK_OK;
}

const struct stk_stats stk_stats_memory = {
    .name = "memory",
    .question = "What fills the memory, and when?",
    .needs = "allocator events",
    .hook = {.see = stk_memory_sums_see, .wants = STK_WANT_MEMORY},
    .describe = memory_describe,
};
