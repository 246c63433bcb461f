// SPDX-License-Identifier: Apache-2.0
// Which collectives cost time, and which rank do they wait for?
// A row per collective kernel, rank and device; the same summed by kind, group and size; and those
// that the host carries out (Gloo, MPI). exposed_ns: not covered by compute of its device. wait_ns:
// its own time above the shortest in its group; last_rank: who came last, by the clocks where they
// agree, else by who was shortest.
// Who belongs together: where the profiles name the ranks of each process group, the k-th of a name
// in a group; else the k-th of a name on all ranks, or on all devices of the only rank. Waiting is
// not known where not all of a group are there.
// Rates: algorithm rate = bytes / the time it moves data (without the waiting); bus rate = that
// times 2 (n - 1) / n for an all_reduce among n, (n - 1) / n for all_gather, reduce_scatter and
// all_to_all: what the slowest link must carry, as NCCL's tests define both.
// clock_residual_ns: how far the ends of a collective usually lie apart over the ranks, where each
// needs the data of all others to end: what their clocks differ by, at most.
// ideal_per_step_ns: all bytes of a step at the best bus rate that any of them reached. The usual
// check "parameters x 4 bytes / bandwidth": gradient_bytes_per_step is what a step's gradients
// hold, gradient_share what of a step's bytes they are (1: the collectives move the gradients and
// nothing else; more: not all gradients, or fewer bytes each, are communicated).
#include "passes/stats/stats_comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "model/median.h"
#include "passes/stats/stats.h"
#include "store/words.h"

#define GOOD_BYTES 1000000 // smaller messages say nothing about a link's rate

static const struct stk_column columns[] = {
    {.id = "rank", .type = STK_CELL_COUNT},
    {.id = "device", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "kind", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "ordinal", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "exposed_ns", .type = STK_CELL_NS},
    {.id = "wait_ns", .type = STK_CELL_NS},
    {.id = "last_rank", .type = STK_CELL_COUNT},
    {.id = "last_device", .type = STK_CELL_TEXT, .is_detail = true},
    {.id = "group", .type = STK_CELL_TEXT, .is_name = true, .is_detail = true},
    {.id = "group_size", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "algorithm_bytes_per_s", .type = STK_CELL_RATE, .is_detail = true},
    {.id = "bus_bytes_per_s", .type = STK_CELL_RATE, .is_detail = true},
};
static const struct stk_column kind_columns[] = {
    {.id = "kind", .type = STK_CELL_TEXT},
    {.id = "group", .type = STK_CELL_TEXT, .is_name = true, .is_detail = true},
    {.id = "group_size", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "exposed_ns", .type = STK_CELL_NS},
    {.id = "wait_ns", .type = STK_CELL_NS},
    {.id = "algorithm_bytes_per_s", .type = STK_CELL_RATE, .is_detail = true},
    {.id = "bus_bytes_per_s", .type = STK_CELL_RATE},
};
static const struct stk_column host_columns[] = {
    {.id = "rank", .type = STK_CELL_COUNT},  {.id = "name", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "count", .type = STK_CELL_COUNT}, {.id = "bytes", .type = STK_CELL_BYTES},
    {.id = "total_ns", .type = STK_CELL_NS}, {.id = "mean_ns", .type = STK_CELL_NS},
};

// ---- who waits, within a group ----

struct member {
    uint64_t key;
    uint32_t k, rank, device;
    const struct stk_collective *c;
    struct stk_comm_size *size;
};

static int by_key(const void *pa, const void *pb)
{
    const struct member *a = pa, *b = pb;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->k != b->k) {
        return a->k < b->k ? -1 : 1;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return (a->device > b->device) - (a->device < b->device);
}

static int64_t transfer_ns(const struct stk_collective *c, const struct stk_comm_size *size)
{
    return size->wait_ns >= 0 ? c->dur_ns - size->wait_ns : c->dur_ns;
}

// The waits of the n members of one collective.
static void judge(const struct stk_run_sum *run, struct member *m, size_t n)
{
    size_t last = 0, brief = 0;
    for (size_t i = 1; i < n; i++) {
        last = m[i].c->start_ns > m[last].c->start_ns ? i : last;
        brief = m[i].c->dur_ns < m[brief].c->dur_ns ? i : brief;
    }
    bool by_clock = run->rank_count < 2 || run->straggler.clocks_agree;
    const struct member *late = &m[by_clock ? last : brief];
    for (size_t i = 0; i < n; i++) {
        m[i].size->wait_ns = m[i].c->dur_ns - m[brief].c->dur_ns;
        m[i].size->last_rank = (int32_t)late->rank;
        m[i].size->last_device = late->device;
    }
}

