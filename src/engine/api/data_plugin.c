// SPDX-License-Identifier: Apache-2.0
// Plug-in operations (include/stoker/plugin.h): wraps a shared library's table as engine
// operations. Libraries stay loaded, because functions that use them may live as long as the
// process.
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/api/data_api.h"
#include "engine/ops/op_util.h"
#include "stoker/plugin.h"

#define OPS_MAX 256
#define INPUTS_MAX 16
#define OUTPUTS_MAX 16
#define LIBRARIES_MAX 256

struct plugin_op {
    struct stk_op op;
    struct stoker_plugin_op of;
};

struct library {
    const struct stoker_plugin *plugin;
    int first, count;
};

static const struct stoker_plugin_op *of(const struct stk_op *op)
{
    return &((const struct plugin_op *)(const void *)op)->of;
}

// Attributes

static int64_t attr_int(const void *attrs, const char *name, int64_t fallback)
{
    return stk_attrs_int(attrs, name, fallback);
}

static double attr_float(const void *attrs, const char *name, double fallback)
{
    return stk_attrs_float(attrs, name, fallback);
}

static const char *attr_text(const void *attrs, const char *name, const char *fallback)
{
    return stk_attrs_text(attrs, name, fallback);
}

static int64_t attr_ints(const void *attrs, const char *name, int64_t *values, int64_t capacity)
{
    const struct stk_attr *t = stk_attrs_get(attrs, name);
    if (t && t->kind == STK_ATTR_INT && capacity > 0) {
        values[0] = t->i;
    }
    for (int64_t i = 0; t && t->kind == STK_ATTR_INTS && i < t->count && i < capacity; i++) {
        values[i] = t->ints[i];
    }
    return !t ? 0 : t->kind == STK_ATTR_INTS ? t->count : t->kind == STK_ATTR_INT;
}

static int64_t attr_floats(const void *attrs, const char *name, double *values, int64_t capacity)
{
    const struct stk_attr *t = stk_attrs_get(attrs, name);
    bool is_list = t && t->kind == STK_ATTR_FLOATS;
    for (int64_t i = 0; is_list && i < t->count && i < capacity; i++) {
        values[i] = t->floats[i];
    }
    if (is_list) {
        return t->count;
    }
    if (t && t->kind == STK_ATTR_FLOAT && capacity > 0) {
        values[0] = t->f;
    }
    return t && t->kind == STK_ATTR_FLOAT;
}

// Inference

struct inferring {
    const struct stk_op *op;
    struct stoker_err *err;
    bool has_failed;
};

static int infer_fail(struct stoker_plugin_infer *c, const char *why)
{
    struct inferring *x = c->engine;
    if (!x->has_failed) {
        (void)stk_err_set(x->err, STOKER_EINVAL, "%s: %.300s", x->op->name, why ? why : "");
    }
    x->has_failed = true;
    return -1;
}

static enum stoker_status no_reason(const struct inferring *x)
{
    return x->has_failed ? STOKER_EINVAL
                         : stk_err_set(x->err, STOKER_EINVAL, "%s: it doesn't accept these values",
                                       x->op->name);
}

static enum stoker_status specs_for(const struct stk_op *op, const struct stk_spec *in, int n_in,
                                    struct stoker_spec out[INPUTS_MAX], struct stoker_err *err)
{
    if (n_in > INPUTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "%s: more than %d values", op->name, INPUTS_MAX);
    }
    for (int j = 0; j < n_in; j++) {
        if (in[j].dtype == STK_DT_DATASET) {
            return stk_err_set(err, STOKER_EINVAL, "%s: doesn't accept datasets", op->name);
        }
        stk_data_spec_out(&out[j], &in[j]);
    }
    return STOKER_OK;
}

static struct stoker_plugin_infer infer_of(struct inferring *x, const struct stk_attrs *attrs,
                                           const struct stoker_spec *in, int n_in,
                                           struct stoker_spec *out)
{
    for (int k = 0; k < OUTPUTS_MAX; k++) {
        out[k] = (struct stoker_spec){.rank = STOKER_UNKNOWN};
    }
    return (struct stoker_plugin_infer){.n_in = n_in,
                                        .in = in,
                                        .n_out = 1,
                                        .out = out,
                                        .attr_int = attr_int,
                                        .attr_float = attr_float,
                                        .attr_text = attr_text,
                                        .attr_ints = attr_ints,
                                        .attr_floats = attr_floats,
                                        .attrs = attrs,
                                        .fail = infer_fail,
                                        .engine = x};
}

