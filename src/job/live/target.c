// SPDX-License-Identifier: Apache-2.0
// Finds the run that a process belongs to: the job's processes have the run's folder in their
// environment (STOKER_RUN, "... dir=FOLDER"); for `stoker run` itself, a child has.
#include "job/live/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

enum { ENVIRONMENT_MAX = 1 << 20, CHILDREN_TEXT = 4096 };

static size_t read_file(const char *path, char *to, size_t size)
{
    size_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t k = 1; fd >= 0 && k > 0 && n < size - 1; n += k > 0 ? (size_t)k : 0) {
        k = read(fd, to + n, size - 1 - n);
    }
    if (fd >= 0) {
        close(fd);
    }
    to[n] = 0;
    return n;
}

// The folder in another process's environment; false: none, or unreadable.
static bool folder_in_environment(pid_t pid, char folder[STK_LIVE_PATH])
{
    char path[64];
    bool found = false;
    char *text = stk_alloc(ENVIRONMENT_MAX);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    size_t n = text ? read_file(path, text, ENVIRONMENT_MAX) : 0;
    for (const char *p = text; p && p < text + n && !found; p += strlen(p) + 1) {
        const char *dir = strncmp(p, "STOKER_RUN=", 11) == 0 ? strstr(p, "dir=") : NULL;
        found = dir && strlen(dir + 4) < STK_LIVE_PATH;
        if (found) {
            memcpy(folder, dir + 4, strlen(dir + 4) + 1);
        }
    }
    stk_free(text);
    return found;
}

static bool folder_of(pid_t pid, char folder[STK_LIVE_PATH])
{
    char path[64], children[CHILDREN_TEXT];
    if (folder_in_environment(pid, folder)) {
        return true;
    }
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    read_file(path, children, sizeof children);
    for (char *at = children, *end; *at; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        if (child > 0 && folder_in_environment((pid_t)child, folder)) {
            return true;
        }
    }
    return false;
}

bool stk_live_is_alive(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    read_file(path, text, sizeof text);
    const char *state = strrchr(text, ')');
    return state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

void stk_live_command(pid_t pid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    size_t n = read_file(path, text, size);
    for (size_t i = 0; i + 1 < n; i++) {
        text[i] = text[i] ? text[i] : ' ';
    }
}

static enum stoker_status find_process(int64_t number, struct stk_live_target *out,
                                       struct stoker_err *err)
{
    if (number < 1 || number > INT32_MAX || !stk_live_is_alive((pid_t)number)) {
        return stk_err_set(err, STOKER_EINPUT, "no process %lld is running", (long long)number);
    }
    out->pid = (pid_t)number;
    struct stat st;
    if (folder_of(out->pid, out->folder) && stat(out->folder, &st) != 0) {
        out->folder[0] = 0; // of another container, or deleted
    }
    stk_live_command(out->pid, out->command, sizeof out->command);
    return STOKER_OK;
}

static bool holds(const char *folder, const char *name)
{
    char path[STK_LIVE_PATH + 32];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &st) == 0;
}

enum stoker_status stk_live_target_find(const char *word, struct stk_live_target *out,
                                        struct stoker_err *err)
{
    struct stat st;
    int64_t number;
    *out = (struct stk_live_target){0};
    if (stk_str_to_i64(stk_str_from(word), &number)) {
        return find_process(number, out, err);
    }
    if (stat(word, &st) != 0) {
        return stk_err_set(err, STOKER_EINPUT, "%s: %s", word, strerror(errno));
    }
    if (!S_ISDIR(st.st_mode) || strlen(word) >= sizeof out->folder) {
        return stk_err_set(err, STOKER_EUSAGE, "%s is neither a process id nor a run's folder",
                           word);
    }
    memcpy(out->folder, word, strlen(word) + 1);
    if (!holds(word, "machine.stk") && !holds(word, "run.json") && !holds(word, "hooks")) {
        return stk_err_set(err, STOKER_EINPUT,
                           "%s is not a folder of `stoker run`: it has neither machine.stk nor "
                           "run.json",
                           word);
    }
    return STOKER_OK;
}
