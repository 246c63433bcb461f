// SPDX-License-Identifier: Apache-2.0
// /api/drop: a profile dropped on the page, opened next to the others.
#include <string.h>

#include "base/json.h"
#include "serve/endpoints.h"

enum stoker_status stk_endpoint_drop(const struct stk_asked *a, struct stk_answer *out,
                                     struct stoker_err *err)
{
    const char *compare = a->value(a->request, "compare");
    int number = 0;
    if (!a->dropped) {
        return stk_err_set(err, STOKER_EUSAGE, "the request's body, the file, is missing");
    }
    enum stoker_status status =
        stk_drop_finish(a->drops, a->dropped, stk_documents_plan(a->documents),
                        compare && strcmp(compare, "1") == 0, &number, err);
    if (status != STOKER_OK) {
        return status;
    }
    struct stk_sink sink;
    struct stk_json j;
    stk_sink_init(&sink, stk_body_write, &out->own);
    stk_json_init(&j, &sink);
    stk_json_open(&j, '{', true);
    stk_json_key(&j, "profile");
    stk_json_i64(&j, number);
    stk_json_close(&j, '}');
    return stk_sink_finish(&sink, err);
}
