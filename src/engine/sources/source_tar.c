// SPDX-License-Identifier: Apache-2.0
// tar: samples of tar archives in WebDataset's layout: consecutive files whose names agree up to
// the first dot of the last path component are one sample; the text after that dot, in lowercase,
// names the part. Elements: the parts of "suffixes", strings; "__key__" is the shared name. Plain,
// gzip and zstd, recognized by their first bytes. Parts are views into the file buffer.
//
// Damage: a header with a wrong checksum, and a file that ends too early, lose the sample they hit,
// which becomes one error. After a bad header, the next good one (of ustar and similar) is
// searched; if only some parts of a sample are left, it is the lost one. Skipped, as in WebDataset:
// names without a dot or starting with one, and "__...__" without a folder. Errors: sparse files, a
// suffix twice in a sample, and a sample without a requested suffix.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/formats/tar.h"
#include "engine/run/iter.h"
#include "engine/sources/files.h"

#define READ_BYTES ((size_t)1 << 20)
#define NAME_MAX_BYTES ((size_t)64 << 10)
#define GROW_MAX ((size_t)64 << 20) // memory reserved for data whose size isn't confirmed
#define AT_ONCE 256
#define SUFFIXES_MAX 256

struct part {
    struct stk_buf *buf; // NULL: data are skipped
    struct stk_bytes bytes;
    bool is_there;
};

struct tar {
    const struct stk_attr *names; // the requested suffixes
    struct stk_file_bytes in;
    bool passes_data;
    bool was_damaged; // the current sample started after damage
    bool has_trouble; // an error to return before the next sample
    struct stoker_err trouble;
    bool has_header; // `header` and `name` belong to a file whose data come next
    struct stk_tar_header header;
    char *name; // NAME_MAX_BYTES + 1
    size_t name_size;
    bool has_long_name, has_pax_size;
    uint64_t pax_size;
    bool has_sample, is_doubled;
    char *key;
    size_t key_size;
    struct part parts[SUFFIXES_MAX];
};

static const struct stk_attr *suffixes(const struct stk_dataset *ds)
{
    return stk_attrs_get(ds->attrs, "suffixes");
}

static enum stoker_status tar_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *t = suffixes(ds);
    enum stoker_status s = stk_files_infer(ds, err);
    if (s == STOKER_OK &&
        (!t || t->kind != STK_ATTR_TEXTS || t->count < 1 || t->count > SUFFIXES_MAX)) {
        s = stk_err_set(err, STOKER_EINVAL, "tar: needs between 1 and %d suffixes", SUFFIXES_MAX);
    }
    if (s == STOKER_OK) {
        ds->specs = stk_specs_new((int)t->count);
        s = ds->specs ? STOKER_OK : stk_err_nomem(err);
    }
    for (int k = 0; s == STOKER_OK && k < (int)t->count; k++) {
        ds->specs->items[k].dtype = STK_DT_STRING;
    }
    return s;
}

static enum stoker_status tar_open(struct stk_iter *it, struct stoker_err *err)
{
    struct tar *t = it->state;
    t->names = suffixes(it->ds);
    t->name = stk_alloc_zero(NAME_MAX_BYTES + 1, 1);
    t->key = stk_alloc_zero(NAME_MAX_BYTES + 1, 1);
    return t->name && t->key ? STOKER_OK : stk_err_nomem(err);
}

static void drop_sample(struct tar *t)
{
    for (int k = 0; k < SUFFIXES_MAX; k++) {
        stk_buf_drop(t->parts[k].buf);
    }
    memset(t->parts, 0, sizeof t->parts);
    t->has_sample = t->is_doubled = t->was_damaged = false;
}

static void end_file(struct tar *t)
{
    stk_files_end(&t->in);
    t->has_header = t->has_long_name = t->has_pax_size = false;
}

static enum stoker_status open_file(struct stk_iter *it, struct stoker_err *err)
{
    struct tar *t = it->state;
    struct stk_stream_opts how = {0};
    return stk_files_open_as(it, t->in.file++, how, t->in.path, &t->in.open, err);
}

