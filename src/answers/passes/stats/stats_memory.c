// SPDX-License-Identifier: Apache-2.0
// What fills the memory, and when?
// Per device and allocator: the memory in use over time, its peak in the selected time, and the
// live memory at these times by the operation that allocated it; per used step, the memory
// allocated and freed. A framework's allocator keeps freed memory, so its reserved memory may be
// far above the memory in use. fragmentation_share is 1 - largest free block / free memory at the
// peak, as the BFC allocator of TensorFlow and JAX records it; PyTorch's profiler does not. Limits:
// the time line keeps the largest value of each of 500 equal parts of the time; peaks are those of
// one allocator each, the summary's that of the device allocator with the largest.
#include "answers/passes/stats/stats_memory.h"

#include "profile/model/median.h"
#include "answers/passes/stats/stats.h"

#define PEAK_COLUMNS(C, R)                                                                         \
    C(R, device, TEXT, "device, as the report names it: `rank/ordinal`, or `rank/host`")           \
    C(R, allocator, TEXT, "name of the allocator", .is_detail = true)                              \
    C(R, op, TEXT,                                                                                 \
      "operation that asked for the memory; `(before the profile)`: allocated earlier; "           \
      "`(held by the program)`: outside the heap, for a running XLA program",                      \
      .is_name = true)                                                                             \
    C(R, bytes, BYTES, "bytes in use at this allocator's peak")                                    \
    C(R, peak_share, SHARE, "share of all bytes in use at that peak")                              \
    C(R, blocks, COUNT, "blocks in use at that peak")
STK_TABLE(peak, "In use at the peak, by operation", PEAK_COLUMNS)

#define STEPS_COLUMNS(C, R)                                                                        \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)                                             \
    C(R, step, COUNT, "number of the used step")                                                   \
    C(R, allocations, COUNT,                                                                       \
      "allocations in the step, of GPU memory (of CPU memory if that is all that was recorded)")   \
    C(R, allocated_bytes, BYTES, "bytes that they allocated, summed")                              \
    C(R, freed_bytes, BYTES, "bytes freed in the step, summed")                                    \
    C(R, peak_bytes, BYTES, "peak memory of the step, over all allocators of the rank")            \
    C(R, end_bytes, BYTES, "bytes in use at the step's last allocator event")
STK_TABLE(steps, "Used steps", STEPS_COLUMNS)

#define TIMELINE_COLUMNS(C, R)                                                                     \
    C(R, device, TEXT, "device, as the report names it: `rank/ordinal`, or `rank/host`")           \
    C(R, t_ns, NS, "time of the value: the largest one in each of 500 equal intervals")            \
    C(R, bytes, BYTES, "bytes in use at that time")                                                \
    C(R, reserved_bytes, BYTES,                                                                    \
      "bytes that the allocator has reserved at that time, in use or not")                         \
    C(R, allocator, TEXT, "name of the allocator", .is_detail = true)
STK_TABLE(timeline, "In use over time", TIMELINE_COLUMNS)

#define LIVE_COLUMNS(C, R)                                                                         \
    C(R, device, TEXT, "device, as the report names it: `rank/ordinal`, or `rank/host`")           \
    C(R, t_ns, NS, "time, one of those in the table `timeline`")                                   \
    C(R, op, TEXT,                                                                                 \
      "operation that asked for the memory: the eight that hold most, and memory from "            \
      "before, as in `peak`",                                                                      \
      .is_name = true)                                                                             \
    C(R, bytes, BYTES, "bytes of it in use at that time")                                          \
    C(R, blocks, COUNT, "blocks of it in use at that time")                                        \
    C(R, allocator, TEXT, "name of the allocator", .is_detail = true)
STK_TABLE(live, "In use over time, by the operations that use most", LIVE_COLUMNS)

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

static struct stk_cell op_of(const struct stk_memory_live *live)
{
    return stk_cell_text(live->origin == STK_MEMORY_OLDER     ? "(before the profile)"
                         : live->origin == STK_MEMORY_PROGRAM ? "(held by the program)"
                                                              : live->op);
}

static void fill_peak(struct stk_table *table, const struct stk_memory_pool *pool, const char *id)
{
    for (uint32_t i = 0; i < pool->live_count; i++) {
        const struct stk_memory_live *live = &pool->live[i];
        const struct peak_row row = {
            .device = stk_cell_text(id),
            .allocator = stk_cell_text(pool->allocator),
            .op = op_of(live),
            .bytes = stk_cell_number(live->bytes),
            .peak_share = stk_cell_share_of(
                live->bytes < pool->peak_bytes ? live->bytes : pool->peak_bytes, pool->peak_bytes),
            .blocks = live->blocks ? stk_cell_number((int64_t)live->blocks) : stk_cell_unknown(),
        };
        stk_table_put(table, &row);
    }
}

