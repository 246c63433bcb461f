// SPDX-License-Identifier: Apache-2.0
// Operations that ran on the host between device operations: their input came by a copy to the
// host, their output went back by a copy to the device, and the device had nothing else meanwhile.
// An island is the time of one device from the end of a run of copies to the host up to the launch
// of the copy to the device that follows it directly (its start, where its launch is not recorded),
// if no step begins and no batch is fetched in it. It is named after the longest operation of the
// model that is wholly inside and does more than move data, on any thread that is not the input
// pipeline's; without one, the host's work is Python's or unknown, and the island is not listed.
// Method: one pass over the operations of a device; then finds the events of each host row in the
// islands by bisection.
// Limits: a copy to the host that the device does not wait for makes no island, nor does an
// operation whose result stays on the host.
#include "base/sort.h"
#include "base/alloc.h"
#include "base/map.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_ops.h"

struct island {
    int64_t start_ns, end_ns;
    uint64_t copies, sized;
    int64_t bytes;
    uint32_t name;               // string id of the longest operation, STK_NONE
    int64_t longest_ns, host_ns; // of it; of all operations inside
    bool is_used;                // in a used step
};

struct finder {
    const struct stk_analysis *view;
    const uint32_t *owner;
    struct stk_vec islands; // struct island, of the current device
    struct stk_vec rows;    // struct stk_op_island
    struct stk_map row_at;  // string id -> row
    struct stk_name_cache names;
    size_t fetch; // first fetch that ends after the island's start
    uint32_t step;
};

static void add_bytes(const struct stk_trace *t, uint32_t event, struct island *i)
{
    const struct stk_ext *x = stk_ext_of(t, event);
    i->copies++;
    if (!x || !(x->flags & STK_EXT_VALUE) || x->value < 0) {
        return;
    }
    i->sized++;
    i->bytes = stk_add_ns(i->bytes, x->value);
}

// If a batch is fetched or a step begins, the next copy is new data.
static bool is_interrupted(struct finder *f, const struct island *i)
{
    const struct stk_analysis *v = f->view;
    while (f->fetch < v->fetches.count && v->fetches.v[f->fetch].end_ns <= i->start_ns) {
        f->fetch++;
    }
    if (f->fetch < v->fetches.count && v->fetches.v[f->fetch].start_ns < i->end_ns) {
        return true;
    }
    while (f->step < v->step_count && v->steps[f->step].start_ns <= i->start_ns) {
        f->step++;
    }
    return f->step < v->step_count && v->steps[f->step].start_ns < i->end_ns;
}

static bool find_times(struct finder *f, const struct stk_device_line *line,
                       const struct stk_spans *used)
{
    const struct stk_trace *t = f->view->t;
    struct stk_view_cursor in_used = {used, 0};
    struct island run = {.copies = 0}; // of copies to the host
    struct island *open = NULL;        // the island whose copies to the device are being counted
    f->islands.count = 0;
    f->fetch = f->step = 0;
    for (uint32_t k = 0; k < line->op_count; k++) {
        const struct stk_device_op *op = &line->ops[k];
        bool selected = f->owner[op->event] != STK_OWNER_UNSELECTED;
        if (selected && op->part == STK_PART_D2H) {
            open = NULL;
            add_bytes(t, op->event, &run);
            run.start_ns = op->end_ns > run.start_ns || run.copies == 1 ? op->end_ns : run.start_ns;
            continue;
        }
        if (selected && op->part == STK_PART_H2D && run.copies && op->start_ns >= run.start_ns) {
            uint32_t call = stk_launch_of(f->view, op->event);
            run.end_ns = call != STK_NONE ? t->start_ns[call] : op->start_ns;
            bool good = run.end_ns > run.start_ns && !is_interrupted(f, &run);
            open = good ? stk_vec_push(&f->islands) : NULL;
            if (good && !open) {
                return false;
            }
            if (good) {
                *open = run;
                open->name = STK_NONE;
                open->is_used = stk_view_in(&in_used, run.start_ns);
            }
        } else if (!selected || op->part != STK_PART_H2D) {
            open = NULL;
        }
        if (open) {
            add_bytes(t, op->event, open);
        }
        run = (struct island){.copies = 0};
    }
    return true;
}

// Operators that only describe, allocate or move data, as PyTorch does around every copy.
static bool only_moves(struct stk_str name)
{
    static const char *const movers[] = {"_local_scalar_dense",
                                         "_pin_memory",
                                         "_reshape_alias",
                                         "_reshape_copy",
                                         "_to_copy",
                                         "alias",
                                         "as_strided",
                                         "clone",
                                         "contiguous",
                                         "copy_",
                                         "detach",
                                         "detach_",
                                         "empty",
                                         "empty_like",
                                         "empty_strided",
                                         "expand",
                                         "is_pinned",
                                         "item",
                                         "lift_fresh",
                                         "narrow",
                                         "permute",
                                         "pin_memory",
                                         "reshape",
                                         "resize_",
                                         "resolve_conj",
                                         "resolve_neg",
                                         "select",
                                         "set_",
                                         "slice",
                                         "squeeze",
                                         "t",
                                         "to",
                                         "transpose",
                                         "unsqueeze",
                                         "view"};
    struct stk_str aten = STK_STR("aten::");
    if (!stk_str_starts(name, aten)) {
        return false;
    }
    name.p += aten.n;
    name.n -= aten.n;
    for (size_t i = 0; i < sizeof movers / sizeof movers[0]; i++) {
        if (stk_str_eq(name, stk_str_from(movers[i]))) {
            return true;
        }
    }
    return false;
}

