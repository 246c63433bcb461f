// SPDX-License-Identifier: Apache-2.0
// Walks a directory tree. Follows links; enters each directory once, by device and inode, so loops
// end. Depth and the number of entries are limited. Skips hidden directories. Unreadable ones
// become entries that say so. A file is a profile if its name fits a reader's row, and its first
// bytes too if the row says that the name isn't enough.
#include "api/inputs_impl.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/sort.h"

struct stk_input_file *stk_input_add(struct stk_input_scan *s, const char *dir, const char *base,
                                     const char *path)
{
    struct stk_input_file *f = stk_vec_push(&s->files);
    if (f) {
        *f = (struct stk_input_file){
            .path = path, .dir = dir, .base = base, .is = STK_INPUT_IS_OTHER, .rank = -1};
    }
    return f;
}

static enum stoker_status add_unreadable(struct stk_input_scan *s, const char *path,
                                         const char *why, struct stoker_err *err)
{
    struct stk_input_file *f = stk_input_add(s, path, path, path);
    if (!f || !why) {
        return stk_err_nomem(err);
    }
    f->why = why;
    return STOKER_OK;
}

static int by_name(const void *a, const void *b)
{
    return stk_input_compare(*(const char *const *)a, *(const char *const *)b);
}

// Sorted names in a directory; without hidden ones other than AppleDouble files.
static enum stoker_status list_names(struct stk_input_scan *s, DIR *d, struct stk_vec *names,
                                     struct stoker_err *err)
{
    struct dirent *e;
    for (errno = 0; (e = readdir(d)); errno = 0) {
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
    if (!e && errno) {
        return stk_err_set(err, STOKER_EINPUT, "a folder can't be listed: %s", strerror(errno));
    }
    stk_sort(names->items, names->count, sizeof(const char *), by_name);
    return STOKER_OK;
}

// Is the reader certain of the file's first bytes? If not, *why says what the file is, or that it
// can't be read.
static bool content_fits(const struct stk_reader *r, const char *path, const char **why)
{
    struct stk_stream *stream = NULL;
    struct stk_stream_opts opts = {.seekable = 0};
    enum stoker_status status = stk_stream_open(&stream, path, &opts, NULL);
    if (status == STOKER_ENOMEM) {
        return true; // reading will report it
    }
    if (status != STOKER_OK) {
        *why = "can't be read";
        return false;
    }
    const uint8_t *head;
    size_t n = stk_stream_peek(stream, &head);
    const char *known = NULL;
    bool fits = n && r->sniff(head, n, &known) == 2;
    stk_stream_close(stream);
    if (!fits) {
        *why = known ? known : r->mistaken;
    }
    return fits;
}

// The reader whose row fits the file; NULL and *why if none does.
static const struct stk_reader *reader_of(const char *path, const char *base, const char **why)
{
    const char *first_why = NULL;
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader_suffix *suffix = stk_reader_suffix_of(stk_readers[i], base);
        if (suffix && (suffix->suffices || content_fits(stk_readers[i], path, why))) {
            return stk_readers[i];
        }
        first_why = first_why ? first_why : *why;
    }
    *why = first_why ? first_why : "not a profile by its name";
    return NULL;
}

// Sets in `f` what the file is and, if it isn't a profile, why.
static enum stoker_status recognise(struct stk_input_scan *s, struct stk_input_file *f,
                                    int64_t size_bytes, struct stoker_err *err)
{
    const struct stk_reader_stranger *stranger = stk_reader_stranger_of(f->base);
    if (strncmp(f->base, "._", 2) == 0) {
        f->why = "an AppleDouble file: macOS attributes, not a profile";
    } else if (f->base[0] == '.') {
        f->why = "a hidden file";
    } else if (stranger && stranger->export_command) {
        f->is = STK_INPUT_IS_EXPORTABLE;
        f->stranger = stranger;
        f->why = stk_input_export_text(s->arena, stranger);
        return f->why ? STOKER_OK : stk_err_nomem(err);
    } else if (stranger) {
        f->why = stranger->text;
    } else if (size_bytes == 0) {
        f->why = "empty";
    } else if ((f->reader = reader_of(f->path, f->base, &f->why))) {
        f->is = STK_INPUT_IS_PROFILE;
        f->why = NULL;
    }
    return STOKER_OK;
}

