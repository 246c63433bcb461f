// SPDX-License-Identifier: Apache-2.0
// Shared by the operations that parse tf.train.Example and SequenceExample: the requested features,
// as attributes, and parsing a block of records.
#pragma once

#include "engine/formats/example.h"
#include "engine/ops/op_util.h"

#define STK_PARSE_FEATURES_MAX 80

enum stk_parse_kind { // numbered as in Python
    STK_PARSE_FIXED,
    STK_PARSE_VARIABLE,
    STK_PARSE_RAGGED,
    STK_PARSE_SEQUENCE
};

// The argument rows of features; those of lists have a prefix.
#define STK_PARSE_ROWS(prefix)                                                                     \
    STK_ARG(prefix "names", OTHER, "of the features", .is_open = true),                            \
        STK_ARG(prefix "kinds", INTS, "0 fixed, 1 variable, 2 ragged, 3 a sequence of fixed",      \
                .is_open = true),                                                                  \
        STK_ARG(prefix "dtypes", INTS, "of the features", .is_open = true),                        \
        STK_ARG(prefix "ranks", INTS, "of their shapes", .is_open = true),                         \
        STK_ARG(prefix "dims", INTS, "dimensions of their shapes, one after another",              \
                .is_open = true),                                                                  \
        STK_ARG(prefix "has_default", INTS, "whether each has one", .is_open = true),              \
        STK_ARG(prefix "allow_missing", INTS, "whether a list may be absent", .is_open = true),    \
        STK_ARG(prefix "defaults", OTHER, "tensors, of those that have one", .is_open = true)

struct stk_parse_feature {
    int64_t kind; // enum stk_parse_kind
    enum stk_dtype dtype;
    bool allow_missing;
    struct stk_shape shape;
    int64_t elements;
    const struct stk_col *fallback; // NULL: none. Borrowed from the attributes
};

// The attributes <prefix>names, kinds, dtypes, ranks, dims, has_default, defaults, allow_missing;
// none at all: no features. names: the features' names, or NULL.
STK_MUST_CHECK enum stoker_status
stk_parse_features_read(const char *op, const struct stk_attrs *a, const char *prefix,
                        struct stk_parse_feature out[STK_PARSE_FEATURES_MAX], int *count,
                        const struct stk_attr **names, struct stoker_err *err);

// Prepared by both operations: the features of a record itself, then those of its lists.
struct stk_parse {
    int context, lists; // how many
    struct stk_parse_feature features[2 * STK_PARSE_FEATURES_MAX];
    struct stk_example_spec *spec;
};
// Reads the features and their names with `read`; free *out with stk_parse_unprepare.
typedef enum stoker_status stk_parse_read_fn(const struct stk_attrs *a, struct stk_parse *p,
                                             const struct stk_attr *names[2],
                                             struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_parse_prepare(const struct stk_op_infer *c,
                                                    stk_parse_read_fn *read, void **out,
                                                    struct stoker_err *err);
void stk_parse_unprepare(void *prepared);

// Per thread.
struct stk_parse_scratch {
    struct stk_example_parser *parser;
    struct stk_example_batch batch;
    bool is_open;
};
STK_MUST_CHECK enum stoker_status stk_parse_open_scratch(struct stk_parse_scratch *s,
                                                         const struct stk_parse *p,
                                                         enum stk_example_message message,
                                                         struct stoker_err *err);
void stk_parse_scratch_end(void *scratch);
// Appends a value to result o. False: no memory.
bool stk_parse_put(struct stk_op_run *r, int o, enum stk_dtype t, const struct stk_shape *shape,
                   const void *values, struct stoker_err *err);
// Parses all records of the block, `rows` per element, into the batch; *done: whole elements before
// the first that failed.
STK_MUST_CHECK enum stoker_status stk_parse_records(struct stk_op_run *r,
                                                    struct stk_example_parser *p,
                                                    struct stk_example_batch *batch, int64_t rows,
                                                    int64_t *done, struct stoker_err *err);
