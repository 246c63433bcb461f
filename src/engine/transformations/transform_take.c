// SPDX-License-Identifier: Apache-2.0
// take, skip, shard: parts of the input by position. A negative count means all for take, and
// nothing left for skip. shard skips the elements of other shards instead of making them, if the
// input can.
//
// remainder: what shard does if parts would be unequal. KEEP leaves them unequal. DROP returns an
// element only once its whole round (one element for each part) is known to exist. PAD returns the
// first element of a short part again at the end; an empty part returns the input's first. So that
// a resumed iterator has that element too, it is made before anything is skipped.
#include "base/assert.h"
#include "engine/graph/infer.h"
#include "engine/run/pull.h"

#define SHARD_PARTS 64 // elements of a block picked one by one

enum remainder { KEEP, DROP, PAD };

struct part {
    int64_t passed;        // elements returned (take), or of the input (shard)
    int64_t count;         // for take and skip
    int64_t shards, index; // for shard
    bool has_begun;
    enum remainder remainder;
    bool is_first_left; // PAD: `filling` is our first element and hasn't been returned
    bool is_full;       // PAD: nothing is missing at the end
    struct stk_block filling, picked[SHARD_PARTS];
};

static int64_t number(const struct stk_dataset *ds, const char *name)
{
    return stk_attrs_int(ds->attrs, name, 0);
}

static enum remainder remainder_of(const struct stk_dataset *ds)
{
    return (enum remainder)number(ds, "remainder");
}

static enum stoker_status part_open(struct stk_iter *it, struct stoker_err *err)
{
    struct part *p = it->state;
    (void)err;
    p->count = number(it->ds, "count");
    p->shards = number(it->ds, "num_shards");
    p->index = number(it->ds, "index");
    p->remainder = remainder_of(it->ds);
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

struct places { // input positions of our elements: k * by + first, `beyond` from `end` on
    int64_t by, first, end, beyond;
};

static enum stoker_status mapped_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                    struct places at, struct stk_block *out, struct stoker_err *err)
{
    STK_ASSERT(at.by > 0 && at.first >= 0);
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
        of[i] = index[i] * at.by + at.first;
        of[i] = of[i] < at.end ? of[i] : at.beyond;
    }
    enum stoker_status s = stk_iter_at(it->in[0], of, n, out, err);
    stk_buf_drop(many);
    return s;
}

static enum stoker_status skip_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                  struct stk_block *out, struct stoker_err *err)
{
    struct places at = {1, ((struct part *)it->state)->count, INT64_MAX, 0};
    return mapped_at(it, index, n, at, out, err);
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
    switch (remainder_of(ds)) {
    case DROP:
        return n / shards;
    case PAD:
        return n / shards + (n % shards > 0);
    default:
        return n / shards + (n % shards > index);
    }
}

// Pulls one element of the input into the block; *is_there: there was one.
static enum stoker_status pull_one(struct stk_iter *it, struct stk_block *to, bool *is_there,
                                   struct stoker_err *err)
{
    struct part *p = it->state;
    stk_block_clear(to);
    to->n = 0;
    enum stoker_status s = stk_iter_next(it->in[0], 1, to, err);
    *is_there = s == STOKER_OK && to->n > 0;
    p->passed += s != STOKER_OK || *is_there;
    return s;
}

// With PAD, before anything else: makes the padding element: the input's first, in case it ends
// before ours, then our own first.
static enum stoker_status take_filling(struct stk_iter *it, struct stoker_err *err)
{
    struct part *p = it->state;
    int64_t n = stk_dataset_cardinality(it->ds->in[0]), done = 0;
    bool is_there = true;
    enum stoker_status s = STOKER_OK;
    if (p->passed == 0 && p->index > 0 && n <= p->index && n != STK_INFINITE) {
        s = pull_one(it, &p->filling, &is_there, err);
    }
    if (s == STOKER_OK && is_there && p->passed < p->index) {
        int64_t before = p->index - p->passed;
        s = stk_iter_skip(it->in[0], before, &done, err);
        p->passed += done + (s != STOKER_OK);
        is_there = done == before;
    }
    if (s != STOKER_OK || !is_there) {
        p->has_begun = s == STOKER_OK || p->passed > p->index;
        return s;
    }
    p->has_begun = true;
    struct stk_block first = {0};
    s = pull_one(it, &first, &is_there, err);
    if (is_there) {
        p->is_first_left = true;
        stk_block_move(&p->filling, &first);
    }
    stk_block_free(&first);
    return s;
}

// With PAD, at the input's end: is our part one short?
static bool is_short(struct part *p)
{
    bool is = !p->is_full && p->passed % p->shards != 0 && p->passed % p->shards <= p->index;
    p->is_full = true;
    return is;
}

static enum stoker_status fill_up(struct stk_iter *it, struct stk_block *out,
                                  struct stoker_err *err)
{
    struct part *p = it->state;
    if (!is_short(p)) {
        return STOKER_OK;
    }
    if (p->filling.n == 0) {
        return stk_err_set(err, STOKER_EINVAL,
                           "shard: this part is one element short, and its first one, which would "
                           "be given again, could not be made");
    }
    return stk_block_share(out, &p->filling) ? STOKER_OK : stk_stage_no_memory(it, err);
}

// Skips the rest of the round; *is_there: it was complete. Another part reports errors of its own
// elements.
static enum stoker_status pass_round(struct stk_iter *it, bool *is_there, struct stoker_err *err)
{
    struct part *p = it->state;
    int64_t done = 0, rest = p->shards - 1 - p->index;
    enum stoker_status s = STOKER_OK;
    while (done < rest) {
        int64_t more = 0;
        s = stk_iter_skip(it->in[0], rest - done, &more, err);
        done += more + (s != STOKER_OK);
        if (s == STOKER_OK ? more == 0 : !stk_status_is_of_element(s)) {
            break;
        }
        s = STOKER_OK;
    }
    p->passed += done;
    *is_there = done == rest;
    return s;
}

