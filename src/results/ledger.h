// SPDX-License-Identifier: Apache-2.0
// The structs of ledger.def.
#pragma once

#define STK_LEDGER_SCHEMA "stoker.ledger/1"

enum { STK_LEDGER_TEXT = 160 };

#include "results/rows_struct.h"
#include "results/ledger.def"
#include "results/rows_end.h"
