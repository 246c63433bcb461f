// SPDX-License-Identifier: Apache-2.0
// Which collectives cost time, and which rank do they wait for?
// A row per collective kernel, rank and device; the same summed by kind, group and size; and those
// that run on the host (Gloo, MPI). exposed_ns: not covered by compute on its device. wait_ns: its
// own time above the shortest in its group; last_rank: the rank that came last, by the clocks if
// they agree, else the one with the shortest time. Members of one collective: if the profiles name
// the ranks of each process group, the k-th of a name in a group; else the k-th of a name on all
// ranks, or on all devices of the only rank. Waiting is unknown if a member is missing.
// Rates: algorithm rate = bytes / the time it moves data (without the waiting); bus rate = that
// times 2 (n - 1) / n for an all_reduce among n, (n - 1) / n for all_gather, reduce_scatter and
// all_to_all: what the slowest link must carry, as NCCL's tests define both.
// clock_residual_ns: the usual spread of a collective's ends over the ranks, if each needs the data
// of all others to end: the most by which their clocks differ.
// ideal_per_step_ns: all bytes of a step at the best bus rate that any of them reached. The usual
// check "parameters x 4 bytes / bandwidth": gradient_bytes_per_step is what a step's gradients
// hold, gradient_share what of a step's bytes they are (1: the collectives move the gradients and
// nothing else; more: not all gradients, or fewer bytes each, are communicated).
#include "answers/passes/stats/stats_comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/sort.h"
#include "profile/model/collectives/collective_sizes.h"
#include "profile/model/median.h"
#include "answers/passes/stats/stats.h"
#include "profile/store/words.h"

#define COLLECTIVES_COLUMNS(C, R)                                                                  \
    C(R, rank, COUNT, STK_DOC_RANK)                                                                \
    C(R, device, TEXT, STK_DOC_DEVICE, .is_detail = true)                                          \
    C(R, name, TEXT, "name of the kernel", .is_name = true)                                        \
    C(R, kind, TEXT, "all_reduce, all_gather and so on: as recorded, or by the name",              \
      .is_detail = true)                                                                           \
    C(R, ordinal, COUNT, "its number among those of its name on the device, from 0",               \
      .is_detail = true)                                                                           \
    C(R, bytes, BYTES, "size of the whole tensor")                                                 \
    C(R, total_ns, NS, "duration")                                                                 \
    C(R, exposed_ns, NS, "part that compute on the same device doesn't overlap")                   \
    C(R, wait_ns, NS,                                                                              \
      "duration above the group's shortest: waiting for the last to arrive; unknown "              \
      "unless the whole group was recorded")                                                       \
    C(R, last_rank, COUNT,                                                                         \
      "rank that came last: by start if the ranks' clocks agree, otherwise the one with "          \
      "the shortest duration")                                                                     \
    C(R, last_device, TEXT, "device of that rank", .is_detail = true)                              \
    C(R, group, TEXT, "name of the process group", .is_name = true, .is_detail = true)             \
    C(R, group_size, COUNT, "ranks in the process group", .is_detail = true)                       \
    C(R, algorithm_bytes_per_s, RATE,                                                              \
      "bytes per second while data moves: `bytes` over `total_ns` minus `wait_ns`",                \
      .is_detail = true)                                                                           \
    C(R, bus_bytes_per_s, RATE,                                                                    \
      "bytes per second that the slowest link carries: `algorithm_bytes_per_s` times 2 (n "        \
      "- 1) / n for an all_reduce among n, (n - 1) / n for all_gather, reduce_scatter and "        \
      "all_to_all, 1 else",                                                                        \
      .is_detail = true)
STK_TABLE(collectives, "Collectives by exposed time", COLLECTIVES_COLUMNS)

