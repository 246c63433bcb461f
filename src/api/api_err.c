// SPDX-License-Identifier: Apache-2.0
// Internal errors as public ones. The two records are kept apart so that the public one can stay
// stable; their codes have the same values, which is checked here.
#include <stdio.h>
#include <string.h>

#include "api/api.h"

_Static_assert((int)STK_EUSAGE == (int)STOKER_EUSAGE && (int)STK_EINVAL == (int)STOKER_EINVAL &&
                   (int)STK_EINPUT == (int)STOKER_EINPUT && (int)STK_ENOMEM == (int)STOKER_ENOMEM &&
                   (int)STK_ELIMIT == (int)STOKER_ELIMIT &&
                   (int)STK_EOUTPUT == (int)STOKER_EOUTPUT && (int)STK_EINTR == (int)STOKER_EINTR &&
                   (int)STK_EBUG == (int)STOKER_EBUG && (int)STK_ECALLER == (int)STOKER_ECALLER &&
                   (int)STK_EDENIED == (int)STOKER_EDENIED,
               "public and internal codes agree");

enum stoker_status stk_api_fail(struct stoker_err *out, const struct stk_err *err)
{
    enum stoker_status code = err->code == STK_OK ? STOKER_EBUG : (enum stoker_status)err->code;
    if (!out) {
        return code;
    }
    memset(out, 0, sizeof *out);
    out->code = code;
    out->offset = err->offset;
    snprintf(out->message, sizeof out->message, "%s",
             err->message[0] ? err->message : "an error without a description");
    for (int i = 0; i < err->contexts && i < 4; i++) {
        snprintf(out->context[out->contexts++], sizeof out->context[0], "%s", err->context[i]);
    }
    return code;
}

enum stoker_status stk_api_invalid(struct stoker_err *out, const char *text)
{
    struct stk_err err;
    stk_err_init(&err);
    stk_err_set(&err, STK_EINVAL, "%s", text);
    return stk_api_fail(out, &err);
}
