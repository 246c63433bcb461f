// SPDX-License-Identifier: Apache-2.0
// Where a command's output goes, and what an interruption leaves behind: nothing half-written.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/screen.h"

static const char *volatile temporary_path; // to be removed by the handler
static volatile sig_atomic_t line_drawn;
static volatile sig_atomic_t is_caught, is_pending;

void stk_signals_set_temporary(const char *path)
{
    temporary_path = path;
}

void stk_signals_set_line(bool drawn)
{
    line_drawn = drawn;
}

void stk_signals_catch(void)
{
    is_caught = 1;
}

int stk_signals_pending(void)
{
    return is_pending;
}

// Only calls that are safe in a handler. Nothing else needs cleaning up: inputs are read only.
static void interrupted(int signal_number)
{
    (void)signal_number;
    if (is_caught && !is_pending) {
        is_pending = 1;
        return;
    }
    if (temporary_path) {
        unlink(temporary_path);
    }
    if (line_drawn && write(STDERR_FILENO, "\r\033[K", 4) < 0) {
        line_drawn = 0;
    }
    _exit(STK_EXIT_INTERRUPTED);
}

void stk_signals_install(void)
{
    struct sigaction action = {.sa_handler = interrupted};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); // a closed pipe is seen as EPIPE
    signal(SIGXFSZ, SIG_IGN); // a file size limit is seen as EFBIG
}

static int cannot(const char *path, int error)
{
    fprintf(stderr, "stoker: error: cannot write %s: %s\n", path ? path : "standard output",
            strerror(error));
    return STK_EXIT_LIMIT;
}

int stk_output_failed(int code)
{
    return errno == EPIPE ? code : cannot(NULL, errno);
}

// A name beside the file, so that the rename stays on one file system.
static int open_temporary(struct stk_output *o)
{
    size_t size = strlen(o->path) + sizeof ".XXXXXX";
    o->temporary = stk_alloc(size);
    if (!o->temporary) {
        return cannot(o->path, ENOMEM);
    }
    snprintf(o->temporary, size, "%s.XXXXXX", o->path);
    o->fd = mkstemp(o->temporary);
    if (o->fd < 0) {
        int error = errno;
        stk_free(o->temporary);
        o->temporary = NULL;
        return cannot(o->path, error);
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(o->fd, 0666 & ~mask);
    stk_signals_set_temporary(o->temporary);
    return STK_EXIT_DONE;
}

int stk_output_open(struct stk_output *o, const char *path)
{
    struct stat st;
    *o = (struct stk_output){.fd = STDOUT_FILENO, .path = path};
    if (!path || strcmp(path, "-") == 0) {
        o->path = NULL;
        return STK_EXIT_DONE;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        return o->fd < 0 ? cannot(path, errno) : STK_EXIT_DONE;
    }
    return open_temporary(o);
}

int stk_output_write(void *output, const char *bytes, size_t n)
{
    struct stk_output *o = output;
    while (n > 0) {
        ssize_t written = write(o->fd, bytes, n);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            o->error = errno;
            return -1;
        }
        bytes += written;
        n -= (size_t)written;
    }
    return 0;
}

int stk_output_close(struct stk_output *o, bool keep)
{
    if (o->path && close(o->fd) != 0 && !o->error) {
        o->error = errno;
    }
    if (o->temporary) {
        keep = keep && !o->error;
        if (keep && rename(o->temporary, o->path) != 0) {
            o->error = errno;
            keep = false;
        }
        if (!keep) {
            unlink(o->temporary);
        }
        stk_signals_set_temporary(NULL);
        stk_free(o->temporary);
        o->temporary = NULL;
    }
    if (o->error && o->error != EPIPE) {
        return cannot(o->path, o->error);
    }
    return STK_EXIT_DONE;
}
