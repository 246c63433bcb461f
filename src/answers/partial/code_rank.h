// SPDX-License-Identifier: Apache-2.0
// A rank's summary, coded (code.h), and whether one that was read can be used.
#pragma once

#include "answers/partial/code.h"
#include "profile/model/machine/machine.h"
#include "profile/model/summary.h"

void stk_code_rank(struct stk_code *c, struct stk_rank_sum *rank);
void stk_code_worker_sum(struct stk_code *c, struct stk_worker_sum *workers);
void stk_code_machine(struct stk_code *c, struct stk_machine *machine);

// What a merge relies on: indices in their bounds, parts that sum up to their whole. False: the
// bytes are not what was written. Numbers the collectives.
bool stk_rank_is_sound(struct stk_rank_sum *rank);
bool stk_machine_is_sound(const struct stk_machine *machine);