static void fill_timeline(struct stk_table *table, const struct stk_memory_pool *pool,
                          const char *id, int64_t shift_ns)
{
    for (uint32_t i = 0; i < pool->point_count; i++) {
        const struct stk_memory_point *p = &pool->points[i];
        const struct timeline_row row = {
            .device = stk_cell_text(id),
            .t_ns = stk_cell_number(p->t_ns + shift_ns),
            .bytes = stk_cell_number(p->bytes),
            .reserved_bytes = p->reserved_bytes >= p->bytes ? stk_cell_number(p->reserved_bytes)
                                                            : stk_cell_unknown(),
            .allocator = stk_cell_text(pool->allocator),
        };
        stk_table_put(table, &row);
    }
}

static void fill_live(struct stk_table *table, const struct stk_memory_sums *m,
                      const struct stk_memory_pool *pool, const char *id, int64_t shift_ns)
{
    for (uint32_t i = 0; i < pool->point_count; i++) {
        const struct stk_memory_point *p = &pool->points[i];
        for (uint32_t k = p->live_first; k < p->live_first + p->live_count; k++) {
            const struct stk_memory_live *live = &m->live[k];
            const struct live_row row = {
                .device = stk_cell_text(id),
                .t_ns = stk_cell_number(p->t_ns + shift_ns),
                .op = op_of(live),
                .bytes = stk_cell_number(live->bytes),
                .blocks =
                    live->blocks ? stk_cell_number((int64_t)live->blocks) : stk_cell_unknown(),
                .allocator = stk_cell_text(pool->allocator),
            };
            stk_table_put(table, &row);
        }
    }
}

// The usual change from the end of a step to the end of the next: a leak grows every time.
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
        const struct steps_row row = {
            .rank = stk_cell_number(rank->rank < 0 ? 0 : rank->rank),
            .step = stk_cell_number(s->number),
            .allocations = stk_cell_number((int64_t)s->allocations),
            .allocated_bytes = stk_cell_number(s->allocated_bytes),
            .freed_bytes = stk_cell_number(s->freed_bytes),
            .peak_bytes = stk_cell_number(s->peak_bytes),
            .end_bytes = stk_cell_number(s->end_bytes),
        };
        stk_table_put(table, &row);
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

static bool memory_fill_rank(const struct stk_pass_ctx *ctx, const struct stk_rank_sum *rank,
                             struct stk_table *tables[4], struct memory_totals *all)
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
        if (!id) {
            return false;
        }
        fill_peak(tables[0], pool, id);
        fill_timeline(tables[2], pool, id, shift_ns);
        fill_live(tables[3], m, pool, id, shift_ns);
    }
    all->on_host |= m->steps_on_host;
    return fill_steps(ctx, tables[1], rank, m, all);
}

#define MEMORY_FIGURES(C, R)                                                                       \
    C(R, peak_device, TEXT,                                                                        \
      "device whose allocator has the highest peak; the CPU if no GPU memory was recorded",        \
      .label = "device with the highest peak")                                                     \
    C(R, peak_bytes, BYTES, "bytes in use at that peak", .label = "peak memory")                   \
    C(R, peak_t_ns, NS, "time of that peak", .label = "peak at")                                   \
    C(R, capacity_share, SHARE, "peak as a share of the device's memory",                          \
      .label = "peak, share of capacity")                                                          \
    C(R, reserved_bytes, BYTES,                                                                    \
      "bytes that this allocator has reserved at the peak, in use or not",                         \
      .label = "reserved at the peak")                                                             \
    C(R, fragmentation_share, SHARE,                                                               \
      "1 - largest free block / free memory of this allocator, at the peak",                       \
      .label = "fragmentation at the peak")                                                        \
    C(R, allocations, COUNT, "allocations of all allocators in the selected time")                 \
    C(R, allocations_per_step, COUNT, "allocations per used step, mean, rounded down",             \
      .label = "allocations per step")                                                             \
    C(R, growth_per_step_bytes, BYTES,                                                             \
      "change of the bytes in use between the ends of consecutive steps: lower median, on "        \
      "the rank where it is largest; 0 if it doesn't grow",                                        \
      .label = "growth per step")                                                                  \
    C(R, device_malloc_calls, COUNT, "runtime calls that allocate or free GPU or pinned memory",   \
      .label = "driver allocations")
STK_SUMMARY(memory, MEMORY_FIGURES)

