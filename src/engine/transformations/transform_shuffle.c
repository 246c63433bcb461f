// SPDX-License-Identifier: Apache-2.0
// shuffle: elements in random order.
//
// If the input allows random access and the buffer holds all of it, the order is a computed
// permutation: nothing is kept, and skipping costs nothing. Otherwise as in tf.data: a buffer of
// buffer_size elements is filled; each result is drawn from it uniformly and replaced by the next
// element of the input; at the end the buffer empties. Draws depend on the seed and the number of
// the result. Errors of the input are returned at once.
// The buffer keeps its own copies (short values in one array per component, others in a buffer
// each), so one element never keeps a whole input block alive.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/str.h"
#include "engine/graph/infer.h"
#include "engine/graph/permute.h"
#include "engine/run/feed.h"
#include "engine/run/holders.h"
#include "engine/run/pull.h"

#define FIXED_BYTES_MAX ((int64_t)4096) // largest component kept in an array
#define FIRST_SLOTS ((int64_t)1024)
#define OUT_ELEMENTS_MAX 1024
#define OUT_BUDGET_PARTS 32
#define SHORT_STRING 1024 // bytes; any number of shorter ones is returned at once

struct store {             // one component of the buffer
    size_t each;           // bytes of a value in `fixed`; 0: values are separate columns
    uint8_t *fixed;        // slots * each
    struct stk_col *cols;  // slots
    struct stk_col *taken; // OUT_ELEMENTS_MAX: results not joined yet
};

struct shuffle {
    size_t claimed_bytes;          // taken from the budget, for arrays
    uint64_t put_bytes, put_count; // bytes and number of strings stored
    bool is_permuted;
    uint64_t seed; // for the order
    struct stk_permutation order;
    int64_t position; // permuted: results returned
    // The buffer.
    int64_t size, slots, held; // elements it may hold; has room for; holds
    uint64_t drawn;            // results so far
    struct store *stores;
    struct stk_feed feed;
    const struct stk_col **parts;
};

static enum stoker_status shuffle_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    int64_t size = stk_attrs_int(ds->attrs, "buffer_size", 1);
    if (size < 1 && size != -1 && !stk_arg_is_bound(ds, "buffer_size")) {
        return stk_err_set(
            err, STOKER_EINVAL,
            "shuffle: buffer_size is %lld; it must be positive, or -1 for all of the "
            "input",
            (long long)size);
    }
    return stk_dataset_like_input(ds, err);
}

static bool is_permutation(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]),
            size = stk_attrs_int(ds->attrs, "buffer_size", 1);
    return n >= 0 && (size < 0 || size >= n) && stk_dataset_has_at(ds->in[0]);
}

static uint64_t order_seed(const struct stk_iter *it)
{
    if (stk_attrs_int(it->ds->attrs, "reshuffle_each_iteration", 1)) {
        return it->seed;
    }
    // One order for every pipeline with this dataset, at any position in it: parts made by `take`
    // and `skip` must not overlap.
    int64_t order = stk_attrs_int(it->ds->attrs, "order", -1);
    if (it->ds->seed < 0 && order >= 0) {
        return stk_path_mix(it->run->seed, (uint64_t)order + 1);
    }
    return it->ds->seed >= 0 ? stk_hash_u64((uint64_t)it->ds->seed + 1)
                             : stk_path_mix(it->run->seed ^ it->path, 0);
}

static bool store_open(struct store *s, const struct stk_spec *spec)
{
    int64_t count = stk_shape_count(&spec->shape);
    int64_t bytes = count * (int64_t)stk_dtype_bytes(spec->dtype);
    bool is_fixed = count >= 0 && bytes <= FIXED_BYTES_MAX && spec->dtype != STK_DT_STRING &&
                    spec->dtype != STK_DT_DATASET;
    *s = (struct store){.each = is_fixed ? (size_t)bytes : 0};
    s->taken = s->each ? NULL : stk_alloc_zero(OUT_ELEMENTS_MAX, sizeof s->taken[0]);
    return s->each || s->taken;
}

