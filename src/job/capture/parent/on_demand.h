// SPDX-License-Identifier: Apache-2.0
// What lets `stoker capture` record windows of a running PyTorch job: variables of its environment,
// and a folder for the sockets of Kineto's protocol.
#pragma once

#include "job/capture/parent/hooks.h"

// Sets them in this process' environment, which the job gets. sockets: made where neither the
// folder of the hooks holds them, which go with these, nor the user's own; removed at the end.
STK_MUST_CHECK enum stoker_status stk_on_demand_set(const struct stk_hooks *hooks,
                                                    struct stk_scratch *sockets,
                                                    struct stoker_err *err);
