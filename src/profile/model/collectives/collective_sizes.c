// SPDX-License-Identifier: Apache-2.0
// Sizes and groups of the collectives of one rank (collective_sizes.h), where the trace was read
// with STK_WANT_COLLECTIVES or STK_WANT_MESSAGES. PyTorch, since 2.2, copies a collective's sizes
// and group to its kernel. Without them, they are on the host rows around the launch:
// record_param_comms, and the backend's annotation ("nccl:all_reduce") with the shape of its input.
// XLA's HLO text holds shape and groups. bytes is the size of the whole tensor, as NCCL's tests
// count it: what every rank ends with for an all_gather, what it begins with for a reduce_scatter.
// Method: one pass over each host thread with a stack of such rows, if there are collectives on
// devices, one over these.
#include "profile/model/collectives/collective_sizes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/collectives/collectives.h"

enum stk_collective_kind stk_collective_kind_of(const char *name)
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
            return kinds[i].kind;
        }
    }
    return STK_COLLECTIVE_NONE;
}

double stk_collective_bus_factor(enum stk_collective_kind kind, int64_t group_size)
{
    STK_ASSERT(group_size >= 0);
    double n = (double)group_size;
    if (group_size < 2) {
        return 1;
    }
    switch (kind) {
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

// ---- the contents of rows ----

static const struct stk_collective_said nothing = {
    .collective = STK_NONE, .group = STK_NONE, .members = STK_NONE};

struct stk_collective_said stk_collective_said_of(const struct stk_trace *t, uint32_t event)
{
    struct stk_collective_said s = nothing;
    uint32_t count;
    const struct stk_detail *d = stk_details_of(t, event, &count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t number = d[i].number > 0 ? d[i].number : 0;
        if (d[i].key == STK_DETAIL_IN_ELEMENTS) {
            s.in = number;
        } else if (d[i].key == STK_DETAIL_OUT_ELEMENTS) {
            s.out = number;
        } else if (d[i].key == STK_DETAIL_ELEMENT_BYTES) {
            s.element_bytes = number;
        } else if (d[i].key == STK_DETAIL_BYTES) {
            s.bytes = number;
        } else if (d[i].key == STK_DETAIL_GROUP_SIZE) {
            s.group_size = number;
        } else if (d[i].key == STK_DETAIL_COLLECTIVE) {
            s.collective = d[i].text;
        } else if (d[i].key == STK_DETAIL_GROUP) {
            s.group = d[i].text;
        } else if (d[i].key == STK_DETAIL_GROUP_RANKS) {
            s.members = d[i].text;
        }
    }
    return s;
}

// Fills the fields that `s` lacks from an enclosing row. Counts and their type stay together.
static void complete(struct stk_collective_said *s, const struct stk_collective_said *around)
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

int64_t stk_collective_said_bytes(const struct stk_collective_said *s,
                                  enum stk_collective_kind kind)
{
    int64_t elements = s->in > s->out ? s->in : s->out, bytes;
    if (s->bytes > 0) {
        return s->bytes;
    }
    if (elements == 0 || s->element_bytes == 0) {
        return -1;
    }
    bool grows = s->out == 0 && kind == STK_COLLECTIVE_ALL_GATHER;
    if (grows &&
        (s->group_size == 0 || __builtin_mul_overflow(elements, s->group_size, &elements))) {
        return -1;
    }
    return __builtin_mul_overflow(elements, s->element_bytes, &bytes) ? -1 : bytes;
}

void stk_said_close(struct stk_said_stack *stack, int64_t at_ns)
{
    while (stack->depth && stack->open[stack->depth - 1].end_ns <= at_ns) {
        stack->depth--;
    }
}

struct stk_collective_said stk_said_open(struct stk_said_stack *stack, const struct stk_trace *t,
                                         uint32_t event)
{
    struct stk_collective_said said = stk_collective_said_of(t, event);
    if (said.collective == STK_NONE && stk_collective_kind_of(stk_name_of(t, event).p)) {
        said.collective = t->name[event]; // "nccl:all_to_all" around sends and receives
    }
    if (stack->depth) {
        complete(&said, &stack->open[stack->depth - 1].said);
    }
    if (stack->depth < STK_SAID_DEPTH) {
        stack->open[stack->depth].end_ns = stk_end_ns(t, event);
        stack->open[stack->depth++].said = said;
    }
    return said;
}

// ---- the collectives ----

struct stk_collective_sizes {
    struct stk_analysis *a;
    struct stk_map launched; // device event -> index into `calls`
    struct stk_vec calls;    // struct stk_collective_said
    struct stk_said_stack stack;
    uint32_t last_name; // consecutive collectives share a name: its kind is looked up once
    uint8_t last_kind;
};

static bool note_launch(struct stk_collective_sizes *s, uint32_t call)
{
    const struct stk_trace *t = s->a->t;
    for (uint32_t e = t->ref[call]; e != STK_NONE; e = t->ext[t->ref[e]].next) {
        if (t->kind[e] != STK_KIND_COLLECTIVE) {
            continue;
        }
        struct stk_collective_said *said = stk_vec_push(&s->calls);
        if (!said || !stk_map_put(&s->launched, e, 0, (uint32_t)s->calls.count - 1, NULL)) {
            return false;
        }
        *said = s->stack.open[s->stack.depth - 1].said;
    }
    return true;
}

static bool sweep_thread(struct stk_collective_sizes *s, const struct stk_track *track)
{
    const struct stk_trace *t = s->a->t;
    s->stack.depth = 0;
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        bool launch = t->kind[e] == STK_KIND_RUNTIME && t->ref[e] != STK_NONE;
        if (!launch && !(stk_class_of(s->a, e) & STK_NAME_HOST_COLL)) {
            continue;
        }
        stk_said_close(&s->stack, t->start_ns[e]);
        if (!launch) {
            stk_said_open(&s->stack, t, e);
        } else if (s->stack.depth && !note_launch(s, e)) {
            return false;
        }
    }
    return true;
}

static uint8_t kind_of_name(struct stk_collective_sizes *s, uint32_t name)
{
    if (name != s->last_name) { // NUL-terminated
        s->last_name = name;
        s->last_kind = (uint8_t)stk_collective_kind_of(stk_strpool_get(&s->a->t->strings, name).p);
    }
    return s->last_kind;
}

void stk_collective_size(struct stk_collective_sizes *s, uint32_t event, struct stk_class_key *key)
{
    const struct stk_trace *t = s->a->t;
    struct stk_collective_said said = stk_collective_said_of(t, event);
    const uint32_t *call = stk_map_get(&s->launched, event, 0);
    if (call) {
        complete(&said, stk_vec_at(&s->calls, *call));
    }
    key->kind = kind_of_name(s, t->name[event]);
    if (said.collective != STK_NONE) {
        enum stk_collective_kind kind =
            stk_collective_kind_of(stk_strpool_get(&t->strings, said.collective).p);
        key->kind = kind ? (uint8_t)kind : key->kind;
    }
    key->group = said.group;
    key->group_size = said.group_size;
    key->bytes = stk_collective_said_bytes(&said, key->kind);
    key->members_hash = said.members == STK_NONE
                            ? 0
                            : stk_collective_group_hash(stk_strpool_get(&t->strings, said.members),
                                                        said.group_size);
}

struct stk_collective_sizes *stk_collective_sizes_open(struct stk_analysis *a)
{
    const struct stk_trace *t = a->t;
    struct stk_collective_sizes *s = stk_alloc_zero(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->a = a;
    s->last_name = STK_NONE;
    stk_map_init(&s->launched, UINT32_MAX - 1);
    stk_vec_init(&s->calls, sizeof(struct stk_collective_said), UINT32_MAX - 1);
    bool ok = true;
    for (uint32_t k = 0; k < t->track_count && t->detail_count && ok; k++) {
        ok = t->tracks[k].kind != STK_TRACK_THREAD || !a->in_rank[t->tracks[k].process] ||
             sweep_thread(s, &t->tracks[k]);
    }
    if (!ok) {
        stk_collective_sizes_close(s);
    }
    return ok ? s : NULL;
}

void stk_collective_sizes_close(struct stk_collective_sizes *s)
{
    if (s) {
        stk_map_deinit(&s->launched);
        stk_vec_deinit(&s->calls);
        stk_free(s);
    }
}

static uint32_t device_of(const struct stk_analysis *a, uint32_t i)
{
    return stk_collective_class_of(a->sum, &a->sum->collectives[i])->device;
}

const struct stk_collective_class *stk_collective_of(const struct stk_analysis *a, uint32_t line,
                                                     int64_t start_ns, uint32_t event)
{
    const struct stk_collective *all = a->sum->collectives;
    uint32_t low = 0, high = a->sum->collective_count, count = high;
    start_ns += a->t->base_ns;
    STK_BISECT(low, high, mid,
               device_of(a, mid) < line ||
                   (device_of(a, mid) == line && all[mid].start_ns < start_ns));
    for (; low < count && device_of(a, low) == line && all[low].start_ns == start_ns; low++) {
        if (a->collective_events[low] == event) {
            return stk_collective_class_of(a->sum, &all[low]);
        }
    }
    return NULL;
}