static enum stoker_status shuffle_open(struct stk_iter *it, struct stoker_err *err)
{
    struct shuffle *f = it->state;
    f->is_permuted = is_permutation(it->ds);
    f->seed = order_seed(it);
    if (f->is_permuted) {
        stk_permutation_open(&f->order, (uint64_t)stk_dataset_cardinality(it->ds->in[0]), f->seed);
        return STOKER_OK;
    }
    int count = it->ds->specs->count;
    f->size = stk_attrs_int(it->ds->attrs, "buffer_size", 1);
    f->size = f->size < 0 ? INT64_MAX : f->size;
    f->stores = stk_alloc_zero((size_t)count + 1, sizeof f->stores[0]);
    f->parts = stk_alloc_array(OUT_ELEMENTS_MAX, sizeof f->parts[0]);
    bool ok = f->stores && f->parts;
    for (int k = 0; ok && k < count; k++) {
        ok = store_open(&f->stores[k], &it->ds->specs->items[k]);
    }
    return ok ? STOKER_OK : stk_err_nomem(err);
}

// Bytes of a slot in the arrays.
static size_t slot_bytes(const struct stk_iter *it)
{
    const struct shuffle *f = it->state;
    size_t sum = 0;
    for (int k = 0; k < it->ds->specs->count; k++) {
        sum += f->stores[k].each ? f->stores[k].each : sizeof(struct stk_col);
    }
    return sum;
}

static bool grow(struct stk_iter *it)
{
    struct shuffle *f = it->state;
    int64_t slots = f->slots ? 2 * f->slots : FIRST_SLOTS;
    size_t more, each = slot_bytes(it);
    slots = slots > f->size ? f->size : slots;
    while (!__builtin_mul_overflow((size_t)(slots - f->slots), each, &more) &&
           !stk_pool_claim(it->run->pool, more)) {
        slots = f->slots + (slots - f->slots) / 2; // it may never hold so many
        if (slots <= f->slots) {
            return false;
        }
    }
    f->claimed_bytes += more;
    for (int k = 0; k < it->ds->specs->count; k++) {
        struct store *s = &f->stores[k];
        if (s->each) {
            uint8_t *fixed = stk_realloc_array(s->fixed, (size_t)slots, s->each);
            if (!fixed) {
                return false;
            }
            s->fixed = fixed;
        } else {
            struct stk_col *cols = stk_realloc_array(s->cols, (size_t)slots, sizeof cols[0]);
            if (!cols) {
                return false;
            }
            memset(cols + f->slots, 0, (size_t)(slots - f->slots) * sizeof cols[0]);
            s->cols = cols;
        }
    }
    STK_ASSERT(slots > f->slots && slots <= f->size);
    f->slots = slots;
    return true;
}

// Copies a string's bytes into its own buffer, after the view.
static bool put_string(struct stk_iter *it, struct stk_col *slot, const struct stk_bytes *from)
{
    struct shuffle *f = it->state;
    struct stk_buf *b = stk_buf_get(it->run->pool, from->size + sizeof *from);
    if (!b) {
        return false;
    }
    f->put_bytes += from->size;
    f->put_count++;
    struct stk_bytes *view = (struct stk_bytes *)b->data;
    *view = (struct stk_bytes){b->data + sizeof *view, from->size};
    if (from->size) {
        memcpy(b->data + sizeof *view, from->data, from->size);
    }
    *slot = (struct stk_col){
        .dtype = STK_DT_STRING, .n = 1, .stride = sizeof *view, .data = b->data, .data_buf = b};
    return true;
}

