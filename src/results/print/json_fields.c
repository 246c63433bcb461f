// SPDX-License-Identifier: Apache-2.0
// A struct as JSON: one walk over its field table. The order is the table's. An unknown value is
// absent, or null if its row says so. Integers are exact, shares have six decimals. Objects of a
// list without inner lists are on one line each, so that a diff of two documents is readable.
#include "results/print/json_fields.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "results/evidence.h"
#include "results/print/document.h"
#include "results/table.h"

static void write_object(struct stk_json *j, const struct stk_struct_info *info, const void *object,
                         bool in_line);
static void write_fields(struct stk_json *j, const struct stk_struct_info *info,
                         const void *object);

static void write_ratio(struct stk_json *j, double value)
{
    if (fabs(value) < 1e12) {
        stk_json_share(j, value);
    } else {
        stk_json_real(j, value);
    }
}

static void write_word(struct stk_json *j, const struct stk_field *f, unsigned index)
{
    char word[STK_FIELD_WORD_MAX];
    stk_field_word(f, index, word);
    stk_json_text(j, word);
}

// A value whose type alone decides how it is printed.
static void write_plain(struct stk_json *j, enum stk_type type, const void *at)
{
    switch (type) {
    case STK_TYPE_TEXT:
    case STK_TYPE_NAME:
        stk_json_text(j, *(const char *const *)at);
        break;
    case STK_TYPE_NS:
    case STK_TYPE_NUMBER:
        stk_json_i64(j, *(const int64_t *)at);
        break;
    case STK_TYPE_COUNT:
    case STK_TYPE_BYTES:
        stk_json_u64(j, *(const uint64_t *)at);
        break;
    case STK_TYPE_RATIO:
        write_ratio(j, *(const double *)at);
        break;
    case STK_TYPE_REAL:
        stk_json_real(j, *(const double *)at);
        break;
    case STK_TYPE_SHARE:
    case STK_TYPE_RATE:
        stk_json_share(j, *(const double *)at);
        break;
    case STK_TYPE_BOOL:
        stk_json_bool(j, *(const bool *)at);
        break;
    default:
        STK_ASSERT(!"a value has a type that alone says how to print it");
    }
}

static void write_value(struct stk_json *j, const struct stk_field *f, const void *at)
{
    if (f->type == STK_TYPE_WORD) {
        write_word(j, f, *(const unsigned *)at);
    } else if (f->type == STK_TYPE_OBJECT) {
        write_object(j, f->sub, at, stk_struct_flat(f->sub));
    } else {
        write_plain(j, f->type, at);
    }
}

static void write_values(struct stk_json *j, const struct stk_list *list)
{
    const struct stk_value *values = list->items;
    stk_json_open(j, '{', true);
    for (size_t i = 0; i < list->count; i++) {
        stk_json_key(j, values[i].key);
        write_plain(j, stk_unit_type(values[i].unit), &values[i].is);
    }
    stk_json_close(j, '}');
}

// Bytes from one value of a list to the next.
static size_t size_of(const struct stk_field *f)
{
    return f->type == STK_TYPE_OBJECT                         ? f->sub->size
           : stk_type_info(f->type)->holds == STK_HOLDS_TEXT  ? sizeof(const char *)
           : stk_type_info(f->type)->holds == STK_HOLDS_RATIO ? sizeof(double)
                                                              : sizeof(int64_t);
}

static void write_list(struct stk_json *j, const struct stk_field *f, const struct stk_list *list)
{
    const char *item = list->items;
    stk_json_open(j, '[', f->shape == STK_SHAPE_LINE);
    for (size_t i = 0; i < list->count; i++) {
        write_value(j, f, item + i * size_of(f));
    }
    stk_json_close(j, ']');
}

static void write_members(struct stk_json *j, const struct stk_field *f,
                          const struct stk_list *list)
{
    const struct stk_entry *entries = list->items;
    for (size_t i = 0; i < list->count; i++) {
        stk_json_key(j, entries[i].key);
        if (f->type == STK_TYPE_COUNT) { // int64_t here
            stk_json_i64(j, entries[i].ns);
        } else {
            write_value(j, f, &entries[i].ns);
        }
    }
}

// Its members; of an object known as JSON, the text between its brackets.
static void write_merged(struct stk_json *j, const struct stk_field *f,
                         const struct stk_apart *apart)
{
    if (apart->object) {
        write_fields(j, f->sub, apart->object);
        return;
    }
    const char *open = strchr(apart->json, '{'), *close = strrchr(apart->json, '}');
    if (open && close > open) {
        open += 1 + strspn(open + 1, " \n");
        stk_json_raw(j, "");
        stk_sink_put(j->sink, open, (size_t)(close - open));
    }
}

