// SPDX-License-Identifier: Apache-2.0
// Operations of the model by a key: sums of answers/passes/op_sums.c by group, and the groups
// around a group where they lie within each other. Method: each group adds to those around it once;
// linear in the groups and the parts of their names.
#include "answers/passes/stats/stats_ops_by.h"

#include <string.h>

#include "base/hash.h"
#include "base/map.h"

#define LEAST_TOLD 0.1 // share of the time: below it, the profile doesn't answer the question

const struct stk_stats *const stk_ops_keys[] = {
#define X(name) &stk_ops_by_##name,
#include "answers/passes/stats/ops_by.def"
#undef X
    NULL,
};

struct nesting {
    struct stk_vec rows; // struct stk_ops_by_group
    struct stk_map at;   // name -> its row
    struct stk_arena *arena;
};

// Row of the group of this name; NULL: no memory.
static struct stk_ops_by_group *nesting_row(struct nesting *n, const char *name, size_t bytes)
{
    int created = 0;
    uint32_t *at = stk_map_put(&n->at, stk_hash_table_bytes(name, bytes), bytes,
                               (uint32_t)n->rows.count, &created);
    struct stk_ops_by_group *row = !at       ? NULL
                                   : created ? stk_vec_push(&n->rows)
                                             : stk_vec_at(&n->rows, *at);
    if (row && created && !(row->sums.name = stk_arena_strndup(n->arena, name, bytes))) {
        return NULL;
    }
    return row;
}

static bool add_around(struct nesting *n, const struct stk_op_group *g, const char *parted)
{
    const char *end = g->name + strlen(g->name);
    for (const char *p = g->name; p < end; p++) {
        const char *next = strstr(p, parted);
        p = next ? next : end;
        struct stk_ops_by_group *row = nesting_row(n, g->name, (size_t)(p - g->name));
        if (!row) {
            return false;
        }
        row->within_ns = stk_add_ns(row->within_ns, g->self_ns);
        row->device_within_ns = stk_add_ns(row->device_within_ns, g->device_ns);
        p += next ? strlen(parted) - 1 : 0;
    }
    return true;
}

static bool keep_nested(const struct stk_op_groups *groups, const char *parted,
                        struct stk_arena *arena, struct stk_ops_by *out)
{
    struct nesting n = {.arena = arena};
    stk_vec_init(&n.rows, sizeof(struct stk_ops_by_group), UINT32_MAX - 1);
    stk_map_init(&n.at, UINT32_MAX - 1);
    bool ok = true;
    for (size_t i = 0; i < groups->count && ok; i++) {
        const struct stk_op_group *g = &groups->rows[i];
        struct stk_ops_by_group *row =
            g->name ? nesting_row(&n, g->name, strlen(g->name)) : stk_vec_push(&n.rows);
        if ((ok = row != NULL)) {
            const char *name = row->sums.name;
            row->sums = *g;
            row->sums.name = name;
            row->within_ns += g->name ? 0 : g->self_ns;
            row->device_within_ns += g->name ? 0 : g->device_ns;
            ok = !g->name || add_around(&n, g, parted);
        }
    }
    out->count = n.rows.count;
    out->rows = ok ? stk_arena_items(arena, &n.rows) : NULL;
    stk_vec_deinit(&n.rows);
    stk_map_deinit(&n.at);
    return out->rows != NULL;
}

static bool keep_flat(const struct stk_op_groups *groups, struct stk_arena *arena,
                      struct stk_ops_by *out)
{
    out->count = groups->count;
    out->rows = stk_arena_array(arena, groups->count + 1, sizeof *out->rows);
    for (size_t i = 0; out->rows && i < groups->count; i++) {
        const struct stk_op_group *g = &groups->rows[i];
        out->rows[i] = (struct stk_ops_by_group){*g, g->self_ns, g->device_ns};
    }
    return out->rows != NULL;
}

enum stoker_status stk_ops_by_see(const struct stk_analysis *view, stk_op_group_fn *group,
                                  const char *parted, struct stk_arena *arena, void **partial,
                                  struct stoker_err *err)
{
    struct stk_ops_by *out = stk_arena_alloc(arena, sizeof *out);
    struct stk_op_groups *groups = NULL;
    if (!out) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = stk_op_groups_make(view, group, arena, &groups, err);
    if (status != STOKER_OK) {
        return status;
    }
    out->host_ns = groups->sums->host_ns;
    out->device_ns = groups->sums->device_ns;
    if (!(parted ? keep_nested(groups, parted, arena, out) : keep_flat(groups, arena, out))) {
        return stk_err_nomem(err);
    }
    *partial = out;
    return STOKER_OK;
}

