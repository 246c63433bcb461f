// SPDX-License-Identifier: Apache-2.0
// A proof from earlier recorded runs: folders of `stoker run`, equally many from before and after a
// change, paired in the order given. Limits: a drift between the two sets looks like the change,
// unless the runs were recorded in turn; fewer than four pairs give an estimate, but no verdict.
#pragma once

#include "job/prove/proof.h"

// folders[side][0..pairs). plan: for the outputs. A folder without enough steps is an error.
STK_MUST_CHECK enum stoker_status stk_proof_recorded(const struct stk_proof_plan *plan,
                                                     char *const *const folders[STK_PROOF_SIDES],
                                                     int pairs, struct stk_proof *proof,
                                                     struct stoker_err *err);
