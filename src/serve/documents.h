// SPDX-License-Identifier: Apache-2.0
// The documents of the viewer: what `stoker why`, `stats`, `whatif`, `diff` and `query` print with
// --json, of one run or of two. Each is made once and kept. A side is read once: report, time line
// and most tables come from the events that are kept; prices and a comparison read it again. What
// the cache (cache.h) holds of the same profiles needs no reading at all, until SQL or a table that
// it lacks is asked for.
// The reports and the time lines do not change once all is open; what makes another document, and
// what asks for single events, is for one thread at a time each (enum stk_need in endpoints.h).
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "serve/body.h"
#include "stoker/report.h"
#include "stoker/timeline.h"

enum { STK_VIEW_A, STK_VIEW_B, STK_VIEW_SIDES };

// A document other than a profile, with its own page: a running job, a proof, a ledger. It is
// rebuilt for each request.
struct stk_view_extra {
    const char *kind, *name, *type; // "proof", "proof.json", "application/json"
    enum stoker_status (*make)(const struct stk_view_extra *self, struct stk_body *out,
                               struct stoker_err *err);
    const void *arg;
};

struct stk_view_plan {
    const struct stk_view_extra *extras; // borrowed
    size_t extra_count;
    const char *const *paths[STK_VIEW_SIDES]; // borrowed
    // Of B: 0 where there is nothing to compare with; of A: 0 where there are extras alone.
    size_t path_count[STK_VIEW_SIDES];
    struct stoker_why_options reading;
    bool uses_cache; // what was made of the same profiles before is taken, and kept for later
};

struct stk_documents;

// Reads the report of each side: what is no profile fails here. *out: the caller frees.
STK_MUST_CHECK enum stoker_status stk_documents_open(struct stk_documents **out,
                                                     const struct stk_view_plan *plan,
                                                     struct stoker_err *err);
void stk_documents_free(struct stk_documents *d); // takes NULL
const struct stk_view_plan *stk_documents_plan(const struct stk_documents *d);
// Keeps what was made for later, where the plan says so. May run beside one thread that asks.
// `interrupted` as in stoker_timeline_save.
void stk_documents_keep(struct stk_documents *d, int (*interrupted)(void *arg), void *arg);
// Of the time line of a side: it came from the cache.
bool stk_documents_came_back(const struct stk_documents *d, int side);

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
STK_MUST_CHECK enum stoker_status stk_documents_query(struct stk_documents *d, int side,
                                                      const char *sql, const struct stk_body **out,
                                                      struct stoker_err *err);
// Of what one of these gave: it does not apply to the profile, or would need too much. A page does
// without it, and says so. Any other error is one of the page: it would not say what is wrong.
bool stk_documents_lack(enum stoker_status status);
// The time line of a side; it belongs to the documents. STOKER_ELIMIT: its events do not fit into
// memory; the documents are there without it.
STK_MUST_CHECK enum stoker_status stk_documents_timeline(struct stk_documents *d, int side,
                                                         struct stoker_timeline **out,
                                                         struct stoker_err *err);
