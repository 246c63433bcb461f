// SPDX-License-Identifier: Apache-2.0
// Which operations of the model take the time, on the host and on the device?
// ops: per operation, where it ran and how it was issued (mode; "mixed": in several ways); modes:
// device time by how it was issued; op_kernels and copies: the device work launched by each
// operation; host_islands: operations that ran on the host while the device waited for their
// result. What counts, and its limits: answers/passes/op_sums.c, stats_op_work.c,
// stats_op_islands.c.
#include "base/alloc.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_ops.h"
#include "answers/passes/stats/stats_ops_by.h"

static enum stoker_status ops_see(const struct stk_analysis *view, struct stk_arena *arena,
                                  void **partial, struct stoker_err *err)
{
    struct stk_op_details *out = stk_arena_alloc(arena, sizeof *out);
    struct stk_op_sums *sums = NULL;
    uint32_t *owner = NULL;
    if (!out) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = stk_op_sums_make(view, false, arena, &sums, &owner, err);
    out->sums = sums;
    if (status == STOKER_OK && (!stk_op_work_sum(view, owner, arena, out) ||
                                !stk_op_islands_find(view, owner, arena, out))) {
        status = stk_err_nomem(err);
    }
    stk_free(owner);
    *partial = status == STOKER_OK ? out : NULL;
    return status;
}

#define OPS_COLUMNS(C, R)                                                                          \
    C(R, name, TEXT, "name of the operation", .is_name = true)                                     \
    C(R, placement, TEXT,                                                                          \
      "host: operators on CPU threads; device: GPU work by the innermost operator around "         \
      "its launch call, or by its own name")                                                       \
    C(R, mode, TEXT,                                                                               \
      "how it was launched: eager, function, compiled, xla, graph (as table `modes` "              \
      "explains), mixed",                                                                          \
      .is_detail = true)                                                                           \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)                                             \
    C(R, count, COUNT, "how often it ran")                                                         \
    C(R, total_ns, NS, "durations, summed; a nested call of the same name counts once")            \
    C(R, self_ns, NS, "durations without the operations nested inside, summed")                    \
    C(R, device_ns, NS, "durations of the GPU work launched inside, at any depth, summed")
STK_TABLE(ops, "Operations by self time", OPS_COLUMNS)

#define MODES_COLUMNS(C, R)                                                                        \
    C(R, mode, TEXT, "how GPU work was launched; empty if unknown")                                \
    C(R, meaning, TEXT, "what that is")                                                            \
    C(R, count, COUNT, "device operations")                                                        \
    C(R, device_ns, NS, "their durations, summed")                                                 \
    C(R, device_share, SHARE, "share of the durations of all device operations")
STK_TABLE(modes, "GPU time by how it was launched", MODES_COLUMNS)

#define OP_KERNELS_COLUMNS(C, R)                                                                   \
    C(R, op, TEXT, "innermost operator around the launch call", .is_name = true)                   \
    C(R, kernel, TEXT, "kernel, collective or memset", .is_name = true)                            \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)                                             \
    C(R, count, COUNT, "how often the operation launched it")                                      \
    C(R, total_ns, NS, "durations, summed")                                                        \
    C(R, op_share, SHARE, "share of the durations of all kernels of the operation")
STK_TABLE(op_kernels, "Kernels under each operation", OP_KERNELS_COLUMNS)

#define COPIES_COLUMNS(C, R)                                                                       \
    C(R, op, TEXT,                                                                                 \
      "innermost operator around the launch call; unknown without one, or if no launch "           \
      "was recorded",                                                                              \
      .is_name = true)                                                                             \
    C(R, device, TEXT, STK_DOC_DEVICE, .is_detail = true)                                          \
    C(R, direction, TEXT, "h2d, d2h, d2d, p2p (between devices), h2h, or unknown")                 \
    C(R, count, COUNT, "copies of the row")                                                        \
    C(R, bytes, BYTES, "recorded sizes, summed")                                                   \
    C(R, total_ns, NS, "durations, summed")                                                        \
    C(R, exposed_ns, NS,                                                                           \
      "union of the row's copies, minus what kernels and collectives of the device overlap")
