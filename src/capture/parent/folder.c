// SPDX-License-Identifier: Apache-2.0
// The folder of a run; see folder.h.
#include "capture/parent/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/parent/hook_files.h"
#include "capture/parent/mark.h"

extern char **environ;

enum { NAMES = 1000 }; // runs that begin in one second

char *stk_folder_path(const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = stk_alloc(n);
    if (path) {
        snprintf(path, n, "%s/%s", folder, name);
    }
    return path;
}

static enum stoker_status cannot(const char *path, int error, struct stoker_err *err)
{
    return stk_err_set(err, stk_err_of_file(error, STOKER_EOUTPUT), "%s: %s", path,
                       strerror(error));
}

// All folders of the path but the last one.
static int make_above(const char *path)
{
    char part[4096];
    size_t n = strlen(path);
    if (n >= sizeof part) {
        return ENAMETOOLONG;
    }
    for (size_t i = 1; i < n; i++) {
        if (path[i] == '/') {
            memcpy(part, path, i);
            part[i] = 0;
            if (mkdir(part, 0777) != 0 && errno != EEXIST) {
                return errno;
            }
        }
    }
    return 0;
}

static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    bool empty = d != NULL;
    struct dirent *e;
    while (d && (e = readdir(d))) {
        empty = empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
    }
    if (d) {
        closedir(d);
    }
    return empty;
}

static enum stoker_status make_wanted(const char *wanted, struct stoker_err *err)
{
    int error = make_above(wanted);
    if (!error && mkdir(wanted, 0777) != 0) {
        error = errno;
    }
    if (error == EEXIST && is_empty(wanted)) {
        return STOKER_OK;
    }
    if (error == EEXIST) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "%s holds files already, and runs are not mixed; name a new folder",
                           wanted);
    }
    return error ? cannot(wanted, error, err) : STOKER_OK;
}

static enum stoker_status make_by_time(char *name, size_t size, struct stoker_err *err)
{
    char moment[32];
    time_t now = time(NULL);
    struct tm tm;
    strftime(moment, sizeof moment, "%Y-%m-%d_%H-%M-%S", localtime_r(&now, &tm));
    int error = mkdir("stoker-runs", 0777) != 0 && errno != EEXIST ? errno : EEXIST;
    for (int i = 1; i < NAMES && error == EEXIST; i++) {
        int n = snprintf(name, size, "stoker-runs/%s", moment);
        if (i > 1) {
            snprintf(name + n, size - (size_t)n, "_%d", i);
        }
        error = mkdir(name, 0777) == 0 ? 0 : errno;
    }
    return error ? cannot("stoker-runs", error, err) : STOKER_OK;
}

enum stoker_status stk_folder_make(const char *wanted, char **path, struct stoker_err *err)
{
    char by_time[80];
    enum stoker_status status =
        wanted ? make_wanted(wanted, err) : make_by_time(by_time, sizeof by_time, err);
    if (status != STOKER_OK) {
        return status;
    }
    char *real = realpath(wanted ? wanted : by_time, NULL);
    if (!real) {
        return cannot(wanted ? wanted : by_time, errno, err);
    }
    *path = stk_alloc(strlen(real) + 1);
    if (*path) {
        memcpy(*path, real, strlen(real) + 1);
    }
    free(real);
    return *path ? STOKER_OK : stk_err_nomem(err);
}

static enum stoker_status put_file(const char *folder, const struct stk_hook_file *f,
                                   struct stoker_err *err)
{
    char *path = stk_folder_path(folder, f->name);
    if (!path) {
        return stk_err_nomem(err);
    }
    int error = 0, fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        error = errno;
    }
    for (const char *p = f->bytes; !error && p < f->end;) {
        ssize_t n = write(fd, p, (size_t)(f->end - p));
        p += n > 0 ? n : 0;
        error = n < 0 && errno != EINTR ? errno : 0;
    }
    if (fd >= 0 && close(fd) != 0 && !error) {
        error = errno;
    }
    enum stoker_status status = error ? cannot(path, error, err) : STOKER_OK;
    stk_free(path);
    return status;
}

enum stoker_status stk_folder_put_hooks(const char *folder, int *mark, struct stoker_err *err)
{
    char *hooks = stk_folder_path(folder, "hooks");
    *mark = -1;
    if (!hooks) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = STOKER_OK;
    if (mkdir(hooks, 0777) != 0) {
        status = cannot(hooks, errno, err);
    } else {
        *mark = stk_mark_put(hooks);
    }
    for (int i = 0; status == STOKER_OK && stk_hook_files[i].name; i++) {
        status = put_file(hooks, &stk_hook_files[i], err);
    }
    stk_free(hooks);
    return status;
}

// The files of one folder, and the folder; not those of folders below. Its mark goes last, so that
// what is left where this is killed is found again.
static void drop_folder(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        if (e->d_name[0] != '.' && strcmp(e->d_name, STK_MARK) != 0) {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d) {
        unlinkat(dirfd(d), STK_MARK, 0);
        closedir(d);
        rmdir(path);
    }
}

void stk_folder_drop_hooks(const char *folder, int mark)
{
    char *hooks = stk_folder_path(folder, "hooks");
    char *compiled = hooks ? stk_folder_path(hooks, "__pycache__") : NULL;
    if (compiled) {
        drop_folder(compiled);
        drop_folder(hooks);
    }
    stk_free(compiled);
    stk_free(hooks);
    stk_mark_release(mark);
}

static bool is_named(const char *variable, const char *name)
{
    size_t n = strlen(name);
    return strncmp(variable, name, n) == 0 && variable[n] == '=';
}

void stk_folder_plan(const struct stk_hook_plan *plan, const char *folder,
                     char to[STK_HOOK_PLAN_MAX])
{
    snprintf(
        to, STK_HOOK_PLAN_MAX,
        "steps=%" PRIu64 " warmup=%" PRIu64 " saves=%d gpu=%d every=%" PRIu64 " input=%s dir=%s",
        plan->steps, plan->warmup, plan->saves, plan->gpu, plan->every_ns, plan->input, folder);
}

// The value of a variable; NULL: it is not set.
static const char *value_in(char *const *env, const char *name)
{
    for (; *env; env++) {
        if (is_named(*env, name)) {
            return *env + strlen(name) + 1;
        }
    }
    return NULL;
}

char **stk_folder_environment(char *const *base, const char *folder, const char *plan)
{
    char *const *from = base ? base : environ;
    const char *python = value_in(from, "PYTHONPATH");
    size_t count = 0;
    while (from[count]) {
        count++;
    }
    // An empty part of PYTHONPATH means the working directory: none is added.
    bool has_more = python && *python;
    size_t path_n = strlen("PYTHONPATH=/hooks:") + strlen(folder) + (has_more ? strlen(python) : 0);
    size_t plan_n = strlen("STOKER_RUN=") + strlen(plan);
    char **env = stk_alloc((count + 3) * sizeof *env + path_n + plan_n + 2);
    if (!env) {
        return NULL;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_named(from[i], "PYTHONPATH") && !is_named(from[i], "STOKER_RUN")) {
            env[kept++] = from[i];
        }
    }
    char *text = (char *)(env + count + 3);
    snprintf(text, path_n + 1, "PYTHONPATH=%s/hooks%s%s", folder, has_more ? ":" : "",
             has_more ? python : "");
    env[kept++] = text;
    snprintf(text + path_n + 1, plan_n + 1, "STOKER_RUN=%s", plan);
    env[kept++] = text + path_n + 1;
    env[kept] = NULL;
    return env;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

void stk_folder_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
