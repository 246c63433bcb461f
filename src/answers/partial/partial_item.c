// SPDX-License-Identifier: Apache-2.0
// The items of partials (partial.h): the data kept of a rank, and the conversion of an item to
// bytes and back.
// Limits: bytes belong to one layout. Opening a file with another layout fails (partial_file.c),
// since the layout is a hash over the names and types of all members.
#include "answers/partial/partial.h"

#include "answers/partial/code_graph.h"
#include "answers/partial/code_rank.h"
#include "answers/passes/diff/diff_impl.h"
#include "answers/replay/price_take.h"
#include "base/assert.h"

static enum stoker_status see_both(const struct stk_analysis *view, struct stk_arena *arena,
                                   void **partial, struct stoker_err *err)
{
    struct stk_partial_kept *kept = stk_arena_alloc(arena, sizeof *kept);
    if (!kept) {
        return stk_err_nomem(err);
    }
    *partial = kept;
    enum stoker_status status = stk_replay_brief_hook.see(view, arena, &kept->graph, err);
    if (status == STOKER_OK && kept->graph && !stk_prices_take(kept->graph, arena)) {
        status = stk_err_nomem(err);
    }
    return status == STOKER_OK ? stk_diff_hook.see(view, arena, &kept->names, err) : status;
}

const struct stk_view_hook stk_partial_hook = {
    .see = see_both,
    .diagnoses = true,
    .wants = STK_WANT_INPUT | STK_WANT_GRIDS | STK_WANT_MESSAGES,
};

static void code_kernel(struct stk_code *c, struct stk_kernel_row *x)
{
    STK_CODE(c, x->name);
    STK_CODE(c, x->line);
    STK_CODE(c, x->count);
    STK_CODE(c, x->total_ns);
    STK_CODE(c, x->min_ns);
    STK_CODE(c, x->max_ns);
}

static void code_kernels(struct stk_code *c, struct stk_kernel_sums *x)
{
    x->rows = stk_code_list(c, "rows", x->rows, &x->row_count, sizeof *x->rows);
    for (uint32_t i = 0; i < x->row_count && !c->failed; i++) {
        code_kernel(c, &x->rows[i]);
        c->failed |= c->mode == STK_CODE_READ && !x->rows[i].name;
    }
    STK_CODE(c, x->count);
    STK_CODE(c, x->short_count);
    STK_CODE(c, x->kernel_ns);
    STK_CODE(c, x->total_ns);
    STK_CODE(c, x->short_ns);
}

static void code_op(struct stk_code *c, struct stk_op_row *x)
{
    STK_CODE(c, x->name);
    STK_CODE(c, x->count);
    STK_CODE(c, x->total_ns);
    STK_CODE(c, x->self_ns);
    STK_CODE(c, x->device_ns);
    STK_CODE(c, x->on_device);
    STK_CODE(c, x->modes);
}

static void code_ops(struct stk_code *c, struct stk_op_sums *x)
{
    uint32_t count = (uint32_t)x->count;
    x->rows = stk_code_list(c, "rows", x->rows, &count, sizeof *x->rows);
    x->count = count;
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        code_op(c, &x->rows[i]);
        c->failed |= c->mode == STK_CODE_READ && !x->rows[i].name;
    }
    STK_CODE(c, x->host_ns);
    STK_CODE(c, x->device_ns);
    STK_CODE(c, x->runtime_ns);
    STK_CODE_ARRAY(c, x->mode_ns, STK_MODE_COUNT);
    STK_CODE_ARRAY(c, x->mode_ops, STK_MODE_COUNT);
}

// The sums are behind const pointers, since nothing changes them once they are made.
static void code_names(struct stk_code *c, struct stk_diff_partial *x)
{
    struct stk_kernel_sums *kernels =
        stk_code_one(c, "kernels", (void *)(uintptr_t)x->kernels, sizeof *kernels);
    struct stk_op_sums *ops = stk_code_one(c, "ops", (void *)(uintptr_t)x->ops, sizeof *ops);
    c->failed |= !kernels || !ops;
    if (!c->failed) {
        code_kernels(c, kernels);
        code_ops(c, ops);
    }
    x->kernels = kernels;
    x->ops = ops;
}

static void code_kept(struct stk_code *c, struct stk_partial_kept *kept)
{
    kept->graph = stk_code_one(c, "graph", kept->graph, sizeof(struct stk_graph));
    if (kept->graph) {
        stk_code_graph(c, kept->graph);
    }
    kept->names = stk_code_one(c, "names", kept->names, sizeof(struct stk_diff_partial));
    if (kept->names) {
        code_names(c, kept->names);
    }
}

static void code_issue(struct stk_code *c, struct stk_issue *x)
{
    STK_CODE(c, x->count);
    STK_CODE(c, x->events_lost);
    STK_CODE(c, x->first_offset);
}