struct ops_by_figures {
    struct stk_cell host_self_ns, device_self_ns, host_told_share, device_told_share;
};
static const struct stk_column ops_by_columns[] = {
    STK_COLUMN(ops_by_figures, host_self_ns, NS,
               "self time of the operations on the CPU, summed over threads and ranks",
               .label = "CPU time in operators"),
    STK_COLUMN(ops_by_figures, device_self_ns, NS, "durations of the device operations, summed",
               .label = "GPU time"),
    STK_COLUMN(ops_by_figures, host_told_share, SHARE,
               "share of `host_self_ns` in operations whose group is known",
               .label = "CPU time with a known group"),
    STK_COLUMN(ops_by_figures, device_told_share, SHARE,
               "share of `device_self_ns` in work whose group is known",
               .label = "GPU time with a known group"),
};
const struct stk_summary_info stk_ops_keyed_figures =
    STK_SUMMARY_INFO(ops_by_figures, ops_by_columns);

const struct stk_missing stk_ops_keyed_missing = {
    "operations", "the profile has neither operators nor GPU work",
    "record the CPU: ProfilerActivity.CPU in torch.profiler, host_tracer_level 2 in TensorFlow and "
    "JAX, --trace=nvtx in nsys profile"};

static void ops_by_fill(struct stk_table *table, const struct stk_rank_sum *rank,
                        const struct stk_ops_by *all)
{
    const struct stk_ops_by *p = rank->partial;
    for (size_t i = 0; p && i < p->count; i++) {
        const struct stk_op_group *g = &p->rows[i].sums;
        const struct stk_ops_by_nested_row row = {
            .own = {.group = stk_cell_text(g->name),
                    .rank = stk_cell_number(rank->rank),
                    .ops = stk_cell_number((int64_t)g->ops),
                    .self_ns = stk_cell_number(g->self_ns),
                    .self_share = stk_cell_share_of(g->self_ns, all->host_ns),
                    .device_ops = stk_cell_number((int64_t)g->device_ops),
                    .device_ns = stk_cell_number(g->device_ns),
                    .device_share = stk_cell_share_of(g->device_ns, all->device_ns)},
            .within_ns = stk_cell_number(p->rows[i].within_ns),
            .device_within_ns = stk_cell_number(p->rows[i].device_within_ns),
        };
        stk_table_put(table, &row);
    }
}

static void ops_by_add(const struct stk_ops_by *p, struct stk_ops_by *all,
                       struct stk_op_group *untold)
{
    all->host_ns += p->host_ns;
    all->device_ns += p->device_ns;
    all->count += p->count;
    for (size_t i = 0; i < p->count; i++) {
        if (!p->rows[i].sums.name) {
            untold->self_ns += p->rows[i].sums.self_ns;
            untold->device_ns += p->rows[i].sums.device_ns;
        }
    }
}

static bool is_told(int64_t told_ns, int64_t all_ns)
{
    return (double)told_ns > LEAST_TOLD * (double)all_ns;
}

void stk_ops_by_describe(const struct stk_pass_ctx *ctx, const struct stk_table_info *info,
                         const struct stk_missing *untold_missing, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, info);
    struct stk_ops_by all = {.count = 0};
    struct stk_op_group untold = {.name = NULL};
    bool nests = info->column_count > sizeof(struct stk_ops_by_row) / sizeof(struct stk_cell);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        if (ctx->run->ranks[r]->partial) {
            ops_by_add(ctx->run->ranks[r]->partial, &all, &untold);
        }
    }
    const char *key = all.device_ns > 0 ? (nests ? "device_within_ns" : "device_ns")
                                        : (nests ? "within_ns" : "self_ns");
    stk_table_keep(table, key, ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        ops_by_fill(table, ctx->run->ranks[r], &all);
    }
    stk_table_sort(table, key);
    const struct ops_by_figures figures = {
        .host_self_ns = stk_cell_number(all.host_ns),
        .device_self_ns = stk_cell_number(all.device_ns),
        .host_told_share = stk_cell_share_of(all.host_ns - untold.self_ns, all.host_ns),
        .device_told_share = stk_cell_share_of(all.device_ns - untold.device_ns, all.device_ns),
    };
    stk_table_summarize(doc, &stk_ops_keyed_figures, &figures);
    bool tells = all.device_ns > 0 ? is_told(all.device_ns - untold.device_ns, all.device_ns)
                                   : is_told(all.host_ns - untold.self_ns, all.host_ns);
    if (!tells) {
        stk_table_lacks(doc, all.count ? untold_missing : &stk_ops_keyed_missing);
        doc->inconclusive = true;
    }
}
