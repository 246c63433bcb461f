// SPDX-License-Identifier: Apache-2.0
// The viewer's server: pages, documents and tiles over HTTP, for a browser on this machine.
//
// libmicrohttpd handles HTTP, with a thread for each connection, so a document that takes seconds
// delays no tile; requests that must not run twice at once wait (enum stk_need). A client that
// sends or receives slowly takes only its own connection. The number of connections, their idle
// time, and the size of a request are limited.
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "serve/documents.h"

struct stk_serve_plan {
    struct stk_view_plan view;
    const char *host;     // an IPv4 address to listen on: "127.0.0.1"
    int port;             // 0: any free port
    const char *ui_dir;   // pages from this folder; NULL: the embedded ones
    const char *drop_dir; // private, for files dropped on the page; NULL: dropping is off
};

struct stk_server;

// Reads the profiles and listens. STOKER_EUSAGE: invalid address; STOKER_ELIMIT: the port is taken,
// or this build has no HTTP library. The caller must close *out.
STK_MUST_CHECK enum stoker_status
stk_server_open(struct stk_server **out, const struct stk_serve_plan *plan, struct stoker_err *err);
// "http://127.0.0.1:8123/?token=..."; valid until the server is closed.
const char *stk_server_address(const struct stk_server *s);
// Keeps results for the profiles for later (documents.h), while it serves.
void stk_server_keep(struct stk_server *s, int (*interrupted)(void *arg), void *arg);
void stk_server_close(struct stk_server *s); // takes NULL; finishes current answers