static void memory_say_figures(const struct stk_pass_ctx *ctx, const struct memory_totals *all,
                               struct stk_table_doc *doc)
{
    const struct stk_memory_pool *top = all->top;
    const struct stk_facts *facts = &ctx->run->facts;
    struct stk_cell unknown = stk_cell_unknown();
    const struct memory_summary summary = {
        .peak_device = stk_cell_text(device_id(ctx, all->top_rank, top->device)),
        .peak_bytes = stk_cell_number(top->peak_bytes),
        .peak_t_ns = stk_cell_number(all->top_ns),
        .capacity_share = top->capacity_bytes >= top->peak_bytes
                              ? stk_cell_share_of(top->peak_bytes, top->capacity_bytes)
                              : unknown,
        .reserved_bytes = top->reserved_bytes >= 0 ? stk_cell_number(top->reserved_bytes) : unknown,
        .fragmentation_share =
            top->fragmentation_share >= 0 ? stk_cell_ratio(top->fragmentation_share) : unknown,
        .allocations = stk_cell_number((int64_t)all->allocations),
        .allocations_per_step =
            all->steps ? stk_cell_number((int64_t)(all->step_allocations / all->steps)) : unknown,
        .growth_per_step_bytes =
            all->growth_bytes >= 0 ? stk_cell_number(all->growth_bytes) : unknown,
        .device_malloc_calls =
            facts->has_runtime ? stk_cell_number((int64_t)facts->alloc_calls) : unknown,
    };
    stk_table_summarize(doc, &memory_summary_info, &summary);
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

static const struct stk_missing no_events = {
    "allocator events", "none in the selected part of the profile",
    "profile_memory=True in torch.profiler; "
    "nsys profile --cuda-memory-usage=true; TensorFlow and JAX record them "
    "with their BFC allocator at host_tracer_level 2"};
static const struct stk_missing silent_device = {
    "memory of the device", "its allocator reported nothing: a different one may be in use",
    "record with the framework's caching allocator, or with "
    "nsys profile --cuda-memory-usage=true"};
static const struct stk_missing no_device = {
    "memory of a device", "the profile has no device",
    "profile a part that runs on a GPU, with profile_memory=True"};
static const struct stk_missing no_beginning = {
    "what was allocated before the profile started",
    "only changes are recorded: all sizes are lower bounds",
    "start the profiler before the model is built; newer PyTorch versions record the whole size"};
static const struct stk_missing no_addresses = {
    "what was live at the peak", "the events have no addresses, so frees can't be matched",
    "record with PyTorch 1.13 or newer"};
static const struct stk_missing no_fragmentation = {
    "fragmentation", "the profile doesn't say how large free blocks are",
    "torch.cuda.memory_snapshot() shows the blocks of PyTorch's allocator"};

static void memory_say_missing(const struct stk_pass_ctx *ctx, const struct memory_totals *all,
                               struct stk_table_doc *doc)
{
    if (!all->any) {
        stk_table_lacks(doc, &no_events);
        doc->inconclusive = true;
        return;
    }
    if (all->top->device < 0 && ran_on_device(ctx)) {
        stk_table_lacks(doc, &silent_device);
    } else if (all->top->device < 0) {
        stk_table_lacks(doc, &no_device);
    }
    if (all->relative) {
        stk_table_lacks(doc, &no_beginning);
    }
    if (all->unmatched) {
        stk_table_lacks(doc, &no_addresses);
    }
    if (all->top->fragmentation_share < 0) {
        stk_table_lacks(doc, &no_fragmentation);
    }
}

static void memory_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *tables[] = {stk_table_add(doc, &peak_table), stk_table_add(doc, &steps_table),
                                  stk_table_add(doc, &timeline_table),
                                  stk_table_add(doc, &live_table)};
    struct memory_totals all = {.growth_bytes = -1};
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        doc->ran_out |= !memory_fill_rank(ctx, ctx->run->ranks[r], tables, &all);
    }
    stk_table_sort(tables[0], "bytes");
    if (all.any) {
        memory_say_figures(ctx, &all, doc);
    }
    memory_say_missing(ctx, &all, doc);
}

const struct stk_stats stk_stats_memory = {
    .name = "memory",
    .question = "What fills the memory, and when?",
    .needs = "allocator events",
    .tables = {&peak_table, &steps_table, &timeline_table, &live_table},
    .summary = &memory_summary_info,
    .missing = {&no_events, &silent_device, &no_device, &no_beginning, &no_addresses,
                &no_fragmentation},
    .hook = {.see = stk_memory_sums_see, .wants = STK_WANT_MEMORY},
    .describe = memory_describe,
};