static enum stoker_status plugin_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct stoker_spec in[INPUTS_MAX], out[OUTPUTS_MAX];
    struct inferring x = {c->op, err, false};
    enum stoker_status s = specs_for(c->op, c->in, c->n_in, in, err);
    if (s != STOKER_OK) {
        return s;
    }
    struct stoker_plugin_infer p = infer_of(&x, c->attrs, in, c->n_in, out);
    if (of(c->op)->infer(&p) != 0 || x.has_failed) {
        return no_reason(&x);
    }
    if (p.n_out < 0 || p.n_out > OUTPUTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "%s: more than %d results", c->op->name,
                           OUTPUTS_MAX);
    }
    c->n_out = p.n_out;
    for (int k = 0; k < p.n_out; k++) {
        if (!stk_data_spec_is_one(&out[k]) || out[k].dtype > STOKER_STRING) {
            return stk_err_set(err, STOKER_EINVAL, "%s: result %d has an unknown type or rank",
                               c->op->name, k);
        }
        out[k].nested = NULL;
        stk_data_spec_in(&c->out[k], &out[k]);
    }
    return STOKER_OK;
}

// What a plug-in prepared, with the operation that must free it.
struct prepared {
    const struct stoker_plugin_op *of;
    void *own;
};

static enum stoker_status plugin_prepare(const struct stk_op_infer *from, void **out,
                                         struct stoker_err *err)
{
    struct stoker_spec in[INPUTS_MAX], results[OUTPUTS_MAX];
    struct inferring x = {from->op, err, false};
    *out = NULL;
    enum stoker_status s = specs_for(from->op, from->in, from->n_in, in, err);
    if (s != STOKER_OK) {
        return s;
    }
    struct prepared *p = stk_alloc_zero(1, sizeof *p);
    if (!p) {
        return stk_err_nomem(err);
    }
    struct stoker_plugin_infer c = infer_of(&x, from->attrs, in, from->n_in, results);
    p->of = of(from->op);
    p->own = p->of->prepare ? p->of->prepare(&c) : NULL;
    if (p->of->prepare && !p->own) {
        stk_free(p);
        return no_reason(&x);
    }
    *out = p;
    return STOKER_OK;
}

static void plugin_unprepare(void *prepared)
{
    struct prepared *p = prepared;
    if (p->own && p->of->unprepare) {
        p->of->unprepare(p->own);
    }
    stk_free(p);
}

// Running

struct running {
    struct stk_op_run *r;
    struct stoker_err *err;
    enum stoker_status status; // why something couldn't be created
    struct stk_col_capacity capacities[OUTPUTS_MAX];
};

static bool shape_in(struct running *x, int k, const int64_t *dim, struct stk_shape *out)
{
    if (k < 0 || k >= x->r->n_out) {
        x->status = stk_err_set(x->err, STOKER_EINVAL, "%s: no result %d", x->r->op->name, k);
        return false;
    }
    const struct stk_shape *spec = &x->r->spec[k].shape;
    *out = (struct stk_shape){.rank = spec->rank < 0 ? 0 : spec->rank};
    for (int d = 0; d < out->rank; d++) {
        out->dim[d] = dim ? dim[d] : -1;
        if (out->dim[d] < 0 || (spec->dim[d] >= 0 && spec->dim[d] != out->dim[d])) {
            x->status = stk_err_set(x->err, STOKER_EINVAL,
                                    "%s: result %d has %lld values along axis "
                                    "%d, not as inferred",
                                    x->r->op->name, k, (long long)out->dim[d], d);
            return false;
        }
    }
    if (spec->rank < 0 || stk_shape_count(out) < 0) {
        x->status = stk_err_set(x->err, STOKER_EINVAL,
                                "%s: the rank of result %d was not inferred, "
                                "or it is too large",
                                x->r->op->name, k);
        return false;
    }
    return true;
}

static void *run_make(struct stoker_plugin_run *p, int k, const int64_t *dim)
{
    struct running *x = p->engine;
    struct stk_shape shape;
    if (!shape_in(x, k, dim, &shape)) {
        return NULL;
    }
    void *out = stk_op_out(x->r, k, x->r->spec[k].dtype, &shape, x->err);
    x->status = out ? x->status : x->err->code;
    return out;
}

