// SPDX-License-Identifier: Apache-2.0
// A page that redirects to the address, in a new folder (mkdtemp: mode 0700, a name that nobody can
// prepare) below XDG_RUNTIME_DIR, or below /tmp if that is not set. `xdg-open` gets the page's
// file:// address. Pages of servers that were killed are removed by the next one.
// Limits: a browser in a sandbox that cannot read the folder shows an error; the printed address
// works there.
#include "cli/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/folder.h"

extern char **environ;

static bool has_screen(void)
{
    return (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")) && isatty(STDOUT_FILENO);
}

// A folder below the session's own, which is private and emptied at logout, or else below /tmp.
static bool make_folder(struct stk_scratch *folder)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct stoker_err err;
    stk_scratch_sweep();
    return (runtime && runtime[0] == '/' && stk_scratch_make(runtime, folder, &err) == STOKER_OK) ||
           stk_scratch_make("/tmp", folder, &err) == STOKER_OK;
}

// The address is a number, a port and a token in hexadecimal digits: nothing in it needs escaping.
static bool write_page(const char *path, const char *address)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    int n = fprintf(f,
                    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta name=\"referrer\" content=\"no-referrer\">\n"
                    "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
                    "<title>stoker view</title></head>\n"
                    "<body><a href=\"%s\">Open stoker view</a></body></html>\n",
                    address, address);
    return fclose(f) == 0 && n > 0;
}

// "file://" and the path, with all but plain bytes percent-encoded. Free with stk_free; NULL: no
// memory.
static char *file_address(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/";
    char *out = stk_alloc(sizeof "file://" + 3 * strlen(path));
    if (!out) {
        return NULL;
    }
    char *to = stpcpy(out, "file://");
    for (const char *p = path; *p; p++) {
        if (strchr(plain, *p)) {
            *to++ = *p;
        } else {
            to += sprintf(to, "%%%02X", (unsigned char)*p);
        }
    }
    *to = 0;
    return out;
}

static void start_opener(const char *page)
{
    // posix_spawn doesn't change these strings, although its type isn't const.
    char *const argv[] = {(char *)(uintptr_t)"xdg-open", (char *)(uintptr_t)page, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    if (posix_spawn_file_actions_init(&quiet) != 0) {
        return;
    }
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
    (void)posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
}

void stk_browser_open(struct stk_scratch *folder, const char *address)
{
    STK_ASSERT(address);
    if (!has_screen() || !make_folder(folder)) {
        return;
    }
    char *path = stk_folder_path(folder->path, "stoker-view.html");
    char *page = path && write_page(path, address) ? file_address(path) : NULL;
    if (page) {
        start_opener(page);
    }
    stk_free(page);
    stk_free(path);
}
