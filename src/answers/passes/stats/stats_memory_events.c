// SPDX-License-Identifier: Apache-2.0
// Allocator events of one rank: PyTorch's [memory], MemoryAllocation and MemoryDeallocation of the
// BFC allocator (TensorFlow, JAX), Nsight Systems' memory usage.
//
// Method: one pass over each row of the host with a stack of open operators finds the events and
// the operator around each; in order of time, each event moves the level of its pool. If an event
// has the allocated total (PyTorch from 1.10 on, BFC), that is the level; otherwise the sum of
// allocations and frees, raised so that it is never below 0: earlier allocations are then unknown,
// and the level is a lower bound. A second pass pairs frees with allocations by address, and keeps
// the live sum of each operator, to read it at each pool's peak, and the largest ones at each point
// of its time line. Cost: linear, except for sorting the allocator events.
#include "answers/passes/stats/stats_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "answers/passes/stats/stats.h"

#define MAX_DEPTH 256
#define POOLS_MAX 4096

enum name_class { NAME_UNSEEN, NAME_TELLS, NAME_PRIMITIVE };

struct open_op {
    int64_t end_ns;
    uint32_t id;
};
struct event {
    int64_t t_ns, bytes; // below 0: freed; 0: not recorded
    uint32_t id, op;     // event; string id of the operator, STK_NONE
    uint32_t pool;
    bool is_free;
};
struct pool {
    int64_t level, least, first_level; // least: of the relative levels
    int64_t known;                     // bytes of blocks that live
    size_t peak;                       // index into the events, SIZE_MAX: none
    uint32_t allocator;
    uint32_t newest;   // sum of an operator, index + 1
    uint32_t point;    // of the time line, the next one
    bool seen, counts; // counts: for the steps
};
struct block {
    uint32_t sum; // index
    int64_t bytes;
};
struct live_sum {       // of the blocks of one operator in one pool
    uint32_t op, older; // the pool's next older one, index + 1
    uint64_t blocks;
    int64_t bytes;
};

struct sweep {
    const struct stk_analysis *view;
    struct stk_arena *arena;
    struct stk_memory_sums *out;
    struct stk_vec events;  // struct event
    struct stk_vec pools;   // struct pool, parallel to results
    struct stk_vec results; // struct stk_memory_pool
    struct stk_map pool_of; // (process and allocator, device) -> index
    uint8_t *name_class;    // per string id
    struct stk_name_cache names;
    struct open_op stack[MAX_DEPTH];
    uint32_t depth;
};

static int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : b > 0 ? INT64_MAX : -INT64_MAX;
}

static int64_t number_or(const struct stk_trace *t, uint32_t event, enum stk_detail_key key,
                         int64_t otherwise)
{
    const struct stk_detail *d = stk_detail_find(t, event, key);
    return d ? d->number : otherwise;
}

// ---- reading an event ----

// Operators that only allocate memory for the one around them.
static bool is_primitive(struct sweep *s, uint32_t id)
{
    static const char *const names[] = {"aten::empty", "aten::_empty", "aten::new_empty",
                                        "aten::resize"};
    uint8_t *class = &s->name_class[id];
    if (*class == NAME_UNSEEN) {
        struct stk_str name = stk_strpool_get(&s->view->t->strings, id);
        *class = NAME_TELLS;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (stk_str_starts(name, stk_str_from(names[i]))) {
                *class = NAME_PRIMITIVE;
            }
        }
    }
    return *class == NAME_PRIMITIVE;
}

// The innermost open operator that shows the purpose of the memory.
static uint32_t op_around(struct sweep *s, int64_t t_ns)
{
    while (s->depth && s->stack[s->depth - 1].end_ns <= t_ns) {
        s->depth--;
    }
    for (uint32_t i = s->depth; i-- > 0;) {
        if (!is_primitive(s, s->stack[i].id)) {
            return s->stack[i].id;
        }
    }
    return s->depth ? s->stack[s->depth - 1].id : STK_NONE;
}

