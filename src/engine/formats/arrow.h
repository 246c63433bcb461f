// SPDX-License-Identifier: Apache-2.0
// Arrow's C data interface: record batches of another library become columns, without a copy where
// the layouts agree. https://arrow.apache.org/docs/format/CDataInterface.html, 2020 and its views.
//
// A leaf is a column of values, reached from the top through structs and lists. Lists of one
// unknown length are elements of unknown shape; with more unknown lengths, a ragged value: its flat
// values, then the row splits of each level.
//
// What comes is not trusted: types, lengths, offsets and places in dictionaries are checked. The
// interface doesn't say how large buffers are: that values are in them is the exporter's promise
// (pyarrow's RecordBatch.validate() checks it for files).
//
// Limits: no unions, maps, decimals, intervals, list views, or run-end encoding.
#pragma once

#include "engine/memory/col.h"

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};

#define STK_ARROW_PATH_MAX 16

struct stk_arrow_leaf {
    const char *name; // for messages
    int n_path;
    int64_t path[STK_ARROW_PATH_MAX]; // which child of each struct while reading, the batch first
    int n_levels;
    int64_t dim[STK_RANK_MAX]; // how long the lists while reading are; -1: of any length
    struct stk_shape shape;    // of an element whose lists are all of known lengths
    enum stk_dtype dtype;
    const struct stk_col *fill; // what stands for a null; NULL: the row fails
};
// The last level whose lists vary in length; -1: all are fixed.
int stk_arrow_leaf_ragged(const struct stk_arrow_leaf *leaf);
int stk_arrow_leaf_columns(const struct stk_arrow_leaf *leaf); // of the block: values, splits

// What a format string is of values. False: of no value that a column holds.
struct stk_arrow_type {
    enum stk_dtype dtype;
    enum {
        STK_ARROW_PLAIN, // as columns have them
        STK_ARROW_BITS,  // bool
        STK_ARROW_BYTES, // offsets of 32 bits
        STK_ARROW_LARGE, // offsets of 64 bits
        STK_ARROW_VIEWS, // views of 16 bytes
        STK_ARROW_FIXED  // as many bytes each
    } layout;
    int64_t width; // FIXED
};
bool stk_arrow_type_of(const char *format, struct stk_arrow_type *out);

// STOKER_EINVAL: a leaf isn't there, or is of another type.
STK_MUST_CHECK enum stoker_status stk_arrow_check(const struct ArrowSchema *schema,
                                                  const struct stk_arrow_leaf *leaves, int n,
                                                  struct stoker_err *err);

struct stk_arrow_rows {
    struct stk_block block;
    uint16_t *failed; // for each row: 1 + the leaf that is null there and may not be, or 0. Owned
    int64_t n_failed; // of them; 0: `failed` may be NULL
    uint64_t bytes;   // of memory that the values take, beyond that of a mapped file
};
void stk_arrow_rows_free(struct stk_arrow_rows *r);

struct stk_arrow_import {
    const struct ArrowSchema *schema; // checked
    const struct stk_arrow_leaf *leaves;
    int n_leaves;
    struct stk_pool *pool;
    struct stk_buf *mapped; // the file that the values are in, held by what is made of them; NULL
    bool is_private;        // nobody else sees the values: they may be written
};
// Takes the array over, whose release is called when the last of its values is gone, from any
// thread. STOKER_EDAMAGE: it contradicts itself. *out is zeroed before.
STK_MUST_CHECK enum stoker_status stk_arrow_take(const struct stk_arrow_import *from,
                                                 struct ArrowArray *array,
                                                 struct stk_arrow_rows *out,
                                                 struct stoker_err *err);
