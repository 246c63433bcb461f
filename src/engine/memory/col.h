// SPDX-License-Identifier: Apache-2.0
// A column: one component of n elements. Stages exchange blocks of columns.
//
// Uniform: every element has the same shape; element i is at data + i * stride. The stride is the
// element's bytes, or 0 if all elements share one value (constants).
// Varied: shapes[i] is element i's; its values are data[offsets[i] .. offsets[i + 1]), in values.
// Values are contiguous, in C order. Strings are views, kept alive by `keep`; values of DATASET are
// held by the column (through `keep`, as foreign buffers).
//
// A column is a small struct that holds references: copy it with stk_col_share, end it with
// stk_col_clear. Its memory is immutable once shared; write it before.
#pragma once

#include "engine/memory/buf.h"
#include "engine/memory/spec.h"

struct stk_col {
    enum stk_dtype dtype;
    bool is_varied, is_bound; // bound: data is the caller's memory, to be written
    int64_t n;
    struct stk_shape shape; // uniform
    size_t stride;          // uniform: bytes
    uint8_t *data;
    struct stk_shape *shapes; // varied: n
    int64_t *offsets;         // varied: n + 1, offsets[0] need not be 0
    struct stk_buf *data_buf, *meta_buf;
    struct stk_keep *keep;
    int64_t n_max, value_max; // capacity while being built
};

static inline size_t stk_col_bytes_each(const struct stk_col *c) // uniform
{
    return (size_t)stk_shape_count(&c->shape) * stk_dtype_bytes(c->dtype);
}
static inline struct stk_shape stk_col_shape(const struct stk_col *c, int64_t i)
{
    return c->is_varied ? c->shapes[i] : c->shape;
}
static inline void *stk_col_at(const struct stk_col *c, int64_t i)
{
    return c->is_varied ? c->data + (size_t)c->offsets[i] * stk_dtype_bytes(c->dtype)
                        : c->data + (size_t)i * c->stride;
}
static inline bool stk_col_is_dense(const struct stk_col *c) // uniform and contiguous
{
    return !c->is_varied && (c->n <= 1 || c->stride == stk_col_bytes_each(c));
}

void stk_col_clear(struct stk_col *c); // drops its references and zeroes it; takes a zeroed one
void stk_col_share(struct stk_col *to, const struct stk_col *from); // `to` is overwritten
// Elements [first, first + n), shared.
void stk_col_slice(struct stk_col *to, const struct stk_col *from, int64_t first, int64_t n);

// Room for n elements of a shape, uninitialised (strings are zeroed). False: no memory.
bool stk_col_uniform(struct stk_col *c, struct stk_pool *pool, enum stk_dtype dtype,
                     const struct stk_shape *shape, int64_t n);
// An empty varied column; room for n elements and `values` values is made at once.
bool stk_col_varied(struct stk_col *c, struct stk_pool *pool, enum stk_dtype dtype, int64_t n,
                    int64_t values);
// Adds an element to a varied column. Write its values at the returned address before the next
// call, which may move them. NULL: no memory.
void *stk_col_append(struct stk_col *c, struct stk_pool *pool, const struct stk_shape *shape);
// The first element of `from`, as a uniform column over the same memory.
void stk_col_share_first(struct stk_col *to, const struct stk_col *from);
// Finishes building: a varied column whose elements all have one shape becomes uniform.
void stk_col_settle(struct stk_col *c);
// Copies bytes for a string column and returns the view, kept alive by c->keep. False: no memory.
bool stk_col_own_bytes(struct stk_col *c, struct stk_pool *pool, const void *data, size_t size,
                       struct stk_bytes *out);
// The same for many strings written back to back into few buffers: zeroed room for `size` more
// bytes, kept alive by the column. NULL: no memory.
struct stk_col_capacity {
    uint8_t *at;
    size_t left;
};
uint8_t *stk_col_capacity_for(struct stk_col *c, struct stk_pool *pool,
                              struct stk_col_capacity *capacity, size_t size);
// Copies the bytes of all of a string column's views into one buffer.
bool stk_col_own(struct stk_col *c, struct stk_pool *pool);

// A new column of elements picked from `from`: index[i] for each i < n. The result is uniform where
// the picked shapes are equal.
bool stk_col_gather(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                    const int64_t *index, int64_t n);
// Joins several columns in order; shares if there is only one. Ranks and shapes may differ.
bool stk_col_concat(struct stk_col *to, struct stk_pool *pool, const struct stk_col *const *parts,
                    int count);
// Folds elements into groups of `group`: shape (group, ...); n must be a multiple of it, all shapes
// equal (else false, with *unequal the first that differs). Shares if possible.
bool stk_col_fold(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                  int64_t group, int64_t *unequal);
// The reverse: elements of shape (k, ...) become k elements each. Shares if possible. False: no
// memory; the caller checks ranks.
bool stk_col_unfold(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from);

// A block: `count` columns of n elements each.
struct stk_block {
    int count;
    int64_t n;
    struct stk_col *cols; // room for `capacity`; the owner reuses it from block to block
    int capacity;
};
bool stk_block_reset(struct stk_block *b,
                     int count);           // makes it empty, with zeroed columns. False: no memory
void stk_block_clear(struct stk_block *b); // clears the columns; keeps the array
void stk_block_free(struct stk_block *b);  // frees everything
bool stk_block_share(struct stk_block *to, const struct stk_block *from);
bool stk_block_slice(struct stk_block *to, const struct stk_block *from, int64_t first, int64_t n);
bool stk_block_gather(struct stk_block *to, struct stk_pool *pool, const struct stk_block *from,
                      const int64_t *index, int64_t n);
bool stk_block_concat(struct stk_block *to, struct stk_pool *pool,
                      const struct stk_block *const *parts, int count);
void stk_block_move(struct stk_block *to, struct stk_block *from); // `to` is cleared first
uint64_t stk_block_bytes(const struct stk_block *b); // bytes of its elements, strings included
