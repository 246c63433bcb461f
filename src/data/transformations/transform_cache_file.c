// SPDX-License-Identifier: Apache-2.0
// Elements kept in a file (indexed.h): a pass that finds the file reads it and leaves the input
// alone; one that does not writes it beside, and it gets its name when the pass is complete. So
// there is never half a file, and a pass that is given up leaves nothing.
//
// A cache's file says nothing of the pipeline that made it: who changes the pipeline removes the
// file, or names another; other types or shapes are noticed and refused.
//
// snapshot: the same in a directory, which is made, in a file named after the fingerprint of the
// pipeline before it: another pipeline makes another file. It does not see what is in files, nor
// what Python functions do. Its writing is not sharded, and compression is accepted and not used.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "data/cache_file.h"
#include "data/feed.h"
#include "data/fingerprint.h"
#include "data/formats/indexed.h"

#define BLOCK_MAX 1024

struct stk_cache_file {
    struct stk_iter *it;
    char *path;
    struct stk_indexed *from;          // read from; NULL: the input is read
    struct stk_indexed_writer *writer; // written to; NULL: not
    int64_t at;
    bool has_begun, has_failed;
};

enum stk_status stk_cache_file_open(struct stk_cache_file **out, struct stk_iter *it,
                                    const char *path, struct stk_err *err)
{
    struct stk_cache_file *c = stk_alloc_zero(1, sizeof *c);
    *out = c;
    if (!c) {
        return stk_err_nomem(err);
    }
    c->it = it;
    c->path = stk_alloc(strlen(path) + 1);
    if (!c->path) {
        return stk_err_nomem(err);
    }
    memcpy(c->path, path, strlen(path) + 1);
    return STK_OK;
}

void stk_cache_file_close(struct stk_cache_file *c)
{
    if (!c) {
        return;
    }
    struct stk_err ignored;
    if (stk_indexed_finish(c->writer, false, &ignored) != STK_OK) {
        c->has_failed = true; // the pass was given up: nothing was to stay
    }
    stk_indexed_drop(c->from);
    stk_free(c->path);
    stk_free(c);
}

static enum stk_status check_specs(const struct stk_cache_file *c, struct stk_err *err)
{
    const struct stk_specs *have = stk_indexed_specs(c->from), *want = c->it->ds->specs;
    bool fits = have->count == want->count;
    for (int k = 0; fits && k < have->count; k++) {
        fits = have->items[k].dtype == want->items[k].dtype &&
               stk_shape_fits(&want->items[k].shape, &have->items[k].shape);
    }
    return fits ? STK_OK
                : stk_err_set(err, STK_EINVAL,
                              "%s: %s holds elements of another type or shape; remove it or name "
                              "another file",
                              c->it->kind->name, c->path);
}

static enum stk_status begin(struct stk_cache_file *c, struct stk_err *err)
{
    struct stat info;
    enum stk_status s;
    if (stat(c->path, &info) == 0) {
        s = stk_indexed_open(&c->from, c->path, err);
        s = s == STK_OK ? check_specs(c, err) : s;
    } else {
        s = stk_indexed_create(&c->writer, c->path, c->it->ds->specs, err);
    }
    c->has_begun = s == STK_OK;
    if (s != STK_OK) {
        stk_indexed_drop(c->from);
        c->from = NULL;
    }
    return s;
}

static enum stk_status write_next(struct stk_cache_file *c, int64_t want, struct stk_block *out,
                                  struct stk_err *err)
{
    enum stk_status s = stk_iter_next(c->it->in[0], want, out, err);
    if (s != STK_OK) {
        c->has_failed = true;
        return s;
    }
    if (!c->writer) {
        return STK_OK;
    }
    if (out->n > 0) {
        s = stk_indexed_append(c->writer, out, err);
        if (s == STK_OK) {
            return s;
        }
    }
    struct stk_indexed_writer *w = c->writer;
    struct stk_err ignored;
    c->writer = NULL;
    if (s == STK_OK) {
        return stk_indexed_finish(w, !c->has_failed, err);
    }
    // The disk is full, or the like: that is said once, and the elements go on coming.
    stk_block_clear(out);
    (void)!stk_indexed_finish(w, false, &ignored);
    return s;
}

