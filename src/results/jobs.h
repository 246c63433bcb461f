// SPDX-License-Identifier: Apache-2.0
// What `stoker why` found if profiles are of several jobs: the structs of jobs.def. Everything
// lives in the result's arena.
#pragma once

#include "results/report.h"

#define STK_JOBS_SCHEMA "stoker.jobs/1"

#include "results/rows_struct.h"
#include "results/jobs.def"
#include "results/rows_end.h"
