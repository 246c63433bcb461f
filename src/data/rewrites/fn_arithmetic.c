// SPDX-License-Identifier: Apache-2.0
// Sums, differences, products and quotients of float32 with constants, and the cast from uint8
// before them: those in a row become one operation, or part of the resize before them.
#include <string.h>

#include "data/rewrites/fn_chain.h"

struct step {
    enum stk_image_step_kind kind;
    int value; // that it is done to
    float constants[STK_IMAGE_STEP_CHANNELS];
    int count; // 0: a cast alone
};

// Constants that do not change the shape: one, or one for each place of the last dimension.
static bool read_constants(const struct stk_refn *r, const struct stk_col *c, struct step *s)
{
    struct stk_shape shape = stk_col_shape(c, 0);
    const struct stk_shape *in = &stk_refn_spec(r, s->value)->shape;
    int64_t n = stk_shape_count(&shape);
    bool is_scalar = shape.rank == 0;
    bool fits = is_scalar || (in->rank >= shape.rank && shape.dim[shape.rank - 1] == n &&
                              (n == 1 || in->dim[in->rank - 1] == n));
    if (n < 1 || n > STK_IMAGE_STEP_CHANNELS || !fits ||
        (c->dtype != STK_DT_F32 && c->dtype != STK_DT_U8)) {
        return false;
    }
    s->count = (int)n;
    for (int i = 0; i < s->count; i++) {
        s->constants[i] = c->dtype == STK_DT_F32 ? ((const float *)stk_col_at(c, 0))[i]
                                                 : (float)((const uint8_t *)stk_col_at(c, 0))[i];
    }
    return true;
}

// An operation on `in` as a step. False: it is none.
static bool read_step(const struct stk_refn *r, const struct stk_fn_node *node, const int *in,
                      struct step *s)
{
    static const struct {
        const char *name;
        enum stk_image_step_kind kind;
    } rows[] = {{"add", STK_IMAGE_STEP_ADD},
                {"subtract", STK_IMAGE_STEP_SUBTRACT},
                {"multiply", STK_IMAGE_STEP_MULTIPLY},
                {"truediv", STK_IMAGE_STEP_DIVIDE}};
    *s = (struct step){.value = in[0]};
    enum stk_dtype from = node->n_in > 0 ? stk_refn_spec(r, in[0])->dtype : STK_DT_STRING;
    bool to_float = (enum stk_dtype)stk_attrs_int(node->attrs, "dtype", -1) == STK_DT_F32;
    if (node->n_in == 1 && from == STK_DT_U8 && to_float) {
        if (stk_refn_is(node, "convert_image_dtype")) {
            s->kind = STK_IMAGE_STEP_MULTIPLY;
            s->constants[0] = (float)(1.0 / 255);
            s->count = 1;
            return true;
        }
        return stk_refn_is(node, "cast");
    }
    for (size_t k = 0; node->n_in == 2 && k < sizeof rows / sizeof rows[0]; k++) {
        if (!stk_refn_is(node, rows[k].name)) {
            continue;
        }
        const struct stk_col *a = stk_refn_constant(r, in[0]), *b = stk_refn_constant(r, in[1]);
        bool is_reversed = a && !b;
        s->kind = is_reversed && rows[k].kind == STK_IMAGE_STEP_SUBTRACT
                      ? STK_IMAGE_STEP_SUBTRACT_FROM
                      : rows[k].kind;
        s->value = is_reversed ? in[1] : in[0];
        bool fits = from == STK_DT_F32 || (from == STK_DT_U8 && s->kind == STK_IMAGE_STEP_DIVIDE);
        return fits && !a != !b && !(is_reversed && s->kind == STK_IMAGE_STEP_DIVIDE) &&
               read_constants(r, is_reversed ? a : b, s);
    }
    return false;
}

static bool add_step(struct stk_attrs *a, const struct step *s, bool *has_capacity)
{
    *has_capacity = true;
    return s->count == 0 || stk_chain_add_step(a, s->kind, s->constants, s->count, has_capacity);
}

// A chain of the operation before this one alone, if that is a step, too.
static bool begin_with(const struct stk_refn *r, int value, struct stk_chain *c)
{
    const struct stk_fn_node *node = stk_refn_maker(r, value);
    struct step before;
    bool has_capacity;
    if (!node || !read_step(r, node, node->in, &before)) {
        return true;
    }
    c->in[0] = before.value;
    c->n_in = 1;
    c->attrs = stk_attrs_new();
    return c->attrs && add_step(c->attrs, &before, &has_capacity);
}

enum stoker_status stk_refn_arithmetic(struct stk_refn *r, int *result, struct stoker_err *err)
{
    struct step s;
    struct stk_chain c;
    bool has_capacity = true;
    if (!read_step(r, r->node, r->in, &s) || s.count == 0 ||
        r->from->specs[r->node->first_out].dtype != STK_DT_F32) {
        return STOKER_OK;
    }
    bool ok = stk_chain_begin(r, s.value, &c);
    ok = ok && (c.attrs || begin_with(r, s.value, &c));
    if (ok && !c.attrs) {
        return STOKER_OK;
    }
    ok = ok && add_step(c.attrs, &s, &has_capacity);
    if (!ok || !has_capacity) {
        stk_attrs_drop(c.attrs);
        return ok ? STOKER_OK : stk_err_nomem(err);
    }
    return stk_chain_end(r, &c, result, err);
}
