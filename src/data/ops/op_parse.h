// SPDX-License-Identifier: Apache-2.0
// What the operations that parse tf.train.Example and SequenceExample share: the features asked
// for, as attributes, and parsing a block of records.
#ifndef STK_DATA_OPS_OP_PARSE_H
#define STK_DATA_OPS_OP_PARSE_H

#include "data/formats/example.h"
#include "data/ops/op_util.h"

#define STK_PARSE_FEATURES_MAX 80

enum stk_parse_kind { // as Python numbers them
    STK_PARSE_FIXED,
    STK_PARSE_VARIABLE,
    STK_PARSE_RAGGED,
    STK_PARSE_SEQUENCE
};

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
STK_MUST_CHECK enum stk_status
stk_parse_features_read(const char *op, const struct stk_attrs *a, const char *prefix,
                        struct stk_parse_feature out[STK_PARSE_FEATURES_MAX], int *count,
                        const struct stk_attr **names, struct stk_err *err);
enum stk_example_type stk_parse_wire_type(enum stk_dtype t);
// Parses all records of the block, `rows` an element, into the batch; *done: elements that are
// whole, behind which one failed.
STK_MUST_CHECK enum stk_status stk_parse_records(struct stk_op_run *r, struct stk_example_parser *p,
                                                 struct stk_example_batch *batch, int64_t rows,
                                                 int64_t *done, struct stk_err *err);

#endif