static void *run_add(struct stoker_plugin_run *p, int k, const int64_t *dim)
{
    struct running *x = p->engine;
    struct stk_shape shape;
    if (!shape_in(x, k, dim, &shape)) {
        return NULL;
    }
    if (x->r->out[k].is_varied && x->r->out[k].n >= x->r->n) {
        x->status = stk_err_set(x->err, STOKER_EINVAL, "%s: it returned more elements than it got",
                                x->r->op->name);
        return NULL;
    }
    void *out = stk_op_append(x->r, k, x->r->spec[k].dtype, &shape, x->err);
    x->status = out ? x->status : x->err->code;
    return out;
}

static unsigned char *run_bytes(struct stoker_plugin_run *p, int k, size_t size)
{
    struct running *x = p->engine;
    bool ok = k >= 0 && k < x->r->n_out;
    uint8_t *out =
        ok ? stk_col_capacity_for(&x->r->out[k], x->r->pool, &x->capacities[k], size) : NULL;
    x->status = out ? x->status : stk_op_no_memory(x->r, x->err);
    return out;
}

static int run_borrow(struct stoker_plugin_run *p, int k, int j)
{
    struct running *x = p->engine;
    bool ok = k >= 0 && k < x->r->n_out && j >= 0 && j < x->r->n_in &&
              stk_keep_join(&x->r->out[k].keep, x->r->in[j]->keep);
    x->status = ok ? x->status : stk_op_no_memory(x->r, x->err);
    return ok;
}

static int run_fail(struct stoker_plugin_run *p, int64_t i, const char *why)
{
    struct running *x = p->engine;
    i = i < 0 ? 0 : i;
    (void)stk_op_fail(x->r, i, STOKER_EINVAL, "%.300s", why ? why : "");
    return 0;
}

static uint64_t run_bits(struct stoker_plugin_run *p, int64_t i, uint64_t draw)
{
    struct running *x = p->engine;
    return stk_random_bits(x->r->seed, 0, x->r->first_index + i, draw);
}

// The plug-in must return as many elements as it was given, up to the first that failed.
static enum stoker_status settle(struct stk_op_run *r, struct stoker_err *err)
{
    for (int k = 0; k < r->n_out; k++) {
        struct stk_col *c = &r->out[k];
        bool is_made = c->is_bound || c->data_buf;
        if (!is_made && r->failed == 0) {
            continue;
        }
        if (!is_made || c->dtype != r->spec[k].dtype || (c->is_varied && c->n < r->failed)) {
            return stk_err_set(err, STOKER_EINVAL, "%s: result %d is missing for some elements",
                               r->op->name, k);
        }
        stk_col_settle(c);
    }
    return STOKER_OK;
}

static enum stoker_status plugin_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stoker_plugin_column in[INPUTS_MAX];
    struct stoker_spec spec[OUTPUTS_MAX];
    struct running x = {.r = r, .err = err};
    const struct prepared *prepared = r->prepared;
    for (int j = 0; j < r->n_in; j++) {
        const struct stk_col *c = r->in[j];
        in[j] = (struct stoker_plugin_column){.dtype = (int)c->dtype,
                                              .rank = c->shape.rank,
                                              .dim = c->shape.dim,
                                              .count = stk_shape_count(&c->shape),
                                              .data = c->data,
                                              .stride = c->stride};
    }
    for (int k = 0; k < r->n_out; k++) {
        stk_data_spec_out(&spec[k], &r->spec[k]);
    }
    struct stoker_plugin_run p = {.n = r->n,
                                  .n_in = r->n_in,
                                  .n_out = r->n_out,
                                  .in = in,
                                  .spec = spec,
                                  .prepared = prepared ? prepared->own : NULL,
                                  .scratch = r->scratch,
                                  .first_index = r->first_index,
                                  .attr_int = attr_int,
                                  .attr_float = attr_float,
                                  .attr_text = attr_text,
                                  .attr_ints = attr_ints,
                                  .attr_floats = attr_floats,
                                  .attrs = r->attrs,
                                  .make = run_make,
                                  .add = run_add,
                                  .bytes = run_bytes,
                                  .borrow = run_borrow,
                                  .fail = run_fail,
                                  .bits = run_bits,
                                  .engine = &x};
    int result = of(r->op)->run(&p);
    if (x.status != STOKER_OK) {
        return x.status;
    }
    return result != 0 ? stk_op_fail(r, 0, STOKER_EINVAL, "it failed without giving a reason")
                       : settle(r, err);
}

// Loading

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static struct library libraries[LIBRARIES_MAX];
static int library_count;

static bool is_name(const char *name)
{
    for (const char *p = name; p && *p; p++) {
        if (!isalnum((unsigned char)*p) && *p != '_') {
            return false;
        }
    }
    return name && *name && !isdigit((unsigned char)*name);
}

