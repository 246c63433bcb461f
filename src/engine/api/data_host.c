// SPDX-License-Identifier: Apache-2.0
// Calls into the embedding language: its functions for one element or for many, and generators.
//
// Results are copied into columns and released at once. Many elements are passed as one tensor per
// component if they are contiguous, otherwise as one tensor per element.
#include <string.h>

#include "base/alloc.h"
#include "engine/api/data_api.h"

#define MANY_MAX                                                                                   \
    1024 // most elements per call; limits what is prepared for elements that end up
         // unused

// Appends the element v to the column.
static bool append(struct stk_col *out, struct stk_pool *pool, const struct stk_col *v)
{
    if (!out->is_varied && !stk_col_varied(out, pool, v->dtype, 8, 8)) {
        return false;
    }
    void *at = out->dtype == v->dtype ? stk_col_append(out, pool, &v->shape) : NULL;
    int64_t count = stk_shape_count(&v->shape);
    if (!at || v->dtype != STK_DT_STRING) {
        if (at && count > 0) {
            memcpy(at, v->data, (size_t)count * stk_dtype_bytes(v->dtype));
        }
        return at != NULL;
    }
    const struct stk_bytes *s = (const struct stk_bytes *)v->data;
    bool ok = true;
    for (int64_t i = 0; ok && i < count; i++) {
        ok = stk_col_own_bytes(out, pool, s[i].data, s[i].size, (struct stk_bytes *)at + i);
    }
    return ok;
}

static enum stoker_status no_room(struct stoker_err *err)
{
    return stk_err_set(err, STOKER_ELIMIT, "out of memory for the function's results");
}

static void let_go(struct stoker_host *caller, struct stoker_tensor *t)
{
    if (t->hold) {
        caller->release_hold(caller->arg, t->hold);
    }
    t->hold = NULL;
}

// Results of the embedding language for one element, appended to the columns.
static enum stoker_status take_results(struct stoker_host *caller, struct stk_pool *pool,
                                       struct stoker_tensor *from, struct stk_col *out, int n_out,
                                       struct stoker_err *err)
{
    bool ok = true;
    for (int k = 0; k < n_out; k++) {
        struct stk_col view;
        ok = stk_data_tensor_view(&view, &from[k]) && ok && append(&out[k], pool, &view);
        let_go(caller, &from[k]);
    }
    return ok ? STOKER_OK : no_room(err);
}

// The error of a user's function. The stage and line are added by the engine.
static void take_err(struct stoker_err *to, const struct stoker_err *from)
{
    stk_err_init(to);
    to->code = from->code;
    to->offset = from->offset;
    memcpy(to->message, from->message, sizeof to->message - 1);
}

static void settle(struct stk_col *out, int n_out)
{
    for (int k = 0; k < n_out; k++) {
        stk_col_settle(&out[k]);
    }
}

static enum stoker_status host_call(void *arg, int64_t id, int64_t n,
                                    const struct stk_col *const *in, int n_in,
                                    struct stk_pool *pool, struct stk_col *out, int n_out,
                                    int64_t *failed, struct stoker_err *failed_err,
                                    struct stoker_err *err)
{
    struct stoker_host *caller = arg;
    struct stoker_tensor args[STK_OP_INPUTS_MAX], results[STK_OP_OUTPUTS_MAX];
    enum stoker_status s = STOKER_OK;
    for (int64_t i = 0; s == STOKER_OK && i < n && i < *failed; i++) {
        struct stoker_err e = {.code = STOKER_ECALLER, .offset = -1};
        for (int j = 0; j < n_in; j++) {
            stk_data_tensor_out(&args[j], in[j], i);
        }
        memset(results, 0, (size_t)n_out * sizeof results[0]);
        enum stoker_status c = caller->call(caller->arg, id, args, n_in, results, n_out, &e);
        for (int j = 0; j < n_in; j++) {
            stoker_tensor_release(&args[j]);
        }
        if (c != STOKER_OK) {
            *failed = i;
            take_err(failed_err, &e);
            break;
        }
        s = take_results(caller, pool, results, out, n_out, err);
    }
    settle(out, n_out);
    return s;
}

