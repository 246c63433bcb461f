// SPDX-License-Identifier: Apache-2.0
// A stoker.data record next to a profile of the same process: when the program waited for its next
// batch. The engine leaves no events in the profile, so the profile's steps are empty there.
#pragma once

#include "profile/model/summary.h"

// Unexplained time of the profile's host steps becomes waiting for input where the record has a
// wait for the next batch. Both already use one clock. The record's figures of the pipeline are
// taken over too. Steps on a device stay as they are.
void stk_recorded_waits_use(struct stk_rank_sum *rank, const struct stk_rank_sum *record);
