// SPDX-License-Identifier: Apache-2.0
// Which operations of the model take the time, on the host and on the device?
// Host rows: operators and other slices of host threads by name (no Python frames, annotations or
// runtime calls). total_ns counts a nested call of the same name once; self_ns is without the
// operators nested inside; device_ns is the device work launched inside, however deep.
// Device rows: device work by the innermost operator around its launch call, or by its own name
// where there is none (XLA names its kernels after its operations).
// Method: one pass over each row of each host thread with a stack of open operators, and one over
// the device operations.
// Limits: a host operator counts where it starts, deeper ones than 256 count as their ancestors.
#include <string.h>

#include "base/alloc.h"
#include "passes/stats.h"
#include "passes/stats_sums.h"

#define MAX_DEPTH 256

enum { NOT_SELECTED, NO_OWNER, FIRST_OWNER }; // states of `owner`, then string id + FIRST_OWNER

struct open_op {
    int64_t end_ns;
    uint32_t row, id;
    bool outermost; // no operator of this name around it
};

struct sweep {
    const struct stk_analysis *view;
    bool used_only;
    struct stk_op_sums *out;
    struct stk_vec rows;   // struct stk_op_row
    uint32_t *slot[2];     // per string id: row + 1, on the host and on the device
    uint32_t *open;        // per string id: how many are open
    uint32_t *owner;       // per event: see above
    struct stk_spans host; // selected time of the host
    struct stk_name_cache names;
    struct open_op stack[MAX_DEPTH];
    uint32_t depth;
};

static struct stk_op_row *row_of(struct sweep *s, uint32_t id, bool on_device)
{
    uint32_t *slot = &s->slot[on_device][id];
    if (*slot == 0) {
        struct stk_op_row *row = stk_vec_push(&s->rows);
        const char *name = row ? stk_name_cache_get(&s->names, id) : NULL;
        if (!name)
            return NULL;
        *row = (struct stk_op_row){.name = name, .on_device = on_device};
        *slot = (uint32_t)s->rows.count;
    }
    return stk_vec_at(&s->rows, *slot - 1);
}

static bool is_op(const struct stk_analysis *view, uint32_t event)
{
    uint8_t kind = view->t->kind[event];
    return (kind == STK_KIND_HOST_OP || kind == STK_KIND_INPUT) && !stk_is_step_mark(view, event);
}

static void close_ended(struct sweep *s, int64_t t_ns)
{
    while (s->depth && s->stack[s->depth - 1].end_ns <= t_ns)
        s->open[s->stack[--s->depth].id]--;
}

static bool open_op(struct sweep *s, uint32_t event, int64_t dur_ns)
{
    uint32_t id = s->view->t->name[event];
    struct stk_op_row *row = row_of(s, id, false);
    if (!row)
        return false;
    row->count++;
    row->self_ns += dur_ns;
    row->total_ns += s->open[id] == 0 ? dur_ns : 0;
    s->out->host_ns += dur_ns;
    if (s->depth) {
        struct stk_op_row *parent = stk_vec_at(&s->rows, s->stack[s->depth - 1].row);
        parent->self_ns -= dur_ns;
        s->out->host_ns -= dur_ns;
    }
    if (s->depth < MAX_DEPTH) {
        s->stack[s->depth++] = (struct open_op){s->view->t->start_ns[event] + dur_ns,
                                                s->slot[0][id] - 1, id, s->open[id] == 0};
        s->open[id]++;
    }
    return true;
}

// Device work of a launch call, for every operator around the call.
static void add_launch(struct sweep *s, uint32_t call)
{
    const struct stk_trace *t = s->view->t;
    int64_t sum_ns = 0;
    for (uint32_t e = t->ref[call]; e != STK_NONE; e = t->ext[t->ref[e]].next) {
        if (s->owner[e] == NOT_SELECTED)
            continue;
        s->owner[e] = s->stack[s->depth - 1].id + FIRST_OWNER;
        sum_ns += stk_dur_ns(t, e);
    }
    for (uint32_t i = 0; i < s->depth; i++)
        if (s->stack[i].outermost)
            ((struct stk_op_row *)stk_vec_at(&s->rows, s->stack[i].row))->device_ns += sum_ns;
}

