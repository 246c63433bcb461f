// SPDX-License-Identifier: Apache-2.0
// Stored bytes by position. Plain reads into the caller's buffer; no mapping, so memory stays flat,
// and a file that shrinks meanwhile ends early instead of raising a signal.
#include "base/stream_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/remove.h"

#define READ_MAX ((size_t)1 << 30) // one system call takes at most about 2 GiB

static enum stoker_status open_failed(const struct stk_source *s, int error, struct stoker_err *err)
{
    const char *what = error == ENOENT || error == ENOTDIR ? "check the path"
                       : error == EACCES                   ? "ask its owner for read permission"
                                         : "check whether other programs can read it";
    return stk_err_set(err, STOKER_EINPUT, "can't open %s: %s; %s", s->shown, strerror(error),
                       what);
}

static enum stoker_status unfit(const struct stk_source *s, const char *why, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT, "can't read %s: %s", s->shown, why);
}

static enum stoker_status check_type(struct stk_source *s, bool is_stdin, struct stoker_err *err)
{
    struct stat st;
    if (fstat(s->fd, &st)) {
        return open_failed(s, errno, err);
    }
    if (S_ISDIR(st.st_mode)) {
        return unfit(s, "it is a directory; name a profile inside it", err);
    }
    if (is_stdin && isatty(s->fd)) {
        return unfit(s, "it is a terminal; pipe a profile into it or name a file", err);
    }
    if (!is_stdin && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
        return unfit(s, "it is a device; name a file or a pipe", err);
    }
    s->regular = S_ISREG(st.st_mode);
    if (!s->regular) {
        return STOKER_OK;
    }
    off_t at = is_stdin ? lseek(s->fd, 0, SEEK_CUR) : 0;
    s->base = at > 0 ? (uint64_t)at : 0;
    s->size = (uint64_t)st.st_size > s->base ? (uint64_t)st.st_size - s->base : 0;
    (void)posix_fadvise(s->fd, at > 0 ? at : 0, 0, POSIX_FADV_SEQUENTIAL); // only advice
    return STOKER_OK;
}

static int open_spool(const char *dir)
{
    int fd = -1;
#ifdef O_TMPFILE
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0) { // the file system can't create unnamed files
        char name[4096];
        int n = snprintf(name, sizeof name, "%s/stoker-XXXXXX", dir);
        if (n < 0 || (size_t)n >= sizeof name) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = mkostemp(name, O_CLOEXEC);
        if (fd >= 0) {
            (void)stk_remove_file(AT_FDCWD, name);
        }
    }
    return fd;
}

static const char *spool_dir(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

static enum stoker_status spool_failed(const struct stk_source *s, int error,
                                       struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EOUTPUT,
                       "can't keep a copy of %s in %s: %s; set TMPDIR to a folder with more space",
                       s->shown, spool_dir(), strerror(error));
}

