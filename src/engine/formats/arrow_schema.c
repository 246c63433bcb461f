// SPDX-License-Identifier: Apache-2.0
// Arrow's format strings, and whether a schema has the wanted leaves; see arrow.h.
#include <stdlib.h>
#include <string.h>

#include "engine/formats/arrow.h"

#define FIXED_BYTES_MAX (INT64_C(1) << 31)

int stk_arrow_leaf_ragged(const struct stk_arrow_leaf *leaf)
{
    int last = -1;
    for (int k = 0; k < leaf->n_levels; k++) {
        last = leaf->dim[k] < 0 ? k : last;
    }
    return last;
}

int stk_arrow_leaf_columns(const struct stk_arrow_leaf *leaf)
{
    int ragged = stk_arrow_leaf_ragged(leaf);
    return ragged > 0 ? 1 + ragged : 1;
}

// A number after "w:" or "+w:". -1: none, or too large.
static int64_t width_of(const char *text)
{
    char *end;
    long long n = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
    return n >= 0 && n <= FIXED_BYTES_MAX && *end == '\0' ? n : -1;
}

static bool is_temporal(const char *format, enum stk_dtype *dtype)
{
    static const struct {
        const char *format;
        enum stk_dtype dtype;
    } rows[] = {{"tdD", STK_DT_I32}, {"tdm", STK_DT_I64}, {"tts", STK_DT_I32}, {"ttm", STK_DT_I32},
                {"ttu", STK_DT_I64}, {"ttn", STK_DT_I64}, {"tDs", STK_DT_I64}, {"tDm", STK_DT_I64},
                {"tDu", STK_DT_I64}, {"tDn", STK_DT_I64}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (strcmp(format, rows[k].format) == 0) {
            *dtype = rows[k].dtype;
            return true;
        }
    }
    *dtype = STK_DT_I64;
    return strncmp(format, "ts", 2) == 0 && format[2] && strchr("smun", format[2]) &&
           format[3] == ':';
}

bool stk_arrow_type_of(const char *format, struct stk_arrow_type *out)
{
    static const char codes[] = "bCcSsIiLlefg";
    static const enum stk_dtype dtypes[] = {STK_DT_BOOL, STK_DT_U8,  STK_DT_I8,  STK_DT_U16,
                                            STK_DT_I16,  STK_DT_U32, STK_DT_I32, STK_DT_U64,
                                            STK_DT_I64,  STK_DT_F16, STK_DT_F32, STK_DT_F64};
    *out = (struct stk_arrow_type){.dtype = STK_DT_STRING};
    if (!format || !*format) {
        return false;
    }
    const char *code = format[1] ? NULL : strchr(codes, format[0]);
    if (code) {
        out->dtype = dtypes[code - codes];
        out->layout = *code == 'b' ? STK_ARROW_BITS : STK_ARROW_PLAIN;
    } else if (strcmp(format, "z") == 0 || strcmp(format, "u") == 0) {
        out->layout = STK_ARROW_BYTES;
    } else if (strcmp(format, "Z") == 0 || strcmp(format, "U") == 0) {
        out->layout = STK_ARROW_LARGE;
    } else if (strcmp(format, "vz") == 0 || strcmp(format, "vu") == 0) {
        out->layout = STK_ARROW_VIEWS;
    } else if (strncmp(format, "w:", 2) == 0) {
        out->layout = STK_ARROW_FIXED;
        out->width = width_of(format + 2);
        return out->width >= 0;
    } else {
        return is_temporal(format, &out->dtype);
    }
    return true;
}

static enum stoker_status no_leaf(const struct stk_arrow_leaf *leaf, const char *format,
                                  const char *why, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINVAL,
                       "column '%.200s' is %s here (Arrow format '%.40s'), unlike in the schema "
                       "that the dataset was made with",
                       leaf->name, why, format ? format : "");
}

static enum stoker_status check_leaf(const struct ArrowSchema *s, const struct stk_arrow_leaf *leaf,
                                     struct stoker_err *err)
{
    int at = 0, level = 0;
    for (int depth = 0; s && s->format && s->format[0] == '+'; depth++) {
        bool is_struct = strcmp(s->format, "+s") == 0;
        bool is_list = strcmp(s->format, "+l") == 0 || strcmp(s->format, "+L") == 0 ||
                       (strncmp(s->format, "+w:", 3) == 0 && width_of(s->format + 3) >= 0);
        int64_t child = is_struct && at < leaf->n_path ? leaf->path[at++] : 0;
        level += is_list;
        if ((!is_struct && !is_list) || (is_list && s->n_children != 1) || child < 0 ||
            child >= s->n_children || !s->children || level > leaf->n_levels ||
            depth > STK_ARROW_PATH_MAX + STK_RANK_MAX) {
            return no_leaf(leaf, s->format, "of another structure", err);
        }
        s = s->children[child];
    }
    const struct ArrowSchema *values = s && s->dictionary ? s->dictionary : s;
    struct stk_arrow_type type;
    if (!s || at != leaf->n_path || level != leaf->n_levels) {
        return no_leaf(leaf, s ? s->format : "", "of another structure", err);
    }
    if (!stk_arrow_type_of(values->format, &type) || type.dtype != leaf->dtype) {
        return no_leaf(leaf, values->format, "of another type", err);
    }
    if (s->dictionary && (!stk_arrow_type_of(s->format, &type) || !stk_dtype_is_int(type.dtype) ||
                          type.layout != STK_ARROW_PLAIN || values->dictionary)) {
        return no_leaf(leaf, s->format, "a dictionary without places", err);
    }
    return STOKER_OK;
}

enum stoker_status stk_arrow_check(const struct ArrowSchema *schema,
                                   const struct stk_arrow_leaf *leaves, int n,
                                   struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    if (!schema->format || strcmp(schema->format, "+s") != 0) {
        return stk_err_set(err, STOKER_EINVAL, "the stream doesn't consist of record batches");
    }
    for (int k = 0; s == STOKER_OK && k < n; k++) {
        s = check_leaf(schema, &leaves[k], err);
    }
    return s;
}