STK_TABLE(copies, "Copies by the operation that asked for them", COPIES_COLUMNS)

#define HOST_ISLANDS_COLUMNS(C, R)                                                                 \
    C(R, op, TEXT,                                                                                 \
      "longest operation of the model inside; an island is CPU work between a "                    \
      "device-to-host copy and the host-to-device copy that follows it directly",                  \
      .is_name = true)                                                                             \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)                                             \
    C(R, count, COUNT, "islands named after the operation")                                        \
    C(R, copies, COUNT, "device-to-host and host-to-device copies around them")                    \
    C(R, bytes, BYTES, "recorded sizes of these copies, summed")                                   \
    C(R, host_ns, NS, "durations of all operations inside, summed", .is_detail = true)             \
    C(R, total_ns, NS, "lengths of the islands, summed")                                           \
    C(R, step_share, SHARE, "share of the used steps' wall time in islands")
STK_TABLE(host_islands, "Operations on the CPU between two copies", HOST_ISLANDS_COLUMNS)

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const struct {
    const char *key, *meaning;
} modes[STK_MODE_COUNT] = {
    [STK_MODE_UNKNOWN] = {NULL, "not recorded"},
    [STK_MODE_EAGER] = {"eager", "one operator at a time"},
    [STK_MODE_FUNCTION] = {"function", "TensorFlow's graph executor"},
    [STK_MODE_COMPILED] = {"compiled", "code of torch.compile"},
    [STK_MODE_XLA] = {"xla", "XLA executables"},
    [STK_MODE_GRAPH] = {"graph", "replayed device graphs"},
};

static struct stk_cell mode_cell(uint8_t seen)
{
    if ((seen & (seen - 1)) != 0) {
        return stk_cell_text("mixed");
    }
    for (int m = 0; m < STK_MODE_COUNT; m++) {
        if (seen == 1u << m) {
            return stk_cell_text(modes[m].key);
        }
    }
    return stk_cell_unknown();
}

static void fill_ops(struct stk_table *table, const struct stk_rank_sum *rank)
{
    const struct stk_op_details *p = rank->partial;
    for (size_t i = 0; p && i < p->sums->count; i++) {
        const struct stk_op_row *o = &p->sums->rows[i];
        const struct ops_row row = {
            .name = stk_cell_text(o->name),
            .placement = stk_cell_text(o->on_device ? "device" : "host"),
            .mode = mode_cell(o->modes),
            .rank = stk_cell_number(rank->rank),
            .count = stk_cell_number((int64_t)o->count),
            .total_ns = stk_cell_number(o->total_ns),
            .self_ns = stk_cell_number(o->self_ns),
            .device_ns = stk_cell_number(o->device_ns),
        };
        stk_table_put(table, &row);
    }
}

static void fill_modes(struct stk_table *table, const struct stk_op_sums *all)
{
    for (int m = 0; m < STK_MODE_COUNT; m++) {
        if (all->mode_ops[m] == 0) {
            continue;
        }
        const struct modes_row row = {
            .mode = stk_cell_text(modes[m].key),
            .meaning = stk_cell_text(modes[m].meaning),
            .count = stk_cell_number((int64_t)all->mode_ops[m]),
            .device_ns = stk_cell_number(all->mode_ns[m]),
            .device_share = stk_cell_share_of(all->mode_ns[m], all->device_ns),
        };
        stk_table_put(table, &row);
    }
}

static void fill_kernels(struct stk_table *table, const struct stk_rank_sum *rank)
{
    const struct stk_op_details *p = rank->partial;
    for (size_t i = 0; p && i < p->kernel_count; i++) {
        const struct stk_op_kernel *k = &p->kernels[i];
        const struct op_kernels_row row = {
            .op = stk_cell_text(k->op),
            .kernel = stk_cell_text(k->kernel),
            .rank = stk_cell_number(rank->rank),
            .count = stk_cell_number((int64_t)k->count),
            .total_ns = stk_cell_number(k->total_ns),
            .op_share = stk_cell_share_of(k->total_ns, k->op_ns),
        };
        stk_table_put(table, &row);
    }
}

