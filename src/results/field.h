// SPDX-License-Identifier: Apache-2.0
// Field tables: one row per member of a report struct. The JSON writer, the JSON Schema and the
// docs page all walk these tables, so nothing about the contract is written twice.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/type.h"

// How many values a field holds, and how they are stored: TEXT const char *, NS and NUMBER int64_t,
// COUNT and BYTES uint64_t, SHARE, RATE, RATIO and REAL double, WORD an enum, OBJECT the struct in
// place.
enum stk_shape {
    STK_SHAPE_ONE,
    STK_SHAPE_HERE,     // text in an array of the struct; known unless it is empty
    STK_SHAPE_LIST,     // struct stk_list of values: const char *, int64_t, double or structs
    STK_SHAPE_LINE,     // the same, on one line of the JSON
    STK_SHAPE_MAP,      // struct stk_list of struct stk_entry: an object of key -> value
    STK_SHAPE_MEMBERS,  // the same, as members of the object that the field stands in
    STK_SHAPE_APART,    // struct stk_apart: an object that is elsewhere
    STK_SHAPE_MERGED,   // struct stk_apart: its members are members of the object it stands in
    STK_SHAPE_TUPLES,   // struct stk_list of structs, each a list of its values, in the rows' order
    STK_SHAPE_CELL_MAP, // struct stk_list of struct stk_figure_row (results/table.h): its known
                        // ones
    STK_SHAPE_CELL_ROWS, // const struct stk_table *: its rows, each a list of cells
    STK_SHAPE_VALUES,    // struct stk_list of struct stk_value (results/evidence.h): an object
    STK_SHAPE_LEFT_OUT   // struct stk_list: the number of its rows that --limit cut
};

// For has_offset if there is no bool for whether the value is known:
#define STK_FIELD_ALWAYS SIZE_MAX // always there
#define STK_FIELD_IF_SET                                                                           \
    (SIZE_MAX - 1) // absent if text is NULL, or a word isn't one of the choices

struct stk_list {
    const void *items; // array of structs, const char * or int64_t
    size_t count;      // items present
    size_t left_out;   // rows that --limit cut (reported next to the list)
};
struct stk_entry {
    const char *key;
    union {
        int64_t ns; // whole numbers of any type
        double real;
        const char *text;
    };
};
// One of them, or none: then the value is null.
struct stk_apart {
    const void *object; // described by the field's `sub`
    const char *json;   // known as JSON alone
};

struct stk_field {
    const char *key;
    enum stk_type type; // of each value
    enum stk_shape shape;
    bool from_zero; // its smallest value is 0, even if the type allows less
    size_t offset;
    size_t has_offset; // offset of a bool (is the value known?), or one of the above
    const struct stk_struct_info *sub;
    const char *choices; // "a|b|c" for text with a fixed set, in the enum's order; NULL otherwise
    const char *doc;     // one line: meaning and unit
    bool or_null;        // unknown is null, not absent
};
struct stk_struct_info {
    size_t size;
    const struct stk_field *(*fields)(void); // ends with key == NULL
};

// An unsigned time in a field's type.
static inline int64_t stk_field_ns(uint64_t ns)
{
    return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}
// Room for up to `most` items of a list, which becomes empty. NULL: no memory.
void *stk_list_room(struct stk_arena *arena, struct stk_list *list, size_t most, size_t size);
// The list of texts that end with NULL.
struct stk_list stk_list_texts(const char *const *texts);

// Whether the object has a value for the field; absent in the JSON otherwise.
bool stk_field_known(const struct stk_field *f, const void *object);
// In every object, null or not.
bool stk_field_is_required(const struct stk_field *f);
// The choice of this index as text, "" beyond the last; returns its length.
enum { STK_FIELD_WORD_MAX = 64 };
size_t stk_field_word(const struct stk_field *f, size_t index, char word[STK_FIELD_WORD_MAX]);
// Without lists of structs at any depth: it fits on a line.
bool stk_struct_flat(const struct stk_struct_info *info);
