// SPDX-License-Identifier: Apache-2.0
// Anomaly detection that was left on, and steps of thousands of tiny operations. Both make steps
// long that compute little, and neither is a separate part. They are found by the names and the
// number of PyTorch's operators (signs.def). Limits: on a device, tiny operations are launches,
// which already count as the host's, so only models that run on the host are examined.
//
// The share of call overhead is the time of operators, less that of long ones without nested calls.
// It includes the arithmetic of tiny tensors, which is little.
#include "profile/model/verdict/busy_work.h"

#include "profile/model/intervals.h"
#include "profile/model/thresholds.h"
#include "profile/model/verdict/crowded.h"

double stk_sign_a_step(const struct stk_run_sum *run, enum stk_sign which)
{
    return (double)run->facts.signs[which].count / (run->step_marks > 0 ? run->step_marks : 1);
}

// An operator that itself calls hundreds of tiny ones is one Python call.
static bool is_called_by_python(const struct stk_run_sum *run)
{
    const struct stk_sign_sum *signs = run->facts.signs;
    uint64_t calls = signs[STK_SIGN_ATEN].count + signs[STK_SIGN_RECURRENT].count;
    uint64_t outer = signs[STK_SIGN_ATEN].outer + signs[STK_SIGN_RECURRENT].outer;
    return (double)calls <= stk_threshold_value(STK_T_TINY_INSIDE) * (double)outer;
}

// The same per marked step, since signs are counted over all of them.
static double held_ns_of_marks(const struct stk_run_sum *run)
{
    double used = run->steps_used ? (double)run->steps_used : 1;
    return (double)stk_held_ns(run) / used * (double)run->step_marks;
}

// The mean is over all operators. Nested time counts once, for the outer operator. An operator's
// wait for a core isn't its time.
static bool is_tiny(const struct stk_run_sum *run)
{
    const struct stk_sign_sum *signs = run->facts.signs;
    double count = stk_sign_a_step(run, STK_SIGN_ATEN) + stk_sign_a_step(run, STK_SIGN_RECURRENT);
    int64_t ns = stk_add_ns(signs[STK_SIGN_ATEN].ns, signs[STK_SIGN_RECURRENT].ns);
    uint64_t calls = signs[STK_SIGN_ATEN].count + signs[STK_SIGN_RECURRENT].count;
    return run->scope == STK_SCOPE_HOST && is_called_by_python(run) &&
           count >= stk_threshold_value(STK_T_TINY_COUNT) &&
           (double)ns - held_ns_of_marks(run) <=
               stk_threshold_value(STK_T_TINY_US) * 1e3 * (double)calls;
}

double stk_tiny_share(const struct stk_run_sum *run)
{
    const struct stk_sign_sum *signs = run->facts.signs;
    if (stk_busy_work_of(run) != STK_BUSY_TINY || run->wall_ns <= 0 || run->step_marks <= 0) {
        return 0;
    }
    int64_t all_ns = stk_add_ns(signs[STK_SIGN_ATEN].ns, signs[STK_SIGN_RECURRENT].ns);
    int64_t work_ns = stk_add_ns(signs[STK_SIGN_ATEN].work_ns, signs[STK_SIGN_RECURRENT].work_ns);
    double used = run->steps_used ? (double)run->steps_used : 1;
    return (double)(all_ns - work_ns) / (double)run->step_marks * used / (double)run->wall_ns;
}

double stk_calls_share(const struct stk_run_sum *run)
{
    const struct stk_sign_sum *signs = run->facts.signs;
    int64_t ns = stk_add_ns(signs[STK_SIGN_ATEN].ns, signs[STK_SIGN_RECURRENT].ns);
    double used = run->steps_used ? (double)run->steps_used : 1;
    double left = (double)ns - held_ns_of_marks(run);
    return left > 0 && run->wall_ns > 0 && run->step_marks > 0
               ? left / (double)run->step_marks * used / (double)run->wall_ns
               : 0;
}

enum stk_busy_work stk_busy_work_of(const struct stk_run_sum *run)
{
    if (stk_sign_a_step(run, STK_SIGN_ANOMALY) >= stk_threshold_value(STK_T_ANOMALY_CHECKS)) {
        return STK_BUSY_ANOMALY;
    }
    return is_tiny(run) ? STK_BUSY_TINY : STK_BUSY_NONE;
}

bool stk_runs_eagerly(const struct stk_run_sum *run)
{
    return stk_sign_a_step(run, STK_SIGN_EAGER_OP) >= stk_threshold_value(STK_T_EAGER_OPS);
}
