// SPDX-License-Identifier: Apache-2.0
// include/stoker/data.h: iterators and single operations.
//
// An iterator takes blocks from the engine and returns their elements one by one. It asks for one
// element first, then for more as long as blocks come fast: a cheap pipeline costs little per
// element, and a slow one doesn't run far ahead of its consumer.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/api/data_api.h"
#include "engine/graph/fingerprint.h"
#include "engine/graph/plan.h"
#include "engine/rewrites/rewrite.h"
#include "engine/memory/split.h"
#include "engine/run/account.h"
#include "engine/run/aggregate.h"
#include "engine/run/holders.h"
#include "engine/run/iter_open.h"
#include "engine/run/pull.h"
#include "engine/run/recorder.h"
#include "engine/run/run_open.h"

#define BLOCK_NS_MAX 100000 // a block that took longer doesn't grow
#define BLOCK_ELEMENTS_MAX 1024
#define BLOCK_BYTES_MAX ((uint64_t)1 << 20)
#define STEP_NS 100000        // more between two elements of a block is the consumer's own step
#define CROWDED ((uint64_t)4) // of CROWDED_OF parts of the budget; stages stop at 6 of them
#define CROWDED_OF ((uint64_t)8)
#define LOOKS_OF 64                 // of the budget; see is_crowded()
#define PASS_MAX ((int64_t)1 << 20) // elements skipped between checks for cancellation
#define STATE_MAGIC 0x32737473u     // "sts2"

struct stoker_iterator {
    struct stk_iter *root;
    uint64_t likeness; // of the dataset as it was written
    struct stk_block block;
    int64_t used;                  // elements of the block already returned
    int64_t want;                  // of the next block
    uint64_t given, failed, epoch; // elements and errors returned so far
    struct stoker_host caller;
    struct stk_host host;          // the engine's view of it
    bool owns_batches;             // elements are batches, which the caller may write to
    bool is_crowded;               // the budget is mostly used: copy returned tensors out of it
    size_t unlooked_bytes;         // may be returned before the budget is checked again
    struct stk_pool *concurrent;   // memory outside the budget for that; NULL: none yet
    uint64_t copied;               // tensors copied there
    struct stk_recorder *recorder; // NULL: none
    int64_t given_ns;              // with a recorder: when the last element was returned
    struct stoker_err err;         // of the last block; empty if it had none
    struct skipped {               // after a resume: what to skip before returning any
        int64_t elements;
        uint64_t errors;
        bool pulls; // element by element, because some failed
    } skipped;
};

struct state {
    uint32_t magic, size;
    uint64_t seed, epoch, given, failed;
    uint64_t has_failures; // some element failed, even if it was skipped
    uint64_t likeness;     // of the dataset; see stk_dataset_likeness
};

// Are the elements batches that no cache holds?
static bool gives_batches(const struct stk_dataset *ds)
{
    for (; ds->n_in == 1; ds = ds->in[0]) {
        if (ds->kind->role == STK_DS_BATCH) {
            return true;
        }
        if (ds->kind->role == STK_DS_CACHE) {
            return false;
        }
    }
    return false;
}

// The dataset as it will run: rewritten, unless the options say as written. The caller owns a
// reference.
static enum stoker_status choose_plan(struct stoker_dataset *ds,
                                      const struct stoker_run_options *options,
                                      struct stk_dataset **out, struct stoker_err *err)
{
    if (options && options->is_as_written) {
        *out = stk_dataset_hold((struct stk_dataset *)ds);
        return STOKER_OK;
    }
    return stk_rewrite_dataset(
        out, (struct stk_dataset *)ds,
        options && options->skips_errors ? STK_ON_ERROR_SKIP : STK_ON_ERROR_STOP, err);
}

enum stoker_status stoker_dataset_explain(struct stoker_dataset *ds,
                                          const struct stoker_run_options *options,
                                          struct stoker_bytes *out, struct stoker_err *err)
{
    struct stoker_err own;
    struct stk_dataset *runs = NULL;
    struct stk_rewrite_log text = {0};
    err = stk_err_begin(err, &own);
    if (!ds || !out) {
        return stk_err_misuse(err,
                              "stoker_dataset_explain needs a dataset and a pointer for the text");
    }
    *out = (struct stoker_bytes){0};
    enum stoker_status s = choose_plan(ds, options, &runs, err);
    if (s == STOKER_OK && !stk_plan_write(&text, runs)) {
        s = stk_err_nomem(err);
    }
    stk_dataset_drop(runs);
    if (s != STOKER_OK) {
        stk_rewrite_log_end(&text);
        return stk_err_fail(err);
    }
    *out = (struct stoker_bytes){(unsigned char *)text.text, text.size};
    return STOKER_OK;
}

