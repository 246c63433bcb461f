// SPDX-License-Identifier: Apache-2.0
// What is kept of a rank's names: those that take most time, so that a rank's memory, and its
// partial, are bounded. A graph of TensorFlow may have a name for each of 100,000 operations.
// Limits: what is left out is in the sums, but isn't listed: a name of a side that the other side
// has left out looks new, or gone.
#include "answers/passes/diff/diff_impl.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

#define NAMES_BYTES ((size_t)64 << 10) // texts and figures of kernels, and of operations
#define ROW_BYTES 24                   // figures of a row, about

struct place {
    const char *name;
    int64_t ns;
    size_t at;
    bool is_kept;
};

static int most_first(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    int order = a->ns != b->ns ? (a->ns < b->ns ? 1 : -1) : strcmp(a->name, b->name);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

static int in_place(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    return (a->at > b->at) - (a->at < b->at);
}

static bool fit(const struct place *p, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n && bytes <= NAMES_BYTES; i++) {
        bytes += strlen(p[i].name) + ROW_BYTES;
    }
    return bytes <= NAMES_BYTES;
}

static void choose(struct place *p, size_t n)
{
    size_t bytes = 0;
    stk_sort(p, n, sizeof *p, most_first);
    for (size_t i = 0; i < n; i++) {
        bytes += strlen(p[i].name) + ROW_BYTES;
        p[i].is_kept = bytes <= NAMES_BYTES;
    }
    stk_sort(p, n, sizeof *p, in_place);
}

// Rows that are kept move to the front, in their order.
#define KEEP(rows, count, time)                                                                    \
    do {                                                                                           \
        size_t all_ = (count), kept_ = 0;                                                          \
        struct place *p_ = stk_alloc_array(all_ + 1, sizeof *p_);                                  \
        for (size_t i_ = 0; p_ && i_ < all_; i_++) {                                               \
            p_[i_] = (struct place){(rows)[i_].name, (rows)[i_].time, i_, true};                   \
        }                                                                                          \
        if (!p_) {                                                                                 \
            return false;                                                                          \
        }                                                                                          \
        if (!fit(p_, all_)) {                                                                      \
            choose(p_, all_);                                                                      \
        }                                                                                          \
        for (size_t i_ = 0; i_ < all_; i_++) {                                                     \
            if (p_[i_].is_kept) {                                                                  \
                (rows)[kept_++] = (rows)[i_];                                                      \
            }                                                                                      \
        }                                                                                          \
        (count) = (__typeof__(count))kept_;                                                        \
        stk_free(p_);                                                                              \
    } while (0)

bool stk_diff_keep(struct stk_kernel_sums *kernels, struct stk_op_sums *ops)
{
    KEEP(kernels->rows, kernels->row_count, total_ns);
    KEEP(ops->rows, ops->count, self_ns);
    return true;
}
