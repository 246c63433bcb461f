// SPDX-License-Identifier: Apache-2.0
// choose_from_datasets: input 0 says for each element from which other input it comes.
// sample_from_datasets: chosen at random, by weights. Drawing an exhausted input is ignored or,
// with stop_on_empty_dataset, ends everything.
//
// A draw depends only on the seed and its number: with a seed it is the same in every epoch, unless
// rerandomize_each_iteration.
#include "base/sort.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/str.h"
#include "engine/graph/infer.h"
#include "engine/run/feed.h"

#define ROUND 512 // elements of a block

struct choose {
    struct stk_feed *feeds; // one per input
    bool *is_over;
    int64_t *used; // per input: elements of its block used in this round
    double *reach; // sampling: sums of weights
    int64_t draws;
    int left;       // inputs that haven't ended
    bool has_ended; // stop_on_empty_dataset
    bool stops;     // ends with the first input that ends
    uint64_t seed;  // of the draws
    int drawn;      // a pending draw; -1: none
    int16_t round[ROUND];
    struct stk_block *parts, joined;
    const struct stk_block **list;
    struct stk_buf *index;
};

static int first_data(const struct stk_dataset *ds)
{
    return ds->kind == &stk_dataset_choose_from_datasets;
}

static enum stoker_status choose_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    int from = first_data(ds);
    if (from) {
        const struct stk_specs *s = ds->in[0]->specs;
        if (s->count != 1 || s->items[0].dtype != STK_DT_I64 || s->items[0].shape.rank != 0) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%s: the choices must be a dataset of int64 scalars",
                               ds->kind->name);
        }
    }
    const struct stk_attr *w = stk_attrs_get(ds->attrs, "weights");
    if (w && w->kind == STK_ATTR_FLOATS && w->count != ds->n_in) {
        return stk_err_set(err, STOKER_EINVAL, "%s: %lld weights for %d datasets", ds->kind->name,
                           (long long)w->count, ds->n_in);
    }
    double sum = 0;
    for (int64_t i = 0; w && w->kind == STK_ATTR_FLOATS && i < w->count; i++) {
        if (!(w->floats[i] >= 0)) {
            return stk_err_set(err, STOKER_EINVAL, "%s: weight %lld is negative", ds->kind->name,
                               (long long)i);
        }
        sum += w->floats[i];
    }
    if (w && w->kind == STK_ATTR_FLOATS && !(sum > 0)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: no weight is positive", ds->kind->name);
    }
    return stk_specs_join_inputs(ds, from, err);
}

// As in tf.data: known only to be infinite, or not at all.
static int64_t choose_cardinality(const struct stk_dataset *ds)
{
    bool stops = stk_attrs_int(ds->attrs, "stop_on_empty_dataset", 0) != 0;
    int from = first_data(ds), endless = 0;
    for (int i = from; i < ds->n_in; i++) {
        endless += stk_dataset_cardinality(ds->in[i]) == STK_INFINITE;
    }
    bool is_endless = stops ? endless == ds->n_in - from : endless > 0;
    if (from && stk_dataset_cardinality(ds->in[0]) != STK_INFINITE) {
        is_endless = false;
    }
    return is_endless ? STK_INFINITE : STK_CARDINALITY_UNKNOWN;
}

