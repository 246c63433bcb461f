// SPDX-License-Identifier: Apache-2.0
// /api/report, table, whatif, diff, query: the documents of the command line, ?side=b of the second
// run; /api/info: what the pages need before anything else.
#include <string.h>

#include "base/json.h"
#include "serve/endpoints.h"
#include "stoker/stats.h"

static int side_of(const struct stk_asked *a)
{
    const char *side = a->value(a->request, "side");
    return side && strcmp(side, "b") == 0 ? STK_VIEW_B : STK_VIEW_A;
}

enum stoker_status stk_endpoint_report(const struct stk_asked *a, struct stk_answer *out,
                                       struct stoker_err *err)
{
    return stk_documents_report(a->documents, side_of(a), &out->shared, err);
}

enum stoker_status stk_endpoint_table(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    return stk_documents_table(a->documents, side_of(a), a->rest, &out->shared, err);
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
    return stk_documents_query(a->documents, a->body, &out->shared, err);
}

static void put_names(struct stk_json *j, const struct stk_asked *a, bool has_timeline)
{
    stk_json_key(j, "tables");
    stk_json_open(j, '[', true);
    for (size_t i = 0; stoker_analysis_name(i); i++) {
        stk_json_text(j, stoker_analysis_name(i));
    }
    stk_json_close(j, ']');
    stk_json_key(j, "can");
    stk_json_open(j, '[', true);
    stk_json_text(j, "query");
    if (has_timeline) {
        stk_json_text(j, "tiles");
    }
    if (stk_documents_plan(a->documents)->path_count[STK_VIEW_B] > 0) {
        stk_json_text(j, "diff");
    }
    stk_json_close(j, ']');
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
    enum stoker_status status = stk_documents_timeline(a->documents, &timeline, &why);
    if (status == STOKER_OK) {
        status = stoker_timeline_tracks(timeline, &tracks, &why);
    }
    stk_sink_init(&sink, stk_body_write, &out->own);
    stk_json_init(&j, &sink);
    stk_json_open(&j, '{', true);
    stk_json_key(&j, "schema");
    stk_json_text(&j, "stoker.view/1");
    put_names(&j, a, status == STOKER_OK);
    // The object is closed by what follows.
    status = stk_sink_finish(&sink, err);
    if (status == STOKER_OK) {
        status = put_tracks(&out->own, &tracks, &why, err);
    }
    stoker_blob_free(&tracks);
    return status;
}
