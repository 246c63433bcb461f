// SPDX-License-Identifier: Apache-2.0
// Checks owners and modes of a path's folders; see whose.h.
#include "job/capture/parent/whose.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/capture/parent/small_file.h"

#define UID_ALL 4294967295ull // a namespace with all users maps this many

bool stk_is_own(const struct stat *info)
{
    return info->st_uid == geteuid() || info->st_uid == 0;
}

// The number for users that this namespace doesn't know; -1: it knows all.
static long long unknown_user(void)
{
    char text[256];
    unsigned long long inside, outside, count;
    if (!stk_small_read_once("/proc/self/uid_map", text, sizeof text) ||
        sscanf(text, "%llu %llu %llu", &inside, &outside, &count) != 3 || count >= UID_ALL) {
        return -1;
    }
    return stk_small_read_once("/proc/sys/kernel/overflowuid", text, sizeof text)
               ? strtoll(text, NULL, 10)
               : -1;
}

static bool is_trusted(const struct stat *info)
{
    return stk_is_own(info) || info->st_uid == unknown_user();
}

bool stk_is_open_to_all(const struct stat *folder)
{
    return (folder->st_mode & S_IWOTH) && !((folder->st_mode & S_ISVTX) && is_trusted(folder));
}

bool stk_is_safe_path(const char *path)
{
    char part[PATH_MAX];
    struct stat info;
    size_t n = strlen(path);
    if (path[0] != '/' || n >= sizeof part) {
        return false;
    }
    for (size_t i = 1; i <= n; i++) {
        if (i > 1 && path[i] != '/' && path[i] != 0) {
            continue;
        }
        memcpy(part, path, i);
        part[i] = 0;
        if (lstat(part, &info) != 0 || !S_ISDIR(info.st_mode) || !is_trusted(&info) ||
            stk_is_open_to_all(&info)) {
            return false;
        }
    }
    return lstat(path, &info) == 0 && !(info.st_mode & S_IWOTH);
}
