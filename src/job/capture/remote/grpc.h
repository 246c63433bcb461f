// SPDX-License-Identifier: Apache-2.0
// One call of a gRPC service, over plain HTTP/2 (nghttp2): a message there, a message back. The
// answer goes into a file, however large it is; memory stays small.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct stk_grpc_call {
    const char *host, *port; // as the user named them; no other host is ever asked
    const char *path;        // "/package.Service/Method"
    const void *message;
    size_t bytes;
    int to;        // descriptor of the file that takes the answer's message, from its start
    uint64_t most; // bytes of it
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
// False: stoker was built without nghttp2, or it cannot be loaded here.
bool stk_grpc_is_there(void);
// An answer whose grpc-status is not 0 is STOKER_OK, too: answer->status tells.
STK_MUST_CHECK enum stoker_status stk_grpc_ask(const struct stk_grpc_call *call,
                                               struct stk_grpc_answer *answer,
                                               struct stoker_err *err);