// "GPU_0_bfc" is 0; memory of the host that a device can reach ("gpu_host_bfc") is the host's.
static int64_t device_of_allocator(struct stk_str name)
{
    int64_t device = 0;
    size_t i = 4;
    if (!stk_str_starts_nocase(name, STK_STR("GPU_")) &&
        !stk_str_starts_nocase(name, STK_STR("TPU_"))) {
        return -1;
    }
    for (; i < name.n && i < 10 && name.p[i] >= '0' && name.p[i] <= '9'; i++) {
        device = device * 10 + (name.p[i] - '0');
    }
    return i > 4 ? device : -1;
}

static const char *memory_name(uint8_t mem)
{
    static const char *const names[] = {[STK_MEM_PAGEABLE] = "pageable",
                                        [STK_MEM_PINNED] = "pinned",
                                        [STK_MEM_DEVICE] = "device",
                                        [STK_MEM_ARRAY] = "array",
                                        [STK_MEM_MANAGED] = "managed"};
    return mem <= STK_MEM_MANAGED ? names[mem] : NULL;
}

// Index of the event's pool, STK_NONE without memory or beyond all bounds.
static uint32_t pool_of(struct sweep *s, uint32_t event, uint32_t process)
{
    const struct stk_trace *t = s->view->t;
    const struct stk_detail *name = stk_detail_find(t, event, STK_DETAIL_ALLOCATOR);
    const struct stk_detail *recorded = stk_detail_find(t, event, STK_DETAIL_DEVICE);
    const struct stk_ext *x = stk_ext_of(t, event);
    uint8_t mem = x ? x->dst_mem : STK_MEM_UNKNOWN;
    bool on_host = mem == STK_MEM_PAGEABLE || mem == STK_MEM_PINNED;
    int64_t device = on_host ? -1 : recorded ? recorded->number : 0;
    if (name) {
        device = device_of_allocator(stk_strpool_get(&t->strings, name->text));
    }
    if (device < 0) {
        device = -1;
    }
    bool kinds = !name && strcmp(t->format, "nsys") == 0; // the only format that distinguishes them
    uint32_t allocator = name ? name->text : 0;
    uint32_t *at = stk_map_put(
        &s->pool_of, (uint64_t)process << 40 | (uint64_t)(kinds ? mem : 0) << 32 | allocator,
        (uint64_t)device, (uint32_t)s->pools.count, NULL);
    if (!at || *at < s->pools.count) {
        return at ? *at : STK_NONE;
    }
    struct stk_memory_pool *r = stk_vec_push(&s->results);
    struct pool *p = r ? stk_vec_push(&s->pools) : NULL;
    if (!p) {
        return STK_NONE;
    }
    *p = (struct pool){.peak = SIZE_MAX, .allocator = allocator};
    *r = (struct stk_memory_pool){.device = device,
                                  .allocator = kinds ? memory_name(mem) : NULL,
                                  .peak_bytes = -1,
                                  .reserved_bytes = -1,
                                  .fragmentation_share = -1};
    for (uint32_t d = 0; d < s->view->sum->device_count; d++) {
        if (s->view->sum->devices[d].ordinal == device) {
            r->capacity_bytes = t->devices[s->view->lines[d].device].memory_bytes;
        }
    }
    return name && !(r->allocator = stk_name_cache_get(&s->names, name->text)) ? STK_NONE : *at;
}

static bool add_event(struct sweep *s, uint32_t event, uint32_t process)
{
    const struct stk_trace *t = s->view->t;
    const struct stk_ext *x = stk_ext_of(t, event);
    bool sized = x && x->flags & STK_EXT_VALUE;
    if (!sized && !stk_detail_find(t, event, STK_DETAIL_TOTAL)) {
        return true;
    }
    uint32_t pool = pool_of(s, event, process);
    if (pool == STK_NONE) {
        return s->pools.count >= POOLS_MAX;
    }
    const struct stk_detail *op = stk_detail_find(t, event, STK_DETAIL_OP);
    struct stk_memory_pool *r = stk_vec_at(&s->results, pool);
    struct event *e = stk_vec_push(&s->events);
    if (!e) {
        return false;
    }
    int64_t bytes = sized ? x->value : 0;
    bool is_free = bytes < 0 || stk_str_eq(stk_name_of(t, event), STK_STR("MemoryDeallocation"));
    if (bytes > 0 && is_free) {
        bytes = -bytes;
    }
    *e = (struct event){.t_ns = t->start_ns[event],
                        .bytes = bytes < -INT64_MAX ? -INT64_MAX : bytes,
                        .id = event,
                        .op = op ? op->text : op_around(s, t->start_ns[event]),
                        .pool = pool,
                        .is_free = is_free};
    r->allocations += !is_free;
    r->frees += is_free;
    r->is_absolute |= stk_detail_find(t, event, STK_DETAIL_TOTAL) != NULL;
    r->has_addresses |= stk_detail_find(t, event, STK_DETAIL_ADDRESS) != NULL;
    return true;
}

