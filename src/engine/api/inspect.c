// SPDX-License-Identifier: Apache-2.0
// Describes a file of training data: TFRecords with the features of their Examples, and indexed
// files. The checksum of the first header shows whether a TFRecord file is plain, gzip or zlib.
// Every record is read once; features come from the first thousand records.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/stream.h"
#include "base/vec.h"
#include "base/crc32c.h"
#include "engine/formats/example_impl.h"
#include "engine/formats/indexed.h"
#include "engine/formats/record.h"

#define EXAMPLES_LOOKED_AT 1000
#define FEATURES_MAX 4096
#define NAME_MAX_BYTES 256
#define AT_ONCE 256

struct stoker_inspection {
    struct stoker_data_summary summary;
    struct stk_vec features; // struct stoker_data_feature, names owned
    struct stk_specs *specs; // of an indexed file
};

// The next field: its number, and its bytes if it is of that kind; others are passed over (NULL).
static bool field(struct stk_example_span *c, uint64_t *number, struct stk_example_span *bytes)
{
    uint64_t tag, n;
    *bytes = (struct stk_example_span){NULL, NULL};
    if (!stk_example_varint(c, &tag)) {
        return false;
    }
    *number = tag >> 3;
    switch (tag & 7) {
    case 0:
        return stk_example_varint(c, &n);
    case 1:
        n = 8;
        break;
    case 5:
        n = 4;
        break;
    case 2:
        if (!stk_example_varint(c, &n) || n > (uint64_t)(c->end - c->p)) {
            return false;
        }
        *bytes = (struct stk_example_span){c->p, c->p + n};
        break;
    default:
        return false;
    }
    if (n > (uint64_t)(c->end - c->p)) {
        return false;
    }
    c->p += n;
    return true;
}

// Values of a list: of packed numbers their count, of others one for each field.
static uint64_t count_values(struct stk_example_span list, int type)
{
    uint64_t count = 0, number;
    struct stk_example_span bytes;
    while (list.p < list.end && field(&list, &number, &bytes)) {
        size_t n = (size_t)(bytes.end - bytes.p);
        if (type == STOKER_FEATURE_BYTES || !bytes.p) { // one, or a number that is not packed
            count++;
        } else if (type == STOKER_FEATURE_FLOAT) {
            count += n / 4;
        } else {
            for (size_t k = 0; k < n; k++) {
                count += bytes.p[k] < 128;
            }
        }
    }
    return count;
}

static struct stoker_data_feature *feature_of(struct stoker_inspection *x,
                                              struct stk_example_span name)
{
    size_t n =
        (size_t)(name.end - name.p) < NAME_MAX_BYTES ? (size_t)(name.end - name.p) : NAME_MAX_BYTES;
    for (size_t i = 0; i < x->features.count; i++) {
        struct stoker_data_feature *f = stk_vec_at(&x->features, i);
        if (strlen(f->name) == n && memcmp(f->name, name.p, n) == 0) {
            return f;
        }
    }
    struct stoker_data_feature *f = stk_vec_push(&x->features);
    char *copy = f ? stk_alloc(n + 1) : NULL;
    if (!copy) {
        x->features.count -= f != NULL;
        return NULL;
    }
    memcpy(copy, name.p, n);
    copy[n] = 0;
    *f = (struct stoker_data_feature){.name = copy, .values_min = UINT64_MAX};
    return f;
}

static void look_at_feature(struct stoker_inspection *x, struct stk_example_span entry)
{
    struct stk_example_span name = {NULL, NULL}, value = {NULL, NULL}, bytes, list;
    uint64_t number;
    while (entry.p < entry.end && field(&entry, &number, &bytes)) {
        name = number == 1 ? bytes : name;
        value = number == 2 ? bytes : value;
    }
    struct stoker_data_feature *f = name.p ? feature_of(x, name) : NULL;
    while (f && value.p < value.end && field(&value, &number, &list)) {
        if (number < STOKER_FEATURE_BYTES || number > STOKER_FEATURE_INT64) {
            continue;
        }
        uint64_t count = count_values(list, (int)number);
        f->is_mixed = f->is_mixed || (f->type && f->type != (int)number);
        f->type = (int)number;
        f->records++;
        f->values_min = count < f->values_min ? count : f->values_min;
        f->values_max = count > f->values_max ? count : f->values_max;
    }
}

