// SPDX-License-Identifier: Apache-2.0
// Sorts lists that may be empty; orders structs and real numbers; searches sorted arrays.
#pragma once

#include <stddef.h>
#include <stdlib.h>

// Like qsort, but stable, and fast if the items are a few ordered runs; items may be NULL if n is
// 0.
void stk_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *));

// A function that compares structs by their members: the first that differs decides.
//   STK_ORDER(by_start, struct span, STK_UP(start_ns) STK_DOWN(dur_ns))
// Real members must not be NaN.
#define STK_UP(member)                                                                             \
    if (a->member != b->member) {                                                                  \
        return a->member < b->member ? -1 : 1;                                                     \
    }
#define STK_DOWN(member)                                                                           \
    if (a->member != b->member) {                                                                  \
        return a->member > b->member ? -1 : 1;                                                     \
    }
#define STK_ORDER(name, type, members)                                                             \
    static int name(const void *first, const void *second)                                         \
    {                                                                                              \
        const type *a = first, *b = second;                                                        \
        members return 0;                                                                          \
    }

static inline int stk_sort_compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void stk_sort_reals(double *values, size_t n)
{
    stk_sort(values, n, sizeof *values, stk_sort_compare_reals);
}

// Moves `low` to the first position in [low, high) that isn't before the target, or to `high`.
// `is_before` is an expression of the position `mid`: true up to a point, then false.
#define STK_BISECT(low, high, mid, is_before)                                                      \
    do {                                                                                           \
        while ((low) < (high)) {                                                                   \
            __typeof__(low) mid = (low) + ((high) - (low)) / 2;                                    \
            if (is_before) {                                                                       \
                (low) = mid + 1;                                                                   \
            } else {                                                                               \
                (high) = mid;                                                                      \
            }                                                                                      \
        }                                                                                          \
    } while (0)