enum stoker_status stoker_iterator_open(struct stoker_dataset *ds,
                                        const struct stoker_run_options *options,
                                        struct stoker_iterator **out, struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!ds || !out) {
        return stk_err_misuse(
            err, "stoker_iterator_open needs a dataset and a pointer for the iterator");
    }
    *out = NULL;
    struct stoker_iterator *it = stk_alloc_zero(1, sizeof *it);
    if (!it) {
        return stk_err_nomem(err);
    }
    stk_err_init(&it->err);
    struct stk_run_options o = {0};
    struct stk_run *run;
    if (options) {
        o = (struct stk_run_options){.seed = options->seed,
                                     .has_seed = options->has_seed != 0,
                                     .is_sloppy = options->is_sloppy != 0,
                                     .threads = options->threads,
                                     .ram_bytes = (size_t)options->ram_bytes,
                                     .on_error = options->skips_errors ? STK_ON_ERROR_SKIP
                                                                       : STK_ON_ERROR_STOP};
        if (options->host) {
            it->caller = *options->host;
            stk_data_host_open(&it->host, &it->caller);
            o.host = &it->host;
        }
        it->epoch = options->epoch;
        o.initial_parallelism = options->initial_parallelism;
        o.min_parallelism = options->min_parallelism;
        o.is_untuned = options->is_untuned != 0;
        o.record_path = options->record_path;
        o.memory = options->memory;
    }
    bool is_shared = o.record_path == NULL;
    o.record_path = is_shared ? getenv("STOKER_DATA_RECORD") : o.record_path;
    it->want = 1;
    it->owns_batches = gives_batches((struct stk_dataset *)ds);
    it->likeness = stk_dataset_likeness((struct stk_dataset *)ds);
    enum stoker_status s = stk_run_open(&run, &o, err);
    if (s == STOKER_OK && o.record_path && *o.record_path) {
        s = stk_recorder_open(&run->recorder, o.record_path, is_shared, err);
        it->recorder = run->recorder;
    }
    if (s == STOKER_OK) {
        struct stk_dataset *runs = NULL;
        s = choose_plan(ds, options, &runs, err);
        s = s == STOKER_OK ? stk_iter_open(&it->root, runs, run, 0, it->epoch, err) : s;
        stk_dataset_drop(runs);
    }
    if (s == STOKER_OK) {
        stk_iter_hint_final(it->root);
    }
    stk_run_drop(run);
    if (s != STOKER_OK) {
        struct stoker_err ignored;
        if (it->recorder && stk_recorder_close(it->recorder, &ignored) != STOKER_OK) {
            stk_err_while(err, "recording the run");
        }
        stk_free(it);
        return stk_err_fail(err);
    }
    *out = it;
    return STOKER_OK;
}

struct stk_iter *stk_data_root(struct stoker_iterator *it)
{
    return it->root;
}

// Skips elements that were returned before a resume, and the errors between and after them. In
// chunks, to allow canceling; on an error, the next call does the rest.
static enum stoker_status pass_over(struct stoker_iterator *it, struct stoker_err *err)
{
    struct skipped *b = &it->skipped;
    enum stoker_status s = STOKER_OK;
    bool is_end = false;
    while (!is_end && (b->elements > 0 || b->errors > 0)) {
        int64_t done = 0, more = b->elements < PASS_MAX ? b->elements : PASS_MAX;
        more = more > 0 ? more : 1;
        s = b->pulls ? stk_iter_drop(it->root, more, &done, err)
                     : stk_iter_skip(it->root, more, &done, err);
        b->elements -= done;
        if (s != STOKER_OK && !stk_status_is_of_element(s)) {
            break;
        }
        b->errors -= s != STOKER_OK && b->errors > 0;
        is_end = s == STOKER_OK && done == 0; // there is less data than before
        s = STOKER_OK;
    }
    if (s == STOKER_OK) {
        *b = (struct skipped){0};
        stk_err_init(err);
    }
    return s;
}

