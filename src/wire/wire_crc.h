// SPDX-License-Identifier: Apache-2.0
// CRC-32C of blocks, by table: blocks are few, and who writes them may link nothing else.
#ifndef STK_WIRE_WIRE_CRC_H
#define STK_WIRE_WIRE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t stk_wire_crc(uint32_t crc, const void *p, size_t n);

#endif
