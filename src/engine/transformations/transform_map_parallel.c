// SPDX-License-Identifier: Apache-2.0
// map with num_parallel_calls: workers take turns pulling blocks of the input and run the function
// on them in parallel; results are in order unless deterministic is 0 (or unset, in a sloppy run).
//
// If a batch follows and results have a known shape, workers write into one buffer for several
// batches, each at its place: the batch is then that buffer, read with another shape. Without
// order, whole buffers are returned in the order in which they are filled.

#include "base/alloc.h"
#include "engine/run/async.h"
#include "engine/run/pull.h"
#include "engine/transformations/map_parallel.h"

#define GROUP_BYTES ((int64_t)512 << 10) // batches smaller than this share a buffer
#define GROUP_BATCHES_MAX 64
#define GROUP_BUDGET_PARTS 20
// For functions in other processes: handing a piece over costs about 100 us at any size.
#define REMOTE_PIECE_NS 2000000
#define REMOTE_PIECE_BYTES ((int64_t)256 << 10)

struct stk_pmap {
    struct stk_async *async;
    struct stk_iter *it;
    struct stk_fn *fn;
    const uint64_t *seeds; // for stk_eval
    int64_t index;         // of the next element at the input; under the input lock
    // Grouping, under the input lock.
    int64_t batch, group; // elements of a batch; of a buffer. 0: none
    int64_t offset;       // offset of the next piece in the buffer
    uint64_t buffers;     // so far
    struct stk_block capacity;
    bool is_sloppy, is_tuned, has_begun;
    bool is_native; // makes no calls into the embedding language, which can't be repeated
    bool waits;     // an element may wait for something outside the program
    bool is_remote; // takes many elements at once, to hand them to another process
};

struct own { // of a worker
    struct stk_frame *frame;
    struct stk_block in, rest, part;
    struct stk_block bound; // the piece's columns in the group's buffer
    int64_t first_index;
};

static void own_end(void *p)
{
    struct own *o = p;
    stk_frame_close(o->frame);
    stk_block_free(&o->in);
    stk_block_free(&o->rest);
    stk_block_free(&o->part);
    stk_block_free(&o->bound);
    stk_free(o);
}

static enum stoker_status own_begin(struct stk_async *a, void **own, struct stoker_err *err)
{
    struct stk_pmap *m = a->arg;
    struct own *o = stk_alloc_zero(1, sizeof *o);
    if (!o) {
        return stk_err_nomem(err);
    }
    enum stoker_status s =
        stk_frame_open(&o->frame, m->fn, m->it->run->pool, m->it->run->options.host, err);
    if (s != STOKER_OK) {
        own_end(o);
        return s;
    }
    *own = o;
    return STOKER_OK;
}

// A buffer for the next group's results. False: none; pieces then have their own.
static bool make_capacity(struct stk_pmap *m)
{
    if (!stk_block_reset(&m->capacity, m->fn->n_out)) {
        return false;
    }
    m->offset = 0;
    for (int o = 0; o < m->fn->n_out; o++) {
        const struct stk_spec *spec = &m->fn->specs[m->fn->out[o]];
        if (!stk_col_uniform(&m->capacity.cols[o], m->it->run->pool, spec->dtype, &spec->shape,
                             m->group)) {
            stk_block_clear(&m->capacity);
            return false;
        }
    }
    m->capacity.n = m->group;
    m->buffers++;
    return true;
}

// Binds the piece's columns to their place in the buffer.
static void bind(struct stk_pmap *m, struct stk_piece *p, int64_t n)
{
    for (int o = 0; o < m->capacity.count; o++) {
        stk_col_slice(&p->block.cols[o], &m->capacity.cols[o], m->offset, n);
        p->block.cols[o].is_bound = true;
    }
    p->place =
        (struct stk_place){.group = m->buffers, .first = m->offset, .count = n, .of = m->group};
    m->offset += n;
    p->ends_group = m->offset == m->group;
    if (p->ends_group) {
        stk_block_clear(&m->capacity);
    }
}

