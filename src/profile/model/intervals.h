// SPDX-License-Identifier: Apache-2.0
// Sets of time as sorted, disjoint, non-empty half-open intervals. All set operations are linear
// sweeps over both operands; results are new sets. Touching intervals are merged.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stk_span {
    int64_t start_ns, end_ns; // start < end
};

struct stk_spans {
    struct stk_span *v;
    size_t count, capacity;
};

void stk_spans_init(struct stk_spans *s);
void stk_spans_deinit(struct stk_spans *s);
// Room for `count` intervals in all; false: no memory.
bool stk_spans_reserve(struct stk_spans *s, size_t count);
// Add an interval that starts at or after the start of the last one; empty ones are ignored.
// False: no memory.
bool stk_spans_add(struct stk_spans *s, int64_t start_ns, int64_t end_ns);
// Turn intervals in any order, overlapping or empty, into a set, in place.
void stk_spans_normalize(struct stk_spans *s);

// Results are written to `out`, which must be initialized, is overwritten and must not be an
// operand. False: no memory.
bool stk_spans_union(const struct stk_spans *a, const struct stk_spans *b, struct stk_spans *out);
bool stk_spans_subtract(const struct stk_spans *a, const struct stk_spans *b,
                        struct stk_spans *out);
bool stk_spans_intersect(const struct stk_spans *a, const struct stk_spans *b,
                         struct stk_spans *out);
// The part of the set inside [from, to).
bool stk_spans_clip(const struct stk_spans *a, int64_t from_ns, int64_t to_ns,
                    struct stk_spans *out);

// Sum of durations that may overlap each other: at most INT64_MAX instead of overflowing.
static inline int64_t stk_add_ns(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t stk_spans_total(const struct stk_spans *s);
// Index of the first interval that ends after `t`; `count` if none.
size_t stk_spans_find(const struct stk_spans *s, int64_t t_ns);
// Time of the set inside [from, to): a scan from the first interval concerned.
int64_t stk_spans_overlap(const struct stk_spans *s, int64_t from_ns, int64_t to_ns);

// Running totals, to measure any window in O(log n): sums[i] is the time before interval i.
int64_t *stk_spans_sums(const struct stk_spans *s); // caller frees with stk_free; NULL: no memory
int64_t stk_spans_measure(const struct stk_spans *s, const int64_t *sums, int64_t from_ns,
                          int64_t to_ns);