// Takes the next block. Asks for more elements each time, as long as blocks come fast and stay
// small.
STK_HOT static enum stoker_status take_block(struct stoker_iterator *it, struct stoker_err *err)
{
    if (it->skipped.elements > 0 || it->skipped.errors > 0) {
        enum stoker_status passed = pass_over(it, err);
        if (passed != STOKER_OK) {
            return passed;
        }
    }
    bool is_timed = it->recorder || !stoker_iterator_is_ready(it);
    int64_t start_ns = is_timed ? (int64_t)stk_clock_ns() : 0;
    enum stoker_status s = stk_iter_next(it->root, it->want, &it->block, err);
    int64_t took_ns = is_timed ? (int64_t)stk_clock_ns() - start_ns : 0;
    it->used = 0;
    if (it->recorder && s == STOKER_OK && it->block.n == 0) {
        stk_recorder_last(it->recorder, (uint64_t)start_ns);
    }
    if (s != STOKER_OK || it->block.n == 0) {
        return s;
    }
    if (it->recorder) {
        stk_recorder_step(it->recorder, (uint64_t)start_ns, (uint64_t)(start_ns + took_ns),
                          it->block.n);
        it->given_ns = start_ns + took_ns;
    }
    bool may_grow = it->want < BLOCK_ELEMENTS_MAX && took_ns < BLOCK_NS_MAX;
    if (may_grow && stk_block_bytes(&it->block) * 2 < BLOCK_BYTES_MAX) {
        it->want *= 2;
    } else if (took_ns > 4 * BLOCK_NS_MAX && it->want > 1) {
        it->want /= 2;
    }
    return STOKER_OK;
}

// The same. The caller may be a stage function of another pipeline, whose time account is set
// aside.
STK_HOT static enum stoker_status refill(struct stoker_iterator *it, struct stoker_err *err)
{
    struct stk_account callers = stk_account_set_aside();
    enum stoker_status s = take_block(it, err);
    if (s == STOKER_ELIMIT || s == STOKER_ENOMEM) {
        stk_holders_tell(it->root, err);
    }
    stk_account_take_up(&callers);
    return s;
}

// Copies a batch that is a view of read-only memory, so the caller may write to it. If there is no
// memory for the copy, it stays a view.
static void own_batch(struct stoker_iterator *it, struct stoker_tensor *t)
{
    struct stk_col own, view;
    bool is_number = t->dtype != STOKER_STRING && t->dtype != STOKER_DATASET;
    (void)stk_data_tensor_view(&view, t); // can't fail: the pipeline made the value
    if (!t->is_readonly || t->rank == 0 || !is_number ||
        !stk_col_uniform(&own, it->root->run->pool, view.dtype, &view.shape, 1)) {
        return;
    }
    if (own.stride) {
        stk_split_copy(it->root->run->pool, own.data, view.data, own.stride);
    }
    stoker_tensor_release(t);
    stk_data_tensor_out(t, &own, 0);
    t->is_readonly = 0; // one element: not shared
    stk_col_clear(&own);
}

// A consumer that keeps tensors can use up the budget. Above CROWDED of it, tensors become
// copies outside the budget, so the pipeline keeps running. If that memory isn't available, the
// tensor stays where it is.
static void leave_budget(struct stoker_iterator *it, struct stoker_tensor *t,
                         const struct stk_col *c)
{
    struct stk_col own = {0};
    struct stk_shape shape = stk_col_shape(c, it->used);
    it->concurrent = it->concurrent ? it->concurrent : stk_pool_open(SIZE_MAX);
    if (!it->concurrent || c->dtype == STK_DT_DATASET) {
        return;
    }
    bool ok;
    if (c->dtype == STK_DT_STRING) {
        stk_col_slice(&own, c, it->used, 1);
        ok = stk_col_own(&own, it->concurrent);
    } else {
        ok = stk_col_uniform(&own, it->concurrent, c->dtype, &shape, 1);
        if (ok && own.stride) {
            memcpy(own.data, stk_col_at(c, it->used), own.stride);
        }
    }
    if (ok) {
        stoker_tensor_release(t);
        stk_data_tensor_out(t, &own, 0);
        it->copied++;
    }
    stk_col_clear(&own);
}

// An element that was ready. If the consumer worked since the last one, that counts as a step;
// consumers that only drain elements would otherwise record millions of steps.
static void record_element(struct stoker_iterator *it)
{
    int64_t now = (int64_t)stk_clock_ns();
    if (now - it->given_ns > STEP_NS) {
        stk_recorder_step(it->recorder, (uint64_t)now, (uint64_t)now, 0);
    }
    it->given_ns = now;
}

