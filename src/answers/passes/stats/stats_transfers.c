// SPDX-License-Identifier: Apache-2.0
// Which copies cost time, and from which memory?
// Copies by device, direction and kind of host memory. busy_ns is the union of the row's copies
// over streams, exposed_ns its part that no kernel or collective covers, for this row only. The
// rate is over the summed time of copies with a recorded size. A device operation that only waits
// for a copy (TPU copy-done) counts as that copy.
// A copy is blocking if it is recorded as synchronous, its call is not one of the asynchronous
// ones, or the call returned only after the copy was done; blocked_ns is the time in such calls.
// link_share is the rate relative to the link's peak in that direction
// (profile/model/device/device_rates.c): PCIe, NVLink if it connects the host or a peer, half of
// the memory's rate for copies on the device, which read and write it. A second table lists data
// that goes to the host and back (stats_ping_pong.c). Limits: ROCm doesn't record whether host
// memory is pinned, and TPU profiles have no sizes: these are unknown. The link's rate is from the
// data sheet: a slot with fewer lanes or an older host is slower.
#include <string.h>

#include "base/alloc.h"
#include "profile/model/device/device_rates.h"
#include "answers/passes/stats/stats_transfers.h"

enum { DIRS = STK_DIR_H2H + 1, PINS = 3 };
enum pinned { PINNED_UNKNOWN, PINNED_NO, PINNED_YES };

struct transfer_row {
    uint64_t count, sized;
    uint64_t bytes;
    int64_t busy_ns, total_ns, exposed_ns, sized_ns;
    uint64_t called, blocking; // with a launch call or a record of it; of these
    int64_t blocked_ns;
};
// All rows of one device.
struct transfer_device {
    struct transfer_row rows[DIRS][PINS];
    double link_bytes_per_s[DIRS]; // 0 not known
};
struct transfer_partial {
    struct transfer_device *devices; // parallel to the rank's devices
    int64_t exposed_ns;              // union over all rows of a device
    struct stk_ping_pong ping_pong;
};

static const char *const dir_keys[] = {"unknown", "h2d", "d2h", "d2d", "p2p", "h2h"};
static const char *const pinned_keys[] = {"unknown", "no", "yes"};

static enum pinned pinned_of(const struct stk_ext *x)
{
    if (!x) {
        return PINNED_UNKNOWN;
    }
    if (x->src_mem == STK_MEM_PAGEABLE || x->dst_mem == STK_MEM_PAGEABLE) {
        return PINNED_NO;
    }
    if (x->src_mem == STK_MEM_PINNED || x->dst_mem == STK_MEM_PINNED) {
        return PINNED_YES;
    }
    return PINNED_UNKNOWN;
}

// Whether the host waited for the copy; *known: whether the profile shows it.
static bool is_blocking(const struct stk_analysis *view, const struct stk_device_op *op,
                        const struct stk_ext *x, uint32_t call, bool *known)
{
    const struct stk_trace *t = view->t;
    *known = true;
    if (x && x->flags & STK_EXT_SYNCHRONOUS) {
        return true;
    }
    if (call == STK_NONE || (x && x->flags & STK_EXT_GRAPH)) {
        *known = x && x->flags & STK_EXT_ASYNC;
        return false;
    }
    // XLA's own calls are named by the direction alone; they are asynchronous.
    bool is_async = (x && x->flags & STK_EXT_ASYNC) ||
                    stk_str_contains_nocase(stk_name_of(t, call), STK_STR("async")) ||
                    stk_str_starts(stk_name_of(t, call), STK_STR("Memcpy"));
    bool is_copy = (stk_class_of(view, call) & STK_NAME_COPY_CALL) != 0;
    return (is_copy && !is_async) || stk_end_ns(t, call) >= stk_end_ns(t, op->event);
}

static void add_blocking(const struct stk_analysis *view, const struct stk_device_op *op,
                         const struct stk_ext *x, struct transfer_row *row)
{
    uint32_t call = stk_launch_of(view, op->event);
    bool known, blocking = is_blocking(view, op, x, call, &known);
    row->called += known;
    row->blocking += blocking;
    // A call that started several copies counts only for the first.
    if (blocking && call != STK_NONE && view->t->ref[call] == op->event) {
        row->blocked_ns = stk_add_ns(row->blocked_ns, stk_dur_ns(view->t, call));
    }
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
    add_blocking(view, op, x, row);
    if (x && (x->flags & STK_EXT_VALUE) && x->value >= 0) {
        row->sized++;
        row->bytes += (uint64_t)x->value;
        row->sized_ns += op->end_ns - op->start_ns;
    }
}

