// SPDX-License-Identifier: Apache-2.0
// repeat: the input several times, each time a separate epoch for random stages. concatenate:
// several inputs, one after the other. Both open an input when its turn comes.
//
// As in tf.data, repeating an empty input without a count ends at once; one that is known to be
// empty also does with a count.
#include "base/assert.h"
#include "engine/graph/infer.h"
#include "engine/run/iter_open.h"
#include "engine/run/pull.h"

struct turns {
    int64_t count; // repeat: how often; negative: endless
    int64_t turn;  // the repetition, or input, that is open or next
    bool is_open;  // repeat: the input of this turn is open
    bool gave;     // this repetition returned an element (or an error)
};

static int64_t repeat_count(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "count", -1);
}

static int64_t repeat_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]), count = repeat_count(ds), all;
    if (stk_arg_is_bound(ds, "count")) {
        return n == 0 ? 0 : STK_CARDINALITY_UNKNOWN;
    }
    if (count < 0) {
        return n == 0 ? 0 : STK_INFINITE;
    }
    if (count == 0 || n < 0) {
        return count == 0 ? 0 : n;
    }
    return __builtin_mul_overflow(n, count, &all) ? INT64_MAX : all;
}

static enum stoker_status repeat_open(struct stk_iter *it, struct stoker_err *err)
{
    (void)err;
    ((struct turns *)it->state)->count = repeat_count(it->ds);
    return STOKER_OK;
}

// Opens the input of this round if it is not open yet; *is_over after the last round.
static enum stoker_status repeat_turn(struct stk_iter *it, bool *is_over, struct stoker_err *err)
{
    struct turns *t = it->state;
    int64_t count = t->count;
    *is_over = count >= 0 && t->turn >= count;
    if (*is_over || t->is_open) {
        return STOKER_OK;
    }
    uint64_t epoch = t->turn ? stk_path_mix(it->epoch, (uint64_t)t->turn) : it->epoch;
    struct stk_iter *fresh = NULL;
    enum stoker_status s = stk_iter_open_input(&fresh, it, 0, epoch, err);
    if (s == STOKER_OK) {
        if (it->is_final) {
            stk_iter_hint_final(fresh);
        }
        stk_iter_exchange(it, 0, fresh);
        t->gave = false;
        t->is_open = true;
    }
    return s;
}

// Handles the end of the input. False: it is empty, so everything ends.
static bool repeat_end_turn(struct stk_iter *it)
{
    struct turns *t = it->state;
    STK_ASSERT(t->is_open && (t->count < 0 || t->turn < t->count));
    t->is_open = false; // kept for its counts until the next one opens
    t->turn++;
    if (!t->gave && (t->count < 0 || stk_dataset_cardinality(it->ds->in[0]) == 0)) {
        t->turn = t->count < 0 ? 0 : t->count; // 2^60 empty turns are empty, too
        return false;
    }
    return true;
}

static enum stoker_status repeat_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct turns *t = it->state;
    for (;;) {
        bool is_over;
        enum stoker_status s = repeat_turn(it, &is_over, err);
        if (s != STOKER_OK || is_over) {
            return s;
        }
        s = stk_iter_next(it->in[0], want, out, err);
        t->gave = t->gave || s != STOKER_OK || out->n > 0;
        if (s != STOKER_OK || out->n > 0 || !repeat_end_turn(it)) {
            return s;
        }
    }
}

// Skips whole repetitions of known length without opening them.
static void repeat_skip_turns(struct stk_iter *it, int64_t n, int64_t *done)
{
    struct turns *t = it->state;
    int64_t each = stk_dataset_cardinality(it->ds->in[0]), count = t->count;
    if (t->is_open || each <= 0) {
        return;
    }
    int64_t turns = (n - *done) / each, left = count < 0 ? turns : count - t->turn;
    turns = turns < left ? turns : left;
    t->turn += turns;
    *done += turns * each;
}

static enum stoker_status repeat_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                      struct stoker_err *err)
{
    struct turns *t = it->state;
    while (*done < n) {
        bool is_over;
        int64_t passed = 0;
        repeat_skip_turns(it, n, done);
        if (*done == n) {
            break;
        }
        enum stoker_status s = repeat_turn(it, &is_over, err);
        if (s != STOKER_OK || is_over) {
            return s;
        }
        s = stk_iter_skip(it->in[0], n - *done, &passed, err);
        *done += passed;
        t->gave = t->gave || s != STOKER_OK || passed > 0;
        if (s != STOKER_OK) {
            return s;
        }
        if (*done < n && !repeat_end_turn(it)) {
            break;
        }
    }
    return STOKER_OK;
}

static enum stoker_status concatenate_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    return stk_specs_join_inputs(ds, 0, err);
}