// The most bytes that a caller keeps alive by keeping the block's tensors. SIZE_MAX: unknown.
STK_HOT static size_t kept_bytes(const struct stk_block *b)
{
    size_t bytes = 0;
    for (int k = 0; k < b->count; k++) {
        const struct stk_col *c = &b->cols[k];
        size_t more;
        if (c->is_varied || c->dtype == STK_DT_STRING || c->dtype == STK_DT_DATASET ||
            __builtin_mul_overflow((size_t)c->n, c->stride, &more) ||
            __builtin_add_overflow(bytes, more, &bytes)) {
            return SIZE_MAX;
        }
    }
    return bytes;
}

// Is the budget mostly in use? Asks the pool only after 1/LOOKS_OF of the budget was returned:
// taking its lock for each small batch would cost too much.
STK_HOT static bool is_crowded(struct stoker_iterator *it)
{
    size_t bytes = kept_bytes(&it->block);
    if (!it->is_crowded && bytes <= it->unlooked_bytes) {
        it->unlooked_bytes -= bytes;
        return false;
    }
    struct stk_pool_stats s = stk_pool_stats_of(it->root->run->pool);
    it->unlooked_bytes = s.cap_bytes / LOOKS_OF;
    return s.in_use_bytes > s.cap_bytes / CROWDED_OF * CROWDED;
}

STK_HOT enum stoker_status stoker_iterator_next(struct stoker_iterator *it,
                                                struct stoker_tensor *out, int n, int *is_end,
                                                struct stoker_err *err)
{
    if (!it || !is_end || (n > 0 && !out)) {
        return stk_err_misuse(
            err, "stoker_iterator_next needs an iterator and pointers for its results");
    }
    *is_end = 0;
    if (it->used >= it->block.n) {
        enum stoker_status s = refill(it, &it->err);
        if (s != STOKER_OK) {
            it->failed += stk_status_is_of_element(s);
            s = stk_err_fail(&it->err);
            if (err) {
                *err = it->err;
            }
            stk_err_init(&it->err);
            return s;
        }
        if (it->block.n == 0) {
            *is_end = 1;
            return STOKER_OK;
        }
        it->is_crowded = is_crowded(it);
    }
    if (it->recorder && it->used > 0) {
        record_element(it);
    }
    for (int k = 0; k < n && k < it->block.count; k++) {
        stk_data_tensor_out(&out[k], &it->block.cols[k], it->used);
        if (it->is_crowded) {
            leave_budget(it, &out[k], &it->block.cols[k]);
        }
        if (it->owns_batches) {
            own_batch(it, &out[k]);
        }
    }
    it->used++;
    it->given++;
    return STOKER_OK;
}

// False where errors are skipped and no element is in the block: the ready piece may be an error,
// and the call would then wait.
STK_HOT int stoker_iterator_is_ready(const struct stoker_iterator *it)
{
    const struct stk_iter *root = it->root;
    if (it->skipped.elements > 0 || it->skipped.errors > 0) {
        return false;
    }
    return it->used < it->block.n ||
           (root->run->options.on_error != STK_ON_ERROR_SKIP &&
            __atomic_load_n(&root->stats.head_ready, __ATOMIC_ACQUIRE) != 0);
}

int64_t stoker_iterator_held(const struct stoker_iterator *it)
{
    return it->block.n - it->used;
}

void stoker_iterator_cancel(struct stoker_iterator *it)
{
    stk_run_cancel(it->root->run);
}

enum stoker_status stoker_iterator_close(struct stoker_iterator *it, struct stoker_err *err)
{
    struct stoker_err own;
    enum stoker_status s = STOKER_OK;
    err = stk_err_begin(err, &own);
    if (!it) {
        return STOKER_OK;
    }
    if (it->recorder) {
        stk_recorder_sum(it->recorder, it->root);
    }
    stk_run_cancel(it->root->run);
    stk_block_free(&it->block);
    struct stk_account callers = stk_account_set_aside();
    stk_iter_close(it->root);
    stk_account_take_up(&callers);
    stk_pool_drop(it->concurrent);
    if (it->recorder) {
        s = stk_recorder_close(it->recorder, err);
    }
    stk_free(it);
    return stk_err_end(err, s);
}

void stoker_iterator_free(struct stoker_iterator *it)
{
    struct stoker_err ignored;
    if (stoker_iterator_close(it, &ignored) != STOKER_OK) {
        return; // callers who need the status use stoker_iterator_close
    }
}

