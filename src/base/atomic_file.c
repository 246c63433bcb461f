// SPDX-License-Identifier: Apache-2.0
// The lock is flock's, which ends with its holder. Between creation and locking, another process
// may remove the file as abandoned. The creator notices by its link count and creates another.
#include "base/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/plain_file.h"
#include "base/remove.h"

#define FOREIGN_S 3600 // another machine's file counts as abandoned if unchanged for this long
#define SUFFIX ".part"
#define NODE_MAX 32     // characters of the machine's name used
#define NAMES_MAX 10000 // names tried

static void name_node(char node[NODE_MAX + 1])
{
    struct utsname u;
    snprintf(node, NODE_MAX + 1, "%.*s", NODE_MAX,
             uname(&u) == 0 && *u.nodename ? u.nodename : "local");
}

static bool is_digits(const char *p, const char *end)
{
    for (const char *q = p; q < end; q++) {
        if (*q < '0' || *q > '9') {
            return false;
        }
    }
    return p < end;
}

// Removes ".DIGITS" before `end`; returns where it starts, or NULL.
static const char *before_number(const char *start, const char *end)
{
    const char *dot = end;
    while (dot > start && dot[-1] != '.') {
        dot--;
    }
    return dot > start && is_digits(dot, end) ? dot - 1 : NULL;
}

// Where ".PID.N.part" starts at the end of a longer name, or NULL.
static const char *before_numbers(const char *name)
{
    size_t n = strlen(name), k = sizeof SUFFIX - 1;
    if (n <= k || strcmp(name + n - k, SUFFIX) != 0) {
        return NULL;
    }
    const char *end = before_number(name, name + n - k);
    end = end ? before_number(name, end) : NULL;
    return end == name ? NULL : end;
}

// Is the rest after a name and its dot "NODE.PID.N.part"? *is_own: NODE is `node`.
static bool is_concurrent(const char *rest, const char *node, bool *is_own)
{
    const char *end = before_numbers(rest);
    if (!end) {
        return false;
    }
    *is_own = strlen(node) == (size_t)(end - rest) && memcmp(rest, node, strlen(node)) == 0;
    return true;
}

static void remove_if_dead(int folder, const char *name, bool is_own)
{
    struct stat info;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        (is_own || time(NULL) - info.st_mtime > FOREIGN_S) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        (void)stk_remove_file(folder, name);
    }
    close(fd);
}

static void remove_dead(const char *path, const char *node)
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
    bool is_own;
    while (d && (e = readdir(d)) != NULL) {
        if (strncmp(e->d_name, name, n) == 0 && e->d_name[n] == '.' &&
            is_concurrent(e->d_name + n + 1, node, &is_own)) {
            remove_if_dead(dirfd(d), e->d_name, is_own);
        }
    }
    if (d) {
        closedir(d);
    }
}

bool stk_atomic_file_is_open(const char *path)
{
    if (!before_numbers(path)) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_open = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0) {
        close(fd);
    }
    return is_open;
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

// The lock is a duplicate of the descriptor: it outlives the one that is written to. False: another
// process removed the file as abandoned.
static bool lock(struct stk_atomic_file *b)
{
    struct stat info;
    b->lock = fcntl(b->fd, F_DUPFD_CLOEXEC, 0);
    if (b->lock < 0) {
        return true;
    }
    if (flock(b->lock, LOCK_EX | LOCK_NB) == 0) {
        return fstat(b->lock, &info) != 0 || info.st_nlink > 0;
    }
    if (errno == EWOULDBLOCK) {
        return false;
    }
    close(b->lock); // a file system without locks: nothing else can take it either
    b->lock = -1;
    return true;
}

static void unmake(struct stk_atomic_file *b)
{
    close(b->fd);
    if (b->lock >= 0) {
        close(b->lock);
    }
    b->fd = b->lock = -1;
}

int stk_atomic_file_open(struct stk_atomic_file *b, const char *path)
{
    static unsigned long writers;
    char node[NODE_MAX + 1];
    size_t size = strlen(path) + NODE_MAX + 64;
    *b = (struct stk_atomic_file){
        .path = stk_alloc(size), .concurrent = stk_alloc(size), .fd = -1, .lock = -1};
    if (!b->path || !b->concurrent) {
        let_go(b);
        return ENOMEM;
    }
    memcpy(b->path, path, strlen(path) + 1);
    name_node(node);
    remove_dead(path, node);
    int why = EEXIST;
    for (int i = 0; b->fd < 0 && i < NAMES_MAX; i++) {
        snprintf(b->concurrent, size, "%s.%s.%ld.%lu" SUFFIX, path, node, (long)getpid(),
                 __atomic_add_fetch(&writers, 1, __ATOMIC_RELAXED));
        b->fd = open(b->concurrent, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        why = b->fd < 0 ? errno : EEXIST;
        if (b->fd >= 0 && !lock(b)) {
            unmake(b);
        } else if (b->fd < 0 && why != EEXIST && why != EINTR) {
            break;
        }
    }
    if (b->fd >= 0) {
        return 0;
    }
    let_go(b);
    return why;
}

int stk_atomic_file_close(struct stk_atomic_file *b, bool keeps)
{
    int why = 0;
    if (!b->path) {
        return 0;
    }
    if (keeps && rename(b->concurrent, b->path) != 0) {
        why = errno;
    }
    if (!keeps || why) {
        (void)stk_remove_file(AT_FDCWD, b->concurrent);
    }
    let_go(b);
    return why;
}

static int copy(int from, int to)
{
    char buffer[65536];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        for (ssize_t done = 0, put; done < n; done += put > 0 ? put : 0) {
            put = write(to, buffer + done, (size_t)(n - done));
            if (put < 0 && errno != EINTR) {
                return errno;
            }
        }
    }
    return 0;
}

int stk_atomic_file_move(const char *from, const char *to)
{
    struct stk_atomic_file b;
    if (rename(from, to) == 0) {
        return 0;
    }
    if (errno != EXDEV) {
        return errno;
    }
    int fd = stk_plain_open(AT_FDCWD, from);
    int why = fd < 0 ? EINVAL : stk_atomic_file_open(&b, to);
    if (!why) {
        why = copy(fd, b.fd);
        int last = stk_atomic_file_close(&b, !why);
        why = why ? why : last;
    }
    if (fd >= 0) {
        close(fd);
    }
    return why ? why : stk_remove_file(AT_FDCWD, from);
}
