// SPDX-License-Identifier: Apache-2.0
// Sizes and groups of the collectives of one rank.
// PyTorch copies what it knows of a collective onto its kernel (since 2.2); before, and where that
// is missing, it is on the host rows around the launch: record_param_comms, and the backend's
// annotation ("nccl:all_reduce") with the shape of its input. XLA's HLO text holds shape and
// groups. bytes is the size of the whole tensor, as NCCL's tests count it: what every rank ends
// with for an all_gather, what it begins with for a reduce_scatter. Method: one pass over each host
// thread with a stack of such rows, one over the devices.
#include "base/assert.h"
#include "passes/stats/stats_comm.h"

#include <string.h>

#include "base/alloc.h"
#include "model/collectives.h"
#include "passes/stats/stats.h"
#include "store/words.h"

#define MAX_DEPTH 64

// What one row says; 0 and STK_NONE: nothing.
struct said {
    int64_t in, out, element_bytes, bytes, group_size;
    uint32_t collective, group, members; // string ids
};
struct open_call {
    int64_t end_ns;
    struct said said; // with what the calls around it say
};

struct sweep {
    const struct stk_analysis *view;
    struct stk_arena *arena;
    struct stk_comm_sums *out;
    struct stk_map launched; // device event -> index into `calls`
    struct stk_vec calls;    // struct said
    struct stk_vec host;     // struct stk_comm_host
    uint32_t *slot;          // per string id: row of `host` + 1
    struct stk_spans time;   // of the host, selected
    struct stk_spans steps;  // of the host, used
    struct stk_name_cache names;
    struct open_call stack[MAX_DEPTH];
    uint32_t depth;
};

static const struct said nothing = {.collective = STK_NONE, .group = STK_NONE, .members = STK_NONE};

const char *stk_comm_kind(const char *name)
{
    // Order matters: "reducescatter" before "reduce".
    static const struct {
        const char *word;
        enum stk_collective_kind kind;
    } kinds[] = {{"reducescatter", STK_COLLECTIVE_REDUCE_SCATTER},
                 {"allreduce", STK_COLLECTIVE_ALL_REDUCE},
                 {"allgather", STK_COLLECTIVE_ALL_GATHER},
                 {"alltoall", STK_COLLECTIVE_ALL_TO_ALL},
                 {"sendrecv", STK_COLLECTIVE_SEND_RECV},
                 {"collectivepermute", STK_COLLECTIVE_PERMUTE},
                 {"permute", STK_COLLECTIVE_PERMUTE},
                 {"broadcast", STK_COLLECTIVE_BROADCAST},
                 {"gather", STK_COLLECTIVE_GATHER},
                 {"scatter", STK_COLLECTIVE_SCATTER},
                 {"reduce", STK_COLLECTIVE_REDUCE},
                 {"send", STK_COLLECTIVE_SEND_RECV},
                 {"recv", STK_COLLECTIVE_SEND_RECV},
                 {"barrier", STK_COLLECTIVE_BARRIER}};
    char text[128];
    size_t n = 0;
    for (const char *p = name; *p && n + 1 < sizeof text; p++) {
        char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + ('a' - 'A')) : *p;
        if (c == '(' || c == '<') {
            break; // parameters
        }
        if (c != '_' && c != '-') {
            text[n++] = c;
        }
    }
    text[n] = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(text, kinds[i].word)) {
            return stk_collective_word(kinds[i].kind);
        }
    }
    return NULL;
}

double stk_comm_bus_factor(const char *kind, int64_t group_size)
{
    STK_ASSERT(group_size >= 0);
    double n = (double)group_size;
    if (!kind || group_size < 2) {
        return 1;
    }
    switch (stk_collective_find(kind)) {
    case STK_COLLECTIVE_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case STK_COLLECTIVE_ALL_GATHER:
    case STK_COLLECTIVE_REDUCE_SCATTER:
    case STK_COLLECTIVE_ALL_TO_ALL:
        return (n - 1) / n;
    default:
        return 1;
    }
}

// ---- what rows say ----

