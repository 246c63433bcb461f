// SPDX-License-Identifier: Apache-2.0
// Keeps elements in a file (indexed.h). A pass that finds the file reads it and leaves the input
// alone. Otherwise the pass writes a temporary file and renames it once complete, so no partial
// file remains if a pass is abandoned. The next pass gives the same elements (see
// transform_cache.c). If the file can't be written, or exists but is unusable, one warning says so;
// the pass reads the input and keeps nothing.
// A cache file doesn't record the pipeline that wrote it. Users who change the pipeline must remove
// the file or choose another name; other types or shapes are detected and refused.
// snapshot: the same, in a directory that is created if missing. The file is named after the
// pipeline's fingerprint, so another pipeline gets another file. The fingerprint doesn't cover what
// files contain or what Python functions do. With compression "GZIP" the file is a packed one
// (packed.h) with its own name. Writing isn't sharded.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "engine/formats/indexed.h"
#include "engine/formats/packed.h"
#include "engine/graph/fingerprint.h"
#include "engine/run/pull.h"
#include "engine/transformations/cache_file.h"

#define BLOCK_MAX 1024

struct stk_cache_file {
    struct stk_iter *it;
    char *path;
    bool makes_folder, is_packed;
    struct stk_indexed *from; // read from here; both NULL: read the input
    struct stk_packed *from_packed;
    struct stk_indexed_writer *writer; // written to; both NULL: nothing
    struct stk_packed_writer *packer;
    int64_t at;
    bool has_begun, has_failed;
};

enum stoker_status stk_cache_file_open(struct stk_cache_file **out, struct stk_iter *it,
                                       const char *path, bool makes_folder, bool is_packed,
                                       struct stoker_err *err)
{
    struct stk_cache_file *c = stk_alloc_zero(1, sizeof *c);
    *out = c;
    if (!c) {
        return stk_err_nomem(err);
    }
    c->it = it;
    c->makes_folder = makes_folder;
    c->is_packed = is_packed;
    c->path = stk_alloc(strlen(path) + 1);
    if (!c->path) {
        return stk_err_nomem(err);
    }
    memcpy(c->path, path, strlen(path) + 1);
    return STOKER_OK;
}

// Ends writing, if any.
static enum stoker_status finish(struct stk_cache_file *c, bool keeps, struct stoker_err *err)
{
    enum stoker_status s = c->is_packed ? stk_packed_finish(c->packer, keeps, err)
                                        : stk_indexed_finish(c->writer, keeps, err);
    c->packer = NULL;
    c->writer = NULL;
    return s;
}

void stk_cache_file_close(struct stk_cache_file *c)
{
    if (!c) {
        return;
    }
    struct stoker_err ignored;
    if (finish(c, false, &ignored) != STOKER_OK) {
        c->has_failed = true; // the pass was abandoned: nothing was to be kept
    }
    stk_packed_close(c->from_packed);
    stk_indexed_drop(c->from);
    stk_free(c->path);
    stk_free(c);
}

static enum stoker_status check_specs(const struct stk_cache_file *c, struct stoker_err *err)
{
    const struct stk_specs *want = c->it->ds->specs;
    const struct stk_specs *have =
        c->is_packed ? stk_packed_specs(c->from_packed) : stk_indexed_specs(c->from);
    bool fits = have->count == want->count;
    for (int k = 0; fits && k < have->count; k++) {
        fits = have->items[k].dtype == want->items[k].dtype &&
               stk_shape_fits(&want->items[k].shape, &have->items[k].shape);
    }
    return fits ? STOKER_OK
                : stk_err_set(err, STOKER_EINVAL,
                              "%s: %s has elements of another type or shape; remove it or name "
                              "another file",
                              c->it->kind->name, c->path);
}

static enum stoker_status make_folder(struct stk_cache_file *c, struct stoker_err *err)
{
    char *end = strrchr(c->path, '/');
    *end = 0;
    int why = mkdir(c->path, 0777) == 0 || errno == EEXIST ? 0 : errno;
    enum stoker_status s = why ? stk_err_set(err, stk_err_of_file(why, STOKER_EOUTPUT),
                                             "%s: cannot make the directory %s: %s",
                                             c->it->kind->name, c->path, strerror(why))
                               : STOKER_OK;
    *end = '/';
    return s;
}

static enum stoker_status begin_writing(struct stk_cache_file *c, struct stoker_err *err)
{
    const struct stk_specs *specs = c->it->ds->specs;
    enum stoker_status s = c->makes_folder ? make_folder(c, err) : STOKER_OK;
    return s != STOKER_OK ? s
           : c->is_packed ? stk_packed_create(&c->packer, c->path, specs, err)
                          : stk_indexed_create(&c->writer, c->path, specs, err);
}

static enum stoker_status begin(struct stk_cache_file *c, struct stoker_err *err)
{
    struct stat info;
    enum stoker_status s;
    if (stat(c->path, &info) == 0) {
        s = c->is_packed ? stk_packed_open(&c->from_packed, c->path, c->it->run->pool, err)
                         : stk_indexed_open(&c->from, c->path, err);
        s = s == STOKER_OK ? check_specs(c, err) : s;
    } else {
        s = begin_writing(c, err);
    }
    c->has_begun = s != STOKER_ENOMEM && s != STOKER_EINTR;
    if (s != STOKER_OK) {
        c->has_failed = true;
        if (stk_status_is_of_element(s) &&
            c->it->run->options.on_error == STK_ON_ERROR_SKIP) { // none was skipped
            s = err->code = STOKER_EOUTPUT;
        }
        stk_packed_close(c->from_packed);
        stk_indexed_drop(c->from);
        c->from_packed = NULL;
        c->from = NULL;
    }
    return s;
}