static bool transfers_sweep_device(const struct stk_analysis *view, uint32_t line,
                                   struct stk_spans *selected, struct stk_spans *kernels,
                                   struct transfer_partial *out)
{
    const struct stk_device_line *l = &view->lines[line];
    struct stk_view_cursor cursor = {selected, 0};
    struct unions u;
    for (int i = 0; i < DIRS * PINS; i++) {
        u.of[i / PINS][i % PINS] = STK_RUNNING_UNION;
    }
    u.all = STK_RUNNING_UNION;
    if (!stk_view_selected(view, line, selected) ||
        !stk_spans_union(&l->exposed[STK_PART_COMPUTE], &l->exposed[STK_PART_COMMUNICATION],
                         kernels)) {
        return false;
    }
    int64_t *sums = stk_spans_sums(kernels);
    for (uint32_t i = 0; i < l->op_count && sums; i++) {
        if (l->ops[i].part >= STK_PART_H2D && stk_view_in(&cursor, l->ops[i].start_ns)) {
            add_copy(view, &l->ops[i], kernels, sums, &u, &out->devices[line], out);
        }
    }
    bool ok = sums != NULL;
    stk_free(sums);
    return ok;
}

static void find_links(const struct stk_analysis *view, uint32_t line, struct transfer_device *out)
{
    const struct stk_device *d = &view->t->devices[view->lines[line].device];
    struct stk_device_rates rates =
        stk_device_rates_of(stk_strpool_get(&view->t->strings, d->name), &d->limits);
    out->link_bytes_per_s[STK_DIR_H2D] = out->link_bytes_per_s[STK_DIR_D2H] = rates.host_link;
    out->link_bytes_per_s[STK_DIR_D2D] = rates.memory / 2;
    out->link_bytes_per_s[STK_DIR_P2P] = rates.peer_link;
}

static enum stoker_status transfers_see(const struct stk_analysis *view, struct stk_arena *arena,
                                        void **partial, struct stoker_err *err)
{
    struct stk_spans selected, kernels;
    struct transfer_partial *out = stk_arena_alloc(arena, sizeof *out);
    stk_spans_init(&selected);
    stk_spans_init(&kernels);
    if (out) {
        out->devices =
            stk_arena_array(arena, (size_t)view->sum->device_count + 1, sizeof *out->devices);
    }
    bool ok = out && out->devices;
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        ok = transfers_sweep_device(view, d, &selected, &kernels, out);
    }
    for (uint32_t d = 0; d < view->sum->device_count && ok; d++) {
        find_links(view, d, &out->devices[d]);
    }
    ok = ok && stk_ping_pong_find(view, arena, &out->ping_pong);
    *partial = out;
    stk_spans_deinit(&selected);
    stk_spans_deinit(&kernels);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

#define TRANSFERS_COLUMNS(C, R)                                                                    \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, direction, TEXT, "h2d, d2h, d2d, p2p (between devices), h2h, or unknown")                 \
    C(R, pinned, TEXT, "whether the CPU memory is pinned: yes, no (pageable), unknown")            \
    C(R, count, COUNT, "copies; an operation that only waits for a copy counts as that copy")      \
    C(R, bytes, BYTES, "sizes of the copies, summed; unknown unless all are known")                \
    C(R, busy_ns, NS, "union of the row's copies over all streams")                                \
    C(R, total_ns, NS, "durations of the copies, summed", .is_detail = true)                       \
    C(R, exposed_ns, NS,                                                                           \
      "part of `busy_ns` that no kernel or collective of the device overlaps, for this "           \
      "row alone")                                                                                 \
    C(R, bytes_per_s, RATE,                                                                        \
      "bytes per second: sizes over durations, summed over copies with a recorded size")           \
    C(R, link_share, SHARE, "`bytes_per_s` as a share of `link_bytes_per_s`", .is_detail = true)   \
    C(R, exposed_share, SHARE, "`exposed_ns` as a share of `busy_ns`", .is_detail = true)          \
    C(R, blocking, COUNT,                                                                          \
      "copies that the CPU waited for: recorded as synchronous, started by a synchronous "         \
      "call, or done before their call returned",                                                  \
      .is_detail = true)                                                                           \
    C(R, blocked_ns, NS,                                                                           \
      "durations of blocking copies' calls, summed; a call that started several counts once",      \
      .is_detail = true)                                                                           \
    C(R, link_bytes_per_s, RATE,                                                                   \
      "bytes per second that the link can carry in this direction, by the data sheet: "            \
      "host link, peer link, or half the memory rate within a device",                             \
      .is_detail = true)
STK_TABLE(transfers, "Copies by direction and memory", TRANSFERS_COLUMNS)