#define KINDS_COLUMNS(C, R)                                                                        \
    C(R, kind, TEXT, "all_reduce, all_gather and so on")                                           \
    C(R, group, TEXT, "name of the process group", .is_name = true, .is_detail = true)             \
    C(R, group_size, COUNT, "ranks in the process group", .is_detail = true)                       \
    C(R, bytes, BYTES, "size of each one's tensor")                                                \
    C(R, count, COUNT, "collectives on all ranks")                                                 \
    C(R, total_ns, NS, "durations, summed")                                                        \
    C(R, exposed_ns, NS, "parts that compute on the same device doesn't overlap, summed")          \
    C(R, wait_ns, NS, "waiting, summed over collectives whose group was recorded")                 \
    C(R, algorithm_bytes_per_s, RATE,                                                              \
      "bytes per second: `bytes` over the mean duration minus waiting", .is_detail = true)         \
    C(R, bus_bytes_per_s, RATE,                                                                    \
      "bytes per second that the slowest link carries: as in table `collectives`")
STK_TABLE(kinds, "The same by kind, group and size", KINDS_COLUMNS)

#define HOST_COLUMNS(C, R)                                                                         \
    C(R, rank, COUNT, STK_DOC_RANK)                                                                \
    C(R, name, TEXT, "name of the event", .is_name = true)                                         \
    C(R, count, COUNT, "collectives of this name that run on the CPU (Gloo, MPI)")                 \
    C(R, bytes, BYTES, "sizes, summed; unknown unless all are known")                              \
    C(R, total_ns, NS, "durations, summed")                                                        \
    C(R, mean_ns, NS, "mean duration")
STK_TABLE(host, "Collectives that run on the CPU", HOST_COLUMNS)

// ---- waiting within a group ----

struct member {
    uint64_t key;
    uint32_t k, rank, device;
    const struct stk_collective *c;
    const struct stk_collective_class *class;
    struct stk_comm_wait *wait;
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

static int64_t transfer_ns(const struct stk_collective *c, const struct stk_comm_wait *wait)
{
    return wait->wait_ns >= 0 ? c->dur_ns - wait->wait_ns : c->dur_ns;
}

// The waits of the n members of one collective.
static void judge_group(const struct stk_run_sum *run, struct member *m, size_t n)
{
    size_t last = 0, brief = 0;
    for (size_t i = 1; i < n; i++) {
        last = m[i].c->start_ns > m[last].c->start_ns ? i : last;
        brief = m[i].c->dur_ns < m[brief].c->dur_ns ? i : brief;
    }
    bool by_clock = run->rank_count < 2 || run->straggler.clocks_agree;
    const struct member *late = &m[by_clock ? last : brief];
    for (size_t i = 0; i < n; i++) {
        m[i].wait->wait_ns = m[i].c->dur_ns - m[brief].c->dur_ns;
        m[i].wait->last_rank = (int32_t)late->rank;
        m[i].wait->last_device = late->device;
    }
}

// A collective whose group is named, or that runs on several devices of the only rank.
static bool has_own_group(const struct stk_run_sum *run, const struct stk_collective_class *c)
{
    if (c->members_hash) {
        return c->group_size > 1;
    }
    return run->rank_count < 2 && run->device_count > 1;
}

// Whether each rank (or device) of the group has a member.
static bool is_whole(const struct member *m, size_t n, size_t devices)
{
    bool named = m->class->members_hash != 0;
    for (size_t i = 1; i < n; i++) {
        if (m[i].rank == m[i - 1].rank && (named || m[i].device == m[i - 1].device)) {
            return false;
        }
    }
    if (named) {
        return n == (size_t)m->class->group_size;
    }
    return n > 1 && n == devices &&
           (m->class->group_size == 0 || (size_t)m->class->group_size == n);
}

// Gathers the members: the k-th of a name in a group, per rank and device.
static bool gather_members(const struct stk_run_sum *run, struct member *all, size_t *count)
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
            const struct stk_collective_class *class = stk_collective_class_of(rank, c);
            uint64_t key = stk_hash_u64(rank->collective_series[class->series].name_hash ^
                                        class->members_hash);
            uint32_t *k = stk_map_put(&ordinals, key, (uint64_t)r << 32 | class->device, 0, NULL);
            ok = k != NULL;
            if (ok) {
                all[(*count)++] =
                    (struct member){key, (*k)++, r, class->device, c, class, &p->waits[i]};
            }
        }
    }
    stk_map_deinit(&ordinals);
    return ok;
}

