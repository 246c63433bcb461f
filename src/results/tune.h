// SPDX-License-Identifier: Apache-2.0
// The structs of tune.def.
#ifndef STK_RESULTS_TUNE_H
#define STK_RESULTS_TUNE_H

#define STK_TUNE_SCHEMA "stoker.tune/1"

#include "results/rows_struct.h"
#include "results/tune.def"
#include "results/rows_end.h"

#endif
