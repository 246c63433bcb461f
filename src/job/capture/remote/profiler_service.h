// SPDX-License-Identifier: Apache-2.0
// A window of a running TensorFlow or JAX program by its ProfilerService, which it started itself.
#pragma once

#include "job/capture/remote/grpc.h"

struct stk_service_plan {
    const char *host, *port;
    const char *folder;  // absolute: where the profile goes, and, where the server cannot send it,
                         // where the server on this machine may write
    const char *session; // name of the window, for files
    uint64_t duration_ms;
    uint64_t answer_ms; // how long to wait for the answer, beside the window
    bool (*is_cancelled)(void);
};
enum stk_service_how {
    STK_SERVICE_SENT,   // the profile came in the answer: `path` is it
    STK_SERVICE_WROTE,  // the server writes below its own `folder`, which may be another machine's
    STK_SERVICE_NOTHING // it recorded nothing
};
STK_MUST_CHECK enum stoker_status stk_service_capture(const struct stk_service_plan *plan,
                                                      enum stk_service_how *how, char *path,
                                                      size_t size, struct stoker_err *err);
