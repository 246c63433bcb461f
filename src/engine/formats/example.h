// SPDX-License-Identifier: Apache-2.0
// tf.train.Example and tf.train.SequenceExample, parsed from their wire bytes straight into the
// columns of a batch, and written. What tf.io.parse_example and tf.io.parse_sequence_example give.
//
//   kind                       column of n rows                                     TensorFlow's
//   STK_EXAMPLE_FIXED          values: n * elements                                 FixedLenFeature
//   STK_EXAMPLE_RAGGED         values: as many as come; row_splits: n + 1           VarLenFeature,
//                              RaggedFeature, FixedLenSequenceFeature
//   in feature lists (SequenceExample):
//   STK_EXAMPLE_FIXED          values: steps * elements; row_splits: n + 1, in steps
//   STK_EXAMPLE_RAGGED         values; step_splits: steps + 1, in values; row_splits: n + 1, in
//   steps
//
// Rules. Features that weren't requested are skipped, and so are unknown fields. If several
// features have the same name, the last counts; for a FIXED one, the last with a list. Lists may be
// packed, unpacked or a mix. A feature without a list, or absent, is missing: a FIXED one takes its
// default or, without one, is an error; a RAGGED one is empty. An empty list has no values and
// doesn't fit a FIXED feature. A list of another type is an error. An absent FIXED feature list is
// an error unless allow_missing. Bytes are views into the record.
//
// TensorFlow's own fast parser rejects some valid protobuf (fields of a map entry in another order,
// unknown fields in a list, several packed runs); this accepts it.
// A message truncated within its map is always an error here, but not there.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/formats/record.h"

#define STK_EXAMPLE_FEATURES_MAX 65536
#define STK_EXAMPLE_VALUES_MAX ((size_t)1 << 40) // in a column

enum stk_example_type {
    STK_EXAMPLE_BYTES = 1,
    STK_EXAMPLE_FLOAT,
    STK_EXAMPLE_INT64
}; // as in the proto
enum stk_example_kind { STK_EXAMPLE_FIXED = 0, STK_EXAMPLE_RAGGED };

struct stk_example_bytes {
    const uint8_t *data;
    size_t size;
};

// One requested feature.
struct stk_example_feature {
    const char *name;
    enum stk_example_type type;
    enum stk_example_kind kind;
    bool is_list;       // in the feature lists of a SequenceExample
    bool allow_missing; // lists only: absent is empty
    size_t elements;    // FIXED: values in a row (or step), the product of the shape
    // FIXED, no list: int64_t, float or struct stk_example_bytes; NULL: required. One value is
    // repeated, or there is one for each element.
    const void *defaults;
    size_t default_count;
};

struct stk_example_spec; // immutable: any number of threads may use it

// Copies everything. STOKER_EINVAL: no or doubled name, wrong type, bad number of defaults.
STK_MUST_CHECK enum stoker_status stk_example_compile(struct stk_example_spec **out,
                                                      const struct stk_example_feature *features,
                                                      size_t count, struct stoker_err *err);
void stk_example_spec_free(struct stk_example_spec *spec); // takes NULL

struct stk_example_column {
    enum stk_example_type type;
    enum stk_example_kind kind;
    bool is_list, is_bound; // values belong to the caller
    size_t elements;
    union {
        void *values;
        int64_t *int64s;
        float *floats;
        struct stk_example_bytes *bytes;
    };
    size_t count, capacity; // values
    int64_t *row_splits;    // RAGGED or is_list; starts with 0
    int64_t *step_splits;   // RAGGED and is_list; starts with 0
    size_t steps, step_capacity;
    size_t row_capacity;
    int64_t row_max; // longest row: values, or steps of a list
};

// Columns in the order of the features. When reused, it soon stops allocating.
struct stk_example_batch {
    const struct stk_example_spec *spec; // borrowed
    struct stk_example_column *columns;
    size_t column_count, rows;
    uint64_t skipped; // rows skipped since stk_example_batch_open
};

STK_MUST_CHECK enum stoker_status stk_example_batch_open(struct stk_example_batch *b,
                                                         const struct stk_example_spec *spec,
                                                         struct stoker_err *err);
void stk_example_batch_close(struct stk_example_batch *b); // also after a failed open
void stk_example_batch_clear(struct stk_example_batch *b); // removes the rows; keeps memory and
                                                           // bindings
// Makes a FIXED column, not a list, write to the caller's memory, with room for `rows` rows.
STK_MUST_CHECK enum stoker_status stk_example_bind(struct stk_example_batch *b, size_t column,
                                                   void *values, size_t rows,
                                                   struct stoker_err *err);

enum stk_example_message { STK_EXAMPLE_SINGLE = 0, STK_EXAMPLE_SEQUENCE };

struct stk_example_parser; // one per thread: it remembers the order of the last record's names

STK_MUST_CHECK enum stoker_status stk_example_parser_open(struct stk_example_parser **out,
                                                          const struct stk_example_spec *spec,
                                                          enum stk_example_message message,
                                                          struct stoker_err *err);
void stk_example_parser_close(struct stk_example_parser *p); // takes NULL
// Appends a row for each record. STOKER_EINPUT: a record is invalid; err names its number and
// offset. The *done rows before it are kept, and the batch is unchanged by the bad record. With
// skip_bad, such a record is skipped and counted instead.
STK_MUST_CHECK enum stoker_status stk_example_parse(struct stk_example_parser *p,
                                                    struct stk_example_batch *b,
                                                    const struct stk_record *records, size_t count,
                                                    bool skip_bad, size_t *done,
                                                    struct stoker_err *err);

// One feature to write. steps: number of values in each step of a feature list; they add up to
// count.
struct stk_example_value {
    const char *name;
    enum stk_example_type type; // 0: a feature without a list
    const void *values;         // int64_t, float or struct stk_example_bytes
    size_t count;
    bool is_list, is_unpacked;
    const size_t *steps;
    size_t step_count;
};

struct stk_example_buffer { // zero it first; stk_example_buffer_free when done
    uint8_t *data;
    size_t size, capacity;
};

void stk_example_buffer_free(struct stk_example_buffer *b);
// Replaces the contents of `out` by the message. Fields are in the given order.
STK_MUST_CHECK enum stoker_status stk_example_encode(struct stk_example_buffer *out,
                                                     enum stk_example_message message,
                                                     const struct stk_example_value *values,
                                                     size_t count, struct stoker_err *err);
