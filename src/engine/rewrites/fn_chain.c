// SPDX-License-Identifier: Apache-2.0
// Creates and extends chains of operations.
#include "engine/rewrites/fn_chain.h"

#include <string.h>

bool stk_chain_resizes(const struct stk_refn *r, const struct stk_fn_node *resize, int image)
{
    const struct stk_attr *size = stk_attrs_get(resize->attrs, "size");
    const struct stk_spec *in = stk_refn_spec(r, image);
    return stk_refn_is(resize, "resize") && resize->n_in == 1 && size &&
           size->kind == STK_ATTR_INTS && size->count == 2 &&
           stk_attrs_int(resize->attrs, "preserve_aspect_ratio", 0) == 0 &&
           strcmp(stk_attrs_text(resize->attrs, "method", "bilinear"), "nearest") != 0 &&
           (in->dtype == STK_DT_U8 || in->dtype == STK_DT_F32) && in->shape.rank == 3 &&
           in->shape.dim[2] >= 1 && in->shape.dim[2] <= STK_IMAGE_STEP_CHANNELS;
}

bool stk_chain_begin(const struct stk_refn *r, int value, struct stk_chain *c)
{
    const struct stk_fn_node *node = stk_refn_maker(r, value);
    *c = (struct stk_chain){.n_in = 0};
    if (!node) {
        return true;
    }
    c->is_random = stk_refn_is(node, "random_image_chain");
    c->is_image = c->is_random || stk_refn_is(node, "image_chain") ||
                  (node->n_in > 0 && stk_chain_resizes(r, node, node->in[0]));
    if (!c->is_image && !stk_refn_is(node, "arithmetic")) {
        return true;
    }
    c->n_in = node->n_in;
    memcpy(c->in, node->in, (size_t)node->n_in * sizeof c->in[0]);
    c->salt = node->salt;
    c->stage = node->stage;
    c->attrs = stk_attrs_copy(node->attrs);
    return c->attrs != NULL;
}

static bool lengthen_ints(struct stk_attrs *a, const char *name, int64_t value)
{
    int64_t values[STK_IMAGE_STEPS_MAX];
    const struct stk_attr *t = stk_attrs_get(a, name);
    int64_t n = t ? t->count : 0;
    if (n > 0) {
        memcpy(values, t->ints, (size_t)n * sizeof values[0]);
    }
    values[n] = value;
    return stk_attrs_set(
        a, &(struct stk_attr){.name = name, .kind = STK_ATTR_INTS, .count = n + 1, .ints = values});
}

bool stk_chain_add_step(struct stk_attrs *a, enum stk_image_step_kind kind, const float *constants,
                        int count, bool *has_capacity)
{
    double values[STK_IMAGE_STEPS_MAX * STK_IMAGE_STEP_CHANNELS];
    const struct stk_attr *steps = stk_attrs_get(a, "steps"), *t = stk_attrs_get(a, "constants");
    int64_t n = t ? t->count : 0;
    *has_capacity = !steps || steps->count < STK_IMAGE_STEPS_MAX;
    if (!*has_capacity) {
        return true;
    }
    if (n > 0) {
        memcpy(values, t->floats, (size_t)n * sizeof values[0]);
    }
    for (int i = 0; i < STK_IMAGE_STEP_CHANNELS; i++) {
        values[n + i] = (double)(i < count ? constants[i] : 0);
    }
    struct stk_attr longer = {.name = "constants",
                              .kind = STK_ATTR_FLOATS,
                              .count = n + STK_IMAGE_STEP_CHANNELS,
                              .floats = values};
    return lengthen_ints(a, "steps", kind) && lengthen_ints(a, "counts", count) &&
           stk_attrs_set(a, &longer);
}

enum stoker_status stk_chain_end(struct stk_refn *r, struct stk_chain *c, int *result,
                                 struct stoker_err *err)
{
    const char *op = !c->is_image   ? "arithmetic"
                     : c->is_random ? "random_image_chain"
                                    : "image_chain";
    enum stoker_status s = stk_refn_add(r, op, c->in, c->n_in, c->attrs, result, err);
    if (s == STOKER_OK && c->is_random) {
        struct stk_fn_node *made = &r->to->nodes[r->to->n_nodes - 1];
        made->salt = c->salt;
        made->stage = c->stage;
    }
    stk_attrs_drop(c->attrs);
    return s;
}
