// SPDX-License-Identifier: Apache-2.0
// Whose code fills a part: see owners.h. A stage, a callback or a checkpoint is many calls of many
// library functions. Its author knows it by the function that they wrote.
//
// Method: the pieces of a part are laid over the frames of the user's functions and ranges on their
// thread. The innermost open one gets the time. Linear in the events of the threads that have
// pieces.
// If the training thread waits for its input outside of the user's functions, the functions that
// other threads run meanwhile get the time: the workers that it waits for. Limits: TensorFlow's and
// JAX's tracers record no folder, so a file that isn't known to be a library's counts as the
// user's. A thread's sub-rows are read only if its first row has no such functions.
#include "profile/model/idle/owners.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/threads/feed_words.h"
#include "profile/model/threads/python_frame.h"

#define DEPTH 256     // of the user's frames; deeper ones count for their callers
#define LOOKED_AT 256 // events of an event loop, for its first coroutine

// INNER: the frame of an expression in a function; LAMBDA: the same, if it is inside a function
// that the main one calls; LOOP: an event loop, named after the first of the user's coroutines that
// it runs
enum { UNASKED, USERS, INNER, LAMBDA, LOOP, OTHERS };

struct tally {
    uint32_t name, count, last_event;
    uint8_t part;
    int64_t ns;
};

struct owners {
    struct stk_analysis *a;
    uint8_t *whose;       // per string id
    struct stk_map index; // (part, name) -> tally
    struct stk_vec tallies;
};

// A range with a name that a person gave it. Frameworks' names have punctuation in them, or a
// class.
static bool is_own_range(const struct stk_analysis *a, uint32_t event, struct stk_str name)
{
    if (stk_is_step_mark(a, event) || stk_class_of(a, event)) {
        return (stk_class_of(a, event) & (STK_NAME_PREP | STK_NAME_EVAL)) != 0;
    }
    for (size_t i = 0; i < name.n; i++) {
        if (strchr("#:().<>[]", name.p[i])) {
            return false;
        }
    }
    return name.n > 0;
}

static bool is_one_of(struct stk_str file, const char *const *files)
{
    while (*files && !stk_str_eq(file, stk_str_from(*files))) {
        files++;
    }
    return *files != NULL;
}

// Is it a file of JAX, Optax, Flax, Grain, Orbax with asyncio, Python's pools, or a package's
// __init__.py? JAX's tracer shows files without a folder, and a job may have files of the same
// names, so each list applies only if its library is in use. In a file with a common name, a
// function that is named after preparing data is the job's: JAX has none in these files.
static bool may_be_jaxs(const struct stk_analysis *a, struct stk_str name)
{
    static const char *const jax[] = {"compiler.py", "config.py", NULL};
    static const char *const common[] = {"api.py",      "core.py", "util.py",  "random.py",
                                         "process.py",  "base.py", "alias.py", "combine.py",
                                         "numerics.py", "tree.py", "ad.py",    NULL};
    static const char *const nnx[] = {"extract.py",    "compilation.py", "tracers.py",
                                      "general.py",    "iteration.py",   "module.py",
                                      "transforms.py", "object.py",      NULL};
    static const char *const grain[] = {
        "dataset.py", "base.py",   "stats.py",   "batch.py",    "filter.py",  "flatmap.py",
        "map.py",     "mix.py",    "source.py",  "prefetch.py", "shuffle.py", "interleave.py",
        "repeat.py",  "slice.py",  "zip.py",     "rebatch.py",  "limit.py",   "data_loader.py",
        "cache.py",   "record.py", "options.py", NULL};
    static const char *const orbax[] = {"events.py", "future.py",        "futures.py",
                                        "types.py",  "serialization.py", NULL};
    const struct stk_facts *f = &a->sum->facts;
    struct stk_python_frame frame = stk_python_frame_parse(name);
    struct stk_str file = frame.file;
    bool prepares = stk_feed_of(frame.function) == STK_FEED_DATA;
    return name.p[0] == '$' &&
           (stk_str_eq(file, STK_STR("__init__.py")) ||
            ((a->t->framework_hint & (1u << STK_FW_JAX)) &&
             (is_one_of(file, jax) || (is_one_of(file, common) && !prepares))) ||
            (f->signs[STK_SIGN_GRAIN].count > 0 && is_one_of(file, grain)) ||
            (f->signs[STK_SIGN_CHECKPOINT].count > 0 && is_one_of(file, orbax)) ||
            (f->signs[STK_SIGN_NNX].count > 0 && is_one_of(file, nnx)));
}

