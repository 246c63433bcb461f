// SPDX-License-Identifier: Apache-2.0
// The structs of bundle.def.
#pragma once

#define STK_BUNDLE_SCHEMA "stoker.bundle/1"

#include "results/rows_struct.h"
#include "results/bundle.def"
#include "results/rows_end.h"
