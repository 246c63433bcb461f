// SPDX-License-Identifier: Apache-2.0
// Merges a row of float32 operations into one, or into the resize before them: sums, differences,
// products and quotients with constants or one value per element, clips, brightness, and the cast
// from uint8 before them.
#include <string.h>

#include "engine/rewrites/fn_chain.h"

enum { CONSTANT = -1, DRAWN = -2 }; // no input: a constant; random_brightness's draw
// Fewest values of an element that justify constants per place.
enum { VALUES_LEAST = 1024 };

struct part {
    enum stk_image_step_kind kind;
    float constants[STK_IMAGE_STEP_CHANNELS];
    int count; // of the constants
    int input; // the value of the constant, or one of the above
};

struct step {
    int value; // the value it applies to
    int n;     // 0: only a cast
    struct part part[2];
    struct stk_fn_node node; // the node it was read from
};

// Constants that don't change the shape: a single one, or one per place of the last dimension.
static bool read_constants(const struct stk_refn *r, int value, const struct stk_col *c,
                           enum stk_image_step_kind kind, struct part *p)
{
    struct stk_shape shape = stk_col_shape(c, 0);
    const struct stk_shape *in = &stk_refn_spec(r, value)->shape;
    int64_t n = stk_shape_count(&shape);
    bool is_scalar = shape.rank == 0;
    bool fits = is_scalar || (in->rank >= shape.rank && shape.dim[shape.rank - 1] == n &&
                              (n == 1 || in->dim[in->rank - 1] == n));
    if (n < 1 || n > STK_IMAGE_STEP_CHANNELS || !fits ||
        (c->dtype != STK_DT_F32 && c->dtype != STK_DT_U8)) {
        return false;
    }
    *p = (struct part){.kind = kind, .count = (int)n, .input = CONSTANT};
    for (int i = 0; i < p->count; i++) {
        p->constants[i] = c->dtype == STK_DT_F32 ? ((const float *)stk_col_at(c, 0))[i]
                                                 : (float)((const uint8_t *)stk_col_at(c, 0))[i];
    }
    return true;
}

static bool is_large(const struct stk_spec *s)
{
    int64_t n = s->dtype == STK_DT_F32 && s->shape.rank >= 0 ? 1 : 0;
    for (int i = 0; i < s->shape.rank && n < VALUES_LEAST; i++) {
        bool is_any = s->shape.dim[i] < 0 && i < s->shape.rank - 3; // batches of images
        n *= s->shape.dim[i] > 0 ? s->shape.dim[i] : is_any;
    }
    return n >= VALUES_LEAST;
}

// A constant, or a float32 scalar of the element.
static bool read_operand(const struct stk_refn *r, int value, int operand,
                         enum stk_image_step_kind kind, struct part *p)
{
    const struct stk_col *constant = stk_refn_constant(r, operand);
    const struct stk_spec *spec = stk_refn_spec(r, operand);
    if (constant) {
        return read_constants(r, value, constant, kind, p);
    }
    *p = (struct part){.kind = kind, .input = operand};
    return spec->dtype == STK_DT_F32 && spec->shape.rank == 0 && is_large(stk_refn_spec(r, value));
}

static bool read_cast(const struct stk_refn *r, const int *in, struct step *s)
{
    const struct stk_fn_node *node = &s->node;
    if ((enum stk_dtype)stk_attrs_int(node->attrs, "dtype", -1) != STK_DT_F32 ||
        stk_refn_spec(r, in[0])->dtype != STK_DT_U8) {
        return false;
    }
    if (stk_refn_is(node, "convert_image_dtype")) {
        s->n = 1;
        s->part[0] = (struct part){STK_IMAGE_STEP_MULTIPLY, {(float)(1.0 / 255)}, 1, CONSTANT};
        return true;
    }
    return stk_refn_is(node, "cast");
}

static bool read_brightness(const struct stk_refn *r, const int *in, struct step *s)
{
    const struct stk_fn_node *node = &s->node;
    const struct stk_attr *delta = stk_attrs_get(node->attrs, "delta");
    const struct stk_spec *image = stk_refn_spec(r, in[0]);
    bool is_random = stk_refn_is(node, "random_brightness");
    if ((!is_random && !stk_refn_is(node, "adjust_brightness")) ||
        (image->shape.rank != 3 && image->shape.rank != 4) || !is_large(image)) {
        return false;
    }
    s->n = 1;
    if (!is_random && !delta) {
        return node->n_in == 2 && stk_refn_spec(r, in[1])->shape.rank == 0 &&
               read_operand(r, in[0], in[1], STK_IMAGE_STEP_ADD, &s->part[0]);
    }
    s->part[0] = (struct part){.kind = STK_IMAGE_STEP_ADD, .input = is_random ? DRAWN : CONSTANT};
    if (!is_random) {
        s->part[0].constants[0] = (float)stk_attrs_float(node->attrs, "delta", 0);
        s->part[0].count = 1;
    }
    return node->n_in == 1;
}

