// SPDX-License-Identifier: Apache-2.0
// Reads the requested features from attributes; runs a block's records through the parser.
#include "engine/ops/op_parse.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define RECORDS_AT_ONCE 256

static const struct stk_attr *list(const struct stk_attrs *a, const char *prefix, const char *name,
                                   enum stk_attr_kind kind, int64_t count)
{
    char text[40];
    snprintf(text, sizeof text, "%s%s", prefix, name);
    const struct stk_attr *t = stk_attrs_get(a, text);
    return t && t->kind == kind && (count < 0 || t->count == count) ? t : NULL;
}

static enum stk_example_type wire_type(enum stk_dtype t)
{
    return t == STK_DT_STRING ? STK_EXAMPLE_BYTES
           : t == STK_DT_F32  ? STK_EXAMPLE_FLOAT
                              : STK_EXAMPLE_INT64;
}

enum stoker_status stk_parse_features_read(const char *op, const struct stk_attrs *a,
                                           const char *prefix,
                                           struct stk_parse_feature out[STK_PARSE_FEATURES_MAX],
                                           int *found, const struct stk_attr **names,
                                           struct stoker_err *err)
{
    const struct stk_attr *n = list(a, prefix, "names", STK_ATTR_TEXTS, -1);
    int64_t count = n ? n->count : 0;
    const struct stk_attr *kinds = list(a, prefix, "kinds", STK_ATTR_INTS, count);
    const struct stk_attr *dtypes = list(a, prefix, "dtypes", STK_ATTR_INTS, count);
    const struct stk_attr *ranks = list(a, prefix, "ranks", STK_ATTR_INTS, count);
    const struct stk_attr *dims = list(a, prefix, "dims", STK_ATTR_INTS, -1);
    const struct stk_attr *has = list(a, prefix, "has_default", STK_ATTR_INTS, count);
    const struct stk_attr *missing = list(a, prefix, "allow_missing", STK_ATTR_INTS, count);
    const struct stk_attr *fallbacks = list(a, prefix, "defaults", STK_ATTR_COLS, -1);
    *found = 0;
    *names = n;
    if (count == 0) {
        return STOKER_OK;
    }
    if (count > STK_PARSE_FEATURES_MAX || !kinds || !dtypes || !ranks || !dims || !has) {
        return stk_err_set(err, STOKER_EINVAL,
                           "%s: at most %d features, each with its kind, type, shape and whether "
                           "it has a default",
                           op, STK_PARSE_FEATURES_MAX);
    }
    int64_t at = 0, given = 0;
    for (int k = 0; k < (int)count; k++) {
        struct stk_parse_feature *f = &out[k];
        enum stk_dtype t = (enum stk_dtype)dtypes->ints[k];
        const char *name = (const char *)n->texts[k].data;
        if (t != STK_DT_STRING && t != STK_DT_F32 && t != STK_DT_I64) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%s: feature %.200s: %s; Examples can have bytes, float32 and int64",
                               op, name, stk_dtype_name(t));
        }
        *f = (struct stk_parse_feature){.kind = kinds->ints[k], .dtype = t};
        f->allow_missing = missing && missing->ints[k] != 0;
        f->shape.rank = (int)ranks->ints[k];
        for (int d = 0; d < f->shape.rank; d++, at++) {
            if (d >= STK_RANK_MAX - 2 || at >= dims->count || dims->ints[at] < 0) {
                return stk_err_set(err, STOKER_EINVAL, "%s: feature %.200s needs a known shape", op,
                                   name);
            }
            f->shape.dim[d] = dims->ints[at];
        }
        f->elements = stk_shape_count(&f->shape);
        if (has->ints[k] && fallbacks && given < fallbacks->count) {
            f->fallback = &fallbacks->cols[given++];
        }
    }
    *found = (int)count;
    return STOKER_OK;
}

