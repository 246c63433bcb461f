// SPDX-License-Identifier: Apache-2.0
// Who may ask: a page that this server gave out, in a browser of this machine, with the token of
// the address that was printed. Other pages of the same browser (they know neither token nor
// origin), names that lead here by a foreign DNS (Host) and other users of the machine (no token)
// may not.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

enum { STK_TOKEN_CHARS = 32 }; // 128 bits

struct stk_access {
    char token[STK_TOKEN_CHARS + 1];
    char host[96]; // as people type it, without port; besides the names of this machine's loopback
    atomic_int port; // known once it listens, when others may ask already; 0 until then
};

// A fresh token. STOKER_EBUG: the system has no randomness to give.
STK_MUST_CHECK enum stoker_status stk_access_open(struct stk_access *g, const char *host,
                                                  struct stoker_err *err);
bool stk_access_knows_token(const struct stk_access *g, const char *given); // in constant time
bool stk_access_knows_host(const struct stk_access *g, const char *header); // NULL: none was sent
bool stk_access_knows_origin(const struct stk_access *g, const char *header);
