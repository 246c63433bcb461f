// SPDX-License-Identifier: Apache-2.0
// Walk below a directory. Links are followed; a directory is entered once, by device and inode, so
// loops end. Depth and the number of entries are bounded. Hidden directories are not entered. What
// cannot be read becomes an entry that says so.
#include "api/inputs_impl.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

struct stk_input_file *stk_input_add(struct stk_input_scan *s, const char *dir, const char *base,
                                     const char *path)
{
    struct stk_input_file *f = stk_vec_push(&s->files);
    if (f) {
        *f = (struct stk_input_file){
            .path = path, .dir = dir, .base = base, .format = STK_INPUT_NONE, .rank = -1};
    }
    return f;
}

static enum stk_status add_unreadable(struct stk_input_scan *s, const char *path, const char *why,
                                      struct stk_err *err)
{
    struct stk_input_file *f = stk_input_add(s, path, path, path);
    if (!f || !why) {
        return stk_err_nomem(err);
    }
    f->why = why;
    return STK_OK;
}

static int by_name(const void *a, const void *b)
{
    return stk_input_compare(*(const char *const *)a, *(const char *const *)b);
}

// Names in a directory, sorted; hidden ones other than AppleDouble files are left out.
static enum stk_status list_names(struct stk_input_scan *s, DIR *d, struct stk_vec *names,
                                  struct stk_err *err)
{
    struct dirent *e;
    while ((e = readdir(d))) {
        if (e->d_name[0] == '.' && e->d_name[1] != '_') {
            continue;
        }
        if (++s->scanned > STK_INPUTS_SCANNED_MAX) {
            s->limit_reached = true;
            break;
        }
        const char **slot = stk_vec_push(names);
        char *name = slot ? stk_arena_strdup(s->arena, e->d_name) : NULL;
        if (!name) {
            return stk_err_nomem(err);
        }
        *slot = name;
    }
    if (names->count) {
        qsort(names->items, names->count, sizeof(const char *), by_name);
    }
    return STK_OK;
}

static enum stk_status add_file(struct stk_input_scan *s, const char *dir, const char *base,
                                const char *path, const struct stat *info, struct stk_err *err)
{
    const char *why = NULL;
    enum stk_input_format format = stk_input_format(path, base, (int64_t)info->st_size, &why);
    int created = 1;
    if (format < STK_INPUT_FORMATS &&
        !stk_map_put(&s->seen, (uint64_t)info->st_dev, (uint64_t)info->st_ino, 0, &created)) {
        return stk_err_nomem(err);
    }
    if (!created) {
        why = "the same file was met under another name";
    }
    if (format == STK_INPUT_NONE && s->files.count >= STK_INPUTS_LISTED_MAX) {
        s->unlisted++;
        return STK_OK;
    }
    struct stk_input_file *f = stk_input_add(s, dir, base, path);
    if (!f) {
        return stk_err_nomem(err);
    }
    f->format = format;
    f->why = why;
    f->mtime_s = (int64_t)info->st_mtime;
    f->rank = stk_input_rank(f);
    return STK_OK;
}

static enum stk_status scan(struct stk_input_scan *s, const char *path, int depth,
                            struct stk_err *err);

static enum stk_status scan_entry(struct stk_input_scan *s, const char *dir, const char *name,
                                  int depth, struct stk_err *err)
{
    struct stat info;
    size_t n = strlen(dir);
    const char *path =
        stk_arena_printf(s->arena, "%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name);
    if (!path) {
        return stk_err_nomem(err);
    }
    if (stat(path, &info)) {
        return add_unreadable(s, path, stk_arena_strdup(s->arena, strerror(errno)), err);
    }
    if (S_ISREG(info.st_mode)) {
        return add_file(s, dir, name, path, &info, err);
    }
    if (!S_ISDIR(info.st_mode)) {
        return STK_OK;
    }
    int created;
    if (!stk_map_put(&s->seen, (uint64_t)info.st_dev, (uint64_t)info.st_ino, 0, &created)) {
        return stk_err_nomem(err);
    }
    if (!created) {
        return STK_OK; // a loop, or a second way to the same place
    }
    if (depth >= STK_INPUTS_DEPTH_MAX) {
        return add_unreadable(s, path, "too deep below the given directory: name it directly", err);
    }
    return scan(s, path, depth + 1, err);
}

static enum stk_status scan(struct stk_input_scan *s, const char *path, int depth,
                            struct stk_err *err)
{
    DIR *d = opendir(path);
    if (!d) {
        return add_unreadable(s, path, stk_arena_strdup(s->arena, strerror(errno)), err);
    }
    struct stk_vec names;
    stk_vec_init(&names, sizeof(const char *), STK_INPUTS_SCANNED_MAX + 1);
    enum stk_status status = list_names(s, d, &names, err);
    closedir(d); // before going deeper: one open directory at a time
    for (size_t i = 0; status == STK_OK && i < names.count; i++) {
        status = scan_entry(s, path, *(const char **)stk_vec_at(&names, i), depth, err);
    }
    stk_vec_deinit(&names);
    return status;
}

enum stk_status stk_input_scan_dir(struct stk_input_scan *s, const char *path, struct stk_err *err)
{
    struct stat info;
    int created;
    if (stat(path, &info) == 0 &&
        !stk_map_put(&s->seen, (uint64_t)info.st_dev, (uint64_t)info.st_ino, 0, &created)) {
        return stk_err_nomem(err);
    }
    return scan(s, path, 0, err);
}
