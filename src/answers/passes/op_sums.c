// SPDX-License-Identifier: Apache-2.0
// Sums per operation of the model, on the host and on the device, for the tables of stats_ops.c.
// Host rows: operators and other slices of host threads by name (no Python frames, runtime calls,
// or annotations other than operators'). total_ns counts a nested call of the same name once;
// self_ns is without the operators nested inside; device_ns is the device work launched inside,
// however deep. Internal events of the TensorFlow and XLA runtimes (graph executor, closures of
// thread pools, buffers, compilation: STK_NAME_INTERNAL) aren't operations, as in XProf's table,
// which lists only operations. Inside an operation they count as its self time; elsewhere they are
// summed as runtime_ns. What they launch is still device work of the operations around them. Device
// rows: device work by the innermost operator around its launch call, or by its own name without
// one (XLA names its kernels after its operations).
// Method: one pass over each row of each host thread with a stack of open operators, and one over
// the device operations.
// How work was issued (mode), by what is open around its launch call: a replayed device graph, an
// XLA executable, code of torch.compile, a node of TensorFlow's graph executor, else an operator on
// its own (eager). A kernel that Inductor generated is compiled wherever it was launched, kernels
// of JAX and programs of a TPU are XLA's.
// The same sums by another key than the name (stats/ops_by.def): a function names the group of each
// operation by its row and by what is open around it, and groups replace names.
// Limits: a host operator counts where it starts, deeper ones than 256 count as their ancestors.
// Without operators around the launch calls, the mode is mostly not known.
#include <string.h>

#include "base/alloc.h"
#include "base/strpool.h"
#include "answers/passes/name_cache.h"
#include "answers/passes/sums.h"

#define MAX_DEPTH 256
#define NOT_SELECTED STK_OWNER_UNSELECTED
#define NO_OWNER STK_OWNER_NONE
#define FIRST_OWNER STK_OWNER_FIRST

#define NO_ROW UINT32_MAX
#define FURTHER "further operations"

struct open_op {
    int64_t end_ns;
    uint32_t row, id; // internals: of the operator around them, or NO_ROW
    uint32_t slot;    // of `open` and its row; id, or that of what has further names
    uint32_t classes; // of this operator and all around it
    bool outermost;   // no operator of this name around it
    bool internal;    // of the runtime
};

// Operations by group: ids are those of `names`, 0: in no group that is known.
struct grouping {
    stk_op_group_fn *group;
    struct stk_strpool names;
    size_t room; // ids that the slots of the sweep have place for
    struct stk_op_around around;
    uint32_t events[MAX_DEPTH];
    int64_t ends_ns[MAX_DEPTH];
};

struct sweep {
    const struct stk_analysis *view;
    struct grouping *by; // NULL: by name
    bool used_only;
    bool has_internals; // the profile's runtime records itself by names that are known
    bool is_jax;        // what runs on a device of JAX, copies aside, is an XLA executable's
    struct stk_op_sums *out;
    struct stk_vec rows;   // struct stk_op_row
    uint32_t *slot[2];     // per string id and one more, or group: row + 1, on host and device
    uint32_t *open;        // per slot: how many are open
    uint32_t *owner;       // per event: STK_OWNER_...
    uint8_t *mode;         // per event of a device: enum stk_op_mode
    struct stk_spans host; // selected time of the host
    struct stk_name_cache names;
    struct open_op stack[MAX_DEPTH];
    uint32_t depth;
};

// Index into slots: of a name or group, after all names of those that have no row of their own.
static uint32_t slot_of(const struct sweep *s, uint32_t id, bool on_device)
{
    bool own = s->by || s->slot[on_device][id] || s->rows.count < STK_NAMED_ROWS_MAX;
    return own ? id : s->view->t->strings.count;
}

static const char *op_sums_name(struct sweep *s, uint32_t slot)
{
    return slot == s->view->t->strings.count ? FURTHER : stk_name_cache_get(&s->names, slot);
}

static struct stk_op_row *op_sums_row_of(struct sweep *s, uint32_t at, bool on_device)
{
    uint32_t *slot = &s->slot[on_device][at];
    if (*slot == 0) {
        struct stk_op_row *row = stk_vec_push(&s->rows);
        const char *name = row && !s->by ? op_sums_name(s, at) : NULL;
        if (!row || (!name && !s->by)) {
            return NULL;
        }
        *row = (struct stk_op_row){.name = name, .on_device = on_device};
        *slot = (uint32_t)s->rows.count;
    }
    return stk_vec_at(&s->rows, *slot - 1);
}

