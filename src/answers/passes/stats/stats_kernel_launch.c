// SPDX-License-Identifier: Apache-2.0
// How kernels were launched: grid, block, registers and shared memory, what of the device that can
// fill (profile/model/device/occupancy.c), and what of its peak rates they reach
// (stats_kernel_cost.c). A kernel's row shows the launch configuration with the most time; the
// configurations of the rows with the most time are kept for a separate table. Launch latency:
// median time from the start of a launch call to its kernel, of the calls that found the device
// idle; at least LATENCY_LEAST of them. Method: one pass over each device's operations; ways are
// found by (row, configuration), and most kernels are launched like the previous one of the same
// name.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "profile/model/median.h"
#include "answers/passes/stats/stats_kernels.h"

#define WAYS_KERNELS 20 // rows whose ways are kept
#define WAYS_EACH 8
#define LATENCY_LEAST 5

struct way {
    uint32_t row, config;
    uint64_t count;
    int64_t total_ns;
};
struct sweep {
    const struct stk_analysis *view;
    struct stk_kernel_partial *out;
    struct stk_map row_of; // (string id, device of the trace) -> row + 1
    struct stk_map known;  // (row, configuration) -> index into ways
    struct stk_vec ways;   // struct way
    struct stk_vec delays; // int64_t
    uint32_t *slot;        // per string id: row + 1 on this device
    uint32_t *last;        // per row: its way before, or STK_NONE
    uint8_t *chosen;       // a bit per event: a kernel that counts; NULL: nobody asks
};

static bool is_kernel(uint8_t kind)
{
    return kind == STK_KIND_KERNEL || kind == STK_KIND_COLLECTIVE;
}

static bool add_way(struct sweep *s, uint32_t row, uint32_t config, int64_t dur_ns)
{
    uint32_t at = s->last[row];
    struct way *w = at == STK_NONE ? NULL : stk_vec_at(&s->ways, at);
    if (!w || w->config != config) {
        int created;
        uint32_t *found = stk_map_put(&s->known, row, config, (uint32_t)s->ways.count, &created);
        w = !found ? NULL : created ? stk_vec_push(&s->ways) : stk_vec_at(&s->ways, *found);
        if (!w) {
            return false;
        }
        if (created) {
            *w = (struct way){.row = row, .config = config};
        }
        s->last[row] = *found;
    }
    w->count++;
    w->total_ns += dur_ns;
    return true;
}

// If the device was idle at the launch, the delay is latency.
static bool add_delay(struct sweep *s, uint32_t event, int64_t busy_until_ns)
{
    const struct stk_trace *t = s->view->t;
    uint32_t call = stk_launch_of(s->view, event);
    int64_t *delay;
    if (call == STK_NONE || busy_until_ns == INT64_MIN || t->start_ns[call] < busy_until_ns ||
        t->start_ns[event] < t->start_ns[call]) {
        return true;
    }
    delay = stk_vec_push_raw(&s->delays);
    if (delay) {
        *delay = t->start_ns[event] - t->start_ns[call];
    }
    return delay != NULL;
}

static bool kernel_launch_sweep_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_device_line *l = &s->view->lines[line];
    const struct stk_trace *t = s->view->t;
    struct stk_view_cursor cursor = {selected, 0};
    int64_t busy_until_ns = INT64_MIN;
    if (!stk_view_selected(s->view, line, selected)) {
        return false;
    }
    for (uint32_t i = 0; i < l->op_count; i++) {
        const struct stk_device_op *op = &l->ops[i];
        if (is_kernel(t->kind[op->event]) && stk_view_in(&cursor, op->start_ns)) {
            const struct stk_ext *x = stk_ext_of(t, op->event);
            uint32_t row = s->slot[t->name[op->event]] - 1; // UINT32_MAX: of further kernels
            if (row != UINT32_MAX && x && x->flags & STK_EXT_CONFIG &&
                !add_way(s, row, (uint32_t)x->value, op->end_ns - op->start_ns)) {
                return false;
            }
            if (s->chosen) {
                s->chosen[op->event / 8] |= (uint8_t)(1u << op->event % 8);
            }
            if (!add_delay(s, op->event, busy_until_ns)) {
                return false;
            }
        }
        busy_until_ns = op->end_ns > busy_until_ns ? op->end_ns : busy_until_ns;
    }
    return true;
}