static int64_t pull(struct stk_async *a, void *own, int64_t n, struct stk_piece *p)
{
    struct stk_pmap *m = a->arg;
    struct own *o = own;
    struct stoker_err err;
    p->ends_group = false;
    p->place = (struct stk_place){0};
    bool is_grouped = m->group > 0 && (m->capacity.n > 0 || make_capacity(m));
    int64_t left = is_grouped ? m->group - m->offset : n;
    enum stoker_status s = stk_iter_next(m->it->in[0], n < left ? n : left, &o->in, &err);
    if (s == STOKER_OK && !stk_block_reset(&p->block, m->fn->n_out)) {
        s = stk_err_nomem(&err);
    }
    o->first_index = m->index;
    m->index += s == STOKER_OK ? o->in.n : 1;
    if (s != STOKER_OK) {
        (void)stk_piece_fail(p, s, &err);
        return 0;
    }
    if (is_grouped && o->in.n > 0) {
        bind(m, p, o->in.n);
    }
    return o->in.n;
}

// Runs the function on the rest of the worker's block after a failed element: these become more
// parts of the piece, with their own memory.
static void work_on(struct own *o, struct stk_pmap *m, struct stk_piece *p, int64_t from)
{
    while (from < o->in.n) {
        struct stk_eval eval = {
            .seed = m->it->seed, .seeds = m->seeds, .first_index = o->first_index + from};
        struct stoker_err err;
        enum stoker_status s = STOKER_OK;
        p = stk_piece_last(p);
        if (!stk_block_slice(&o->rest, &o->in, from, o->in.n - from) ||
            !stk_block_reset(&p->block, m->fn->n_out)) {
            s = stk_err_nomem(&err);
        }
        s = s == STOKER_OK ? stk_frame_run(o->frame, &o->rest, &p->block, &eval, &err) : s;
        if (s != STOKER_OK) {
            stk_block_clear(&p->block);
            (void)stk_piece_fail(p, s, &err);
            return;
        }
        if (eval.failed >= o->rest.n) {
            return;
        }
        from += eval.failed + 1;
        if (!stk_piece_fail(p, eval.failure.code, &eval.failure)) {
            return;
        }
    }
}

static bool is_memory(enum stoker_status s)
{
    return s == STOKER_ELIMIT || s == STOKER_ENOMEM;
}

// Restores the piece's block to before the function ran.
static bool begin_again(struct stk_pmap *m, struct own *o, struct stk_piece *p)
{
    bool ok = stk_block_reset(&p->block, m->fn->n_out);
    for (int k = 0; ok && k < o->bound.count; k++) {
        stk_col_slice(&p->block.cols[k], &o->bound.cols[k], 0, o->in.n);
        p->block.cols[k].is_bound = true;
    }
    return ok;
}

// Runs the function on the piece's elements; again if memory ran short and more became free.
static enum stoker_status run_piece(struct stk_async *a, struct own *o, struct stk_piece *p,
                                    struct stk_eval *eval, struct stoker_err *err)
{
    struct stk_pmap *m = a->arg;
    int tries = 0;
    bool is_bound = p->block.count > 0 && p->block.cols[0].is_bound;
    stk_block_clear(&o->bound);
    bool may_retry =
        m->is_native && (!is_bound || stk_block_slice(&o->bound, &p->block, 0, o->in.n));
    enum stoker_status s = stk_frame_run(o->frame, &o->in, &p->block, eval, err);
    while (may_retry && (is_memory(s) || (s == STOKER_OK && eval->failed < o->in.n &&
                                          is_memory(eval->failure.code)))) {
        stk_block_clear(&p->block);
        may_retry = stk_async_is_short(a, &tries);
        if (!begin_again(m, o, p)) {
            s = stk_err_nomem(err);
            break;
        }
        s = stk_frame_run(o->frame, &o->in, &p->block, eval, err);
    }
    if (tries > 0) {
        stk_async_end_short(a);
    }
    stk_block_clear(&o->bound);
    return s;
}

static void work(struct stk_async *a, void *own, struct stk_piece *p)
{
    struct stk_pmap *m = a->arg;
    struct own *o = own;
    struct stoker_err err;
    struct stk_eval eval = {.seed = m->it->seed, .seeds = m->seeds, .first_index = o->first_index};
    enum stoker_status s = run_piece(a, o, p, &eval, &err);
    for (int k = 0; k < p->block.count; k++) {
        p->block.cols[k].is_bound = false;
    }
    if (s != STOKER_OK) {
        stk_block_clear(&p->block);
        (void)stk_piece_fail(p, s, &err);
    } else if (eval.failed < o->in.n) {
        if (stk_piece_fail(p, eval.failure.code, &eval.failure)) {
            work_on(o, m, p, eval.failed + 1);
        }
    }
    p->in_bytes = stk_async_measures(a) ? stk_block_bytes(&o->in) : p->in_bytes;
    stk_block_clear(&o->in);
    stk_block_clear(&o->rest);
}