static void code_info(struct stk_code *c, struct stk_input_info *x)
{
    STK_CODE(c, x->format);
    STK_CODE(c, x->producer);
    STK_CODE(c, x->bytes);
    STK_CODE(c, x->read);
    STK_CODE(c, x->dropped);
    STK_CODE_ARRAY(c, x->by_kind, STK_KIND_COUNT);
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        code_issue(c, &x->issues[i]);
    }
    STK_CODE_ARRAY(c, x->issue_notes, STK_ISSUE_COUNT);
    stk_code_date(c, "base_ns", &x->base_ns);
}

static void code_rank_and_kept(struct stk_code *c, struct stk_rank_sum *rank)
{
    stk_code_rank(c, rank);
    rank->partial = stk_code_one(c, "kept", rank->partial, sizeof(struct stk_partial_kept));
    if (rank->partial) {
        code_kept(c, rank->partial);
    }
}

// The summaries are separate allocations: a list of pointers, then each of them.
static void code_ranks(struct stk_code *c, struct stk_partial_item *x)
{
    x->ranks = stk_code_list(c, "ranks", x->ranks, &x->rank_count, sizeof *x->ranks);
    for (uint32_t i = 0; i < x->rank_count && !c->failed; i++) {
        if (c->mode != STK_CODE_WRITE) {
            x->ranks[i] = stk_arena_alloc(c->arena, sizeof *x->ranks[i]);
        }
        c->failed |= !x->ranks[i];
        if (!c->failed) {
            code_rank_and_kept(c, x->ranks[i]);
        }
    }
}

static void code_item(struct stk_code *c, struct stk_partial_item *x)
{
    STK_CODE(c, x->path);
    STK_CODE(c, x->rank_hint);
    STK_CODE(c, x->status);
    STK_CODE(c, x->is_numbered);
    STK_CODE(c, x->is_found);
    code_info(c, x->info);
    code_ranks(c, x);
    stk_code_worker_sum(c, x->workers);
    x->machine = stk_code_one(c, "machine", x->machine, sizeof *x->machine);
    if (x->machine) {
        stk_code_machine(c, x->machine);
    }
}

bool stk_partial_encode(const struct stk_partial_item *item, struct stk_vec *bytes)
{
    struct stk_code c;
    struct stk_partial_item written = *item;
    stk_code_init(&c, STK_CODE_WRITE, NULL);
    code_item(&c, &written);
    bool ok = !c.failed && c.bytes.count <= STK_PARTIAL_ITEM_MAX;
    *bytes = c.bytes;
    c.bytes = (struct stk_vec){0};
    stk_code_deinit(&c);
    return ok;
}

static bool is_sound(const struct stk_partial_item *x)
{
    bool ok = x->path && (x->info->format || x->status != STOKER_OK) &&
              (!x->machine || stk_machine_is_sound(x->machine)) &&
              stk_workers_are_sound(x->workers) &&
              (x->status == STOKER_OK || x->status == STOKER_EINPUT || x->status == STOKER_ELIMIT);
    for (uint32_t i = 0; i < x->rank_count && ok; i++) {
        const struct stk_partial_kept *kept = x->ranks[i]->partial;
        ok = stk_rank_is_sound(x->ranks[i]) &&
             (!kept || !kept->graph || stk_graph_is_sound(kept->graph));
    }
    return ok;
}

// Allocates what every item has.
static bool init_item(struct stk_partial_item *x, struct stk_arena *arena)
{
    *x = (struct stk_partial_item){.info = stk_arena_alloc(arena, sizeof *x->info),
                                   .workers = stk_arena_alloc(arena, sizeof *x->workers)};
    return x->info && x->workers;
}

bool stk_partial_decode(const uint8_t *bytes, size_t n, struct stk_arena *arena,
                        struct stk_partial_item *out)
{
    struct stk_code c;
    if (!init_item(out, arena)) {
        return false;
    }
    stk_code_init(&c, STK_CODE_READ, arena);
    c.at = bytes;
    c.end = bytes + n;
    code_item(&c, out);
    bool ok = !c.failed && c.at == c.end && is_sound(out);
    stk_code_deinit(&c);
    return ok;
}

uint64_t stk_partial_layout(void)
{
    struct stk_code c;
    struct stk_arena arena;
    struct stk_partial_item item;
    stk_arena_init(&arena, 0);
    uint64_t layout = 0;
    if (init_item(&item, &arena)) {
        stk_code_init(&c, STK_CODE_LAYOUT, &arena);
        code_item(&c, &item);
        layout = c.failed ? 0 : c.layout;
        stk_code_deinit(&c);
    }
    stk_arena_deinit(&arena);
    return layout;
}