// Puts element i of a column into an empty slot.
static bool put_col(struct stk_iter *it, struct stk_col *to, const struct stk_col *c, int64_t i)
{
    if (c->dtype == STK_DT_STRING && stk_col_shape(c, i).rank == 0) {
        return put_string(it, to, stk_col_at(c, i));
    }
    if (c->n == 1) {
        stk_col_slice(to, c, 0, 1);
        return true;
    }
    return stk_col_gather(to, it->run->pool, c, &i, 1) &&
           (c->dtype != STK_DT_STRING || stk_col_own(to, it->run->pool));
}

// Puts the feed's next element into a new slot; without memory for all of it, none.
static bool put(struct stk_iter *it, int64_t slot)
{
    struct shuffle *f = it->state;
    STK_ASSERT(slot >= 0 && slot < f->slots && f->feed.used < f->feed.block.n);
    for (int k = 0; k < f->feed.block.count; k++) {
        struct store *s = &f->stores[k];
        const struct stk_col *c = &f->feed.block.cols[k];
        if (s->each) {
            memcpy(s->fixed + (size_t)slot * s->each, stk_col_at(c, f->feed.used), s->each);
        } else if (!put_col(it, &s->cols[slot], c, f->feed.used)) {
            for (; k >= 0; k--) {
                if (!f->stores[k].each) {
                    stk_col_clear(&f->stores[k].cols[slot]);
                }
            }
            return false;
        }
    }
    f->feed.used++;
    return true;
}

// The error: how much of the buffer fits the budget, and what to do.
static enum stoker_status too_small(const struct stk_iter *it, struct stoker_err *err)
{
    const struct shuffle *f = it->state;
    struct stk_pool_stats s = stk_pool_stats_of(it->run->pool);
    return stk_err_set(err, STOKER_ELIMIT,
                       "shuffle: %lld of buffer_size %lld elements are %llu of %llu bytes of %s, "
                       "and there is no more; a larger ram_budget or limit helps",
                       (long long)f->held, (long long)f->size, (unsigned long long)s.in_use_bytes,
                       (unsigned long long)s.cap_bytes, s.cap_name);
}

// Fills the buffer. Returns errors of the input at once.
static enum stoker_status fill(struct stk_iter *it, struct stoker_err *err)
{
    struct shuffle *f = it->state;
    while (f->held < f->size && !f->feed.at_end) {
        int64_t want = f->size - f->held;
        enum stoker_status s = stk_feed_fill(
            &f->feed, it->in[0], want < OUT_ELEMENTS_MAX ? want : OUT_ELEMENTS_MAX, err);
        if (s != STOKER_OK) {
            return s;
        }
        int64_t n = f->feed.block.n;
        uint64_t each = n > 0 ? stk_block_bytes(&f->feed.block) / (uint64_t)n : 0;
        for (; stk_feed_left(&f->feed) > 0 && f->held < f->size; f->held++) {
            if ((f->held == f->slots && !grow(it)) || !put(it, f->held)) {
                stk_holders_note(it, (uint64_t)f->held * each);
                return too_small(it, err);
            }
        }
        stk_holders_note(it, (uint64_t)f->held * each);
    }
    return STOKER_OK;
}

#define AHEAD 16 // draws whose memory is prefetched

// Results of a component of short values. While the input continues, each drawn slot gets the
// input's next value; after that, the buffer's last one.
static void draw_values(struct shuffle *f, const struct store *s, const struct stk_col *in,
                        uint8_t *to, const int64_t *slots, int64_t n)
{
    const size_t each = s->each;
    const uint8_t *from = in ? in->data + (size_t)f->feed.used * in->stride : NULL;
    uint8_t *last = s->fixed + (size_t)f->held * each;
#define DRAW(bytes)                                                                                \
    for (int64_t i = 0; i < n; i++) {                                                              \
        uint8_t *slot = s->fixed + (size_t)slots[i] * (bytes);                                     \
        __builtin_prefetch(s->fixed + (size_t)slots[i + AHEAD] * (bytes), 1);                      \
        memcpy(to + (size_t)i * (bytes), slot, bytes);                                             \
        if (in) {                                                                                  \
            memcpy(slot, from + (size_t)i * in->stride, bytes);                                    \
        } else {                                                                                   \
            memmove(slot, last - (size_t)(i + 1) * (bytes), bytes);                                \
        }                                                                                          \
    }
    switch (each) {
    case 4:
        DRAW(4) break;
    case 8:
        DRAW(8) break;
    default:
        DRAW(each) break;
    }
#undef DRAW
}