// Tries to have n contiguous bytes at pos; fewer only at the end of the file.
static enum stoker_status load(struct stk_iter *it, uint64_t n, struct stoker_err *err)
{
    struct tar *t = it->state;
    enum stoker_status s = STOKER_OK;
    // Don't allocate for a size that the file can't contain; if the file's size is unknown, grow
    // step by step.
    bool is_plain = stk_stream_codec(t->in.open.stream) == STK_CODEC_PLAIN &&
                    stk_stream_size(t->in.open.stream);
    uint64_t more = is_plain ? stk_stream_size(t->in.open.stream) : UINT64_MAX;
    uint64_t at = t->in.base + t->in.pos, most = more > at ? more - at : 0;
    bool is_short = n > most;
    size_t piece = stk_files_share(it, READ_BYTES);
    n = is_short ? most : n;
    while (s == STOKER_OK && t->in.end - t->in.pos < n && !t->in.at_end) {
        size_t have = t->in.end - t->in.pos, need = (size_t)n;
        if (!is_plain && need > GROW_MAX && need > 2 * have) {
            need = 2 * have > GROW_MAX ? 2 * have : GROW_MAX;
        }
        s = stk_files_fill(it, &t->in, need > piece ? need : piece, 0, need, err);
    }
    t->in.at_end = t->in.at_end || is_short;
    return s;
}

// Skips n bytes; *is_short: there were fewer.
static enum stoker_status pass(struct stk_iter *it, uint64_t n, bool *is_short,
                               struct stoker_err *err)
{
    struct tar *t = it->state;
    enum stoker_status s = STOKER_OK;
    for (;;) {
        size_t have = t->in.end - t->in.pos, now = n < have ? (size_t)n : have;
        t->in.pos += now;
        n -= now;
        if (n == 0 || t->in.at_end || s != STOKER_OK) {
            *is_short = n > 0;
            return s;
        }
        s = stk_files_fill(it, &t->in, stk_files_share(it, READ_BYTES), 0, 1, err);
    }
}

static enum stoker_status damage(struct tar *t, const char *what, struct stoker_err *err)
{
    const char *why = t->in.at_end ? stk_stream_damage(t->in.open.stream) : NULL;
    char near[140] = "";
    if (t->has_sample) {
        snprintf(near, sizeof near, ", in sample %.100s", t->key);
    }
    return stk_err_set(err, STOKER_EDAMAGE, "%.300s: %s at byte %llu%s", t->in.path,
                       why ? why : what, (unsigned long long)(t->in.base + t->in.pos), near);
}

// Reads the next member's name from this member's data or pax records.
static enum stoker_status take_extra(struct stk_iter *it, const struct stk_tar_header *h,
                                     struct stoker_err *err)
{
    struct tar *t = it->state;
    const uint8_t *value;
    size_t size;
    bool is_short;
    enum stoker_status s = STOKER_OK;
    if (h->size > NAME_MAX_BYTES) {
        s = pass(it, h->size, &is_short, err);
        return s == STOKER_OK && h->kind == STK_TAR_LONG_NAME
                   ? damage(t, "a name of more than 64 KiB ends", err)
                   : s;
    }
    s = load(it, h->size, err);
    if (s != STOKER_OK || t->in.end - t->in.pos < h->size) {
        return s != STOKER_OK ? s : damage(t, "the archive ends within a name", err);
    }
    const uint8_t *data = t->in.buf->data + t->in.pos;
    if (h->kind == STK_TAR_LONG_NAME) {
        value = data;
        size = strnlen((const char *)data, (size_t)h->size);
    }
    if (h->kind == STK_TAR_LONG_NAME ||
        stk_tar_pax_find(data, (size_t)h->size, "path", &value, &size)) {
        memcpy(t->name, value, size);
        t->name[size] = 0;
        t->name_size = size;
        t->has_long_name = true;
    }
    if (h->kind == STK_TAR_PAX && stk_tar_pax_find(data, (size_t)h->size, "size", &value, &size)) {
        t->pax_size = 0;
        for (size_t i = 0; i < size && value[i] >= '0' && value[i] <= '9'; i++) {
            t->pax_size =
                t->pax_size > INT64_MAX / 10 - 9 ? t->pax_size : t->pax_size * 10 + value[i] - '0';
        }
        t->has_pax_size = true;
    }
    t->in.pos += (size_t)h->size;
    return STOKER_OK;
}

