// SPDX-License-Identifier: Apache-2.0
// Removes without following links; see remove.h. A folder is read repeatedly until a pass removes
// nothing more: which names a read misses while others are removed is up to the file system. It is
// read by system call, which needs neither memory nor another descriptor, unlike readdir(): even a
// process that has run out of both can remove what it made. macOS has no such call.
#include "base/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#else
#include <dirent.h>
#endif

#include "base/assert.h"

enum { DEPTH = 64 };         // levels of folders; each holds a descriptor
enum { NAMES_BYTES = 4096 }; // bytes of names read at once

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

// ---- the names in an open folder ----

#ifdef __linux__
// The kernel's layout (getdents64).
struct name {
    uint64_t inode;
    int64_t next;
    uint16_t length; // of the whole entry
    uint8_t type;
    char text[];
};

struct names {
    int folder;
    int error; // of reading; 0: none
    size_t at, have;
    _Alignas(struct name) char bytes[NAMES_BYTES];
};

static void names_begin(struct names *n, int folder)
{
    n->folder = folder;
    n->at = n->have = 0;
    n->error = lseek(folder, 0, SEEK_SET) == 0 ? 0 : errno;
}

// NULL: no more, or they can't be read.
static const char *names_next(struct names *n)
{
    if (n->at == n->have && !n->error) {
        long got = syscall(SYS_getdents64, n->folder, n->bytes, sizeof n->bytes);
        n->error = got < 0 ? errno : 0;
        n->have = got > 0 ? (size_t)got : 0;
        n->at = 0;
    }
    if (n->at == n->have || n->error) {
        return NULL;
    }
    const struct name *name = (const struct name *)(const void *)(n->bytes + n->at);
    STK_ASSERT(name->length > offsetof(struct name, text) && name->length <= n->have - n->at);
    n->at += name->length;
    return name->text;
}
#else
struct names {
    int error;
    DIR *dir; // closed with the last name: all of them are asked for
};

static void names_begin(struct names *n, int folder)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    n->dir = again < 0 ? NULL : fdopendir(again);
    n->error = n->dir ? 0 : errno;
    if (!n->dir && again >= 0) {
        close(again);
    }
}

static const char *names_next(struct names *n)
{
    const struct dirent *entry = n->dir ? readdir(n->dir) : NULL;
    if (!entry && n->dir) {
        closedir(n->dir);
        n->dir = NULL;
    }
    return entry ? entry->d_name : NULL;
}
#endif

// ---- removed ----

// 0, or the errno of the last failure. `device`: the file system's; NULL: unknown.
static int remove_below(int folder, const char *last, const dev_t *device, int depth);

static int remove_entry(int folder, const char *name, const dev_t *device, int depth)
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
    bool is_ours = depth > 0 && device && fstat(inner, &info) == 0 && info.st_dev == *device;
    error = is_ours ? remove_below(inner, NULL, device, depth - 1) : ENOTEMPTY;
    close(inner);
    return error ? error : stk_remove_folder(folder, name);
}

static bool is_skipped(const char *name, const char *last)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (last && strcmp(name, last) == 0);
}

static int remove_below(int folder, const char *last, const dev_t *device, int depth)
{
    struct names names;
    int failed = 0;
    for (bool removed = true; removed;) {
        const char *name;
        removed = false;
        failed = 0;
        names_begin(&names, folder);
        while ((name = names_next(&names))) {
            int error = is_skipped(name, last) ? -1 : remove_entry(folder, name, device, depth);
            removed |= error == 0;
            failed = error > 0 ? error : failed;
        }
    }
    return failed ? failed : names.error;
}

int stk_remove_contents(int folder, const char *last)
{
    struct stat info;
    bool is_known = fstat(folder, &info) == 0; // else enter no folder in it
    int error = remove_below(folder, last, is_known ? &info.st_dev : NULL, DEPTH);
    if (!error && last) {
        error = stk_remove_file(folder, last);
    }
    return error == ENOENT ? 0 : error;
}

void stk_remove_named(int folder, bool (*is_own)(const char *name))
{
    STK_ASSERT(folder >= 0 && is_own);
    struct names names;
    const char *name;
    names_begin(&names, folder);
    while ((name = names_next(&names))) {
        if (is_own(name)) {
            (void)stk_remove_file(folder, name);
        }
    }
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
