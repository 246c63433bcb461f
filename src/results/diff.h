// SPDX-License-Identifier: Apache-2.0
// The result of `stoker diff A B`: the structs of diff.def. Everything lives in the result's arena.
#ifndef STK_REPORT_DIFF_H
#define STK_REPORT_DIFF_H

#include "results/report.h"

#define STK_DIFF_SCHEMA "stoker.diff/1"

#include "results/rows_struct.h"
#include "results/diff.def"
#include "results/rows_end.h"

#endif
