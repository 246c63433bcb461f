// SPDX-License-Identifier: Apache-2.0
// Evaluating a function on blocks: node by node over a chunk of elements, small enough for
// intermediate values to stay in the cache. Results of a known shape are written to their
// destination; others are made per chunk and joined.
#include <string.h>

#include "base/assert.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "engine/graph/fn.h"

#define CHUNK_BYTES (128 * 1024) // chunk bytes of the widest intermediate value
#define PARTS_MAX ((size_t)1 << 24)
#define PARTS_FEW 16   // chunks that are joined without an allocation
#define CHUNK_FIRST 64 // elements per chunk while widths are unknown

struct stk_frame {
    struct stk_fn *fn;
    struct stk_pool *pool;
    struct stk_host *host;
    struct stk_col *values;   // per value of the function
    void **scratch;           // per node
    int64_t chunk;            // elements
    int64_t at_once;          // fewest elements of a chunk
    int64_t widest;           // bytes per element of the widest value seen
    struct stk_col *each_out; // outputs of one element
    struct stk_vec *parts;    // per result: a struct stk_col for each chunk
};

int64_t stk_fn_at_once(const struct stk_fn *fn)
{
    int64_t most = 1;
    for (int k = 0; k < fn->n_nodes; k++) {
        most = fn->nodes[k].op->at_once > most ? fn->nodes[k].op->at_once : most;
    }
    return most;
}

enum stoker_status stk_frame_open(struct stk_frame **out, struct stk_fn *fn, struct stk_pool *pool,
                                  struct stk_host *host, struct stoker_err *err)
{
    STK_ASSERT(fn->is_finished && pool);
    *out = NULL;
    struct stk_frame *f = stk_alloc_zero(1, sizeof *f);
    if (!f) {
        return stk_err_nomem(err);
    }
    f->fn = stk_fn_hold(fn);
    f->pool = stk_pool_hold(pool);
    f->host = host;
    f->at_once = stk_fn_at_once(fn);
    f->values = stk_alloc_zero((size_t)fn->n_values + 1, sizeof f->values[0]);
    f->scratch = stk_alloc_zero((size_t)fn->n_nodes + 1, sizeof f->scratch[0]);
    f->each_out = stk_alloc_zero(STK_OP_OUTPUTS_MAX, sizeof f->each_out[0]);
    f->parts = stk_alloc_zero((size_t)fn->n_out + 1, sizeof f->parts[0]);
    bool ok = f->values && f->scratch && f->each_out && f->parts;
    for (int o = 0; ok && o < fn->n_out; o++) {
        stk_vec_init(&f->parts[o], sizeof(struct stk_col), PARTS_MAX);
    }
    bool is_known = true;
    for (int k = 0; ok && k < fn->n_nodes; k++) {
        if (fn->nodes[k].op->scratch_bytes) {
            f->scratch[k] = stk_alloc_zero(1, fn->nodes[k].op->scratch_bytes);
            ok = f->scratch[k] != NULL;
        }
    }
    for (int i = 0; i < fn->n_values; i++) {
        int64_t count = stk_shape_count(&fn->specs[i].shape);
        is_known = is_known && count >= 0;
        int64_t bytes = count * (int64_t)stk_dtype_bytes(fn->specs[i].dtype);
        f->widest = bytes > f->widest ? bytes : f->widest;
    }
    f->chunk = is_known ? INT64_MAX : CHUNK_FIRST;
    if (!ok) {
        stk_frame_close(f);
        return stk_err_nomem(err);
    }
    *out = f;
    return STOKER_OK;
}

void stk_frame_close(struct stk_frame *f)
{
    if (!f) {
        return;
    }
    for (int i = 0; f->values && i < f->fn->n_values; i++) {
        stk_col_clear(&f->values[i]);
    }
    for (int k = 0; f->scratch && k < f->fn->n_nodes; k++) {
        if (f->scratch[k] && f->fn->nodes[k].op->scratch_end) {
            f->fn->nodes[k].op->scratch_end(f->scratch[k]);
        }
        stk_free(f->scratch[k]);
    }
    for (int o = 0; f->parts && o < f->fn->n_out; o++) {
        stk_vec_deinit(&f->parts[o]);
    }
    stk_free(f->parts);
    stk_free(f->values);
    stk_free(f->scratch);
    stk_free(f->each_out);
    stk_fn_drop(f->fn);
    stk_pool_drop(f->pool);
    stk_free(f);
}