// Puts the input's next n values of a component with columns into `taken`. False: no memory.
static bool stage_cols(struct stk_iter *it, struct store *s, const struct stk_col *in, int64_t n)
{
    struct shuffle *f = it->state;
    for (int64_t i = 0; i < n; i++) {
        if (!put_col(it, &s->taken[i], in, f->feed.used + i)) {
            return false;
        }
    }
    return true;
}

// The same for columns: swaps results with those waiting in `taken`.
static void draw_cols(const struct shuffle *f, struct store *s, bool goes_on, const int64_t *slots,
                      int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        struct stk_col *slot = &s->cols[slots[i]];
        struct stk_col *from = goes_on ? &s->taken[i] : &s->cols[f->held - 1 - i];
        struct stk_col drawn = *slot;
        *slot = *from;
        *from = (struct stk_col){0};
        s->taken[i] = drawn;
    }
}

// Undoes the draw.
static void undraw_cols(const struct shuffle *f, struct store *s, bool goes_on,
                        const int64_t *slots, int64_t n)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        struct stk_col *slot = &s->cols[slots[i]];
        struct stk_col *from = goes_on ? &s->taken[i] : &s->cols[f->held - 1 - i];
        struct stk_col drawn = s->taken[i];
        s->taken[i] = (struct stk_col){0};
        *from = *slot;
        *slot = drawn;
    }
}

static void clear_taken(const struct stk_iter *it, int64_t n)
{
    struct shuffle *f = it->state;
    for (int k = 0; k < it->ds->specs->count; k++) {
        for (int64_t i = 0; f->stores[k].taken && i < n; i++) {
            stk_col_clear(&f->stores[k].taken[i]);
        }
    }
}

// Joins the waiting columns to a component of the results. False: no memory.
static bool join_taken(struct stk_iter *it, int k, int64_t n, struct stk_col *col)
{
    struct shuffle *f = it->state;
    for (int64_t i = 0; i < n; i++) {
        f->parts[i] = &f->stores[k].taken[i];
    }
    if (!stk_col_concat(col, it->run->pool, f->parts, (int)n)) {
        return false;
    }
    if (col->dtype != STK_DT_STRING) {
        return true;
    }
    // a single string's bytes follow its view, see put_string
    return n > 1 ? stk_col_own(col, it->run->pool)
                 : !col->data_buf || stk_keep_add(&col->keep, col->data_buf);
}

// Results of all components with columns: all or nothing. False: no memory.
static bool draw_all_cols(struct stk_iter *it, const int64_t *slots, int64_t n,
                          struct stk_block *out)
{
    struct shuffle *f = it->state;
    bool goes_on = stk_feed_left(&f->feed) > 0, ok = true;
    for (int k = 0; ok && goes_on && k < out->count; k++) {
        ok = f->stores[k].each || stage_cols(it, &f->stores[k], &f->feed.block.cols[k], n);
    }
    int done = 0;
    for (; ok && done < out->count; done++) {
        struct store *s = &f->stores[done];
        if (!s->each) {
            draw_cols(f, s, goes_on, slots, n);
            ok = join_taken(it, done, n, &out->cols[done]);
        }
    }
    for (int k = ok ? -1 : done - 1; k >= 0; k--) {
        if (!f->stores[k].each) {
            undraw_cols(f, &f->stores[k], goes_on, slots, n);
        }
    }
    clear_taken(it, n);
    return ok;
}

