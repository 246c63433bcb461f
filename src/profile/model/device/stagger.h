// SPDX-License-Identifier: Apache-2.0
// How late the devices of a process begin a step after the first of them.
#pragma once

#include "profile/model/analysis.h"

// Fills facts.kernels.stagger where a rank has several devices. False: no memory.
bool stk_stagger_find(struct stk_analysis *a);
