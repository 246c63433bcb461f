// SPDX-License-Identifier: Apache-2.0
// Small files of the kernel; see small_file.h.
#include "job/capture/parent/small_file.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool stk_small_open(struct stk_small_file *f, const char *folder, const char *name)
{
    char path[STK_SMALL_PATH];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    f->fd = n > 0 && (size_t)n < sizeof path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    return f->fd >= 0;
}

void stk_small_close(struct stk_small_file *f)
{
    if (f->fd >= 0) {
        close(f->fd);
    }
    f->fd = -1;
}

size_t stk_small_read(const struct stk_small_file *f, char *text, size_t size)
{
    STK_ASSERT(size > 0);
    size_t used = 0;
    text[0] = 0;
    while (f->fd >= 0 && used + 1 < size) {
        ssize_t got = pread(f->fd, text + used, size - 1 - used, (off_t)used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        used += (size_t)got;
    }
    text[used] = 0;
    return used;
}

size_t stk_small_read_once(const char *path, char *text, size_t size)
{
    struct stk_small_file f = {open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    size_t used = stk_small_read(&f, text, size);
    stk_small_close(&f);
    return used;
}

bool stk_small_value(const char *text, const char *word, uint64_t *value)
{
    size_t n = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, n) == 0 && (line[n] == ' ' || line[n] == '\t')) {
            char *end;
            *value = strtoull(line + n, &end, 10);
            return end != line + n;
        }
    }
    return false;
}

bool stk_small_pressure(const char *text, uint64_t *stalled_us)
{
    const char *total = strncmp(text, "some ", 5) == 0 ? strstr(text, "total=") : NULL;
    if (total) {
        *stalled_us = strtoull(total + 6, NULL, 10);
    }
    return total != NULL;
}