int64_t stk_fn_result_bytes(const struct stk_fn *fn)
{
    int64_t bytes = 0;
    for (int o = 0; o < fn->n_out; o++) {
        const struct stk_spec *spec = &fn->specs[fn->out[o]];
        int64_t count = stk_shape_count(&spec->shape);
        if (count < 0 || spec->dtype == STK_DT_DATASET) {
            return -1;
        }
        bytes += count * (int64_t)stk_dtype_bytes(spec->dtype);
    }
    return bytes;
}

int64_t stk_frame_chunk(const struct stk_frame *f)
{
    int64_t by_bytes = CHUNK_BYTES / (f->widest > 0 ? f->widest : 1);
    int64_t size = by_bytes < f->chunk ? by_bytes : f->chunk;
    STK_ASSERT(f->at_once >= 1);
    return size < f->at_once ? f->at_once : size;
}

static void note_width(struct stk_frame *f, const struct stk_col *c)
{
    if (c->n <= 0 || (!c->is_varied && c->stride == 0)) {
        return;
    }
    int64_t bytes = c->is_varied ? (c->offsets[c->n] - c->offsets[0]) / c->n *
                                       (int64_t)stk_dtype_bytes(c->dtype)
                                 : (int64_t)c->stride;
    f->widest = bytes > f->widest ? bytes : f->widest;
}

// A uniform column of one element for each input.
static void view_each(struct stk_col *view, const struct stk_col *in, int64_t i)
{
    *view = *in;
    view->is_varied = view->is_bound = false;
    view->n = 1;
    view->shape = stk_col_shape(in, i);
    view->data = stk_col_at(in, i);
    view->stride = stk_col_bytes_each(view);
}

static bool append_each(struct stk_frame *f, struct stk_col *out, struct stk_col *one)
{
    struct stk_shape shape = stk_col_shape(one, 0);
    size_t bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(one->dtype);
    if (!out->is_varied &&
        !stk_col_varied(out, f->pool, one->dtype, 16, 16 * (stk_shape_count(&shape) + 1))) {
        return false;
    }
    void *at = stk_col_append(out, f->pool, &shape);
    if (!at) {
        return false;
    }
    memcpy(at, stk_col_at(one, 0), bytes);
    return stk_keep_join(&out->keep, one->keep);
}

// An operation that rejects the shape of varied values saw only the first: other elements may have
// another shape, and each gets its own error.
static enum stoker_status run_op(struct stk_op_run *r, struct stoker_err *err)
{
    enum stoker_status s = r->op->run(r, err);
    if (s != STOKER_EINVAL) {
        return s;
    }
    r->failed = 0;
    *r->err = *err;
    return STOKER_OK;
}

// For operations that need uniform columns: runs element by element and appends the results.
static enum stoker_status run_each(struct stk_frame *f, struct stk_op_run *r,
                                   struct stoker_err *err)
{
    struct stk_col views[STK_OP_INPUTS_MAX];
    const struct stk_col *in[STK_OP_INPUTS_MAX];
    struct stk_op_run one = *r;
    struct stoker_err failure;
    one.n = 1;
    one.in = in;
    one.out = f->each_out;
    one.err = &failure;
    for (int k = 0; k < r->n_out; k++) {
        stk_col_clear(&r->out[k]);
    }
    for (int64_t i = 0; i < r->n; i++) {
        for (int j = 0; j < r->n_in; j++) {
            view_each(&views[j], r->in[j], i);
            in[j] = &views[j];
        }
        one.failed = 1;
        one.first_index = r->first_index + i;
        enum stoker_status s = run_op(&one, err);
        for (int k = 0; s == STOKER_OK && one.failed == 1 && k < r->n_out; k++) {
            if (!append_each(f, &r->out[k], &f->each_out[k])) {
                s = stk_err_set(err, STOKER_ELIMIT, "%s: out of memory for its result",
                                r->op->name);
            }
        }
        for (int k = 0; k < r->n_out; k++) {
            stk_col_clear(&f->each_out[k]);
        }
        if (s != STOKER_OK) {
            return s;
        }
        if (one.failed == 0) {
            r->failed = i;
            *r->err = failure;
            break;
        }
    }
    return STOKER_OK;
}

static bool wants_each(const struct stk_op_run *r)
{
    for (int j = 0; !r->op->takes_varied && j < r->n_in; j++) {
        if (r->in[j]->is_varied) {
            return true;
        }
    }
    return false;
}

// Adds function, line and element to the error. A lambda's name already ends with its line.
static void name_element(const char *name, const char *where, int64_t element,
                         struct stoker_err *err)
{
    size_t n = strlen(name), m = strlen(where);
    bool is_named = n >= m && strcmp(name + n - m, where) == 0;
    stk_err_while(err, "%s%s%s, element %lld", name, is_named ? "" : ", ", is_named ? "" : where,
                  (long long)element);
}