enum stoker_status stk_parse_records(struct stk_op_run *r, struct stk_example_parser *p,
                                     struct stk_example_batch *batch, int64_t rows, int64_t *done,
                                     struct stoker_err *err)
{
    struct stk_record records[RECORDS_AT_ONCE];
    int64_t total = r->n * rows;
    *done = r->n;
    for (int64_t first = 0; first < total; first += RECORDS_AT_ONCE) {
        int64_t n = total - first < RECORDS_AT_ONCE ? total - first : RECORDS_AT_ONCE;
        size_t whole;
        for (int64_t k = 0; k < n; k++) {
            const struct stk_bytes *v = stk_col_at(r->in[0], (first + k) / rows);
            v += (first + k) % rows;
            // If an element is a batch of records: the number within the batch.
            int64_t number = rows > 1 ? (first + k) % rows : r->first_index + first + k;
            records[k] = (struct stk_record){.data = v->data,
                                             .size = v->size,
                                             .offset = STK_RECORD_NO_OFFSET,
                                             .number = (uint64_t)number};
        }
        struct stoker_err why;
        stk_err_init(&why);
        enum stoker_status status =
            stk_example_parse(p, batch, records, (size_t)n, false, &whole, &why);
        if (status == STOKER_EINPUT) {
            *done = (first + (int64_t)whole) / rows;
            return stk_op_fail(r, *done, STOKER_EINVAL, "%s", why.message);
        }
        if (status != STOKER_OK) {
            *err = why;
            return status;
        }
    }
    return STOKER_OK;
}

static bool is_fixed(const struct stk_parse *p, int k)
{
    int64_t kind = p->features[k].kind;
    return kind == STK_PARSE_FIXED || (k >= p->context && kind == STK_PARSE_SEQUENCE);
}

enum stoker_status stk_parse_prepare(const struct stk_op_infer *c, stk_parse_read_fn *read,
                                     void **out, struct stoker_err *err)
{
    struct stk_example_feature wanted[2 * STK_PARSE_FEATURES_MAX];
    const struct stk_attr *names[2];
    struct stk_parse *p = stk_alloc_zero(1, sizeof *p);
    *out = NULL;
    if (!p) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = read(c->attrs, p, names, err);
    int count = p->context + p->lists;
    for (int k = 0; s == STOKER_OK && k < count; k++) {
        const struct stk_parse_feature *f = &p->features[k];
        bool is_list = k >= p->context;
        const struct stk_bytes *name =
            is_list ? &names[1]->texts[k - p->context] : &names[0]->texts[k];
        wanted[k] = (struct stk_example_feature){
            .name = (const char *)name->data,
            .type = wire_type(f->dtype),
            .kind = is_fixed(p, k) ? STK_EXAMPLE_FIXED : STK_EXAMPLE_RAGGED,
            .is_list = is_list,
            .allow_missing = is_list && (f->allow_missing || !is_fixed(p, k)),
            .elements = (size_t)f->elements};
        if (f->kind == STK_PARSE_FIXED && f->fallback) {
            struct stk_shape shape = stk_col_shape(f->fallback, 0);
            wanted[k].defaults = stk_col_at(f->fallback, 0);
            wanted[k].default_count = (size_t)stk_shape_count(&shape);
        }
    }
    s = s == STOKER_OK ? stk_example_compile(&p->spec, wanted, (size_t)count, err) : s;
    *out = s == STOKER_OK ? p : NULL;
    if (s != STOKER_OK) {
        stk_free(p);
    }
    return s;
}

void stk_parse_unprepare(void *prepared)
{
    struct stk_parse *p = prepared;
    stk_example_spec_free(p->spec);
    stk_free(p);
}

enum stoker_status stk_parse_open_scratch(struct stk_parse_scratch *s, const struct stk_parse *p,
                                          enum stk_example_message message, struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    if (!s->parser) {
        status = stk_example_parser_open(&s->parser, p->spec, message, err);
    }
    if (status == STOKER_OK && !s->is_open) {
        status = stk_example_batch_open(&s->batch, p->spec, err);
        s->is_open = status == STOKER_OK;
    }
    return status;
}

void stk_parse_scratch_end(void *scratch)
{
    struct stk_parse_scratch *s = scratch;
    stk_example_parser_close(s->parser);
    if (s->is_open) {
        stk_example_batch_close(&s->batch);
    }
}

bool stk_parse_put(struct stk_op_run *r, int o, enum stk_dtype t, const struct stk_shape *shape,
                   const void *values, struct stoker_err *err)
{
    void *to = stk_op_append(r, o, t, shape, err);
    size_t bytes = to ? (size_t)stk_shape_count(shape) * stk_dtype_bytes(t) : 0;
    if (bytes) {
        memcpy(to, values, bytes);
    }
    return to != NULL;
}
