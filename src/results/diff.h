// SPDX-License-Identifier: Apache-2.0
// The result of `stoker diff A B`: the structs of diff.def. Everything lives in the result's arena.
#pragma once

#include "results/report.h"

#define STK_DIFF_SCHEMA "stoker.diff/1"

#include "results/rows_struct.h"
#include "results/diff.def"
#include "results/rows_end.h"
