// SPDX-License-Identifier: Apache-2.0
// The structs of live.def.
#pragma once

#define STK_LIVE_SCHEMA "stoker.live/1"

#include "results/rows_struct.h"
#include "results/live.def"
#include "results/rows_end.h"
