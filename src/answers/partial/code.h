// SPDX-License-Identifier: Apache-2.0
// One description of a struct for three uses: writing it, reading it back, and identifying its
// layout. A function that codes a struct names each member once:
//
//   static void code_cause(struct stk_code *c, struct stk_cause *x)
//   {
//       STK_CODE(c, x->ns);
//       ...
//   }
//
// Writing appends to `bytes`; reading fills the struct, with memory of `arena`; a layout folds the
// names and types of all members into `layout`, so that a reader with another struct refuses the
// file instead of misreading it. Numbers are varints, signed ones in zigzag form; a text that
// occurred before is its number.
//
// What adds and multiplies times trusts that they are of a recording, so a signed number is at most
// 2^53 (104 days of nanoseconds), a date 2^61. Neither is written or read beyond that.
//
// Reading trusts nothing: it stops at the end of the bytes, refuses values that do not fit their
// member, numbers that are not finite and lists that the bytes that are left can't hold. The
// first problem sets `failed`; from then on all that is read is zero.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#define STK_CODE_NUMBER_MOST ((int64_t)1 << 53)
#define STK_CODE_DATE_MOST ((int64_t)1 << 61)

enum stk_code_mode { STK_CODE_WRITE, STK_CODE_READ, STK_CODE_LAYOUT };

struct stk_code {
    enum stk_code_mode mode;
    bool failed;
    struct stk_vec bytes;    // of char: the output
    const uint8_t *at, *end; // the input
    struct stk_arena *arena; // reading, and scratch of a layout
    struct stk_vec texts;    // const char *: earlier texts, in order
    struct stk_map text_ids; // writing: (hash, hash) of a text -> its number
    uint64_t layout;
};

void stk_code_init(struct stk_code *c, enum stk_code_mode mode, struct stk_arena *arena);
void stk_code_deinit(struct stk_code *c);

void stk_code_bool(struct stk_code *c, const char *name, bool *v);
void stk_code_u8(struct stk_code *c, const char *name, uint8_t *v);
void stk_code_u16(struct stk_code *c, const char *name, uint16_t *v);
void stk_code_u32(struct stk_code *c, const char *name, uint32_t *v);
void stk_code_u64(struct stk_code *c, const char *name, uint64_t *v);
void stk_code_i32(struct stk_code *c, const char *name, int32_t *v);
void stk_code_i64(struct stk_code *c, const char *name, int64_t *v);
void stk_code_date(struct stk_code *c, const char *name, int64_t *v); // nanoseconds since 1970
// A number, or the end of its type that stands for none: INT64_MIN or INT64_MAX.
void stk_code_maybe(struct stk_code *c, const char *name, int64_t *v, int64_t none);
void stk_code_f64(struct stk_code *c, const char *name, double *v);       // finite
void stk_code_text(struct stk_code *c, const char *name, const char **v); // may be NULL
// A value below `count`: an enumerator or an index.
void stk_code_below(struct stk_code *c, const char *name, uint32_t *v, uint32_t count);
// An enumeration or a count that is an int.
void stk_code_int_below(struct stk_code *c, const char *name, int *v, int count);
// A list and its count: returns the items, in the arena when reading. NULL: none, or failed.
void *stk_code_list(struct stk_code *c, const char *name, void *items, uint32_t *count,
                    size_t item_size);
// An optional struct. Reading allocates it; a layout takes a zeroed one. NULL: absent.
void *stk_code_one(struct stk_code *c, const char *name, void *one, size_t size);

#define STK_CODE(c, member)                                                                        \
    _Generic((member),                                                                             \
        bool: stk_code_bool,                                                                       \
        uint8_t: stk_code_u8,                                                                      \
        uint16_t: stk_code_u16,                                                                    \
        uint32_t: stk_code_u32,                                                                    \
        uint64_t: stk_code_u64,                                                                    \
        int32_t: stk_code_i32,                                                                     \
        int64_t: stk_code_i64,                                                                     \
        double: stk_code_f64,                                                                      \
        const char *: stk_code_text)((c), #member, &(member))
#define STK_CODE_ARRAY(c, member, count)                                                           \
    for (uint32_t at_ = 0; at_ < (uint32_t)(count); at_++) {                                       \
        STK_CODE(c, (member)[at_]);                                                                \
    }
