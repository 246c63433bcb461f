// SPDX-License-Identifier: Apache-2.0
// Sums of one rank's communication for stoker stats comm: collectives on the host, with the sizes
// in their rows (profile/model/collectives/collective_sizes.h), and the gradients of the used
// steps. Method: one pass over each host thread with a stack of such rows, one over the devices.
#include "answers/passes/stats/stats_comm.h"

#include "base/alloc.h"
#include "profile/model/collectives/collective_sizes.h"
#include "answers/passes/stats/stats.h"

struct sweep {
    const struct stk_analysis *view;
    struct stk_arena *arena;
    struct stk_comm_sums *out;
    struct stk_vec host;    // struct stk_comm_host
    uint32_t *slot;         // per string id: row of `host` + 1
    struct stk_spans time;  // of the host, selected
    struct stk_spans steps; // of the host, used
    struct stk_name_cache names;
    struct stk_said_stack stack;
};

// ---- host ----

// These run on the host itself; others only submit work to a device.
static bool is_host_collective(struct stk_str name)
{
    static const char *const handing[] = {
        "nccl", "rccl", "xccl:", "hccl:", "c10d::", "c10d_", "_c10d", "symm_mem::"};
    for (size_t i = 0; i < sizeof handing / sizeof handing[0]; i++) {
        if (stk_str_starts(name, stk_str_from(handing[i]))) {
            return false;
        }
    }
    return !stk_str_eq(name, STK_STR("record_param_comms"));
}

static bool add_host(struct sweep *s, uint32_t event, const struct stk_collective_said *said)
{
    const struct stk_trace *t = s->view->t;
    uint32_t id = t->name[event];
    struct stk_comm_host *row = NULL;
    if (s->slot[id] == 0) {
        row = stk_vec_push(&s->host);
        const char *name = row ? stk_name_cache_get(&s->names, id) : NULL;
        if (!name) {
            return false;
        }
        *row = (struct stk_comm_host){.name = name};
        s->slot[id] = (uint32_t)s->host.count;
    }
    row = stk_vec_at(&s->host, s->slot[id] - 1);
    int64_t bytes = stk_collective_said_bytes(said, stk_collective_kind_of(row->name));
    row->count++;
    row->total_ns = stk_add_ns(row->total_ns, stk_dur_ns(t, event));
    row->bytes = bytes < 0 || row->bytes < 0 ? -1 : stk_add_ns(row->bytes, bytes);
    return true;
}

static void add_gradient(struct sweep *s, uint32_t event)
{
    struct stk_collective_said said = stk_collective_said_of(s->view->t, event);
    int64_t bytes;
    if (said.in == 0) {
        return;
    }
    s->out->gradient_elements = stk_add_ns(s->out->gradient_elements, said.in);
    bool known = said.element_bytes > 0 && s->out->gradient_bytes >= 0 &&
                 !__builtin_mul_overflow(said.in, said.element_bytes, &bytes);
    s->out->gradient_bytes = known ? stk_add_ns(s->out->gradient_bytes, bytes) : -1;
}

static bool sweep_thread(struct sweep *s, const struct stk_track *track)
{
    const struct stk_trace *t = s->view->t;
    struct stk_view_cursor cursor = {&s->time, 0}, in_steps = {&s->steps, 0};
    struct stk_str gradient = STK_STR(STK_GRADIENT_OP);
    int64_t inside_ns = INT64_MIN; // end of the outermost collective of the host
    s->stack.depth = 0;
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        if (!(stk_class_of(s->view, e) & STK_NAME_HOST_COLL) ||
            (t->kind[e] == STK_KIND_RUNTIME && t->ref[e] != STK_NONE)) {
            if (t->kind[e] == STK_KIND_HOST_OP && t->ref[e] != STK_NONE &&
                stk_view_in(&in_steps, t->start_ns[e]) && stk_str_eq(stk_name_of(t, e), gradient)) {
                add_gradient(s, e);
            }
            continue;
        }
        stk_said_close(&s->stack, t->start_ns[e]);
        struct stk_collective_said said = stk_said_open(&s->stack, t, e);
        if (t->start_ns[e] >= inside_ns && stk_view_in(&cursor, t->start_ns[e]) &&
            is_host_collective(stk_name_of(t, e))) {
            inside_ns = stk_end_ns(t, e);
            if (!add_host(s, e, &said)) {
                return false;
            }
        }
    }
    return true;
}

// ---- device ----