static bool sweep_track(struct sweep *s, const struct stk_track *track)
{
    const struct stk_trace *t = s->view->t;
    s->depth = 0;
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        uint8_t kind = t->kind[e];
        if (kind == STK_KIND_MEMORY) {
            if (!add_event(s, e, track->process)) {
                return false;
            }
            continue;
        }
        if ((kind != STK_KIND_HOST_OP && kind != STK_KIND_ANNOTATION && kind != STK_KIND_INPUT) ||
            stk_is_step_mark(s->view, e)) {
            continue;
        }
        while (s->depth && s->stack[s->depth - 1].end_ns <= t->start_ns[e]) {
            s->depth--;
        }
        if (s->depth < MAX_DEPTH) {
            s->stack[s->depth++] = (struct open_op){stk_end_ns(t, e), t->name[e]};
        }
    }
    return true;
}

STK_ORDER(by_time, struct event, STK_UP(t_ns) STK_UP(id))

// ---- levels ----

// Level of the pool after the event: as recorded, else relative to the first.
static int64_t level_after(const struct sweep *s, const struct event *e, int64_t before)
{
    const struct stk_memory_pool *r = stk_vec_at(&s->results, e->pool);
    const struct stk_detail *total = stk_detail_find(s->view->t, e->id, STK_DETAIL_TOTAL);
    if (!r->is_absolute) {
        return add_bytes(before, e->bytes);
    }
    if (!total) {
        return before;
    }
    int64_t stack = number_or(s->view->t, e->id, STK_DETAIL_STACK, 0);
    int64_t level = add_bytes(total->number, stack > 0 ? stack : 0);
    return level > 0 ? level : 0;
}

// Finds the first level of each pool, such that no level is below 0.
static void find_first_levels(struct sweep *s)
{
    for (size_t i = 0; i < s->events.count; i++) {
        const struct event *e = stk_vec_at(&s->events, i);
        const struct stk_memory_pool *r = stk_vec_at(&s->results, e->pool);
        struct pool *p = stk_vec_at(&s->pools, e->pool);
        int64_t level = level_after(s, e, p->level);
        if (!p->seen && r->is_absolute) {
            p->first_level = add_bytes(level, -e->bytes);
        }
        p->seen = true;
        p->level = level;
        p->least = level < p->least ? level : p->least;
    }
    for (size_t i = 0; i < s->pools.count; i++) {
        struct pool *p = stk_vec_at(&s->pools, i);
        const struct stk_memory_pool *r = stk_vec_at(&s->results, i);
        if (!r->is_absolute) {
            p->first_level = -p->least;
        }
        p->level = p->first_level = p->first_level > 0 ? p->first_level : 0;
    }
}

static bool is_selected(const struct sweep *s, int64_t t_ns, uint32_t *step)
{
    const struct stk_analysis *v = s->view;
    if (t_ns < v->from_ns || t_ns > v->to_ns) {
        return false;
    }
    if (!v->select->has_steps || v->steps_on_device) {
        return true;
    }
    while (*step < v->step_count && v->steps[*step].end_ns <= t_ns) {
        ++*step;
    }
    if (*step == v->step_count || v->steps[*step].start_ns > t_ns) {
        return false;
    }
    const char *excluded = v->steps[*step].excluded;
    return !excluded || strcmp(excluded, STK_EXCLUDED_UNSELECTED) != 0;
}

