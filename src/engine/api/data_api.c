// SPDX-License-Identifier: Apache-2.0
// include/stoker/data.h over the engine: arguments, functions and datasets. Public handles are the
// engine's own objects under another name.
#include <string.h>

#include "base/alloc.h"
#include "engine/api/data_api.h"
#include "engine/graph/fingerprint.h"

_Static_assert((int)STOKER_STRING == (int)STK_DT_STRING &&
                   (int)STOKER_DTYPES == (int)STK_DT_COUNT &&
                   (int)STOKER_FLOAT32 == (int)STK_DT_F32 && STOKER_RANK_MAX == STK_RANK_MAX,
               "the public types are the engine's");

const char *stoker_dtype_name(int dtype)
{
    return dtype >= 0 && dtype < STK_DT_COUNT ? stk_dtype_name((enum stk_dtype)dtype) : NULL;
}

size_t stoker_dtype_bytes(int dtype)
{
    return dtype >= 0 && dtype < STK_DT_COUNT ? stk_dtype_bytes((enum stk_dtype)dtype) : 0;
}

int stoker_dtype_find(const char *name, int *out)
{
    enum stk_dtype t;
    if (!stk_dtype_find(name, &t)) {
        return 0;
    }
    *out = (int)t;
    return 1;
}

void stk_data_spec_out(struct stoker_spec *to, const struct stk_spec *from)
{
    *to = (struct stoker_spec){.dtype = (int)from->dtype,
                               .rank = from->shape.rank,
                               .nested = (const struct stoker_specs *)from->nested};
    for (int i = 0; i < from->shape.rank; i++) {
        to->dim[i] = from->shape.dim[i];
    }
}

bool stk_data_spec_is_one(const struct stoker_spec *s)
{
    return s->dtype >= 0 && s->dtype < STOKER_DTYPES && s->rank >= STOKER_UNKNOWN &&
           s->rank <= STOKER_RANK_MAX;
}

void stk_data_spec_in(struct stk_spec *to, const struct stoker_spec *from)
{
    *to = (struct stk_spec){.dtype = (enum stk_dtype)from->dtype,
                            .nested = (struct stk_specs *)(uintptr_t)from->nested};
    to->shape.rank = from->rank;
    for (int i = 0; i < from->rank; i++) {
        to->shape.dim[i] = from->dim[i];
    }
}

int stoker_specs_count(const struct stoker_specs *s)
{
    return ((const struct stk_specs *)s)->count;
}

void stoker_specs_get(const struct stoker_specs *s, int i, struct stoker_spec *out)
{
    stk_data_spec_out(out, &((const struct stk_specs *)s)->items[i]);
}

STK_HOT void stk_data_tensor_out(struct stoker_tensor *to, const struct stk_col *c, int64_t i)
{
    struct stk_shape shape = stk_col_shape(c, i);
    *to = (struct stoker_tensor){
        .dtype = (int)c->dtype, .rank = shape.rank, .data = stk_col_at(c, i)};
    for (int k = 0; k < shape.rank; k++) {
        to->dim[k] = shape.dim[k];
    }
    // Values that point to other memory go with their whole buffer; others take only their own.
    bool refers = c->dtype == STK_DT_STRING || c->dtype == STK_DT_DATASET;
    struct stk_data_hold *h = NULL;
    to->is_readonly =
        refers || (!c->is_varied && c->stride == 0) || (c->data_buf && c->data_buf->is_readonly);
    if (refers) {
        h = stk_alloc(sizeof *h);
        if (h) {
            *h = (struct stk_data_hold){stk_buf_hold(c->data_buf), stk_keep_hold(c->keep)};
        }
        to->hold = h;
    } else {
        to->hold = stk_buf_hold(c->data_buf);
    }
}

STK_HOT void stoker_tensor_release(struct stoker_tensor *t)
{
    if (t->dtype == STOKER_STRING || t->dtype == STOKER_DATASET) {
        struct stk_data_hold *h = t->hold;
        if (h) {
            stk_buf_drop(h->data);
            stk_keep_drop(h->keep);
            stk_free(h);
        }
    } else {
        stk_buf_drop(t->hold);
    }
    *t = (struct stoker_tensor){0};
}

void stoker_tensor_share(struct stoker_tensor *to, const struct stoker_tensor *from)
{
    *to = *from;
    if (from->dtype == STOKER_STRING || from->dtype == STOKER_DATASET) {
        const struct stk_data_hold *h = from->hold;
        struct stk_data_hold *own = h ? stk_alloc(sizeof *own) : NULL;
        if (own) {
            *own = (struct stk_data_hold){stk_buf_hold(h->data), stk_keep_hold(h->keep)};
        }
        to->hold = own;
    } else {
        to->hold = stk_buf_hold(from->hold);
    }
}

