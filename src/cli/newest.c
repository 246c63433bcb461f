// SPDX-License-Identifier: Apache-2.0
// Searches a folder for what `stoker why` reads, by name: run folders (with a run.json),
// TensorBoard logs and profiles. Keeps the newest. Doesn't follow links, nor enter hidden folders
// and installed packages.
//
// Limits: DEPTH_MOST folders deep, NAMES_MOST names, TIME_MOST_NS; paths longer than a find holds
// are left out. A run folder counts as one find: its contents are not searched.
#include "cli/newest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"

#define DEPTH_MOST 6
#define NAMES_MOST 50000
#define TIME_MOST_NS 1000000000

static const char *const endings[] = {".pt.trace.json",   ".pt.trace.json.gz", ".pt.trace.json.zst",
                                      ".xplane.pb",       ".xplane.pb.gz",     ".nsys-rep",
                                      ".nsys-rep.sqlite", ".sqlite",           ".pftrace",
                                      ".perfetto-trace"};
const char stk_newest_names[] = "run folders, TensorBoard logs, *.pt.trace.json*, *.xplane.pb, "
                                "*.nsys-rep, *.sqlite, *.pftrace";
static const char *const skipped[] = {"node_modules", "site-packages", "dist-packages",
                                      "__pycache__"};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static bool is_profile(const char *name)
{
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_in(name, endings[i])) {
            return true;
        }
    }
    return false;
}

static bool is_entered(const char *name)
{
    for (size_t i = 0; i < sizeof skipped / sizeof skipped[0]; i++) {
        if (strcmp(name, skipped[i]) == 0) {
            return false;
        }
    }
    return name[0] != '.';
}

// Inserts among the newest; ties are sorted by path, so that the result doesn't depend on readdir's
// order.
static void keep(struct stk_newest *s, const char *path, const struct timespec *changed)
{
    int64_t time_ns = (int64_t)changed->tv_sec * 1000000000 + changed->tv_nsec;
    STK_ASSERT(s->count >= 0 && s->count <= STK_NEWEST_KEPT);
    int at = s->count;
    while (at > 0 &&
           (s->found[at - 1].time_ns < time_ns ||
            (s->found[at - 1].time_ns == time_ns && strcmp(s->found[at - 1].path, path) > 0))) {
        at--;
    }
    s->total++;
    if (at == STK_NEWEST_KEPT) {
        return;
    }
    int last = s->count < STK_NEWEST_KEPT ? s->count : STK_NEWEST_KEPT - 1;
    memmove(&s->found[at + 1], &s->found[at], (size_t)(last - at) * sizeof s->found[0]);
    snprintf(s->found[at].path, sizeof s->found[at].path, "%s", path);
    s->found[at].time_ns = time_ns;
    s->count = last + 1;
}

static bool over(struct stk_newest *s, int64_t until_ns)
{
    s->is_partial |= s->scanned >= NAMES_MOST || (s->scanned % 256 == 0 && now_ns() > until_ns);
    return s->is_partial;
}

static void walk(struct stk_newest *s, int fd, char *path, size_t length, int depth,
                 int64_t until_ns);

// Handles one name in a folder: keeps a profile, enters a folder.
static void look(struct stk_newest *s, int fd, char *path, size_t length, const char *name,
                 int depth, int64_t until_ns)
{
    struct stat st;
    int n = snprintf(path + length, STK_NEWEST_PATH - length, "%s%s", length ? "/" : "", name);
    if (n < 0 || (size_t)n >= STK_NEWEST_PATH - length ||
        fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    if (S_ISREG(st.st_mode) && is_profile(name)) {
        keep(s, path, &st.st_mtim);
    } else if (S_ISDIR(st.st_mode) && is_entered(name) && depth < DEPTH_MOST) {
        int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) {
            walk(s, inner, path, length + (size_t)n, depth + 1, until_ns);
        }
    }
}

// Closes fd. `path` has `length` bytes, and room for STK_NEWEST_PATH.
static void walk(struct stk_newest *s, int fd, char *path, size_t length, int depth,
                 int64_t until_ns)
{
    struct stat run;
    if (depth > 0 && fstatat(fd, "run.json", &run, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(run.st_mode)) {
        keep(s, path, &run.st_mtim);
        close(fd);
        return;
    }
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *e; !over(s, until_ns) && (e = readdir(d));) {
        s->scanned++;
        if (e->d_name[0] != '.') {
            look(s, dirfd(d), path, length, e->d_name, depth, until_ns);
            path[length] = 0;
        }
    }
    closedir(d);
}

void stk_newest_below(const char *folder, struct stk_newest *out)
{
    char path[STK_NEWEST_PATH] = "";
    memset(out, 0, sizeof *out);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        walk(out, fd, path, 0, 0, now_ns() + TIME_MOST_NS);
    }
}