static bool read_binary(const struct stk_refn *r, const int *in, struct step *s)
{
    static const struct {
        const char *name;
        enum stk_image_step_kind kind;
    } rows[] = {{"add", STK_IMAGE_STEP_ADD},
                {"subtract", STK_IMAGE_STEP_SUBTRACT},
                {"multiply", STK_IMAGE_STEP_MULTIPLY},
                {"truediv", STK_IMAGE_STEP_DIVIDE}};
    enum stk_dtype from = stk_refn_spec(r, in[0])->dtype;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (!stk_refn_is(&s->node, rows[k].name)) {
            continue;
        }
        const struct stk_col *a = stk_refn_constant(r, in[0]), *b = stk_refn_constant(r, in[1]);
        bool is_reversed = !b && (a || stk_refn_spec(r, in[0])->shape.rank == 0);
        enum stk_image_step_kind kind = is_reversed && rows[k].kind == STK_IMAGE_STEP_SUBTRACT
                                            ? STK_IMAGE_STEP_SUBTRACT_FROM
                                            : rows[k].kind;
        bool fits = from == STK_DT_F32 || (from == STK_DT_U8 && kind == STK_IMAGE_STEP_DIVIDE);
        s->value = in[is_reversed ? 1 : 0];
        s->n = 1;
        return fits && !(a && b) && !(is_reversed && kind == STK_IMAGE_STEP_DIVIDE) &&
               read_operand(r, s->value, in[is_reversed ? 0 : 1], kind, &s->part[0]);
    }
    return false;
}

static bool read_clip(const struct stk_refn *r, const int *in, struct step *s)
{
    const struct stk_col *low = stk_refn_constant(r, in[1]), *high = stk_refn_constant(r, in[2]);
    s->n = 2;
    return stk_refn_is(&s->node, "clip_by_value") && low && high &&
           stk_refn_spec(r, in[0])->dtype == STK_DT_F32 && !stk_refn_constant(r, in[0]) &&
           read_constants(r, in[0], high, STK_IMAGE_STEP_AT_MOST, &s->part[0]) &&
           read_constants(r, in[0], low, STK_IMAGE_STEP_AT_LEAST, &s->part[1]);
}

// Sees an operation on `in` as a step. False: a step can't do it.
static bool read_step(const struct stk_refn *r, const struct stk_fn_node *node, const int *in,
                      struct step *s)
{
    if (node->n_in < 1 || node->n_in > 3) {
        return false;
    }
    *s = (struct step){.value = in[0], .node = *node};
    if (node->n_in == 3) {
        return read_clip(r, in, s);
    }
    return (node->n_in == 1 && read_cast(r, in, s)) || read_brightness(r, in, s) ||
           (node->n_in == 2 && read_binary(r, in, s));
}

// The value of a part's constant: an input, or a draw with the operation's random bits.
static enum stoker_status input_of(struct stk_refn *r, const struct step *s, const struct part *p,
                                   int *value, struct stoker_err *err)
{
    *value = p->input;
    if (p->input != DRAWN) {
        return STOKER_OK;
    }
    enum stoker_status status =
        stk_refn_add(r, "brightness_delta", NULL, 0, s->node.attrs, value, err);
    if (status == STOKER_OK) {
        struct stk_fn_node *made = &r->to->nodes[r->to->n_nodes - 1];
        made->salt = s->node.salt;
        made->stage = s->node.stage;
    }
    return status;
}

// *fits: the chain has room for it.
static enum stoker_status add_step(struct stk_refn *r, struct stk_chain *c, const struct step *s,
                                   bool *fits, struct stoker_err *err)
{
    *fits = true;
    for (int k = 0; *fits && k < s->n; k++) {
        const struct part *p = &s->part[k];
        *fits = !c->is_image || p->input == CONSTANT;
        if (*fits && !stk_chain_add_step(c->attrs, p->kind, p->constants, p->count, fits)) {
            return stk_err_nomem(err);
        }
        if (*fits && p->input != CONSTANT) {
            enum stoker_status status = input_of(r, s, p, &c->in[c->n_in++], err);
            if (status != STOKER_OK) {
                return status;
            }
        }
    }
    return STOKER_OK;
}

// A chain of only the operation before this one, if that is a step.
static enum stoker_status begin_with(struct stk_refn *r, int value, struct stk_chain *c,
                                     struct stoker_err *err)
{
    const struct stk_fn_node *node = stk_refn_maker(r, value);
    struct step before;
    bool fits;
    if (!node || !read_step(r, node, node->in, &before)) {
        return STOKER_OK;
    }
    c->in[0] = before.value;
    c->n_in = 1;
    c->attrs = stk_attrs_new();
    return c->attrs ? add_step(r, c, &before, &fits, err) : stk_err_nomem(err);
}

enum stoker_status stk_refn_arithmetic(struct stk_refn *r, int *result, struct stoker_err *err)
{
    struct step s;
    struct stk_chain c;
    bool fits = false;
    if (!read_step(r, r->node, r->in, &s) || s.n == 0 ||
        r->from->specs[r->node->first_out].dtype != STK_DT_F32) {
        return STOKER_OK;
    }
    enum stoker_status status = stk_chain_begin(r, s.value, &c) ? STOKER_OK : stk_err_nomem(err);
    if (status == STOKER_OK && !c.attrs) {
        status = begin_with(r, s.value, &c, err);
    }
    if (status == STOKER_OK && c.attrs) {
        status = add_step(r, &c, &s, &fits, err);
    }
    if (status != STOKER_OK || !fits) {
        stk_attrs_drop(c.attrs); // takes NULL
        return status;
    }
    return stk_chain_end(r, &c, result, err);
}