static enum stk_status read_next(struct stk_cache_file *c, int64_t want, struct stk_block *out,
                                 struct stk_err *err)
{
    int64_t index[BLOCK_MAX], left = stk_indexed_count(c->from) - c->at, failed = 0;
    int64_t n = want < left ? want : left;
    struct stk_err why;
    n = n < BLOCK_MAX ? n : BLOCK_MAX;
    if (n <= 0) {
        return STK_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        index[i] = c->at + i;
    }
    enum stk_status s =
        stk_indexed_read(c->from, c->it->run->pool, index, n, out, &failed, &why, err);
    if (s != STK_OK) {
        return s;
    }
    c->at += failed < n ? failed + 1 : n;
    if (failed < n) {
        *err = why;
        return why.code;
    }
    return STK_OK;
}

enum stk_status stk_cache_file_next(struct stk_cache_file *c, int64_t want, struct stk_block *out,
                                    struct stk_err *err)
{
    enum stk_status s = c->has_begun ? STK_OK : begin(c, err);
    if (s != STK_OK) {
        return s;
    }
    return c->from ? read_next(c, want, out, err) : write_next(c, want, out, err);
}

enum stk_status stk_cache_file_skip(struct stk_cache_file *c, int64_t n, int64_t *done,
                                    struct stk_err *err)
{
    struct stk_block block = {0};
    enum stk_status s = c->has_begun ? STK_OK : begin(c, err);
    if (s == STK_OK && c->from) {
        int64_t left = stk_indexed_count(c->from) - c->at;
        *done = n < left ? n : left;
        c->at += *done;
        return STK_OK;
    }
    while (s == STK_OK && *done < n) {
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

struct snapshot {
    struct stk_cache_file *file;
};

static enum stk_status snapshot_open(struct stk_iter *it, struct stk_err *err)
{
    struct snapshot *s = it->state;
    char path[4096];
    const char *dir = stk_attrs_text(it->ds->attrs, "path", "");
    int n = snprintf(path, sizeof path, "%s/%016llx.stkidx", dir,
                     (unsigned long long)stk_dataset_fingerprint(it->ds->in[0]));
    if (!*dir || n < 0 || (size_t)n >= sizeof path) {
        return stk_err_set(err, STK_EINVAL, "snapshot: path is empty or too long");
    }
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        return stk_err_set(err, STK_EOUTPUT, "snapshot: cannot make the directory %s: %s", dir,
                           strerror(errno));
    }
    return stk_cache_file_open(&s->file, it, path, err);
}

static enum stk_status snapshot_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stk_err *err)
{
    return stk_cache_file_next(((struct snapshot *)it->state)->file, want, out, err);
}

static enum stk_status snapshot_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                     struct stk_err *err)
{
    return stk_cache_file_skip(((struct snapshot *)it->state)->file, n, done, err);
}

static void snapshot_close(struct stk_iter *it)
{
    stk_cache_file_close(((struct snapshot *)it->state)->file);
}

static int64_t snapshot_cardinality(const struct stk_dataset *ds)
{
    return stk_dataset_cardinality(ds->in[0]);
}

static const struct stk_arg_row snapshot_args[] = {
    {.name = "path",
     .type = STK_ARG_TEXT,
     .is_required = true,
     .help = "directory of the elements"},
    {.name = "compression", .type = STK_ARG_OTHER, .help = "accepted; files are not compressed"},
    {0}};

const struct stk_dataset_kind stk_dataset_snapshot = {.name = "snapshot",
                                                      .summary = "Elements kept in a directory",
                                                      .args = snapshot_args,
                                                      .n_in_min = 1,
                                                      .n_in_max = 1,
                                                      .infer = stk_dataset_like_input,
                                                      .cardinality = snapshot_cardinality,
                                                      .state_bytes = sizeof(struct snapshot),
                                                      .open = snapshot_open,
                                                      .next = snapshot_next,
                                                      .skip = snapshot_skip,
                                                      .close = snapshot_close};
