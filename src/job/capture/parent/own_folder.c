// SPDX-License-Identifier: Apache-2.0
// Reads folders safely; see own_folder.h.
#include "job/capture/parent/own_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/remove.h"
#include "job/capture/parent/folder.h"

enum { ENTRIES = 10000 }; // read from a folder at most

int stk_own_folder(int above, const char *name)
{
    STK_ASSERT(name && *name);
    struct stat info;
    int folder = stk_folder_itself(above, name);
    if (folder >= 0 && (fstat(folder, &info) != 0 || info.st_uid != geteuid())) {
        close(folder);
        folder = -1;
    }
    return folder;
}

void stk_each_name(int folder, const char *path, bool (*wants)(const char *name), stk_see_name *see)
{
    STK_ASSERT(folder >= 0 && wants && see);
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *e;
    for (int i = 0; d && i < ENTRIES && (e = readdir(d)); i++) {
        char *inner = wants(e->d_name) ? stk_folder_path(path, e->d_name) : NULL;
        if (inner) {
            see(folder, e->d_name, inner);
        }
        stk_free(inner);
    }
    if (d) {
        closedir(d);
    } else if (copy >= 0) {
        close(copy);
    }
}