// Runs one node on the chunk; *n shrinks to the elements before one that failed.
static enum stoker_status run_node(struct stk_frame *f, int k, struct stk_eval *eval, int64_t first,
                                   int64_t *n, struct stoker_err *err)
{
    const struct stk_fn_node *node = &f->fn->nodes[k];
    const struct stk_col *in[STK_OP_INPUTS_MAX];
    struct stoker_err failure;
    uint64_t seed = eval->seeds ? eval->seeds[node->stage] : eval->seed;
    STK_ASSERT(*n > 0 && node->first_out + node->n_out <= f->fn->n_values);
    for (int j = 0; j < node->n_in; j++) {
        in[j] = &f->values[node->in[j]];
    }
    struct stk_op_run r = {.op = node->op,
                           .attrs = node->attrs,
                           .args = node->args,
                           .prepared = node->prepared,
                           .scratch = f->scratch[k],
                           .n = *n,
                           .n_in = node->n_in,
                           .n_out = node->n_out,
                           .in = in,
                           .spec = &f->fn->specs[node->first_out],
                           .out = &f->values[node->first_out],
                           .pool = f->pool,
                           .seed = seed + node->salt * 0x9e3779b97f4a7c15u,
                           .first_index = eval->first_index + first,
                           .host = f->host,
                           .where = node->where,
                           .failed = *n,
                           .err = &failure};
    enum stoker_status s = wants_each(&r) ? run_each(f, &r, err) : run_op(&r, err);
    if (s != STOKER_OK) {
        return s;
    }
    STK_ASSERT(r.failed >= 0 && r.failed <= *n);
    if (r.failed < *n) {
        *n = r.failed;
        eval->failed = first + r.failed;
        eval->failure = failure;
        if (node->where) {
            name_element(f->fn->name, node->where, eval->first_index + eval->failed,
                         &eval->failure);
        }
    }
    for (int j = 0; j < node->n_out; j++) {
        stk_col_settle(&f->values[node->first_out + j]);
        STK_ASSERT(*n == 0 || f->values[node->first_out + j].n >= *n);
        STK_ASSERT(*n == 0 ||
                   f->values[node->first_out + j].dtype == f->fn->specs[node->first_out + j].dtype);
        note_width(f, &f->values[node->first_out + j]);
    }
    for (int j = 0; j < node->n_in; j++) {
        if (f->fn->last_use[node->in[j]] == k) {
            stk_col_clear(&f->values[node->in[j]]);
        }
    }
    return STOKER_OK;
}

// Column o of the output for the whole block, if its layout is known beforehand.
static bool bind_output(struct stk_frame *f, int o, struct stk_col *whole, int64_t n)
{
    const struct stk_spec *spec = &f->fn->specs[f->fn->out[o]];
    if (whole->is_bound) {
        return whole->n >= n;
    }
    if (!stk_shape_is_known(&spec->shape) || spec->dtype == STK_DT_DATASET) {
        return false;
    }
    return stk_col_uniform(whole, f->pool, spec->dtype, &spec->shape, n);
}

// Makes the value a part of the result, so that the operation writes there.
static void lend(struct stk_frame *f, int o, const struct stk_col *whole, int64_t first, int64_t n)
{
    struct stk_col *v = &f->values[f->fn->out[o]];
    if (f->fn->out[o] < f->fn->n_in || v->is_bound || v->data) {
        return; // an input, or already part of another result
    }
    *v = (struct stk_col){.dtype = whole->dtype,
                          .is_bound = true,
                          .n = n,
                          .shape = whole->shape,
                          .stride = whole->stride,
                          .data = whole->data + (size_t)first * whole->stride};
}

// Copies the chunk's value to its place. False: no memory, or it doesn't have the expected shape.
static bool place(struct stk_col *whole, const struct stk_col *v, int64_t first, int64_t n)
{
    uint8_t *to = whole->data + (size_t)first * whole->stride;
    if (v->is_varied || v->dtype != whole->dtype || !stk_shape_equal(&v->shape, &whole->shape)) {
        return n == 0;
    }
    if (v->data != to) {
        for (int64_t i = 0; v->stride != whole->stride && i < n; i++) {
            memcpy(to + (size_t)i * whole->stride, v->data + (size_t)i * v->stride, whole->stride);
        }
        if (v->stride == whole->stride) {
            memcpy(to, v->data, (size_t)n * whole->stride);
        }
    }
    return stk_keep_join(&whole->keep, v->keep);
}

// Keeps the chunk's value until all chunks are done.
static bool keep_part(struct stk_frame *f, int o, const struct stk_col *v, int64_t n)
{
    struct stk_col *part = stk_vec_push(&f->parts[o]);
    if (part) {
        stk_col_slice(part, v, 0, n);
    }
    return part != NULL;
}

