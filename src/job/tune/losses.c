// SPDX-License-Identifier: Apache-2.0
// Envelopes of losses; see losses.h.
#include "job/tune/losses.h"

#include "base/assert.h"

#include <math.h>

enum { STRETCHES = 4, MOST = 4096 };
#define BITS 1e-6 // of a loss: the framework itself may sum in another order

struct aligned {
    int64_t step[MOST];
    double a[MOST], b[MOST], fixed[MOST];
    size_t count;
};

// Finds the steps that all three have; each is sorted by step.
static void align(const struct stk_vec *va, const struct stk_vec *vb, const struct stk_vec *vf,
                  struct aligned *to)
{
    const struct stk_tune_loss *a = va->items, *b = vb->items, *f = vf->items;
    to->count = 0;
    for (size_t i = 0, k = 0, m = 0;
         i < va->count && k < vb->count && m < vf->count && to->count < MOST;) {
        int64_t most = a[i].step > b[k].step ? a[i].step : b[k].step;
        most = most > f[m].step ? most : f[m].step;
        bool is_aligned = a[i].step == most && b[k].step == most && f[m].step == most;
        if (is_aligned) {
            to->step[to->count] = most;
            to->a[to->count] = a[i].value;
            to->b[to->count] = b[k].value;
            to->fixed[to->count++] = f[m].value;
        }
        int64_t from = is_aligned ? most + 1 : most; // steps before it are skipped
        i += a[i].step < from;
        k += b[k].step < from;
        m += f[m].step < from;
    }
}

static double mean(const double *values, size_t n)
{
    STK_ASSERT(n > 0);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum / (double)n;
}

static double standard_error(const double *values, size_t n)
{
    double around = mean(values, n), squares = 0;
    for (size_t i = 0; i < n; i++) {
        squares += (values[i] - around) * (values[i] - around);
    }
    return n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : 0;
}

// How far the fix's mean is outside a stretch's envelope, as a share of the loss; 0: inside.
static double outside(const struct aligned *l, size_t from, size_t n, enum stk_tune_changes changes)
{
    STK_ASSERT(n >= 1 && from + n <= l->count);
    double a = mean(l->a + from, n), b = mean(l->b + from, n), f = mean(l->fixed + from, n);
    double scale = fmax(fabs(a), fabs(b));
    if (!isfinite(a) || !isfinite(b)) {
        return 0; // the unchanged job itself diverges
    }
    if (!isfinite(f)) {
        return INFINITY;
    }
    double room = fabs(a - b) + BITS * scale;
    room += changes == STK_CHANGES_NOTHING ? 0 : 2 * standard_error(l->a + from, n);
    double over = fmax(f - fmax(a, b), fmin(a, b) - f) - room;
    return over > 0 ? (scale > 0 ? (over + room) / scale : INFINITY) : 0;
}

struct stk_tune_losses stk_losses_compare(const struct stk_vec *a, const struct stk_vec *b,
                                          const struct stk_vec *fixed,
                                          enum stk_tune_changes changes)
{
    STK_ASSERT(a->item_size == sizeof(struct stk_tune_loss) && b->item_size == a->item_size &&
               fixed->item_size == a->item_size);
    struct aligned l;
    struct stk_tune_losses out = {.is_equal = true};
    align(a, b, fixed, &l);
    out.aligned = l.count;
    if (l.count < STK_LOSSES_MIN) {
        return out;
    }
    out.numerics = STK_NUMERICS_SAME;
    for (size_t i = 0; i < l.count; i++) {
        out.is_equal = out.is_equal && l.a[i] == l.fixed[i];
    }
    size_t stretches = l.count / STK_LOSSES_MIN < STRETCHES ? l.count / STK_LOSSES_MIN : STRETCHES;
    for (size_t s = 0; s < stretches && out.numerics == STK_NUMERICS_SAME; s++) {
        size_t from = s * l.count / stretches, end = (s + 1) * l.count / stretches;
        out.off = outside(&l, from, end - from, changes);
        if (out.off > 0) {
            out.numerics = STK_NUMERICS_DIFFER;
            out.step = l.step[from];
        }
    }
    return out;
}