static enum stoker_status check(const char *path, const struct stoker_plugin *plugin,
                                struct stoker_err *err)
{
    if (!plugin || plugin->version != STOKER_PLUGIN_VERSION) {
        return stk_err_set(err, STOKER_EINVAL, "%.300s: built for plug-in version %d, not %d", path,
                           plugin ? plugin->version : 0, STOKER_PLUGIN_VERSION);
    }
    if (plugin->count < 1 || plugin->count > OPS_MAX ||
        plugin->op_size < sizeof(struct stoker_plugin_op)) {
        return stk_err_set(err, STOKER_EINVAL, "%.300s: its table has no operations, or too many",
                           path);
    }
    for (int i = 0; i < plugin->count; i++) {
        const struct stoker_plugin_op *op =
            (const void *)((const char *)plugin->ops + (size_t)i * plugin->op_size);
        if (!is_name(op->name) || !op->infer || !op->run || stk_op_find(op->name)) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%.300s: operation %d has an invalid or used name (%.60s), or "
                               "lacks infer or run",
                               path, i, op->name ? op->name : "");
        }
    }
    return STOKER_OK;
}

// Turns a library's operations into engine operations. They are never freed.
static enum stoker_status add_all(const struct stoker_plugin *plugin, int *first,
                                  struct stoker_err *err)
{
    struct plugin_op *ops = stk_alloc_zero((size_t)plugin->count, sizeof ops[0]);
    if (!ops) {
        return stk_err_nomem(err);
    }
    for (int i = 0; i < plugin->count; i++) {
        memcpy(&ops[i].of, (const char *)plugin->ops + (size_t)i * plugin->op_size,
               sizeof ops[i].of);
        const struct stoker_plugin_op *p = &ops[i].of;
        ops[i].op =
            (struct stk_op){.name = p->name,
                            .summary = p->summary ? p->summary : "An operation of a plug-in",
                            .is_random = (p->flags & STOKER_PLUGIN_RANDOM) != 0,
                            .is_stateful = (p->flags & STOKER_PLUGIN_STATEFUL) != 0,
                            .cost_ns = p->cost_ns > 0 ? p->cost_ns : 100,
                            .infer = plugin_infer,
                            .takes_more = true,
                            .prepare = p->prepare ? plugin_prepare : NULL,
                            .unprepare = p->prepare ? plugin_unprepare : NULL,
                            .scratch_bytes = p->scratch_bytes,
                            .run = plugin_run};
        int at = stk_op_register(&ops[i].op);
        if (at < 0) { // earlier ones stay: they may be in use
            return stk_err_set(err, STOKER_ELIMIT, "%s: too many plug-in operations", p->name);
        }
        *first = i == 0 ? at : *first;
    }
    return STOKER_OK;
}

static enum stoker_status load(const char *path, int *first, int *count, struct stoker_err *err)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct stoker_plugin *(*table)(void) = NULL;
    if (!handle) {
        const char *why = dlerror();
        return stk_err_set(err, STOKER_EMISSING, "%.300s", why ? why : path);
    }
    void *symbol = dlsym(handle, "stoker_plugin");
    memcpy(&table, &symbol, sizeof table);
    if (!table) {
        dlclose(handle);
        return stk_err_set(err, STOKER_EINVAL, "%.300s: not a plug-in: it has no stoker_plugin()",
                           path);
    }
    const struct stoker_plugin *plugin = table();
    for (int i = 0; i < library_count; i++) {
        if (libraries[i].plugin == plugin) {
            *first = libraries[i].first;
            *count = libraries[i].count;
            dlclose(handle);
            return STOKER_OK;
        }
    }
    enum stoker_status s =
        library_count < LIBRARIES_MAX
            ? check(path, plugin, err)
            : stk_err_set(err, STOKER_ELIMIT, "more than %d plug-ins", LIBRARIES_MAX);
    if (s != STOKER_OK) {
        dlclose(handle);
        return s;
    }
    s = add_all(plugin, first, err);
    if (s == STOKER_OK) {
        *count = plugin->count;
        libraries[library_count++] = (struct library){plugin, *first, *count};
    }
    return s; // the library stays loaded: some of its operations may have been added
}

enum stoker_status stoker_plugin_load(const char *path, int *first, int *count,
                                      struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!path || !first || !count) {
        return stk_err_misuse(err, "stoker_plugin_load needs a path and pointers for what it adds");
    }
    pthread_mutex_lock(&loading);
    enum stoker_status s = load(path, first, count, err);
    pthread_mutex_unlock(&loading);
    return stk_err_end(err, s);
}
