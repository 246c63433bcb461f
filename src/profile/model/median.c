// SPDX-License-Identifier: Apache-2.0
// Hoare's selection with the median of three as pivot.

#include "profile/model/median.h"

#include "base/assert.h"

static void swap(int64_t *a, int64_t *b)
{
    int64_t x = *a;
    *a = *b;
    *b = x;
}

static int64_t pivot_of(int64_t *v, size_t low, size_t high)
{
    size_t mid = low + (high - low) / 2;
    if (v[mid] < v[low]) {
        swap(&v[mid], &v[low]);
    }
    if (v[high] < v[low]) {
        swap(&v[high], &v[low]);
    }
    if (v[high] < v[mid]) {
        swap(&v[high], &v[mid]);
    }
    return v[mid];
}

int64_t stk_nth_value(int64_t *v, size_t n, size_t k)
{
    STK_ASSERT(n > 0 && k < n);
    size_t low = 0, high = n - 1;
    while (low < high) {
        int64_t pivot = pivot_of(v, low, high);
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot) {
                i++;
            }
            while (v[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            swap(&v[i++], &v[j--]);
        }
        // Here everything up to j is <= pivot and everything after it is >= pivot.
        if (k <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
    return v[k];
}
