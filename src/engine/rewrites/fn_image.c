// SPDX-License-Identifier: Apache-2.0
// Images: merges decode and resize, and a flip into the resize before it. A flip after a cast from
// uint8 moves before the cast: a quarter of the bytes.
#include <string.h>

#include "engine/ops/op_codec.h"
#include "engine/rewrites/fn_chain.h"

static bool decodes(const struct stk_fn_node *node)
{
    bool is_decode = stk_refn_is(node, "decode_jpeg") || stk_refn_is(node, "decode_part") ||
                     stk_refn_is(node, "decode_and_crop_jpeg");
    int64_t channels = is_decode ? stk_attrs_int(node->attrs, "channels", 0) : 0;
    return channels == 1 || channels == 3;
}

// Joins the attributes of both. NULL: no memory.
static struct stk_attrs *join(const struct stk_fn_node *decode, const struct stk_fn_node *resize)
{
    struct stk_attrs *a = stk_attrs_copy(decode->attrs);
    bool ok = a && stk_attrs_set_int(a, "decode", 1);
    if (ok && stk_refn_is(decode, "decode_and_crop_jpeg")) {
        ok = stk_attrs_set_int(a, "crop", STK_OP_CROP_WINDOW);
    }
    for (int i = 0; ok && i < stk_attrs_count(resize->attrs); i++) {
        ok = stk_attrs_set(a, stk_attrs_at(resize->attrs, i));
    }
    if (!ok) {
        stk_attrs_drop(a);
        return NULL;
    }
    return a;
}

enum stoker_status stk_refn_resize(struct stk_refn *r, int *result, struct stoker_err *err)
{
    const struct stk_fn_node *node = r->node;
    const struct stk_fn_node *decode = node->n_in == 1 ? stk_refn_maker(r, r->in[0]) : NULL;
    bool is_random = stk_refn_is(node, "random_image_chain");
    // Merged functions may already have chains.
    bool is_chain = (is_random || stk_refn_is(node, "image_chain")) &&
                    stk_attrs_int(node->attrs, "decode", 0) == 0;
    if (!decode || !decodes(decode) || decode->n_in > 2 ||
        (!is_chain && !stk_chain_resizes(r, node, r->in[0]))) {
        return STOKER_OK;
    }
    struct stk_chain c = {.attrs = join(decode, node),
                          .n_in = decode->n_in,
                          .is_image = true,
                          .is_random = is_random,
                          .salt = node->salt,
                          .stage = node->stage};
    memcpy(c.in, decode->in, (size_t)c.n_in * sizeof c.in[0]);
    return c.attrs ? stk_chain_end(r, &c, result, err) : stk_err_nomem(err);
}

enum stoker_status stk_refn_mirror(struct stk_refn *r, int *result, struct stoker_err *err)
{
    const struct stk_fn_node *node = r->node;
    bool is_random = stk_refn_is(node, "random_flip_left_right");
    struct stk_chain c;
    if (node->n_in != 1 || (!is_random && !stk_refn_is(node, "flip_left_right"))) {
        return STOKER_OK;
    }
    if (!stk_chain_begin(r, r->in[0], &c)) {
        return stk_err_nomem(err);
    }
    if (!c.is_image || stk_attrs_int(c.attrs, "mirror", 0) != 0) {
        stk_attrs_drop(c.attrs);
        return STOKER_OK;
    }
    const struct stk_attr *seed = is_random ? stk_attrs_get(node->attrs, "seed") : NULL;
    bool ok = stk_attrs_set_int(c.attrs, "mirror", is_random ? 2 : 1) &&
              (!seed || stk_attrs_set(c.attrs, seed));
    if (!ok) {
        stk_attrs_drop(c.attrs);
        return stk_err_nomem(err);
    }
    c.is_random = is_random;
    c.salt = node->salt;
    c.stage = node->stage;
    return stk_chain_end(r, &c, result, err);
}

static bool mirrors(const struct stk_fn_node *node)
{
    static const char *const names[] = {"flip_left_right", "random_flip_left_right", "flip_up_down",
                                        "random_flip_up_down"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (node->n_in == 1 && stk_refn_is(node, names[k])) {
            return true;
        }
    }
    return false;
}

// Casts uint8 to float32, value by value; constants per channel stay with their channels.
static bool widens(const struct stk_refn *r, const struct stk_fn_node *node, int value)
{
    return node->n_in > 0 && stk_refn_spec(r, value)->dtype == STK_DT_F32 &&
           stk_refn_spec(r, node->in[0])->dtype == STK_DT_U8 &&
           stk_refn_spec(r, node->in[0])->shape.rank >= 3 &&
           (stk_refn_is(node, "arithmetic") || stk_refn_is(node, "cast") ||
            stk_refn_is(node, "convert_image_dtype"));
}

enum stoker_status stk_refn_mirror_first(struct stk_refn *r, int *result, struct stoker_err *err)
{
    const struct stk_fn_node *wide = mirrors(r->node) ? stk_refn_maker(r, r->in[0]) : NULL;
    if (!wide || !widens(r, wide, r->in[0])) {
        return STOKER_OK;
    }
    const char *op = wide->op->name; // adding may move what wide points to
    struct stk_attrs *attrs = stk_attrs_hold(wide->attrs);
    int in[STK_OP_INPUTS_MAX], n_in = wide->n_in;
    memcpy(in, wide->in, (size_t)n_in * sizeof in[0]);
    enum stoker_status s = stk_refn_add(r, r->node->op->name, in, 1, r->node->attrs, &in[0], err);
    if (s == STOKER_OK) {
        s = stk_refn_add(r, op, in, n_in, attrs, result, err);
    }
    stk_attrs_drop(attrs);
    return s;
}
