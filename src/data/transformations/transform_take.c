// SPDX-License-Identifier: Apache-2.0
// take, skip, shard: parts of the input by position. A negative count of take means all, of skip
// that nothing is left. shard passes over the elements of others instead of making them, where the
// input can.
#include "base/assert.h"
#include "data/graph/infer.h"
#include "data/run/pull.h"

#define SHARD_PARTS 64 // elements of a block that are picked one by one

struct part {
    int64_t passed;        // elements given (take), of the input (shard)
    int64_t count;         // of take and skip
    int64_t shards, index; // of shard
    bool has_begun;
    struct stk_block picked[SHARD_PARTS];
};

static int64_t number(const struct stk_dataset *ds, const char *name)
{
    return stk_attrs_int(ds->attrs, name, 0);
}

static enum stoker_status part_open(struct stk_iter *it, struct stoker_err *err)
{
    struct part *p = it->state;
    (void)err;
    p->count = number(it->ds, "count");
    p->shards = number(it->ds, "num_shards");
    p->index = number(it->ds, "index");
    return STOKER_OK;
}

static int64_t take_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]), count = number(ds, "count");
    if (stk_arg_is_bound(ds, "count") || n == STK_CARDINALITY_UNKNOWN) {
        return STK_CARDINALITY_UNKNOWN;
    }
    return count < 0 ? n : n < 0 ? count : n < count ? n : count;
}

static int64_t take_left(const struct stk_iter *it, int64_t want)
{
    const struct part *p = it->state;
    return p->count < 0 || want < p->count - p->passed ? want : p->count - p->passed;
}

// An error is an element: it counts.
static enum stoker_status take_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct part *p = it->state;
    int64_t n = take_left(it, want);
    if (n <= 0) {
        return STOKER_OK;
    }
    enum stoker_status s = stk_iter_next(it->in[0], n, out, err);
    p->passed += s == STOKER_OK ? out->n : 1;
    return s;
}

static enum stoker_status take_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                    struct stoker_err *err)
{
    struct part *p = it->state;
    n = take_left(it, n);
    enum stoker_status s = n > 0 ? stk_iter_skip(it->in[0], n, done, err) : STOKER_OK;
    p->passed += *done + (s != STOKER_OK);
    return s;
}

static enum stoker_status same_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                  struct stk_block *out, struct stoker_err *err)
{
    return stk_iter_at(it->in[0], index, n, out, err);
}

static int64_t skip_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]), count = number(ds, "count");
    if (stk_arg_is_bound(ds, "count")) {
        return STK_CARDINALITY_UNKNOWN;
    }
    if (count < 0) {
        return 0;
    }
    return n < 0 ? n : n > count ? n - count : 0;
}

static enum stoker_status pass_over(struct stk_iter *it, struct stoker_err *err)
{
    struct part *p = it->state;
    int64_t count = p->count, done = 0;
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && p->passed < count) {
        s = stk_iter_skip(it->in[0], count - p->passed, &done, err);
        p->passed += done + (s != STOKER_OK);
        if (s == STOKER_OK && done == 0) {
            break;
        }
    }
    p->has_begun = s == STOKER_OK;
    return s;
}

static enum stoker_status skip_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct part *p = it->state;
    if (p->count < 0) {
        return STOKER_OK;
    }
    enum stoker_status s = p->has_begun ? STOKER_OK : pass_over(it, err);
    return s == STOKER_OK ? stk_iter_next(it->in[0], want, out, err) : s;
}

static enum stoker_status skip_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                    struct stoker_err *err)
{
    struct part *p = it->state;
    if (p->count < 0) {
        return STOKER_OK;
    }
    enum stoker_status s = p->has_begun ? STOKER_OK : pass_over(it, err);
    return s == STOKER_OK ? stk_iter_skip(it->in[0], n, done, err) : s;
}

#define INDEX_BLOCK 1024

// Positions of the input for those of ours: k * by + first.
static enum stoker_status mapped_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                    int64_t by, int64_t first, struct stk_block *out,
                                    struct stoker_err *err)
{
    STK_ASSERT(by > 0 && first >= 0);
    int64_t few[INDEX_BLOCK], *of = few;
    struct stk_buf *many = NULL;
    if (n > INDEX_BLOCK) {
        many = stk_buf_get(it->run->pool, (size_t)n * sizeof of[0]);
        if (!many) {
            return stk_stage_no_memory(it, err);
        }
        of = (int64_t *)many->data;
    }
    for (int64_t i = 0; i < n; i++) {
        of[i] = index[i] * by + first;
    }
    enum stoker_status s = stk_iter_at(it->in[0], of, n, out, err);
    stk_buf_drop(many);
    return s;
}

static enum stoker_status skip_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                  struct stk_block *out, struct stoker_err *err)
{
    return mapped_at(it, index, n, 1, ((struct part *)it->state)->count, out, err);
}

static enum stoker_status shard_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    int64_t shards = number(ds, "num_shards"), index = number(ds, "index");
    bool is_bound = stk_arg_is_bound(ds, "num_shards") || stk_arg_is_bound(ds, "index");
    if (!is_bound && (index < 0 || index >= shards)) {
        return stk_err_set(err, STOKER_EINVAL, "shard: index is %lld; it must be 0 to %lld",
                           (long long)index, (long long)shards - 1);
    }
    return stk_dataset_like_input(ds, err);
}