struct many { // inputs and outputs of a call for many elements
    struct stoker_component in[STK_OP_INPUTS_MAX], out[STK_OP_OUTPUTS_MAX];
    struct stoker_tensor *tensors; // tensors in total
    int64_t n;                     // room for elements
};

static bool is_stackable(const struct stk_col *c)
{
    return stk_col_is_dense(c) && c->shape.rank < STK_RANK_MAX;
}

static bool many_open(struct many *m, const struct stk_col *const *in, int n_in, int n_out,
                      int64_t n)
{
    m->n = n < MANY_MAX ? n : MANY_MAX;
    size_t tensors = (size_t)m->n * (size_t)n_out;
    for (int j = 0; j < n_in; j++) {
        m->in[j].is_stacked = is_stackable(in[j]);
        tensors += m->in[j].is_stacked ? 1 : (size_t)m->n;
    }
    m->tensors = stk_alloc_zero(tensors + 1, sizeof m->tensors[0]);
    struct stoker_tensor *t = m->tensors;
    for (int j = 0; t && j < n_in; j++) {
        m->in[j].of = t;
        t += m->in[j].is_stacked ? 1 : m->n;
    }
    for (int k = 0; t && k < n_out; k++, t += m->n) {
        m->out[k].of = t;
    }
    return m->tensors != NULL;
}

// Adds elements [first, first + n) to the inputs.
static void many_give(struct many *m, const struct stk_col *const *in, int n_in, int64_t first,
                      int64_t n)
{
    for (int j = 0; j < n_in; j++) {
        struct stoker_tensor *t = m->in[j].of;
        for (int64_t i = 0; i < n && !m->in[j].is_stacked; i++) {
            stk_data_tensor_out(&t[i], in[j], first + i);
        }
        if (m->in[j].is_stacked) {
            stk_data_tensor_out(t, in[j], first);
            memmove(&t->dim[1], &t->dim[0], (size_t)t->rank * sizeof t->dim[0]);
            t->dim[0] = n;
            t->rank++;
        }
    }
}

static void many_release(struct many *m, int n_in, int64_t n)
{
    for (int j = 0; j < n_in; j++) {
        int64_t count = m->in[j].is_stacked ? 1 : n;
        for (int64_t i = 0; i < count; i++) {
            stoker_tensor_release(&m->in[j].of[i]);
        }
    }
}

// A column that starts at the i-th element of a tensor component.
static struct stk_col element_of(const struct stoker_component *c, int64_t i)
{
    struct stk_col v;
    (void)stk_data_tensor_view(&v, &c->of[c->is_stacked ? 0 : i]); // append() checks the shape
    if (c->is_stacked) {
        v.shape.rank--;
        memmove(&v.shape.dim[0], &v.shape.dim[1], (size_t)v.shape.rank * sizeof v.shape.dim[0]);
        v.data += (size_t)i * stk_col_bytes_each(&v);
    }
    return v;
}

// Appends the results of n elements to the columns.
static enum stoker_status many_take(struct many *m, struct stoker_host *caller, int64_t n,
                                    struct stk_pool *pool, struct stk_col *out, int n_out,
                                    struct stoker_err *err)
{
    bool ok = true;
    for (int k = 0; k < n_out; k++) {
        struct stoker_component *c = &m->out[k];
        for (int64_t i = 0; ok && i < n; i++) {
            struct stk_col v = element_of(c, i);
            ok = append(&out[k], pool, &v);
        }
        for (int64_t i = 0; i < (c->is_stacked ? 1 : n); i++) {
            let_go(caller, &c->of[i]);
        }
    }
    return ok ? STOKER_OK : no_room(err);
}

