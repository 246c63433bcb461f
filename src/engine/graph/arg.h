// SPDX-License-Identifier: Apache-2.0
// Rows of arguments: what an operation or a kind of dataset takes by name. The checks, the tuner,
// the docs, Python's signatures and its stubs all come from them.
#pragma once

#include "engine/graph/attr.h"

enum stk_arg_type {
    STK_ARG_INT,
    STK_ARG_BOOL,
    STK_ARG_FLOAT,
    STK_ARG_TEXT,
    STK_ARG_DTYPE,  // an INT: enum stk_dtype
    STK_ARG_INTS,   // one INT is taken as well
    STK_ARG_FLOATS, // one FLOAT is taken as well
    STK_ARG_OTHER
};

struct stk_arg_row {
    const char *name;
    enum stk_arg_type type;
    bool is_required, is_tunable;
    bool is_open;               // without it something else holds than one value: see help
    bool is_input_too;          // where it is absent, the next input stands for it
    bool is_internal;           // set by rewrites alone: no caller gives it, no table shows it
    int64_t fallback, min, max; // INT, BOOL, DTYPE; a range where min < max
    double fallback_float;      // FLOAT
    const char *fallback_text;  // TEXT; NULL: empty
    const char *choices; // INT: names of 0, 1, ...; TEXT, DTYPE: all that may be. Commas between
    const char *help;
};
// What every row holds, and then what else is so of this one: STK_ARG("seed", INT, "of its
// bits", .fallback = -1).
#define STK_ARG(argument, kind, ...) {.name = argument, .type = STK_ARG_##kind, .help = __VA_ARGS__}

// Arguments resolved once, and then found by the number of their row.
struct stk_arg_value {
    const struct stk_attr *attr; // as given; NULL: it was not
    int64_t i;        // INT, BOOL, DTYPE: the number or the row's fallback; TEXT: of its choice
    double f;         // FLOAT
    const char *text; // TEXT; never NULL
};
// As many as there are rows; borrows from both while they live. NULL: no memory.
struct stk_arg_value *stk_args_resolve(const struct stk_arg_row *rows,
                                       const struct stk_attrs *attrs);

const char *stk_arg_type_name(enum stk_arg_type type); // "int", as in the docs
// Arguments against the rows (up to a NULL name; NULL: none), for `who`. STOKER_EINVAL: missing, of
// another type or out of range; says which.
STK_MUST_CHECK enum stoker_status stk_args_check(const char *who, const struct stk_arg_row *rows,
                                                 const struct stk_attrs *attrs,
                                                 struct stoker_err *err);
// STOKER_EINVAL: one whose name is in neither of the tables (NULL: empty); says which is the
// nearest.
STK_MUST_CHECK enum stoker_status stk_args_check_names(const char *who,
                                                       const struct stk_arg_row *rows,
                                                       const struct stk_arg_row *common,
                                                       const struct stk_attrs *attrs,
                                                       struct stoker_err *err);
// What a caller gives: STOKER_EINVAL for one that only rewrites may set.
STK_MUST_CHECK enum stoker_status stk_args_check_given(const char *who,
                                                       const struct stk_arg_row *rows,
                                                       const struct stk_attrs *attrs,
                                                       struct stoker_err *err);