static int64_t concatenate_cardinality(const struct stk_dataset *ds)
{
    int64_t sum = 0;
    bool is_unknown = false;
    for (int i = 0; i < ds->n_in; i++) {
        int64_t n = stk_dataset_cardinality(ds->in[i]);
        if (n == STK_INFINITE) {
            return n;
        }
        is_unknown = is_unknown || n < 0 || __builtin_add_overflow(sum, n, &sum);
    }
    return is_unknown ? STK_CARDINALITY_UNKNOWN : sum;
}

static enum stoker_status concatenate_open(struct stk_iter *it, int i, struct stoker_err *err)
{
    if (it->in[i]) {
        return STOKER_OK;
    }
    struct stk_iter *fresh = NULL;
    enum stoker_status s = stk_iter_open_input(&fresh, it, i, it->epoch, err);
    if (s == STOKER_OK) {
        stk_iter_exchange(it, i, fresh);
    }
    return s;
}

static enum stoker_status concatenate_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                           struct stoker_err *err)
{
    struct turns *t = it->state;
    while (t->turn < it->ds->n_in) {
        enum stoker_status s = concatenate_open(it, (int)t->turn, err);
        if (s == STOKER_OK) {
            s = stk_iter_next(it->in[t->turn], want, out, err);
        }
        if (s != STOKER_OK || out->n > 0) {
            return s;
        }
        t->turn++;
    }
    return STOKER_OK;
}

static enum stoker_status concatenate_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                           struct stoker_err *err)
{
    struct turns *t = it->state;
    while (t->turn < it->ds->n_in && *done < n) {
        int64_t passed = 0;
        enum stoker_status s = concatenate_open(it, (int)t->turn, err);
        if (s == STOKER_OK) {
            s = stk_iter_skip(it->in[t->turn], n - *done, &passed, err);
        }
        *done += passed;
        if (s != STOKER_OK) {
            return s;
        }
        t->turn += *done < n;
    }
    return STOKER_OK;
}

static bool concatenate_has_at(const struct stk_dataset *ds)
{
    return concatenate_cardinality(ds) >= 0;
}

// One element, from the input that has the position.
static enum stoker_status one_at(struct stk_iter *it, int64_t index, struct stk_block *out,
                                 struct stoker_err *err)
{
    int i = 0;
    for (; i + 1 < it->ds->n_in; i++) {
        int64_t n = stk_dataset_cardinality(it->ds->in[i]);
        if (index < n) {
            break;
        }
        index -= n;
    }
    enum stoker_status s = concatenate_open(it, i, err);
    return s == STOKER_OK ? stk_iter_at(it->in[i], &index, 1, out, err) : s;
}

#define AT_PARTS 64

static enum stoker_status concatenate_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                         struct stk_block *out, struct stoker_err *err)
{
    struct stk_block parts[AT_PARTS] = {0}, all = {0}, joined = {0};
    enum stoker_status s = STOKER_OK;
    for (int64_t at = 0; s == STOKER_OK && at < n;) {
        const struct stk_block *list[AT_PARTS + 1] = {&all};
        int count = 0;
        for (; s == STOKER_OK && count < AT_PARTS && at < n; at++, count++) {
            s = one_at(it, index[at], &parts[count], err);
            list[count + 1] = &parts[count];
        }
        if (s == STOKER_OK) {
            bool ok = stk_block_concat(&joined, it->run->pool, all.n ? list : list + 1,
                                       count + (all.n > 0));
            s = ok ? STOKER_OK : stk_stage_no_memory(it, err);
            stk_block_move(&all, &joined);
        }
    }
    stk_block_move(out, &all);
    for (int i = 0; i < AT_PARTS; i++) {
        stk_block_free(&parts[i]);
    }
    stk_block_free(&all);
    stk_block_free(&joined);
    return s;
}

static const struct stk_arg_row repeat_args[] = {
    STK_ARG("count", INT, "number of times; negative: infinite", .fallback = -1), {0}};

const struct stk_dataset_kind stk_dataset_repeat = {.name = "repeat",
                                                    .summary = "Repeats the input",
                                                    .role = STK_DS_ORDER,
                                                    .args = repeat_args,
                                                    .infer = stk_dataset_like_input,
                                                    .cardinality = repeat_cardinality,
                                                    .state_bytes = sizeof(struct turns),
                                                    .opens_inputs = true,
                                                    .open = repeat_open,
                                                    .next = repeat_next,
                                                    .skip = repeat_skip};
const struct stk_dataset_kind stk_dataset_concatenate = {.name = "concatenate",
                                                         .summary = "Concatenates datasets",
                                                         .role = STK_DS_SEVERAL,
                                                         .n_in_min = 1,
                                                         .n_in_max = -1,
                                                         .infer = concatenate_infer,
                                                         .cardinality = concatenate_cardinality,
                                                         .state_bytes = sizeof(struct turns),
                                                         .opens_inputs = true,
                                                         .next = concatenate_next,
                                                         .skip = concatenate_skip,
                                                         .has_at = concatenate_has_at,
                                                         .at = concatenate_at};
