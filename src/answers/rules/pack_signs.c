// SPDX-License-Identifier: Apache-2.0
// TensorFlow's MirroredStrategy packs gradients: it concatenates them, reduces the packs and splits
// them again. This is the cost in a host step, by the types of its operations, if a second replica
// shows that there are several. Limits: the model's own concatenations look alike, so the figure is
// an upper bound. On a device, host operations only launch; `stoker stats ops` has the kernels'
// time.
#include "answers/rules/pack_signs.h"

#include "profile/model/verdict/busy_work.h"
#include "profile/model/intervals.h"
#include "evidence_says.h"

bool stk_pack_signs_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                        const struct stk_threshold *worth)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_sign_sum *signs = run->facts.signs;
    if (!stk_rule_on_host(ctx) || run->steps_used == 0 || run->step_marks == 0 ||
        stk_sign_a_step(run, STK_SIGN_REPLICA) < 1 || signs[STK_SIGN_CONCAT].count == 0) {
        return false;
    }
    int64_t ns =
        stk_add_ns(signs[STK_SIGN_CONCAT].ns, signs[STK_SIGN_SPLIT].ns) / (int64_t)run->step_marks;
    int64_t step_ns = run->wall_ns / (int64_t)run->steps_used;
    if ((double)ns < worth->value * (double)step_ns) {
        return false;
    }
    stk_say_tensors_packed(ctx, f, ns, (double)ns / (double)step_ns);
    return true;
}