static bool make_room(struct sweep *s, size_t ids)
{
    uint32_t **slots[] = {&s->slot[0], &s->slot[1], &s->open};
    size_t room = s->by->room ? s->by->room : 256;
    while (room < ids) {
        room *= 2;
    }
    for (size_t i = 0; i < sizeof slots / sizeof slots[0] && room > s->by->room; i++) {
        uint32_t *grown = stk_realloc_array(*slots[i], room, sizeof **slots[i]);
        if (!grown) {
            return false;
        }
        memset(grown + s->by->room, 0, (room - s->by->room) * sizeof *grown);
        *slots[i] = grown;
    }
    s->by->room = room;
    return true;
}

// Id of the group of an event; UINT32_MAX: no memory.
static uint32_t group_of(struct sweep *s, uint32_t event)
{
    struct stk_str name = s->by->group(&s->by->around, event);
    uint32_t id = name.n ? stk_strpool_intern(&s->by->names, name.p, name.n) : 0;
    return id != STK_STRPOOL_FAILED && make_room(s, (size_t)id + 1) ? id : UINT32_MAX;
}

static uint32_t id_of(struct sweep *s, uint32_t event)
{
    return s->by ? group_of(s, event) : s->view->t->name[event];
}

static void leave_ended(struct grouping *by, int64_t t_ns)
{
    while (by->around.count && by->ends_ns[by->around.count - 1] <= t_ns) {
        by->around.count--;
    }
}

static void enter(struct sweep *s, uint32_t event)
{
    struct grouping *by = s->by;
    if (by->around.count < MAX_DEPTH) {
        by->ends_ns[by->around.count] = stk_end_ns(s->view->t, event);
        by->events[by->around.count++] = event;
    }
}

// Ranges that PyTorch itself names (emit_nvtx, compiled graphs) are operators too.
static bool is_op(const struct stk_analysis *view, uint32_t event)
{
    uint8_t kind = view->t->kind[event];
    if (kind == STK_KIND_ANNOTATION && (stk_class_of(view, event) & STK_NAME_MODEL_OP)) {
        return !(stk_class_of(view, event) & STK_NAME_OPTIMIZER) && !stk_is_step_mark(view, event);
    }
    return (kind == STK_KIND_HOST_OP || kind == STK_KIND_INPUT) && !stk_is_step_mark(view, event);
}

static enum stk_op_mode mode_of(uint32_t classes)
{
    if (classes & STK_NAME_XLA_RUN) {
        return STK_MODE_XLA;
    }
    if (classes & STK_NAME_COMPILED) {
        return STK_MODE_COMPILED;
    }
    if (classes & STK_NAME_GRAPH_NODE) {
        return STK_MODE_FUNCTION;
    }
    return classes & (STK_NAME_MODEL_OP | STK_NAME_HOST_COLL) ? STK_MODE_EAGER : STK_MODE_UNKNOWN;
}

static void op_sums_close_ended(struct sweep *s, int64_t t_ns)
{
    while (s->depth && s->stack[s->depth - 1].end_ns <= t_ns) {
        if (!s->stack[--s->depth].internal) {
            s->open[s->stack[s->depth].slot]--;
        }
    }
}

// Phases of a compiler have names of their own; what they run to fold constants is operations.
static bool is_internal(const struct sweep *s, uint32_t own, uint32_t around)
{
    return s->has_internals &&
           ((own & STK_NAME_INTERNAL) || (around & STK_NAME_COMPILE && !(own & STK_NAME_MODEL_OP)));
}

static void open_internal(struct sweep *s, uint32_t classes, int64_t end_ns, int64_t dur_ns)
{
    const struct open_op *around = s->depth ? &s->stack[s->depth - 1] : NULL;
    if (!around) {
        s->out->runtime_ns += dur_ns;
    }
    if (s->depth == MAX_DEPTH) {
        return;
    }
    s->stack[s->depth] = (struct open_op){.end_ns = end_ns,
                                          .row = around ? around->row : NO_ROW,
                                          .id = around ? around->id : 0,
                                          .classes = classes,
                                          .internal = true};
    s->depth++;
}

