// SPDX-License-Identifier: Apache-2.0
// Shared by rules on the machine record: whether there is one, and how much of the step its
// problems may delay. Such a rule never contradicts the profile: it explains why parts in the
// profile may be so long. If the step doesn't wait for them, it is only information.
#pragma once

#include "profile/model/machine/machine.h"
#include "answers/rules/finding.h"

// NULL and *why: the profile has no record.
const struct stk_machine_view *stk_rule_machine(const struct stk_rule_ctx *ctx, const char **why);

// The job's threads' wait for a core, as a share of their runnable time; 0: too little to report
// (processors-short).
double stk_rule_queue_share(const struct stk_machine_view *v);

// Parts that the host's CPU cores, memory or disks may delay: the host's work and waits, and
// waiting for the host. In a host step without a device, also the model's own operations.
enum stk_held { STK_HELD_INPUT, STK_HELD_HOST };
// Their share of the step; below 0: unknown.
double stk_rule_held(const struct stk_rule_ctx *ctx, enum stk_held what);
// Severity, confidence and bound of the saving of a cause that takes `loss` of the time of what it
// affects, and a sentence about it.
void stk_finding_held(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, enum stk_held what,
                      double loss);

// "4 processes pt_data_worker": the busiest processes of one parent and one name. False: at most
// one exists.
struct stk_crew {
    const char *name;
    uint32_t count;
    double cpu, queue; // of each, on average
};
bool stk_rule_crew(const struct stk_machine_view *v, struct stk_crew *out);
// A number with at most three significant digits: "2", "1.5", "0.25".
#define STK_NUMBER "%.3g"
