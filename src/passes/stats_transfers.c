// SPDX-License-Identifier: Apache-2.0
// Which copies cost time, and from which memory?
// Copies by device, direction and kind of host memory. busy_ns is the union over streams of the
// row's copies, exposed_ns what of it no kernel and no collective covers, for the row alone. The
// rate is over the summed time of the copies whose size is recorded.
// A device operation that only waits for a copy (TPU copy-done) counts as that copy.
// Limits: ROCm does not record whether host memory is pinned, TPU profiles hold no sizes: unknown.
#include "base/alloc.h"
#include "passes/stats.h"

enum { DIRS = STK_DIR_H2H + 1, PINS = 3 };
enum pinned { PINNED_UNKNOWN, PINNED_NO, PINNED_YES };

struct transfer_row {
    uint64_t count, sized;
    uint64_t bytes;
    int64_t busy_ns, total_ns, exposed_ns, sized_ns;
};
// All rows of one device.
struct transfer_device {
    struct transfer_row rows[DIRS][PINS];
};
struct transfer_partial {
    struct transfer_device *devices; // parallel to the rank's devices
    int64_t exposed_ns;              // union over all rows of a device
};

static const char *const dir_keys[] = {"unknown", "h2d", "d2h", "d2d", "p2p", "h2h"};
static const char *const pinned_keys[] = {"unknown", "no", "yes"};

static enum pinned pinned_of(const struct stk_ext *x)
{
    if (!x)
        return PINNED_UNKNOWN;
    if (x->src_mem == STK_MEM_PAGEABLE || x->dst_mem == STK_MEM_PAGEABLE)
        return PINNED_NO;
    if (x->src_mem == STK_MEM_PINNED || x->dst_mem == STK_MEM_PINNED)
        return PINNED_YES;
    return PINNED_UNKNOWN;
}

struct unions {
    struct stk_running_union of[DIRS][PINS], all;
};

static void add_copy(const struct stk_analysis *view, const struct stk_device_op *op,
                     const struct stk_spans *kernels, const int64_t *sums, struct unions *u,
                     struct transfer_device *d, struct transfer_partial *out)
{
    const struct stk_ext *x = stk_ext_of(view->t, op->event);
    int dir = x && x->dir < DIRS ? x->dir : STK_DIR_UNKNOWN, pin = (int)pinned_of(x);
    struct transfer_row *row = &d->rows[dir][pin];
    struct stk_span own = stk_running_union_add(&u->of[dir][pin], op->start_ns, op->end_ns);
    struct stk_span any = stk_running_union_add(&u->all, op->start_ns, op->end_ns);
    row->count++;
    row->total_ns += op->end_ns - op->start_ns;
    row->busy_ns += own.end_ns - own.start_ns;
    row->exposed_ns +=
        own.end_ns - own.start_ns - stk_spans_measure(kernels, sums, own.start_ns, own.end_ns);
    out->exposed_ns +=
        any.end_ns - any.start_ns - stk_spans_measure(kernels, sums, any.start_ns, any.end_ns);
    if (x && (x->flags & STK_EXT_VALUE) && x->value >= 0) {
        row->sized++;
        row->bytes += (uint64_t)x->value;
        row->sized_ns += op->end_ns - op->start_ns;
    }
}

static bool sweep_device(const struct stk_analysis *view, uint32_t line, struct stk_spans *selected,
                         struct stk_spans *kernels, struct transfer_partial *out)
{
    const struct stk_device_line *l = &view->lines[line];
    struct stk_view_cursor cursor = {selected, 0};
    struct unions u;
    for (int i = 0; i < DIRS * PINS; i++)
        u.of[i / PINS][i % PINS] = STK_RUNNING_UNION;
    u.all = STK_RUNNING_UNION;
    if (!stk_view_selected(view, line, selected) ||
        !stk_spans_union(&l->exposed[STK_PART_COMPUTE], &l->exposed[STK_PART_COMMUNICATION],
                         kernels))
        return false;
    int64_t *sums = stk_spans_sums(kernels);
    for (uint32_t i = 0; i < l->op_count && sums; i++)
        if (l->ops[i].part >= STK_PART_H2D && stk_view_in(&cursor, l->ops[i].start_ns))
            add_copy(view, &l->ops[i], kernels, sums, &u, &out->devices[line], out);
    bool ok = sums != NULL;
    stk_free(sums);
    return ok;
}

