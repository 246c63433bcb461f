// SPDX-License-Identifier: Apache-2.0
// What is known about a value beforehand: its type and shape. A dataset's element is a flat list of
// components, one spec each; nesting (tuples, dicts) is up to the caller.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STK_RANK_MAX 8
#define STK_COMPONENTS_MAX 1024
#define STK_UNKNOWN (-1) // a dimension or a rank

enum stk_dtype {
#define X(name, text, type, bytes) STK_DT_##name,
#include "engine/memory/dtypes.def"
#undef X
    STK_DT_COUNT
};

struct stk_bytes { // a string value; it lives as long as the column's `keep`
    const uint8_t *data;
    size_t size;
};

struct stk_shape {
    int rank; // STK_UNKNOWN: dims are meaningless
    int64_t dim[STK_RANK_MAX];
};

struct stk_spec {
    enum stk_dtype dtype;
    struct stk_shape shape;
    struct stk_specs *nested; // DATASET: the specs of its elements (a reference); NULL: unknown
};

struct stk_specs { // reference-counted, immutable once shared
    int refs;
    int count;
    struct stk_spec items[];
};

size_t stk_dtype_bytes(enum stk_dtype t);
const char *stk_dtype_name(enum stk_dtype t);
bool stk_dtype_find(const char *name, enum stk_dtype *out); // NumPy's names, "string" too
bool stk_dtype_is_float(enum stk_dtype t);
bool stk_dtype_is_int(enum stk_dtype t); // not bool

struct stk_specs *stk_specs_new(int count);                           // zeroed; NULL: no memory
struct stk_specs *stk_specs_hold(struct stk_specs *s);                // takes NULL
void stk_specs_drop(struct stk_specs *s);                             // takes NULL
void stk_spec_copy(struct stk_spec *to, const struct stk_spec *from); // takes a reference to nested
                                                                      // specs
// The same number of components and types, also in nested datasets. NULL fits everything.
bool stk_specs_fit(const struct stk_specs *a, const struct stk_specs *b);
bool stk_spec_fits(const struct stk_spec *a, const struct stk_spec *b);
// Widens *to, whose types match, to cover `more`: shapes that differ become unknown. False: no
// memory.
STK_MUST_CHECK bool stk_spec_join(struct stk_spec *to, const struct stk_spec *more);

bool stk_shape_equal(const struct stk_shape *a, const struct stk_shape *b);
bool stk_shape_is_known(const struct stk_shape *s);
// More values than any memory holds. With a dimension of 0, the other dimensions multiply to at
// most STK_EMPTY_MAX, so products of some dimensions don't overflow, and neither do sums of a few.
#define STK_VALUES_MAX (INT64_C(1) << 40)
#define STK_EMPTY_MAX (INT64_C(1) << 60)
// Values in a known shape; -1: unknown, or more than these.
int64_t stk_shape_count(const struct stk_shape *s);
// What both shapes have in common: dimensions that differ become unknown, and so does the rank.
struct stk_shape stk_shape_join(const struct stk_shape *a, const struct stk_shape *b);
// Could a value have both shapes?
bool stk_shape_fits(const struct stk_shape *spec, const struct stk_shape *value);
#define STK_SHAPE_TEXT 160
// "(2, None)", as Python prints it; "<unknown>" without rank.
char *stk_shape_text(const struct stk_shape *s, char buf[STK_SHAPE_TEXT]);
bool stk_shape_prepend(struct stk_shape *s, int64_t dim); // false: beyond STK_RANK_MAX
