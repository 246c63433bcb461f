// SPDX-License-Identifier: Apache-2.0
// Arrow's C data interface: record batches of another library become columns, without a copy if the
// layouts match. https://arrow.apache.org/docs/format/CDataInterface.html, 2020 and its views.
//
// A leaf is a column of values, reached from the top through structs and lists. With one unknown
// list length, elements have an unknown shape; with more, the value is ragged: flat values, then
// each level's row splits.
//
// Input isn't trusted: types, lengths, offsets and dictionary indices are checked. The interface
// doesn't give buffer sizes: the exporter promises that they hold the values (pyarrow's
// RecordBatch.validate() checks that for files).
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
    const char *name; // for error messages
    int n_path;
    int64_t path[STK_ARROW_PATH_MAX]; // child index at each enclosing struct, outermost first
    int n_levels;
    int64_t dim[STK_RANK_MAX]; // list length at each level; -1: any
    struct stk_shape shape;    // shape of an element whose lists all have known lengths
    enum stk_dtype dtype;
    const struct stk_col *fill; // value for a null; NULL: the row fails
};
// The last level whose lists vary in length; -1: all are fixed.
int stk_arrow_leaf_ragged(const struct stk_arrow_leaf *leaf);
int stk_arrow_leaf_columns(const struct stk_arrow_leaf *leaf); // columns in the block: values,
                                                               // splits

// The kind of values that a format string describes. False: no column can hold them.
struct stk_arrow_type {
    enum stk_dtype dtype;
    enum {
        STK_ARROW_PLAIN, // as in columns
        STK_ARROW_BITS,  // bool
        STK_ARROW_BYTES, // offsets of 32 bits
        STK_ARROW_LARGE, // offsets of 64 bits
        STK_ARROW_VIEWS, // views of 16 bytes
        STK_ARROW_FIXED  // fixed number of bytes
    } layout;
    int64_t width; // FIXED
};
bool stk_arrow_type_of(const char *format, struct stk_arrow_type *out);

// STOKER_EINVAL: a leaf is missing or has another type.
STK_MUST_CHECK enum stoker_status stk_arrow_check(const struct ArrowSchema *schema,
                                                  const struct stk_arrow_leaf *leaves, int n,
                                                  struct stoker_err *err);

struct stk_arrow_rows {
    struct stk_block block;
    uint16_t *failed; // for each row: 1 + the leaf with a null that isn't allowed, or 0. Owned
    int64_t n_failed; // failed rows; 0: `failed` may be NULL
    uint64_t bytes;   // memory of the values, without that of a mapped file
};
void stk_arrow_rows_free(struct stk_arrow_rows *r);

struct stk_arrow_import {
    const struct ArrowSchema *schema; // checked
    const struct stk_arrow_leaf *leaves;
    int n_leaves;
    struct stk_pool *pool;
    struct stk_buf *mapped; // the file with the values, kept alive by the columns; NULL
    bool is_private;        // no one else uses the values: they are writable
};
// Takes ownership of the array; calls its release when its last value is gone, on any thread.
// STOKER_EDAMAGE: it is inconsistent. *out must start zeroed.
STK_MUST_CHECK enum stoker_status stk_arrow_take(const struct stk_arrow_import *from,
                                                 struct ArrowArray *array,
                                                 struct stk_arrow_rows *out,
                                                 struct stoker_err *err);