// During the pass over a device's operations, the slots of its names are its rows.
static bool sweep_lines(struct sweep *s)
{
    const struct stk_kernel_sums *sums = s->out->sums;
    struct stk_spans selected;
    bool ok = true;
    stk_spans_init(&selected);
    for (uint32_t d = 0, r = 0; d < s->view->sum->device_count && ok; d++) {
        uint32_t first = r;
        for (; r < sums->row_count && sums->rows[r].line == d && ok; r++) {
            uint32_t *at =
                stk_map_put(&s->row_of, sums->rows[r].id, s->view->lines[d].device, 0, NULL);
            s->slot[sums->rows[r].id] = r + 1;
            if ((ok = at != NULL)) {
                *at = r + 1;
            }
        }
        ok = ok && kernel_launch_sweep_device(s, d, &selected);
        for (uint32_t k = first; k < r; k++) {
            s->slot[sums->rows[k].id] = 0;
        }
    }
    stk_spans_deinit(&selected);
    return ok;
}

static void count_below(struct sweep *s, struct stk_spans *selected)
{
    struct stk_kernel_partial *out = s->out;
    size_t n = s->delays.count;
    out->latency_ns = n >= LATENCY_LEAST ? stk_median_low(s->delays.items, n) : -1;
    for (uint32_t d = 0; d < s->view->sum->device_count && out->latency_ns >= 0; d++) {
        const struct stk_device_line *l = &s->view->lines[d];
        struct stk_view_cursor cursor = {selected, 0};
        if (!stk_view_selected(s->view, d, selected)) {
            out->latency_ns = -1;
            return;
        }
        for (uint32_t i = 0; i < l->op_count; i++) {
            int64_t dur_ns = l->ops[i].end_ns - l->ops[i].start_ns;
            if (dur_ns < out->latency_ns && is_kernel(s->view->t->kind[l->ops[i].event]) &&
                stk_view_in(&cursor, l->ops[i].start_ns)) {
                out->below_count++;
                out->below_ns += dur_ns;
            }
        }
    }
}

bool stk_kernel_has_host_costs(const struct stk_trace *t)
{
    for (uint32_t i = 0; i < t->config_count; i++) {
        if (!t->configs[i].grid[0] && !t->configs[i].block[0]) {
            return true;
        }
    }
    return false;
}

static const struct stk_device *device_of(const struct sweep *s, uint32_t row)
{
    return &s->view->t->devices[s->view->lines[s->out->sums->rows[row].line].device];
}

static void fill_facts(struct sweep *s)
{
    const struct stk_trace *t = s->view->t;
    const struct stk_kernel_sums *sums = s->out->sums;
    const struct way *ways = s->ways.items, *best;
    for (uint32_t r = 0; r < sums->row_count; r++) {
        s->out->facts[r].traits = stk_kernel_traits_of(stk_str_from(sums->rows[r].name));
    }
    for (size_t i = 0; i < s->ways.count; i++) {
        best = s->last[ways[i].row] == STK_NONE ? NULL : &ways[s->last[ways[i].row]];
        if (!best || ways[i].total_ns > best->total_ns) {
            s->last[ways[i].row] = (uint32_t)i;
        }
        const struct stk_launch_config *c = &t->configs[ways[i].config];
        struct stk_kernel_facts *f = &s->out->facts[ways[i].row];
        if (c->flops >= 0 && stk_kernel_bears_flops(c, f->traits)) {
            f->flops += (double)c->flops * (double)ways[i].count;
            f->flops_ns += ways[i].total_ns;
        }
        if (c->bytes >= 0) {
            f->bytes += (double)c->bytes * (double)ways[i].count;
            f->bytes_ns += ways[i].total_ns;
        }
    }
    for (uint32_t r = 0; r < sums->row_count; r++) {
        struct stk_kernel_facts *f = &s->out->facts[r];
        const struct stk_device *device = device_of(s, r);
        struct stk_device_rates rates =
            stk_device_rates_of(stk_strpool_get(&t->strings, device->name), &device->limits);
        f->peak_flops = stk_device_flops(&rates, f->traits.precision);
        f->peak_bytes = rates.memory;
        if (s->last[r] == STK_NONE) {
            continue;
        }
        f->config = t->configs[ways[s->last[r]].config];
        f->has_config = true;
        f->occupancy = stk_occupancy_of(device, &f->config);
    }
}

STK_ORDER(by_row_and_time, struct way, STK_UP(row) STK_DOWN(total_ns) STK_UP(config))

