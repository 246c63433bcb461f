// SPDX-License-Identifier: Apache-2.0
// A struct of the report as JSON: one walk over its field table. Order is that of the table, a
// value that is not known is absent, integers are exact, shares have six decimals. Objects of a
// list that hold no lists of their own stand on one line each, so that a diff of two reports reads
// well.
#include "results/print/json_fields.h"

#include <math.h>

#include "base/assert.h"
#include "results/evidence.h"

static void write_object(struct stk_json *j, const struct stk_struct_info *info, const void *object,
                         bool in_line);

static void write_list(struct stk_json *j, const struct stk_struct_info *info,
                       const struct stk_list *list)
{
    stk_json_open(j, '[', false);
    const char *item = list->items;
    for (size_t i = 0; i < list->count; i++) {
        write_object(j, info, item + i * info->size, stk_struct_flat(info));
    }
    stk_json_close(j, ']');
}

static void write_plain_list(struct stk_json *j, const struct stk_list *list,
                             enum stk_field_kind kind)
{
    stk_json_open(j, '[', kind == STK_FIELD_INTS);
    for (size_t i = 0; i < list->count; i++) {
        if (kind == STK_FIELD_INTS) {
            stk_json_i64(j, ((const int64_t *)list->items)[i]);
        } else {
            stk_json_text(j, ((const char *const *)list->items)[i]);
        }
    }
    stk_json_close(j, ']');
}

static void write_map(struct stk_json *j, const struct stk_list *list)
{
    const struct stk_ns_entry *entries = list->items;
    stk_json_open(j, '{', true);
    for (size_t i = 0; i < list->count; i++) {
        stk_json_key(j, entries[i].key);
        stk_json_i64(j, entries[i].ns);
    }
    stk_json_close(j, '}');
}

static void write_real(struct stk_json *j, double value)
{
    if (!(fabs(value) < 1e12)) {
        stk_json_real(j, value);
    } else {
        stk_json_share(j, value);
    }
}

static void write_values(struct stk_json *j, const struct stk_list *list)
{
    const struct stk_value *values = list->items;
    stk_json_open(j, '{', true);
    for (size_t i = 0; i < list->count; i++) {
        enum stk_unit unit = values[i].unit;
        stk_json_key(j, values[i].key);
        if (unit == STK_UNIT_TEXT || unit == STK_UNIT_ID) {
            stk_json_text(j, values[i].is.text);
        } else if (unit == STK_UNIT_FLAG) {
            stk_json_bool(j, values[i].is.flag);
        } else if (unit == STK_UNIT_BYTES || unit == STK_UNIT_COUNT) {
            stk_json_u64(j, values[i].is.count);
        } else if (unit == STK_UNIT_NS || unit == STK_UNIT_NUMBER) {
            stk_json_i64(j, values[i].is.whole);
        } else {
            write_real(j, values[i].is.real);
        }
    }
    stk_json_close(j, '}');
}

static void write_value(struct stk_json *j, const struct stk_field *f, const void *at)
{
    switch (f->kind) {
    case STK_FIELD_TEXT:
        stk_json_text(j, *(const char *const *)at);
        break;
    case STK_FIELD_NS:
    case STK_FIELD_INT:
        stk_json_i64(j, *(const int64_t *)at);
        break;
    case STK_FIELD_COUNT_:
    case STK_FIELD_BYTES:
        stk_json_u64(j, *(const uint64_t *)at);
        break;
    case STK_FIELD_REAL:
        write_real(j, *(const double *)at);
        break;
    case STK_FIELD_SHARE:
        stk_json_share(j, *(const double *)at);
        break;
    case STK_FIELD_BOOL:
        stk_json_bool(j, *(const bool *)at);
        break;
    case STK_FIELD_OBJECT:
        write_object(j, f->sub, at, stk_struct_flat(f->sub));
        break;
    case STK_FIELD_LIST:
        write_list(j, f->sub, at);
        break;
    case STK_FIELD_TEXTS:
    case STK_FIELD_INTS:
        write_plain_list(j, at, f->kind);
        break;
    case STK_FIELD_NS_MAP:
    case STK_FIELD_COUNT_MAP:
        write_map(j, at);
        break;
    case STK_FIELD_LEFT_OUT:
        stk_json_u64(j, ((const struct stk_list *)at)->left_out);
        break;
    case STK_FIELD_VALUES:
        write_values(j, at);
        break;
    }
}

static void write_object(struct stk_json *j, const struct stk_struct_info *info, const void *object,
                         bool in_line)
{
    STK_ASSERT(info->size > 0 && object);
    stk_json_open(j, '{', in_line);
    for (const struct stk_field *f = info->fields; f->key; f++) {
        if (!stk_field_known(f, object)) {
            continue;
        }
        stk_json_key(j, f->key);
        write_value(j, f, (const char *)object + f->offset);
    }
    stk_json_close(j, '}');
}

void stk_json_fields(struct stk_json *j, const struct stk_struct_info *info, const void *object)
{
    write_object(j, info, object, stk_struct_flat(info));
}