// Searches for the next header that looks valid. False: none is left.
static enum stoker_status find_header(struct stk_iter *it, bool *found, struct stoker_err *err)
{
    struct tar *t = it->state;
    struct stk_tar_header h;
    *found = false;
    for (;;) {
        t->in.pos += t->in.end - t->in.pos < STK_TAR_BLOCK ? t->in.end - t->in.pos : STK_TAR_BLOCK;
        enum stoker_status s = load(it, STK_TAR_BLOCK, err);
        if (s != STOKER_OK || t->in.end - t->in.pos < STK_TAR_BLOCK) {
            return s;
        }
        stk_tar_header_read(t->in.buf->data + t->in.pos, &h);
        if (h.kind != STK_TAR_BAD && h.kind != STK_TAR_END && h.is_ustar) {
            *found = true;
            return STOKER_OK;
        }
    }
}

// Does the sample have all requested parts?
static bool is_whole(const struct stk_iter *it)
{
    const struct tar *t = it->state;
    const struct stk_attr *names = t->names;
    for (int k = 0; k < (int)names->count; k++) {
        if (!t->parts[k].is_there && strcmp((const char *)names->texts[k].data, "__key__") != 0) {
            return false;
        }
    }
    return t->has_sample && !t->is_doubled;
}

// The next member's header, of kind FILE or SPARSE; END at the end of the archive. Damage is an
// error and ends the current sample.
static enum stoker_status next_header(struct stk_iter *it, struct stk_tar_header *h,
                                      struct stoker_err *err)
{
    struct tar *t = it->state;
    for (;;) {
        bool is_short = false, found;
        enum stoker_status s = load(it, STK_TAR_BLOCK, err);
        size_t have = t->in.end - t->in.pos;
        if (s != STOKER_OK) {
            return s;
        }
        h->kind = STK_TAR_END;
        if (have == 0 && !stk_stream_damage(t->in.open.stream)) {
            return STOKER_OK;
        }
        if (have < STK_TAR_BLOCK) {
            return damage(t, "the archive ends within a header", err);
        }
        stk_tar_header_read(t->in.buf->data + t->in.pos, h);
        if (h->kind == STK_TAR_BAD) {
            struct stoker_err why;
            stk_err_init(&why);
            enum stoker_status wrong = damage(t, "the checksum of a header is wrong", &why);
            t->has_long_name = t->has_pax_size = false;
            s = find_header(it, &found, err);
            t->in.at_end = t->in.at_end && !found;
            if (s != STOKER_OK) {
                return s;
            }
            *err = why;
            return wrong;
        }
        if (h->kind == STK_TAR_END) {
            return STOKER_OK;
        }
        t->in.pos += STK_TAR_BLOCK;
        if (h->kind == STK_TAR_LONG_NAME || h->kind == STK_TAR_PAX) {
            s = take_extra(it, h, err);
            s = s == STOKER_OK ? pass(it, stk_tar_padding(h->size), &is_short, err) : s;
        } else {
            h->size = t->has_pax_size ? t->pax_size : h->size;
            if (!t->has_long_name) {
                t->name_size = strlen(h->name);
                memcpy(t->name, h->name, t->name_size + 1);
            }
            t->has_long_name = t->has_pax_size = false;
            if (h->kind != STK_TAR_OTHER) {
                return STOKER_OK;
            }
            s = pass(it, h->size, &is_short, err);
            s = s == STOKER_OK && !is_short ? pass(it, stk_tar_padding(h->size), &is_short, err)
                                            : s;
        }
        if (s != STOKER_OK) {
            return s;
        }
    }
}

// Splits a name into the sample's key and the part's suffix. False: it belongs to no sample.
static bool split_name(const struct tar *t, size_t *key_size, const char **suffix)
{
    const char *slash = memrchr(t->name, '/', t->name_size);
    const char *last = slash ? slash + 1 : t->name, *end = t->name + t->name_size;
    const char *dot = memchr(last, '.', (size_t)(end - last));
    bool is_meta =
        !slash && t->name_size >= 4 && memcmp(last, "__", 2) == 0 && memcmp(end - 2, "__", 2) == 0;
    if (!dot || dot == last || is_meta) {
        return false;
    }
    *key_size = (size_t)(dot - t->name);
    *suffix = dot + 1;
    return true;
}

static int wanted(const struct stk_attr *names, const char *suffix)
{
    for (int k = 0; k < (int)names->count; k++) {
        const char *name = (const char *)names->texts[k].data;
        size_t i = 0;
        for (; name[i] && suffix[i]; i++) {
            char c = suffix[i];
            if (name[i] != (c >= 'A' && c <= 'Z' ? c + 32 : c)) {
                break;
            }
        }
        if (!name[i] && !suffix[i]) {
            return k;
        }
    }
    return -1;
}