static enum stk_status see(const struct stk_analysis *view, struct stk_arena *arena, void **partial,
                           struct stk_err *err)
{
    struct stk_spans selected, kernels;
    struct transfer_partial *out = stk_arena_alloc(arena, sizeof *out);
    stk_spans_init(&selected);
    stk_spans_init(&kernels);
    if (out)
        out->devices =
            stk_arena_array(arena, (size_t)view->sum->device_count + 1, sizeof *out->devices);
    bool ok = out && out->devices;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++)
        ok = sweep_device(view, d, &selected, &kernels, out);
    *partial = out;
    stk_spans_deinit(&selected);
    stk_spans_deinit(&kernels);
    return ok ? STK_OK : stk_err_nomem(err);
}

static const struct stk_column columns[] = {
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "direction", .type = STK_CELL_TEXT},
    {.id = "pinned", .type = STK_CELL_TEXT},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "busy_ns", .type = STK_CELL_NS},
    {.id = "total_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "exposed_ns", .type = STK_CELL_NS},
    {.id = "bytes_per_s", .type = STK_CELL_RATE},
};

struct transfer_sums {
    uint64_t count, pageable, known;
    int64_t exposed_ns, busy_ns;
};

static bool fill_row(struct stk_table *table, const char *device, int dir, int pin,
                     const struct transfer_row *t)
{
    struct stk_cell *row = stk_table_row(table);
    if (!row)
        return false;
    bool sized = t->sized > 0 && t->bytes <= INT64_MAX;
    row[0] = stk_cell_text(device);
    row[1] = stk_cell_text(dir_keys[dir]);
    row[2] = stk_cell_text(pinned_keys[pin]);
    row[3] = stk_cell_number((int64_t)t->count);
    // A sum that leaves copies out would read as the size of them all.
    row[4] =
        sized && t->sized == t->count ? stk_cell_number((int64_t)t->bytes) : stk_cell_unknown();
    row[5] = stk_cell_number(t->busy_ns);
    row[6] = stk_cell_number(t->total_ns);
    row[7] = stk_cell_number(t->exposed_ns);
    row[8] = sized && t->sized_ns > 0
                 ? stk_cell_ratio((double)t->bytes / ((double)t->sized_ns / 1e9))
                 : stk_cell_unknown();
    return true;
}

static bool fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                      struct transfer_sums *sums)
{
    const struct transfer_partial *p = rank->partial;
    sums->exposed_ns += p ? p->exposed_ns : 0;
    for (uint32_t d = 0; p && d < rank->device_count; d++)
        for (int i = 0; i < DIRS * PINS; i++) {
            const struct transfer_row *t = &p->devices[d].rows[i / PINS][i % PINS];
            if (t->count == 0)
                continue;
            sums->count += t->count;
            sums->pageable += i % PINS == PINNED_NO ? t->count : 0;
            sums->known += i % PINS == PINNED_UNKNOWN ? 0 : t->count;
            if (!fill_row(table, rank->devices[d].id, i / PINS, i % PINS, t))
                return false;
        }
    return true;
}

static enum stk_status describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                struct stk_err *err)
{
    struct stk_table *table = stk_table_add(doc, "transfers", "Copies by direction and memory",
                                            columns, sizeof columns / sizeof columns[0]);
    struct transfer_sums sums = {.count = 0};
    if (stk_stats_lacks_device(ctx, doc))
        return STK_OK;
    for (uint32_t r = 0; r < ctx->run->rank_count; r++)
        if (!fill_rank(table, ctx->run->ranks[r], &sums))
            return stk_err_nomem(err);
    if (!stk_table_sort(table, "exposed_ns"))
        return stk_err_nomem(err);
    stk_table_figure(doc, "copies", STK_CELL_COUNT, stk_cell_number((int64_t)sums.count));
    stk_table_figure(doc, "exposed_ns", STK_CELL_NS, stk_cell_number(sums.exposed_ns));
    stk_table_figure(doc, "pageable_count", STK_CELL_COUNT,
                     sums.known > 0 || sums.count == 0 ? stk_cell_number((int64_t)sums.pageable)
                                                       : stk_cell_unknown());
    if (sums.count > 0 && sums.known == 0)
        stk_table_lacks(doc, "whether host memory is pinned",
                        "no copy of the profile names the kind of its host memory",
                        "none on ROCm; on CUDA, record copies with a current profiler");
    return STK_OK;
}

const struct stk_stats stk_stats_transfers = {
    .name = "transfers",
    .question = "Which copies cost time, and from which memory?",
    .needs = "operations of a device",
    .hook = {.see = see},
    .describe = describe,
};