// A column of one element over the tensor's memory. False: its shape has more values than memory
// can hold.
bool stk_data_tensor_view(struct stk_col *to, const struct stoker_tensor *from)
{
    *to = (struct stk_col){.dtype = (enum stk_dtype)from->dtype, .n = 1, .data = from->data};
    to->shape.rank = from->rank;
    for (int i = 0; i < from->rank; i++) {
        to->shape.dim[i] = from->dim[i];
    }
    bool is_sound = stk_shape_count(&to->shape) >= 0;
    to->stride = is_sound ? stk_col_bytes_each(to) : 0;
    return is_sound;
}

struct stoker_args *stoker_args_new(void)
{
    return (struct stoker_args *)stk_attrs_new();
}

void stoker_args_free(struct stoker_args *a)
{
    stk_attrs_drop((struct stk_attrs *)a);
}

static int set(struct stoker_args *a, const struct stk_attr *t)
{
    return stk_attrs_set((struct stk_attrs *)a, t);
}

int stoker_args_int(struct stoker_args *a, const char *name, int64_t value)
{
    return set(a, &(struct stk_attr){.name = name, .kind = STK_ATTR_INT, .i = value});
}

int stoker_args_float(struct stoker_args *a, const char *name, double value)
{
    return set(a, &(struct stk_attr){.name = name, .kind = STK_ATTR_FLOAT, .f = value});
}

int stoker_args_text(struct stoker_args *a, const char *name, const char *text, size_t n)
{
    return set(a, &(struct stk_attr){
                      .name = name, .kind = STK_ATTR_TEXT, .count = (int64_t)n, .text = text});
}

int stoker_args_ints(struct stoker_args *a, const char *name, const int64_t *values, size_t n)
{
    return set(a, &(struct stk_attr){
                      .name = name, .kind = STK_ATTR_INTS, .count = (int64_t)n, .ints = values});
}

int stoker_args_floats(struct stoker_args *a, const char *name, const double *values, size_t n)
{
    return set(a,
               &(struct stk_attr){
                   .name = name, .kind = STK_ATTR_FLOATS, .count = (int64_t)n, .floats = values});
}

int stoker_args_texts(struct stoker_args *a, const char *name, const struct stoker_bytes *values,
                      size_t n)
{
    return set(a, &(struct stk_attr){.name = name,
                                     .kind = STK_ATTR_TEXTS,
                                     .count = (int64_t)n,
                                     .texts = (const struct stk_bytes *)values});
}

// The column owns a copy of the tensor's values.
static bool copy_tensor(struct stk_col *to, struct stk_pool *pool, const struct stoker_tensor *from)
{
    struct stk_col view;
    if (!stk_data_tensor_view(&view, from)) {
        return false;
    }
    if (view.dtype == STK_DT_STRING) {
        stk_col_share(to, &view);
        return stk_col_own(to, pool);
    }
    if (!stk_col_uniform(to, pool, view.dtype, &view.shape, 1)) {
        return false;
    }
    if (to->stride) {
        memcpy(to->data, view.data, to->stride);
    }
    if (view.dtype == STK_DT_DATASET) {
        for (int64_t i = 0; i < stk_shape_count(&view.shape); i++) {
            struct stk_dataset *ds = ((struct stk_dataset **)view.data)[i];
            struct stk_buf *b = stk_dataset_buf(ds);
            bool ok = b && stk_keep_add(&to->keep, b);
            stk_buf_drop(b);
            if (!ok) {
                return false;
            }
        }
    }
    return true;
}

static int set_cols(struct stoker_args *a, const char *name, struct stk_col *cols, size_t n,
                    bool ok)
{
    ok = ok && set(a, &(struct stk_attr){
                          .name = name, .kind = STK_ATTR_COLS, .count = (int64_t)n, .cols = cols});
    for (size_t i = 0; i < n; i++) {
        stk_col_clear(&cols[i]);
    }
    stk_free(cols);
    return ok;
}

int stoker_args_tensors(struct stoker_args *a, const char *name, const struct stoker_tensor *values,
                        size_t n)
{
    struct stk_col *cols = stk_alloc_zero(n + 1, sizeof cols[0]);
    struct stk_pool *pool = stk_pool_open(SIZE_MAX);
    bool ok = cols && pool;
    for (size_t i = 0; ok && i < n; i++) {
        ok = copy_tensor(&cols[i], pool, &values[i]);
    }
    stk_pool_drop(pool);
    return cols ? set_cols(a, name, cols, n, ok) : 0;
}