#define INPUT_CLASSES (STK_NAME_FETCH | STK_NAME_PREP | STK_NAME_ITERATOR)

// First event of the row that starts at t or later.
static uint32_t first_from(const struct stk_trace *t, const struct stk_track *track, int64_t t_ns)
{
    uint32_t low = track->first, high = track->first + track->count;
    STK_BISECT(low, high, middle, t->start_ns[middle] < t_ns);
    return low;
}

static void look_inside(const struct finder *f, const struct stk_track *track, struct island *i)
{
    const struct stk_trace *t = f->view->t;
    int64_t done_ns = INT64_MIN; // end of the last one that was counted, or of input
    uint32_t end = track->first + track->count;
    for (uint32_t e = first_from(t, track, i->start_ns); e < end && t->start_ns[e] < i->end_ns;
         e++) {
        uint32_t classes = stk_class_of(f->view, e);
        bool is_input = t->kind[e] == STK_KIND_INPUT || (classes & INPUT_CLASSES);
        if (t->start_ns[e] < done_ns || (!is_input && !(classes & STK_NAME_MODEL_OP))) {
            continue;
        }
        int64_t end_ns = stk_end_ns(t, e), dur_ns = end_ns - t->start_ns[e];
        if (!is_input && (end_ns > i->end_ns || only_moves(stk_name_of(t, e)))) {
            continue; // those inside may fit
        }
        done_ns = end_ns;
        if (is_input) {
            continue;
        }
        i->host_ns = stk_add_ns(i->host_ns, dur_ns);
        if (i->name == STK_NONE || dur_ns > i->longest_ns) {
            i->longest_ns = dur_ns;
            i->name = t->name[e];
        }
    }
}

// Islands follow one another: only those within the row's time are looked at.
static void look_along(const struct finder *f, const struct stk_track *track)
{
    const struct stk_trace *t = f->view->t;
    int64_t first_ns = track->count ? t->start_ns[track->first] : 0;
    size_t low = 0, high = track->count ? f->islands.count : 0;
    STK_BISECT(low, high, middle,
               ((const struct island *)stk_vec_at(&f->islands, middle))->end_ns <= first_ns);
    for (; track->count && low < f->islands.count; low++) {
        struct island *i = stk_vec_at(&f->islands, low);
        if (i->start_ns > t->start_ns[track->first + track->count - 1]) {
            break;
        }
        look_inside(f, track, i);
    }
}

static bool add_rows(struct finder *f)
{
    for (size_t k = 0; k < f->islands.count; k++) {
        const struct island *i = stk_vec_at(&f->islands, k);
        if (i->name == STK_NONE) {
            continue;
        }
        int created = 0;
        uint32_t *at = stk_map_put(&f->row_at, i->name, 0, (uint32_t)f->rows.count, &created);
        struct stk_op_island *row = !at       ? NULL
                                    : created ? stk_vec_push(&f->rows)
                                              : stk_vec_at(&f->rows, *at);
        if (!row) {
            return false;
        }
        if (created && !(row->op = stk_name_cache_get(&f->names, i->name))) {
            return false;
        }
        row->count++;
        row->copies += i->copies;
        row->sized += i->sized;
        row->bytes = stk_add_ns(row->bytes, i->bytes);
        row->host_ns = stk_add_ns(row->host_ns, i->host_ns);
        row->total_ns = stk_add_ns(row->total_ns, i->end_ns - i->start_ns);
        row->step_ns = stk_add_ns(row->step_ns, i->is_used ? i->end_ns - i->start_ns : 0);
    }
    return true;
}

static bool find_all(struct finder *f, struct stk_spans *used)
{
    const struct stk_analysis *v = f->view;
    for (uint32_t d = 0; d < v->sum->device_count; d++) {
        if (v->sum->devices_left_out && !v->sum->devices[d].analysed) {
            continue; // each goes over all threads
        }
        if (!stk_view_used(v, d, used) || !find_times(f, &v->lines[d], used)) {
            return false;
        }
        for (uint32_t k = 0; f->islands.count && k < v->t->track_count; k++) {
            if (v->t->tracks[k].kind == STK_TRACK_THREAD && v->in_rank[v->t->tracks[k].process] &&
                !v->threads[v->threads[k].root].is_loader) {
                look_along(f, &v->t->tracks[k]);
            }
        }
        if (!add_rows(f)) {
            return false;
        }
    }
    return true;
}

bool stk_op_islands_find(const struct stk_analysis *view, const uint32_t *owner,
                         struct stk_arena *arena, struct stk_op_details *out)
{
    struct finder f = {.view = view, .owner = owner};
    struct stk_spans used;
    stk_spans_init(&used);
    stk_vec_init(&f.islands, sizeof(struct island), UINT32_MAX - 1);
    stk_vec_init(&f.rows, sizeof(struct stk_op_island), UINT32_MAX - 1);
    stk_map_init(&f.row_at, UINT32_MAX - 1);
    bool ok = stk_name_cache_init(&f.names, view->t, arena) && find_all(&f, &used);
    out->islands = ok ? stk_arena_items(arena, &f.rows) : NULL;
    out->island_count = out->islands ? f.rows.count : 0;
    stk_name_cache_deinit(&f.names);
    stk_spans_deinit(&used);
    stk_vec_deinit(&f.islands);
    stk_vec_deinit(&f.rows);
    stk_map_deinit(&f.row_at);
    return out->islands != NULL;
}
