// SPDX-License-Identifier: Apache-2.0
// The structs of view.def.
#pragma once

#define STK_VIEW_SCHEMA "stoker.view/1"
#define STK_VIEW_RUN_SCHEMA "stoker.view.run/1"

#include "results/rows_struct.h"
#include "results/view.def"
#include "results/rows_end.h"