// A collective whose group is named, or that runs on several devices of the only rank.
static bool has_own_group(const struct stk_run_sum *run, const struct stk_comm_size *size)
{
    if (size->members_hash) {
        return size->group_size > 1;
    }
    return run->rank_count < 2 && run->device_count > 1;
}

// One per rank (or device) of the group, all there.
static bool is_whole(const struct member *m, size_t n, size_t devices)
{
    bool named = m->size->members_hash != 0;
    for (size_t i = 1; i < n; i++) {
        if (m[i].rank == m[i - 1].rank && (named || m[i].device == m[i - 1].device)) {
            return false;
        }
    }
    if (named) {
        return n == (size_t)m->size->group_size;
    }
    return n > 1 && n == devices && (m->size->group_size == 0 || (size_t)m->size->group_size == n);
}

// Gathers the members: the k-th of a name in a group, per rank and device.
static bool gather(const struct stk_run_sum *run, struct member *all, size_t *count)
{
    struct stk_map ordinals;
    bool ok = true;
    *count = 0;
    stk_map_init(&ordinals, UINT32_MAX - 1);
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        const struct stk_comm_sums *p = rank->partial;
        for (uint32_t i = 0; p && i < rank->collective_count && ok; i++) {
            const struct stk_collective *c = &rank->collectives[i];
            uint64_t key = stk_hash_u64(c->name_hash ^ p->sizes[i].members_hash);
            uint32_t *k = stk_map_put(&ordinals, key, (uint64_t)r << 32 | c->device, 0, NULL);
            ok = k != NULL;
            if (ok) {
                all[(*count)++] = (struct member){key, (*k)++, r, c->device, c, &p->sizes[i]};
            }
        }
    }
    stk_map_deinit(&ordinals);
    return ok;
}

// Ranks leave a collective in which each needs the others' data at about the same time: how far the
// ends lie apart is what the clocks differ. -1: such a collective says nothing.
static int64_t end_spread(const struct member *m, size_t n)
{
    enum stk_collective_kind kind =
        stk_collective_find(m->size->kind ? m->size->kind : stk_comm_kind(m->c->name));
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    if (n < 2 || kind == STK_COLLECTIVE_NONE || kind == STK_COLLECTIVE_BROADCAST ||
        kind == STK_COLLECTIVE_REDUCE || kind == STK_COLLECTIVE_SEND_RECV ||
        kind == STK_COLLECTIVE_PERMUTE) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t end_ns = stk_add_ns(m[i].c->start_ns, m[i].c->dur_ns);
        first_ns = end_ns < first_ns ? end_ns : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    int64_t spread_ns;
    return __builtin_sub_overflow(last_ns, first_ns, &spread_ns) ? -1 : spread_ns;
}

// Judges each group, and finds the usual spread of the ends over ranks.
static bool judge_all(const struct stk_run_sum *run, struct member *all, size_t count,
                      size_t devices, int64_t *residual_ns)
{
    size_t spreads = 0;
    int64_t *spread_ns = stk_alloc_array(count + 1, sizeof *spread_ns);
    if (!spread_ns) {
        return false;
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && all[end].key == all[i].key && all[end].k == all[i].k; end++) {
        }
        bool own = has_own_group(run, all[i].size), whole = is_whole(all + i, end - i, devices);
        if (own && whole) {
            judge(run, all + i, end - i);
        }
        bool over_ranks =
            own ? whole && run->rank_count > 1 : all[i].c->matched && end - i == run->rank_count;
        spread_ns[spreads] = over_ranks ? end_spread(all + i, end - i) : -1;
        spreads += spread_ns[spreads] >= 0;
    }
    *residual_ns = spreads ? stk_median_low(spread_ns, spreads) : -1;
    stk_free(spread_ns);
    return true;
}