// Before Python 3.12 a comprehension has a frame of its own.
static bool is_expression(struct stk_str name)
{
    static const struct stk_str names[] = {
        {"<listcomp>", 10}, {"<dictcomp>", 10}, {"<setcomp>", 9}, {"<genexpr>", 9}};
    struct stk_str function = stk_python_frame_parse(name).function;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (stk_str_eq(function, names[i])) {
            return true;
        }
    }
    return false;
}

static uint8_t ask(struct owners *o, uint32_t event)
{
    struct stk_str name = stk_name_of(o->a->t, event);
    bool own = o->a->t->kind[event] == STK_KIND_PYTHON
                   ? stk_python_frame_is_users(name) && !may_be_jaxs(o->a, name)
                   : is_own_range(o->a, event, name);
    bool is_lambda = stk_str_eq(stk_python_frame_parse(name).function, STK_STR("<lambda>"));
    return stk_python_frame_is_event_loop(name) ? LOOP
           : !own                               ? OTHERS
           : is_lambda                          ? LAMBDA
           : is_expression(name)                ? INNER
                                                : USERS;
}

static inline bool is_users(struct owners *o, uint32_t event)
{
    const struct stk_trace *t = o->a->t;
    uint8_t kind = t->kind[event];
    if (kind != STK_KIND_PYTHON && kind != STK_KIND_ANNOTATION) {
        return false;
    }
    uint8_t *whose = &o->whose[t->name[event]];
    if (*whose == UNASKED) {
        *whose = ask(o, event);
    }
    return *whose != OTHERS;
}

// Does a row have any of the user's functions or ranges? Most rows have no event of these kinds.
static bool has_users(struct owners *o, const struct stk_track *k)
{
    static const uint8_t kinds[] = {STK_KIND_PYTHON, STK_KIND_ANNOTATION};
    const uint8_t *all = o->a->t->kind, *end = all + k->first + k->count;
    for (size_t i = 0; i < sizeof kinds && k->count; i++) {
        const uint8_t *p = all + k->first;
        while (p < end && (p = memchr(p, kinds[i], (size_t)(end - p))) != NULL) {
            for (; p < end && *p == kinds[i]; p++) { // they follow one another
                if (is_users(o, (uint32_t)(p - all))) {
                    return true;
                }
            }
        }
    }
    return false;
}

bool stk_owners_mark_threads(struct stk_analysis *a)
{
    struct owners o = {.a = a, .whose = stk_alloc_zero((size_t)a->t->strings.count + 1, 1)};
    for (uint32_t k = 0; o.whose && k < a->t->track_count; k++) {
        struct stk_thread_info *th = &a->threads[k];
        if (has_users(&o, &a->t->tracks[k])) {
            a->threads[th->root].has_users_code = a->has_users_code = true;
        }
    }
    stk_free(o.whose);
    return o.whose != NULL;
}

static bool add(struct owners *o, uint32_t event, int part, int64_t ns)
{
    int created = 0;
    uint32_t name = o->a->t->name[event], next = (uint32_t)o->tallies.count;
    uint32_t *slot = stk_map_put(&o->index, (uint64_t)part + 1, name, next, &created);
    if (!slot) {
        return false;
    }
    struct tally *x = created ? stk_vec_push(&o->tallies) : stk_vec_at(&o->tallies, *slot);
    if (!x) {
        return false;
    }
    if (created) {
        *x = (struct tally){.name = name, .last_event = STK_NONE, .part = (uint8_t)part};
    }
    x->ns += ns;
    x->count += x->last_event != event;
    x->last_event = event;
    return true;
}

