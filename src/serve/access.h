// SPDX-License-Identifier: Apache-2.0
// Access control: allows a page from this server, in a browser on this machine, with the token of
// the printed address. Blocks other pages in the same browser (they know neither token nor origin),
// names that resolve here through foreign DNS (Host), and other users of the machine (no token).
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

enum { STK_TOKEN_CHARS = 32 }; // 128 bits

struct stk_access {
    char token[STK_TOKEN_CHARS + 1];
    char host[96];   // as typed, without port; in addition to the loopback names
    atomic_int port; // 0 until it listens; then the port
};

// A new token. STOKER_EBUG: the system has no random bytes.
STK_MUST_CHECK enum stoker_status stk_access_open(struct stk_access *g, const char *host,
                                                  struct stoker_err *err);
bool stk_access_knows_token(const struct stk_access *g, const char *given); // in constant time
bool stk_access_knows_host(const struct stk_access *g, const char *header); // NULL: not sent
bool stk_access_knows_origin(const struct stk_access *g, const char *header);