static void read_details(const struct stk_trace *t, uint32_t event, struct said *s)
{
    uint32_t count;
    const struct stk_detail *d = stk_details_of(t, event, &count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t number = d[i].number > 0 ? d[i].number : 0;
        if (d[i].key == STK_DETAIL_IN_ELEMENTS) {
            s->in = number;
        } else if (d[i].key == STK_DETAIL_OUT_ELEMENTS) {
            s->out = number;
        } else if (d[i].key == STK_DETAIL_ELEMENT_BYTES) {
            s->element_bytes = number;
        } else if (d[i].key == STK_DETAIL_BYTES) {
            s->bytes = number;
        } else if (d[i].key == STK_DETAIL_GROUP_SIZE) {
            s->group_size = number;
        } else if (d[i].key == STK_DETAIL_COLLECTIVE) {
            s->collective = d[i].text;
        } else if (d[i].key == STK_DETAIL_GROUP) {
            s->group = d[i].text;
        } else if (d[i].key == STK_DETAIL_GROUP_RANKS) {
            s->members = d[i].text;
        }
    }
}

// Fill what `s` does not say from a row around it. Counts go with their type.
static void complete(struct said *s, const struct said *around)
{
    if (s->in == 0 || s->element_bytes == 0) {
        s->in = around->in;
        s->out = around->out;
        s->element_bytes = around->element_bytes;
    }
    s->bytes = s->bytes ? s->bytes : around->bytes;
    s->group_size = s->group_size ? s->group_size : around->group_size;
    s->collective = s->collective != STK_NONE ? s->collective : around->collective;
    s->group = s->group != STK_NONE ? s->group : around->group;
    s->members = s->members != STK_NONE ? s->members : around->members;
}

// Of the whole tensor; -1: not known.
static int64_t bytes_of(const struct said *s, const char *kind)
{
    int64_t elements = s->in > s->out ? s->in : s->out, bytes;
    if (s->bytes > 0) {
        return s->bytes;
    }
    if (elements == 0 || s->element_bytes == 0) {
        return -1;
    }
    bool grows = s->out == 0 && stk_collective_find(kind) == STK_COLLECTIVE_ALL_GATHER;
    if (grows &&
        (s->group_size == 0 || __builtin_mul_overflow(elements, s->group_size, &elements))) {
        return -1;
    }
    return __builtin_mul_overflow(elements, s->element_bytes, &bytes) ? -1 : bytes;
}

// ---- host ----

// The host carries these out itself; others only hand them to a device.
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

static bool add_host(struct sweep *s, uint32_t event, const struct said *said)
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
    int64_t bytes = bytes_of(said, stk_comm_kind(row->name));
    row->count++;
    row->total_ns = stk_add_ns(row->total_ns, stk_dur_ns(t, event));
    row->bytes = bytes < 0 || row->bytes < 0 ? -1 : stk_add_ns(row->bytes, bytes);
    return true;
}

static bool note_launch(struct sweep *s, uint32_t call)
{
    const struct stk_trace *t = s->view->t;
    for (uint32_t e = t->ref[call]; e != STK_NONE; e = t->ext[t->ref[e]].next) {
        if (t->kind[e] != STK_KIND_COLLECTIVE) {
            continue;
        }
        struct said *said = stk_vec_push(&s->calls);
        if (!said || !stk_map_put(&s->launched, e, 0, (uint32_t)s->calls.count - 1, NULL)) {
            return false;
        }
        *said = s->stack[s->depth - 1].said;
    }
    return true;
}