int stoker_args_memory(struct stoker_args *a, const char *name, const struct stoker_tensor *values,
                       size_t n, void (*drop)(void *arg), void *const *arg)
{
    struct stk_col *cols = stk_alloc_zero(n + 1, sizeof cols[0]);
    struct stk_pool *pool = stk_pool_open(SIZE_MAX);
    bool ok = cols && pool;
    for (size_t i = 0; i < n; i++) {
        bool is_lent = values[i].dtype != STOKER_STRING && values[i].dtype != STOKER_DATASET;
        if (ok && is_lent) {
            ok = stk_data_tensor_view(&cols[i], &values[i]);
            cols[i].data_buf =
                ok ? stk_buf_foreign(values[i].data, cols[i].stride, true, drop, arg[i]) : NULL;
            ok = cols[i].data_buf != NULL;
        } else {
            ok = ok && copy_tensor(&cols[i], pool, &values[i]);
        }
        if (!ok || !is_lent) {
            drop(arg[i]);
        }
    }
    stk_pool_drop(pool);
    return cols ? set_cols(a, name, cols, n, ok) : 0;
}

static int set_specs(struct stoker_args *a, const char *name, enum stk_attr_kind kind,
                     const struct stoker_spec *specs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!stk_data_spec_is_one(&specs[i])) {
            return 0;
        }
    }
    struct stk_specs *s = stk_specs_new((int)n);
    if (!s) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        stk_data_spec_in(&s->items[i], &specs[i]);
        stk_specs_hold(s->items[i].nested);
    }
    int ok = set(a, &(struct stk_attr){.name = name, .kind = kind, .specs = s});
    stk_specs_drop(s);
    return ok;
}

int stoker_args_specs(struct stoker_args *a, const char *name, const struct stoker_spec *specs,
                      size_t n)
{
    return set_specs(a, name, STK_ATTR_SPECS, specs, n);
}

int stoker_args_bound(struct stoker_args *a, const char *name, const struct stoker_spec *specs,
                      size_t n)
{
    return set_specs(a, name, STK_ATTR_BOUND, specs, n);
}

int stoker_args_fn(struct stoker_args *a, const char *name, struct stoker_fn *fn)
{
    return set(a, &(struct stk_attr){.name = name, .kind = STK_ATTR_FN, .fn = (struct stk_fn *)fn});
}

int stoker_args_datasets(struct stoker_args *a, const char *name, struct stoker_dataset *const *ds,
                         size_t n)
{
    return set(a, &(struct stk_attr){.name = name,
                                     .kind = STK_ATTR_DATASETS,
                                     .count = (int64_t)n,
                                     .datasets = (struct stk_dataset **)(uintptr_t)ds});
}

enum stoker_status stoker_fn_open(const struct stoker_spec *inputs, int n, const char *name,
                                  struct stoker_fn **out, struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!out || n < 0 || (n > 0 && !inputs)) {
        return stk_err_misuse(err, "stoker_fn_open needs inputs and a pointer for the function");
    }
    *out = NULL;
    for (int i = 0; i < n; i++) {
        if (!stk_data_spec_is_one(&inputs[i])) {
            return stk_err_set(err, STOKER_EINVAL, "input %d has an unknown type or rank", i);
        }
    }
    struct stk_spec *specs = stk_alloc_zero((size_t)n + 1, sizeof specs[0]);
    if (!specs) {
        return stk_err_nomem(err);
    }
    for (int i = 0; i < n; i++) {
        stk_data_spec_in(&specs[i], &inputs[i]);
    }
    enum stoker_status s = stk_fn_open((struct stk_fn **)out, specs, n, name, err);
    stk_free(specs);
    return stk_err_end(err, s);
}

enum stoker_status stk_data_check_given(const char *name, const struct stk_attrs *attrs,
                                        struct stoker_err *err)
{
    const struct stk_op *op = stk_op_find(name);
    const struct stk_dataset_kind *kind =
        op && op->makes_dataset ? stk_dataset_kind_find(stk_attrs_text(attrs, "kind", "")) : NULL;
    enum stoker_status s = op ? stk_args_check_given(op->name, op->args, attrs, err)
                              : STOKER_OK; // missing: reported later
    return s == STOKER_OK && kind ? stk_args_check_given(kind->name, kind->args, attrs, err) : s;
}

enum stoker_status stoker_fn_add(struct stoker_fn *fn, const char *op, const int *inputs, int n,
                                 const struct stoker_args *args, const char *where, int *first,
                                 int *count, struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!fn || !op || !first || !count) {
        return stk_err_misuse(
            err, "stoker_fn_add needs a function, an operation and arrays for its values");
    }
    struct stk_attrs *attrs = (struct stk_attrs *)(uintptr_t)args;
    enum stoker_status s = stk_data_check_given(op, attrs, err);
    s = s == STOKER_OK
            ? stk_fn_add((struct stk_fn *)fn, op, inputs, n, attrs, where, first, count, err)
            : s;
    return stk_err_end(err, s);
}

