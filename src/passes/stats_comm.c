// SPDX-License-Identifier: Apache-2.0
// Which collectives cost time, and which rank do they wait for?
// A row per collective kernel and rank. exposed_ns: not covered by compute of its device. wait_ns:
// its own time above the shortest over the ranks, where the same collectives (k-th of a name) are
// on all ranks; last_rank: who entered last, by the clocks where they agree, else by who was
// shortest. Limits: with one rank, and for collectives of a subgroup, waiting is not known.
// Collectives of the host (Gloo) are no device work and not listed. Sizes are not recorded by any
// format: null.
#include <string.h>

#include "passes/stats.h"

struct comm_partial {
    int64_t exposed_ns; // union per device, inside the selection
};

static enum stk_status see(const struct stk_analysis *view, struct stk_arena *arena, void **partial,
                           struct stk_err *err)
{
    struct comm_partial *out = stk_arena_alloc(arena, sizeof *out);
    struct stk_spans selected, inside;
    stk_spans_init(&selected);
    stk_spans_init(&inside);
    bool ok = out != NULL;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        ok = stk_view_selected(view, d, &selected) &&
             stk_spans_intersect(&view->lines[d].exposed[STK_PART_COMMUNICATION], &selected,
                                 &inside);
        out->exposed_ns += stk_spans_total(&inside);
    }
    *partial = out;
    stk_spans_deinit(&selected);
    stk_spans_deinit(&inside);
    return ok ? STK_OK : stk_err_nomem(err);
}

static const struct stk_column columns[] = {
    {.id = "rank", .type = STK_CELL_COUNT},
    {.id = "device", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "kind", .type = STK_CELL_TEXT},
    {.id = "ordinal", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "bytes", .type = STK_CELL_BYTES, .is_detail = true},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "exposed_ns", .type = STK_CELL_NS},
    {.id = "wait_ns", .type = STK_CELL_NS},
    {.id = "last_rank", .type = STK_CELL_COUNT},
};

// Kind by the words of NCCL, RCCL, oneCCL and XLA. Order matters: "reducescatter" before "reduce".
static const char *kind_of(const char *name)
{
    static const struct {
        const char *word, *kind;
    } kinds[] = {{"reducescatter", "reduce_scatter"},
                 {"allreduce", "all_reduce"},
                 {"allgather", "all_gather"},
                 {"alltoall", "all_to_all"},
                 {"sendrecv", "send_recv"},
                 {"collectivepermute", "permute"},
                 {"broadcast", "broadcast"},
                 {"gather", "gather"},
                 {"scatter", "scatter"},
                 {"reduce", "reduce"},
                 {"send", "send_recv"},
                 {"recv", "send_recv"},
                 {"barrier", "barrier"}};
    char text[128];
    size_t n = 0;
    for (const char *p = name; *p && n + 1 < sizeof text; p++) {
        char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + ('a' - 'A')) : *p;
        if (c == '(' || c == '<')
            break; // parameters
        if (c != '_' && c != '-')
            text[n++] = c;
    }
    text[n] = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strstr(text, kinds[i].word))
            return kinds[i].kind;
    return NULL;
}

static bool is_selected(const struct stk_pass_ctx *ctx, const struct stk_rank_sum *rank,
                        const struct stk_collective *c)
{
    const struct stk_select *s = ctx->select;
    if (s->has_device && rank->devices[c->device].ordinal != s->device)
        return false;
    if (!s->has_steps)
        return true;
    if (c->step == STK_NONE)
        return false;
    const char *excluded = rank->steps[c->step].excluded;
    return !excluded || strcmp(excluded, STK_EXCLUDED_UNSELECTED) != 0;
}

struct comm_sums {
    uint64_t count, matched;
    int64_t total_ns, wait_ns;
};

static bool fill_rank(const struct stk_pass_ctx *ctx, struct stk_table *table,
                      const struct stk_rank_sum *rank, struct comm_sums *sums)
{
    const struct stk_run_sum *run = ctx->run;
    const char *last_name = NULL, *kind = NULL;
    for (uint32_t i = 0; i < rank->collective_count; i++) {
        const struct stk_collective *c = &rank->collectives[i];
        if (!is_selected(ctx, rank, c))
            continue;
        struct stk_cell *row = stk_table_row(table);
        if (!row)
            return false;
        if (c->name != last_name)
            kind = kind_of(last_name = c->name);
        row[0] = stk_cell_number(rank->rank);
        row[1] = stk_cell_text(rank->devices[c->device].id);
        row[2] = stk_cell_text(c->name);
        row[3] = stk_cell_text(kind);
        row[4] = stk_cell_number(c->ordinal);
        row[6] = stk_cell_number(c->dur_ns);
        row[7] = stk_cell_number(c->exposed_ns);
        if (c->matched) {
            int32_t last = run->straggler.clocks_agree ? c->last_rank : c->brief_rank;
            row[8] = stk_cell_number(c->wait_ns);
            row[9] = stk_cell_number(run->ranks[last]->rank);
            sums->matched++;
            sums->wait_ns += c->wait_ns;
        }
        sums->count++;
        sums->total_ns += c->dur_ns;
    }
    return true;
}

static void say_missing(const struct stk_pass_ctx *ctx, const struct comm_sums *sums,
                        struct stk_table_doc *doc)
{
    if (sums->count == 0)
        stk_table_lacks(doc, "collectives", "no collective ran on a device in the selected time",
                        "give the profiles of a distributed run; collectives of the host "
                        "(Gloo) are not listed");
    else if (ctx->run->rank_count < 2)
        stk_table_lacks(doc, "who waits for whom", "the profile holds one rank",
                        "record every rank and give all profiles, or their directory");
    else if (sums->matched < sums->count)
        stk_table_lacks(doc, "waiting of some collectives",
                        "they do not occur equally often on all ranks",
                        "record the same steps on every rank");
}

static enum stk_status describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                struct stk_err *err)
{
    struct stk_table *table = stk_table_add(doc, "collectives", "Collectives by exposed time",
                                            columns, sizeof columns / sizeof columns[0]);
    struct comm_sums sums = {.count = 0};
    int64_t exposed_ns = 0;
    if (stk_stats_lacks_device(ctx, doc))
        return STK_OK;
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct comm_partial *p = ctx->run->ranks[r]->partial;
        exposed_ns += p ? p->exposed_ns : 0;
        if (!fill_rank(ctx, table, ctx->run->ranks[r], &sums))
            return stk_err_nomem(err);
    }
    if (!stk_table_sort(table, "exposed_ns"))
        return stk_err_nomem(err);
    const struct stk_straggler *late = &ctx->run->straggler;
    stk_table_figure(doc, "collectives", STK_CELL_COUNT, stk_cell_number((int64_t)sums.count));
    stk_table_figure(doc, "total_ns", STK_CELL_NS, stk_cell_number(sums.total_ns));
    stk_table_figure(doc, "exposed_ns", STK_CELL_NS, stk_cell_number(exposed_ns));
    stk_table_figure(doc, "wait_ns", STK_CELL_NS,
                     sums.matched ? stk_cell_number(sums.wait_ns) : stk_cell_unknown());
    stk_table_figure(doc, "straggler_rank", STK_CELL_COUNT,
                     late->fired ? stk_cell_number(late->rank) : stk_cell_unknown());
    say_missing(ctx, &sums, doc);
    return STK_OK;
}

const struct stk_stats stk_stats_comm = {
    .name = "comm",
    .question = "Which collectives cost time, and which rank do they wait for?",
    .needs = "collectives of a device; all ranks of the run for the waiting",
    .hook = {.see = see},
    .describe = describe,
};
