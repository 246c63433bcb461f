// SPDX-License-Identifier: Apache-2.0
// Other requests to open profiles (query.c) than SQL.
#pragma once

#include "api/api.h"
#include "api/open.h"
#include "answers/query/query.h"
#include "stoker/query.h"

struct stk_query *stk_profiles_query(struct stoker_profiles *p);
const struct stk_open_run *stk_profiles_run(const struct stoker_profiles *p);
const struct stk_rep_profile *stk_profiles_described(const struct stoker_profiles *p);
// An empty document of tables, not about anything yet; *out as below.
STK_MUST_CHECK enum stoker_status stk_tables_new(const char *analysis, struct stoker_tables **out,
                                                 struct stoker_err *err);
// An empty document of tables about the profiles; the caller must free *out, even after a failure.
STK_MUST_CHECK enum stoker_status stk_profiles_tables(const struct stoker_profiles *p,
                                                      const char *analysis,
                                                      struct stoker_tables **out,
                                                      struct stoker_err *err);