enum stoker_status stk_source_open(struct stk_source *s, const char *path, bool spool,
                                   struct stoker_err *err)
{
    *s = (struct stk_source){.fd = -1, .spool_fd = -1};
    size_t size = strlen(path) + 1;
    s->path = stk_alloc(size);
    if (!s->path) {
        return stk_err_nomem(err);
    }
    memcpy(s->path, path, size);
    bool is_stdin = strcmp(path, "-") == 0;
    s->shown = is_stdin ? "standard input" : s->path;
    do {
        s->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                         : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (s->fd < 0 && errno == EINTR);
    if (s->fd < 0) {
        return open_failed(s, errno, err);
    }
    enum stoker_status status = check_type(s, is_stdin, err);
    if (status || s->regular || !spool) {
        return status;
    }
    s->spool_fd = open_spool(spool_dir());
    return s->spool_fd < 0 ? spool_failed(s, errno, err) : STOKER_OK;
}

void stk_source_close(struct stk_source *s)
{
    if (s->fd >= 0) {
        close(s->fd);
    }
    if (s->spool_fd >= 0) {
        close(s->spool_fd);
    }
    stk_free(s->path);
    *s = (struct stk_source){.fd = -1, .spool_fd = -1};
}

static enum stoker_status read_failed(const struct stk_source *s, uint64_t offset, int error,
                                      struct stoker_err *err)
{
    return stk_err_set_at(err, STOKER_EINPUT, (int64_t)offset,
                          "can't read %s at byte %llu: %s; copy it to another disk and try again",
                          s->shown, (unsigned long long)offset, strerror(error));
}

// Fills buf from a seekable descriptor.
static enum stoker_status read_file(const struct stk_source *s, int fd, uint64_t base,
                                    uint64_t offset, uint8_t *buf, size_t cap, size_t *got,
                                    struct stoker_err *err)
{
    *got = 0;
    uint64_t at;
    if (__builtin_add_overflow(base, offset, &at) || at > (uint64_t)INT64_MAX - cap) {
        return STOKER_OK; // past the end of any file
    }
    while (*got < cap) {
        size_t want = cap - *got < READ_MAX ? cap - *got : READ_MAX;
        ssize_t n = pread(fd, buf + *got, want, (off_t)(at + *got));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return read_failed(s, offset + *got, errno, err);
        }
        if (n == 0) {
            break;
        }
        *got += (size_t)n;
    }
    return STOKER_OK;
}

static enum stoker_status keep(const struct stk_source *s, const uint8_t *p, size_t n,
                               struct stoker_err *err)
{
    uint64_t at = s->pipe_pos;
    while (n > 0) {
        ssize_t done = pwrite(s->spool_fd, p, n, (off_t)at);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return spool_failed(s, done ? errno : ENOSPC, err);
        }
        p += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return STOKER_OK;
}

// Fills buf with the next bytes of the pipe.
static enum stoker_status read_pipe(struct stk_source *s, uint8_t *buf, size_t cap, size_t *got,
                                    struct stoker_err *err)
{
    *got = 0;
    while (*got < cap) {
        size_t want = cap - *got < READ_MAX ? cap - *got : READ_MAX;
        ssize_t n = read(s->fd, buf + *got, want);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return read_failed(s, s->pipe_pos, errno, err);
        }
        if (n == 0) {
            break;
        }
        if (s->spool_fd >= 0) {
            enum stoker_status status = keep(s, buf + *got, (size_t)n, err);
            if (status) {
                return status;
            }
        }
        *got += (size_t)n;
        s->pipe_pos += (uint64_t)n;
    }
    return STOKER_OK;
}

// Moves the pipe's position up to `offset`, or to its end.
static enum stoker_status skip_pipe(struct stk_source *s, uint64_t offset, struct stoker_err *err)
{
    uint8_t scratch[16384];
    while (s->pipe_pos < offset) {
        uint64_t left = offset - s->pipe_pos;
        size_t got, want = left < sizeof scratch ? (size_t)left : sizeof scratch;
        enum stoker_status status = read_pipe(s, scratch, want, &got, err);
        if (status || got == 0) {
            return status;
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_source_read(struct stk_source *s, uint64_t offset, void *buf, size_t cap,
                                   size_t *got, struct stoker_err *err)
{
    *got = 0;
    if (s->regular) {
        return read_file(s, s->fd, s->base, offset, buf, cap, got, err);
    }
    if (s->spool_fd < 0 && offset != s->pipe_pos) {
        return stk_err_set(err, STOKER_EINVAL, "%s was opened without the ability to go back",
                           s->shown);
    }
    enum stoker_status status = s->spool_fd >= 0 ? skip_pipe(s, offset, err) : STOKER_OK;
    if (status || offset > s->pipe_pos) {
        return status;
    }
    uint64_t kept = s->pipe_pos - offset;
    if (kept > 0) {
        size_t n = kept < cap ? (size_t)kept : cap;
        status = read_file(s, s->spool_fd, 0, offset, buf, n, got, err);
        if (status || *got < n) {
            return status;
        }
    }
    size_t more = 0;
    status = read_pipe(s, (uint8_t *)buf + *got, cap - *got, &more, err);
    *got += more;
    return status;
}
