// SPDX-License-Identifier: Apache-2.0
// A record of stoker.data beside a profile of the same process: when the program waited for its
// next batch. The engine leaves no event in the profile, so that its steps hold nothing there.
#pragma once

#include "profile/model/summary.h"

// Time of the profile's host steps that no event explains, and in which the record says that the
// next batch was waited for, becomes waiting for input. Both are on one clock already. What the
// record knows of the pipeline goes with it. Nothing is done for steps on a device.
void stk_recorded_waits_use(struct stk_rank_sum *rank, const struct stk_rank_sum *record);