static bool open_op(struct sweep *s, uint32_t event, int64_t dur_ns)
{
    uint32_t own = stk_class_of(s->view, event);
    uint32_t around = s->depth ? s->stack[s->depth - 1].classes : 0, classes = own | around;
    int64_t end_ns = s->view->t->start_ns[event] + dur_ns;
    if (is_internal(s, own, around)) {
        open_internal(s, classes, end_ns, dur_ns);
        return true;
    }
    uint32_t id = id_of(s, event);
    uint32_t slot = id == UINT32_MAX ? 0 : slot_of(s, id, false);
    struct stk_op_row *row = id == UINT32_MAX ? NULL : op_sums_row_of(s, slot, false);
    if (!row) {
        return false;
    }
    row->count++;
    row->self_ns += dur_ns;
    row->total_ns += s->open[slot] == 0 ? dur_ns : 0;
    row->modes |= (uint8_t)(1u << mode_of(classes));
    s->out->host_ns += dur_ns;
    if (s->depth && s->stack[s->depth - 1].row == NO_ROW) {
        s->out->runtime_ns -= dur_ns;
    } else if (s->depth) {
        struct stk_op_row *parent = stk_vec_at(&s->rows, s->stack[s->depth - 1].row);
        parent->self_ns -= dur_ns;
        s->out->host_ns -= dur_ns;
    }
    if (s->depth < MAX_DEPTH) {
        s->stack[s->depth++] = (struct open_op){.end_ns = end_ns,
                                                .row = s->slot[0][slot] - 1,
                                                .id = id,
                                                .slot = slot,
                                                .classes = classes,
                                                .outermost = s->open[slot] == 0};
        s->open[slot]++;
    }
    return true;
}

// Device work of a launch call, for every operator around the call.
static void add_launch(struct sweep *s, uint32_t call)
{
    const struct stk_trace *t = s->view->t;
    const struct open_op *inner = &s->stack[s->depth - 1];
    enum stk_op_mode mode = mode_of(inner->classes);
    int64_t sum_ns = 0;
    for (uint32_t e = t->ref[call]; e != STK_NONE; e = t->ext[t->ref[e]].next) {
        if (s->owner[e] == NOT_SELECTED) {
            continue;
        }
        s->owner[e] = inner->row == NO_ROW ? NO_OWNER : inner->id + FIRST_OWNER;
        s->mode[e] = (uint8_t)mode;
        sum_ns += stk_dur_ns(t, e);
    }
    for (uint32_t i = 0; i < s->depth; i++) {
        if (s->stack[i].outermost) {
            ((struct stk_op_row *)stk_vec_at(&s->rows, s->stack[i].row))->device_ns += sum_ns;
        }
    }
}

static bool sweep_thread(struct sweep *s, const struct stk_track *track)
{
    const struct stk_trace *t = s->view->t;
    struct stk_view_cursor cursor = {&s->host, 0};
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        bool launch = t->kind[e] == STK_KIND_RUNTIME && t->ref[e] != STK_NONE;
        bool op = !launch && is_op(s->view, e);
        if (s->by) {
            leave_ended(s->by, t->start_ns[e]);
        }
        if (launch || op) {
            op_sums_close_ended(s, t->start_ns[e]);
        }
        if (launch && s->depth) {
            add_launch(s, e);
        } else if (op && stk_view_in(&cursor, t->start_ns[e]) && !open_op(s, e, stk_dur_ns(t, e))) {
            return false;
        }
        if (s->by && t->kind[e] != STK_KIND_RUNTIME) {
            enter(s, e);
        }
    }
    op_sums_close_ended(s, INT64_MAX);
    if (s->by) {
        leave_ended(s->by, INT64_MAX);
    }
    return true;
}

static bool mark_device(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_device_line *l = &s->view->lines[line];
    struct stk_view_cursor cursor = {selected, 0};
    if (!(s->used_only ? stk_view_used : stk_view_selected)(s->view, line, selected)) {
        return false;
    }
    for (uint32_t i = 0; i < l->op_count; i++) {
        if (stk_view_in(&cursor, l->ops[i].start_ns)) {
            s->owner[l->ops[i].event] = NO_OWNER;
        }
    }
    return true;
}

