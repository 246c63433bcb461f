// SPDX-License-Identifier: Apache-2.0
// One call of a gRPC service, over plain HTTP/2 (nghttp2): one message to the server, one back. The
// answer goes into a file, so memory use stays small.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct stk_grpc_call {
    const char *host, *port; // as given by the user; no other host is ever contacted
    const char *path;        // "/package.Service/Method"
    const void *message;
    size_t bytes;
    int to;        // file descriptor: receives the answer's message, from the file's start
    uint64_t most; // its most bytes
    // How long to wait: to connect and be greeted; then for the answer's first byte; for
    // each 64 KiB of it; and for all of it after its first byte.
    uint64_t connect_ms, answer_ms, piece_ms, whole_ms;
    bool (*is_cancelled)(void);
};
struct stk_grpc_answer {
    uint64_t bytes;    // of the message
    int status;        // grpc-status: 0 done; -1: none was sent
    char message[256]; // grpc-message
};
// False: stoker was built without nghttp2, or can't load it here.
bool stk_grpc_is_there(void);
// An answer whose grpc-status is not 0 is also STOKER_OK: see answer->status.
STK_MUST_CHECK enum stoker_status stk_grpc_ask(const struct stk_grpc_call *call,
                                               struct stk_grpc_answer *answer,
                                               struct stoker_err *err);