void stoker_fn_spec(const struct stoker_fn *fn, int value, struct stoker_spec *out)
{
    stk_data_spec_out(out, &((const struct stk_fn *)fn)->specs[value]);
}

int stoker_fn_constant(const struct stoker_fn *fn, int value, struct stoker_tensor *out)
{
    const struct stk_col *c = ((const struct stk_fn *)fn)->constants[value];
    if (!c) {
        return 0;
    }
    stk_data_tensor_out(out, c, 0);
    return 1;
}

enum stoker_status stoker_fn_finish(struct stoker_fn *fn, const int *results, int n,
                                    struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!fn || (n > 0 && !results)) {
        return stk_err_misuse(err, "stoker_fn_finish needs a function and its results");
    }
    enum stoker_status s = stk_fn_finish((struct stk_fn *)fn, results, n, err);
    return stk_err_end(err, s);
}

void stoker_fn_free(struct stoker_fn *fn)
{
    stk_fn_drop((struct stk_fn *)fn);
}

int stoker_fn_nodes(const struct stoker_fn *fn)
{
    return ((const struct stk_fn *)fn)->n_nodes;
}

const char *stoker_fn_node(const struct stoker_fn *fn, int i, const char **where)
{
    const struct stk_fn_node *node = &((const struct stk_fn *)fn)->nodes[i];
    *where = node->where;
    return node->op->name;
}

int stoker_fn_is_random(const struct stoker_fn *fn)
{
    return stk_fn_is_random((const struct stk_fn *)fn);
}

const char *stoker_op_name(int i, const char **summary)
{
    const struct stk_op *op = stk_op_at(i);
    if (!op) {
        return NULL;
    }
    *summary = op->summary;
    return op->name;
}

enum stoker_status stoker_dataset_make(const char *kind, struct stoker_dataset *const *inputs,
                                       int n, const struct stoker_args *args, const char *where,
                                       struct stoker_dataset **out, struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!kind || !out || (n > 0 && !inputs)) {
        return stk_err_misuse(
            err, "stoker_dataset_make needs a kind, its inputs and a pointer for the dataset");
    }
    const struct stk_dataset_kind *known = stk_dataset_kind_find(kind);
    struct stk_attrs *attrs = (struct stk_attrs *)(uintptr_t)args;
    enum stoker_status s =
        known ? stk_args_check_given(kind, known->args, attrs, err) : STOKER_OK; // reported by make
    s = s == STOKER_OK ? stk_dataset_make((struct stk_dataset **)out, kind,
                                          (struct stk_dataset *const *)inputs, n, attrs, where, err)
                       : s;
    return stk_err_end(err, s);
}

struct stoker_dataset *stoker_dataset_hold(struct stoker_dataset *ds)
{
    return (struct stoker_dataset *)stk_dataset_hold((struct stk_dataset *)ds);
}

void stoker_dataset_free(struct stoker_dataset *ds)
{
    stk_dataset_drop((struct stk_dataset *)ds);
}

const struct stoker_specs *stoker_dataset_specs(const struct stoker_dataset *ds)
{
    return (const struct stoker_specs *)((const struct stk_dataset *)ds)->specs;
}

uint64_t stoker_dataset_fingerprint(const struct stoker_dataset *ds)
{
    return stk_dataset_fingerprint((const struct stk_dataset *)ds);
}

int64_t stoker_dataset_cardinality(const struct stoker_dataset *ds)
{
    return stk_dataset_cardinality((const struct stk_dataset *)ds);
}

const char *stoker_dataset_kind(const struct stoker_dataset *ds)
{
    return ((const struct stk_dataset *)ds)->kind->name;
}

int stoker_dataset_inputs(const struct stoker_dataset *ds)
{
    return ((const struct stk_dataset *)ds)->n_in;
}

struct stoker_dataset *stoker_dataset_input(const struct stoker_dataset *ds, int i)
{
    return (struct stoker_dataset *)((const struct stk_dataset *)ds)->in[i];
}

struct stoker_fn *stoker_dataset_fn(const struct stoker_dataset *ds)
{
    const struct stk_attr *t = stk_attrs_get(((const struct stk_dataset *)ds)->attrs, "fn");
    return t && t->kind == STK_ATTR_FN ? (struct stoker_fn *)t->fn : NULL;
}

const char *stoker_dataset_where(const struct stoker_dataset *ds)
{
    return ((const struct stk_dataset *)ds)->where;
}

const char *stoker_kind_name(int i, const char **summary)
{
    if (i < 0 || i >= stk_dataset_kind_count) {
        return NULL;
    }
    *summary = stk_dataset_kinds[i]->summary;
    return stk_dataset_kinds[i]->name;
}