static void note_peak(struct sweep *s, const struct event *e, size_t index, int64_t level)
{
    struct stk_memory_pool *r = stk_vec_at(&s->results, e->pool);
    if (level <= r->peak_bytes) {
        return;
    }
    const struct stk_detail *share = stk_detail_find(s->view->t, e->id, STK_DETAIL_FRAGMENTATION);
    r->peak_bytes = level;
    r->peak_ns = e->t_ns;
    r->reserved_bytes = number_or(s->view->t, e->id, STK_DETAIL_RESERVED, -1);
    int64_t available = number_or(s->view->t, e->id, STK_DETAIL_AVAILABLE, -1);
    if (r->reserved_bytes < 0 && available >= 0) {
        r->reserved_bytes = add_bytes(level, available);
    }
    if (r->reserved_bytes < level) { // unknown values are recorded as 0
        r->reserved_bytes = -1;
    }
    r->fragmentation_share = share && share->real >= 0 && share->real <= 1 ? share->real : -1;
    ((struct pool *)stk_vec_at(&s->pools, e->pool))->peak = index;
}

// The largest level of each of STK_MEMORY_POINTS bins of the pool's time.
static void note_point(struct sweep *s, const struct event *e, uint32_t index, int64_t level,
                       int64_t first_ns, int64_t last_ns)
{
    struct stk_memory_pool *r = stk_vec_at(&s->results, e->pool);
    double span = (double)last_ns - (double)first_ns + 1;
    uint32_t n = r->point_count;
    struct stk_memory_point point = {.t_ns = e->t_ns,
                                     .bytes = level,
                                     .reserved_bytes =
                                         number_or(s->view->t, e->id, STK_DETAIL_RESERVED, -1),
                                     .event = index};
    double bin = ((double)e->t_ns - (double)first_ns) / span * STK_MEMORY_POINTS;
    double last =
        n ? ((double)r->points[n - 1].t_ns - (double)first_ns) / span * STK_MEMORY_POINTS : -1;
    if (n && (int64_t)bin == (int64_t)last) {
        if (level > r->points[n - 1].bytes) {
            r->points[n - 1] = point;
        }
    } else if (n < STK_MEMORY_POINTS) {
        r->points[r->point_count++] = point;
    }
}

struct stepping {
    uint32_t step; // of the view
    struct stk_memory_step *row;
    int64_t level; // of all pools that count
};

static void enter_steps(struct sweep *s, struct stepping *g, int64_t t_ns)
{
    const struct stk_analysis *v = s->view;
    while (g->step < v->step_count && v->steps[g->step].start_ns <= t_ns) {
        const struct stk_host_step *step = &v->steps[g->step++];
        if (v->steps_per_device && step->line != 0) {
            continue;
        }
        g->row = NULL;
        if (step->excluded) {
            continue;
        }
        g->row = &s->out->steps[s->out->step_count++];
        *g->row = (struct stk_memory_step){
            .number = step->number, .peak_bytes = g->level, .end_bytes = g->level};
    }
    if (g->step > 0 && v->steps[g->step - 1].end_ns <= t_ns) {
        g->row = NULL;
    }
}

static void note_step(struct sweep *s, struct stepping *g, const struct event *e, int64_t change)
{
    enter_steps(s, g, e->t_ns);
    if (!((const struct pool *)stk_vec_at(&s->pools, e->pool))->counts) {
        return;
    }
    g->level = add_bytes(g->level, change);
    if (!g->row) {
        return;
    }
    g->row->allocations += !e->is_free;
    int64_t *sum = e->is_free ? &g->row->freed_bytes : &g->row->allocated_bytes;
    int64_t bytes = e->bytes ? e->bytes : change;
    *sum = add_bytes(*sum, bytes < 0 ? -bytes : bytes);
    g->row->end_bytes = g->level;
    if (g->level > g->row->peak_bytes) {
        g->row->peak_bytes = g->level;
    }
}

static bool alloc_results(struct sweep *s)
{
    s->out->steps = stk_arena_array(s->arena, s->view->step_count + 1, sizeof *s->out->steps);
    for (size_t i = 0; i < s->results.count; i++) {
        struct stk_memory_pool *r = stk_vec_at(&s->results, i);
        uint64_t events = r->allocations + r->frees;
        size_t n = events < STK_MEMORY_POINTS ? (size_t)events : STK_MEMORY_POINTS;
        r->points = stk_arena_array(s->arena, n + 1, sizeof *r->points);
        if (!r->points) {
            return false;
        }
    }
    return s->out->steps != NULL;
}

