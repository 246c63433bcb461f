// SPDX-License-Identifier: Apache-2.0
// Rows of arguments: what an operation or a dataset kind takes by name. The checks, the tuner, the
// docs, and Python's signatures and stubs all come from them.
#pragma once

#include "engine/graph/attr.h"

enum stk_arg_type {
    STK_ARG_INT,
    STK_ARG_BOOL,
    STK_ARG_FLOAT,
    STK_ARG_TEXT,
    STK_ARG_DTYPE,  // an INT: enum stk_dtype
    STK_ARG_INTS,   // accepts one INT as well
    STK_ARG_FLOATS, // accepts one FLOAT as well
    STK_ARG_OTHER
};

struct stk_arg_row {
    const char *name;
    enum stk_arg_type type;
    bool is_required, is_tunable;
    bool is_open;               // if absent, the behavior isn't that of one value: see help
    bool is_input_too;          // if absent, the next input takes its place
    bool is_internal;           // set only by rewrites: callers can't, and no table shows it
    int64_t fallback, min, max; // INT, BOOL, DTYPE; a range where min < max
    double fallback_float;      // FLOAT
    const char *fallback_text;  // TEXT; NULL: empty
    const char *choices;        // INT: names of 0, 1, ...; TEXT, DTYPE: the allowed values.
                                // Comma-separated
    const char *help;
};
// The usual fields of a row, then those that differ: STK_ARG("seed", INT, "of its bits", .fallback
// = -1).
#define STK_ARG(argument, kind, ...) {.name = argument, .type = STK_ARG_##kind, .help = __VA_ARGS__}

// Arguments resolved once and then looked up by row number.
struct stk_arg_value {
    const struct stk_attr *attr; // as given; NULL: absent
    int64_t i;        // INT, BOOL, DTYPE: the number or the row's fallback; TEXT: of its choice
    double f;         // FLOAT
    const char *text; // TEXT; never NULL
};
// One per row; borrows from both, which must outlive it. NULL: no memory.
struct stk_arg_value *stk_args_resolve(const struct stk_arg_row *rows,
                                       const struct stk_attrs *attrs);

const char *stk_arg_type_name(enum stk_arg_type type); // "int", as in the docs
// Checks arguments against the rows (up to a NULL name; NULL: none). `who` is named in errors.
// STOKER_EINVAL: one is missing, has the wrong type or is out of range; says which.
STK_MUST_CHECK enum stoker_status stk_args_check(const char *who, const struct stk_arg_row *rows,
                                                 const struct stk_attrs *attrs,
                                                 struct stoker_err *err);
// STOKER_EINVAL: a name is in neither table (NULL: empty); suggests the nearest.
STK_MUST_CHECK enum stoker_status stk_args_check_names(const char *who,
                                                       const struct stk_arg_row *rows,
                                                       const struct stk_arg_row *common,
                                                       const struct stk_attrs *attrs,
                                                       struct stoker_err *err);
// STOKER_EINVAL: the caller gave one that only rewrites may set.
STK_MUST_CHECK enum stoker_status stk_args_check_given(const char *who,
                                                       const struct stk_arg_row *rows,
                                                       const struct stk_attrs *attrs,
                                                       struct stoker_err *err);
