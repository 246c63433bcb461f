// SPDX-License-Identifier: Apache-2.0
// qsort, which may not be given NULL, for lists that may be empty.
#ifndef STK_BASE_SORT_H
#define STK_BASE_SORT_H

#include <stddef.h>
#include <stdlib.h>

// As qsort; items may be NULL where n is 0.
static inline void stk_sort(void *items, size_t n, size_t size,
                            int (*compare)(const void *, const void *))
{
    if (n > 1) {
        qsort(items, n, size, compare);
    }
}

#endif