static bool make_out(struct stk_iter *it, int64_t n, struct stk_block *out)
{
    struct shuffle *f = it->state;
    if (!stk_block_reset(out, it->ds->specs->count)) {
        return false;
    }
    for (int k = 0; k < out->count; k++) {
        const struct stk_spec *spec = &it->ds->specs->items[k];
        if (f->stores[k].each &&
            !stk_col_uniform(&out->cols[k], it->run->pool, spec->dtype, &spec->shape, n)) {
            stk_block_clear(out);
            return false;
        }
    }
    return true;
}

// Draws n elements; if the input continues, at least n of it are there. On an error nothing
// changes: the next call draws the same.
static enum stoker_status draw(struct stk_iter *it, int64_t n, struct stk_block *out,
                               struct stoker_err *err)
{
    struct shuffle *f = it->state;
    STK_ASSERT(n > 0 && n <= OUT_ELEMENTS_MAX && f->held <= f->slots);
    int64_t slots[OUT_ELEMENTS_MAX + AHEAD];
    bool goes_on = stk_feed_left(&f->feed) > 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = stk_random_bits(f->seed, 0, (int64_t)f->drawn + i, 0);
        uint64_t held = (uint64_t)(goes_on ? f->held : f->held - i);
        slots[i] = (int64_t)(((unsigned __int128)bits * held) >> 64);
        STK_ASSERT(slots[i] >= 0 && slots[i] < (int64_t)held);
    }
    for (int64_t i = 0; i < AHEAD; i++) {
        slots[n + i] = 0;
    }
    out->n = 0;
    if (!make_out(it, n, out) || !draw_all_cols(it, slots, n, out)) {
        stk_block_clear(out);
        return stk_stage_no_memory(it, err);
    }
    for (int k = 0; k < out->count; k++) {
        if (f->stores[k].each) {
            draw_values(f, &f->stores[k], goes_on ? &f->feed.block.cols[k] : NULL,
                        out->cols[k].data, slots, n);
        }
    }
    f->drawn += (uint64_t)n;
    f->feed.used += goes_on ? n : 0;
    f->held -= goes_on ? 0 : n;
    out->n = n;
    return STOKER_OK;
}

// By position: the permutation of the next n results.
static enum stoker_status permuted_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                        struct stoker_err *err)
{
    struct shuffle *f = it->state;
    int64_t index[OUT_ELEMENTS_MAX], left = (int64_t)f->order.n - f->position;
    int64_t n = want < left ? want : left;
    n = n < OUT_ELEMENTS_MAX ? n : OUT_ELEMENTS_MAX;
    if (n <= 0) {
        return STOKER_OK;
    }
    STK_ASSERT(f->position >= 0 && f->position <= (int64_t)f->order.n - n);
    stk_permutation_range(&f->order, (uint64_t)f->position, n, index);
    enum stoker_status s = stk_iter_at(it->in[0], index, n, out, err);
    if (s != STOKER_OK && stk_status_is_of_element(s) && n > 1) {
        // If one fails, it alone is an error, and the others are returned.
        n = 1;
        s = stk_iter_at(it->in[0], index, n, out, err);
    }
    if (s != STOKER_OK) {
        stk_block_clear(out);
    }
    f->position += n;
    return s;
}

// Results at once: their strings share one buffer, which must be small relative to the budget.
static int64_t most_at_once(const struct stk_iter *it)
{
    const struct shuffle *f = it->state;
    if (f->put_bytes <= f->put_count * SHORT_STRING) {
        return OUT_ELEMENTS_MAX;
    }
    uint64_t each = f->put_bytes / f->put_count;
    uint64_t capacity = stk_pool_stats_of(it->run->pool).cap_bytes / OUT_BUDGET_PARTS;
    uint64_t n = capacity / each;
    return n < 1 ? 1 : n > OUT_ELEMENTS_MAX ? OUT_ELEMENTS_MAX : (int64_t)n;
}