// *residual_ns: what the clocks of the ranks differ by, -1 not known.
static bool match_groups(const struct stk_run_sum *run, int64_t *residual_ns)
{
    size_t n = 0, count = 0, devices = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        n += run->ranks[r]->collective_count;
    }
    for (uint32_t d = 0; d < run->device_count; d++) {
        devices += run->devices[d].communication_ns > 0;
    }
    struct member *all = stk_alloc_array(n + 1, sizeof *all);
    bool ok = all && gather(run, all, &count);
    if (ok) {
        qsort(all, count, sizeof *all, by_key);
    }
    ok = ok && judge_all(run, all, count, devices, residual_ns);
    stk_free(all);
    return ok;
}

// What the model matched over all ranks, where the profile does not name groups.
static void take_matches(const struct stk_run_sum *run)
{
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        const struct stk_comm_sums *p = rank->partial;
        for (uint32_t i = 0; p && i < rank->collective_count; i++) {
            const struct stk_collective *c = &rank->collectives[i];
            if (!c->matched || has_own_group(run, &p->sizes[i])) {
                continue;
            }
            p->sizes[i].wait_ns = c->wait_ns;
            p->sizes[i].last_rank = run->straggler.clocks_agree ? c->last_rank : c->brief_rank;
            p->sizes[i].last_device = STK_NONE;
        }
    }
}

// ---- tables ----

struct comm_totals {
    uint64_t count, waits, sized, in_steps;
    int64_t total_ns, wait_ns, exposed_ns;
    int64_t step_bytes; // of used steps, -1 where one is not known
    double step_bus_bytes, best_bus;
    uint64_t host_count;
    int64_t gradient_elements, gradient_bytes, gradient_steps; // bytes: -1 not known of all
    int64_t residual_ns; // by which the clocks of the ranks differ, -1 not known
};

struct kind_row {
    const char *kind, *group;
    int64_t group_size, bytes, total_ns, exposed_ns, wait_ns, transfer_ns;
    uint64_t count, waits;
};

static bool is_selected(const struct stk_pass_ctx *ctx, const struct stk_rank_sum *rank,
                        const struct stk_collective *c)
{
    const struct stk_select *s = ctx->select;
    if (s->has_device && rank->devices[c->device].ordinal != s->device) {
        return false;
    }
    if (!s->has_steps) {
        return true;
    }
    if (c->step == STK_NONE) {
        return false;
    }
    const char *excluded = rank->steps[c->step].excluded;
    return !excluded || strcmp(excluded, STK_EXCLUDED_UNSELECTED) != 0;
}

static struct stk_cell rate_of(int64_t bytes, int64_t ns, double factor)
{
    if (bytes < 0 || ns <= 0) {
        return stk_cell_unknown();
    }
    return stk_cell_ratio((double)bytes * factor * 1e9 / (double)ns);
}

static void put_last(struct stk_cell *row, const struct stk_run_sum *run,
                     const struct stk_comm_size *size)
{
    if (size->wait_ns < 0) {
        return;
    }
    const struct stk_rank_sum *last = run->ranks[size->last_rank];
    row[8] = stk_cell_number(size->wait_ns);
    row[9] = stk_cell_number(last->rank);
    if (size->last_device < last->device_count) {
        row[10] = stk_cell_text(last->devices[size->last_device].id);
    }
}

static bool add_kind(struct stk_vec *kinds, struct stk_map *known, const char *kind,
                     const struct stk_collective *c, const struct stk_comm_size *size)
{
    const char *group = size->group ? size->group : "";
    uint64_t a =
        stk_hash_bytes(group, strlen(group)) ^ (kind ? stk_hash_bytes(kind, strlen(kind)) : 0);
    uint64_t b = stk_hash_u64((uint64_t)size->bytes) + (uint64_t)size->group_size;
    int created;
    uint32_t *at = stk_map_put(known, a, b, (uint32_t)kinds->count, &created);
    struct kind_row *row = !at ? NULL : created ? stk_vec_push(kinds) : stk_vec_at(kinds, *at);
    if (!row) {
        return false;
    }
    if (created) {
        *row = (struct kind_row){.kind = kind,
                                 .group = size->group,
                                 .group_size = size->group_size,
                                 .bytes = size->bytes};
    }
    row->count++;
    row->total_ns = stk_add_ns(row->total_ns, c->dur_ns);
    row->exposed_ns = stk_add_ns(row->exposed_ns, c->exposed_ns);
    row->transfer_ns = stk_add_ns(row->transfer_ns, transfer_ns(c, size));
    row->waits += size->wait_ns >= 0;
    row->wait_ns = stk_add_ns(row->wait_ns, size->wait_ns >= 0 ? size->wait_ns : 0);
    return true;
}

