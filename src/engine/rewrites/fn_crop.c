// SPDX-License-Identifier: Apache-2.0
// Merges decode_jpeg with a crop after it: central_crop, crop_to_bounding_box, slice (as
// random_crop makes) and image[a:b, c:d], whose bounds may be computed. The whole file is still
// checked, so the same files count as damaged. If the function also needs the image's shape, it is
// read from the file's headers.
#include <string.h>

#include "engine/ops/op_codec.h"
#include "engine/rewrites/rewrite.h"

// Decodes a whole image of a file that must be complete.
static bool decodes_all(const struct stk_fn_node *node)
{
    return stk_refn_is(node, "decode_jpeg") && node->n_in == 1 &&
           stk_attrs_int(node->attrs, "ratio", 1) == 1 &&
           stk_attrs_int(node->attrs, "try_recover_truncated", 0) == 0 &&
           stk_attrs_float(node->attrs, "acceptable_fraction", 1) >= 1;
}

static bool set_ints(struct stk_attrs *a, const char *name, const int64_t *values, int64_t n)
{
    return stk_attrs_set(
        a, &(struct stk_attr){.name = name, .kind = STK_ATTR_INTS, .count = n, .ints = values});
}

static bool set_box(const struct stk_fn_node *node, struct stk_attrs *a)
{
    static const char *const names[] = {"offset_height", "offset_width", "target_height",
                                        "target_width"};
    int64_t box[4];
    for (int i = 0; i < 4; i++) {
        box[i] = stk_attrs_int(node->attrs, names[i], -1);
    }
    return set_ints(a, "crop_window", box, 4);
}

static bool has_static_box(const struct stk_fn_node *node)
{
    return node->n_in == 1 && stk_attrs_int(node->attrs, "offset_height", -1) >= 0 &&
           stk_attrs_int(node->attrs, "offset_width", -1) >= 0 &&
           stk_attrs_int(node->attrs, "target_height", -1) > 0 &&
           stk_attrs_int(node->attrs, "target_width", -1) > 0;
}

// Is it a slice of static size with all channels?
static bool slices_rows_and_columns(const struct stk_refn *r, int64_t channels)
{
    const struct stk_attrs *a = r->node->attrs;
    const struct stk_attr *size = stk_attrs_get(a, "size"), *begin = stk_attrs_get(a, "begin");
    const struct stk_shape *at = r->node->n_in == 2 ? &stk_refn_spec(r, r->in[1])->shape : NULL;
    bool has_begin = begin ? r->node->n_in == 1 && begin->kind == STK_ATTR_INTS && begin->count == 3
                           : at && at->rank == 1 && at->dim[0] == 3;
    return has_begin && size && size->kind == STK_ATTR_INTS && size->count == 3 &&
           size->ints[0] > 0 && size->ints[1] > 0 && channels > 0 && size->ints[2] == channels;
}

static bool set_slice(const struct stk_fn_node *node, struct stk_attrs *a)
{
    const struct stk_attr *size = stk_attrs_get(node->attrs, "size");
    const struct stk_attr *begin = stk_attrs_get(node->attrs, "begin");
    return set_ints(a, "slice_size", size->ints, 2) &&
           (!begin || set_ints(a, "crop_window", begin->ints, 3));
}

static bool is_whole(const struct stk_op_index_item *it)
{
    return it->kind == STK_OP_ELLIPSIS ||
           (it->kind == STK_OP_SLICE && it->flags == (STK_OP_NO_BEGIN | STK_OP_NO_END) &&
            it->step == 1);
}

// An index of rows, or rows and columns, with steps of 1: its two items. False: another kind of
// index.
static bool read_ranges(const struct stk_fn_node *node, struct stk_op_index_item range[2])
{
    const struct stk_attr *t = stk_attrs_get(node->attrs, "index");
    int64_t n = t && t->kind == STK_ATTR_INTS ? t->count / 5 : 0;
    bool fits = n >= 1 && n <= 3 && node->n_in <= 5, crops = false;
    for (int64_t k = 0; fits && k < n; k++) {
        struct stk_op_index_item it;
        memcpy(&it, &t->ints[5 * k], sizeof it);
        if (k == 2) {
            fits = is_whole(&it);
            continue;
        }
        if (it.kind == STK_OP_ELLIPSIS) { // it must have no other items
            fits = k > 0 && k == n - 1;
            break;
        }
        fits = it.kind == STK_OP_SLICE && it.step == 1 && !(it.flags & STK_OP_STEP_INPUT);
        crops = crops || !is_whole(&it);
        range[k] = it;
    }
    return fits && crops;
}

