// SPDX-License-Identifier: Apache-2.0
// The viewer's server: pages, documents and tiles over HTTP, for a browser of this machine.
//
// libmicrohttpd speaks HTTP, on a thread for each connection, so that a document that takes seconds
// holds up no tile; what may not be asked for twice at once waits (enum stk_need). A client that is
// slow to send or to take holds a connection and nobody else; how many connections there are, how
// long one may be silent, and how much a request may hold is bounded.
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "serve/documents.h"

struct stk_serve_plan {
    struct stk_view_plan view;
    const char *host;     // an IPv4 address to listen on: "127.0.0.1"
    int port;             // 0: any that is free
    const char *ui_dir;   // pages from this folder; NULL: those embedded
    const char *drop_dir; // private, for files that are dropped on the page; NULL: none may be
};

struct stk_server;

// Reads the profiles and listens. STOKER_EUSAGE: the address; STOKER_ELIMIT: the port is taken, or
// this build has no HTTP library. *out: the caller closes.
STK_MUST_CHECK enum stoker_status
stk_server_open(struct stk_server **out, const struct stk_serve_plan *plan, struct stoker_err *err);
// "http://127.0.0.1:8123/?token=..."; valid until the server is closed.
const char *stk_server_address(const struct stk_server *s);
// Keeps what was made of the profiles for later (documents.h); while it answers.
void stk_server_keep(struct stk_server *s, int (*interrupted)(void *arg), void *arg);
void stk_server_close(struct stk_server *s); // takes NULL; what is being answered is finished
