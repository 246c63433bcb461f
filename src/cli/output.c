// SPDX-License-Identifier: Apache-2.0
// Where a command's output goes. An interruption leaves nothing half-written.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/remove.h"
#include "base/text.h"
#include "job/capture/parent/folder.h"
#include "cli/cli.h"
#include "cli/screen.h"

static const char *volatile temporary_path; // the handler removes it
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

// Only calls that are safe in a handler. Nothing else needs cleanup: inputs are only read.
static void interrupted(int signal_number)
{
    (void)signal_number;
    if (is_caught && !is_pending) {
        is_pending = 1;
        return;
    }
    if (temporary_path) {
        (void)stk_remove_file(AT_FDCWD, temporary_path);
    }
    if (line_drawn && write(STDERR_FILENO, "\r\033[K", 4) < 0) {
        line_drawn = 0;
    }
    _exit(STK_EXIT_INTERRUPTED);
}

void stk_signals_install(void)
{
    struct sigaction action = {.sa_handler = interrupted}, before;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) { // nohup
        sigaction(SIGHUP, &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN); // a closed pipe is seen as EPIPE
    signal(SIGXFSZ, SIG_IGN); // a file size limit is seen as EFBIG
}

static int cannot(const char *path, int error)
{
    char text[1024];
    snprintf(text, sizeof text, "cannot write %.800s: %s", path ? path : "standard output",
             strerror(error));
    stk_error_line(text);
    return STK_EXIT_LIMIT;
}

int stk_output_failed(int code)
{
    return errno == EPIPE ? code : cannot(NULL, errno);
}

// Blocks signals while a temporary file exists that the handler doesn't know, or the reverse.
static void hold_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, before);
}

static int open_temporary(struct stk_output *o)
{
    sigset_t before;
    hold_signals(&before);
    int error = stk_atomic_file_open(&o->file, o->path);
    if (!error) {
        o->fd = o->file.fd;
        o->file.fd = -1;
        stk_signals_set_temporary(o->file.concurrent);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error ? cannot(o->path, error) : STK_EXIT_DONE;
}

static void choose_filter(struct stk_output *o, bool for_people)
{
    o->is_filtered = !for_people && isatty(o->fd);
    o->is_ascii = o->is_filtered && stk_screen_ascii();
}

int stk_output_open(struct stk_output *o, const char *path, bool for_people)
{
    struct stat st;
    *o = (struct stk_output){.fd = STDOUT_FILENO, .path = path};
    if (!path || strcmp(path, "-") == 0) {
        o->path = NULL;
        choose_filter(o, for_people);
        return STK_EXIT_DONE;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (o->fd < 0) {
            return cannot(path, errno);
        }
        choose_filter(o, for_people);
        return STK_EXIT_DONE;
    }
    return open_temporary(o);
}

static int write_all(struct stk_output *o, const char *bytes, size_t n)
{
    STK_ASSERT(o->fd >= 0);
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

// Length of the character that starts with this byte; a carriage return counts with its line feed.
static size_t expected(unsigned char c)
{
    return c == '\r' ? 2 : c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
}

// Writes the harmless form of the held bytes to `to`, and empties the held bytes.
static size_t put_held(struct stk_output *o, char *to)
{
    STK_ASSERT(o->held_n <= sizeof o->held);
    struct stk_text_piece piece;
    size_t n = 0;
    for (struct stk_str s = {o->held, o->held_n}; s.n;
         s.p += piece.taken, s.n -= piece.taken, n += piece.n) {
        size_t end = s.p[0] == '\n' ? 1 : s.n > 1 && memcmp(s.p, "\r\n", 2) == 0 ? 2 : 0;
        if (end) {
            piece = (struct stk_text_piece){.text = s.p, .n = end, .taken = end};
        } else {
            stk_text_shown(&piece, s, o->is_ascii);
        }
        memcpy(to + n, piece.text, piece.n);
    }
    o->held_n = 0;
    return n;
}

// Works by character, since calls may end within one.
static int write_filtered(struct stk_output *o, const char *bytes, size_t n)
{
    char line[4096];
    size_t used = 0;
    int failed = 0;
    for (; n > 0 && !failed; bytes++, n--) {
        o->held[o->held_n++] = *bytes;
        if (o->held_n >= expected((unsigned char)o->held[0])) {
            used += put_held(o, line + used);
        }
        if (n == 1 || used > sizeof line - sizeof o->held) {
            failed = write_all(o, line, used);
            used = 0;
        }
    }
    return failed;
}

int stk_output_write(void *output, const char *bytes, size_t n)
{
    struct stk_output *o = output;
    return o->is_filtered ? write_filtered(o, bytes, n) : write_all(o, bytes, n);
}

int stk_output_close(struct stk_output *o, bool keep)
{
    STK_ASSERT(o->fd >= 0);
    char last[sizeof o->held];
    if (o->held_n) { // half a character; o->error keeps failures
        (void)write_all(o, last, put_held(o, last));
    }
    if (o->path && close(o->fd) != 0 && !o->error) {
        o->error = errno;
    }
    if (o->file.path) {
        sigset_t before;
        hold_signals(&before);
        stk_signals_set_temporary(NULL); // the file is closed: nothing to remove
        int error = stk_atomic_file_close(&o->file, keep && !o->error);
        sigprocmask(SIG_SETMASK, &before, NULL);
        o->error = o->error ? o->error : error;
    }
    if (o->error && o->error != EPIPE) {
        return cannot(o->path, o->error);
    }
    return STK_EXIT_DONE;
}

int stk_output_end(struct stk_output *o, enum stoker_status status, const struct stoker_err *err)
{
    int code = stk_output_close(o, status == STOKER_OK);
    return code != STK_EXIT_DONE || status == STOKER_OK || status == STOKER_EOUTPUT ? code
                                                                                    : stk_fail(err);
}

int stk_output_put(const char *path, stk_output_form *form, const void *arg)
{
    STK_ASSERT(form);
    struct stk_output output;
    struct stk_sink sink;
    struct stoker_err err;
    int code = stk_output_open(&output, path, false);
    if (code == STK_EXIT_DONE) {
        stk_sink_init(&sink, stk_output_write, &output);
        form(arg, &sink);
        enum stoker_status status = stk_sink_finish(&sink, &err);
        code = stk_output_end(&output, status, &err);
    }
    return code;
}

int stk_output_put_in(const char *folder, const char *name, stk_output_form *form, const void *arg)
{
    char *path = stk_folder_path(folder, name);
    int code = path ? stk_output_put(path, form, arg) : stk_fail_nomem();
    stk_free(path);
    return code;
}
