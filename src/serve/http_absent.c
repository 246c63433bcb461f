// SPDX-License-Identifier: Apache-2.0
// Replaces http.c when stoker is built without libmicrohttpd.
#include "serve/serve.h"

enum stoker_status stk_server_open(struct stk_server **out, const struct stk_serve_plan *plan,
                                   struct stoker_err *err)
{
    *out = NULL;
    (void)plan;
    return stk_err_set(
        err, STOKER_ELIMIT,
        "this stoker was built without libmicrohttpd, so it can't serve pages. To write them to a "
        "file, run `stoker report PROFILE --html FILE`");
}

const char *stk_server_address(const struct stk_server *s)
{
    (void)s;
    return "";
}

void stk_server_keep(struct stk_server *s, int (*interrupted)(void *arg), void *arg)
{
    (void)s;
    (void)interrupted;
    (void)arg;
}

void stk_server_close(struct stk_server *s)
{
    (void)s;
}