static void add_gradient(struct sweep *s, uint32_t event)
{
    struct said said = nothing;
    int64_t bytes;
    read_details(s->view->t, event, &said);
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
    s->depth = 0;
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        bool launch = t->kind[e] == STK_KIND_RUNTIME && t->ref[e] != STK_NONE;
        if (!launch && !(stk_class_of(s->view, e) & STK_NAME_HOST_COLL)) {
            if (t->kind[e] == STK_KIND_HOST_OP && t->ref[e] != STK_NONE &&
                stk_view_in(&in_steps, t->start_ns[e]) && stk_str_eq(stk_name_of(t, e), gradient)) {
                add_gradient(s, e);
            }
            continue;
        }
        while (s->depth && s->stack[s->depth - 1].end_ns <= t->start_ns[e]) {
            s->depth--;
        }
        if (launch && s->depth && !note_launch(s, e)) {
            return false;
        }
        if (launch) {
            continue;
        }
        struct said said = nothing;
        read_details(t, e, &said);
        if (said.collective == STK_NONE && stk_comm_kind(stk_name_of(t, e).p)) {
            said.collective = t->name[e]; // "nccl:all_to_all" sends and receives
        }
        if (s->depth) {
            complete(&said, &s->stack[s->depth - 1].said);
        }
        if (t->start_ns[e] >= inside_ns && stk_view_in(&cursor, t->start_ns[e]) &&
            is_host_collective(stk_name_of(t, e))) {
            inside_ns = stk_end_ns(t, e);
            if (!add_host(s, e, &said)) {
                return false;
            }
        }
        if (s->depth < MAX_DEPTH) {
            s->stack[s->depth++] = (struct open_call){stk_end_ns(t, e), said};
        }
    }
    return true;
}

// ---- device ----

static bool size_of(struct sweep *s, uint32_t event, struct stk_comm_size *size)
{
    const struct stk_trace *t = s->view->t;
    struct said said = nothing;
    const uint32_t *call = stk_map_get(&s->launched, event, 0);
    read_details(t, event, &said);
    if (call) {
        complete(&said, stk_vec_at(&s->calls, *call));
    }
    *size = (struct stk_comm_size){
        .bytes = -1, .group_size = said.group_size, .wait_ns = -1, .last_rank = -1};
    if (said.collective != STK_NONE) {
        struct stk_str text = stk_strpool_get(&t->strings, said.collective);
        size->kind = stk_comm_kind(text.p); // NUL-terminated
    }
    const char *name = stk_name_of(t, event).p;
    size->bytes = bytes_of(&said, size->kind ? size->kind : stk_comm_kind(name));
    if (said.members != STK_NONE) {
        struct stk_str text = stk_strpool_get(&t->strings, said.members);
        size->members_hash = stk_collective_group_hash(text, said.group_size);
    }
    if (said.group == STK_NONE) {
        return true;
    }
    size->group = stk_name_cache_get(&s->names, said.group);
    return size->group != NULL;
}

// In the order of the rank's list of collectives (model/collective_list.c).
static bool sweep_devices(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    uint32_t n = 0;
    s->out->sizes = stk_arena_array(s->arena, v->sum->collective_count + 1, sizeof *s->out->sizes);
    if (!s->out->sizes) {
        return false;
    }
    for (uint32_t d = 0; d < v->sum->device_count; d++) {
        for (uint32_t i = 0; i < v->lines[d].op_count; i++) {
            if (v->lines[d].ops[i].part == STK_PART_COMMUNICATION && n < v->sum->collective_count &&
                !size_of(s, v->lines[d].ops[i].event, &s->out->sizes[n++])) {
                return false;
            }
        }
    }
    return true;
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

// Host time that was selected; steps found on the device alone say nothing of it.
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

// TensorFlow's gradients, by the kernels that apply them to variables: of the first device that has
// any, since each applies all of them.
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

static bool comm_sizes_sweep_all(struct sweep *s)
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
    ok = ok && sweep_updates(s) && sweep_devices(s) && sum_exposed(s);
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
    stk_map_init(&s->launched, UINT32_MAX - 1);
    stk_vec_init(&s->calls, sizeof(struct said), UINT32_MAX - 1);
    stk_vec_init(&s->host, sizeof(struct stk_comm_host), UINT32_MAX - 1);
    stk_spans_init(&s->time);
    stk_spans_init(&s->steps);
    s->slot = stk_alloc_zero((size_t)view->t->strings.count + 1, sizeof *s->slot);
    s->out = stk_arena_alloc(arena, sizeof *s->out);
    bool ok = stk_name_cache_init(&s->names, view->t, arena) && s->slot && s->out &&
              comm_sizes_sweep_all(s);
    *partial = ok ? s->out : NULL;
    stk_name_cache_deinit(&s->names);
    stk_map_deinit(&s->launched);
    stk_vec_deinit(&s->calls);
    stk_vec_deinit(&s->host);
    stk_spans_deinit(&s->time);
    stk_spans_deinit(&s->steps);
    stk_free(s->slot);
    stk_free(s);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
