// SPDX-License-Identifier: Apache-2.0
// The units that an Arrow source reads: record batches of files, row groups, or a whole stream. The
// embedding language opens one: it puts a stream (struct ArrowArrayStream) at an address. Reading
// its record batches needs no call into that language and works on any thread.
#pragma once

#include "engine/formats/arrow.h"
#include "engine/run/iter.h"

#define STK_ARROW_LEAVES_MAX STK_COMPONENTS_MAX

// Checks the arguments of a dataset and makes ds->specs.
STK_MUST_CHECK enum stoker_status stk_arrow_units_infer(struct stk_dataset *ds,
                                                        struct stoker_err *err);
int64_t stk_arrow_units_rows(const struct stk_dataset *ds); // in all units; -1: unknown

enum stk_arrow_how { STK_ARROW_WHOLE, STK_ARROW_PARTS, STK_ARROW_PARTS_THREADED };

struct stk_arrow_units {
    struct stk_iter *it;
    int64_t n;      // units
    int64_t *order; // number of the k-th unit
    int64_t *first; // first row of the k-th, then the total; -1: unknown
    struct stk_arrow_leaf *leaves;
    int n_leaves;
    const int64_t *table; // from the attribute: file, number in it, rows
};
STK_MUST_CHECK enum stoker_status stk_arrow_units_open(struct stk_arrow_units *u,
                                                       struct stk_iter *it, struct stoker_err *err);
void stk_arrow_units_close(struct stk_arrow_units *u);
int64_t stk_arrow_units_of_row(const struct stk_arrow_units *u, int64_t row); // the unit with that
                                                                              // row

struct stk_arrow_stream { // an open stream; zeroed: none
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    int64_t unit, rows; // unit by order; rows returned so far
};
STK_MUST_CHECK enum stoker_status stk_arrow_stream_open(struct stk_arrow_stream *s,
                                                        const struct stk_arrow_units *u,
                                                        int64_t unit, enum stk_arrow_how how,
                                                        struct stoker_err *err);
// The next record batch. *is_end: there was none. On any thread, one at a time.
STK_MUST_CHECK enum stoker_status stk_arrow_stream_next(struct stk_arrow_stream *s,
                                                        const struct stk_arrow_units *u,
                                                        struct stk_arrow_rows *out, bool *is_end,
                                                        struct stoker_err *err);
void stk_arrow_stream_close(struct stk_arrow_stream *s);
// Reads a whole unit as one block.
STK_MUST_CHECK enum stoker_status stk_arrow_unit_read(const struct stk_arrow_units *u, int64_t unit,
                                                      struct stk_arrow_rows *out,
                                                      struct stoker_err *err);
// The error of row i of the unit, which failed.
enum stoker_status stk_arrow_unit_null(const struct stk_arrow_units *u, int64_t unit,
                                       const struct stk_arrow_rows *r, int64_t row, int64_t before,
                                       struct stoker_err *err);
// Was the unit's mapped file truncated?
bool stk_arrow_unit_is_torn(const struct stk_arrow_units *u, int64_t unit);
enum stoker_status stk_arrow_unit_torn(const struct stk_arrow_units *u, int64_t unit,
                                       struct stoker_err *err);