static struct stk_cell bytes_cell(int64_t bytes, uint64_t sized)
{
    return sized ? stk_cell_number(bytes) : stk_cell_unknown();
}

static void fill_copies(struct stk_table *table, const struct stk_rank_sum *rank)
{
    static const char *const dirs[] = {"unknown", "h2d", "d2h", "d2d", "p2p", "h2h"};
    const struct stk_op_details *p = rank->partial;
    for (size_t i = 0; p && i < p->copy_count; i++) {
        const struct stk_op_copy *c = &p->copies[i];
        const struct copies_row row = {
            .op = stk_cell_text(c->op),
            .device = stk_cell_text(rank->devices[c->line].id),
            .direction = stk_cell_text(dirs[c->dir < COUNT_OF(dirs) ? c->dir : 0]),
            .count = stk_cell_number((int64_t)c->count),
            .bytes = bytes_cell(c->bytes, c->sized),
            .total_ns = stk_cell_number(c->total_ns),
            .exposed_ns = stk_cell_number(c->exposed_ns),
        };
        stk_table_put(table, &row);
    }
}

static void fill_islands(struct stk_table *table, const struct stk_rank_sum *rank,
                         const struct stk_run_sum *run)
{
    const struct stk_op_details *p = rank->partial;
    int64_t wall_ns = run->scope == STK_SCOPE_STEPS ? run->wall_ns : 0;
    for (size_t i = 0; p && i < p->island_count; i++) {
        const struct stk_op_island *o = &p->islands[i];
        const struct host_islands_row row = {
            .op = stk_cell_text(o->op),
            .rank = stk_cell_number(rank->rank),
            .count = stk_cell_number((int64_t)o->count),
            .copies = stk_cell_number((int64_t)o->copies),
            .bytes = bytes_cell(o->bytes, o->sized),
            .host_ns = stk_cell_number(o->host_ns),
            .total_ns = stk_cell_number(o->total_ns),
            .step_share = stk_cell_share_of(o->step_ns, wall_ns),
        };
        stk_table_put(table, &row);
    }
}

static void add_sums(const struct stk_op_details *p, struct stk_op_details *all,
                     struct stk_op_sums *sums)
{
    if (!p) {
        return;
    }
    all->kernel_ns += p->kernel_ns;
    all->owned_ns += p->owned_ns;
    sums->count += p->sums->count;
    sums->host_ns += p->sums->host_ns;
    sums->device_ns += p->sums->device_ns;
    sums->runtime_ns += p->sums->runtime_ns;
    for (int m = 0; m < STK_MODE_COUNT; m++) {
        sums->mode_ns[m] += p->sums->mode_ns[m];
        sums->mode_ops[m] += p->sums->mode_ops[m];
    }
}

#define OPS_FIGURES(C, R)                                                                          \
    C(R, host_self_ns, NS,                                                                         \
      "self time of the operations on the CPU, summed over threads and ranks",                     \
      .label = "CPU time in operators")                                                            \
    C(R, device_self_ns, NS, "durations of the device operations, summed", .label = "GPU time")    \
    C(R, runtime_ns, NS,                                                                           \
      "time of runtime internals (executors, thread pools, buffers) outside all "                  \
      "operations, summed",                                                                        \
      .label = "runtime internals")                                                                \
    C(R, host_share, SHARE, "`host_self_ns` as a share of it and `device_self_ns`",                \
      .label = "CPU share")                                                                        \
    C(R, device_share, SHARE, "`device_self_ns` as a share of it and `host_self_ns`",              \
      .label = "GPU share")                                                                        \
    C(R, eager_share, SHARE, "share of `device_self_ns` launched one operator at a time",          \
      .label = "GPU time launched eagerly")                                                        \
    C(R, compiled_share, SHARE,                                                                    \
      "share of `device_self_ns` launched by TensorFlow's graph executor, torch.compile, "         \
      "XLA or a CUDA graph",                                                                       \
      .label = "GPU time launched by compiled code")