// True if the record is an Example: a message of one field, the features.
static bool look_at_example(struct stoker_inspection *x, const struct stk_record *r)
{
    struct stk_example_span c = {r->data, r->data + r->size}, features, entry;
    uint64_t number;
    bool is_example = false;
    while (c.p < c.end) {
        if (!field(&c, &number, &features) || number != 1) {
            return false;
        }
        while (features.p < features.end) {
            if (!field(&features, &number, &entry) || number != 1) {
                return false;
            }
            look_at_feature(x, entry);
            is_example = true;
        }
    }
    return is_example;
}

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

// Does a record begin here, by the checksum of its length?
static bool begins_record(const uint8_t *p, size_t n)
{
    return n >= 12 && stk_crc32c_mask(stk_crc32c(0, p, 8)) == le32(p + 8);
}

// Opens the file as each codec until the first header is good. *found: one fits. An error is one of
// the system, not of what the file holds.
static enum stoker_status find_codec(const char *path, enum stk_record_codec *codec, bool *found,
                                     struct stoker_err *err)
{
    static const enum stk_stream_codec streams[] = {STK_CODEC_PLAIN, STK_CODEC_GZIP,
                                                    STK_CODEC_ZLIB};
    for (int k = 0; k < 3; k++) {
        struct stk_stream_opts how = {.codec_given = 1, .codec = streams[k]};
        struct stk_stream *s;
        struct stoker_err why;
        const uint8_t *head;
        stk_err_init(&why);
        enum stoker_status status = stk_stream_open(&s, path, &how, &why);
        if (k > 0 && (status == STOKER_EINPUT || status == STOKER_EDAMAGE)) {
            continue; // it is not compressed so; plain bytes can't be wrong
        }
        if (status != STOKER_OK) {
            *err = why;
            return status;
        }
        size_t n = stk_stream_peek(s, &head);
        bool fits = begins_record(head, n);
        stk_stream_close(s);
        if (fits) {
            *codec = (enum stk_record_codec)k;
            *found = true;
            return STOKER_OK;
        }
    }
    return STOKER_OK;
}

static void add_record(struct stoker_data_summary *s, const struct stk_record *r)
{
    s->records++;
    s->bytes += r->size;
    s->record_min = r->size < s->record_min ? r->size : s->record_min;
    s->record_max = r->size > s->record_max ? r->size : s->record_max;
}

static enum stoker_status inspect_records(struct stoker_inspection *x, const char *path,
                                          enum stk_record_codec codec,
                                          int (*progress)(void *arg, uint64_t records), void *arg,
                                          struct stoker_err *err)
{
    static const char *const names[] = {"", "GZIP", "ZLIB"};
    struct stk_record_opts opts = {.codec = codec, .on_damage = STK_RECORD_SKIP};
    struct stk_record_reader *reader;
    struct stk_record records[AT_ONCE];
    struct stk_buf *block;
    size_t n;
    x->summary.format = "tfrecord";
    x->summary.compression = names[codec];
    x->summary.record_min = UINT64_MAX;
    enum stoker_status s = stk_record_open(&reader, path, &opts, err);
    while (s == STOKER_OK) {
        s = stk_record_read(reader, records, AT_ONCE, &n, &block, err);
        if (s != STOKER_OK || n == 0) {
            break;
        }
        for (size_t k = 0; k < n; k++) {
            add_record(&x->summary, &records[k]);
            if (x->summary.records <= EXAMPLES_LOOKED_AT) {
                x->summary.examples += look_at_example(x, &records[k]);
            }
        }
        stk_buf_drop(block);
        if (progress && progress(arg, x->summary.records)) {
            s = stk_err_set(err, STOKER_EINTR, "interrupted");
        }
    }
    if (s == STOKER_OK) {
        x->summary.damaged = stk_record_stats_of(reader)->lost;
        const struct stoker_err *first = stk_record_first_damage(reader);
        snprintf(x->summary.first_damage, sizeof x->summary.first_damage, "%s",
                 x->summary.damaged ? first->message : "");
    }
    stk_record_close(reader);
    return s;
}