// The mode of a device operation: what its own row says wins over where it was launched.
static enum stk_op_mode device_mode(const struct sweep *s, const struct stk_device_line *l,
                                    uint32_t event)
{
    const struct stk_trace *t = s->view->t;
    const struct stk_ext *x = stk_ext_of(t, event);
    uint32_t call = stk_launch_of(s->view, event);
    if ((x && (x->flags & STK_EXT_GRAPH)) ||
        (call != STK_NONE && (stk_class_of(s->view, call) & STK_NAME_GRAPH_LAUNCH))) {
        return STK_MODE_GRAPH;
    }
    if (s->mode[event] == STK_MODE_XLA || t->devices[l->device].kind == STK_DEVICE_TPU ||
        (s->is_jax && t->kind[event] != STK_KIND_MEMCPY)) {
        return STK_MODE_XLA;
    }
    if (stk_class_of(s->view, event) & STK_NAME_COMPILED) {
        return STK_MODE_COMPILED;
    }
    return (enum stk_op_mode)s->mode[event];
}

static bool op_sums_sweep_device(struct sweep *s, uint32_t line)
{
    const struct stk_device_line *l = &s->view->lines[line];
    for (uint32_t i = 0; i < l->op_count; i++) {
        uint32_t event = l->ops[i].event, owner = s->owner[event];
        if (owner == NOT_SELECTED) {
            continue;
        }
        uint32_t id = s->by || owner == NO_OWNER ? id_of(s, event) : owner - FIRST_OWNER;
        if (s->by && id == 0 && owner != NO_OWNER) {
            id = owner - FIRST_OWNER;
        }
        struct stk_op_row *row =
            id == UINT32_MAX ? NULL : op_sums_row_of(s, slot_of(s, id, true), true);
        if (!row) {
            return false;
        }
        int64_t dur_ns = stk_dur_ns(s->view->t, event);
        row->count++;
        row->total_ns += dur_ns;
        row->self_ns += dur_ns;
        row->device_ns += dur_ns;
        enum stk_op_mode mode = device_mode(s, l, event);
        row->modes |= (uint8_t)(1u << mode);
        s->out->mode_ns[mode] += dur_ns;
        s->out->mode_ops[mode]++;
        s->out->device_ns += dur_ns;
    }
    return true;
}

static bool op_sums_sweep_all(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    struct stk_spans selected;
    stk_spans_init(&selected);
    bool ok = (s->used_only ? stk_view_used_host : stk_view_selected_host)(v, &s->host);
    for (uint32_t d = 0; d < v->sum->device_count && ok; d++) {
        ok = mark_device(s, d, &selected);
    }
    for (uint32_t k = 0; k < v->t->track_count && ok; k++) {
        if (v->t->tracks[k].kind == STK_TRACK_THREAD && v->in_rank[v->t->tracks[k].process]) {
            ok = sweep_thread(s, &v->t->tracks[k]);
        }
    }
    for (uint32_t d = 0; d < v->sum->device_count && ok; d++) {
        ok = op_sums_sweep_device(s, d);
    }
    stk_spans_deinit(&selected);
    return ok;
}

static bool op_sums_keep(struct sweep *s, struct stk_arena *arena)
{
    s->out->rows = stk_arena_items(arena, &s->rows);
    s->out->count = s->rows.count;
    return s->out->rows != NULL;
}

static bool is_only_jax(uint32_t frameworks)
{
    return (frameworks & 1u << STK_FW_JAX) &&
           !(frameworks & (1u << STK_FW_TENSORFLOW | 1u << STK_FW_PYTORCH));
}

static bool sweep_init(struct sweep *s, const struct stk_analysis *view, struct stk_arena *arena)
{
    size_t strings = (size_t)view->t->strings.count + 1;
    s->view = view;
    s->has_internals = !(view->t->framework_hint & 1u << STK_FW_PYTORCH);
    s->is_jax = is_only_jax(view->t->framework_hint);
    stk_vec_init(&s->rows, sizeof(struct stk_op_row), UINT32_MAX - 1);
    stk_spans_init(&s->host);
    for (int i = 0; i < 2 && !s->by; i++) {
        s->slot[i] = stk_alloc_zero(strings, sizeof *s->slot[i]);
    }
    s->open = s->by ? NULL : stk_alloc_zero(strings, sizeof *s->open);
    s->owner = stk_alloc_zero((size_t)view->t->count + 1, sizeof *s->owner);
    s->mode = stk_alloc_zero((size_t)view->t->count + 1, sizeof *s->mode);
    s->out = stk_arena_alloc(arena, sizeof *s->out);
    bool slots = s->by ? make_room(s, 1) : s->slot[0] && s->slot[1] && s->open;
    return stk_name_cache_init(&s->names, view->t, arena) && slots && s->owner && s->mode && s->out;
}