STK_SUMMARY(ops, OPS_FIGURES)

static const struct stk_missing no_owners = {
    "operators around the launches",
    "kernels and copies can't be attributed to the operations that asked for them",
    "record the CPU's operators with the GPU: ProfilerActivity.CPU in torch.profiler, "
    "torch.autograd.profiler.emit_nvtx() under nsys profile --trace=cuda,nvtx"};
static void ops_say_figures(struct stk_table_doc *doc, const struct stk_op_sums *all,
                            const struct stk_op_details *work)
{
    int64_t whole_ns = all->host_ns + all->device_ns, compiled_ns = 0;
    for (int m = STK_MODE_FUNCTION; m < STK_MODE_COUNT; m++) {
        compiled_ns += all->mode_ns[m];
    }
    int64_t known_ns = all->device_ns - all->mode_ns[STK_MODE_UNKNOWN];
    const struct stk_cell unknown = stk_cell_unknown();
    const struct ops_summary summary = {
        .host_self_ns = stk_cell_number(all->host_ns),
        .device_self_ns = stk_cell_number(all->device_ns),
        .runtime_ns = all->runtime_ns > 0 ? stk_cell_number(all->runtime_ns) : unknown,
        .host_share = stk_cell_share_of(all->host_ns, whole_ns),
        .device_share = stk_cell_share_of(all->device_ns, whole_ns),
        .eager_share = known_ns > 0
                           ? stk_cell_share_of(all->mode_ns[STK_MODE_EAGER], all->device_ns)
                           : unknown,
        .compiled_share = known_ns > 0 ? stk_cell_share_of(compiled_ns, all->device_ns) : unknown,
    };
    stk_table_summarize(doc, &ops_summary_info, &summary);
    if (work->kernel_ns > 0 && work->owned_ns == 0) {
        stk_table_lacks(doc, &no_owners);
    }
}

static void ops_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *ops = stk_table_add(doc, &ops_table);
    struct stk_table *by_mode = stk_table_add(doc, &modes_table);
    struct stk_table *kernels = stk_table_add(doc, &op_kernels_table);
    struct stk_table *copies = stk_table_add(doc, &copies_table);
    struct stk_table *islands = stk_table_add(doc, &host_islands_table);
    struct stk_op_sums all = {.count = 0};
    struct stk_op_details work = {.kernel_ns = 0};
    stk_table_keep(ops, "self_ns", ctx->limit);
    stk_table_keep(kernels, "total_ns", ctx->limit);
    stk_table_keep(copies, "total_ns", ctx->limit);
    stk_table_keep(islands, "total_ns", ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct stk_rank_sum *rank = ctx->run->ranks[r];
        fill_ops(ops, rank);
        fill_kernels(kernels, rank);
        fill_copies(copies, rank);
        fill_islands(islands, rank, ctx->run);
        add_sums(rank->partial, &work, &all);
    }
    fill_modes(by_mode, &all);
    stk_table_sort(ops, "self_ns");
    stk_table_sort(by_mode, "device_ns");
    stk_table_sort(kernels, "total_ns");
    stk_table_sort(copies, "total_ns");
    stk_table_sort(islands, "total_ns");
    if (all.count == 0) {
        stk_table_lacks(doc, &stk_ops_keyed_missing);
        doc->inconclusive = true;
        return;
    }
    ops_say_figures(doc, &all, &work);
}

const struct stk_stats stk_stats_ops = {
    .name = "ops",
    .question = "Which operations of the model take the time, on the CPU and on the GPU?",
    .needs = "operators on the CPU, or operations of a device",
    .tables = {&ops_table, &modes_table, &op_kernels_table, &copies_table, &host_islands_table},
    .summary = &ops_summary_info,
    .missing = {&no_owners, &stk_ops_keyed_missing},
    .hook = {.see = ops_see},
    .by = stk_ops_keys,
    .describe = ops_describe,
};