// Takes the current member's data as part k, or skips them (-1).
static enum stoker_status take_data(struct stk_iter *it, int k, struct stoker_err *err)
{
    struct tar *t = it->state;
    uint64_t size = t->header.size;
    bool is_short = false;
    enum stoker_status s = STOKER_OK;
    t->has_header = false;
    if (k >= 0 && !t->passes_data && t->header.kind == STK_TAR_FILE) {
        s = load(it, size, err);
        is_short = s == STOKER_OK && t->in.end - t->in.pos < size;
        if (s == STOKER_OK && !is_short) {
            stk_buf_drop(t->parts[k].buf);
            t->parts[k].buf = stk_buf_hold(t->in.buf);
            t->parts[k].bytes =
                (struct stk_bytes){size ? t->in.buf->data + t->in.pos : NULL, (size_t)size};
            t->in.pos += (size_t)size;
        }
    } else {
        s = pass(it, size, &is_short, err);
    }
    if (s == STOKER_OK && is_short) {
        return damage(t, "the archive ends within a file", err);
    }
    if (s == STOKER_OK && k >= 0 && t->header.kind == STK_TAR_FILE) {
        t->is_doubled = t->is_doubled || t->parts[k].is_there;
        t->parts[k].is_there = true;
    }
    bool ignored; // padding may be missing at the end
    return s == STOKER_OK ? pass(it, stk_tar_padding(size), &ignored, err) : s;
}

static enum stoker_status bad_sample(struct stk_iter *it, struct stoker_err *err)
{
    struct tar *t = it->state;
    const struct stk_attr *names = t->names;
    const char *what = "has a part twice", *name = "";
    for (int k = 0; k < (int)names->count; k++) {
        const char *suffix = (const char *)names->texts[k].data;
        if (!t->parts[k].is_there && strcmp(suffix, "__key__") != 0) {
            what = "has no part .";
            name = suffix;
            break;
        }
    }
    enum stoker_status s = stk_err_set(err, STOKER_EINVAL, "%.300s: sample %.200s %s%.100s",
                                       t->in.path, t->key, what, name);
    drop_sample(t);
    return s;
}

// Reads until a sample is complete. t->has_sample says so; it is false after the last one.
static enum stoker_status read_sample(struct stk_iter *it, struct stoker_err *err)
{
    struct tar *t = it->state;
    for (;;) {
        size_t key_size;
        const char *suffix;
        enum stoker_status s = STOKER_OK;
        if (!t->in.open.stream) {
            if (t->has_sample || t->in.file >= stk_files_count(it->ds)) {
                return STOKER_OK;
            }
            s = open_file(it, err);
            if (s != STOKER_OK) {
                end_file(t);
                return s;
            }
        }
        if (!t->has_header) {
            s = next_header(it, &t->header, err);
            t->has_header = s == STOKER_OK && t->header.kind != STK_TAR_END;
        }
        if (s == STOKER_OK && !t->has_header) {
            end_file(t);
            continue;
        }
        if (s == STOKER_OK && !split_name(t, &key_size, &suffix)) {
            s = take_data(it, -1, err);
        } else if (s == STOKER_OK) {
            bool is_same =
                t->has_sample && key_size == t->key_size && memcmp(t->name, t->key, key_size) == 0;
            if (t->has_sample && !is_same) {
                return STOKER_OK;
            }
            memcpy(t->key, t->name, key_size);
            t->key[key_size] = 0;
            t->key_size = key_size;
            t->has_sample = true;
            int k = wanted(t->names, suffix);
            bool is_hole = t->header.kind == STK_TAR_SPARSE && k >= 0;
            s = take_data(it, k, err);
            if (s == STOKER_OK && is_hole) {
                s = damage(t, "a sparse file, which can't be read, ends", err);
            }
        }
        if (s != STOKER_OK) {
            return s;
        }
    }
}

