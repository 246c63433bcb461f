// SPDX-License-Identifier: Apache-2.0
// Anomaly detection that was left on, and steps of thousands of tiny operations: both make a step
// long that computes little, and neither is a part of its own. Told by the names and the number of
// PyTorch's operators (model/signs.def). Limits: on a device tiny operations are launches, which
// host-bound counts; here they are looked at where the model runs on the host.
#include "rules/torch_signs.h"

#include "base/human.h"

enum { CHECKS, TINY_COUNT, TINY_US, RECURRENT };
static const struct stk_threshold thresholds[] = {
    [CHECKS] = {"gradients searched for NaN", "a step", 20, "a loop's own check is one or two"},
    [TINY_COUNT] = {"operators of PyTorch's", "a step", 1000,
                    "a layer takes some tens, with its gradients"},
    [TINY_US] = {"operator, on average, those inside of others included, at most", "us", 10,
                 "calling an operator takes 1 to 5 us; jobs whose operators work take 20 and more"},
    [RECURRENT] = {"sigmoids and hyperbolic tangents", "a step", 40,
                   "a cell of an LSTM has five for each time step"},
    {0},
};

enum { FIX_ANOMALY, FIX_LSTM, FIX_WHOLE, FIX_COMPILE };
static const struct stk_rep_fix fixes[] = {
    [FIX_ANOMALY] =
        {"pytorch",
         "Anomaly detection is on: it searches each gradient for NaN, and keeps a stack "
         "for each operation. Leave it on only while a NaN is looked for.",
         "torch.autograd.set_detect_anomaly(False)"},
    [FIX_LSTM] = {"pytorch",
                  "A recurrent cell is called for one time step after the other: let nn.LSTM (or "
                  "nn.GRU, nn.RNN) take the whole sequence at once.",
                  "rnn = nn.LSTM(inputs, hidden, batch_first=True)  # once, in __init__\n"
                  "states, last = rnn(x)                            # x: batch, time, inputs"},
    [FIX_WHOLE] = {"pytorch",
                   "Python calls tiny operations one by one, over time steps, samples or "
                   "parameters: work on whole tensors, with a dimension in the place of the loop.",
                   "y = torch.stack(parts) @ w  # in the place of [part @ w for part in parts]"},
    [FIX_COMPILE] = {"pytorch",
                     "torch.compile may put small operations together; it compiles anew for each "
                     "shape, so measure it.",
                     "model = torch.compile(model)"},
};

static double a_step(const struct stk_rule_ctx *ctx, enum stk_sign which)
{
    const struct stk_run_sum *run = ctx->pass.run;
    return (double)run->facts.signs[which].count / (run->step_marks > 0 ? run->step_marks : 1);
}

static bool choose_anomaly(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_sign_sum *sum = &ctx->pass.run->facts.signs[STK_SIGN_ANOMALY];
    char count[STK_HUMAN_MAX], time[STK_HUMAN_MAX];
    if (a_step(ctx, STK_SIGN_ANOMALY) < thresholds[CHECKS].value) {
        return false;
    }
    stk_finding_say(ctx, f, "%s gradients are searched for NaN, %s in all: anomaly detection is on",
                    stk_human_count(sum->count, count), stk_human_ns(sum->ns, time));
    stk_finding_raise(f, 1);
    stk_finding_fix(ctx, f, &fixes[FIX_ANOMALY]);
    return true;
}

// Of all operators; the time of those inside of others is theirs, so that the mean is of all calls.
static bool choose_tiny(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_sign_sum *signs = ctx->pass.run->facts.signs;
    double count = a_step(ctx, STK_SIGN_ATEN) + a_step(ctx, STK_SIGN_RECURRENT);
    int64_t ns = stk_add_ns(signs[STK_SIGN_ATEN].ns, signs[STK_SIGN_RECURRENT].ns);
    uint64_t calls = signs[STK_SIGN_ATEN].count + signs[STK_SIGN_RECURRENT].count;
    char number[STK_HUMAN_MAX], each[STK_HUMAN_MAX];
    if (!stk_rule_on_host(ctx) || count < thresholds[TINY_COUNT].value ||
        (double)ns > thresholds[TINY_US].value * 1e3 * (double)calls) {
        return false;
    }
    stk_finding_say(ctx, f,
                    "%s operators of PyTorch's in each step, %s each on average: tiny "
                    "operations, whose calls are the work",
                    stk_human_count((uint64_t)count, number),
                    stk_human_ns(ns / (int64_t)calls, each));
    stk_finding_raise(f, 1);
    bool is_cell = a_step(ctx, STK_SIGN_RECURRENT) >= thresholds[RECURRENT].value;
    stk_finding_fix(ctx, f, &fixes[is_cell ? FIX_LSTM : FIX_WHOLE]);
    if (signs[STK_SIGN_COMPILED].count == 0) {
        stk_finding_fix(ctx, f, &fixes[FIX_COMPILE]);
    }
    return true;
}

bool stk_torch_signs_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    return choose_anomaly(ctx, f) || choose_tiny(ctx, f);
}
