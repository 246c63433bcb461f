// SPDX-License-Identifier: Apache-2.0
// Files by the hash of the profiles' paths; see cache.h. A folder is hashed with all its files: a
// new or larger file changes the fingerprint.
//
// XDG_CACHE_HOME may be a place where others can write, and plant or swap folders. "stoker" and
// "view" in it are opened without following links, checked, and from then on used by descriptor
// (/proc/self/fd): later swaps don't matter.
#include "serve/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/remove.h"
#include "base/str.h"

enum { DEPTH_MAX = 8, FILES_MAX = 20000, FINGERPRINT = 96, FOLDERS_MAX = 1000, END_BYTES = 4096 };
enum { PACKED = 8 }; // how much larger profiles are than their compressed files, roughly

struct stk_cache {
    char **paths; // resolved
    size_t count;
    int root, folder; // descriptors; -1: not open. `folder` is for these profiles, in `root`
    char name[17];    // of `folder`
    char fingerprint[FINGERPRINT];
};

// What the fingerprint covers, hashed along the way.
struct summing {
    uint64_t sum, bytes;
    uint32_t files;
    bool failed;
};

static void add_bytes(struct summing *s, const void *p, size_t n)
{
    s->sum = s->sum * UINT64_C(0x9e3779b97f4a7c15) ^ stk_hash_bytes(p, n);
}

static void add_stat(struct summing *s, const char *name, const struct stat *st)
{
    const int64_t facts[] = {st->st_size,         st->st_mtim.tv_sec,   st->st_mtim.tv_nsec,
                             st->st_ctim.tv_sec,  st->st_ctim.tv_nsec,  (int64_t)st->st_ino,
                             (int64_t)st->st_dev, (int64_t)strlen(name)};
    add_bytes(s, name, strlen(name));
    add_bytes(s, facts, sizeof facts);
    s->files++;
    if (S_ISREG(st->st_mode)) {
        struct stk_str text = stk_str_from(name);
        bool is_packed = stk_str_ends(text, STK_STR(".gz")) || stk_str_ends(text, STK_STR(".zst"));
        s->bytes += (uint64_t)st->st_size * (is_packed ? PACKED : 1);
    }
}

// The first and last bytes of a named file: timestamps can be set back.
static void add_ends(struct summing *s, const char *path, off_t size)
{
    char bytes[END_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const off_t from[] = {0, size > END_BYTES ? size - END_BYTES : 0};
    for (int i = 0; i < 2 && !s->failed; i++) {
        ssize_t n = fd >= 0 ? pread(fd, bytes, sizeof bytes, from[i]) : -1;
        s->failed |= n < 0;
        add_bytes(s, bytes, n > 0 ? (size_t)n : 0);
    }
    if (fd >= 0) {
        close(fd);
    }
}

// Entries are in file system order: sums don't depend on it.
static void add_folder(struct summing *s, const char *path, int depth)
{
    DIR *dir = depth < DEPTH_MAX ? opendir(path) : NULL;
    uint64_t all = 0;
    s->failed |= !dir;
    for (const struct dirent *e; dir && !s->failed && (e = readdir(dir)) != NULL;) {
        struct summing one = {.files = s->files};
        struct stat st;
        char inner[PATH_MAX];
        if (e->d_name[0] == '.' ||
            snprintf(inner, sizeof inner, "%s/%s", path, e->d_name) >= (int)sizeof inner ||
            stat(inner, &st) != 0) {
            continue;
        }
        add_stat(&one, e->d_name, &st);
        if (S_ISDIR(st.st_mode)) {
            add_folder(&one, inner, depth + 1);
        }
        all += one.sum;
        s->files = one.files;
        s->bytes += one.bytes;
        s->failed |= one.failed || s->files > FILES_MAX;
    }
    if (dir) {
        closedir(dir);
    }
    add_bytes(s, &all, sizeof all);
}

// bytes: total of all profiles; may be NULL.
static bool take_fingerprint(const struct stk_cache *c, char out[FINGERPRINT], uint64_t *bytes)
{
    struct summing s = {.sum = 1};
    struct stat st;
    if (stat("/proc/self/exe", &st) != 0) {
        return false;
    }
    add_stat(&s, "stoker", &st); // another build may see something else in the same file
    s.bytes = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (stat(c->paths[i], &st) != 0) {
            return false;
        }
        add_stat(&s, c->paths[i], &st);
        if (S_ISDIR(st.st_mode)) {
            add_folder(&s, c->paths[i], 0);
        } else if (S_ISREG(st.st_mode)) {
            add_ends(&s, c->paths[i], st.st_size);
        }
    }
    if (bytes) {
        *bytes = s.bytes;
    }
    snprintf(out, FINGERPRINT, "stoker view 1 %016" PRIx64 " of %u files", s.sum, s.files);
    return !s.failed;
}

