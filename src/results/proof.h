// SPDX-License-Identifier: Apache-2.0
// The structs of proof.def.
#pragma once

#define STK_PROOF_SCHEMA "stoker.proof/1"

#include "results/rows_struct.h"
#include "results/proof.def"
#include "results/rows_end.h"
