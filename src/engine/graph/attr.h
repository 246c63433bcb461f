// SPDX-License-Identifier: Apache-2.0
// Named arguments of operations and datasets: numbers, texts, lists, tensors, functions. A list is
// immutable once shared, and reference-counted; a look-up returns a borrowed attribute.
#pragma once

#include "engine/memory/col.h"

struct stk_fn;
struct stk_dataset;

enum stk_attr_kind {
    STK_ATTR_INT, // bools, dtypes and enums too
    STK_ATTR_FLOAT,
    STK_ATTR_TEXT, // bytes, NUL-terminated as well
    STK_ATTR_INTS,
    STK_ATTR_FLOATS,
    STK_ATTR_TEXTS,
    STK_ATTR_COLS,  // tensors: each column holds one element (n = 1)
    STK_ATTR_SPECS, // component specs
    STK_ATTR_FN,
    STK_ATTR_DATASETS,
    STK_ATTR_BOUND // unknown so far: the value of a function's node, with known specs
};

struct stk_attr {
    const char *name;
    enum stk_attr_kind kind;
    int64_t i;
    double f;
    int64_t count; // length of the lists; of a text, its bytes
    union {
        const char *text;
        const int64_t *ints;
        const double *floats;
        const struct stk_bytes *texts; // each also NUL-terminated
        struct stk_col *cols;
        struct stk_specs *specs; // BOUND also has it
        struct stk_fn *fn;
        struct stk_dataset **datasets;
    };
};

struct stk_attrs;

struct stk_attrs *stk_attrs_new(void);                 // NULL: no memory
struct stk_attrs *stk_attrs_hold(struct stk_attrs *a); // takes NULL
void stk_attrs_drop(struct stk_attrs *a);              // takes NULL
// Copies the attribute with its name and lists, and holds what it refers to. Replaces one with the
// same name. Not after the list is shared. False: no memory.
bool stk_attrs_set(struct stk_attrs *a, const struct stk_attr *attr);
bool stk_attrs_set_int(struct stk_attrs *a, const char *name, int64_t value);
bool stk_attrs_set_float(struct stk_attrs *a, const char *name, double value);
bool stk_attrs_set_text(struct stk_attrs *a, const char *name, const char *text, size_t n);
int stk_attrs_count(const struct stk_attrs *a);
const struct stk_attr *stk_attrs_at(const struct stk_attrs *a, int i);

// Look-ups; a NULL list is empty. Returns the fallback if the attribute is absent or of another
// kind (an INT may serve as FLOAT). A COLS of one number serves as INT or FLOAT, so values computed
// by a function fit; its strings are stk_bytes and not NUL-terminated: look at cols.
const struct stk_attr *stk_attrs_get(const struct stk_attrs *a, const char *name); // NULL: none
int64_t stk_attrs_int(const struct stk_attrs *a, const char *name, int64_t fallback);
double stk_attrs_float(const struct stk_attrs *a, const char *name, double fallback);
const char *stk_attrs_text(const struct stk_attrs *a, const char *name, const char *fallback);

// A copy of the attributes that may be changed. NULL: no memory.
struct stk_attrs *stk_attrs_copy(const struct stk_attrs *a);
bool stk_attrs_equal(const struct stk_attrs *a, const struct stk_attrs *b);
