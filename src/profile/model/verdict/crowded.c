// SPDX-License-Identifier: Apache-2.0
// How other programs on the cores distort the steps that were recorded: an operator of microseconds
// that loses its core takes milliseconds, and looks like the model's work.
//
// Method: what the steps lost is the share that free cores would save by the machine's record, or
// the time beyond the job's usual step before the window, whichever is more. The wait is in the
// operators that took a time slice or more. On several threads they are stretched CROWDED_STRETCH
// times more than the rest, whose loss the record has. Limit: which of them would be long alone
// isn't known, so all of them count until the loss is used up.
#include "profile/model/verdict/crowded.h"

#include "profile/model/intervals.h"
#include "profile/model/machine/machine.h"
#include "profile/model/thresholds.h"

#define AT(name) stk_threshold_value(STK_T_##name)

bool stk_was_crowded_out(const struct stk_run_sum *run)
{
    const struct stk_machine_view *v = run->machine;
    return v && stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_CPU) >= AT(CROWDED_BUSY) &&
           stk_machine_crowded_share(v) >= AT(CROWDED_OUT);
}

bool stk_threads_were_crowded_out(const struct stk_run_sum *run)
{
    return stk_was_crowded_out(run) &&
           stk_machine_mean(run->machine, STK_SAMPLE_OF_JOB_CPU) +
                   stk_machine_mean(run->machine, STK_SAMPLE_OF_JOB_QUEUE) >=
               AT(CROWDED_THREADS);
}

static double least_of(double a, double b)
{
    return a < b ? a : b;
}

int64_t stk_held_ns(const struct stk_run_sum *run)
{
    const struct stk_sign_sum *signs = run->facts.signs;
    if (!stk_was_crowded_out(run) || run->step_marks <= 0) {
        return 0;
    }
    int64_t usual_ns = run->facts.told_numbers[STK_TOLD_STEP_NS];
    double wall = (double)run->wall_ns;
    double lost = stk_machine_crowded_share(run->machine) * wall;
    double beyond = usual_ns > 0 ? wall - (double)usual_ns * run->steps_used : 0;
    double held = (double)signs[STK_SIGN_ATEN].slice_ns / (double)run->step_marks * run->steps_used;
    double least = least_of(held, beyond > lost ? beyond : lost);
    double alone = (1 - stk_machine_crowded_share(run->machine)) / AT(CROWDED_STRETCH);
    double stretched = stk_threads_were_crowded_out(run) ? held * (1 - alone) : 0;
    return (int64_t)(stretched > least ? stretched : least);
}