static bool sweep_thread(struct sweep *s, const struct stk_track *track)
{
    const struct stk_trace *t = s->view->t;
    struct stk_view_cursor cursor = {&s->host, 0};
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        bool launch = t->kind[e] == STK_KIND_RUNTIME && t->ref[e] != STK_NONE;
        if (!launch && !is_op(s->view, e))
            continue;
        close_ended(s, t->start_ns[e]);
        if (launch && s->depth)
            add_launch(s, e);
        else if (!launch && stk_view_in(&cursor, t->start_ns[e]) &&
                 !open_op(s, e, stk_dur_ns(t, e)))
            return false;
    }
    close_ended(s, INT64_MAX);
    return true;
}

static bool mark_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_device_line *l = &s->view->lines[line];
    struct stk_view_cursor cursor = {selected, 0};
    if (!(s->used_only ? stk_view_used : stk_view_selected)(s->view, line, selected))
        return false;
    for (uint32_t i = 0; i < l->op_count; i++)
        if (stk_view_in(&cursor, l->ops[i].start_ns))
            s->owner[l->ops[i].event] = NO_OWNER;
    return true;
}

static bool sweep_device(struct sweep *s, uint32_t line)
{
    const struct stk_device_line *l = &s->view->lines[line];
    for (uint32_t i = 0; i < l->op_count; i++) {
        uint32_t event = l->ops[i].event, owner = s->owner[event];
        if (owner == NOT_SELECTED)
            continue;
        struct stk_op_row *row =
            row_of(s, owner == NO_OWNER ? s->view->t->name[event] : owner - FIRST_OWNER, true);
        if (!row)
            return false;
        int64_t dur_ns = stk_dur_ns(s->view->t, event);
        row->count++;
        row->total_ns += dur_ns;
        row->self_ns += dur_ns;
        row->device_ns += dur_ns;
        s->out->device_ns += dur_ns;
    }
    return true;
}

static bool sweep_all(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    struct stk_spans selected;
    stk_spans_init(&selected);
    bool ok = (s->used_only ? stk_view_used_host : stk_view_selected_host)(v, &s->host);
    for (uint32_t d = 0; d < v->sum->device_count && ok; d++)
        ok = mark_device(s, d, &selected);
    for (uint32_t k = 0; k < v->t->track_count && ok; k++)
        if (v->t->tracks[k].kind == STK_TRACK_THREAD && v->in_rank[v->t->tracks[k].process])
            ok = sweep_thread(s, &v->t->tracks[k]);
    for (uint32_t d = 0; d < v->sum->device_count && ok; d++)
        ok = sweep_device(s, d);
    stk_spans_deinit(&selected);
    return ok;
}

static bool keep(struct sweep *s, struct stk_arena *arena)
{
    s->out->rows = stk_arena_array(arena, s->rows.count + 1, sizeof *s->out->rows);
    if (!s->out->rows)
        return false;
    if (s->rows.count)
        memcpy(s->out->rows, s->rows.items, s->rows.count * sizeof *s->out->rows);
    s->out->count = s->rows.count;
    return true;
}