static bool set_ranges(const struct stk_fn_node *node, struct stk_attrs *a)
{
    struct stk_op_index_item range[2];
    for (int k = 0; k < 2; k++) {
        range[k] = (struct stk_op_index_item){
            .kind = STK_OP_SLICE, .step = 1, .flags = STK_OP_NO_BEGIN | STK_OP_NO_END};
    }
    int64_t ints[10];
    (void)read_ranges(node, range);
    memcpy(ints, range, sizeof ints);
    return set_ints(a, "ranges", ints, 10);
}

static enum stk_op_crop crop_kind(const struct stk_refn *r, const struct stk_fn_node *decode)
{
    const struct stk_fn_node *node = r->node;
    if (stk_refn_is(node, "central_crop") && node->n_in == 1) {
        return STK_OP_CROP_CENTRAL;
    }
    if (stk_refn_is(node, "crop_to_bounding_box") && has_static_box(node)) {
        return STK_OP_CROP_BOX;
    }
    if (stk_refn_is(node, "slice") &&
        slices_rows_and_columns(r, stk_attrs_int(decode->attrs, "channels", 0))) {
        return STK_OP_CROP_SLICE;
    }
    struct stk_op_index_item range[2];
    if (stk_refn_is(node, "strided_slice") && read_ranges(node, range)) {
        return STK_OP_CROP_RANGES;
    }
    return STK_OP_CROP_NONE;
}

enum stoker_status stk_refn_crop(struct stk_refn *r, int *result, struct stoker_err *err)
{
    const struct stk_fn_node *node = r->node;
    const struct stk_fn_node *decode = node->n_in > 0 ? stk_refn_maker(r, r->in[0]) : NULL;
    enum stk_op_crop crop = decode && decodes_all(decode) ? crop_kind(r, decode) : STK_OP_CROP_NONE;
    if (crop == STK_OP_CROP_NONE) {
        return STOKER_OK;
    }
    struct stk_attrs *a = stk_attrs_copy(decode->attrs);
    bool ok = a && stk_attrs_set_int(a, "crop", crop);
    if (ok && crop == STK_OP_CROP_CENTRAL) {
        ok = stk_attrs_set_float(a, "central_fraction",
                                 stk_attrs_float(node->attrs, "central_fraction", 1));
    } else if (ok) {
        ok = crop == STK_OP_CROP_BOX      ? set_box(node, a)
             : crop == STK_OP_CROP_RANGES ? set_ranges(node, a)
                                          : set_slice(node, a);
    }
    int in[5] = {decode->in[0]};
    for (int i = 1; i < node->n_in; i++) {
        in[i] = r->in[i];
    }
    enum stoker_status s =
        ok ? stk_refn_add(r, "decode_part", in, node->n_in, a, result, err) : stk_err_nomem(err);
    stk_attrs_drop(a);
    return s;
}

enum stoker_status stk_refn_file_shape(struct stk_refn *r, int *result, struct stoker_err *err)
{
    const struct stk_fn_node *node = r->node;
    const struct stk_fn_node *decode =
        stk_refn_is(node, "shape") && node->n_in == 1 ? stk_refn_producer(r, r->in[0]) : NULL;
    // Something else must use the pixels, so that a damaged file is an error.
    if (!decode || !decodes_all(decode) || stk_refn_uses(r, r->in[0]) < 2) {
        return STOKER_OK;
    }
    struct stk_attrs *a = stk_attrs_new();
    bool ok = a && stk_attrs_set_int(a, "channels", stk_attrs_int(decode->attrs, "channels", 0)) &&
              stk_attrs_set_int(a, "output_type", r->from->specs[node->first_out].dtype);
    int in = decode->in[0];
    enum stoker_status s =
        ok ? stk_refn_add(r, "decoded_shape", &in, 1, a, result, err) : stk_err_nomem(err);
    stk_attrs_drop(a);
    return s;
}