static enum stoker_status write_next(struct stk_cache_file *c, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    enum stoker_status s = stk_iter_next(c->it->in[0], want, out, err);
    if (s != STOKER_OK) {
        c->has_failed = true;
        return s;
    }
    if (!c->writer && !c->packer) {
        return STOKER_OK;
    }
    if (out->n > 0) {
        s = c->is_packed ? stk_packed_append(c->packer, out, err)
                         : stk_indexed_append(c->writer, out, err);
        if (s == STOKER_OK) {
            return s;
        }
    }
    struct stoker_err ignored;
    if (s == STOKER_OK) {
        return finish(c, !c->has_failed, err);
    }
    // Disk full or similar: reported once, after the elements that couldn't be kept; those are
    // valid, and more follow.
    (void)!finish(c, false, &ignored);
    return s;
}

static enum stoker_status read_next(struct stk_cache_file *c, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    int64_t index[BLOCK_MAX], left = stk_indexed_count(c->from) - c->at, failed = 0;
    int64_t n = want < left ? want : left;
    struct stoker_err why;
    n = n < BLOCK_MAX ? n : BLOCK_MAX;
    if (n <= 0) {
        return STOKER_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        index[i] = c->at + i;
    }
    enum stoker_status s =
        stk_indexed_read(c->from, c->it->run->pool, index, n, out, &failed, &why, err);
    if (s != STOKER_OK) {
        return s;
    }
    c->at += failed < n ? failed + 1 : n;
    if (failed < n) {
        *err = why;
        return why.code;
    }
    return STOKER_OK;
}

enum stoker_status stk_cache_file_next(struct stk_cache_file *c, int64_t want,
                                       struct stk_block *out, struct stoker_err *err)
{
    enum stoker_status s = c->has_begun ? STOKER_OK : begin(c, err);
    if (s != STOKER_OK) {
        return s;
    }
    return c->from_packed ? stk_packed_read(c->from_packed, want, out, err)
           : c->from      ? read_next(c, want, out, err)
                          : write_next(c, want, out, err);
}

enum stoker_status stk_cache_file_skip(struct stk_cache_file *c, int64_t n, int64_t *done,
                                       struct stoker_err *err)
{
    struct stk_block block = {0};
    enum stoker_status s = c->has_begun ? STOKER_OK : begin(c, err);
    if (s == STOKER_OK && c->from_packed) {
        return stk_packed_skip(c->from_packed, n, done, err);
    }
    if (s == STOKER_OK && c->from) {
        int64_t left = stk_indexed_count(c->from) - c->at;
        *done = n < left ? n : left;
        c->at += *done;
        return STOKER_OK;
    }
    while (s == STOKER_OK && *done < n) {
        int64_t want = n - *done < BLOCK_MAX ? n - *done : BLOCK_MAX;
        stk_block_clear(&block);
        s = write_next(c, want, &block, err);
        *done += block.n;
        if (block.n == 0) {
            break;
        }
    }
    stk_block_free(&block);
    return s;
}

static const char *compression_of(const struct stk_dataset *ds)
{
    return stk_attrs_text(ds->attrs, "compression", "AUTO");
}

static enum stoker_status snapshot_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    static const char *const known[] = {"AUTO", "GZIP", "NONE", ""};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(compression_of(ds), known[i]) == 0) {
            return stk_dataset_like_input(ds, err);
        }
    }
    return stk_err_set(err, STOKER_EINVAL,
                       "snapshot: compression is GZIP, NONE or AUTO (which does not compress), "
                       "not %s",
                       compression_of(ds));
}

struct snapshot {
    struct stk_cache_file *file;
};

static enum stoker_status snapshot_open(struct stk_iter *it, struct stoker_err *err)
{
    struct snapshot *s = it->state;
    char path[4096];
    const char *dir = stk_attrs_text(it->ds->attrs, "path", "");
    bool is_packed = strcmp(compression_of(it->ds), "GZIP") == 0;
    int n = snprintf(path, sizeof path, "%s/%016llx.%s", dir,
                     (unsigned long long)stk_dataset_fingerprint(it->ds->in[0]),
                     is_packed ? "stkpack.gz" : "stkidx");
    if (!*dir || n < 0 || (size_t)n >= sizeof path) {
        return stk_err_set(err, STOKER_EINVAL, "snapshot: path is empty or too long");
    }
    return stk_cache_file_open(&s->file, it, path, true, is_packed, err);
}

static enum stoker_status snapshot_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                        struct stoker_err *err)
{
    return stk_cache_file_next(((struct snapshot *)it->state)->file, want, out, err);
}

static enum stoker_status snapshot_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                        struct stoker_err *err)
{
    return stk_cache_file_skip(((struct snapshot *)it->state)->file, n, done, err);
}

static void snapshot_close(struct stk_iter *it)
{
    stk_cache_file_close(((struct snapshot *)it->state)->file);
}

static const struct stk_arg_row snapshot_args[] = {
    STK_ARG("path", TEXT, "directory for the elements", .is_required = true),
    STK_ARG("compression", TEXT, "GZIP, NONE or AUTO (same as NONE)"),
    {0}};

const struct stk_dataset_kind stk_dataset_snapshot = {.name = "snapshot",
                                                      .summary = "Caches elements in a directory",
                                                      .role = STK_DS_STORE,
                                                      .args = snapshot_args,
                                                      .infer = snapshot_infer,
                                                      .cardinality = stk_dataset_as_many,
                                                      .state_bytes = sizeof(struct snapshot),
                                                      .open = snapshot_open,
                                                      .next = snapshot_next,
                                                      .skip = snapshot_skip,
                                                      .close = snapshot_close};
