// SPDX-License-Identifier: Apache-2.0
// Reading wire files as they stream by: bytes in, whole blocks out. What is damaged is passed over
// and counted; nothing is trusted that its checksum doesn't cover.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "wire/wire.h"

// The header at p[0, n): true if it is one of a version that can be read.
bool stk_wire_is_header(const uint8_t *p, size_t n, struct stk_wire_header *out);

enum stk_wire_found {
    STK_WIRE_MORE,  // more bytes are needed: *use may be passed over already
    STK_WIRE_BLOCK, // *block, with its payload after the header; *use bytes in all
    STK_WIRE_ROOM,  // *use bytes of zeros: laid out and not written
    STK_WIRE_DAMAGE // *use bytes are no good block; a good one may follow
};
// What is at p[0, n). at_end: no more bytes will come.
enum stk_wire_found stk_wire_find(const uint8_t *p, size_t n, bool at_end,
                                  struct stk_wire_block *block, size_t *use);
