// SPDX-License-Identifier: Apache-2.0
// tfrecord: the records of TFRecord files, one file after the other. Records are views into the
// reader's blocks: nothing is copied.
// A damaged record becomes one error (STOKER_EDAMAGE) at its position. Reading resumes at the next
// record found; damaged compression ends the file.
#include "base/assert.h"
#include "engine/run/iter.h"
#include "engine/sources/files.h"

#define AT_ONCE 1024
#define BLOCK_MAX ((size_t)256 << 10)
#define LARGE_BLOCK_MAX ((size_t)512 << 10)
#define INPUT_MAX ((size_t)1 << 20)
#define GIVEN_MAX ((size_t)1 << 20) // bytes of records returned together, or of a block of them

struct tfrecord {
    struct stk_record_reader *reader; // NULL: the next file must be opened
    int64_t file;                     // the current file, or the next one
    uint64_t number, lost;            // of the next record; damage already reported
    struct stk_record records[AT_ONCE];
    size_t count, used;
    struct stk_buf *block; // holds the records' bytes
    char path[STK_PATH_MAX];
};

static void drop_records(struct tfrecord *t)
{
    stk_buf_drop(t->block);
    t->block = NULL;
    t->count = t->used = 0;
}

static void end_file(struct tfrecord *t)
{
    drop_records(t);
    stk_record_close(t->reader);
    t->reader = NULL;
    t->number = t->lost = 0;
    t->file++;
}

static enum stoker_status open_file(struct stk_iter *it, struct stoker_err *err)
{
    struct tfrecord *t = it->state;
    struct stk_record_opts opts = {.on_damage = STK_RECORD_SKIP};
    opts.block_bytes = (size_t)stk_attrs_int(it->ds->attrs, "buffer_size", 0);
    opts.pool = it->run->pool;
    opts.input_bytes = stk_files_share(it, INPUT_MAX);
    if (!opts.block_bytes) {
        opts.block_bytes = stk_files_share(it, BLOCK_MAX);
        opts.large_block_bytes = stk_files_share(it, LARGE_BLOCK_MAX);
    }
    enum stoker_status s = stk_files_codec(it->ds, &opts.codec, err);
    s = s == STOKER_OK ? stk_files_name(it->ds, t->file, t->path, err) : s;
    s = s == STOKER_OK ? stk_files_look(t->path, err) : s;
    s = s == STOKER_OK ? stk_record_open(&t->reader, t->path, &opts, err) : s;
    if (s != STOKER_OK) {
        t->file++;
    }
    return s;
}

static enum stoker_status damage(const struct tfrecord *t, struct stoker_err *err)
{
    const struct stoker_err *first = stk_record_first_damage(t->reader);
    if (t->lost == 0) {
        return stk_err_set(err, STOKER_EDAMAGE, "%s", first->message);
    }
    return stk_err_set(err, STOKER_EDAMAGE, "%.300s: damaged near record %llu", t->path,
                       (unsigned long long)t->number);
}

// Reads more records. count 0: the file ended.
static enum stoker_status read_more(struct tfrecord *t, int64_t want, struct stoker_err *err)
{
    STK_ASSERT(t->reader && t->used == t->count);
    drop_records(t);
    size_t cap = want < AT_ONCE ? (size_t)want : AT_ONCE;
    enum stoker_status s = stk_record_read(t->reader, t->records, cap, &t->count, &t->block, err);
    return s == STOKER_EINPUT ? stk_err_set(err, STOKER_EDAMAGE, "%s", err->message) : s;
}

// Appends the available records to `out`, which has room for `most`, up to a gap in their numbers;
// *bytes grows by their size.
static enum stoker_status give(struct stk_iter *it, int64_t most, struct stk_block *out,
                               size_t *bytes, struct stoker_err *err)
{
    struct tfrecord *t = it->state;
    struct stk_col *c = &out->cols[0];
    STK_ASSERT(t->used < t->count && t->block && out->n < most);
    struct stk_bytes *to = (struct stk_bytes *)c->data + out->n;
    size_t left = t->count - t->used, capacity = (size_t)(most - out->n),
           n = left < capacity ? left : capacity;
    if (!stk_keep_add(&c->keep, t->block)) {
        return stk_err_set(err, STOKER_ELIMIT, "tfrecord: no memory for %zu records", n);
    }
    for (size_t k = 0; k < n && t->records[t->used].number == t->number; k++) {
        const struct stk_record *r = &t->records[t->used++];
        to[k] = (struct stk_bytes){r->data, r->size};
        *bytes += r->size;
        t->number++;
        out->n++;
    }
    c->n = out->n;
    return STOKER_OK;
}

// Takes blocks until there is enough to return. A failure is reported by the next call, which meets
// it again.
static enum stoker_status give_blocks(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct tfrecord *t = it->state;
    struct stk_shape scalar = {0};
    int64_t most = want < AT_ONCE ? want : AT_ONCE;
    size_t bytes = 0, enough = stk_files_share(it, GIVEN_MAX);
    if (t->records[t->used].number != t->number) { // damage before this record
        t->number = t->records[t->used].number;
        enum stoker_status s = damage(t, err);
        t->lost++;
        return s;
    }
    if (!stk_block_reset(out, 1) ||
        !stk_col_uniform(&out->cols[0], it->run->pool, STK_DT_STRING, &scalar, most)) {
        return stk_err_set(err, STOKER_ELIMIT, "tfrecord: no memory for %lld records",
                           (long long)most);
    }
    enum stoker_status s = give(it, most, out, &bytes, err);
    struct stoker_err later;
    while (s == STOKER_OK && out->n < most && bytes < enough && t->used == t->count) {
        if (read_more(t, most - out->n, &later) != STOKER_OK || t->count == 0 ||
            give(it, most, out, &bytes, &later) != STOKER_OK) {
            break;
        }
    }
    return s;
}

static enum stoker_status tfrecord_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                        struct stoker_err *err)
{
    struct tfrecord *t = it->state;
    while (t->used == t->count) {
        if (!t->reader) {
            if (t->file >= stk_files_count(it->ds)) {
                return STOKER_OK;
            }
            enum stoker_status s = open_file(it, err);
            if (s != STOKER_OK) {
                return s;
            }
        }
        enum stoker_status s = read_more(t, want, err);
        if (s != STOKER_OK) {
            end_file(t);
            return s;
        }
        if (t->count == 0) {
            bool lost_its_end = stk_record_stats_of(t->reader)->lost > t->lost;
            s = lost_its_end ? damage(t, err) : STOKER_OK;
            end_file(t);
            if (s != STOKER_OK) {
                return s;
            }
        }
    }
    return give_blocks(it, want, out, err);
}

static void tfrecord_close(struct stk_iter *it)
{
    struct tfrecord *t = it->state;
    drop_records(t);
    stk_record_close(t->reader);
}

static const struct stk_arg_row tfrecord_args[] = {
    STK_FILES_NAMES_ROW,
    STK_FILES_COMPRESSION_ROW,
    STK_ARG("buffer_size", INT,
            "bytes per read; 0: 256 KiB, 512 KiB for large records, less in a small budget",
            .min = 0, .max = 1 << 30),
    {0}};

const struct stk_dataset_kind stk_dataset_tfrecord = {.name = "tfrecord",
                                                      .summary = "Records of TFRecord files",
                                                      .role = STK_DS_FILES,
                                                      .args = tfrecord_args,
                                                      .infer = stk_files_infer_strings,
                                                      .state_bytes = sizeof(struct tfrecord),
                                                      .next = tfrecord_next,
                                                      .close = tfrecord_close};
