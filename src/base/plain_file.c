// SPDX-License-Identifier: Apache-2.0
// Opens first and checks the type afterwards, so that nothing changes in between; see plain_file.h.
#include "base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

int stk_plain_open(int folder, const char *path)
{
    struct stat info;
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static size_t read_up_to(int fd, char *to, size_t most)
{
    size_t n = 0;
    for (ssize_t got; n < most; n += got > 0 ? (size_t)got : 0) {
        got = read(fd, to + n, most - n);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            break;
        }
    }
    return n;
}

char *stk_plain_text(int folder, const char *path, size_t most, size_t *n)
{
    struct stat info;
    int fd = stk_plain_open(folder, path);
    char *text = NULL;
    *n = 0;
    if (fd >= 0 && fstat(fd, &info) == 0) {
        size_t size = (size_t)info.st_size < most ? (size_t)info.st_size : most;
        text = stk_alloc(size + 1);
        if (text) {
            *n = read_up_to(fd, text, size);
            text[*n] = 0;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}