static void choose_counted(struct sweep *s, struct stepping *g)
{
    bool any_device = false;
    for (size_t i = 0; i < s->results.count; i++) {
        any_device |= ((const struct stk_memory_pool *)stk_vec_at(&s->results, i))->device >= 0;
    }
    for (size_t i = 0; i < s->results.count; i++) {
        struct pool *p = stk_vec_at(&s->pools, i);
        p->counts = (((const struct stk_memory_pool *)stk_vec_at(&s->results, i))->device >= 0) ==
                    any_device;
        g->level = add_bytes(g->level, p->counts ? p->first_level : 0);
    }
    s->out->steps_on_host = !any_device;
}

static bool follow_levels(struct sweep *s)
{
    struct stepping g = {.step = 0};
    const struct event *events = s->events.items;
    size_t n = s->events.count;
    uint32_t step = 0;
    find_first_levels(s);
    choose_counted(s, &g);
    if (!alloc_results(s)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct event *e = &events[i];
        struct pool *p = stk_vec_at(&s->pools, e->pool);
        int64_t before = p->level;
        p->level = level_after(s, e, before);
        p->level = p->level > 0 ? p->level : 0; // below only where sizes exceed 64 bits
        note_step(s, &g, e, add_bytes(p->level, -before));
        if (!is_selected(s, e->t_ns, &step)) {
            continue;
        }
        note_peak(s, e, i, p->level);
        note_point(s, e, (uint32_t)i, p->level, events[0].t_ns, events[n - 1].t_ns);
    }
    enter_steps(s, &g, s->view->to_ns);
    return true;
}

// ---- live memory ----

struct living {
    struct stk_map at;     // (address, pool) -> index into blocks + 1
    struct stk_map sum_of; // (operator, pool) -> index into sums
    struct stk_vec blocks; // struct block; freed ones are reused
    struct stk_vec sums;   // struct live_sum
    struct stk_vec free;   // uint32_t: blocks
    struct stk_vec points; // struct stk_memory_live, of all pools
};

// NULL: no memory.
static struct live_sum *sum_for(struct sweep *s, struct living *l, const struct event *e,
                                uint32_t *index)
{
    uint32_t *at = stk_map_put(&l->sum_of, e->op, e->pool, (uint32_t)l->sums.count, NULL);
    if (!at) {
        return NULL;
    }
    *index = *at;
    if (*at < l->sums.count) {
        return stk_vec_at(&l->sums, *at);
    }
    struct live_sum *sum = stk_vec_push(&l->sums);
    struct pool *p = stk_vec_at(&s->pools, e->pool);
    if (sum) {
        *sum = (struct live_sum){.op = e->op, .older = p->newest};
        p->newest = (uint32_t)l->sums.count;
    }
    return sum;
}

// Freed, or allocated again without a recorded free.
static bool end_block(struct living *l, struct pool *p, uint32_t block)
{
    const struct block *b = stk_vec_at(&l->blocks, block);
    struct live_sum *sum = stk_vec_at(&l->sums, b->sum);
    sum->bytes = add_bytes(sum->bytes, -b->bytes);
    p->known = add_bytes(p->known, -b->bytes);
    sum->blocks--;
    uint32_t *free = stk_vec_push(&l->free);
    if (free) {
        *free = block;
    }
    return free != NULL;
}

static bool live_event(struct sweep *s, struct living *l, const struct event *e)
{
    const struct stk_detail *address = stk_detail_find(s->view->t, e->id, STK_DETAIL_ADDRESS);
    if (!address) {
        return true;
    }
    uint32_t *at = stk_map_put(&l->at, (uint64_t)address->number, e->pool, 0, NULL), index;
    struct pool *p = stk_vec_at(&s->pools, e->pool);
    if (!at || (*at && !end_block(l, p, *at - 1))) {
        return false;
    }
    *at = 0;
    if (e->bytes <= 0) {
        return true;
    }
    struct live_sum *sum = sum_for(s, l, e, &index);
    uint32_t block = (uint32_t)l->blocks.count;
    if (l->free.count) {
        block = *(const uint32_t *)stk_vec_at(&l->free, --l->free.count);
    } else if (!stk_vec_push(&l->blocks)) {
        return false;
    }
    if (sum) {
        *(struct block *)stk_vec_at(&l->blocks, block) = (struct block){index, e->bytes};
        sum->bytes = add_bytes(sum->bytes, e->bytes);
        sum->blocks++;
        p->known = add_bytes(p->known, e->bytes);
        *at = block + 1;
    }
    return sum != NULL;
}

