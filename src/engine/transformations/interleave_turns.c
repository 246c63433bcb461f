// SPDX-License-Identifier: Apache-2.0
// interleave: elements of many turns at once. Turns are short (mostly one element), and joining one
// part per turn into a block would cost far more than reading a small record. So small elements of
// equal shape are copied into place: whole rounds of the cycle while every dataset has enough
// ready, otherwise turn by turn. Strings stay views, whose memory stays referenced.
#include <string.h>

#include "engine/transformations/interleave_impl.h"

#define EACH_MAX 4096 // bytes of an element; larger ones are joined as parts
#define COUNT_MAX 8192

static bool is_flat(const struct stk_col *c)
{
    return !c->is_varied && c->dtype != STK_DT_DATASET && stk_col_bytes_each(c) <= EACH_MAX;
}

bool stk_interleave_is_flat(const struct stk_block *b)
{
    bool flat = b->count > 0 && b->n > 0;
    for (int k = 0; flat && k < b->count; k++) {
        flat = is_flat(&b->cols[k]);
    }
    return flat;
}

// Do the block's elements match the columns of `out`?
static bool is_alike(const struct stk_block *out, const struct stk_block *b)
{
    bool alike = b->count == out->count;
    for (int k = 0; alike && k < out->count; k++) {
        const struct stk_col *x = &out->cols[k], *y = &b->cols[k];
        alike = !y->is_varied && y->dtype == x->dtype && stk_shape_equal(&y->shape, &x->shape);
    }
    return alike;
}

// Copies n elements to every stride-th place from `to` on; `each` is a constant in the usual cases.
static inline void spread(uint8_t *to, size_t stride, const uint8_t *from, size_t step, int64_t n,
                          size_t each)
{
    for (int64_t i = 0; i < n; i++) {
        memcpy(to + (size_t)i * stride, from + (size_t)i * step, each);
    }
}

static void copy(uint8_t *to, size_t stride, const uint8_t *from, size_t step, int64_t n,
                 size_t each)
{
    if (each == sizeof(struct stk_bytes)) {
        spread(to, stride, from, step, n, sizeof(struct stk_bytes));
    } else if (each == 8) {
        spread(to, stride, from, step, n, 8);
    } else if (each == 4) {
        spread(to, stride, from, step, n, 4);
    } else {
        spread(to, stride, from, step, n, each);
    }
}

// Copies `turns` turns of n elements each from the piece to `out`, the first to position `at`,
// turns `apart` elements from each other.
static bool place(struct stk_interleave *p, struct stk_interleave_slot *slot,
                  const struct stk_piece *piece, struct stk_block *out, int64_t at, int64_t apart,
                  int64_t turns, int64_t n)
{
    for (int k = 0; k < out->count; k++) {
        const struct stk_col *from = &piece->block.cols[k];
        struct stk_col *to = &out->cols[k];
        size_t each = stk_col_bytes_each(to);
        if (slot->kept_for != p->calls && !stk_keep_join(&to->keep, from->keep)) {
            return false;
        }
        for (int64_t i = 0; i < n && each > 0; i++) {
            copy(to->data + (size_t)(at + i) * each, (size_t)apart * each,
                 stk_col_at(from, piece->used + i), (size_t)n * from->stride, turns, each);
        }
    }
    slot->kept_for = p->calls;
    return true;
}

// Whole rounds from the slot whose turn starts. *done: elements; 0 if some slot has too few.
static bool rounds(struct stk_interleave *p, struct stk_block *out, int64_t at, int64_t want,
                   int64_t *done)
{
    int64_t active = 0, count = want / p->block;
    *done = 0;
    for (int64_t i = 0; i < p->length && count > 0; i++) {
        struct stk_interleave_slot *slot = &p->slots[i];
        const struct stk_piece *piece = stk_interleave_first(p, slot);
        bool is_empty = !slot->inner && p->at_end && slot->status == STOKER_OK;
        int64_t left = piece && is_alike(out, &piece->block) ? piece->block.n - piece->used : 0;
        count = is_empty ? count : left / p->block < count ? left / p->block : count;
        active += !is_empty;
    }
    count = active > 0 && want / p->block / active < count ? want / p->block / active : count;
    if (count == 0 || active == 0 || p->given > 0) {
        return true;
    }
    int64_t order = 0;
    for (int64_t i = 0; i < p->length; i++) {
        struct stk_interleave_slot *slot = &p->slots[(p->at + i) % p->length];
        const struct stk_piece *piece = stk_interleave_first(p, slot);
        if (!piece) {
            continue;
        }
        if (!place(p, slot, piece, out, at + order * p->block, active * p->block, count,
                   p->block)) {
            return false;
        }
        order++;
        stk_interleave_used(p, slot, count * p->block);
    }
    *done = count * active * p->block;
    return true;
}

static bool make_capacity(struct stk_interleave *p, const struct stk_block *like,
                          struct stk_block *out, int64_t n)
{
    bool ok = stk_block_reset(out, like->count);
    for (int k = 0; ok && k < like->count; k++) {
        ok = stk_col_uniform(&out->cols[k], p->it->run->pool, like->cols[k].dtype,
                             &like->cols[k].shape, n);
    }
    return ok;
}

// The rest of one turn. False: no memory.
static bool one_turn(struct stk_interleave *p, struct stk_interleave_slot *slot,
                     struct stk_block *out, int64_t at, int64_t want, int64_t *done)
{
    struct stk_piece *piece = &slot->pieces[slot->first];
    int64_t n = piece->block.n - piece->used, turn = p->block - p->given;
    n = n < turn ? n : turn;
    n = n < want ? n : want;
    *done = n;
    if (!place(p, slot, piece, out, at, n, 1, n)) {
        return false;
    }
    stk_interleave_used(p, slot, n);
    p->given += n;
    if (p->given >= p->block) {
        stk_interleave_advance(p, 1);
    }
    return true;
}

enum stoker_status stk_interleave_turns(struct stk_interleave *p, struct stk_interleave_slot *slot,
                                        int64_t want, struct stk_block *out, struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    int64_t n = 0, done;
    want = want < COUNT_MAX ? want : COUNT_MAX;
    p->calls++;
    if (!make_capacity(p, &slot->pieces[slot->first].block, out, want)) {
        stk_block_clear(out);
        return stk_stage_no_memory(p->it, err);
    }
    while (s == STOKER_OK && slot && n < want) {
        const struct stk_piece *piece = &slot->pieces[slot->first];
        bool is_error = piece->used == piece->block.n;
        if (is_error ? n > 0 : !is_alike(out, &piece->block)) {
            break; // the next call continues
        }
        if (is_error) {
            struct stk_block none = {0};
            s = stk_interleave_take(p, slot, 1, &none, err);
            break;
        }
        bool ok = rounds(p, out, n, want - n, &done);
        if (ok && done == 0) {
            ok = one_turn(p, slot, out, n, want - n, &done);
        }
        if (!ok) {
            s = stk_stage_no_memory(p->it, err);
            break;
        }
        n += done;
        s = n < want ? stk_interleave_turn(p, false, &slot, err) : s;
    }
    for (int k = 0; k < out->count; k++) {
        out->cols[k].n = n;
    }
    out->n = n;
    if (n == 0) {
        stk_block_clear(out);
    }
    return s;
}
