// SPDX-License-Identifier: Apache-2.0
// A window of a running TensorFlow or JAX program by the ProfilerService that it started itself.
#pragma once

#include "job/capture/remote/grpc.h"

struct stk_service_plan {
    const char *host, *port;
    const char *folder;  // absolute: for the profile; if the server can't send it, also
                         // where a server on this machine may write
    const char *session; // name of the window, in file names
    uint64_t duration_ms;
    uint64_t answer_ms; // how long to wait for the answer, in addition to the window
    bool (*is_cancelled)(void);
};
enum stk_service_how {
    STK_SERVICE_SENT,   // the profile was in the answer; it is at `path`
    STK_SERVICE_WROTE,  // the server writes below its own `folder`, perhaps on another machine
    STK_SERVICE_NOTHING // it recorded nothing
};
STK_MUST_CHECK enum stoker_status stk_service_capture(const struct stk_service_plan *plan,
                                                      enum stk_service_how *how, char *path,
                                                      size_t size, struct stoker_err *err);
