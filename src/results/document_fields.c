// SPDX-License-Identifier: Apache-2.0
// The field tables of all documents, generated from their rows (rows.h).
#include "results/bundle.h"
#include "results/diff.h"
#include "results/jobs.h"
#include "results/ledger.h"
#include "results/live.h"
#include "results/proof.h"
#include "results/run.h"
#include "results/table.h"
#include "results/tune.h"
#include "results/view.h"
#include "results/whatif.h"

#include "results/rows_fields.h"

#include "results/views.def"

#include "results/report.def"

#include "results/bundle.def"
#include "results/diff.def"
#include "results/jobs.def"
#include "results/ledger.def"
#include "results/live.def"
#include "results/proof.def"
#include "results/run.def"
#include "results/table.def"
#include "results/tune.def"
#include "results/view.def"
#include "results/whatif.def"
