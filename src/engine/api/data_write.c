// SPDX-License-Identifier: Apache-2.0
// include/stoker/data.h: writing TFRecord files and Examples.
#include <string.h>

#include "base/alloc.h"
#include "engine/formats/example.h"
#include "engine/formats/record.h"

static bool find_codec(const char *name, enum stk_record_codec *out)
{
    static const struct {
        const char *name;
        enum stk_record_codec codec;
    } rows[] = {{"", STK_RECORD_PLAIN}, {"GZIP", STK_RECORD_GZIP}, {"ZLIB", STK_RECORD_ZLIB}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            *out = rows[i].codec;
            return true;
        }
    }
    return false;
}

enum stoker_status stoker_record_create(const char *path, const char *compression, int level,
                                        struct stoker_record_writer **out, struct stoker_err *err)
{
    struct stoker_err own;
    enum stk_record_codec codec;
    err = stk_err_begin(err, &own);
    if (!path || !out) {
        return stk_err_misuse(err,
                              "stoker_record_create needs a path and a pointer for the writer");
    }
    *out = NULL;
    enum stoker_status s =
        find_codec(compression ? compression : "", &codec)
            ? stk_record_create((struct stk_record_writer **)out, path, codec, level, err)
            : stk_err_set(err, STOKER_EINVAL, "compression must be \"\", GZIP or ZLIB, not %s",
                          compression);
    return stk_err_end(err, s);
}

enum stoker_status stoker_record_write(struct stoker_record_writer *w, const void *data,
                                       size_t size, struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!w || (size > 0 && !data)) {
        return stk_err_misuse(err, "stoker_record_write needs a writer and the bytes of a record");
    }
    enum stoker_status s = stk_record_write((struct stk_record_writer *)w, data, size, err);
    return stk_err_end(err, s);
}

enum stoker_status stoker_record_finish(struct stoker_record_writer *w, struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    enum stoker_status s = stk_record_finish((struct stk_record_writer *)w, err);
    return stk_err_end(err, s);
}

static bool value_of(struct stk_example_value *to, const struct stoker_feature *from)
{
    *to = (struct stk_example_value){.name = from->name,
                                     .values = from->values,
                                     .count = from->count,
                                     .is_list = from->is_list != 0,
                                     .steps = from->steps,
                                     .step_count = from->step_count};
    switch (from->dtype) {
    case STOKER_INT64:
        to->type = STK_EXAMPLE_INT64;
        return true;
    case STOKER_FLOAT32:
        to->type = STK_EXAMPLE_FLOAT;
        return true;
    case STOKER_STRING:
        to->type = STK_EXAMPLE_BYTES;
        return true;
    default:
        return from->dtype == -1;
    }
}

enum stoker_status stoker_example_encode(const struct stoker_feature *features, size_t n,
                                         int is_sequence, struct stoker_bytes *out,
                                         struct stoker_err *err)
{
    struct stk_example_buffer b = {0};
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!out || (n > 0 && !features)) {
        return stk_err_misuse(err,
                              "stoker_example_encode needs features and a pointer for the bytes");
    }
    *out = (struct stoker_bytes){0};
    struct stk_example_value *values = stk_alloc_zero(n + 1, sizeof values[0]);
    enum stoker_status s = values ? STOKER_OK : stk_err_nomem(err);
    for (size_t i = 0; s == STOKER_OK && i < n; i++) {
        if (!value_of(&values[i], &features[i])) {
            s = stk_err_set(err, STOKER_EINVAL,
                            "feature '%s' has the type %s, not int64, float32 or bytes",
                            features[i].name, stoker_dtype_name(features[i].dtype));
        }
    }
    if (s == STOKER_OK) {
        s = stk_example_encode(&b, is_sequence ? STK_EXAMPLE_SEQUENCE : STK_EXAMPLE_SINGLE, values,
                               n, err);
    }
    stk_free(values);
    if (s != STOKER_OK) {
        stk_example_buffer_free(&b);
        return stk_err_fail(err);
    }
    *out = (struct stoker_bytes){b.data, b.size};
    return STOKER_OK;
}

void stoker_bytes_free(struct stoker_bytes *b)
{
    if (!b) {
        return;
    }
    struct stk_example_buffer own = {.data = (uint8_t *)(uintptr_t)b->data};
    stk_example_buffer_free(&own);
    *b = (struct stoker_bytes){0};
}
