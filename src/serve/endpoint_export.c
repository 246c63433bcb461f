// SPDX-License-Identifier: Apache-2.0
// /api/perfetto: the trace as written by `stoker export --format perfetto`, to be saved as a file.
// Reads the profile again: the exporter keeps its own events.
#include "serve/endpoints.h"
#include "stoker/export.h"

// Requested by a person, once: the documents don't keep it.
enum stoker_status stk_endpoint_perfetto(const struct stk_asked *a, struct stk_answer *out,
                                         struct stoker_err *err)
{
    const struct stk_view_plan *plan = stk_documents_plan(a->documents);
    int side = stk_asked_side(a);
    struct stoker_export *export_ = NULL;
    if (plan->path_count[side] == 0) {
        return stk_err_set(err, STOKER_EUSAGE, "no such profile was given");
    }
    enum stoker_status status = stoker_export_open(plan->paths[side], plan->path_count[side],
                                                   &plan->reading, &export_, err);
    if (status == STOKER_OK) {
        status =
            stoker_export_write(export_, "perfetto", NULL, NULL, stk_body_write, &out->own, err);
    }
    status = stk_body_end(&out->own, status, err);
    if (out->own.is_full) {
        status =
            stk_err_set(err, STOKER_ELIMIT,
                        "the trace is too large for a browser page. In a terminal, run `stoker "
                        "export perfetto PROFILE -o FILE`");
    }
    stoker_export_free(export_);
    out->type = "application/octet-stream";
    return status;
}