// A folder in `above`, created if missing. -1: it can't be opened, isn't this user's, or is
// writable by others.
static int open_own(int above, const char *name)
{
    struct stat st;
    (void)mkdirat(above, name, 0700);
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 022) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

// The user's cache directory, created if missing; -1: unavailable.
static int open_base(void)
{
    char path[PATH_MAX];
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = base && base[0] == '/'   ? snprintf(path, sizeof path, "%s", base)
            : home && home[0] == '/' ? snprintf(path, sizeof path, "%s/.cache", home)
                                     : PATH_MAX;
    if (n >= PATH_MAX) {
        return -1;
    }
    for (char *p = path + 1; *p; p++) {
        if (*p == '/') {
            *p = 0;
            (void)mkdir(path, 0700);
            *p = '/';
        }
    }
    (void)mkdir(path, 0700);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool open_folders(struct stk_cache *c)
{
    int base = open_base(), stoker = base >= 0 ? open_own(base, "stoker") : -1;
    c->root = stoker >= 0 ? open_own(stoker, "view") : -1;
    c->folder = c->root >= 0 ? open_own(c->root, c->name) : -1;
    if (stoker >= 0) {
        close(stoker);
    }
    if (base >= 0) {
        close(base);
    }
    return c->folder >= 0;
}

static bool resolve(struct stk_cache *c, const char *const *paths, size_t count)
{
    uint64_t name = 1;
    c->paths = stk_alloc_zero(count + 1, sizeof *c->paths);
    for (; c->paths && c->count < count; c->count++) {
        char full[PATH_MAX];
        size_t n;
        if (strcmp(paths[c->count], "-") == 0 || !realpath(paths[c->count], full)) {
            return false;
        }
        n = strlen(full) + 1;
        if (!(c->paths[c->count] = stk_alloc(n))) {
            return false;
        }
        memcpy(c->paths[c->count], full, n);
        name = name * UINT64_C(0x9e3779b97f4a7c15) ^ stk_hash_bytes(full, n);
    }
    snprintf(c->name, sizeof c->name, "%016" PRIx64, name);
    return c->paths != NULL;
}

struct stk_cache *stk_cache_open(const char *const *paths, size_t count,
                                 const struct stoker_why_options *reading, uint64_t least)
{
    uint64_t bytes = 0;
    struct stk_cache *c = stk_alloc_zero(1, sizeof *c);
    bool can = c && !reading->redact && !reading->has_steps && !reading->has_rank &&
               !reading->has_device && !reading->has_from && !reading->has_to;
    if (c) {
        c->root = c->folder = -1;
    }
    if (!can || !resolve(c, paths, count) || !take_fingerprint(c, c->fingerprint, &bytes) ||
        bytes < least || !open_folders(c)) {
        stk_cache_free(c);
        return NULL;
    }
    return c;
}

void stk_cache_free(struct stk_cache *c)
{
    if (!c) {
        return;
    }
    for (size_t i = 0; c->paths && i < c->count; i++) {
        stk_free(c->paths[i]);
    }
    if (c->folder >= 0) {
        close(c->folder);
    }
    if (c->root >= 0) {
        close(c->root);
    }
    stk_free(c->paths);
    stk_free(c);
}

bool stk_cache_is_current(const struct stk_cache *c)
{
    char now[FINGERPRINT];
    return c && take_fingerprint(c, now, NULL) && strcmp(now, c->fingerprint) == 0;
}

const char *stk_cache_fingerprint(const struct stk_cache *c)
{
    return c ? c->fingerprint : "";
}

bool stk_cache_path(const struct stk_cache *c, const char *name, struct stk_cache_path *out)
{
    return c && snprintf(out->text, sizeof out->text, "/proc/self/fd/%d/%s", c->folder, name) <
                    (int)sizeof out->text;
}

// The fingerprint's text has spaces: use its hash.
static uint64_t own_name(const struct stk_cache *c)
{
    return stk_hash_bytes(c->fingerprint, strlen(c->fingerprint));
}

bool stk_cache_own_path(const struct stk_cache *c, const char *kind, struct stk_cache_path *out)
{
    char name[64];
    return c &&
           snprintf(name, sizeof name, "%s.%016" PRIx64, kind, own_name(c)) < (int)sizeof name &&
           stk_cache_path(c, name, out);
}

void stk_cache_drop_old(const struct stk_cache *c, const char *kind)
{
    struct stk_cache_path own;
    int fd = stk_cache_own_path(c, kind, &own)
                 ? openat(c->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    size_t n = strlen(kind);
    const char *kept = strrchr(own.text, '/') + 1;
    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        if (strncmp(e->d_name, kind, n) == 0 && e->d_name[n] == '.' &&
            strlen(e->d_name) == n + 17 && strcmp(e->d_name, kept) != 0) {
            (void)stk_remove_file(c->folder, e->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}

// The first line is the fingerprint, the last byte a NUL, which a truncated file lacks.
static bool agrees(const struct stk_cache *c, const struct stk_body *b)
{
    size_t n = strlen(c->fingerprint);
    return b->n > n + 1 && memcmp(b->p, c->fingerprint, n) == 0 && b->p[n] == '\n' &&
           b->p[b->n - 1] == 0;
}

bool stk_cache_read(const struct stk_cache *c, const char *name, struct stk_body *out)
{
    struct stk_cache_path path;
    int fd =
        stk_cache_path(c, name, &path) ? open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stk_body read_here = {.p = NULL};
    char buffer[65536];
    ssize_t n = 0;
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    while (ok && (n = read(fd, buffer, sizeof buffer)) > 0) {
        ok = stk_body_write(&read_here, buffer, (size_t)n) == 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    ok = ok && n == 0 && agrees(c, &read_here);
    if (ok) {
        size_t first = strlen(c->fingerprint) + 1;
        ok = stk_body_write(out, read_here.p + first, read_here.n - 1 - first) == 0;
    }
    stk_body_free(&read_here);
    return ok;
}

static bool put_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, p, n);
        if (done <= 0) {
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

void stk_cache_write(const struct stk_cache *c, const char *name, const struct stk_body *document)
{
    struct stk_atomic_file file;
    struct stk_cache_path path;
    if (!stk_cache_path(c, name, &path) || !stk_cache_is_current(c) ||
        stk_atomic_file_open(&file, path.text) != 0) {
        return;
    }
    bool ok = fchmod(file.fd, 0600) == 0 &&
              put_all(file.fd, c->fingerprint, strlen(c->fingerprint)) &&
              put_all(file.fd, "\n", 1) && put_all(file.fd, document->p, document->n) &&
              put_all(file.fd, "", 1);
    (void)stk_atomic_file_close(&file, ok);
}

// A folder of the cache, with the size of its files.
struct kept_folder {
    char name[32];
    uint64_t bytes;
    int64_t used_s;
};

static bool measure_folder(int root, struct kept_folder *f, bool removes)
{
    int fd = openat(root, f->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct stat st;
    if (!dir) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    f->used_s = fstat(fd, &st) == 0 ? st.st_mtim.tv_sec : 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] != '.' && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            f->bytes += (uint64_t)st.st_size;
            if (removes) {
                (void)stk_remove_file(fd, e->d_name);
            }
        }
    }
    closedir(dir);
    return !removes || stk_remove_folder(root, f->name) == 0;
}

static int compare_used(const void *pa, const void *pb)
{
    const struct kept_folder *a = pa, *b = pb;
    return a->used_s != b->used_s ? (a->used_s < b->used_s ? -1 : 1) : strcmp(a->name, b->name);
}

static void let_go(const struct stk_cache *c, int root, struct kept_folder *all, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += all[i].bytes;
    }
    qsort(all, count, sizeof *all, compare_used);
    for (size_t i = 0; i < count && bytes > STK_CACHE_BYTES; i++) {
        uint64_t held = all[i].bytes;
        if (strcmp(all[i].name, c->name) != 0 && measure_folder(root, &all[i], true)) {
            bytes -= held;
        }
    }
}

void stk_cache_tidy(const struct stk_cache *c)
{
    if (!c) {
        return;
    }
    (void)futimens(c->folder, NULL);
    struct kept_folder *all = stk_alloc_zero(FOLDERS_MAX, sizeof *all);
    int root = openat(c->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // its own open file
                                                                         // description
    DIR *dir = root >= 0 ? fdopendir(root) : NULL;
    size_t count = 0;
    for (const struct dirent *e; all && dir && count < FOLDERS_MAX && (e = readdir(dir)) != NULL;) {
        // only names of the form used here
        if (strlen(e->d_name) == 16 && strspn(e->d_name, "0123456789abcdef") == 16) {
            memcpy(all[count].name, e->d_name, 17); // with its terminator
            count += measure_folder(dirfd(dir), &all[count], false);
        }
    }
    if (all && dir) {
        let_go(c, dirfd(dir), all, count);
    }
    if (dir) {
        closedir(dir);
    } else if (root >= 0) {
        close(root);
    }
    stk_free(all);
}