static void sweep_deinit(struct sweep *s)
{
    stk_name_cache_deinit(&s->names);
    stk_free(s->slot[0]);
    stk_free(s->slot[1]);
    stk_free(s->open);
    stk_free(s->owner);
    stk_free(s->mode);
    stk_vec_deinit(&s->rows);
    stk_spans_deinit(&s->host);
    stk_free(s);
}

enum stoker_status stk_op_sums_make(const struct stk_analysis *view, bool used_only,
                                    struct stk_arena *arena, struct stk_op_sums **out,
                                    uint32_t **owner, struct stoker_err *err)
{
    struct sweep *s = stk_alloc_zero(1, sizeof *s);
    if (!s) {
        return stk_err_nomem(err);
    }
    s->used_only = used_only;
    bool ok = sweep_init(s, view, arena) && op_sums_sweep_all(s) && op_sums_keep(s, arena);
    *out = ok ? s->out : NULL;
    if (ok && owner) {
        *owner = s->owner;
        s->owner = NULL;
    }
    sweep_deinit(s);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

// Both sides of each group, in the order of the groups' ids.
static bool keep_groups(struct sweep *s, struct stk_arena *arena, struct stk_op_groups *out)
{
    uint32_t ids = s->by->names.count;
    out->sums = s->out;
    out->rows = stk_arena_array(arena, (size_t)ids + 1, sizeof *out->rows);
    if (!out->rows || !op_sums_keep(s, arena)) {
        return false;
    }
    for (uint32_t id = 0; id < ids; id++) {
        uint32_t host = id < s->by->room ? s->slot[0][id] : 0;
        uint32_t device = id < s->by->room ? s->slot[1][id] : 0;
        struct stk_op_group *row = &out->rows[out->count];
        struct stk_str name = stk_strpool_get(&s->by->names, id);
        if (!host && !device) {
            continue;
        }
        row->name = id ? stk_arena_strndup(arena, name.p, name.n) : NULL;
        if (id && !row->name) {
            return false;
        }
        if (host) {
            row->ops = s->out->rows[host - 1].count;
            row->total_ns = s->out->rows[host - 1].total_ns;
            row->self_ns = s->out->rows[host - 1].self_ns;
        }
        if (device) {
            row->device_ops = s->out->rows[device - 1].count;
            row->device_ns = s->out->rows[device - 1].device_ns;
        }
        out->count++;
    }
    return true;
}

enum stoker_status stk_op_groups_make(const struct stk_analysis *view, stk_op_group_fn *group,
                                      struct stk_arena *arena, struct stk_op_groups **out,
                                      struct stoker_err *err)
{
    struct sweep *s = stk_alloc_zero(1, sizeof *s);
    struct grouping *by = stk_alloc_zero(1, sizeof *by);
    struct stk_op_groups *groups = stk_arena_alloc(arena, sizeof *groups);
    bool ok = s && by && groups && stk_strpool_init(&by->names, 0) == 0;
    *out = NULL;
    if (ok) {
        s->by = by;
        by->group = group;
        by->around.view = view;
        by->around.events = by->events;
        by->around.memo = stk_alloc_zero((size_t)view->t->strings.count + 1, 1);
        ok = by->around.memo && sweep_init(s, view, arena) && op_sums_sweep_all(s) &&
             keep_groups(s, arena, groups);
        *out = ok ? groups : NULL;
        sweep_deinit(s);
        stk_strpool_deinit(&by->names);
        stk_free(by->around.memo);
    } else {
        stk_free(s);
    }
    stk_free(by);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

static enum stoker_status sum_up(const struct stk_analysis *view, bool used_only,
                                 struct stk_arena *arena, void **partial, struct stoker_err *err)
{
    struct stk_op_sums *sums = NULL;
    enum stoker_status status = stk_op_sums_make(view, used_only, arena, &sums, NULL, err);
    *partial = sums;
    return status;
}

enum stoker_status stk_op_sums_see(const struct stk_analysis *view, struct stk_arena *arena,
                                   void **partial, struct stoker_err *err)
{
    return sum_up(view, false, arena, partial, err);
}

enum stoker_status stk_op_sums_see_used(const struct stk_analysis *view, struct stk_arena *arena,
                                        void **partial, struct stoker_err *err)
{
    return sum_up(view, true, arena, partial, err);
}