// With DROP: returns our element, or its error (s), only if its round is complete.
static enum stoker_status keep_whole(struct stk_iter *it, enum stoker_status s,
                                     struct stk_block *out, struct stoker_err *err)
{
    struct stoker_err other;
    bool is_there;
    enum stoker_status of_round = pass_round(it, &is_there, &other);
    if (of_round == STOKER_OK && is_there) {
        return s;
    }
    stk_block_clear(out);
    out->n = 0;
    if (of_round != STOKER_OK) {
        *err = other;
    }
    return of_round;
}

// Our next element as a block of one.
static enum stoker_status pick(struct stk_iter *it, struct stk_block *out, struct stoker_err *err)
{
    struct part *p = it->state;
    int64_t shards = p->shards, done = 0;
    if (p->remainder == PAD && !p->has_begun) {
        enum stoker_status begun = take_filling(it, err);
        if (begun != STOKER_OK) {
            return begun;
        }
    }
    if (p->is_first_left) {
        p->is_first_left = false;
        return stk_block_share(out, &p->filling) ? STOKER_OK : stk_stage_no_memory(it, err);
    }
    int64_t before = (p->index - p->passed % shards + shards) % shards;
    STK_ASSERT(before >= 0 && before < shards);
    enum stoker_status s = before ? stk_iter_skip(it->in[0], before, &done, err) : STOKER_OK;
    p->passed += done;
    if (s != STOKER_OK) {
        p->passed++;
        return s;
    }
    bool is_there = false;
    if (done == before) {
        s = pull_one(it, out, &is_there, err);
    }
    if (p->remainder == PAD && s == STOKER_OK && !is_there) {
        return fill_up(it, out, err);
    }
    if (p->remainder == DROP && (s == STOKER_OK ? is_there : stk_status_is_of_element(s))) {
        return keep_whole(it, s, out, err);
    }
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
    if (p->remainder == PAD && !p->has_begun && n > 0) {
        enum stoker_status begun = take_filling(it, err);
        if (begun != STOKER_OK) {
            return begun;
        }
    }
    int64_t given = p->is_first_left && n > 0;
    p->is_first_left = p->is_first_left && !given;
    int64_t first = p->passed, span;
    *done = given;
    if (n - given <= 0 || __builtin_mul_overflow(n - given, shards, &span)) {
        return STOKER_OK;
    }
    enum stoker_status s = stk_iter_skip(it->in[0], span, &passed, err);
    p->passed += passed + (s != STOKER_OK);
    // Ours among [first, first + passed); with DROP only those of whole rounds.
    int64_t end = first + passed;
    *done += p->remainder == DROP
                 ? end / shards - first / shards
                 : (end + shards - 1 - index) / shards - (first + shards - 1 - index) / shards;
    if (p->remainder == PAD && s == STOKER_OK && passed < span && *done < n && is_short(p)) {
        *done += 1;
    }
    return s;
}

static enum stoker_status shard_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                   struct stk_block *out, struct stoker_err *err)
{
    const struct part *p = it->state;
    int64_t input = stk_dataset_cardinality(it->ds->in[0]);
    struct places at = {p->shards, p->index, input, p->index < input ? p->index : 0};
    return mapped_at(it, index, n, at, out, err);
}

static void shard_close(struct stk_iter *it)
{
    struct part *p = it->state;
    for (int i = 0; i < SHARD_PARTS; i++) {
        stk_block_free(&p->picked[i]);
    }
    stk_block_free(&p->filling);
}

static bool has_known_end(const struct stk_dataset *ds)
{
    return stk_dataset_cardinality(ds) >= 0;
}

static const struct stk_arg_row count_args[] = {
    STK_ARG("count", INT, "number of elements; negative: all", .is_required = true), {0}};
static const struct stk_arg_row shard_args[] = {
    STK_ARG("num_shards", INT, "number of parts", .is_required = true, .min = 1,
            .max = INT64_MAX / 4),
    STK_ARG("index", INT, "the part's index", .is_required = true),
    STK_ARG("remainder", INT,
            "for uneven parts: keep them uneven, drop the last elements, or pad short parts with a "
            "repeated element",
            .max = PAD, .choices = "keep,drop,pad"),
    {0}};

const struct stk_dataset_kind stk_dataset_take = {.name = "take",
                                                  .summary = "The first elements",
                                                  .role = STK_DS_ORDER,
                                                  .keeps_blocks = true,
                                                  .args = count_args,
                                                  .infer = stk_dataset_like_input,
                                                  .cardinality = take_cardinality,
                                                  .state_bytes = sizeof(struct part),
                                                  .open = part_open,
                                                  .next = take_next,
                                                  .skip = take_skip,
                                                  .has_at = has_known_end,
                                                  .at = same_at};
const struct stk_dataset_kind stk_dataset_skip = {.name = "skip",
                                                  .summary = "Skips the first elements",
                                                  .role = STK_DS_ORDER,
                                                  .args = count_args,
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
                                                   .infer = shard_infer,
                                                   .cardinality = shard_cardinality,
                                                   .state_bytes = sizeof(struct part),
                                                   .open = part_open,
                                                   .next = shard_next,
                                                   .skip = shard_skip,
                                                   .has_at = has_known_end,
                                                   .at = shard_at,
                                                   .close = shard_close};