static enum stoker_status shuffle_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                       struct stoker_err *err)
{
    struct shuffle *f = it->state;
    if (f->is_permuted) {
        return permuted_next(it, want, out, err);
    }
    int64_t n = want < OUT_ELEMENTS_MAX ? want : OUT_ELEMENTS_MAX;
    enum stoker_status s = fill(it, err);
    if (s == STOKER_OK && !f->feed.at_end) {
        s = stk_feed_fill(&f->feed, it->in[0], n, err);
    }
    if (s != STOKER_OK) {
        return s;
    }
    int64_t more = stk_feed_left(&f->feed), limit = more > 0 ? more : f->held;
    n = n < limit ? n : limit;
    limit = most_at_once(it);
    n = n < limit ? n : limit;
    return n > 0 ? draw(it, n, out, err) : STOKER_OK;
}

static enum stoker_status shuffle_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                       struct stoker_err *err)
{
    struct shuffle *f = it->state;
    struct stk_block block = {0};
    enum stoker_status s = STOKER_OK;
    if (f->is_permuted) {
        int64_t left = (int64_t)f->order.n - f->position;
        *done = n < left ? n : left;
        f->position += *done;
        return STOKER_OK;
    }
    while (s == STOKER_OK && *done < n) {
        s = shuffle_next(it, n - *done, &block, err);
        *done += block.n;
        if (block.n == 0) {
            break;
        }
        stk_block_clear(&block);
    }
    stk_block_free(&block);
    return s;
}

static enum stoker_status shuffle_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                     struct stk_block *out, struct stoker_err *err)
{
    const struct shuffle *f = it->state;
    struct stk_buf *list = stk_buf_get(it->run->pool, (size_t)n * sizeof index[0] + 8);
    if (!list) {
        return stk_stage_no_memory(it, err);
    }
    int64_t *of = (int64_t *)list->data;
    for (int64_t i = 0; i < n; i++) {
        of[i] = (int64_t)stk_permutation_at(&f->order, (uint64_t)index[i]);
    }
    enum stoker_status s = stk_iter_at(it->in[0], of, n, out, err);
    stk_buf_drop(list);
    return s;
}

static void shuffle_close(struct stk_iter *it)
{
    struct shuffle *f = it->state;
    for (int k = 0; f->stores && k < it->ds->specs->count; k++) {
        struct store *s = &f->stores[k];
        for (int64_t i = 0; s->cols && i < f->slots; i++) {
            stk_col_clear(&s->cols[i]);
        }
        stk_free(s->cols);
        stk_free(s->fixed);
        stk_free(s->taken);
    }
    stk_pool_unclaim(it->run->pool, f->claimed_bytes);
    stk_free(f->stores);
    stk_free(f->parts);
    stk_feed_free(&f->feed);
}

static const struct stk_arg_row shuffle_args[] = {
    STK_ARG("buffer_size", INT, "buffer size in elements; -1: the whole input",
            .is_required = true),
    STK_ARG("seed", INT, "seed of the order", .fallback = -1),
    STK_ARG("reshuffle_each_iteration", BOOL, "a different order in each epoch", .fallback = 1),
    STK_ARG(
        "order", INT,
        "without seed and reshuffling: a number of the order, instead of the place in the pipeline",
        .fallback = -1),
    {0}};

const struct stk_dataset_kind stk_dataset_shuffle = {
    .name = "shuffle",
    .summary = "Shuffles elements",
    .holds_less_with =
        "a smaller buffer_size, or shuffling before the stage that makes elements large",
    .role = STK_DS_ORDER,
    .args = shuffle_args,
    .infer = shuffle_infer,
    .cardinality = stk_dataset_as_many,
    .state_bytes = sizeof(struct shuffle),
    .open = shuffle_open,
    .next = shuffle_next,
    .skip = shuffle_skip,
    .has_at = is_permutation,
    .at = shuffle_at,
    .close = shuffle_close};
