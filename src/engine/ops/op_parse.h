// SPDX-License-Identifier: Apache-2.0
// What the operations that parse tf.train.Example and SequenceExample share: the features asked
// for, as attributes, and parsing a block of records.
#ifndef STK_DATA_OPS_OP_PARSE_H
#define STK_DATA_OPS_OP_PARSE_H

#include "engine/formats/example.h"
#include "engine/ops/op_util.h"

#define STK_PARSE_FEATURES_MAX 80

enum stk_parse_kind { // as Python numbers them
    STK_PARSE_FIXED,
    STK_PARSE_VARIABLE,
    STK_PARSE_RAGGED,
    STK_PARSE_SEQUENCE
};

// The rows of features; of lists with a prefix.
#define STK_PARSE_ROWS(prefix)                                                                     \
    {.name = prefix "names", .type = STK_ARG_OTHER, .is_open = true, .help = "of the features"},   \
        {.name = prefix "kinds",                                                                   \
         .type = STK_ARG_INTS,                                                                     \
         .is_open = true,                                                                          \
         .help = "0 fixed, 1 variable, 2 ragged, 3 a sequence of fixed"},                          \
        {.name = prefix "dtypes",                                                                  \
         .type = STK_ARG_INTS,                                                                     \
         .is_open = true,                                                                          \
         .help = "of the features"},                                                               \
        {.name = prefix "ranks",                                                                   \
         .type = STK_ARG_INTS,                                                                     \
         .is_open = true,                                                                          \
         .help = "of their shapes"},                                                               \
        {.name = prefix "dims",                                                                    \
         .type = STK_ARG_INTS,                                                                     \
         .is_open = true,                                                                          \
         .help = "of their shapes, one behind the other"},                                         \
        {.name = prefix "has_default",                                                             \
         .type = STK_ARG_INTS,                                                                     \
         .is_open = true,                                                                          \
         .help = "whether each has one"},                                                          \
        {.name = prefix "allow_missing",                                                           \
         .type = STK_ARG_INTS,                                                                     \
         .is_open = true,                                                                          \
         .help = "whether a list may be absent"},                                                  \
        {.name = prefix "defaults",                                                                \
         .type = STK_ARG_OTHER,                                                                    \
         .is_open = true,                                                                          \
         .help = "tensors, of those that have one"}

struct stk_parse_feature {
    int64_t kind; // enum stk_parse_kind
    enum stk_dtype dtype;
    bool allow_missing;
    struct stk_shape shape;
    int64_t elements;
    const struct stk_col *fallback; // NULL: none. Borrowed of the attributes
};

// The attributes <prefix>names, kinds, dtypes, ranks, dims, has_default, defaults, allow_missing;
// none at all: no features. names: the features' names, or NULL.
STK_MUST_CHECK enum stoker_status
stk_parse_features_read(const char *op, const struct stk_attrs *a, const char *prefix,
                        struct stk_parse_feature out[STK_PARSE_FEATURES_MAX], int *count,
                        const struct stk_attr **names, struct stoker_err *err);
enum stk_example_type stk_parse_wire_type(enum stk_dtype t);
// Parses all records of the block, `rows` an element, into the batch; *done: elements that are
// whole, behind which one failed.
STK_MUST_CHECK enum stoker_status stk_parse_records(struct stk_op_run *r,
                                                    struct stk_example_parser *p,
                                                    struct stk_example_batch *batch, int64_t rows,
                                                    int64_t *done, struct stoker_err *err);

#endif
