// SPDX-License-Identifier: Apache-2.0
// The field tables of the documents whose rows are also their structs (rows.h).
#include "results/ledger.h"
#include "results/live.h"
#include "results/proof.h"
#include "results/run.h"
#include "results/table.h"
#include "results/tune.h"
#include "results/view.h"

#include "results/rows_fields.h"

#include "results/ledger.def"
#include "results/live.def"
#include "results/proof.def"
#include "results/run.def"
#include "results/tune.def"
#include "results/view.def"