static enum stoker_status choose_open(struct stk_iter *it, struct stoker_err *err)
{
    struct choose *c = it->state;
    const struct stk_attr *w = stk_attrs_get(it->ds->attrs, "weights");
    size_t n = (size_t)it->n_in;
    c->feeds = stk_alloc_zero(n, sizeof c->feeds[0]);
    c->is_over = stk_alloc_zero(n, sizeof c->is_over[0]);
    c->used = stk_alloc_zero(n, sizeof c->used[0]);
    c->reach = stk_alloc_zero(n, sizeof c->reach[0]);
    c->parts = stk_alloc_zero(n, sizeof c->parts[0]);
    c->list = stk_alloc_array(n, sizeof c->list[0]);
    c->index = stk_buf_get(it->run->pool, ROUND * sizeof(int64_t));
    if (!c->feeds || !c->is_over || !c->used || !c->reach || !c->parts || !c->list || !c->index) {
        return stk_err_nomem(err);
    }
    bool is_same =
        it->ds->seed >= 0 && !stk_attrs_int(it->ds->attrs, "rerandomize_each_iteration", 0);
    c->seed = is_same ? stk_hash_u64((uint64_t)it->ds->seed + 1) : it->seed;
    c->stops = stk_attrs_int(it->ds->attrs, "stop_on_empty_dataset", 0) != 0;
    c->drawn = -1;
    c->left = it->n_in - first_data(it->ds);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double weight = w && w->kind == STK_ATTR_FLOATS ? w->floats[i] : 1;
        sum += weight;
        c->reach[i] = sum;
        if (weight <= 0) { // tf.data drops such datasets
            c->is_over[i] = true;
            c->left--;
        }
    }
    return STOKER_OK;
}

static int sample(struct stk_iter *it)
{
    struct choose *c = it->state;
    uint64_t bits = stk_random_bits(c->seed, 0, c->draws++, 0) >> 11;
    double x = (double)bits * 0x1p-53 * c->reach[it->n_in - 1];
    STK_ASSERT(c->reach[it->n_in - 1] > 0);
    int lo = 0, hi = it->n_in - 1;
    STK_BISECT(lo, hi, mid, c->reach[mid] <= x);
    return lo;
}

// Puts the next draw into c->drawn; -1: no more choices.
static enum stoker_status draw(struct stk_iter *it, struct stoker_err *err)
{
    struct choose *c = it->state;
    if (c->drawn >= 0) {
        return STOKER_OK;
    }
    if (!first_data(it->ds)) {
        c->drawn = sample(it);
        return STOKER_OK;
    }
    enum stoker_status s = stk_feed_fill(&c->feeds[0], it->in[0], ROUND, err);
    if (s != STOKER_OK || stk_feed_left(&c->feeds[0]) == 0) {
        return s;
    }
    int64_t v = *(int64_t *)stk_col_at(&c->feeds[0].block.cols[0], c->feeds[0].used++);
    if (v < 0 || v >= it->n_in - 1) {
        return stk_err_set(err, STOKER_EINVAL, "%s: choice %lld of %d datasets", it->kind->name,
                           (long long)v, it->n_in - 1);
    }
    c->drawn = (int)v + 1;
    return STOKER_OK;
}

// Can the drawn input give an element in this round? *goes_on false: the round ends before it.
static enum stoker_status serve(struct stk_iter *it, int64_t want, bool *is_given, bool *goes_on,
                                struct stoker_err *err)
{
    struct choose *c = it->state;
    int i = c->drawn;
    struct stk_feed *f = &c->feeds[i];
    STK_ASSERT(i >= 0 && i < it->n_in && c->used[i] <= f->block.n);
    *is_given = false;
    *goes_on = true;
    if (!c->is_over[i] && c->used[i] == 0 && stk_feed_left(f) == 0) {
        enum stoker_status s = stk_feed_fill(f, it->in[i], want, err);
        if (s != STOKER_OK) {
            c->drawn = -1;
            return s;
        }
        if (stk_feed_left(f) == 0) {
            c->is_over[i] = true;
            c->left--;
            c->has_ended = c->stops;
        }
    }
    if (c->is_over[i]) {
        c->drawn = -1;
        *goes_on = c->left > 0 && !c->has_ended;
        return STOKER_OK;
    }
    *is_given = c->used[i] < stk_feed_left(f);
    *goes_on = *is_given;
    c->used[i] += *is_given;
    c->drawn = *is_given ? -1 : i;
    return STOKER_OK;
}

