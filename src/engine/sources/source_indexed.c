// SPDX-License-Identifier: Apache-2.0
// indexed: elements of files in the engine's own format (engine/formats/indexed.h), one file after
// the other. Any element can be read directly, so shuffling is by position and resuming costs
// nothing. The files are opened when the dataset is made: their elements' specs, which must agree,
// become its specs.
#include "base/alloc.h"
#include "engine/formats/indexed.h"
#include "engine/run/iter.h"
#include "engine/sources/files.h"

#define AT_ONCE 1024
#define FILES_MAX 100000

struct indexed {
    struct stk_indexed **files;
    int64_t count, total, at;
    int64_t *first; // index of each file's first element, then the total
    int64_t ended;  // files already checked again at the end
};

static enum stoker_status open_at(const struct stk_dataset *ds, int64_t i, struct stk_indexed **out,
                                  struct stoker_err *err)
{
    char path[STK_PATH_MAX];
    *out = NULL;
    enum stoker_status s = stk_files_name(ds, i, path, err);
    return s == STOKER_OK ? stk_indexed_open(out, path, err) : s;
}

static enum stoker_status indexed_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    struct stk_indexed *x;
    enum stoker_status s = stk_files_infer(ds, err);
    if (s == STOKER_OK && (stk_files_count(ds) < 1 || stk_files_count(ds) > FILES_MAX)) {
        s = stk_err_set(err, STOKER_EINVAL, "indexed: the names of 1 to %d files must be known",
                        FILES_MAX);
    }
    s = s == STOKER_OK ? open_at(ds, 0, &x, err) : s;
    if (s == STOKER_OK) {
        ds->specs = stk_specs_hold(stk_indexed_specs(x));
        stk_indexed_drop(x);
    }
    return s;
}

static int64_t indexed_cardinality(const struct stk_dataset *ds)
{
    int64_t total = 0;
    for (int64_t i = 0; i < stk_files_count(ds); i++) {
        struct stk_indexed *x;
        struct stoker_err ignored;
        if (open_at(ds, i, &x, &ignored) != STOKER_OK) {
            return STK_CARDINALITY_UNKNOWN;
        }
        total += stk_indexed_count(x);
        stk_indexed_drop(x);
    }
    return total;
}

static bool same_specs(const struct stk_specs *a, const struct stk_specs *b)
{
    bool is_same = a->count == b->count;
    for (int k = 0; is_same && k < a->count; k++) {
        is_same = a->items[k].dtype == b->items[k].dtype &&
                  stk_shape_equal(&a->items[k].shape, &b->items[k].shape);
    }
    return is_same;
}

static enum stoker_status indexed_open(struct stk_iter *it, struct stoker_err *err)
{
    struct indexed *s = it->state;
    s->count = stk_files_count(it->ds);
    s->files = stk_alloc_zero((size_t)s->count, sizeof s->files[0]);
    s->first = stk_alloc_zero((size_t)s->count + 1, sizeof s->first[0]);
    if (!s->files || !s->first) {
        return stk_err_nomem(err);
    }
    for (int64_t i = 0; i < s->count; i++) {
        enum stoker_status status = open_at(it->ds, i, &s->files[i], err);
        if (status != STOKER_OK) {
            return status;
        }
        if (!same_specs(stk_indexed_specs(s->files[i]), it->ds->specs)) {
            return stk_err_set(err, STOKER_EINVAL,
                               "indexed: file %lld has other elements than the first",
                               (long long)i);
        }
        s->total += stk_indexed_count(s->files[i]);
        s->first[i + 1] = s->total;
    }
    return STOKER_OK;
}

static int64_t file_of(const struct indexed *s, int64_t position)
{
    int64_t low = 0, high = s->count - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (s->first[middle] <= position) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// Reads elements that are runs in one file; joins several runs. *done: how many.
static enum stoker_status read_run(struct stk_iter *it, const int64_t *index, int64_t n,
                                   struct stk_block *out, int64_t *done, struct stoker_err *err)
{
    struct indexed *s = it->state;
    int64_t local[AT_ONCE], run = 0, failed;
    int64_t file = file_of(s, index[0]);
    while (run < n && run < AT_ONCE && index[run] >= s->first[file] &&
           index[run] < s->first[file + 1]) {
        local[run] = index[run] - s->first[file];
        run++;
    }
    if (run == 0) {
        *done = 1;
        return stk_err_set(err, STOKER_ERANGE, "indexed: no element %lld", (long long)index[0]);
    }
    struct stoker_err why;
    stk_err_init(&why);
    enum stoker_status status =
        stk_indexed_read(s->files[file], it->run->pool, local, run, out, &failed, &why, err);
    *done = status == STOKER_OK && failed == run ? run : failed + 1;
    if (status == STOKER_OK && failed < run) {
        *err = why;
        status = why.code;
    }
    return status;
}

static enum stoker_status indexed_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                       struct stoker_err *err)
{
    struct indexed *s = it->state;
    int64_t index[AT_ONCE], n = want < AT_ONCE ? want : AT_ONCE, done;
    n = n < s->total - s->at ? n : s->total - s->at;
    for (int64_t k = 0; k < n; k++) {
        index[k] = s->at + k;
    }
    // The last elements may be missing from a truncated file. Report that at the end at the latest.
    for (; n <= 0 && want > 0 && s->ended < s->count; s->ended++) {
        if (stk_indexed_is_torn(s->files[s->ended])) {
            return stk_indexed_torn(s->files[s->ended++], err);
        }
    }
    if (n <= 0) {
        return STOKER_OK;
    }
    enum stoker_status status = read_run(it, index, n, out, &done, err);
    s->at += done;
    return status;
}

static enum stoker_status indexed_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                       struct stoker_err *err)
{
    struct indexed *s = it->state;
    (void)err;
    *done = n < s->total - s->at ? n : s->total - s->at;
    s->at += *done;
    return STOKER_OK;
}

static enum stoker_status indexed_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                     struct stk_block *out, struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    struct stk_block part = {0}, joined = {0};
    for (int64_t done, at = 0; status == STOKER_OK && at < n; at += done) {
        status = read_run(it, index + at, n - at, &part, &done, err);
        if (status != STOKER_OK || at == 0) {
            stk_block_move(out, &part);
            continue;
        }
        const struct stk_block *both[2] = {out, &part};
        if (!stk_block_concat(&joined, it->run->pool, both, 2)) {
            status = stk_err_set(err, STOKER_ELIMIT, "indexed: no memory for %lld elements",
                                 (long long)n);
        }
        stk_block_move(out, &joined);
    }
    stk_block_free(&part);
    stk_block_free(&joined);
    return status;
}

static void indexed_close(struct stk_iter *it)
{
    struct indexed *s = it->state;
    for (int64_t i = 0; s->files && i < s->count; i++) {
        stk_indexed_drop(s->files[i]);
    }
    stk_free(s->files);
    stk_free(s->first);
}

static const struct stk_arg_row indexed_args[] = {STK_FILES_NAMES_ROW, {0}};

const struct stk_dataset_kind stk_dataset_indexed = {.name = "indexed",
                                                     .summary = "Elements of indexed files",
                                                     .role = STK_DS_FILES,
                                                     .args = indexed_args,
                                                     .infer = indexed_infer,
                                                     .cardinality = indexed_cardinality,
                                                     .state_bytes = sizeof(struct indexed),
                                                     .open = indexed_open,
                                                     .next = indexed_next,
                                                     .skip = indexed_skip,
                                                     .at = indexed_at,
                                                     .close = indexed_close};
