// SPDX-License-Identifier: Apache-2.0
// A query's traces in a file of arrays (base/frozen.h): enough to search by name and for a viewer's
// time line, but not for SQL, whose tables of steps and findings need the model.
#pragma once

#include "base/frozen.h"
#include "answers/query/query_source.h"

void stk_query_freeze(const struct stk_query *q, struct stk_frost *f);
// The thawed query owns its traces. Its source has no ranks, only their number, and no `args`,
// which the caller may set. STOKER_EMISSING: the map doesn't contain a query.
STK_MUST_CHECK enum stoker_status stk_query_thaw(struct stk_query **out, struct stk_thaw *thaw,
                                                 struct stoker_err *err);
