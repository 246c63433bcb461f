// SPDX-License-Identifier: Apache-2.0
// Kineto's variables for a job; see on_demand.h. A socket's name has at most 108 bytes, and the
// job's is as long as "dynoconfigclient" and a UUID. If the path of the hooks' folder is too long
// for that, the sockets are in a private folder in /tmp.
#include "job/capture/parent/on_demand.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>

enum { CLIENT = sizeof "/dynoconfigclient" - 1 + 36 + 1 };

enum stoker_status stk_on_demand_set(const struct stk_hooks *hooks, struct stk_scratch *sockets,
                                     struct stoker_err *err)
{
    struct sockaddr_un address;
    char own[sizeof address.sun_path];
    int n = snprintf(own, sizeof own, "%s", hooks->path);
    bool is_short = n > 0 && (size_t)n + CLIENT < sizeof own;
    enum stoker_status status = STOKER_OK;
    if (!is_short && !getenv("KINETO_IPC_SOCKET_DIR")) {
        status = stk_scratch_make("/tmp", sockets, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    bool ok = setenv("KINETO_USE_DAEMON", "1", 1) == 0 &&
              setenv("KINETO_IPC_SOCKET_DIR", sockets->path ? sockets->path : own, 0) == 0;
    return ok ? STOKER_OK : stk_err_nomem(err);
}
