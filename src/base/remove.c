// SPDX-License-Identifier: Apache-2.0
// Removing without following links; see remove.h. A folder is read again until a pass removes
// nothing more: what readdir() passes over while names go is implementation's choice.
#include "base/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 64 }; // of folders; each level holds a descriptor

int stk_folder_itself(int above, const char *name)
{
    return openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int stk_remove_file(int folder, const char *name)
{
    return unlinkat(folder, name, 0) == 0 ? 0 : errno;
}

int stk_remove_folder(int above, const char *name)
{
    return unlinkat(above, name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

// Takes the descriptor. 0, or the errno of the last that failed.
static int remove_below(int folder, const char *last, dev_t device, int depth);

static int remove_entry(int folder, const char *name, dev_t device, int depth)
{
    struct stat info;
    int error = stk_remove_file(folder, name);
    if (error != EISDIR && error != EPERM) {
        return error == ENOENT ? 0 : error;
    }
    int inner = stk_folder_itself(folder, name);
    if (inner < 0) {
        return error;
    }
    if (depth == 0 || fstat(inner, &info) != 0 || info.st_dev != device) {
        close(inner);
        return ENOTEMPTY;
    }
    error = remove_below(inner, NULL, device, depth - 1);
    return error ? error : stk_remove_folder(folder, name);
}

static bool is_skipped(const char *name, const char *last)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (last && strcmp(name, last) == 0);
}

static int remove_below(int folder, const char *last, dev_t device, int depth)
{
    DIR *d = fdopendir(folder);
    int failed = 0;
    if (!d) {
        failed = errno;
        close(folder);
        return failed;
    }
    for (bool removed = true; removed;) {
        const struct dirent *e;
        removed = false;
        failed = 0;
        rewinddir(d);
        while ((e = readdir(d))) {
            int error =
                is_skipped(e->d_name, last) ? -1 : remove_entry(folder, e->d_name, device, depth);
            removed |= error == 0;
            failed = error > 0 ? error : failed;
        }
    }
    closedir(d);
    return failed;
}

int stk_remove_contents(int folder, const char *last)
{
    struct stat info;
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0 || fstat(copy, &info) != 0) {
        int error = errno;
        if (copy >= 0) {
            close(copy);
        }
        return error;
    }
    int error = remove_below(copy, last, info.st_dev, DEPTH);
    if (!error && last) {
        error = stk_remove_file(folder, last);
    }
    return error == ENOENT ? 0 : error;
}

int stk_remove_tree(int above, const char *name)
{
    int folder = stk_folder_itself(above, name);
    if (folder < 0) {
        return errno;
    }
    int error = stk_remove_contents(folder, NULL);
    close(folder);
    return error ? error : stk_remove_folder(above, name);
}