static void write_tuples(struct stk_json *j, const struct stk_field *f, const struct stk_list *list)
{
    const char *item = list->items;
    stk_json_open(j, '[', false);
    for (size_t i = 0; i < list->count; i++, item += f->sub->size) {
        stk_json_open(j, '[', true);
        for (const struct stk_field *v = f->sub->fields(); v->key; v++) {
            write_value(j, v, item + v->offset);
        }
        stk_json_close(j, ']');
    }
    stk_json_close(j, ']');
}

static void write_apart(struct stk_json *j, const struct stk_field *f,
                        const struct stk_apart *apart)
{
    if (apart->object) {
        write_object(j, f->sub, apart->object, stk_struct_flat(f->sub));
    } else {
        stk_json_raw(j, apart->json);
    }
}

// Whole numbers of a cell are signed in every type.
static void write_cell(struct stk_json *j, enum stk_type type, const struct stk_cell *cell)
{
    if (!cell->known) {
        stk_json_null(j);
    } else {
        bool is_whole = stk_type_info(type)->holds == STK_HOLDS_NUMBER;
        write_plain(j, is_whole ? STK_TYPE_NUMBER : type, &cell->number);
    }
}

static void write_cell_map(struct stk_json *j, const struct stk_list *list)
{
    const struct stk_figure_row *figures = list->items;
    stk_json_open(j, '{', false);
    for (size_t i = 0; i < list->count; i++) {
        if (figures[i].value.known) {
            stk_json_key(j, figures[i].key);
            write_cell(j, figures[i].type, &figures[i].value);
        }
    }
    stk_json_close(j, '}');
}

static void write_cell_rows(struct stk_json *j, const struct stk_table *table)
{
    const struct stk_cell *cell = table->cells.items;
    stk_json_open(j, '[', false);
    for (size_t r = 0; r < table->row_count; r++) {
        stk_json_open(j, '[', true);
        for (size_t c = 0; c < table->column_count; c++) {
            write_cell(j, table->columns[c].type, cell++);
        }
        stk_json_close(j, ']');
    }
    stk_json_close(j, ']');
}

static void write_shape(struct stk_json *j, const struct stk_field *f, const void *at)
{
    switch (f->shape) {
    case STK_SHAPE_ONE:
        write_value(j, f, at);
        break;
    case STK_SHAPE_HERE:
        stk_json_text(j, at);
        break;
    case STK_SHAPE_LIST:
    case STK_SHAPE_LINE:
        write_list(j, f, at);
        break;
    case STK_SHAPE_MAP:
        stk_json_open(j, '{', true);
        write_members(j, f, at);
        stk_json_close(j, '}');
        break;
    case STK_SHAPE_APART:
        write_apart(j, f, at);
        break;
    case STK_SHAPE_TUPLES:
        write_tuples(j, f, at);
        break;
    case STK_SHAPE_CELL_MAP:
        write_cell_map(j, at);
        break;
    case STK_SHAPE_CELL_ROWS:
        write_cell_rows(j, *(const struct stk_table *const *)at);
        break;
    case STK_SHAPE_VALUES:
        write_values(j, at);
        break;
    case STK_SHAPE_LEFT_OUT:
        stk_json_u64(j, ((const struct stk_list *)at)->left_out);
        break;
    case STK_SHAPE_MEMBERS:
    case STK_SHAPE_MERGED:
        break; // without a key: see write_fields
    }
}

static void write_fields(struct stk_json *j, const struct stk_struct_info *info, const void *object)
{
    STK_ASSERT(info->size > 0 && object);
    for (const struct stk_field *f = info->fields(); f->key; f++) {
        const void *at = (const char *)object + f->offset;
        bool is_known = stk_field_known(f, object);
        if (f->shape == STK_SHAPE_MEMBERS) {
            write_members(j, f, at);
        } else if (f->shape == STK_SHAPE_MERGED && is_known) {
            write_merged(j, f, at);
        } else if (is_known) {
            stk_json_key(j, f->key);
            write_shape(j, f, at);
        } else if (f->or_null) {
            stk_json_key(j, f->key);
            stk_json_null(j);
        }
    }
}

static void write_object(struct stk_json *j, const struct stk_struct_info *info, const void *object,
                         bool in_line)
{
    stk_json_open(j, '{', in_line);
    write_fields(j, info, object);
    stk_json_close(j, '}');
}

void stk_json_fields(struct stk_json *j, const struct stk_struct_info *info, const void *object)
{
    write_object(j, info, object, stk_struct_flat(info));
}

void stk_json_document(const struct stk_struct_info *info, const void *object, bool in_line,
                       struct stk_sink *to)
{
    struct stk_json j;
    stk_json_init(&j, to);
    write_object(&j, info, object, in_line);
    stk_sink_text(to, "\n");
}
