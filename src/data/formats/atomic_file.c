// SPDX-License-Identifier: Apache-2.0
// The lock is flock's, which ends with its holder. A file that was just made may not be locked yet:
// only old ones are removed.
#include "data/formats/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

#define YOUNG_S 60
#define SUFFIX ".part"
#define NAMES_MAX 10000 // that are tried

enum stoker_status stk_atomic_file_check(const char *path, const struct stk_specs *specs,
                                         struct stoker_err *err)
{
    struct stat there; // the rename at the end would put a file in a device's place
    for (int k = 0; k < specs->count; k++) {
        if (specs->items[k].dtype == STK_DT_DATASET) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%s: component %d holds datasets, which no file can", path, k);
        }
    }
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        return stk_err_set(err, STOKER_EOUTPUT, "%s: cannot be written: it is there and no file",
                           path);
    }
    return STOKER_OK;
}

static void remove_if_dead(int folder, const char *name)
{
    struct stat info;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && time(NULL) - info.st_mtime > YOUNG_S &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        unlinkat(folder, name, 0);
    }
    close(fd);
}

// Files named like this one's parts: "path.PID.N.part".
static void remove_dead(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name), length = slash ? (size_t)(slash - path) + 1 : 0;
    char folder[4096] = ".";
    if (length >= sizeof folder) {
        return;
    }
    if (slash) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d)) != NULL) {
        long pid;
        unsigned long number;
        int end = 0;
        if (strncmp(e->d_name, name, n) == 0 &&
            sscanf(e->d_name + n, ".%ld.%lu" SUFFIX "%n", &pid, &number, &end) == 2 && end > 0 &&
            e->d_name[n + (size_t)end] == '\0') {
            remove_if_dead(dirfd(d), e->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
}

static void let_go(struct stk_atomic_file *b)
{
    if (b->fd >= 0) {
        close(b->fd);
    }
    if (b->lock >= 0) {
        close(b->lock);
    }
    stk_free(b->path);
    stk_free(b->concurrent);
    *b = (struct stk_atomic_file){.fd = -1, .lock = -1};
}

// The lock is a second descriptor of the same opening: it outlives the one that is written to.
static void lock(struct stk_atomic_file *b)
{
    b->lock = fcntl(b->fd, F_DUPFD_CLOEXEC, 0);
    if (b->lock >= 0 && flock(b->lock, LOCK_EX | LOCK_NB) != 0) {
        close(b->lock); // a file system without locks: nobody can take it either
        b->lock = -1;
    }
}

enum stoker_status stk_atomic_file_open(struct stk_atomic_file *b, const char *path,
                                        struct stoker_err *err)
{
    static unsigned long writers;
    size_t size = strlen(path) + 64;
    *b = (struct stk_atomic_file){
        .path = stk_alloc(size), .concurrent = stk_alloc(size), .fd = -1, .lock = -1};
    if (!b->path || !b->concurrent) {
        let_go(b);
        return stk_err_nomem(err);
    }
    memcpy(b->path, path, strlen(path) + 1);
    remove_dead(path);
    for (int i = 0; b->fd < 0 && i < NAMES_MAX; i++) {
        snprintf(b->concurrent, size, "%s.%ld.%lu" SUFFIX, path, (long)getpid(),
                 __atomic_add_fetch(&writers, 1, __ATOMIC_RELAXED));
        b->fd = open(b->concurrent, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (b->fd < 0 && errno != EEXIST && errno != EINTR) {
            break;
        }
    }
    if (b->fd < 0) {
        int why = errno;
        let_go(b);
        return stk_err_set(err, stk_err_of_file(why, STOKER_EOUTPUT), "%s: cannot be written: %s",
                           path, strerror(why));
    }
    lock(b);
    return STOKER_OK;
}

enum stoker_status stk_atomic_file_close(struct stk_atomic_file *b, bool keeps,
                                         struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    if (!b->path) {
        return STOKER_OK;
    }
    if (keeps && rename(b->concurrent, b->path) != 0) {
        int why = errno;
        s = stk_err_set(err, stk_err_of_file(why, STOKER_EOUTPUT), "%s: cannot be written: %s",
                        b->path, strerror(why));
    }
    if (!keeps || s != STOKER_OK) {
        unlink(b->concurrent);
    }
    let_go(b);
    return s;
}
