// SPDX-License-Identifier: Apache-2.0
// zip: combines elements of several datasets, as many as the shortest has. enumerate: elements with
// their number. If an element fails in one input, that is an error, and the others' elements at
// that position are dropped, so that inputs stay in step.
#include "base/assert.h"
#include "engine/run/feed.h"
#include "engine/run/pull.h"

#include "base/alloc.h"

struct zip {
    struct stk_feed *feeds; // one per input
    int64_t index;          // of the next element
    struct stk_block in;
    int64_t start; // of enumerate
};

static enum stoker_status zip_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    int count = 0;
    for (int i = 0; i < ds->n_in; i++) {
        count += ds->in[i]->specs->count;
    }
    if (count > STK_COMPONENTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "zip: %d components, at most %d", count,
                           STK_COMPONENTS_MAX);
    }
    ds->specs = stk_specs_new(count);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    for (int i = 0, at = 0; i < ds->n_in; i++) {
        for (int k = 0; k < ds->in[i]->specs->count; k++) {
            stk_spec_copy(&ds->specs->items[at++], &ds->in[i]->specs->items[k]);
        }
    }
    return STOKER_OK;
}

static int64_t zip_cardinality(const struct stk_dataset *ds)
{
    int64_t least = STK_INFINITE;
    bool is_unknown = false;
    for (int i = 0; i < ds->n_in; i++) {
        int64_t n = stk_dataset_cardinality(ds->in[i]);
        if (n == 0) {
            return 0;
        }
        is_unknown = is_unknown || n == STK_CARDINALITY_UNKNOWN;
        least = n >= 0 && (least < 0 || n < least) ? n : least;
    }
    return is_unknown ? STK_CARDINALITY_UNKNOWN : least;
}

static enum stoker_status zip_open(struct stk_iter *it, struct stoker_err *err)
{
    struct zip *z = it->state;
    z->feeds = stk_alloc_zero((size_t)it->n_in, sizeof z->feeds[0]);
    return z->feeds ? STOKER_OK : stk_err_nomem(err);
}

// Fills all feeds; *n: the fewest elements of any.
static enum stoker_status fill_all(struct stk_iter *it, int64_t want, int64_t *n,
                                   struct stoker_err *err)
{
    struct zip *z = it->state;
    enum stoker_status s = STOKER_OK;
    uint64_t failed = 0;
    *n = want;
    for (int i = 0; i < it->n_in; i++) {
        struct stoker_err mine;
        enum stoker_status each = stk_feed_fill(&z->feeds[i], it->in[i], want, &mine);
        if (each != STOKER_OK && s == STOKER_OK) {
            s = each;
            *err = mine;
        }
        failed |= (uint64_t)(each != STOKER_OK) << (i & 63);
        int64_t left = stk_feed_left(&z->feeds[i]);
        *n = each == STOKER_OK && left < *n ? left : *n;
    }
    for (int i = 0; s != STOKER_OK && i < it->n_in; i++) {
        // Inputs beyond the 64th share a bit: an error in one costs both an element.
        z->feeds[i].used += stk_feed_left(&z->feeds[i]) > 0 && !(failed >> (i & 63) & 1);
    }
    return s;
}

static enum stoker_status zip_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                   struct stoker_err *err)
{
    struct zip *z = it->state;
    int64_t n;
    enum stoker_status s = fill_all(it, want, &n, err);
    if (s != STOKER_OK || n == 0) {
        return s;
    }
    if (!stk_block_reset(out, it->ds->specs->count)) {
        return stk_err_nomem(err);
    }
    for (int i = 0, at = 0; i < it->n_in; i++) {
        struct stk_feed *f = &z->feeds[i];
        for (int k = 0; k < f->block.count; k++) {
            stk_col_slice(&out->cols[at++], &f->block.cols[k], f->used, n);
        }
        f->used += n;
    }
    STK_ASSERT(n > 0 && n <= want);
    out->n = n;
    return STOKER_OK;
}

static enum stoker_status zip_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                   struct stoker_err *err)
{
    struct zip *z = it->state;
    *done = n;
    for (int i = 0; i < it->n_in; i++) {
        int64_t passed = 0;
        while (passed < n) {
            // The position of a failed element counts in the other inputs, too.
            int64_t more = 0;
            enum stoker_status s = stk_feed_skip(&z->feeds[i], it->in[i], n - passed, &more, err);
            passed += more + (s != STOKER_OK);
            if (s == STOKER_EINTR || s == STOKER_ENOMEM || (s == STOKER_OK && more == 0)) {
                if (s != STOKER_OK) {
                    return s;
                }
                break;
            }
        }
        *done = passed < *done ? passed : *done;
    }
    return STOKER_OK;
}