#define PING_PONG_COLUMNS(C, R)                                                                    \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, order, TEXT, "directions of a pair: `d2h, h2d` or `h2d, d2h`")                            \
    C(R, first_op, TEXT, "operator around the launch call of the first copy", .is_name = true)     \
    C(R, second_op, TEXT, "operator around the launch call of the second copy", .is_name = true)   \
    C(R, bytes, BYTES, "size of each of the two copies")                                           \
    C(R, pairs, COUNT,                                                                             \
      "pairs of copies of equal size in opposite directions within a step (within 100 ms "         \
      "without steps), of 4096 bytes or more, at least two pairs")                                 \
    C(R, per_step, REAL, "pairs per selected step of the device, to a hundredth")                  \
    C(R, total_ns, NS, "durations of both copies of all pairs, summed")
STK_TABLE(ping_pong, "Data that goes back and forth in a step", PING_PONG_COLUMNS)

struct transfer_sums {
    uint64_t count, pageable, known, called, blocking, pairs;
    int64_t exposed_ns, busy_ns, blocked_ns, row_exposed_ns, pair_ns;
    double pair_bytes;
};

static void transfers_fill_row(struct stk_table *table, const char *device, int dir, int pin,
                               const struct transfer_row *t, double link)
{
    bool sized = t->sized > 0 && t->bytes <= INT64_MAX;
    double rate = sized && t->sized_ns > 0 ? (double)t->bytes / ((double)t->sized_ns / 1e9) : -1;
    const struct stk_cell unknown = stk_cell_unknown();
    const struct transfers_row row = {
        .device = stk_cell_text(device),
        .direction = stk_cell_text(dir_keys[dir]),
        .pinned = stk_cell_text(pinned_keys[pin]),
        .count = stk_cell_number((int64_t)t->count),
        // A sum without some copies would look like the size of all.
        .bytes = sized && t->sized == t->count ? stk_cell_number((int64_t)t->bytes) : unknown,
        .busy_ns = stk_cell_number(t->busy_ns),
        .total_ns = stk_cell_number(t->total_ns),
        .exposed_ns = stk_cell_number(t->exposed_ns),
        .bytes_per_s = rate >= 0 ? stk_cell_ratio(rate) : unknown,
        .link_share = rate >= 0 && link > 0 ? stk_cell_ratio(rate / link) : unknown,
        .exposed_share = stk_cell_share_of(t->exposed_ns, t->busy_ns),
        .blocking = t->called > 0 ? stk_cell_number((int64_t)t->blocking) : unknown,
        .blocked_ns = t->called > 0 ? stk_cell_number(t->blocked_ns) : unknown,
        .link_bytes_per_s = link > 0 ? stk_cell_ratio(link) : unknown,
    };
    stk_table_put(table, &row);
}

static void transfers_fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                                struct transfer_sums *sums)
{
    const struct transfer_partial *p = rank->partial;
    sums->exposed_ns += p ? p->exposed_ns : 0;
    for (uint32_t d = 0; p && d < rank->device_count; d++) {
        for (int i = 0; i < DIRS * PINS; i++) {
            const struct transfer_row *t = &p->devices[d].rows[i / PINS][i % PINS];
            if (t->count == 0) {
                continue;
            }
            sums->count += t->count;
            sums->pageable += i % PINS == PINNED_NO ? t->count : 0;
            sums->known += i % PINS == PINNED_UNKNOWN ? 0 : t->count;
            sums->called += t->called;
            sums->blocking += t->blocking;
            sums->blocked_ns += t->blocked_ns;
            sums->busy_ns += t->busy_ns;
            sums->row_exposed_ns += t->exposed_ns;
            transfers_fill_row(table, rank->devices[d].id, i / PINS, i % PINS, t,
                               p->devices[d].link_bytes_per_s[i / PINS]);
        }
    }
}

// The number of selected steps of the device.
static uint32_t count_steps(const struct stk_rank_sum *rank, uint32_t device)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rank->step_count; i++) {
        const char *excluded = rank->steps[i].excluded;
        n += (rank->steps[i].device == device || rank->steps[i].device == STK_NONE) &&
             (!excluded || strcmp(excluded, STK_EXCLUDED_UNSELECTED) != 0);
    }
    return n;
}

