// SPDX-License-Identifier: Apache-2.0
// Replaces grpc.c if stoker is built without nghttp2.
#include "job/capture/remote/grpc.h"

bool stk_grpc_is_there(void)
{
    return false;
}

enum stoker_status stk_grpc_ask(const struct stk_grpc_call *call, struct stk_grpc_answer *answer,
                                struct stoker_err *err)
{
    (void)call;
    *answer = (struct stk_grpc_answer){.status = -1};
    return stk_err_set(err, STOKER_ELIMIT,
                       "this stoker was built without nghttp2, so it can't contact a profiler "
                       "server. Use `stoker run`, "
                       "which profiles TensorFlow and JAX without one");
}
