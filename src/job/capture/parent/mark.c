// SPDX-License-Identifier: Apache-2.0
// Marks a folder as needed; see mark.h. A folder is dead if its lock is free, and no process has
// its path in its environment: a job that outlives its stoker still needs its hooks. The lock is
// flock's. Its file is written after locking, so an empty one belongs to a folder in the making.
// Only files of this user are considered. For folders of another machine (on a shared file system)
// processes can't be checked: they are left alone for a day.
//
// Limits: a process that overwrites its own environment (to change its title) is not found; it goes
// on, without hooks in the interpreters that it starts. On a file system without locks, nothing
// counts as dead.
#include "job/capture/parent/mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"

enum {
    FOREIGN_S = 24 * 3600,   // until a folder of another machine counts as dead
    TEXT = 80,               // of a mark
    TRIES = 100,             // at a lock that another process is just checking, 1 ms each
    ENVIRONMENT = 256 * 1024 // bytes of a process's environment to search
};

// The text of a mark, which identifies the machine.
static void own_text(char text[TEXT])
{
    struct utsname u;
    snprintf(text, TEXT, "stoker %.64s\n", uname(&u) == 0 && *u.nodename ? u.nodename : "local");
}

static bool lock(int fd)
{
    struct timespec moment = stk_clock_moment(1000000);
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return false;
        }
        nanosleep(&moment, NULL);
    }
    return false;
}

// The mark's file; -1: it can't be opened.
static int open_mark(int folder, int flags)
{
    return openat(folder, STK_MARK, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}

int stk_mark_put(int folder)
{
    STK_ASSERT(folder >= 0);
    char text[TEXT];
    int fd = open_mark(folder, O_CREAT | O_EXCL);
    own_text(text);
    if (fd >= 0 && (!lock(fd) || write(fd, text, strlen(text)) != (ssize_t)strlen(text))) {
        close(fd); // worthless without its text
        fd = -1;
    }
    return fd;
}

void stk_mark_release(int mark)
{
    if (mark >= 0) {
        close(mark);
    }
}

// Whether a variable contains exactly this path, not that of another folder with a longer name.
static bool names(const char *env, size_t n, const char *path)
{
    STK_ASSERT(*path);
    size_t length = strlen(path);
    const char *at = env, *end = env + n;
    while ((at = memmem(at, (size_t)(end - at), path, length))) {
        at += length;
        if (at == end || *at == 0 || *at == '/' || *at == ':') {
            return true;
        }
    }
    return false;
}

// Whether a process of this machine has the folder in its environment. Unreadable processes are
// skipped.
static bool is_in_use(const char *path)
{
    DIR *d = opendir("/proc");
    char *env = stk_alloc(ENVIRONMENT), name[64];
    struct dirent *e;
    bool found = !d || !env;
    while (!found && (e = readdir(d))) {
        if (e->d_name[0] < '1' || e->d_name[0] > '9') {
            continue;
        }
        snprintf(name, sizeof name, "%.20s/environ", e->d_name);
        int fd = openat(dirfd(d), name, O_RDONLY | O_CLOEXEC);
        size_t n = 0;
        ssize_t got;
        while (fd >= 0 && n < ENVIRONMENT && (got = read(fd, env + n, ENVIRONMENT - n)) > 0) {
            n += (size_t)got;
        }
        if (fd >= 0) {
            close(fd);
        }
        found = names(env, n, path);
    }
    if (d) {
        closedir(d);
    }
    stk_free(env);
    return found;
}

int stk_mark_take(int folder, const char *needed)
{
    STK_ASSERT(folder >= 0 && needed);
    char text[TEXT], own[TEXT];
    struct stat info;
    int fd = open_mark(folder, O_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    bool dead = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                flock(fd, LOCK_EX | LOCK_NB) == 0;
    ssize_t n = dead ? pread(fd, text, sizeof text - 1, 0) : 0;
    text[n > 0 ? n : 0] = 0;
    own_text(own);
    // No text: its creator was killed before writing it, on this machine or another.
    dead = dead && (n == 0 || (n > 0 && strncmp(text, "stoker ", 7) == 0 && text[n - 1] == '\n'));
    if (dead) {
        dead = strcmp(text, own) == 0 ? !is_in_use(needed) : time(NULL) - info.st_mtime > FOREIGN_S;
    }
    if (!dead) {
        close(fd);
        fd = -1;
    }
    return fd;
}
