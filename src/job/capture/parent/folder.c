// SPDX-License-Identifier: Apache-2.0
// The folder of a run; see folder.h. Its parent folder is opened and checked first, and the new
// folder is made inside that open folder.
#include "job/capture/parent/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/whose.h"

enum { NAMES = 1000 }; // runs that start in the same second
#define MODE 0775      // less the umask; never writable for everyone

char *stk_folder_path(const char *folder, const char *name)
{
    STK_ASSERT(folder && name);
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

// Makes all folders of the path except the last.
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
            if (mkdir(part, MODE) != 0 && errno != EEXIST) {
                return errno;
            }
        }
    }
    return 0;
}

static bool is_empty(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    bool empty = d != NULL;
    const struct dirent *e;
    while (d && (e = readdir(d))) {
        empty = empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
    }
    if (d) {
        closedir(d);
    } else if (copy >= 0) {
        close(copy);
    }
    return empty;
}

// Opens a folder to make others in. Refuses one in which any user could replace them.
static enum stoker_status open_above(const char *path, int *folder, struct stat *info,
                                     struct stoker_err *err)
{
    *folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0 || fstat(*folder, info) != 0) {
        return cannot(path, errno, err);
    }
    if (stk_is_open_to_all(info)) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "%s: every user can write there and replace the recording. Choose "
                           "another folder with --out, or run chmod o-w on it",
                           strcmp(path, ".") == 0 ? "the working directory" : path);
    }
    return STOKER_OK;
}

// Opens the folder of all runs: "stoker-runs" below the working directory.
static enum stoker_status open_usual(const char *usual, int *folder, struct stoker_err *err)
{
    struct stat info, link;
    int here;
    enum stoker_status status = open_above(".", &here, &info, err);
    if (status == STOKER_OK) {
        bool is_made = mkdirat(here, usual, MODE) == 0;
        if (!is_made && errno != EEXIST) {
            status = cannot(usual, errno, err);
        } else {
            status = open_above(usual, folder, &info, err);
        }
        if (status == STOKER_OK && !is_made &&
            (fstatat(here, usual, &link, AT_SYMLINK_NOFOLLOW) != 0 || !stk_is_own(&link) ||
             !stk_is_own(&info))) {
            status = stk_err_set(err, STOKER_EUSAGE,
                                 "%s belongs to another user (number %lld), who could replace the "
                                 "recording. Choose a folder of your own with --out",
                                 usual, (long long)(stk_is_own(&link) ? info.st_uid : link.st_uid));
        }
    }
    if (here >= 0) {
        close(here);
    }
    return status;
}

static enum stoker_status make_by_time(const char *usual, char *name, size_t size,
                                       struct stoker_err *err)
{
    char moment[32];
    time_t now = time(NULL);
    struct tm tm;
    int folder = -1;
    enum stoker_status status = open_usual(usual, &folder, err);
    strftime(moment, sizeof moment, "%Y-%m-%d_%H-%M-%S", localtime_r(&now, &tm));
    int error = EEXIST;
    for (int i = 1; status == STOKER_OK && i < NAMES && error == EEXIST; i++) {
        int n = snprintf(name, size, "%s/%s", usual, moment);
        if (i > 1) {
            snprintf(name + n, size - (size_t)n, "_%d", i);
        }
        error = mkdirat(folder, strchr(name, '/') + 1, MODE) == 0 ? 0 : errno;
    }
    if (folder >= 0) {
        close(folder);
    }
    return status == STOKER_OK && error ? cannot(usual, error, err) : status;
}

// An existing folder may be used if it is empty. In a folder that everyone may write to, it must be
// this user's own: somebody else may have planted it.
static enum stoker_status take_wanted(const char *wanted, const struct stat *above,
                                      struct stoker_err *err)
{
    struct stat info;
    int folder = open(wanted, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum stoker_status status = STOKER_OK;
    if (folder < 0 || fstat(folder, &info) != 0) {
        status = cannot(wanted, errno, err);
    } else if (!stk_is_own(&info) && (above->st_mode & S_IWOTH)) {
        status = stk_err_set(err, STOKER_EUSAGE,
                             "%s belongs to another user (number %lld), who could replace the "
                             "recording. Choose a new folder",
                             wanted, (long long)info.st_uid);
    } else if (stk_is_open_to_all(&info)) {
        status = stk_err_set(err, STOKER_EUSAGE,
                             "%s: every user can write there and replace the recording. Choose "
                             "another folder, or run chmod o-w on it",
                             wanted);
    } else if (!is_empty(folder)) {
        status = stk_err_set(err, STOKER_EUSAGE,
                             "%s already has files, and runs are not mixed. Choose a new folder",
                             wanted);
    }
    if (folder >= 0) {
        close(folder);
    }
    return status;
}

// Splits off the last name of a path. above: the part before it, without slashes at the end, or
// ".".
static void split(const char *path, char *above, size_t size, const char **name)
{
    STK_ASSERT(size > 0);
    size_t start = strlen(path);
    while (start > 1 && path[start - 1] == '/') {
        start--;
    }
    while (start > 0 && path[start - 1] != '/') {
        start--;
    }
    *name = path + start;
    size_t n = start;
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    snprintf(above, size, "%.*s", n ? (int)n : 1, n ? path : ".");
}

static enum stoker_status make_wanted(const char *wanted, struct stoker_err *err)
{
    char above[PATH_MAX];
    const char *name;
    struct stat info;
    int folder = -1, error = strlen(wanted) < sizeof above ? make_above(wanted) : ENAMETOOLONG;
    if (error) {
        return cannot(wanted, error, err);
    }
    split(wanted, above, sizeof above, &name);
    enum stoker_status status = open_above(above, &folder, &info, err);
    if (status == STOKER_OK && mkdirat(folder, *name ? name : ".", MODE) != 0) {
        status = errno == EEXIST ? take_wanted(wanted, &info, err) : cannot(wanted, errno, err);
    }
    if (folder >= 0) {
        close(folder);
    }
    return status;
}

enum stoker_status stk_folder_make(const char *wanted, const char *usual, char **path,
                                   struct stoker_err *err)
{
    char by_time[80];
    enum stoker_status status =
        wanted ? make_wanted(wanted, err) : make_by_time(usual, by_time, sizeof by_time, err);
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

enum stoker_status stk_folder_check(int folder, const char *path, struct stoker_err *err)
{
    STK_ASSERT(folder >= 0 && path);
    struct stat a, b;
    bool is_read = fstat(folder, &a) == 0 && lstat(path, &b) == 0;
    if (!is_read && errno != ENOENT && errno != ENOTDIR) {
        return cannot(path, errno, err);
    }
    if (!is_read || a.st_dev != b.st_dev || a.st_ino != b.st_ino) {
        return stk_err_set(err, STOKER_EOUTPUT,
                           "%s was removed or replaced while the job ran: the recording is lost",
                           path);
    }
    return STOKER_OK;
}
