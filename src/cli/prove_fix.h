// SPDX-License-Identifier: Apache-2.0
// `stoker prove --fix ID=VALUE`: B is A with a fix of `stoker tune`, applied by hooks, variables or
// a command in front. A runs with the same hooks but no fix, so that both pay their cost.
#pragma once

#include "job/prove/proof.h"
#include "job/tune/choice.h"

struct stk_prove_fix {
    char label[STK_TUNE_LABEL];  // "ID=VALUE", with tune's id
    char **env[STK_PROOF_SIDES]; // strings borrowed from the original environment
    char **argv;                 // B's
};

// Fills both sides of the plan, and its prediction if the fix has a what-if and no other was
// requested. text: "torch.dataloader.num_workers=2". Other codes than DONE: an error, already
// printed.
int stk_prove_fix_make(const char *text, char *const *argv, char *const *env,
                       struct stk_proof_plan *plan, struct stk_prove_fix *to);
void stk_prove_fix_close(struct stk_prove_fix *fix);
