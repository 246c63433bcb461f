// SPDX-License-Identifier: Apache-2.0
// What PyTorch's operators give away of how a job is written, whatever part of the step it costs.
#ifndef STK_RULES_TORCH_SIGNS_H
#define STK_RULES_TORCH_SIGNS_H

#include "rules/finding.h"

// The cures, as rows for the tables of the rules that may print them (`stoker explain`), in the
// order of enum stk_torch_cure.
enum stk_torch_cure { STK_CURE_ANOMALY, STK_CURE_LSTM, STK_CURE_WHOLE, STK_CURE_COMPILE };
#define STK_FIXES_TORCH_SIGNS                                                                      \
    {"pytorch",                                                                                    \
     "Anomaly detection is on: it searches each gradient for NaN, and keeps a stack for each "     \
     "operation. Leave it on only while a NaN is looked for.",                                     \
     "torch.autograd.set_detect_anomaly(False)"},                                                  \
        {"pytorch",                                                                                \
         "A recurrent cell is called for one time step after the other: let nn.LSTM (or nn.GRU, "  \
         "nn.RNN) take the whole sequence at once.",                                               \
         "rnn = nn.LSTM(inputs, hidden, batch_first=True)  # once, in __init__\n"                  \
         "states, last = rnn(x)                            # x: batch, time, inputs"},             \
        {"pytorch",                                                                                \
         "Python calls tiny operations one by one, over time steps, samples or parameters: work "  \
         "on whole tensors, with a dimension in the place of the loop, and over parameters in "    \
         "one call for all of them (foreach).",                                                    \
         "y = torch.stack(parts) @ w  # in the place of [part @ w for part in parts]\n"            \
         "with torch.no_grad():       # in the place of a loop over parameters\n"                  \
         "    torch._foreach_lerp_(kept, parameters, 0.001)\n"                                     \
         "    nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)"},                           \
        {"pytorch",                                                                                \
         "torch.compile may put small operations together; it compiles anew for each shape, so "   \
         "measure it.",                                                                            \
         "model = torch.compile(model)"}

// Says what is seen, and adds its cure. True: it explains the step better than general advice.
bool stk_torch_signs_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);

#endif
