// SPDX-License-Identifier: Apache-2.0
// The cells of a row: from a statement of SQLite, or from a record as it is in the file.
//
// Method: a record is a header of types, one for each column of the table, and then the values in
// the same order (SQLite's "Database File Format", section 2.1). Fields up to the last one wanted
// are walked, since the type alone gives a value's size; those wanted are decoded.
// Limits: values are given as they are stored, so columns that SQLite converts while reading (a
// real stored as an integer) and those that are missing from old records aren't for this.
#include "base/assert.h"
#include "base/word.h"
#include "profile/readers/nsys/nsys.h"

void stk_nsys_cells_clear(struct stk_nsys_cells *cells)
{
    *cells = (struct stk_nsys_cells){.rowid = 0};
    for (int i = 0; i < STK_NSYS_CELLS_MAX; i++) {
        cells->cell[i].text = STK_STR("");
    }
}

static struct stk_nsys_cell cell_of(sqlite3_stmt *st, int col)
{
    struct stk_nsys_cell cell = {.type = STK_NSYS_NULL, .text = STK_STR("")};
    switch (sqlite3_column_type(st, col)) {
    case SQLITE_INTEGER:
        cell.type = STK_NSYS_INT;
        cell.integer = sqlite3_column_int64(st, col);
        break;
    case SQLITE_FLOAT:
        cell.type = STK_NSYS_FLOAT;
        cell.real = sqlite3_column_double(st, col);
        break;
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(st, col);
        size_t n = (size_t)sqlite3_column_bytes(st, col);
        cell.type = STK_NSYS_TEXT;
        cell.text = text ? (struct stk_str){text, n} : STK_STR("");
        break;
    }
    case SQLITE_BLOB:
        cell.type = STK_NSYS_BLOB;
        break;
    default:
        break;
    }
    return cell;
}

void stk_nsys_cells_take(struct stk_nsys_cells *cells, sqlite3_stmt *st)
{
    int count = sqlite3_column_count(st);
    STK_ASSERT(count > 0 && count <= STK_NSYS_CELLS_MAX);
    cells->rowid = sqlite3_column_int64(st, 0);
    for (int i = 1; i < count; i++) {
        cells->cell[i] = cell_of(st, i);
    }
}

bool stk_nsys_layout_of(struct stk_nsys_layout *out, const struct stk_nsys_found *found)
{
    STK_ASSERT(found->cell_count < STK_NSYS_CELLS_MAX);
    *out = (struct stk_nsys_layout){.field_count = 0};
    for (int i = 0; i < found->cell_count; i++) {
        int field = found->fields[i];
        if (field == STK_NSYS_NO_FIELD) {
            continue;
        }
        if (field < 0 || field >= STK_NSYS_FIELDS_MAX || out->cell_of[field]) {
            return false;
        }
        out->cell_of[field] = (uint8_t)(i + 1);
        out->field_count = field >= out->field_count ? field + 1 : out->field_count;
    }
    return true;
}

const uint8_t *stk_nsys_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) {
        if (p == end) {
            return NULL;
        }
        value = value << 7 | (*p & 0x7f);
        if (!(*p++ & 0x80)) {
            *out = value;
            return p;
        }
    }
    if (p == end) {
        return NULL;
    }
    *out = value << 8 | *p; // the ninth byte has eight bits
    return p + 1;
}

// Types 10 and 11 are reserved.
static bool size_of(uint64_t type, size_t most, size_t *size)
{
    static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    if (type >= 12) {
        uint64_t n = (type - 12) / 2;
        *size = (size_t)n;
        return n <= most;
    }
    *size = sizes[type];
    return type != 10 && type != 11 && *size <= most;
}

// Big-endian, two's complement, of 0 to 8 bytes.
static int64_t integer_of(const uint8_t *p, size_t n)
{
    if (n == 8) {
        return (int64_t)__builtin_bswap64(stk_word_load8(p));
    }
    uint64_t value = n && p[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < n; i++) {
        value = value << 8 | p[i];
    }
    return (int64_t)value;
}

static struct stk_nsys_cell value_of(uint64_t type, const uint8_t *p, size_t n)
{
    struct stk_nsys_cell cell = {.type = STK_NSYS_INT, .text = STK_STR("")};
    if (type == 0) {
        cell.type = STK_NSYS_NULL;
    } else if (type == 7) {
        int64_t bits = integer_of(p, n);
        cell.type = STK_NSYS_FLOAT;
        memcpy(&cell.real, &bits, sizeof bits);
        if (cell.real != cell.real) { // SQLite reads a NaN as NULL
            cell = (struct stk_nsys_cell){.type = STK_NSYS_NULL, .text = STK_STR("")};
        }
    } else if (type < 10) {
        cell.integer = type >= 8 ? (int64_t)type - 8 : integer_of(p, n);
    } else if (type % 2) {
        cell.type = STK_NSYS_TEXT;
        cell.text = (struct stk_str){(const char *)p, n};
    } else {
        cell.type = STK_NSYS_BLOB;
    }
    return cell;
}

bool stk_nsys_cells_decode(struct stk_nsys_cells *cells, const struct stk_nsys_layout *layout,
                           const uint8_t *record, size_t n)
{
    STK_ASSERT(layout->field_count <= STK_NSYS_FIELDS_MAX);
    const uint8_t *end = record + n;
    uint64_t header, type;
    const uint8_t *types = stk_nsys_varint(record, end, &header);
    if (!types || header > n || header < (size_t)(types - record)) {
        return false;
    }
    const uint8_t *values = record + header, *types_end = values;
    for (int field = 0; field < layout->field_count; field++) {
        size_t size;
        if (types < types_end && *types < 0x80) { // nearly always
            type = *types++;
        } else {
            types = stk_nsys_varint(types, types_end, &type);
        }
        if (!types || !size_of(type, (size_t)(end - values), &size)) {
            return false;
        }
        int at = layout->cell_of[field];
        if (at) {
            cells->cell[at] = value_of(type, values, size);
        }
        values += size;
    }
    return true;
}
