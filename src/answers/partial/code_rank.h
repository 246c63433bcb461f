// SPDX-License-Identifier: Apache-2.0
// Codes a rank's summary (code.h), and checks one that was read.
#pragma once

#include "answers/partial/code.h"
#include "profile/model/machine/machine.h"
#include "profile/model/summary.h"

void stk_code_rank(struct stk_code *c, struct stk_rank_sum *rank);
void stk_code_worker_sum(struct stk_code *c, struct stk_worker_sum *workers);
void stk_code_machine(struct stk_code *c, struct stk_machine *machine);

// Checks what a merge relies on: indices within bounds, parts that sum to their whole. False: the
// bytes are damaged. Also numbers the collectives.
bool stk_rank_is_sound(struct stk_rank_sum *rank);
bool stk_facts_are_sound(const struct stk_facts *facts);
bool stk_workers_are_sound(const struct stk_worker_sum *workers);
bool stk_machine_is_sound(const struct stk_machine *machine);
