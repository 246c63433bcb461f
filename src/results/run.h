// SPDX-License-Identifier: Apache-2.0
// The structs of run.def.
#pragma once

#define STK_RUN_SCHEMA "stoker.run/1"

#include "results/rows_struct.h"
#include "results/run.def"
#include "results/rows_end.h"