// One sample, or an error for it; *is_end: no more. If the current sample is already complete,
// damage is reported after it.
static enum stoker_status next_sample(struct stk_iter *it, bool *is_end, struct stoker_err *err)
{
    struct tar *t = it->state;
    *is_end = false;
    if (t->has_trouble) {
        t->has_trouble = false;
        t->was_damaged = t->in.open.stream != NULL;
        *err = t->trouble;
        return err->code;
    }
    for (;;) {
        enum stoker_status s = read_sample(it, err);
        if (s != STOKER_OK) {
            bool goes_on = s == STOKER_EDAMAGE && t->in.open.stream && !t->in.at_end;
            if (!goes_on) {
                end_file(t);
            }
            if (s == STOKER_EDAMAGE && is_whole(it)) {
                t->has_trouble = true;
                t->trouble = *err;
                return STOKER_OK;
            }
            drop_sample(t);
            t->was_damaged = goes_on;
            return s;
        }
        if (!t->has_sample) {
            *is_end = true;
            return STOKER_OK;
        }
        if (is_whole(it)) {
            return STOKER_OK;
        }
        if (!t->was_damaged) {
            return bad_sample(it, err);
        }
        drop_sample(t); // drops the rest of the sample whose damage was reported
    }
}

static bool put_sample(struct stk_iter *it, struct stk_block *out,
                       struct stk_col_capacity *capacity)
{
    struct tar *t = it->state;
    const struct stk_attr *names = t->names;
    bool ok = true;
    for (int k = 0; ok && k < out->count; k++) {
        struct stk_bytes *to = (struct stk_bytes *)(void *)out->cols[k].data + out->n;
        if (strcmp((const char *)names->texts[k].data, "__key__") == 0) {
            uint8_t *at = stk_col_capacity_for(&out->cols[k], it->run->pool, capacity, t->key_size);
            ok = at != NULL;
            if (ok) {
                memcpy(at, t->key, t->key_size);
            }
            *to = (struct stk_bytes){at, t->key_size};
        } else {
            *to = t->parts[k].bytes;
            ok = !t->parts[k].buf || stk_keep_add(&out->cols[k].keep, t->parts[k].buf);
        }
    }
    out->n += ok;
    return ok;
}

static enum stoker_status tar_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                   struct stoker_err *err)
{
    struct tar *t = it->state;
    struct stk_shape scalar = {0};
    struct stk_col_capacity capacity = {0};
    bool is_end = false;
    enum stoker_status s = STOKER_OK;
    want = want < AT_ONCE ? want : AT_ONCE;
    t->passes_data = false;
    bool ok = stk_block_reset(out, it->ds->specs->count);
    for (int k = 0; ok && k < out->count; k++) {
        ok = stk_col_uniform(&out->cols[k], it->run->pool, STK_DT_STRING, &scalar, want);
    }
    while (ok && s == STOKER_OK && out->n < want) {
        s = next_sample(it, &is_end, err);
        if (is_end || s != STOKER_OK) {
            break;
        }
        ok = put_sample(it, out, &capacity);
        drop_sample(t);
    }
    for (int k = 0; ok && k < out->count; k++) {
        out->cols[k].n = out->n;
    }
    return ok ? s
              : stk_err_set(err, STOKER_ELIMIT, "tar: no memory for %lld samples", (long long)want);
}

static enum stoker_status tar_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                   struct stoker_err *err)
{
    struct tar *t = it->state;
    enum stoker_status s = STOKER_OK;
    bool is_end = false;
    t->passes_data = true;
    for (*done = 0; s == STOKER_OK && *done < n; ++*done) {
        s = next_sample(it, &is_end, err);
        if (is_end || s != STOKER_OK) {
            break;
        }
        drop_sample(t);
    }
    return s;
}

static void tar_close(struct stk_iter *it)
{
    struct tar *t = it->state;
    drop_sample(t);
    end_file(t);
    stk_free(t->name);
    stk_free(t->key);
}

static const struct stk_arg_row tar_args[] = {
    STK_ARG("filenames", OTHER, "the archives, in order", .is_required = true),
    STK_ARG("suffixes", OTHER, "a sample's suffixes, in lowercase; __key__: its name",
            .is_required = true),
    {0}};

const struct stk_dataset_kind stk_dataset_tar = {.name = "tar",
                                                 .summary = "Samples of tar archives (WebDataset)",
                                                 .role = STK_DS_FILES,
                                                 .args = tar_args,
                                                 .infer = tar_infer,
                                                 .state_bytes = sizeof(struct tar),
                                                 .open = tar_open,
                                                 .next = tar_next,
                                                 .skip = tar_skip,
                                                 .close = tar_close};