static enum stoker_status add_file(struct stk_input_scan *s, const char *dir, const char *base,
                                   const char *path, const struct stat *info,
                                   struct stoker_err *err)
{
    struct stk_input_file found = {
        .path = path, .dir = dir, .base = base, .is = STK_INPUT_IS_OTHER, .rank = -1};
    enum stoker_status status = recognise(s, &found, (int64_t)info->st_size, err);
    if (status != STOKER_OK) {
        return status;
    }
    int created = 1;
    if (found.is == STK_INPUT_IS_PROFILE &&
        !stk_map_put(&s->seen, (uint64_t)info->st_dev, (uint64_t)info->st_ino, 0, &created)) {
        return stk_err_nomem(err);
    }
    if (!created) {
        found.why = "the same file under another name";
    }
    if (found.is == STK_INPUT_IS_OTHER && s->files.count >= STK_INPUTS_LISTED_MAX) {
        s->unlisted++;
        return STOKER_OK;
    }
    struct stk_input_file *f = stk_input_add(s, dir, base, path);
    if (!f) {
        return stk_err_nomem(err);
    }
    *f = found;
    f->mtime_s = (int64_t)info->st_mtime;
    f->rank = stk_input_rank(f);
    return STOKER_OK;
}

static enum stoker_status scan(struct stk_input_scan *s, const char *path, int depth,
                               struct stoker_err *err);

static enum stoker_status scan_entry(struct stk_input_scan *s, const char *dir, const char *name,
                                     int depth, struct stoker_err *err)
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
    if (S_ISREG(info.st_mode) && stk_atomic_file_is_open(path)) {
        return STOKER_OK; // it doesn't exist yet
    }
    if (S_ISREG(info.st_mode)) {
        return add_file(s, dir, name, path, &info, err);
    }
    if (!S_ISDIR(info.st_mode)) {
        return STOKER_OK;
    }
    int created;
    if (!stk_map_put(&s->seen, (uint64_t)info.st_dev, (uint64_t)info.st_ino, 0, &created)) {
        return stk_err_nomem(err);
    }
    if (!created) {
        return STOKER_OK; // a loop, or a second path to the same place
    }
    if (depth >= STK_INPUTS_DEPTH_MAX) {
        return add_unreadable(s, path, "too deep in the given directory: name it directly", err);
    }
    return scan(s, path, depth + 1, err);
}

static enum stoker_status scan(struct stk_input_scan *s, const char *path, int depth,
                               struct stoker_err *err)
{
    DIR *d = opendir(path);
    if (!d) {
        return add_unreadable(s, path, stk_arena_strdup(s->arena, strerror(errno)), err);
    }
    struct stk_vec names;
    stk_vec_init(&names, sizeof(const char *), STK_INPUTS_SCANNED_MAX + 1);
    enum stoker_status status = list_names(s, d, &names, err);
    closedir(d); // before descending: one open directory at a time
    for (size_t i = 0; status == STOKER_OK && i < names.count; i++) {
        status = scan_entry(s, path, *(const char **)stk_vec_at(&names, i), depth, err);
    }
    stk_vec_deinit(&names);
    return status;
}

enum stoker_status stk_input_scan_dir(struct stk_input_scan *s, const char *path,
                                      struct stoker_err *err)
{
    struct stat info;
    int created;
    if (stat(path, &info) == 0 &&
        !stk_map_put(&s->seen, (uint64_t)info.st_dev, (uint64_t)info.st_ino, 0, &created)) {
        return stk_err_nomem(err);
    }
    return scan(s, path, 0, err);
}
