// SPDX-License-Identifier: Apache-2.0
// /api/report, table, whatif, diff, query: the documents of the command line, ?side=b of the second
// run; /api/info: what the pages need before anything else;
// /api/extra: what was given beside the profiles.
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "serve/endpoints.h"
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
        return stk_err_set(err, STOKER_EUSAGE, "the body of the request is the SQL; it is empty");
    }
    return stk_documents_query(a->documents, stk_asked_side(a), a->body, &out->shared, err);
}

static void put_list(struct stk_json *j, const char *key, const char *const *texts, size_t n)
{
    stk_json_key(j, key);
    stk_json_open(j, '[', true);
    for (size_t i = 0; i < n; i++) {
        stk_json_text(j, texts[i]);
    }
    stk_json_close(j, ']');
}

static void put_extras(struct stk_json *j, const struct stk_view_plan *plan)
{
    stk_json_key(j, "extras");
    stk_json_open(j, '[', true);
    for (size_t i = 0; i < plan->extra_count; i++) {
        stk_json_open(j, '{', true);
        stk_json_key(j, "kind");
        stk_json_text(j, plan->extras[i].kind);
        stk_json_key(j, "name");
        stk_json_text(j, plan->extras[i].name);
        stk_json_close(j, '}');
    }
    stk_json_close(j, ']');
}

// What the pages can ask for here: with no profile, only what stands beside it.
static void put_names(struct stk_json *j, const struct stk_asked *a, bool has_timeline)
{
    const struct stk_view_plan *plan = stk_documents_plan(a->documents);
    const char *tables[64], *can[4];
    size_t n = 0, abilities = 0;
    bool has_profile = plan->path_count[STK_VIEW_A] > 0;
    while (has_profile && n < sizeof tables / sizeof *tables && stoker_analysis_name(n)) {
        tables[n] = stoker_analysis_name(n);
        n++;
    }
    if (has_profile) {
        can[abilities++] = "report";
        can[abilities++] = "query";
    }
    if (has_timeline) {
        can[abilities++] = "tiles";
    }
    if (plan->path_count[STK_VIEW_B] > 0) {
        can[abilities++] = "diff";
    }
    put_list(j, "tables", tables, n);
    put_list(j, "can", can, abilities);
    put_extras(j, plan);
}

enum stoker_status stk_endpoint_extra(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    const struct stk_view_plan *plan = stk_documents_plan(a->documents);
    const char *number = a->value(a->request, "n");
    int64_t n;
    if (!number || !stk_str_to_i64(stk_str_from(number), &n) || n < 0 ||
        (uint64_t)n >= plan->extra_count) {
        return stk_err_set(err, STOKER_EUSAGE, "?n= is missing, or beyond the last of `extras`");
    }
    out->type = plan->extras[n].type;
    return plan->extras[n].make(&plan->extras[n], &out->own, err);
}

// Into an object that is open: the tracks' own object without its brackets; or that there are none,
// and why: the other pages are whole without them.
static enum stoker_status put_tracks(struct stk_body *out, const struct stoker_blob *tracks,
                                     const struct stoker_err *why, struct stoker_err *err)
{
    struct stk_sink sink;
    struct stk_json j;
    if (tracks->data) {
        const char *open = memchr(tracks->data, '{', tracks->size);
        bool failed =
            !open || stk_body_text(out, ", ") ||
            stk_body_write(out, open + 1, tracks->size - (size_t)(open + 1 - tracks->data));
        return failed ? stk_err_nomem(err) : STOKER_OK;
    }
    stk_sink_init(&sink, stk_body_write, out);
    stk_json_init(&j, &sink);
    stk_sink_text(&sink, ", \"tracks\": [], \"no_timeline\": ");
    stk_json_text(&j, why->message);
    stk_sink_text(&sink, "}");
    return stk_sink_finish(&sink, err);
}

enum stoker_status stk_endpoint_info(const struct stk_asked *a, struct stk_answer *out,
                                     struct stoker_err *err)
{
    struct stk_sink sink;
    struct stk_json j;
    struct stoker_timeline *timeline;
    struct stoker_blob tracks = {.data = NULL};
    struct stoker_err why;
    enum stoker_status status =
        stk_documents_timeline(a->documents, stk_asked_side(a), &timeline, &why);
    if (status == STOKER_OK) {
        status = stoker_timeline_tracks(timeline, &tracks, &why);
    }
    stk_sink_init(&sink, stk_body_write, &out->own);
    stk_json_init(&j, &sink);
    stk_json_open(&j, '{', true);
    stk_json_key(&j, "schema");
    stk_json_text(&j, "stoker.view/1");
    put_names(&j, a, status == STOKER_OK);
    stk_json_key(&j, "from_cache");
    stk_json_bool(&j, stk_documents_came_back(a->documents, stk_asked_side(a)));
    // The object is closed by what follows.
    status = stk_sink_finish(&sink, err);
    if (status == STOKER_OK) {
        status = put_tracks(&out->own, &tracks, &why, err);
    }
    stoker_blob_free(&tracks);
    return status;
}