static const struct stk_async_kind pmap_kind = {own_begin, own_end, pull, work};

enum stoker_status stk_pmap_open(struct stk_pmap **out, struct stk_iter *it, struct stk_fn *fn,
                                 const uint64_t *seeds, struct stoker_err *err)
{
    const struct stk_attrs *attrs = it->ds->attrs;
    int64_t calls = stk_attrs_int(attrs, "num_parallel_calls", -1);
    int64_t ordered = stk_attrs_int(attrs, "deterministic", -1);
    struct stk_pmap *m = stk_alloc_zero(1, sizeof *m);
    *out = m;
    if (!m) {
        return stk_err_nomem(err);
    }
    m->it = it;
    m->fn = fn;
    m->seeds = seeds;
    m->is_tuned = calls < 0;
    m->is_native = true;
    for (int k = 0; k < fn->n_nodes; k++) {
        const struct stk_op *op = fn->nodes[k].op;
        m->is_native = m->is_native && !op->is_host_call;
        m->waits = m->waits || op->is_host_call || op->waits;
        m->is_remote = m->is_remote || (op->is_host_call &&
                                        stk_attrs_int(fn->nodes[k].attrs, "takes_many", 0) != 0);
    }
    m->is_sloppy = ordered < 0 ? it->run->options.is_sloppy : ordered == 0;
    // Threads that wait for something other than a core may exceed the number of cores.
    int threads = it->run->options.threads, most = it->run->has_cap ? threads : 4 * threads;
    int limit = m->is_tuned ? most : calls > STK_WORKERS_MAX ? STK_WORKERS_MAX : (int)calls;
    m->async = stk_async_open(it, &pmap_kind, m, m->is_tuned ? stk_tuner_initial(it, limit) : limit,
                              limit, m->is_sloppy, 0);
    if (m->async && m->waits) {
        m->async->tuned.set_inline = NULL;
    }
    if (!m->async || !stk_tuner_add(&m->async->tuned, m->is_tuned)) {
        return stk_err_nomem(err);
    }
    m->async->piece_n = m->async->piece_n_least = stk_fn_at_once(fn);
    if (m->is_remote) {
        m->async->piece_ns = REMOTE_PIECE_NS;
        m->async->piece_bytes = REMOTE_PIECE_BYTES;
    }
    return STOKER_OK;
}

void stk_pmap_close(struct stk_pmap *m)
{
    if (!m) {
        return;
    }
    if (m->async) {
        stk_tuner_remove(&m->async->tuned);
    }
    stk_async_close(m->async);
    stk_block_free(&m->capacity);
    stk_free(m);
}

void stk_pmap_group(struct stk_pmap *m, int64_t size)
{
    int64_t bytes = stk_fn_result_bytes(m->fn), batch_bytes;
    if (m->has_begun || bytes <= 0 || __builtin_mul_overflow(size, bytes, &batch_bytes)) {
        return;
    }
    // Keeping one batch keeps its buffer: it must be small relative to the budget.
    int64_t budget = (int64_t)(stk_pool_stats_of(m->it->run->pool).cap_bytes / GROUP_BUDGET_PARTS);
    if (batch_bytes > budget) {
        return;
    }
    int64_t batches = (GROUP_BYTES < budget ? GROUP_BYTES : budget) / batch_bytes;
    // Without order, a slow element must delay only its own batch.
    batches = batches < 1 || (m->is_sloppy && m->waits) ? 1
              : batches > GROUP_BATCHES_MAX             ? GROUP_BATCHES_MAX
                                                        : batches;
    m->batch = size;
    m->group = size * batches;
}

enum stoker_status stk_pmap_next(struct stk_pmap *m, int64_t want, struct stk_block *out,
                                 struct stoker_err *err)
{
    m->has_begun = true;
    return stk_async_next(m->async, want, m->batch, out, err);
}

enum stoker_status stk_pmap_skip(struct stk_pmap *m, int64_t n, int64_t *done,
                                 struct stoker_err *err)
{
    if (m->has_begun) {
        return stk_async_skip(m->async, n, done, err);
    }
    enum stoker_status s = stk_iter_skip(m->it->in[0], n, done, err);
    m->index += *done + (s != STOKER_OK);
    return s;
}