static enum stk_status sum_up(const struct stk_analysis *view, bool used_only,
                              struct stk_arena *arena, void **partial, struct stk_err *err)
{
    size_t strings = (size_t)view->t->strings.count + 1;
    struct sweep *s = stk_alloc_zero(1, sizeof *s);
    if (!s)
        return stk_err_nomem(err);
    s->view = view;
    s->used_only = used_only;
    stk_vec_init(&s->rows, sizeof(struct stk_op_row), UINT32_MAX - 1);
    stk_spans_init(&s->host);
    s->slot[0] = stk_alloc_zero(strings, sizeof *s->slot[0]);
    s->slot[1] = stk_alloc_zero(strings, sizeof *s->slot[1]);
    s->open = stk_alloc_zero(strings, sizeof *s->open);
    s->owner = stk_alloc_zero((size_t)view->t->count + 1, sizeof *s->owner);
    *partial = s->out = stk_arena_alloc(arena, sizeof *s->out);
    bool ok = stk_name_cache_init(&s->names, view->t, arena) && s->slot[0] && s->slot[1] &&
              s->open && s->owner && s->out && sweep_all(s) && keep(s, arena);
    stk_name_cache_deinit(&s->names);
    stk_free(s->slot[0]);
    stk_free(s->slot[1]);
    stk_free(s->open);
    stk_free(s->owner);
    stk_vec_deinit(&s->rows);
    stk_spans_deinit(&s->host);
    stk_free(s);
    return ok ? STK_OK : stk_err_nomem(err);
}

enum stk_status stk_op_sums_see(const struct stk_analysis *view, struct stk_arena *arena,
                                void **partial, struct stk_err *err)
{
    return sum_up(view, false, arena, partial, err);
}

enum stk_status stk_op_sums_see_used(const struct stk_analysis *view, struct stk_arena *arena,
                                     void **partial, struct stk_err *err)
{
    return sum_up(view, true, arena, partial, err);
}

static const struct stk_column columns[] = {
    {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "placement", .type = STK_CELL_TEXT},
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "self_ns", .type = STK_CELL_NS},
    {.id = "device_ns", .type = STK_CELL_NS},
};

static bool fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                      struct stk_op_sums *all)
{
    const struct stk_op_sums *p = rank->partial;
    for (size_t i = 0; p && i < p->count; i++) {
        const struct stk_op_row *o = &p->rows[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
        row[0] = stk_cell_text(o->name);
        row[1] = stk_cell_text(o->on_device ? "device" : "host");
        row[2] = stk_cell_number(rank->rank);
        row[3] = stk_cell_number((int64_t)o->count);
        row[4] = stk_cell_number(o->total_ns);
        row[5] = stk_cell_number(o->self_ns);
        row[6] = stk_cell_number(o->device_ns);
    }
    all->count += p ? p->count : 0;
    all->host_ns += p ? p->host_ns : 0;
    all->device_ns += p ? p->device_ns : 0;
    return true;
}

static enum stk_status describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                struct stk_err *err)
{
    struct stk_table *table = stk_table_add(doc, "ops", "Operations by self time", columns,
                                            sizeof columns / sizeof columns[0]);
    struct stk_op_sums all = {.count = 0};
    for (uint32_t r = 0; r < ctx->run->rank_count; r++)
        if (!fill_rank(table, ctx->run->ranks[r], &all))
            return stk_err_nomem(err);
    if (!stk_table_sort(table, "self_ns"))
        return stk_err_nomem(err);
    if (all.count == 0) {
        stk_table_lacks(doc, "operations", "the profile holds neither operators nor device work",
                        "record the host: ProfilerActivity.CPU in torch.profiler, "
                        "host_tracer_level 2 in TensorFlow and JAX, --trace=nvtx in nsys profile");
        doc->inconclusive = true;
        return STK_OK;
    }
    int64_t whole_ns = all.host_ns + all.device_ns;
    stk_table_figure(doc, "host_self_ns", STK_CELL_NS, stk_cell_number(all.host_ns));
    stk_table_figure(doc, "device_self_ns", STK_CELL_NS, stk_cell_number(all.device_ns));
    stk_table_figure(doc, "host_share", STK_CELL_SHARE, stk_cell_share_of(all.host_ns, whole_ns));
    stk_table_figure(doc, "device_share", STK_CELL_SHARE,
                     stk_cell_share_of(all.device_ns, whole_ns));
    return STK_OK;
}

const struct stk_stats stk_stats_ops = {
    .name = "ops",
    .question = "Which operations of the model take the time, on the host and on the device?",
    .needs = "operators of the host, or operations of a device",
    .hook = {.see = stk_op_sums_see},
    .describe = describe,
};
