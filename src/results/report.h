// SPDX-License-Identifier: Apache-2.0
// The result of `stoker why`: the structs of report.def. Passes and rules fill them, outputs print
// them; neither knows the other. Everything lives in the result's arena.
#pragma once

#include "base/terms.h"
#include "fixes/fixes.h" // struct stk_rep_fix
#include "results/evidence.h"

#define STK_REPORT_SCHEMA "stoker.report/1"

#include "results/rows_struct.h"
#include "results/report.def"
#include "results/rows_end.h"