struct frame {
    uint32_t event; // whose name is shown
    int64_t end_ns;
};

// The user's open frames on one row, as time advances.
struct row {
    uint32_t next, end; // next: the first event of the user's that isn't open yet
    uint32_t depth;
    struct frame stack[DEPTH];
};

static void find_next(struct owners *o, struct row *r)
{
    while (r->next < r->end && !is_users(o, r->next)) {
        r->next++;
    }
}

// The event that gives a frame its name; STK_NONE: its caller does.
static uint32_t named_after(struct owners *o, const struct row *r, uint32_t frame)
{
    const struct stk_trace *t = o->a->t;
    uint8_t whose = o->whose[t->name[frame]];
    if (whose != LOOP) {
        bool is_inner = (whose == INNER && r->depth > 0) || (whose == LAMBDA && r->depth > 1);
        return is_inner ? STK_NONE : frame;
    }
    uint32_t end = r->end - frame > LOOKED_AT ? frame + LOOKED_AT : r->end;
    for (uint32_t e = frame + 1; e < end && t->start_ns[e] < stk_end_ns(t, frame); e++) {
        if (is_users(o, e) && o->whose[t->name[e]] == USERS) {
            return e;
        }
    }
    return STK_NONE;
}

static void advance(struct owners *o, struct row *r, int64_t t_ns)
{
    const struct stk_trace *t = o->a->t;
    while (r->next < r->end && t->start_ns[r->next] <= t_ns) {
        while (r->depth && r->stack[r->depth - 1].end_ns <= t->start_ns[r->next]) {
            r->depth--;
        }
        uint32_t named = r->depth < DEPTH ? named_after(o, r, r->next) : STK_NONE;
        if (named != STK_NONE) {
            r->stack[r->depth++] = (struct frame){named, stk_end_ns(t, r->next)};
        }
        r->next++;
        find_next(o, r);
    }
    while (r->depth && r->stack[r->depth - 1].end_ns <= t_ns) {
        r->depth--;
    }
}

// Assigns one thread's pieces, in time order, to the open frames of a row. *found: there were any.
static bool lay_over(struct owners *o, uint32_t track, const struct stk_code_piece *p, size_t count,
                     bool *found)
{
    const struct stk_trace *t = o->a->t;
    struct row r = {.next = t->tracks[track].first,
                    .end = t->tracks[track].first + t->tracks[track].count};
    find_next(o, &r);
    if (r.next == r.end) { // as on most rows without Python frames
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        for (int64_t at = p[i].start_ns, to; at < p[i].end_ns; at = to) {
            advance(o, &r, at);
            to = p[i].end_ns;
            if (r.next < r.end && t->start_ns[r.next] < to) {
                to = t->start_ns[r.next];
            }
            if (r.depth == 0) {
                continue;
            }
            struct frame top = r.stack[r.depth - 1];
            to = top.end_ns < to ? top.end_ns : to;
            *found = true;
            if (!add(o, top.event, p[i].part, to - at)) {
                return false;
            }
        }
    }
    return true;
}

STK_ORDER(by_thread, struct stk_code_piece, STK_UP(thread) STK_UP(start_ns) STK_UP(part))

// Devices that wait for the same thread at the same time count it once each.
static bool lay_threads(struct owners *o, struct stk_code_piece *p, size_t count)
{
    stk_sort(p, count, sizeof *p, by_thread);
    for (size_t i = 0, end; i < count; i = end) {
        int64_t reached_ns = p[i].start_ns;
        size_t kept = i;
        for (end = i; end < count && p[end].thread == p[i].thread; end++) {
            struct stk_code_piece x = p[end];
            x.start_ns = x.start_ns > reached_ns ? x.start_ns : reached_ns;
            if (x.start_ns < x.end_ns) {
                reached_ns = x.end_ns;
                p[kept++] = x;
            }
        }
        bool found = false;
        for (uint32_t row = p[i].thread; row != STK_NONE && !found;
             row = o->a->threads[row].next_row) {
            if (!lay_over(o, row, &p[i], kept - i, &found)) {
                return false;
            }
        }
    }
    return true;
}

