// SPDX-License-Identifier: Apache-2.0
// Finds blocks in a stream of bytes; see wire_read.h.
#include "wire/wire_read.h"

#include <string.h>

#include "base/assert.h"
#include "base/crc32c.h"

bool stk_wire_is_header(const uint8_t *p, size_t n, struct stk_wire_header *out)
{
    if (n < sizeof *out) {
        return false;
    }
    memcpy(out, p, sizeof *out);
    return memcmp(out->magic, STK_WIRE_MAGIC, sizeof out->magic) == 0 &&
           out->header_bytes >= sizeof *out;
}

static bool is_block(const uint8_t *p, struct stk_wire_block *b)
{
    memcpy(b, p, sizeof *b);
    if (b->magic != STK_WIRE_BLOCK_MAGIC || b->length > STK_WIRE_BLOCK_MAX || b->length % 8) {
        return false;
    }
    struct stk_wire_block plain = *b;
    plain.head_crc = 0;
    return stk_crc32c(0, &plain, sizeof plain) == b->head_crc;
}

// Counts zeros at p[0, n), in whole words unless they reach the end.
static size_t count_zeros(const uint8_t *p, size_t n)
{
    static const uint8_t zeros[4096];
    size_t at = 0;
    while (n - at >= sizeof zeros && memcmp(p + at, zeros, sizeof zeros) == 0) {
        at += sizeof zeros;
    }
    while (at < n && p[at] == 0) {
        at++;
    }
    return at == n ? n : at & ~(size_t)7;
}

// Bytes up to the next place where a block may start.
static size_t to_next(const uint8_t *p, size_t n)
{
    const uint32_t magic = STK_WIRE_BLOCK_MAGIC;
    const uint8_t *hit = n > 1 ? memmem(p + 1, n - 1, &magic, sizeof magic) : NULL;
    return hit ? (size_t)(hit - p) : n > 3 ? n - 3 : n;
}

enum stk_wire_found stk_wire_find(const uint8_t *p, size_t n, bool at_end,
                                  struct stk_wire_block *block, size_t *use)
{
    *use = count_zeros(p, n);
    if (*use) {
        return STK_WIRE_ROOM;
    }
    if (n < sizeof *block) {
        *use = at_end ? n : 0;
        return at_end && n ? STK_WIRE_DAMAGE : STK_WIRE_MORE;
    }
    if (!is_block(p, block)) {
        *use = to_next(p, n);
        return STK_WIRE_DAMAGE;
    }
    size_t whole = sizeof *block + block->length;
    STK_ASSERT(whole % 8 == 0 && whole <= sizeof *block + STK_WIRE_BLOCK_MAX);
    if (n < whole) {
        *use = at_end ? to_next(p, n) : 0;
        return at_end ? STK_WIRE_DAMAGE : STK_WIRE_MORE;
    }
    if (stk_crc32c(0, p + sizeof *block, block->length) != block->crc) {
        *use = to_next(p, n);
        return STK_WIRE_DAMAGE;
    }
    *use = whole;
    return STK_WIRE_BLOCK;
}