static enum stoker_status zip_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                 struct stk_block *out, struct stoker_err *err)
{
    struct zip *z = it->state;
    if (!stk_block_reset(out, it->ds->specs->count)) {
        return stk_err_nomem(err);
    }
    for (int i = 0, at = 0; i < it->n_in; i++) {
        enum stoker_status s = stk_iter_at(it->in[i], index, n, &z->in, err);
        for (int k = 0; s == STOKER_OK && k < z->in.count; k++) {
            stk_col_share(&out->cols[at++], &z->in.cols[k]);
        }
        stk_block_clear(&z->in);
        if (s != STOKER_OK) {
            return s;
        }
    }
    out->n = n;
    return STOKER_OK;
}

static void zip_close(struct stk_iter *it)
{
    struct zip *z = it->state;
    for (int i = 0; z->feeds && i < it->n_in; i++) {
        stk_feed_free(&z->feeds[i]);
    }
    stk_free(z->feeds);
    stk_block_free(&z->in);
}

static enum stoker_status enumerate_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    if (in->count >= STK_COMPONENTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "enumerate: %d components, at most %d",
                           in->count + 1, STK_COMPONENTS_MAX);
    }
    ds->specs = stk_specs_new(in->count + 1);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    ds->specs->items[0].dtype = STK_DT_I64;
    for (int k = 0; k < in->count; k++) {
        stk_spec_copy(&ds->specs->items[k + 1], &in->items[k]);
    }
    return STOKER_OK;
}

static enum stoker_status enumerate_open(struct stk_iter *it, struct stoker_err *err)
{
    (void)err;
    ((struct zip *)it->state)->start = stk_attrs_int(it->ds->attrs, "start", 0);
    return STOKER_OK;
}

// The elements of z->in with the numbers index[i], or first + i.
static enum stoker_status number(struct stk_iter *it, const int64_t *index, int64_t first,
                                 struct stk_block *out, struct stoker_err *err)
{
    struct zip *z = it->state;
    const struct stk_spec *spec = &it->ds->specs->items[0];
    if (!stk_block_reset(out, z->in.count + 1)) {
        return stk_err_nomem(err);
    }
    if (!stk_col_uniform(&out->cols[0], it->run->pool, spec->dtype, &spec->shape, z->in.n)) {
        return stk_stage_no_memory(it, err);
    }
    int64_t *to = (int64_t *)out->cols[0].data;
    for (int64_t i = 0; i < z->in.n; i++) {
        to[i] = (int64_t)((uint64_t)z->start + (uint64_t)(index ? index[i] : first + i));
    }
    for (int k = 0; k < z->in.count; k++) {
        stk_col_share(&out->cols[k + 1], &z->in.cols[k]);
    }
    out->n = z->in.n;
    stk_block_clear(&z->in);
    return STOKER_OK;
}

// As in tf.data, where it is a zip with range, a failed element has a number too.
static enum stoker_status enumerate_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                         struct stoker_err *err)
{
    struct zip *z = it->state;
    enum stoker_status s = stk_iter_next(it->in[0], want, &z->in, err);
    if (s != STOKER_OK || z->in.n == 0) {
        z->index += s != STOKER_OK;
        return s;
    }
    z->index += z->in.n;
    return number(it, NULL, z->index - z->in.n, out, err);
}

static enum stoker_status enumerate_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                         struct stoker_err *err)
{
    struct zip *z = it->state;
    enum stoker_status s = stk_iter_skip(it->in[0], n, done, err);
    z->index += *done + (s != STOKER_OK);
    return s;
}

static enum stoker_status enumerate_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                       struct stk_block *out, struct stoker_err *err)
{
    struct zip *z = it->state;
    enum stoker_status s = stk_iter_at(it->in[0], index, n, &z->in, err);
    return s == STOKER_OK ? number(it, index, 0, out, err) : s;
}

static const struct stk_arg_row enumerate_args[] = {
    STK_ARG("start", INT, "number of the first element"), {0}};

const struct stk_dataset_kind stk_dataset_zip = {.name = "zip",
                                                 .summary = "Zips datasets",
                                                 .role = STK_DS_SEVERAL,
                                                 .n_in_min = 1,
                                                 .n_in_max = -1,
                                                 .infer = zip_infer,
                                                 .cardinality = zip_cardinality,
                                                 .state_bytes = sizeof(struct zip),
                                                 .open = zip_open,
                                                 .next = zip_next,
                                                 .skip = zip_skip,
                                                 .at = zip_at,
                                                 .close = zip_close};
const struct stk_dataset_kind stk_dataset_enumerate = {.name = "enumerate",
                                                       .summary = "Numbers elements",
                                                       .role = STK_DS_FORM,
                                                       .args = enumerate_args,
                                                       .infer = enumerate_infer,
                                                       .cardinality = stk_dataset_as_many,
                                                       .state_bytes = sizeof(struct zip),
                                                       .open = enumerate_open,
                                                       .next = enumerate_next,
                                                       .skip = enumerate_skip,
                                                       .at = enumerate_at,
                                                       .close = zip_close};