static bool put_live(struct sweep *s, struct stk_memory_pool *r, const struct stk_vec *rows,
                     int64_t known_bytes, int64_t stack_bytes)
{
    int64_t older = r->peak_bytes - (known_bytes < r->peak_bytes ? known_bytes : r->peak_bytes);
    stack_bytes = stack_bytes < older ? stack_bytes : older;
    older -= stack_bytes > 0 ? stack_bytes : 0;
    r->live = stk_arena_array(s->arena, rows->count + 2, sizeof *r->live);
    if (!r->live) {
        return false;
    }
    if (rows->count) {
        memcpy(r->live, rows->items, rows->count * sizeof *r->live);
    }
    r->live_count = (uint32_t)rows->count;
    if (stack_bytes > 0) {
        r->live[r->live_count++] =
            (struct stk_memory_live){.origin = STK_MEMORY_PROGRAM, .bytes = stack_bytes};
    }
    if (older > 0) {
        r->live[r->live_count++] = (struct stk_memory_live){
            .origin = r->has_addresses ? STK_MEMORY_OLDER : STK_MEMORY_BLOCKS, .bytes = older};
    }
    return true;
}

// False: no memory.
static bool name_sum(struct sweep *s, const struct live_sum *sum, struct stk_memory_live *out)
{
    int64_t bytes = sum->bytes > 0 ? sum->bytes : 0; // sizes may have exceeded 64 bits
    *out = (struct stk_memory_live){.bytes = bytes, .blocks = sum->blocks};
    return sum->op == STK_NONE || (out->op = stk_name_cache_get(&s->names, sum->op));
}

static bool live_at_peak(struct sweep *s, const struct living *l, const struct event *e)
{
    int64_t known = 0, stack_bytes = number_or(s->view->t, e->id, STK_DETAIL_STACK, 0);
    const struct live_sum *sum;
    struct stk_vec rows;
    bool ok = true;
    stk_vec_init(&rows, sizeof(struct stk_memory_live), UINT32_MAX - 1);
    uint32_t i = ((const struct pool *)stk_vec_at(&s->pools, e->pool))->newest;
    for (; i && ok; i = sum->older) {
        sum = stk_vec_at(&l->sums, i - 1);
        if (sum->blocks == 0) {
            continue;
        }
        struct stk_memory_live *row = stk_vec_push(&rows);
        ok = row && name_sum(s, sum, row);
        known = add_bytes(known, sum->bytes);
    }
    ok = ok && put_live(s, stk_vec_at(&s->results, e->pool), &rows, known, stack_bytes);
    stk_vec_deinit(&rows);
    return ok;
}

static bool put_point(struct living *l, struct stk_memory_point *point, enum stk_memory_origin from,
                      int64_t bytes)
{
    struct stk_memory_live *row = bytes > 0 ? stk_vec_push(&l->points) : NULL;
    if (row) {
        *row = (struct stk_memory_live){.origin = from, .bytes = bytes};
        point->live_count++;
    }
    return row || bytes <= 0;
}

// The operators with the most memory, largest first, and the memory without an operator in the
// profile.
static bool live_at_point(struct sweep *s, struct living *l, const struct event *e,
                          struct stk_memory_point *point)
{
    const struct pool *p = stk_vec_at(&s->pools, e->pool);
    const struct live_sum *most[STK_MEMORY_NAMED + 1], *sum;
    size_t n = 0;
    for (uint32_t i = p->newest; i; i = sum->older) {
        sum = stk_vec_at(&l->sums, i - 1);
        size_t at = n;
        for (; at > 0 && most[at - 1]->bytes < sum->bytes; at--) {
            most[at] = most[at - 1];
        }
        most[at] = sum;
        n += n < STK_MEMORY_NAMED && sum->blocks;
    }
    point->live_first = (uint32_t)l->points.count;
    point->live_count = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        struct stk_memory_live *row = stk_vec_push(&l->points);
        if (!row || !name_sum(s, most[i], row)) {
            return false;
        }
    }
    if (!((const struct stk_memory_pool *)stk_vec_at(&s->results, e->pool))->has_addresses) {
        return true;
    }
    int64_t older = p->known < point->bytes ? point->bytes - (p->known > 0 ? p->known : 0) : 0;
    int64_t program = number_or(s->view->t, e->id, STK_DETAIL_STACK, 0);
    program = program < older ? program : older;
    return put_point(l, point, STK_MEMORY_PROGRAM, program) &&
           put_point(l, point, STK_MEMORY_OLDER, older - (program > 0 ? program : 0));
}