// The part's time in the user's functions, without the training loop's, which is called once.
static int64_t found_ns(const struct owners *o, int part)
{
    int64_t ns = 0;
    for (size_t i = 0; i < o->tallies.count; i++) {
        const struct tally *x = stk_vec_at(&o->tallies, i);
        ns = x->part == part && x->count > 1 ? stk_add_ns(ns, x->ns) : ns;
    }
    return ns;
}

// Drops the loop's own time if its workers were found.
static void forget_loop(struct owners *o, size_t count)
{
    for (size_t i = 0; i < count && count < o->tallies.count; i++) {
        struct tally *x = stk_vec_at(&o->tallies, i);
        if (x->part == STK_PART_INPUT && x->count == 1) {
            x->ns = 0;
        }
    }
}

// `p` are sorted: one thread's input pieces follow one another, though not always directly.
static bool lay_workers(struct owners *o, struct stk_code_piece *p, size_t count)
{
    int64_t input_ns = 0;
    size_t kept = 0;
    uint32_t thread = STK_NONE;
    for (size_t i = 0; i < count; i++) {
        thread = thread == STK_NONE && p[i].part == STK_PART_INPUT ? p[i].thread : thread;
        if (p[i].part == STK_PART_INPUT && p[i].thread == thread) {
            input_ns = stk_add_ns(input_ns, p[i].end_ns - p[i].start_ns);
            p[kept++] = p[i];
        }
    }
    if (kept == 0 || 2 * found_ns(o, STK_PART_INPUT) > input_ns) {
        return true;
    }
    size_t before = o->tallies.count;
    for (uint32_t k = 0; k < o->a->t->track_count; k++) {
        bool found = false;
        const struct stk_thread_info *th = &o->a->threads[k];
        if (th->in_rank && th->root != thread && !lay_over(o, k, p, kept, &found)) {
            return false;
        }
    }
    forget_loop(o, before);
    return true;
}

static int by_weight(const void *pa, const void *pb)
{
    const struct tally *a = pa, *b = pb;
    int64_t wa = stk_owner_weight(a->ns, a->count), wb = stk_owner_weight(b->ns, b->count);
    if (wa != wb) {
        return wa > wb ? -1 : 1;
    }
    return a->name < b->name ? -1 : a->name > b->name;
}

static bool settle(struct owners *o)
{
    stk_sort(o->tallies.items, o->tallies.count, sizeof(struct tally), by_weight);
    for (size_t i = 0; i < o->tallies.count; i++) {
        const struct tally *x = stk_vec_at(&o->tallies, i);
        struct stk_cause *c = &o->a->sum->causes[x->part];
        if (c->owner_count == STK_CAUSE_OWNERS || x->ns == 0) {
            continue;
        }
        struct stk_str name = stk_strpool_get(&o->a->t->strings, x->name);
        const char *text = stk_arena_strndup(o->a->out, name.p, name.n);
        if (!text) {
            return false;
        }
        c->owners[c->owner_count++] = (struct stk_cause_name){text, x->ns, x->count};
    }
    return true;
}

bool stk_owners_fill(struct stk_analysis *a, struct stk_code_piece *pieces, size_t count)
{
    STK_ASSERT(count == 0 || pieces);
    if (count == 0) {
        return true;
    }
    struct owners o = {.a = a, .whose = stk_alloc_zero((size_t)a->t->strings.count + 1, 1)};
    stk_map_init(&o.index, UINT32_MAX - 1);
    stk_vec_init(&o.tallies, sizeof(struct tally), UINT32_MAX - 1);
    bool ok = o.whose && lay_threads(&o, pieces, count) && lay_workers(&o, pieces, count) &&
              settle(&o) && stk_owner_calls_find(a);
    stk_free(o.whose);
    stk_map_deinit(&o.index);
    stk_vec_deinit(&o.tallies);
    return ok;
}
