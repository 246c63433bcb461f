// SPDX-License-Identifier: Apache-2.0
// Files of killed runs; see leftover.h. Only this user's folders are considered, and only
// those whose mark shows that nobody needs them (mark.h). Each is opened inside its parent
// folder, and files are removed through that descriptor.
#include "job/capture/parent/leftover.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/remove.h"
#include "job/capture/parent/hooks.h"
#include "job/capture/parent/mark.h"
#include "job/capture/parent/own_folder.h"

// Profiles that were being written ("process-12.pt.trace.json.part").
static bool is_part(const char *name)
{
    size_t n = strlen(name);
    return (strncmp(name, "process-", 8) == 0 || strncmp(name, "rank", 4) == 0) && n > 5 &&
           strcmp(name + n - 5, ".part") == 0;
}

static bool is_run(const char *name)
{
    return name[0] != '.';
}

// Names of runs of a search.
static bool is_trial(const char *name)
{
    return strcmp(name, "capture") == 0 || strncmp(name, "run-", 4) == 0;
}

static void drop_part(int run, const char *name, const char *path)
{
    (void)path;
    (void)stk_remove_file(run, name);
}

static bool sweep_run(int run, const char *path)
{
    bool was_dead = stk_hooks_sweep(run, path);
    if (was_dead) {
        stk_each_name(run, path, is_part, drop_part);
    }
    return was_dead;
}

// A trial has its own mark, for the time after its hooks are removed. Hooks that are still there
// are needed, unless their folder is empty: stoker was killed between removing their mark and it.
static bool is_dead_trial(int trial, const char *path)
{
    struct stat info;
    if (sweep_run(trial, path)) {
        return true;
    }
    int mark = stk_mark_take(trial, path);
    bool has_hooks = mark >= 0 && fstatat(trial, "hooks", &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                     stk_remove_folder(trial, "hooks") != 0;
    stk_mark_release(mark);
    return mark >= 0 && !has_hooks;
}

// Trials belong to stoker, except the one whose profile the search keeps.
static void sweep_trial(int search, const char *name, const char *path)
{
    int trial = stk_own_folder(search, name);
    if (trial >= 0) {
        if (is_dead_trial(trial, path) && strcmp(name, "capture") != 0) {
            (void)stk_remove_contents(trial, STK_MARK);
            (void)stk_remove_folder(search, name);
        }
        close(trial);
    }
}

static void sweep_run_or_search(int above, const char *name, const char *path)
{
    struct stat info;
    int run = stk_own_folder(above, name);
    if (run >= 0) {
        (void)sweep_run(run, path);
        if (fstatat(run, "capture", &info, AT_SYMLINK_NOFOLLOW) == 0) {
            stk_each_name(run, path, is_trial, sweep_trial);
        }
        close(run);
    }
}

void stk_leftover_sweep_beside(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    size_t n = slash && slash > folder ? (size_t)(slash - folder) : 1;
    char *path = stk_alloc(n + 1);
    if (!path) {
        return;
    }
    memcpy(path, slash ? folder : ".", n);
    path[n] = 0;
    int above = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above >= 0) {
        stk_each_name(above, path, is_run, sweep_run_or_search);
        close(above);
    }
    stk_free(path);
}
