// SPDX-License-Identifier: Apache-2.0
// Rows of arguments: what an operation or a kind of dataset takes by name. The checks, the tuner,
// the docs, Python's signatures and its stubs all come from them.
#ifndef STK_DATA_ARG_H
#define STK_DATA_ARG_H

#include "data/graph/attr.h"

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
    int64_t fallback, min, max; // INT, BOOL, DTYPE; a range where min < max
    double fallback_float;      // FLOAT
    const char *fallback_text;  // TEXT; NULL: empty
    const char *choices;        // INT: names of 0, 1, ... with commas between; NULL: a number
    const char *help;
};

const char *stk_arg_type_name(enum stk_arg_type type); // "int", as in the docs
// Arguments against the rows (up to a NULL name; NULL: none), for `who`. takes_more: those of other
// names as well. STK_EINVAL: missing, unknown, of another type or out of range; says which, and
// where the name is unknown the nearest.
STK_MUST_CHECK enum stk_status stk_args_check(const char *who, const struct stk_arg_row *rows,
                                              bool takes_more, const struct stk_attrs *attrs,
                                              struct stk_err *err);

#endif