static void add_totals(struct comm_totals *all, const struct stk_rank_sum *rank, const char *kind,
                       const struct stk_collective *c, const struct stk_comm_size *size)
{
    double factor = stk_comm_bus_factor(kind, size->group_size);
    int64_t ns = transfer_ns(c, size);
    all->count++;
    all->total_ns = stk_add_ns(all->total_ns, c->dur_ns);
    all->waits += size->wait_ns >= 0;
    all->wait_ns = stk_add_ns(all->wait_ns, size->wait_ns >= 0 ? size->wait_ns : 0);
    all->sized += size->bytes >= 0;
    double rate = size->bytes >= GOOD_BYTES && size->group_size > 1 && ns > 0
                      ? (double)size->bytes * factor * 1e9 / (double)ns
                      : 0;
    all->best_bus = rate > all->best_bus ? rate : all->best_bus;
    if (c->step == STK_NONE || rank->steps[c->step].excluded) {
        return;
    }
    all->in_steps++;
    all->step_bytes =
        size->bytes < 0 || all->step_bytes < 0 ? -1 : stk_add_ns(all->step_bytes, size->bytes);
    all->step_bus_bytes += size->bytes > 0 ? (double)size->bytes * factor : 0;
}

static bool fill_row(const struct stk_run_sum *run, struct stk_table *table,
                     const struct stk_rank_sum *rank, const char *kind,
                     const struct stk_collective *c, const struct stk_comm_size *size)
{
    struct stk_cell *row = stk_table_row(table);
    if (!row) {
        return false;
    }
    bool knows = size->group_size > 1;
    row[0] = stk_cell_number(rank->rank);
    row[1] = stk_cell_text(rank->devices[c->device].id);
    row[2] = stk_cell_text(c->name);
    row[3] = stk_cell_text(kind);
    row[4] = stk_cell_number(c->ordinal);
    row[5] = size->bytes >= 0 ? stk_cell_number(size->bytes) : stk_cell_unknown();
    row[6] = stk_cell_number(c->dur_ns);
    row[7] = stk_cell_number(c->exposed_ns);
    put_last(row, run, size);
    row[11] = stk_cell_text(size->group);
    row[12] = size->group_size > 0 ? stk_cell_number(size->group_size) : stk_cell_unknown();
    row[13] = rate_of(size->bytes, transfer_ns(c, size), 1);
    if (knows) {
        row[14] =
            rate_of(size->bytes, transfer_ns(c, size), stk_comm_bus_factor(kind, size->group_size));
    }
    return true;
}

static bool fill_rank(const struct stk_pass_ctx *ctx, struct stk_table *table,
                      const struct stk_rank_sum *rank, struct stk_vec *kinds, struct stk_map *known,
                      struct comm_totals *all)
{
    const struct stk_comm_sums *p = rank->partial;
    const char *last_name = NULL, *name_kind = NULL;
    for (uint32_t i = 0; p && i < rank->collective_count; i++) {
        const struct stk_collective *c = &rank->collectives[i];
        const struct stk_comm_size *size = &p->sizes[i];
        if (!is_selected(ctx, rank, c)) {
            continue;
        }
        if (c->name != last_name) {
            name_kind = stk_comm_kind(last_name = c->name);
        }
        const char *kind = size->kind ? size->kind : name_kind;
        add_totals(all, rank, kind, c, size);
        if (!fill_row(ctx->run, table, rank, kind, c, size) ||
            !add_kind(kinds, known, kind, c, size)) {
            return false;
        }
    }
    if (!p) {
        return true;
    }
    all->exposed_ns = stk_add_ns(all->exposed_ns, p->exposed_ns);
    all->gradient_elements = stk_add_ns(all->gradient_elements, p->gradient_elements);
    all->gradient_steps += p->gradient_elements ? p->gradient_steps : 0;
    all->gradient_bytes = p->gradient_bytes < 0 || all->gradient_bytes < 0
                              ? -1
                              : stk_add_ns(all->gradient_bytes, p->gradient_bytes);
    return true;
}

