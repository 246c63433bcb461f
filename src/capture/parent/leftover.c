// SPDX-License-Identifier: Apache-2.0
// What killed runs left behind; see leftover.h. Only folders of this user are looked at, and only
// those whose mark says that nobody needs them (mark.h).
#include "capture/parent/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/parent/folder.h"
#include "capture/parent/mark.h"

enum { ENTRIES = 10000 }; // of a folder, that are looked at

enum stoker_status stk_scratch_make(const char *above, struct stk_scratch *to,
                                    struct stoker_err *err)
{
    const char *base = above ? above : getenv("TMPDIR");
    to->mark = -1;
    to->path = stk_folder_path(base && *base ? base : "/tmp", "stoker-XXXXXX");
    if (!to->path) {
        return stk_err_nomem(err);
    }
    if (!mkdtemp(to->path)) {
        int error = errno;
        enum stoker_status status = stk_err_set(err, stk_err_of_file(error, STOKER_EOUTPUT),
                                                "%s: %s", to->path, strerror(error));
        stk_free(to->path);
        to->path = NULL;
        return status;
    }
    to->mark = stk_mark_put(to->path);
    return STOKER_OK;
}

void stk_scratch_remove(struct stk_scratch *s)
{
    if (s->path) {
        stk_folder_remove(s->path);
    }
    stk_mark_release(s->mark);
    stk_free(s->path);
    *s = (struct stk_scratch){NULL, -1};
}

// Profiles that were being written ("process-12.pt.trace.json.part").
static void drop_parts(const char *run)
{
    DIR *d = opendir(run);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        size_t n = strlen(e->d_name);
        if ((strncmp(e->d_name, "process-", 8) == 0 || strncmp(e->d_name, "rank", 4) == 0) &&
            n > 5 && strcmp(e->d_name + n - 5, ".part") == 0) {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d) {
        closedir(d);
    }
}

static bool is_own_folder(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

static void sweep_run(const char *run)
{
    char *hooks = stk_folder_path(run, "hooks");
    int mark = hooks && is_own_folder(run) && is_own_folder(hooks) ? stk_mark_take(hooks, run) : -1;
    if (mark >= 0) {
        drop_parts(run);
        stk_folder_drop_hooks(run, mark);
    }
    stk_free(hooks);
}

static bool is_any(const char *name)
{
    return name[0] != '.';
}

// Runs of a search.
static bool is_trial(const char *name)
{
    return strcmp(name, "capture") == 0 || strncmp(name, "run-", 4) == 0;
}

static bool is_scratch(const char *name)
{
    return strncmp(name, "stoker-", 7) == 0 && strlen(name) == 13;
}

// Hands each folder in `above` that is wanted on.
static void each(const char *above, bool (*wants)(const char *name), void (*see)(const char *path))
{
    DIR *d = opendir(above);
    struct dirent *e;
    for (int i = 0; d && i < ENTRIES && (e = readdir(d)); i++) {
        bool may = (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN) && wants(e->d_name);
        char *path = may ? stk_folder_path(above, e->d_name) : NULL;
        if (path) {
            see(path);
        }
        stk_free(path);
    }
    if (d) {
        closedir(d);
    }
}

static void sweep_run_or_search(const char *path)
{
    char *first = stk_folder_path(path, "capture");
    sweep_run(path);
    if (first && access(first, F_OK) == 0) {
        each(path, is_trial, sweep_run);
    }
    stk_free(first);
}

void stk_leftover_sweep_beside(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    size_t n = slash && slash > folder ? (size_t)(slash - folder) : 1;
    char *above = stk_alloc(n + 1);
    if (above) {
        memcpy(above, slash ? folder : ".", n);
        above[n] = 0;
        each(above, is_any, sweep_run_or_search);
    }
    stk_free(above);
}

static void sweep_scratch(const char *path)
{
    int mark = is_own_folder(path) ? stk_mark_take(path, path) : -1;
    if (mark >= 0) {
        stk_folder_remove(path);
        stk_mark_release(mark);
    }
}

void stk_leftover_sweep_scratch(void)
{
    const char *base = getenv("TMPDIR");
    each("/tmp", is_scratch, sweep_scratch);
    if (base && *base && strcmp(base, "/tmp") != 0) {
        each(base, is_scratch, sweep_scratch);
    }
}