static int64_t shard_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]);
    int64_t shards = number(ds, "num_shards"), index = number(ds, "index");
    if (n < 0 || stk_arg_is_bound(ds, "num_shards") || stk_arg_is_bound(ds, "index")) {
        return n == STK_INFINITE ? n : STK_CARDINALITY_UNKNOWN;
    }
    return n / shards + (n % shards > index);
}

// The next element of ours as a block of one.
static enum stoker_status pick(struct stk_iter *it, struct stk_block *out, struct stoker_err *err)
{
    struct part *p = it->state;
    int64_t shards = p->shards, done = 0;
    int64_t before = (p->index - p->passed % shards + shards) % shards;
    STK_ASSERT(before >= 0 && before < shards);
    enum stoker_status s = before ? stk_iter_skip(it->in[0], before, &done, err) : STOKER_OK;
    p->passed += done;
    if (s != STOKER_OK || done < before) {
        p->passed += s != STOKER_OK;
        return s;
    }
    s = stk_iter_next(it->in[0], 1, out, err);
    p->passed += s != STOKER_OK || out->n;
    return s;
}

static enum stoker_status shard_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct part *p = it->state;
    const struct stk_block *list[SHARD_PARTS];
    enum stoker_status s = STOKER_OK;
    int count = 0;
    stk_block_clear(out);
    while (s == STOKER_OK && count < SHARD_PARTS && count < want) {
        s = pick(it, &p->picked[count], err);
        if (s == STOKER_OK && p->picked[count].n == 0) {
            break;
        }
        list[count] = &p->picked[count];
        count += s == STOKER_OK;
    }
    if (count > 0 && !stk_block_concat(out, it->run->pool, list, count)) {
        s = stk_stage_no_memory(it, err);
    }
    for (int i = 0; i < count; i++) {
        stk_block_clear(&p->picked[i]);
    }
    return s;
}

static enum stoker_status shard_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                     struct stoker_err *err)
{
    struct part *p = it->state;
    int64_t shards = p->shards, index = p->index, passed = 0;
    int64_t first = p->passed, span;
    if (n <= 0 || __builtin_mul_overflow(n, shards, &span)) {
        return STOKER_OK;
    }
    enum stoker_status s = stk_iter_skip(it->in[0], span, &passed, err);
    p->passed += passed + (s != STOKER_OK);
    // Ours among [first, first + passed).
    int64_t end = first + passed;
    *done = (end + shards - 1 - index) / shards - (first + shards - 1 - index) / shards;
    return s;
}

static enum stoker_status shard_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                   struct stk_block *out, struct stoker_err *err)
{
    const struct part *p = it->state;
    return mapped_at(it, index, n, p->shards, p->index, out, err);
}

static void shard_close(struct stk_iter *it)
{
    struct part *p = it->state;
    for (int i = 0; i < SHARD_PARTS; i++) {
        stk_block_free(&p->picked[i]);
    }
}

static bool has_known_end(const struct stk_dataset *ds)
{
    return stk_dataset_cardinality(ds) >= 0;
}

static const struct stk_arg_row count_args[] = {
    {.name = "count", .type = STK_ARG_INT, .is_required = true, .help = "elements; negative: all"},
    {0}};
static const struct stk_arg_row shard_args[] = {
    {.name = "num_shards",
     .type = STK_ARG_INT,
     .is_required = true,
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "parts of the whole"},
    {.name = "index", .type = STK_ARG_INT, .is_required = true, .help = "which part"},
    {0}};

const struct stk_dataset_kind stk_dataset_take = {.name = "take",
                                                  .summary = "The first elements",
                                                  .role = STK_DS_ORDER,
                                                  .keeps_blocks = true,
                                                  .args = count_args,
                                                  .n_in_min = 1,
                                                  .n_in_max = 1,
                                                  .infer = stk_dataset_like_input,
                                                  .cardinality = take_cardinality,
                                                  .state_bytes = sizeof(struct part),
                                                  .open = part_open,
                                                  .next = take_next,
                                                  .skip = take_skip,
                                                  .has_at = has_known_end,
                                                  .at = same_at};
const struct stk_dataset_kind stk_dataset_skip = {.name = "skip",
                                                  .summary = "All but the first elements",
                                                  .role = STK_DS_ORDER,
                                                  .args = count_args,
                                                  .n_in_min = 1,
                                                  .n_in_max = 1,
                                                  .infer = stk_dataset_like_input,
                                                  .cardinality = skip_cardinality,
                                                  .state_bytes = sizeof(struct part),
                                                  .open = part_open,
                                                  .next = skip_next,
                                                  .skip = skip_skip,
                                                  .has_at = has_known_end,
                                                  .at = skip_at};
const struct stk_dataset_kind stk_dataset_shard = {.name = "shard",
                                                   .summary = "Every n-th element",
                                                   .role = STK_DS_ORDER,
                                                   .args = shard_args,
                                                   .n_in_min = 1,
                                                   .n_in_max = 1,
                                                   .infer = shard_infer,
                                                   .cardinality = shard_cardinality,
                                                   .state_bytes = sizeof(struct part),
                                                   .open = part_open,
                                                   .next = shard_next,
                                                   .skip = shard_skip,
                                                   .has_at = has_known_end,
                                                   .at = shard_at,
                                                   .close = shard_close};