// Total time of the last row whose ways are kept.
static int64_t least_total(const struct sweep *s, int64_t *totals)
{
    uint32_t n = s->out->sums->row_count;
    for (uint32_t r = 0; r < n; r++) {
        totals[r] = s->out->sums->rows[r].total_ns;
    }
    return n > WAYS_KERNELS ? stk_nth_value(totals, n, n - WAYS_KERNELS) : 0;
}

static bool keep_ways(struct sweep *s, struct stk_arena *arena)
{
    struct way *ways = s->ways.items;
    size_t n = s->ways.count;
    int64_t *totals = stk_alloc_array((size_t)s->out->sums->row_count + 1, sizeof *totals);
    s->out->ways = stk_arena_array(arena, (size_t)WAYS_EACH * (WAYS_KERNELS + 1), // ties
                                   sizeof *s->out->ways);
    if (!totals || !s->out->ways) {
        stk_free(totals);
        return false;
    }
    int64_t least_ns = least_total(s, totals);
    stk_free(totals);
    stk_sort(ways, n, sizeof *ways, by_row_and_time);
    for (size_t i = 0, each = 0; i < n; i++) {
        each = i && ways[i].row == ways[i - 1].row ? each + 1 : 0;
        const struct stk_launch_config *c = &s->view->t->configs[ways[i].config];
        if (each >= WAYS_EACH || (!c->grid[0] && !c->block[0]) ||
            s->out->sums->rows[ways[i].row].total_ns < least_ns ||
            s->out->way_count == WAYS_EACH * (WAYS_KERNELS + 1)) {
            continue;
        }
        s->out->ways[s->out->way_count++] =
            (struct stk_kernel_way){ways[i].row, *c, stk_occupancy_of(device_of(s, ways[i].row), c),
                                    ways[i].count, ways[i].total_ns};
    }
    return true;
}

static bool kernel_launch_sweep_all(struct sweep *s, struct stk_arena *arena)
{
    const struct stk_trace *t = s->view->t;
    uint32_t rows = s->out->sums->row_count;
    struct stk_spans selected;
    bool costs = stk_kernel_has_host_costs(t);
    s->slot = stk_alloc_zero((size_t)t->strings.count + 1, sizeof *s->slot);
    s->last = stk_alloc_array((size_t)rows + 1, sizeof *s->last);
    s->chosen = costs ? stk_alloc_zero((size_t)t->count / 8 + 1, 1) : NULL;
    s->out->facts = stk_arena_array(arena, (size_t)rows + 1, sizeof *s->out->facts);
    if (!s->slot || !s->last || (costs && !s->chosen) || !s->out->facts) {
        return false;
    }
    memset(s->last, 0xff, ((size_t)rows + 1) * sizeof *s->last); // STK_NONE
    if (!sweep_lines(s)) {
        return false;
    }
    stk_spans_init(&selected);
    count_below(s, &selected);
    stk_spans_deinit(&selected);
    memset(s->last, 0xff, ((size_t)rows + 1) * sizeof *s->last);
    fill_facts(s);
    return keep_ways(s, arena) &&
           (!costs || stk_kernel_cost_add(s->view, &s->row_of, NULL, s->chosen, s->out->facts));
}

enum stoker_status stk_kernel_launch_see(const struct stk_analysis *view, struct stk_arena *arena,
                                         void **partial, struct stoker_err *err)
{
    struct sweep s = {.view = view, .out = stk_arena_alloc(arena, sizeof *s.out)};
    void *sums = NULL;
    enum stoker_status status = stk_kernel_sums_see(view, arena, &sums, err);
    if (status != STOKER_OK) {
        return status;
    }
    stk_map_init(&s.row_of, UINT32_MAX - 1);
    stk_map_init(&s.known, UINT32_MAX - 1);
    stk_vec_init(&s.ways, sizeof(struct way), UINT32_MAX - 1);
    stk_vec_init(&s.delays, sizeof(int64_t), UINT32_MAX - 1);
    if (s.out) {
        s.out->sums = sums;
    }
    bool ok = s.out && kernel_launch_sweep_all(&s, arena);
    *partial = ok ? s.out : NULL;
    stk_map_deinit(&s.row_of);
    stk_map_deinit(&s.known);
    stk_vec_deinit(&s.ways);
    stk_vec_deinit(&s.delays);
    stk_free(s.slot);
    stk_free(s.last);
    stk_free(s.chosen);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