// The round's elements, per input, then put in the order of the draws.
static bool join(struct stk_iter *it, int64_t n, struct stk_block *out)
{
    struct choose *c = it->state;
    STK_ASSERT(n > 0 && n <= ROUND);
    int64_t *index = (int64_t *)c->index->data, at = 0;
    int count = 0;
    bool ok = true;
    for (int i = 0; i < it->n_in; i++) {
        struct stk_feed *f = &c->feeds[i];
        if (ok && c->used[i] > 0) {
            ok = stk_block_slice(&c->parts[i], &f->block, f->used, c->used[i]);
            c->list[count++] = &c->parts[i];
            f->used += c->used[i];
            int64_t first = at;
            at += c->used[i];
            c->used[i] = first; // from here on: position of its next element
        }
    }
    for (int64_t k = 0; ok && k < n; k++) {
        index[k] = c->used[c->round[k]]++;
    }
    ok = ok && stk_block_concat(&c->joined, it->run->pool, c->list, count);
    ok = ok && (count == 1 ? stk_block_share(out, &c->joined)
                           : stk_block_gather(out, it->run->pool, &c->joined, index, n));
    for (int i = 0; i < it->n_in; i++) {
        stk_block_clear(&c->parts[i]);
    }
    stk_block_clear(&c->joined);
    return ok;
}

static enum stoker_status choose_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct choose *c = it->state;
    enum stoker_status s = STOKER_OK;
    int64_t n = 0;
    bool goes_on = c->left > 0 && !c->has_ended;
    want = want < ROUND ? want : ROUND;
    for (int i = 0; i < it->n_in; i++) {
        c->used[i] = 0;
    }
    while (s == STOKER_OK && goes_on && n < want) {
        bool is_given = false;
        s = draw(it, err);
        int drawn = c->drawn;
        if (s != STOKER_OK || drawn < 0) {
            break;
        }
        s = serve(it, want, &is_given, &goes_on, err);
        c->round[n] = (int16_t)drawn;
        n += is_given;
    }
    if (n > 0 && !join(it, n, out)) {
        return stk_stage_no_memory(it, err);
    }
    return s;
}

static void choose_close(struct stk_iter *it)
{
    struct choose *c = it->state;
    for (int i = 0; i < it->n_in; i++) {
        if (c->feeds) {
            stk_feed_free(&c->feeds[i]);
        }
        if (c->parts) {
            stk_block_free(&c->parts[i]);
        }
    }
    stk_block_free(&c->joined);
    stk_buf_drop(c->index);
    stk_free(c->feeds);
    stk_free(c->is_over);
    stk_free(c->used);
    stk_free(c->reach);
    stk_free(c->parts);
    stk_free(c->list);
}

static const struct stk_arg_row choose_args[] = {
    STK_ARG("stop_on_empty_dataset", BOOL, "stop at the end of the first dataset that ends"), {0}};
static const struct stk_arg_row sample_args[] = {
    STK_ARG("weights", OTHER, "weights of the datasets; default: equal"),
    STK_ARG("seed", INT, "seed of the draws", .fallback = -1),
    STK_ARG("stop_on_empty_dataset", BOOL, "stop at the end of the first dataset that ends"),
    STK_ARG("rerandomize_each_iteration", BOOL, "draw differently in each epoch, even with a seed"),
    {0}};

const struct stk_dataset_kind stk_dataset_choose_from_datasets = {
    .name = "choose_from_datasets",
    .summary = "Elements from the dataset that another one selects",
    .role = STK_DS_SEVERAL,
    .args = choose_args,
    .n_in_min = 2,
    .n_in_max = INT16_MAX,
    .infer = choose_infer,
    .cardinality = choose_cardinality,
    .state_bytes = sizeof(struct choose),
    .open = choose_open,
    .next = choose_next,
    .close = choose_close};
const struct stk_dataset_kind stk_dataset_sample_from_datasets = {
    .name = "sample_from_datasets",
    .summary = "Draws elements from datasets at random, by weight",
    .role = STK_DS_SEVERAL,
    .args = sample_args,
    .n_in_min = 1,
    .n_in_max = INT16_MAX,
    .infer = choose_infer,
    .cardinality = choose_cardinality,
    .state_bytes = sizeof(struct choose),
    .open = choose_open,
    .next = choose_next,
    .close = choose_close};
