// SPDX-License-Identifier: Apache-2.0
// The own time of PyTorch's operators. Counted is that of operators which took long enough to have
// lost their core to another program in the meantime (verdict/crowded.c). Method: a stack of open
// operators per thread; each takes its time from the one around it.
#include "profile/model/threads/operator_time.h"

#include "profile/model/intervals.h"
#include "profile/model/thresholds.h"

void stk_operators_close(struct stk_operators *o, int64_t t_ns, struct stk_sign_sum *sum)
{
    double slice_ns = stk_threshold_value(STK_T_CROWDED_SLICE_US) * 1e3;
    while (o->count && o->open[o->count - 1].end_ns <= t_ns) {
        int64_t own_ns = o->open[--o->count].own_ns;
        if ((double)own_ns >= slice_ns) {
            sum->slice_ns = stk_add_ns(sum->slice_ns, own_ns);
        }
    }
}

void stk_operators_open(struct stk_operators *o, int64_t start_ns, int64_t end_ns,
                        struct stk_sign_sum *sum)
{
    int64_t dur_ns = end_ns - start_ns;
    stk_operators_close(o, start_ns, sum);
    if (o->count == STK_OPERATORS) {
        return;
    }
    if (o->count) {
        o->open[o->count - 1].own_ns -= dur_ns;
    }
    o->open[o->count].end_ns = end_ns;
    o->open[o->count++].own_ns = dur_ns;
}
