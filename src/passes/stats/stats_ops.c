// SPDX-License-Identifier: Apache-2.0
// Which operations of the model take the time, on the host and on the device?
// ops: per operation, where it ran and how it was issued (mode; "mixed" where in several ways);
// modes: device time by how it was issued; op_kernels and copies: the device work each operation
// asked for; host_islands: operations that ran on the host while the device waited for their
// result. What counts, and its limits: passes/op_sums.c, stats_op_work.c, stats_op_islands.c.
#include "base/alloc.h"
#include "passes/stats/stats.h"
#include "passes/stats/stats_ops.h"

static enum stk_status ops_see(const struct stk_analysis *view, struct stk_arena *arena,
                               void **partial, struct stk_err *err)
{
    struct stk_op_details *out = stk_arena_alloc(arena, sizeof *out);
    struct stk_op_sums *sums = NULL;
    uint32_t *owner = NULL;
    if (!out) {
        return stk_err_nomem(err);
    }
    enum stk_status status = stk_op_sums_make(view, false, arena, &sums, &owner, err);
    out->sums = sums;
    if (status == STK_OK && (!stk_op_work_sum(view, owner, arena, out) ||
                             !stk_op_islands_find(view, owner, arena, out))) {
        status = stk_err_nomem(err);
    }
    stk_free(owner);
    *partial = status == STK_OK ? out : NULL;
    return status;
}