// Joins the parts into one column.
static bool join_parts(struct stk_frame *f, int o, struct stk_col *whole)
{
    struct stk_vec *parts = &f->parts[o];
    const struct stk_col *few[PARTS_FEW];
    const struct stk_col **list =
        parts->count > PARTS_FEW ? stk_alloc_array(parts->count, sizeof list[0]) : few;
    for (size_t i = 0; list && i < parts->count; i++) {
        list[i] = stk_vec_at(parts, i);
    }
    bool ok =
        list && (parts->count == 0 || stk_col_concat(whole, f->pool, list, (int)parts->count));
    for (size_t i = 0; i < parts->count; i++) {
        stk_col_clear(stk_vec_at(parts, i));
    }
    parts->count = 0;
    if (list != few) {
        stk_free(list);
    }
    return ok;
}

static enum stoker_status run_chunk(struct stk_frame *f, const struct stk_block *in,
                                    struct stk_block *out, const bool *is_placed, int64_t first,
                                    int64_t n, struct stk_eval *eval, struct stoker_err *err)
{
    const struct stk_fn *fn = f->fn;
    enum stoker_status s = STOKER_OK;
    for (int j = 0; j < fn->n_in; j++) {
        stk_col_slice(&f->values[j], &in->cols[j], first, n);
    }
    for (int o = 0; o < fn->n_out; o++) {
        if (is_placed[o]) {
            lend(f, o, &out->cols[o], first, n);
        }
    }
    for (int k = 0; s == STOKER_OK && k < fn->n_nodes && n > 0; k++) {
        s = run_node(f, k, eval, first, &n, err);
    }
    for (int o = 0; s == STOKER_OK && o < fn->n_out && n > 0; o++) {
        struct stk_col *v = &f->values[fn->out[o]];
        bool ok = is_placed[o] ? place(&out->cols[o], v, first, n) : keep_part(f, o, v, n);
        if (!ok) {
            s = stk_err_set(
                err, is_placed[o] ? STOKER_EBUG : STOKER_ELIMIT, "%s: result %d %s", fn->name, o,
                is_placed[o] ? "has a different shape than inferred" : "is out of memory");
        }
    }
    for (int i = 0; i < fn->n_values; i++) {
        stk_col_clear(&f->values[i]);
    }
    out->n = first + n;
    return s;
}

enum stoker_status stk_frame_run(struct stk_frame *f, const struct stk_block *in,
                                 struct stk_block *out, struct stk_eval *eval,
                                 struct stoker_err *err)
{
    const struct stk_fn *fn = f->fn;
    bool is_placed[STK_COMPONENTS_MAX];
    STK_ASSERT(in->n >= 0 && fn->n_out <= STK_COMPONENTS_MAX);
    eval->failed = in->n;
    int64_t chunk = stk_frame_chunk(f);
    for (int o = 0; o < fn->n_out; o++) {
        // A single chunk may return any column, even an input's.
        bool has_place = out->cols[o].is_bound || in->n > chunk;
        is_placed[o] = has_place && bind_output(f, o, &out->cols[o], in->n);
    }
    enum stoker_status s = STOKER_OK;
    out->n = 0;
    for (int64_t first = 0; s == STOKER_OK && first < eval->failed; first += chunk) {
        chunk = stk_frame_chunk(f);
        int64_t n = in->n - first < chunk ? in->n - first : chunk;
        s = run_chunk(f, in, out, is_placed, first, n, eval, err);
    }
    for (int o = 0; o < fn->n_out; o++) {
        if (!is_placed[o] && !join_parts(f, o, &out->cols[o]) && s == STOKER_OK) {
            s = stk_err_set(err, STOKER_ELIMIT, "%s: result %d is out of memory", fn->name, o);
        }
        out->cols[o].n = out->n;
    }
    out->n = s == STOKER_OK ? out->n : 0; // never return a partial block
    return s;
}

void stk_eval_want_scalars(struct stk_eval *eval, struct stk_block *out, const char *who)
{
    const struct stk_col *c = &out->cols[0];
    int64_t one_shape = out->n < 1 ? out->n : 1;
    for (int64_t i = 0; i < (c->is_varied ? out->n : one_shape); i++) {
        int rank = stk_col_shape(c, i).rank;
        if (rank != 0) {
            (void)stk_err_set(&eval->failure, STOKER_EINVAL,
                              "%s: the function returned a value with %d dimensions, not a scalar",
                              who, rank);
            eval->failed = out->n = i;
            return;
        }
    }
}