// The spread of the ends. Ranks leave a collective in which each needs the others' data at about
// the same time, so the spread is the difference of their clocks. -1: another kind of collective.
static int64_t end_spread(const struct member *m, size_t n)
{
    enum stk_collective_kind kind = m->class->kind;
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
        bool own = has_own_group(run, all[i].class), whole = is_whole(all + i, end - i, devices);
        if (own && whole) {
            judge_group(run, all + i, end - i);
        }
        bool over_ranks =
            own ? whole && run->rank_count > 1
                : stk_meeting_of(run->ranks[all[i].rank], all[i].c) && end - i == run->rank_count;
        spread_ns[spreads] = over_ranks ? end_spread(all + i, end - i) : -1;
        spreads += spread_ns[spreads] >= 0;
    }
    *residual_ns = spreads ? stk_median_low(spread_ns, spreads) : -1;
    stk_free(spread_ns);
    return true;
}

// *residual_ns: the difference of the ranks' clocks; -1: unknown.
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
    bool ok = all && gather_members(run, all, &count);
    if (ok) {
        stk_sort(all, count, sizeof *all, by_key);
    }
    ok = ok && judge_all(run, all, count, devices, residual_ns);
    stk_free(all);
    return ok;
}

// If the profile doesn't name groups, takes the model's matches over all ranks.
static void take_matches(const struct stk_run_sum *run)
{
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        const struct stk_comm_sums *p = rank->partial;
        for (uint32_t i = 0; p && i < rank->collective_count; i++) {
            const struct stk_collective *c = &rank->collectives[i];
            const struct stk_meeting *m = stk_meeting_of(rank, c);
            if (!m || has_own_group(run, stk_collective_class_of(rank, c))) {
                continue;
            }
            p->waits[i].wait_ns = c->dur_ns - m->shortest_ns;
            p->waits[i].last_rank =
                (int32_t)(run->straggler.clocks_agree ? m->last_rank : m->brief_rank);
            p->waits[i].last_device = STK_NONE;
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
    enum stk_collective_kind kind;
    const char *group;
    int64_t group_size, bytes, total_ns, exposed_ns, wait_ns, transfer_ns;
    uint64_t count, waits;
};

static bool is_selected(const struct stk_pass_ctx *ctx, const struct stk_rank_sum *rank,
                        const struct stk_collective *c)
{
    const struct stk_select *s = ctx->select;
    if (s->has_device &&
        rank->devices[stk_collective_class_of(rank, c)->device].ordinal != s->device) {
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

static void put_last(struct collectives_row *row, const struct stk_run_sum *run,
                     const struct stk_comm_wait *wait)
{
    if (wait->wait_ns < 0) {
        return;
    }
    const struct stk_rank_sum *last = run->ranks[wait->last_rank];
    row->wait_ns = stk_cell_number(wait->wait_ns);
    row->last_rank = stk_cell_number(last->rank);
    if (wait->last_device < last->device_count) {
        row->last_device = stk_cell_text(last->devices[wait->last_device].id);
    }
}

static bool add_kind(struct stk_vec *kinds, struct stk_map *known,
                     const struct stk_collective_class *class, const struct stk_collective *c,
                     const struct stk_comm_wait *wait)
{
    const char *group = class->group ? class->group : "";
    uint64_t a = stk_hash_table_bytes(group, strlen(group)) ^ class->kind;
    uint64_t b = stk_hash_u64((uint64_t)class->bytes) + (uint64_t)class->group_size;
    int created;
    uint32_t *at = stk_map_put(known, a, b, (uint32_t)kinds->count, &created);
    struct kind_row *row = !at ? NULL : created ? stk_vec_push(kinds) : stk_vec_at(kinds, *at);
    if (!row) {
        return false;
    }
    if (created) {
        *row = (struct kind_row){.kind = class->kind,
                                 .group = class->group,
                                 .group_size = class->group_size,
                                 .bytes = class->bytes};
    }
    row->count++;
    row->total_ns = stk_add_ns(row->total_ns, c->dur_ns);
    row->exposed_ns = stk_add_ns(row->exposed_ns, c->exposed_ns);
    row->transfer_ns = stk_add_ns(row->transfer_ns, transfer_ns(c, wait));
    row->waits += wait->wait_ns >= 0;
    row->wait_ns = stk_add_ns(row->wait_ns, wait->wait_ns >= 0 ? wait->wait_ns : 0);
    return true;
}

static void add_totals(struct comm_totals *all, const struct stk_rank_sum *rank,
                       const struct stk_collective *c, const struct stk_comm_wait *wait)
{
    const struct stk_collective_class *class = stk_collective_class_of(rank, c);
    double factor = stk_collective_bus_factor(class->kind, class->group_size);
    int64_t ns = transfer_ns(c, wait);
    all->count++;
    all->total_ns = stk_add_ns(all->total_ns, c->dur_ns);
    all->waits += wait->wait_ns >= 0;
    all->wait_ns = stk_add_ns(all->wait_ns, wait->wait_ns >= 0 ? wait->wait_ns : 0);
    all->sized += class->bytes >= 0;
    double rate = class->bytes >= STK_COLLECTIVE_LARGE_BYTES && class->group_size > 1 && ns > 0
                      ? (double)class->bytes * factor * 1e9 / (double)ns
                      : 0;
    all->best_bus = rate > all->best_bus ? rate : all->best_bus;
    if (c->step == STK_NONE || rank->steps[c->step].excluded) {
        return;
    }
    all->in_steps++;
    all->step_bytes =
        class->bytes < 0 || all->step_bytes < 0 ? -1 : stk_add_ns(all->step_bytes, class->bytes);
    all->step_bus_bytes += class->bytes > 0 ? (double)class->bytes * factor : 0;
}

static void comm_fill_row(const struct stk_run_sum *run, struct stk_table *table,
                          const struct stk_rank_sum *rank, const struct stk_collective *c,
                          const struct stk_comm_wait *wait)
{
    const struct stk_collective_class *class = stk_collective_class_of(rank, c);
    double factor = stk_collective_bus_factor(class->kind, class->group_size);
    int64_t moving_ns = transfer_ns(c, wait);
    struct collectives_row row = {
        .rank = stk_cell_number(rank->rank),
        .device = stk_cell_text(rank->devices[class->device].id),
        .name = stk_cell_text(class->name),
        .kind = stk_cell_text(stk_collective_word(class->kind)),
        .ordinal = stk_cell_number(c->ordinal),
        .bytes = stk_cell_from_zero(class->bytes),
        .total_ns = stk_cell_number(c->dur_ns),
        .exposed_ns = stk_cell_number(c->exposed_ns),
        .wait_ns = stk_cell_unknown(),
        .last_rank = stk_cell_unknown(),
        .last_device = stk_cell_unknown(),
        .group = stk_cell_text(class->group),
        .group_size =
            class->group_size > 0 ? stk_cell_number(class->group_size) : stk_cell_unknown(),
        .algorithm_bytes_per_s = rate_of(class->bytes, moving_ns, 1),
        .bus_bytes_per_s =
            class->group_size > 1 ? rate_of(class->bytes, moving_ns, factor) : stk_cell_unknown(),
    };
    put_last(&row, run, wait);
    stk_table_put(table, &row);
}

static bool comm_fill_rank(const struct stk_pass_ctx *ctx, struct stk_table *table,
                           const struct stk_rank_sum *rank, struct stk_vec *kinds,
                           struct stk_map *known, struct comm_totals *all)
{
    const struct stk_comm_sums *p = rank->partial;
    for (uint32_t i = 0; p && i < rank->collective_count; i++) {
        const struct stk_collective *c = &rank->collectives[i];
        const struct stk_comm_wait *wait = &p->waits[i];
        if (!is_selected(ctx, rank, c)) {
            continue;
        }
        add_totals(all, rank, c, wait);
        comm_fill_row(ctx->run, table, rank, c, wait);
        if (!add_kind(kinds, known, stk_collective_class_of(rank, c), c, wait)) {
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

static void fill_kinds(struct stk_table *table, const struct stk_vec *kinds)
{
    for (size_t i = 0; i < kinds->count; i++) {
        const struct kind_row *k = stk_vec_at(kinds, i);
        int64_t each_ns = k->transfer_ns / (int64_t)k->count;
        double factor = stk_collective_bus_factor(k->kind, k->group_size);
        const struct kinds_row row = {
            .kind = stk_cell_text(stk_collective_word(k->kind)),
            .group = stk_cell_text(k->group),
            .group_size = k->group_size > 0 ? stk_cell_number(k->group_size) : stk_cell_unknown(),
            .bytes = stk_cell_from_zero(k->bytes),
            .count = stk_cell_number((int64_t)k->count),
            .total_ns = stk_cell_number(k->total_ns),
            .exposed_ns = stk_cell_number(k->exposed_ns),
            .wait_ns = k->waits ? stk_cell_number(k->wait_ns) : stk_cell_unknown(),
            .algorithm_bytes_per_s = rate_of(k->bytes, each_ns, 1),
            .bus_bytes_per_s =
                k->group_size > 1 ? rate_of(k->bytes, each_ns, factor) : stk_cell_unknown(),
        };
        stk_table_put(table, &row);
    }
}

static void fill_host(struct stk_table *table, const struct stk_rank_sum *rank,
                      struct comm_totals *all)
{
    const struct stk_comm_sums *p = rank->partial;
    for (uint32_t i = 0; p && i < p->host_count; i++) {
        const struct stk_comm_host *h = &p->host[i];
        const struct host_row row = {
            .rank = stk_cell_number(rank->rank < 0 ? 0 : rank->rank),
            .name = stk_cell_text(h->name),
            .count = stk_cell_number((int64_t)h->count),
            .bytes = h->bytes >= 0 ? stk_cell_number(h->bytes) : stk_cell_unknown(),
            .total_ns = stk_cell_number(h->total_ns),
            .mean_ns = stk_cell_number(h->total_ns / (int64_t)h->count),
        };
        stk_table_put(table, &row);
        all->host_count += h->count;
    }
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

#define COMM_FIGURES(C, R)                                                                         \
    C(R, collectives, COUNT, "collectives of devices in the selected time")                        \
    C(R, collectives_per_step, COUNT, "collectives per used step and device, mean, rounded down",  \
      .label = "collectives per step")                                                             \
    C(R, total_ns, NS, "durations of the collectives, summed",                                     \
      .label = "collective durations, summed")                                                     \
    C(R, exposed_ns, NS, "collectives minus compute: union per device, summed over the devices",   \
      .label = "exposed")                                                                          \
    C(R, wait_ns, NS, "`wait_ns` of all rows, summed", .label = "waiting for other ranks")         \
    C(R, straggler_rank, COUNT,                                                                    \
      "rank that causes most of the wait, as the verdict finds it; absent without one",            \
      .label = "straggler")                                                                        \
    C(R, bytes_per_step, BYTES,                                                                    \
      "bytes that a used step and device communicates, mean; absent unless all sizes are known",   \
      .label = "bytes per step")                                                                   \
    C(R, best_bus_bytes_per_s, RATE, "highest `bus_bytes_per_s` of a collective of 1 MB or more",  \
      .label = "best bus bandwidth")                                                               \
    C(R, ideal_per_step_ns, NS, "time that a step's bytes would take at `best_bus_bytes_per_s`",   \
      .label = "ideal time per step")                                                              \
    C(R, gradients_per_step, COUNT,                                                                \
      "gradient elements that a used CPU step makes, by the recorded shapes")                      \
    C(R, gradient_bytes_per_step, BYTES, "bytes of these gradients",                               \
      .label = "gradient bytes per step")                                                          \
    C(R, gradient_share, SHARE,                                                                    \
      "`gradient_bytes_per_step` as a share of `bytes_per_step`: 1 if collectives move "           \
      "the gradients and nothing else; more if they move fewer gradients or bytes",                \
      .label = "gradients, share of the bytes")                                                    \
    C(R, clock_residual_ns, NS,                                                                    \
      "how far the ranks' clocks differ at most: distance between a collective's ends "            \
      "over the ranks, lower median",                                                              \
      .label = "clock difference between ranks")                                                   \
    C(R, host_collectives, COUNT, "collectives that run on the CPU",                               \
      .label = "collectives on the CPU")
STK_SUMMARY(comm, COMM_FIGURES)

static const struct stk_missing no_gradients = {
    "bytes of the gradients", "no step was recorded with the shapes of its gradients",
    "PyTorch: record_shapes=True in torch.profiler, and profiler.step(); TensorFlow: profile whole "
    "steps with GPU events"};
static const struct stk_missing no_collectives = {"collectives of a device",
                                                  "none ran in the selected time",
                                                  "use the profiles of a distributed run"};
static const struct stk_missing one_rank = {
    "who waits for whom", "the profile has one rank: its waiting makes rates look too low",
    "record every rank, and pass all profiles or their directory"};
static const struct stk_missing some_waits = {
    "waiting of some collectives", "they don't occur equally often on all ranks of their group",
    "record the same steps on every rank, and pass all profiles"};
#define BYTES_REMEDY                                                                               \
    "PyTorch 2.2 and newer write them to the kernels (older ones with "                            \
    "record_shapes=True); exports of Nsight Systems have none"
static const struct stk_missing no_bytes = {"bytes", "not recorded", BYTES_REMEDY};
static const struct stk_missing some_bytes = {"bytes of some collectives", "not recorded",
                                              BYTES_REMEDY};

static void comm_say_figures(const struct stk_pass_ctx *ctx, const struct comm_totals *all,
                             struct stk_table_doc *doc)
{
    const struct stk_straggler *late = &ctx->run->straggler;
    const struct stk_cell unknown = stk_cell_unknown();
    int64_t steps = used_steps(ctx), made = all->gradient_steps;
    bool per_step = steps > 0 && all->in_steps > 0, sized = per_step && all->step_bytes >= 0;
    bool gradients = made > 0 && all->gradient_elements > 0;
    int64_t moved_bytes = sized ? all->step_bytes / steps : 0;
    int64_t gradient_bytes =
        gradients && all->gradient_bytes >= 0 ? all->gradient_bytes / made : -1;
    double ideal_ns =
        sized && all->best_bus > 0 ? all->step_bus_bytes * 1e9 / all->best_bus / (double)steps : -1;
    const struct comm_summary summary = {
        .collectives = stk_cell_number((int64_t)all->count),
        .collectives_per_step =
            per_step ? stk_cell_number((int64_t)all->in_steps / steps) : unknown,
        .total_ns = stk_cell_number(all->total_ns),
        .exposed_ns = stk_cell_number(all->exposed_ns),
        .wait_ns = all->waits ? stk_cell_number(all->wait_ns) : unknown,
        .straggler_rank = late->fired ? stk_cell_number(late->rank) : unknown,
        .bytes_per_step = sized ? stk_cell_number(moved_bytes) : unknown,
        .best_bus_bytes_per_s = all->best_bus > 0 ? stk_cell_ratio(all->best_bus) : unknown,
        .ideal_per_step_ns = ideal_ns >= 0 ? stk_cell_number((int64_t)ideal_ns) : unknown,
        .gradients_per_step = gradients ? stk_cell_number(all->gradient_elements / made) : unknown,
        .gradient_bytes_per_step = stk_cell_from_zero(gradient_bytes),
        .gradient_share =
            gradient_bytes >= 0 ? stk_cell_share_of(gradient_bytes, moved_bytes) : unknown,
        .clock_residual_ns = stk_cell_from_zero(all->residual_ns),
        .host_collectives = all->host_count ? stk_cell_number((int64_t)all->host_count) : unknown,
    };
    stk_table_summarize(doc, &comm_summary_info, &summary);
    if (!gradients && all->count + all->host_count > 0) {
        stk_table_lacks(doc, &no_gradients);
    }
}

static void comm_say_missing(const struct stk_pass_ctx *ctx, const struct comm_totals *all,
                             struct stk_table_doc *doc)
{
    if (all->count == 0) {
        stk_table_lacks(doc, &no_collectives);
    } else if (all->waits == 0 && ctx->run->rank_count < 2) {
        stk_table_lacks(doc, &one_rank);
    } else if (all->waits < all->count) {
        stk_table_lacks(doc, &some_waits);
    }
    if (all->sized < all->count) {
        stk_table_lacks(doc, all->sized ? &some_bytes : &no_bytes);
    }
}

static void comm_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *rows = stk_table_add(doc, &collectives_table);
    struct stk_table *by_kind = stk_table_add(doc, &kinds_table);
    struct stk_table *host = stk_table_add(doc, &host_table);
    struct comm_totals all = {.count = 0};
    struct stk_vec kinds;
    struct stk_map known;
    stk_vec_init(&kinds, sizeof(struct kind_row), UINT32_MAX - 1);
    stk_map_init(&known, UINT32_MAX - 1);
    stk_table_keep(rows, "exposed_ns", ctx->limit);
    stk_table_keep(by_kind, "exposed_ns", ctx->limit);
    stk_table_keep(host, "total_ns", ctx->limit);
    bool ok = match_groups(run, &all.residual_ns);
    take_matches(run);
    for (uint32_t r = 0; r < run->rank_count && ok; r++) {
        ok = comm_fill_rank(ctx, rows, run->ranks[r], &kinds, &known, &all);
        fill_host(host, run->ranks[r], &all);
    }
    fill_kinds(by_kind, &kinds);
    stk_table_sort(rows, "exposed_ns");
    stk_table_sort(by_kind, "exposed_ns");
    stk_table_sort(host, "total_ns");
    stk_vec_deinit(&kinds);
    stk_map_deinit(&known);
    doc->ran_out |= !ok;
    if (all.host_count == 0 && stk_stats_lacks_device(ctx, doc)) {
        return;
    }
    comm_say_figures(ctx, &all, doc);
    comm_say_missing(ctx, &all, doc);
}

const struct stk_stats stk_stats_comm = {
    .name = "comm",
    .question = "Which collectives cost time, and which rank do they wait for?",
    .needs = "collectives of a device; all ranks of the run for the waiting",
    .tables = {&collectives_table, &kinds_table, &host_table},
    .summary = &comm_summary_info,
    .missing = {&stk_missing_device, &no_gradients, &no_collectives, &one_rank, &some_waits,
                &no_bytes, &some_bytes},
    .hook = {.see = stk_comm_sums_see, .wants = STK_WANT_COLLECTIVES},
    .describe = comm_describe,
};
