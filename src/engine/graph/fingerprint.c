// SPDX-License-Identifier: Apache-2.0
// Fingerprints are hashes of hashes; arguments count by name, in any order. A likeness leaves some
// out and samples large values, so it costs no more than the description is long.
#include "engine/graph/fingerprint.h"

#include <string.h>

#include "base/farmhash.h"

#define GLANCE_BYTES ((size_t)4096) // bytes of a value that a likeness hashes
#define GLANCE_ITEMS ((int64_t)256) // strings of a value that it hashes

enum look { WHOLE, GLANCE };

static uint64_t join(uint64_t a, uint64_t b)
{
    uint64_t both[2] = {a, b};
    return stk_farmhash64(both, sizeof both);
}

static uint64_t of_text(const char *text)
{
    return stk_farmhash64(text, strlen(text));
}

static uint64_t of_specs(const struct stk_specs *specs)
{
    uint64_t h = 1;
    for (int k = 0; specs && k < specs->count; k++) {
        const struct stk_spec *s = &specs->items[k];
        h = join(h, of_text(stk_dtype_name(s->dtype)));
        h = join(h, (uint64_t)s->shape.rank);
        for (int d = 0; d < s->shape.rank; d++) {
            h = join(h, (uint64_t)s->shape.dim[d]);
        }
        h = s->nested ? join(h, of_specs(s->nested)) : h;
    }
    return h;
}

// The hashed part of a string: for a likeness the part after the last '/', because files move.
static uint64_t of_bytes(const void *data, size_t size, enum look look)
{
    const char *text = size ? data : "", *end = text + size, *from = text;
    for (const char *p = end; look == GLANCE && p > text && from == text; p--) {
        from = p[-1] == '/' ? p : text;
    }
    size_t count = (size_t)(end - from);
    return stk_farmhash64(from, look == GLANCE && count > GLANCE_BYTES ? GLANCE_BYTES : count);
}

// Hashes one element.
static uint64_t of_value(const struct stk_col *c, enum look look)
{
    struct stk_shape shape = stk_col_shape(c, 0);
    int64_t count = stk_shape_count(&shape);
    uint64_t h = of_text(stk_dtype_name(c->dtype));
    for (int d = 0; d < shape.rank; d++) {
        h = join(h, (uint64_t)shape.dim[d]);
    }
    if (c->dtype != STK_DT_STRING) {
        size_t size = (size_t)count * stk_dtype_bytes(c->dtype);
        size = look == GLANCE && size > GLANCE_BYTES ? GLANCE_BYTES : size;
        return join(h, stk_farmhash64(stk_col_at(c, 0), size));
    }
    const struct stk_bytes *s = stk_col_at(c, 0);
    for (int64_t k = 0; k < count && (look == WHOLE || k < GLANCE_ITEMS); k++) {
        h = join(h, of_bytes(s[k].data, s[k].size, look));
    }
    return h;
}

static uint64_t of_attrs(const struct stk_attrs *attrs, bool has_host, enum look look);
static uint64_t of_dataset(const struct stk_dataset *ds, enum look look);

static uint64_t of_fn(const struct stk_fn *fn, enum look look)
{
    uint64_t h = 2;
    for (int k = 0; k < fn->n_nodes; k++) {
        const struct stk_fn_node *n = &fn->nodes[k];
        h = join(h, of_text(n->op->name));
        h = join(h, of_attrs(n->attrs, n->op->is_host_call, look));
        for (int j = 0; j < n->n_in; j++) {
            h = join(h, (uint64_t)n->in[j]);
        }
    }
    for (int k = 0; k < fn->n_out; k++) {
        h = join(h, (uint64_t)fn->out[k]);
    }
    return h;
}

static uint64_t of_attr(const struct stk_attr *t, enum look look)
{
    uint64_t h = (uint64_t)t->kind;
    switch (t->kind) {
    case STK_ATTR_INT:
        return join(h, (uint64_t)t->i);
    case STK_ATTR_FLOAT:
        return join(h, stk_farmhash64(&t->f, sizeof t->f));
    case STK_ATTR_TEXT:
        return join(h, of_bytes(t->text, (size_t)t->count, look));
    case STK_ATTR_INTS:
        return join(h, stk_farmhash64(t->ints, (size_t)t->count * sizeof t->ints[0]));
    case STK_ATTR_FLOATS:
        return join(h, stk_farmhash64(t->floats, (size_t)t->count * sizeof t->floats[0]));
    case STK_ATTR_FN:
        return join(h, of_fn(t->fn, look));
    case STK_ATTR_SPECS:
    case STK_ATTR_BOUND:
        return join(h, of_specs(t->specs));
    case STK_ATTR_TEXTS:
    case STK_ATTR_COLS:
    case STK_ATTR_DATASETS:
        break;
    }
    for (int64_t k = 0; k < t->count; k++) {
        uint64_t item = t->kind == STK_ATTR_TEXTS
                            ? of_bytes(t->texts[k].data, t->texts[k].size, look)
                        : t->kind == STK_ATTR_COLS ? of_value(&t->cols[k], look)
                                                   : of_dataset(t->datasets[k], look);
        h = join(h, item);
    }
    return h;
}

// Does an argument change the elements or their order?
static bool is_of_elements(const char *name)
{
    static const char *const others[] = {"num_parallel_calls", "index"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(name, others[i]) == 0) {
            return false;
        }
    }
    return true;
}

// Is an argument valid only in this process: a function's number ("id" with has_host), or the bytes
// of files, which `filenames` identifies?
static bool is_of_process(const char *name, bool has_host)
{
    return strcmp(name, "opener") == 0 || strcmp(name, "maps") == 0 ||
           (has_host && strcmp(name, "id") == 0);
}

static uint64_t of_attrs(const struct stk_attrs *attrs, bool has_host, enum look look)
{
    uint64_t sum = 3;
    for (int i = 0; attrs && i < stk_attrs_count(attrs); i++) {
        const struct stk_attr *t = stk_attrs_at(attrs, i);
        bool counts = look == WHOLE || is_of_elements(t->name);
        if (counts && !is_of_process(t->name, has_host)) {
            sum += join(of_text(t->name), of_attr(t, look));
        }
    }
    return sum;
}

static uint64_t of_dataset(const struct stk_dataset *ds, enum look look)
{
    while (look == GLANCE && ds->kind->role == STK_DS_AHEAD && ds->n_in == 1) {
        ds = ds->in[0];
    }
    uint64_t h = of_text(ds->kind->name);
    h = join(h, of_attrs(ds->attrs, ds->kind->role == STK_DS_PROGRAM, look));
    for (int k = 0; k < ds->n_in; k++) {
        h = join(h, of_dataset(ds->in[k], look));
    }
    return h;
}

uint64_t stk_dataset_fingerprint(const struct stk_dataset *ds)
{
    return of_dataset(ds, WHOLE);
}

uint64_t stk_dataset_likeness(const struct stk_dataset *ds)
{
    return of_dataset(ds, GLANCE);
}
