// SPDX-License-Identifier: Apache-2.0
// What stoker view shows besides profiles: the folder of a run, even of one in progress; proofs
// (stoker.proof/1, stoker prove --json); ledgers (a table of predictions and proofs, TSV).
#pragma once

#include "serve/documents.h"

enum { STK_VIEW_EXTRAS_MAX = 64 };

struct stk_view_extras {
    struct stk_view_extra list[STK_VIEW_EXTRAS_MAX];
    size_t count;
};

// Looks at each word and removes proofs and ledgers from words[0, *n). A run's folder stays: it may
// also contain profiles. *has_run: there was one.
void stk_view_extras_find(struct stk_view_extras *x, const char **words, size_t *n, bool *has_run);

// view_run.c: a run's folder has records of the hooks, or what stoker run wrote at its end.
bool stk_view_is_run(const char *folder);
// The `make` of a stk_view_extra; its arg is the folder. stoker.view.run/1: the steps of each
// process, the run's own JSON once it has ended, the tables of `stoker stats machine`.
STK_MUST_CHECK enum stoker_status stk_view_run_make(const struct stk_view_extra *self,
                                                    struct stk_body *out, struct stoker_err *err);
