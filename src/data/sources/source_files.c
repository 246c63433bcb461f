// SPDX-License-Identifier: Apache-2.0
// Names of files as sources take them.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/sources/files.h"

static const struct stk_attr *names(const struct stk_dataset *ds)
{
    return stk_attrs_get(ds->attrs, "filenames");
}

int64_t stk_files_count(const struct stk_dataset *ds)
{
    const struct stk_attr *t = names(ds);
    if (t->kind == STK_ATTR_COLS) {
        struct stk_shape shape = stk_col_shape(&t->cols[0], 0);
        return stk_shape_count(&shape);
    }
    return t->kind == STK_ATTR_TEXTS ? t->count : t->kind == STK_ATTR_TEXT ? 1 : -1;
}

enum stk_status stk_files_name(const struct stk_dataset *ds, int64_t i, char path[STK_PATH_MAX],
                               struct stk_err *err)
{
    const struct stk_attr *t = names(ds);
    struct stk_bytes s = t->kind == STK_ATTR_TEXTS ? t->texts[i]
                         : t->kind == STK_ATTR_TEXT
                             ? (struct stk_bytes){(const uint8_t *)t->text, (size_t)t->count}
                             : ((const struct stk_bytes *)stk_col_at(&t->cols[0], 0))[i];
    if (s.size == 0 || s.size >= STK_PATH_MAX || memchr(s.data, 0, s.size)) {
        return stk_err_set(err, STK_EINVAL,
                           "%s: file %lld has a name of %zu bytes, or a zero byte in it",
                           ds->kind->name, (long long)i, s.size);
    }
    memcpy(path, s.data, s.size);
    path[s.size] = 0;
    return STK_OK;
}

enum stk_status stk_files_infer(const struct stk_dataset *ds, struct stk_err *err)
{
    const struct stk_attr *t = names(ds);
    const struct stk_spec *bound = t && t->kind == STK_ATTR_BOUND ? &t->specs->items[0] : NULL;
    bool fits =
        t && (t->kind == STK_ATTR_TEXTS || t->kind == STK_ATTR_TEXT ||
              (bound && bound->dtype == STK_DT_STRING && bound->shape.rank <= 1) ||
              (t->kind == STK_ATTR_COLS && t->count == 1 && t->cols[0].dtype == STK_DT_STRING &&
               stk_col_shape(&t->cols[0], 0).rank <= 1));
    return fits ? STK_OK
                : stk_err_set(err, STK_EINVAL,
                              "%s: filenames must be a string or a vector of strings",
                              ds->kind->name);
}

enum stk_status stk_files_look(const char *path, struct stk_err *err)
{
    struct stat info;
    int why = stat(path, &info)       ? errno
              : S_ISDIR(info.st_mode) ? EISDIR
              : access(path, R_OK)    ? errno
                                      : 0;
    return why == 0 ? STK_OK
                    : stk_err_set(err, why == ENOENT || why == ENOTDIR ? STK_EMISSING : STK_EINPUT,
                                  "%s: %s", path, strerror(why));
}

enum stk_status stk_files_codec(const struct stk_dataset *ds, enum stk_record_codec *codec,
                                struct stk_err *err)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "compression_type");
    const char *word = stk_attrs_text(ds->attrs, "compression_type", "");
    *codec = strcmp(word, "GZIP") == 0   ? STK_RECORD_GZIP
             : strcmp(word, "ZLIB") == 0 ? STK_RECORD_ZLIB
                                         : STK_RECORD_PLAIN;
    if (*codec == STK_RECORD_PLAIN && (*word || (t && t->kind != STK_ATTR_TEXT))) {
        return stk_err_set(err, STK_EINVAL, "%s: compression_type '%s'; it is '', 'GZIP' or 'ZLIB'",
                           ds->kind->name, word);
    }
    return STK_OK;
}

enum stk_status stk_files_string_spec(struct stk_dataset *ds, struct stk_err *err)
{
    ds->specs = stk_specs_new(1);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    ds->specs->items[0].dtype = STK_DT_STRING;
    return STK_OK;
}

enum stk_status stk_files_open(const struct stk_dataset *ds, int64_t i, char path[STK_PATH_MAX],
                               struct stk_stream **out, struct stk_err *err)
{
    enum stk_record_codec codec;
    *out = NULL;
    enum stk_status s = stk_files_codec(ds, &codec, err);
    s = s == STK_OK ? stk_files_name(ds, i, path, err) : s;
    s = s == STK_OK ? stk_files_look(path, err) : s;
    if (s != STK_OK) {
        return s;
    }
    struct stk_stream_opts how = {.codec_given = 1, .codec = stk_record_stream_codec(codec)};
    return stk_stream_open(out, path, &how, err);
}

enum stk_status stk_files_infer_strings(struct stk_dataset *ds, struct stk_err *err)
{
    enum stk_record_codec codec;
    enum stk_status s = stk_files_infer(ds, err);
    s = s == STK_OK ? stk_files_codec(ds, &codec, err) : s;
    return s == STK_OK ? stk_files_string_spec(ds, err) : s;
}
