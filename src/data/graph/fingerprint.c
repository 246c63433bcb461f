// SPDX-License-Identifier: Apache-2.0
// Fingerprints: hashes of hashes. Arguments count by name, in any order.
#include "data/graph/fingerprint.h"

#include <string.h>

#include "base/farmhash.h"

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

// One element.
static uint64_t of_value(const struct stk_col *c)
{
    struct stk_shape shape = stk_col_shape(c, 0);
    int64_t count = stk_shape_count(&shape);
    uint64_t h = of_text(stk_dtype_name(c->dtype));
    for (int d = 0; d < shape.rank; d++) {
        h = join(h, (uint64_t)shape.dim[d]);
    }
    if (c->dtype != STK_DT_STRING) {
        return join(h, stk_farmhash64(stk_col_at(c, 0), (size_t)count * stk_dtype_bytes(c->dtype)));
    }
    const struct stk_bytes *s = stk_col_at(c, 0);
    for (int64_t k = 0; k < count; k++) {
        h = join(h, stk_farmhash64(s[k].data, s[k].size));
    }
    return h;
}

static uint64_t of_attrs(const struct stk_attrs *attrs, bool has_host);

static uint64_t of_fn(const struct stk_fn *fn)
{
    uint64_t h = 2;
    for (int k = 0; k < fn->n_nodes; k++) {
        const struct stk_fn_node *n = &fn->nodes[k];
        h = join(h, of_text(n->op->name));
        h = join(h, of_attrs(n->attrs, n->op->is_host_call));
        for (int j = 0; j < n->n_in; j++) {
            h = join(h, (uint64_t)n->in[j]);
        }
    }
    for (int k = 0; k < fn->n_out; k++) {
        h = join(h, (uint64_t)fn->out[k]);
    }
    return h;
}

static uint64_t of_attr(const struct stk_attr *t)
{
    uint64_t h = (uint64_t)t->kind;
    switch (t->kind) {
    case STK_ATTR_INT:
        return join(h, (uint64_t)t->i);
    case STK_ATTR_FLOAT:
        return join(h, stk_farmhash64(&t->f, sizeof t->f));
    case STK_ATTR_TEXT:
        return join(h, stk_farmhash64(t->text, (size_t)t->count));
    case STK_ATTR_INTS:
        return join(h, stk_farmhash64(t->ints, (size_t)t->count * sizeof t->ints[0]));
    case STK_ATTR_FLOATS:
        return join(h, stk_farmhash64(t->floats, (size_t)t->count * sizeof t->floats[0]));
    case STK_ATTR_FN:
        return join(h, of_fn(t->fn));
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
                            ? stk_farmhash64(t->texts[k].data, t->texts[k].size)
                        : t->kind == STK_ATTR_COLS ? of_value(&t->cols[k])
                                                   : stk_dataset_fingerprint(t->datasets[k]);
        h = join(h, item);
    }
    return h;
}

// has_host: "id" is a function's number in this process.
static uint64_t of_attrs(const struct stk_attrs *attrs, bool has_host)
{
    uint64_t sum = 3;
    for (int i = 0; attrs && i < stk_attrs_count(attrs); i++) {
        const struct stk_attr *t = stk_attrs_at(attrs, i);
        if (!has_host || strcmp(t->name, "id") != 0) {
            sum += join(of_text(t->name), of_attr(t));
        }
    }
    return sum;
}

uint64_t stk_dataset_fingerprint(const struct stk_dataset *ds)
{
    uint64_t h = of_text(ds->kind->name);
    h = join(h, of_attrs(ds->attrs, ds->kind->role == STK_DS_PROGRAM));
    for (int k = 0; k < ds->n_in; k++) {
        h = join(h, stk_dataset_fingerprint(ds->in[k]));
    }
    return h;
}