static bool follow_event(struct sweep *s, struct living *l, uint32_t i)
{
    const struct event *e = stk_vec_at(&s->events, i);
    const struct stk_memory_pool *r = stk_vec_at(&s->results, e->pool);
    struct pool *p = stk_vec_at(&s->pools, e->pool);
    bool ok = live_event(s, l, e) && (p->peak != i || live_at_peak(s, l, e));
    if (ok && p->point < r->point_count && r->points[p->point].event == i) {
        ok = live_at_point(s, l, e, &r->points[p->point++]);
    }
    return ok;
}

static bool follow_live(struct sweep *s)
{
    struct living l;
    bool ok = true;
    stk_map_init(&l.at, (size_t)UINT32_MAX);
    stk_map_init(&l.sum_of, (size_t)UINT32_MAX);
    stk_vec_init(&l.blocks, sizeof(struct block), UINT32_MAX - 1);
    stk_vec_init(&l.sums, sizeof(struct live_sum), UINT32_MAX - 1);
    stk_vec_init(&l.free, sizeof(uint32_t), UINT32_MAX - 1);
    stk_vec_init(&l.points, sizeof(struct stk_memory_live), UINT32_MAX - 1);
    for (uint32_t i = 0; i < s->events.count && ok; i++) {
        ok = follow_event(s, &l, i);
    }
    s->out->live = ok ? stk_arena_items(s->arena, &l.points) : NULL;
    stk_map_deinit(&l.at);
    stk_map_deinit(&l.sum_of);
    stk_vec_deinit(&l.blocks);
    stk_vec_deinit(&l.sums);
    stk_vec_deinit(&l.free);
    stk_vec_deinit(&l.points);
    return s->out->live != NULL;
}

static bool memory_sweep_all(struct sweep *s)
{
    const struct stk_trace *t = s->view->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (s->view->in_rank[t->tracks[k].process] && t->tracks[k].device == STK_NONE &&
            t->tracks[k].kind != STK_TRACK_COUNTER && !sweep_track(s, &t->tracks[k])) {
            return false;
        }
    }
    if (s->events.count == 0) {
        return true;
    }
    stk_sort(s->events.items, s->events.count, s->events.item_size, by_time);
    s->out = stk_arena_alloc(s->arena, sizeof *s->out);
    if (!s->out || !follow_levels(s) || !follow_live(s)) {
        return false;
    }
    s->out->pools = stk_arena_items(s->arena, &s->results);
    s->out->pool_count = (uint32_t)s->results.count;
    s->out->base_ns = s->view->sum->base_ns;
    return s->out->pools != NULL;
}

enum stoker_status stk_memory_sums_see(const struct stk_analysis *view, struct stk_arena *arena,
                                       void **partial, struct stoker_err *err)
{
    *partial = NULL;
    if (view->t->by_kind[STK_KIND_MEMORY] == 0) {
        return STOKER_OK;
    }
    struct sweep *s = stk_alloc_zero(1, sizeof *s);
    if (!s) {
        return stk_err_nomem(err);
    }
    s->view = view;
    s->arena = arena;
    stk_vec_init(&s->events, sizeof(struct event), UINT32_MAX - 1);
    stk_vec_init(&s->pools, sizeof(struct pool), POOLS_MAX);
    stk_vec_init(&s->results, sizeof(struct stk_memory_pool), POOLS_MAX);
    stk_map_init(&s->pool_of, POOLS_MAX);
    s->name_class = stk_alloc_zero((size_t)view->t->strings.count + 1, 1);
    bool ok =
        stk_name_cache_init(&s->names, view->t, arena) && s->name_class && memory_sweep_all(s);
    *partial = ok ? s->out : NULL;
    stk_name_cache_deinit(&s->names);
    stk_vec_deinit(&s->events);
    stk_vec_deinit(&s->pools);
    stk_vec_deinit(&s->results);
    stk_map_deinit(&s->pool_of);
    stk_free(s->name_class);
    stk_free(s);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