static enum stoker_status host_call_many(void *arg, int64_t id, int64_t n,
                                         const struct stk_col *const *in, int n_in,
                                         struct stk_pool *pool, struct stk_col *out, int n_out,
                                         int64_t *failed, struct stoker_err *failed_err,
                                         struct stoker_err *err)
{
    struct stoker_host *caller = arg;
    struct many m;
    if (!caller->call_many) {
        return stk_err_set(err, STOKER_EINVAL, "host_call: takes_many is not supported here");
    }
    if (!many_open(&m, in, n_in, n_out, n)) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = STOKER_OK, c = STOKER_OK;
    for (int64_t first = 0; s == STOKER_OK && c == STOKER_OK && first < n;) {
        struct stoker_err e = {.code = STOKER_ECALLER, .offset = -1};
        int64_t offered = n - first < m.n ? n - first : m.n, done = 0;
        many_give(&m, in, n_in, first, offered);
        c = caller->call_many(caller->arg, id, offered, m.in, n_in, m.out, n_out, &done, &e);
        many_release(&m, n_in, offered);
        if (done < (c == STOKER_OK) || done > offered) {
            s = stk_err_set(err, STOKER_EINVAL, "host_call: only %lld of %lld elements were done",
                            (long long)done, (long long)offered);
            break;
        }
        s = many_take(&m, caller, done, pool, out, n_out, err);
        first += done;
        if (c != STOKER_OK) {
            *failed = first;
            take_err(failed_err, &e);
        }
    }
    stk_free(m.tensors);
    settle(out, n_out);
    return s;
}

static enum stoker_status host_gen_open(void *arg, int64_t id, const struct stk_col *const *in,
                                        int n_in, void **gen, struct stoker_err *err)
{
    struct stoker_host *caller = arg;
    struct stoker_tensor args[STK_OP_INPUTS_MAX];
    struct stoker_err e = {.code = STOKER_ECALLER, .offset = -1};
    args[0] = (struct stoker_tensor){0};
    for (int j = 0; j < n_in; j++) {
        stk_data_tensor_out(&args[j], in[j], 0);
    }
    enum stoker_status c = caller->gen_open(caller->arg, id, args, n_in, gen, &e);
    for (int j = 0; j < n_in; j++) {
        stoker_tensor_release(&args[j]);
    }
    if (c != STOKER_OK) {
        take_err(err, &e);
    }
    return c;
}

static enum stoker_status host_gen_next(void *arg, void *gen, int64_t n, struct stk_pool *pool,
                                        struct stk_block *out, struct stoker_err *err)
{
    struct stoker_host *caller = arg;
    struct stoker_tensor results[STK_OP_OUTPUTS_MAX];
    enum stoker_status s = STOKER_OK;
    int is_end = 0;
    for (int64_t i = 0; s == STOKER_OK && i < n; i++) {
        struct stoker_err e = {.code = STOKER_ECALLER, .offset = -1};
        memset(results, 0, (size_t)out->count * sizeof results[0]);
        enum stoker_status c = caller->gen_next(caller->arg, gen, results, out->count, &is_end, &e);
        if (c != STOKER_OK) {
            take_err(err, &e);
            s = c;
            break;
        }
        if (is_end) {
            break;
        }
        s = take_results(caller, pool, results, out->cols, out->count, err);
        out->n += s == STOKER_OK;
    }
    for (int k = 0; k < out->count; k++) { // drops what was appended of an element that found no
                                           // room
        struct stk_col *c = &out->cols[k];
        c->n = c->n > out->n ? out->n : c->n;
    }
    settle(out->cols, out->count);
    return s;
}

static void host_gen_close(void *arg, void *gen)
{
    struct stoker_host *caller = arg;
    caller->gen_close(caller->arg, gen);
}

void stk_data_host_open(struct stk_host *host, struct stoker_host *caller)
{
    *host = (struct stk_host){.arg = caller,
                              .call = host_call,
                              .call_many = host_call_many,
                              .gen_open = host_gen_open,
                              .gen_next = host_gen_next,
                              .gen_close = host_gen_close};
}
