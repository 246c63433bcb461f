// SPDX-License-Identifier: Apache-2.0
// Field tables: one row per member of a report struct. The JSON writer, the JSON Schema and the
// docs page all walk these tables, so nothing about the contract is written twice.
#ifndef STK_REPORT_FIELD_H
#define STK_REPORT_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stk_field_kind {
    STK_FIELD_TEXT,      // const char *; absent when NULL
    STK_FIELD_NS,        // int64_t
    STK_FIELD_COUNT_,    // uint64_t
    STK_FIELD_INT,       // int64_t
    STK_FIELD_BYTES,     // uint64_t
    STK_FIELD_SHARE,     // double 0..1
    STK_FIELD_REAL,      // double of any sign: a change, an average
    STK_FIELD_BOOL,      // bool
    STK_FIELD_OBJECT,    // nested struct in place, described by `sub`
    STK_FIELD_LIST,      // struct stk_list of structs described by `sub`
    STK_FIELD_TEXTS,     // struct stk_list of const char *
    STK_FIELD_INTS,      // struct stk_list of int64_t
    STK_FIELD_NS_MAP,    // struct stk_list of struct stk_ns_entry: an object of key -> ns
    STK_FIELD_COUNT_MAP, // the same, of counts
    STK_FIELD_LEFT_OUT,  // struct stk_list: the rows of it that --limit cut
    STK_FIELD_VALUES     // struct stk_list of struct stk_value: an object of key -> value
};

// For has_offset where no bool says whether the value is known:
#define STK_FIELD_ALWAYS SIZE_MAX       // always there
#define STK_FIELD_IF_SET (SIZE_MAX - 1) // text or values that may be NULL: then absent

struct stk_list {
    const void *items; // array of structs, const char * or int64_t
    size_t count;      // items present
    size_t left_out;   // rows that --limit cut (reported beside)
};
struct stk_ns_entry {
    const char *key;
    int64_t ns;
};

struct stk_field {
    const char *key;
    enum stk_field_kind kind;
    size_t offset;
    size_t has_offset; // offset of a bool that says whether the value is known, or one of the above
    const struct stk_struct_info *sub;
    const char *choices; // "a|b|c" for text with a fixed set; NULL otherwise
    const char *doc;     // one line: meaning and unit
};
struct stk_struct_info {
    const char *name;
    size_t size;
    const struct stk_field *fields; // ends with key == NULL
};

// Whether the object has a value for the field; absent in the JSON otherwise.
bool stk_field_known(const struct stk_field *f, const void *object);
// No lists of structs inside, however deep: it fits on a line.
bool stk_struct_flat(const struct stk_struct_info *info);

#endif