enum stoker_status stoker_iterator_state(const struct stoker_iterator *it, void *state, size_t *n,
                                         struct stoker_err *err)
{
    if (!it || !state || !n) {
        return stk_err_misuse(err,
                              "stoker_iterator_state needs an iterator and a buffer for its state");
    }
    struct state s = {.magic = STATE_MAGIC,
                      .size = sizeof s,
                      .seed = it->root->run->seed,
                      .epoch = it->epoch,
                      .given = it->given,
                      .failed = it->failed,
                      .has_failures = __atomic_load_n(&it->root->run->failures, __ATOMIC_RELAXED),
                      .likeness = it->likeness};
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (*n < sizeof s) {
        *n = sizeof s;
        return stk_err_set(err, STOKER_ELIMIT, "the state needs %zu bytes", sizeof s);
    }
    memcpy(state, &s, sizeof s);
    *n = sizeof s;
    return STOKER_OK;
}

enum stoker_status stoker_iterator_resume(struct stoker_dataset *ds,
                                          const struct stoker_run_options *options,
                                          const void *state, size_t n, struct stoker_iterator **out,
                                          struct stoker_err *err)
{
    struct state s;
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!ds || !state || !out) {
        return stk_err_misuse(
            err, "stoker_iterator_resume needs a dataset, a state and a pointer for the iterator");
    }
    *out = NULL;
    if (n >= sizeof s) {
        memcpy(&s, state, sizeof s);
    }
    if (n < sizeof s || s.magic != STATE_MAGIC || s.size != sizeof s || s.given > INT64_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "this is not an iterator state (%zu bytes)", n);
    }
    if (s.likeness != stk_dataset_likeness((struct stk_dataset *)ds)) {
        return stk_err_set(
            err, STOKER_EINVAL,
            "this state belongs to another pipeline: its stages, functions, constants "
            "or files differ");
    }
    struct stoker_run_options o = options ? *options : (struct stoker_run_options){0};
    o.has_seed = 1;
    o.seed = s.seed;
    o.epoch = s.epoch;
    enum stoker_status status = stoker_iterator_open(ds, &o, out, err);
    if (status != STOKER_OK) {
        return status;
    }
    (*out)->skipped = (struct skipped){(int64_t)s.given, s.failed, s.has_failures != 0};
    (*out)->given = s.given;
    (*out)->failed = s.failed;
    return STOKER_OK;
}

static int find_stage(const struct stk_iter *it, int *i, int depth, struct stoker_stage *out)
{
    if ((*i)-- == 0) {
        const struct stk_stage_stats *s = &it->stats;
#define READ(field) __atomic_load_n(&s->field, __ATOMIC_RELAXED)
        *out = (struct stoker_stage){.kind = it->kind->name,
                                     .where = it->ds->where,
                                     .depth = depth,
                                     .elements = READ(elements),
                                     .errors = READ(errors),
                                     .skipped = READ(skipped),
                                     .busy_ns = READ(busy_ns),
                                     .wait_ns = READ(wait_ns),
                                     .starve_ns = READ(starve_ns),
                                     .threads = READ(threads),
                                     .fill = READ(fill),
                                     .capacity = READ(capacity),
                                     .block_max = READ(block_max),
                                     .binding = READ(binding),
                                     .predicted_per_s = (double)READ(predicted_per_ks) / 1e3,
                                     .achieved_per_s = (double)READ(achieved_per_ks) / 1e3,
                                     .keeps_nothing = READ(keeps_nothing) != 0};
#undef READ
        return 1;
    }
    for (int k = 0; k < it->n_in; k++) {
        if (it->in[k] && find_stage(it->in[k], i, depth + 1, out)) {
            return 1;
        }
    }
    return 0;
}

int stoker_iterator_stage(const struct stoker_iterator *it, int i, struct stoker_stage *out)
{
    pthread_mutex_lock(&it->root->run->tree_lock);
    if (i == 0) {
        stk_aggregate_tell(it->root);
    }
    int found = find_stage(it->root, &i, 0, out);
    pthread_mutex_unlock(&it->root->run->tree_lock);
    return found;
}

void stoker_iterator_memory(const struct stoker_iterator *it, struct stoker_memory *out)
{
    struct stk_pool_stats s = stk_pool_stats_of(it->root->run->pool);
    *out = (struct stoker_memory){s.in_use_bytes, s.peak_bytes, s.cap_bytes, s.fresh, it->copied};
}