static bool wait_unknown(struct sweep *s)
{
    uint32_t n = s->view->sum->collective_count;
    s->out->waits = stk_arena_array(s->arena, n + 1, sizeof *s->out->waits);
    for (uint32_t i = 0; s->out->waits && i < n; i++) {
        s->out->waits[i] = (struct stk_comm_wait){.wait_ns = -1, .last_rank = -1};
    }
    return s->out->waits != NULL;
}

static bool sum_exposed(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    struct stk_spans selected, inside;
    bool ok = true;
    stk_spans_init(&selected);
    stk_spans_init(&inside);
    for (uint32_t d = 0; d < v->sum->device_count && ok; d++) {
        ok = stk_view_selected(v, d, &selected) &&
             stk_spans_intersect(&v->lines[d].exposed[STK_PART_COMMUNICATION], &selected, &inside);
        s->out->exposed_ns += stk_spans_total(&inside);
    }
    stk_spans_deinit(&selected);
    stk_spans_deinit(&inside);
    return ok;
}

// The selected host time; unknown if steps were only found on the device.
static bool select_time(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    if (!v->select->has_steps || v->steps_on_device) {
        return stk_spans_add(&s->time, v->from_ns, v->to_ns);
    }
    for (uint32_t i = 0; i < v->step_count; i++) {
        const char *excluded = v->steps[i].excluded;
        if ((!excluded || strcmp(excluded, STK_EXCLUDED_UNSELECTED) != 0) &&
            !stk_spans_add(&s->time, v->steps[i].start_ns, v->steps[i].end_ns)) {
            return false;
        }
    }
    return true;
}

// TensorFlow's gradients, from the kernels that apply them to variables: of the first device with
// such kernels, since each device applies all gradients.
static bool sweep_updates(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    struct stk_spans used;
    bool ok = true;
    stk_spans_init(&used);
    for (uint32_t d = 0; d < v->sum->device_count && ok && s->out->gradient_elements == 0; d++) {
        struct stk_view_cursor cursor = {&used, 0};
        ok = stk_view_used(v, d, &used);
        for (uint32_t i = 0; ok && i < v->lines[d].op_count; i++) {
            const struct stk_device_op *op = &v->lines[d].ops[i];
            if (v->t->kind[op->event] == STK_KIND_KERNEL && stk_view_in(&cursor, op->start_ns)) {
                add_gradient(s, op->event);
            }
        }
    }
    stk_spans_deinit(&used);
    return ok;
}

static bool comm_sweep_all(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    bool ok = select_time(s) && stk_view_host_steps(v, true, &s->steps);
    for (uint32_t i = 0; i < v->step_count && ok && !v->steps_on_device; i++) {
        s->out->gradient_steps += !v->steps[i].excluded;
    }
    for (uint32_t k = 0; k < v->t->track_count && ok; k++) {
        if (v->t->tracks[k].kind == STK_TRACK_THREAD && v->in_rank[v->t->tracks[k].process]) {
            ok = sweep_thread(s, &v->t->tracks[k]);
        }
    }
    ok = ok && sweep_updates(s) && wait_unknown(s) && sum_exposed(s);
    s->out->host = ok ? stk_arena_items(s->arena, &s->host) : NULL;
    s->out->host_count = (uint32_t)s->host.count;
    return s->out->host != NULL;
}

enum stoker_status stk_comm_sums_see(const struct stk_analysis *view, struct stk_arena *arena,
                                     void **partial, struct stoker_err *err)
{
    struct sweep *s = stk_alloc_zero(1, sizeof *s);
    *partial = NULL;
    if (!s) {
        return stk_err_nomem(err);
    }
    s->view = view;
    s->arena = arena;
    stk_vec_init(&s->host, sizeof(struct stk_comm_host), UINT32_MAX - 1);
    stk_spans_init(&s->time);
    stk_spans_init(&s->steps);
    s->slot = stk_alloc_zero((size_t)view->t->strings.count + 1, sizeof *s->slot);
    s->out = stk_arena_alloc(arena, sizeof *s->out);
    bool ok =
        stk_name_cache_init(&s->names, view->t, arena) && s->slot && s->out && comm_sweep_all(s);
    *partial = ok ? s->out : NULL;
    stk_name_cache_deinit(&s->names);
    stk_vec_deinit(&s->host);
    stk_spans_deinit(&s->time);
    stk_spans_deinit(&s->steps);
    stk_free(s->slot);
    stk_free(s);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
