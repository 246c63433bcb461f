// SPDX-License-Identifier: Apache-2.0
// What lets `stoker capture` record windows of a running PyTorch job: variables of its environment,
// and a folder for the sockets of Kineto's protocol.
#ifndef STK_CAPTURE_PARENT_ON_DEMAND_H
#define STK_CAPTURE_PARENT_ON_DEMAND_H

#include "base/err.h"

enum { STK_ON_DEMAND_DIR = 128 };
// Sets them in this process' environment, which the job gets. dir: "" where the run's own folder
// holds the sockets, which goes with its hooks, or the user's own; else to be dropped at the end.
STK_MUST_CHECK enum stoker_status stk_on_demand_set(const char *folder, char dir[STK_ON_DEMAND_DIR],
                                                    struct stoker_err *err);
void stk_on_demand_drop(const char *dir);

#endif
