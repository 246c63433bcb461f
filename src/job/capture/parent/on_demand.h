// SPDX-License-Identifier: Apache-2.0
// Makes a PyTorch job recordable by `stoker capture` while it runs: variables of its environment,
// and a folder for the sockets of Kineto's protocol.
#pragma once

#include "job/capture/parent/hooks.h"

// Sets the variables in this process's environment, which the job inherits. sockets: a folder, made
// only if the sockets can be neither in the folder of the hooks nor in the user's own; remove it at
// the end.
STK_MUST_CHECK enum stoker_status stk_on_demand_set(const struct stk_hooks *hooks,
                                                    struct stk_scratch *sockets,
                                                    struct stoker_err *err);
