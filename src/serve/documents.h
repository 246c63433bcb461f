// SPDX-License-Identifier: Apache-2.0
// The documents of the viewer: what `stoker why`, `stats`, `whatif`, `diff` and `query` print with
// --json, of one run or of two. Each is made once and kept; the profiles are read by the library.
// For one thread at a time.
#ifndef STK_SERVE_DOCUMENTS_H
#define STK_SERVE_DOCUMENTS_H

#include "base/err.h"
#include "serve/body.h"
#include "stoker/report.h"
#include "stoker/timeline.h"

enum { STK_VIEW_A, STK_VIEW_B, STK_VIEW_SIDES };

struct stk_view_plan {
    const char *const *paths[STK_VIEW_SIDES]; // borrowed
    size_t path_count[STK_VIEW_SIDES];        // of B: 0 where there is nothing to compare with
    struct stoker_why_options reading;
};

struct stk_documents;

// Reads the report of each side: what is no profile fails here. *out: the caller frees.
STK_MUST_CHECK enum stoker_status stk_documents_open(struct stk_documents **out,
                                                     const struct stk_view_plan *plan,
                                                     struct stoker_err *err);
void stk_documents_free(struct stk_documents *d); // takes NULL
const struct stk_view_plan *stk_documents_plan(const struct stk_documents *d);

// Each gives bytes that are valid until the documents are freed, or until the next call of
// stk_documents_query. STOKER_EUSAGE: no such analysis, fix, side, or wrong SQL.
STK_MUST_CHECK enum stoker_status stk_documents_report(struct stk_documents *d, int side,
                                                       const struct stk_body **out,
                                                       struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_documents_table(struct stk_documents *d, int side,
                                                      const char *analysis,
                                                      const struct stk_body **out,
                                                      struct stoker_err *err);
// fixes: "input-free,fuse", or NULL for each that applies.
STK_MUST_CHECK enum stoker_status stk_documents_whatif(struct stk_documents *d, const char *fixes,
                                                       const struct stk_body **out,
                                                       struct stoker_err *err);
STK_MUST_CHECK enum stoker_status
stk_documents_diff(struct stk_documents *d, const struct stk_body **out, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_documents_query(struct stk_documents *d, const char *sql,
                                                      const struct stk_body **out,
                                                      struct stoker_err *err);
// The time line of side A, made when it is first asked for; it belongs to the documents.
STK_MUST_CHECK enum stoker_status stk_documents_timeline(struct stk_documents *d,
                                                         struct stoker_timeline **out,
                                                         struct stoker_err *err);

#endif