static bool fill_kinds(struct stk_table *table, const struct stk_vec *kinds)
{
    for (size_t i = 0; i < kinds->count; i++) {
        const struct kind_row *k = stk_vec_at(kinds, i);
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        int64_t each_ns = k->transfer_ns / (int64_t)k->count;
        row[0] = stk_cell_text(k->kind);
        row[1] = stk_cell_text(k->group);
        row[2] = k->group_size > 0 ? stk_cell_number(k->group_size) : stk_cell_unknown();
        row[3] = k->bytes >= 0 ? stk_cell_number(k->bytes) : stk_cell_unknown();
        row[4] = stk_cell_number((int64_t)k->count);
        row[5] = stk_cell_number(k->total_ns);
        row[6] = stk_cell_number(k->exposed_ns);
        row[7] = k->waits ? stk_cell_number(k->wait_ns) : stk_cell_unknown();
        row[8] = rate_of(k->bytes, each_ns, 1);
        if (k->group_size > 1) {
            row[9] = rate_of(k->bytes, each_ns, stk_comm_bus_factor(k->kind, k->group_size));
        }
    }
    return true;
}

static bool fill_host(struct stk_table *table, const struct stk_rank_sum *rank,
                      struct comm_totals *all)
{
    const struct stk_comm_sums *p = rank->partial;
    for (uint32_t i = 0; p && i < p->host_count; i++) {
        const struct stk_comm_host *h = &p->host[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_number(rank->rank < 0 ? 0 : rank->rank);
        row[1] = stk_cell_text(h->name);
        row[2] = stk_cell_number((int64_t)h->count);
        row[3] = h->bytes >= 0 ? stk_cell_number(h->bytes) : stk_cell_unknown();
        row[4] = stk_cell_number(h->total_ns);
        row[5] = stk_cell_number(h->total_ns / (int64_t)h->count);
        all->host_count += h->count;
    }
    return true;
}

// Used steps, counted once for each device.
static int64_t used_steps(const struct stk_pass_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->run;
    int64_t n = 0;
    for (uint32_t i = 0; i < run->step_count; i++) {
        n += !run->steps[i].excluded && run->steps[i].device != STK_NONE &&
             (!ctx->select->has_device ||
              run->devices[run->steps[i].device].ordinal == ctx->select->device);
    }
    return n;
}

// What a step's gradients hold, beside what its collectives move.
static void say_gradients(const struct comm_totals *all, int64_t moved_bytes,
                          struct stk_table_doc *doc)
{
    bool known = all->gradient_steps > 0 && all->gradient_elements > 0;
    bool sized = known && all->gradient_bytes >= 0;
    struct stk_cell unknown = stk_cell_unknown();
    int64_t bytes = sized ? all->gradient_bytes / all->gradient_steps : -1;
    stk_table_figure(doc, "gradients_per_step", STK_CELL_COUNT,
                     known ? stk_cell_number(all->gradient_elements / all->gradient_steps)
                           : unknown);
    stk_table_figure(doc, "gradient_bytes_per_step", STK_CELL_BYTES,
                     sized ? stk_cell_number(bytes) : unknown);
    stk_table_figure(doc, "gradient_share", STK_CELL_SHARE,
                     sized && moved_bytes > 0 ? stk_cell_share_of(bytes, moved_bytes) : unknown);
    if (!known && all->count + all->host_count > 0) {
        stk_table_lacks(doc, "bytes of the gradients",
                        "no step with the shapes of its gradients was recorded",
                        "PyTorch: record_shapes=True in torch.profiler, and profiler.step()");
    }
}

static void say_figures(const struct stk_pass_ctx *ctx, const struct comm_totals *all,
                        struct stk_table_doc *doc)
{
    const struct stk_straggler *late = &ctx->run->straggler;
    int64_t steps = used_steps(ctx);
    bool per_step = steps > 0 && all->in_steps > 0, sized = per_step && all->step_bytes >= 0;
    struct stk_cell unknown = stk_cell_unknown();
    stk_table_figure(doc, "collectives", STK_CELL_COUNT, stk_cell_number((int64_t)all->count));
    stk_table_figure(doc, "collectives_per_step", STK_CELL_COUNT,
                     per_step ? stk_cell_number((int64_t)all->in_steps / steps) : unknown);
    stk_table_figure(doc, "total_ns", STK_CELL_NS, stk_cell_number(all->total_ns));
    stk_table_figure(doc, "exposed_ns", STK_CELL_NS, stk_cell_number(all->exposed_ns));
    stk_table_figure(doc, "wait_ns", STK_CELL_NS,
                     all->waits ? stk_cell_number(all->wait_ns) : unknown);
    stk_table_figure(doc, "straggler_rank", STK_CELL_COUNT,
                     late->fired ? stk_cell_number(late->rank) : unknown);
    stk_table_figure(doc, "bytes_per_step", STK_CELL_BYTES,
                     sized ? stk_cell_number(all->step_bytes / steps) : unknown);
    stk_table_figure(doc, "best_bus_bytes_per_s", STK_CELL_RATE,
                     all->best_bus > 0 ? stk_cell_ratio(all->best_bus) : unknown);
    stk_table_figure(
        doc, "ideal_per_step_ns", STK_CELL_NS,
        sized && all->best_bus > 0
            ? stk_cell_number((int64_t)(all->step_bus_bytes * 1e9 / all->best_bus / (double)steps))
            : unknown);
    say_gradients(all, sized ? all->step_bytes / steps : 0, doc);
    stk_table_figure(doc, "clock_residual_ns", STK_CELL_NS,
                     all->residual_ns >= 0 ? stk_cell_number(all->residual_ns) : unknown);
    stk_table_figure(doc, "host_collectives", STK_CELL_COUNT,
                     all->host_count ? stk_cell_number((int64_t)all->host_count) : unknown);
}

static void say_missing(const struct stk_pass_ctx *ctx, const struct comm_totals *all,
                        struct stk_table_doc *doc)
{
    if (all->count == 0) {
        stk_table_lacks(doc, "collectives of a device", "none ran in the selected time",
                        "give the profiles of a distributed run");
    } else if (all->waits == 0 && ctx->run->rank_count < 2) {
        stk_table_lacks(doc, "who waits for whom",
                        "the profile holds one rank: rates are too low by its waiting",
                        "record every rank and give all profiles, or their directory");
    } else if (all->waits < all->count) {
        stk_table_lacks(doc, "waiting of some collectives",
                        "they do not occur equally often on all ranks of their group",
                        "record the same steps on every rank, and give all profiles");
    }
    if (all->sized < all->count) {
        stk_table_lacks(doc, all->sized ? "bytes of some collectives" : "bytes", "not recorded",
                        "PyTorch 2.2 and newer write them to the kernels (older ones with "
                        "record_shapes=True); what Nsight Systems exports holds none");
    }
}

static enum stk_status comm_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                     struct stk_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *rows = stk_table_add(doc, "collectives", "Collectives by exposed time",
                                           columns, sizeof columns / sizeof columns[0]);
    struct stk_table *by_kind =
        stk_table_add(doc, "kinds", "The same by kind, group and size", kind_columns,
                      sizeof kind_columns / sizeof kind_columns[0]);
    struct stk_table *host =
        stk_table_add(doc, "host", "Collectives that the host carries out", host_columns,
                      sizeof host_columns / sizeof host_columns[0]);
    struct comm_totals all = {.count = 0};
    struct stk_vec kinds;
    struct stk_map known;
    stk_vec_init(&kinds, sizeof(struct kind_row), UINT32_MAX - 1);
    stk_map_init(&known, UINT32_MAX - 1);
    stk_table_keep(rows, "exposed_ns", ctx->limit);
    bool ok = match_groups(run, &all.residual_ns);
    take_matches(run);
    for (uint32_t r = 0; r < run->rank_count && ok; r++) {
        ok = fill_rank(ctx, rows, run->ranks[r], &kinds, &known, &all) &&
             fill_host(host, run->ranks[r], &all);
    }
    ok = ok && fill_kinds(by_kind, &kinds) && stk_table_sort(rows, "exposed_ns") &&
         stk_table_sort(by_kind, "exposed_ns") && stk_table_sort(host, "total_ns");
    stk_vec_deinit(&kinds);
    stk_map_deinit(&known);
    if (!ok) {
        return stk_err_nomem(err);
    }
    if (all.host_count == 0 && stk_stats_lacks_device(ctx, doc)) {
        return STK_OK;
    }
    say_figures(ctx, &all, doc);
    say_missing(ctx, &all, doc);
    return STK_OK;
}

const struct stk_stats stk_stats_comm = {
    .name = "comm",
    .question = "Which collectives cost time, and which rank do they wait for?",
    .needs = "collectives of a device; all ranks of the run for the waiting",
    .hook = {.see = stk_comm_sums_see, .wants = STK_WANT_COLLECTIVES},
    .describe = comm_describe,
};