static void fill_ping_pong(struct stk_table *table, const struct stk_rank_sum *rank,
                           struct transfer_sums *sums)
{
    const struct transfer_partial *p = rank->partial;
    for (size_t i = 0; p && i < p->ping_pong.count; i++) {
        const struct stk_ping_pong_row *r = &p->ping_pong.v[i];
        uint32_t steps = count_steps(rank, r->line);
        const struct ping_pong_row row = {
            .device = stk_cell_text(rank->devices[r->line].id),
            .order = stk_cell_text(r->down_first ? "d2h, h2d" : "h2d, d2h"),
            .first_op = *r->first_op ? stk_cell_text(r->first_op) : stk_cell_unknown(),
            .second_op = *r->second_op ? stk_cell_text(r->second_op) : stk_cell_unknown(),
            .bytes = stk_cell_number(r->bytes),
            .pairs = stk_cell_number((int64_t)r->pairs),
            .per_step =
                steps ? stk_cell_ratio((double)(r->pairs * 100 / steps) / 100) : stk_cell_unknown(),
            .total_ns = stk_cell_number(r->total_ns),
        };
        stk_table_put(table, &row);
        sums->pairs += r->pairs;
        sums->pair_ns += r->total_ns;
        sums->pair_bytes += 2.0 * (double)r->bytes * (double)r->pairs;
    }
}

#define TRANSFERS_FIGURES(C, R)                                                                    \
    C(R, copies, COUNT, "copies in all rows")                                                      \
    C(R, exposed_ns, NS,                                                                           \
      "copies of any direction, minus what kernels and collectives overlap: union per "            \
      "device, summed over the devices",                                                           \
      .label = "exposed")                                                                          \
    C(R, pageable_count, COUNT, "copies from or to pageable CPU memory",                           \
      .label = "pageable copies")                                                                  \
    C(R, blocking_count, COUNT, "copies that the CPU waited for", .label = "blocking copies")      \
    C(R, blocked_ns, NS, "`blocked_ns` of all rows, summed", .label = "CPU blocked by copies")     \
    C(R, hidden_share, SHARE,                                                                      \
      "share of `busy_ns` of all rows that kernels or collectives overlap",                        \
      .label = "overlapped with kernels")                                                          \
    C(R, ping_pong_pairs, COUNT, "pairs of all rows of table `ping_pong`",                         \
      .label = "ping-pong pairs")                                                                  \
    C(R, ping_pong_bytes, BYTES, "bytes of both copies of these pairs, summed",                    \
      .label = "ping-pong bytes")                                                                  \
    C(R, ping_pong_total_ns, NS, "durations of both copies of these pairs, summed",                \
      .label = "ping-pong time")
STK_SUMMARY(transfers, TRANSFERS_FIGURES)

static const struct stk_missing no_pinned = {
    "whether CPU memory is pinned", "no copy names the kind of its CPU memory",
    "nothing on ROCm; on CUDA, record copies with a current profiler"};

static void transfers_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &transfers_table);
    struct stk_table *ping_pong = stk_table_add(doc, &ping_pong_table);
    struct transfer_sums sums = {.count = 0};
    if (stk_stats_lacks_device(ctx, doc)) {
        return;
    }
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        transfers_fill_rank(table, ctx->run->ranks[r], &sums);
        fill_ping_pong(ping_pong, ctx->run->ranks[r], &sums);
    }
    stk_table_sort(table, "exposed_ns");
    stk_table_sort(ping_pong, "total_ns");
    const struct transfers_summary summary = {
        .copies = stk_cell_number((int64_t)sums.count),
        .exposed_ns = stk_cell_number(sums.exposed_ns),
        .pageable_count = sums.known > 0 || sums.count == 0
                              ? stk_cell_number((int64_t)sums.pageable)
                              : stk_cell_unknown(),
        .blocking_count = sums.called > 0 || sums.count == 0
                              ? stk_cell_number((int64_t)sums.blocking)
                              : stk_cell_unknown(),
        .blocked_ns = sums.called > 0 || sums.count == 0 ? stk_cell_number(sums.blocked_ns)
                                                         : stk_cell_unknown(),
        .hidden_share = stk_cell_share_of(sums.busy_ns - sums.row_exposed_ns, sums.busy_ns),
        .ping_pong_pairs = stk_cell_number((int64_t)sums.pairs),
        .ping_pong_bytes =
            sums.pair_bytes < 9e18 ? stk_cell_number((int64_t)sums.pair_bytes) : stk_cell_unknown(),
        .ping_pong_total_ns = stk_cell_number(sums.pair_ns),
    };
    stk_table_summarize(doc, &transfers_summary_info, &summary);
    if (sums.count > 0 && sums.known == 0) {
        stk_table_lacks(doc, &no_pinned);
    }
}

const struct stk_stats stk_stats_transfers = {
    .name = "transfers",
    .question = "Which copies cost time, and from which memory?",
    .needs = "operations of a device",
    .tables = {&transfers_table, &ping_pong_table},
    .summary = &transfers_summary_info,
    .missing = {&stk_missing_device, &no_pinned},
    .hook = {.see = transfers_see},
    .describe = transfers_describe,
};