static const struct stk_column op_columns[] = {
    {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "placement", .type = STK_CELL_TEXT},
    {.id = "mode", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "self_ns", .type = STK_CELL_NS},
    {.id = "device_ns", .type = STK_CELL_NS},
};
static const struct stk_column mode_columns[] = {
    {.id = "mode", .type = STK_CELL_TEXT},          {.id = "meaning", .type = STK_CELL_TEXT},
    {.id = "count", .type = STK_CELL_COUNT},        {.id = "device_ns", .type = STK_CELL_NS},
    {.id = "device_share", .type = STK_CELL_SHARE},
};
static const struct stk_column kernel_columns[] = {
    {.id = "op", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "kernel", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "op_share", .type = STK_CELL_SHARE},
};
static const struct stk_column copy_columns[] = {
    {.id = "op", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "device", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "direction", .type = STK_CELL_TEXT},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "exposed_ns", .type = STK_CELL_NS},
};
static const struct stk_column island_columns[] = {
    {.id = "op", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "copies", .type = STK_CELL_COUNT},
    {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "host_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "step_share", .type = STK_CELL_SHARE},
};
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

static bool fill_ops(struct stk_table *table, const struct stk_rank_sum *rank)
{
    const struct stk_op_details *p = rank->partial;
    for (size_t i = 0; p && i < p->sums->count; i++) {
        const struct stk_op_row *o = &p->sums->rows[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(o->name);
        row[1] = stk_cell_text(o->on_device ? "device" : "host");
        row[2] = mode_cell(o->modes);
        row[3] = stk_cell_number(rank->rank);
        row[4] = stk_cell_number((int64_t)o->count);
        row[5] = stk_cell_number(o->total_ns);
        row[6] = stk_cell_number(o->self_ns);
        row[7] = stk_cell_number(o->device_ns);
    }
    return true;
}

static bool fill_modes(struct stk_table *table, const struct stk_op_sums *all)
{
    for (int m = 0; m < STK_MODE_COUNT; m++) {
        if (all->mode_ops[m] == 0) {
            continue;
        }
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(modes[m].key);
        row[1] = stk_cell_text(modes[m].meaning);
        row[2] = stk_cell_number((int64_t)all->mode_ops[m]);
        row[3] = stk_cell_number(all->mode_ns[m]);
        row[4] = stk_cell_share_of(all->mode_ns[m], all->device_ns);
    }
    return true;
}

static bool fill_kernels(struct stk_table *table, const struct stk_rank_sum *rank)
{
    const struct stk_op_details *p = rank->partial;
    for (size_t i = 0; p && i < p->kernel_count; i++) {
        const struct stk_op_kernel *k = &p->kernels[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(k->op);
        row[1] = stk_cell_text(k->kernel);
        row[2] = stk_cell_number(rank->rank);
        row[3] = stk_cell_number((int64_t)k->count);
        row[4] = stk_cell_number(k->total_ns);
        row[5] = stk_cell_share_of(k->total_ns, k->op_ns);
    }
    return true;
}

static struct stk_cell bytes_cell(int64_t bytes, uint64_t sized)
{
    return sized ? stk_cell_number(bytes) : stk_cell_unknown();
}

static bool fill_copies(struct stk_table *table, const struct stk_rank_sum *rank)
{
    static const char *const dirs[] = {"unknown", "h2d", "d2h", "d2d", "p2p", "h2h"};
    const struct stk_op_details *p = rank->partial;
    for (size_t i = 0; p && i < p->copy_count; i++) {
        const struct stk_op_copy *c = &p->copies[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(c->op);
        row[1] = stk_cell_text(rank->devices[c->line].id);
        row[2] = stk_cell_text(dirs[c->dir < COUNT_OF(dirs) ? c->dir : 0]);
        row[3] = stk_cell_number((int64_t)c->count);
        row[4] = bytes_cell(c->bytes, c->sized);
        row[5] = stk_cell_number(c->total_ns);
        row[6] = stk_cell_number(c->exposed_ns);
    }
    return true;
}

static bool fill_islands(struct stk_table *table, const struct stk_rank_sum *rank,
                         const struct stk_run_sum *run)
{
    const struct stk_op_details *p = rank->partial;
    int64_t wall_ns = run->scope == STK_SCOPE_STEPS ? run->wall_ns : 0;
    for (size_t i = 0; p && i < p->island_count; i++) {
        const struct stk_op_island *o = &p->islands[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(o->op);
        row[1] = stk_cell_number(rank->rank);
        row[2] = stk_cell_number((int64_t)o->count);
        row[3] = stk_cell_number((int64_t)o->copies);
        row[4] = bytes_cell(o->bytes, o->sized);
        row[5] = stk_cell_number(o->host_ns);
        row[6] = stk_cell_number(o->total_ns);
        row[7] = stk_cell_share_of(o->step_ns, wall_ns);
    }
    return true;
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

static void say_figures(struct stk_table_doc *doc, const struct stk_op_sums *all,
                        const struct stk_op_details *work)
{
    int64_t whole_ns = all->host_ns + all->device_ns, compiled_ns = 0;
    for (int m = STK_MODE_FUNCTION; m < STK_MODE_COUNT; m++) {
        compiled_ns += all->mode_ns[m];
    }
    int64_t known_ns = all->device_ns - all->mode_ns[STK_MODE_UNKNOWN];
    stk_table_figure(doc, "host_self_ns", STK_CELL_NS, stk_cell_number(all->host_ns));
    stk_table_figure(doc, "device_self_ns", STK_CELL_NS, stk_cell_number(all->device_ns));
    if (all->runtime_ns > 0) {
        stk_table_figure(doc, "runtime_ns", STK_CELL_NS, stk_cell_number(all->runtime_ns));
    }
    stk_table_figure(doc, "host_share", STK_CELL_SHARE, stk_cell_share_of(all->host_ns, whole_ns));
    stk_table_figure(doc, "device_share", STK_CELL_SHARE,
                     stk_cell_share_of(all->device_ns, whole_ns));
    stk_table_figure(doc, "eager_share", STK_CELL_SHARE,
                     known_ns > 0 ? stk_cell_share_of(all->mode_ns[STK_MODE_EAGER], all->device_ns)
                                  : stk_cell_unknown());
    stk_table_figure(doc, "compiled_share", STK_CELL_SHARE,
                     known_ns > 0 ? stk_cell_share_of(compiled_ns, all->device_ns)
                                  : stk_cell_unknown());
    if (work->kernel_ns > 0 && work->owned_ns == 0) {
        stk_table_lacks(doc, "operators around the launches",
                        "kernels and copies cannot be put to the operations that asked for them",
                        "record the host's operators together with the device: "
                        "ProfilerActivity.CPU in torch.profiler, "
                        "torch.autograd.profiler.emit_nvtx() under nsys profile --trace=cuda,nvtx");
    }
}

static enum stk_status ops_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                    struct stk_err *err)
{
    struct stk_table *ops =
        stk_table_add(doc, "ops", "Operations by self time", op_columns, COUNT_OF(op_columns));
    struct stk_table *by_mode = stk_table_add(doc, "modes", "Device time by how it was issued",
                                              mode_columns, COUNT_OF(mode_columns));
    struct stk_table *kernels = stk_table_add(doc, "op_kernels", "Kernels under each operation",
                                              kernel_columns, COUNT_OF(kernel_columns));
    struct stk_table *copies = stk_table_add(doc, "copies", "Copies by the operation that asked",
                                             copy_columns, COUNT_OF(copy_columns));
    struct stk_table *islands =
        stk_table_add(doc, "host_islands", "Operations on the host between two copies",
                      island_columns, COUNT_OF(island_columns));
    struct stk_op_sums all = {.count = 0};
    struct stk_op_details work = {.kernel_ns = 0};
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct stk_rank_sum *rank = ctx->run->ranks[r];
        if (!fill_ops(ops, rank) || !fill_kernels(kernels, rank) || !fill_copies(copies, rank) ||
            !fill_islands(islands, rank, ctx->run)) {
            return stk_err_nomem(err);
        }
        add_sums(rank->partial, &work, &all);
    }
    if (!fill_modes(by_mode, &all) || !stk_table_sort(ops, "self_ns") ||
        !stk_table_sort(by_mode, "device_ns") || !stk_table_sort(kernels, "total_ns") ||
        !stk_table_sort(copies, "total_ns") || !stk_table_sort(islands, "total_ns")) {
        return stk_err_nomem(err);
    }
    if (all.count == 0) {
        stk_table_lacks(doc, "operations", "the profile holds neither operators nor device work",
                        "record the host: ProfilerActivity.CPU in torch.profiler, "
                        "host_tracer_level 2 in TensorFlow and JAX, --trace=nvtx in nsys profile");
        doc->inconclusive = true;
        return STK_OK;
    }
    say_figures(doc, &all, &work);
    return STK_OK;
}

const struct stk_stats stk_stats_ops = {
    .name = "ops",
    .question = "Which operations of the model take the time, on the host and on the device?",
    .needs = "operators of the host, or operations of a device",
    .hook = {.see = ops_see},
    .describe = ops_describe,
};
