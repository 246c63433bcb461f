// SPDX-License-Identifier: Apache-2.0
// A proof from runs that were recorded before: folders of `stoker run`, as many from before a
// change as from after it, paired in the order in which they are named. Limits: what drifted
// between the two sets of runs is not told from the change, unless they were recorded in turn;
// fewer than four pairs give an estimate and no verdict.
#pragma once

#include "job/prove/proof.h"

// folders[side][0..pairs). plan: what the outputs need of it. A folder without enough steps is an
// error.
STK_MUST_CHECK enum stoker_status stk_proof_recorded(const struct stk_proof_plan *plan,
                                                     char *const *const folders[STK_PROOF_SIDES],
                                                     int pairs, struct stk_proof *proof,
                                                     struct stoker_err *err);
