// SPDX-License-Identifier: Apache-2.0
// Kineto's variables for a job; see on_demand.h. A socket's name has 108 bytes at most, and the
// job's own is as long as "dynoconfigclient" and a UUID: where the run's folder leaves no room for
// it, the sockets lie in a private folder in /tmp.
#include "capture/parent/on_demand.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENT = sizeof "/dynoconfigclient" - 1 + 36 + 1 };

enum stoker_status stk_on_demand_set(const char *folder, char dir[STK_ON_DEMAND_DIR],
                                     struct stoker_err *err)
{
    struct sockaddr_un address;
    char own[sizeof address.sun_path];
    int n = snprintf(own, sizeof own, "%s/hooks", folder);
    bool is_short = n > 0 && (size_t)n + CLIENT < sizeof own;
    dir[0] = 0;
    if (!is_short && !getenv("KINETO_IPC_SOCKET_DIR")) {
        snprintf(dir, STK_ON_DEMAND_DIR, "/tmp/stoker-XXXXXX");
        if (!mkdtemp(dir)) {
            dir[0] = 0;
            return stk_err_set(err, STOKER_EOUTPUT,
                               "--on-demand: no folder for its sockets in "
                               "/tmp: %s",
                               strerror(errno));
        }
    }
    bool ok = setenv("KINETO_USE_DAEMON", "1", 1) == 0 &&
              setenv("KINETO_IPC_SOCKET_DIR", dir[0] ? dir : own, 0) == 0;
    return ok ? STOKER_OK : stk_err_nomem(err);
}

void stk_on_demand_drop(const char *dir)
{
    DIR *d = *dir ? opendir(dir) : NULL;
    struct dirent *e;
    while (d && (e = readdir(d))) {
        if (strncmp(e->d_name, "dyno", 4) == 0) {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d) {
        closedir(d);
        rmdir(dir);
    }
}
