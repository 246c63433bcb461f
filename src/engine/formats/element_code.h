// SPDX-License-Identifier: Apache-2.0
// Elements as bytes in files: for each component its dimensions, if they aren't fixed, and its
// values, padded to 8 bytes; see indexed.h. Everything is little-endian.
#pragma once

#include "engine/memory/col.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements in files are little-endian");

struct stk_element_bytes { // all zero: empty
    uint8_t *data;
    size_t size, capacity;
};
void stk_element_bytes_free(struct stk_element_bytes *b);
// Encodes element i, replacing the previous contents. False: no memory.
bool stk_element_encode(struct stk_element_bytes *to, const struct stk_specs *specs,
                        const struct stk_block *block, int64_t i);
// Encodes the components' number, types and shapes.
bool stk_element_encode_specs(struct stk_element_bytes *to, const struct stk_specs *specs);
#define STK_ELEMENT_SPECS_BYTES(components) (8 + (components) * (2 + STK_RANK_MAX) * 8)

enum stk_element_read { STK_ELEMENT_OK, STK_ELEMENT_BAD, STK_ELEMENT_NO_MEMORY };

// Appends one element to `out`, which has as many components as specs; room: total to make room
// for. Strings are views of the bytes, which are aligned to 8. Others may write to the bytes
// meanwhile, so nothing is read twice. Views are never NULL, not even for 0 strings.
enum stk_element_read stk_element_decode(const uint8_t *bytes, size_t size,
                                         const struct stk_specs *specs, struct stk_pool *pool,
                                         struct stk_block *out, int64_t capacity);
// The specs at the start of the bytes.
enum stk_element_read stk_element_decode_specs(const uint8_t *bytes, size_t size,
                                               struct stk_specs **out);
