// SPDX-License-Identifier: Apache-2.0
// The structs of tune.def.
#pragma once

#define STK_TUNE_SCHEMA "stoker.tune/1"

#include "results/rows_struct.h"
#include "results/tune.def"
#include "results/rows_end.h"
