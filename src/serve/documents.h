// SPDX-License-Identifier: Apache-2.0
// The viewer's documents: the --json output of `stoker why`, `stats`, `whatif`, `diff` and `query`,
// for one run or two. Each is made once and kept. A side is read once: report, timeline and most
// tables come from the events kept in memory; estimates and a comparison read it again. What the
// cache (cache.h) has for the same profiles needs no reading at all, until SQL or a table that it
// lacks is requested.
// Reports and timelines don't change once everything is open. Making another document, and querying
// single events, are each for one thread at a time (enum stk_need in endpoints.h).
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "serve/body.h"
#include "stoker/report.h"
#include "stoker/timeline.h"

enum { STK_VIEW_A, STK_VIEW_B, STK_VIEW_SIDES };

// A document other than a profile, with its own page: a running job, a proof, a ledger. Rebuilt for
// each request.
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
    // B: 0 if there is nothing to compare with; A: 0 if there are only extras.
    size_t path_count[STK_VIEW_SIDES];
    struct stoker_why_options reading;
    bool uses_cache; // use earlier results for the same profiles, and keep new ones
};

struct stk_documents;

// Reads the report of each side; fails if one isn't a profile. The caller must free *out.
STK_MUST_CHECK enum stoker_status stk_documents_open(struct stk_documents **out,
                                                     const struct stk_view_plan *plan,
                                                     struct stoker_err *err);
void stk_documents_free(struct stk_documents *d); // takes NULL
const struct stk_view_plan *stk_documents_plan(const struct stk_documents *d);
// Keeps results for later, if the plan says so. May run in parallel with one requesting thread.
// `interrupted` as in stoker_timeline_save.
void stk_documents_keep(struct stk_documents *d, int (*interrupted)(void *arg), void *arg);
// Did a side's timeline come from the cache?
bool stk_documents_came_back(const struct stk_documents *d, int side);

// Each returns bytes that are valid until the documents are freed, or until the next call of
// stk_documents_query. STOKER_EUSAGE: no such analysis, fix, side, or invalid SQL.
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
// Does the status of one of these mean that it doesn't apply to the profile, or needs too much? The
// page then leaves it out and says so. Any other error fails the page, which would otherwise hide
// it.
bool stk_documents_lack(enum stoker_status status);
// A side's timeline, owned by the documents. STOKER_ELIMIT: its events don't fit into memory; the
// documents work without it.
STK_MUST_CHECK enum stoker_status stk_documents_timeline(struct stk_documents *d, int side,
                                                         struct stoker_timeline **out,
                                                         struct stoker_err *err);