static enum stoker_status inspect_indexed(struct stoker_inspection *x, struct stk_indexed *file)
{
    x->summary.format = "indexed";
    x->summary.compression = "";
    x->summary.records = (uint64_t)stk_indexed_count(file);
    x->specs = stk_specs_hold(stk_indexed_specs(file));
    return STOKER_OK;
}

// Files are opened more than once and indexed ones are mapped, which pipes and devices cannot be.
static enum stoker_status check_file(const char *path, struct stoker_err *err)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return stk_err_set(err, errno == ENOENT ? STOKER_EMISSING : STOKER_EINPUT, "%s: %s",
                           *path ? path : "''", strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return stk_err_set(err, STOKER_EINPUT, "%s is a directory: name the files in it", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return stk_err_set(err, STOKER_EINPUT, "%s is a pipe or device, not a file", path);
    }
    if (info.st_size == 0) {
        return stk_err_set(err, STOKER_EINPUT, "%s is empty: it has no records", path);
    }
    return STOKER_OK;
}

enum stoker_status stoker_inspect(const char *path, int (*progress)(void *arg, uint64_t records),
                                  void *arg, struct stoker_inspection **out, struct stoker_err *err)
{
    struct stoker_err own;
    struct stk_indexed *file = NULL;
    enum stk_record_codec codec = STK_RECORD_PLAIN;
    bool is_records = false;
    err = stk_err_begin(err, &own);
    if (!path || !out) {
        return stk_err_misuse(err, "stoker_inspect needs a path and a pointer for the result");
    }
    *out = NULL;
    struct stoker_inspection *x = stk_alloc_zero(1, sizeof *x);
    if (!x) {
        return stk_err_nomem(err);
    }
    stk_vec_init(&x->features, sizeof(struct stoker_data_feature), FEATURES_MAX);
    enum stoker_status s = check_file(path, err);
    if (s == STOKER_OK) {
        s = stk_indexed_open(&file, path, err);
    }
    if (s != STOKER_OK && s != STOKER_EMISSING && s != STOKER_EINPUT && s != STOKER_ENOMEM) {
        struct stoker_err why;
        enum stoker_status other = find_codec(path, &codec, &is_records, &why);
        if (other != STOKER_OK) {
            s = other;
            *err = why;
        }
    }
    if (file) {
        s = inspect_indexed(x, file);
        stk_indexed_drop(file);
    } else if (is_records) {
        stk_err_init(err);
        s = inspect_records(x, path, codec, progress, arg, err);
    } else if (s == STOKER_EDAMAGE && strstr(err->message, "not an indexed file")) {
        s = stk_err_set(err, STOKER_EINPUT,
                        "%s: neither TFRecords (plain, GZIP or ZLIB) nor an indexed file", path);
    }
    if (s != STOKER_OK) {
        stoker_inspection_free(x);
        return stk_err_fail(err);
    }
    if (x->summary.records == 0) {
        x->summary.record_min = 0;
    }
    *out = x;
    return STOKER_OK;
}

const struct stoker_data_summary *stoker_inspection_summary(const struct stoker_inspection *x)
{
    return &x->summary;
}

const struct stoker_data_feature *stoker_inspection_feature(const struct stoker_inspection *x,
                                                            size_t i)
{
    return i < x->features.count ? stk_vec_at(&x->features, i) : NULL;
}

const struct stoker_specs *stoker_inspection_specs(const struct stoker_inspection *x)
{
    return (const struct stoker_specs *)x->specs;
}

void stoker_inspection_free(struct stoker_inspection *x)
{
    if (!x) {
        return;
    }
    for (size_t i = 0; i < x->features.count; i++) {
        struct stoker_data_feature *f = stk_vec_at(&x->features, i);
        stk_free((void *)(uintptr_t)f->name);
    }
    stk_vec_deinit(&x->features);
    stk_specs_drop(x->specs);
    stk_free(x);
}