// Runs the operation on one element, as a function with one node.
static enum stoker_status called_once(const char *op, const struct stk_spec *specs,
                                      struct stk_block *in, struct stk_attrs *attrs, uint64_t seed,
                                      struct stk_block *out, struct stoker_err *err)
{
    struct stk_fn *fn = NULL;
    struct stk_frame *frame = NULL;
    struct stk_pool *pool = stk_pool_open(SIZE_MAX);
    int ids[STK_OP_OUTPUTS_MAX], first = 0, count = 0;
    for (int i = 0; i < in->count; i++) {
        ids[i] = i;
    }
    enum stoker_status s = pool ? stk_fn_open(&fn, specs, in->count, op, err) : stk_err_nomem(err);
    if (s == STOKER_OK) {
        s = stk_fn_add(fn, op, ids, in->count, attrs, NULL, &first, &count, err);
    }
    for (int i = 0; i < count; i++) {
        ids[i] = first + i;
    }
    s = s == STOKER_OK ? stk_fn_finish(fn, ids, count, err) : s;
    s = s == STOKER_OK ? stk_frame_open(&frame, fn, pool, NULL, err) : s;
    if (s == STOKER_OK && !stk_block_reset(out, count)) {
        s = stk_err_nomem(err);
    }
    struct stk_eval eval = {.seed = seed};
    s = s == STOKER_OK ? stk_frame_run(frame, in, out, &eval, err) : s;
    if (s == STOKER_OK && eval.failed == 0) {
        *err = eval.failure;
        s = err->code;
    }
    stk_frame_close(frame);
    stk_fn_drop(fn);
    stk_pool_drop(pool);
    return s;
}

// Copies a result that shares an argument's memory.
static bool own_result(struct stk_col *c, struct stk_pool *pool)
{
    if (c->dtype == STK_DT_STRING) {
        return stk_col_own(c, pool);
    }
    if (c->data_buf) {
        return true;
    }
    struct stk_col own;
    struct stk_shape shape = stk_col_shape(c, 0);
    if (!stk_col_uniform(&own, pool, c->dtype, &shape, 1)) {
        return false;
    }
    if (own.stride) {
        memcpy(own.data, stk_col_at(c, 0), own.stride);
    }
    stk_col_clear(c);
    *c = own;
    return true;
}

enum stoker_status stoker_op_call(const char *op, const struct stoker_tensor *in, int n_in,
                                  const struct stoker_args *args, uint64_t seed,
                                  struct stoker_tensor *out, int *n_out, struct stoker_err *err)
{
    struct stk_spec specs[STK_OP_INPUTS_MAX];
    struct stk_block from = {0}, to = {0};
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!op || !n_out || (n_in > 0 && !in)) {
        return stk_err_misuse(
            err, "stoker_op_call needs an operation, its inputs and arrays for its results");
    }
    enum stoker_status s =
        n_in > STK_OP_INPUTS_MAX
            ? stk_err_set(err, STOKER_EINVAL, "%s: %d inputs are too many", op, n_in)
        : stk_block_reset(&from, n_in) ? STOKER_OK
                                       : stk_err_nomem(err);
    for (int i = 0; s == STOKER_OK && i < n_in; i++) {
        if (!stk_data_tensor_view(&from.cols[i], &in[i])) {
            s = stk_err_set(err, STOKER_EINVAL,
                            "%s: input %d has more than 2^40 values in its shape", op, i);
        }
        specs[i] = (struct stk_spec){.dtype = from.cols[i].dtype, .shape = from.cols[i].shape};
    }
    from.n = 1;
    struct stk_attrs *attrs = (struct stk_attrs *)(uintptr_t)args;
    s = s == STOKER_OK ? stk_data_check_given(op, attrs, err) : s;
    s = s == STOKER_OK ? called_once(op, specs, &from, attrs, seed, &to, err) : s;
    if (s == STOKER_OK && to.count > *n_out) {
        s = stk_err_set(err, STOKER_EINVAL, "%s: %d results, but room for only %d", op, to.count,
                        *n_out);
    }
    struct stk_pool *pool = stk_pool_open(SIZE_MAX);
    for (int k = 0; s == STOKER_OK && k < to.count; k++) {
        s = pool && own_result(&to.cols[k], pool) ? STOKER_OK : stk_err_nomem(err);
    }
    for (int k = 0; s == STOKER_OK && k < to.count; k++) {
        stk_data_tensor_out(&out[k], &to.cols[k], 0);
    }
    stk_pool_drop(pool);
    *n_out = s == STOKER_OK ? to.count : 0;
    stk_block_free(&from);
    stk_block_free(&to);
    return stk_err_end(err, s);
}
