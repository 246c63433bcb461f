// SPDX-License-Identifier: Apache-2.0
// /api/report, table, whatif, diff, query: the documents of the command line, ?side=b for the
// second run; /api/explain: the text of a rule or fix; /api/info: what the pages need first;
// /api/extra: documents given in addition to profiles.
#include <string.h>

#include "base/str.h"
#include "results/print/document.h"
#include "results/view.h"
#include "serve/endpoints.h"
#include "stoker/report.h"
#include "stoker/stats.h"

int stk_asked_side(const struct stk_asked *a)
{
    const char *side = a->value(a->request, "side");
    return side && strcmp(side, "b") == 0 ? STK_VIEW_B : STK_VIEW_A;
}

enum stoker_status stk_endpoint_report(const struct stk_asked *a, struct stk_answer *out,
                                       struct stoker_err *err)
{
    return stk_documents_report(a->documents, stk_asked_side(a), &out->shared, err);
}

enum stoker_status stk_endpoint_table(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    return stk_documents_table(a->documents, stk_asked_side(a), a->rest, &out->shared, err);
}

enum stoker_status stk_endpoint_whatif(const struct stk_asked *a, struct stk_answer *out,
                                       struct stoker_err *err)
{
    return stk_documents_whatif(a->documents, a->value(a->request, "fix"), &out->shared, err);
}

enum stoker_status stk_endpoint_diff(const struct stk_asked *a, struct stk_answer *out,
                                     struct stoker_err *err)
{
    return stk_documents_diff(a->documents, &out->shared, err);
}

enum stoker_status stk_endpoint_query(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    if (!a->body || !a->body[0]) {
        return stk_err_set(err, STOKER_EUSAGE, "the request's body, the SQL, is empty");
    }
    return stk_documents_query(a->documents, stk_asked_side(a), a->body, &out->shared, err);
}

enum stoker_status stk_endpoint_explain(const struct stk_asked *a, struct stk_answer *out,
                                        struct stoker_err *err)
{
    const char *id = a->value(a->request, "id");
    out->type = "text/plain; charset=utf-8";
    return id ? stoker_explain(id, "text", stk_body_write, &out->own, err)
              : stk_err_set(err, STOKER_EUSAGE, "?id= is missing: a rule or a fix");
}

enum stoker_status stk_endpoint_extra(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    const struct stk_view_plan *plan = stk_documents_plan(a->documents);
    const char *number = a->value(a->request, "n");
    int64_t n;
    if (!number || !stk_str_to_i64(stk_str_from(number), &n) || n < 0 ||
        (uint64_t)n >= plan->extra_count) {
        return stk_err_set(err, STOKER_EUSAGE, "?n= is missing, or too large for `extras`");
    }
    out->type = plan->extras[n].type;
    return plan->extras[n].make(&plan->extras[n], &out->own, err);
}

enum { ABILITIES = 5, ANALYSES = 64, EXTRAS = 64 };
struct names {
    const char *tables[ANALYSES], *can[ABILITIES];
    struct stk_view_doc_extra extras[EXTRAS];
};

// What the pages can request: without a profile, only the extras.
static void fill_names(struct stk_view_doc *doc, struct names *names, const struct stk_asked *a)
{
    const struct stk_view_plan *plan = stk_documents_plan(a->documents);
    bool has_profile = plan->path_count[STK_VIEW_A] > 0;
    size_t n = 0, abilities = 0;
    while (has_profile && n < ANALYSES && stoker_analysis_name(n)) {
        names->tables[n] = stoker_analysis_name(n);
        n++;
    }
    if (has_profile) {
        names->can[abilities++] = "report";
        names->can[abilities++] = "query";
    }
    if (doc->tracks.json) {
        names->can[abilities++] = "tiles";
    }
    if (has_profile && a->drops && a->drops->folder) {
        names->can[abilities++] = "drop";
    }
    if (plan->path_count[STK_VIEW_B] > 0) {
        names->can[abilities++] = "diff";
    }
    doc->tables = (struct stk_list){.items = names->tables, .count = n};
    doc->can = (struct stk_list){.items = names->can, .count = abilities};
    doc->extras.items = names->extras;
    for (size_t i = 0; i < plan->extra_count && i < EXTRAS; i++) {
        names->extras[doc->extras.count++] =
            (struct stk_view_doc_extra){.kind = plan->extras[i].kind, .name = plan->extras[i].name};
    }
}

// If there is no timeline, the answer says so; the other pages work without it.
enum stoker_status stk_endpoint_info(const struct stk_asked *a, struct stk_answer *out,
                                     struct stoker_err *err)
{
    struct stk_sink sink;
    struct stoker_timeline *timeline;
    struct stoker_blob tracks = {.data = NULL};
    struct stoker_err why;
    struct names names;
    struct stk_view_doc_tracks none = {.no_timeline = why.message};
    enum stoker_status status =
        stk_documents_timeline(a->documents, stk_asked_side(a), &timeline, &why);
    if (status == STOKER_OK) {
        status = stoker_timeline_tracks(timeline, &tracks, &why);
    }
    struct stk_view_doc doc = {
        .schema = STK_VIEW_SCHEMA,
        .is_served = true,
        .from_cache = stk_documents_came_back(a->documents, stk_asked_side(a)),
        .tracks = {.object = tracks.data ? NULL : &none, .json = tracks.data}};
    fill_names(&doc, &names, a);
    stk_sink_init(&sink, stk_body_write, &out->own);
    stk_json_document(&stk_view_doc_info, &doc, true, &sink);
    status = stk_sink_finish(&sink, err);
    stoker_blob_free(&tracks);
    return status;
}
