// SPDX-License-Identifier: Apache-2.0
// Reads wire files as a stream: bytes in, whole blocks out. Damage is skipped and counted; only
// data covered by a checksum is trusted.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "wire/wire.h"

// Parses the header at p[0, n): true if its version is supported.
bool stk_wire_is_header(const uint8_t *p, size_t n, struct stk_wire_header *out);

enum stk_wire_found {
    STK_WIRE_MORE,  // needs more bytes; skip *use bytes now
    STK_WIRE_BLOCK, // *block, with its payload after the header; *use bytes in all
    STK_WIRE_ROOM,  // *use bytes of zeros: reserved and not written
    STK_WIRE_DAMAGE // *use bytes aren't a good block; one may follow
};
// What is at p[0, n). at_end: no more bytes will come.
enum stk_wire_found stk_wire_find(const uint8_t *p, size_t n, bool at_end,
                                  struct stk_wire_block *block, size_t *use);
